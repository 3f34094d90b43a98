//! Background cleanup of files that the database no longer refers to.

use std::io;

use super::running_job::{JobResult, RunningJob};
use crate::{
    domain::jobs::{JobKind, JobSubject},
    error::{Error, Result},
    market::Writer,
    store,
};

/// Enqueues a cleanup that is due now.
pub fn enqueue(writer: &Writer) -> Result<()> {
    writer.enqueue(JobKind::Cleanup, JobSubject::NONE)
}

/// Deletes copies of repositories whose asset was detached, and uploads that can no longer be completed.
pub fn run(job: &RunningJob) -> JobResult {
    let market = job.market();
    // If the lookup fails, the file is kept.
    let is_referenced = |asset, attached_at| {
        market
            .read_blocking(|reader| store::assets::is_linked(reader.rows, asset, attached_at))
            .unwrap_or(true)
    };
    market.blobs().cleanup_repositories(is_referenced).map_err(Error::internal)?;
    for (grant, upload) in
        market.read_blocking(|reader| store::grants::list_abandoned_uploads(reader.rows, reader.now))?
    {
        market.blobs().abort_upload(&upload).map_err(Error::internal)?;
        // Its parts may already have been joined.
        match market.blobs().remove_upload(upload.id) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(Error::internal(cause).into());
            }
            _ => {}
        }
        market.write_blocking(|writer| store::grants::set_pending_upload(writer.rows, grant, None))?;
    }
    let is_in_progress = |upload| {
        market
            .read_blocking(|reader| store::grants::find_by_upload(reader.rows, upload))
            .map_or(true, |found| found.is_some_and(|(grant, _)| grant.consumed_at.is_none()))
    };
    market.blobs().cleanup_staged(is_in_progress).map_err(Error::internal)?;
    job.finish(|_| Ok(()))
}
