//! Deletes the bytes of discarded uploads.
//!
//! An upload is discarded in a transaction, and its bytes are deleted after that, in this process or, after a
//! kill, by the next cleanup. A discarded upload cannot be completed, so no acknowledged upload is deleted.

use crate::{
    blobs::{CleanupLock, UploadLock},
    domain::{upload_activity::UploadStep, uploads::Upload},
    error::{Error, Result},
    market::{Market, Writer},
    store,
};

/// Number of uploads that are forgotten in one transaction.
const BATCH: usize = 64;

/// Deletes the bytes of a discarded upload, whose lock the caller holds, and forgets it.
pub fn delete(market: &Market, upload: &Upload, lock: &UploadLock) -> Result<()> {
    market.blobs().delete_upload(upload, lock).map_err(Error::internal)?;
    market.write_blocking(|writer| store::discarded_uploads::remove(writer.rows, upload.id))
}

/// The outcome of [`delete_all`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Deleted {
    /// Number of uploads that were deleted.
    pub uploads: u64,
    /// Number of uploads that are in use, and must be deleted later.
    pub in_use: u64,
}

/// Deletes all discarded uploads that are not in use. Their rows are deleted in transactions of [`BATCH`] rows, so that other
/// transactions need not wait long. Without the cleanup lock, keeps uploads that may have a complete file, since a backup that
/// began before they were discarded copies them.
pub fn delete_all(market: &Market, cleanup: Option<CleanupLock>) -> Result<Deleted> {
    let mut deleted = Deleted::default();
    let (is_local, has_lock) = (market.blobs().receives_parts(), cleanup.is_some());
    let discarded = market.read_blocking(|reader| store::discarded_uploads::list(reader.rows))?;
    // A hold that begins now needs none of these files. With local files, the lock is kept nevertheless, since a copy of the data
    // directory fails if a file vanishes. With S3, it is released, since the deletion would let others wait too long.
    let _lock = cleanup.filter(|_| is_local);
    let may_be_complete = |upload: &Upload| {
        if is_local {
            // If the lookup fails, the file is kept.
            market.blobs().has_upload(upload.id).unwrap_or(true)
        } else {
            // Avoids a request for each upload. Completed uploads have no upload ID of the store.
            upload.store_upload_id.is_none()
        }
    };
    for uploads in discarded.chunks(BATCH) {
        // Locked until they are forgotten.
        let mut locked = Vec::with_capacity(uploads.len());
        let mut outcome = Ok(());
        for upload in uploads {
            let Ok(lock) = market.blobs().lock_upload(upload.id, UploadStep::Delete) else {
                deleted.in_use += 1;
                continue;
            };
            if !has_lock && may_be_complete(upload) {
                continue;
            }
            outcome = market.blobs().delete_upload(upload, &lock).map_err(Error::internal);
            if outcome.is_err() {
                break;
            }
            locked.push((upload.id, lock));
        }
        if !locked.is_empty() {
            let forget = |writer: &mut Writer| {
                locked.iter().try_for_each(|(id, _)| store::discarded_uploads::remove(writer.rows, *id))
            };
            market.write_blocking(forget)?;
        }
        deleted.uploads += locked.len() as u64;
        outcome?;
    }
    Ok(deleted)
}
