//! Checks that a README describes the data.

use super::{Check, Chunk, FileAction, Finding, Rule};
use crate::{
    contents::{Entry, Root, quoted},
    readme,
};

/// A README is in the root.
pub static README_PRESENT: Rule = Rule::recommended("readme_present", "A usable README is at the root");

/// Minimum size in bytes of a README that counts as a description.
const MIN_BYTES: u64 = 40;

/// Check for [`README_PRESENT`].
#[derive(Debug, Default)]
pub struct Readme {
    /// Best README at the top level, and best one in a directory there.
    top_level: Option<Candidate>,
    nested: Option<Candidate>,
    current_file: Option<Candidate>,
}

/// A README.
#[derive(Debug)]
struct Candidate {
    rank: usize,
    path: String,
    /// Size of its text in bytes; 0 if it is binary.
    size: u64,
    /// Whether the text is nothing but white space.
    is_blank: bool,
}

impl Check for Readme {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.current_file = None;
        let (true, Some(rank)) = (entry.is_file(), readme::rank(entry.name())) else {
            return FileAction::Skip;
        };
        self.current_file = Some(Candidate { rank, path: entry.path.to_owned(), size: 0, is_blank: true });
        FileAction::Read
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        if let Some(file) = self.current_file.as_mut().filter(|_| !chunk.is_binary) {
            file.size += chunk.text.len() as u64;
            file.is_blank &= chunk.text.trim_ascii().is_empty();
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some(file) = self.current_file.take().filter(|_| problem.is_none()) else { return };
        let best = match file.path.matches('/').count() {
            0 => &mut self.top_level,
            1 => &mut self.nested,
            _ => return,
        };
        if best.as_ref().is_none_or(|best| file.rank < best.rank) {
            *best = Some(file);
        }
    }

    fn finish(self: Box<Self>, root: &Root) -> Vec<Finding> {
        let found = if root.directory().is_some() { self.nested } else { self.top_level };
        vec![match found {
            None => Finding::failed(
                &README_PRESENT,
                "No README was found in the root. Add a README.md that describes the data and how to use it.",
            ),
            Some(Candidate { path, size, is_blank, .. }) if is_blank || size < MIN_BYTES => {
                let message = format!("{} is too short. Describe the data and how to use it.", quoted(&path));
                Finding::failed(&README_PRESENT, &message)
            }
            Some(Candidate { path, .. }) => {
                Finding::passed(&README_PRESENT, &format!("Found: {}.", quoted(&path)))
            }
        }]
    }
}
