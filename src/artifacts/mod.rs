//! What is read of uploaded archives and linked repositories. Knows files and their formats; no rows, no jobs and no
//! transport.

pub mod archive;
pub mod attributes;
pub mod checks;
pub mod codebases;
pub mod contents;
pub mod datasets;
pub mod generated;
pub mod git;
pub mod hosts;
pub mod languages;
pub mod manifests;
pub mod pipelines;
pub mod readings;
pub mod readme;
pub mod structure;

use std::fmt;

/// Why something cannot be read: words for the vendor whose it is, saying what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How reading ended that did not succeed.
#[derive(Debug)]
pub enum Unread {
    /// It cannot be read, now or later.
    Refused(Refusal),
    /// It was told to stop.
    Stopped,
    /// The machine failed, so it may be tried again.
    Broken(std::io::Error),
}

impl From<Refusal> for Unread {
    fn from(refusal: Refusal) -> Unread {
        Unread::Refused(refusal)
    }
}

/// How much of an archive is read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Files and folders at most.
    pub files: u64,
    /// How many times its size an archive may unpack to.
    pub ratio: u64,
}
