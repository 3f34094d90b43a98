//! Traversal of the files in the newest commit of a repository.

use gix::objs::{FindExt, FindHeader, tree::EntryKind};

use super::{Limits, Repository, damaged_copy};
use crate::artifacts::{
    ReadError, Rejection,
    contents::{Entry, EntryKind as VisitedKind, FileAction, Visitor},
};

/// Number of entries between two checks for cancellation.
const CHECK_EVERY_FILES: u64 = 256;

/// Number of bytes between two checks for cancellation.
const CHECK_EVERY_BYTES: u64 = 16 << 20;

/// Maximum depth of directories. Real file systems do not have deeper ones.
const MAX_DEPTH: usize = 200;

/// Passes every file of the newest commit to a visitor, directory by directory and parents before their
/// children. The content of a link is its target. Stops when `should_continue` returns false.
pub fn visit_files(
    repository: &Repository,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
    visitor: &mut dyn Visitor,
) -> Result<(), ReadError> {
    let objects = &repository.inner.objects;
    let mut buffer = Vec::new();
    let root = objects.find_commit(&repository.head, &mut buffer).map_err(damaged_copy)?.tree();
    let (mut directories, mut bytes, mut files, mut bytes_since_check) =
        (vec![(String::new(), root)], Vec::new(), 0_u64, 0_u64);
    while let Some((directory, id)) = directories.pop() {
        let mut entries = objects.find_tree(&id, &mut buffer).map_err(damaged_copy)?.entries;
        // Attributes apply to the other files of the directory, so they come first.
        entries.sort_by_key(|entry| entry.filename != ".gitattributes");
        for entry in entries {
            files += 1;
            if files > limits.files {
                let max_files = limits.files;
                return Err(Rejection(format!(
                    "The repository has more than {max_files} files and directories. Link a smaller one."
                ))
                .into());
            }
            if files % CHECK_EVERY_FILES == 0 || bytes_since_check >= CHECK_EVERY_BYTES {
                bytes_since_check = 0;
                if !should_continue() {
                    return Err(ReadError::Canceled);
                }
            }
            let name = String::from_utf8_lossy(entry.filename);
            let path = if directory.is_empty() { name.into_owned() } else { format!("{directory}/{name}") };
            let kind = entry.mode.kind();
            if kind == EntryKind::Tree {
                if path.split('/').count() > MAX_DEPTH {
                    let message = format!(
                        "The repository nests directories more than {MAX_DEPTH} levels deep. Flatten it."
                    );
                    return Err(Rejection(message).into());
                }
                directories.push((path, entry.oid.to_owned()));
                continue;
            }
            if kind == EntryKind::Commit {
                visitor.start_file(&Entry { kind: VisitedKind::Submodule, ..Entry::file(&path, 0) });
                visitor.end_file(None);
                continue;
            }
            let size = objects.try_header(entry.oid).map_err(damaged_copy)?.map_or(0, |header| header.size);
            if size > limits.file_bytes {
                // The copy was made under a higher limit in the settings.
                visitor.start_file(&Entry { is_too_large: true, ..Entry::file(&path, size) });
                visitor.end_file(None);
                continue;
            }
            if kind == EntryKind::Link {
                let data = objects.find_blob(entry.oid, &mut bytes).map_err(damaged_copy)?.data;
                let target = std::str::from_utf8(data).ok();
                visitor.start_file(&Entry { kind: VisitedKind::Link { target }, ..Entry::file(&path, size) });
            } else if visitor.start_file(&Entry::file(&path, size)) == FileAction::Read {
                bytes_since_check += size;
                visitor.chunk(objects.find_blob(entry.oid, &mut bytes).map_err(damaged_copy)?.data);
            }
            visitor.end_file(None);
        }
    }
    Ok(())
}
