//! Background cleanup of files that the database no longer refers to.

use std::io;

use super::jobs::{Done, Task};
use crate::{
    domain::jobs::JobKind,
    error::{Error, Result},
    market::Writer,
    store,
};

/// Enqueues a cleanup that is due now.
pub fn ask(writer: &Writer) -> Result<()> {
    writer.enqueue(JobKind::Sweep, 0)
}

/// Deletes copies of repositories whose asset was detached, and uploads that can no longer be completed.
pub fn sweep(task: &Task) -> Done {
    let market = task.market();
    // If the lookup fails, the file is kept.
    let is_named = |asset, attached_at| {
        market
            .read_blocking(|reader| store::assets::is_linked(reader.rows, asset, attached_at))
            .unwrap_or(true)
    };
    market.blobs().sweep_repositories(is_named).map_err(Error::internal)?;
    for (grant, upload) in market.read_blocking(|reader| store::grants::abandoned(reader.rows, reader.now))? {
        market.blobs().abort(&upload).map_err(Error::internal)?;
        // Its parts may already have been joined.
        match market.blobs().remove_upload(upload.id) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(Error::internal(cause).into());
            }
            _ => {}
        }
        market.write_blocking(|writer| store::grants::stage(writer.rows, grant, None))?;
    }
    let is_under_way = |upload| {
        market
            .read_blocking(|reader| store::grants::of_upload(reader.rows, upload))
            .map_or(true, |found| found.is_some_and(|(grant, _)| grant.consumed_at.is_none()))
    };
    market.blobs().sweep_staged(is_under_way).map_err(Error::internal)?;
    task.finish(|_| Ok(()))
}
