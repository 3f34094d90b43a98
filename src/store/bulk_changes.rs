//! Changes of many assets at once, and the assets that are left to change.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use uuid::Uuid;

use super::{
    Reader, Writer, asset_rows,
    inventory::Query,
    listings,
    row::{self, FromRow},
};
use crate::{
    domain::{
        assets::Kind,
        bulk_changes::{BulkAction, BulkChangeStatus, Skipped},
        inventory::Asset,
        listings::{CatalogStatus, ListingStatus, ReviewStatus},
        row_ids::{AssetRowId, BulkChangeRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// A bulk change, and its progress.
#[derive(Clone, Debug, FromRow)]
pub struct BulkChange {
    /// Row ID of the change.
    pub row_id: BulkChangeRowId,
    /// ID of the change.
    pub id: Uuid,
    /// Row ID of the team.
    pub team: TeamRowId,
    /// What is done.
    #[row(json)]
    pub action: BulkAction,
    /// Status of the change.
    pub status: BulkChangeStatus,
    /// Number of assets.
    pub selected: u64,
    /// Number of assets that were changed so far.
    pub changed: u64,
    /// The assets that were skipped so far.
    #[row(json)]
    pub skipped: Skipped,
    /// Time at which the change began.
    pub created_at: Timestamp,
    /// Time at which the change ended; `None` until then.
    pub completed_at: Option<Timestamp>,
}

pub(super) const COLUMNS: &str = "c.id AS row_id, c.uuid AS id, c.team, c.action, c.status, c.selected, c.changed, c.skipped, c.created_at, c.completed_at";

/// Returns a change.
pub fn find(reader: &Reader, row_id: BulkChangeRowId) -> Result<Option<BulkChange>> {
    let sql = format!("SELECT {COLUMNS} FROM bulk_changes c WHERE c.id = ?1");
    reader.query_first(&sql, [row_id], BulkChange::from_row)
}

/// Returns the changes of a team that have not ended.
pub fn list_running(reader: &Reader, team: TeamRowId) -> Result<Vec<BulkChange>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM bulk_changes c WHERE c.team = ?1 AND c.status = 'running' ORDER BY c.id"
    );
    reader.query_all(&sql, [team], BulkChange::from_row)
}

/// Inserts a change of no assets yet, which runs.
pub fn insert(
    writer: &Writer,
    (id, team): (Uuid, TeamRowId),
    action: &BulkAction,
    created_by: Option<Uuid>,
    at: Timestamp,
) -> Result<BulkChangeRowId> {
    const SQL: &str =
        "INSERT INTO bulk_changes (uuid, team, created_by, action, status, selected, changed, skipped, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, ?7)";
    let status = BulkChangeStatus::Running;
    let parameters =
        (id, team, created_by, row::to_json(action)?, status, row::to_json(&Skipped::default())?, at);
    Ok(BulkChangeRowId(writer.insert(SQL, parameters)?))
}

/// Updates how far a change is.
pub fn update(writer: &Writer, change: &BulkChange) -> Result<()> {
    const SQL: &str = "UPDATE bulk_changes
         SET status = ?2, selected = ?3, changed = ?4, skipped = ?5, completed_at = ?6 WHERE id = ?1";
    let BulkChange { row_id, status, selected, changed, .. } = *change;
    let skipped = row::to_json(&change.skipped)?;
    writer.run(SQL, (row_id, status, selected as i64, changed as i64, skipped, change.completed_at))
}

/// Returns how many of these IDs are those of assets of the team.
pub fn count_assets(reader: &Reader, team: TeamRowId, ids: &BTreeSet<Uuid>) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM json_each(?1) j JOIN assets a ON a.uuid = unhex(j.value)
         WHERE a.team = ?2 AND a.deleted_at IS NULL";
    reader.query_one(SQL, (row::ids_to_json(ids)?, team), |row| row.get(0))
}

/// Sets the assets of a change to the team's assets with these IDs. Returns their number.
pub fn select_ids(
    writer: &Writer,
    change: BulkChangeRowId,
    team: TeamRowId,
    ids: &BTreeSet<Uuid>,
) -> Result<u64> {
    const SQL: &str = "INSERT INTO bulk_change_assets (bulk_change, asset)
         SELECT ?1, a.id FROM json_each(?2) j JOIN assets a ON a.uuid = unhex(j.value)
         WHERE a.team = ?3 AND a.deleted_at IS NULL ORDER BY a.id";
    Ok(writer.execute(SQL, (change, row::ids_to_json(ids)?, team))? as u64)
}

/// Sets the assets of a change to all that match a query. Returns their number.
pub fn select_matches(writer: &Writer, change: BulkChangeRowId, query: &Query) -> Result<u64> {
    let (condition, values) = query.condition();
    let sql = format!(
        "INSERT INTO bulk_change_assets (bulk_change, asset)
         SELECT ?, i.asset FROM inventory i WHERE {condition} ORDER BY i.asset"
    );
    let parameters = std::iter::once(Value::Integer(change.0)).chain(values);
    Ok(writer.execute(&sql, rusqlite::params_from_iter(parameters))? as u64)
}

/// Assets that are chosen for a change.
#[derive(Debug)]
pub enum ChosenAssets {
    /// The assets of a team with these IDs.
    Ids(TeamRowId, BTreeSet<Uuid>),
    /// All that match a query.
    Matching(Box<Query>),
}

impl ChosenAssets {
    /// Returns a statement for their row IDs with its parameters.
    fn sql(&self) -> Result<(String, Vec<Value>)> {
        Ok(match self {
            ChosenAssets::Ids(team, ids) => {
                let sql = "SELECT a.id AS asset FROM json_each(?) j JOIN assets a ON a.uuid = unhex(j.value)
                     WHERE a.team = ? AND a.deleted_at IS NULL";
                (sql.to_owned(), vec![Value::Text(row::ids_to_json(ids)?), Value::Integer(team.0)])
            }
            ChosenAssets::Matching(query) => {
                let (condition, values) = query.condition();
                (format!("SELECT i.asset FROM inventory i WHERE {condition}"), values)
            }
        })
    }
}

/// The field that a change edits, with its new value if it is the same for all assets.
#[derive(Clone, Copy, Debug)]
pub enum EditedField<'v> {
    /// The domain tags.
    DomainTags,
    /// The description.
    Description(Option<&'v str>),
    /// The price in cents.
    Price(Option<i64>),
}

/// Groups the chosen assets by the columns that an edit of a field depends on. Returns one asset of each group, with the number of
/// assets in it.
pub fn count_alike(
    reader: &Reader,
    chosen: &ChosenAssets,
    field: &EditedField,
) -> Result<Vec<(AssetRowId, u64)>> {
    let (assets, values) = chosen.sql()?;
    let text = |text: Option<&str>| text.map_or(Value::Null, |text| Value::Text(text.to_owned()));
    let (value, name, new) = match field {
        EditedField::DomainTags => ("iif(? IS NULL, a.domain_tags, NULL)", "domain_tags", Value::Null),
        EditedField::Description(description) => ("a.description IS ?", "description", text(*description)),
        EditedField::Price(cents) => {
            ("a.price_cents IS ?", "price_usd", cents.map_or(Value::Null, Value::Integer))
        }
    };
    let sql = format!(
        "SELECT min(a.id), count(*),
             a.kind, {value} AS value, json_type(a.locked_fields, '$.{name}') IS NOT NULL AS is_locked
         FROM ({assets}) c CROSS JOIN assets a ON a.id = c.asset GROUP BY 3, 4, 5 ORDER BY 1"
    );
    let parameters = std::iter::once(new).chain(values);
    reader.query_all(&sql, rusqlite::params_from_iter(parameters), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the first of the chosen assets, in order of creation.
pub fn list_first(reader: &Reader, chosen: &ChosenAssets, limit: usize) -> Result<Vec<Asset>> {
    let (assets, mut values) = chosen.sql()?;
    values.push(Value::Integer(limit as i64));
    let first = format!(
        "(SELECT asset FROM ({assets}) ORDER BY asset LIMIT ?) c CROSS JOIN assets a ON a.id = c.asset"
    );
    let sql = asset_rows::select_from(&first, "ORDER BY c.asset");
    reader.query_all(&sql, rusqlite::params_from_iter(values), asset_rows::read_asset)
}

/// Returns the assets with these row IDs.
pub fn list_by_row_id(reader: &Reader, assets: &[AssetRowId]) -> Result<Vec<Asset>> {
    let sql = asset_rows::select_from("json_each(?1) j CROSS JOIN assets a ON a.id = j.value", "");
    reader.query_all(&sql, [row::to_json(assets)?], asset_rows::read_asset)
}

/// A listing that has an asset of a change.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct ListingOfAsset {
    /// Row ID of the asset.
    pub asset: AssetRowId,
    /// ID of the listing.
    pub listing: Uuid,
    /// Title of the listing.
    pub title: String,
    /// State of the listing.
    #[row(with = listings::read_status)]
    pub status: ListingStatus,
}

/// Returns listings with these assets that are not archived: those in the catalog first, at most `limit`.
pub fn list_listings(reader: &Reader, assets: &[AssetRowId], limit: usize) -> Result<Vec<ListingOfAsset>> {
    const SQL: &str = "SELECT la.asset, l.uuid AS listing, l.title, l.review_status, l.catalog_status
         FROM json_each(?1) j JOIN listing_assets la ON la.asset = j.value JOIN listings l ON l.id = la.listing
         WHERE l.catalog_status <> 'archived' ORDER BY l.catalog_status <> 'published', l.id DESC LIMIT ?2";
    reader.query_all(SQL, (row::to_json(assets)?, limit as i64), ListingOfAsset::from_row)
}

/// Returns how many of the chosen assets are on a listing in the catalog.
pub fn count_live(reader: &Reader, chosen: &ChosenAssets) -> Result<u64> {
    let (assets, values) = chosen.sql()?;
    let sql = format!(
        "SELECT count(*) FROM ({assets}) c WHERE EXISTS (
             SELECT 1 FROM listing_assets la JOIN listings l ON l.id = la.listing
             WHERE la.asset = c.asset AND l.catalog_status = 'published')"
    );
    reader.query_one(&sql, rusqlite::params_from_iter(values), |row| row.get(0))
}

/// An asset that is chosen for a deletion, with the facts that decide whether it can be deleted.
#[derive(Clone, Debug)]
pub struct AssetToDelete {
    /// ID of the asset.
    pub id: Uuid,
    /// Title of the asset.
    pub title: String,
    /// Kind of the asset.
    pub kind: Kind,
    /// Whether data is linked to it.
    pub has_data: bool,
    /// The states of the listings that it is on.
    pub listings: Vec<ListingStatus>,
}

/// Passes each of the chosen assets to a function, in order of creation.
pub fn for_each_to_delete(
    reader: &Reader,
    chosen: &ChosenAssets,
    mut visit: impl FnMut(AssetToDelete),
) -> Result<()> {
    let (assets, values) = chosen.sql()?;
    let sql = format!(
        "SELECT a.uuid, a.title, a.kind, d.asset IS NOT NULL, l.review_status, l.catalog_status
         FROM ({assets}) c CROSS JOIN assets a ON a.id = c.asset LEFT JOIN data_objects d ON d.asset = a.id
         LEFT JOIN listing_assets la ON la.asset = a.id LEFT JOIN listings l ON l.id = la.listing ORDER BY a.id"
    );
    // An asset on several listings has several rows.
    let mut current: Option<AssetToDelete> = None;
    reader.for_each_row(&sql, rusqlite::params_from_iter(values), |row| {
        let id: Uuid = row.get(0)?;
        if current.as_ref().is_none_or(|asset| asset.id != id) {
            let (title, kind, has_data) = (row.get(1)?, row.get(2)?, row.get(3)?);
            let next = AssetToDelete { id, title, kind, has_data, listings: Vec::new() };
            if let Some(complete) = current.replace(next) {
                visit(complete);
            }
        }
        let review: Option<ReviewStatus> = row.get(4)?;
        let catalog: Option<CatalogStatus> = row.get(5)?;
        if let (Some(asset), Some((review, catalog))) = (&mut current, review.zip(catalog)) {
            asset.listings.push(ListingStatus { review, catalog });
        }
        Ok(())
    })?;
    if let Some(last) = current {
        visit(last);
    }
    Ok(())
}

/// Returns the row ID of the last of the next assets to change, at most `limit`; `None` if none is left.
pub fn last_of_next(reader: &Reader, change: BulkChangeRowId, limit: u64) -> Result<Option<AssetRowId>> {
    const SQL: &str = "SELECT max(asset) FROM (
             SELECT asset FROM bulk_change_assets WHERE bulk_change = ?1 ORDER BY asset LIMIT ?2)";
    reader.query_one(SQL, (change, limit as i64), |row| row.get(0))
}

/// Returns the assets that are left to change up to a row ID, without those that were deleted since.
pub fn list_next(reader: &Reader, change: BulkChangeRowId, last: AssetRowId) -> Result<Vec<Asset>> {
    let sql = asset_rows::select_from(
        "bulk_change_assets b CROSS JOIN assets a ON a.id = b.asset",
        "WHERE b.bulk_change = ?1 AND b.asset <= ?2 AND a.deleted_at IS NULL ORDER BY b.asset",
    );
    reader.query_all(&sql, (change, last), asset_rows::read_asset)
}

/// Forgets the assets of a change up to a row ID. Returns their number.
pub fn delete_assets_until(writer: &Writer, change: BulkChangeRowId, last: AssetRowId) -> Result<u64> {
    const SQL: &str = "DELETE FROM bulk_change_assets WHERE bulk_change = ?1 AND asset <= ?2";
    Ok(writer.execute(SQL, (change, last))? as u64)
}

/// Forgets the assets that are left to change. Returns their number.
pub fn delete_assets(writer: &Writer, change: BulkChangeRowId) -> Result<u64> {
    Ok(writer.execute("DELETE FROM bulk_change_assets WHERE bulk_change = ?1", [change])? as u64)
}

/// Returns the titles of these assets of a team, without deleted ones.
pub fn list_titles(reader: &Reader, team: TeamRowId, ids: &BTreeSet<Uuid>) -> Result<Vec<(Uuid, String)>> {
    const SQL: &str = "SELECT a.uuid, a.title FROM json_each(?1) j JOIN assets a ON a.uuid = unhex(j.value)
         WHERE a.team = ?2 AND a.deleted_at IS NULL";
    reader.query_all(SQL, (row::ids_to_json(ids)?, team), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns messages about changes whose rows contradict each other. Empty if there are none.
pub fn find_inconsistencies(reader: &Reader) -> Result<Vec<String>> {
    const SQL: &str = "SELECT c.uuid FROM bulk_changes c
         WHERE (c.status = 'running') <> EXISTS (SELECT 1 FROM bulk_change_assets b WHERE b.bulk_change = c.id)
             OR (c.status = 'running') <> EXISTS (
                 SELECT 1 FROM jobs j WHERE j.kind = 'change_assets' AND j.subject = c.id)
         ORDER BY c.id";
    reader.query_all(SQL, [], |row| {
        let id: Uuid = row.get(0)?;
        Ok(format!("the bulk change {id} runs without assets or without a job, or has ended with some"))
    })
}
