//! Measures how much of a codebase is binary files, such as images, models, and programs.

use marketplace_domain::written::counted;

use super::{Check, Chunk, FileAction, Finding, Rule, samples::Share};
use crate::contents::{Entry, Root, quoted};

/// At most half of the bytes are in binary files.
pub static BINARY_SHARE: Rule = Rule::informational("binary_share", "Share of binary files");

/// Maximum share, in percent, with which the check passes.
const MAX_PERCENT: u64 = 50;

/// Check for [`BINARY_SHARE`].
#[derive(Debug, Default)]
pub struct BinaryShare {
    total_bytes: u64,
    binary_bytes: u64,
    binary_files: u64,
    largest: Option<(u64, String)>,
    /// Path and size of the current file, and whether it is binary.
    current_file: Option<(String, u64, bool)>,
}

impl Check for BinaryShare {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.current_file = entry.is_file().then(|| (entry.path.to_owned(), entry.size, false));
        if entry.is_file() { FileAction::Read } else { FileAction::Skip }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        if let Some((.., is_binary)) = &mut self.current_file {
            *is_binary = chunk.is_binary;
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some((path, size, is_binary)) = self.current_file.take().filter(|_| problem.is_none()) else {
            return;
        };
        self.total_bytes = self.total_bytes.saturating_add(size);
        if !is_binary {
            return;
        }
        self.binary_files += 1;
        self.binary_bytes = self.binary_bytes.saturating_add(size);
        if self.largest.as_ref().is_none_or(|(largest_size, _)| size > *largest_size) {
            self.largest = Some((size, path));
        }
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        if self.total_bytes == 0 {
            return Vec::new();
        }
        let share = Share { part: self.binary_bytes, total: self.total_bytes };
        let files = counted(self.binary_files, "binary file", "binary files");
        let mut message = format!("{share} of the bytes are in {files}.");
        if let Some((size, path)) = self.largest {
            message = format!("{message} The largest one, {}, has {size} bytes.", quoted(&path));
        }
        vec![Finding::passed_if(&BINARY_SHARE, share.is_at_most(MAX_PERCENT), &message)]
    }
}
