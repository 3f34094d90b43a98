//! The attributes in `.gitattributes` files that affect language statistics.

use gix::{
    attrs::{StateRef, parse::Kind},
    bstr::ByteSlice,
    glob::{pattern::Case, wildmatch::Mode},
};

/// Maximum number of patterns per repository. Further ones are ignored.
const MAX_PATTERNS: usize = 500;

/// The `linguist-*` attributes of a file. `None` if an attribute is not specified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
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
pub struct Attributes {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    /// Directory of the `.gitattributes` file, with a trailing `/`. Empty for the root.
    folder: String,
    pattern: gix::glob::Pattern,
    said: Said,
}

impl Attributes {
    /// Adds a `.gitattributes` file. Later rules override earlier ones, so add the files of parent
    /// directories first.
    pub fn add(&mut self, path: &str, bytes: &[u8]) {
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        for (kind, attributes, _) in gix::attrs::parse(bytes).flatten() {
            let Kind::Pattern(pattern) = kind else { continue };
            let mut said = Said::default();
            for attribute in attributes.flatten() {
                let is_set = match attribute.state {
                    StateRef::Set => Some(true),
                    StateRef::Unset => Some(false),
                    StateRef::Value(value) => Some(value.as_bstr() != "false"),
                    StateRef::Unspecified => None,
                };
                match attribute.name.as_str() {
                    "linguist-generated" => said.generated = is_set,
                    "linguist-vendored" => said.vendored = is_set,
                    "linguist-documentation" => said.documentation = is_set,
                    "linguist-detectable" => said.detectable = is_set,
                    "linguist-language" => {
                        if let StateRef::Value(language) = attribute.state {
                            said.language = language.as_bstr().to_str().ok().map(str::to_owned);
                        }
                    }
                    _ => {}
                }
            }
            if said != Said::default() && self.rules.len() < MAX_PATTERNS {
                self.rules.push(Rule { folder: folder.clone(), pattern, said });
            }
        }
    }

    /// Returns the attributes of the file at a path.
    pub fn of(&self, path: &str) -> Said {
        let mut said = Said::default();
        for rule in &self.rules {
            let Some(inner) = path.strip_prefix(rule.folder.as_str()) else { continue };
            let name_at = inner.rfind('/').map(|at| at + 1);
            let mode = Mode::NO_MATCH_SLASH_LITERAL;
            if !rule.pattern.matches_repo_relative_path(
                inner.into(),
                name_at,
                Some(false),
                Case::Sensitive,
                mode,
            ) {
                continue;
            }
            said.generated = rule.said.generated.or(said.generated);
            said.vendored = rule.said.vendored.or(said.vendored);
            said.documentation = rule.said.documentation.or(said.documentation);
            said.detectable = rule.said.detectable.or(said.detectable);
            if rule.said.language.is_some() {
                said.language.clone_from(&rule.said.language);
            }
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_that_fits_wins() {
        let mut attributes = Attributes::default();
        attributes.add(".gitattributes", b"*.h linguist-language=C++\nvendor/** linguist-vendored\n*.pb.go linguist-generated=true\n# x\n*.txt text\n");
        attributes.add("vendor/own/.gitattributes", b"*.c -linguist-vendored\n");
        assert_eq!(attributes.of("src/a.h").language.as_deref(), Some("C++"));
        assert_eq!(attributes.of("vendor/b.c").vendored, Some(true));
        assert_eq!(attributes.of("vendor/own/b.c").vendored, Some(false));
        assert_eq!(attributes.of("api/x.pb.go").generated, Some(true));
        assert_eq!(attributes.of("a.txt"), Said::default());
        assert_eq!(attributes.of("src/b.c"), Said::default());
    }
}
