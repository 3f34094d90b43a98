//! Measures how much of a codebase is binary files, such as images, models, and programs.

use super::{
    Check, Finding, Piece, Rule, Wanted,
    places::{counted, percent},
};
use crate::artifacts::contents::{Entry, Root, shown};

/// At most half of the bytes are in binary files.
pub static BINARY_SHARE: Rule = Rule::informational("binary_share", "Share of binary files");

/// Maximum share, in percent, with which the check passes.
const MOST: u64 = 50;

/// Check for [`BINARY_SHARE`].
#[derive(Debug, Default)]
pub struct BinaryShare {
    bytes: u64,
    binary: u64,
    files: u64,
    largest: Option<(u64, String)>,
    entry: Option<(String, u64)>,
}

impl Check for BinaryShare {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        self.entry = entry.is_file().then(|| (entry.path.to_owned(), entry.size));
        self.bytes = self.bytes.saturating_add(if entry.is_file() { entry.size } else { 0 });
        if entry.is_file() { Wanted::All } else { Wanted::Nothing }
    }

    fn piece(&mut self, piece: Piece<'_>) {
        let Some((path, size)) = self.entry.take().filter(|_| piece.is_first && piece.is_binary) else {
            return;
        };
        self.files += 1;
        self.binary = self.binary.saturating_add(size);
        if self.largest.as_ref().is_none_or(|(known, _)| size > *known) {
            self.largest = Some((size, path));
        }
    }

    fn conclude(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let share = percent(self.binary, self.bytes);
        let files = counted(self.files, "binary file", "binary files");
        let mut message = format!("{share}% of the bytes are in {files}.");
        if let Some((size, path)) = self.largest {
            message = format!("{message} The largest one, {}, has {size} bytes.", shown(&path));
        }
        vec![Finding::judged(&BINARY_SHARE, share <= MOST, &message)]
    }
}
