//! Checks that license terms are stated, by a text file in the root or by a manifest.

mod texts;

use std::cell::LazyCell;

use marketplace_text::encoding;

use self::texts::LicenseTexts;
use super::{Check, Chunk, FileAction, Finding, Rule};
use crate::contents::{Entry, Root, quoted};

/// License terms are stated.
pub static LICENSE_FOUND: Rule =
    Rule::recommended("license_found", "A recognized license or terms file is included");

/// Maximum number of bytes of a file that are read.
const MAX_BYTES: usize = 65_536;

/// Maximum number of candidate files that are stored: of those in case that the root is the top level, and of the others.
const MAX_FILES: usize = 16;

/// Minimum length in bytes of a text that counts as license terms.
const MIN_TERMS_BYTES: usize = 20;

/// Maximum length in bytes of the name or expression of a license in a manifest.
const MAX_EXPRESSION_BYTES: usize = 1_000;

/// Names of manifests that may state a license.
const MANIFESTS: [(&str, CandidateKind); 4] = [
    ("cargo.toml", CandidateKind::Toml),
    ("pyproject.toml", CandidateKind::Toml),
    ("package.json", CandidateKind::Json),
    ("composer.json", CandidateKind::Json),
];

/// Directory in the root whose files are license texts named by their identifiers, as REUSE specifies.
const TEXTS_DIRECTORY: &str = "LICENSES";

/// Words that follow the dot in the name of a license file, without a version: formats of text, and families of licenses.
const TEXT_EXTENSIONS: [&str; 18] = [
    "md", "markdown", "txt", "rst", "adoc", "html", "agpl", "apache", "bsd", "cc", "gfdl", "gpl", "isc",
    "lesser", "lgpl", "lib", "mit", "mpl",
];

/// Words in manifests whose replacements `spdx` does not know, and the replacements. It reads "GNU GPL v2" as version 3.
const REPLACED_WORDS: [(&str, &str); 14] = [
    ("BSD-2-Clause-FreeBSD", "BSD-2-Clause"),
    ("BSD-2-Clause-NetBSD", "BSD-2-Clause"),
    ("bzip2-1.0.5", "bzip2-1.0.6"),
    ("eCos-2.0", "GPL-2.0-or-later WITH eCos-exception-2.0"),
    ("GNU", ""),
    ("GPL-2.0-with-autoconf-exception", "GPL-2.0-only WITH Autoconf-exception-2.0"),
    ("GPL-2.0-with-bison-exception", "GPL-2.0-only WITH Bison-exception-2.2"),
    ("GPL-2.0-with-classpath-exception", "GPL-2.0-only WITH Classpath-exception-2.0"),
    ("GPL-2.0-with-font-exception", "GPL-2.0-only WITH Font-exception-2.0"),
    ("GPL-2.0-with-GCC-exception", "GPL-2.0-only WITH GCC-exception-2.0"),
    ("GPL-3.0-with-autoconf-exception", "GPL-3.0-only WITH Autoconf-exception-3.0"),
    ("GPL-3.0-with-GCC-exception", "GPL-3.0-only WITH GCC-exception-3.1"),
    ("StandardML-NJ", "SMLNJ"),
    ("wxWindows", "LGPL-2.0-or-later WITH WxWindows-exception-3.1"),
];

/// Beginning of the message of a passed check.
const FOUND: &str = "Found: ";

/// The text between the license and the name of the file in which it was found.
const IN: &str = " in ";

/// The text between two licenses.
const SEPARATOR: &str = "; ";

/// A file that may state a license.
#[derive(Debug)]
struct Candidate {
    path: String,
    kind: CandidateKind,
    /// Whether it is a candidate if the root is the top level. Otherwise, it is one if the root is a directory there.
    is_top_level: bool,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CandidateKind {
    Text,
    Toml,
    Json,
}

/// Check for [`LICENSE_FOUND`].
#[derive(Debug, Default)]
pub struct License {
    candidates: Vec<Candidate>,
    is_collecting: bool,
}

impl Check for License {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.is_collecting = false;
        // The root may be one directory deeper, which is known only at the end of the pass.
        let inner_path = entry.path.split_once('/').map_or("", |(_, path)| path);
        let top_level_kind = candidate_kind(entry.path);
        let (true, Some(kind)) = (entry.is_file(), top_level_kind.or_else(|| candidate_kind(inner_path)))
        else {
            return FileAction::Skip;
        };
        let is_top_level = top_level_kind.is_some();
        if self.candidates.iter().filter(|file| file.is_top_level == is_top_level).count() >= MAX_FILES {
            return FileAction::Skip;
        }
        self.is_collecting = true;
        let path = entry.path.to_owned();
        self.candidates.push(Candidate { path, kind, is_top_level, text: Vec::new() });
        FileAction::Read
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        if let (true, false, Some(file)) = (self.is_collecting, chunk.is_binary, self.candidates.last_mut()) {
            let remaining = MAX_BYTES - file.text.len();
            file.text.extend_from_slice(&chunk.text[..chunk.text.len().min(remaining)]);
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        if self.is_collecting && problem.is_some() {
            self.candidates.pop();
        }
    }

    fn finish(mut self: Box<Self>, root: &Root) -> Vec<Finding> {
        self.candidates.retain(|file| candidate_kind(root.relative_path(&file.path)).is_some());
        let mut found: Vec<String> = {
            let is_text = |file: &&Candidate| {
                file.kind == CandidateKind::Text && file.text.trim_ascii().len() >= MIN_TERMS_BYTES
            };
            // They take tens of megabytes, so they are loaded only if needed, and dropped as soon as possible.
            let known = LazyCell::new(LicenseTexts::load);
            let texts = self.candidates.iter().filter(is_text);
            let name_texts = texts.map(|file| {
                let identify = || known.identify(&encoding::decode_for_display(&file.text));
                let name = license_in_path(root.relative_path(&file.path)).or_else(identify);
                format!("{}{IN}{}", name.as_deref().unwrap_or("custom terms"), quoted(&file.path))
            });
            name_texts.collect()
        };
        for file in &self.candidates {
            found.extend(manifest_license(file).map(|name| format!("{name}{IN}{}", quoted(&file.path))));
        }
        vec![if found.is_empty() {
            let message = "No license was found in the root. Add a LICENSE file there, or state the license in \
                           the manifest (Cargo.toml, pyproject.toml, package.json or composer.json).";
            Finding::failed(&LICENSE_FOUND, message)
        } else {
            Finding::passed(&LICENSE_FOUND, &format!("{FOUND}{}.", found.join(SEPARATOR)))
        }]
    }
}

/// Returns the SPDX expressions of the licenses that the message of a passed check for [`LICENSE_FOUND`] names. Names of files
/// are quoted, so that none is mistaken for a license. Expressions that were cut off in a shortened message are left out.
pub fn licenses_in(message: &str) -> Vec<String> {
    let mut rest = message.strip_prefix(FOUND).unwrap_or_default();
    let mut licenses: Vec<String> = Vec::new();
    while let Some((name, after)) = rest.split_once(IN).filter(|(name, _)| !name.contains('"')) {
        let Some(after) = skip_quoted(after) else { break };
        licenses.extend(current_expression(name).filter(|name| !licenses.contains(name)));
        let Some(next) = after.strip_prefix(SEPARATOR) else { break };
        rest = next;
    }
    licenses
}

/// Whether an expression is the identifier of a license in SPDX's list, so that the list has a page about it.
pub fn is_listed(expression: &str) -> bool {
    spdx::license_id(expression).is_some_and(|license| license.name == expression)
}

/// Returns the text after a [`quoted`] name at the beginning of a text; `None` if the text does not begin with a complete one.
fn skip_quoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inner.find(|character| {
        let is_end = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    })?;
    inner.get(end + 1..)
}

/// Returns how a file may state a license, by its path from the root, or `None` if it is not a candidate.
fn candidate_kind(path: &str) -> Option<CandidateKind> {
    let name = path.to_ascii_lowercase();
    if let Some((_, kind)) = MANIFESTS.iter().find(|(manifest, _)| *manifest == name) {
        return Some(*kind);
    }
    let is_text = match path.split_once('/') {
        Some((directory, name)) => {
            let stem = name.strip_suffix(".txt");
            directory == TEXTS_DIRECTORY && stem.is_some_and(|stem| !stem.contains('/'))
        }
        None => is_license_text(&name),
    };
    is_text.then_some(CandidateKind::Text)
}

/// Whether a file is license terms, by its name in lowercase.
fn is_license_text(name: &str) -> bool {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let first_extension = name.split_once('.').map_or("", |(_, rest)| rest);
    let family = first_extension.split(['-', '.']).next().unwrap_or_default();
    let family = family.trim_end_matches(|character: char| character.is_ascii_digit()).trim_end_matches('v');
    // After a version, as in `LICENSE-APACHE-2.0`, there is no extension.
    let is_prose = extension.bytes().all(|byte| byte.is_ascii_digit())
        || [extension, family].iter().any(|word| TEXT_EXTENSIONS.contains(word));
    let prefixes = ["license", "licence", "copying", "unlicense", "terms"];
    let is_named = prefixes.iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.starts_with(|character: char| character.is_alphabetic()))
    });
    let has_suffix =
        ["-license", "-licence", "_license", "_licence"].iter().any(|suffix| stem.ends_with(suffix));
    is_prose && (is_named || has_suffix || stem == "licenses")
}

/// Returns the license that names a file in [`TEXTS_DIRECTORY`].
fn license_in_path(path: &str) -> Option<String> {
    current_expression(path.strip_prefix(TEXTS_DIRECTORY)?.strip_prefix('/')?.strip_suffix(".txt")?)
}

/// Returns the license that a manifest states, if it is a valid SPDX expression.
fn manifest_license(file: &Candidate) -> Option<String> {
    let text = std::str::from_utf8(&file.text).ok()?;
    let name = match file.kind {
        CandidateKind::Text => return None,
        CandidateKind::Json => {
            let value: serde_json::Value = serde_json::from_str(text).ok()?;
            value.get("license")?.as_str()?.to_owned()
        }
        CandidateKind::Toml => {
            let value: toml::Table = toml::from_str(text).ok()?;
            let workspace = || value.get("workspace")?.get("package");
            let tables = [value.get("package"), value.get("project"), workspace()];
            let license_value = tables.into_iter().flatten().filter_map(|table| table.get("license"));
            let mut names = license_value.filter_map(|license_value| {
                license_value.as_str().or_else(|| license_value.get("text")?.as_str())
            });
            names.next()?.to_owned()
        }
    };
    current_expression(&name)
}

/// Returns a license expression with the current SPDX identifiers: `GPL-3.0-only` for `GPL-3.0`, for example. `None` if it is
/// not valid.
fn current_expression(stated: &str) -> Option<String> {
    if stated.len() > MAX_EXPRESSION_BYTES {
        return None;
    }
    let is_separator = |character: char| matches!(character, ' ' | '(' | ')' | '/' | '+');
    let words = stated.split_inclusive(is_separator).map(|part| {
        let word = part.trim_end_matches(is_separator);
        format!("{}{}", current_word(word), &part[word.len()..])
    });
    let replaced: String = words.collect();
    let canonical = spdx::Expression::canonicalize(&replaced).ok()?.unwrap_or(replaced);
    // A few licenses have no current identifier.
    let mode = spdx::ParseMode { allow_deprecated: true, ..spdx::ParseMode::STRICT };
    spdx::Expression::parse_mode(&canonical, mode).ok()?;
    Some(canonical)
}

/// Returns a word of a license expression in the case of SPDX, or its replacement.
fn current_word(word: &str) -> &str {
    let replaced = REPLACED_WORDS.iter().find(|(stated, _)| stated.eq_ignore_ascii_case(word));
    let known = || spdx::identifiers::LICENSES.iter().find(|id| id.name.eq_ignore_ascii_case(word));
    replaced.map(|(_, current)| *current).or_else(|| known().map(|id| id.name)).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use marketplace_domain::quality_checks::CheckStatus;
    use spdx::detection::{LicenseEntry, Store};

    use super::{texts::name_of_text, *};
    use crate::quality_checks::tests::findings_of;

    fn finding(files: &[(&str, &str)]) -> Finding {
        let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        findings_of(License::default(), &files, usize::MAX).remove(0)
    }

    #[test]
    fn licenses_are_identified_by_text() {
        let apache = include_str!("../../../../LICENSE-APACHE");
        let mit = include_str!("../../../../LICENSE-MIT");
        let found = finding(&[
            ("x/LICENSE-APACHE", apache),
            ("x/LICENSE-MIT", mit),
            ("x/licence.txt", "You may look at it on Mondays, and pay on Fridays, in advance."),
            ("x/src/LICENSE", mit),
        ]);
        assert_eq!(found.status, CheckStatus::Passed);
        let expected = r#"Found: Apache-2.0 in "x/LICENSE-APACHE"; MIT in "x/LICENSE-MIT"; custom terms in "x/licence.txt"."#;
        assert_eq!(found.message, expected);
        assert_eq!(licenses_in(&found.message), ["Apache-2.0", "MIT"]);
    }

    #[test]
    fn licenses_of_many_directories_do_not_hide_that_of_the_root() {
        let mit = include_str!("../../../../LICENSE-MIT");
        let paths: Vec<String> = (0..=MAX_FILES).map(|number| format!("{number}/LICENSE")).collect();
        let mut files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), mit)).collect();
        files.push(("LICENSE", mit));
        assert_eq!(finding(&files).message, r#"Found: MIT in "LICENSE"."#);
    }

    /// Returns the text of a license, by one of its names.
    fn text_of(store: &Store, wanted: &str) -> String {
        let has_name = |(name, entry): &(&String, &LicenseEntry)| {
            std::iter::once(*name).chain(&entry.aliases).any(|name| name == wanted)
        };
        store.iter().find(has_name).unwrap().1.original.lines().join("\n")
    }

    #[test]
    fn text_with_other_terms_is_not_the_license() {
        let store = Store::load_inline().unwrap();
        let apache = include_str!("../../../../LICENSE-APACHE");
        let condition = "\"Commons Clause\" License Condition v1.0\n\nWithout limiting other conditions in the License, the grant \
                         of rights under the License will not include, and the License does not grant to you, the right to Sell \
                         the Software. Any license notice must also include this notice.\n\n";
        for (text, expected) in [
            (format!("{condition}{}", text_of(&store, "Apache-2.0")), "custom terms"),
            (format!("{condition}{}", text_of(&store, "GPL-3.0")), "custom terms"),
            (
                text_of(&store, "MIT").replace("to deal", "for non-commercial purposes to deal"),
                "custom terms",
            ),
            (text_of(&store, "SSPL-1.0"), "SSPL-1.0"),
            (text_of(&store, "JSON"), "JSON"),
            (text_of(&store, "Pixar"), "Pixar"),
            (apache.split("APPENDIX: How to apply").next().unwrap().to_owned(), "Apache-2.0"),
            (format!("Copyright 2011 May, Not Only Ltd\n{}", text_of(&store, "Apache-2.0")), "Apache-2.0"),
        ] {
            let message = finding(&[("LICENSE", &text)]).message;
            assert_eq!(message, format!("{FOUND}{expected}{IN}\"LICENSE\"."), "{}", &text[..60]);
        }
    }

    #[test]
    fn texts_with_several_names_are_identified() {
        let store = Store::load_inline().unwrap();
        let text_of = |wanted: &str| text_of(&store, wanted);
        let lesser = text_of("LGPL-3.0").split_once("GNU GENERAL PUBLIC LICENSE\n").unwrap().0.to_owned();
        let names =
            ["GPL-2.0", "GPL-3.0", "LGPL-2.1", "LGPL-3.0", "AGPL-3.0", "GFDL-1.3", "OFL-1.1", "MPL-2.0"];
        let mut files: Vec<(String, String)> =
            names.iter().map(|name| (format!("LICENSE-{name}"), text_of(name))).collect();
        files.push(("COPYING.LESSER".to_owned(), lesser));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let expected = [
            r#"GPL-2.0-only in "LICENSE-GPL-2.0""#,
            r#"GPL-3.0-only in "LICENSE-GPL-3.0""#,
            r#"LGPL-2.1-only in "LICENSE-LGPL-2.1""#,
            r#"LGPL-3.0-only in "LICENSE-LGPL-3.0""#,
            r#"AGPL-3.0-only in "LICENSE-AGPL-3.0""#,
            r#"GFDL-1.3-only in "LICENSE-GFDL-1.3""#,
            r#"OFL-1.1 in "LICENSE-OFL-1.1""#,
            r#"MPL-2.0 in "LICENSE-MPL-2.0""#,
            r#"LGPL-3.0-only in "COPYING.LESSER""#,
        ];
        assert_eq!(finding(&files).message, format!("{FOUND}{}.", expected.join(SEPARATOR)));
        // The list of texts calls this one an alias of the text of another license.
        let (key, entry) =
            store.iter().find(|(_, entry)| entry.aliases.iter().any(|name| name == "FSFAP")).unwrap();
        assert_eq!(name_of_text(key, &entry.aliases), None);
    }

    #[test]
    fn license_files_are_recognized_by_path() {
        for (path, expected) in [
            ("COPYING.LESSER", true),
            ("LICENSE.GPL", true),
            ("LICENSE.GPLv3", true),
            ("License.bsd-3-clause", true),
            ("LICENSE-APACHE-2.0", true),
            ("LICENSES/GPL-3.0-or-later.txt", true),
            ("LICENSES/LicenseRef-Own.txt", true),
            ("LICENSES/a/MIT.txt", false),
            ("a/LICENSES/MIT.txt", false),
            ("docs/LICENSE", false),
            ("license.json", false),
            ("license.rs", false),
            ("copying.test.c", false),
        ] {
            assert_eq!(candidate_kind(path).is_some(), expected, "{path}");
        }
        let mit = include_str!("../../../../LICENSE-MIT");
        let found = finding(&[
            ("x/LICENSES/GPL-3.0-or-later.txt", "The text of the license, in full."),
            ("x/LICENSES/own.txt", mit),
            ("x/src/LICENSES/ISC.txt", mit),
        ]);
        assert_eq!(licenses_in(&found.message), ["GPL-3.0-or-later", "MIT"], "{}", found.message);
    }

    #[test]
    fn identifiers_are_replaced_by_current_ones() {
        for (stated, expected) in [
            ("GPL-3.0", "GPL-3.0-only"),
            ("gpl-3.0", "GPL-3.0-only"),
            ("LGPL-2.1", "LGPL-2.1-only"),
            ("GPL-2.0+", "GPL-2.0-or-later"),
            ("LGPL-2.1-or-later", "LGPL-2.1-or-later"),
            ("AGPLv3", "AGPL-3.0-only"),
            ("GNU GPL v2", "GPL-2.0-only"),
            ("(MIT/apache-2.0) and GPL-2.0+", "(MIT OR Apache-2.0) AND GPL-2.0-or-later"),
            ("GPL-2.0-with-classpath-exception", "GPL-2.0-only WITH Classpath-exception-2.0"),
            (
                "GPL-2.0-or-later WITH Classpath-exception-2.0",
                "GPL-2.0-or-later WITH Classpath-exception-2.0",
            ),
            ("MPL-2.0+", "MPL-2.0+"),
            ("Nunit", "Nunit"),
            ("LicenseRef-Own", "LicenseRef-Own"),
        ] {
            let found = finding(&[("package.json", &format!("{{\"license\": \"{stated}\"}}"))]);
            assert_eq!(licenses_in(&found.message), [expected], "{stated}: {}", found.message);
            let stored = format!("{FOUND}{stated}{IN}\"package.json\".");
            assert_eq!(licenses_in(&stored), [expected], "in a message of an earlier version");
        }
        for stated in ["custom terms", "UNLICENSED", "MIT OR", ""] {
            assert_eq!(current_expression(stated), None, "{stated}");
        }
        for (stated, current) in REPLACED_WORDS.iter().filter(|(stated, _)| *stated != "GNU") {
            assert!(spdx::license_id(stated).is_some_and(spdx::LicenseId::is_deprecated), "{stated}");
            assert!(spdx::Expression::parse(current).is_ok(), "{current}");
        }
    }

    #[test]
    fn name_of_a_file_is_no_license() {
        let terms = "You may look at it on Mondays, and pay on Fridays, in advance.";
        for name in ["LICENSE; MIT in x", "LICENSE\"; MIT in \"x", "LICENSE\\\"; MIT in \"x", "LICENSE\\"] {
            let found = finding(&[(name, terms)]);
            assert_eq!(found.status, CheckStatus::Passed, "{}", found.message);
            assert!(licenses_in(&found.message).is_empty(), "{}", found.message);
            let second = finding(&[(name, terms), ("package.json", "{\"license\": \"ISC\"}")]);
            assert_eq!(licenses_in(&second.message), ["ISC"], "{}", second.message);
        }
    }

    #[test]
    fn shortened_message_keeps_what_is_complete() {
        let mit = include_str!("../../../../LICENSE-MIT");
        let names: Vec<String> =
            (0..6).map(|number| format!("LICENSE-{number}-{}", "x".repeat(80))).collect();
        let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), mit)).collect();
        files.push(("package.json", "{\"license\": \"ISC\"}"));
        let found = finding(&files);
        assert!(found.message.ends_with('\u{2026}'), "{}", found.message);
        assert_eq!(licenses_in(&found.message), ["MIT"]);
        for cut in ["Found: MIT", "Found: MIT in", "Found: MIT in \"LICENSE", "Found: MIT in \"LICENSE\\\""] {
            assert!(licenses_in(cut).is_empty(), "{cut}");
        }
    }

    #[test]
    fn licenses_are_read_from_manifests() {
        for (path, text, expected) in [
            ("Cargo.toml", "[package]\nlicense = \"MIT/Apache-2.0\"", "MIT OR Apache-2.0 in"),
            ("Cargo.toml", "[workspace.package]\nlicense = \"MIT\"", "MIT in"),
            ("package.json", "{\"license\": \"ISC\"}", "ISC in"),
            ("pyproject.toml", "[project]\nlicense = {text = \"BSD-3-Clause\"}", "BSD-3-Clause in"),
        ] {
            let found = finding(&[(path, text)]);
            assert!(found.message.contains(expected), "{text}: {}", found.message);
            assert_eq!(licenses_in(&found.message), [expected.trim_end_matches(" in")], "{text}");
        }
        for (path, text) in [
            ("package.json", "{\"license\": \"SEE LICENSE IN x\"}"),
            ("package.json", "{\"license\": 1"),
            ("Cargo.toml", "not toml"),
            ("license.rs", "fn license() {}, the license of the law"),
            ("a/b/LICENSE", "far too deep to be found"),
            ("LICENSE", ""),
            ("licensed.txt", "no licence at all, but words"),
        ] {
            assert_eq!(finding(&[(path, text)]).status, CheckStatus::Failed, "{path} {text}");
        }
    }
}
