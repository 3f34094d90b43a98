//! Changes to assets and their linked data. Each change also updates the asset's row in `inventory` and
//! queues the listings that include the asset for the index.

use super::insert::NewData;
use crate::{
    domain::{inventory::Asset, row_ids::AssetRowId, time::Timestamp},
    error::Result,
    store::{Writer, index_queue, inventory, row},
    string_enum::StringEnum,
};

/// Updates all fields of an asset that can change.
pub fn update(writer: &Writer, asset: &Asset) -> Result<()> {
    const SQL: &str = "UPDATE assets SET group_id = ?2, title = ?3, description = ?4, domain_tags = ?5, other_domain = ?6,
             price_cents = ?7, notes = ?8, extra_columns = ?9, exclusivity = ?10, lines_of_code = ?11, commits = ?12,
             contributors = ?13, merged_prs = ?14, history_start = ?15, history_end = ?16, ci_on_prs = ?17,
             task_type = ?18, locked_fields = ?19
         WHERE id = ?1";
    let history = &asset.history;
    writer.execute(
        SQL,
        rusqlite::params![
            asset.row_id,
            asset.group.0,
            asset.title,
            asset.description,
            row::to_json(&asset.domain_tags)?,
            asset.other_domain,
            asset.price.map(|price| price.0),
            asset.notes,
            row::to_json(&asset.extra_columns)?,
            history.exclusivity.map(StringEnum::as_str),
            history.lines_of_code,
            history.commits,
            history.contributors,
            history.merged_prs,
            history.start.map(|day| day.to_string()),
            history.end.map(|day| day.to_string()),
            history.ci_on_prs,
            asset.task.as_ref().map(|task| task.task_type.as_str()),
            row::to_json(&asset.locks)?,
        ],
    )?;
    update_derived(writer, asset.row_id)
}

/// Marks an asset as deleted, and removes it from all listings and asset lists. Its row stays, since other
/// rows refer to it.
pub fn delete(writer: &Writer, asset: &Asset, at: Timestamp) -> Result<()> {
    enqueue_listings(writer, asset.row_id)?;
    writer.execute("DELETE FROM listing_assets WHERE asset = ?1", [asset.row_id])?;
    writer.execute("UPDATE assets SET deleted_at = ?2 WHERE id = ?1", (asset.row_id, at.0))?;
    inventory::delete_row(writer, asset)
}

/// Links data to an asset. Does not update `inventory`; the caller does.
pub fn attach_data(writer: &Writer, asset: AssetRowId, data: &NewData) -> Result<()> {
    const SQL: &str = "INSERT INTO data_objects (asset, channel, repo_full_name, is_private, archive_status,
             analysis_status, attached_at, analyzed_at, archive_bytes, commit_sha, archive_error, analysis_error,
             manifest_url, upload)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    writer.execute(
        SQL,
        (
            asset,
            data.channel.as_str(),
            data.repo_full_name,
            data.is_private,
            data.archive_status.as_str(),
            data.analysis_status.as_str(),
            data.attached_at.0,
            data.analyzed_at.map(|at| at.0),
            data.archive_bytes.map(|bytes| bytes as i64),
            data.commit_sha,
            data.archive_error,
            data.analysis_error,
            data.manifest_url,
            data.upload,
        ),
    )?;
    Ok(())
}

/// Deletes the linked data of an asset, and clears the values measured from it.
pub fn detach_data(writer: &Writer, asset: &Asset) -> Result<()> {
    const MEASURED: &str = "UPDATE assets SET languages = NULL, file_count = NULL,
             file_extensions = CASE WHEN kind = 'raw_data' THEN '[]' END, robotics = NULL
         WHERE id = ?1";
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
