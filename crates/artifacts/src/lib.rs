//! Analysis of uploaded archives and linked repositories. This module knows files and their formats, but
//! nothing of database rows, jobs, or transport.

pub mod analyses;
pub mod archive;
pub mod attributes;
pub mod child;
pub mod codebases;
pub mod contents;
pub mod datasets;
pub mod extraction;
pub mod file_sets;
pub mod generated;
pub mod git;
pub mod hosts;
pub mod languages;
mod lfs_pointers;
mod lines;
pub mod manifests;
pub mod packing;
pub mod pipelines;
pub mod quality_checks;
pub mod readme;
pub mod structure;
#[cfg(test)]
mod test_zips;
mod value_count;
mod yaml;

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why an archive or a repository is rejected. The message is shown to the vendor and says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(pub String);

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why an archive or a repository was not read.
#[derive(Debug)]
pub enum ReadError {
    /// The data cannot be read, and trying again does not help.
    Rejected(Rejection),
    /// The caller asked to stop.
    Canceled,
    /// An I/O error of this machine. Reading may be tried again.
    Io(std::io::Error),
    /// The child process that read it ended without a reply, for the given reason that is not one of its
    /// limits.
    ProcessEnded(String),
}

impl From<Rejection> for ReadError {
    fn from(rejection: Rejection) -> ReadError {
        ReadError::Rejected(rejection)
    }
}

/// Limits on archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum number of files and directories.
    pub max_files: u64,
    /// Maximum ratio of the unpacked size to the size of the archive.
    pub max_ratio: u64,
}
