//! Checks that continuous integration is configured for a codebase.

use super::{Check, FileAction, Finding, Rule};
use crate::contents::{Entry, EntryKind, Root, quoted};

/// A configuration file of continuous integration exists.
pub static CI_PRESENT: Rule = Rule::recommended("ci_present", "Continuous integration is configured");

/// Configuration files in the root, in lower case.
const CONFIG_FILES: [&str; 17] = [
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    "bitbucket-pipelines.yml",
    ".circleci/config.yml",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    "jenkinsfile",
    ".travis.yml",
    ".drone.yml",
    ".cirrus.yml",
    "appveyor.yml",
    ".appveyor.yml",
    ".semaphore/semaphore.yml",
    "buildkite.yml",
    ".buildspec.yml",
    "cloudbuild.yaml",
    "wercker.yml",
];

/// Directories in the root whose YAML files are all configuration of continuous integration.
const CONFIG_DIRECTORIES: [&str; 5] =
    [".github/workflows/", ".gitea/workflows/", ".forgejo/workflows/", ".woodpecker/", ".buildkite/"];

/// Check for [`CI_PRESENT`].
#[derive(Debug, Default)]
pub struct Ci {
    /// The first file in case that the root is the top level, and the first one in case that it is a directory there.
    top_level: Option<String>,
    nested: Option<String>,
    /// Path of the current file, if it is a candidate.
    current_file: Option<String>,
}

impl Check for Ci {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        // The root may be one directory deeper, which is known only at the end of the pass.
        let is_named = is_ci_config(entry.path) || is_ci_config(path_in_directory(entry.path));
        let is_candidate = entry.kind == EntryKind::File && !entry.is_outside && is_named;
        self.current_file = is_candidate.then(|| entry.path.to_owned());
        FileAction::Skip
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some(path) = self.current_file.take().filter(|_| problem.is_none()) else { return };
        if is_ci_config(&path) {
            self.top_level.get_or_insert_with(|| path.clone());
        }
        if is_ci_config(path_in_directory(&path)) {
            self.nested.get_or_insert(path);
        }
    }

    fn finish(self: Box<Self>, root: &Root) -> Vec<Finding> {
        let found = if root.directory().is_some() { self.nested } else { self.top_level };
        vec![match found {
            Some(path) => Finding::passed(&CI_PRESENT, &format!("Found: {}.", quoted(&path))),
            None => Finding::failed(
                &CI_PRESENT,
                "No configuration of continuous integration was found in the root. Add one, such as \
                 .github/workflows or .gitlab-ci.yml.",
            ),
        }]
    }
}

/// Returns a path relative to the directory at the top level that it is in; empty if it is in none.
fn path_in_directory(path: &str) -> &str {
    path.split_once('/').map_or("", |(_, path)| path)
}

/// Whether a path relative to the root configures continuous integration.
fn is_ci_config(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let is_yaml = [".yml", ".yaml"].iter().any(|suffix| path.ends_with(suffix));
    CONFIG_FILES.contains(&path.as_str())
        || is_yaml && CONFIG_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality_checks::tests::findings_of;
    use marketplace_domain::quality_checks::CheckStatus;

    #[test]
    fn ci_config_counts_in_root_only() {
        for (paths, is_found) in [
            (&[".github/workflows/test.yml", "src/a.rs"][..], true),
            (&["x/.github/workflows/test.yaml", "x/src/a.rs"], true),
            (&["x/.gitlab-ci.yml"], true),
            (&["Jenkinsfile"], true),
            (&["x/.gitlab-ci.yml", "y/b"], false),
            (&[".github/workflows/README.md", ".github/dependabot.yml"], false),
            (&["a/b/.travis.yml"], false),
        ] {
            let files: Vec<_> = paths.iter().map(|path| (*path, &b"x"[..])).collect();
            let status = if is_found { CheckStatus::Passed } else { CheckStatus::Failed };
            assert_eq!(findings_of(Ci::default(), &files, 1)[0].status, status, "{paths:?}");
        }
    }

    #[test]
    fn files_outside_of_an_archive_do_not_count() {
        let (mut check, mut root) = (Box::new(Ci::default()), Root::default());
        root.add_path("a/b.rs");
        check.start_file(&Entry { is_outside: true, ..Entry::file("../.travis.yml", 1) });
        check.end_file(None);
        assert_eq!(check.finish(&root)[0].status, CheckStatus::Failed);
    }

    #[test]
    fn configurations_of_many_directories_do_not_hide_that_of_the_root() {
        let paths: Vec<String> = (0..1_000).map(|number| format!("{number}/.travis.yml")).collect();
        let mut files: Vec<(&str, &[u8])> = paths.iter().map(|path| (path.as_str(), &b"x"[..])).collect();
        files.push((".travis.yml", b"x"));
        let finding = findings_of(Ci::default(), &files, 1).remove(0);
        assert_eq!(finding.message, r#"Found: ".travis.yml"."#);
    }
}
