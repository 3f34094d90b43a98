//! What is read of a codebase: of its newest files, wherever they lie, and of its history, where it has one.

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

/// What was read of the files of a codebase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Bytes of a file that is looked into; larger ones are data, whatever they are called.
const MAX_FILE: usize = 16 << 20;

/// Gets to know a codebase file by file.
#[derive(Debug, Default)]
pub struct Looker {
    /// The folder that everything lies in, with a `/` behind it; empty where there is none.
    root: String,
    /// The file under way: its path, and what was seen of it.
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
        // What macOS adds of its own is none of the vendor's files.
        let is_seen = !entry.leads_out && !entry.path.starts_with("__MACOSX/");
        self.path.clear();
        if is_seen {
            self.path.push_str(entry.path.strip_prefix(self.root.as_str()).unwrap_or(entry.path));
        }
        self.size = entry.size;
        // What a link leads to is seen where it lies, and a submodule is another repository.
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
    /// Looks at a file. Attributes come before what they say something of.
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
    git::visit(repository, limits, go_on, &mut looker)?;
    Ok((looker.conclude(), history))
}

/// Reads a zip of a codebase, whose list of files was read already: `root` is the only folder that everything lies in, if
/// there is one.
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
