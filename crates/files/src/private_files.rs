//! Files and directories that only the owner of the process can access, regardless of the umask.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, lchown},
    path::{Path, PathBuf},
};

use nix::unistd::{Gid, Uid, setfsgid, setfsuid};
use rustix::{
    process::geteuid,
    thread::{capabilities, set_capabilities},
};

/// Mode of directories.
pub const DIRECTORY_MODE: u32 = 0o700;

/// Mode of files.
pub const FILE_MODE: u32 = 0o600;

/// The directory at the root of a new file system, which counts as empty.
const LOST_AND_FOUND: &str = "lost+found";

/// If the process runs as root, makes this thread and the threads that it starts later create files as the owner of a
/// directory. Otherwise, the owner could not use them. Does nothing if the directory does not exist.
///
/// The process still reaches all files. Programs that it runs create files as root.
pub fn create_as_owner_of(directory: &Path) {
    let Some(owner) = other_owner(directory) else { return };
    let Ok(rights) = capabilities(None) else { return };
    let group = setfsgid(Gid::from_raw(owner.gid()));
    let user = setfsuid(Uid::from_raw(owner.uid()));
    // With the user, the kernel has taken the right to reach all files away.
    if set_capabilities(None, rights).is_err() {
        setfsuid(user);
        setfsgid(group);
    }
}

/// Gives a file that a program of root has created to the owner of its directory, as [`create_as_owner_of`] does.
pub fn give_to_owner_of(directory: &Path, file: &Path) -> io::Result<()> {
    match other_owner(directory) {
        Some(owner) => lchown(file, Some(owner.uid()), Some(owner.gid())),
        None => Ok(()),
    }
}

/// Returns a directory if it belongs to another user than root, and the process runs as root.
fn other_owner(directory: &Path) -> Option<Metadata> {
    let is_other = |metadata: &Metadata| geteuid().is_root() && metadata.uid() != 0;
    fs::metadata(directory).ok().filter(is_other)
}

/// Returns the names of the entries of a directory, except for the directory `lost+found` of a new file system.
pub fn file_names(directory: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(directory)?.map(|entry| io::Result::Ok(entry?.file_name()));
    names.filter(|name| !name.as_ref().is_ok_and(|name| name == LOST_AND_FOUND)).collect()
}

/// Creates a directory, with its parents, if it does not exist.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path).map_err(not_a_directory)
}

/// Says why a directory cannot be created if something else has its name, which the system reports as "File exists".
pub fn not_a_directory(cause: io::Error) -> io::Error {
    let reason = match cause.kind() {
        io::ErrorKind::AlreadyExists => "it exists, and is not a directory",
        io::ErrorKind::NotADirectory => "a part of the path is not a directory",
        _ => return cause,
    };
    io::Error::new(cause.kind(), reason)
}

/// Returns options that create files for the owner only.
pub fn open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

/// Opens a file for writing, and creates or truncates it.
pub fn create(path: &Path) -> io::Result<File> {
    open_options().write(true).create(true).truncate(true).open(path)
}

/// Returns what an operation on a file or a directory returned; `None` if it does not exist.
pub fn if_found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Removes a file, unless there is none.
pub fn remove_if_exists(path: &Path) -> io::Result<()> {
    if_found(fs::remove_file(path)).map(drop)
}

/// Removes a directory with everything in it, unless there is none.
pub fn remove_dir_if_exists(path: &Path) -> io::Result<()> {
    if_found(fs::remove_dir_all(path)).map(drop)
}

/// Returns the directory for temporary files. An empty variable TMPDIR, which would mean the working directory, counts as unset.
pub fn parent_of_temporary_files() -> PathBuf {
    let named = std::env::temp_dir();
    if named.as_os_str().is_empty() { PathBuf::from("/tmp") } else { named }
}

/// Creates a temporary directory in `parent`. It is deleted when the value is dropped.
pub fn temp_dir_in(parent: &Path) -> io::Result<tempfile::TempDir> {
    temp_dir_with_prefix(parent, ".tmp")
}

/// Like [`temp_dir_in`], with a name that begins with `prefix`.
pub fn temp_dir_with_prefix(parent: &Path, prefix: &str) -> io::Result<tempfile::TempDir> {
    let mode = Permissions::from_mode(DIRECTORY_MODE);
    tempfile::Builder::new().prefix(prefix).permissions(mode).tempdir_in(parent)
}

/// Restricts a directory and everything in it to the owner, if other users have access to the directory. Returns whether they
/// no longer have access: the directory of a mounted volume may belong to another user, who alone can restrict it.
pub fn repair_tree(directory: &Path) -> io::Result<bool> {
    if is_private(&fs::metadata(directory)?) {
        return Ok(true);
    }
    match restrict_tree(directory) {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// Restricts a directory and everything in it to the owner, except for entries of other users. The directory itself is changed
/// last, so that [`repair_tree`] repeats an interrupted call.
pub fn restrict_tree(directory: &Path) -> io::Result<()> {
    restrict_contents(directory)?;
    fs::set_permissions(directory, Permissions::from_mode(DIRECTORY_MODE))
}

fn restrict_contents(directory: &Path) -> io::Result<()> {
    let user = geteuid();
    let may_change = |metadata: &Metadata| user.is_root() || metadata.uid() == user.as_raw();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        // Symbolic links are not followed: what they refer to is not part of the market.
        let result = fs::symlink_metadata(&path).and_then(|metadata| {
            // Nobody else reaches what is in a private directory.
            if is_private(&metadata) || !may_change(&metadata) {
                Ok(())
            } else if metadata.is_dir() {
                restrict_tree(&path)
            } else if metadata.is_file() {
                fs::set_permissions(&path, Permissions::from_mode(FILE_MODE))
            } else {
                Ok(())
            }
        });
        // Another process may have deleted it.
        if_found(result)?;
    }
    Ok(())
}

/// Whether only the owner has access.
fn is_private(metadata: &Metadata) -> bool {
    matches!(metadata.permissions().mode() & 0o077, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn tree_is_restricted_to_its_owner() {
        let directory = tempfile::tempdir().unwrap();
        let (root, outside) = (directory.path().join("market"), directory.path().join("outside"));
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "x").unwrap();
        fs::write(&outside, "x").unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        for path in [&root, &root.join("a"), &root.join("a/b"), &root.join("a/b/file"), &outside] {
            fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
        }
        assert!(repair_tree(&root).unwrap());
        let modes = ["", "a", "a/b", "a/b/file"].map(|path| mode(&root.join(path)));
        assert_eq!(modes, [0o700, 0o700, 0o700, 0o600]);
        assert_eq!(mode(&outside), 0o777, "the target of a link is not part of the tree");
    }

    #[test]
    fn new_files_are_private() {
        let directory = tempfile::tempdir().unwrap();
        create_dir_all(&directory.path().join("a/b")).unwrap();
        create(&directory.path().join("a/file")).unwrap();
        let temporary = temp_dir_in(directory.path()).unwrap();
        let modes = ["a", "a/b", "a/file"].map(|path| mode(&directory.path().join(path)));
        assert_eq!((modes, mode(temporary.path())), ([0o700, 0o700, 0o600], 0o700));
    }
}
