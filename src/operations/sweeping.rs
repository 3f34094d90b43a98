//! Taking away files that nothing refers to any more, in the background: the database says what is kept.

use std::io;

use super::jobs::{Done, Task};
use crate::{
    domain::jobs::JobKind,
    error::{Error, Result},
    market::Writer,
    store,
};

/// Asks for it, for now.
pub fn ask(writer: &Writer) -> Result<()> {
    writer.enqueue(JobKind::Sweep, 0)
}

/// Takes away copies of repositories whose asset was detached, and parts of uploads that nobody will complete.
pub fn sweep(task: &Task) -> Done {
    let market = task.market();
    // What cannot be looked up is kept.
    let is_named = |asset, attached_at| {
        market
            .read_blocking(|reader| store::assets::is_linked(reader.rows, asset, attached_at))
            .unwrap_or(true)
    };
    market.blobs().sweep_repositories(is_named).map_err(Error::internal)?;
    for (grant, upload) in market.read_blocking(|reader| store::grants::abandoned(reader.rows, reader.now))? {
        market.blobs().abort(&upload).map_err(Error::internal)?;
        // It may have been put together, and nobody came back for it.
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
