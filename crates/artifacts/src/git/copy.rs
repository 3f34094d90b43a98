//! Copying a repository: a bare clone of its newest commit with the full history, within limits, and from
//! public addresses only unless the settings allow private ones.
//!
//! The host's bytes are only stored here, as one pack file. Indexing the pack means parsing it, so the caller
//! does that in a child process.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering, mpsc},
    time::Duration,
};

use marketplace_domain::error_sources::ErrorChain;
use marketplace_http_client::has_private_ip_host;

use super::{
    Limits, Origin, SNAPSHOT_REF, bundle,
    formats::UnsupportedFormat,
    http_transport::{HostError, TransferState},
    index_pack::{IndexedPack, invalid_repository, move_pack, open_options},
    local::{self, is_repository},
    receive_pack::{self, OwnDisk, Received, RemoteRepository, is_file_address},
};
use crate::{ReadError, Rejection};

/// Name of the received pack in the directory of the copy, until it is indexed.
const RECEIVED_PACK: &str = "received.pack";

/// Interval between checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long to wait for a stopped copy. It notices the stop when the next bytes arrive.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Number of polls after which the rate of the host is checked, which is every two minutes, and the number of
/// bytes that it must have sent in that time: 8 KB per second.
const POLLS_PER_RATE_CHECK: u64 = 2_400;
const MIN_BYTES_PER_RATE_CHECK: u64 = 1 << 20;

/// The result of copying a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyResult {
    /// Size of the copy on our disk in bytes.
    pub bytes: u64,
    /// Whether the host required credentials.
    pub is_private: bool,
}

/// A pack that was received from a host, for indexing.
#[derive(Clone, Debug)]
pub struct PackToIndex {
    /// Path of the pack.
    pub pack: PathBuf,
    /// Empty directory for the indexed pack.
    pub directory: PathBuf,
    /// ID of the commit that the pack must contain, in hexadecimal.
    pub head: String,
    /// Whose repository it is.
    pub origin: Origin,
}

/// Copies a repository into a directory that does not exist yet. Stops when `should_continue` returns false.
/// `index` writes the received pack with its index into another directory, like [`super::index_pack`].
/// Credentials are sent only after the host has rejected a request without them.
pub fn copy_repository(
    source: &RemoteRepository,
    to: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
    index: impl FnOnce(&PackToIndex) -> Result<IndexedPack, ReadError>,
) -> Result<CopyResult, ReadError> {
    let url = url::Url::parse(&source.address).map_err(|_| invalid_address())?;
    let is_file = url.scheme() == "file";
    if !is_file && !source.may_be_private && has_private_ip_host(&url) {
        return Err(from_host_error(HostError::NotPublic, limits));
    }
    let local_path = local_path(&source.address).filter(|_| is_file);
    if let Some(format) = local_path.as_deref().and_then(UnsupportedFormat::of_directory) {
        return Err(format.rejection().into());
    }
    let is_local_repository = local_path.as_deref().is_some_and(is_repository);
    // The repositories of a world are bundles.
    let bundle = local_path.filter(|path| path.is_file());
    // Git reports a missing directory only by its text, so it is looked up first.
    if is_file && bundle.is_none() && !is_local_repository {
        return Err(from_host_error(HostError::NotFound, limits));
    }
    let (head, is_private) = match bundle {
        Some(bundle) => (receive_bundle(&bundle, to, limits)?, false),
        None => receive_from_host(source, to, limits, should_continue)?,
    };
    let (pack, directory) = (to.join(RECEIVED_PACK), to.with_extension("index"));
    let to_index = PackToIndex { pack, directory, head, origin: source.origin };
    fs::create_dir(&to_index.directory).map_err(ReadError::Io)?;
    index(&to_index)?;
    // The process that parsed the pack had no access to the repository itself.
    move_pack(&to_index.directory, to).map_err(ReadError::Io)?;
    fs::remove_dir_all(&to_index.directory).map_err(ReadError::Io)?;
    fs::remove_file(&to_index.pack).map_err(ReadError::Io)?;
    let reference = to.join(SNAPSHOT_REF);
    fs::create_dir_all(reference.parent().unwrap_or(to)).map_err(ReadError::Io)?;
    fs::write(&reference, format!("{}\n", to_index.head)).map_err(ReadError::Io)?;
    let bytes = directory_size(to);
    if bytes > limits.bytes {
        return Err(from_host_error(HostError::TooLarge, limits));
    }
    Ok(CopyResult { bytes, is_private })
}

/// Receives the pack from the host. Returns the ID of the newest commit, and whether the host required credentials.
fn receive_from_host(
    source: &RemoteRepository,
    to: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<(String, bool), ReadError> {
    let without_credentials = RemoteRepository { authorization: None, ..source.clone() };
    let (received, is_private) = match receive_on_thread(&without_credentials, to, limits, should_continue) {
        Err(CopyError::Host(HostError::Denied | HostError::NotFound)) if source.authorization.is_some() => {
            let _ = fs::remove_dir_all(to);
            (receive_on_thread(source, to, limits, should_continue), true)
        }
        other => (other, false),
    };
    let head = received.map_err(|error| into_read_error(error, source, limits))?;
    Ok((head, is_private))
}

/// Takes the pack out of a bundle. Returns the ID of the newest commit.
fn receive_bundle(path: &Path, to: &Path, limits: Limits) -> Result<String, ReadError> {
    create_empty(to, limits).map_err(|cause| ReadError::Io(std::io::Error::other(cause)))?;
    let mut bundle = bundle::open(path)?;
    match bundle::copy_pack(&mut bundle.pack, &to.join(RECEIVED_PACK), limits.bytes) {
        Ok(true) => Ok(bundle.head),
        Ok(false) => Err(from_host_error(HostError::TooLarge, limits)),
        Err(cause) => Err(ReadError::Io(cause)),
    }
}

/// Creates a repository without objects in a directory that does not exist.
fn create_empty(to: &Path, limits: Limits) -> gix::Result<()> {
    let created = gix::create::Options { destination_must_be_empty: Some(true), ..Default::default() };
    gix::ThreadSafeRepository::init_opts(to, gix::create::Kind::Bare, created, open_options(limits))
        .map_err(gix::Error::from_error)?;
    Ok(())
}

/// Converts the error of an attempt into a message for the vendor, or into one that allows a retry.
fn into_read_error(error: CopyError, source: &RemoteRepository, limits: Limits) -> ReadError {
    match error {
        CopyError::Host(error) => from_host_error(error, limits),
        CopyError::Stopped => ReadError::Canceled,
        CopyError::Git(cause) if is_file_address(&source.address) && is_missing_program(&cause) => {
            temporary_error("the program `git`, which reads repositories of this machine, was not found")
        }
        CopyError::Git(cause) => {
            // The texts of Git are for operators only.
            tracing::info!(cause = %ErrorChain(&cause), address = source.address, "repository could not be copied");
            let own = local_path(&source.address).filter(|_| source.origin == Origin::Local);
            let fault = own.and_then(|path| local::find_fault(&path, limits));
            fault.map_or_else(|| invalid_repository(source.origin), ReadError::Rejected)
        }
        CopyError::NoCommits => {
            let advice = match source.origin {
                Origin::Linked => "Push one, and link it again.",
                Origin::Local => "Commit something first.",
            };
            Rejection(format!("The repository has no commits. {advice}")).into()
        }
        CopyError::Unsupported(format) => format.rejection().into(),
        CopyError::Server(cause) => ReadError::Io(cause),
        CopyError::Panicked => {
            tracing::error!(address = source.address, "the thread that copies a repository panicked");
            invalid_repository(source.origin)
        }
    }
}

/// Whether an error is one of the disk of the server.
fn is_of_own_disk(error: &gix::Error) -> bool {
    // Like an `io::Error`, a `gix::Error` skips the error that it was made from in `source`.
    error.iter_errors().any(|source| {
        let wrapped = source.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        source.is::<OwnDisk>() || wrapped.and_then(|wrapped| wrapped.downcast_ref::<OwnDisk>()).is_some()
    })
}

/// Why an attempt to copy failed.
enum CopyError {
    /// The host did not send the repository.
    Host(HostError),
    /// The caller stopped it.
    Stopped,
    /// The repository has no commits.
    NoCommits,
    /// The repository has a format that is not read.
    Unsupported(UnsupportedFormat),
    /// The host did not send a repository that we accept.
    Git(gix::Error),
    /// The server could not start the copying thread, or write to its disk.
    Server(std::io::Error),
    /// The copying thread panicked.
    Panicked,
}

/// Receives the pack on a separate thread and watches it, because that thread may block for long on a slow
/// host. Returns the ID of the newest commit.
fn receive_on_thread(
    source: &RemoteRepository,
    to: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<String, CopyError> {
    create_empty(to, limits).map_err(|cause| CopyError::Server(std::io::Error::other(cause)))?;
    let state = Arc::new(TransferState::default());
    let (sender, receiver) = mpsc::channel();
    let work = {
        let (source, pack, state) = (source.clone(), to.join(RECEIVED_PACK), Arc::clone(&state));
        move || {
            // Sending fails if the watching thread has given up.
            let _ = sender.send(receive_pack::receive(&source, &pack, limits, &state));
        }
    };
    let thread = std::thread::Builder::new().name("copying".to_owned()).spawn(work);
    thread.map_err(CopyError::Server)?;
    // Git sends nothing while it counts the objects of a large repository on this machine.
    let mut rate = (!is_file_address(&source.address)).then(RateCheck::default);
    let result = loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(result) => break result,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(CopyError::Panicked),
        }
        if rate.as_mut().is_some_and(|rate| rate.is_too_slow(state.received_bytes.load(Ordering::Relaxed))) {
            state.is_stopped.store(true, Ordering::SeqCst);
            return Err(CopyError::Host(HostError::TimedOut));
        }
        if !should_continue() {
            state.is_stopped.store(true, Ordering::SeqCst);
            let _ = receiver.recv_timeout(STOP_TIMEOUT);
            return Err(CopyError::Stopped);
        }
    };
    match result {
        Ok(Received::Pack { head }) => Ok(head),
        Ok(Received::NoCommits) => Err(CopyError::NoCommits),
        Ok(Received::Unsupported(format)) => Err(CopyError::Unsupported(format)),
        Err(error) if is_of_own_disk(&error) => Err(CopyError::Server(std::io::Error::other(error))),
        Err(error) => Err(state.first_error().map_or(CopyError::Git(error), CopyError::Host)),
    }
}

/// Checks how fast a host sends.
#[derive(Debug, Default)]
struct RateCheck {
    polls: u64,
    bytes_at_last_check: u64,
}

impl RateCheck {
    /// Returns whether the host is too slow, at the next poll, with the number of bytes that it has sent so far.
    fn is_too_slow(&mut self, received: u64) -> bool {
        self.polls += 1;
        if !self.polls.is_multiple_of(POLLS_PER_RATE_CHECK) {
            return false;
        }
        let since = received - self.bytes_at_last_check;
        self.bytes_at_last_check = received;
        since < MIN_BYTES_PER_RATE_CHECK
    }
}

/// Whether an error of Git on this machine says that the program was not found.
fn is_missing_program(cause: &gix::Error) -> bool {
    cause.iter_errors().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|cause| cause.kind() == std::io::ErrorKind::NotFound)
    })
}

/// Returns the path of a `file` address. It is read as Git reads it, without decoding escapes.
fn local_path(address: &str) -> Option<PathBuf> {
    gix::url::parse(address).ok().and_then(|url| gix::path::from_bstring(url.path).ok())
}

/// Returns the number of bytes under a directory that may change meanwhile. Entries that cannot be read are
/// skipped.
fn directory_size(directory: &Path) -> u64 {
    let mut directories: Vec<PathBuf> = vec![directory.to_owned()];
    let mut bytes = 0;
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                Ok(_) => bytes += entry.metadata().map_or(0, |file| file.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}

fn invalid_address() -> ReadError {
    Rejection("The repository address is invalid. Link the repository again.".to_owned()).into()
}

/// Converts an error of the host: into a message for the vendor, or into one that allows a retry.
fn from_host_error(error: HostError, limits: Limits) -> ReadError {
    let message = match error {
        HostError::Denied | HostError::NotFound => {
            "The repository does not exist, or the market has no access. Check its name, or grant access."
                .to_owned()
        }
        HostError::Redirected => {
            "The host redirects to another address. If the repository was renamed, link its new name."
                .to_owned()
        }
        HostError::NotPublic => {
            "The host is not on the public internet, and the setting `repositories.private_hosts` of this server does \
             not allow others. Use a public host, or upload a zip."
                .to_owned()
        }
        HostError::TooLarge => format!(
            "The repository is larger than {} bytes, which is the setting `repositories.max_bytes`. Link a smaller one, or \
             upload a zip.",
            limits.bytes
        ),
        // These are problems of the host that may be temporary.
        HostError::TimedOut => return temporary_error("the host timed out"),
        HostError::Unreachable => return temporary_error("the host cannot be reached"),
    };
    Rejection(message).into()
}

fn temporary_error(message: &str) -> ReadError {
    ReadError::Io(std::io::Error::other(message))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn faults_of_the_own_disk_are_none_of_the_host() {
        let read_only = || OwnDisk(io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
        assert!(is_of_own_disk(&gix::Error::from_error(read_only())), "the pack is not created");
        assert!(is_of_own_disk(&gix::Error::from_error(io::Error::other(read_only()))), "it is not written");
        let of_host = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
        assert!(!is_of_own_disk(&gix::Error::from_error(of_host)));
    }

    #[test]
    fn slow_hosts_are_noticed_every_two_minutes() {
        for (bytes_per_poll, expected) in [(0, true), (400, true), (500, false), (1 << 20, false)] {
            let mut rate = RateCheck::default();
            let mut received = 0;
            for poll in 1..=3 * POLLS_PER_RATE_CHECK {
                received += bytes_per_poll;
                let is_checked = poll.is_multiple_of(POLLS_PER_RATE_CHECK);
                assert_eq!(rate.is_too_slow(received), is_checked && expected, "{bytes_per_poll}: {poll}");
            }
        }
    }
}
