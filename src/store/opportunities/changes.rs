//! Changes of opportunities and of project bids.

use crate::{
    domain::{
        opportunities::{Bid, BidEvent, BidStatus, OpportunityStatus, VisibilityMode},
        opportunity_fields::OpportunityFields,
        row_ids::{OpportunityRowId, TasksetRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    store::{Writer, row},
};

/// Replaces the fields of an opportunity and its excluded teams.
pub fn update(
    writer: &Writer,
    opportunity: OpportunityRowId,
    fields: &OpportunityFields,
    excluded: &[TeamRowId],
    at: Timestamp,
) -> Result<()> {
    const SQL: &str = "UPDATE opportunities SET title = ?2, description = ?3, accepted_asset_types = ?4,
             metadata = ?5, visibility_mode = ?6, deadline = ?7, evaluation_date = ?8, updated_at = ?9
         WHERE id = ?1";
    const CLEAR: &str = "DELETE FROM opportunity_exclusions WHERE opportunity = ?1";
    writer.execute(
        SQL,
        (
            opportunity,
            &fields.title,
            &fields.description,
            row::to_json(&fields.accepted_asset_types)?,
            row::to_json(&fields.metadata)?,
            fields.visibility,
            fields.deadline,
            fields.evaluation_date,
            at,
        ),
    )?;
    writer.execute(CLEAR, [opportunity])?;
    insert_exclusions(writer, opportunity, excluded)
}

/// Excludes teams from an opportunity, in addition to those that it excludes already.
pub fn exclude(
    writer: &Writer,
    opportunity: OpportunityRowId,
    teams: &[TeamRowId],
    at: Timestamp,
) -> Result<()> {
    const SQL: &str = "UPDATE opportunities SET visibility_mode = ?2, updated_at = ?3 WHERE id = ?1";
    writer.execute(SQL, (opportunity, VisibilityMode::AllExcept, at))?;
    insert_exclusions(writer, opportunity, teams)
}

/// Inserts teams that an opportunity excludes.
pub(super) fn insert_exclusions(
    writer: &Writer,
    opportunity: OpportunityRowId,
    teams: &[TeamRowId],
) -> Result<()> {
    const SQL: &str =
        "INSERT INTO opportunity_exclusions (opportunity, team) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    for team in teams {
        writer.execute(SQL, (opportunity, team))?;
    }
    Ok(())
}

/// Sets the status of an opportunity and when it was closed. If it is published now, also sets its publication time.
pub fn set_status(
    writer: &Writer,
    opportunity: OpportunityRowId,
    status: OpportunityStatus,
    closed_at: Option<Timestamp>,
    at: Timestamp,
) -> Result<()> {
    const SQL: &str = "UPDATE opportunities SET status = ?2, closed_at = ?3, updated_at = ?4,
             published_at = iif(?2 = 'published', ?4, published_at)
         WHERE id = ?1";
    writer.run(SQL, (opportunity, status, closed_at, at))
}

/// Sets the deadline of an opportunity.
pub fn set_deadline(
    writer: &Writer,
    opportunity: OpportunityRowId,
    deadline: Timestamp,
    at: Timestamp,
) -> Result<()> {
    const SQL: &str = "UPDATE opportunities SET deadline = ?2, updated_at = ?3 WHERE id = ?1";
    writer.run(SQL, (opportunity, deadline, at))
}

/// Records that an opportunity was changed.
pub fn touch(writer: &Writer, opportunity: OpportunityRowId, at: Timestamp) -> Result<()> {
    writer.run("UPDATE opportunities SET updated_at = ?2 WHERE id = ?1", (opportunity, at))
}

/// What changes when a bid makes progress.
#[derive(Debug)]
pub struct BidProgress<'a> {
    /// State of the bid after the change.
    pub status: BidStatus,
    /// Actions of the platform, including the new ones.
    pub platform_events: &'a [BidEvent],
    /// Actions of the vendor, including the new ones.
    pub vendor_events: &'a [BidEvent],
    /// Row IDs of the delivered tasksets; `None` if they stay as they are.
    pub delivery_tasksets: Option<&'a [TasksetRowId]>,
    /// Time at which the work was completed.
    pub completed_at: Option<Timestamp>,
}

/// Stores the progress of a bid.
pub fn update_bid(writer: &Writer, bid: &Bid, progress: &BidProgress, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE project_bids SET status = ?2, platform_events = ?3, vendor_events = ?4,
             delivery_tasksets = coalesce(?5, delivery_tasksets), completed_at = ?6, updated_at = ?7
         WHERE id = ?1";
    writer.run(
        SQL,
        (
            bid.row_id,
            progress.status,
            row::to_json(progress.platform_events)?,
            row::to_json(progress.vendor_events)?,
            progress.delivery_tasksets.map(row::to_json).transpose()?,
            progress.completed_at,
            at,
        ),
    )
}

/// Replaces the activity of a bid.
pub fn set_activity(
    writer: &Writer,
    bid: &Bid,
    platform_events: &[BidEvent],
    vendor_events: &[BidEvent],
    at: Timestamp,
) -> Result<()> {
    const SQL: &str =
        "UPDATE project_bids SET platform_events = ?2, vendor_events = ?3, updated_at = ?4 WHERE id = ?1";
    writer.run(SQL, (bid.row_id, row::to_json(platform_events)?, row::to_json(vendor_events)?, at))
}
