//! Everything that is read of a zip or of a copied repository, as one value that can be kept beside it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    Limits, Unread, archive, codebases,
    datasets::{self, Dataset},
    git::{self, History, Repository},
};

/// What was read of a zip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfArchive {
    /// What its list of files says.
    pub listing: archive::Reading,
    /// What it is looked at for besides, by what it is offered as.
    pub own: Own,
}

/// What only one kind of zip is looked at for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Own {
    /// Source code.
    Codebase(codebases::Reading),
    /// Data, and what it is as a dataset.
    RawData(Option<Dataset>),
}

/// What was read of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfRepository {
    /// The commit that it stands at, in hexadecimal.
    pub commit_sha: String,
    /// Its newest files.
    pub files: codebases::Reading,
    /// What led there.
    pub history: History,
}

/// Reads the zip at a path. Goes on while `go_on` says so.
pub fn archive(
    path: &Path,
    is_codebase: bool,
    limits: Limits,
    go_on: &dyn Fn() -> bool,
) -> Result<OfArchive, Unread> {
    let listing = archive::read(path, limits, go_on)?;
    let own = if is_codebase {
        Own::Codebase(codebases::zipped(path, listing.root.as_deref(), limits, go_on)?)
    } else {
        Own::RawData(datasets::read(path, limits, go_on)?)
    };
    Ok(OfArchive { listing, own })
}

/// Reads the copy of a repository in a folder. `now` is in seconds since 1970; goes on while `go_on` says so.
pub fn repository(
    folder: &Path,
    limits: git::Limits,
    now: i64,
    go_on: &dyn Fn() -> bool,
) -> Result<OfRepository, Unread> {
    let repository = Repository::open(folder, limits)?;
    let (files, history) = codebases::repository(&repository, limits, now, go_on)?;
    Ok(OfRepository { commit_sha: repository.commit_sha(), files, history })
}
