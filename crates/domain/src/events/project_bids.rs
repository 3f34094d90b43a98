//! The data of events about bids on project opportunities. The vendor and the owner of the opportunity know each
//! other, so both views are equal.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{listings::Actor, opportunities::BidStatus, time::Timestamp};

/// A project bid after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProjectBidData {
    /// ID of the bid.
    pub project_bid_id: Uuid,
    /// ID of the project opportunity.
    pub opportunity_id: Uuid,
    /// ID of the vendor's team.
    pub vendor_id: Uuid,
    /// Who changed it.
    pub actor: Actor,
    /// Status after the change.
    pub status: BidStatus,
    /// Number of tasks that the vendor offers.
    pub num_tasks: u32,
    /// Number of days that the vendor expects to need.
    pub expected_timeline_days: Option<u32>,
    /// IDs of the delivered tasksets, at most 100.
    pub delivery_taskset_ids: Vec<Uuid>,
    /// Time at which the work was completed.
    #[schemars(with = "Option<String>")]
    pub completed_at: Option<Timestamp>,
}
