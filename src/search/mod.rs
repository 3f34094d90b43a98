//! Synchronizes the search index with the database: converts rows to documents, drains the queue of changes
//! on the thread of a write, and swaps in rebuilt indexes.
//!
//! The database is the source of truth. All data here is derived and can be deleted and rebuilt at any time.

mod directory;
mod documents;
mod indexer;
mod prepared_changes;
mod rebuilds;
mod shared_updater;
mod updater;

pub use directory::{IndexDirectory, OpenedIndex, WriterOptions, rebuild_index};
pub use documents::{Taxonomy, build_document, index_stage, listing_row_id};
pub use indexer::{Indexer, Progress, RenderedListing, Renderer};
pub use prepared_changes::PreparedChange;
pub use shared_updater::SharedUpdater;

use crate::error::Error;

impl From<marketplace_index::Error> for Error {
    fn from(error: marketplace_index::Error) -> Error {
        Error::internal_with_source("index", error)
    }
}
