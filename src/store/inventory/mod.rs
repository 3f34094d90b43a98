//! The columns by which asset lists are filtered and sorted: one narrow row per asset, derived from the
//! asset.

mod lists;
mod query;
#[cfg(test)]
mod query_plans;

use marketplace_text::{equality_key, search_key};
use rusqlite::types::Value;

pub use lists::{
    AttachableTo, GroupCount, count_by_group, list_page, list_row_ids, list_task_facets, title_is_taken,
    titles_with_prefix,
};
pub use query::Query;

use super::{
    Reader, Writer, asset_rows,
    columns::{self, Column},
};
use crate::{
    domain::{
        assets::Kind,
        inventory::{Asset, TaskDetails},
        money::Cents,
        row_ids::{AssetRowId, TeamRowId},
    },
    error::Result,
    string_enum::StringEnum,
};

/// Maximum number of assets in memory while postponed rows are derived.
const BATCH: usize = 2_000;

/// Returns the columns of the `inventory` row of an asset. The estimate and whether data is private are columns of
/// codebases only.
fn row_columns(asset: &Asset, estimate: Option<Cents>) -> Vec<(&'static str, Value)> {
    let of_task = |is: fn(&TaskDetails) -> bool| Value::from(asset.task.as_ref().map(is));
    let is_codebase = asset.kind == Kind::Codebase;
    let (name_key, search_key) = (equality_key(&asset.title), search_key(&asset.title));
    let search_key = (search_key != name_key).then_some(search_key);
    let domains = (!asset.domain_tags.is_empty()).then(|| format!(",{},", asset.domain_tags.join(",")));
    let shared = [
        ("team", asset.team.0.into()),
        ("group_id", asset.group.0.0.into()),
        ("created_at", asset.created_at.0.into()),
        ("asset", asset.row_id.0.into()),
        ("kind", enum_value(Some(asset.kind))),
        ("stage", (asset.stage() as i64).into()),
        ("is_linked", asset.data.is_some().into()),
        ("name_key", name_key.into()),
        ("search_key", search_key.into()),
        ("domains", domains.into()),
        ("channel", enum_value(asset.data.as_ref().map(|data| data.channel))),
        ("price_cents", asset.price.map(|price| price.0).into()),
        ("estimate_cents", estimate.filter(|_| is_codebase).map(|estimate| estimate.0).into()),
        ("private_data", asset.data.as_ref().filter(|_| is_codebase).map(|data| data.is_private).into()),
        ("task_type", enum_value(asset.task.as_ref().map(|task| task.task_type))),
        ("has_traces", of_task(|task| task.quality.has_traces())),
        ("has_qa_results", of_task(|task| task.quality.has_qa_results)),
        ("has_environment", of_task(|task| task.quality.is_built)),
    ];
    shared.into_iter().chain(asset.codebase.columns()).collect()
}

fn enum_value<T: StringEnum>(variant: Option<T>) -> Value {
    variant.map(|variant| variant.as_str().to_owned()).into()
}

/// Returns the lower bound of the quote in the latest estimation of an asset.
fn latest_quote_low(reader: &Reader, asset: AssetRowId) -> Result<Option<Cents>> {
    const SQL: &str = "SELECT quote_low_cents FROM estimations WHERE asset = ?1 AND status = 'estimated'
         ORDER BY created_at DESC, id DESC LIMIT 1";
    reader.query_first(SQL, [asset], |row| row.get(0))
}

fn insert_row(writer: &Writer, asset: &Asset) -> Result<()> {
    let values = row_columns(asset, latest_quote_low(writer, asset.row_id)?);
    let columns: Vec<Column> = columns::by_reference(&values).collect();
    columns::insert(writer, "inventory", &columns)?;
    Ok(())
}

/// Replaces the `inventory` row of an asset. Call it in the transaction that changes the asset or its related
/// records.
pub fn upsert_row(writer: &Writer, asset: AssetRowId) -> Result<()> {
    let asset = writer.query_one(&asset_rows::select("a.id = ?1"), [asset], asset_rows::read_asset)?;
    delete_row(writer, &asset)?;
    insert_row(writer, &asset)
}

/// Postpones the `inventory` rows of assets with row IDs greater than `after_asset`. Inserting rows in random
/// order touches one page each, while inserting many rows in order touches each page once. A kill loses
/// nothing, since the postponement is stored and is resolved when the database is next opened.
pub fn postpone(writer: &Writer, after_asset: AssetRowId) -> Result<()> {
    writer.run("INSERT OR IGNORE INTO inventory_backlog (after_asset) VALUES (?1)", [after_asset])
}

/// Whether `inventory` rows are postponed.
pub fn is_postponed(reader: &Reader) -> Result<bool> {
    reader.query_one("SELECT EXISTS (SELECT 1 FROM inventory_backlog)", [], |row| row.get(0))
}

/// Derives all postponed rows, team by team.
pub fn insert_postponed(writer: &Writer) -> Result<()> {
    let first: Option<AssetRowId> =
        writer.query_one("SELECT min(after_asset) FROM inventory_backlog", [], |row| row.get(0))?;
    let Some(first) = first else { return Ok(()) };
    let missing = asset_rows::select(
        "a.team = ?1 AND a.id > ?2 AND a.deleted_at IS NULL AND NOT EXISTS (
             SELECT 1 FROM inventory i WHERE i.team = a.team AND i.created_at = a.created_at AND i.asset = a.id)
         ORDER BY a.id LIMIT ?3",
    );
    for team in writer.query_all("SELECT id FROM teams ORDER BY id", [], |row| row.get::<_, TeamRowId>(0))? {
        let mut after = first;
        loop {
            // Read the batch completely before inserting, since the query reads the table that the insertion
            // changes.
            let batch = writer.query_all(&missing, (team, after, BATCH as i64), asset_rows::read_asset)?;
            for asset in &batch {
                insert_row(writer, asset)?;
            }
            match batch.last() {
                Some(last) if batch.len() == BATCH => after = last.row_id,
                _ => break,
            }
        }
    }
    writer.run("DELETE FROM inventory_backlog", [])
}

/// Returns the row ID of the newest asset; 0 if there are no assets.
pub fn last_asset_row_id(reader: &Reader) -> Result<AssetRowId> {
    reader.query_one("SELECT coalesce(max(id), 0) FROM assets", [], |row| row.get(0))
}

/// Deletes the `inventory` row of an asset.
pub(super) fn delete_row(writer: &Writer, asset: &Asset) -> Result<()> {
    // Without the hint, SQLite can choose an index of the team alone, and read all its rows.
    const SQL: &str = "DELETE FROM inventory INDEXED BY inventory_newest
         WHERE team = ?1 AND created_at = ?2 AND asset = ?3";
    writer.run(SQL, (asset.team, asset.created_at, asset.row_id))
}

/// Returns messages about `inventory` rows and counts that do not match the assets. Empty if there are none.
pub fn find_inconsistencies(reader: &Reader) -> Result<Vec<String>> {
    const COUNTS: &str = "SELECT count(*) FROM (
             SELECT team, group_id, kind, stage, is_linked, assets FROM inventory_counts WHERE assets > 0
             EXCEPT SELECT team, group_id, kind, stage, is_linked, count(*) FROM inventory GROUP BY 1, 2, 3, 4, 5)";
    let (mut inconsistencies, mut assets) = (Vec::new(), 0_i64);
    asset_rows::for_each_after(reader, AssetRowId(0), |asset| {
        assets += 1;
        let (names, expected): (Vec<&str>, Vec<Value>) =
            row_columns(asset, latest_quote_low(reader, asset.row_id)?).into_iter().unzip();
        let stored_row = format!(
            "SELECT {} FROM inventory WHERE team = ?1 AND created_at = ?2 AND asset = ?3",
            names.join(", ")
        );
        let is_current =
            reader.query_first(&stored_row, (asset.team, asset.created_at, asset.row_id), |row| {
                for (column, expected) in expected.iter().enumerate() {
                    if row.get::<_, Value>(column)? != *expected {
                        return Ok(false);
                    }
                }
                Ok(true)
            })?;
        if is_current != Some(true) {
            inconsistencies
                .push(format!("the inventory row of asset {} is missing or out of date", asset.id));
        }
        Ok(())
    })?;
    let rows: i64 = reader.query_one("SELECT count(*) FROM inventory", [], |row| row.get(0))?;
    if rows != assets {
        inconsistencies.push(format!("the inventory has {rows} rows, but there are {assets} assets"));
    }
    if reader.query_one(COUNTS, [], |row| row.get::<_, i64>(0))? > 0 {
        inconsistencies.push("the inventory counts do not match the inventory rows".to_owned());
    }
    Ok(inconsistencies)
}
