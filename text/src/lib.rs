//! How the marketplace compares text that people write: search, filters, and the uniqueness of names.
//!
//! There are two keys. Both normalize compatibility characters (NFKC) and fold case (the full case folding of Unicode), so
//! `Straße` equals `STRASSE`, however its characters are encoded. [`search_key`] also ignores accents and vowel points.
//! A key can have eleven times the length of the text, and takes time in proportion to it.

pub mod encoding;
mod letters;
pub mod numbers;
pub mod similar_names;
mod visibility;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

pub use visibility::{has_invisible_end, is_blank, without_invisible_ends};

/// Returns the key by which texts are the same: names that must be unique, and the values of `is` filters.
pub fn equality_key(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.nfkd().flat_map(fold_case).nfc().collect() }
}

/// Returns the key by which text is found: in searches, and with `contains`. Combining marks of Latin, Greek, Cyrillic,
/// Arabic, and Hebrew do not count, except for the breve of `й`, which is a letter of its own. Marks of other scripts are
/// letters, and stay. Neither do invisible characters within words count. Latin letters that are no letter of ASCII with a
/// mark, such as `ø` and `ı`, become the letters of ASCII that are written in their place.
pub fn search_key(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let key: String = folded(text).collect();
    if key.is_ascii() { key } else { key.nfc().collect() }
}

/// Returns the characters of the search key of a text, each of which is made when it is taken.
pub fn search_key_chars(text: &str) -> impl Iterator<Item = char> {
    folded(text).nfc()
}

/// Returns the characters of the search key of a text, before letters and the marks of them are composed.
fn folded(text: &str) -> impl Iterator<Item = char> {
    // Long sequences of marks are divided, so that they need not be sorted together.
    let decomposed = text.stream_safe().nfkd().flat_map(fold_case).filter(|char| !is_ignored(*char));
    let mut base = ' ';
    let counted = decomposed.filter(move |char| {
        if is_mark(*char) {
            return is_kept_mark(base, *char);
        }
        base = *char;
        true
    });
    counted.flat_map(|char| {
        let ascii = letters::to_ascii(char);
        ascii.unwrap_or_default().chars().chain(ascii.is_none().then_some(char))
    })
}

/// Returns whether a word goes on with a character: a letter, a digit, or a mark, such as the virama of Indic scripts, which is part of
/// a letter.
pub fn continues_word(char: char) -> bool {
    char.is_alphanumeric() || !char.is_ascii() && is_combining_mark(char)
}

/// Returns the full case folding of a decomposed character. The standard library has only conversions, from which it
/// follows: letters that share a capital are the same, except for the dotless `ı`, which is not `i`.
fn fold_case(char: char) -> impl Iterator<Item = char> {
    let keeps_case = char == 'ı';
    let folded = char.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    std::iter::once(char).filter(move |_| keeps_case).chain(folded.filter(move |_| !keeps_case))
}

/// Whether a mark belongs to the character that it follows: the breve of `й`, and the stroke of symbols such as `≠`.
fn is_kept_mark(base: char, mark: char) -> bool {
    match mark {
        '\u{306}' => base == 'и',
        '\u{338}' => !base.is_alphanumeric() && !base.is_whitespace(),
        _ => false,
    }
}

/// Whether a character is a combining mark of Latin, Greek, Cyrillic, Arabic, or Hebrew.
const fn is_mark(char: char) -> bool {
    matches!(char,
        // Latin, Greek, and Cyrillic
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{2de0}'..='\u{2dff}' | '\u{a66f}'..='\u{a672}' | '\u{a674}'..='\u{a67d}'
        | '\u{a69e}' | '\u{a69f}' | '\u{fe20}'..='\u{fe2f}'
        // Hebrew
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}' | '\u{fb1e}'
        // Arabic
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}'
        | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{897}'..='\u{89f}' | '\u{8ca}'..='\u{8e1}'
        | '\u{8e3}'..='\u{8ff}' | '\u{10efc}'..='\u{10eff}')
}

/// Whether a character is invisible within a word: optional hyphens, joiners, variation selectors, and marks and overrides
/// of the writing direction. Not so the invisible space, which separates words.
const fn is_ignored(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::{equality_key, search_key, search_key_chars};

    #[test]
    fn texts_are_found_however_they_are_written() {
        for (written, expected) in [
            // Case
            ("STRASSE Straße STRAẞE", "strasse strasse strasse"),
            ("İstanbul ISTANBUL Diyarbakır", "istanbul istanbul diyarbakir"),
            ("ΧΑΡΤΗΣ χάρτης χαρτησ", "χαρτησ χαρτησ χαρτησ"),
            ("Կապ ԿԱՊ եւ և", "կապ կապ եւ եւ"),
            ("ᏣᎳᎩ ꮳꮃꭹ", "ꮳꮃꭹ ꮳꮃꭹ"),
            // Accents, composed and decomposed, in any order
            ("Café CAFE\u{301}", "cafe cafe"),
            ("Tiếng Vie\u{323}\u{302}t Vie\u{302}\u{323}t Đặng", "tieng viet viet dang"),
            ("Łódź Tromsø Þór Æsir œuvre ŋ", "lodz tromso thor aesir oeuvre n"),
            ("ΐ ΰ Ἀθῆναι Ὀδυσσεύς ΟΔΥΣΣΕΎΣ", "ι υ αθηναι οδυσσευσ οδυσσευσ"),
            ("τῷ ΤΩΙ ᾼ ᾳ", "τωι τωι αι αι"),
            ("Ёлки Е\u{308}лки елки Київ Ѐ", "елки елки елки киів е"),
            ("Йод И\u{306}од и\u{301}\u{306} й\u{301} мо\u{301}ре", "йод йод й й море"),
            ("ў ѓ", "у г"),
            // Points and vowels
            ("كِتَاب كتاب كـتـاب", "كتاب كتاب كـتـاب"),
            ("أحمد ا\u{654}حمد احمد آن ؤ ئ", "احمد احمد احمد ان و ي"),
            ("مُحَمَّد مُحَم\u{64e}\u{651}د", "محمد محمد"),
            ("שָׁלוֹם שלום \u{fb2a}לום", "שלום שלום שלום"),
            // Marks that are letters
            ("हिन्दी हिनदी क़", "हिन्दी हिनदी क\u{93c}"),
            ("বাংলা தமிழ் ไทย เชียงใหม่", "বাংলা தமிழ் ไทย เชียงใหม่"),
            ("データ テ\u{3099}ータ ﾃﾞｰﾀ か", "データ データ データ か"),
            // Compatibility characters
            ("ﬁle ﬀﬃ ＤＡＴＡ２ 𝔯𝔬𝔟𝔬𝔱 x² Ǆ ㎏", "file ffffi data2 robot x2 dz kg"),
            ("데이터 \u{1103}\u{1166}\u{110b}\u{1175}\u{1110}\u{1165}", "데이터 데이터"),
            ("\u{f900} 数据\u{3000}集", "\u{8c48} 数据 集"),
            ("ﻛﺘﺎﺏ ﷲ", "كتاب الله"),
            // Characters that do not count
            ("می\u{200c}خواهم data\u{ad}set \u{200f}שלום\u{200e} 葛\u{e0100}", "میخواهم dataset שלום 葛"),
            ("a≠b a=\u{338}b ≮ a\u{338}", "a≠b a≠b ≮ a"),
            ("data\u{200b}set don’t", "data\u{200b}set don’t"),
        ] {
            assert_eq!(search_key(written), expected, "{written:?}");
            assert_eq!(search_key(expected), expected, "{expected:?}");
        }
    }

    #[test]
    fn names_are_the_same_in_any_case_and_encoding() {
        for same in [
            &["Café", "CAFE\u{301}", "cafe\u{301}", "ＣＡＦÉ"][..],
            &["Straße", "STRASSE", "straße", "STRAẞE"],
            &["χάρτης", "ΧΆΡΤΗΣ", "χα\u{301}ρτησ"],
            &["İstanbul", "I\u{307}STANBUL", "i\u{307}stanbul"],
            &["DIYARBAKIR", "diyarbakir"],
            &["Ёлки", "ЁЛКИ", "е\u{308}лки"],
            &["ﬁne", "FINE"],
            &["ﾃﾞｰﾀ", "データ", "テ\u{3099}ータ"],
            &["데이터", "\u{1103}\u{1166}\u{110b}\u{1175}\u{1110}\u{1165}"],
            &["ᾳ", "ΑΙ", "α\u{345}"],
            &["ệ", "e\u{323}\u{302}", "e\u{302}\u{323}", "Ệ"],
        ] {
            let mut keys: Vec<String> = same.iter().map(|name| equality_key(name)).collect();
            keys.dedup();
            assert_eq!(keys.len(), 1, "{same:?}: {keys:?}");
        }
        let different = [
            "cafe",
            "café",
            "елки",
            "ёлки",
            "كتاب",
            "كِتَاب",
            "diyarbakir",
            "diyarbakır",
            "istanbul",
            "i\u{307}stanbul",
        ];
        for (index, name) in different.iter().enumerate() {
            for other in &different[..index] {
                assert_ne!(equality_key(name), equality_key(other));
            }
        }
    }

    #[test]
    fn keys_of_all_characters_are_stable() {
        for char in '\0'..=char::MAX {
            let text = char.to_string();
            let (equality, search) = (equality_key(&text), search_key(&text));
            assert_eq!(equality_key(&equality), equality, "{text:?}");
            assert!(search_key_chars(&text).eq(search.chars()), "{text:?}");
            assert_eq!([search_key(&equality), search_key(&search)], [search.as_str(), &search], "{text:?}");
            assert!(equality.len().max(search.len()) <= text.len() * 11, "{text:?}");
        }
    }

    #[test]
    fn keys_are_linear_in_any_text() {
        let marks = "a".to_owned() + &"\u{301}\u{323}".repeat(500_000);
        assert_eq!(search_key(&marks), "a");
        assert!(equality_key(&marks).len() <= marks.len() + 2);
        assert_eq!(search_key(&"\u{fdfa}".repeat(100_000)).len(), 3_300_000);
    }
}
