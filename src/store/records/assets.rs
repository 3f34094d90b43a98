//! Assets, as operators see them. Deleted ones are not among them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{assets::Kind, inventory::Asset, stages::Stage},
    error::Result,
    store::{asset_rows, row},
    string_enum::StringEnum,
};

/// Maximum number of IDs of listings, and of tasksets, with an asset.
pub const MAX_RELATED_IDS: usize = 100;

/// An asset of any team.
#[derive(Clone, Debug)]
pub struct AssetRecord {
    /// The asset.
    pub asset: Asset,
    /// ID of the team.
    pub team: Uuid,
    /// Full name of the linked repository; `None` if none is linked.
    pub repository: Option<String>,
    /// IDs of the first listings with the asset, oldest first.
    pub listing_ids: Vec<Uuid>,
    /// IDs of the first tasksets: that of a taskset, and those of a bundle.
    pub taskset_ids: Vec<Uuid>,
}

/// What the list of assets can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct AssetFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// Kind of the asset.
    pub kind: Option<Kind>,
    /// Stage of the asset.
    pub stage: Option<Stage>,
    /// ID of a listing with the asset.
    pub listing: Option<Uuid>,
}

fn columns() -> String {
    format!(
        "{}, d.repo_full_name, (SELECT t.uuid FROM teams t WHERE t.id = a.team) AS team_uuid,
         (SELECT json_group_array(hex(uuid)) FROM (
             SELECT l.uuid FROM listing_assets la JOIN listings l ON l.id = la.listing
             WHERE la.asset = a.id ORDER BY la.listing LIMIT {MAX_RELATED_IDS})) AS listing_ids,
         (SELECT json_group_array(hex(uuid)) FROM (
             SELECT s.uuid FROM tasksets s WHERE s.id = a.taskset
             UNION ALL
             SELECT s.uuid FROM bundle_tasksets b JOIN tasksets s ON s.id = b.taskset
             WHERE b.asset = a.id LIMIT {MAX_RELATED_IDS})) AS taskset_ids",
        *asset_rows::COLUMNS
    )
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<AssetRecord> {
    Ok(AssetRecord {
        asset: asset_rows::read_asset(row)?,
        team: row.get("team_uuid")?,
        repository: row.get("repo_full_name")?,
        listing_ids: row::json(row, "listing_ids")?,
        taskset_ids: row::json(row, "taskset_ids")?,
    })
}

impl Record for AssetRecord {
    type Id = Uuid;
    type Filter = AssetFilter;

    const NAME: &'static str = "asset";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<AssetRecord>> {
        let sql = format!(
            "SELECT {} FROM assets a {} WHERE a.uuid = ?1 AND a.deleted_at IS NULL",
            columns(),
            asset_rows::JOINS
        );
        reader.query_first(&sql, [id], read)
    }

    fn page(reader: &Reader, filter: &AssetFilter, request: PageRequest) -> Result<RowPage<AssetRecord>> {
        const ON_LISTING: &str = "a.id IN (SELECT asset FROM listing_assets WHERE listing = (SELECT id FROM listings WHERE uuid = ?))";
        // The key of `inventory` begins with the team, so this is one look-up per asset.
        const IS_AT_STAGE: &str = "EXISTS (SELECT 1 FROM inventory i
             WHERE i.team = a.team AND i.group_id = a.group_id AND i.created_at = a.created_at AND i.asset = a.id
               AND i.stage = ?)";
        // The assets of all teams at a stage, in order, are those of an index of `inventory`.
        let is_of_any = filter.team.is_none() && filter.listing.is_none();
        let (tables, id, is_at_stage) = if is_of_any && filter.stage.is_some() {
            ("inventory i CROSS JOIN assets a ON a.id = i.asset", "i.asset", "i.stage = ?")
        } else {
            ("assets a", "a.id", IS_AT_STAGE)
        };
        let (columns, tables) = (columns(), format!("{tables} {}", asset_rows::JOINS));
        PageQuery::new(&columns, &tables, id)
            .when(true, "a.deleted_at IS NULL")
            .refers_to("a.team", "teams", filter.team)
            .filter("a.kind = ?", filter.kind.map(StringEnum::as_str))
            .filter(is_at_stage, filter.stage.map(|stage| stage as i64))
            .filter(ON_LISTING, filter.listing)
            .fetch(reader, request, read)
    }
}
