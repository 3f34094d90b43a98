//! Pages of assets and counts of assets, with one statement each.

use std::collections::{BTreeMap, BTreeSet};

use marketplace_text::equality_key;
use rusqlite::types::Value;

use super::query::Query;
use crate::{
    domain::{
        assets::Kind,
        inventory::Asset,
        listings::ListingRowId,
        row_ids::{AssetRowId, GroupRowId},
        teams::TeamRowId,
    },
    error::Result,
    store::{Reader, asset_rows},
};

/// The listing to which assets should be attachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachableTo {
    /// Any listing: the caller named none.
    Any,
    /// This listing, which accepts assets.
    Listing(ListingRowId),
    /// No listing: the one that the caller named is not the team's, or does not accept assets.
    None,
}

/// The numbers of matching assets in a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCount {
    /// Number of matching assets.
    pub total: u64,
    /// Number of matching assets that can be attached to the listing.
    pub attachable: u64,
    /// Number of matching assets of each kind.
    pub kinds: BTreeMap<Kind, u64>,
}

/// Returns a page of the assets that match a query. If `groups` is given, only assets in these groups are
/// returned, ordered by group in the given order.
pub fn list_page(
    reader: &Reader,
    query: &Query,
    groups: Option<&[GroupRowId]>,
    limit: usize,
    offset: u64,
) -> Result<Vec<Asset>> {
    let (sql, values) = page_sql(query, groups, limit, offset);
    reader.query_all(&sql, rusqlite::params_from_iter(values), asset_rows::read_asset)
}

/// Returns the row IDs of all assets that match a query, in its order.
pub fn list_row_ids(reader: &Reader, query: &Query) -> Result<Vec<AssetRowId>> {
    let (condition, values) = query.condition();
    let sql = format!("SELECT i.asset FROM inventory i WHERE {condition} ORDER BY {}", query.order_sql("i"));
    reader.query_all(&sql, rusqlite::params_from_iter(values), |row| row.get(0))
}

/// Returns the statement of a page and its parameters. The inner query reads only key columns, so an index is
/// enough to skip to the page and to find its rows; only these rows are joined with the displayed columns.
/// They are few, so sorting them again is cheap.
pub(super) fn page_sql(
    query: &Query,
    groups: Option<&[GroupRowId]>,
    limit: usize,
    offset: u64,
) -> (String, Vec<Value>) {
    let (mut condition, mut values) = query.condition();
    let order = |rows: &str| match groups {
        Some(groups) => format!("{}, {}", group_position(rows, groups), query.order_sql(rows)),
        None => query.order_sql(rows),
    };
    if let Some(groups) = groups {
        let row_ids: Vec<String> = groups.iter().map(|group| group.0.to_string()).collect();
        condition.extend([" AND i.group_id IN (", &row_ids.join(", "), ")"]);
    }
    let page = format!(
        "(SELECT i.group_id, i.created_at, i.asset FROM inventory i WHERE {condition} ORDER BY {} LIMIT ? OFFSET ?) page
         CROSS JOIN inventory p ON p.team = {}
             AND p.group_id = page.group_id AND p.created_at = page.created_at AND p.asset = page.asset
         CROSS JOIN assets a ON a.id = p.asset",
        order("i"),
        query.team.0,
    );
    let sql = asset_rows::select_from(&page, &format!("ORDER BY {}", order("p")));
    values.extend([Value::Integer(limit as i64), Value::Integer(offset as i64)]);
    (sql, values)
}

/// Returns an SQL expression for the position of a row's group in `groups`.
fn group_position(rows: &str, groups: &[GroupRowId]) -> String {
    let positions: Vec<String> = groups
        .iter()
        .enumerate()
        .map(|(position, group)| format!("WHEN {} THEN {position}", group.0))
        .collect();
    format!("CASE {rows}.group_id {} END", positions.join(" "))
}

/// Returns the numbers of matching assets of each group, by the row ID of the group. `accepts_new_listings`
/// states whether codebases can be attached to new listings.
pub fn count_by_group(
    reader: &Reader,
    query: &Query,
    attachable_to: AttachableTo,
    accepts_new_listings: bool,
) -> Result<BTreeMap<GroupRowId, GroupCount>> {
    let (sql, values) = counts_sql(query, attachable_to, accepts_new_listings);
    let mut counts: BTreeMap<GroupRowId, GroupCount> = BTreeMap::new();
    reader.for_each_row(&sql, rusqlite::params_from_iter(values), |row| {
        let count: u64 = row.get(2)?;
        if count > 0 {
            let group = counts.entry(row.get(0)?).or_default();
            *group.kinds.entry(row.get(1)?).or_default() += count;
            group.total += count;
            group.attachable += row.get::<_, u64>(3)?;
        }
        Ok(())
    })?;
    Ok(counts)
}

/// Returns the statement of the counts and its parameters. It reads the stored counts where they suffice.
/// Otherwise it returns rows for the caller to add up, which is faster than grouping them in SQLite.
pub(super) fn counts_sql(
    query: &Query,
    attachable_to: AttachableTo,
    accepts_new_listings: bool,
) -> (String, Vec<Value>) {
    let (condition, mut values) = query.condition();
    // The same condition as in the bulk attachment route: codebases with linked data that are not
    // incomplete.
    let is_attachable = match attachable_to {
        AttachableTo::None => "0",
        _ if !accepts_new_listings => "0",
        _ => "i.kind = 'codebase' AND i.is_linked AND i.stage > 0",
    };
    let sql = match attachable_to {
        AttachableTo::Listing(listing) => {
            values.insert(0, Value::Integer(listing.0));
            format!(
                "SELECT i.group_id, i.kind, 1, ({is_attachable}) AND NOT EXISTS (
                     SELECT 1 FROM listing_assets la WHERE la.asset = i.asset AND la.listing = ?)
                 FROM inventory i WHERE {condition}"
            )
        }
        _ if query.is_covered_by_counts() => format!(
            "SELECT i.group_id, i.kind, i.assets, iif({is_attachable}, i.assets, 0) FROM inventory_counts i WHERE {condition}"
        ),
        _ => format!("SELECT i.group_id, i.kind, 1, ({is_attachable}) FROM inventory i WHERE {condition}"),
    };
    (sql, values)
}

/// Returns the models and the QA agents by which the team's task assets can be filtered.
pub fn list_task_facets(reader: &Reader, team: TeamRowId) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    const SQL: &str =
        "SELECT DISTINCT w.field, w.word FROM inventory i JOIN task_reading_words w ON w.asset = i.asset
         WHERE i.team = ?1 AND i.kind = 'task'";
    let (mut models, mut agents) = (BTreeSet::new(), BTreeSet::new());
    for (field, value) in reader.query_all(SQL, [team], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))? {
        if field == "ran_on_model" {
            models.insert(value)
        } else {
            agents.insert(value)
        };
    }
    Ok((models, agents))
}

/// Whether the team has another asset of the same kind with the same title.
pub fn title_is_taken(reader: &Reader, asset: &Asset) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (
             SELECT 1 FROM inventory i JOIN assets a ON a.id = i.asset
             WHERE i.team = ?1 AND i.name_key = ?2 AND i.kind = ?3 AND a.title = ?4 AND a.id <> ?5)";
    let key = equality_key(&asset.title);
    reader.query_one(SQL, (asset.team, key, asset.kind, &asset.title, asset.row_id), |row| row.get(0))
}

/// Returns the titles of the team's assets of the same kind that start with `prefix`.
pub fn titles_with_prefix(reader: &Reader, asset: &Asset, prefix: &str) -> Result<Vec<String>> {
    const SQL: &str = "SELECT a.title FROM inventory i JOIN assets a ON a.id = i.asset
         WHERE i.team = ?1 AND i.name_key >= ?2 AND i.name_key < ?2 || char(1114111) AND i.kind = ?3
             AND substr(a.title, 1, length(?4)) = ?4";
    let key = equality_key(prefix);
    reader.query_all(SQL, (asset.team, key, asset.kind, prefix), |row| row.get(0))
}
