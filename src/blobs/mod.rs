//! File storage next to the database: uploads, in the data directory or in an S3-compatible store, and copies
//! of repositories. This module knows nothing about database rows; its callers store the digests of files.

mod local;
mod s3;
pub mod signatures;
mod staging;

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use uuid::Uuid;

pub use s3::S3;
pub use staging::PartWriter;

use self::{local::Local, staging::Staging};
use crate::domain::{
    time::Timestamp,
    uploads::{ADDRESS_SECONDS, Split, Upload},
};

/// Size and digest of a stored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal.
    pub sha256: String,
}

/// A received part of a multipart upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Part number, starting at 1.
    pub part_number: u32,
    /// Entity tag without quotes. Empty if the store does not report it.
    pub etag: String,
    /// Size in bytes.
    pub size_bytes: u64,
}

/// The outcome of completing an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// The upload is complete and stored.
    Whole(Written),
    /// The parts with these numbers are missing, or do not match the entity tags of the request.
    Missing(Vec<u32>),
    /// A part is still being written, or the upload is already being completed.
    Busy,
}

/// A presigned URL to send a part to with PUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The URL, including its signature.
    pub url: String,
    /// Headers that the request must have.
    pub headers: BTreeMap<String, String>,
    /// Time of expiry, UTC.
    pub expires_at: Timestamp,
}

/// What is needed to sign URLs of the built-in store.
#[derive(Clone, Copy, Debug)]
pub struct Signer<'a> {
    /// Base URL of this server.
    pub base_url: &'a str,
    /// Key of the signature.
    pub secret: &'a [u8; 32],
    /// Current time. Expiry counts from it.
    pub now: Timestamp,
}

/// An upload as a file on this machine.
#[derive(Debug)]
pub struct Fetched {
    path: PathBuf,
    /// The directory of a downloaded copy, which is deleted on drop.
    _copy: Option<tempfile::TempDir>,
}

impl Fetched {
    /// Returns the path of the file, which is valid as long as this value exists.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The file storage of a market.
#[derive(Clone, Debug)]
pub struct Blobs {
    local: Local,
    staging: Staging,
    s3: Option<Arc<S3>>,
}

impl Blobs {
    /// Creates the storage in a directory, which is created with the first file. Uploads are stored in `s3`,
    /// if given.
    pub fn new(folder: impl Into<PathBuf>, s3: Option<S3>) -> Blobs {
        let folder = folder.into();
        Blobs {
            staging: Staging::new(folder.join("staged")),
            local: Local::new(folder),
            s3: s3.map(Arc::new),
        }
    }

    /// Starts an upload. Returns the upload ID of the S3-compatible store if the upload has several parts
    /// there.
    pub fn begin(&self, id: Uuid, split: Split) -> io::Result<Option<String>> {
        match &self.s3 {
            Some(s3) if !split.is_single() => s3.begin(id).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns presigned URLs for the parts with these numbers.
    pub fn addresses(&self, upload: &Upload, numbers: &[u32], signer: Signer) -> io::Result<Vec<Address>> {
        let expires_at = signer.now.plus_micros(ADDRESS_SECONDS * 1_000_000);
        let sizes: Option<Vec<u64>> =
            numbers.iter().map(|number| Some(upload.split.part(*number)?.1)).collect();
        let sizes = sizes.ok_or(io::ErrorKind::InvalidInput)?;
        let urls = match &self.s3 {
            Some(s3) => s3.addresses(upload, numbers)?,
            None => numbers
                .iter()
                .zip(&sizes)
                .map(|(number, size)| {
                    let path = part_path(upload.id, *number);
                    let (size, expires) = (size.to_string(), expires_at.seconds().to_string());
                    let signature = signatures::sign(signer.secret, &["PUT", &path, &size, &expires]);
                    let base = signer.base_url;
                    format!("{base}{path}?size={size}&expires={expires}&signature={signature}")
                })
                .collect(),
        };
        let address = |(url, size): (String, u64)| {
            let headers = BTreeMap::from([("Content-Length".to_owned(), size.to_string())]);
            Address { url, headers, expires_at }
        };
        Ok(urls.into_iter().zip(sizes).map(address).collect())
    }

    /// Returns the received parts of an upload, ordered by part number.
    pub fn received(&self, upload: &Upload) -> io::Result<Vec<Received>> {
        match &self.s3 {
            Some(s3) => s3.received(upload),
            None => self.staging.received(upload.id),
        }
    }

    /// Starts writing a part to the built-in store. Returns `None` if the part is already being written, or
    /// if uploads are in an S3-compatible store.
    pub fn write_part(&self, id: Uuid, split: Split, number: u32) -> io::Result<Option<PartWriter>> {
        if self.s3.is_some() { Ok(None) } else { self.staging.write(id, split, number) }
    }

    /// Completes an upload if all parts were received and match the given part numbers and entity tags.
    pub fn finish(&self, upload: &Upload, parts: &[(u32, String)]) -> io::Result<Finished> {
        match &self.s3 {
            Some(s3) => match self.staging.hold_all(upload.id) {
                Some(_hold) => s3.finish(upload, parts),
                None => Ok(Finished::Busy),
            },
            None => self.staging.finish(upload.id, upload.split, parts, &self.local.upload(upload.id)),
        }
    }

    /// Aborts an upload, and deletes its parts.
    pub fn abort(&self, upload: &Upload) -> io::Result<()> {
        match &self.s3 {
            Some(s3) => s3.abort(upload),
            None => self.staging.abort(upload.id),
        }
    }

    /// Deletes all staged uploads in the built-in store for which `is_named` returns false.
    pub fn sweep_staged(&self, is_named: impl Fn(Uuid) -> bool) -> io::Result<()> {
        self.staging.sweep(is_named)
    }

    /// Stores an upload completely or not at all.
    pub fn put_upload(&self, id: Uuid, source: &mut dyn Read) -> io::Result<Written> {
        match &self.s3 {
            Some(s3) => s3.put(id, source),
            None => self.local.put_upload(id, source),
        }
    }

    /// Deletes an upload.
    pub fn remove_upload(&self, id: Uuid) -> io::Result<()> {
        match &self.s3 {
            Some(s3) => s3.remove(id),
            None => self.local.remove_upload(id),
        }
    }

    /// Returns whether an upload exists.
    pub fn has_upload(&self, id: Uuid) -> io::Result<bool> {
        match &self.s3 {
            Some(s3) => Ok(s3.size_of(id)?.is_some()),
            None => self.local.upload(id).try_exists(),
        }
    }

    /// Reads a stored upload, and returns its current size and digest.
    pub fn measure_upload(&self, id: Uuid) -> io::Result<Written> {
        match &self.s3 {
            Some(s3) => s3.copy_to(id, &mut io::sink()),
            None => self.local.measure_upload(id),
        }
    }

    /// Returns an upload as a file on this machine: the stored file itself, or a copy that is deleted on
    /// drop.
    pub fn fetch(&self, id: Uuid) -> io::Result<Fetched> {
        let Some(s3) = &self.s3 else { return Ok(Fetched { path: self.local.upload(id), _copy: None }) };
        let workshop = self.workshop()?;
        let path = workshop.path().join("upload.zip");
        s3.copy_to(id, &mut std::fs::File::create(&path)?)?;
        Ok(Fetched { path, _copy: Some(workshop) })
    }

    /// Returns the path of the repository copy that was attached to an asset at a given time.
    pub fn repository(&self, asset: Uuid, attached_at: Timestamp) -> PathBuf {
        self.local.repository(asset, attached_at)
    }

    /// Moves a repository copy from the staging directory into the storage. Replaces an existing copy.
    pub fn keep_repository(&self, from: &Path, asset: Uuid, attached_at: Timestamp) -> io::Result<()> {
        self.local.keep_repository(from, asset, attached_at)
    }

    /// Deletes all repository copies for which `is_named` returns false.
    pub fn sweep_repositories(&self, is_named: impl Fn(Uuid, Timestamp) -> bool) -> io::Result<()> {
        self.local.sweep_repositories(is_named)
    }

    /// Creates a temporary directory on the same disk as the storage. It is deleted when the value is
    /// dropped.
    pub fn workshop(&self) -> io::Result<tempfile::TempDir> {
        self.local.workshop()
    }

    /// Deletes the temporary directories that an earlier process left.
    pub fn clear_workshop(&self) -> io::Result<()> {
        self.local.clear_workshop()
    }
}

/// Returns the URL path to send a part to in the built-in store.
pub fn part_path(id: Uuid, number: u32) -> String {
    format!("/v2/blobs/uploads/{id}/{number}")
}
