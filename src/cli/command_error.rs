//! The errors of commands, and their messages for the operator.

use crate::{
    config::SettingsError,
    domain::written::counted,
    error::{self, Error, ErrorChain},
    fixtures, market, store,
};

/// The error of a command.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("{}", open_message(.0))]
    Open(#[from] market::OpenError),
    #[error("{}", seed_message(.0))]
    Seed(#[from] fixtures::SeedError),
    #[error("{}", operator_message(.0))]
    Market(#[from] Error),
    /// The operator API refused a request.
    #[error("{message}")]
    Refused {
        /// Code of the error; `invalid` if the request has problems.
        code: String,
        /// What was wrong.
        message: String,
    },
    /// A server did not respond.
    #[error("{0}")]
    NoResponse(String),
    #[error("{0}")]
    Other(String),
    #[error("{0}")]
    Usage(String),
    /// A check could not be completed, so its result is not known.
    #[error("{0}")]
    Incomplete(String),
}

/// Returns the message of an error for the operator, who sees causes, but no codes and no advice for callers
/// of the API.
pub(super) fn operator_message(error: &Error) -> String {
    match error {
        Error::NotFound(what) if !error::is_sentence(what) => format!("There is no {what}."),
        Error::StorageUnavailable { .. } => {
            "The storage cannot be used; the line above this one says why.".to_owned()
        }
        Error::Internal(source) => ErrorChain(source.as_ref()).to_string(),
        other => other.message(),
    }
}

fn open_message(error: &market::OpenError) -> String {
    match error {
        market::OpenError::Other(error) => operator_message(error),
        damaged if store::is_damage(damaged) => {
            format!("{damaged}; restore a backup to an empty directory with `marketplace restore`")
        }
        other => other.to_string(),
    }
}

fn seed_message(error: &fixtures::SeedError) -> String {
    match error {
        fixtures::SeedError::Other(error) => operator_message(error),
        invalid @ fixtures::SeedError::Fixture(_) => invalid.to_string(),
    }
}

pub(super) type CommandResult = Result<(), CommandError>;

/// Fails if anything was found. One is called `one`, and several `several`.
pub(super) fn require_none_found(count: usize, one: &str, several: &str) -> CommandResult {
    match count {
        0 => Ok(()),
        count => Err(CommandError::Other(format!("{} found", counted(count as u64, one, several)))),
    }
}
