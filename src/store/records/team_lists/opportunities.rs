//! Opportunities of both kinds that a buyer owns.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::domain::{
    opportunities::{OpportunityKind, OpportunityStatus, VisibilityMode},
    time::Timestamp,
};

/// An opportunity, as its owner sees it in a list.
#[derive(Clone, Debug, FromRow)]
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

impl TeamRecord for TeamOpportunity {
    /// `text` is a part of the title.
    const LIST: &'static TeamRecords = &Records {
        name: "opportunity",
        columns: &["o.uuid AS id, o.kind, o.title, o.status, o.visibility_mode,
             (SELECT count(*) FROM project_bids b WHERE b.opportunity = o.id) AS bid_count,
             (SELECT count(*) FROM project_bids b WHERE b.opportunity = o.id AND b.status = 'submitted')
                 AS submitted_bid_count,
             o.created_at, o.updated_at, o.deadline, o.evaluation_date, o.closed_at"],
        tables: &["opportunities o"],
        row_id: "o.id",
        id: "o.uuid",
        condition: None,
        filters: &[
            ("kind", Filter::Equals("o.kind")),
            ("status", Filter::OneOf("o.status")),
            ("text", Filter::Contains("o.title")),
        ],
    }
    .of_team("o.owner");
}
