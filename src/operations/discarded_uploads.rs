//! Deletes the bytes of uploads that were taken from their grants.
//!
//! An upload is discarded in a transaction, and its bytes are deleted after that, in this process or, after a
//! kill, by the next cleanup. A discarded upload cannot be completed, so no acknowledged upload is deleted.

use crate::{
    blobs::UploadLock,
    domain::{upload_activity::UploadStep, uploads::Upload},
    error::{Error, Result},
    market::Market,
    store,
};

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

/// Deletes all discarded uploads that are not in use.
pub fn delete_all(market: &Market) -> Result<Deleted> {
    let mut deleted = Deleted::default();
    for upload in market.read_blocking(|reader| store::discarded_uploads::list(reader.rows))? {
        match market.blobs().lock_upload(upload.id, UploadStep::Delete) {
            Ok(lock) => {
                delete(market, &upload, &lock)?;
                deleted.uploads += 1;
            }
            Err(_) => deleted.in_use += 1,
        }
    }
    Ok(deleted)
}
