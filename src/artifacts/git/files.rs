//! The files of a repository's newest commit, one after another.

use gix::objs::{FindExt, FindHeader, tree::EntryKind};

use super::{Limits, Repository, broken};
use crate::artifacts::{Refusal, Unread};

/// Files between two looks at whether to go on.
const LOOK_EVERY: u64 = 256;

/// Folders in each other at most; deeper ones are no file system's.
const MAX_DEPTH: usize = 200;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file; its bytes are what it holds.
    File,
    /// A link; its bytes are what it leads to.
    Link,
    /// Another repository, which is not copied; without bytes.
    Submodule,
}

/// A file, as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Where it is, with `/` between names. What is no UTF-8 in it is replaced.
    pub path: &'a str,
    /// What it is.
    pub kind: FileKind,
    /// Its size.
    pub size: u64,
    /// What it holds; nothing where it is larger than the limits let be read.
    pub bytes: Option<&'a [u8]>,
}

/// Shows every file of the newest commit, folder by folder and outer ones first. Goes on while `go_on` says so.
pub fn each(
    repository: &Repository,
    limits: Limits,
    go_on: &dyn Fn() -> bool,
    show: &mut dyn FnMut(File),
) -> Result<(), Unread> {
    let objects = &repository.inner.objects;
    let mut buffer = Vec::new();
    let root = objects.find_commit(&repository.head, &mut buffer).map_err(broken)?.tree();
    let (mut folders, mut bytes, mut files) = (vec![(String::new(), root)], Vec::new(), 0_u64);
    while let Some((folder, id)) = folders.pop() {
        let mut entries = objects.find_tree(&id, &mut buffer).map_err(broken)?.entries;
        // What says something of the others comes before them.
        entries.sort_by_key(|entry| entry.filename != ".gitattributes");
        for entry in entries {
            files += 1;
            if files > limits.files {
                let most = limits.files;
                return Err(Refusal(format!(
                    "The repository has more than {most} files and folders. Link a smaller one."
                ))
                .into());
            }
            if files % LOOK_EVERY == 0 && !go_on() {
                return Err(Unread::Stopped);
            }
            let name = String::from_utf8_lossy(entry.filename);
            let path = if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
            let kind = match entry.mode.kind() {
                EntryKind::Tree => {
                    if path.split('/').count() > MAX_DEPTH {
                        let what = format!(
                            "The repository has folders more than {MAX_DEPTH} deep in each other. Flatten it."
                        );
                        return Err(Refusal(what).into());
                    }
                    folders.push((path, entry.oid.to_owned()));
                    continue;
                }
                EntryKind::Commit => {
                    show(File { path: &path, kind: FileKind::Submodule, size: 0, bytes: None });
                    continue;
                }
                EntryKind::Link => FileKind::Link,
                EntryKind::Blob | EntryKind::BlobExecutable => FileKind::File,
            };
            let size = objects.try_header(entry.oid).map_err(broken)?.map_or(0, |header| header.size);
            let content = if size <= limits.file_bytes {
                Some(objects.find_blob(entry.oid, &mut bytes).map_err(broken)?.data)
            } else {
                None
            };
            show(File { path: &path, kind, size, bytes: content });
        }
    }
    Ok(())
}
