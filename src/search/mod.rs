//! Keeping the index in step with the database: rows to documents, the worker that drains the queue, and the folder that
//! an index is swapped in.
//!
//! The database is the truth. Whatever stands here can be thrown away and made again, and nothing here decides what a
//! listing is; it only carries it over.

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
