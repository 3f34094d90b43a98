//! Traversal of the files in the newest commit of a repository.

use std::{borrow::Cow, fmt::Write};

use gix::{
    ObjectId,
    hash::oid,
    objs::{
        FindExt, TreeRefIter,
        tree::{EntryKind, EntryRef},
    },
};

use super::{Limits, Repository, commits, damaged_copy};
use crate::{
    ReadError, Rejection,
    contents::{Entry, EntryKind as VisitedKind, FileAction, Visitor},
};

/// Number of entries between two checks for cancellation.
const CHECK_EVERY_FILES: u64 = 256;

/// Number of bytes between two checks for cancellation.
const CHECK_EVERY_BYTES: u64 = 4 << 20;

/// Maximum depth of directories. Real file systems do not have deeper ones.
const MAX_DEPTH: usize = 200;

/// Maximum length of a path in bytes, as in common operating systems.
const MAX_PATH_BYTES: usize = 4_096;

/// Maximum size of a chunk of a file in bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// How many times as many bytes as a copy may have on disk may be read from it: files and directories that
/// appear in many places are stored once.
const MAX_EXPANSION: u64 = 20;

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
    let root = commits::root_of_newest(repository)?;
    let mut pass = Pass {
        repository,
        limits,
        should_continue,
        visitor,
        directories: vec![(String::new(), root)],
        files: 0,
        bytes: 0,
        unchecked_bytes: 0,
        blob: Vec::new(),
    };
    while let Some((directory, id)) = pass.directories.pop() {
        pass.count_bytes(repository.object_size(&id)?)?;
        let entries = objects.find_tree_iter(&id, &mut buffer).map_err(damaged_copy)?;
        pass.visit_directory(&directory, entries)?;
    }
    Ok(())
}

/// Returns a name as text. Bytes that are not UTF-8 are written as `%` and two hexadecimal digits, so that different names stay
/// different.
fn name_text(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(name) {
        return text.into();
    }
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text.into()
}

/// Whether a path stays below the root. Git refuses to check out a name such as `..`, or one with a slash, but a tree can have it.
fn is_inside(path: &str) -> bool {
    !path.split('/').any(|component| matches!(component, "" | "." | ".."))
}

/// State of a pass over the files of a commit.
struct Pass<'p> {
    repository: &'p Repository,
    limits: Limits,
    should_continue: &'p dyn Fn() -> bool,
    visitor: &'p mut dyn Visitor,
    /// Directories that were not read yet.
    directories: Vec<(String, ObjectId)>,
    /// Number of files and directories so far.
    files: u64,
    /// Number of bytes read so far.
    bytes: u64,
    /// Number of bytes read since the last check for cancellation.
    unchecked_bytes: u64,
    blob: Vec<u8>,
}

impl Pass<'_> {
    fn visit_directory(&mut self, directory: &str, entries: TreeRefIter<'_>) -> Result<(), ReadError> {
        // Attributes apply to the other files of the directory, so they come first.
        for is_first in [true, false] {
            for entry in entries {
                let entry = entry.map_err(damaged_copy)?;
                if (entry.filename == ".gitattributes") == is_first {
                    self.visit_entry(directory, entry)?;
                }
            }
        }
        Ok(())
    }

    fn visit_entry(&mut self, directory: &str, entry: EntryRef<'_>) -> Result<(), ReadError> {
        self.files += 1;
        if self.files > self.limits.files {
            let max_files = self.limits.files;
            return Err(rejected(format!(
                "The repository has more than {max_files} files and directories, which is the setting \
                 `repositories.max_files`. Link a smaller one."
            )));
        }
        if self.files.is_multiple_of(CHECK_EVERY_FILES) && !(self.should_continue)() {
            return Err(ReadError::Canceled);
        }
        if directory.len() + entry.filename.len() > MAX_PATH_BYTES {
            return Err(rejected(format!(
                "The repository has a path of more than {MAX_PATH_BYTES} bytes. Shorten it."
            )));
        }
        let name = name_text(entry.filename);
        let path = if directory.is_empty() { name.into_owned() } else { format!("{directory}/{name}") };
        let is_outside = !is_inside(&path);
        match entry.mode.kind() {
            EntryKind::Tree if path.split('/').count() > MAX_DEPTH => Err(rejected(format!(
                "The repository nests directories more than {MAX_DEPTH} levels deep. Flatten it."
            ))),
            EntryKind::Tree => {
                self.directories.push((path, entry.oid.to_owned()));
                Ok(())
            }
            EntryKind::Commit => {
                let entry = Entry { kind: VisitedKind::Submodule, is_outside, ..Entry::file(&path, 0) };
                self.visitor.start_file(&entry);
                self.visitor.end_file(None);
                Ok(())
            }
            kind => {
                let is_executable = kind == EntryKind::BlobExecutable;
                let size = self.repository.object_size(entry.oid)?;
                let file = Entry { is_outside, is_executable, ..Entry::file(&path, size) };
                self.visit_file(&file, entry.oid, kind == EntryKind::Link)
            }
        }
    }

    fn visit_file(&mut self, file: &Entry<'_>, id: &oid, is_link: bool) -> Result<(), ReadError> {
        let objects = &self.repository.inner.objects;
        if file.size > self.limits.file_bytes {
            // The copy was made under a higher limit in the settings.
            self.visitor.start_file(&Entry { is_too_large: true, ..file.clone() });
        } else if is_link {
            self.count_bytes(file.size)?;
            let data = objects.find_blob(id, &mut self.blob).map_err(damaged_copy)?.data;
            let target = std::str::from_utf8(data).ok();
            self.visitor.start_file(&Entry { kind: VisitedKind::Link { target }, ..file.clone() });
        } else if self.visitor.start_file(file) == FileAction::Read {
            self.count_bytes(file.size)?;
            let mut blob = std::mem::take(&mut self.blob);
            for chunk in objects.find_blob(id, &mut blob).map_err(damaged_copy)?.data.chunks(CHUNK_BYTES) {
                self.check_after(chunk.len() as u64)?;
                self.visitor.chunk(chunk);
            }
            self.blob = blob;
        }
        self.visitor.end_file(None);
        Ok(())
    }

    /// Counts bytes that are about to be read.
    fn count_bytes(&mut self, bytes: u64) -> Result<(), ReadError> {
        self.bytes = self.bytes.saturating_add(bytes);
        let max_bytes = self.limits.bytes.saturating_mul(MAX_EXPANSION);
        if self.bytes > max_bytes {
            return Err(rejected(format!(
                "The files of the repository have more than {max_bytes} bytes in total. Link a smaller one."
            )));
        }
        self.check_after(0)
    }

    /// Checks for cancellation if enough bytes were read.
    fn check_after(&mut self, bytes: u64) -> Result<(), ReadError> {
        self.unchecked_bytes += bytes;
        if self.unchecked_bytes >= CHECK_EVERY_BYTES {
            self.unchecked_bytes = 0;
            if !(self.should_continue)() {
                return Err(ReadError::Canceled);
            }
        }
        Ok(())
    }
}

fn rejected(message: String) -> ReadError {
    Rejection(message).into()
}
