//! The data of events about attestations.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::string_enum::string_enum;

string_enum! {
    /// What has changed about an attestation.
    AttestationChange {
        /// The purchase was refunded.
        Refunded = "refunded",
        /// The certification that the attestation states has ended.
        CertificationRevoked = "certification_revoked",
    }
}

/// A change of the status of an attestation, which only the buyer has a view of.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AttestationData {
    /// ID of the purchase.
    pub purchase_id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// SHA-256 digest of the attested statement, by which its status is requested.
    pub statement_sha256: String,
    /// What has changed.
    pub change: AttestationChange,
}
