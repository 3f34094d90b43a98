//! Analysis of codebases: of their newest files, in a zip or in a repository, and of the history of a
//! repository.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{
    Limits, Unread, archive,
    attributes::Attributes,
    contents::{Entry, Visitor, Wanted},
    git::{self, History, Repository},
    languages::{self, Mix},
    manifests, pipelines, readme,
    structure::{NodeKind, Structure, Tree},
};

/// The analysis of the files of a codebase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Number of files.
    pub files: u64,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Bytes by language, and lines of code.
    pub mix: Mix,
    /// Whether a CI pipeline runs on pull requests.
    pub ci_on_prs: bool,
    /// Tree of directories and files.
    pub structure: Structure,
    /// Description from the README in the root directory.
    pub readme: Option<String>,
    /// Description from the build manifest in the root directory.
    pub manifest: Option<String>,
}

/// Maximum size in bytes of a file that is read. Larger files are data, whatever their names say.
const MAX_FILE: usize = 16 << 20;

/// Analyzes a codebase file by file.
#[derive(Debug, Default)]
pub struct Looker {
    /// The only top-level directory, with a trailing `/`. Empty if there is none.
    root: String,
    /// Path of the current file; `size` and `content` belong to it.
    path: String,
    size: u64,
    content: Option<Vec<u8>>,
    files: u64,
    bytes: u64,
    attributes: Attributes,
    counter: languages::Counter,
    tree: Tree,
    ci_on_prs: bool,
    readmes: BTreeMap<usize, Option<String>>,
    manifests: BTreeMap<usize, Option<String>>,
}

impl Visitor for Looker {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        // The vendor did not write the files that macOS adds to zips.
        let is_seen = !entry.leads_out && !entry.path.starts_with("__MACOSX/");
        self.path.clear();
        if is_seen {
            self.path.push_str(entry.path.strip_prefix(self.root.as_str()).unwrap_or(entry.path));
        }
        self.size = entry.size;
        // The target of a link is a file of the codebase itself, and a submodule is another repository.
        let is_read = is_seen && entry.is_file() && entry.size <= MAX_FILE as u64;
        self.content = is_read.then(|| {
            let mut content = self.content.take().unwrap_or_default();
            content.clear();
            content
        });
        if is_read { Wanted::All } else { Wanted::Nothing }
    }

    fn piece(&mut self, bytes: &[u8]) {
        if let Some(content) = self.content.as_mut().filter(|content| content.len() + bytes.len() <= MAX_FILE)
        {
            content.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, fault: Option<&str>) {
        if self.path.is_empty() {
            return;
        }
        let (path, content) = (std::mem::take(&mut self.path), self.content.take());
        self.see(&path, self.size, content.as_deref().filter(|_| fault.is_none()));
        (self.path, self.content) = (path, content);
    }
}

impl Looker {
    /// Analyzes a file. `.gitattributes` must come before the files that it applies to.
    fn see(&mut self, path: &str, size: u64, bytes: Option<&[u8]>) {
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

    /// Returns the analysis after the last file.
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

/// Analyzes a copied repository: its newest files, and its history. `now` is in seconds since 1970. Stops
/// when `go_on` returns false.
pub fn repository(
    repository: &Repository,
    limits: git::Limits,
    now: i64,
    go_on: &dyn Fn() -> bool,
) -> Result<(Reading, History), Unread> {
    let history = git::history(repository, now, go_on)?;
    let mut looker = Looker::default();
    git::visit(repository, limits, go_on, &mut looker)?;
    Ok((looker.conclude(), history))
}

/// Analyzes a codebase in a zip. `root` is the only top-level directory, if there is one, according to the
/// list of files. Stops when `go_on` returns false.
pub fn zipped(
    path: &Path,
    root: Option<&str>,
    limits: Limits,
    go_on: &dyn Fn() -> bool,
) -> Result<Reading, Unread> {
    let root = root.map(|folder| format!("{folder}/")).unwrap_or_default();
    let mut looker = Looker { root, ..Looker::default() };
    archive::visit(path, limits, &mut looker, go_on)?;
    Ok(looker.conclude())
}
