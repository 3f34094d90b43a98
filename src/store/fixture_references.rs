//! Queries for fixture sets: the IDs that records of earlier sets state, the rows that records refer to, and
//! when these changed.

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        listings::{CatalogStatus, ListingRowId},
        notifications::NotificationType,
        row_ids::{AssetRowId, GroupRowId, TaskRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// Returns the collections with a record that stated its ID.
pub fn list_collections_with_stated_ids(reader: &Reader) -> Result<Vec<String>> {
    reader.query_all("SELECT DISTINCT collection FROM fixture_ids", [], |row| row.get(0))
}

/// Returns the ID that the latest record with this key states.
pub fn find_stated_id(reader: &Reader, collection: &str, key: &str) -> Result<Option<Uuid>> {
    const SQL: &str = "SELECT id FROM fixture_ids WHERE collection = ?1 AND key = ?2";
    reader.query_first(SQL, (collection, key), |row| row.get(0))
}

/// Records the ID that a record states.
pub fn set_stated_id(writer: &Writer, collection: &str, key: &str, id: Uuid) -> Result<()> {
    const SQL: &str = "INSERT OR REPLACE INTO fixture_ids (collection, key, id) VALUES (?1, ?2, ?3)";
    writer.run(SQL, (collection, key, id))
}

/// Deletes the ID that an earlier record stated, because a later record with the same key states none.
pub fn delete_stated_id(writer: &Writer, collection: &str, key: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM fixture_ids WHERE collection = ?1 AND key = ?2";
    writer.run(SQL, (collection, key))
}

/// Returns the row ID of a team's group.
pub fn find_group(reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<GroupRowId>> {
    const SQL: &str = "SELECT id FROM groups WHERE uuid = ?1 AND team = ?2";
    reader.query_first(SQL, (id, team), |row| row.get(0))
}

/// Returns the row ID of a task.
pub fn find_task(reader: &Reader, id: Uuid) -> Result<Option<TaskRowId>> {
    reader.query_first("SELECT id FROM tasks WHERE uuid = ?1", [id], |row| row.get(0))
}

/// Returns the title of an asset.
pub fn find_asset_title(reader: &Reader, asset: AssetRowId) -> Result<String> {
    reader.query_one("SELECT title FROM assets WHERE id = ?1", [asset], |row| row.get(0))
}

/// A listing that records of a set refer to.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct ReferencedListing {
    /// Row ID of the listing.
    pub row_id: ListingRowId,
    /// ID of the listing.
    pub id: Uuid,
    /// Row ID of the vendor.
    pub team: TeamRowId,
    /// Title for people.
    pub title: String,
    /// State in the catalog.
    pub status: CatalogStatus,
}

/// Returns the listing with this ID.
pub fn find_listing(reader: &Reader, id: Uuid) -> Result<Option<ReferencedListing>> {
    const SQL: &str = "SELECT id, uuid, team, title, catalog_status FROM listings WHERE uuid = ?1";
    reader.query_first(SQL, [id], ReferencedListing::from_row)
}

/// Returns the times after `since` at which data was attached to the assets of a listing.
pub fn list_data_attachments(
    reader: &Reader,
    listing: ListingRowId,
    since: Timestamp,
) -> Result<Vec<Timestamp>> {
    const SQL: &str =
        "SELECT DISTINCT d.attached_at FROM listing_assets a JOIN data_objects d ON d.asset = a.asset
         WHERE a.listing = ?1 AND d.attached_at > ?2 ORDER BY d.attached_at";
    reader.query_all(SQL, (listing, since.0), |row| row.get(0))
}

/// Whether the assets of a listing, or their data, changed after `since`, up to `until`.
pub fn have_assets_changed(
    reader: &Reader,
    listing: ListingRowId,
    since: Timestamp,
    until: Timestamp,
) -> Result<bool> {
    const SQL: &str = "SELECT
         EXISTS (SELECT 1 FROM listing_history WHERE listing = ?1 AND occurred_at > ?2 AND occurred_at <= ?3
             AND event IN ('asset_attached', 'asset_detached'))
         OR EXISTS (SELECT 1 FROM listing_assets a JOIN data_objects d ON d.asset = a.asset
             WHERE a.listing = ?1 AND d.attached_at > ?2 AND d.attached_at <= ?3)";
    reader.query_one(SQL, (listing, since.0, until.0), |row| row.get(0))
}

/// A kind of record that steps change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangingRecord {
    /// An asset. Only its creation counts, since steps do not change assets.
    Asset,
    /// An API key.
    Key,
    /// A listing.
    Listing,
    /// An offer.
    Offer,
    /// An opportunity of any kind.
    Opportunity,
    /// A project bid.
    ProjectBid,
    /// A purchase.
    Purchase,
    /// A team.
    Team,
}

/// Returns when a record was last changed, or else created.
pub fn find_latest_change(reader: &Reader, record: ChangingRecord, id: Uuid) -> Result<Timestamp> {
    let sql = match record {
        ChangingRecord::Asset => "SELECT created_at FROM assets WHERE uuid = ?1",
        ChangingRecord::Key => {
            "SELECT max(created_at, coalesce(rotated_at, created_at), coalesce(revoked_at, created_at))
             FROM keys WHERE uuid = ?1"
        }
        ChangingRecord::Listing => {
            "SELECT max(l.updated_at, coalesce(
                 (SELECT max(occurred_at) FROM listing_history WHERE listing = l.id), l.updated_at))
             FROM listings l WHERE l.uuid = ?1"
        }
        ChangingRecord::Offer => "SELECT updated_at FROM offers WHERE uuid = ?1",
        ChangingRecord::Opportunity => {
            "SELECT max(updated_at, coalesce(closed_at, updated_at)) FROM opportunities WHERE uuid = ?1"
        }
        ChangingRecord::ProjectBid => {
            "SELECT max(updated_at, coalesce(completed_at, updated_at)) FROM project_bids WHERE uuid = ?1"
        }
        ChangingRecord::Purchase => {
            "SELECT max(created_at, coalesce(paid_at, created_at), coalesce(refunded_at, created_at),
                 coalesce(cancelled_at, created_at))
             FROM purchases WHERE uuid = ?1"
        }
        ChangingRecord::Team => {
            "SELECT max(created_at, coalesce(nda_accepted_at, created_at), coalesce(closed_at, created_at))
             FROM teams WHERE uuid = ?1"
        }
    };
    reader.query_one(sql, [id], |row| row.get(0))
}

/// A kind of record that others refer to, with the time of its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedRecord {
    /// An asset.
    Asset,
    /// A listing.
    Listing,
    /// A taskset.
    Taskset,
    /// A task.
    Task,
    /// An opportunity, or a project opportunity.
    Opportunity,
    /// A project bid.
    ProjectBid,
    /// A webhook.
    Webhook,
}

impl CreatedRecord {
    /// Returns what messages call the kind.
    pub const fn name(self) -> &'static str {
        match self {
            CreatedRecord::Asset => "asset",
            CreatedRecord::Listing => "listing",
            CreatedRecord::Taskset => "taskset",
            CreatedRecord::Task => "task",
            CreatedRecord::Opportunity => "opportunity",
            CreatedRecord::ProjectBid => "project bid",
            CreatedRecord::Webhook => "webhook",
        }
    }
}

/// Returns when the record with this ID was created.
pub fn find_creation(reader: &Reader, record: CreatedRecord, id: Uuid) -> Result<Timestamp> {
    let table = match record {
        CreatedRecord::Asset => "assets",
        CreatedRecord::Listing => "listings",
        CreatedRecord::Taskset => "tasksets",
        CreatedRecord::Task => "tasks",
        CreatedRecord::Opportunity => "opportunities",
        CreatedRecord::ProjectBid => "project_bids",
        CreatedRecord::Webhook => "webhooks",
    };
    let sql = format!("SELECT created_at FROM {table} WHERE uuid = ?1");
    reader.query_one(&sql, [id], |row| row.get(0))
}

/// Returns the row ID of the newest notification; 0 if there is none.
pub fn last_notification(reader: &Reader) -> Result<i64> {
    reader.query_one("SELECT coalesce(max(id), 0) FROM notifications", [], |row| row.get(0))
}

/// Deletes a team's notifications of a type whose row IDs are after the first and up to the second.
pub fn delete_notifications(
    writer: &Writer,
    team: TeamRowId,
    kind: NotificationType,
    (after, until): (i64, i64),
) -> Result<()> {
    const SQL: &str = "DELETE FROM notifications WHERE id > ?3 AND id <= ?4 AND team = ?1 AND type = ?2";
    writer.run(SQL, (team, kind.as_str(), after, until))
}

/// Gives the notifications with row IDs after one row IDs in the order of their times, which lists show them in.
pub fn order_notifications(writer: &Writer, after: i64) -> Result<()> {
    // The row IDs in between are negative, so none is that of another row.
    const RANK: &str = "UPDATE notifications SET id = -rank FROM (
             SELECT id AS ranked, row_number() OVER (ORDER BY created_at, id) AS rank FROM notifications WHERE id > ?1)
         WHERE id = ranked";
    writer.execute(RANK, [after])?;
    writer.run("UPDATE notifications SET id = ?1 - id WHERE id < 0", [after])
}
