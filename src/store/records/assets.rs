//! Assets, as operators see them. Deleted ones are not among them.

use uuid::Uuid;

use super::{
    Filter::{Custom, Equals, MatchesId, RefersTo},
    FromRow, Record, Records,
};
use crate::{
    domain::{inventory::Asset, stages::Stage},
    store::asset_rows,
    string_enum::StringEnum,
};

/// An asset of any team.
#[derive(Clone, Debug, FromRow)]
pub struct AssetRecord {
    /// The asset.
    #[row(with = asset_rows::read_asset)]
    pub asset: Asset,
    /// ID of the team.
    #[row(name = "team_id")]
    pub team: Uuid,
    /// Full name of the linked repository; `None` if none is linked.
    #[row(name = "repo_full_name")]
    pub repository: Option<String>,
    /// IDs of the first 100 listings with the asset, oldest first.
    #[row(json)]
    pub listing_ids: Vec<Uuid>,
    /// IDs of the first 100 tasksets of an asset of kind taskset or bundle.
    #[row(json)]
    pub taskset_ids: Vec<Uuid>,
}

impl Record for AssetRecord {
    type Id = Uuid;

    const RECORDS: &'static Records = &ASSETS;
}

/// Assets.
pub const ASSETS: Records = Records {
    name: "asset",
    columns: &[
        asset_rows::COLUMNS[0],
        asset_rows::COLUMNS[1],
        asset_rows::COLUMNS[2],
        ", d.repo_full_name, (SELECT t.uuid FROM teams t WHERE t.id = a.team) AS team_id,
         (SELECT json_group_array(hex(uuid)) FROM (
             SELECT l.uuid FROM listing_assets la JOIN listings l ON l.id = la.listing
             WHERE la.asset = a.id ORDER BY la.listing LIMIT 100)) AS listing_ids,
         (SELECT json_group_array(hex(uuid)) FROM (
             SELECT s.uuid FROM tasksets s WHERE s.id = a.taskset
             UNION ALL
             SELECT s.uuid FROM bundle_tasksets b JOIN tasksets s ON s.id = b.taskset
             WHERE b.asset = a.id LIMIT 100)) AS taskset_ids",
    ],
    tables: &["assets a", asset_rows::JOINS],
    row_id: "a.id",
    id: "a.uuid",
    condition: Some("a.deleted_at IS NULL"),
    filters: &[
        ("team_id", RefersTo("a.team", "teams")),
        ("kind", Equals("a.kind")),
        (
            "stage",
            Custom(|query, value, filters| {
                let stage = value.as_str().and_then(Stage::parse).map(|stage| stage as i64);
                if filters.is_set("team_id") || filters.is_set("listing_id") {
                    query.filter(IS_AT_STAGE, stage)
                } else {
                    query.with_tables(BY_STAGE, "i.asset").filter("i.stage = ?", stage)
                }
            }),
        ),
        (
            "listing_id",
            MatchesId(
                "a.id IN (SELECT asset FROM listing_assets WHERE listing = (SELECT id FROM listings WHERE uuid = ?))",
            ),
        ),
    ],
};

/// The tables of the assets of all teams at a stage: an index of `inventory` has them in order.
const BY_STAGE: &[&str] = &["inventory i CROSS JOIN assets a ON a.id = i.asset", asset_rows::JOINS];

/// The condition that assets of a team or listing are at a stage. The key of `inventory` begins with the team, so this is one
/// look-up per asset.
const IS_AT_STAGE: &str = "EXISTS (SELECT 1 FROM inventory i
    WHERE i.team = a.team AND i.group_id = a.group_id AND i.created_at = a.created_at AND i.asset = a.id
        AND i.stage = ?)";
