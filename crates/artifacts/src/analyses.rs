//! The results of analyzing a ZIP archive or a copied repository, as one serializable value.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    Limits, ReadError, archive, codebases,
    datasets::{self, Dataset},
    git::{self, History, Repository},
};

/// Analysis of a ZIP archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchiveAnalysis {
    /// Summary of the archive from its central directory and README.
    pub listing: archive::ArchiveSummary,
    /// Analysis that depends on the kind of the asset.
    pub own: AnalysisByKind,
}

/// Part of the analysis of a ZIP archive that depends on the kind of the asset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisByKind {
    /// Analysis of source code.
    Codebase(codebases::CodebaseAnalysis),
    /// Analysis of the dataset, if the archive contains one.
    RawData(Option<Dataset>),
}

/// Analysis of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryAnalysis {
    /// SHA of the commit that was analyzed, in hexadecimal.
    pub commit_sha: String,
    /// Analysis of the files of that commit.
    pub files: codebases::CodebaseAnalysis,
    /// Summary of the commits that led to it.
    pub history: History,
}

/// Analyzes the ZIP archive at a path, for as long as `should_continue` returns true.
pub fn analyze_archive(
    path: &Path,
    is_codebase: bool,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<ArchiveAnalysis, ReadError> {
    let listing = archive::read_summary(path, limits, should_continue)?;
    let own = if is_codebase {
        AnalysisByKind::Codebase(codebases::analyze_zip(
            path,
            listing.root.as_deref(),
            limits,
            should_continue,
        )?)
    } else {
        AnalysisByKind::RawData(datasets::describe_zip(path, limits, should_continue)?)
    };
    Ok(ArchiveAnalysis { listing, own })
}

/// Analyzes the copy of a repository in a directory, for as long as `should_continue` returns true.
/// `now_secs` is in Unix seconds.
pub fn analyze_repository(
    directory: &Path,
    limits: git::Limits,
    now_secs: i64,
    should_continue: &dyn Fn() -> bool,
) -> Result<RepositoryAnalysis, ReadError> {
    let repository = Repository::open(directory, limits)?;
    let (files, history) = codebases::analyze_repository(&repository, limits, now_secs, should_continue)?;
    Ok(RepositoryAnalysis { commit_sha: repository.commit_sha(), files, history })
}
