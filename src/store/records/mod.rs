//! Records of all teams as operators see them, with the IDs of the records that they refer to. Each record can be found by its
//! ID, and each resource can be listed in pages, with filters.
//!
//! A resource is a [`Records`]: where its records are, and by what a list is filtered. Its columns have the names of the JSON
//! fields, so that a row is read directly as the struct of the JSON. If fields are derived by rules of the domain, the row is
//! read as a type of this module.

pub mod any_record;
pub mod asset_types;
pub mod assets;
pub mod audit;
pub mod credit_purchases;
pub mod estimations;
mod filters;
mod from_row;
pub mod grants;
pub mod jobs;
pub mod keys;
pub mod labels;
pub mod ledger;
pub mod listing_history;
pub mod listings;
pub mod notifications;
pub mod offers;
pub mod operator_uploads;
pub mod opportunities;
pub mod pages;
pub mod project_bids;
pub mod purchases;
pub mod quality_runs;
#[cfg(test)]
mod query_plans;
pub mod tasks;
pub mod tasksets;
pub mod team_lists;
pub mod teams;
pub mod wallets;
pub mod webhook_deliveries;
pub mod webhooks;
pub mod withdrawals;

use rusqlite::{Params, ToSql};

use super::Reader;
use crate::{domain::time::Timestamp, error::Result};

pub use self::filters::{Filter, Filters};
pub use super::row::FromRow;

use self::{
    any_record::AnyRecord,
    pages::{PageQuery, PageRequest, RowPage, TeamPage, TeamPageRequest},
};

/// A resource that operators find and list: the SQL of its records.
pub struct Records {
    /// What a record is called in messages, such as `listing`.
    pub name: &'static str,
    /// The list of columns, by the names of the fields that are read, in parts.
    pub columns: &'static [&'static str],
    /// The tables, in parts. Tables that only provide columns are joined by `LEFT JOIN`, since the count of the rows then
    /// leaves them out.
    pub tables: &'static [&'static str],
    /// The column of the row IDs, by which a list is ordered.
    pub row_id: &'static str,
    /// The column that identifies a record.
    pub id: &'static str,
    /// What all records fulfill.
    pub condition: Option<&'static str>,
    /// The filters of a list: names on the wire, with their conditions.
    pub filters: &'static [(&'static str, Filter)],
}

impl Records {
    /// Returns the record with this ID.
    pub fn find<T: FromRow>(&self, reader: &Reader, id: &impl RecordId) -> Result<Option<T>> {
        self.find_where(reader, "", [id])
    }

    /// Whether there is a record with this ID.
    pub fn contains(&self, reader: &Reader, id: &impl RecordId) -> Result<bool> {
        Ok(self.find::<AnyRecord>(reader, id)?.is_some())
    }

    /// Returns the record whose ID is the first of the parameters, and that fulfills a condition with the others.
    fn find_where<T: FromRow>(
        &self,
        reader: &Reader,
        condition: &str,
        parameters: impl Params,
    ) -> Result<Option<T>> {
        let (columns, tables) = (self.columns.join(" "), self.tables.join(" "));
        let own = self.condition.map(|condition| format!(" AND {condition}")).unwrap_or_default();
        let sql = format!("SELECT {columns} FROM {tables} WHERE {} = ?1{condition}{own}", self.id);
        reader.query_first(&sql, parameters, T::from_row)
    }

    /// Returns a page of the records that the filters allow at this time, newest first.
    pub fn page<T: FromRow>(
        &self,
        reader: &Reader,
        now: Timestamp,
        filters: &Filters,
        request: PageRequest,
    ) -> Result<RowPage<T>> {
        filters.check_names(self.filters)?;
        self.query(reader, now, filters)?.fetch(reader, request)
    }

    /// Like [`Records::page`], in both directions, and with any of the filters.
    pub fn page_from<T: FromRow>(
        &self,
        reader: &Reader,
        now: Timestamp,
        filters: &Filters,
        request: TeamPageRequest,
    ) -> Result<TeamPage<T>> {
        filters.check_known(self.filters)?;
        self.query(reader, now, filters)?.fetch_from(reader, request)
    }

    fn query(&self, reader: &Reader, now: Timestamp, filters: &Filters) -> Result<PageQuery> {
        filters.apply(reader, self.all(now), self.filters)
    }

    /// Returns the query of all records.
    fn all(&self, now: Timestamp) -> PageQuery {
        PageQuery::new((self.columns, self.tables), self.row_id, self.condition, now)
    }
}

/// What identifies a record: its ID, its slug, or its number.
pub trait RecordId: ToSql + Clone + Send + 'static {}

impl<T: ToSql + Clone + Send + 'static> RecordId for T {}

/// The type that a row of a resource is read as.
pub trait Record: FromRow + Send {
    /// What identifies a record.
    type Id: RecordId;

    /// The resource.
    const RECORDS: &'static Records;
}
