//! Analysis of codebases: of their newest files, in a zip or in a repository, and of the history of a
//! repository.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{
    Limits, ReadError, archive,
    attributes::GitAttributes,
    contents::{Entry, FileAction, Visitor, split_path},
    git::{self, History, Repository},
    languages::{self, LanguageStats},
    lfs_pointers, manifests, pipelines, readme,
    structure::{Structure, Tree},
};

/// The analysis of the files of a codebase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodebaseAnalysis {
    /// Number of files.
    pub files: u64,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Bytes by language, and lines of code.
    #[serde(rename = "mix")]
    pub languages: LanguageStats,
    /// Whether a CI pipeline runs on pull requests.
    pub ci_on_prs: bool,
    /// Tree of directories and files.
    pub structure: Structure,
    /// Description from the README in the root directory.
    pub readme: Option<String>,
    /// Description from the build manifest in the root directory.
    pub manifest: Option<String>,
}

/// Maximum size in bytes of a file that is read. Larger files are data, regardless of their names.
const MAX_FILE_BYTES: usize = 16 << 20;

/// Analyzes a codebase file by file.
#[derive(Debug, Default)]
pub struct CodebaseAnalyzer {
    /// The only top-level directory, with a trailing `/`. Empty if there is none.
    root: String,
    /// Path of the current file; `size` and `content` belong to it.
    path: String,
    size: u64,
    content: Option<Vec<u8>>,
    files: u64,
    bytes: u64,
    attributes: GitAttributes,
    counter: languages::LanguageCounter,
    tree: Tree,
    ci_on_prs: bool,
    readmes: BTreeMap<usize, Option<String>>,
    manifests: BTreeMap<usize, Option<String>>,
}

impl Visitor for CodebaseAnalyzer {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        let is_included = !entry.is_outside && !entry.is_extra();
        self.path.clear();
        if is_included {
            self.path.push_str(entry.path.strip_prefix(self.root.as_str()).unwrap_or(entry.path));
        }
        self.size = entry.size;
        // The target of a link is a file of the codebase itself, and a submodule is another repository.
        let is_read = is_included && entry.is_file() && entry.size <= MAX_FILE_BYTES as u64;
        self.content = is_read.then(|| {
            let mut content = self.content.take().unwrap_or_default();
            content.clear();
            content
        });
        if is_read { FileAction::Read } else { FileAction::Skip }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        if let Some(content) =
            self.content.as_mut().filter(|content| content.len() + bytes.len() <= MAX_FILE_BYTES)
        {
            content.extend_from_slice(bytes);
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        if self.path.is_empty() {
            return;
        }
        let (path, content) = (std::mem::take(&mut self.path), self.content.take());
        self.add_file(&path, self.size, content.as_deref().filter(|_| problem.is_none()));
        (self.path, self.content) = (path, content);
    }
}

impl CodebaseAnalyzer {
    /// Analyzes a file. `.gitattributes` must come before the files that it applies to.
    fn add_file(&mut self, path: &str, size: u64, bytes: Option<&[u8]>) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(size);
        self.tree.add_file(path.split('/'), size);
        let Some(bytes) = bytes.filter(|bytes| !lfs_pointers::is_pointer(bytes)) else { return };
        if split_path(path).1 == ".gitattributes" {
            self.attributes.add(path, bytes);
        }
        self.counter.add_file(path, bytes, &self.attributes.for_path(path));
        if pipelines::is_ci_config(path) {
            self.ci_on_prs |= pipelines::runs_on_pull_requests(path, bytes);
        }
        if path.contains('/') {
            return;
        }
        if let Some(rank) = readme::described_rank(path) {
            let head = &bytes[..bytes.len().min(readme::MAX_BYTES as usize)];
            self.readmes.insert(rank, readme::description(head));
        }
        if let Some(rank) = manifests::rank(path) {
            self.manifests.insert(rank, manifests::description(path, bytes));
        }
    }

    /// Returns the analysis after the last file.
    pub fn finish(self) -> CodebaseAnalysis {
        let first = |found: BTreeMap<usize, Option<String>>| found.into_values().flatten().next();
        CodebaseAnalysis {
            files: self.files,
            bytes: self.bytes,
            languages: self.counter.finish(),
            ci_on_prs: self.ci_on_prs,
            structure: self.tree.into_structure(),
            readme: first(self.readmes),
            manifest: first(self.manifests),
        }
    }
}

/// Analyzes a copied repository: its newest files, and its history. `now` is in seconds since 1970. Stops
/// when `should_continue` returns false.
pub fn analyze_repository(
    repository: &Repository,
    limits: git::Limits,
    now: i64,
    should_continue: &dyn Fn() -> bool,
) -> Result<(CodebaseAnalysis, History), ReadError> {
    let (history, _) = git::read_history(repository, now, should_continue)?;
    let mut analyzer = CodebaseAnalyzer::default();
    git::visit_files(repository, limits, should_continue, &mut analyzer)?;
    Ok((analyzer.finish(), history))
}

/// Analyzes a codebase in a zip. `root` is the only top-level directory, if there is one, according to the
/// list of files. Stops when `should_continue` returns false.
pub fn analyze_zip(
    path: &Path,
    root: Option<&str>,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<CodebaseAnalysis, ReadError> {
    let root = root.map(|directory| format!("{directory}/")).unwrap_or_default();
    let mut analyzer = CodebaseAnalyzer { root, ..CodebaseAnalyzer::default() };
    archive::visit(path, limits, &mut analyzer, should_continue)?;
    Ok(analyzer.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lfs_pointers::tests::POINTER;

    fn analyze(files: &[(&str, &[u8])]) -> CodebaseAnalysis {
        let mut analyzer = CodebaseAnalyzer::default();
        for (path, bytes) in files {
            if analyzer.start_file(&Entry::file(path, bytes.len() as u64)) == FileAction::Read {
                analyzer.chunk(bytes);
            }
            analyzer.end_file(None);
        }
        analyzer.finish()
    }

    #[test]
    fn pointers_and_files_that_are_not_data_do_not_count() {
        let code = ("src/a.js", &b"let a = 1;\n"[..]);
        let alone = analyze(&[code]);
        assert_eq!(alone.languages.lines, 1);
        let pointers = ["lib.js", "README.md", "package.json"].map(|path| (path, POINTER.as_bytes()));
        let with_pointers = analyze(&[&[code][..], &pointers].concat());
        assert_eq!((&with_pointers.languages, with_pointers.files), (&alone.languages, 4));
        assert_eq!((with_pointers.readme, with_pointers.manifest), (None, None));
        let extra =
            ["._a.js", "src/._a.js", ".DS_Store", "__MACOSX/src/a.js", "src/Thumbs.db", ".git/hooks/a.js"];
        let extra = extra.map(|path| (path, &b"let a = 1;\n"[..]));
        assert_eq!(analyze(&[&[code][..], &extra].concat()), alone);
    }
}
