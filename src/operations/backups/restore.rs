//! Restores a backup to a new data directory.

use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
};

use super::{
    copied::Copied,
    lock::is_empty,
    manifest::{MANIFEST_FILE, Manifest},
    objects::{Objects, cannot},
    repository_files,
};
use crate::{
    blobs::{Blobs, sync_filesystem},
    config::BlobSettings,
    domain::time::Timestamp,
    error::{Error, Result},
    market::{self, OpenError, RESTORE_MARKER, ServeLock},
    private_files,
    search::Progress,
};

/// Restores the backup in `source` to a data directory that is empty or does not exist. Checks the digest of
/// every file. Uploads go to the store that the settings choose. If this fails, the directory is as it was; no
/// market can be opened there before it succeeds. `progress` counts bytes.
pub fn restore(
    source: &Path,
    directory: &Path,
    settings: &BlobSettings,
    progress: &dyn Progress,
) -> Result<Copied> {
    let manifest = Manifest::read(source)?.ok_or_else(|| {
        Error::Conflict(format!(
            "{} contains no complete backup: there is no {MANIFEST_FILE}; name the directory that \
             `marketplace backup` wrote to",
            source.display()
        ))
    })?;
    let target = Target::claim(directory)?;
    let restored = copy_all(&manifest, source, directory, settings, progress);
    match restored {
        Ok(()) => target.release()?,
        Err(error) => {
            target.clear();
            return Err(error);
        }
    }
    Ok(Copied {
        uploads: manifest.uploads.len() as u64,
        repositories: manifest.repositories.len() as u64,
        total_bytes: manifest.total_bytes(),
        new_bytes: manifest.total_bytes(),
        problems: Vec::new(),
    })
}

fn copy_all(
    manifest: &Manifest,
    source: &Path,
    directory: &Path,
    settings: &BlobSettings,
    progress: &dyn Progress,
) -> Result<()> {
    let (objects, total) = (Objects::new(source), manifest.total_bytes());
    let blobs = Blobs::open(directory, settings).map_err(Error::internal)?;
    let mut done = 0;
    let mut advance = |bytes: u64| {
        done += bytes;
        progress.advance(done, total);
    };
    let path = directory.join(market::DATABASE_FILE);
    let mut database = private_files::create(&path).map_err(cannot("write", &path))?;
    for part in &manifest.database {
        objects.read(part, &mut database)?;
        advance(part.size_bytes);
    }
    for upload in &manifest.uploads {
        restore_upload(upload.id, &upload.object, &objects, &blobs)?;
        advance(upload.object.size_bytes);
    }
    for entry in &manifest.repositories {
        let staging = blobs.staging_dir().map_err(cannot("write", directory))?;
        let copy = staging.path().join("copy");
        repository_files::restore(entry, &objects, &copy)?;
        let stored = blobs.store_repository(&copy, entry.asset, Timestamp(entry.attached_at));
        stored.map_err(cannot("write", directory))?;
        advance(entry.files.iter().map(|file| file.object.size_bytes).sum());
    }
    sync_filesystem(directory).map_err(cannot("write", directory))
}

/// Restores an upload, unless the store has it already, as an S3-compatible store may.
fn restore_upload(
    id: uuid::Uuid,
    object: &crate::blobs::StoredFile,
    objects: &Objects,
    blobs: &Blobs,
) -> Result<()> {
    let failed = |cause| Error::Conflict(format!("cannot store upload {id}: {cause}"));
    if blobs.has_upload(id).map_err(failed)? {
        return Ok(());
    }
    let path = objects.path(object);
    let mut file = fs::File::open(&path).map_err(cannot("read", &path))?;
    if blobs.put_upload(id, &mut file).map_err(failed)? == *object {
        return Ok(());
    }
    blobs.remove_upload(id).map_err(failed)?;
    Err(Error::Conflict(format!("{} is damaged: its contents differ from its digest", path.display())))
}

/// A data directory that is being restored.
struct Target<'a> {
    directory: &'a Path,
    is_new: bool,
    lock: ServeLock,
}

impl Target<'_> {
    /// Locks a directory, and marks it, so that no market is opened there. Fails if it is in use or not empty.
    fn claim(directory: &Path) -> Result<Target<'_>> {
        let is_new = !directory.exists();
        private_files::create_dir_all(directory).map_err(cannot("create", directory))?;
        let is_empty = is_empty(directory).map_err(cannot("read", directory))?;
        // A server that is running has locked its directory, which is not empty then.
        let lock = (is_empty || directory.join("serve.lock").exists())
            .then(|| ServeLock::acquire(directory))
            .transpose()
            .map_err(|error| match error {
                OpenError::AlreadyServed(_) => Error::Conflict(format!(
                    "{} is in use by another process; choose another directory with --data",
                    directory.display()
                )),
                other => Error::Conflict(other.to_string()),
            })?;
        let Some(lock) = lock.filter(|_| is_empty) else {
            return Err(Error::Conflict(format!(
                "{} is not empty; a backup is restored only to an empty directory, so choose another one with --data",
                directory.display()
            )));
        };
        let marker = directory.join(RESTORE_MARKER);
        private_files::create(&marker).map_err(cannot("write", &marker))?;
        Ok(Target { directory, is_new, lock })
    }

    /// Lets the market be opened.
    fn release(self) -> Result<()> {
        let release = || {
            fs::remove_file(self.directory.join(RESTORE_MARKER))?;
            OpenOptions::new().read(true).open(self.directory)?.sync_all()
        };
        release().map_err(cannot("write", self.directory))
    }

    /// Deletes what was restored. What cannot be deleted stays marked.
    fn clear(self) {
        let delete = || -> io::Result<()> {
            for name in ["blobs", market::DATABASE_FILE, "serve.lock", RESTORE_MARKER] {
                let path = self.directory.join(name);
                let deleted = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
                match deleted {
                    Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
                    _ => {}
                }
            }
            if self.is_new { fs::remove_dir(self.directory) } else { Ok(()) }
        };
        if let Err(cause) = delete() {
            tracing::warn!(%cause, "the incomplete data directory could not be deleted");
        }
        drop(self.lock);
    }
}
