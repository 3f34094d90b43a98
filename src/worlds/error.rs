//! Errors of creating, copying, and resetting worlds.

use std::io;

use crate::{
    error::{Error, Problem},
    fixtures::SeedError,
    market::OpenError,
};

/// Error of creating or resetting a world.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The files of the market cannot be copied or deleted.
    #[error("the files of a world cannot be copied: {0}")]
    Files(#[source] io::Error),
    /// The market cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The template cannot be created.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// What was requested is not possible.
    #[error(transparent)]
    Refused(#[from] Error),
}

/// The result of creating, copying, or resetting a world.
pub type WorldResult<T> = Result<T, WorldError>;

impl From<WorldError> for Error {
    fn from(error: WorldError) -> Error {
        match error {
            WorldError::Refused(error) => error,
            other => Error::internal(other),
        }
    }
}

/// Returns the error of an import that is refused because of the value at this path of the exported world.
pub(super) fn refused(path: &[&str], message: impl Into<String>) -> Error {
    Error::invalid(Problem::body(path, "value_error", message))
}
