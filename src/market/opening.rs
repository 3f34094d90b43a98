//! How a market is opened, and why it cannot be.

use std::{path::PathBuf, sync::Arc};

use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    error::Error,
    search::Renderer,
    store::{self, Durability},
};

/// Why a market cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server has the folder.
    #[error("another `marketplace serve` is running on {0}; stop it, or choose another folder with --data")]
    Served(PathBuf),
    /// The folder cannot be used.
    #[error("the folder {path} cannot be used: {cause}; choose another with --data")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] store::OpenError),
    /// The store of uploads cannot be used.
    #[error("the store of uploads cannot be used: {0}; see [blobs] in the settings")]
    Blobs(String),
    /// Something else failed.
    #[error(transparent)]
    Other(#[from] Error),
}

/// What a market is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To serve: alone on its folder, with the worker that keeps the index in step.
    Serve,
    /// For one command, beside a server or without one.
    Command,
    /// To read, for as long as it takes, beside a server or without one. Whatever writes fails.
    Read,
}

/// How to open a market.
pub struct Opening {
    /// Its folder.
    pub folder: PathBuf,
    /// Its settings.
    pub settings: Settings,
    /// Its time and ids.
    pub clock: Arc<Clock>,
    /// Its secrets.
    pub entropy: Entropy,
    /// What it may lose when the machine dies.
    pub durability: Durability,
    /// What for.
    pub purpose: Purpose,
    /// How listings look on the wire.
    pub renderer: Renderer,
}
