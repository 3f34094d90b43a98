//! The data of events about estimations.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    assets::{Channel, Kind},
    estimations::EstimationStatus,
    listings::Actor,
};

/// An estimation after a change. Only its team and operators see the event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EstimationData {
    /// ID of the estimation.
    pub estimation_id: Uuid,
    /// Who changed it.
    pub actor: Actor,
    /// Asset kind that the source would be sold as.
    pub sku: Kind,
    /// Host of the source.
    pub channel: Channel,
    /// Full name of the source repository.
    pub repo_full_name: String,
    /// ID of the asset that the estimation is for, if any.
    pub inventory_asset_id: Option<Uuid>,
    /// Status after the change.
    pub status: EstimationStatus,
    /// Low end of the quote in US cents; `null` without a quote.
    pub quote_low_cents: Option<i64>,
    /// High end of the quote in US cents; `null` without a quote.
    pub quote_high_cents: Option<i64>,
    /// Why the estimation failed; `null` if it did not.
    pub failure_message: Option<String>,
}
