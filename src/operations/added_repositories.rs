//! Adds repositories to worlds. Child processes parse the data of the caller, with the same limits as for linked repositories.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;

use super::{
    archive_analysis,
    child_processes::{ChildProcesses, TimeLimit},
    repository_analysis, world_repositories,
};
use crate::{
    artifacts::{
        ReadError, Rejection,
        child::{Input, Task, Validate},
        git::{
            self, IndexedPack, Origin, PackToIndex, REPACKED, RemoteRepository, RepackedRepository, bundle,
        },
    },
    domain::teams::TeamRowId,
    error::{Error, Problem, Result},
    market::Market,
    private_files,
};

/// Maximum number of repositories that are added to a world.
pub const MAX_REPOSITORIES: usize = 100;

/// Maximum size in bytes of a file with a repository.
pub const MAX_BYTES: u64 = 64 << 20;

/// Seconds that a child process may compute for a repository that is added.
const MAX_SECONDS: u32 = 60;

/// Locked while a repository is read, so only one child process computes at a time.
static READING: Mutex<()> = Mutex::new(());

/// A repository that was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedRepository {
    /// ID of the newest commit of the default branch, in hexadecimal.
    pub commit_sha: String,
    /// Number of objects.
    pub objects: u64,
    /// Size of the bundle in bytes.
    pub bytes: u64,
}

/// Adds the repository in a file to a world, in place of one with the same name. The first bytes of the file decide whether it
/// is a bundle or a zip of a bare repository. It is in its own directory, in which other files are created. Returns an error
/// with the reason if it is neither, or if it is damaged.
pub fn add(market: &Market, owner: &str, name: &str, file: &Path) -> Result<AddedRepository> {
    let path = world_repositories::path_of(market, &format!("{owner}/{name}"));
    if !path.exists() && count(market).map_err(Error::internal)? >= MAX_REPOSITORIES {
        let message =
            format!("The world has {MAX_REPOSITORIES} repositories of its own, which is the maximum.");
        return Err(Error::invalid(Problem::path("name", "value_error", message)));
    }
    let _reading = READING.lock().unwrap_or_else(PoisonError::into_inner);
    let file = std::path::absolute(file).map_err(Error::internal)?;
    let added = check(market, &file).map_err(|error| match error {
        ReadError::Rejected(Rejection(message)) => Error::invalid(Problem::body(&[], "value_error", message)),
        ReadError::Canceled => Error::internal("reading a repository was canceled"),
        ReadError::Io(cause) => Error::internal(cause),
        ReadError::ProcessEnded(cause) => Error::internal(cause),
    })?;
    world_repositories::place(&added.0, &path).map_err(Error::internal)?;
    Ok(added.1)
}

/// Returns the number of repositories in the directory of a world.
fn count(market: &Market) -> io::Result<usize> {
    let owners = private_files::if_found(fs::read_dir(world_repositories::directory(market)))?;
    let mut count = 0;
    for owner in owners.into_iter().flatten() {
        count += fs::read_dir(owner?.path())?.count();
    }
    Ok(count)
}

/// Checks a file. Returns the path of the bundle, which may be another file, and what is in it.
fn check(market: &Market, file: &Path) -> std::result::Result<(PathBuf, AddedRepository), ReadError> {
    let mut start = Vec::new();
    File::open(file).and_then(|file| file.take(16).read_to_end(&mut start)).map_err(ReadError::Io)?;
    let path = if start.starts_with(b"PK") {
        bundle_of_zip(market, file)?
    } else if bundle::is_bundle(&start) {
        file.to_owned()
    } else {
        let message = "The body is neither a Git bundle, which begins with `# v2 git bundle` or `# v3 git bundle`, nor a \
            zip, which begins with `PK`.";
        return Err(Rejection(message.to_owned()).into());
    };
    let commit_sha = bundle::open(&path)?.head;
    let address = format!("file://{}", path.display());
    let source =
        RemoteRepository { address, authorization: None, may_be_private: false, origin: Origin::Linked };
    let limits = repository_analysis::limits(&market.settings().repositories);
    let mut objects = 0;
    let index = |received: &PackToIndex| {
        let pack = File::open(&received.pack).map_err(ReadError::Io)?;
        let task = Task::IndexPack { head: received.head.clone(), limits, origin: received.origin };
        let indexed: IndexedPack = run_child(market, &task, Input::File(pack, &received.directory))?;
        objects = indexed.objects;
        Ok(indexed)
    };
    // As when it is linked later. The copy is deleted with the directory of the file.
    match git::copy_repository(&source, &file.with_extension("copy"), limits, &|| true, index) {
        // The messages are for the owners of repositories at hosts.
        Err(ReadError::Rejected(_)) => {
            let message = "The pack is damaged or incomplete, or exceeds the limits in `repositories` of the settings. \
                Check the repository with `git fsck`.";
            return Err(Rejection(message.to_owned()).into());
        }
        copied => copied?,
    };
    let bytes = fs::metadata(&path).map_err(ReadError::Io)?.len();
    Ok((path, AddedRepository { commit_sha, objects, bytes }))
}

/// Converts a zip of a bare repository to a bundle. Returns its path.
fn bundle_of_zip(market: &Market, zip: &Path) -> std::result::Result<PathBuf, ReadError> {
    let limits = repository_analysis::limits(&market.settings().repositories);
    let task = Task::RepackZip { archive: archive_analysis::limits(market.settings()), limits };
    let directory = zip.with_extension("repacked");
    fs::create_dir(&directory).map_err(ReadError::Io)?;
    let file = File::open(zip).map_err(ReadError::Io)?;
    let repacked: RepackedRepository = run_child(market, &task, Input::File(file, &directory))?;
    let path = zip.with_extension("bundle");
    let mut pack = File::open(directory.join(REPACKED)).map_err(ReadError::Io)?;
    let mut joined = File::create_new(&path).map_err(ReadError::Io)?;
    let header = bundle::header(&repacked.head);
    io::copy(&mut header.as_bytes().chain(&mut pack), &mut joined).map_err(ReadError::Io)?;
    Ok(path)
}

fn run_child<T: DeserializeOwned + Validate>(
    market: &Market,
    task: &Task,
    input: Input,
) -> std::result::Result<T, ReadError> {
    let children = ChildProcesses::new(market);
    let mut turn = children.turns().join(TeamRowId(0));
    let limit = TimeLimit { seconds: MAX_SECONDS, what: "The repository" };
    // The stopwatch of a world whose clock is frozen stands still.
    let deadline = Instant::now() + Duration::from_secs(MAX_SECONDS.into());
    let should_continue = || Instant::now() < deadline && market.ensure_space(0).is_ok();
    let reply = match children.run(&mut turn, task, input, limit, &should_continue) {
        Err(ReadError::Canceled) if Instant::now() >= deadline => {
            let message = format!("The repository could not be read within {MAX_SECONDS} seconds.");
            return Err(Rejection(message).into());
        }
        other => other?,
    };
    children.parse_reply(&reply, |_| {})
}
