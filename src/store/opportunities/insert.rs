//! Insertion of opportunities and project bids.

use uuid::Uuid;

use super::changes;
use crate::{
    domain::{
        opportunities::{Attachment, BidEvent, BidStatus, OpportunityKind, OpportunityStatus},
        opportunity_fields::OpportunityFields,
        row_ids::{OpportunityRowId, ProjectBidRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    store::{Writer, row},
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
    /// Teams that cannot see it.
    pub excluded_teams: &'a [TeamRowId],
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Inserts a draft of an opportunity and its exclusions, and returns its row ID.
pub fn insert(writer: &Writer, opportunity: &NewOpportunity) -> Result<OpportunityRowId> {
    const SQL: &str =
        "INSERT INTO opportunities (uuid, kind, owner, title, description, status, accepted_asset_types,
             metadata, visibility_mode, created_at, updated_at, deadline, evaluation_date)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11, ?12)";
    let fields = opportunity.fields;
    let row_id = writer.insert(
        SQL,
        (
            opportunity.id,
            opportunity.kind,
            opportunity.owner,
            &fields.title,
            &fields.description,
            OpportunityStatus::Draft,
            row::to_json(&fields.accepted_asset_types)?,
            row::to_json(&fields.metadata)?,
            fields.visibility,
            opportunity.created_at,
            fields.deadline,
            fields.evaluation_date,
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
    /// Files attached to the bid, as JSON.
    pub attachments: Vec<Attachment>,
    /// Log of the platform's actions on the bid, as JSON.
    pub platform_events: Vec<BidEvent>,
    /// Log of the vendor's actions on the bid, as JSON.
    pub vendor_events: Vec<BidEvent>,
    /// Number of days that the vendor expects to need.
    pub expected_timeline_days: Option<u32>,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Inserts a submitted project bid and returns its row ID.
pub fn insert_bid(writer: &Writer, bid: &NewBid) -> Result<ProjectBidRowId> {
    const SQL: &str = "INSERT INTO project_bids (uuid, opportunity, team, num_tasks, status, attachments,
             delivery_tasksets, platform_events, vendor_events, expected_timeline_days, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, '[]', ?7, ?8, ?9, ?10, ?10)";
    let row_id = writer.insert(
        SQL,
        (
            bid.id,
            bid.opportunity,
            bid.team,
            bid.num_tasks,
            BidStatus::Submitted,
            row::to_json(&bid.attachments)?,
            row::to_json(&bid.platform_events)?,
            row::to_json(&bid.vendor_events)?,
            bid.expected_timeline_days,
            bid.created_at,
        ),
    )?;
    Ok(ProjectBidRowId(row_id))
}
