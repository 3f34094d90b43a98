//! Matching of paths with the patterns of `.gitattributes`, in a number of steps that is at most the product
//! of the lengths of pattern and path. Other matchers try alternatives one after the other, and take
//! exponential time for patterns with many `**/`.

use gix::{
    bstr::{BStr, ByteSlice},
    glob::{pattern::Mode, wildmatch, wildmatch::Mode as MatchMode},
};

/// Maximum length of a pattern in bytes. Longer ones match nothing.
const MAX_PATTERN_BYTES: usize = 512;

/// A compiled pattern.
#[derive(Debug)]
pub struct Glob {
    /// Text before the first special character, which every match starts with.
    prefix: Vec<u8>,
    tokens: Vec<Token>,
    /// Whether only the last component of a path is matched.
    is_name_only: bool,
    matcher: Matcher,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A literal byte.
    Byte(u8),
    /// `?`: any byte but a slash.
    AnyByte,
    /// `[…]`: one of the bytes whose bits are set.
    Class(Box<[u64; 4]>),
    /// `*`: any number of bytes but slashes.
    Star,
    /// `**/`: any number of whole directories.
    Directories,
    /// `**` before an escaped slash, or at the end: any number of bytes.
    Everything,
}

/// Storage of a match in progress, which is reused by the next one.
#[derive(Debug, Default)]
struct Matcher {
    current: Vec<usize>,
    next: Vec<usize>,
    /// For each position in the pattern, the step in which it was last added.
    added: Vec<u64>,
    /// For each position in the pattern, the step in which it was last added together with the positions that it can reach
    /// without a byte.
    entered: Vec<u64>,
    step: u64,
}

impl Glob {
    /// Compiles a pattern as Git's rules for attributes define it. Returns `None` if it cannot match any file.
    pub fn new(pattern: &gix::glob::Pattern) -> Option<Glob> {
        let is_directory = pattern.mode.contains(Mode::MUST_BE_DIR);
        if is_directory || pattern.text.len() > MAX_PATTERN_BYTES {
            return None;
        }
        let text = pattern.text.as_slice();
        let prefix = text[..pattern.first_wildcard_pos.unwrap_or(text.len())].to_vec();
        let is_name_only = pattern.mode.contains(Mode::NO_SUB_DIR) && !pattern.mode.contains(Mode::ABSOLUTE);
        Some(Glob { tokens: parse(text)?, prefix, is_name_only, matcher: Matcher::default() })
    }

    /// Whether the pattern matches a path relative to the directory of the `.gitattributes` file. Takes as
    /// many steps from `budget` as it needs. Returns `None` if there are too few.
    pub fn matches(&mut self, path: &[u8], budget: &mut u64) -> Option<bool> {
        let text = if self.is_name_only { path.rsplit(|byte| *byte == b'/').next()? } else { path };
        *budget = budget.checked_sub(1)?;
        if !text.starts_with(&self.prefix) {
            return Some(false);
        }
        let mut rest = &text[self.prefix.len()..];
        let first = self.prefix.len();
        // The most frequent patterns have one star, and text after it.
        if let [Token::Star, literals @ ..] = &self.tokens[first..]
            && literals.iter().all(|token| matches!(token, Token::Byte(_)))
        {
            *budget = budget.checked_sub(1 + literals.len() as u64 / 16)?;
            let Some(star) = rest.len().checked_sub(literals.len()) else { return Some(false) };
            let is_same = |(byte, token): (&u8, &Token)| *token == Token::Byte(*byte);
            return Some(!rest[..star].contains(&b'/') && rest[star..].iter().zip(literals).all(is_same));
        }
        self.matcher.start(&self.tokens, first);
        while let Some((byte, after)) = rest.split_first() {
            *budget = budget.checked_sub(1 + self.matcher.current.len() as u64)?;
            self.matcher.advance(&self.tokens, *byte);
            if self.matcher.current.is_empty() {
                return Some(false);
            }
            rest = after;
        }
        Some(self.matcher.current.contains(&self.tokens.len()))
    }
}

impl Matcher {
    /// Starts a match at a position in the pattern.
    fn start(&mut self, tokens: &[Token], first: usize) {
        self.added.resize(tokens.len() + 1, 0);
        self.entered.resize(tokens.len() + 1, 0);
        self.next.clear();
        self.step += 1;
        self.enter(tokens, first);
        std::mem::swap(&mut self.current, &mut self.next);
    }

    /// Moves all positions past one byte of the path.
    fn advance(&mut self, tokens: &[Token], byte: u8) {
        let current = std::mem::take(&mut self.current);
        self.next.clear();
        self.step += 1;
        for at in current.iter().copied() {
            match tokens.get(at) {
                Some(Token::Byte(expected)) if *expected == byte => self.enter(tokens, at + 1),
                Some(Token::AnyByte) if byte != b'/' => self.enter(tokens, at + 1),
                Some(Token::Class(bits)) if bits[usize::from(byte / 64)] >> (byte % 64) & 1 == 1 => {
                    self.enter(tokens, at + 1);
                }
                Some(Token::Star) if byte != b'/' => self.enter(tokens, at),
                Some(Token::Everything) => self.enter(tokens, at),
                Some(Token::Directories) => {
                    self.add(at);
                    if byte == b'/' {
                        self.enter(tokens, at + 1);
                    }
                }
                _ => {}
            }
        }
        self.current = std::mem::replace(&mut self.next, current);
    }

    /// Adds a position, and the positions that can be reached from it without a byte.
    fn enter(&mut self, tokens: &[Token], mut at: usize) {
        while self.entered[at] != self.step {
            self.entered[at] = self.step;
            self.add(at);
            match tokens.get(at) {
                Some(Token::Star | Token::Directories | Token::Everything) => at += 1,
                _ => break,
            }
        }
    }

    fn add(&mut self, at: usize) {
        if self.added[at] != self.step {
            self.added[at] = self.step;
            self.next.push(at);
        }
    }
}

/// Splits a pattern into its parts. Returns `None` if it is malformed; it then matches nothing.
fn parse(text: &[u8]) -> Option<Vec<Token>> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(byte) = text.get(at) {
        let start = at;
        at += 1;
        let token = match byte {
            b'\\' => {
                at += 1;
                Token::Byte(*text.get(start + 1)?)
            }
            b'?' => Token::AnyByte,
            b'[' => {
                at = class_end(text, start)?;
                Token::Class(Box::new(class_bits(&text[start..at])))
            }
            b'*' => {
                at += text[at..].iter().take_while(|byte| **byte == b'*').count();
                let is_component_start = start == 0 || text[start - 1] == b'/';
                match &text[at..] {
                    _ if at - start == 1 || !is_component_start => Token::Star,
                    [] | [b'\\', b'/', ..] => Token::Everything,
                    [b'/', ..] => {
                        at += 1;
                        Token::Directories
                    }
                    _ => Token::Star,
                }
            }
            literal => Token::Byte(*literal),
        };
        if token != Token::Directories || tokens.last() != Some(&Token::Directories) {
            tokens.push(token);
        }
    }
    Some(tokens)
}

/// Returns where a bracket expression ends that starts at `start`. `None` if it does not end.
fn class_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    if matches!(text.get(at), Some(b'!' | b'^')) {
        at += 1;
    }
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'[' if text.get(at + 1) == Some(&b':') => {
                let close = at + 2 + text[at + 2..].find_byte(b']')?;
                // Otherwise the bracket is an ordinary character.
                at = if close >= at + 3 && text[close - 1] == b':' { close + 1 } else { at + 1 };
            }
            _ => at += 1,
        }
        if text.get(at)? == &b']' {
            return Some(at + 1);
        }
    }
}

/// Returns the bytes that a bracket expression matches, as bits.
fn class_bits(class: &[u8]) -> [u64; 4] {
    let mut bits = [0; 4];
    for byte in 0..=u8::MAX {
        let text: &BStr = std::slice::from_ref(&byte).as_bstr();
        if wildmatch(class.as_bstr(), text, MatchMode::NO_MATCH_SLASH_LITERAL) {
            bits[usize::from(byte / 64)] |= 1 << (byte % 64);
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let pattern = gix::glob::Pattern::from_bytes_without_negation(pattern.as_bytes()).unwrap();
        let steps = (path.len() as u64 + 1) * (pattern.text.len() as u64 + 3);
        let mut budget = steps;
        Glob::new(&pattern).is_some_and(|mut glob| {
            glob.matches(path.as_bytes(), &mut budget).expect("the steps are bounded by the product")
        })
    }

    fn matches_in_git(pattern: &str, path: &str) -> bool {
        let pattern = gix::glob::Pattern::from_bytes_without_negation(pattern.as_bytes()).unwrap();
        let name_at = path.rfind('/').map(|at| at + 1);
        let (case, mode) = (gix::glob::pattern::Case::Sensitive, MatchMode::NO_MATCH_SLASH_LITERAL);
        pattern.matches_repo_relative_path(path.into(), name_at, Some(false), case, mode)
    }

    #[test]
    fn patterns_match_as_in_git() {
        for pattern in [
            "*.h",
            "a/*.h",
            "/a.h",
            "a",
            "a/",
            "**/a/*",
            "a/**",
            "a/**/b",
            "**",
            "a**b",
            "a/**b",
            "*a*b*",
            "[a-c].h",
            "[!a]*",
            "[]a]",
            "[[:alpha:]]?",
            "[[:x]",
            "[a",
            "a\\*",
            "a\\",
            "**\\/b",
            "***/b",
            "?",
            "x/?/b",
            "[[:alpha:]b-]*",
            "/**/b",
            "a/*/b",
        ] {
            for path in [
                "a", "b", "a.h", "a/b", "a/x/b", "a/x/y/b", "x/a/b", "ab", "axb", "a*", "]", "[", "x/a.h",
                ":", "a/b/b",
            ] {
                assert_eq!(matches(pattern, path), matches_in_git(pattern, path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn many_directory_wildcards_take_few_steps() {
        let path = "a/".repeat(1_000) + "b";
        for pattern in
            ["**/a/".repeat(40) + "c", "*a".repeat(40) + "c", "*/".repeat(40) + "c", "**/".repeat(160) + "c"]
        {
            // `matches` asserts the bound.
            assert!(!matches(&pattern, &path));
        }
        assert!(matches(&("**/a/".repeat(40) + "b"), &path));
        let pattern = gix::glob::Pattern::from_bytes_without_negation("**/a/".repeat(40).as_bytes()).unwrap();
        assert!(Glob::new(&pattern).is_none(), "it is a pattern for directories");
        assert!(!matches(&"a".repeat(MAX_PATTERN_BYTES + 1), &"a".repeat(MAX_PATTERN_BYTES + 1)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        /// Short enough patterns are matched by Git's own matcher as well.
        #[test]
        fn random_patterns_match_as_in_git(
            pattern in "/?([ab?*]|/|\\*\\*/|\\[[!^]?[ab\\]-]{1,3}\\]|\\[|\\\\|\\[\\[:alpha:\\]){1,8}[ab*?]",
            path in "[ab\\[]{1,3}(/[ab\\]-]{1,3}){0,4}",
        ) {
            prop_assert_eq!(matches(&pattern, &path), matches_in_git(&pattern, &path), "{} {}", pattern, path);
        }
    }
}
