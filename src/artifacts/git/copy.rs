//! Copying a repository: bare, its newest commit with all the history behind it, within limits, and from public addresses
//! only unless the settings say otherwise.

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

/// What the newest commit of a copy is called.
pub(super) const SNAPSHOT: &str = "refs/heads/snapshot";

/// What is said of a repository that nobody has committed to.
const UNBORN: &str = "the newest commit is unborn";

/// How often we look at how much was copied, and whether to go on.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a copying that was told to stop is waited for: it notices when the next bytes come.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where a repository is.
#[derive(Clone)]
pub struct Source {
    /// Its address: `https`, or `http` or `file` where the settings name such a host.
    pub address: String,
    /// The value of the `Authorization` header, for repositories that not everybody may read.
    pub authorization: Option<String>,
    /// Whether the host may stand in a private network.
    pub may_be_private: bool,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.address)
    }
}

/// What was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Its size on our disk.
    pub bytes: u64,
    /// Whether the host wanted credentials.
    pub is_private: bool,
}

/// Copies a repository into a folder that is not there yet. Goes on while `go_on` says so. Credentials are shown only to a
/// host that gives nothing without.
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
            // What git says is for those who look after the market.
            tracing::info!(%cause, address = source.address, "a repository cannot be copied");
            Err(unfit(is_file, &cause, limits))
        }
    }
}

/// How an attempt ended that copied nothing.
enum Failed {
    /// The host did not give it.
    Fault(Fault),
    /// It was told to stop.
    Stopped,
    /// What the host gave is no repository that is taken: what git says.
    Unfit(String),
}

/// Copies on a thread of its own and watches it, since it waits for a host that may say nothing for long.
fn attempt(source: &Source, to: &Path, limits: Limits, go_on: &dyn Fn() -> bool) -> Result<u64, Failed> {
    let guard = Arc::new(Guard::default());
    let (done, ended) = mpsc::channel();
    let work = {
        let (source, to, guard) = (source.clone(), to.to_owned(), Arc::clone(&guard));
        move || {
            // Nobody listens any more where it was given up.
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
            Err(mpsc::RecvTimeoutError::Disconnected) => break Some(Err("it panicked".to_owned())),
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

/// How repositories are opened here: without anybody's own settings, and with bounds on what a pack may make us allocate.
pub(super) fn options(limits: Limits) -> gix::open::Options {
    gix::open::Options::isolated().config_overrides([
        "protocol.allow=never".to_owned(),
        "protocol.https.allow=always".to_owned(),
        "protocol.http.allow=always".to_owned(),
        "protocol.file.allow=always".to_owned(),
        "http.followRedirects=false".to_owned(),
        // What HEAD of a copy leads to.
        "init.defaultBranch=snapshot".to_owned(),
        // One thread, so that requests keep the others.
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
    // Whoever is asked for credentials by git has none: those that there are go with each request.
    let connection = remote.to_connection_with_transport(transport).with_credentials(|_| Ok(None));
    connection.prepare_fetch(Discard, ref_map::Options::default())?.receive(Discard, stopped)?;
    has_commit(&repository)
}

/// A host that has nothing sends nothing, and says no word of it.
fn has_commit(repository: &gix::Repository) -> gix::Result<()> {
    repository.head_id().map(|_| ()).map_err(|_| gix::Error::from_error(std::io::Error::other(UNBORN)))
}

/// Everything that an error says, from the outside to the inside.
fn chain(error: &gix::Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        said = format!("{said}: {error}");
        cause = error.source();
    }
    said
}

/// Bytes under a folder, as far as it can be looked at while it is written.
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
    Refusal("The address of the repository is none. Link it again.".to_owned()).into()
}

/// Why a host's answer ends the copying, for the vendor.
fn refused(fault: Fault, limits: Limits) -> Unread {
    let what = match fault {
        Fault::Denied | Fault::Missing => {
            "The host has no such repository, or does not let us read it. Check its name, or give the market access to it.".to_owned()
        }
        Fault::Moved => "The host sends us elsewhere, as it does where a repository has a new name. Link that one.".to_owned(),
        Fault::Private => "The host is not in the public internet, and is not asked.".to_owned(),
        Fault::TooMuch => format!(
            "The repository is larger than {} bytes, and is not copied. Link a smaller one, or upload a zip.",
            limits.bytes
        ),
        // The host's fault, and perhaps only for now.
        Fault::Silent => return broken("the host says nothing"),
        Fault::Unreachable => return broken("the host cannot be reached"),
    };
    Refusal(what).into()
}

fn broken(what: &str) -> Unread {
    Unread::Broken(std::io::Error::other(what))
}

/// Why what git met ends the copying, for the vendor.
fn unfit(is_file: bool, cause: &str, limits: Limits) -> Unread {
    let says = |words: &[&str]| words.iter().any(|word| cause.to_lowercase().contains(word));
    let what = if says(&["none of the refspec", "didn't match", "unborn", "empty"]) {
        "The repository has no commit yet. Push one, and link it again.".to_owned()
    } else if says(&["delta tree"]) {
        "The repository has more objects than are taken. Link a smaller one, or upload a zip.".to_owned()
    } else if says(&["too large", "alloc", "limit"]) {
        let most = limits.file_bytes;
        format!(
            "The repository holds a file of more than {most} bytes. Keep such files elsewhere, and link it again."
        )
    } else if is_file && says(&["valid git directory", "not a git", "does not appear", "no such file"]) {
        return refused(Fault::Missing, limits);
    } else {
        "What the host sent is no repository that can be read. Check that git can clone it, and link it again.".to_owned()
    };
    Refusal(what).into()
}
