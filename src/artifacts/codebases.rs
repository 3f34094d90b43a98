//! What is read of a codebase: of its newest files, wherever they lie, and of its history, where it has one.

use std::collections::BTreeMap;

use super::{
    Unread,
    attributes::Attributes,
    git::{self, File, FileKind, History, Repository},
    languages::{self, Mix},
    manifests, pipelines, readme,
    structure::{NodeKind, Structure, Tree},
};

/// What was read of the files of a codebase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Files.
    pub files: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Languages and lines.
    pub mix: Mix,
    /// Whether something runs on pull requests.
    pub ci_on_prs: bool,
    /// Folders and files.
    pub structure: Structure,
    /// What its README says first.
    pub readme: Option<String>,
    /// What the manifest of its build says.
    pub manifest: Option<String>,
}

/// Gets to know a codebase file by file.
#[derive(Debug, Default)]
pub struct Looker {
    files: u64,
    bytes: u64,
    attributes: Attributes,
    counter: languages::Counter,
    tree: Tree,
    ci_on_prs: bool,
    readmes: BTreeMap<usize, Option<String>>,
    manifests: BTreeMap<usize, Option<String>>,
}

impl Looker {
    /// Looks at a file. Attributes come before what they say something of.
    pub fn see(&mut self, path: &str, size: u64, bytes: Option<&[u8]>) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(size);
        self.tree.add(path.split('/'), NodeKind::File);
        let Some(bytes) = bytes else { return };
        if path.rsplit('/').next() == Some(".gitattributes") {
            self.attributes.add(path, bytes);
        }
        self.counter.see(path, bytes, &self.attributes.of(path));
        if pipelines::is_one(path) {
            self.ci_on_prs |= pipelines::runs_on_pull_requests(path, bytes);
        }
        if path.contains('/') {
            return;
        }
        if let Some(rank) = readme::rank(path) {
            let beginning = &bytes[..bytes.len().min(readme::READ_BYTES as usize)];
            self.readmes.insert(rank, readme::description(beginning));
        }
        if let Some(rank) = manifests::rank(path) {
            self.manifests.insert(rank, manifests::description(path, bytes));
        }
    }

    /// What was seen.
    pub fn conclude(self) -> Reading {
        let first = |found: BTreeMap<usize, Option<String>>| found.into_values().flatten().next();
        Reading {
            files: self.files,
            bytes: self.bytes,
            mix: self.counter.conclude(),
            ci_on_prs: self.ci_on_prs,
            structure: self.tree.into_structure(),
            readme: first(self.readmes),
            manifest: first(self.manifests),
        }
    }
}

/// Reads a repository that was copied: its newest files, and the history behind them. `now` is in seconds since 1970.
pub fn repository(
    repository: &Repository,
    limits: git::Limits,
    now: i64,
    go_on: &dyn Fn() -> bool,
) -> Result<(Reading, History), Unread> {
    let history = git::history(repository, now, go_on)?;
    let mut looker = Looker::default();
    git::each(repository, limits, go_on, &mut |File { path, kind, size, bytes }| {
        // What a link leads to is seen where it lies, and a submodule is another repository.
        let bytes = bytes.filter(|_| kind == FileKind::File);
        looker.see(path, size, bytes);
    })?;
    Ok((looker.conclude(), history))
}
