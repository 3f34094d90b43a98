//! The delivery bundles of listings, and the ingests of their datasets into the platform's hub.

use super::{Reader, Writer, index_queue, row::FromRow};
use crate::{
    domain::{
        catalog::BundleFile,
        listings::{IngestStatus, ListingRowId},
    },
    error::Result,
};

/// Adds a file to the bundle of a listing.
pub fn insert_file(writer: &Writer, listing: ListingRowId, file: &BundleFile) -> Result<()> {
    const SQL: &str =
        "INSERT INTO listing_bundle_files (listing, path, size_bytes, sha256) VALUES (?1, ?2, ?3, ?4)";
    writer.execute(SQL, (listing, &file.path, file.size_bytes as i64, &file.sha256))?;
    index_queue::enqueue(writer, listing)
}

/// Adds an ingest of the listing's dataset into the platform's hub.
pub fn insert_hub_ingest(
    writer: &Writer,
    listing: ListingRowId,
    dataset: &str,
    status: IngestStatus,
    bytes: u64,
    error: Option<&str>,
) -> Result<()> {
    const SQL: &str = "INSERT INTO hub_ingests (listing, dataset_id, status, bytes_copied, error)
         VALUES (?1, ?2, ?3, ?4, ?5)";
    writer.run(SQL, (listing, dataset, status, bytes as i64, error))
}

/// Returns the files of a listing's bundle, ordered by path.
pub fn list_files(reader: &Reader, listing: ListingRowId) -> Result<Vec<BundleFile>> {
    const SQL: &str =
        "SELECT path, size_bytes, sha256 FROM listing_bundle_files WHERE listing = ?1 ORDER BY path";
    reader.query_all(SQL, [listing], |row| {
        Ok(BundleFile { path: row.get(0)?, size_bytes: row.get(1)?, sha256: row.get(2)? })
    })
}

/// A copy of a listing's dataset in the platform's hub.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct HubIngestStatus {
    /// Name of the dataset in the hub.
    pub dataset_id: String,
    /// State of the copy.
    pub status: IngestStatus,
    /// Number of bytes copied so far.
    pub bytes_copied: u64,
    /// Reason why the copy failed.
    pub error: Option<String>,
}

/// Returns the copies of a listing's datasets in the platform's hub, by name.
pub fn list_hub_ingests(reader: &Reader, listing: ListingRowId) -> Result<Vec<HubIngestStatus>> {
    const SQL: &str = "SELECT dataset_id, status, bytes_copied, error FROM hub_ingests WHERE listing = ?1
         ORDER BY dataset_id";
    reader.query_all(SQL, [listing], HubIngestStatus::from_row)
}
