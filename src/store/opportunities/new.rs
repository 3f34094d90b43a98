//! Opportunities and project bids to be, and how they are added.

use serde_json::Value;
use uuid::Uuid;

use crate::{
    domain::{
        assets::Kind,
        opportunities::{BidStatus, OpportunityStatus, VisibilityMode},
        teams::TeamNumber,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
    store::{Writer, row},
};

/// An opportunity to be.
#[derive(Debug)]
pub struct NewOpportunity<'a> {
    /// Its id.
    pub id: Uuid,
    /// Whether it asks for custom task work and not for listings.
    pub is_project: bool,
    /// The buyer.
    pub owner: TeamNumber,
    /// Its title.
    pub title: &'a str,
    /// What is looked for.
    pub description: &'a str,
    /// Where it stands.
    pub status: OpportunityStatus,
    /// Asset kinds that would do.
    pub accepted: &'a [Kind],
    /// Budget, tags and overview.
    pub metadata: Value,
    /// Who may see it.
    pub visibility: VisibilityMode,
    /// Teams that may not.
    pub excluded: &'a [TeamNumber],
    /// When it was posted.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When answers are due.
    pub deadline: Option<Timestamp>,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// When bids are evaluated.
    pub evaluation_date: Option<Timestamp>,
}

/// Adds an opportunity.
pub fn insert(writer: &Writer, opportunity: &NewOpportunity) -> Result<i64> {
    const SQL: &str =
        "INSERT INTO opportunities (uuid, kind, owner, title, description, status, accepted_asset_types,
             metadata, visibility_mode, created_at, updated_at, deadline, closed_at, evaluation_date)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    const EXCLUSION: &str = "INSERT INTO opportunity_exclusions (opportunity, team) VALUES (?1, ?2)";
    let number = writer.insert(
        SQL,
        (
            opportunity.id,
            if opportunity.is_project { "project" } else { "listing" },
            opportunity.owner.0,
            opportunity.title,
            opportunity.description,
            opportunity.status.word(),
            row::to_json(opportunity.accepted)?,
            row::to_json(&opportunity.metadata)?,
            opportunity.visibility.word(),
            opportunity.created_at.0,
            opportunity.updated_at.0,
            opportunity.deadline.map(|at| at.0),
            opportunity.closed_at.map(|at| at.0),
            opportunity.evaluation_date.map(|at| at.0),
        ),
    )?;
    for team in opportunity.excluded {
        writer.execute(EXCLUSION, (number, team.0))?;
    }
    Ok(number)
}

/// A project bid to be.
#[derive(Debug)]
pub struct NewBid {
    /// Its id.
    pub id: Uuid,
    /// The project opportunity, by its row number.
    pub opportunity: i64,
    /// The vendor.
    pub team: TeamNumber,
    /// Tasks offered.
    pub num_tasks: u32,
    /// Where it stands.
    pub status: BidStatus,
    /// Files that came with it.
    pub attachments: Value,
    /// Tasksets that were delivered, by their row numbers.
    pub delivery_tasksets: Vec<i64>,
    /// What the platform did.
    pub platform_events: Value,
    /// What the vendor did.
    pub vendor_events: Value,
    /// Days that the vendor expects to need.
    pub expected_timeline_days: Option<u32>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When the work was done.
    pub completed_at: Option<Timestamp>,
}

/// Adds a project bid.
pub fn insert_bid(writer: &Writer, bid: &NewBid) -> Result<i64> {
    const SQL: &str = "INSERT INTO project_bids (uuid, opportunity, team, num_tasks, status, attachments,
             delivery_tasksets, platform_events, vendor_events, expected_timeline_days, created_at, updated_at,
             completed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    writer.insert(
        SQL,
        (
            bid.id,
            bid.opportunity,
            bid.team.0,
            bid.num_tasks,
            bid.status.word(),
            row::to_json(&bid.attachments)?,
            row::to_json(&bid.delivery_tasksets)?,
            row::to_json(&bid.platform_events)?,
            row::to_json(&bid.vendor_events)?,
            bid.expected_timeline_days,
            bid.created_at.0,
            bid.updated_at.0,
            bid.completed_at.map(|at| at.0),
        ),
    )
}
