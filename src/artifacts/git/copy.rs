//! Copying a repository: a bare clone of its newest commit with the full history, within limits, and from
//! public addresses only unless the settings allow private ones.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use gix::{
    error::{Class, ResourceExhaustionKind},
    progress::Discard,
    protocol::transport::{
        Protocol,
        client::blocking_io::{Transport, http},
    },
    remote::{Connection, Direction, fetch::Tags, ref_map},
};

use super::{
    Limits,
    http_transport::{ConnectionOptions, HostClient, HostError, TransferState},
    public_addresses::has_private_ip_host,
};
use crate::{
    artifacts::{ReadError, Rejection},
    error::ErrorChain,
};

/// The ref of the newest commit in a copy.
pub(super) const SNAPSHOT_REF: &str = "refs/heads/snapshot";

/// Interval between checks of the size of the copy and of cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long to wait for a stopped copy. It notices the stop when the next bytes arrive.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// The location of a repository, and how to access it.
#[derive(Clone)]
pub struct RemoteRepository {
    /// URL of the repository: `https`, or `http` or `file` if the settings name such a host.
    pub address: String,
    /// Value of the `Authorization` header for private repositories.
    pub authorization: Option<String>,
    /// Whether the host may be in a private network.
    pub may_be_private: bool,
}

impl fmt::Debug for RemoteRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteRepository({})", self.address)
    }
}

/// The result of copying a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyResult {
    /// Size of the copy on our disk in bytes.
    pub bytes: u64,
    /// Whether the host required credentials.
    pub is_private: bool,
}

/// Copies a repository into a directory that does not exist yet. Stops when `should_continue` returns false.
/// Credentials are sent only after the host has rejected a request without them.
pub fn copy_repository(
    source: &RemoteRepository,
    to: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<CopyResult, ReadError> {
    let url = url::Url::parse(&source.address).map_err(|_| invalid_address())?;
    let is_file = url.scheme() == "file";
    if !is_file && !source.may_be_private && has_private_ip_host(&url) {
        return Err(from_host_error(HostError::NotPublic, limits));
    }
    // Git reports a missing directory only by its text, so it is looked up first.
    if is_file && !is_local_repository(&source.address) {
        return Err(from_host_error(HostError::NotFound, limits));
    }
    let without_credentials = RemoteRepository { authorization: None, ..source.clone() };
    let (bytes, is_private) = match copy_on_thread(&without_credentials, to, limits, should_continue) {
        Err(CopyError::Host(HostError::Denied | HostError::NotFound)) if source.authorization.is_some() => {
            let _ = fs::remove_dir_all(to);
            (copy_on_thread(source, to, limits, should_continue), true)
        }
        other => (other, false),
    };
    match bytes {
        Ok(bytes) => Ok(CopyResult { bytes, is_private }),
        Err(CopyError::Host(error)) => Err(from_host_error(error, limits)),
        Err(CopyError::Stopped) => Err(ReadError::Canceled),
        Err(CopyError::Git(cause)) => {
            // The texts of Git are for operators only.
            tracing::info!(cause = %ErrorChain(&cause), address = source.address, "repository could not be copied");
            Err(from_git_error(&cause, limits))
        }
        Err(CopyError::NoCommits) => {
            Err(Rejection("The repository has no commits. Push one, and link it again.".to_owned()).into())
        }
        Err(CopyError::Thread(cause)) => Err(ReadError::Io(cause)),
        Err(CopyError::Panicked) => {
            tracing::error!(address = source.address, "the thread that copies a repository panicked");
            Err(invalid_repository())
        }
    }
}

/// Why an attempt to copy failed.
enum CopyError {
    /// The host did not send the repository.
    Host(HostError),
    /// The caller stopped it.
    Stopped,
    /// The repository has no commits.
    NoCommits,
    /// The host did not send a repository that we accept.
    Git(gix::Error),
    /// The copying thread did not start.
    Thread(std::io::Error),
    /// The copying thread panicked.
    Panicked,
}

/// Copies on a separate thread and watches it, because that thread may block for long on a slow host.
fn copy_on_thread(
    source: &RemoteRepository,
    to: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<u64, CopyError> {
    let state = Arc::new(TransferState::default());
    let (sender, receiver) = mpsc::channel();
    let work = {
        let (source, to, state) = (source.clone(), to.to_owned(), Arc::clone(&state));
        move || {
            // Sending fails if the watching thread has given up.
            let _ = sender.send(match fetch(&source, &to, limits, &state) {
                Ok(true) => Ok(()),
                Ok(false) => Err(CopyError::NoCommits),
                Err(error) => Err(CopyError::Git(error)),
            });
        }
    };
    let thread = std::thread::Builder::new().name("copying".to_owned()).spawn(work);
    thread.map_err(CopyError::Thread)?;
    let mut is_too_large = false;
    let result = loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(result) => break Some(result),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                break Some(Err(CopyError::Panicked));
            }
        }
        is_too_large = directory_size(to) > limits.bytes;
        if is_too_large || !should_continue() {
            state.is_stopped.store(true, Ordering::SeqCst);
            break receiver.recv_timeout(STOP_TIMEOUT).ok().filter(|_| false);
        }
    };
    let first_error = state.first_error();
    match result {
        _ if is_too_large => Err(CopyError::Host(HostError::TooLarge)),
        None => Err(CopyError::Stopped),
        Some(Ok(())) => {
            let bytes = directory_size(to);
            if bytes > limits.bytes { Err(CopyError::Host(HostError::TooLarge)) } else { Ok(bytes) }
        }
        Some(Err(error)) => Err(first_error.map_or(error, CopyError::Host)),
    }
}

/// Returns the options to open repositories with: no user or system settings, and a limit on what a pack may
/// allocate.
pub(super) fn open_options(limits: Limits) -> gix::open::Options {
    gix::open::Options::isolated().config_overrides([
        "protocol.allow=never".to_owned(),
        "protocol.https.allow=always".to_owned(),
        "protocol.http.allow=always".to_owned(),
        "protocol.file.allow=always".to_owned(),
        "http.followRedirects=false".to_owned(),
        // The branch that HEAD of a copy points to.
        "init.defaultBranch=snapshot".to_owned(),
        // One thread, so that the other cores stay free for requests.
        "pack.threads=1".to_owned(),
        format!("gitoxide.objects.allocLimit={}", limits.file_bytes),
    ])
}

/// Whether there is a repository at a `file` address, bare or with a worktree. The path is read as Git reads
/// it, without decoding escapes.
fn is_local_repository(address: &str) -> bool {
    let path = gix::url::parse(address).and_then(|url| gix::path::from_bstring(url.path));
    path.is_ok_and(|path| {
        gix::discover::is_git(&path).is_ok() || gix::discover::is_git(&path.join(".git")).is_ok()
    })
}

/// Fetches the newest commit with its history. Returns false if there is none.
fn fetch(
    source: &RemoteRepository,
    to: &Path,
    limits: Limits,
    state: &Arc<TransferState>,
) -> gix::Result<bool> {
    let created = gix::create::Options { destination_must_be_empty: Some(true), ..Default::default() };
    let repository =
        gix::ThreadSafeRepository::init_opts(to, gix::create::Kind::Bare, created, open_options(limits))?;
    let mut repository = repository.to_thread_local();
    repository.committer_or_set_generic_fallback()?;
    let snapshot = format!("+HEAD:{SNAPSHOT_REF}");
    let remote = repository
        .remote_at(source.address.as_str())?
        .with_fetch_tags(Tags::None)
        .with_refspecs([snapshot.as_str()], Direction::Fetch)?;
    let is_stopped: &AtomicBool = &state.is_stopped;
    if source.address.starts_with("file:") {
        receive(remote.connect(Direction::Fetch)?, is_stopped)?;
        return Ok(repository.head_id().is_ok());
    }
    let options = ConnectionOptions {
        authorization: source.authorization.as_deref(),
        may_be_private: source.may_be_private,
        idle_timeout: Duration::from_secs(limits.idle_seconds.into()),
        max_bytes: limits.bytes,
    };
    let host = HostClient::new(options, Arc::clone(state)).map_err(gix::Error::from_error)?;
    let (url, _) = remote.sanitized_url_and_version(Direction::Fetch)?;
    let transport = http::Transport::new_http(host, url, Protocol::V2, false);
    // Git itself has no credentials to offer: ours are sent with each request.
    let connection = remote.to_connection_with_transport(transport).with_credentials(|_| Ok(None));
    receive(connection, is_stopped)?;
    Ok(repository.head_id().is_ok())
}

/// Receives what the host has for the refspec. Receives nothing if the repository is empty.
fn receive<T: Transport>(connection: Connection<'_, '_, '_, T>, is_stopped: &AtomicBool) -> gix::Result<()> {
    let prepared = connection.prepare_fetch(Discard, ref_map::Options::default())?;
    if !prepared.ref_map().mappings.is_empty() {
        prepared.receive(Discard, is_stopped)?;
    }
    Ok(())
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
            "The host is not on the public internet. Use a public host, or upload a zip.".to_owned()
        }
        HostError::TooLarge => format!(
            "The repository is larger than {} bytes. Link a smaller one, or upload a zip.",
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

/// Converts an error of Git into a message for the vendor.
fn from_git_error(cause: &gix::Error, limits: Limits) -> ReadError {
    if cause.classify().has(Class::ResourceExhaustion(ResourceExhaustionKind::AllocationFailure)) {
        return temporary_error("there is not enough memory");
    }
    if !cause.classify().has(Class::ResourceExhaustion(ResourceExhaustionKind::AllocationLimit)) {
        return invalid_repository();
    }
    // Git allocates memory for whole files, and for the table of all objects.
    let max_bytes = limits.file_bytes;
    let message = format!(
        "The repository has a file larger than {max_bytes} bytes, or too many objects. Keep large files \
         elsewhere and relink it, or upload a zip."
    );
    Rejection(message).into()
}

fn invalid_repository() -> ReadError {
    let message =
        "The host did not send a valid repository. Check that `git clone` works, and link it again.";
    Rejection(message.to_owned()).into()
}
