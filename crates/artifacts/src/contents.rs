//! Interface between the code that reads the files of a ZIP archive or a repository and the code that
//! inspects them: a [`Visitor`] gets each file in chunks during one pass. Neither side knows the other.

/// Metadata of a file, known before its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Path components joined by `/`. The name exactly as stored if it points outside the archive.
    pub path: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// File, link, or submodule.
    pub kind: EntryKind<'a>,
    /// Whether the data is encrypted, so that reading it needs a password.
    pub is_encrypted: bool,
    /// Whether the path points outside the archive.
    pub is_outside: bool,
    /// Whether the file is too large to pass its bytes to visitors. A large file is not a problem of the data.
    pub is_too_large: bool,
    /// Whether the file is a program in a repository.
    pub is_executable: bool,
}

impl<'a> Entry<'a> {
    /// Creates an entry for a regular, readable file.
    pub const fn file(path: &'a str, size: u64) -> Entry<'a> {
        let kind = EntryKind::File;
        Entry {
            path,
            size,
            kind,
            is_encrypted: false,
            is_outside: false,
            is_too_large: false,
            is_executable: false,
        }
    }

    /// Whether the file is not data, by its path.
    pub fn is_extra(&self) -> bool {
        !self.is_outside && is_extra(self.path)
    }

    /// Returns the last component of the path.
    pub fn name(&self) -> &'a str {
        split_path(self.path).1
    }

    /// Whether the entry is a file whose bytes can be passed to visitors.
    pub fn is_file(&self) -> bool {
        self.kind == EntryKind::File && !self.is_outside && !self.is_encrypted && !self.is_too_large
    }
}

/// Returns the directory of a file, which is empty at the top level, and its name.
pub(crate) fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether the file at a path is not data. Such files are left out wherever data is read. They are still delivered, so the
/// checks for content that must not be delivered read them.
pub fn is_extra(path: &str) -> bool {
    is_system_file(path) || version_control_directory(path).is_some()
}

/// Returns the path of the outermost directory of a program for version control that a file is in, such as `.git`. Instead of
/// the directory, there may be a file that refers to it.
pub fn version_control_directory(path: &str) -> Option<&str> {
    let mut end = 0;
    path.split('/').find_map(|component| {
        let directory = &path[..end + component.len()];
        end += component.len() + 1;
        let is_found = [".git", ".hg", ".svn"].iter().any(|name| component.eq_ignore_ascii_case(name));
        is_found.then_some(directory)
    })
}

/// Whether the file at a path is one that operating systems add to directories and archives.
pub fn is_system_file(path: &str) -> bool {
    let name = split_path(path).1;
    name.starts_with("._")
        || [".DS_Store", "Thumbs.db", "desktop.ini"].iter().any(|extra| name.eq_ignore_ascii_case(extra))
        || path.split('/').any(|component| component == "__MACOSX")
}

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind<'a> {
    /// A regular file.
    File,
    /// A symbolic link.
    Link {
        /// The path that the link points to, if it is known.
        target: Option<&'a str>,
    },
    /// A Git submodule: a reference to another repository, whose files are not included.
    Submodule,
}

/// What a visitor does with the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Does not get them.
    Skip,
    /// Gets all of them, in order.
    Read,
}

/// A problem of an archive as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveProblem {
    /// The local file headers contradict the central directory.
    Inconsistent,
    /// The archive unpacks to more than the limit, so some files were not read.
    TooDense {
        /// Ratio of the unpacked size to the size of the archive.
        times: u64,
    },
}

/// Inspects files. For each file, `start_file` is called first and `end_file` last.
pub trait Visitor {
    /// Starts a file. Returns whether the visitor reads its bytes.
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction;

    /// Takes the next bytes of the file, if the visitor reads them. Chunks have any length.
    fn chunk(&mut self, bytes: &[u8]);

    /// Ends the file. `problem` says why its data could not be read, as a predicate that follows the path in
    /// a message.
    fn end_file(&mut self, problem: Option<&str>);

    /// Whether the visitor gets the files in an archive that operating systems added (see [`is_system_file`]). Otherwise, it
    /// only gets those that are damaged.
    fn visits_system_files(&self) -> bool {
        false
    }

    /// Reports a problem of the archive as a whole.
    fn archive_problem(&mut self, _problem: ArchiveProblem) {}
}

/// Finds the root of the data: the top level, or the single directory that contains all files, as many
/// programs pack them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    has_files: bool,
    directory: Option<String>,
}

impl Root {
    /// Takes the path of a file into account.
    pub fn add_path(&mut self, path: &str) {
        let directory = path.split_once('/').map(|(first, _)| first);
        if !self.has_files {
            self.directory = directory.map(str::to_owned);
        } else if self.directory.as_deref() != directory {
            self.directory = None;
        }
        self.has_files = true;
    }

    /// Returns the single top-level directory that contains all files, if there is one.
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// Returns a path relative to the root.
    pub fn relative_path<'p>(&self, path: &'p str) -> &'p str {
        self.directory().and_then(|directory| path.strip_prefix(directory)?.strip_prefix('/')).unwrap_or(path)
    }
}

/// Quotes a name for use in a message: at most 100 characters, without control characters.
pub fn quoted(name: &str) -> String {
    let printable: String = name.chars().filter(|character| !character.is_control()).take(100).collect();
    format!("{printable:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_operating_systems_are_extra() {
        for path in [
            "__MACOSX/._a.csv",
            "__MACOSX",
            "__MACOSX/a.csv",
            "d/__MACOSX/x/a.csv",
            "._a.csv",
            "d/._a.parquet",
            ".DS_Store",
            "d/.ds_store",
            "Thumbs.db",
            "d/thumbs.db",
            "desktop.ini",
            "d/Desktop.ini",
        ] {
            assert!(is_extra(path), "{path}");
        }
        for path in
            ["a.csv", "_a.csv", ".a.csv", "a._b", "._d/a.csv", "MACOSX/a", "my desktop.ini", "x.DS_Store"]
        {
            assert!(!is_extra(path), "{path}");
        }
    }

    #[test]
    fn files_for_version_control_are_extra() {
        for (path, expected) in [
            (".git/HEAD", Some(".git")),
            ("a/.git/modules/b/.git/HEAD", Some("a/.git")),
            ("a/.git", Some("a/.git")),
            ("é/.HG/store/x", Some("é/.HG")),
            ("a/b/.svn/wc.db", Some("a/b/.svn")),
            (".gitignore", None),
            ("a.git/HEAD", None),
            (".github/workflows/ci.yml", None),
        ] {
            assert_eq!(version_control_directory(path), expected, "{path}");
            assert_eq!(is_extra(path), expected.is_some(), "{path}");
            assert!(!is_system_file(path), "{path}");
        }
    }

    #[test]
    fn root_is_single_top_level_directory_or_top_level() {
        for (paths, expected) in [
            (&["a/b", "a/c/d"][..], Some("a")),
            (&["a/b", "c"], None),
            (&["a", "a/b"], None),
            (&["a/b", "b/a", "a/c"], None),
            (&[], None),
        ] {
            let mut root = Root::default();
            for path in paths {
                root.add_path(path);
            }
            assert_eq!(root.directory(), expected, "{paths:?}");
        }
        let mut root = Root::default();
        root.add_path("a/b");
        assert_eq!((root.relative_path("a/x/y"), root.relative_path("ab/x")), ("x/y", "ab/x"));
    }
}
