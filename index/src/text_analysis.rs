//! Tokenization of text, the same for documents and for searches.
//!
//! A word is a sequence of letters and digits in any script. Accents are folded to ASCII, including those
//! written as combining marks; case is folded; only the first [`MAX_WORD_CHARS`] characters of a word count.
//! Stemming is English.

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer,
};

/// Number of characters of a word that count. The rest is ignored in documents and searches alike, so longer
/// words are still found.
pub const MAX_WORD_CHARS: usize = 64;

/// Maximum number of words in a search. Further words are ignored.
pub const MAX_SEARCH_WORDS: usize = 32;

/// Returns the analyzer for words as written, except for case and accents.
pub(crate) fn form_analyzer() -> TextAnalyzer {
    // Folding comes first, because some letters fold to capitals.
    TextAnalyzer::builder(WordTokenizer::default()).filter(AsciiFoldingFilter).filter(LowerCaser).build()
}

/// Returns the analyzer for English stems.
pub(crate) fn stem_analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(WordTokenizer::default())
        .filter(AsciiFoldingFilter)
        .filter(LowerCaser)
        .filter(Stemmer::new(Language::English))
        .build()
}

/// Returns whether a search text has no words. Such a text is treated as no text.
pub fn is_blank(text: &str) -> bool {
    !text.chars().any(starts_word)
}

/// Tokenizer that splits text into sequences of letters and digits.
#[derive(Clone, Default)]
struct WordTokenizer {
    token: Token,
}

struct WordStream<'a> {
    text: &'a str,
    start: usize,
    token: &'a mut Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, start: 0, token: &mut self.token }
    }
}

/// Returns whether a character is a combining mark: an accent written separately from its letter.
const fn is_combining(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

fn starts_word(char: char) -> bool {
    char.is_alphanumeric() && !is_combining(char)
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let rest = &self.text[self.start..];
        let Some(skipped) = rest.find(starts_word) else {
            self.start = self.text.len();
            return false;
        };
        let run = &rest[skipped..];
        let length =
            run.find(|char: char| !char.is_alphanumeric() && !is_combining(char)).unwrap_or(run.len());
        let run = &run[..length];
        self.token.text.clear();
        if run.is_ascii() {
            self.token.text.push_str(&run[..length.min(MAX_WORD_CHARS)]);
        } else {
            self.token.text.extend(run.chars().filter(|char| !is_combining(*char)).take(MAX_WORD_CHARS));
        }
        self.token.position = self.token.position.wrapping_add(1);
        self.token.offset_from = self.start + skipped;
        self.token.offset_to = self.token.offset_from + length;
        self.start = self.token.offset_to;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// A word of a search text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchWord {
    pub(crate) form: String,
    pub(crate) stem: String,
    /// Whether the word also matches longer words that start with it.
    pub(crate) is_prefix: bool,
}

/// A parsed search text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedText {
    pub(crate) words: Vec<SearchWord>,
    /// Phrases, as stems that must be adjacent.
    pub(crate) phrases: Vec<Vec<String>>,
}

impl ParsedText {
    /// Parses any text. Straight and curly double quotes enclose phrases; an unclosed phrase extends to the
    /// end. Only the last occurrence of a repeated word counts.
    pub(crate) fn parse(text: &str) -> ParsedText {
        let mut parsed = ParsedText::default();
        let (mut forms, mut stems) = (form_analyzer(), stem_analyzer());
        let mut remaining_words = MAX_SEARCH_WORDS;
        for (part, quoted) in text.split(['"', '“', '”']).zip([false, true].into_iter().cycle()) {
            let mut found = Vec::new();
            let (mut forms, mut stems) = (forms.token_stream(part), stems.token_stream(part));
            while remaining_words > 0 && forms.advance() && stems.advance() {
                found.push((forms.token().text.clone(), stems.token().text.clone()));
                remaining_words -= 1;
            }
            if found.is_empty() {
                continue;
            }
            // Only the last word of the text can be incomplete because the user is still typing.
            parsed.words.iter_mut().for_each(|word| word.is_prefix = false);
            if quoted {
                let phrase = found.into_iter().map(|(_, stem)| stem).collect();
                if !parsed.phrases.contains(&phrase) {
                    parsed.phrases.push(phrase);
                }
                continue;
            }
            let last = found.len() - 1;
            for (index, (form, stem)) in found.into_iter().enumerate() {
                parsed.words.retain(|word| word.form != form);
                parsed.words.push(SearchWord { form, stem, is_prefix: index == last });
            }
        }
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenize(text: &str) -> Vec<String> {
        let mut analyzer = form_analyzer();
        let mut stream = analyzer.token_stream(text);
        let mut found = Vec::new();
        stream.process(&mut |token| found.push(token.text.clone()));
        found
    }

    #[test]
    fn accents_and_case_are_folded() {
        for (text, expected) in [
            ("Crème BRÛLÉE", &["creme", "brulee"][..]),
            ("re\u{301}sume\u{301}", &["resume"]),
            ("Straße ÆØ", &["strasse", "aeo"]),
            ("c++ c# .net2", &["c", "c", "net2"]),
            ("数据 市场、данные", &["数据", "市场", "данные"]),
            ("İstanbul ᴀ", &["istanbul", "a"]),
            (" \0\"'-— ", &[]),
        ] {
            assert_eq!(tokenize(text), expected, "{text:?}");
            assert_eq!(is_blank(text), expected.is_empty(), "{text:?}");
        }
        assert_eq!(tokenize(&"é".repeat(500)), ["e".repeat(MAX_WORD_CHARS)]);
    }

    #[test]
    fn search_text_is_parsed_into_words_and_phrases() {
        let word = |form: &str, stem: &str, prefix| SearchWord {
            form: form.into(),
            stem: stem.into(),
            is_prefix: prefix,
        };
        let parsed = ParsedText::parse(r#"Robots robots arms "Picking things" and"#);
        assert_eq!(
            parsed.words,
            [word("robots", "robot", false), word("arms", "arm", false), word("and", "and", true)]
        );
        assert_eq!(parsed.phrases, [["pick", "thing"]]);
        let parsed = ParsedText::parse("arms arms \"open end");
        assert_eq!(parsed.words, [word("arms", "arm", false)]);
        assert_eq!(parsed.phrases, [["open", "end"]]);
        assert_eq!(ParsedText::parse(" \"\" \" ").words, []);
        let words: Vec<String> = (0..100).map(|index| format!("w{index}")).collect();
        assert_eq!(ParsedText::parse(&words.join(" ")).words.len(), MAX_SEARCH_WORDS);
    }
}
