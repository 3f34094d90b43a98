//! The tasks of child processes.

use serde::{Deserialize, Serialize};

use super::limits::ResourceLimits;
use crate::{Limits, git, packing::FileSelection, quality_checks};

/// The hidden subcommand that executes an [`Invocation`].
pub const SUBCOMMAND: &str = "read-untrusted";

/// Work on untrusted files. The files themselves are an [`Input`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Analyzes a ZIP archive. Replies with an
    /// [`ArchiveAnalysis`](crate::analyses::ArchiveAnalysis).
    AnalyzeArchive {
        /// Whether the archive contains source code.
        is_codebase: bool,
        /// Limits on the archive.
        limits: Limits,
    },
    /// Runs the quality checks of a ZIP archive. Replies with an [`Outcome`](quality_checks::Outcome).
    CheckArchive {
        /// Kind of the data.
        subject: quality_checks::Subject,
        /// Whether the findings have their places.
        is_detailed: bool,
        /// Limits on the archive.
        limits: Limits,
    },
    /// Analyzes a copied repository. Replies with a
    /// [`RepositoryAnalysis`](crate::analyses::RepositoryAnalysis).
    AnalyzeRepository {
        /// Limits on the repository.
        limits: git::Limits,
        /// Current time in Unix seconds.
        now_secs: i64,
    },
    /// Runs the quality checks of a copied repository. Replies with an [`Outcome`](quality_checks::Outcome).
    CheckRepository {
        /// Kind of the data.
        subject: quality_checks::Subject,
        /// Whether the findings have their places.
        is_detailed: bool,
        /// Limits on the repository.
        limits: git::Limits,
        /// Current time in Unix seconds.
        now_secs: i64,
    },
    /// Writes files of a commit of a copied repository to a ZIP archive: the standard input, which is an empty file.
    /// Replies with [`PackedFiles`](crate::packing::PackedFiles).
    PackRepository {
        /// ID of the commit in hexadecimal.
        commit: String,
        /// Which files.
        selection: FileSelection,
        /// Limits on the repository.
        limits: git::Limits,
    },
    /// Writes files of a ZIP archive to another one in the directory, which is named
    /// [`OUTPUT_FILE`](crate::packing::OUTPUT_FILE). Replies with
    /// [`PackedFiles`](crate::packing::PackedFiles).
    PackArchive {
        /// Which files.
        selection: FileSelection,
        /// Limits on the archive.
        limits: Limits,
    },
    /// Tries forbidden operations. Replies with a [`SelfTest`](super::SelfTest).
    TestConfinement,
    /// Writes the objects of a zipped bare repository to a pack in the directory, which is named [`git::REPACKED`].
    /// Replies with a [`RepackedRepository`](git::RepackedRepository).
    RepackZip {
        /// Limits on the archive.
        archive: Limits,
        /// Limits on the repository.
        limits: git::Limits,
    },
    /// Indexes a pack that was received from a host. Replies with an [`IndexedPack`](git::IndexedPack).
    IndexPack {
        /// ID of the commit that the pack must contain, in hexadecimal.
        head: String,
        /// Limits on the repository.
        limits: git::Limits,
        /// Whose repository it is.
        origin: git::Origin,
    },
}

/// The argument of the hidden subcommand, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Invocation {
    /// Process ID of the parent. A child whose parent has ended ends, too.
    pub(super) parent_pid: u32,
    /// Limits on the resources of the child.
    pub(super) limits: ResourceLimits,
    /// The work to do.
    pub(super) task: Task,
}
