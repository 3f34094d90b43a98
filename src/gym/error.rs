//! Why a gym cannot be opened.

use crate::{error::Error, fixtures::SeedError, market::OpenError};

/// An error of the gym itself, rather than of an agent.
#[derive(Debug, thiserror::Error)]
pub enum GymError {
    /// The async runtime cannot be started.
    #[error("cannot start the async runtime: {0}")]
    Runtime(#[source] std::io::Error),
    /// The copy of the market cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The texts cannot be planted.
    #[error("texts cannot be planted in the copy of the market: {0}")]
    Plant(#[from] SeedError),
    /// An operation of the market failed.
    #[error("{}", .0.message())]
    Market(#[from] Error),
    /// The HTTP API responded with an error.
    #[error("the private market responded with status {0} to {1}")]
    Response(u16, String),
    /// A session of the agent server cannot be opened.
    #[error("the agent server failed to answer {0}: {1}")]
    Session(String, String),
    /// The market has no team that could ask.
    #[error(
        "the market has no team with a marketplace role that accepted the mutual NDA, so nobody can ask questions about \
         it"
    )]
    NoTeam,
}
