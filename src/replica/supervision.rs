//! Keeps a copy of the database current: runs Litestream, lets its updates in, and restores anew when it cannot continue.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
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

/// How long the next attempt waits after a database could not be restored or opened.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// Interval at which is checked whether another server was promoted.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Number of times in a row that a copy cannot be read before it is given up.
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
    while !is_stopping.load(Ordering::SeqCst) {
        match restore_and_follow(shared, is_stopping) {
            Ok(End::Stopping) => return,
            Ok(End::NeedsRestore) => tracing::warn!("the database is restored anew"),
            Err(cause) => {
                tracing::error!(cause = %ErrorChain(&cause), "the database of the primary cannot be restored; trying again");
                wait(RETRY_DELAY, is_stopping);
            }
        }
    }
}

/// Restores the database to a new directory, serves it, and keeps it current.
fn restore_and_follow(shared: &Arc<Shared>, is_stopping: &AtomicBool) -> Result<End, Error> {
    let (directory, earlier) = new_directory(&shared.directory).map_err(Error::internal)?;
    let file = directory.join(DATABASE_FILE);
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
    let follower = start()?;
    let is_restored =
        follower.wait_for(&FollowedFile::update_number_file(&file), || is_stopping.load(Ordering::SeqCst));
    if !is_restored {
        let message = follower.kill();
        delete_copy(&directory);
        if is_stopping.load(Ordering::SeqCst) {
            return Ok(End::Stopping);
        }
        return Err(Error::internal(format!("Litestream ended: {message}")));
    }
    let opened =
        ServedCopy::open(&directory, follower.id(), &shared.settings, (&shared.app, &shared.base_url));
    let copy = match opened {
        Ok(copy) => Arc::new(copy),
        Err(cause) => {
            drop(follower);
            delete_copy(&directory);
            shared.state.set_outdated(matches!(
                cause,
                OpenError::Store(StoreOpenError::NewerVersion { .. } | StoreOpenError::OlderVersion(_))
            ));
            return Err(Error::internal(cause));
        }
    };
    copy.monitor.watch_replica(Arc::clone(&shared.state));
    copy.pick_up_updates()?;
    shared.state.set_outdated(false);
    shared.switch_to(Arc::clone(&copy));
    shared.state.count_restore();
    for directory in &earlier {
        delete_copy(directory);
    }
    tracing::info!(directory = %directory.display(), "the copy of the database is served");
    let end = follow(shared, (&copy, generation), follower, start, is_stopping);
    copy.file.end_follower();
    shared.mark_stale();
    end
}

/// Lets updates in and picks them up, and starts Litestream again when it has ended.
fn follow(
    shared: &Arc<Shared>,
    (copy, generation): (&ServedCopy, Option<u64>),
    mut follower: Litestream,
    start: impl Fn() -> Result<Litestream, Error>,
    is_stopping: &AtomicBool,
) -> Result<End, Error> {
    let mut began = copy.market.stopwatch();
    let (mut checked, mut failures) = (copy.market.stopwatch(), 0);
    while !is_stopping.load(Ordering::SeqCst) {
        if let Err(cause) = copy.file.admit_update() {
            tracing::error!(%cause, "it is unknown whether an update waits");
        }
        match copy.pick_up_updates() {
            Ok(is_current) => {
                failures = 0;
                let was_outdated = shared.state.is_outdated();
                shared.state.set_outdated(!is_current);
                if !is_current && !was_outdated {
                    tracing::error!(
                        "the primary has another version of the program, so this replica answers nothing itself; install \
                         that version here"
                    );
                }
            }
            Err(cause) => {
                tracing::error!(cause = %ErrorChain(&cause), "picking up the changes of the primary failed");
                failures += 1;
                if failures > MAX_FAILURES {
                    return Ok(End::NeedsRestore);
                }
            }
        }
        if follower.has_ended() {
            copy.file.end_follower();
            let lasted = began.elapsed();
            let last_line = follower.kill();
            shared.state.set_followed(false);
            shared.state.count_restart();
            tracing::warn!(last_line, "Litestream has ended");
            if lasted < STEADY {
                return Ok(End::NeedsRestore);
            }
            let number = copy.file.update_number();
            follower = start()?;
            copy.file.replace_follower(follower.id(), number);
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

/// Creates an empty directory for a copy. Also returns those of earlier copies.
fn new_directory(root: &Path) -> io::Result<(PathBuf, Vec<PathBuf>)> {
    private_files::create_dir_all(root)?;
    let mut earlier = Vec::new();
    let mut last = 0;
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok()) {
            last = last.max(number);
            earlier.push(entry.path());
        }
    }
    let directory = root.join((last + 1).to_string());
    private_files::create_dir_all(&directory)?;
    Ok((directory, earlier))
}

fn wait(time: Duration, is_stopping: &AtomicBool) {
    let mut waited = Duration::ZERO;
    while waited < time && !is_stopping.load(Ordering::SeqCst) {
        thread::sleep(INTERVAL);
        waited += INTERVAL;
    }
}
