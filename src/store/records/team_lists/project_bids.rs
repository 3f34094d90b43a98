//! Bids of a vendor on projects.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::domain::{opportunities::BidStatus, time::Timestamp};

/// A bid on a project, as its vendor sees it in a list.
#[derive(Clone, Debug, FromRow)]
pub struct TeamProjectBid {
    /// ID of the bid.
    pub id: Uuid,
    /// ID of the project.
    pub opportunity: Uuid,
    /// Title of the project.
    pub title: String,
    /// Status of the bid.
    pub status: BidStatus,
    /// Number of tasks that are offered.
    pub num_tasks: u32,
    /// Number of days that the vendor expects to need; `None` if it has not said.
    pub expected_timeline_days: Option<u32>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which the delivery was accepted; `None` if it was not.
    pub completed_at: Option<Timestamp>,
}

impl TeamRecord for TeamProjectBid {
    /// `text` is a part of the project's title.
    const LIST: &'static TeamRecords = &Records {
        name: "project bid",
        columns: &[
            "b.uuid AS id, o.uuid AS opportunity, o.title, b.status, b.num_tasks, b.expected_timeline_days, b.created_at,
             b.updated_at, b.completed_at",
        ],
        tables: &["project_bids b JOIN opportunities o ON o.id = b.opportunity"],
        row_id: "b.id",
        id: "b.uuid",
        condition: None,
        filters: &[("status", Filter::OneOf("b.status")), ("text", Filter::Contains("o.title"))],
    }
    .of_team("b.team");
}
