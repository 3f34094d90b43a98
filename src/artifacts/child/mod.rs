//! Reading untrusted files in a child process, so that a parser that never ends, crashes, or uses up the memory
//! harms only its own process.
//!
//! The parent starts the same program again with a hidden subcommand ([`process`]). The child limits its own
//! resources before it opens anything ([`confinement`]), executes one [`Task`], and writes one length-prefixed
//! JSON reply to its standard output ([`reply`]). The parent validates the reply like any other untrusted
//! input ([`validation`]).

mod confinement;
mod process;
mod reply;
mod validation;
mod worker;

use serde::{Deserialize, Serialize};

pub use confinement::ResourceLimits;
pub use process::{ChildEnd, ChildProcess, Input, Launcher};
pub use reply::{Reply, ReplyBytes};
pub use validation::Validate;
pub use worker::run;

use super::{Limits, checks, git};

/// The hidden subcommand that executes an [`Invocation`].
pub const SUBCOMMAND: &str = "read-untrusted";

/// Work on untrusted files. The files themselves are an [`Input`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Analyzes a ZIP archive. Replies with an [`ArchiveAnalysis`](super::analyses::ArchiveAnalysis).
    AnalyzeArchive {
        /// Whether the archive contains source code.
        is_codebase: bool,
        /// Limits on the archive.
        limits: Limits,
    },
    /// Runs the quality checks of a ZIP archive. Replies with an [`Outcome`](checks::Outcome).
    CheckArchive {
        /// Kind of the data.
        subject: checks::Subject,
        /// Limits on the archive.
        limits: Limits,
    },
    /// Analyzes a copied repository. Replies with a [`RepositoryAnalysis`](super::analyses::RepositoryAnalysis).
    AnalyzeRepository {
        /// Limits on the repository.
        limits: git::Limits,
        /// Current time in Unix seconds.
        now_secs: i64,
    },
    /// Runs the quality checks of a copied repository. Replies with an [`Outcome`](checks::Outcome).
    CheckRepository {
        /// Kind of the data.
        subject: checks::Subject,
        /// Limits on the repository.
        limits: git::Limits,
    },
    /// Indexes a pack that was received from a host. Replies with an [`IndexedPack`](git::IndexedPack).
    IndexPack {
        /// ID of the commit that the pack must contain, in hexadecimal.
        head: String,
        /// Limits on the repository.
        limits: git::Limits,
    },
}

/// The argument of the hidden subcommand, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Invocation {
    /// Process ID of the parent. A child whose parent has ended ends, too.
    parent_pid: u32,
    /// Limits on the resources of the child.
    limits: ResourceLimits,
    /// The work to do.
    task: Task,
}
