//! Checks that a README describes the data.

use super::{Check, FileAction, Finding, Rule};
use crate::artifacts::{
    contents::{Entry, EntryKind, Root, quoted},
    readme,
};

/// A README is in the root.
pub static README_PRESENT: Rule = Rule::recommended("readme_present", "A README is at the root");

/// Minimum size in bytes of a README that counts as a description.
const MIN_BYTES: u64 = 40;

/// Check for [`README_PRESENT`].
#[derive(Debug, Default)]
pub struct Readme {
    /// Best README at the top level, and best one in a directory there, as (rank, path, size in bytes).
    top_level: Option<(usize, String, u64)>,
    nested: Option<(usize, String, u64)>,
}

impl Check for Readme {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        let (EntryKind::File, Some(rank)) = (entry.kind, readme::rank(entry.name())) else {
            return FileAction::Skip;
        };
        let best = match entry.path.matches('/').count() {
            0 => &mut self.top_level,
            1 => &mut self.nested,
            _ => return FileAction::Skip,
        };
        if best.as_ref().is_none_or(|(best_rank, ..)| rank < *best_rank) {
            *best = Some((rank, entry.path.to_owned(), entry.size));
        }
        FileAction::Skip
    }

    fn finish(self: Box<Self>, root: &Root) -> Vec<Finding> {
        let found = if root.directory().is_some() { self.nested } else { self.top_level };
        vec![match found {
            None => Finding::failed(
                &README_PRESENT,
                "No README was found in the root. Add a README.md that describes the data and how to use it.",
            ),
            Some((_, path, size)) if size < MIN_BYTES => {
                let message = format!("{} is too short. Describe the data and how to use it.", quoted(&path));
                Finding::failed(&README_PRESENT, &message)
            }
            Some((_, path, _)) => Finding::passed(&README_PRESENT, &format!("Found: {}.", quoted(&path))),
        }]
    }
}
