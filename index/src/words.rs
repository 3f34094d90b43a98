//! Splits text into words: the same rules for documents and for searches.
//!
//! A word is a sequence of letters and digits. In scripts that are written without spaces, there are no words
//! to split at, so such text is one piece, which the text analysis indexes by characters and pairs of
//! characters. Text is replaced by its search key first, because the same word can be written in several ways.

use std::borrow::Cow;

use marketplace_text::{continues_word, search_key, search_key_chars};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Rules for splitting text. They are part of the schema, because searches must split as the documents of
/// their index were split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    /// Sequences of letters and digits in any script (schema version 2).
    LettersAndDigits,
    /// Also names with signs, like `C++`, and text without spaces. Text is normalized (schema version 4).
    NamesAndUnspacedText,
    /// The same, in the search keys of text, which have no case and no accents (since schema version 6).
    FoldedText,
}

/// The kind of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A sequence of letters and digits.
    Word,
    /// A word with the signs that belong to it: `C++`, `C#`, `.NET`.
    Name,
    /// Text in a script that is written without spaces.
    Unspaced,
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) kind: PieceKind,
    text: &'a str,
}

/// Single letters with signs that a version number can follow, in lowercase: `C++17`, `C#12`.
const VERSIONED_NAMES: [(u8, &str); 3] = [(b'c', "++"), (b'c', "#"), (b'f', "#")];

/// Names that consist of a dot and a common word, without their dot and in lowercase.
const DOT_NAMES: [&str; 1] = ["net"];

/// Invisible mark where a line may break, which some write between the words of text without spaces.
const WORD_BREAK: char = '\u{200b}';

impl<'a> Piece<'a> {
    /// Returns the characters that count.
    pub(crate) fn chars(self) -> PieceChars<'a> {
        PieceChars(self.text.chars())
    }

    /// Appends the first of the characters that count to a text.
    pub(crate) fn append_to(self, text: &mut String, max_chars: usize) {
        if self.text.is_ascii() {
            // All of these characters count.
            text.push_str(&self.text[..self.text.len().min(max_chars)]);
        } else {
            text.extend(self.chars().take(max_chars));
        }
    }

    /// Returns the word in a name, without the dot. A single letter with signs has none: `C#` is not about C.
    pub(crate) fn base(self) -> Option<Piece<'a>> {
        let base = self.text.strip_prefix('.').filter(|_| self.kind == PieceKind::Name)?;
        Some(Piece { kind: PieceKind::Word, text: base })
    }
}

/// The characters of a piece, without accents and joiners. Variants of the same sign are equal.
#[derive(Clone, Debug)]
pub(crate) struct PieceChars<'a>(std::str::Chars<'a>);

impl Iterator for PieceChars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let char = self.0.find(|char| !is_ignored(*char) && *char != WORD_BREAK)?;
        Some(if char == '♯' { '#' } else { char })
    }
}

/// Returns the normalized text that these rules split. That can multiply its length in bytes by 11, but needs no
/// other memory: more than 30 marks on one letter are divided, so that they need not be sorted together.
pub(crate) fn normalize(text: &str, splitting: Splitting) -> Cow<'_, str> {
    if splitting == Splitting::FoldedText {
        return Cow::Owned(search_key(text));
    }
    let is_normal = splitting == Splitting::LettersAndDigits
        || text.is_ascii()
        || is_nfkc_quick(text.chars()) == IsNormalized::Yes;
    if is_normal { Cow::Borrowed(text) } else { Cow::Owned(text.stream_safe().nfkc().collect()) }
}

/// Returns the normalized text of a search, of which only a number of words count. The rest may be left out.
pub(crate) fn normalize_search(text: &str, splitting: Splitting, max_words: usize) -> Cow<'_, str> {
    if splitting == Splitting::FoldedText {
        return Cow::Owned(first_words(search_key_chars(text), max_words).collect());
    }
    normalize(text, splitting)
}

/// Ends a text at the white space after a number of words. White space ends every piece, so the text has at least as
/// many pieces.
fn first_words(chars: impl Iterator<Item = char>, max_words: usize) -> impl Iterator<Item = char> {
    let (mut words, mut in_word) = (0, false);
    chars.take_while(move |char| {
        if char.is_whitespace() {
            words += usize::from(in_word);
            in_word = false;
        } else {
            in_word |= starts_word(*char);
        }
        words < max_words
    })
}

/// Iterator over the pieces of a normalized text.
#[derive(Clone, Debug)]
pub(crate) struct Pieces<'a> {
    text: &'a str,
    start: usize,
    splitting: Splitting,
}

impl<'a> Pieces<'a> {
    pub(crate) const fn new(text: &'a str, splitting: Splitting) -> Pieces<'a> {
        Pieces { text, start: 0, splitting }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = &self.text[self.start..];
        let Some(skipped) = rest.find(starts_word) else {
            self.start = self.text.len();
            return None;
        };
        let (start, run) = (self.start + skipped, &rest[skipped..]);
        let only_words = self.splitting == Splitting::LettersAndDigits;
        let (kind, range) = if only_words {
            (
                PieceKind::Word,
                start..start + run_length(run, |char| char.is_alphanumeric() || is_accent(char)),
            )
        } else if run.starts_with(is_unspaced) {
            let length = run_length(run, |char| is_unspaced(char) || is_ignored(char) || char == WORD_BREAK);
            (PieceKind::Unspaced, start..start + length)
        } else {
            let length =
                run_length(run, |char| is_ignored(char) || continues_word(char) && !is_unspaced(char));
            let (word, after) = run.split_at(length);
            let has_dot = self.text[..start].ends_with('.');
            if let Some(signs) = length_of_signs(word, after) {
                (PieceKind::Name, start..start + length + signs)
            } else if has_dot && DOT_NAMES.iter().any(|name| word.eq_ignore_ascii_case(name)) {
                (PieceKind::Name, start - 1..start + length)
            } else {
                (PieceKind::Word, start..start + length)
            }
        };
        self.start = range.end;
        Some(Piece { kind, text: &self.text[range] })
    }
}

/// Returns the length in bytes of the characters at the start of a text that belong to the same piece.
fn run_length(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|char| !belongs(char)).unwrap_or(text.len())
}

/// Returns the length in bytes of the signs after a word that belong to it: `++` or `#` directly after a
/// single letter, if the name ends there or has a version number.
fn length_of_signs(word: &str, after: &str) -> Option<usize> {
    let letter = match word.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => letter.to_ascii_lowercase(),
        _ => return None,
    };
    let signs = ["++", "#", "♯"].into_iter().find(|signs| after.starts_with(signs))?;
    let next = after[signs.len()..].chars().next();
    let is_end = next.is_none_or(|char| !char.is_alphanumeric() || is_unspaced(char));
    let name = (letter, if signs == "♯" { "#" } else { signs });
    let has_version = VERSIONED_NAMES.contains(&name) && next.is_some_and(|char| char.is_ascii_digit());
    (is_end || has_version).then_some(signs.len())
}

/// Returns whether a text has no words.
pub(crate) fn is_blank(text: &str) -> bool {
    !search_key_chars(text).any(starts_word)
}

/// Returns whether a piece can start with a character.
fn starts_word(char: char) -> bool {
    char.is_alphanumeric() && !is_accent(char)
}

/// Returns whether a character is a combining mark: an accent written separately from its letter.
const fn is_accent(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

/// Returns whether a character in a word does not count: accents written separately, joiners, variation
/// selectors, and optional hyphens.
const fn is_ignored(char: char) -> bool {
    is_accent(char)
        || matches!(char,
        '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether a letter, or a mark on one, belongs to a script that is written without spaces. Digits are
/// words in all scripts.
const fn is_unspaced(char: char) -> bool {
    // Most characters come before all of them.
    char >= '\u{e01}'
        && matches!(char,
        // Thai and Lao
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e81}'..='\u{ece}' | '\u{edc}'..='\u{edf}'
        // Burmese and Khmer
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109d}'
        | '\u{a9e0}'..='\u{a9ef}' | '\u{a9fa}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}' | '\u{17dd}'
        // Tai Le, New Tai Lue, Tai Tham, and Tai Viet
        | '\u{1950}'..='\u{1974}' | '\u{1980}'..='\u{19c9}' | '\u{1a20}'..='\u{1a7f}' | '\u{aa80}'..='\u{aadd}'
        // Kana and Bopomofo
        | '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{309a}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{1aff0}'..='\u{1b16f}'
        // Chinese characters
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303c}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(PieceKind, String)> {
        let splitting = Splitting::FoldedText;
        Pieces::new(&normalize(text, splitting), splitting)
            .map(|piece| (piece.kind, piece.chars().collect()))
            .collect()
    }

    #[test]
    fn signs_belong_to_names() {
        let names = |text: &str| -> Vec<String> {
            let names = split(text).into_iter().filter(|(kind, _)| *kind == PieceKind::Name);
            names.map(|(_, text)| text).collect()
        };
        for (text, expected) in [
            ("C++ and C#, or F#.", &["C++", "C#", "F#"][..]),
            ("C++17, C#12 C#开发", &["C++", "C#", "C#"]),
            ("C++/CLI (C＃, C♯)", &["C++", "C#", "C#"]),
            (".NET, ASP.NET", &[".NET", ".NET"]),
            ("a + b, #5, net, 5#, x+", &[]),
            ("Notepad++, ai#1, AI++", &[]),
            ("X++ a#1 x++y c#x J#", &["X++", "J#"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|name| name.to_lowercase()).collect();
            assert_eq!(names(text), expected, "{text:?}");
        }
    }

    #[test]
    fn words_are_equal_however_their_characters_are_written() {
        let text = |text: &str| -> Vec<String> { split(text).into_iter().map(|(_, text)| text).collect() };
        for (written, expected) in [
            ("テ\u{3099}ータ", "データ"),
            ("ﾃﾞｰﾀ ﾊﾟｰｽ", "データ パース"),
            ("Ｃ＋＋ Ｃ＃", "C++ C#"),
            ("\u{1103}\u{1166}\u{110b}\u{1175}\u{1110}\u{1165}", "데이터"),
            ("\u{438}\u{306}", "й"),
            ("\u{f900}", "\u{8c48}"),
            ("㈱ ½ ﬁ x²", "(株) 1⁄2 fi x2"),
        ] {
            assert_eq!(text(written), text(expected), "{written:?}");
            assert!(!is_blank(written), "{written:?}");
        }
        assert!(is_blank("ﾞ ﾟ \u{3099}"));
    }

    #[test]
    fn normalizing_is_linear_in_any_text() {
        for (text, max_ratio) in
            [("\u{fdfa}".repeat(10_000), 11), ("a".to_owned() + &"\u{301}".repeat(100_000), 2)]
        {
            let normal = normalize(&text, Splitting::NamesAndUnspacedText);
            assert!(normal.len() <= text.len() * max_ratio);
        }
        assert_eq!(normalize("テ\u{3099}", Splitting::LettersAndDigits), "テ\u{3099}");
        assert!(matches!(normalize("データ café", Splitting::NamesAndUnspacedText), Cow::Borrowed(_)));
    }

    #[test]
    fn only_words_that_count_are_taken() {
        let text = "\u{fdfa}".repeat(3_000);
        let mut taken = 0;
        let kept = first_words(search_key_chars(&text).inspect(|_| taken += 1), 4).count();
        assert!(kept < 80, "{kept}");
        assert_eq!(taken, kept + 1);
    }

    #[test]
    fn text_without_spaces_is_one_piece() {
        use PieceKind::{Unspaced, Word};
        for (text, expected) in [
            ("AI数据集v2", &[(Word, "AI"), (Unspaced, "数据集"), (Word, "v2")][..]),
            ("データ、セット", &[(Unspaced, "データ"), (Unspaced, "セット")]),
            ("ข้อ\u{200b}มูล ๕๐", &[(Unspaced, "ข้อมูล"), (Word, "๕๐")]),
            ("데이터 данные", &[(Word, "데이터"), (Word, "данные")]),
            ("葛\u{e0100}城", &[(Unspaced, "葛城")]),
        ] {
            let expected: Vec<_> = expected.iter().map(|(kind, text)| (*kind, text.to_lowercase())).collect();
            assert_eq!(split(text), expected, "{text:?}");
        }
    }
}
