//! Copies of data directories. Files that never change are shared by hard links, and the others are copied.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use crate::{
    market::{DATABASE_FILE, SERVE_LOCK_FILE, SOCKET_FILE},
    private_files,
};

/// Extensions of files that are changed in place: lists of the index's files, and locks.
const CHANGED_EXTENSIONS: [&str; 2] = ["json", "lock"];

/// Directories with files that are still being written.
const UNFINISHED_DIRECTORIES: [&str; 1] = ["staged"];

/// Copies the data directory of a market that is not open, or that nobody writes to, and whose write-ahead log is empty.
/// The target must not exist. Nothing that a market writes to one directory is visible in the other.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    private_files::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, source, target) = (entry.file_name(), entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_tree(&source, &target)?;
        } else if name == DATABASE_FILE {
            // A database is written in place. Some file systems share its blocks until then.
            fs::copy(&source, &target)?;
        } else if !is_of_one_process(&name.to_string_lossy()) {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

/// Whether a file belongs to the process that has the market open.
fn is_of_one_process(name: &str) -> bool {
    [SERVE_LOCK_FILE, SOCKET_FILE].contains(&name) || name.starts_with(&format!("{DATABASE_FILE}-"))
}

/// Copies the index or the files of a market. They are written once, and replaced or deleted as a whole, except for those
/// that are listed above.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    copy_tree_with(from, to, link_or_copy)
}

fn copy_tree_with(from: &Path, to: &Path, share: fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    private_files::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            let is_unfinished = UNFINISHED_DIRECTORIES.iter().any(|name| entry.file_name() == *name);
            let share =
                if is_unfinished { |from: &Path, to: &Path| fs::copy(from, to).map(drop) } else { share };
            copy_tree_with(&source, &target, share)?;
        } else if is_changed_in_place(&source) {
            fs::copy(&source, &target)?;
        } else {
            share(&source, &target)?;
        }
    }
    Ok(())
}

fn is_changed_in_place(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy());
    extension.is_none_or(|extension| CHANGED_EXTENSIONS.contains(&&*extension))
}

/// Links a file, or copies it where the file system cannot link it.
fn link_or_copy(source: &Path, target: &Path) -> io::Result<()> {
    match fs::hard_link(source, target) {
        Err(cause)
            if matches!(
                cause.kind(),
                ErrorKind::CrossesDevices | ErrorKind::Unsupported | ErrorKind::TooManyLinks
            ) =>
        {
            fs::copy(source, target).map(drop)
        }
        result => result,
    }
}
