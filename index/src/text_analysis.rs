//! Tokenization of text, the same for documents and for searches.
//!
//! Words are those of the search key of a text (`words`); only the first [`MAX_WORD_CHARS`] characters of a word
//! count. Stemming is English.
//!
//! Text without spaces is indexed as its characters and its pairs of neighbors, both at the position of the
//! character, so that any part of it is found as a phrase of pairs. Pairs need no dictionary, find words that
//! no dictionary has, and cost two postings for each character. Such text has no forms, because it needs
//! neither prefixes nor edits.

use std::borrow::Cow;

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RawTokenizer, Stemmer, TextAnalyzer, TextAnalyzerBuilder,
    Token, TokenStream, Tokenizer,
};

use crate::words::{self, Piece, PieceChars, PieceKind, Pieces, Splitting};

/// Number of characters of a word that count. The rest is ignored in documents and searches alike, so longer
/// words are still found.
pub const MAX_WORD_CHARS: usize = 64;

/// Maximum number of words in a search. Two characters of text without spaces count as a word. Further words
/// are ignored.
pub const MAX_SEARCH_WORDS: usize = 32;

/// Returns the analyzer for words as written, except for case and accents.
fn form_analyzer(splitting: Splitting) -> TextAnalyzer {
    folded(WordTokenizer::new(splitting, false), splitting).build()
}

/// Returns the analyzer for English stems.
fn stem_analyzer(splitting: Splitting) -> TextAnalyzer {
    folded(WordTokenizer::new(splitting, true), splitting).filter(Stemmer::new(Language::English)).build()
}

/// The analyzers of the text of documents.
pub(crate) struct Analyzers {
    pub(crate) stems: TextAnalyzer,
    pub(crate) forms: TextAnalyzer,
}

impl Analyzers {
    pub(crate) fn new(splitting: Splitting) -> Analyzers {
        Analyzers { stems: stem_analyzer(splitting), forms: form_analyzer(splitting) }
    }
}

/// Returns a builder for lowercase words without accents. Folded text has only such words.
fn folded(tokenizer: impl Tokenizer, splitting: Splitting) -> TextAnalyzerBuilder {
    let builder = TextAnalyzer::builder(tokenizer).dynamic();
    match splitting {
        Splitting::FoldedText => builder,
        // Folding of accents comes first, because some letters fold to capitals.
        Splitting::LettersAndDigits | Splitting::NamesAndUnspacedText => {
            builder.filter_dynamic(AsciiFoldingFilter).filter_dynamic(LowerCaser)
        }
    }
}

/// Returns whether a search text has no words. Such a text is treated as no text.
pub fn is_blank(text: &str) -> bool {
    words::is_blank(text)
}

/// Tokenizer of documents.
#[derive(Clone)]
struct WordTokenizer {
    splitting: Splitting,
    /// Whether to emit the characters and pairs of text without spaces.
    with_parts: bool,
    /// The text that is split, normalized. It is empty if the text was normal.
    normal: String,
    token: Token,
}

impl WordTokenizer {
    fn new(splitting: Splitting, with_parts: bool) -> WordTokenizer {
        WordTokenizer { splitting, with_parts, normal: String::new(), token: Token::default() }
    }
}

struct WordStream<'a> {
    pieces: Pieces<'a>,
    with_parts: bool,
    rest: Rest<'a>,
    token: &'a mut Token,
}

/// What is left of the current piece.
enum Rest<'a> {
    Nothing,
    /// The word in a name, at the position of the name.
    Base(Piece<'a>),
    /// The pair of this character and the next one, at the position of this one.
    Pair(char, PieceChars<'a>),
    /// Further characters of text without spaces.
    Characters(PieceChars<'a>),
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        let text = match words::normalize(text, self.splitting) {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => {
                self.normal = text;
                &self.normal
            }
        };
        let pieces = Pieces::new(text, self.splitting);
        WordStream { pieces, with_parts: self.with_parts, rest: Rest::Nothing, token: &mut self.token }
    }
}

impl WordStream<'_> {
    fn set_word(&mut self, word: Piece<'_>) {
        self.token.text.clear();
        word.append_to(&mut self.token.text, MAX_WORD_CHARS);
    }

    fn set_token(&mut self, characters: impl Iterator<Item = char>) {
        self.token.text.clear();
        self.token.text.extend(characters);
    }
}

impl TokenStream for WordStream<'_> {
    // Offsets are not set, because nothing uses them.
    fn advance(&mut self) -> bool {
        loop {
            match std::mem::replace(&mut self.rest, Rest::Nothing) {
                Rest::Nothing => {}
                Rest::Base(piece) => {
                    self.set_word(piece);
                    return true;
                }
                Rest::Pair(first, characters) => {
                    self.rest = Rest::Characters(characters.clone());
                    if let Some(second) = characters.clone().next() {
                        self.set_token([first, second].into_iter());
                        return true;
                    }
                    continue;
                }
                Rest::Characters(mut characters) => {
                    if let Some(character) = characters.next() {
                        self.token.position = self.token.position.wrapping_add(1);
                        self.set_token([character].into_iter());
                        self.rest = Rest::Pair(character, characters);
                        return true;
                    }
                }
            }
            let Some(piece) = self.pieces.next() else { return false };
            match (piece.kind, piece.base()) {
                (PieceKind::Unspaced, _) if self.with_parts => self.rest = Rest::Characters(piece.chars()),
                (PieceKind::Unspaced, _) => {}
                (PieceKind::Word | PieceKind::Name, base) => {
                    self.token.position = self.token.position.wrapping_add(1);
                    self.set_word(piece);
                    self.rest = base.map_or(Rest::Nothing, Rest::Base);
                    return true;
                }
            }
        }
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
    /// Phrases, as stems that must be adjacent. Text without spaces is a phrase, too.
    pub(crate) phrases: Vec<Vec<String>>,
}

impl ParsedText {
    /// Parses any text. Straight and curly double quotes, high and low, enclose phrases; an unclosed phrase extends to the
    /// end.
    pub(crate) fn parse(text: &str, splitting: Splitting) -> ParsedText {
        ParsedText::parse_normal(&words::normalize_search(text, splitting, MAX_SEARCH_WORDS), splitting)
    }

    fn parse_normal(text: &str, splitting: Splitting) -> ParsedText {
        let mut parser = Parser::new(splitting);
        for (part, quoted) in text.split(['"', '“', '”', '„', '‟']).zip([false, true].into_iter().cycle())
        {
            let pieces = parser.take_pieces(part, splitting);
            if pieces.is_empty() {
                continue;
            }
            // Only the last word of the text can be incomplete because the user is still typing.
            parser.parsed.words.iter_mut().for_each(|word| word.is_prefix = false);
            if quoted {
                let phrase = parser.phrase_terms(&pieces);
                parser.parsed.phrases.push(phrase);
                continue;
            }
            let last = pieces.len() - 1;
            for (index, (piece, characters)) in pieces.iter().enumerate() {
                if piece.kind == PieceKind::Unspaced {
                    let phrase = parser.phrase_terms(&pieces[index..=index]);
                    parser.parsed.phrases.push(phrase);
                } else {
                    let (form, stem) = (parser.form(characters), parser.stem(characters));
                    parser.parsed.words.push(SearchWord { form, stem, is_prefix: index == last });
                }
            }
        }
        parser.finish()
    }
}

/// A piece of a search text, and its characters that count.
type SearchPiece<'a> = (Piece<'a>, Vec<char>);

struct Parser {
    parsed: ParsedText,
    forms: TextAnalyzer,
    stems: TextAnalyzer,
    remaining_words: usize,
}

impl Parser {
    fn new(splitting: Splitting) -> Parser {
        Parser {
            parsed: ParsedText::default(),
            forms: folded(RawTokenizer::default(), splitting).build(),
            stems: folded(RawTokenizer::default(), splitting).filter(Stemmer::new(Language::English)).build(),
            remaining_words: MAX_SEARCH_WORDS,
        }
    }

    /// Splits a part of the text, as long as words remain.
    fn take_pieces<'a>(&mut self, part: &'a str, splitting: Splitting) -> Vec<SearchPiece<'a>> {
        let mut found = Vec::new();
        for piece in Pieces::new(part, splitting) {
            if self.remaining_words == 0 {
                break;
            }
            let is_unspaced = piece.kind == PieceKind::Unspaced;
            let max_chars = if is_unspaced { self.remaining_words * 2 } else { MAX_WORD_CHARS };
            let characters: Vec<char> = piece.chars().take(max_chars).collect();
            self.remaining_words -= if is_unspaced { characters.len().div_ceil(2) } else { 1 };
            found.push((piece, characters));
        }
        found
    }

    /// Returns the adjacent terms of a phrase. At its end, text without spaces may continue in a document, so
    /// its last character counts only as part of a pair there.
    fn phrase_terms(&mut self, pieces: &[SearchPiece]) -> Vec<String> {
        let mut terms = Vec::new();
        for (index, (piece, characters)) in pieces.iter().enumerate() {
            if piece.kind != PieceKind::Unspaced {
                terms.push(self.stem(characters));
                continue;
            }
            let pairs: Vec<String> = characters.windows(2).map(|pair| self.stem(pair)).collect();
            let is_last = index + 1 == pieces.len();
            let single = characters.last().filter(|_| !is_last || pairs.is_empty()).copied();
            terms.extend(pairs);
            terms.extend(single.map(|character| self.stem(&[character])));
        }
        terms
    }

    fn form(&mut self, characters: &[char]) -> String {
        only_token(&mut self.forms, characters)
    }

    fn stem(&mut self, characters: &[char]) -> String {
        only_token(&mut self.stems, characters)
    }

    /// Returns the parsed text, in which each condition occurs once.
    fn finish(self) -> ParsedText {
        let mut parsed = ParsedText::default();
        for word in self.parsed.words {
            if !parsed.words.contains(&word) {
                parsed.words.push(word);
            }
        }
        for phrase in self.parsed.phrases {
            if !parsed.phrases.contains(&phrase) {
                parsed.phrases.push(phrase);
            }
        }
        parsed
    }
}

/// Returns the characters as the analyzer, which does not split, transforms them.
fn only_token(analyzer: &mut TextAnalyzer, characters: &[char]) -> String {
    let text: String = characters.iter().collect();
    let mut stream = analyzer.token_stream(&text);
    stream.advance();
    stream.token().text.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPLITTINGS: [Splitting; 3] =
        [Splitting::LettersAndDigits, Splitting::NamesAndUnspacedText, Splitting::FoldedText];

    fn tokenize(text: &str, mut analyzer: TextAnalyzer) -> Vec<String> {
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
            ("net2 데이터、данные", &["net2", "데이터", "данные"]),
            ("İstanbul ᴀ", &["istanbul", "a"]),
            (" \0\"'-— ", &[]),
        ] {
            for splitting in SPLITTINGS {
                assert_eq!(tokenize(text, form_analyzer(splitting)), expected, "{text:?}");
            }
            assert_eq!(is_blank(text), expected.is_empty(), "{text:?}");
        }
        let long = tokenize(&"é".repeat(500), form_analyzer(Splitting::FoldedText));
        assert_eq!(long, ["e".repeat(MAX_WORD_CHARS)]);
    }

    #[test]
    fn older_schema_splits_as_before() {
        let tokens = tokenize("c++ c# .net2 数据 市\u{ad}场 ﾃﾞ", form_analyzer(Splitting::LettersAndDigits));
        assert_eq!(tokens, ["c", "c", "net2", "数据", "市", "场", "ﾃﾞ"]);
    }

    #[test]
    fn text_without_spaces_is_indexed_by_characters_and_pairs() {
        let mut analyzer = stem_analyzer(Splitting::FoldedText);
        let mut stream = analyzer.token_stream("AI数据集 .NET");
        let mut found = Vec::new();
        stream.process(&mut |token| found.push((token.position, token.text.clone())));
        let expected =
            [(0, "ai"), (1, "数"), (1, "数据"), (2, "据"), (2, "据集"), (3, "集"), (4, ".net"), (4, "net")];
        assert_eq!(found, expected.map(|(position, text)| (position, text.to_owned())));
        let forms = tokenize("AI数据集 .NET C#", form_analyzer(Splitting::FoldedText));
        assert_eq!(forms, ["ai", ".net", "net", "c#"]);
    }

    fn parse(text: &str) -> ParsedText {
        ParsedText::parse(text, Splitting::FoldedText)
    }

    #[test]
    fn search_text_is_parsed_into_words_and_phrases() {
        let word = |form: &str, stem: &str, prefix| SearchWord {
            form: form.into(),
            stem: stem.into(),
            is_prefix: prefix,
        };
        let parsed = parse(r#"Robots robots arms "Picking things" and"#);
        assert_eq!(
            parsed.words,
            [word("robots", "robot", false), word("arms", "arm", false), word("and", "and", true)]
        );
        assert_eq!(parsed.phrases, [["pick", "thing"]]);
        let parsed = parse("arms arms \"open end");
        assert_eq!(parsed.words, [word("arms", "arm", false)]);
        assert_eq!(parsed.phrases, [["open", "end"]]);
        assert_eq!(parse("arms arms").words, [word("arms", "arm", false), word("arms", "arm", true)]);
        assert_eq!(parse(" \"\" \" ").words, []);
        let words: Vec<String> = (0..100).map(|index| format!("w{index}")).collect();
        assert_eq!(parse(&words.join(" ")).words.len(), MAX_SEARCH_WORDS);
    }

    proptest::proptest! {
        #[test]
        fn words_that_do_not_count_change_nothing(text in "([a-c#.+\"数据ﷺé\u{301}\u{200b}\u{3000} ]|[\\PC] ){0,200}") {
            let splitting = Splitting::FoldedText;
            let full = ParsedText::parse_normal(&words::normalize(&text, splitting), splitting);
            proptest::prop_assert_eq!(parse(&text), full);
        }
    }

    #[test]
    fn text_without_spaces_is_parsed_into_phrases() {
        for (text, words, phrases) in [
            ("数", &[][..], &[&["数"][..]][..]),
            ("数据", &[], &[&["数据"]]),
            ("数据集 AI", &["ai"], &[&["数据", "据集"]]),
            ("\"数据 AI 集\"", &[], &[&["数据", "据", "ai", "集"]]),
        ] {
            let parsed = parse(text);
            let forms: Vec<&str> = parsed.words.iter().map(|word| word.form.as_str()).collect();
            assert_eq!((forms.as_slice(), parsed.phrases), (words, owned(phrases)), "{text:?}");
        }
        let long = parse(&"数据集".repeat(100));
        assert_eq!(long.phrases[0].len(), 2 * MAX_SEARCH_WORDS - 1);
    }

    fn owned(phrases: &[&[&str]]) -> Vec<Vec<String>> {
        phrases.iter().map(|phrase| phrase.iter().map(|term| (*term).to_owned()).collect()).collect()
    }
}
