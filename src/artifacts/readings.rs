//! Everything that is learned from a ZIP archive or a copied repository, as one serializable value.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    Limits, Unread, archive, codebases,
    datasets::{self, Dataset},
    git::{self, History, Repository},
};

/// Analysis of a ZIP archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfArchive {
    /// Summary of the archive from its central directory and README.
    pub listing: archive::Reading,
    /// Analysis that depends on the kind of the asset.
    pub own: Own,
}

/// Part of the analysis of a ZIP archive that depends on the kind of the asset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Own {
    /// Analysis of source code.
    Codebase(codebases::Reading),
    /// Analysis of the dataset, if the archive contains one.
    RawData(Option<Dataset>),
}

/// Analysis of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfRepository {
    /// SHA of the commit that was analyzed, in hexadecimal.
    pub commit_sha: String,
    /// Analysis of the files of that commit.
    pub files: codebases::Reading,
    /// Summary of the commits that led to it.
    pub history: History,
}

/// Analyzes the ZIP archive at a path, for as long as `go_on` returns true.
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

/// Analyzes the copy of a repository in a directory, for as long as `go_on` returns true. `now` is in Unix
/// seconds.
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
