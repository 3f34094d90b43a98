//! The data of events about offers.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{listings::Actor, offers::OfferStatus, purchases::PayWith};

/// An offer after a change. Its buyer and the vendor each have a view of it; that of the vendor does not say how
/// the buyer pays, nor who it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OfferData {
    /// ID of the offer.
    pub offer_id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Who changed it.
    pub actor: Actor,
    /// Status after the change.
    pub status: OfferStatus,
    /// Amount after the change, in US dollars with two decimals.
    pub amount: String,
    /// Currency of the amount. Always `USD`.
    pub currency: &'static str,
    /// How the buyer pays if the offer is accepted. Only in the buyer's view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pay_with: Option<PayWith>,
}

/// The offers on a listing that were declined together, because the listing was archived. Each of their buyers
/// has an event of its own.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeclinedOffersData {
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Who archived the listing.
    pub actor: Actor,
    /// Number of declined offers.
    pub count: usize,
    /// IDs of the first of them, at most 100.
    pub offer_ids: Vec<Uuid>,
}
