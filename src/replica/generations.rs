//! Which machine is the primary: the generations of a market, in the store that Litestream replicates to.
//!
//! Each promotion begins a generation with a number, and with a directory of its own. A file for each records its beginning;
//! only one process can create it. The server of the newest generation is the primary.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    config::Settings,
    domain::time::Timestamp,
    error::{Error, Result},
    market::SUPERSEDED_MARKER,
    operations::backups::Place,
    private_files,
};

/// The directory of the files that say which generations were begun.
const CLAIMS: &str = "generations";

/// How long the store may take to answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// The file in a data directory with the number of its generation.
const OWN_FILE: &str = "generation";

/// The generations in a store.
#[derive(Debug)]
pub struct Generations {
    place: Place,
    address: String,
}

impl Generations {
    /// Opens the generations at an address: `s3://bucket/prefix`, or `file:///directory`. Contacts no other machine.
    pub fn open(address: &str, settings: &Settings) -> Result<Generations> {
        let name = address.strip_prefix("file://").unwrap_or(address);
        let place = Place::open_impatient(Path::new(name), settings, TIMEOUT)?;
        Ok(Generations { place, address: address.trim_end_matches('/').to_owned() })
    }

    /// Returns the number of the newest generation; `None` before the first.
    pub fn newest(&self) -> io::Result<Option<u64>> {
        Ok(self.place.list(CLAIMS)?.iter().filter_map(|name| name.parse().ok()).max())
    }

    /// Returns the newest generation to which something was replicated. A promotion that failed leaves one without.
    pub fn newest_with_data(&self) -> io::Result<Option<u64>> {
        let mut numbers: Vec<u64> =
            self.place.list(CLAIMS)?.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        for number in numbers.into_iter().rev() {
            if self.place.has_any(&number.to_string())? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Begins a generation. Returns whether nobody else has begun it.
    pub fn begin(&self, number: u64, now: Timestamp) -> io::Result<bool> {
        self.place.create(&format!("{CLAIMS}/{number}"), format!("{now}\n").as_bytes())
    }

    /// Returns the URL to which a generation is replicated. Before the first generation, another program replicates to the
    /// address itself.
    pub fn url(&self, number: Option<u64>) -> String {
        match number {
            Some(number) => format!("{}/{number}", self.address),
            None => self.address.clone(),
        }
    }
}

/// Returns the number of the generation of a data directory; `None` if it was never replicated.
pub fn recorded(directory: &Path) -> Result<Option<u64>> {
    let path = own_file(directory);
    let text = private_files::if_found(fs::read_to_string(&path)).map_err(Error::internal)?;
    let parse = |text: String| {
        let invalid = |_| Error::Conflict(format!("{} must contain a number", path.display()));
        text.trim().parse::<u64>().map_err(invalid)
    };
    text.map(parse).transpose()
}

/// Records the number of the generation of a data directory.
pub fn record(directory: &Path, number: u64) -> io::Result<()> {
    let (path, new) = (own_file(directory), directory.join("generation.new"));
    let mut file = private_files::create(&new)?;
    io::Write::write_all(&mut file, format!("{number}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)?;
    fs::File::open(directory)?.sync_all()
}

/// Refuses all changes in the data directory of a former primary from now on.
pub fn mark_superseded(directory: &Path) {
    if let Err(cause) = private_files::create(&directory.join(SUPERSEDED_MARKER)) {
        tracing::error!(%cause, "commands do not know that another server was promoted");
    }
}

fn own_file(directory: &Path) -> PathBuf {
    directory.join(OWN_FILE)
}
