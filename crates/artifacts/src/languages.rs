//! Languages of source code: bytes per language, as GitHub Linguist counts them, and lines of code.
//!
//! Only files of programming and markup languages that were written for this codebase count. Vendored,
//! generated, documentation and binary files do not, unless `.gitattributes` overrides this.

mod heuristics;
mod notebooks;

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use linguist::DetectedLanguage;
use linguist_types::LanguageType as LinguistType;
use marketplace_text::encoding::{Decoder, Encoding};
use regex::RegexSet;
use serde::{Deserialize, Serialize};

use super::{
    attributes::{FileAttributes, MAX_LANGUAGE_NAME_BYTES},
    contents::split_path,
    generated, lines,
};

pub use heuristics::is_vendored;

/// Number of bytes at the beginning of a file from which its language is detected.
const HEAD_BYTES: usize = 50 * 1024;

/// Maximum size in bytes of a file whose lines are counted. Larger files are data, regardless of their names.
const MAX_COUNTED_BYTES: usize = 8 << 20;

/// Paths of documentation (from `documentation.yml` of Linguist).
static DOCUMENTATION_PATHS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"^[Dd]ocs?/",
        r"(^|/)[Dd]ocumentation/",
        r"(^|/)[Gg]roovydoc/",
        r"(^|/)[Jj]avadoc/",
        r"^[Mm]an/",
        r"^[Ee]xamples/",
        r"^[Dd]emos?/",
        r"(^|/)inst/doc/",
        r"(^|/)CITATION(\.cff|(S)?(\.(bib|md))?)$",
        r"(^|/)CHANGE(S|LOG)?(\.|$)",
        r"(^|/)CONTRIBUTING(\.|$)",
        r"(^|/)COPYING(\.|$)",
        r"(^|/)INSTALL(\.|$)",
        r"(^|/)LICEN[CS]E(\.|$)",
        r"(^|/)[Ll]icen[cs]e(\.|$)",
        r"(^|/)README(\.|$)",
        r"(^|/)[Rr]eadme(\.|$)",
        r"^[Ss]amples?/",
    ])
    .expect("the patterns are valid")
});

/// Language statistics of a codebase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanguageStats {
    /// Number of bytes per language, by Linguist's name of the language.
    pub bytes: BTreeMap<String, u64>,
    /// Number of lines of code, without blank lines and comments.
    pub lines: u64,
}

/// Collects language statistics file by file.
#[derive(Debug, Default)]
pub struct LanguageCounter {
    stats: LanguageStats,
    /// Files whose language is ambiguous: the candidates, and the size in bytes.
    ambiguous: Vec<(Vec<&'static str>, u64)>,
}

impl LanguageCounter {
    /// Adds a file to the statistics, unless it is excluded.
    pub fn add_file(&mut self, path: &str, bytes: &[u8], attributes: &FileAttributes) {
        let is_excluded = attributes.vendored.unwrap_or_else(|| is_vendored(path))
            || attributes.documentation.unwrap_or_else(|| DOCUMENTATION_PATHS.is_match(path));
        let encoding = Encoding::of_file(bytes).filter(|encoding| *encoding != Encoding::Utf32);
        let Some(encoding) = encoding.filter(|_| !bytes.is_empty() && !is_excluded) else { return };
        let mut buffer = Vec::new();
        let text = Decoder::new(encoding).decode(bytes, true, &mut buffer);
        let head = String::from_utf8_lossy(&text[..text.len().min(HEAD_BYTES)]);
        let mut languages = match &attributes.language {
            Some(name) => find_by_name(name),
            None => detect_languages(path, &head),
        };
        if attributes.detectable != Some(true) {
            languages.retain(is_code_or_markup);
        }
        let is_generated =
            || attributes.generated.unwrap_or_else(|| generated::is_excluded_by_linguist(path, text));
        if languages.is_empty() || attributes.detectable == Some(false) || is_generated() {
            return;
        }
        let size = bytes.len() as u64;
        self.stats.lines += count_lines(&languages, text);
        match languages.as_slice() {
            [language] => *self.stats.bytes.entry(group_name(language).to_owned()).or_default() += size,
            candidates => self.ambiguous.push((candidates.iter().map(group_name).collect(), size)),
        }
    }

    /// Returns the statistics. An ambiguous file counts for the candidate with the most bytes in the other
    /// files.
    pub fn finish(mut self) -> LanguageStats {
        let unambiguous = self.stats.bytes.clone();
        for (candidates, size) in self.ambiguous {
            let bytes = |name: &&'static str| unambiguous.get(*name).copied().unwrap_or(0);
            // Among equals, take the first candidate, so that the result is deterministic.
            let best = candidates.iter().copied().rev().max_by_key(bytes).unwrap_or("Other");
            *self.stats.bytes.entry(best.to_owned()).or_default() += size;
        }
        self.stats
    }
}

/// Returns the candidates for the language of a file in the order of Linguist: by modeline, then by file
/// name, then by interpreter (shebang), then by extension in any case.
fn detect_languages(path: &str, head: &str) -> Vec<DetectedLanguage> {
    let (directory, name) = split_path(path);
    let interpreted = parse_interpreter(head).and_then(|program| LANGUAGES_BY_INTERPRETER.get(program));
    let is_lowercase = !name.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_lowercase && interpreted.is_none() {
        return heuristics::detect_language(path, head);
    }
    let by_modeline = heuristics::detect_by_modeline(head);
    if !by_modeline.is_empty() {
        return by_modeline;
    }
    let by_name = linguist::detect_language_by_filename(name).unwrap_or_default();
    if by_name.len() == 1 {
        return by_name;
    }
    let lower = format!("{directory}/{}", name.to_ascii_lowercase());
    let mut found = heuristics::detect_language(&lower, head);
    if let Some(interpreted) = interpreted {
        found.retain(|language| interpreted.iter().any(|other| other.name == language.name));
        if found.is_empty() {
            found.clone_from(interpreted);
        }
    }
    found
}

/// Languages by interpreter.
static LANGUAGES_BY_INTERPRETER: LazyLock<HashMap<&'static str, Vec<DetectedLanguage>>> =
    LazyLock::new(|| {
        let mut found: HashMap<&str, Vec<DetectedLanguage>> = HashMap::new();
        for (name, definition) in linguist::definitions::LANGUAGES.iter() {
            for program in definition.interpreters.iter().flatten() {
                found.entry(program).or_default().push(DetectedLanguage { name, definition });
            }
        }
        for languages in found.values_mut() {
            languages.sort_by_key(|language| language.name);
        }
        found
    });

/// Returns the interpreter in the shebang line without its minor version: `python3` for `#!/usr/bin/env
/// python3.11`.
fn parse_interpreter(head: &str) -> Option<&str> {
    let line = head.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?.rsplit('/').next()?;
    }
    let is_version = |suffix: &str| !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit());
    Some(program.rsplit_once('.').filter(|(_, suffix)| is_version(suffix)).map_or(program, |(name, _)| name))
}

fn is_code_or_markup(language: &DetectedLanguage) -> bool {
    matches!(language.definition.language_type, LinguistType::Programming | LinguistType::Markup)
}

/// Returns the name of the language that a language is counted as.
fn group_name(language: &DetectedLanguage) -> &'static str {
    language.definition.group.as_deref().unwrap_or(language.name)
}

/// Returns the language that `.gitattributes` names. Empty if the name is unknown.
fn find_by_name(name: &str) -> Vec<DetectedLanguage> {
    if name.len() > MAX_LANGUAGE_NAME_BYTES {
        return Vec::new();
    }
    let modeline = format!("-*- mode: {} -*-", name.replace(' ', "-"));
    linguist::detect_language_by_modeline(&modeline).unwrap_or_default()
}

/// Returns the number of lines of code of a file that may be in several languages.
fn count_lines(candidates: &[DetectedLanguage], bytes: &[u8]) -> u64 {
    if bytes.len() > MAX_COUNTED_BYTES {
        return 0;
    }
    let names = candidates.iter().map(|language| language.name);
    if names.clone().any(|name| name == notebooks::LANGUAGE) {
        return notebooks::Notebook::parse(bytes).map_or(0, |notebook| {
            let languages = find_by_name(notebook.language());
            lines::count(languages.first().map_or("", |language| language.name), notebook.code().as_bytes())
        });
    }
    let name = names.clone().find(|name| lines::is_known(name)).or_else(|| names.clone().next());
    lines::count(name.unwrap_or_default(), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_languages(files: &[(&str, &str)]) -> LanguageStats {
        let mut counter = LanguageCounter::default();
        for (path, text) in files {
            counter.add_file(path, text.as_bytes(), &FileAttributes::default());
        }
        counter.finish()
    }

    #[test]
    fn only_handwritten_code_is_counted() {
        let counted = count_languages(&[
            ("src/main.rs", "// says hello\nfn main() {\n\n    println!(\"hello\");\n}\n"),
            ("web/app.ts", "export const a = 1;\n"),
            ("node_modules/x/index.js", "module.exports = 1;\n"),
            ("README.md", "# Hello\n"),
            ("docs/conf.py", "a = 1\n"),
            ("Cargo.lock", "version = 4\n"),
            ("data.json", "{}\n"),
            ("logo.rs", "\0\0"),
        ]);
        assert_eq!(counted.bytes, BTreeMap::from([("Rust".to_owned(), 52), ("TypeScript".to_owned(), 20)]));
        assert_eq!(counted.lines, 4);
    }

    #[test]
    fn files_in_every_encoding_of_text_are_counted() {
        let text = "// says hello\nfn main() {}\n";
        let with_mark = format!("\u{feff}{text}");
        let little: Vec<u8> = with_mark.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = with_mark.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [text.as_bytes(), with_mark.as_bytes(), &little, &big] {
            let mut counter = LanguageCounter::default();
            counter.add_file("a.rs", bytes, &FileAttributes::default());
            let counted = counter.finish();
            assert_eq!(counted.bytes, BTreeMap::from([("Rust".to_owned(), bytes.len() as u64)]));
            assert_eq!(counted.lines, 1, "{bytes:?}");
        }
    }

    #[test]
    fn lines_of_large_files_are_not_counted() {
        let mut bytes = b"let a = 1;\n".repeat(1_000);
        bytes.resize(MAX_COUNTED_BYTES, b' ');
        assert_eq!(count_lines(&[], &bytes), 1_000);
        bytes.push(b' ');
        assert_eq!(count_lines(&[], &bytes), 0);
    }

    #[test]
    fn only_code_cells_of_notebooks_count() {
        let cells = r##""cells": [
            {"cell_type": "markdown", "source": ["text\n", "more"]},
            {"cell_type": "code", "source": ["# a\n", "# b\n", "b = 1\n", "\n", "c = '''\n", "//\n", "'''"], "outputs": [{"text": ["x\n", "y\n"]}]},
            {"cell_type": "code", "source": "d = 1 // 2\ne = 3", "outputs": []},
            {"cell_type": "raw"}
        ]"##;
        for (text, expected) in [
            (format!("{{{cells}}}"), 6),
            (format!("{{{cells}, \"metadata\": {{\"language_info\": {{\"name\": \"python\"}}}}}}"), 6),
            (format!("{{\"metadata\": {{\"language_info\": {{\"name\": \"javascript\"}}}}, {cells}}}"), 7),
            (format!("{{{cells}, \"metadata\": {{\"language_info\": {{\"name\": \"unheard-of\"}}}}}}"), 8),
            (format!("{{{cells}"), 0),
            ("{}\n".to_owned(), 0),
            (format!("{{\"cells\": [{{\"cell_type\": \"code\", \"source\": {}", "[".repeat(100_000)), 0),
        ] {
            assert_eq!(
                count_languages(&[("a.ipynb", &text)]).lines,
                expected,
                "{}",
                &text[..60.min(text.len())]
            );
        }
    }

    #[test]
    fn languages_are_detected_by_name_and_shebang() {
        for (path, text, language) in [
            ("bin/build", "#!/bin/sh\n", "Shell"),
            ("bin/build", "#!/usr/bin/env -S A=1 python3.11 -u\n", "Python"),
            ("tool.pl", "#! /usr/bin/env perl\n", "Perl"),
            ("odd.js", "#!/bin/bash\n", "Shell"),
            ("src/MAIN.RS", "fn main() {}\n", "Rust"),
            ("src/start.S", "\tmov %rax, %rbx\n", "Assembly"),
            ("Makefile", "all:\n", "Makefile"),
            ("app.js", "#!/usr/bin/env node\n", "JavaScript"),
            ("run.py", "#!/opt/unknown\n", "Python"),
        ] {
            let found = count_languages(&[(path, text)]).bytes;
            assert_eq!(found.keys().collect::<Vec<_>>(), [language], "{path}: {text}");
        }
    }

    #[test]
    fn ambiguous_file_follows_the_other_files() {
        let with = |other: (&str, &str)| count_languages(&[("a.h", "int a;\n"), other]).bytes;
        let c = with(("b.c", "int b;\n"));
        assert_eq!(c.values().sum::<u64>(), 14);
        assert_eq!(c.len(), 1, "{c:?}");
    }

    #[test]
    fn attributes_override_detection() {
        let mut counter = LanguageCounter::default();
        let attributes = |change: fn(&mut FileAttributes)| {
            let mut attributes = FileAttributes::default();
            change(&mut attributes);
            attributes
        };
        counter.add_file("a.rs", b"fn a() {}\n", &attributes(|attributes| attributes.generated = Some(true)));
        counter.add_file("b.rs", b"fn a() {}\n", &attributes(|attributes| attributes.vendored = Some(true)));
        counter.add_file(
            "vendor/c.rs",
            b"fn a() {}\n",
            &attributes(|attributes| attributes.vendored = Some(false)),
        );
        counter.add_file(
            "d.inc",
            b"<?php\n",
            &attributes(|attributes| attributes.language = Some("PHP".to_owned())),
        );
        counter.add_file("e.json", b"{}\n", &attributes(|attributes| attributes.detectable = Some(true)));
        let names: Vec<String> = counter.finish().bytes.into_keys().collect();
        assert_eq!(names, ["JSON", "PHP", "Rust"]);
    }
}
