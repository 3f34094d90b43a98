//! Synchronizes the search index with the database: converts rows to documents, drains the queue of changes
//! in a worker thread, and swaps in rebuilt indexes.
//!
//! The database is the source of truth. All data here is derived and can be deleted and rebuilt at any time.

mod documents;
mod drain;
mod folder;
mod worker;

pub use documents::{Taxonomy, document, stage};
pub use drain::{Indexer, Progress, Rendered, Renderer};
pub use folder::{Folder, rebuild};
pub use worker::{Worker, WriterSize};

use crate::error::Error;

impl From<marketplace_index::Error> for Error {
    fn from(error: marketplace_index::Error) -> Error {
        Error::Internal(format!("index: {error}"))
    }
}
