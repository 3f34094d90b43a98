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
    progress::Discard,
    protocol::transport::{Protocol, client::blocking_io::http::Transport},
    remote::{Direction, fetch::Tags, ref_map},
};

use super::{
    Limits,
    addresses::names_private,
    network::{Fault, Guard, Host, Manners},
};
use crate::artifacts::{Refusal, Unread};

/// The ref of the newest commit in a copy.
pub(super) const SNAPSHOT: &str = "refs/heads/snapshot";

/// Error text for a repository without commits. It is matched later by the word "unborn".
const UNBORN: &str = "the repository has no commits (HEAD is unborn)";

/// Interval between checks of the size of the copy and of cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long to wait for a stopped copy. It notices the stop when the next bytes arrive.
const PATIENCE: Duration = Duration::from_secs(1);

/// The location of a repository, and how to access it.
#[derive(Clone)]
pub struct Source {
    /// URL of the repository: `https`, or `http` or `file` if the settings name such a host.
    pub address: String,
    /// Value of the `Authorization` header for private repositories.
    pub authorization: Option<String>,
    /// Whether the host may be in a private network.
    pub may_be_private: bool,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.address)
    }
}

/// The result of copying a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Size of the copy on our disk in bytes.
    pub bytes: u64,
    /// Whether the host required credentials.
    pub is_private: bool,
}

/// Copies a repository into a directory that does not exist yet. Stops when `go_on` returns false.
/// Credentials are sent only after the host has rejected a request without them.
pub fn copy(source: &Source, to: &Path, limits: Limits, go_on: &dyn Fn() -> bool) -> Result<Copied, Unread> {
    let url = url::Url::parse(&source.address).map_err(|_| elsewhere())?;
    let is_file = url.scheme() == "file";
    if !is_file && !source.may_be_private && names_private(&url) {
        return Err(refused(Fault::Private, limits));
    }
    let open = Source { authorization: None, ..source.clone() };
    let (bytes, is_private) = match attempt(&open, to, limits, go_on) {
        Err(Failed::Fault(Fault::Denied | Fault::Missing)) if source.authorization.is_some() => {
            let _ = fs::remove_dir_all(to);
            (attempt(source, to, limits, go_on), true)
        }
        other => (other, false),
    };
    match bytes {
        Ok(bytes) => Ok(Copied { bytes, is_private }),
        Err(Failed::Fault(fault)) => Err(refused(fault, limits)),
        Err(Failed::Stopped) => Err(Unread::Stopped),
        Err(Failed::Unfit(cause)) => {
            // The texts of Git are for operators only.
            tracing::info!(%cause, address = source.address, "repository could not be copied");
            Err(unfit(is_file, &cause, limits))
        }
    }
}

/// Why an attempt to copy failed.
enum Failed {
    /// The host did not send the repository.
    Fault(Fault),
    /// The caller stopped it.
    Stopped,
    /// The host did not send a repository that we accept. Holds the error text of Git.
    Unfit(String),
}

/// Copies on a separate thread and watches it, because that thread may block for long on a slow host.
fn attempt(source: &Source, to: &Path, limits: Limits, go_on: &dyn Fn() -> bool) -> Result<u64, Failed> {
    let guard = Arc::new(Guard::default());
    let (done, ended) = mpsc::channel();
    let work = {
        let (source, to, guard) = (source.clone(), to.to_owned(), Arc::clone(&guard));
        move || {
            // Sending fails if the watching thread has given up.
            let _ = done.send(fetch(&source, &to, limits, &guard).map_err(|error| chain(&error)));
        }
    };
    let thread = std::thread::Builder::new().name("copying".to_owned()).spawn(work);
    thread.map_err(|cause| Failed::Unfit(cause.to_string()))?;
    let mut is_too_much = false;
    let result = loop {
        match ended.recv_timeout(LOOK_EVERY) {
            Ok(result) => break Some(result),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                break Some(Err("the copying thread panicked".to_owned()));
            }
        }
        is_too_much = size_of(to) > limits.bytes;
        if is_too_much || !go_on() {
            guard.is_stopped.store(true, Ordering::SeqCst);
            break ended.recv_timeout(PATIENCE).ok().filter(|_| false);
        }
    };
    let fault = guard.fault();
    match result {
        _ if is_too_much => Err(Failed::Fault(Fault::TooMuch)),
        None => Err(Failed::Stopped),
        Some(Ok(())) => {
            let bytes = size_of(to);
            if bytes > limits.bytes { Err(Failed::Fault(Fault::TooMuch)) } else { Ok(bytes) }
        }
        Some(Err(cause)) => Err(fault.map_or(Failed::Unfit(cause), Failed::Fault)),
    }
}

/// Returns the options to open repositories with: no user or system settings, and a limit on what a pack may
/// allocate.
pub(super) fn options(limits: Limits) -> gix::open::Options {
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

fn fetch(source: &Source, to: &Path, limits: Limits, guard: &Arc<Guard>) -> gix::Result<()> {
    let created = gix::create::Options { destination_must_be_empty: Some(true), ..Default::default() };
    let repository =
        gix::ThreadSafeRepository::init_opts(to, gix::create::Kind::Bare, created, options(limits))?;
    let mut repository = repository.to_thread_local();
    repository.committer_or_set_generic_fallback()?;
    let snapshot = format!("+HEAD:{SNAPSHOT}");
    let remote = repository
        .remote_at(source.address.as_str())?
        .with_fetch_tags(Tags::None)
        .with_refspecs([snapshot.as_str()], Direction::Fetch)?;
    let stopped: &AtomicBool = &guard.is_stopped;
    if source.address.starts_with("file:") {
        let connection = remote.connect(Direction::Fetch)?;
        connection.prepare_fetch(Discard, ref_map::Options::default())?.receive(Discard, stopped)?;
        return has_commit(&repository);
    }
    let manners = Manners {
        authorization: source.authorization.as_deref(),
        may_be_private: source.may_be_private,
        idle: Duration::from_secs(limits.idle_seconds.into()),
        bytes: limits.bytes,
    };
    let host = Host::new(manners, Arc::clone(guard)).map_err(gix::Error::from_error)?;
    let (url, _) = remote.sanitized_url_and_version(Direction::Fetch)?;
    let transport = Transport::new_http(host, url, Protocol::V2, false);
    // Git itself has no credentials to offer: ours are sent with each request.
    let connection = remote.to_connection_with_transport(transport).with_credentials(|_| Ok(None));
    connection.prepare_fetch(Discard, ref_map::Options::default())?.receive(Discard, stopped)?;
    has_commit(&repository)
}

/// Fails if nothing was fetched. An empty repository is not an error for Git: its host just sends nothing.
fn has_commit(repository: &gix::Repository) -> gix::Result<()> {
    repository.head_id().map(|_| ()).map_err(|_| gix::Error::from_error(std::io::Error::other(UNBORN)))
}

/// Joins the messages of an error and its sources, outermost first.
fn chain(error: &gix::Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        said = format!("{said}: {error}");
        cause = error.source();
    }
    said
}

/// Returns the number of bytes under a directory that may change meanwhile. Entries that cannot be read are
/// skipped.
fn size_of(folder: &Path) -> u64 {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => bytes += entry.metadata().map_or(0, |file| file.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}

fn elsewhere() -> Unread {
    Refusal("The repository address is invalid. Link the repository again.".to_owned()).into()
}

/// Converts an error of the host: into a message for the vendor, or into one that allows a retry.
fn refused(fault: Fault, limits: Limits) -> Unread {
    let what = match fault {
        Fault::Denied | Fault::Missing => {
            "The repository does not exist, or the market has no access. Check its name, or grant access."
                .to_owned()
        }
        Fault::Moved => {
            "The host redirects to another address. If the repository was renamed, link its new name."
                .to_owned()
        }
        Fault::Private => {
            "The host is not on the public internet. Use a public host, or upload a zip.".to_owned()
        }
        Fault::TooMuch => format!(
            "The repository is larger than {} bytes. Link a smaller one, or upload a zip.",
            limits.bytes
        ),
        // These are problems of the host that may be temporary.
        Fault::Silent => return broken("the host timed out"),
        Fault::Unreachable => return broken("the host cannot be reached"),
    };
    Refusal(what).into()
}

fn broken(what: &str) -> Unread {
    Unread::Broken(std::io::Error::other(what))
}

/// Converts an error of Git into a message for the vendor. The errors have no common type, so their texts are
/// matched.
fn unfit(is_file: bool, cause: &str, limits: Limits) -> Unread {
    let says = |words: &[&str]| words.iter().any(|word| cause.to_lowercase().contains(word));
    let what = if says(&["none of the refspec", "didn't match", "unborn", "empty"]) {
        "The repository has no commits. Push one, and link it again.".to_owned()
    } else if says(&["delta tree"]) {
        "The repository has too many objects. Link a smaller one, or upload a zip.".to_owned()
    } else if says(&["too large", "alloc", "limit"]) {
        let most = limits.file_bytes;
        format!(
            "The repository has a file larger than {most} bytes. Keep such files elsewhere, then relink it."
        )
    } else if is_file && says(&["valid git directory", "not a git", "does not appear", "no such file"]) {
        return refused(Fault::Missing, limits);
    } else {
        "The host did not send a valid repository. Check that `git clone` works, and link it again."
            .to_owned()
    };
    Refusal(what).into()
}
