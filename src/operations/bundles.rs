//! URL paths of delivery bundles: a stable path, and signed paths that give access for a limited time.

use uuid::Uuid;

use crate::{blobs::signatures, domain::time::Timestamp};

/// Minimum lifetime of a signed path, in seconds.
const MIN_LIFETIME_SECONDS: i64 = 3600;

/// Returns the path of a listing's bundle. It gives no access without a signature.
pub fn bundle_path(listing: Uuid) -> String {
    format!("/v2/blobs/bundles/{listing}.zip")
}

/// Returns the path with a signature. It expires at a full hour, so that all requests within the same hour
/// get the same path.
pub fn signed_bundle_path(secret: &[u8; 32], listing: Uuid, now: Timestamp) -> String {
    let path = bundle_path(listing);
    let expires = (now.seconds() + MIN_LIFETIME_SECONDS).div_euclid(3600) * 3600 + 3600;
    let signature = signatures::sign(secret, &["GET", &path, &expires.to_string()]);
    format!("{path}?expires={expires}&signature={signature}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_path_is_stable_within_an_hour() {
        let listing = Uuid::from_u128(7);
        let at = |seconds: i64| signed_bundle_path(&[1; 32], listing, Timestamp(seconds * 1_000_000));
        assert_eq!(at(0), at(3599));
        assert_ne!(at(0), at(3600));
        assert!(at(0).starts_with(&format!("{}?expires=7200&signature=", bundle_path(listing))));
        assert_ne!(at(0), signed_bundle_path(&[2; 32], listing, Timestamp(0)));
    }
}
