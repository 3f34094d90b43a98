//! The files of repository copies, as they are copied to a backup and back.

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::Path,
    time::UNIX_EPOCH,
};

use super::{
    files::cannot,
    manifest::{FileEntry, Manifest, RepositoryEntry},
    objects::Objects,
};
use crate::{
    blobs::{self, StoredFile},
    domain::time::Timestamp,
    error::{Error, Result},
    private_files,
};

/// The files of repository copies in an earlier backup, by asset, time of linking, and path.
pub(super) type KnownFiles<'a> = HashMap<(uuid::Uuid, i64, &'a str), &'a FileEntry>;

/// Returns the files in a manifest.
pub(super) fn known_files(manifest: &Manifest) -> KnownFiles<'_> {
    let files = manifest.repositories.iter().flat_map(|repository| {
        let key = |file| (repository.asset, repository.attached_at, file);
        repository.files.iter().map(move |file| (key(file.path.as_str()), file))
    });
    files.collect()
}

/// Copies a repository copy to a backup. Files that an earlier backup has unchanged are not read. `None` if there
/// is no copy, since the repository was not copied yet.
pub(super) fn copy(
    directory: &Path,
    asset: uuid::Uuid,
    attached_at: Timestamp,
    known: &KnownFiles,
    objects: &mut Objects,
) -> Result<Option<RepositoryEntry>> {
    if !directory.is_dir() {
        return Ok(None);
    }
    let (mut directories, mut files) = (Vec::new(), Vec::new());
    list(directory, "", &mut directories, &mut files).map_err(cannot("read", directory))?;
    let mut entry = RepositoryEntry { asset, attached_at: attached_at.0, directories, files: Vec::new() };
    for ListedFile { path, size_bytes, modified } in files {
        let earlier = known.get(&(asset, attached_at.0, path.as_str())).filter(|earlier| {
            let is_unchanged = earlier.object.size_bytes == size_bytes && earlier.modified == modified;
            is_unchanged && objects.contains(&earlier.object)
        });
        let object = match earlier {
            Some(earlier) => earlier.object.clone(),
            None => put_file(&directory.join(&path), objects)?,
        };
        entry.files.push(FileEntry { path, modified, object });
    }
    Ok(Some(entry))
}

fn put_file(path: &Path, objects: &mut Objects) -> Result<StoredFile> {
    let copy = |to: &mut (dyn io::Write + Send)| blobs::copy_and_hash(&mut File::open(path)?, to);
    objects.put(copy, None)?.map_err(cannot("read", path))
}

/// A file to copy.
struct ListedFile {
    path: String,
    size_bytes: u64,
    modified: u64,
}

/// Lists a directory and everything below it. Copies contain only directories and regular files.
fn list(
    directory: &Path,
    prefix: &str,
    directories: &mut Vec<String>,
    files: &mut Vec<ListedFile>,
) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| io::Error::other("a file name is not UTF-8"))?;
        let (path, metadata) = (format!("{prefix}{name}"), entry.metadata()?);
        if metadata.is_dir() {
            directories.push(path.clone());
            list(&entry.path(), &format!("{path}/"), directories, files)?;
        } else if metadata.is_file() {
            let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            let modified = u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX);
            files.push(ListedFile { path, size_bytes: metadata.len(), modified });
        }
    }
    Ok(())
}

/// Creates the files of a repository copy in a new directory.
pub(super) fn restore(entry: &RepositoryEntry, objects: &Objects, to: &Path) -> Result<()> {
    private_files::create_dir_all(to).map_err(cannot("create", to))?;
    for path in &entry.directories {
        private_files::create_dir_all(&to.join(path)).map_err(cannot("create", to))?;
    }
    for FileEntry { path, modified, object } in &entry.files {
        let path = to.join(path);
        let mut file = private_files::create(&path).map_err(cannot("write", &path))?;
        objects.read(object, &mut file)?;
        // The time of the original, so that the next backup need not read the file.
        let modified = UNIX_EPOCH + std::time::Duration::from_nanos(*modified);
        file.set_modified(modified).map_err(Error::internal)?;
    }
    Ok(())
}
