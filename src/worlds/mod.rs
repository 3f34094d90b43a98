//! Worlds: private copies of a market, each with a clock and IDs of its own, so that every test can have one.
//!
//! A world is forked from a template: the files of a closed market, of which those that never change are shared. It ends
//! when it is deleted, or with the process. Nothing of it is synchronized with the disk.

mod due_work;
mod files;
mod opener;
mod registry;
mod template;
mod turn;
mod world;

use std::io;

pub use self::{
    due_work::{DoneWork, DueWork, JobTiming, WorkKind, WorkOutcome},
    opener::Opener,
    registry::{NewWorld, Source, Worlds},
    template::{DEFAULT_SEED, START, Template},
    turn::Turn,
    world::{Receiver, World},
};
use crate::{error::Error, fixtures::SeedError, market::OpenError};

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
