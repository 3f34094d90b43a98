//! The data of events about opportunities, for listings and for projects. Their owner publishes them under its
//! own name, so vendors may know it.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    listings::Actor,
    opportunities::{OpportunityKind, OpportunityStatus},
    time::Timestamp,
};

/// An opportunity after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpportunityData {
    /// ID of the opportunity.
    pub opportunity_id: Uuid,
    /// What the buyer requests.
    pub kind: OpportunityKind,
    /// ID of the buyer's team, which all vendors that can see the opportunity know.
    pub owner_id: Uuid,
    /// Who changed it.
    pub actor: Actor,
    /// Title after the change.
    pub title: String,
    /// Status after the change.
    pub status: OpportunityStatus,
    /// Deadline for responses after the change.
    #[schemars(with = "Option<String>")]
    pub deadline: Option<Timestamp>,
    /// Time at which bids are evaluated. Project opportunities only.
    #[schemars(with = "Option<String>")]
    pub evaluation_date: Option<Timestamp>,
    /// Time at which it was closed or canceled.
    #[schemars(with = "Option<String>")]
    pub closed_at: Option<Timestamp>,
    /// The vendors that the change affects. Absent from the view of the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendors: Option<AffectedTeams>,
}

/// The teams that a bulk act affects.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AffectedTeams {
    /// Number of teams.
    pub count: u64,
    /// IDs of the first 100 of them.
    pub team_ids: Vec<Uuid>,
}

/// Teams that an opportunity excludes from now on. Only its owner sees the event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpportunityExclusionData {
    /// ID of the opportunity.
    pub opportunity_id: Uuid,
    /// What the buyer requests.
    pub kind: OpportunityKind,
    /// Who excluded them.
    pub actor: Actor,
    /// The teams that were not excluded before.
    pub excluded: AffectedTeams,
}
