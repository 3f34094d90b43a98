//! Files of backups: opening and creating them, and errors that name them.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use crate::{error::Error, private_files};

/// Opens a file of a backup to read it. Fails for links, pipes, and devices.
pub(super) fn open_regular_file(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    File::open(path)
}

/// Creates a file of a backup, and replaces one that an interrupted backup left. Never writes through a link.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    private_files::remove_if_exists(path)?;
    private_files::open_options().write(true).create_new(true).open(path)
}

/// Returns a function that converts the cause of a failure to do something with a file.
pub(super) fn cannot(verb: &str, path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let failure = format!("cannot {verb} {}", path.display());
    move |cause| Error::Conflict(format!("{failure}: {cause}"))
}
