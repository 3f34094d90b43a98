//! Languages of source code: bytes per language, as GitHub Linguist counts them, and lines of code.
//!
//! Only files of programming and markup languages that were written for this codebase count. Vendored,
//! generated, documentation and binary files do not, unless `.gitattributes` overrides this.

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use linguist::DetectedLanguage;
use linguist_types::LanguageType as Sort;
use regex::RegexSet;
use serde::{Deserialize, Serialize};


use super::{attributes::Said, generated};

/// Number of bytes at the beginning of a file from which its language is detected.
const HEAD: usize = 50 * 1024;

/// Number of bytes at the beginning of a file in which a NUL byte marks it as binary.
const BINARY_HEAD: usize = 8_000;

/// Maximum size in bytes of a file whose lines are counted. Larger files are data, whatever their names say.
const MAX_COUNTED: usize = 8 << 20;

/// Paths of documentation (from `documentation.yml` of Linguist).
static DOCUMENTATION: LazyLock<RegexSet> = LazyLock::new(|| {
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
pub struct Mix {
    /// Number of bytes per language, by Linguist's name of the language.
    pub bytes: BTreeMap<String, u64>,
    /// Number of lines of code, without blank lines and comments.
    pub lines: u64,
}

/// Collects language statistics file by file.
#[derive(Debug, Default)]
pub struct Counter {
    mix: Mix,
    /// Files whose language is ambiguous: the candidates, and the size in bytes.
    open: Vec<(Vec<&'static str>, u64)>,
}

/// Returns whether content is binary: whether it has a NUL byte near the beginning.
pub fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(BINARY_HEAD)]).is_some()
}

impl Counter {
    /// Adds a file to the statistics, unless it is excluded.
    pub fn see(&mut self, path: &str, bytes: &[u8], said: &Said) {
        let is_foreign = said.vendored.unwrap_or_else(|| linguist::is_vendored(path).unwrap_or(false))
            || said.documentation.unwrap_or_else(|| DOCUMENTATION.is_match(path));
        if bytes.is_empty() || is_foreign || is_binary(bytes) {
            return;
        }
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
        let mut found = match &said.language {
            Some(name) => named(name),
            None => detect(path, &head).unwrap_or_default(),
        };
        if said.detectable != Some(true) {
            found.retain(counts);
        }
        let is_generated = || said.generated.unwrap_or_else(|| generated::is_left_out(path, bytes));
        if found.is_empty() || said.detectable == Some(false) || is_generated() {
            return;
        }
        let size = bytes.len() as u64;
        self.mix.lines += lines(&found, bytes);
        match found.as_slice() {
            [language] => *self.mix.bytes.entry(group(language).to_owned()).or_default() += size,
            several => self.open.push((several.iter().map(group).collect(), size)),
        }
    }

    /// Returns the statistics. An ambiguous file counts for the candidate with the most bytes in the other
    /// files.
    pub fn conclude(mut self) -> Mix {
        let known = self.mix.bytes.clone();
        for (candidates, size) in self.open {
            let bytes = |name: &&'static str| known.get(*name).copied().unwrap_or(0);
            // Among equals, take the first candidate, so that the result is deterministic.
            let best = candidates.iter().copied().rev().max_by_key(bytes).unwrap_or("Other");
            *self.mix.bytes.entry(best.to_owned()).or_default() += size;
        }
        self.mix
    }
}

/// Returns the candidates for the language of a file in the order of Linguist: by modeline, then by file
/// name, then by interpreter (shebang), then by extension in any case.
fn detect(path: &str, head: &str) -> linguist::Result<Vec<DetectedLanguage>> {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let interpreted = interpreter(head).and_then(|program| INTERPRETED.get(program));
    let is_usual = !name.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_usual && interpreted.is_none() {
        return linguist::detect_language(path, Some(head));
    }
    let by_modeline = linguist::detect_language_by_modeline(head)?;
    if !by_modeline.is_empty() {
        return Ok(by_modeline);
    }
    let by_name = linguist::detect_language_by_filename(path)?;
    if by_name.len() == 1 {
        return Ok(by_name);
    }
    let lower = format!("{folder}/{}", name.to_ascii_lowercase());
    let mut found = linguist::detect_language(lower, Some(head))?;
    if let Some(interpreted) = interpreted {
        found.retain(|language| interpreted.iter().any(|other| other.name == language.name));
        if found.is_empty() {
            found.clone_from(interpreted);
        }
    }
    Ok(found)
}

/// Languages by interpreter.
static INTERPRETED: LazyLock<HashMap<&'static str, Vec<DetectedLanguage>>> = LazyLock::new(|| {
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
fn interpreter(head: &str) -> Option<&str> {
    let line = head.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?.rsplit('/').next()?;
    }
    let is_version = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    Some(program.rsplit_once('.').filter(|(_, rest)| is_version(rest)).map_or(program, |(name, _)| name))
}

fn counts(language: &DetectedLanguage) -> bool {
    matches!(language.definition.language_type, Sort::Programming | Sort::Markup)
}

/// Returns the name of the language that a language is counted as.
fn group(language: &DetectedLanguage) -> &'static str {
    language.definition.group.as_deref().unwrap_or(language.name)
}

/// Returns the language that `.gitattributes` names. Empty if the name is unknown.
fn named(name: &str) -> Vec<DetectedLanguage> {
    let modeline = format!("-*- mode: {} -*-", name.replace(' ', "-"));
    linguist::detect_language_by_modeline(&modeline).unwrap_or_default()
}

/// Returns the number of lines of code of a file that may be in several languages.
fn lines(candidates: &[DetectedLanguage], bytes: &[u8]) -> u64 {
    if bytes.len() > MAX_COUNTED {
        return 0;
    }
    let names = candidates.iter().map(|language| language.name);
    let name = names.clone().find(|name| super::lines::is_known(name)).or_else(|| names.clone().next());
    super::lines::count(name.unwrap_or_default(), bytes)
}

















#[cfg(test)]
mod tests {
    use super::*;

    fn mix(files: &[(&str, &str)]) -> Mix {
        let mut counter = Counter::default();
        for (path, text) in files {
            counter.see(path, text.as_bytes(), &Said::default());
        }
        counter.conclude()
    }

    #[test]
    fn what_somebody_wrote_is_counted() {
        let counted = mix(&[
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
    fn names_and_first_lines_say_what_a_file_is_in() {
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
            let found = mix(&[(path, text)]).bytes;
            assert_eq!(found.keys().collect::<Vec<_>>(), [language], "{path}: {text}");
        }
    }

    #[test]
    fn what_may_be_several_is_what_the_others_are() {
        let with = |other: (&str, &str)| mix(&[("a.h", "int a;\n"), other]).bytes;
        let c = with(("b.c", "int b;\n"));
        assert_eq!(c.values().sum::<u64>(), 14);
        assert_eq!(c.len(), 1, "{c:?}");
    }

    #[test]
    fn attributes_have_the_last_word() {
        let mut counter = Counter::default();
        let said = |change: fn(&mut Said)| {
            let mut said = Said::default();
            change(&mut said);
            said
        };
        counter.see("a.rs", b"fn a() {}\n", &said(|said| said.generated = Some(true)));
        counter.see("b.rs", b"fn a() {}\n", &said(|said| said.vendored = Some(true)));
        counter.see("vendor/c.rs", b"fn a() {}\n", &said(|said| said.vendored = Some(false)));
        counter.see("d.inc", b"<?php\n", &said(|said| said.language = Some("PHP".to_owned())));
        counter.see("e.json", b"{}\n", &said(|said| said.detectable = Some(true)));
        let names: Vec<String> = counter.conclude().bytes.into_keys().collect();
        assert_eq!(names, ["JSON", "PHP", "Rust"]);
    }
}
