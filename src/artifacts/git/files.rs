//! Traversal of the files in the newest commit of a repository.

use gix::objs::{FindExt, FindHeader, tree::EntryKind};

use super::{Limits, Repository, broken};
use crate::artifacts::{
    Refusal, Unread,
    contents::{Entry, EntryKind as Shown, Visitor, Wanted},
};

/// Number of entries between two checks for cancellation.
const LOOK_EVERY: u64 = 256;

/// Number of bytes between two checks for cancellation.
const LOOK_EVERY_BYTES: u64 = 16 << 20;

/// Maximum depth of directories. Real file systems do not have deeper ones.
const MAX_DEPTH: usize = 200;

/// Passes every file of the newest commit to a visitor, directory by directory and parents before their
/// children. The content of a link is its target. Stops when `go_on` returns false.
pub fn visit(
    repository: &Repository,
    limits: Limits,
    go_on: &dyn Fn() -> bool,
    visitor: &mut dyn Visitor,
) -> Result<(), Unread> {
    let objects = &repository.inner.objects;
    let mut buffer = Vec::new();
    let root = objects.find_commit(&repository.head, &mut buffer).map_err(broken)?.tree();
    let (mut folders, mut bytes, mut files, mut unseen) =
        (vec![(String::new(), root)], Vec::new(), 0_u64, 0_u64);
    while let Some((folder, id)) = folders.pop() {
        let mut entries = objects.find_tree(&id, &mut buffer).map_err(broken)?.entries;
        // Attributes apply to the other files of the directory, so they come first.
        entries.sort_by_key(|entry| entry.filename != ".gitattributes");
        for entry in entries {
            files += 1;
            if files > limits.files {
                let most = limits.files;
                return Err(Refusal(format!(
                    "The repository has more than {most} files and directories. Link a smaller one."
                ))
                .into());
            }
            if files % LOOK_EVERY == 0 || unseen >= LOOK_EVERY_BYTES {
                unseen = 0;
                if !go_on() {
                    return Err(Unread::Stopped);
                }
            }
            let name = String::from_utf8_lossy(entry.filename);
            let path = if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
            let kind = entry.mode.kind();
            if kind == EntryKind::Tree {
                if path.split('/').count() > MAX_DEPTH {
                    let what = format!(
                        "The repository nests directories more than {MAX_DEPTH} levels deep. Flatten it."
                    );
                    return Err(Refusal(what).into());
                }
                folders.push((path, entry.oid.to_owned()));
                continue;
            }
            if kind == EntryKind::Commit {
                visitor.begin(&Entry { kind: Shown::Submodule, ..Entry::file(&path, 0) });
                visitor.end(None);
                continue;
            }
            let size = objects.try_header(entry.oid).map_err(broken)?.map_or(0, |header| header.size);
            if size > limits.file_bytes {
                // The copy was made under a higher limit in the settings.
                visitor.begin(&Entry { is_too_large: true, ..Entry::file(&path, size) });
                visitor.end(None);
                continue;
            }
            if kind == EntryKind::Link {
                let data = objects.find_blob(entry.oid, &mut bytes).map_err(broken)?.data;
                let target = std::str::from_utf8(data).ok();
                visitor.begin(&Entry { kind: Shown::Link { target }, ..Entry::file(&path, size) });
            } else if visitor.begin(&Entry::file(&path, size)) == Wanted::All {
                unseen += size;
                visitor.piece(objects.find_blob(entry.oid, &mut bytes).map_err(broken)?.data);
            }
            visitor.end(None);
        }
    }
    Ok(())
}
