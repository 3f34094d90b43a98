//! Looks for credentials that may still work: private keys and tokens of known providers, recognized by their
//! format.
//!
//! Values that look like passwords are only counted, because code is full of them. So are private keys in
//! test files, which are usually made for the tests. Examples, placeholders, and values too regular to be
//! secrets are ignored.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use marketplace_domain::written::counted;
use nosecrets_rules::Rule as RuleDefinition;
use regex::bytes::{Regex, RegexBuilder};
use sha2::{Digest, Sha256};

use super::{
    Check, Chunk, FileAction, Finding, Place, Role, Rule,
    samples::{Samples, masked},
    window::{View, Window},
    words::words,
};
use crate::contents::{Entry, Root};

/// No private keys or provider tokens were found.
pub static NO_LIVE_SECRETS: Rule = Rule::mandatory("no_live_secrets", "No credentials that still work");

/// Rules that match ordinary assignments or values that are public by design. Their matches are counted, but
/// do not fail the check.
const WEAK_RULES: [&str; 14] = [
    "generic-api-key",
    "generic-secret",
    "password-assignment",
    "basic-auth",
    "postgres-connection-uri",
    "mysql-connection-uri",
    "mongodb-connection-uri",
    "redis-connection-uri",
    "mssql-connection-uri",
    "jdbc-password-param",
    "vercel-token",
    "railway-token",
    "render-api-key",
    "supabase-anon-key",
];

/// Rules of our own.
const OWN_RULES: &str = include_str!("secrets/rules.toml");

/// IDs of the rules that match the headers of private keys.
const PRIVATE_KEY_RULES: [&str; 2] = ["private-key", "putty-private-key"];

/// Minimum entropy of a secret in bits per byte. Text typed by hand repeats itself and has less.
const MIN_ENTROPY: f64 = 2.9;

/// Substrings of placeholder values.
const PLACEHOLDERS: [&str; 17] = [
    "example",
    "sample",
    "placeholder",
    "changeme",
    "change_me",
    "dummy",
    "fake",
    "your_",
    "your-",
    "yourkey",
    "redacted",
    "xxxx",
    "****",
    "....",
    "12345678",
    "abcdefgh",
    "00000000",
];

/// Words in paths of test files and examples. A plural `s` may follow.
const TEST_PATH_WORDS: [&str; 14] = [
    "test", "testing", "testdata", "testutil", "unittest", "spec", "fixture", "example", "sample", "mock",
    "dummy", "dummies", "demo", "snakeoil",
];

/// The compiled rules.
static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::load);

/// Compiled rules, and the keywords that must occur near their matches.
struct RuleSet {
    keywords: AhoCorasick,
    /// For each keyword, the indexes of the rules that it selects.
    rules_by_keyword: Vec<Vec<usize>>,
    rules: Vec<CompiledRule>,
}

/// A compiled rule.
struct CompiledRule {
    name: String,
    regex: Regex,
    capture: usize,
    allowlist: Vec<Regex>,
    excluded_paths: Vec<String>,
    is_weak: bool,
    is_private_key: bool,
}

/// Number of bytes after the header of a private key in which its lines must start. There may be a few lines
/// of metadata before them.
const MAX_KEY_PREAMBLE_BYTES: usize = 1_024;

/// Maximum number of bytes of a private key that identify it. They are too many to be guessed.
const KEY_CONTEXT_BYTES: usize = 256;

/// Number of hexadecimal digits of the digest that distinguishes places of a kind.
const CONTEXT_DIGITS: usize = 32;

/// Maximum length in bytes of a value that is judged. Longer ones are judged by their beginning.
const MAX_VALUE_BYTES: usize = 4_096;

/// Matches the lines after the header of a private key, in a file or in a string literal.
static KEY_BODY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let between =
        r#"(?:[\s"'+,;>|`]|\\[nr]|(?:Proc-Type|DEK-Info|Comment|Version|Public-Lines):[^\n]{0,120}\n)*"#;
    compile_regex(&format!("^{between}[A-Za-z0-9+/=]{{40}}"))
});

/// Compiles a pattern for text in any encoding: `.` and character classes match bytes.
fn compile_regex(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

impl RuleSet {
    fn load() -> RuleSet {
        let compiled: Vec<(CompiledRule, Vec<String>)> =
            definitions().into_iter().filter_map(compile_rule).collect();
        let mut keywords: Vec<String> = Vec::new();
        let mut rules_by_keyword: Vec<Vec<usize>> = Vec::new();
        for (rule, (_, rule_keywords)) in compiled.iter().enumerate() {
            for keyword in rule_keywords.iter().map(|keyword| keyword.to_ascii_lowercase()) {
                let index = keywords.iter().position(|known| *known == keyword).unwrap_or_else(|| {
                    keywords.push(keyword);
                    rules_by_keyword.push(Vec::new());
                    keywords.len() - 1
                });
                rules_by_keyword[index].push(rule);
            }
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&keywords)
            .expect("the keywords are valid");
        let rules = compiled.into_iter().map(|(rule, _)| rule).collect();
        RuleSet { keywords, rules_by_keyword, rules }
    }

    /// Returns the indexes of the rules whose keywords occur in a text.
    fn candidates(&self, bytes: &[u8]) -> Vec<usize> {
        let mut found = vec![false; self.rules_by_keyword.len()];
        for keyword in self.keywords.find_overlapping_iter(bytes) {
            found[keyword.pattern().as_usize()] = true;
        }
        let selected = self.rules_by_keyword.iter().zip(found).filter(|(_, is_found)| *is_found);
        let mut rules: Vec<usize> = selected.flat_map(|(rules, _)| rules.iter().copied()).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}

/// Returns the definitions of all rules.
fn definitions() -> Vec<RuleDefinition> {
    let mut rules =
        nosecrets_rules::parse_rules(OWN_RULES, "secrets/rules.toml").expect("our own rules are valid");
    let builtin = nosecrets_rules::load_builtin_rules().expect("the built-in rules can be read");
    let is_replaced = |rule: &RuleDefinition| rules.iter().any(|own| own.id == rule.id);
    let kept: Vec<RuleDefinition> = builtin.into_iter().filter(|rule| !is_replaced(rule)).collect();
    rules.extend(kept);
    rules
}

/// Compiles a rule. Returns it with its keywords, or `None` if its pattern uses syntax that the regex engine
/// lacks.
fn compile_rule(definition: RuleDefinition) -> Option<(CompiledRule, Vec<String>)> {
    let rule = CompiledRule {
        regex: compile_regex(&definition.pattern)?,
        is_weak: WEAK_RULES.contains(&definition.id.as_str()),
        is_private_key: PRIVATE_KEY_RULES.contains(&definition.id.as_str()),
        name: definition.name,
        capture: definition.capture,
        allowlist: definition
            .allow
            .iter()
            .flat_map(|allow| &allow.patterns)
            .filter_map(|text| compile_regex(text))
            .collect(),
        excluded_paths: definition.paths.map(|paths| paths.exclude).unwrap_or_default(),
    };
    Some((rule, definition.keywords))
}

impl CompiledRule {
    /// Whether the rule ignores the file at a path: `*.pub` matches file name endings, `docs/` directories.
    fn excludes_path(&self, path: &str) -> bool {
        self.excluded_paths.iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(ending) => path.ends_with(ending),
            None => path.starts_with(pattern.as_str()) || path.contains(&format!("/{pattern}")),
        })
    }

    /// Whether a match is a secret. `following` is the text after the match.
    fn is_secret(&self, value: &[u8], following: &[u8]) -> bool {
        if self.is_private_key {
            let following = &following[..following.len().min(MAX_KEY_PREAMBLE_BYTES)];
            return KEY_BODY.as_ref().is_some_and(|body| body.is_match(following));
        }
        let value = &value[..value.len().min(MAX_VALUE_BYTES)];
        let text = String::from_utf8_lossy(value).to_ascii_lowercase();
        let is_placeholder = PLACEHOLDERS.iter().any(|word| text.contains(word))
            || ["<", "${", "{{", "%(", "$("].iter().any(|begin| text.starts_with(begin));
        !is_placeholder
            && !self.allowlist.iter().any(|form| form.is_match(value))
            && entropy(value) >= MIN_ENTROPY
    }
}

/// Returns the Shannon entropy of a text in bits per byte.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|p| -p * p.log2())
        .sum()
}

/// Whether a path belongs to a test file or an example.
fn is_test_path(path: &str) -> bool {
    words(path).any(|word| {
        let word = word.to_ascii_lowercase();
        [word.as_str(), word.strip_suffix('s').unwrap_or(&word)]
            .iter()
            .any(|word| TEST_PATH_WORDS.contains(word))
    })
}

/// Check for [`NO_LIVE_SECRETS`].
#[derive(Default)]
pub struct Secrets {
    window: Window,
    path: Option<String>,
    is_binary: bool,
    found: Samples,
    weak_matches: Samples,
    test_keys: Samples,
    /// Number of files that were read to the end.
    read_files: u64,
    unread: Samples,
}

impl Secrets {
    fn push(&mut self, bytes: &[u8], is_last: bool) {
        let Some(path) = self.path.as_deref() else { return };
        let mut window = std::mem::take(&mut self.window);
        window.push(bytes, is_last, |view| {
            for index in RULES.candidates(view.bytes) {
                let rule = &RULES.rules[index];
                if (rule.is_private_key || !self.is_binary) && !rule.excludes_path(path) {
                    let samples = match () {
                        () if rule.is_weak => &mut self.weak_matches,
                        () if rule.is_private_key && is_test_path(path) => &mut self.test_keys,
                        () => &mut self.found,
                    };
                    add_matches(rule, path, view, samples);
                }
            }
        });
        self.window = window;
    }
}

/// Adds the locations where a rule matches.
fn add_matches(rule: &CompiledRule, path: &str, view: View<'_>, samples: &mut Samples) {
    for found in rule.regex.captures_iter(view.bytes) {
        let Some(value) = found.get(rule.capture).or_else(|| found.get(0)) else { continue };
        let whole = found.get(0).map_or(value.range(), |whole| whole.range());
        if view.owns_match_at(whole.start) && rule.is_secret(value.as_bytes(), &view.bytes[whole.end..]) {
            let place = || {
                let (what, context) = if rule.is_private_key {
                    (rule.name.clone(), digest(&[start_of_key(&view.bytes[whole.end..])]))
                } else {
                    let masked = masked(&String::from_utf8_lossy(value.as_bytes()));
                    let [before, after] = view.line_around(&value.range());
                    (format!("{} {masked}", rule.name), digest(&[before, masked.as_bytes(), after]))
                };
                let place = Place::line(path, view.line_number(whole.start), what);
                Place { kind: rule.name.clone(), context, ..place }
            };
            samples.add(place, Place::described);
        }
    }
}

/// Returns the first bytes of a private key, which identify it, from the text after its header.
fn start_of_key(following: &[u8]) -> &[u8] {
    let start = &following[..following.len().min(KEY_CONTEXT_BYTES)];
    let end = start.windows(5).position(|bytes| bytes == b"-----");
    &start[..end.unwrap_or(start.len())]
}

/// Returns a digest of texts, in hexadecimal.
fn digest(texts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    let mut hexadecimal = format!("{:x}", digest.finalize());
    hexadecimal.truncate(CONTEXT_DIGITS);
    hexadecimal
}

impl Check for Secrets {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.window.clear();
        self.path = entry.is_file().then(|| entry.path.to_owned());
        if entry.is_too_large {
            self.unread.add_file(entry.path);
        }
        if self.path.is_some() { FileAction::Read } else { FileAction::Skip }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        self.is_binary = chunk.is_binary;
        self.push(chunk.text, false);
    }

    fn end_file(&mut self, problem: Option<&str>) {
        // Some rules demand white space after a value, which may be the last of its file.
        self.push(b"\n", true);
        match (self.path.take(), problem) {
            (Some(path), Some(_)) => self.unread.add_file(&path),
            (Some(_), None) => self.read_files += 1,
            (None, _) => {}
        }
    }

    fn covers_extra(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let mut sentences = Vec::new();
        let is_passed = self.found.is_empty();
        if is_passed && self.read_files == 0 {
            return Vec::new();
        }
        if is_passed {
            sentences.push("No private keys or tokens of known providers were found.".to_owned());
        } else {
            let count = counted(self.found.count(), "secret", "secrets");
            sentences.push(format!("{count}: {}. Revoke any that still work, and remove them.", self.found));
        }
        if !self.weak_matches.is_empty() {
            let count = counted(self.weak_matches.count(), "value looks", "values look");
            sentences.push(format!("{count} like a password or key; this does not fail the check."));
        }
        if !self.test_keys.is_empty() {
            let count = counted(self.test_keys.count(), "private key", "private keys");
            sentences.push(format!(
                "{count} in test or example files, recognized by a path with `test`, `fixture`, `example` \
                 or a similar word; this does not fail the check."
            ));
        }
        if !self.unread.is_empty() {
            sentences.push(format!("Could not be read: {}.", self.unread));
        }
        let finding = Finding::passed_if(&NO_LIVE_SECRETS, is_passed, &sentences.join(" "));
        vec![
            finding
                .with(Role::Cause, "", self.found)
                .with(Role::Note, "", self.weak_matches)
                .with(Role::Note, "", self.test_keys)
                .with(Role::LeftOut, "could not be read", self.unread),
        ]
    }
}

#[cfg(test)]
mod tests;
