//! Progress of the data linked to an asset, and the values measured from it.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::{
    domain::{
        assets::{ArtifactStatus, RepositoryChannel, Robotics},
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
    store::{Reader, Writer, inventory, row},
};

/// The upload that is linked to an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upload {
    /// ID of the upload, which also names its blob.
    pub id: Uuid,
    /// Size of the upload in bytes.
    pub size_bytes: u64,
}

/// Progress of the copy and the analysis of linked data.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
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

impl<'a> Progress<'a> {
    const fn at(archive_status: ArtifactStatus, analysis_status: ArtifactStatus) -> Progress<'a> {
        Progress {
            archive_status,
            analysis_status,
            archive_error: None,
            analysis_error: None,
            analyzed_at: None,
        }
    }

    /// The last copy failed for the reason `why`, and another attempt is pending.
    pub const fn waiting(why: &'a str) -> Progress<'a> {
        let waiting = Progress::at(ArtifactStatus::Pending, ArtifactStatus::Pending);
        Progress { archive_error: Some(why), ..waiting }
    }

    /// The copy is running.
    pub const fn copying() -> Progress<'a> {
        Progress::at(ArtifactStatus::Running, ArtifactStatus::Pending)
    }

    /// The copy is complete, and the analysis is pending.
    pub const fn copied() -> Progress<'a> {
        Progress::at(ArtifactStatus::Completed, ArtifactStatus::Pending)
    }

    /// The copy is complete, and the analysis is running.
    pub const fn reading() -> Progress<'a> {
        Progress::at(ArtifactStatus::Completed, ArtifactStatus::Running)
    }

    /// The analysis completed at `at`.
    pub const fn read(at: Timestamp) -> Progress<'a> {
        let done = Progress::at(ArtifactStatus::Completed, ArtifactStatus::Completed);
        Progress { analyzed_at: Some(at), ..done }
    }

    /// The copy is complete, but the analysis failed for the reason `why`.
    pub const fn failed(why: &'a str) -> Progress<'a> {
        let failed = Progress::at(ArtifactStatus::Completed, ArtifactStatus::Failed);
        Progress { analysis_error: Some(why), ..failed }
    }

    /// The copy failed for the reason `why`, so there is nothing to analyze.
    pub const fn lost(why: &'a str) -> Progress<'a> {
        let lost = Progress::at(ArtifactStatus::Failed, ArtifactStatus::Skipped);
        Progress { archive_error: Some(why), ..lost }
    }
}

/// Returns the upload that is linked to the asset with this row ID.
pub fn upload_of(reader: &Reader, asset: i64) -> Result<Option<Upload>> {
    const SQL: &str = "SELECT u.uuid, u.size_bytes FROM data_objects d JOIN uploads u ON u.id = d.upload WHERE d.asset = ?1";
    reader.first(SQL, [asset], |row| Ok(Upload { id: row.get(0)?, size_bytes: row.get(1)? }))
}

/// The repository that is linked to an asset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// ID of the asset.
    pub asset: Uuid,
    /// Host of the repository.
    pub channel: RepositoryChannel,
    /// Full name of the repository, as `owner/name`.
    pub full_name: String,
    /// Time at which the repository was linked.
    pub attached_at: Timestamp,
    /// Metadata from the repository's host, as JSON; `None` until the repository was copied.
    pub about: Option<String>,
}

/// Returns the repository that is linked to the asset with this row ID.
pub fn repository_of(reader: &Reader, asset: i64) -> Result<Option<Linked>> {
    const SQL: &str = "SELECT a.uuid, d.channel, d.repo_full_name, d.attached_at, d.about
         FROM data_objects d JOIN assets a ON a.id = d.asset
         WHERE d.asset = ?1 AND d.channel <> 'zip' AND d.repo_full_name IS NOT NULL";
    reader.first(SQL, [asset], |row| {
        Ok(Linked {
            asset: row.get("uuid")?,
            channel: row::word(row, "channel")?,
            full_name: row.get("repo_full_name")?,
            attached_at: row::time(row, "attached_at")?,
            about: row.get("about")?,
        })
    })
}

/// Whether the asset with this ID still has the data that was linked at `attached_at`.
pub fn is_linked(reader: &Reader, asset: Uuid, attached_at: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM data_objects d JOIN assets a ON a.id = d.asset
             WHERE a.uuid = ?1 AND d.attached_at = ?2)";
    reader.one(SQL, (asset, attached_at.0), |row| row.get(0))
}

/// Records the size of a copied repository, whether its host requires credentials, and the host's metadata as
/// JSON.
pub fn note_copy(writer: &Writer, asset: i64, bytes: u64, is_private: bool, about: &str) -> Result<()> {
    const SQL: &str =
        "UPDATE data_objects SET archive_bytes = ?2, is_private = ?3, about = ?4 WHERE asset = ?1";
    writer.execute(SQL, (asset, bytes as i64, is_private, about))?;
    inventory::keep(writer, asset)
}

/// Records the analyzed commit, and the size in bytes of the code in each language (by slug).
pub fn note_commit(
    writer: &Writer,
    asset: i64,
    commit_sha: &str,
    languages: &BTreeMap<String, u64>,
) -> Result<()> {
    writer.execute("UPDATE data_objects SET commit_sha = ?2 WHERE asset = ?1", (asset, commit_sha))?;
    note_languages(writer, asset, languages)
}

/// Records the size in bytes of the code in each language (by slug) of a codebase.
pub fn note_languages(writer: &Writer, asset: i64, languages: &BTreeMap<String, u64>) -> Result<()> {
    const SQL: &str = "UPDATE assets SET languages = ?2 WHERE id = ?1";
    writer.execute(SQL, (asset, row::to_json(languages)?))?;
    Ok(())
}

/// Records the robotics recordings in raw data, or that it has none.
pub fn note_robotics(writer: &Writer, asset: i64, robotics: Option<&Robotics>) -> Result<()> {
    const SQL: &str = "UPDATE assets SET robotics = ?2 WHERE id = ?1 AND kind = 'raw_data'";
    writer.execute(SQL, (asset, robotics.map(row::to_json).transpose()?))?;
    Ok(())
}

/// Records the progress of the data linked to an asset.
pub fn note_progress(writer: &Writer, asset: i64, progress: &Progress) -> Result<()> {
    const SQL: &str = "UPDATE data_objects SET archive_status = ?2, analysis_status = ?3, archive_error = ?4,
             analysis_error = ?5, analyzed_at = ?6
         WHERE asset = ?1";
    let Progress { archive_status, analysis_status, archive_error, analysis_error, analyzed_at } = progress;
    writer.execute(
        SQL,
        (
            asset,
            archive_status.word(),
            analysis_status.word(),
            archive_error,
            analysis_error,
            analyzed_at.map(|at| at.0),
        ),
    )?;
    Ok(())
}

/// Records the number of files in an archive of raw data, and their extensions.
pub fn note_files(writer: &Writer, asset: i64, files: u64, extensions: &[String]) -> Result<()> {
    const SQL: &str =
        "UPDATE assets SET file_count = ?2, file_extensions = ?3 WHERE id = ?1 AND kind = 'raw_data'";
    writer.execute(SQL, (asset, files as i64, row::to_json(extensions)?))?;
    Ok(())
}
