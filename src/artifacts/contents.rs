//! Files of linked data as one pass over them shows them, in pieces, whether they lie in a zip or in a repository. Who shows
//! them and who looks at them meet here; neither knows the other.

/// A file, as those who look at it get to know it before its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The names on the way to it, joined by `/`; the name as it stands where it leads out.
    pub path: &'a str,
    /// Its size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: EntryKind<'a>,
    /// Whether its data needs a password.
    pub is_encrypted: bool,
    /// Whether its path leads out of the data.
    pub leads_out: bool,
    /// Whether its bytes are not shown, since there are too many of them; that is no fault of it.
    pub is_too_large: bool,
}

impl<'a> Entry<'a> {
    /// A file of which nothing special is to be said.
    pub const fn file(path: &'a str, size: u64) -> Entry<'a> {
        let kind = EntryKind::File;
        Entry { path, size, kind, is_encrypted: false, leads_out: false, is_too_large: false }
    }

    /// The last name on the way to it.
    pub fn name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Whether it is a file whose bytes are shown.
    pub fn is_file(&self) -> bool {
        self.kind == EntryKind::File && !self.leads_out && !self.is_encrypted && !self.is_too_large
    }
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind<'a> {
    /// A file.
    File,
    /// A link, and where it leads, as far as that is known.
    Link {
        /// The path that it names.
        target: Option<&'a str>,
    },
    /// Another repository that is only named.
    Submodule,
}

/// Which bytes of a file are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// None of them.
    Nothing,
    /// All of them, in order.
    All,
}

/// What is wrong with data as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeFault {
    /// Its files and the list of them disagree.
    Inconsistent,
    /// It unpacks to more than is read, so that some files were not.
    TooDense {
        /// How many times its size it unpacks to.
        times: u64,
    },
}

/// Who looks at files. For each of them `begin` comes first and `end` last.
pub trait Visitor {
    /// A file comes next. Answers whether its bytes are wanted.
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted;

    /// The next bytes of the file, if they are wanted; of any length.
    fn piece(&mut self, bytes: &[u8]);

    /// The file has ended, or `fault` says why its data could not be read: words that follow its path.
    fn end(&mut self, fault: Option<&str>);

    /// Something is wrong with the data as a whole.
    fn whole(&mut self, _fault: WholeFault) {}
}

/// Where the root of data is: at the top, or the only folder that everything lies in, as many programs pack it.
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

    /// The folder that everything lies in, if there is one.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// A path from the root on.
    pub fn inside<'p>(&self, path: &'p str) -> &'p str {
        self.folder().and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/')).unwrap_or(path)
    }
}

/// A name as a message may hold it.
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
