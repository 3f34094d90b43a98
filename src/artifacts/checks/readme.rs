//! Whether a README says what the data is.

use super::{Check, Finding, Rule, Wanted};
use crate::artifacts::{
    contents::{Entry, EntryKind, Root, shown},
    readme,
};

/// There is a README in the root.
pub static README_PRESENT: Rule = Rule::recommended("readme_present", "A README is at the root");

/// Bytes of a README that says something.
const FEW_BYTES: u64 = 40;

/// The check of it.
#[derive(Debug, Default)]
pub struct Readme {
    /// READMEs at the top and in folders there, as (rank, path, bytes); one each.
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
                "There is no README in the root. Add a README.md that says what the data is and how to use it.",
            ),
            Some((_, path, size)) if size < FEW_BYTES => {
                let message = format!("{} says next to nothing. Say what the data is.", shown(&path));
                Finding::failed(&README_PRESENT, &message)
            }
            Some((_, path, _)) => Finding::passed(&README_PRESENT, &format!("Found: {}.", shown(&path))),
        }]
    }
}
