//! Restores a backup to a new data directory.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use uuid::Uuid;

use super::{
    copied::Copied, data_directory::DataDirectory, files::cannot, free_space::ensure_free,
    lock::lock_for_reading, manifest::Manifest, objects::Objects, place::Place, repository_files, snapshots,
};
use crate::{
    blobs::{Blobs, StoredFile, sync_filesystem},
    clock::Entropy,
    config::BlobSettings,
    domain::time::Timestamp,
    error::{Error, ErrorChain, Result},
    private_files,
    search::Progress,
    store::continuations::{self, Continuation},
};

/// What a backup is restored to.
#[derive(Clone, Copy, Debug)]
pub struct RestoreOptions<'a> {
    /// The data directory, which is empty or does not exist.
    pub directory: &'a Path,
    /// The store of the uploads.
    pub blobs: &'a BlobSettings,
    /// The time of the system.
    pub now: Timestamp,
    /// Source of the secrets that distinguish this copy of the market from others.
    pub entropy: &'a Entropy,
}

/// Restores the newest backup in `source` that was made at a time or before; without one, the newest of all. Checks the digest
/// of every file. A failure leaves the directory unchanged. No market can be opened there before it succeeds. `progress` counts
/// bytes.
pub fn restore(
    source: &Place,
    at: Option<Timestamp>,
    options: RestoreOptions,
    progress: &dyn Progress,
) -> Result<Copied> {
    // Locking a place without a backup would create a file there.
    snapshots::find(source, at)?;
    let _lock = lock_for_reading(source)?;
    let manifest = snapshots::find(source, at)?;
    let target = DataDirectory::claim(options.directory)?;
    let mut restoring = Restoring { manifest: &manifest, objects: Objects::new(source), stored: Vec::new() };
    let restored = restoring.copy_all(&target, options, progress);
    if let Err(error) = restored {
        restoring.remove_stored(options);
        target.clear();
        return Err(error);
    }
    target.release()?;
    Ok(Copied {
        made_at: manifest.made_at().unwrap_or_default(),
        uploads: manifest.uploads.len() as u64,
        repositories: manifest.repositories.len() as u64,
        total_bytes: manifest.total_bytes(),
        new_bytes: manifest.total_bytes(),
        ..Copied::default()
    })
}

/// A restore in progress.
struct Restoring<'a> {
    manifest: &'a Manifest,
    objects: Objects,
    /// The uploads that were stored so far.
    stored: Vec<Uuid>,
}

impl Restoring<'_> {
    fn copy_all(
        &mut self,
        target: &DataDirectory,
        options: RestoreOptions,
        progress: &dyn Progress,
    ) -> Result<()> {
        let (directory, manifest) = (options.directory, self.manifest);
        let blobs = Blobs::open(directory, options.blobs).map_err(Error::internal)?;
        ensure_free(directory, self.required_bytes(&blobs))?;
        let (mut done, total) = (0, manifest.total_bytes());
        let mut advance = |bytes: u64| {
            done += bytes;
            progress.advance(done, total);
        };
        let mut database = target.create_database()?;
        for part in &manifest.database {
            self.objects.read(part, &mut database)?;
            advance(part.size_bytes);
        }
        finish_database(database, target, options)?;
        for upload in &manifest.uploads {
            self.restore_upload(upload.id, &upload.object, &blobs)?;
            advance(upload.object.size_bytes);
        }
        for object in &manifest.bundle_files {
            self.restore_bundle_file(object, &blobs).map_err(cannot("write", directory))??;
            advance(object.size_bytes);
        }
        for entry in &manifest.repositories {
            let staging = blobs.staging_dir().map_err(cannot("write", directory))?;
            let copy = staging.path().join("copy");
            repository_files::restore(entry, &self.objects, &copy)?;
            let stored = blobs.store_repository(&copy, entry.asset, Timestamp(entry.attached_at));
            stored.map_err(cannot("write", directory))?;
            advance(entry.files.iter().map(|file| file.object.size_bytes).sum());
        }
        sync_filesystem(directory).map_err(cannot("write", directory))?;
        target.complete_database()
    }

    /// Returns the size of what is written to the data directory.
    fn required_bytes(&self, blobs: &Blobs) -> u64 {
        let total = self.manifest.total_bytes();
        if blobs.receives_parts() {
            return total;
        }
        let uploads = self.manifest.uploads.iter().map(|upload| upload.object.size_bytes);
        uploads.fold(total, u64::saturating_sub)
    }

    /// Restores an upload, unless the store has it already, as an S3-compatible store may.
    fn restore_upload(&mut self, id: Uuid, object: &StoredFile, blobs: &Blobs) -> Result<()> {
        let failed = |cause| Error::Conflict(format!("cannot store upload {id}: {cause}"));
        if blobs.has_upload(id).map_err(failed)? {
            // Never replaced: another market may use the store, too.
            return if blobs.hash_upload(id).map_err(failed)? == *object {
                Ok(())
            } else {
                Err(Error::Conflict(format!(
                    "the store of uploads has an upload {id} that differs from the one in the backup; delete it \
                     there, or choose another bucket or prefix in [blobs]"
                )))
            };
        }
        let location = self.objects.location(object);
        let mut file = self.objects.open(object).map_err(cannot("read", Path::new(&location)))?;
        self.stored.push(id);
        if blobs.put_upload(id, &mut file).map_err(failed)? == *object {
            return Ok(());
        }
        Err(Error::Conflict(format!("{location} is damaged: its contents differ from its digest")))
    }

    /// Restores a file of bundles. The outer error is that of the data directory.
    fn restore_bundle_file(&self, object: &StoredFile, blobs: &Blobs) -> io::Result<Result<()>> {
        let staging = blobs.staging_dir()?;
        let path = staging.path().join("file");
        if let Err(error) = self.objects.read(object, &mut private_files::create(&path)?) {
            return Ok(Err(error));
        }
        let hold = blobs.hold_files()?;
        blobs.store_bundle_file(&path, &object.sha256, &hold).map(Ok)
    }

    /// Deletes the uploads that were stored outside of the data directory, which is deleted as a whole.
    fn remove_stored(&self, options: RestoreOptions) {
        let Ok(blobs) = Blobs::open(options.directory, options.blobs) else { return };
        if blobs.receives_parts() {
            return;
        }
        for id in &self.stored {
            if let Err(cause) = blobs.remove_upload(*id) {
                let cause = Error::internal(cause);
                tracing::warn!(upload = %id, cause = %ErrorChain(&cause), "a restored upload could not be deleted");
            }
        }
    }
}

/// Makes the restored database independent of the original; see [`continuations`](store::continuations).
fn finish_database(mut database: File, target: &DataDirectory, options: RestoreOptions) -> Result<()> {
    let path = target.incomplete_database();
    database.flush().map_err(cannot("write", &path))?;
    drop(database);
    continuations::prepare(&path, Continuation::Restore, options.now, options.entropy)
}
