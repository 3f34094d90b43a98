//! Lists of the records of one team, as the team sees them: pages in both directions, with filters.
//!
//! Each list pins the team: nothing that a caller states widens it. What other teams' records it joins, it shows only as far
//! as the team may know them: a buyer sees the name of a vendor, and a vendor no buyer.

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
    Filter, Filters, FromRow, Reader,
    pages::{PageQuery, TeamPage, TeamPageRequest},
};
use crate::{
    domain::{teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// The SQL of a list of the records of one team.
pub struct TeamRecords {
    /// What a record is called in messages, such as `purchase`.
    pub name: &'static str,
    /// The list of columns, in parts.
    pub columns: &'static [&'static str],
    /// The tables, in parts.
    pub tables: &'static [&'static str],
    /// The column of the row IDs, by which the list is ordered.
    pub row_id: &'static str,
    /// The column that identifies a record.
    pub id: &'static str,
    /// The column with the row ID of the team.
    pub team: &'static str,
    /// What all records fulfill.
    pub condition: Option<&'static str>,
    /// What the list can be filtered by, by name. A filter that a caller leaves out is not set.
    pub filters: &'static [(&'static str, Filter)],
}

/// What a row of a list of a team is read as.
pub trait TeamRecord: FromRow + Send {
    /// The list.
    const LIST: &'static TeamRecords;
}

impl TeamRecords {
    /// Returns the team's record with this ID.
    pub fn find<T: FromRow>(&self, reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<T>> {
        let (columns, tables) = (self.columns.join(" "), self.tables.join(" "));
        let condition = self.condition.map(|condition| format!(" AND {condition}")).unwrap_or_default();
        let sql = format!(
            "SELECT {columns} FROM {tables} WHERE {} = ?1 AND {} = ?2{condition}",
            self.id, self.team
        );
        reader.query_first(&sql, (id, team), T::from_row)
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
        filters.check_known(self.filters)?;
        let mut query = PageQuery::new((self.columns, self.tables), self.row_id, self.condition, now)
            .filter(&format!("{} = ?", self.team), team);
        for (name, filter) in self.filters {
            if let Some(value) = filters.get(name) {
                query = filter.apply(reader, query, value, filters)?;
            }
        }
        query.fetch_from(reader, request)
    }
}
