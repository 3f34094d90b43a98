//! How far the data linked to an asset is, and what was measured of it.

use uuid::Uuid;

use crate::{
    domain::{assets::ArtifactStatus, time::Timestamp, vocabulary::Vocabulary},
    error::Result,
    store::{Reader, Writer, row},
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
