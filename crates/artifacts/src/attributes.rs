//! The attributes in `.gitattributes` files that affect language statistics.

mod glob;

use gix::{
    attrs::{StateRef, parse::Kind},
    bstr::ByteSlice,
};

use self::glob::Glob;

/// Maximum number of patterns per repository. Patterns beyond it are ignored.
const MAX_PATTERNS: usize = 500;

/// Maximum number of bytes of a `.gitattributes` file that are read.
pub const MAX_FILE_BYTES: usize = 256 << 10;

/// Maximum number of bytes of all `.gitattributes` files of a repository that are read.
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// Maximum number of attributes in a line that are read.
const MAX_ATTRIBUTES: usize = 100;

/// Maximum number of steps to match the paths of a repository with patterns: about one for each pattern that
/// is compared with a path, and one for each byte of the path that a pattern with wildcards looks at.
/// Attributes are ignored after that.
const MAX_MATCH_STEPS: u64 = 200_000_000;

/// The `linguist-*` attributes of a file. `None` if an attribute is not specified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileAttributes {
    /// `linguist-generated`: whether a program generated the file.
    pub generated: Option<bool>,
    /// `linguist-vendored`: whether the file is third-party code.
    pub vendored: Option<bool>,
    /// `linguist-documentation`: whether the file is documentation.
    pub documentation: Option<bool>,
    /// `linguist-detectable`: whether the file counts, regardless of the type of its language.
    pub detectable: Option<bool>,
    /// `linguist-language`: the language of the file.
    pub language: Option<String>,
}

/// The rules of all `.gitattributes` files of a repository.
#[derive(Debug)]
pub struct GitAttributes {
    rules: Vec<Rule>,
    remaining_bytes: usize,
    remaining_steps: u64,
}

impl Default for GitAttributes {
    fn default() -> GitAttributes {
        GitAttributes {
            rules: Vec::new(),
            remaining_bytes: MAX_TOTAL_BYTES,
            remaining_steps: MAX_MATCH_STEPS,
        }
    }
}

#[derive(Debug)]
struct Rule {
    /// Directory of the `.gitattributes` file, with a trailing `/`. Empty for the root.
    directory: String,
    glob: Glob,
    file_attributes: FileAttributes,
}

impl GitAttributes {
    /// Adds a `.gitattributes` file. Later rules override earlier ones, so add the files of parent directories
    /// first. Ignores rules beyond the limits.
    pub fn add(&mut self, path: &str, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(MAX_FILE_BYTES)];
        let Some(remaining_bytes) = self.remaining_bytes.checked_sub(bytes.len()) else { return };
        self.remaining_bytes = remaining_bytes;
        let directory = path.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
        for (kind, attributes, _) in gix::attrs::parse(bytes).flatten() {
            if self.rules.len() >= MAX_PATTERNS {
                return;
            }
            let Kind::Pattern(pattern) = kind else { continue };
            let mut file_attributes = FileAttributes::default();
            for attribute in attributes.flatten().take(MAX_ATTRIBUTES) {
                let is_set = match attribute.state {
                    StateRef::Set => Some(true),
                    StateRef::Unset => Some(false),
                    StateRef::Value(value) => Some(value.as_bstr() != "false"),
                    StateRef::Unspecified => None,
                };
                match attribute.name.as_str() {
                    "linguist-generated" => file_attributes.generated = is_set,
                    "linguist-vendored" => file_attributes.vendored = is_set,
                    "linguist-documentation" => file_attributes.documentation = is_set,
                    "linguist-detectable" => file_attributes.detectable = is_set,
                    "linguist-language" => {
                        if let StateRef::Value(language) = attribute.state {
                            file_attributes.language = language.as_bstr().to_str().ok().map(str::to_owned);
                        }
                    }
                    _ => {}
                }
            }
            if file_attributes != FileAttributes::default()
                && let Some(glob) = Glob::new(&pattern)
            {
                self.rules.push(Rule { directory: directory.clone(), glob, file_attributes });
            }
        }
    }

    /// Returns the attributes of the file at a path: none after [`MAX_MATCH_STEPS`].
    pub fn for_path(&mut self, path: &str) -> FileAttributes {
        let mut file_attributes = FileAttributes::default();
        for rule in &mut self.rules {
            let Some(relative_path) = path.strip_prefix(rule.directory.as_str()) else {
                self.remaining_steps = self.remaining_steps.saturating_sub(1);
                continue;
            };
            match rule.glob.matches(relative_path.as_bytes(), &mut self.remaining_steps) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    self.rules.clear();
                    return FileAttributes::default();
                }
            }
            file_attributes.generated = rule.file_attributes.generated.or(file_attributes.generated);
            file_attributes.vendored = rule.file_attributes.vendored.or(file_attributes.vendored);
            file_attributes.documentation =
                rule.file_attributes.documentation.or(file_attributes.documentation);
            file_attributes.detectable = rule.file_attributes.detectable.or(file_attributes.detectable);
            if rule.file_attributes.language.is_some() {
                file_attributes.language.clone_from(&rule.file_attributes.language);
            }
        }
        file_attributes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_matching_rule_wins() {
        let mut attributes = GitAttributes::default();
        attributes.add(".gitattributes", b"*.h linguist-language=C++\nvendor/** linguist-vendored\n*.pb.go linguist-generated=true\n# x\n*.txt text\n");
        attributes.add("vendor/own/.gitattributes", b"*.c -linguist-vendored\n");
        assert_eq!(attributes.for_path("src/a.h").language.as_deref(), Some("C++"));
        assert_eq!(attributes.for_path("vendor/b.c").vendored, Some(true));
        assert_eq!(attributes.for_path("vendor/own/b.c").vendored, Some(false));
        assert_eq!(attributes.for_path("api/x.pb.go").generated, Some(true));
        assert_eq!(attributes.for_path("a.txt"), FileAttributes::default());
        assert_eq!(attributes.for_path("src/b.c"), FileAttributes::default());
    }

    /// The matcher that tries alternatives one after the other doubles its time with each level.
    #[test]
    fn matching_work_of_a_repository_is_bounded() {
        let mut attributes = GitAttributes::default();
        let pattern = format!("{}c linguist-vendored\n", "**/a/".repeat(40));
        let text = format!("{}*.h linguist-generated\n", pattern.repeat(20));
        attributes.add(".gitattributes", text.as_bytes());
        let path = format!("{}b.h", "a/".repeat(120));
        assert_eq!(attributes.for_path(&path).generated, Some(true));
        let steps = MAX_MATCH_STEPS - attributes.remaining_steps;
        assert!((20..1_000_000).contains(&steps), "{steps}");
        attributes.remaining_steps = 2 * steps;
        let found = (0..5).filter(|_| attributes.for_path(&path).generated == Some(true)).count();
        assert!((1..=2).contains(&found), "attributes are ignored after the last step: {found}");
    }

    #[test]
    fn files_and_patterns_beyond_the_limits_are_ignored() {
        let mut attributes = GitAttributes::default();
        let text = format!("a{}\n", " x".repeat(MAX_ATTRIBUTES) + " linguist-vendored");
        attributes.add(".gitattributes", text.as_bytes());
        assert!(attributes.rules.is_empty());
        for directory in 0..1_000 {
            attributes
                .add(&format!("{directory}/.gitattributes"), b"* linguist-vendored\n* linguist-generated\n");
        }
        assert_eq!(attributes.rules.len(), MAX_PATTERNS);
        let mut attributes = GitAttributes::default();
        let large = "#\n".repeat(MAX_FILE_BYTES);
        for _ in 0..100 {
            attributes.add(".gitattributes", large.as_bytes());
        }
        attributes.add(".gitattributes", b"* linguist-vendored\n");
        assert!(attributes.rules.is_empty());
    }
}
