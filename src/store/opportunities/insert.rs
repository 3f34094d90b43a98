//! Insertion of opportunities and project bids.

use uuid::Uuid;

use super::changes;
use crate::{
    domain::{
        opportunities::{Attachment, BidEvent, BidStatus, OpportunityKind, OpportunityStatus},
        opportunity_fields::OpportunityFields,
        row_ids::{OpportunityRowId, ProjectBidRowId, TasksetRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    store::{Writer, row},
    string_enum::StringEnum,
};

/// The fields of an opportunity to insert.
#[derive(Debug)]
pub struct NewOpportunity<'a> {
    /// ID of the opportunity.
    pub id: Uuid,
    /// What the buyer requests.
    pub kind: OpportunityKind,
    /// Row ID of the buyer that posts it.
    pub owner: TeamRowId,
    /// The fields that the buyer sets. The IDs of excluded teams are not stored.
    pub fields: &'a OpportunityFields,
    /// State of the opportunity.
    pub status: OpportunityStatus,
    /// Teams that cannot see it.
    pub excluded_teams: &'a [TeamRowId],
    /// Time at which it was posted.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which it was closed; `None` while it is open.
    pub closed_at: Option<Timestamp>,
}

/// Inserts an opportunity and its exclusions, and returns its row ID.
pub fn insert(writer: &Writer, opportunity: &NewOpportunity) -> Result<OpportunityRowId> {
    const SQL: &str =
        "INSERT INTO opportunities (uuid, kind, owner, title, description, status, accepted_asset_types,
             metadata, visibility_mode, created_at, updated_at, deadline, closed_at, evaluation_date)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let fields = opportunity.fields;
    let row_id = writer.insert(
        SQL,
        (
            opportunity.id,
            opportunity.kind.as_str(),
            opportunity.owner,
            &fields.title,
            &fields.description,
            opportunity.status.as_str(),
            row::to_json(&fields.accepted_asset_types)?,
            row::to_json(&fields.metadata)?,
            fields.visibility.as_str(),
            opportunity.created_at.0,
            opportunity.updated_at.0,
            fields.deadline.map(|at| at.0),
            opportunity.closed_at.map(|at| at.0),
            fields.evaluation_date.map(|at| at.0),
        ),
    )?;
    let row_id = OpportunityRowId(row_id);
    changes::insert_exclusions(writer, row_id, opportunity.excluded_teams)?;
    Ok(row_id)
}

/// The fields of a project bid to insert.
#[derive(Debug)]
pub struct NewBid {
    /// ID of the bid.
    pub id: Uuid,
    /// Row ID of the project opportunity.
    pub opportunity: OpportunityRowId,
    /// Row ID of the vendor.
    pub team: TeamRowId,
    /// Number of tasks that the vendor offers.
    pub num_tasks: u32,
    /// State of the bid.
    pub status: BidStatus,
    /// Files attached to the bid, as JSON.
    pub attachments: Vec<Attachment>,
    /// Row IDs of the delivered tasksets.
    pub delivery_tasksets: Vec<TasksetRowId>,
    /// Log of the platform's actions on the bid, as JSON.
    pub platform_events: Vec<BidEvent>,
    /// Log of the vendor's actions on the bid, as JSON.
    pub vendor_events: Vec<BidEvent>,
    /// Number of days that the vendor expects to need.
    pub expected_timeline_days: Option<u32>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which the work was completed; `None` until then.
    pub completed_at: Option<Timestamp>,
}

/// Inserts a project bid and returns its row ID.
pub fn insert_bid(writer: &Writer, bid: &NewBid) -> Result<ProjectBidRowId> {
    const SQL: &str = "INSERT INTO project_bids (uuid, opportunity, team, num_tasks, status, attachments,
             delivery_tasksets, platform_events, vendor_events, expected_timeline_days, created_at, updated_at,
             completed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let row_id = writer.insert(
        SQL,
        (
            bid.id,
            bid.opportunity,
            bid.team,
            bid.num_tasks,
            bid.status.as_str(),
            row::to_json(&bid.attachments)?,
            row::to_json(&bid.delivery_tasksets)?,
            row::to_json(&bid.platform_events)?,
            row::to_json(&bid.vendor_events)?,
            bid.expected_timeline_days,
            bid.created_at.0,
            bid.updated_at.0,
            bid.completed_at.map(|at| at.0),
        ),
    )?;
    Ok(ProjectBidRowId(row_id))
}
