//! Detects whether the path that is scanned is a repository, a zip, or other files.

use std::{
    fs,
    io::{self, Read, Seek},
    path::{Path, PathBuf},
};

use crate::{
    artifacts::{ReadError, Rejection, archive, contents::quoted, datasets, git},
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
    /// A zip, or an archive in another format, which the reader of zips rejects.
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
    if metadata.is_dir() { find_in_directory(absolute) } else { find_in_file(absolute, &shown) }
}

fn find_in_directory(directory: PathBuf) -> Result<Source, ReadError> {
    if !git::is_repository(&directory) {
        // Its files alone are not what was meant.
        if directory.join(".git").symlink_metadata().is_ok() {
            let message = "The directory has a `.git` that is no Git repository, and refers to none. Check it with `git status`, \
                           or scan a copy of the directory without it.";
            return Err(Rejection(message.to_owned()).into());
        }
        return Ok(Source::Files(directory));
    }
    if ["shallow", ".git/shallow"].iter().any(|file| directory.join(file).is_file()) {
        let message = "The repository is a shallow clone, which lacks the beginning of its history. Fetch it with `git fetch \
                       --unshallow`.";
        return Err(Rejection(message.to_owned()).into());
    }
    Ok(Source::Repository(directory))
}

fn find_in_file(path: PathBuf, shown: &str) -> Result<Source, ReadError> {
    let unreadable = |cause: io::Error| unreadable(shown, &cause);
    let mut file = regular_files::open(&path, u64::MAX).map_err(unreadable)?;
    let mut start = Vec::new();
    file.by_ref().take(START_BYTES).read_to_end(&mut start).map_err(unreadable)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if git::bundle::is_bundle(&start) {
        return Ok(Source::Repository(path));
    }
    if !start.starts_with(b"PK") && datasets::detect_format(&name).is_some() {
        return Ok(Source::Files(path));
    }
    file.rewind().map_err(unreadable)?;
    let is_named_zip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
    if !is_named_zip && !archive::looks_like_archive(&mut file).map_err(unreadable)? {
        return Err(Rejection(format!(
            "{shown} is neither a Git repository or a bundle of one, nor a directory, a zip, or a table (CSV, TSV, JSON Lines, \
             Parquet). To scan it with other files, scan their directory."
        ))
        .into());
    }
    Ok(Source::Archive(path))
}

fn unreadable(shown: &str, cause: &io::Error) -> ReadError {
    Rejection(format!("{shown} cannot be read: {cause}.")).into()
}
