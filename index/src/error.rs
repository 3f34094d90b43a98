//! What can go wrong, as one enum that a caller can act on.
//!
//! The index is disposable: on `Missing`, `Corrupt` and `OtherSchema` the caller rebuilds it from its truth.

use std::io;
use std::sync::Arc;

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError};

/// Why an operation on the index failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no index in the folder.
    #[error("there is no index in the folder")]
    Missing,
    /// The index was made under another version of the schema.
    #[error("the index has schema version {found}, this program needs {wanted}")]
    OtherSchema {
        /// The version that the folder names.
        found: u32,
        /// The version that this program reads and writes.
        wanted: u32,
    },
    /// A file of the index is absent, damaged or of an unknown format.
    #[error("the index is damaged: {0}")]
    Corrupt(String),
    /// A new index was asked for in a folder that holds something.
    #[error("the folder for a new index is not empty")]
    NotEmpty,
    /// Another writer, of this process or another, is open on the folder.
    #[error("another writer is open on the index")]
    Busy,
    /// The file system refused.
    #[error("reading or writing the index failed: {0}")]
    Io(#[from] io::Error),
    /// The search engine refused for a reason that has no name of its own here.
    #[error("the search engine failed: {0}")]
    Engine(#[source] TantivyError),
}

impl From<TantivyError> for Error {
    fn from(error: TantivyError) -> Error {
        match error {
            TantivyError::IoError(error) | TantivyError::LockFailure(LockError::IoError(error), _) => {
                shared(&error)
            }
            TantivyError::OpenReadError(error) => error.into(),
            TantivyError::OpenDirectoryError(OpenDirectoryError::DoesNotExist(_)) => Error::Missing,
            TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => {
                shared(&io_error)
            }
            TantivyError::LockFailure(LockError::LockBusy, _) => Error::Busy,
            error @ (TantivyError::DataCorruption(_)
            | TantivyError::IncompatibleIndex(_)
            | TantivyError::MissingPlugin(_)
            | TantivyError::UnexpectedPlugin(_)) => Error::Corrupt(error.to_string()),
            error => Error::Engine(error),
        }
    }
}

impl From<OpenReadError> for Error {
    fn from(error: OpenReadError) -> Error {
        match error {
            OpenReadError::IoError { io_error, .. } => shared(&io_error),
            error => Error::Corrupt(error.to_string()),
        }
    }
}

/// Tantivy shares its causes; a damaged file is among the kinds of an input error.
fn shared(error: &Arc<io::Error>) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Error::Corrupt(error.to_string()),
        kind => Error::Io(io::Error::new(kind, Arc::clone(error))),
    }
}
