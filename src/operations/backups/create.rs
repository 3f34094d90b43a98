//! Creates a backup, or brings an earlier one up to date.

use std::{fs::File, io::Write, path::Path};

use super::{
    copied::Copied,
    free_space::ensure_free,
    last::LastBackup,
    lock::lock_place,
    manifest::{MANIFEST_FILE, Manifest, RepositoryEntry, UploadEntry},
    objects::Objects,
    place::Place,
    repository_files::{self, KnownFiles},
    snapshots,
    source::BackupSource,
    state::{MarketState, Replace},
};
use crate::{
    blobs::{self, Blobs, StoredFile},
    domain::{backup_retention::Retention, time::Timestamp},
    error::{Error, ErrorChain, Result},
    operations::uploads,
    search::Progress,
    store,
};

/// Bytes of the database in one object. A backup over an earlier one writes the parts of this size that
/// differ.
const DATABASE_PART_BYTES: usize = 256 << 10;

/// Number of attempts to read a repository copy that another process keeps replacing.
const MAX_ATTEMPTS: usize = 3;

/// What the database refers to at the time of the backup.
struct Snapshot {
    manifest: Manifest,
    uploads: Vec<store::uploads::RecordedUpload>,
    repositories: Vec<(uuid::Uuid, Timestamp)>,
    bundle_files: Vec<StoredFile>,
}

/// Which backups a new one replaces.
#[derive(Clone, Copy, Debug)]
pub struct BackupOptions<'a> {
    /// Which backup of the same market the newest one may be.
    pub replace: Replace,
    /// Which dated backups are kept; the new backup is one of them. Without a rule, the new backup replaces the newest
    /// one, and dated backups are kept.
    pub keep: Option<&'a Retention>,
}

/// Backs up a market to a place that is empty, does not exist, or contains an earlier backup of the same
/// market, which stays complete until the new one replaces it. Uploads that are damaged in the market are
/// reported in [`Copied::problems`] and left out. `progress` counts bytes.
pub fn create(
    source: &BackupSource,
    place: &Place,
    options: BackupOptions,
    progress: &dyn Progress,
) -> Result<Copied> {
    source.store.read(MarketState::read)?;
    let _lock = lock_place(place, &source.directory)?;
    let earlier = match Manifest::read(place, MANIFEST_FILE)? {
        // The dated ones must be of this market, too.
        None => snapshots::newest_dated(place, options.replace)?,
        newest => newest,
    };
    let mut objects = Objects::to_extend(place)?;
    // Taken before the snapshot, so that every repository copy in the snapshot exists until it is copied.
    let _hold = source.blobs.hold_files().map_err(|cause| {
        Error::Conflict(format!(
            "cannot lock the copies of repositories: {cause}; run `marketplace backup` as the user that runs the server"
        ))
    })?;
    let Snapshot { mut manifest, uploads, repositories, bundle_files } = source.store.read(|rows| {
        let state = MarketState::read(rows)?;
        if let Some(earlier) = &earlier {
            state.ensure_replaces(&earlier.state, place, &earlier.created_at, options.replace)?;
        }
        if let Place::Directory(directory) = place {
            ensure_space(rows, directory, &objects, earlier.is_some())?;
        }
        copy_database(rows, Manifest::new(state, source.now.to_string()), &mut objects, progress)
    })?;
    let mut problems = Vec::new();
    copy_uploads(&source.blobs, uploads, &mut objects, &mut manifest, &mut problems, progress)?;
    copy_bundle_files(&source.blobs, bundle_files, &mut objects, &mut manifest, &mut problems)?;
    let known = earlier.as_ref().map(repository_files::known_files).unwrap_or_default();
    for (asset, attached_at) in repositories {
        manifest.repositories.extend(copy_repository(
            &source.blobs,
            asset,
            attached_at,
            &known,
            &mut objects,
        )?);
    }
    source.ensure_unchanged()?;
    place.sync().map_err(Error::internal)?;
    let (kept, deleted) = complete(place, &manifest, earlier.as_ref(), options.keep, &objects)?;
    let copied = Copied {
        made_at: source.now,
        kept,
        deleted,
        uploads: manifest.uploads.len() as u64,
        repositories: manifest.repositories.len() as u64,
        total_bytes: manifest.total_bytes(),
        new_bytes: objects.new_bytes,
        repaired: objects.repaired,
        problems,
    };
    if let Err(cause) = LastBackup::leave(&source.directory, source.now, &copied) {
        // Simulates a process that may only read the market.
        tracing::warn!(cause = %ErrorChain(&cause), "the data directory cannot say when it was backed up");
    }
    Ok(copied)
}

/// Writes the manifest, which completes the backup, and deletes files that are not needed any more. Returns how many
/// dated backups are kept, and how many were deleted.
fn complete(
    place: &Place,
    manifest: &Manifest,
    earlier: Option<&Manifest>,
    keep: Option<&Retention>,
    objects: &Objects,
) -> Result<(u64, u64)> {
    if keep.is_some() {
        snapshots::date(place, earlier, manifest)?;
    }
    manifest.write(place, MANIFEST_FILE)?;
    // The backup is complete even if files cannot be deleted. The next backup tries again.
    let counts = snapshots::delete_others(place, keep).unwrap_or_else(|cause| {
        tracing::warn!(cause = %ErrorChain(&cause), "the dated backups could not be listed, so none was deleted");
        (0, 0)
    });
    if let Err(cause) = snapshots::delete_superfluous(place, manifest, objects) {
        tracing::warn!(cause = %ErrorChain(&cause), "objects that no backup needs could not be deleted");
    }
    Ok(counts)
}

/// Copies the uploads of the snapshot. An upload that cannot be copied is reported as a problem.
fn copy_uploads(
    blobs: &Blobs,
    uploads: Vec<store::uploads::RecordedUpload>,
    objects: &mut Objects,
    manifest: &mut Manifest,
    problems: &mut Vec<String>,
    progress: &dyn Progress,
) -> Result<()> {
    let upload_bytes: u64 = uploads.iter().map(|upload| upload.size_bytes).sum();
    let mut done = manifest.total_bytes();
    let total = done + upload_bytes;
    for upload in uploads {
        match copy_upload(blobs, &upload, objects)? {
            Ok(object) => manifest.uploads.push(UploadEntry { id: upload.id, object }),
            Err(problem) => problems.push(problem),
        }
        done += upload.size_bytes;
        progress.advance(done, total);
    }
    Ok(())
}

/// Checks that the disk of the backup has space for what will certainly be written: uploads and files of
/// bundles that the backup does not have, and the database of the first backup.
fn ensure_space(rows: &store::Reader, directory: &Path, objects: &Objects, has_earlier: bool) -> Result<()> {
    let mut required = if has_earlier { 0 } else { store::snapshots::size_bytes(rows)? };
    let uploads = store::uploads::list(rows)?.into_iter().map(|upload| (upload.size_bytes, upload.sha256));
    let bundle_files =
        store::bundles::list_files(rows)?.into_iter().map(|file| (file.size_bytes, file.sha256));
    for (size_bytes, sha256) in uploads.chain(bundle_files) {
        if !objects.has_file(&StoredFile { size_bytes, sha256 }) {
            required = required.saturating_add(size_bytes);
        }
    }
    ensure_free(directory, required)
}

/// Copies the database as of one transaction, and lists what it refers to.
fn copy_database(
    rows: &store::Reader,
    mut manifest: Manifest,
    objects: &mut Objects,
    progress: &dyn Progress,
) -> Result<Snapshot> {
    let uploads = store::uploads::list(rows)?;
    let mut repositories = store::assets::list_repositories(rows)?;
    repositories.extend(store::bundles::list_repositories(rows)?);
    repositories.sort_unstable();
    repositories.dedup();
    let bundle_files = store::bundles::list_files(rows)?.into_iter();
    let bundle_files =
        bundle_files.map(|file| StoredFile { size_bytes: file.size_bytes, sha256: file.sha256 }).collect();
    let upload_bytes: u64 = uploads.iter().map(|upload| upload.size_bytes).sum();
    let database_bytes = store::snapshots::size_bytes(rows)?;
    let (mut part, mut done) = (Vec::with_capacity(DATABASE_PART_BYTES), 0);
    store::snapshots::for_each_page(rows, |page| {
        part.extend_from_slice(page);
        if part.len() >= DATABASE_PART_BYTES {
            manifest.database.push(objects.put_bytes(&part)?);
            done += part.len() as u64;
            part.clear();
            progress.advance(done, database_bytes + upload_bytes);
        }
        Ok(())
    })?;
    if !part.is_empty() {
        manifest.database.push(objects.put_bytes(&part)?);
    }
    if manifest.total_bytes() != database_bytes {
        return Err(Error::internal("the database could not be read completely"));
    }
    Ok(Snapshot { manifest, uploads, repositories, bundle_files })
}

/// Copies an upload that the backup does not have yet. The inner error is a description of damage in the
/// market.
fn copy_upload(
    blobs: &Blobs,
    upload: &store::uploads::RecordedUpload,
    objects: &mut Objects,
) -> Result<std::result::Result<StoredFile, String>> {
    // Uploads never change, so an upload that is in an earlier backup is not read again.
    let recorded = StoredFile { size_bytes: upload.size_bytes, sha256: upload.sha256.clone() };
    if objects.contains(&recorded) {
        return Ok(Ok(recorded));
    }
    let read = objects.put(|to| blobs.copy_upload(upload.id, to), Some(&recorded))?;
    Ok(match uploads::find_damage(blobs, upload, read) {
        None => Ok(recorded),
        Some(damage) => Err(damage),
    })
}

/// Copies the files of bundles that the backup does not have yet. Files that are damaged in the market are reported and left
/// out.
fn copy_bundle_files(
    blobs: &Blobs,
    files: Vec<StoredFile>,
    objects: &mut Objects,
    manifest: &mut Manifest,
    problems: &mut Vec<String>,
) -> Result<()> {
    for recorded in files {
        if !objects.contains(&recorded) {
            let path = blobs.bundle_file_path(&recorded.sha256);
            let copy = |to: &mut (dyn Write + Send)| blobs::copy_and_hash(&mut File::open(&path)?, to);
            let read = objects.put(copy, Some(&recorded))?;
            if let Some(damage) = uploads::find_bundle_damage(&recorded, read) {
                problems.push(damage);
                continue;
            }
        }
        manifest.bundle_files.push(recorded);
    }
    Ok(())
}

/// Copies a repository copy, if there is one.
fn copy_repository(
    blobs: &Blobs,
    asset: uuid::Uuid,
    attached_at: Timestamp,
    known: &KnownFiles,
    objects: &mut Objects,
) -> Result<Option<RepositoryEntry>> {
    let directory = blobs.repository_path(asset, attached_at);
    let mut attempt = 1;
    loop {
        match repository_files::copy(&directory, asset, attached_at, known, objects) {
            // Another process may have replaced the copy by a newer one.
            Err(_) if attempt < MAX_ATTEMPTS => attempt += 1,
            other => return other,
        }
    }
}
