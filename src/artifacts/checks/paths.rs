//! Checks that no path or link points outside the data, and that an archive does not unpack to far more than
//! its size.

use super::{
    Check, Finding, Rule, Source, Wanted,
    places::{Places, counted},
};
use crate::artifacts::contents::{Entry, EntryKind, Root, WholeFault, shown};

/// No path or link points outside the data.
pub static NO_PATH_TRAVERSAL: Rule =
    Rule::mandatory("no_path_traversal", "No entry leaves the archive's root");

/// Check for [`NO_PATH_TRAVERSAL`].
#[derive(Debug)]
pub struct Paths {
    source: Source,
    ways_out: Places,
    links: Places,
    submodules: Places,
    times: Option<u64>,
}

impl Paths {
    /// Creates the check for data from a source: archives must not have links; repositories may have links
    /// that stay inside.
    pub fn of(source: Source) -> Paths {
        let none = Places::default;
        Paths { source, ways_out: none(), links: none(), submodules: none(), times: None }
    }
}

impl Check for Paths {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        if entry.leads_out {
            self.ways_out.add(|| shown(entry.path));
        }
        match entry.kind {
            EntryKind::Submodule => self.submodules.add(|| shown(entry.path)),
            EntryKind::Link { target } => {
                let is_inside =
                    self.source == Source::Repository && target.is_some_and(|to| stays(entry.path, to));
                if !is_inside {
                    self.links.add(|| shown(entry.path));
                }
            }
            EntryKind::File => {}
        }
        Wanted::Nothing
    }

    fn whole(&mut self, fault: WholeFault) {
        if let WholeFault::TooDense { times } = fault {
            self.times = Some(times);
        }
    }

    fn conclude(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let mut faults = Vec::new();
        if !self.ways_out.is_empty() {
            faults.push(format!(
                "Paths point outside the root: {}. Remove such paths and pack it again.",
                self.ways_out
            ));
        }
        if !self.links.is_empty() {
            let (what, instead) = match self.source {
                Source::Zip => ("The archive has links", "Include the linked files themselves instead."),
                Source::Repository => {
                    ("Links point outside the repository", "Add the files that they point to.")
                }
            };
            faults.push(format!("{what}: {}. {instead}", self.links));
        }
        if let Some(times) = self.times {
            faults.push(format!("The archive unpacks to {times} times its size. Remove filler data."));
        }
        let is_good = faults.is_empty();
        if is_good {
            faults.push("Every path stays inside the root.".to_owned());
        }
        if !self.submodules.is_empty() {
            let count = counted(self.submodules.count(), "submodule is", "submodules are");
            faults.push(format!("{count} not part of the data: {}.", self.submodules));
        }
        vec![Finding::judged(&NO_PATH_TRAVERSAL, is_good, &faults.join(" "))]
    }
}

/// Whether the target of a link at a path is inside the data, judged by the path alone: the target need not
/// exist.
fn stays(path: &str, target: &str) -> bool {
    let is_absolute =
        target.starts_with(['/', '\\']) || target.contains('\0') || target.as_bytes().get(1) == Some(&b':');
    if is_absolute || target.is_empty() {
        return false;
    }
    let mut depth = path.matches('/').count();
    for step in target.split(['/', '\\']) {
        match step {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
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
    fn links_may_move_within_the_data_only() {
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
            assert_eq!(stays(path, target), is_inside, "{path} -> {target}");
        }
    }
}
