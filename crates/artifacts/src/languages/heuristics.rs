//! The heuristics of Linguist that distinguish languages with the same extension, and its patterns of vendored
//! paths. The `linguist` crate has both as data. Its own regular expressions backtrack, so that some take
//! quadratic time; these here are linear.

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

use linguist::{
    DetectedLanguage,
    definitions::{HEURISTICS, LANGUAGES, VENDOR},
};
use linguist_types::{Disambiguation, HeuristicRule};
use regex::{Regex, RegexSet};

use crate::contents::split_path;

/// Number of lines at the beginning and at the end of a text that may have a modeline.
const MODELINE_LINES: usize = 5;

/// Maximum length of a line in bytes that may have a modeline.
const MAX_MODELINE_BYTES: usize = 256;

/// Maximum length in bytes of a file name whose language is detected, as in common file systems.
const MAX_NAME_BYTES: usize = 255;

/// Heuristics by extension, with the dot.
static DISAMBIGUATIONS: LazyLock<HashMap<&'static str, Vec<&'static Disambiguation>>> = LazyLock::new(|| {
    let mut found: HashMap<&str, Vec<&Disambiguation>> = HashMap::new();
    for disambiguation in &HEURISTICS.disambiguations {
        for extension in &disambiguation.extensions {
            found.entry(extension).or_default().push(disambiguation);
        }
    }
    found
});

/// Patterns of the heuristics by their texts. Each is compiled when it is first used; `None` if it is invalid.
static PATTERNS: LazyLock<HashMap<&'static str, OnceLock<Option<Regex>>>> = LazyLock::new(|| {
    fn add_rule(rule: &'static HeuristicRule, found: &mut HashMap<&'static str, OnceLock<Option<Regex>>>) {
        for pattern in [&rule.pattern, &rule.negative_pattern].into_iter().flatten().flatten() {
            found.entry(pattern).or_default();
        }
        rule.and.iter().flatten().for_each(|rule| add_rule(rule, found));
    }
    let mut found = HashMap::new();
    for pattern in HEURISTICS.named_patterns.values().flatten() {
        found.entry(pattern.as_str()).or_default();
    }
    for rule in HEURISTICS.disambiguations.iter().flat_map(|disambiguation| &disambiguation.rules) {
        add_rule(rule, &mut found);
    }
    found
});

static VENDORED_PATHS: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(VENDOR.iter()).expect("the patterns of Linguist are valid"));

/// Whether a path is that of third-party code, according to Linguist.
pub fn is_vendored(path: &str) -> bool {
    VENDORED_PATHS.is_match(path)
}

/// Returns the candidates for the language of a file in the order of Linguist: by modeline, then by file name,
/// then by extension, then by content. Empty if there are none.
pub(super) fn detect_language(path: &str, head: &str) -> Vec<DetectedLanguage> {
    let name = split_path(path).1;
    if name.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let by_modeline = detect_by_modeline(head);
    if !by_modeline.is_empty() {
        return by_modeline;
    }
    let by_name = linguist::detect_language_by_filename(name).unwrap_or_default();
    if by_name.len() == 1 {
        return by_name;
    }
    let by_extension = linguist::detect_language_by_extension(name).unwrap_or_default();
    let candidates = intersection(by_name, by_extension);
    if candidates.len() <= 1 {
        return candidates;
    }
    let by_content = disambiguate(name, head);
    if by_content.is_empty() { candidates } else { by_content }
}

/// Returns the language that a modeline in the first or last lines names. Empty if there is none.
pub(super) fn detect_by_modeline(head: &str) -> Vec<DetectedLanguage> {
    // Patterns of modelines take quadratic time for long lines, so these are left out.
    let is_short = |line: &&str| line.len() <= MAX_MODELINE_BYTES;
    let mut lines: Vec<&str> = head.lines().take(MODELINE_LINES).filter(is_short).collect();
    if head.lines().nth(MODELINE_LINES).is_some() {
        let mut last: Vec<&str> = head.lines().rev().take(MODELINE_LINES).filter(is_short).collect();
        last.reverse();
        lines.extend(last);
    }
    linguist::detect_language_by_modeline(&lines.join("\n")).unwrap_or_default()
}

/// Returns the candidates that are in both lists. An empty list, or one without common candidates, is ignored.
fn intersection(candidates: Vec<DetectedLanguage>, found: Vec<DetectedLanguage>) -> Vec<DetectedLanguage> {
    if candidates.is_empty() {
        return found;
    }
    let is_found = |candidate: &&DetectedLanguage| found.iter().any(|other| other.name == candidate.name);
    let common: Vec<DetectedLanguage> = candidates.iter().filter(is_found).cloned().collect();
    if common.is_empty() { candidates } else { common }
}

/// Returns the languages of the first heuristic for the extensions of a file that matches its content.
fn disambiguate(name: &str, content: &str) -> Vec<DetectedLanguage> {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let extensions = name.rmatch_indices('.').map(|(at, _)| &name[at..]);
    let rules = extensions
        .filter_map(|extension| DISAMBIGUATIONS.get(extension))
        .flatten()
        .flat_map(|disambiguation| &disambiguation.rules);
    for rule in rules {
        if let (Some(languages), true) = (&rule.language, applies(rule, content)) {
            let definitions = languages.iter().filter_map(|name| LANGUAGES.get_key_value(name));
            return definitions.map(|(name, definition)| DetectedLanguage { name, definition }).collect();
        }
    }
    Vec::new()
}

/// Whether a heuristic matches a content.
fn applies(rule: &HeuristicRule, content: &str) -> bool {
    if let Some(rules) = &rule.and {
        return rules.iter().all(|rule| applies(rule, content));
    }
    let named = rule.named_pattern.as_ref().map(|name| HEURISTICS.named_patterns.get(name));
    let is_named_match = named.is_none_or(|found| found.is_some_and(|patterns| matches(patterns, content)));
    is_named_match
        && rule.pattern.as_ref().is_none_or(|patterns| matches(patterns, content))
        && !rule.negative_pattern.as_ref().is_some_and(|patterns| matches(patterns, content))
}

/// Whether any of several patterns matches a content.
fn matches(patterns: &[String], content: &str) -> bool {
    patterns.iter().any(|pattern| {
        let compiled = PATTERNS.get(pattern.as_str());
        let compiled = compiled.and_then(|slot| slot.get_or_init(|| compile(pattern)).as_ref());
        compiled.is_some_and(|regex| regex.is_match(content))
    })
}

fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("(?m){pattern}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_linear() {
        assert!(PATTERNS.len() > 300, "{}", PATTERNS.len());
        for pattern in PATTERNS.keys() {
            assert!(compile(pattern).is_some(), "{pattern}");
        }
    }

    /// In each of these texts, the patterns of the `linguist` crate take seconds.
    #[test]
    fn repetitive_texts_are_read_once() {
        for text in ["\n".repeat(50 << 10), "a".repeat(50 << 10), " \n".repeat(25 << 10)] {
            for path in ["a.sql", "a.js.pp", "a.odin", "a.inc", "a.pl"] {
                detect_language(path, &text);
            }
        }
        detect_language(&format!("a{}", ".".repeat(1 << 20)), "");
    }

    #[test]
    fn modelines_are_found_in_the_first_and_last_lines() {
        let name = |text: &str| detect_by_modeline(text).first().map(|language| language.name);
        let filler = "x\n".repeat(6);
        assert_eq!(name(&format!("# -*- mode: ruby -*-\n{filler}")), Some("Ruby"));
        assert_eq!(name(&format!("{filler}// vim: set ft=cpp:\n")), Some("C++"));
        assert_eq!(name(&format!("{filler}// vim: set ft=cpp:\n{filler}")), None);
        assert_eq!(name(&format!("{} vim: ft=ruby", "a=".repeat(MAX_MODELINE_BYTES))), None);
    }

    proptest::proptest! {
        /// The same languages are detected as by the crate.
        #[test]
        fn heuristics_agree_with_the_crate(
            extension in "(h|cs|m|rs|ts|sql|pl|md|inc|fs|asm|v|r|tex|txt|yaml|cls|php|pro|toc|ms|d|t)",
            words in proptest::collection::vec("(#include|<iostream>|class|@interface|fn|use|<\\?php|package|import|begin|BEGIN;|%|my|module|end|[a-z]{1,4}|:-|=|\n|\n\n|;|//|\\{|\\}|\\(|\\)|using| )", 0..30),
        ) {
            let (path, text) = (format!("x/a.{extension}"), words.join(" "));
            let names = |found: Vec<DetectedLanguage>| -> Vec<&str> { found.iter().map(|found| found.name).collect() };
            let expected = linguist::detect_language(&path, Some(&text)).unwrap();
            proptest::prop_assert_eq!(names(detect_language(&path, &text)), names(expected), "{} {}", path, text);
        }

        #[test]
        fn vendored_paths_agree_with_the_crate(
            path in "((vendor|node_modules|src|test|Pods|dist|fixtures|\\.github|jquery|deps)/){0,3}(jquery|a|bootstrap|d3|gradlew|Sparkle)(\\.min)?(\\.js|\\.css|\\.d\\.ts|\\.rs)?",
        ) {
            proptest::prop_assert_eq!(is_vendored(&path), linguist::is_vendored(&path).unwrap(), "{}", path);
        }
    }
}
