//! Errors of the index, as one enum that a caller can act on.
//!
//! The index is disposable: on `Missing`, `Corrupt` and `SchemaMismatch` the caller rebuilds it from the source
//! of truth.

use std::io;
use std::sync::Arc;

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError};

/// Why an operation on the index failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory contains no index.
    #[error("the directory contains no index")]
    Missing,
    /// The index was built with a version of the schema that this program cannot use.
    #[error("the index has schema version {found}, but this program needs {expected}")]
    SchemaMismatch {
        /// Version of the index.
        found: u32,
        /// Version of the indexes that this program creates.
        expected: u32,
    },
    /// A file of the index is missing, damaged, or in an unknown format.
    #[error("the index is damaged: {0}")]
    Corrupt(String),
    /// The directory for a new index is not empty.
    #[error("the directory for a new index is not empty")]
    NotEmpty,
    /// Another writer, in this process or another one, has the index open.
    #[error("another writer is open on the index")]
    Busy,
    /// A file operation failed.
    #[error("reading or writing the index failed: {0}")]
    Io(#[from] io::Error),
    /// The search engine panicked, as it does on some damaged files. The text is the message of the panic.
    #[error("the search engine panicked: {0}")]
    Panicked(String),
    /// The search engine failed for another reason.
    #[error("the search engine failed: {0}")]
    Engine(#[source] TantivyError),
}

impl From<TantivyError> for Error {
    fn from(error: TantivyError) -> Error {
        match error {
            TantivyError::IoError(error) | TantivyError::LockFailure(LockError::IoError(error), _) => {
                from_shared_io_error(&error)
            }
            TantivyError::OpenReadError(error) => error.into(),
            TantivyError::OpenDirectoryError(OpenDirectoryError::DoesNotExist(_)) => Error::Missing,
            TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => {
                from_shared_io_error(&io_error)
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
            OpenReadError::IoError { io_error, .. } => from_shared_io_error(&io_error),
            error => Error::Corrupt(error.to_string()),
        }
    }
}

/// Converts an I/O error that tantivy shares. Some of its kinds mean a damaged file. The engine uses `Other` for
/// invalid contents, such as an unknown format; no error of the operating system has this kind.
fn from_shared_io_error(error: &Arc<io::Error>) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
            Error::Corrupt(error.to_string())
        }
        kind => Error::Io(io::Error::new(kind, Arc::clone(error))),
    }
}
