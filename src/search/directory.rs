//! The directory of the index: one subdirectory per index, and a file that contains the name of the current
//! one. The file is replaced by a rename, so a rebuilt index is swapped in atomically, even while another
//! process serves.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use marketplace_index::{Error as IndexError, Index, Snapshot, Writer};
use uuid::Uuid;

use super::indexer::{Indexer, Progress};
use crate::{
    error::{Error, ErrorChain, Result},
    private_files,
};

/// Memory and threads of the index writer.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Memory budget in bytes, for all threads together.
    pub memory_bytes: usize,
    /// Number of threads.
    pub threads: usize,
}

impl WriterOptions {
    /// Opens the writer of an index.
    pub fn open(self, index: &Index) -> std::result::Result<Writer, IndexError> {
        index.writer(self.memory_bytes, self.threads)
    }
}

/// Name of the file that contains the name of the current index.
const CURRENT_FILE: &str = "CURRENT";

/// An index that was swapped in, but is not used by this process yet.
pub struct NewerIndex {
    name: String,
    /// The index.
    pub index: Index,
}

/// The index of a market, as this process currently has it open.
pub struct IndexDirectory {
    path: PathBuf,
    current: ArcSwap<OpenedIndex>,
}

/// An index that this process uses until another one is swapped in.
pub struct OpenedIndex {
    name: String,
    /// `None` if the index cannot be opened, which only [`IndexDirectory::open_for_inspection`] accepts.
    index: Option<Index>,
    /// Whether it is damaged, and therefore no longer searched.
    has_failed: AtomicBool,
}

impl OpenedIndex {
    fn new((name, index): (String, Index)) -> OpenedIndex {
        OpenedIndex { name, index: Some(index), has_failed: AtomicBool::new(false) }
    }

    /// Returns the current snapshot; an empty one if the index cannot be opened.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.index.as_ref().map_or_else(|| Arc::new(Snapshot::empty()), Index::snapshot)
    }

    /// Whether the index is damaged, so that it must not be searched.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Records that the index is damaged, until another one is swapped in.
    pub fn mark_failed(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Returns the damaged files of the index, or reports the index as a whole. Reads all of its files.
    pub fn find_damage(&self) -> Vec<String> {
        match &self.index {
            Some(index) => index.find_damage().unwrap_or_else(|cause| vec![cause.to_string()]),
            None => vec!["the index cannot be opened".to_owned()],
        }
    }
}

impl IndexDirectory {
    /// Opens the current index. It may have an older schema version. If it is missing, corrupt or has a
    /// schema version that cannot be used, it is replaced by an empty one, which is then filled from the
    /// queue. No data is lost, since the index is derived from the database.
    pub fn open(path: &Path) -> Result<IndexDirectory> {
        private_files::create_dir_all(path).map_err(|error| directory_error(path, error))?;
        let opened = match read_current(path)? {
            Some(name) => match Index::open(&path.join(&name)) {
                Ok(index) => (name, index),
                // Meanwhile, another process has swapped in another index and deleted this one.
                Err(_) if read_current(path)?.is_some_and(|current| current != name) => {
                    return IndexDirectory::open(path);
                }
                Err(
                    cause
                    @ (IndexError::Missing | IndexError::Corrupt(_) | IndexError::SchemaMismatch { .. }),
                ) => {
                    tracing::warn!(%cause, "search index is unusable; rebuilding it from the database");
                    create_index(path)?
                }
                Err(other) => return Err(other.into()),
            },
            None => {
                tracing::info!("no search index yet; building it from the database");
                create_index(path)?
            }
        };
        Ok(IndexDirectory::of(path, OpenedIndex::new(opened)))
    }

    fn of(path: &Path, current: OpenedIndex) -> IndexDirectory {
        IndexDirectory { path: path.to_owned(), current: ArcSwap::from_pointee(current) }
    }

    /// If the current index has changes that the database lacks, replaces it by an empty one, which is then
    /// filled from the queue. After a failure of the machine, the database may have lost the last transactions of
    /// a bulk write; later changes would get the same numbers.
    pub fn discard_if_ahead(&self, latest_change: impl FnOnce() -> Result<u64>) -> Result<()> {
        // Read before the number of the database, which increases first.
        let indexed = self.opened().snapshot().change();
        if indexed > latest_change()? {
            tracing::warn!("the search index has changes that the database lacks; rebuilding it");
            self.current.store(Arc::new(OpenedIndex::new(create_index(&self.path)?)));
        }
        Ok(())
    }

    /// Opens the current index without changing anything. Returns an error if the index is unusable.
    pub fn open_existing(path: &Path) -> Result<IndexDirectory> {
        let missing = || {
            Error::internal(format!(
                "there is no search index in {}; create one with `marketplace reindex`",
                path.display()
            ))
        };
        let name = read_current(path)?.ok_or_else(missing)?;
        let index = Index::open(&path.join(&name))?;
        Ok(IndexDirectory::of(path, OpenedIndex::new((name, index))))
    }

    /// Like [`IndexDirectory::open_existing`], but an unusable index is treated as failed.
    pub fn open_for_inspection(path: &Path) -> IndexDirectory {
        IndexDirectory::open_existing(path).unwrap_or_else(|_| {
            let unusable =
                OpenedIndex { name: String::new(), index: None, has_failed: AtomicBool::new(true) };
            IndexDirectory::of(path, unusable)
        })
    }

    /// Returns the problems with the files of the current index. Reads all of them, and changes nothing.
    pub fn find_damage(&self) -> Vec<String> {
        let name = match read_current(&self.path) {
            Ok(Some(name)) => name,
            Ok(None) => return vec![format!("there is no search index in {}", self.path.display())],
            Err(cause) => return vec![ErrorChain(&cause).to_string()],
        };
        let describe = |found: Vec<String>| {
            let file = |damage: String| format!("the file {}/{damage}", self.path.join(&name).display());
            found.into_iter().map(file).collect()
        };
        match marketplace_index::find_damage(&self.path.join(&name)) {
            // Meanwhile, another process may have swapped in another index and deleted this one.
            _ if read_current(&self.path).is_ok_and(|now| now.is_some_and(|now| now != name)) => {
                self.find_damage()
            }
            Ok(found) if !found.is_empty() => describe(found),
            Ok(_) => match Index::open(&self.path.join(&name)) {
                Ok(_) => Vec::new(),
                Err(cause) => vec![format!("the search index cannot be used: {cause}")],
            },
            Err(cause) => vec![format!("the search index cannot be used: {cause}")],
        }
    }

    /// Opens a copy of a directory for a market that nothing else uses; see [`Index::open_copy`].
    pub fn open_copy(path: &Path, original: &IndexDirectory) -> Result<IndexDirectory> {
        let name = original.opened().name.clone();
        let index = Index::open_copy(&path.join(&name), &original.index()?)?;
        Ok(IndexDirectory::of(path, OpenedIndex::new((name, index))))
    }

    /// Returns the current index, as this process has it open.
    pub fn opened(&self) -> Arc<OpenedIndex> {
        self.current.load_full()
    }

    /// Returns the current index. Fails if it cannot be opened.
    pub fn index(&self) -> Result<Index> {
        let index = self.current.load().index.clone();
        index.ok_or_else(|| Error::internal("there is no search index that can be used"))
    }

    /// Whether another process swapped in an index that this process has not opened yet.
    pub fn has_newer_index(&self) -> Result<bool> {
        Ok(read_current(&self.path)?.is_some_and(|name| name != self.current.load().name))
    }

    /// Opens the index that was swapped in, by this or another process, without using it yet. Returns `None`
    /// if there was none.
    pub fn open_newer(&self) -> Result<Option<NewerIndex>> {
        match read_current(&self.path)? {
            Some(name) if name != self.current.load().name => {
                let index = Index::open(&self.path.join(&name))?;
                Ok(Some(NewerIndex { name, index }))
            }
            _ => Ok(None),
        }
    }

    /// Uses a newer index from now on.
    pub fn replace(&self, newer: NewerIndex) {
        self.current.store(Arc::new(OpenedIndex::new((newer.name, newer.index))));
    }

    /// Opens and uses the index that was swapped in. Returns whether there was one.
    pub fn reload(&self) -> Result<bool> {
        let Some(newer) = self.open_newer()? else { return Ok(false) };
        self.replace(newer);
        Ok(true)
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes the directories of indexes that are neither current nor being built. Only the process that
    /// writes the index may call this.
    pub fn remove_stale(&self) {
        let name = self.current.load().name.clone();
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let other = entry.file_name().to_string_lossy().into_owned();
            if !entry.path().is_dir() || other == name {
                continue;
            }
            // An index becomes the current one before its marker is released, so this reads the name only
            // when the marker is locked.
            if let Some(_marker) = BuildMarker::try_lock(&self.path, &other)
                && read_current(&self.path).is_ok_and(|current| current.as_deref() != Some(&other))
            {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Marker file of an index that is being built, which protects the index from cleanup. The builder holds a
/// lock on it. The lock is released when the builder exits for any reason; an unfinished index can then be
/// deleted.
struct BuildMarker {
    path: PathBuf,
    _file: fs::File,
}

impl BuildMarker {
    /// Creates and locks the marker of an index, unless a builder holds the lock.
    fn try_lock(directory: &Path, name: &str) -> Option<BuildMarker> {
        let path = directory.join(format!("{name}.building"));
        let file = private_files::create(&path).ok()?;
        file.try_lock().ok()?;
        Some(BuildMarker { path, _file: file })
    }
}

impl Drop for BuildMarker {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Builds a new index next to the current one and swaps it in. Meanwhile, this or another process may serve
/// and write. It opens the new index and applies the changes made since the build started. If the build is
/// canceled, nothing is swapped in.
pub fn rebuild_index(
    path: &Path,
    indexer: &Indexer,
    options: WriterOptions,
    progress: &dyn Progress,
) -> Result<u64> {
    // Somebody may have deleted the directory.
    private_files::create_dir_all(path).map_err(|error| directory_error(path, error))?;
    let name = Uuid::new_v4().simple().to_string();
    let marker = BuildMarker::try_lock(path, &name)
        .ok_or_else(|| Error::internal(format!("cannot write to the directory {}", path.display())))?;
    let index = Index::create(&path.join(&name))?;
    let mut writer = options.open(&index)?;
    let count = indexer.drain(&mut writer, progress)?;
    if progress.is_canceled() {
        drop(writer);
        let _ = fs::remove_dir_all(path.join(&name));
        return Ok(count);
    }
    writer.finish()?;
    write_current(path, &name)?;
    drop(marker);
    Ok(count)
}

fn create_index(path: &Path) -> Result<(String, Index)> {
    let name = Uuid::new_v4().simple().to_string();
    let index = Index::create(&path.join(&name))?;
    write_current(path, &name)?;
    Ok((name, index))
}

fn read_current(path: &Path) -> Result<Option<String>> {
    match private_files::if_found(fs::read_to_string(path.join(CURRENT_FILE))) {
        // A name is a UUID. Reject anything else, so that the file cannot point to another directory.
        Ok(Some(name)) if Uuid::try_parse(name.trim()).is_ok() => Ok(Some(name.trim().to_owned())),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(directory_error(path, error)),
    }
}

fn write_current(path: &Path, name: &str) -> Result<()> {
    let temporary = path.join(format!("{CURRENT_FILE}.{name}"));
    let write = || -> io::Result<()> {
        let mut file = private_files::create(&temporary)?;
        io::Write::write_all(&mut file, name.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path.join(CURRENT_FILE))?;
        fs::File::open(path)?.sync_all()
    };
    write().map_err(|error| directory_error(path, error))
}

fn directory_error(path: &Path, error: io::Error) -> Error {
    Error::internal_with_source(format!("cannot use the directory {}", path.display()), error)
}
