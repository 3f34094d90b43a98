//! Taking away files that nothing refers to any more, in the background: the database says what is kept.

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

/// Takes away copies of repositories whose asset was detached.
pub fn sweep(task: &Task) -> Done {
    let market = task.market();
    // What cannot be looked up is kept.
    let is_named = |asset, attached_at| {
        market
            .read_blocking(|reader| store::assets::is_linked(reader.rows, asset, attached_at))
            .unwrap_or(true)
    };
    market.blobs().sweep_repositories(is_named).map_err(Error::internal)?;
    task.finish(|_| Ok(()))
}
