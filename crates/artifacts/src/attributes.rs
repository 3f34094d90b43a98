//! The attributes in `.gitattributes` files that affect language statistics.

mod glob;

use std::{collections::HashMap, mem};

use gix::{
    attrs::{StateRef, parse::Kind},
    bstr::ByteSlice,
};

use self::glob::Glob;

/// Maximum number of patterns per repository, and of macros. Those beyond it are ignored.
const MAX_PATTERNS: usize = 500;

/// Maximum number of bytes of a `.gitattributes` file that are read.
pub const MAX_FILE_BYTES: usize = 256 << 10;

/// Maximum number of bytes of all `.gitattributes` files of a repository that are read.
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// Maximum number of attributes in a line that are read.
const MAX_ATTRIBUTES: usize = 100;

/// Maximum length in bytes of the name of a language. No language has a longer one.
pub const MAX_LANGUAGE_NAME_BYTES: usize = 100;

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

/// An attribute with the value that a rule gives it. `None` makes it unspecified again.
#[derive(Clone, Debug)]
enum Assignment {
    Generated(Option<bool>),
    Vendored(Option<bool>),
    Documentation(Option<bool>),
    Detectable(Option<bool>),
    Language(Option<String>),
}

impl Assignment {
    /// Returns what a rule assigns to an attribute, if the attribute affects language statistics.
    fn new(name: &str, state: StateRef<'_>) -> Option<Assignment> {
        let is_set = match state {
            StateRef::Set => Some(true),
            StateRef::Unset => Some(false),
            StateRef::Value(value) => Some(value.as_bstr() != "false"),
            StateRef::Unspecified => None,
        };
        Some(match (name, state) {
            ("linguist-generated", _) => Assignment::Generated(is_set),
            ("linguist-vendored", _) => Assignment::Vendored(is_set),
            ("linguist-documentation", _) => Assignment::Documentation(is_set),
            ("linguist-detectable", _) => Assignment::Detectable(is_set),
            ("linguist-language", StateRef::Value(language)) => {
                let language = language.as_bstr().to_str().ok()?;
                // Each use of a macro repeats the name.
                let is_name = language.len() <= MAX_LANGUAGE_NAME_BYTES;
                Assignment::Language(Some(if is_name { language.to_owned() } else { String::new() }))
            }
            ("linguist-language", StateRef::Unspecified) => Assignment::Language(None),
            _ => return None,
        })
    }

    fn apply_to(&self, attributes: &mut FileAttributes) {
        match self {
            Assignment::Generated(value) => attributes.generated = *value,
            Assignment::Vendored(value) => attributes.vendored = *value,
            Assignment::Documentation(value) => attributes.documentation = *value,
            Assignment::Detectable(value) => attributes.detectable = *value,
            Assignment::Language(value) => attributes.language.clone_from(value),
        }
    }
}

/// The rules of all `.gitattributes` files of a repository.
#[derive(Debug)]
pub struct GitAttributes {
    rules: Vec<Rule>,
    /// What the macros of the root directory assign, by their names.
    macros: HashMap<String, Vec<Assignment>>,
    remaining_bytes: usize,
    remaining_steps: u64,
}

impl Default for GitAttributes {
    fn default() -> GitAttributes {
        GitAttributes {
            rules: Vec::new(),
            macros: HashMap::new(),
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
    assignments: Vec<Assignment>,
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
            let mut assignments: Vec<Assignment> = Vec::new();
            for attribute in attributes.flatten().take(MAX_ATTRIBUTES) {
                let name = attribute.name.as_str();
                let of_macro = self.macros.get(name).filter(|_| attribute.state == StateRef::Set);
                for assignment in
                    of_macro.into_iter().flatten().cloned().chain(Assignment::new(name, attribute.state))
                {
                    // Of several values of an attribute, the last one counts.
                    let kind = mem::discriminant(&assignment);
                    assignments.retain(|earlier| mem::discriminant(earlier) != kind);
                    assignments.push(assignment);
                }
            }
            match kind {
                _ if assignments.is_empty() => {}
                Kind::Pattern(pattern) => {
                    let directory = directory.clone();
                    self.rules.extend(Glob::new(&pattern).map(|glob| Rule { directory, glob, assignments }));
                }
                Kind::Macro(name) if directory.is_empty() && self.macros.len() < MAX_PATTERNS => {
                    self.macros.insert(name.as_str().to_owned(), assignments);
                }
                Kind::Macro(_) => {}
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
            rule.assignments.iter().for_each(|assignment| assignment.apply_to(&mut file_attributes));
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

    #[test]
    fn attributes_can_be_unspecified_again() {
        let mut attributes = GitAttributes::default();
        attributes.add(
            ".gitattributes",
            b"*.h linguist-language=C++ linguist-vendored\nsrc/*.h !linguist-language\n",
        );
        attributes.add("src/.gitattributes", b"a.h -linguist-vendored !linguist-vendored\n");
        let found = |attributes: &mut GitAttributes, path| {
            let FileAttributes { language, vendored, .. } = attributes.for_path(path);
            (language, vendored)
        };
        assert_eq!(found(&mut attributes, "b.h"), (Some("C++".to_owned()), Some(true)));
        assert_eq!(found(&mut attributes, "src/b.h"), (None, Some(true)));
        assert_eq!(found(&mut attributes, "src/a.h"), (None, None));
    }

    #[test]
    fn long_names_of_languages_are_not_repeated() {
        let mut attributes = GitAttributes::default();
        let long = "x".repeat(MAX_LANGUAGE_NAME_BYTES + 1);
        attributes.add(".gitattributes", format!("[attr]m linguist-language={long}\n*.a m\n").as_bytes());
        assert_eq!(attributes.for_path("b.a").language.as_deref(), Some(""));
    }

    #[test]
    fn macros_of_the_root_are_expanded() {
        let mut attributes = GitAttributes::default();
        attributes.add(
            ".gitattributes",
            b"[attr]ours -linguist-vendored\n[attr]made ours linguist-generated\na/* made\nb/* -made\n",
        );
        attributes
            .add("c/.gitattributes", b"[attr]made linguist-documentation\n* made !linguist-generated\n");
        let found = |attributes: &mut GitAttributes, path| {
            let FileAttributes { vendored, generated, documentation, .. } = attributes.for_path(path);
            (vendored, generated, documentation)
        };
        assert_eq!(found(&mut attributes, "a/x"), (Some(false), Some(true), None));
        assert_eq!(found(&mut attributes, "b/x"), (None, None, None));
        assert_eq!(found(&mut attributes, "c/x"), (Some(false), None, None));
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
