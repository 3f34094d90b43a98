//! Adds the error codes that an operation can respond with, by status: `x-error-codes`.

use serde_json::{Map, Value, json};

use crate::{
    error::Code,
    rest::{
        documents::openapi::document_operations::has_parameter,
        route::{DeclaredRoute, Repeatability},
    },
    string_enum::StringEnum,
    web::{auth::required_access::RequiredAccess, documented_operations::ERROR_CODES},
};

/// Adds the codes of all error responses that an operation has. A response with status 422 has none.
pub fn add_error_codes(operation: &mut Map<String, Value>, route: &DeclaredRoute) {
    add_codes(operation, route.required_access, &conflict_codes(route));
}

/// Like [`add_error_codes`], for an operation that is no declared route. `conflicts` are its codes with status 409.
pub fn add_codes(operation: &mut Map<String, Value>, access: RequiredAccess, conflicts: &[Code]) {
    let statuses = operation.get("responses").and_then(Value::as_object).into_iter().flatten();
    let with_codes = statuses.filter_map(|(status, _)| {
        let codes = codes(status, operation, access, conflicts);
        (!codes.is_empty())
            .then(|| (status.clone(), json!(codes.iter().map(|code| code.as_str()).collect::<Vec<_>>())))
    });
    let with_codes: Map<String, Value> = with_codes.collect();
    operation.insert(ERROR_CODES.to_owned(), Value::Object(with_codes));
}

/// Returns the codes that an operation can have with a status.
fn codes(
    status: &str,
    operation: &Map<String, Value>,
    access: RequiredAccess,
    conflicts: &[Code],
) -> Vec<Code> {
    match status {
        "400" if has_parameter(operation, &["cursor", "Last-Event-ID"]) => {
            vec![Code::BadRequest, Code::InvalidCursor]
        }
        "400" | "415" => vec![Code::BadRequest],
        "401" => vec![Code::Unauthorized],
        "403" => access_codes(access),
        "404" if has_parameter(operation, &["world"]) => vec![Code::NotFound, Code::WorldNotFound],
        "404" => vec![Code::NotFound],
        "408" => vec![Code::RequestTimeout],
        "409" => conflicts.to_vec(),
        "410" if has_parameter(operation, &["Last-Event-ID"]) => vec![Code::CursorExpired],
        "410" => vec![Code::GrantExpired, Code::GrantConsumed],
        "412" => vec![Code::PreconditionFailed],
        "413" => vec![Code::PayloadTooLarge],
        "429" => vec![Code::RateLimited],
        "500" => vec![Code::InternalError],
        "503" => vec![Code::AtCapacity, Code::StorageFull],
        _ => Vec::new(),
    }
}

/// Returns the codes with which access is refused to a caller who has a valid key. Keys of teams that are only for signing in
/// are refused as forbidden.
fn access_codes(required: RequiredAccess) -> Vec<Code> {
    match required {
        RequiredAccess::AnyKey => vec![Code::Forbidden],
        RequiredAccess::ValidKey => vec![Code::MarketplaceRoleRequired, Code::Forbidden],
        RequiredAccess::TeamWithNda => vec![Code::NdaRequired, Code::Forbidden],
        RequiredAccess::Member | RequiredAccess::Vendor | RequiredAccess::Buyer => {
            vec![Code::MarketplaceRoleRequired, Code::NdaRequired, Code::Forbidden]
        }
        RequiredAccess::MemberFirstPage
        | RequiredAccess::CatalogAccess
        | RequiredAccess::CatalogAccessOrOwner => {
            vec![Code::MarketplaceRoleRequired, Code::NdaRequired, Code::ListingBrowseLocked, Code::Forbidden]
        }
        RequiredAccess::Operator | RequiredAccess::ActingOperator => {
            vec![Code::OperatorRequired, Code::Forbidden]
        }
    }
}

/// Returns the codes with which the state of the market can prevent an operation.
fn conflict_codes(route: &DeclaredRoute) -> Vec<Code> {
    let mut codes = vec![Code::Conflict];
    if route.repeatability == Repeatability::Safe {
        return codes;
    }
    codes.push(Code::QuotaExceeded);
    if route.repeatability == Repeatability::OncePerKey {
        codes.push(Code::IdempotencyInFlight);
    }
    codes.extend(route.is_transition.then_some(Code::InvalidTransition));
    codes.extend(route.conflicts);
    codes
}
