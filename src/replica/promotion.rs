//! Promotion: a new primary begins a generation, and restores the replicated data of the last one.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::{
    generations::{self, Generations},
    litestream::{Program, delete_copy},
    primary::LEASE,
    shared::COPIES,
};
use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    error::{Error, Result},
    market::{self, DATABASE_FILE, RESTORE_MARKER, SUPERSEDED_MARKER},
    private_files,
    store::continuations::{self, Continuation},
};

/// The result of a promotion.
#[derive(Debug)]
pub struct Promotion {
    /// The number of the new generation.
    pub generation: u64,
    /// How long writing was possible nowhere.
    pub took: Duration,
}

/// Makes a data directory the directory of the primary. Waits until a primary that may still run has stopped by itself, unless
/// it is known to be stopped. The market is not opened.
pub fn promote(settings: &Settings, is_primary_stopped: bool, report: impl Fn(&str)) -> Result<Promotion> {
    let directory = &settings.data.folder;
    // With the marker, it is what an earlier promotion has left.
    if directory.join(DATABASE_FILE).exists() && !directory.join(RESTORE_MARKER).exists() {
        return Err(Error::Conflict(format!(
            "{} contains a market already; choose a data directory without one, such as that of a replica",
            directory.display()
        )));
    }
    // Nothing would open what is restored there.
    if directory.join(SUPERSEDED_MARKER).exists() {
        return Err(Error::Conflict(format!(
            "{} was that of a primary before another server was promoted; choose a new data directory",
            directory.display()
        )));
    }
    let generations = Generations::open(&settings.replication.destination, settings)?;
    let unreachable =
        |cause| Error::internal_with_source("the store of replication.destination cannot be used", cause);
    let newest = generations.newest().map_err(unreachable)?;
    let source = generations.newest_with_data().map_err(unreachable)?;
    let (Some(newest), Some(source)) = (newest, source) else {
        return Err(Error::Conflict(
            "no primary has replicated to replication.destination; check the address".to_owned(),
        ));
    };
    // Once the generation has begun, the last primary changes nothing.
    let program = Program::new(settings, market::this_program());
    program.check().map_err(|cause| {
        Error::internal_with_source("Litestream (the setting replica.litestream) cannot be run", cause)
    })?;
    let began = Instant::now();
    let generation = newest + 1;
    if !generations.begin(generation, Clock::System.now()).map_err(unreachable)? {
        return Err(Error::Conflict("another server is being promoted".to_owned()));
    }
    report(&format!(
        "generation {generation} has begun; the primary of generation {source} changes nothing from now on"
    ));
    if !is_primary_stopped {
        report(&format!("waiting {} seconds, in case that primary cannot reach the store", LEASE.as_secs()));
        thread::sleep(LEASE);
    }
    report("restoring what it has replicated");
    private_files::create_dir_all(directory).map_err(Error::internal)?;
    let marker = directory.join(RESTORE_MARKER);
    private_files::create(&marker).map_err(Error::internal)?;
    restore(&program, &generations.url(Some(source)), directory)?;
    generations::record(directory, generation).map_err(Error::internal)?;
    let copies = directory.join(COPIES);
    if copies.exists() {
        delete_copy(&copies);
    }
    fs::remove_file(marker).map_err(Error::internal)?;
    Ok(Promotion { generation, took: began.elapsed() })
}

fn restore(program: &Program, url: &str, directory: &Path) -> Result<()> {
    let file = directory.join(DATABASE_FILE);
    // A log of an earlier attempt would be applied to the restored file.
    for name in [DATABASE_FILE.to_owned(), format!("{DATABASE_FILE}-wal"), format!("{DATABASE_FILE}-shm")] {
        private_files::remove_if_exists(&directory.join(name)).map_err(Error::internal)?;
    }
    let restored = program.restore(url, &file).and_then(super::litestream::Litestream::finish);
    restored.map_err(|cause| Error::internal_with_source("Litestream cannot restore the database", cause))?;
    private_files::give_to_owner_of(directory, &file).map_err(Error::internal)?;
    // The last changes of the former primary may be lost.
    continuations::prepare(&file, Continuation::Promotion, Clock::System.now(), &Entropy::System)
}
