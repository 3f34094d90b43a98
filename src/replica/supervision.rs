//! Keeps a copy of the database current: runs Litestream, admits its updates, and restores the database again if Litestream
//! cannot continue.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    litestream::{Litestream, delete_copy},
    served_copy::ServedCopy,
    shared::Shared,
};
use crate::{
    domain::error_sources::ErrorWithSource,
    error::{Error, ErrorChain},
    market::{DATABASE_FILE, OpenError},
    private_files,
    store::{FollowedFile, OpenError as StoreOpenError},
};

/// Interval at which updates of the file are let in and noticed.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long the next attempt waits after a database could not be restored or opened: this multiple of the time that the attempt
/// took, since each may download the whole database, but within these limits.
const RETRY_FACTOR: u32 = 4;
const RETRY_DELAY: Duration = Duration::from_secs(5);
const MAX_RETRY_DELAY: Duration = Duration::from_mins(5);

/// Within this time, the database is restored at most once without a delay.
const OFTEN: Duration = Duration::from_mins(1);

/// Interval between checks for a promotion of another server.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Number of times in a row that reading a copy may fail before it is given up.
const MAX_FAILURES: u32 = 3;

/// How long a process of Litestream must run at least to count as one that continued.
const STEADY: Duration = Duration::from_secs(10);

/// Why a copy is no longer kept current.
enum End {
    /// The server is stopping.
    Stopping,
    /// Litestream cannot continue with it.
    NeedsRestore,
}

/// Keeps a copy current until the server stops.
pub(super) fn run(shared: &Arc<Shared>, is_stopping: &AtomicBool) {
    let mut copies = loop {
        match Copies::open(&shared.directory) {
            Ok(copies) => break copies,
            Err(cause) => {
                tracing::error!(%cause, "the directory of the copies cannot be used; trying again");
                wait(RETRY_DELAY, is_stopping);
            }
        }
        if is_stopping.load(Ordering::SeqCst) {
            return;
        }
    };
    let mut needed_restore = None::<Instant>;
    while !is_stopping.load(Ordering::SeqCst) {
        let began = Instant::now();
        match restore_and_follow(shared, &mut copies, is_stopping) {
            Ok(End::Stopping) => return,
            Ok(End::NeedsRestore) => {
                tracing::warn!("the database is restored anew");
                if needed_restore.replace(Instant::now()).is_some_and(|last| last.elapsed() < OFTEN) {
                    wait(RETRY_DELAY, is_stopping);
                }
            }
            Err(cause) => {
                let delay = (began.elapsed() * RETRY_FACTOR).clamp(RETRY_DELAY, MAX_RETRY_DELAY);
                tracing::error!(
                    cause = %ErrorChain(&cause),
                    seconds = delay.as_secs(),
                    "the database of the primary cannot be restored; trying again"
                );
                wait(delay, is_stopping);
            }
        }
    }
}

/// Restores the database to a new directory, serves it, and keeps it current.
fn restore_and_follow(
    shared: &Arc<Shared>,
    copies: &mut Copies,
    is_stopping: &AtomicBool,
) -> Result<End, Error> {
    copies.delete_unused();
    let directory = copies.create().map_err(Error::internal)?;
    let file = directory.path.join(DATABASE_FILE);
    let generation = shared
        .generations
        .newest_with_data()
        .map_err(|cause| Error::internal_with_source("the store of replica.source cannot be read", cause))?;
    let url = shared.generations.url(generation);
    let start = || {
        shared.program.follow(&url, &file).map_err(|cause| {
            let message = "Litestream (the setting replica.litestream) cannot be started";
            // Not a fault of the storage, even if the program cannot be executed.
            Error::Internal(ErrorWithSource { message: message.into(), source: cause.into() }.into())
        })
    };
    let mut follower = start()?;
    let is_restored =
        follower.wait_for(&FollowedFile::update_number_file(&file), || is_stopping.load(Ordering::SeqCst));
    if !is_restored {
        let message = follower.kill();
        if is_stopping.load(Ordering::SeqCst) {
            return Ok(End::Stopping);
        }
        return Err(Error::internal(format!("Litestream ended: {message}")));
    }
    let app = (&shared.app, &*shared.base_url);
    let opened = ServedCopy::open(&directory.path, follower.follower(), &shared.settings, app);
    let copy = Arc::new(opened.map_err(|cause| {
        shared.state.set_outdated(matches!(
            cause,
            OpenError::Store(StoreOpenError::NewerVersion { .. } | StoreOpenError::OlderVersion(_))
        ));
        Error::internal(cause)
    })?);
    copy.monitor.watch_replica(Arc::clone(&shared.state));
    if let Some(certificates) = &shared.certificates {
        copy.monitor.watch_certificates(Arc::clone(certificates));
    }
    copy.pick_up_updates(&shared.state)?;
    shared.switch_to(Arc::clone(&copy));
    shared.state.count_restore();
    tracing::info!(directory = %directory.path.display(), "the copy of the database is served");
    copies.keep(directory, &copy);
    let end = follow(shared, (&copy, generation), (&mut follower, start), copies, is_stopping);
    copy.file.end_follower();
    drop(follower);
    shared.mark_stale();
    end
}

/// Admits updates and applies them, and restarts Litestream after it has ended.
fn follow(
    shared: &Arc<Shared>,
    (copy, generation): (&ServedCopy, Option<u64>),
    (follower, start): (&mut Litestream, impl Fn() -> Result<Litestream, Error>),
    copies: &mut Copies,
    is_stopping: &AtomicBool,
) -> Result<End, Error> {
    let mut began = copy.market.stopwatch();
    let (mut checked, mut failures) = (copy.market.stopwatch(), 0);
    while !is_stopping.load(Ordering::SeqCst) {
        if let Err(cause) = copy.file.admit_update() {
            tracing::error!(%cause, "it is unknown whether an update waits");
        }
        // Litestream repeats an update that has failed. Until then, the copy may be a mixture of two states.
        if shared.note_failed_update(follower.has_failed_update()) {
            thread::sleep(INTERVAL);
        } else if let Err(cause) = copy.pick_up_updates(&shared.state) {
            tracing::error!(cause = %ErrorChain(&cause), "picking up the changes of the primary failed");
            failures += 1;
            if failures > MAX_FAILURES {
                return Ok(End::NeedsRestore);
            }
        } else {
            failures = 0;
        }
        copies.delete_unused();
        if follower.has_ended() {
            copy.file.end_follower();
            let lasted = began.elapsed();
            let last_line = follower.last_line();
            shared.state.set_followed(false);
            shared.state.count_restart();
            tracing::warn!(last_line, "Litestream has ended");
            if lasted < STEADY {
                return Ok(End::NeedsRestore);
            }
            let number = copy.file.update_number();
            *follower = start()?;
            copy.file.replace_follower(follower.follower(), number);
            shared.state.set_followed(true);
            began = copy.market.stopwatch();
        }
        if checked.elapsed() > CHECK_INTERVAL {
            checked = copy.market.stopwatch();
            // The store may be away for a while. Whether something was replicated is a long list.
            let is_newer = |newest: io::Result<Option<u64>>| newest.is_ok_and(|newest| newest > generation);
            if is_newer(shared.generations.newest()) && is_newer(shared.generations.newest_with_data()) {
                tracing::info!("another server was promoted, so its database is restored");
                return Ok(End::NeedsRestore);
            }
        }
        thread::sleep(INTERVAL);
    }
    Ok(End::Stopping)
}

/// The directories of the copies.
struct Copies {
    root: PathBuf,
    last: u64,
    /// The copies that are or were served.
    served: Vec<(Weak<ServedCopy>, CopyDirectory)>,
}

/// The directory of a copy. Dropping it deletes the directory.
struct CopyDirectory {
    path: PathBuf,
}

impl Drop for CopyDirectory {
    fn drop(&mut self) {
        delete_copy(&self.path);
    }
}

impl Copies {
    /// Deletes what an earlier process has left.
    fn open(root: &Path) -> io::Result<Copies> {
        private_files::create_dir_all(root)?;
        for entry in fs::read_dir(root)? {
            delete_copy(&entry?.path());
        }
        Ok(Copies { root: root.to_owned(), last: 0, served: Vec::new() })
    }

    /// Creates an empty directory for a copy.
    fn create(&mut self) -> io::Result<CopyDirectory> {
        self.last += 1;
        let path = self.root.join(self.last.to_string());
        private_files::create_dir_all(&path)?;
        Ok(CopyDirectory { path })
    }

    /// Keeps the directory of a copy that is served as long as the copy is used.
    fn keep(&mut self, directory: CopyDirectory, copy: &Arc<ServedCopy>) {
        self.served.push((Arc::downgrade(copy), directory));
    }

    /// Deletes the directories of copies whose last request has ended.
    fn delete_unused(&mut self) {
        self.served.retain(|(copy, _)| copy.strong_count() > 0);
    }
}

fn wait(time: Duration, is_stopping: &AtomicBool) {
    let mut waited = Duration::ZERO;
    while waited < time && !is_stopping.load(Ordering::SeqCst) {
        thread::sleep(INTERVAL);
        waited += INTERVAL;
    }
}
