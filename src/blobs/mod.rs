//! File storage next to the database: uploads, in the data directory or in an S3-compatible store, and copies
//! of repositories. This module knows nothing about database rows; its callers store the digests of files.

mod bundle_files;
mod disk_space;
mod disk_usage;
mod local;
mod received_bytes;
mod relayed_parts;
mod s3;
pub mod signatures;
mod staging;
mod upload_locks;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use bundle_files::{HashedFile, crc32, hash_for_bundle};
pub use disk_space::{DiskSpace, Reservation, Reservations, free_bytes, sync_filesystem};
pub use disk_usage::{DiskFile, DiskUsage, list_disk_files};
pub use local::{CleanupLock, FileHold, copy_and_hash};
pub use received_bytes::ReceivedBytes;
pub use relayed_parts::{PartReceiver, RelayedPart};
pub use s3::{
    S3,
    objects::{ObjectReader, ObjectWriter},
};
pub use staging::{PartWriter, missing_parts};
pub use upload_locks::{UploadActivities, UploadLock};

use self::{local::LocalStore, staging::StagedUploads, upload_locks::UploadLocks};
use crate::{
    config::{BlobKind, BlobSettings},
    domain::{
        time::Timestamp,
        upload_activity::{UploadConflict, UploadStep},
        uploads::{PartLayout, SIGNED_URL_SECONDS, Upload},
    },
    private_files,
};

/// The directory of the files of a market, in its data directory. They are written once, apart from those of [`STAGED`].
pub const DIRECTORY: &str = "blobs";

/// The directory of uploads under way there, whose files are changed in place.
pub const STAGED: &str = "staged";

/// The directory of copies of repositories there. Each is a directory that never changes.
pub const REPOSITORIES: &str = "repositories";

/// The directory of temporary files there.
pub const TEMPORARY_FILES: &str = "work";

/// Size and digest of a stored file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal.
    pub sha256: String,
}

/// A received part of a multipart upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedPart {
    /// Part number, starting at 1.
    pub part_number: u32,
    /// Entity tag without quotes. Empty if the store does not report it.
    pub etag: String,
    /// Size in bytes.
    pub size_bytes: u64,
}

/// The outcome of completing an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionOutcome {
    /// The upload is complete and stored.
    Complete(StoredFile),
    /// The parts with these numbers are missing, or the request does not list them with their entity tags.
    Missing(Vec<u32>),
}

/// A presigned URL to send a part to with PUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresignedUrl {
    /// The URL, including its signature.
    pub url: String,
    /// Headers that the request must have.
    pub headers: BTreeMap<String, String>,
    /// Time of expiry, UTC.
    pub expires_at: Timestamp,
}

/// What is needed to sign URLs of the built-in store.
#[derive(Clone, Copy, Debug)]
pub struct UrlSigner<'a> {
    /// Base URL of this server.
    pub base_url: &'a str,
    /// Key of the signature.
    pub secret: &'a [u8; 32],
    /// Current time. Expiry counts from it.
    pub now: Timestamp,
}

/// An upload as a file on this machine.
#[derive(Debug)]
pub struct UploadFile {
    path: PathBuf,
    /// The directory of a downloaded copy, which is deleted on drop.
    _temp_dir: Option<tempfile::TempDir>,
}

impl UploadFile {
    /// Returns the path of the file, which is valid as long as this value exists.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The file storage of a market.
#[derive(Clone, Debug)]
pub struct Blobs {
    local: LocalStore,
    staging: StagedUploads,
    locks: UploadLocks,
    s3: Option<Arc<S3>>,
}

impl Blobs {
    /// Creates the storage of the market in a data directory, with the store that the settings choose. Contacts no other
    /// machine.
    pub fn open(data_dir: &Path, settings: &BlobSettings) -> io::Result<Blobs> {
        let s3 = (settings.kind == BlobKind::S3).then(|| S3::new(settings)).transpose()?;
        Ok(Blobs::new(data_dir.join(DIRECTORY), s3))
    }

    /// Creates the storage in a directory, which is created with the first file. Uploads are stored in `s3`,
    /// if given.
    pub fn new(directory: impl Into<PathBuf>, s3: Option<S3>) -> Blobs {
        let directory = directory.into();
        Blobs {
            staging: StagedUploads::new(directory.join(STAGED)),
            locks: UploadLocks::default(),
            local: LocalStore::new(directory),
            s3: s3.map(Arc::new),
        }
    }

    /// Creates a temporary file without a name. It is deleted when it is closed.
    pub fn temporary_file(&self) -> io::Result<File> {
        self.local.temporary_file()
    }

    /// Starts an upload. Returns the upload ID of the S3-compatible store if the upload has several parts
    /// there.
    pub fn start_upload(&self, id: Uuid, layout: PartLayout) -> io::Result<Option<String>> {
        match &self.s3 {
            Some(s3) if !layout.is_single() => s3.start_upload(id).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns presigned URLs for the parts with these numbers.
    pub fn presign_parts(
        &self,
        upload: &Upload,
        numbers: &[u32],
        signer: UrlSigner,
    ) -> io::Result<Vec<PresignedUrl>> {
        let expires_at = signer.now.plus_seconds(SIGNED_URL_SECONDS);
        // URLs of the built-in store state the second at which they expire; those of S3, the second at which they were signed.
        let expires_at =
            if self.s3.is_none() { expires_at.next_full_second() } else { expires_at.full_second() };
        let sizes: Option<Vec<u64>> =
            numbers.iter().map(|number| Some(upload.layout.part(*number)?.1)).collect();
        let sizes = sizes.ok_or(io::ErrorKind::InvalidInput)?;
        let urls = match &self.s3 {
            Some(s3) => s3.presign_parts(upload, numbers)?,
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
        let presigned_url = |(url, size): (String, u64)| {
            let headers = BTreeMap::from([("Content-Length".to_owned(), size.to_string())]);
            PresignedUrl { url, headers, expires_at }
        };
        Ok(urls.into_iter().zip(sizes).map(presigned_url).collect())
    }

    /// Begins a step of an upload, which lasts until the lock is dropped. Does not wait: fails while other
    /// requests of this process do something with the upload that excludes the step.
    pub fn lock_upload(&self, id: Uuid, step: UploadStep) -> Result<UploadLock, UploadConflict> {
        self.locks.try_lock(id, step)
    }

    /// Returns why the plan of an upload cannot change now, if it cannot.
    pub fn plan_conflict(&self, id: Uuid) -> Option<UploadConflict> {
        self.locks.conflict(id)
    }

    /// Returns how many steps of uploads have begun, and how many are running.
    pub fn upload_activities(&self) -> UploadActivities {
        self.locks.count()
    }

    /// Whether clients send parts to this server, not to an S3-compatible store.
    pub const fn receives_parts(&self) -> bool {
        self.s3.is_none()
    }

    /// Starts writing a part of the locked upload to the built-in store.
    pub fn start_part(&self, lock: UploadLock, layout: PartLayout, number: u32) -> io::Result<PartWriter> {
        self.staging.start_part(lock, layout, number)
    }

    /// Joins the parts of an upload if `received`, the result of [`Blobs::received_bytes`], contains all of them with the given
    /// part numbers and entity tags. If the parts were joined before, reads the file. The caller must hold the lock of the upload.
    pub fn join_parts(
        &self,
        upload: &Upload,
        received: &ReceivedBytes,
        parts: &[(u32, String)],
        _lock: &UploadLock,
    ) -> io::Result<CompletionOutcome> {
        let ReceivedBytes::Parts(received) = received else {
            return self.hash_upload(upload.id).map(CompletionOutcome::Complete);
        };
        match &self.s3 {
            Some(s3) => s3.complete_upload(upload, received, parts),
            None => {
                let path = self.local.upload_path(upload.id);
                self.staging.complete_upload(upload.id, upload.layout, received, parts, &path)
            }
        }
    }

    /// Deletes everything that was received of an upload: its parts, and the file if they were joined. The
    /// caller holds the lock of the upload.
    pub fn delete_upload(&self, upload: &Upload, _lock: &UploadLock) -> io::Result<()> {
        match &self.s3 {
            Some(s3) => s3.abort_upload(upload)?,
            None => self.staging.abort_upload(upload.id)?,
        }
        private_files::if_found(self.remove_upload(upload.id)).map(drop)
    }

    /// Deletes the parts of all uploads for which `is_in_progress` returns false, except those that are in
    /// use. Returns the number of deleted uploads.
    pub fn cleanup_staged(&self, is_in_progress: impl Fn(Uuid) -> bool) -> io::Result<u64> {
        let staged = match &self.s3 {
            Some(s3) => s3.list_staged()?,
            None => self.staging.list()?,
        };
        let mut deleted = 0;
        for id in staged {
            // Checked without the lock first: requests for an upload in progress would be refused while it is held.
            if is_in_progress(id) {
                continue;
            }
            let Ok(_lock) = self.locks.try_lock(id, UploadStep::Delete) else { continue };
            // Checked again with the lock: a part is received only if its upload was in progress then.
            if !is_in_progress(id) {
                match &self.s3 {
                    Some(s3) => s3.delete_staged(id)?,
                    None => self.staging.abort_upload(id)?,
                }
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    /// Stores an upload completely or not at all.
    pub fn put_upload(&self, id: Uuid, source: &mut dyn Read) -> io::Result<StoredFile> {
        match &self.s3 {
            Some(s3) => s3.put_upload(id, source),
            None => self.local.put_upload(id, source),
        }
    }

    /// Deletes an upload.
    pub fn remove_upload(&self, id: Uuid) -> io::Result<()> {
        match &self.s3 {
            Some(s3) => s3.remove_upload(id),
            None => self.local.remove_upload(id),
        }
    }

    /// Returns whether an upload exists.
    pub fn has_upload(&self, id: Uuid) -> io::Result<bool> {
        Ok(self.upload_size(id)?.is_some())
    }

    /// Returns the size of a stored upload, or `None` if there is none.
    fn upload_size(&self, id: Uuid) -> io::Result<Option<u64>> {
        match &self.s3 {
            Some(s3) => Ok(s3.head_upload(id)?.map(|(size, _)| size)),
            None => self.local.upload_size(id),
        }
    }

    /// Returns where the file of an upload is, for messages to operators.
    pub fn upload_location(&self, id: Uuid) -> String {
        match &self.s3 {
            Some(s3) => format!("object {}", s3.upload_key(id)),
            None => format!("file {}", self.local.upload_path(id).display()),
        }
    }

    /// Returns a text that changes if the stored file of an upload changes, or `None` if there is no such
    /// file.
    pub fn upload_version(&self, id: Uuid) -> io::Result<Option<String>> {
        match &self.s3 {
            // Objects are never replaced.
            Some(s3) => Ok(s3.head_upload(id)?.map(|_| "s3".to_owned())),
            None => self.local.upload_version(id),
        }
    }

    /// Reads a stored upload, and returns its current size and digest.
    pub fn hash_upload(&self, id: Uuid) -> io::Result<StoredFile> {
        self.copy_upload(id, &mut io::sink())
    }

    /// Copies a stored upload, and returns its current size and digest.
    pub fn copy_upload(&self, id: Uuid, to: &mut (dyn Write + Send)) -> io::Result<StoredFile> {
        match &self.s3 {
            Some(s3) => s3.download(id, to),
            None => self.local.copy_upload(id, to),
        }
    }

    /// Returns an upload as a file on this machine: the stored file itself, or a copy that is deleted on
    /// drop.
    pub fn fetch_upload(&self, id: Uuid) -> io::Result<UploadFile> {
        let Some(s3) = &self.s3 else {
            return Ok(UploadFile { path: self.local.upload_path(id), _temp_dir: None });
        };
        let staging_dir = self.staging_dir()?;
        let path = staging_dir.path().join("upload.zip");
        s3.download(id, &mut private_files::create(&path)?)?;
        Ok(UploadFile { path, _temp_dir: Some(staging_dir) })
    }

    /// Returns the path of the repository copy that was attached to an asset at a given time.
    pub fn repository_path(&self, asset: Uuid, attached_at: Timestamp) -> PathBuf {
        self.local.repository_path(asset, attached_at)
    }

    /// Whether there is a copy of the repository that was attached to an asset at a given time.
    pub fn has_repository(&self, asset: Uuid, attached_at: Timestamp) -> bool {
        self.repository_path(asset, attached_at).is_dir()
    }

    /// Moves a repository copy from the staging directory into the storage. Replaces an existing copy.
    pub fn store_repository(&self, from: &Path, asset: Uuid, attached_at: Timestamp) -> io::Result<()> {
        self.local.store_repository(from, asset, attached_at)
    }

    /// Keeps every process from deleting repository copies, files of bundles, and complete uploads until the returned value is
    /// dropped. Waits for a running cleanup to end, but uploads that were discarded before may still be deleted from an
    /// S3-compatible store. Has no effect if the directory is read-only to this process and has no lock file: no cleanup has run
    /// there.
    pub fn hold_files(&self) -> io::Result<FileHold> {
        self.local.hold_files()
    }

    /// Returns the lock for the cleanup of repository copies, files of bundles, and complete uploads, or `None` if a
    /// [hold](Blobs::hold_files) forbids it now.
    pub fn try_lock_for_cleanup(&self) -> io::Result<Option<CleanupLock>> {
        self.local.try_lock_for_cleanup()
    }

    /// Deletes all repository copies for which `is_referenced` returns false. Returns their number.
    pub fn cleanup_repositories(
        &self,
        lock: &CleanupLock,
        is_referenced: impl Fn(Uuid, Timestamp) -> bool,
    ) -> io::Result<u64> {
        self.local.cleanup_repositories(lock, is_referenced)
    }

    /// Creates a temporary directory on the same disk as the storage. It is deleted when the value is
    /// dropped.
    pub fn staging_dir(&self) -> io::Result<tempfile::TempDir> {
        self.local.staging_dir()
    }

    /// Deletes the temporary directories that an earlier process left.
    pub fn clear_staging_dirs(&self) -> io::Result<()> {
        self.local.clear_staging_dirs()
    }
}

/// What the URL paths of bundles begin with.
pub const BUNDLES: &str = "/v2/blobs/bundles/";

/// Returns the URL path of the bundle of a listing. It gives no access by itself.
pub fn bundle_path(listing: Uuid) -> String {
    format!("{BUNDLES}{listing}")
}

/// Returns the URL path to send a part to in the built-in store.
pub fn part_path(id: Uuid, number: u32) -> String {
    format!("/v2/blobs/uploads/{id}/{number}")
}
