//! The assets of listings, and bulk attachment.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use uuid::Uuid;

use super::{
    Reader, Writer, asset_rows,
    bundle_entries::CONTENT,
    index_queue,
    inventory::Query,
    row::{self, FromRow},
};
use crate::{
    domain::{
        assets::Kind,
        inventory::Asset,
        listings::{AttachSkip, ListingRowId},
        money::Cents,
        row_ids::AssetRowId,
        teams::TeamRowId,
    },
    error::{NameList, Result},
};

/// Returns the first assets of a listing, in the order in which they were attached.
pub fn list_first(reader: &Reader, listing: ListingRowId, limit: usize) -> Result<Vec<Asset>> {
    let sql = asset_rows::select_from(
        "(SELECT asset, position FROM listing_assets WHERE listing = ?1 ORDER BY position LIMIT ?2) la
         CROSS JOIN assets a ON a.id = la.asset",
        "ORDER BY la.position",
    );
    reader.query_all(&sql, (listing, limit as i64), asset_rows::read_asset)
}

/// An asset of a listing that can be bought without the others.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct SelectableAsset {
    /// ID of the asset.
    pub id: Uuid,
    /// Title of the asset.
    pub title: String,
    /// Kind of the asset.
    pub kind: Kind,
    /// Asking price.
    pub price: Cents,
    /// Whether the market has data of it. Otherwise, only its description can be downloaded.
    pub has_data: bool,
}

/// Returns the first assets of a listing that have an asking price, in the order in which they were attached.
pub fn list_selectable(reader: &Reader, listing: ListingRowId, limit: u32) -> Result<Vec<SelectableAsset>> {
    let sql = format!(
        "SELECT a.uuid, a.title, a.kind, a.price_cents, {CONTENT} <> 'description'
         FROM listing_assets la JOIN assets a ON a.id = la.asset LEFT JOIN data_objects d ON d.asset = a.id
         WHERE la.listing = ?1 AND a.price_cents IS NOT NULL ORDER BY la.position LIMIT ?2"
    );
    reader.query_all(&sql, (listing, limit), SelectableAsset::from_row)
}

/// Returns of how many of the first assets of a listing the market has no data, and the number of these first assets.
pub fn count_without_data(reader: &Reader, listing: ListingRowId, limit: u32) -> Result<(u64, u64)> {
    let sql = format!(
        "SELECT count(*) FILTER (WHERE content = 'description'), count(*) FROM (
             SELECT {CONTENT} AS content FROM listing_assets la JOIN assets a ON a.id = la.asset
             LEFT JOIN data_objects d ON d.asset = a.id WHERE la.listing = ?1 ORDER BY la.position LIMIT ?2)"
    );
    reader.query_one(&sql, (listing, limit), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the assets among these of a listing for which the market has no data.
pub fn list_without_data(reader: &Reader, listing: ListingRowId, ids: &[Uuid]) -> Result<BTreeSet<Uuid>> {
    let sql = format!(
        "SELECT a.uuid FROM json_each(?1) j JOIN assets a ON a.uuid = unhex(j.value)
         JOIN listing_assets la ON la.asset = a.id AND la.listing = ?2
         LEFT JOIN data_objects d ON d.asset = a.id WHERE {CONTENT} = 'description'"
    );
    Ok(reader.query_all(&sql, (row::ids_to_json(ids)?, listing), |row| row.get(0))?.into_iter().collect())
}

/// The asking prices of the first assets of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct AssetPrices {
    /// Number of assets.
    pub assets: usize,
    /// Number of them that have an asking price.
    pub priced: usize,
    /// Sum of these prices.
    pub sum: Cents,
}

/// Returns the asking prices of the first assets of a listing.
pub fn find_prices(reader: &Reader, listing: ListingRowId, limit: usize) -> Result<AssetPrices> {
    const SQL: &str = "SELECT count(*), count(a.price_cents), coalesce(sum(a.price_cents), 0)
         FROM (SELECT asset FROM listing_assets WHERE listing = ?1 ORDER BY position LIMIT ?2) la
         CROSS JOIN assets a ON a.id = la.asset";
    reader.query_one(SQL, (listing, limit as i64), AssetPrices::from_row)
}

/// The numbers of attached and of skipped assets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttachCounts {
    /// Number of assets that were already attached to the listing.
    pub already_attached: u64,
    /// Number of assets whose kinds accept no new listings.
    pub deprecated: u64,
    /// Number of assets that cannot be listed: incomplete ones, and in bulk attachment those that are not
    /// codebases with linked data.
    pub not_listable: u64,
    /// Number of assets that were attached.
    pub attached: u64,
}

/// What candidates are attached to, and which of them can be.
#[derive(Clone, Debug)]
pub struct Target {
    /// The vendor.
    pub team: TeamRowId,
    /// The listing.
    pub listing: ListingRowId,
    /// The kinds that accept no new listings.
    pub closed_kinds: Vec<Kind>,
    /// Whether only codebases with linked data can be attached. Otherwise, all assets can that are not incomplete.
    pub only_linked_codebases: bool,
}

impl Target {
    /// Returns the parameters of [`REASONS`].
    const fn parameters<'c>(&self, closed_kinds: &'c str) -> (ListingRowId, &'c str, TeamRowId, bool) {
        (self.listing, closed_kinds, self.team, self.only_linked_codebases)
    }
}

/// The candidates, each with the reason why it cannot be attached; NULL if it can. The first reason that applies counts.
const REASONS: &str = "SELECT CASE
         WHEN EXISTS (SELECT 1 FROM listing_assets la WHERE la.asset = c.asset AND la.listing = ?1) THEN 'already_attached'
         WHEN a.kind IN (SELECT value FROM json_each(?2)) THEN 'deprecated'
         WHEN i.stage = 0 OR ?4 AND NOT (i.kind = 'codebase' AND i.is_linked) THEN 'not_listable' END AS reason,
         c.asset
     FROM candidates c JOIN assets a ON a.id = c.asset
     JOIN inventory i ON i.team = ?3 AND i.group_id = a.group_id AND i.created_at = a.created_at AND i.asset = a.id";

/// The set of assets to attach, collected in a temporary table, so that it may have any size.
#[derive(Debug)]
pub struct Candidates<'w> {
    writer: &'w Writer<'w>,
}

impl<'w> Candidates<'w> {
    /// Creates an empty set.
    pub fn new(writer: &'w Writer<'w>) -> Result<Candidates<'w>> {
        writer.execute("CREATE TEMP TABLE IF NOT EXISTS candidates (asset INTEGER PRIMARY KEY)", [])?;
        writer.execute("DELETE FROM candidates", [])?;
        Ok(Candidates { writer })
    }

    /// Adds the team's assets with these IDs. Returns the number of assets added.
    pub fn add_ids(&self, team: TeamRowId, ids: &BTreeSet<Uuid>) -> Result<u64> {
        const FOUND: &str = "INSERT OR IGNORE INTO candidates (asset)
             SELECT a.id FROM json_each(?1) j JOIN assets a ON a.uuid = unhex(j.value)
             WHERE a.team = ?2 AND a.deleted_at IS NULL";
        Ok(self.writer.execute(FOUND, (row::ids_to_json(ids)?, team))? as u64)
    }

    /// Adds all assets that match a query, except those with the IDs in `excluded`.
    pub fn add_matches(&self, query: &Query, excluded: &[Uuid]) -> Result<()> {
        let (condition, mut values) = query.condition();
        let sql = format!(
            "INSERT OR IGNORE INTO candidates (asset) SELECT i.asset FROM inventory i WHERE {condition}
                 AND i.asset NOT IN (SELECT a.id FROM json_each(?) j JOIN assets a ON a.uuid = unhex(j.value))"
        );
        values.push(Value::Text(row::ids_to_json(excluded)?));
        self.writer.run(&sql, rusqlite::params_from_iter(values))
    }

    /// Returns which of these IDs are not those of assets of the team.
    pub fn absent_ids(&self, team: TeamRowId, ids: &BTreeSet<Uuid>) -> Result<NameList> {
        const SQL: &str = "SELECT unhex(j.value) FROM json_each(?1) j WHERE NOT EXISTS (
                 SELECT 1 FROM assets a WHERE a.uuid = unhex(j.value) AND a.team = ?2 AND a.deleted_at IS NULL)";
        let absent: Vec<Uuid> =
            self.writer.query_all(SQL, (row::ids_to_json(ids)?, team), |row| row.get(0))?;
        Ok(absent.iter().collect())
    }

    /// Returns the row IDs of the candidates that cannot be attached to a listing, in order of creation, each with
    /// the reason.
    pub fn list_refused(&self, target: &Target) -> Result<Vec<(AttachSkip, AssetRowId)>> {
        let sql = format!("SELECT reason, asset FROM ({REASONS}) WHERE reason IS NOT NULL ORDER BY asset");
        let closed_kinds = row::to_json(&target.closed_kinds)?;
        self.writer.query_all(&sql, target.parameters(&closed_kinds), |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Appends all candidates that can be attached to a listing, in order of creation.
    pub fn attach(&self, target: &Target) -> Result<AttachCounts> {
        let listing = target.listing;
        let closed_kinds = row::to_json(&target.closed_kinds)?;
        let parameters = target.parameters(&closed_kinds);
        let mut attached = AttachCounts::default();
        let counts = format!("SELECT reason, count(*) FROM ({REASONS}) GROUP BY reason");
        self.writer.for_each_row(&counts, parameters, |row| {
            let count = row.get(1)?;
            match row.get(0)? {
                Some(AttachSkip::AlreadyAttached) => attached.already_attached = count,
                Some(AttachSkip::Deprecated) => attached.deprecated = count,
                Some(AttachSkip::NotListable | AttachSkip::NotFound) => attached.not_listable = count,
                None => attached.attached = count,
            }
            Ok(())
        })?;
        let insert = format!(
            "INSERT INTO listing_assets (listing, position, asset)
             SELECT ?1, (SELECT coalesce(max(position), 0) FROM listing_assets WHERE listing = ?1)
                 + row_number() OVER (ORDER BY asset), asset
             FROM ({REASONS}) WHERE reason IS NULL"
        );
        if attached.attached > 0 {
            self.writer.execute(&insert, parameters)?;
            index_queue::enqueue(self.writer, listing)?;
        }
        Ok(attached)
    }
}

/// Returns how many of the assets that match a query could be attached to a listing, and the other assets in order of creation, each
/// with the reason.
pub fn preview(
    reader: &Reader,
    query: &Query,
    target: &Target,
) -> Result<(u64, Vec<(AttachSkip, AssetRowId)>)> {
    let (condition, values) = query.condition();
    // The parameters of the target come first, so that those of the condition follow them.
    let sql = format!(
        "WITH target AS (SELECT ?1, ?2, ?3, ?4), candidates AS (SELECT i.asset FROM inventory i WHERE {condition})
         SELECT reason, asset FROM ({REASONS}) ORDER BY asset"
    );
    let parameters = [
        Value::Integer(target.listing.0),
        Value::Text(row::to_json(&target.closed_kinds)?),
        Value::Integer(target.team.0),
        Value::Integer(target.only_linked_codebases.into()),
    ];
    let parameters = rusqlite::params_from_iter(parameters.into_iter().chain(values));
    let (mut possible, mut refused) = (0, Vec::new());
    reader.for_each_row(&sql, parameters, |row| {
        match row.get(0)? {
            Some(reason) => refused.push((reason, row.get(1)?)),
            None => possible += 1,
        }
        Ok(())
    })?;
    Ok((possible, refused))
}

/// Whether an asset is attached to a listing.
pub fn is_attached(reader: &Reader, listing: ListingRowId, asset: AssetRowId) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM listing_assets WHERE asset = ?1 AND listing = ?2)";
    reader.query_one(SQL, (asset, listing), |row| row.get(0))
}

/// Returns which of these assets are attached to a listing.
pub fn attached_among(
    reader: &Reader,
    listing: ListingRowId,
    assets: &[AssetRowId],
) -> Result<BTreeSet<AssetRowId>> {
    const SQL: &str = "SELECT asset FROM listing_assets
         WHERE listing = ?1 AND asset IN (SELECT value FROM json_each(?2))";
    let found: Vec<AssetRowId> = reader.query_all(SQL, (listing, row::to_json(assets)?), |row| row.get(0))?;
    Ok(found.into_iter().collect())
}

/// Detaches an asset from a listing.
pub fn detach(writer: &Writer, listing: ListingRowId, asset: AssetRowId) -> Result<()> {
    writer.execute("DELETE FROM listing_assets WHERE asset = ?1 AND listing = ?2", (asset, listing))?;
    index_queue::enqueue(writer, listing)
}
