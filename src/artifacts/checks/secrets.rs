//! Looks for credentials that may still work: private keys and tokens of known providers, recognized by their
//! format.
//!
//! Values that look like passwords are only counted, because code is full of them. So are private keys in
//! test files, which are usually made for the tests. Examples, placeholders, and values too regular to be
//! secrets are ignored.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use nosecrets_rules::Rule as Form;
use regex::bytes::{Regex, RegexBuilder};

use super::{
    Check, Finding, Piece, Rule, Wanted,
    places::{Places, counted, masked},
    window::{View, Window},
};
use crate::artifacts::contents::{Entry, Root, shown};

/// No private keys or provider tokens were found.
pub static NO_LIVE_SECRETS: Rule = Rule::mandatory("no_live_secrets", "No credentials that still work");

/// Rules that match ordinary assignments or values that are public by design. Their matches are counted, but
/// do not fail the check.
const LOOSE: [&str; 14] = [
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

/// ID of the rule that matches private keys.
const PRIVATE_KEY: &str = "private-key";

/// Minimum entropy of a secret in bits per byte. Text typed by hand repeats itself and has less.
const MIN_ENTROPY: f64 = 2.9;

/// Substrings of placeholder values.
const MADE_UP: [&str; 17] = [
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

/// Substrings of paths of test files and examples.
const FOR_TESTS: [&str; 9] =
    ["test", "spec", "fixture", "example", "sample", "mock", "dummy", "demo", "snakeoil"];

/// The compiled rules.
static FORMS: LazyLock<Forms> = LazyLock::new(Forms::load);

/// Compiled rules, and the keywords that must occur near their matches.
struct Forms {
    words: AhoCorasick,
    /// For each keyword, the indexes of the rules that it selects.
    announced: Vec<Vec<usize>>,
    known: Vec<Known>,
}

/// A compiled rule.
struct Known {
    name: String,
    regex: Regex,
    capture: usize,
    allowed: Vec<Regex>,
    excluded: Vec<String>,
    is_loose: bool,
    is_key: bool,
}

/// Matches what follows the header of a private key: its lines, as in a file or in a string literal.
static KEY_BODY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let between = r#"(?:[\s"'+,;>|`]|\\[nr]|(?:Proc-Type|DEK-Info|Comment|Version):[^\n]{0,120}\n)*"#;
    regex(&format!("^{between}[A-Za-z0-9+/=]{{40}}"))
});

/// Compiles a pattern for text in any encoding: `.` and character classes match bytes.
fn regex(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

impl Forms {
    fn load() -> Forms {
        let rules = nosecrets_rules::load_builtin_rules().unwrap_or_default();
        let forms: Vec<(Known, Vec<String>)> = rules.into_iter().filter_map(known).collect();
        let mut words: Vec<String> = Vec::new();
        let mut announced: Vec<Vec<usize>> = Vec::new();
        for (index, (_, keywords)) in forms.iter().enumerate() {
            for word in keywords.iter().map(|word| word.to_ascii_lowercase()) {
                let at = words.iter().position(|known| *known == word).unwrap_or_else(|| {
                    words.push(word);
                    announced.push(Vec::new());
                    words.len() - 1
                });
                announced[at].push(index);
            }
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&words)
            .expect("the keywords are valid");
        Forms { words, announced, known: forms.into_iter().map(|(known, _)| known).collect() }
    }

    /// Returns the indexes of the rules whose keywords occur in a text.
    fn near(&self, bytes: &[u8]) -> Vec<usize> {
        let mut seen = vec![false; self.announced.len()];
        for found in self.words.find_overlapping_iter(bytes) {
            seen[found.pattern().as_usize()] = true;
        }
        let announced = self.announced.iter().zip(seen).filter(|(_, seen)| *seen);
        let mut forms: Vec<usize> = announced.flat_map(|(forms, _)| forms.iter().copied()).collect();
        forms.sort_unstable();
        forms.dedup();
        forms
    }
}

/// Compiles a rule. Returns it with its keywords, or `None` if its pattern is invalid.
fn known(form: Form) -> Option<(Known, Vec<String>)> {
    let is_key = form.id == PRIVATE_KEY;
    // The single keywords of private keys are common words; only the whole header is rare.
    let words = if is_key { vec!["PRIVATE KEY-----".to_owned()] } else { form.keywords };
    let known = Known {
        regex: regex(&form.pattern)?,
        is_loose: LOOSE.contains(&form.id.as_str()),
        is_key,
        name: form.name,
        capture: form.capture,
        allowed: form.allow.iter().flat_map(|allow| &allow.patterns).filter_map(|text| regex(text)).collect(),
        excluded: form.paths.map(|paths| paths.exclude).unwrap_or_default(),
    };
    Some((known, words))
}

impl Known {
    /// Whether the rule ignores the file at a path: `*.pub` matches file name endings, `docs/` directories.
    fn excludes(&self, path: &str) -> bool {
        self.excluded.iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(ending) => path.ends_with(ending),
            None => path.starts_with(pattern.as_str()) || path.contains(&format!("/{pattern}")),
        })
    }

    /// Whether a match is a secret. `behind` is the text after the match.
    fn is_secret(&self, value: &[u8], behind: &[u8]) -> bool {
        if self.is_key {
            return KEY_BODY.as_ref().is_some_and(|body| body.is_match(behind));
        }
        let text = String::from_utf8_lossy(value).to_ascii_lowercase();
        let is_made_up = MADE_UP.iter().any(|word| text.contains(word))
            || ["<", "${", "{{", "%(", "$("].iter().any(|begin| text.starts_with(begin));
        !is_made_up && !self.allowed.iter().any(|form| form.is_match(value)) && entropy(value) >= MIN_ENTROPY
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
fn is_for_tests(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    FOR_TESTS.iter().any(|word| path.contains(word))
}

/// Check for [`NO_LIVE_SECRETS`].
pub struct Secrets {
    window: Window,
    path: Option<String>,
    is_binary: bool,
    found: Places,
    hints: Places,
    test_keys: Places,
}

impl Secrets {
    /// Creates the check.
    pub fn new() -> Secrets {
        Secrets {
            window: Window::default(),
            path: None,
            is_binary: false,
            found: Places::default(),
            hints: Places::default(),
            test_keys: Places::default(),
        }
    }

    fn push(&mut self, bytes: &[u8], is_last: bool) {
        let Some(path) = self.path.as_deref() else { return };
        let mut window = std::mem::take(&mut self.window);
        window.push(bytes, is_last, |view| {
            for index in FORMS.near(view.bytes) {
                let form = &FORMS.known[index];
                if (form.is_key || !self.is_binary) && !form.excludes(path) {
                    let places = match () {
                        () if form.is_loose => &mut self.hints,
                        () if form.is_key && is_for_tests(path) => &mut self.test_keys,
                        () => &mut self.found,
                    };
                    look(form, path, view, places);
                }
            }
        });
        self.window = window;
    }
}

impl Default for Secrets {
    fn default() -> Secrets {
        Secrets::new()
    }
}

/// Adds the locations where a rule matches.
fn look(form: &Known, path: &str, view: View<'_>, places: &mut Places) {
    for found in form.regex.captures_iter(view.bytes) {
        let Some(value) = found.get(form.capture).or_else(|| found.get(0)) else { continue };
        let whole = found.get(0).map_or(value.range(), |whole| whole.range());
        if view.counts(whole.start) && form.is_secret(value.as_bytes(), &view.bytes[whole.end..]) {
            places.add(|| {
                let what = if form.is_key {
                    form.name.clone()
                } else {
                    format!("{} {}", form.name, masked(&String::from_utf8_lossy(value.as_bytes())))
                };
                format!("{what} in {}, line {}", shown(path), view.line(whole.start))
            });
        }
    }
}

impl Check for Secrets {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        self.window.clear();
        self.path = entry.is_file().then(|| entry.path.to_owned());
        if self.path.is_some() { Wanted::All } else { Wanted::Nothing }
    }

    fn piece(&mut self, piece: Piece<'_>) {
        self.is_binary = piece.is_binary;
        self.push(piece.bytes, false);
    }

    fn end(&mut self, _fault: Option<&str>) {
        self.push(&[], true);
        self.path = None;
    }

    fn conclude(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let mut said = Vec::new();
        let is_good = self.found.is_empty();
        if is_good {
            said.push("No private keys or tokens of known providers were found.".to_owned());
        } else {
            let count = counted(self.found.count(), "secret", "secrets");
            said.push(format!("{count}: {}. Revoke any that still work, and remove them.", self.found));
        }
        if !self.hints.is_empty() {
            let count = counted(self.hints.count(), "value looks", "values look");
            said.push(format!("{count} like a password or key; this does not fail the check."));
        }
        if !self.test_keys.is_empty() {
            let count = counted(self.test_keys.count(), "private key", "private keys");
            said.push(format!(
                "{count} in test or example files, recognized by a path with `test`, `fixture`, `example` \
                 or a similar word; this does not fail the check."
            ));
        }
        vec![Finding::judged(&NO_LIVE_SECRETS, is_good, &said.join(" "))]
    }
}

#[cfg(test)]
mod tests;
