//! How far the data linked to an asset is, and what was measured of it.

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
    /// Its id, which its blob is named by.
    pub id: Uuid,
    /// Its size.
    pub size_bytes: u64,
}

/// How far linked data is.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// How far the copying is.
    pub archive_status: ArtifactStatus,
    /// How far the reading is.
    pub analysis_status: ArtifactStatus,
    /// Why the copying failed, for the vendor.
    pub archive_error: Option<&'a str>,
    /// Why the reading failed, for the vendor.
    pub analysis_error: Option<&'a str>,
    /// When it was read.
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

    /// It waits to be copied again, since it could not be: why.
    pub const fn waiting(why: &'a str) -> Progress<'a> {
        let waiting = Progress::at(ArtifactStatus::Pending, ArtifactStatus::Pending);
        Progress { archive_error: Some(why), ..waiting }
    }

    /// It is being copied.
    pub const fn copying() -> Progress<'a> {
        Progress::at(ArtifactStatus::Running, ArtifactStatus::Pending)
    }

    /// It is there, and waits to be read.
    pub const fn copied() -> Progress<'a> {
        Progress::at(ArtifactStatus::Completed, ArtifactStatus::Pending)
    }

    /// It is there, and being read.
    pub const fn reading() -> Progress<'a> {
        Progress::at(ArtifactStatus::Completed, ArtifactStatus::Running)
    }

    /// It was read.
    pub const fn read(at: Timestamp) -> Progress<'a> {
        let done = Progress::at(ArtifactStatus::Completed, ArtifactStatus::Completed);
        Progress { analyzed_at: Some(at), ..done }
    }

    /// It is there and cannot be read: why.
    pub const fn failed(why: &'a str) -> Progress<'a> {
        let failed = Progress::at(ArtifactStatus::Completed, ArtifactStatus::Failed);
        Progress { analysis_error: Some(why), ..failed }
    }

    /// It is not there: why.
    pub const fn lost(why: &'a str) -> Progress<'a> {
        let lost = Progress::at(ArtifactStatus::Failed, ArtifactStatus::Skipped);
        Progress { archive_error: Some(why), ..lost }
    }
}

/// The upload that is linked to the asset of this number.
pub fn upload_of(reader: &Reader, asset: i64) -> Result<Option<Upload>> {
    const SQL: &str = "SELECT u.uuid, u.size_bytes FROM data_objects d JOIN uploads u ON u.id = d.upload WHERE d.asset = ?1";
    reader.first(SQL, [asset], |row| Ok(Upload { id: row.get(0)?, size_bytes: row.get(1)? }))
}

/// The repository that is linked to an asset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The asset's id.
    pub asset: Uuid,
    /// Where the repository is.
    pub channel: RepositoryChannel,
    /// `owner/name`.
    pub full_name: String,
    /// When it was linked.
    pub attached_at: Timestamp,
    /// What its host says of it, as JSON, once it was copied.
    pub about: Option<String>,
}

/// The repository that is linked to the asset of this number.
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

/// Whether a repository is linked to the asset of this id since a time.
pub fn is_linked(reader: &Reader, asset: Uuid, attached_at: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM data_objects d JOIN assets a ON a.id = d.asset
             WHERE a.uuid = ?1 AND d.attached_at = ?2)";
    reader.one(SQL, (asset, attached_at.0), |row| row.get(0))
}

/// Notes what a copied repository is: its size, whether its host wants credentials, and what it says of it, as JSON.
pub fn note_copy(writer: &Writer, asset: i64, bytes: u64, is_private: bool, about: &str) -> Result<()> {
    const SQL: &str =
        "UPDATE data_objects SET archive_bytes = ?2, is_private = ?3, about = ?4 WHERE asset = ?1";
    writer.execute(SQL, (asset, bytes as i64, is_private, about))?;
    inventory::keep(writer, asset)
}

/// Notes the commit that was read, and the bytes of its languages by their slugs.
pub fn note_commit(
    writer: &Writer,
    asset: i64,
    commit_sha: &str,
    languages: &BTreeMap<String, u64>,
) -> Result<()> {
    writer.execute("UPDATE data_objects SET commit_sha = ?2 WHERE asset = ?1", (asset, commit_sha))?;
    note_languages(writer, asset, languages)
}

/// Notes the bytes of the languages of a codebase by their slugs.
pub fn note_languages(writer: &Writer, asset: i64, languages: &BTreeMap<String, u64>) -> Result<()> {
    const SQL: &str = "UPDATE assets SET languages = ?2 WHERE id = ?1";
    writer.execute(SQL, (asset, row::to_json(languages)?))?;
    Ok(())
}

/// Notes what raw data has of recordings; nothing where it has none.
pub fn note_robotics(writer: &Writer, asset: i64, robotics: Option<&Robotics>) -> Result<()> {
    const SQL: &str = "UPDATE assets SET robotics = ?2 WHERE id = ?1 AND kind = 'raw_data'";
    writer.execute(SQL, (asset, robotics.map(row::to_json).transpose()?))?;
    Ok(())
}

/// Notes how far the data linked to an asset is.
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

/// Notes the files of an archive of raw data: how many, and their extensions.
pub fn note_files(writer: &Writer, asset: i64, files: u64, extensions: &[String]) -> Result<()> {
    const SQL: &str =
        "UPDATE assets SET file_count = ?2, file_extensions = ?3 WHERE id = ?1 AND kind = 'raw_data'";
    writer.execute(SQL, (asset, files as i64, row::to_json(extensions)?))?;
    Ok(())
}
