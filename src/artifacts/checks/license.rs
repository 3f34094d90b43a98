//! Checks that license terms are stated, by a text file in the root or by a manifest.

use spdx::detection::{LicenseEntry, Store, TextData, scan::Scanner};

use super::{Check, Finding, Piece, Rule, Wanted};
use crate::artifacts::contents::{Entry, Root, shown};

/// License terms are stated.
pub static LICENSE_FOUND: Rule = Rule::recommended("license_found", "A licence or terms file is included");

/// Maximum number of bytes of a file that are read.
const MAX_BYTES: usize = 65_536;

/// Maximum number of candidate files that are stored.
const MAX_FILES: usize = 8;

/// Minimum similarity, from 0 to 1, of a text to a known license that it is identified as.
const LIKENESS: f32 = 0.88;

/// Minimum length in bytes of a text that counts as license terms.
const FEW_BYTES: usize = 20;

/// A file that may state a license.
#[derive(Debug)]
struct Candidate {
    path: String,
    sort: Sort,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Text,
    Toml,
    Json,
}

/// Check for [`LICENSE_FOUND`].
#[derive(Debug, Default)]
pub struct License {
    files: Vec<Candidate>,
    is_reading: bool,
}

impl Check for License {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        self.is_reading = false;
        let is_near = entry.path.matches('/').count() <= 1 && entry.is_file();
        let (true, Some(sort)) = (is_near && self.files.len() < MAX_FILES, sort(entry.name())) else {
            return Wanted::Nothing;
        };
        self.is_reading = true;
        self.files.push(Candidate { path: entry.path.to_owned(), sort, bytes: Vec::new() });
        Wanted::All
    }

    fn piece(&mut self, piece: Piece<'_>) {
        if let (true, Some(file)) = (self.is_reading, self.files.last_mut()) {
            let room = MAX_BYTES - file.bytes.len();
            file.bytes.extend_from_slice(&piece.bytes[..piece.bytes.len().min(room)]);
        }
    }

    fn conclude(mut self: Box<Self>, root: &Root) -> Vec<Finding> {
        self.files.retain(|file| !root.inside(&file.path).contains('/'));
        let mut stated: Vec<String> = Vec::new();
        let is_text = |file: &&Candidate| file.sort == Sort::Text && file.bytes.len() >= FEW_BYTES;
        let texts: Vec<&Candidate> = self.files.iter().filter(is_text).collect();
        if !texts.is_empty() {
            // The store takes tens of megabytes, so it is dropped as soon as possible.
            let store = known_licenses();
            stated.extend(texts.iter().map(|file| {
                let text = TextData::new(&String::from_utf8_lossy(&file.bytes));
                let scanner = Scanner::new(&store).confidence_threshold(LIKENESS);
                match scanner.scan(&text).license {
                    Some(license) => {
                        format!("{} in {}", license.name.trim_end_matches("-only"), shown(&file.path))
                    }
                    None => format!("custom terms in {}", shown(&file.path)),
                }
            }));
        }
        for file in &self.files {
            stated.extend(manifest(file).map(|name| format!("{name} in {}", shown(&file.path))));
        }
        vec![if stated.is_empty() {
            let message = "No license was found in the root. Add a LICENSE file there, or state the license in \
                           the manifest (Cargo.toml, pyproject.toml, package.json or composer.json).";
            Finding::failed(&LICENSE_FOUND, message)
        } else {
            Finding::passed(&LICENSE_FOUND, &format!("Found: {}.", stated.join("; ")))
        }]
    }
}

/// Returns how a file may state a license, by its name, or `None` if it is not a candidate.
fn sort(name: &str) -> Option<Sort> {
    let name = name.to_ascii_lowercase();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let is_prose = stem == name || matches!(extension, "md" | "markdown" | "txt" | "rst" | "adoc" | "html");
    let begins = ["license", "licence", "copying", "unlicense", "terms"];
    let is_named = begins.iter().any(|word| {
        name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_alphabetic()))
    });
    let ends = ["-license", "-licence", "_license", "_licence"].iter().any(|word| stem.ends_with(word));
    match name.as_str() {
        "cargo.toml" | "pyproject.toml" => Some(Sort::Toml),
        "package.json" | "composer.json" => Some(Sort::Json),
        _ => (is_prose && (is_named || ends || stem == "licenses")).then_some(Sort::Text),
    }
}

/// Returns the license that a manifest states, if it is a valid SPDX expression.
fn manifest(file: &Candidate) -> Option<String> {
    let text = std::str::from_utf8(&file.bytes).ok()?;
    let name = match file.sort {
        Sort::Text => return None,
        Sort::Json => {
            let value: serde_json::Value = serde_json::from_str(text).ok()?;
            value.get("license")?.as_str()?.to_owned()
        }
        Sort::Toml => {
            let value: toml::Table = toml::from_str(text).ok()?;
            let workspace = || value.get("workspace")?.get("package");
            let tables = [value.get("package"), value.get("project"), workspace()];
            let stated = tables.into_iter().flatten().filter_map(|table| table.get("license"));
            let mut names =
                stated.filter_map(|stated| stated.as_str().or_else(|| stated.get("text")?.as_str()));
            names.next()?.to_owned()
        }
    };
    // Older Cargo manifests separate alternatives by a slash.
    let expression = name.replace('/', " OR ");
    spdx::Expression::parse_mode(&expression, spdx::ParseMode::LAX).ok()?;
    Some(expression)
}

/// Returns the texts of licenses that are in use for software and data. Some of the rarely used SPDX licenses
/// are too similar to these to tell them apart.
fn known_licenses() -> Store {
    let mut known = Store::new();
    let Ok(all) = Store::load_inline() else { return known };
    for (name, entry) in all.iter() {
        let is_used = spdx::license_id(name).is_some_and(|id| {
            let is_free = id.is_osi_approved() || id.is_fsf_free_libre() || name.starts_with("CC");
            is_free && !id.is_deprecated()
        });
        // Licenses ending in "-or-later" have the same text as those ending in "-only".
        if is_used && !name.ends_with("-or-later") {
            // Source headers and original texts are not needed for matching, so drop them to save memory.
            let LicenseEntry { original, aliases, alternates, .. } = entry;
            let mut kept = LicenseEntry::new(original.clone().without_text());
            kept.aliases.clone_from(aliases);
            kept.alternates = alternates.iter().map(|text| text.clone().without_text()).collect();
            known.insert_entry(name.clone(), kept);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::quality::CheckStatus;

    fn finding(files: &[(&str, &str)]) -> Finding {
        let (mut check, mut root) = (Box::new(License::default()), Root::default());
        for (path, text) in files {
            root.see(path);
            if check.begin(&Entry::file(path, text.len() as u64)) == Wanted::All {
                check.piece(Piece { bytes: text.as_bytes(), is_first: true, is_binary: false });
            }
            check.end(None);
        }
        check.conclude(&root).remove(0)
    }

    #[test]
    fn licences_are_named_by_their_texts() {
        let apache = include_str!("../../../LICENSE-APACHE");
        let mit = include_str!("../../../LICENSE-MIT");
        let found = finding(&[
            ("x/LICENSE-APACHE", apache),
            ("x/LICENSE-MIT", mit),
            ("x/licence.txt", "You may look at it on Mondays, and pay on Fridays, in advance."),
            ("x/src/LICENSE", mit),
        ]);
        assert_eq!(found.status, CheckStatus::Passed);
        let told = r#"Found: Apache-2.0 in "x/LICENSE-APACHE"; MIT in "x/LICENSE-MIT"; custom terms in "x/licence.txt"."#;
        assert_eq!(found.message, told);
    }

    #[test]
    fn manifests_state_licences() {
        for (path, text, told) in [
            ("Cargo.toml", "[package]\nlicense = \"MIT/Apache-2.0\"", "MIT OR Apache-2.0 in"),
            ("Cargo.toml", "[workspace.package]\nlicense = \"MIT\"", "MIT in"),
            ("package.json", "{\"license\": \"ISC\"}", "ISC in"),
            ("pyproject.toml", "[project]\nlicense = {text = \"BSD-3-Clause\"}", "BSD-3-Clause in"),
        ] {
            let found = finding(&[(path, text)]);
            assert!(found.message.contains(told), "{text}: {}", found.message);
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
