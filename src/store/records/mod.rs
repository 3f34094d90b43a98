//! Records as operators see them: those of all teams, with the IDs of what they refer to. Each resource can be found
//! by its ID and listed in pages, with filters.

pub mod asset_types;
pub mod assets;
pub mod audit;
pub mod credit_purchases;
pub mod estimations;
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
pub mod teams;
pub mod wallets;
pub mod webhook_deliveries;
pub mod webhooks;
pub mod withdrawals;

use uuid::Uuid;

use super::Reader;
use crate::error::{Error, Result};

use self::pages::{PageRequest, RowPage};

/// A resource that operators find and list.
pub trait Record: Sized + Send {
    /// What identifies a record.
    type Id: Clone + Send + 'static;

    /// What a list can be filtered by.
    type Filter: Send + 'static;

    /// What the record is called in messages, such as `listing`.
    const NAME: &'static str;

    /// Returns the record with this ID.
    fn find(reader: &Reader, id: &Self::Id) -> Result<Option<Self>>;

    /// Returns a page of the records that the filter allows, newest first.
    fn page(reader: &Reader, filter: &Self::Filter, request: PageRequest) -> Result<RowPage<Self>>;
}

/// Fails unless a table has a record with this ID, so that a list of what belongs to it is not empty by mistake.
fn check_exists<R: Record>(reader: &Reader, table: &str, id: Uuid) -> Result<()> {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE uuid = ?1)");
    let exists: bool = reader.query_one(&sql, [id], |row| row.get(0))?;
    if exists { Ok(()) } else { Err(Error::not_found(R::NAME)) }
}
