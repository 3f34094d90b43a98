//! Progress of the data linked to an asset, and the values measured from it.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::{
    domain::{
        assets::{ArtifactStatus, RepositoryChannel, Robotics},
        replaced_values::ReplacedValues,
        row_ids::{AssetRowId, UploadRowId},
        time::Timestamp,
    },
    error::Result,
    store::{
        Reader, Writer, inventory,
        row::{self, FromRow},
    },
};

/// The upload that is linked to an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct LinkedUpload {
    /// Row ID of the upload.
    pub row_id: UploadRowId,
    /// ID of the upload, which also names its blob.
    pub id: Uuid,
    /// Size of the upload in bytes.
    pub size_bytes: u64,
}

/// Progress of the copy and the analysis of linked data.
#[derive(Clone, Debug)]
pub struct DataProgress<'a> {
    /// State of the copy.
    pub archive_status: ArtifactStatus,
    /// State of the analysis.
    pub analysis_status: ArtifactStatus,
    /// Reason why the copy failed, as a message for the vendor.
    pub archive_error: Option<&'a str>,
    /// Reason why the analysis failed, as a message for the vendor.
    pub analysis_error: Option<&'a str>,
    /// Time at which the analysis completed.
    pub analyzed_at: Option<Timestamp>,
}

impl<'a> DataProgress<'a> {
    const fn new(archive_status: ArtifactStatus, analysis_status: ArtifactStatus) -> DataProgress<'a> {
        DataProgress {
            archive_status,
            analysis_status,
            archive_error: None,
            analysis_error: None,
            analyzed_at: None,
        }
    }

    /// The last copy failed for this reason, and another attempt is pending.
    pub const fn copy_retry_pending(reason: &'a str) -> DataProgress<'a> {
        let progress = DataProgress::new(ArtifactStatus::Pending, ArtifactStatus::Pending);
        DataProgress { archive_error: Some(reason), ..progress }
    }

    /// The copy is pending.
    pub const fn pending() -> DataProgress<'a> {
        DataProgress::new(ArtifactStatus::Pending, ArtifactStatus::Pending)
    }

    /// The copy is running.
    pub const fn copying() -> DataProgress<'a> {
        DataProgress::new(ArtifactStatus::Running, ArtifactStatus::Pending)
    }

    /// The copy is complete, and the analysis is pending.
    pub const fn copied() -> DataProgress<'a> {
        DataProgress::new(ArtifactStatus::Completed, ArtifactStatus::Pending)
    }

    /// The copy is complete, and the analysis is running.
    pub const fn analyzing() -> DataProgress<'a> {
        DataProgress::new(ArtifactStatus::Completed, ArtifactStatus::Running)
    }

    /// The analysis completed at `at`.
    pub const fn analyzed(at: Timestamp) -> DataProgress<'a> {
        let progress = DataProgress::new(ArtifactStatus::Completed, ArtifactStatus::Completed);
        DataProgress { analyzed_at: Some(at), ..progress }
    }

    /// The copy is complete, but the analysis failed for this reason.
    pub const fn analysis_failed(reason: &'a str) -> DataProgress<'a> {
        let progress = DataProgress::new(ArtifactStatus::Completed, ArtifactStatus::Failed);
        DataProgress { analysis_error: Some(reason), ..progress }
    }

    /// The copy failed for this reason, so there is nothing to analyze.
    pub const fn copy_failed(reason: &'a str) -> DataProgress<'a> {
        let progress = DataProgress::new(ArtifactStatus::Failed, ArtifactStatus::Skipped);
        DataProgress { archive_error: Some(reason), ..progress }
    }
}

/// Returns the upload that is linked to the asset with this row ID.
pub fn find_upload(reader: &Reader, asset: AssetRowId) -> Result<Option<LinkedUpload>> {
    const SQL: &str = "SELECT u.id, u.uuid, u.size_bytes
         FROM data_objects d JOIN uploads u ON u.id = d.upload WHERE d.asset = ?1";
    reader.query_first(SQL, [asset], LinkedUpload::from_row)
}

/// The repository that is linked to an asset.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct LinkedRepository {
    /// ID of the asset.
    pub asset_id: Uuid,
    /// Host of the repository.
    pub channel: RepositoryChannel,
    /// Full name of the repository, as `owner/name`.
    pub full_name: String,
    /// Time at which the repository was linked.
    pub attached_at: Timestamp,
    /// Metadata from the repository's host, as JSON; `None` until the repository was copied.
    pub host_metadata: Option<String>,
}

/// Returns the repository that is linked to the asset with this row ID.
pub fn find_repository(reader: &Reader, asset: AssetRowId) -> Result<Option<LinkedRepository>> {
    const SQL: &str = "SELECT a.uuid AS asset_id, d.channel, d.repo_full_name AS full_name, d.attached_at, d.about AS host_metadata
         FROM data_objects d JOIN assets a ON a.id = d.asset
         WHERE d.asset = ?1 AND d.channel <> 'zip' AND d.repo_full_name IS NOT NULL";
    reader.query_first(SQL, [asset], LinkedRepository::from_row)
}

/// Returns every asset with a linked repository, and the time at which it was linked.
pub fn list_repositories(reader: &Reader) -> Result<Vec<(Uuid, Timestamp)>> {
    const SQL: &str = "SELECT a.uuid, d.attached_at FROM data_objects d JOIN assets a ON a.id = d.asset
         WHERE d.channel <> 'zip' ORDER BY a.id";
    reader.query_all(SQL, [], |row| Ok((row.get(0)?, row.get("attached_at")?)))
}

/// Whether the asset with this ID still has the data that was linked at `attached_at`.
pub fn is_linked(reader: &Reader, asset: Uuid, attached_at: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM data_objects d JOIN assets a ON a.id = d.asset
             WHERE a.uuid = ?1 AND d.attached_at = ?2)";
    reader.query_one(SQL, (asset, attached_at), |row| row.get(0))
}

/// Returns the values that the data linked to an asset has replaced.
pub fn find_replaced_values(reader: &Reader, asset: AssetRowId) -> Result<ReplacedValues> {
    const SQL: &str = "SELECT replaced_values FROM data_objects WHERE asset = ?1";
    Ok(reader.query_first(SQL, [asset], |row| row::json(row, 0))?.unwrap_or_default())
}

/// Records the values that the data linked to an asset has replaced.
pub fn set_replaced_values(writer: &Writer, asset: AssetRowId, values: &ReplacedValues) -> Result<()> {
    const SQL: &str = "UPDATE data_objects SET replaced_values = ?2 WHERE asset = ?1";
    writer.run(SQL, (asset, row::to_json(values)?))
}

/// Records the size of a copied repository, whether its host requires credentials, and the host's metadata as
/// JSON.
pub fn record_copy(
    writer: &Writer,
    asset: AssetRowId,
    bytes: u64,
    is_private: bool,
    host_metadata: &str,
) -> Result<()> {
    const SQL: &str =
        "UPDATE data_objects SET archive_bytes = ?2, is_private = ?3, about = ?4 WHERE asset = ?1";
    writer.execute(SQL, (asset, bytes as i64, is_private, host_metadata))?;
    inventory::upsert_row(writer, asset)
}

/// Records the analyzed commit, and the size in bytes of the code in each language (by slug).
pub fn record_commit(
    writer: &Writer,
    asset: AssetRowId,
    commit_sha: &str,
    languages: &BTreeMap<String, u64>,
) -> Result<()> {
    writer.execute("UPDATE data_objects SET commit_sha = ?2 WHERE asset = ?1", (asset, commit_sha))?;
    set_languages(writer, asset, languages)
}

/// Records the size in bytes of the code in each language (by slug) of a codebase.
pub fn set_languages(writer: &Writer, asset: AssetRowId, languages: &BTreeMap<String, u64>) -> Result<()> {
    const SQL: &str = "UPDATE assets SET languages = ?2 WHERE id = ?1";
    writer.run(SQL, (asset, row::to_json(languages)?))
}

/// Records the robotics recordings in raw data, or that it has none.
pub fn set_robotics(writer: &Writer, asset: AssetRowId, robotics: Option<&Robotics>) -> Result<()> {
    const SQL: &str = "UPDATE assets SET robotics = ?2 WHERE id = ?1 AND kind = 'raw_data'";
    writer.run(SQL, (asset, robotics.map(row::to_json).transpose()?))
}

/// Records the progress of the data linked to an asset.
pub fn set_progress(writer: &Writer, asset: AssetRowId, progress: &DataProgress) -> Result<()> {
    const SQL: &str = "UPDATE data_objects SET archive_status = ?2, analysis_status = ?3, archive_error = ?4,
             analysis_error = ?5, analyzed_at = ?6
         WHERE asset = ?1";
    let DataProgress { archive_status, analysis_status, archive_error, analysis_error, analyzed_at } =
        progress;
    writer
        .execute(SQL, (asset, archive_status, analysis_status, archive_error, analysis_error, analyzed_at))?;
    Ok(())
}

/// Records the number of files in an archive of raw data, and their extensions.
pub fn set_files(writer: &Writer, asset: AssetRowId, files: u64, extensions: &[String]) -> Result<()> {
    const SQL: &str =
        "UPDATE assets SET file_count = ?2, file_extensions = ?3 WHERE id = ?1 AND kind = 'raw_data'";
    writer.run(SQL, (asset, files as i64, row::to_json(extensions)?))
}
