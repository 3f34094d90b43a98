//! The search index of the marketplace: listing documents in, row IDs of listings and facets out.
//!
//! This crate knows nothing about HTTP, SQL or the crate that uses it. An [`Index`] is a directory. Its only
//! [`Writer`] commits documents, and every commit creates a new immutable [`Snapshot`], which executes
//! searches. The index is disposable: everything in it was built from another source of truth, and can be
//! rebuilt.

mod columns;
mod contents;
pub mod cursor;
mod doc_bitmap;
pub mod document;
mod durability;
mod edit_distance;
mod engine_writer;
mod error;
mod facet;
mod facets;
mod filters;
mod matches;
mod measure;
mod merge_policy;
mod numeric;
mod occurrence;
mod order;
mod page;
mod panics;
mod phrases;
mod postings;
mod private_directory;
mod query;
mod recent;
mod replaced_listing;
mod schema;
mod search;
mod segment;
mod snapshot;
mod text_analysis;
mod words;
mod writer;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tantivy::directory::{Directory, META_LOCK};
use tantivy::{IndexMeta, IndexSettings};

pub use self::cursor::{CursorKey, InvalidCursor};
pub use self::durability::UNSYNCED_FILE;
pub use self::engine_writer::{ClosingEngine, EngineWriter};
pub use self::error::Error;
pub use self::facet::Facet;
pub use self::facets::Facets;
pub use self::matches::Match;
pub use self::measure::{Measure, PerMeasure};
pub use self::order::{Position, Sort, SortValues};
pub use self::panics::{catch_panics, is_catching_panics};
pub use self::schema::{MAX_LABEL_BYTES, OLDEST_SCHEMA_VERSION, SCHEMA_VERSION};
pub use self::search::{Bounds, Filters, Scope, Search, SearchResults, Start, Totals};
pub use self::snapshot::Snapshot;
pub use self::text_analysis::{MAX_SEARCH_WORDS, MAX_WORD_CHARS, is_blank};
pub use self::writer::Writer;

use self::columns::ColumnsPlugin;
use self::document::ListingRowId;
use self::private_directory::PrivateDirectory;
use self::recent::RecentDocument;
use self::schema::Fields;
use self::text_analysis::Analyzers;

/// File in the directory that contains the schema version.
const VERSION_FILE: &str = "schema-version";

/// File of the search engine that every index has.
const META_FILE: &str = "meta.json";

/// An index in a directory. Cloning is cheap; clones share the index.
#[derive(Clone)]
pub struct Index {
    inner: Arc<Inner>,
}

struct Inner {
    engine: tantivy::Index,
    directory: PrivateDirectory,
    dir: PathBuf,
    fields: Fields,
    version: u32,
    /// Whether this process is the only user of the directory, which ends with the process; see [`Index::open_copy`].
    is_private: bool,
    current: ArcSwap<Snapshot>,
    /// Held while a snapshot is replaced, so that an older commit never replaces a newer one.
    replace_lock: Mutex<()>,
}

impl Index {
    /// Creates an empty index in a directory that is empty or does not exist.
    pub fn create(dir: &Path) -> Result<Index, Error> {
        Index::create_with_version(dir, SCHEMA_VERSION)
    }

    /// Like [`Index::create`], but with a schema version that an earlier program wrote, from
    /// [`OLDEST_SCHEMA_VERSION`], to compare it with such an index.
    pub fn create_with_version(dir: &Path, version: u32) -> Result<Index, Error> {
        private_directory::create_dir_all(dir)?;
        if fs::read_dir(dir)?.next().is_some() {
            return Err(Error::NotEmpty);
        }
        let mut options = fs::OpenOptions::new();
        let mut version_file =
            options.write(true).create_new(true).mode(0o600).open(dir.join(VERSION_FILE))?;
        write!(version_file, "{version}")?;
        version_file.sync_all()?;
        let (schema, fields) = schema::schema();
        tantivy::Index::builder()
            .schema(schema)
            .settings(IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() })
            .register_plugin(Arc::new(ColumnsPlugin::new(fields)))
            .open_or_create(open_directory(dir)?)?;
        durability::sync(dir)?;
        Index::open(dir)
    }

    /// Opens the index in a directory at its last commit. It may have an older schema version; see
    /// [`Index::is_outdated`]. If the machine may have failed while it was written, its files are verified
    /// first, which takes about a second per gigabyte.
    pub fn open(dir: &Path) -> Result<Index, Error> {
        Index::open_from(dir, None)
    }

    /// Opens a copy of an index, which may share the files that never change, and which has no later commit. It also shares the
    /// state in memory. Nothing else may use the directory, and it ends with the process: writes neither lock it nor wait for
    /// the disk.
    pub fn open_copy(dir: &Path, original: &Index) -> Result<Index, Error> {
        Index::open_from(dir, Some(original))
    }

    fn open_from(dir: &Path, original: Option<&Index>) -> Result<Index, Error> {
        let version = read_version(dir)?;
        // The engine trusts its files, and panics on some that are damaged.
        catch_panics(|| {
            let directory = open_directory(dir)?;
            let mut engine = tantivy::Index::open(directory.clone())?;
            let (schema, fields) = schema::schema();
            if engine.schema() != schema {
                return Err(Error::Corrupt("the fields do not match the schema version".to_owned()));
            }
            engine.register_plugin(Arc::new(ColumnsPlugin::new(fields)));
            Index::from_engine(engine, directory, dir, (fields, version), original)
        })
        .map_err(|error| match error {
            Error::Panicked(_) => Error::Corrupt("a file is truncated or has wrong contents".to_owned()),
            Error::Engine(cause) => Error::Corrupt(cause.to_string()),
            other => other,
        })
    }

    /// Verifies the checksums of all files of the last commit, and returns what is wrong with each file that is damaged.
    /// Takes about a second per gigabyte.
    pub fn find_damage(&self) -> Result<Vec<String>, Error> {
        find_damage(&self.inner.dir)
    }

    fn from_engine(
        engine: tantivy::Index,
        directory: PrivateDirectory,
        dir: &Path,
        (fields, version): (Fields, u32),
        original: Option<&Index>,
    ) -> Result<Index, Error> {
        if durability::may_be_torn(dir)? {
            // The lock keeps a writer from deleting the files of the commit.
            let _lock = engine.directory().acquire_lock(&META_LOCK).map_err(tantivy::TantivyError::from)?;
            durability::verify(engine.directory(), &engine.load_metas()?)?;
        }
        schema::register_tokenizers(&engine, schema::splitting(version));
        let shared = original.map(Index::snapshot).filter(|snapshot| !snapshot.is_ahead());
        let meta = engine.load_metas()?;
        let snapshot = match shared {
            Some(shared) if shared.is_at_commit(&meta, commit_change(&meta)?) => shared,
            other => Arc::new(load_snapshot(&engine, fields, version, other.as_deref())?),
        };
        let current = ArcSwap::new(snapshot);
        let (dir, is_private, replace_lock) = (dir.to_owned(), original.is_some(), Mutex::new(()));
        let inner = Inner { engine, directory, dir, fields, version, is_private, current, replace_lock };
        Ok(Index { inner: Arc::new(inner) })
    }

    /// Returns the schema version of the index.
    pub fn version(&self) -> u32 {
        self.inner.version
    }

    /// Returns whether the index has an older schema version. It can be used as any other, but text is split
    /// by the older rules, in documents and in searches. It should be replaced by a new one.
    pub fn is_outdated(&self) -> bool {
        self.inner.version < SCHEMA_VERSION
    }

    /// Opens the writer. `memory_bytes` is the budget for documents that are not flushed yet, shared by
    /// `threads` indexing threads.
    pub fn writer(&self, memory_bytes: usize, threads: usize) -> Result<Writer, Error> {
        Writer::open(self, memory_bytes, threads)
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.current.load_full()
    }

    /// Loads the last commit, which another process may have made. Returns whether there was a new one.
    pub fn reload(&self) -> Result<bool, Error> {
        catch_panics(|| self.reload_commit())
    }

    fn reload_commit(&self) -> Result<bool, Error> {
        let _replacing = self.inner.replace_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.snapshot();
        let meta = self.inner.engine.load_metas()?;
        let change = commit_change(&meta)?;
        // The writer in this process may have shown changes that it has not committed yet.
        let is_ahead = current.is_ahead() && current.change() > change;
        if is_ahead || current.is_at_commit(&meta, change) {
            return Ok(false);
        }
        self.inner.current.store(Arc::new(load_snapshot(
            &self.inner.engine,
            self.inner.fields,
            self.inner.version,
            Some(&current),
        )?));
        Ok(true)
    }

    /// Loads the last commit, and shows it unless an earlier writer has shown later changes. These stay visible
    /// until they are written again. `written` is an earlier commit, if one is known.
    pub(crate) fn load_commit(&self, written: Option<&Snapshot>) -> Result<Arc<Snapshot>, Error> {
        let _replacing = self.inner.replace_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = &self.inner;
        let current = self.snapshot();
        let earlier = Some(&*current).filter(|current| !current.is_ahead()).or(written);
        let loaded = Arc::new(load_snapshot(&inner.engine, inner.fields, inner.version, earlier)?);
        if !current.is_ahead() || current.change() <= loaded.change() {
            inner.current.store(Arc::clone(&loaded));
        }
        Ok(loaded)
    }

    /// Shows changes of listings that are not committed; see [`Snapshot::with_recent`]. `base` is the
    /// snapshot before them.
    pub(crate) fn show_recent(
        &self,
        base: &Snapshot,
        listings: &[ListingRowId],
        recent: &[&RecentDocument],
        change: u64,
    ) -> Result<(), Error> {
        let _replacing = self.inner.replace_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = base.with_recent(listings, recent, change)?;
        self.inner.current.store(Arc::new(shown));
        Ok(())
    }

    pub(crate) fn analyzers(&self) -> Analyzers {
        Analyzers::new(schema::splitting(self.inner.version))
    }

    /// Returns the change number of the last commit on disk, which another process may have made.
    pub fn committed_change(&self) -> Result<u64, Error> {
        commit_change(&self.inner.engine.load_metas()?)
    }

    pub(crate) fn is_private(&self) -> bool {
        self.inner.is_private
    }

    pub(crate) fn engine(&self) -> &tantivy::Index {
        &self.inner.engine
    }

    pub(crate) fn directory(&self) -> &PrivateDirectory {
        &self.inner.directory
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.inner.dir
    }

    pub(crate) fn fields(&self) -> Fields {
        self.inner.fields
    }
}

/// Like [`Index::find_damage`], for an index that may be too damaged to be opened. Changes nothing.
pub fn find_damage(dir: &Path) -> Result<Vec<String>, Error> {
    read_version(dir)?;
    catch_panics(|| {
        let engine = tantivy::Index::open(open_directory(dir)?)?;
        // The lock keeps a writer from deleting the files of the commit.
        let _lock = engine.directory().acquire_lock(&META_LOCK).map_err(tantivy::TantivyError::from)?;
        durability::find_damage(engine.directory(), &engine.load_metas()?)
    })
}

/// Returns the schema version of the index in a directory. Fails if this program cannot use it.
fn read_version(dir: &Path) -> Result<u32, Error> {
    if !dir.join(META_FILE).try_exists()? {
        return Err(Error::Missing);
    }
    let version = match fs::read_to_string(dir.join(VERSION_FILE)) {
        Ok(version) => {
            version.parse().map_err(|_| Error::Corrupt("the schema version is not a number".to_owned()))?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::Corrupt("the schema version is missing".to_owned()));
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(Error::Corrupt("the schema version is not a number".to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    if !(OLDEST_SCHEMA_VERSION..=SCHEMA_VERSION).contains(&version) {
        return Err(Error::SchemaMismatch { found: version, expected: SCHEMA_VERSION });
    }
    Ok(version)
}

fn open_directory(dir: &Path) -> Result<PrivateDirectory, Error> {
    Ok(PrivateDirectory::open(dir).map_err(tantivy::TantivyError::from)?)
}

/// Loads the last commit.
fn load_snapshot(
    engine: &tantivy::Index,
    fields: Fields,
    version: u32,
    earlier: Option<&Snapshot>,
) -> Result<Snapshot, Error> {
    // The lock keeps a writer from deleting the files of this commit before they are open.
    let _lock = engine.directory().acquire_lock(&META_LOCK).map_err(tantivy::TantivyError::from)?;
    let meta = engine.load_metas()?;
    Snapshot::open(engine, fields, schema::splitting(version), &meta, commit_change(&meta)?, earlier)
}

/// Returns the change number of a commit; 0 for an index without commits.
fn commit_change(meta: &IndexMeta) -> Result<u64, Error> {
    match &meta.payload {
        None => Ok(0),
        Some(payload) => {
            payload.parse().map_err(|_| Error::Corrupt("a commit has no change number".to_owned()))
        }
    }
}
