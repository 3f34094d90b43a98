//! Checks that license terms are stated, by a text file in the root or by a manifest.

use marketplace_text::encoding;
use spdx::detection::{LicenseEntry, Store, TextData, scan::Scanner};

use super::{Check, Chunk, FileAction, Finding, Rule};
use crate::contents::{Entry, Root, quoted};

/// License terms are stated.
pub static LICENSE_FOUND: Rule = Rule::recommended("license_found", "A licence or terms file is included");

/// Maximum number of bytes of a file that are read.
const MAX_BYTES: usize = 65_536;

/// Maximum number of candidate files that are stored.
const MAX_FILES: usize = 8;

/// Minimum similarity, from 0 to 1, of a text to a known license that it is identified as.
const MIN_CONFIDENCE: f32 = 0.88;

/// Minimum length in bytes of a text that counts as license terms.
const MIN_TERMS_BYTES: usize = 20;

/// Maximum length in bytes of the name or expression of a license in a manifest.
const MAX_EXPRESSION_BYTES: usize = 1_000;

/// What the message of a passed check begins with.
const FOUND: &str = "Found: ";

/// What is between a license and the file in which it was found.
const IN: &str = " in ";

/// What is between two licenses.
const SEPARATOR: &str = "; ";

/// A file that may state a license.
#[derive(Debug)]
struct Candidate {
    path: String,
    kind: CandidateKind,
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
        let is_near_top = entry.path.matches('/').count() <= 1 && entry.is_file();
        let (true, Some(kind)) =
            (is_near_top && self.candidates.len() < MAX_FILES, candidate_kind(entry.name()))
        else {
            return FileAction::Skip;
        };
        self.is_collecting = true;
        self.candidates.push(Candidate { path: entry.path.to_owned(), kind, text: Vec::new() });
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
        self.candidates.retain(|file| !root.relative_path(&file.path).contains('/'));
        let mut found: Vec<String> = Vec::new();
        let is_text = |file: &&Candidate| {
            file.kind == CandidateKind::Text && file.text.trim_ascii().len() >= MIN_TERMS_BYTES
        };
        let texts: Vec<&Candidate> = self.candidates.iter().filter(is_text).collect();
        if !texts.is_empty() {
            // The store takes tens of megabytes, so it is dropped as soon as possible.
            let store = known_licenses();
            found.extend(texts.iter().map(|file| {
                let text = TextData::new(&encoding::decode_for_display(&file.text));
                let scanner = Scanner::new(&store).confidence_threshold(MIN_CONFIDENCE);
                match scanner.scan(&text).license {
                    Some(license) => {
                        format!("{}{IN}{}", license.name.trim_end_matches("-only"), quoted(&file.path))
                    }
                    None => format!("custom terms{IN}{}", quoted(&file.path)),
                }
            }));
        }
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

/// Returns the SPDX expressions of the licenses that the message of a passed check for [`LICENSE_FOUND`] names. Names of files are
/// quoted, so that none is mistaken for a license. What a shortened message has only in part is left out.
pub fn licenses_in(message: &str) -> Vec<String> {
    let mut rest = message.strip_prefix(FOUND).unwrap_or_default();
    let mut licenses: Vec<String> = Vec::new();
    while let Some((name, after)) = rest.split_once(IN).filter(|(name, _)| !name.contains('"')) {
        let Some(after) = skip_quoted(after) else { break };
        if spdx::Expression::parse(name).is_ok() && !licenses.iter().any(|known| known == name) {
            licenses.push(name.to_owned());
        }
        let Some(next) = after.strip_prefix(SEPARATOR) else { break };
        rest = next;
    }
    licenses
}

/// Returns what follows a [`quoted`] name at the beginning of a text; `None` if the text does not begin with a whole one.
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

/// Returns how a file may state a license, by its name, or `None` if it is not a candidate.
fn candidate_kind(name: &str) -> Option<CandidateKind> {
    let name = name.to_ascii_lowercase();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let is_prose = stem == name || matches!(extension, "md" | "markdown" | "txt" | "rst" | "adoc" | "html");
    let prefixes = ["license", "licence", "copying", "unlicense", "terms"];
    let is_named = prefixes.iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.starts_with(|character: char| character.is_alphabetic()))
    });
    let has_suffix =
        ["-license", "-licence", "_license", "_licence"].iter().any(|suffix| stem.ends_with(suffix));
    match name.as_str() {
        "cargo.toml" | "pyproject.toml" => Some(CandidateKind::Toml),
        "package.json" | "composer.json" => Some(CandidateKind::Json),
        _ => (is_prose && (is_named || has_suffix || stem == "licenses")).then_some(CandidateKind::Text),
    }
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
    if name.len() > MAX_EXPRESSION_BYTES {
        return None;
    }
    // Older Cargo manifests separate alternatives by a slash.
    let expression = name.replace('/', " OR ");
    spdx::Expression::parse_mode(&expression, spdx::ParseMode::LAX).ok()?;
    Some(expression)
}

/// Returns the texts of licenses that are in use for software and data. Some of the rarely used SPDX licenses
/// are too similar to these to tell them apart.
fn known_licenses() -> Store {
    let mut store = Store::new();
    let Ok(builtin) = Store::load_inline() else { return store };
    for (name, entry) in builtin.iter() {
        let is_used = spdx::license_id(name).is_some_and(|id| {
            let is_free = id.is_osi_approved() || id.is_fsf_free_libre() || name.starts_with("CC");
            is_free && !id.is_deprecated()
        });
        // Licenses ending in "-or-later" have the same text as those ending in "-only".
        if is_used && !name.ends_with("-or-later") {
            // Source headers and original texts are not needed for matching, so drop them to save memory.
            let LicenseEntry { original, aliases, alternates, .. } = entry;
            let mut stripped = LicenseEntry::new(original.clone().without_text());
            stripped.aliases.clone_from(aliases);
            stripped.alternates = alternates.iter().map(|text| text.clone().without_text()).collect();
            store.insert_entry(name.clone(), stripped);
        }
    }
    store
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality_checks::tests::findings_of;
    use marketplace_domain::quality_checks::CheckStatus;

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
