//! Signed addresses by their parts, so that they can be signed again in another world.

use uuid::Uuid;

use crate::{
    blobs::{self, signatures},
    market::Market,
};

/// The parameter with the signature.
const SIGNATURE: &str = "signature";

/// Returns the signature of an address that the market signs: that of a part of an upload, or of a bundle. Returns none for
/// other addresses.
fn expected_signature(market: &Market, method: &str, path: &str, query: &str) -> Option<String> {
    let value = |name: &str| {
        form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    };
    let expires = value("expires")?.parse::<i64>().ok()?.to_string();
    let secret = market.blob_secret();
    let segments: Vec<&str> = path.rsplit('/').take(2).collect();
    let [last, upload] = segments[..] else { return None };
    if method == "PUT" {
        let (id, number) = (Uuid::try_parse(upload).ok()?, last.parse::<u32>().ok()?);
        let (path_of_part, size) = (blobs::part_path(id, number), value("size")?);
        return (path == path_of_part)
            .then(|| signatures::sign(secret, &["PUT", &path_of_part, &size, &expires]));
    }
    let listing = path.rsplit('/').find_map(|segment| Uuid::try_parse(segment).ok())?;
    let path_of_bundle = blobs::bundle_path(listing);
    let (name, holder) = ["purchase", "owner"].iter().find_map(|name| Some((*name, value(name)?)))?;
    (path == path_of_bundle)
        .then(|| signatures::sign(secret, &["GET", &path_of_bundle, name, &holder, &expires]))
}

/// Whether an address has the signature of the market.
pub fn is_signed(market: &Market, method: &str, path: &str, query: &str) -> bool {
    let sent = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == SIGNATURE);
    let expected = || expected_signature(market, read_method(method), path, query);
    sent.is_some_and(|(_, sent)| expected().is_some_and(|expected| *sent == expected))
}

/// Returns the query of an address with its signature replaced by one of the market.
pub fn sign(market: &Market, method: &str, path: &str, query: &str) -> Option<String> {
    let expected = expected_signature(market, read_method(method), path, query)?;
    let parameter = |parameter: &str| match parameter.split_once('=') {
        Some((SIGNATURE, _)) => format!("{SIGNATURE}={expected}"),
        _ => parameter.to_owned(),
    };
    Some(query.split('&').map(parameter).collect::<Vec<_>>().join("&"))
}

/// HEAD has the signature of GET.
fn read_method(method: &str) -> &str {
    if method == "HEAD" { "GET" } else { method }
}
