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
    pub leads_out: bool,
    /// Whether the file is too large for its bytes to be passed to visitors. That is not a problem of the
    /// file.
    pub is_too_large: bool,
}

impl<'a> Entry<'a> {
    /// Creates an entry for a regular, readable file.
    pub const fn file(path: &'a str, size: u64) -> Entry<'a> {
        let kind = EntryKind::File;
        Entry { path, size, kind, is_encrypted: false, leads_out: false, is_too_large: false }
    }

    /// Returns the last component of the path.
    pub fn name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Whether the entry is a file whose bytes can be passed to visitors.
    pub fn is_file(&self) -> bool {
        self.kind == EntryKind::File && !self.leads_out && !self.is_encrypted && !self.is_too_large
    }
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

/// Which bytes of a file a visitor wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// No bytes.
    Nothing,
    /// All bytes, in order.
    All,
}

/// A problem of an archive as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeFault {
    /// The local file headers contradict the central directory.
    Inconsistent,
    /// The archive unpacks to more than the limit, so some files were not read.
    TooDense {
        /// Ratio of the unpacked size to the size of the archive.
        times: u64,
    },
}

/// Inspects files. For each file, `begin` is called first and `end` last.
pub trait Visitor {
    /// Starts a file. Returns whether the visitor wants its bytes.
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted;

    /// Takes the next bytes of the file, if the visitor wants them. Chunks have any length.
    fn piece(&mut self, bytes: &[u8]);

    /// Ends the file. `fault` says why its data could not be read, as a predicate that follows the path in a
    /// message.
    fn end(&mut self, fault: Option<&str>);

    /// Reports a problem of the archive as a whole.
    fn whole(&mut self, _fault: WholeFault) {}
}

/// Finds the root of the data: the top level, or the single directory that contains all files, as many
/// programs pack them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    has_files: bool,
    folder: Option<String>,
}

impl Root {
    /// Takes the path of a file into account.
    pub fn see(&mut self, path: &str) {
        let folder = path.split_once('/').map(|(first, _)| first);
        if !self.has_files {
            self.folder = folder.map(str::to_owned);
        } else if self.folder.as_deref() != folder {
            self.folder = None;
        }
        self.has_files = true;
    }

    /// Returns the single top-level directory that contains all files, if there is one.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Returns a path relative to the root.
    pub fn inside<'p>(&self, path: &'p str) -> &'p str {
        self.folder().and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/')).unwrap_or(path)
    }
}

/// Quotes a name for use in a message: at most 100 characters, without control characters.
pub fn shown(name: &str) -> String {
    let shown: String = name.chars().filter(|letter| !letter.is_control()).take(100).collect();
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_only_folder_or_the_top() {
        for (paths, folder) in [
            (&["a/b", "a/c/d"][..], Some("a")),
            (&["a/b", "c"], None),
            (&["a", "a/b"], None),
            (&["a/b", "b/a", "a/c"], None),
            (&[], None),
        ] {
            let mut root = Root::default();
            for path in paths {
                root.see(path);
            }
            assert_eq!(root.folder(), folder, "{paths:?}");
        }
        let mut root = Root::default();
        root.see("a/b");
        assert_eq!((root.inside("a/x/y"), root.inside("ab/x")), ("x/y", "ab/x"));
    }
}
