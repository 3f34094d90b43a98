//! The attributes in `.gitattributes` files that affect language statistics.

use gix::{
    attrs::{StateRef, parse::Kind},
    bstr::ByteSlice,
    glob::{pattern::Case, wildmatch::Mode},
};

/// Maximum number of patterns per repository. Patterns beyond it are ignored.
const MAX_PATTERNS: usize = 500;

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
#[derive(Debug, Default)]
pub struct GitAttributes {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    /// Directory of the `.gitattributes` file, with a trailing `/`. Empty for the root.
    directory: String,
    pattern: gix::glob::Pattern,
    file_attributes: FileAttributes,
}

impl GitAttributes {
    /// Adds a `.gitattributes` file. Later rules override earlier ones, so add the files of parent
    /// directories first.
    pub fn add(&mut self, path: &str, bytes: &[u8]) {
        let directory = path.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
        for (kind, attributes, _) in gix::attrs::parse(bytes).flatten() {
            let Kind::Pattern(pattern) = kind else { continue };
            let mut file_attributes = FileAttributes::default();
            for attribute in attributes.flatten() {
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
            if file_attributes != FileAttributes::default() && self.rules.len() < MAX_PATTERNS {
                self.rules.push(Rule { directory: directory.clone(), pattern, file_attributes });
            }
        }
    }

    /// Returns the attributes of the file at a path.
    pub fn for_path(&self, path: &str) -> FileAttributes {
        let mut file_attributes = FileAttributes::default();
        for rule in &self.rules {
            let Some(relative_path) = path.strip_prefix(rule.directory.as_str()) else { continue };
            let name_at = relative_path.rfind('/').map(|at| at + 1);
            let mode = Mode::NO_MATCH_SLASH_LITERAL;
            if !rule.pattern.matches_repo_relative_path(
                relative_path.into(),
                name_at,
                Some(false),
                Case::Sensitive,
                mode,
            ) {
                continue;
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
}
