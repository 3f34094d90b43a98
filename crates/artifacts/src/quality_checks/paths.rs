//! Checks that no path or link points outside the data, and that an archive does not unpack to far more than
//! its size.

use marketplace_domain::written::counted;

use super::{Check, FileAction, Finding, Role, Rule, Source, samples::Samples};
use crate::contents::{ArchiveProblem, Entry, EntryKind, Root};

/// No path or link points outside the data.
pub static NO_PATH_TRAVERSAL: Rule =
    Rule::mandatory("no_path_traversal", "No entry leaves the archive's root");

/// Check for [`NO_PATH_TRAVERSAL`].
#[derive(Debug)]
pub struct Paths {
    source: Source,
    outside: Samples,
    links: Samples,
    submodules: Samples,
    excess_ratio: Option<u64>,
}

impl Paths {
    /// Creates the check for data from a source: archives must not have links; repositories may have links
    /// that stay inside.
    pub fn new(source: Source) -> Paths {
        let none = Samples::default;
        Paths { source, outside: none(), links: none(), submodules: none(), excess_ratio: None }
    }
}

impl Check for Paths {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        if entry.is_outside {
            self.outside.add_file(entry.path);
        }
        match entry.kind {
            EntryKind::Submodule => self.submodules.add_file(entry.path),
            EntryKind::Link { target } => {
                let is_inside = self.source == Source::Repository
                    && target.is_some_and(|to| is_target_inside(entry.path, to));
                if !is_inside {
                    self.links.add_file(entry.path);
                }
            }
            EntryKind::File => {}
        }
        FileAction::Skip
    }

    fn covers_extra(&self) -> bool {
        true
    }

    fn archive_problem(&mut self, problem: ArchiveProblem) {
        if let ArchiveProblem::TooDense { times } = problem {
            self.excess_ratio = Some(times);
        }
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let mut sentences = Vec::new();
        if !self.outside.is_empty() {
            sentences.push(format!(
                "Paths point outside the root: {}. Remove such paths and pack it again.",
                self.outside
            ));
        }
        if !self.links.is_empty() {
            let (problem, advice) = match self.source {
                Source::Zip => ("The archive has links", "Include the linked files themselves instead."),
                Source::Repository => {
                    ("Links point outside the repository", "Add the files that they point to.")
                }
            };
            sentences.push(format!("{problem}: {}. {advice}", self.links));
        }
        if let Some(times) = self.excess_ratio {
            sentences.push(format!("The archive unpacks to {times} times its size. Remove filler data."));
        }
        let is_passed = sentences.is_empty();
        if is_passed {
            sentences.push("Every path stays inside the root.".to_owned());
        }
        if !self.submodules.is_empty() {
            let count = counted(self.submodules.count(), "submodule is", "submodules are");
            sentences.push(format!("{count} not part of the data: {}.", self.submodules));
        }
        let link = match self.source {
            Source::Zip => "is a link",
            Source::Repository => "is a link that leaves the repository",
        };
        let finding = Finding::passed_if(&NO_PATH_TRAVERSAL, is_passed, &sentences.join(" "));
        vec![
            finding
                .with_general_cause(self.excess_ratio.is_some())
                .with(Role::Cause, "points outside the root", self.outside)
                .with(Role::Cause, link, self.links)
                .with(Role::LeftOut, "is a submodule, another repository", self.submodules),
        ]
    }
}

/// Whether the target of a link at a path is inside the data, judged by the path alone: the target need not
/// exist.
fn is_target_inside(path: &str, target: &str) -> bool {
    let is_absolute =
        target.starts_with(['/', '\\']) || target.contains('\0') || target.as_bytes().get(1) == Some(&b':');
    if is_absolute || target.is_empty() {
        return false;
    }
    let mut depth = path.matches('/').count();
    for component in target.split(['/', '\\']) {
        match component {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(parent_depth) => depth = parent_depth,
                None => return false,
            },
            _ => depth += 1,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_targets_must_stay_inside_root() {
        for (path, target, is_inside) in [
            ("a", "b", true),
            ("a/b/c", "../../d", true),
            ("a/b", "../../d", false),
            ("a/b", "x/../../../d", false),
            ("a", "..", false),
            ("a/b", "..", true),
            ("a", "/etc/passwd", false),
            ("a", "C:\\x", false),
            ("a", "\\\\server\\x", false),
            ("a/b", "..\\..\\x", false),
            ("a", "", false),
        ] {
            assert_eq!(is_target_inside(path, target), is_inside, "{path} -> {target}");
        }
    }
}
