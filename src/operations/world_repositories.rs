//! The repositories of a world, which its Git hosts have instead of those of the network: the compiled-in ones of the
//! documents' examples, and those that were added. Each is a Git bundle in the directory of the market.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use include_dir::{Dir, include_dir};
use serde::de::DeserializeOwned;

use super::{
    archive_analysis,
    child_processes::{ChildProcesses, TimeLimit},
    repository_analysis,
};
use crate::{
    artifacts::{
        ReadError, Rejection,
        child::{Input, Reply, Task, Validate},
        git::{self, IndexedPack, PackToIndex, REPACKED, RemoteRepository, RepackedRepository, bundle},
    },
    domain::teams::TeamRowId,
    error::{Error, Problem, Result},
    market::Market,
    private_files,
};

/// Name of the directory in that of a market.
pub const DIRECTORY: &str = "repositories";

/// Maximum number of repositories that are added to a world.
pub const MAX_REPOSITORIES: usize = 100;

/// Maximum size in bytes of a file with a repository.
pub const MAX_BYTES: u64 = 64 << 20;

/// Maximum number of characters of an owner and of a name, so that `owner/name` has at most 200.
const MAX_NAME_LENGTH: usize = 99;

/// Seconds that a child process may compute for a repository that is added.
const MAX_SECONDS: u32 = 60;

/// The compiled-in repositories, which `fixtures/make` builds.
static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures/bundles");

/// Locked while a repository is read, so that one child process computes, however many are added.
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

/// Whether a text can be the owner or the name of a repository: letters, digits, `_`, `-`, and `.`, but neither only a `.`
/// nor two of them at the start.
pub fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let after_dot = text.strip_prefix('.').unwrap_or(text);
    after_dot.starts_with(|first: char| first != '.')
        && text.bytes().all(is_allowed)
        && text.len() <= MAX_NAME_LENGTH
}

/// Returns the base URL of the repositories of a world.
pub fn base_url(market: &Market) -> String {
    format!("file://{}", directory(market).display())
}

fn directory(market: &Market) -> PathBuf {
    let directory = market.data_dir().join(DIRECTORY);
    std::path::absolute(&directory).unwrap_or(directory)
}

fn path_of(market: &Market, full_name: &str) -> PathBuf {
    directory(market).join(format!("{full_name}.git"))
}

/// Writes a compiled-in repository to the directory of a world when it is requested, unless another one with this name
/// was added.
pub fn provide(market: &Market, full_name: &str) -> io::Result<()> {
    let path = path_of(market, full_name);
    let Some(file) = EXAMPLES.get_file(format!("{full_name}.bundle")).filter(|_| !path.exists()) else {
        return Ok(());
    };
    let staging = market.blobs().staging_dir()?;
    let written = staging.path().join("bundle");
    fs::write(&written, file.contents())?;
    place(&written, &path)
}

/// Moves a complete file to its path. A world that was forked earlier keeps the file that was there.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    private_files::create_dir_all(to.parent().unwrap_or(to))?;
    fs::rename(from, to)
}

/// Adds the repository in a file to a world, in place of one with the same name. The file is a bundle or a zip of a bare
/// repository, as its first bytes say, in a directory of its own, in which other files are created. Returns an error that
/// names the reason if it is neither, or damaged.
pub fn add(market: &Market, owner: &str, name: &str, file: &Path) -> Result<AddedRepository> {
    let path = path_of(market, &format!("{owner}/{name}"));
    if !path.exists() && count(market).map_err(Error::internal)? >= MAX_REPOSITORIES {
        let message =
            format!("The world has {MAX_REPOSITORIES} repositories of its own, which is the maximum.");
        return Err(Error::invalid(Problem::path("name", "value_error", message)));
    }
    let _reading = READING.lock().unwrap_or_else(PoisonError::into_inner);
    let added = check(market, file).map_err(|error| match error {
        ReadError::Rejected(Rejection(message)) => Error::invalid(Problem::body(&[], "value_error", message)),
        ReadError::Canceled => Error::internal("reading a repository was canceled"),
        ReadError::Io(cause) => Error::internal(cause),
        ReadError::ProcessEnded(cause) => Error::internal(cause),
    })?;
    place(&added.0, &path).map_err(Error::internal)?;
    Ok(added.1)
}

/// Returns the number of repositories in the directory of a world.
fn count(market: &Market) -> io::Result<usize> {
    let owners = match fs::read_dir(directory(market)) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(0),
        owners => owners?,
    };
    let mut count = 0;
    for owner in owners {
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
    let source = RemoteRepository { address, authorization: None, may_be_private: false };
    let limits = repository_analysis::limits(&market.settings().repositories);
    let mut objects = 0;
    let index = |received: &PackToIndex| {
        let pack = File::open(&received.pack).map_err(ReadError::Io)?;
        let task = Task::IndexPack { head: received.head.clone(), limits };
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
    let reply = children.run(&mut turn, task, input, limit, &|| market.ensure_space(0).is_ok())?;
    let Reply { result, unenforced, .. } = reply
        .parse::<T>()
        .map_err(|cause| ReadError::ProcessEnded(format!("the reply is invalid: {cause}")))?;
    children.log_unenforced(&unenforced);
    result.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_directory() {
        for name in ["harbour", ".github", "a.b", "_", "A-9", "a.."] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", "..a", "a/b", "a\\b", "a b", "%2e", "é", &"x".repeat(100)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn repositories_of_the_examples_are_compiled_in() {
        let files: Vec<_> = EXAMPLES.dirs().flat_map(|owner| owner.files()).collect();
        let names: Vec<String> =
            files.iter().map(|file| file.path().with_extension("").display().to_string()).collect();
        for name in ["parlour-search", "quoin-ledger", "racklane-core", "tenant-portal"] {
            assert!(names.contains(&format!("lumen-codeworks/{name}")), "{name}");
        }
        assert!(names.contains(&"tideclock/harbour".to_owned()) && names.len() == 5);
        for file in files {
            let bytes = file.contents();
            assert!(bundle::is_bundle(bytes) && bytes.len() < 16 << 10, "{:?}", file.path());
        }
    }
}
