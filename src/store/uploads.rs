//! Zips that teams have put into the market's blob folder.

use uuid::Uuid;

use super::{Reader, Writer};
use crate::{
    domain::{teams::TeamNumber, time::Timestamp},
    error::Result,
};

/// An upload to be.
#[derive(Debug)]
pub struct NewUpload<'a> {
    /// Its id, which its blob is named by.
    pub id: Uuid,
    /// The team.
    pub team: TeamNumber,
    /// What the file was called.
    pub file_name: &'a str,
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256 digest in hexadecimal.
    pub sha256: &'a str,
    /// The address that raw data attaches.
    pub url: &'a str,
    /// When it came.
    pub created_at: Timestamp,
}

/// Adds an upload.
pub fn insert(writer: &Writer, upload: &NewUpload) -> Result<i64> {
    const SQL: &str = "INSERT INTO uploads (uuid, team, file_name, size_bytes, sha256, url, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    writer.insert(
        SQL,
        (
            upload.id,
            upload.team.0,
            upload.file_name,
            upload.size_bytes as i64,
            upload.sha256,
            upload.url,
            upload.created_at.0,
        ),
    )
}

/// The team's upload at an address: its row number and its size.
pub fn find(reader: &Reader, team: TeamNumber, url: &str) -> Result<Option<(i64, u64)>> {
    const SQL: &str = "SELECT id, size_bytes FROM uploads WHERE url = ?1 AND team = ?2";
    reader.first(SQL, (url, team.0), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Every upload: its id and its digest.
pub fn digests(reader: &Reader) -> Result<Vec<(Uuid, String)>> {
    reader.all("SELECT uuid, sha256 FROM uploads ORDER BY id", [], |row| Ok((row.get(0)?, row.get(1)?)))
}
