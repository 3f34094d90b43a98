//! Changes to assets and their linked data. Each change also updates the asset's row in `inventory` and
//! queues the listings that include the asset for the index.

use super::insert::NewData;
use crate::{
    domain::{inventory::Asset, row_ids::AssetRowId, time::Timestamp},
    error::Result,
    store::{
        Writer,
        columns::{self, Column},
        index_queue, inventory, row, uploads,
    },
};

/// Updates all fields of an asset that can change.
pub fn update(writer: &Writer, asset: &Asset) -> Result<()> {
    let shared: [Column; 10] = [
        ("group_id", &asset.group.0),
        ("title", &asset.title),
        ("description", &asset.description),
        ("domain_tags", &row::to_json(&asset.domain_tags)?),
        ("other_domain", &asset.other_domain),
        ("price_cents", &asset.price),
        ("notes", &asset.notes),
        ("extra_columns", &row::to_json(&asset.extra_columns)?),
        ("task_type", &asset.task.as_ref().map(|task| task.task_type)),
        ("locked_fields", &row::to_json(&asset.locks)?),
    ];
    let codebase: Vec<_> = asset.codebase.columns().collect();
    let columns: Vec<Column> = shared.into_iter().chain(columns::by_reference(&codebase)).collect();
    columns::update(writer, "assets", &asset.row_id, &columns)?;
    update_derived(writer, asset.row_id)
}

/// Marks an asset as deleted, and removes it from all listings and asset lists. Its row stays, since other
/// rows refer to it.
pub fn delete(writer: &Writer, asset: &Asset, at: Timestamp) -> Result<()> {
    enqueue_listings(writer, asset.row_id)?;
    writer.execute("DELETE FROM listing_assets WHERE asset = ?1", [asset.row_id])?;
    writer.execute("UPDATE assets SET deleted_at = ?2 WHERE id = ?1", (asset.row_id, at))?;
    inventory::delete_row(writer, asset)
}

/// Links data to an asset. Does not update `inventory`; the caller does.
pub fn attach_data(writer: &Writer, asset: AssetRowId, data: &NewData) -> Result<()> {
    let columns: [Column; 14] = [
        ("asset", &asset),
        ("channel", &data.channel),
        ("repo_full_name", &data.repo_full_name),
        ("is_private", &data.is_private),
        ("archive_status", &data.archive_status),
        ("analysis_status", &data.analysis_status),
        ("attached_at", &data.attached_at),
        ("analyzed_at", &data.analyzed_at),
        ("archive_bytes", &data.archive_bytes.map(|bytes| bytes as i64)),
        ("commit_sha", &data.commit_sha),
        ("archive_error", &data.archive_error),
        ("analysis_error", &data.analysis_error),
        ("manifest_url", &data.manifest_url),
        ("upload", &data.upload),
    ];
    columns::insert(writer, "data_objects", &columns)?;
    data.upload.map_or(Ok(()), |upload| uploads::mark_used(writer, upload))
}

/// Deletes the linked data of an asset, and clears the values measured from it.
pub fn detach_data(writer: &Writer, asset: &Asset, now: Timestamp) -> Result<()> {
    const MEASURED: &str = "UPDATE assets SET languages = NULL, file_count = NULL,
             file_extensions = CASE WHEN kind = 'raw_data' THEN '[]' END, robotics = NULL
         WHERE id = ?1";
    uploads::mark_unused(writer, asset.row_id, now)?;
    writer.execute("DELETE FROM data_objects WHERE asset = ?1", [asset.row_id])?;
    writer.execute(MEASURED, [asset.row_id])?;
    update(writer, asset)
}

/// Updates everything that is derived from an asset.
fn update_derived(writer: &Writer, asset: AssetRowId) -> Result<()> {
    inventory::upsert_row(writer, asset)?;
    enqueue_listings(writer, asset)
}

/// Queues the listings that include an asset for the index.
fn enqueue_listings(writer: &Writer, asset: AssetRowId) -> Result<()> {
    const SQL: &str = "SELECT listing FROM listing_assets WHERE asset = ?1 ORDER BY listing";
    index_queue::enqueue_all(writer, SQL, [asset])
}
