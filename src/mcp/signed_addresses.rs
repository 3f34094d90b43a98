//! Signed addresses in answers. Anybody with such an address can download the file, so it is returned only to a caller that
//! requests the field by name. It is null if no server listens.

use memchr::memmem;
use serde_json::Value;

use super::{field_paths::FieldPath, openapi::Shape};

/// Field with a signed address.
const SIGNED_FIELD: &str = "bundle_download_url";

/// What became of a signed address in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedAddress {
    /// There is none, or it is returned because the caller named it.
    Unchanged,
    /// An empty field was removed.
    RemovedEmpty,
    /// An address was removed.
    Removed,
}

/// Removes a signed address from a response, unless a path of `fields` names it. `json` is the response as text.
pub fn remove_unnamed(fields: &[FieldPath], json: &[u8], value: &mut Value) -> SignedAddress {
    if is_named(fields) || memmem::find(json, SIGNED_FIELD.as_bytes()).is_none() {
        return SignedAddress::Unchanged;
    }
    match value.as_object_mut().and_then(|fields| fields.remove(SIGNED_FIELD)) {
        None => SignedAddress::Unchanged,
        Some(Value::Null) => SignedAddress::RemovedEmpty,
        Some(_) => SignedAddress::Removed,
    }
}

/// Returns the hint on the signed address of an answer; `None` if there is none. `is_served` is whether a server listens.
pub fn hint(fields: &[FieldPath], address: SignedAddress, value: &Value, is_served: bool) -> Option<String> {
    match address {
        SignedAddress::Removed if fields.is_empty() => {
            Some(format!("A signed download address is returned only if `fields` names `{SIGNED_FIELD}`."))
        }
        _ if !is_served && is_named(fields) => {
            value.get(SIGNED_FIELD).filter(|address| address.is_null()).map(|_| {
                format!(
                    "`{SIGNED_FIELD}` is null because this process serves no files; the market's server returns it."
                )
            })
        }
        _ => None,
    }
}

fn is_named(fields: &[FieldPath]) -> bool {
    fields.iter().any(|path| path.has_name(SIGNED_FIELD))
}

/// Returns whether a response can have a signed address.
pub fn can_be_in(shape: &Shape) -> bool {
    shape.at_path(SIGNED_FIELD).is_some()
}
