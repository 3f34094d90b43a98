//! Indexing of a received pack, and the options to open repositories with. Parses untrusted data of a host, so it
//! runs in a child process.

use std::{
    fs::{self, File},
    io::{self, BufReader},
    path::Path,
    sync::atomic::AtomicBool,
};

use gix::{
    ObjectId,
    error::{Class, ResourceExhaustionKind},
    hash::Kind,
    odb::pack,
    progress::Discard,
};
use marketplace_domain::error_sources::ErrorChain;
use serde::{Deserialize, Serialize};

use super::{Limits, Origin, bundle::is_id};
use crate::{ReadError, Rejection};

/// Buffer size in bytes for reading a pack.
const BUFFER_BYTES: usize = 1 << 16;

/// A pack that was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedPack {
    /// Number of objects in the pack.
    pub objects: u64,
}

/// Writes a pack with its index into a directory, and checks that it contains the object `head`. Also returns the
/// cause of a rejection, for operators.
pub fn index_pack(
    pack: io::Result<File>,
    directory: &Path,
    head: &str,
    limits: Limits,
    origin: Origin,
) -> (Result<IndexedPack, ReadError>, Option<String>) {
    let file = match pack {
        Ok(file) => file,
        Err(cause) => return (Err(ReadError::Io(cause)), None),
    };
    match write_pack(file, directory, head, limits) {
        Ok(indexed) => (Ok(indexed), None),
        Err(cause) => (Err(from_git_error(&cause, limits, origin)), Some(ErrorChain(&cause).to_string())),
    }
}

fn write_pack(file: File, directory: &Path, head: &str, limits: Limits) -> gix::Result<IndexedPack> {
    let head = ObjectId::from_hex(head.as_bytes()).map_err(gix::Error::from_error)?;
    let options = pack::bundle::write::Options {
        // One thread, so that the other cores stay free for requests.
        thread_limit: Some(1),
        alloc_limit_bytes: Some(usize::try_from(limits.file_bytes).unwrap_or(usize::MAX)),
        ..pack::bundle::write::Options::default()
    };
    let written = pack::Bundle::write_to_directory(
        &mut BufReader::with_capacity(BUFFER_BYTES, file),
        Some(directory),
        &mut Discard,
        &AtomicBool::new(false),
        None::<gix::OdbHandle>,
        Kind::Sha1,
        options,
    )?;
    if let Some(keep) = &written.keep_path {
        fs::remove_file(keep).map_err(gix::Error::from_error)?;
    }
    let missing = || gix::Error::from_error(io::Error::other("the pack does not contain the newest commit"));
    let index = pack::index::File::at(written.index_path.ok_or_else(missing)?, Kind::Sha1)?;
    index.lookup(head).ok_or_else(missing)?;
    Ok(IndexedPack { objects: u64::from(written.index.num_objects) })
}

/// Moves an indexed pack from the directory of the process that indexed it into a repository. Accepts only regular files with
/// the names of a pack and its index, and ignores other files that the process has left there.
pub(super) fn move_pack(from: &Path, repository: &Path) -> io::Result<()> {
    let to = repository.join("objects/pack");
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_pack_name) && entry.file_type()?.is_file() {
            fs::rename(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Whether a file name is `pack-`, 40 hexadecimal digits in lower case, and `.pack` or `.idx`.
fn is_pack_name(name: &str) -> bool {
    let hash = name
        .strip_prefix("pack-")
        .and_then(|name| name.strip_suffix(".pack").or_else(|| name.strip_suffix(".idx")));
    hash.is_some_and(is_id)
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

/// Converts an error of Git into a message for the vendor.
fn from_git_error(cause: &gix::Error, limits: Limits, origin: Origin) -> ReadError {
    if cause.classify().has(Class::ResourceExhaustion(ResourceExhaustionKind::AllocationFailure)) {
        // The process that indexes the pack has a limit on its memory.
        let message = "The repository could not be read within its limits, of which one is the setting \
                       `child_processes.memory_mb`. Make it smaller or simpler.";
        return Rejection(message.to_owned()).into();
    }
    if !cause.classify().has(Class::ResourceExhaustion(ResourceExhaustionKind::AllocationLimit)) {
        return invalid_repository(origin);
    }
    // Git allocates memory for whole files, and for the table of all objects.
    let max_bytes = limits.file_bytes;
    let message = format!(
        "The repository has a file larger than {max_bytes} bytes, which is the setting `repositories.max_file_bytes`, or too \
         many objects. Keep large files elsewhere and relink it, or upload a zip."
    );
    Rejection(message).into()
}

pub(super) fn invalid_repository(origin: Origin) -> ReadError {
    let message = match origin {
        Origin::Linked => {
            "The host did not send a valid repository. Check that `git clone` works, and link it again."
        }
        Origin::Local => {
            "Git cannot read all of the repository, so it is damaged or incomplete. Check it with `git fsck`."
        }
    };
    Rejection(message.to_owned()).into()
}
