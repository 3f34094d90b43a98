//! The data of events about listings.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::listings::{Actor, CatalogStatus, LifecycleStage, ReviewStatus};

/// A listing after a change. Only its vendor and operators see the event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ListingData {
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Who changed it.
    pub actor: Actor,
    /// Stage before the change; `null` if the listing is new.
    pub from_stage: Option<LifecycleStage>,
    /// Stage after the change.
    pub to_stage: LifecycleStage,
    /// Review status after the change.
    pub review_status: ReviewStatus,
    /// Catalog status after the change.
    pub catalog_status: CatalogStatus,
    /// Whether the listing is certified after the change.
    pub is_certified: bool,
}
