//! Opportunities of both kinds that a buyer owns.

use uuid::Uuid;

use super::{Filter, FromRow, TeamRecord, TeamRecords};
use crate::{
    domain::{
        opportunities::{OpportunityKind, OpportunityStatus, VisibilityMode},
        time::Timestamp,
    },
    store::row,
};

/// An opportunity, as its owner sees it in a list.
#[derive(Clone, Debug)]
pub struct TeamOpportunity {
    /// ID of the opportunity.
    pub id: Uuid,
    /// Whether listings or a project are wanted.
    pub kind: OpportunityKind,
    /// Title.
    pub title: String,
    /// Status of the opportunity.
    pub status: OpportunityStatus,
    /// Which vendors can see it.
    pub visibility_mode: VisibilityMode,
    /// Number of bids; 0 for an opportunity for listings.
    pub bid_count: u64,
    /// Number of bids that wait for a decision.
    pub submitted_bid_count: u64,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Until when vendors can respond; `None` if there is no end.
    pub deadline: Option<Timestamp>,
    /// Time of the evaluation; `None` if it states none.
    pub evaluation_date: Option<Timestamp>,
    /// Time at which it was closed; `None` unless closed.
    pub closed_at: Option<Timestamp>,
}

impl FromRow for TeamOpportunity {
    fn from_row(row: &rusqlite::Row) -> rusqlite::Result<TeamOpportunity> {
        Ok(TeamOpportunity {
            id: row.get("uuid")?,
            kind: row::string_enum(row, "kind")?,
            title: row.get("title")?,
            status: row::string_enum(row, "status")?,
            visibility_mode: row::string_enum(row, "visibility_mode")?,
            bid_count: row.get("bid_count")?,
            submitted_bid_count: row.get("submitted_bid_count")?,
            created_at: row::time(row, "created_at")?,
            updated_at: row::time(row, "updated_at")?,
            deadline: row::optional_time(row, "deadline")?,
            evaluation_date: row::optional_time(row, "evaluation_date")?,
            closed_at: row::optional_time(row, "closed_at")?,
        })
    }
}

impl TeamRecord for TeamOpportunity {
    const LIST: &'static TeamRecords = &OPPORTUNITIES;
}

/// Opportunities of a buyer. `text` is a part of the title.
pub const OPPORTUNITIES: TeamRecords = TeamRecords {
    name: "opportunity",
    columns: &["o.uuid, o.kind, o.title, o.status, o.visibility_mode,
         (SELECT count(*) FROM project_bids b WHERE b.opportunity = o.id) AS bid_count,
         (SELECT count(*) FROM project_bids b WHERE b.opportunity = o.id AND b.status = 'submitted')
             AS submitted_bid_count,
         o.created_at, o.updated_at, o.deadline, o.evaluation_date, o.closed_at"],
    tables: &["opportunities o"],
    row_id: "o.id",
    id: "o.uuid",
    team: "o.owner",
    condition: None,
    filters: &[
        ("kind", Filter::Equals("o.kind")),
        ("status", Filter::OneOf("o.status")),
        ("text", Filter::Contains("o.title")),
    ],
};
