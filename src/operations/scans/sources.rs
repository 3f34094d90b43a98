//! Detects whether the path that is scanned is a repository, a zip, or other files.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    artifacts::{ReadError, Rejection, contents::quoted, datasets, git},
    regular_files,
    string_enum::string_enum,
};

/// Number of bytes that tell a bundle from other files.
const START_BYTES: u64 = 16;

string_enum! {
    /// What was scanned.
    SourceKind {
        /// The newest commit of a Git repository, and its history.
        Repository = "repository",
        /// A zip.
        Archive = "archive",
        /// Files that are in neither, and are packed first.
        Files = "files",
    }
}

/// Data to scan, by its absolute path.
#[derive(Debug)]
pub(super) enum Source {
    /// A repository, bare or with a worktree, or a bundle.
    Repository(PathBuf),
    /// A zip, or a file in another format, which the reader of zips rejects.
    Archive(PathBuf),
    /// A directory, or a file with a table.
    Files(PathBuf),
}

impl Source {
    /// Returns the kind.
    pub(super) const fn kind(&self) -> SourceKind {
        match self {
            Source::Repository(_) => SourceKind::Repository,
            Source::Archive(_) => SourceKind::Archive,
            Source::Files(_) => SourceKind::Files,
        }
    }
}

/// Finds out what is at a path.
pub(super) fn find(path: &Path) -> Result<Source, ReadError> {
    let shown = quoted(&path.to_string_lossy());
    let metadata = match fs::metadata(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            let advice = if path.to_string_lossy().contains("://") {
                "A scan uses no network: clone the repository, and scan the clone."
            } else {
                "Check the path."
            };
            return Err(Rejection(format!("There is no file or directory {shown}. {advice}")).into());
        }
        Err(cause) => return Err(unreadable(&shown, &cause)),
        Ok(metadata) => metadata,
    };
    let absolute = fs::canonicalize(path).map_err(|cause| unreadable(&shown, &cause))?;
    if metadata.is_dir() {
        if !git::is_repository(&absolute) {
            return Ok(Source::Files(absolute));
        }
        if ["shallow", ".git/shallow"].iter().any(|file| absolute.join(file).is_file()) {
            let message = "The repository is a shallow clone, which lacks the beginning of its history. Fetch it with `git fetch \
                           --unshallow`.";
            return Err(Rejection(message.to_owned()).into());
        }
        return Ok(Source::Repository(absolute));
    }
    let mut start = Vec::new();
    regular_files::open(&absolute, u64::MAX)
        .and_then(|file| file.take(START_BYTES).read_to_end(&mut start))
        .map_err(|cause| unreadable(&shown, &cause))?;
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    Ok(if git::bundle::is_bundle(&start) {
        Source::Repository(absolute)
    } else if !start.starts_with(b"PK") && datasets::detect_format(&name).is_some() {
        Source::Files(absolute)
    } else {
        Source::Archive(absolute)
    })
}

fn unreadable(shown: &str, cause: &io::Error) -> ReadError {
    Rejection(format!("{shown} cannot be read: {cause}.")).into()
}
