//! Checks that a README describes the data.

use super::{Check, Finding, Rule, Wanted};
use crate::artifacts::{
    contents::{Entry, EntryKind, Root, shown},
    readme,
};

/// A README is in the root.
pub static README_PRESENT: Rule = Rule::recommended("readme_present", "A README is at the root");

/// Minimum size in bytes of a README that counts as a description.
const FEW_BYTES: u64 = 40;

/// Check for [`README_PRESENT`].
#[derive(Debug, Default)]
pub struct Readme {
    /// Best README at the top level, and best one in a directory there, as (rank, path, size in bytes).
    top: Option<(usize, String, u64)>,
    wrapped: Option<(usize, String, u64)>,
}

impl Check for Readme {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        let (EntryKind::File, Some(rank)) = (entry.kind, readme::rank(entry.name())) else {
            return Wanted::Nothing;
        };
        let place = match entry.path.matches('/').count() {
            0 => &mut self.top,
            1 => &mut self.wrapped,
            _ => return Wanted::Nothing,
        };
        if place.as_ref().is_none_or(|(known, ..)| rank < *known) {
            *place = Some((rank, entry.path.to_owned(), entry.size));
        }
        Wanted::Nothing
    }

    fn conclude(self: Box<Self>, root: &Root) -> Vec<Finding> {
        let found = if root.folder().is_some() { self.wrapped } else { self.top };
        vec![match found {
            None => Finding::failed(
                &README_PRESENT,
                "No README was found in the root. Add a README.md that describes the data and how to use it.",
            ),
            Some((_, path, size)) if size < FEW_BYTES => {
                let message = format!("{} is too short. Describe the data and how to use it.", shown(&path));
                Finding::failed(&README_PRESENT, &message)
            }
            Some((_, path, _)) => Finding::passed(&README_PRESENT, &format!("Found: {}.", shown(&path))),
        }]
    }
}
