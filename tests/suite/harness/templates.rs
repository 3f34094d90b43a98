//! Markets that tests begin with. Copying the files of one takes a fraction of the time of creating it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use marketplace::{
    clock::Clock,
    domain::collections::Collection,
    fixtures,
    market::{DATABASE_FILE, Market, OpenOptions},
    string_enum::StringEnum,
};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{market_options, usual_settings};

/// A closed market.
pub struct Template {
    /// The files by their paths. There are no secrets in them, so each copy gets its own.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Number of IDs that the clock has generated, for each collection.
    id_counts: [u64; Collection::COUNT],
}

/// Returns the market that has only the taxonomy.
pub fn empty() -> &'static Template {
    static EMPTY: OnceLock<Template> = OnceLock::new();
    EMPTY.get_or_init(|| Template::make(|_| ()))
}

/// Returns the demo market.
pub fn demo() -> &'static Template {
    static DEMO: OnceLock<Template> = OnceLock::new();
    DEMO.get_or_init(|| {
        Template::make(|market| fixtures::seed(market, &fixtures::demo_set().unwrap()).map(drop).unwrap())
    })
}

impl Template {
    fn make(fill: impl FnOnce(&Market)) -> Template {
        let directory = tempfile::tempdir().unwrap();
        let market = Market::open(market_options(directory.path(), usual_settings())).unwrap();
        fixtures::seed_taxonomy(&market).unwrap();
        fill(&market);
        let Clock::Simulated(clock) = &**market.clock() else { unreachable!("clocks of tests are stopped") };
        let id_counts = clock.state().id_counts;
        drop(market);
        let database = Connection::open(directory.path().join(DATABASE_FILE)).unwrap();
        database.execute_batch("DELETE FROM secrets; PRAGMA wal_checkpoint(TRUNCATE); VACUUM;").unwrap();
        database.close().unwrap();
        let mut template = Template { files: Vec::new(), id_counts };
        template.add_files(directory.path(), Path::new(""));
        template
    }

    fn add_files(&mut self, root: &Path, directory: &Path) {
        for entry in fs::read_dir(root.join(directory)).unwrap() {
            let entry = entry.unwrap();
            let path = directory.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                self.add_files(root, &path);
            } else if path.extension().is_none_or(|extension| extension != "lock") {
                let bytes = fs::read(root.join(&path)).unwrap();
                self.files.push((path, bytes));
            }
        }
    }

    /// Copies the market to a new directory.
    pub fn copy(&self) -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (path, bytes) in &self.files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        directory
    }

    /// Lets the clock of a copy continue with the IDs after those that the market has.
    pub fn count_ids(&self, options: &OpenOptions) {
        for (collection, count) in Collection::ALL.iter().zip(self.id_counts) {
            for _ in 0..count {
                options.clock.new_id(*collection);
            }
        }
    }
}
