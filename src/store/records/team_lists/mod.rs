//! Lists of the records of one team, as the team sees them: pages in both directions, with filters.
//!
//! Each list is limited to the team; no parameter can widen it. Of joined records of other teams, it shows only what the team
//! may know: a buyer sees the name of a vendor, but a vendor sees no buyer.

pub mod bulk_changes;
pub mod credit_purchases;
pub mod estimations;
pub mod grants;
pub mod keys;
pub mod notifications;
pub mod offers;
pub mod opportunities;
pub mod project_bids;
pub mod purchases;
pub mod quality_runs;
#[cfg(test)]
mod query_plans;
pub mod requests;
pub mod sales;
pub mod wallet_entries;
pub mod webhook_deliveries;
pub mod webhooks;
pub mod withdrawals;

use uuid::Uuid;

use super::{
    Filter, Filters, FromRow, Reader, Records,
    pages::{PageQuery, TeamPage, TeamPageRequest},
};
use crate::{
    domain::{teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// The SQL of a list of the records of one team. A filter that a caller leaves out is not set.
pub struct TeamRecords {
    /// The records of all teams.
    pub records: Records,
    /// The column with the row ID of the team.
    team: &'static str,
    /// The column of times by which a list is ordered; `None` for the order of the row IDs.
    sort: Option<&'static str>,
}

/// The type that a row of a list of a team is read as.
pub trait TeamRecord: FromRow + Send {
    /// The list.
    const LIST: &'static TeamRecords;
}

impl Records {
    /// Returns the list of the records of a team, whose row ID is in this column.
    const fn of_team(self, team: &'static str) -> TeamRecords {
        TeamRecords { records: self, team, sort: None }
    }
}

impl TeamRecords {
    /// Orders the list by a column of times.
    const fn sorted_by(self, column: &'static str) -> TeamRecords {
        TeamRecords { sort: Some(column), ..self }
    }

    /// Returns the team's record with this ID.
    pub fn find<T: FromRow>(&self, reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<T>> {
        self.records.find_where(reader, &format!(" AND {} = ?2", self.team), (id, team))
    }

    /// Returns a page of the team's records that the filters allow at this time, newest first.
    pub fn page<T: FromRow>(
        &self,
        reader: &Reader,
        team: TeamRowId,
        now: Timestamp,
        filters: &Filters,
        request: TeamPageRequest,
    ) -> Result<TeamPage<T>> {
        filters.check_known(self.records.filters)?;
        let all = self.records.all(now).sorted_by(self.sort);
        let query = all.filter(&format!("{} = ?", self.team), team);
        filters.apply(reader, query, self.records.filters)?.fetch_from(reader, request)
    }
}
