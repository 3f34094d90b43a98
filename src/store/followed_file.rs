//! A database file that another process keeps current in place: Litestream's `restore -f`.
//!
//! Four facts require care. The follower waits for a lock until no read is in progress, but SQLite shares the lock of all
//! connections of a process, so reads that overlap would keep it out forever: a gate lets it in. A follower that is killed in
//! the middle of an update leaves a mixture of two states: a state is read only if the follower was running while the lock was
//! held. And SQLite notices an update only if it changes the first page: the primary changes it with each commit, by the
//! [`CommitPosition`] in it. A follower that runs can fail in the middle of an update, too, such as when a download ends early;
//! it says so in its log.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};
use rustix::process::{Flock, FlockType, fcntl_getlk};

use super::{BUSY_TIMEOUT, OpenError, Reader};
use crate::{
    domain::commit_position::CommitPosition,
    error::{Error, Result},
};

/// The byte that a writer locks before it waits for the reads in progress; see "File Locking" in SQLite's documentation.
const PENDING_BYTE: u64 = 1 << 30;

/// How long reads wait for an update at most, and an update for reads. Then the others go on.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// After reads have waited [`MAX_PAUSE`] for another read, they do not wait again for this multiple of it.
const PAUSES_BETWEEN: u32 = 5;

/// Interval at which the gate looks whether the update has ended.
const UPDATE_INTERVAL: Duration = Duration::from_millis(1);

/// How long a new state is not read: a follower releases its lock before it logs that the update has failed, and the line is read by
/// another thread.
const SETTLING: Duration = Duration::from_millis(20);

/// The flag of a process that has begun to exit, in `/proc/PID/stat`. Until then, its locks are held.
const EXITING: u64 = 0x4;

/// The file, and which of its states can be read.
#[derive(Debug)]
pub struct FollowedFile {
    /// Closing it would release the locks of this process, so it stays open as long as the connections.
    file: File,
    /// The file with the number of the last update, which the follower writes after it.
    update_number: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

/// What updates a file.
#[derive(Clone, Debug)]
pub struct Follower {
    /// The ID of the process.
    pub process: u32,
    /// Whether its last update has failed, perhaps in the middle.
    pub has_failed: Arc<AtomicBool>,
}

impl Follower {
    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }
}

#[derive(Debug)]
struct State {
    /// What updates the file; `None` while nothing does.
    follower: Option<Follower>,
    /// The number of the last update when that process was started after another one had ended, perhaps in the middle of the next
    /// update: that one has to be repeated first. `None` if it has been.
    awaited_after: Option<Vec<u8>>,
    /// Number of reads in progress.
    reads: usize,
    /// Whether new reads wait for an update.
    is_closed: bool,
    /// Until when reads do not wait again, since they have waited for a long one.
    open_until: Instant,
    /// The last state that is known to be complete.
    complete: Option<CommitPosition>,
}

impl State {
    /// Records the process that updates the file from now on. After a failed update, a part of the changes of an already
    /// complete state may have been written again.
    fn replace_follower(&mut self, follower: Option<Follower>) {
        let earlier = std::mem::replace(&mut self.follower, follower);
        if earlier.is_some_and(|earlier| earlier.has_failed()) {
            self.complete = None;
        }
    }
}

impl FollowedFile {
    /// Opens a file that a follower updates, and makes it readable: a copy of a database with a log is marked as
    /// one, but has no log.
    pub fn open(path: &Path, follower: Follower) -> std::result::Result<FollowedFile, OpenError> {
        let unusable = OpenError::unusable(path);
        let mark = || -> rusqlite::Result<()> {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.pragma_update(None, "journal_mode", "DELETE")
        };
        mark().map_err(unusable)?;
        let file = File::open(path).map_err(OpenError::unusable(path))?;
        let update_number = FollowedFile::update_number_file(path);
        let state = State {
            follower: Some(follower),
            awaited_after: None,
            reads: 0,
            is_closed: false,
            open_until: Instant::now(),
            complete: None,
        };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Ok(FollowedFile { file, update_number, state, changed })
    }

    /// Returns the file beside a database to which the follower writes the number of the last update, after each.
    pub fn update_number_file(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push("-txid");
        name.into()
    }

    /// Records that the follower has ended. Must be called before its ID can be that of another process.
    pub fn end_follower(&self) {
        self.lock().replace_follower(None);
    }

    /// Returns the number of the last update as the follower has written it.
    pub fn update_number(&self) -> Vec<u8> {
        fs::read(&self.update_number).unwrap_or_default()
    }

    /// Records that another process updates the file from now on, after the update with this number.
    pub fn replace_follower(&self, follower: Follower, number: Vec<u8>) {
        let mut state = self.lock();
        state.replace_follower(Some(follower));
        state.awaited_after = Some(number);
    }

    /// Lets a waiting update run, and returns when it has ended. Returns at once if none waits.
    pub fn admit_update(&self) -> io::Result<()> {
        if !self.is_update_pending()? {
            return Ok(());
        }
        let mut state = self.lock();
        if state.reads > 0 && Instant::now() < state.open_until {
            return Ok(());
        }
        state.is_closed = true;
        let drained = self.changed.wait_timeout_while(state, MAX_PAUSE, |state| state.reads > 0);
        let (mut state, waited) = drained.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            // A long read continues. Other reads have their turn for longer than they have waited.
            state.open_until = Instant::now() + PAUSES_BETWEEN * MAX_PAUSE;
        }
        drop(state);
        let began = Instant::now();
        let mut pending = Ok(!waited.timed_out());
        while matches!(pending, Ok(true)) && began.elapsed() < MAX_PAUSE {
            std::thread::sleep(UPDATE_INTERVAL);
            pending = self.is_update_pending();
        }
        self.lock().is_closed = false;
        self.changed.notify_all();
        pending.map(drop)
    }

    /// Whether another process waits for reads, or updates the file.
    fn is_update_pending(&self) -> io::Result<bool> {
        let mut lock = Flock::from(FlockType::ReadLock);
        (lock.start, lock.length) = (PENDING_BYTE, 1);
        Ok(fcntl_getlk(&self.file, &lock)?.is_some())
    }

    /// Runs a read transaction on a state that is complete. `begin` runs the transaction, and calls the given function first.
    /// Fails if the file has no complete state for some time.
    pub(super) fn read<T>(
        &self,
        begin: impl Fn(&mut dyn FnMut(&Reader) -> Result<()>) -> Result<()>,
        work: impl FnOnce(&Reader) -> Result<T>,
    ) -> Result<T> {
        let (mut work, mut result) = (Some(work), None);
        let began = Instant::now();
        loop {
            let turn = self.enter();
            let read = begin(&mut |reader| {
                if self.is_complete(reader.commit_position()?)
                    && let Some(work) = work.take()
                {
                    result = Some(work(reader)?);
                }
                Ok(())
            });
            drop(turn);
            match (read, result) {
                (Ok(()), Some(result)) => return Ok(result),
                // Not even the position can be read of some mixtures of states.
                (_, None) if work.is_some() && began.elapsed() < MAX_PAUSE => {
                    std::thread::sleep(UPDATE_INTERVAL);
                    result = None;
                }
                (Ok(()), None) => return Err(Error::AtCapacity { retry_seconds: 1 }),
                (Err(error), _) => return Err(error),
            }
        }
    }

    /// Waits until the gate is open, but not for long, since a read can be part of another one.
    fn enter(&self) -> Turn<'_> {
        let waited = self.changed.wait_timeout_while(self.lock(), MAX_PAUSE, |state| state.is_closed);
        waited.unwrap_or_else(PoisonError::into_inner).0.reads += 1;
        Turn(self)
    }

    /// Whether the state with this position is complete. Must be called in a read transaction, in which nothing is updated.
    fn is_complete(&self, position: CommitPosition) -> bool {
        let mut state = self.lock();
        if state.follower.as_ref().is_some_and(Follower::has_failed) {
            // The next attempt may write earlier changes again, under a position that was complete.
            state.complete = None;
            return false;
        }
        // An update begins with the first page, so the state with this position is still the one that was complete.
        if state.complete == Some(position) {
            return true;
        }
        if let Some(number) = &state.awaited_after {
            if fs::read(&self.update_number).is_ok_and(|current| current == *number) {
                return false;
            }
            state.awaited_after = None;
        }
        let Some(follower) = state.follower.clone() else { return false };
        drop(state);
        std::thread::sleep(SETTLING);
        // A process that is killed holds its locks until it exits.
        let is_complete = is_running(follower.process) && !follower.has_failed();
        if is_complete {
            self.lock().complete = Some(position);
        }
        is_complete
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A read in progress.
struct Turn<'f>(&'f FollowedFile);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().reads -= 1;
        self.0.changed.notify_all();
    }
}

/// Whether a process runs and has not begun to exit.
fn is_running(process: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    // The name of the program is in parentheses, and can have spaces. The flags are the seventh field after it.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
    let flags = fields.and_then(|fields| fields.split_whitespace().nth(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & EXITING == 0)
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::fs::FileExt,
        process::{Command, id},
    };

    use super::*;
    use crate::store::{Durability, Store};

    /// The variable that names the database to the process that changes it.
    const DATABASE: &str = "TEST_FOLLOWED_FILE";

    /// Where the header of a database has the number of its pages.
    const PAGES_AT: u64 = 28;

    /// Number of changes of that process.
    const CHANGES: u32 = 30;

    /// Returns a follower whose updates succeed.
    fn follower(process: u32) -> Follower {
        Follower { process, has_failed: Arc::default() }
    }

    /// Creates a database whose commits are counted, without a log, as a replica has it.
    fn create(directory: &Path) -> PathBuf {
        let path = directory.join("market.sqlite");
        let store = Store::open(&path, 1, Durability::None).unwrap();
        store.counting_positions().unwrap().write(|_| Ok(())).unwrap();
        path
    }

    fn change(connection: &Connection) {
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let number: u32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0)).unwrap();
        connection.pragma_update(None, "application_id", number + 1).unwrap();
        connection.execute_batch("COMMIT").unwrap();
    }

    /// Not a test of its own: the process that [`overlapping_reads_let_updates_in`] starts.
    #[test]
    #[ignore = "is run by another test, in a process of its own"]
    fn changes_of_another_process() {
        let Some(path) = std::env::var_os(DATABASE) else { return };
        let connection = Connection::open(path).unwrap();
        connection.busy_timeout(Duration::from_mins(1)).unwrap();
        (0..CHANGES).for_each(|_| change(&connection));
    }

    /// A mixture of states looks like damage, but is not there any more when the update has ended.
    #[test]
    fn mixture_of_states_is_no_damage() {
        let directory = tempfile::tempdir().unwrap();
        let path = create(directory.path());
        let file = Arc::new(FollowedFile::open(&path, follower(id())).unwrap());
        let store = Store::open_followed(&path, 1, Arc::clone(&file)).unwrap();
        // In place, as the follower does it: connections have mapped the file, so it must not be shorter for a moment.
        let updated = File::options().read(true).write(true).open(&path).unwrap();
        let mut pages = [0; 4];
        updated.read_exact_at(&mut pages, PAGES_AT).unwrap();
        // The header states more pages than the file has.
        updated.write_all_at(&u32::MAX.to_be_bytes(), PAGES_AT).unwrap();
        std::thread::scope(|scope| {
            let read = scope.spawn(|| store.read(|_| Ok(())));
            while file.lock().reads == 0 {
                std::thread::yield_now();
            }
            updated.write_all_at(&pages, PAGES_AT).unwrap();
            assert!(read.join().unwrap().is_ok());
        });
        assert!(!store.is_damaged());
    }

    /// Without the gate, reads of one process that overlap keep all others out.
    #[test]
    fn overlapping_reads_let_updates_in() {
        let directory = tempfile::tempdir().unwrap();
        let path = create(directory.path());
        let file = Arc::new(FollowedFile::open(&path, follower(id())).unwrap());
        let store = Store::open_followed(&path, 4, Arc::clone(&file)).unwrap();
        let has_ended = AtomicBool::default();
        let last = std::thread::scope(|scope| {
            let readers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut last = CommitPosition(0);
                        while !has_ended.load(Ordering::SeqCst) {
                            let position = store.read(|rows| {
                                let first = rows.commit_position()?;
                                std::thread::yield_now();
                                assert_eq!(rows.commit_position()?, first, "a read sees one state");
                                Ok(first)
                            });
                            let position = position.unwrap();
                            assert!(position.includes(last), "no state is read after a later one");
                            last = position;
                        }
                        last
                    })
                })
                .collect();
            let mut changes = Command::new(std::env::current_exe().unwrap());
            changes.args(["--ignored", "--exact", "store::followed_file::tests::changes_of_another_process"]);
            let mut changes = changes.env(DATABASE, &path).spawn().unwrap();
            while changes.try_wait().unwrap().is_none() {
                file.admit_update().unwrap();
            }
            has_ended.store(true, Ordering::SeqCst);
            readers.into_iter().map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(last.len() == 4, "{last:?}");
        assert_eq!(store.read(|rows| Ok(rows.commit_position()?.0)).unwrap(), CHANGES + 1);
    }

    #[test]
    fn state_is_read_only_if_it_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = create(directory.path());
        let file = FollowedFile::open(&path, follower(id())).unwrap();
        let number = FollowedFile::update_number_file(&path);
        fs::write(&number, "1").unwrap();
        let [first, second, third, fourth] = [1, 2, 3, 4].map(CommitPosition);
        assert!(file.is_complete(first), "the follower runs");
        file.end_follower();
        assert!(file.is_complete(first), "nothing was updated since");
        assert!(!file.is_complete(second), "the follower may have ended in the middle of an update");
        file.replace_follower(follower(id()), file.update_number());
        assert!(!file.is_complete(second), "the update is not repeated yet");
        fs::write(&number, "2").unwrap();
        assert!(file.is_complete(third));
        // No process has this ID: the kernel counts to 4 million at most.
        file.replace_follower(follower(u32::MAX / 2), file.update_number());
        fs::write(&number, "3").unwrap();
        assert!(!file.is_complete(fourth), "the follower does not run");
        assert!(is_running(id()) && !is_running(u32::MAX / 2));
    }

    #[test]
    fn state_after_a_failed_update_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let follower = follower(id());
        let file = FollowedFile::open(&create(directory.path()), follower.clone()).unwrap();
        let [first, second] = [1, 2].map(CommitPosition);
        assert!(file.is_complete(first));
        follower.has_failed.store(true, Ordering::SeqCst);
        assert!(!file.is_complete(second), "the update has ended in the middle");
        assert!(!file.is_complete(first), "the next attempt may write it again");
        follower.has_failed.store(false, Ordering::SeqCst);
        assert!(file.is_complete(second), "it was repeated");
        follower.has_failed.store(true, Ordering::SeqCst);
        file.end_follower();
        assert!(!file.is_complete(second), "it may have ended while it wrote it again");
    }
}
