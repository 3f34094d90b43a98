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
    market::{Market, OpenOptions},
    string_enum::StringEnum,
};
use tempfile::TempDir;

use super::{market_options, usual_settings};

/// A closed market.
pub struct Template {
    /// The directories, each after its parent. Repositories have empty ones.
    directories: Vec<PathBuf>,
    /// The files by their paths.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Number of IDs that the clock has generated, for each collection.
    id_counts: [u64; Collection::COUNT],
    /// Number of secrets that have been generated.
    secret_count: u64,
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
        let secret_count = market.write_blocking(|writer| Ok(writer.entropy.count())).unwrap();
        drop(market);
        let mut template = Template { directories: Vec::new(), files: Vec::new(), id_counts, secret_count };
        template.add_files(directory.path(), Path::new(""));
        template
    }

    fn add_files(&mut self, root: &Path, directory: &Path) {
        for entry in fs::read_dir(root.join(directory)).unwrap() {
            let entry = entry.unwrap();
            let path = directory.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                self.directories.push(path.clone());
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
        for path in &self.directories {
            fs::create_dir(directory.path().join(path)).unwrap();
        }
        for (path, bytes) in &self.files {
            fs::write(directory.path().join(path), bytes).unwrap();
        }
        directory
    }

    /// Lets a copy continue with the IDs and the secrets after those that the market has.
    pub fn continue_with(&self, options: &OpenOptions) {
        options.entropy.give_back_from(self.secret_count);
        for (collection, count) in Collection::ALL.iter().zip(self.id_counts) {
            for _ in 0..count {
                options.clock.new_id(*collection);
            }
        }
    }
}
