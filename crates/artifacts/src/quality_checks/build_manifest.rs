//! Checks that a codebase has a build manifest, and looks for the lockfile that pins its dependencies.

use std::collections::{BTreeSet, HashSet};

use super::{Check, FileAction, Finding, Place, Role, Rule, samples::Samples};
use crate::contents::{Entry, EntryKind, Root, quoted, split_path};

/// A build manifest exists.
pub static BUILD_MANIFEST: Rule = Rule::recommended("build_manifest", "A build manifest was found");

/// Maximum number of manifests, and of lockfiles, that are stored.
const MAX_MANIFESTS: usize = 10_000;

/// Maximum number of parent directories in which a lockfile is looked for.
const MAX_PARENTS: usize = 64;

/// Build tools: names of their manifests (`*` followed by an ending matches any name with that ending), and
/// names of their lockfiles, if the tool has any.
const TOOLS: [(&[&str], &[&str]); 17] = [
    (&["Cargo.toml"], &["Cargo.lock"]),
    (
        &["package.json"],
        &["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"],
    ),
    (&["pyproject.toml", "Pipfile"], &["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml"]),
    (&["setup.py", "setup.cfg", "requirements.txt", "environment.yml"], &[]),
    (&["go.mod"], &["go.sum"]),
    (&["Gemfile"], &["Gemfile.lock"]),
    (&["composer.json"], &["composer.lock"]),
    (&["mix.exs"], &["mix.lock"]),
    (&["Package.swift"], &["Package.resolved"]),
    (&["pubspec.yaml"], &["pubspec.lock"]),
    (&["deno.json", "deno.jsonc"], &["deno.lock"]),
    (&["flake.nix"], &["flake.lock"]),
    (
        &["pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "build.xml", "deps.edn", "project.clj"],
        &[],
    ),
    (&["*.csproj", "*.fsproj", "*.vbproj", "*.sln", "*.slnx", "*.vcxproj"], &[]),
    (
        &[
            "CMakeLists.txt",
            "meson.build",
            "configure.ac",
            "BUILD.bazel",
            "WORKSPACE",
            "MODULE.bazel",
            "SConstruct",
        ],
        &[],
    ),
    (&["Makefile", "makefile", "GNUmakefile", "Justfile", "justfile", "Rakefile", "Taskfile.yml"], &[]),
    (
        &[
            "build.zig",
            "stack.yaml",
            "*.cabal",
            "dune-project",
            "rebar.config",
            "Project.toml",
            "*.gemspec",
            "*.rockspec",
        ],
        &[],
    ),
];

/// Directories of third-party code. Manifests in them are ignored.
const VENDORED_DIRECTORIES: [&str; 5] =
    ["node_modules", "vendor", "third_party", "bower_components", "site-packages"];

/// Check for [`BUILD_MANIFEST`].
#[derive(Debug, Default)]
pub struct BuildManifest {
    /// Manifests, as (depth, path, index of the tool).
    manifests: BTreeSet<(usize, String, usize)>,
    /// Lockfiles, as (index of the tool, directory).
    lockfiles: HashSet<(usize, String)>,
    /// The manifest that the current file is.
    current_manifest: Option<(usize, String, usize)>,
}

impl Check for BuildManifest {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.current_manifest = None;
        let is_vendored = entry.path.split('/').any(|component| VENDORED_DIRECTORIES.contains(&component));
        if entry.kind != EntryKind::File || is_vendored {
            return FileAction::Skip;
        }
        let (name, depth) = (entry.name(), entry.path.matches('/').count());
        for (tool, (manifests, lockfiles)) in TOOLS.iter().enumerate() {
            if manifests.iter().any(|pattern| matches_name(name, pattern))
                && self.manifests.len() < MAX_MANIFESTS
            {
                let manifest = (depth, entry.path.to_owned(), tool);
                self.current_manifest = Some(manifest.clone());
                self.manifests.insert(manifest);
            }
            if lockfiles.contains(&name) && self.lockfiles.len() < MAX_MANIFESTS {
                self.lockfiles.insert((tool, split_path(entry.path).0.to_owned()));
            }
        }
        FileAction::Skip
    }

    fn end_file(&mut self, problem: Option<&str>) {
        if let (Some(manifest), Some(_)) = (self.current_manifest.take(), problem) {
            self.manifests.remove(&manifest);
        }
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        if self.manifests.is_empty() {
            let message = "No build manifest was found. Add one, such as Cargo.toml, package.json or a Makefile. \
                           Manifests in directories named node_modules, vendor, third_party, bower_components \
                           or site-packages are ignored.";
            return vec![Finding::failed(&BUILD_MANIFEST, message)];
        }
        let (mut found, mut unpinned) = (Samples::default(), Samples::default());
        for (_, path, tool) in &self.manifests {
            found.add_file(path);
            let lockfiles = TOOLS[*tool].1;
            if !lockfiles.is_empty() && !self.has_lockfile(path, *tool) {
                unpinned.add(
                    || Place::file(path, &format!("has no {}", lockfiles[0])),
                    |place| format!("{} ({})", quoted(&place.path), lockfiles[0]),
                );
            }
        }
        let mut message = format!("Found: {found}.");
        if !unpinned.is_empty() {
            message = format!("{message} No lockfile was found for: {unpinned}.");
        }
        vec![Finding::passed(&BUILD_MANIFEST, &message).with(Role::Note, "", unpinned)]
    }
}

impl BuildManifest {
    /// Whether a lockfile is in the directory of a manifest or in a parent directory, as in workspaces.
    fn has_lockfile(&self, path: &str, tool: usize) -> bool {
        let mut directory = path;
        for _ in 0..MAX_PARENTS {
            directory = split_path(directory).0;
            if self.lockfiles.contains(&(tool, directory.to_owned())) {
                return true;
            }
            if directory.is_empty() {
                return false;
            }
        }
        false
    }
}

fn matches_name(name: &str, pattern: &str) -> bool {
    pattern.strip_prefix('*').map_or(name == pattern, |suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality_checks::tests::findings_of;
    use marketplace_domain::quality_checks::CheckStatus;

    #[test]
    fn manifests_and_missing_lockfiles_are_reported() {
        for (paths, status, message) in [
            (&["a/src/main.rs"][..], CheckStatus::Failed, "No build manifest"),
            (&["node_modules/x/package.json"], CheckStatus::Failed, "No build manifest"),
            (&["Makefile"], CheckStatus::Passed, r#"Found: "Makefile"."#),
            (&["x/App.csproj"], CheckStatus::Passed, r#"Found: "x/App.csproj"."#),
            (
                &["Cargo.lock", "Cargo.toml", "a/b/Cargo.toml"],
                CheckStatus::Passed,
                r#"Found: "Cargo.toml"; "a/b/Cargo.toml"."#,
            ),
            (
                &["web/package.json", "api/Cargo.toml", "api/Cargo.lock", "yarn.lock2"],
                CheckStatus::Passed,
                r#"Found: "api/Cargo.toml"; "web/package.json". No lockfile was found for: "web/package.json" (package-lock.json)."#,
            ),
        ] {
            let files: Vec<_> = paths.iter().map(|path| (*path, &b"x"[..])).collect();
            assert_eq!(BuildManifest::default().start_file(&Entry::file(paths[0], 9)), FileAction::Skip);
            let found = findings_of(BuildManifest::default(), &files, 1).remove(0);
            assert_eq!(found.status, status, "{paths:?}");
            assert!(found.message.starts_with(message), "{paths:?}: {}", found.message);
            assert!(status == CheckStatus::Failed || found.message == message, "{}", found.message);
        }
    }
}
