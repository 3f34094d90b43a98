//! Removes invisible characters from text that people wrote before it reaches a model, and shows markup as characters
//! (`markdown`).
//!
//! Invisible characters and those that change the text direction can hide instructions. Variation selectors
//! and joiners are kept where they have an effect (`shaped_characters`), one after each character.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::{markdown, shaped_characters, team_text};

/// Removes invisible characters from every string in a value, including field names, and escapes markup in texts of teams.
pub fn sanitize_value(value: &mut Value) {
    sanitize_part(value, false);
}

/// Sanitizes a part of a value; `is_of_team` says whether it is in a field that teams write.
fn sanitize_part(value: &mut Value, is_of_team: bool) {
    match value {
        Value::String(text) => {
            if let Some(cleaned) = sanitize_string(text, is_of_team) {
                *text = cleaned;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| sanitize_part(item, is_of_team)),
        Value::Object(fields) => {
            if fields.keys().any(|name| sanitize_string(name, is_of_team).is_some()) {
                *fields = sanitize_names(std::mem::take(fields), is_of_team);
            }
            for (name, value) in fields {
                sanitize_part(value, is_of_team || team_text::is_written_by_teams(name));
            }
        }
        _ => {}
    }
}

/// Sanitizes field names. Names that become equal get a `*` appended, so that no field is lost.
fn sanitize_names(fields: Map<String, Value>, is_of_team: bool) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in fields {
        let mut name = sanitize_string(&name, is_of_team).unwrap_or(name);
        while out.contains_key(&name) {
            name.push('*');
        }
        out.insert(name, value);
    }
    out
}

/// Returns the sanitized form of a string; `None` if that is the same.
fn sanitize_string(text: &str, is_of_team: bool) -> Option<String> {
    let visible = sanitize_text(text);
    if !is_of_team {
        return visible;
    }
    // Characters are removed first, since they could separate those of markup.
    markdown::escape(visible.as_deref().unwrap_or(text)).or(visible)
}

/// Returns the text without invisible characters; `None` if it has none.
pub fn sanitize_text(text: &str) -> Option<String> {
    if is_plain(text.as_bytes()) {
        return None;
    }
    let mut visible = String::with_capacity(text.len());
    // The last kept character, and the last kept character that was not a variation selector.
    let (mut last, mut base) = (None, None);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let is_kept = match character {
            _ if shaped_characters::is_selector(character) => {
                last.is_some_and(|last| shaped_characters::can_vary(last, character, next))
            }
            MONGOLIAN_VOWEL_SEPARATOR => {
                base.zip(next).is_some_and(|(before, after)| shaped_characters::can_separate(before, after))
            }
            ZERO_WIDTH_NON_JOINER => last.is_some_and(shaped_characters::can_join),
            ZERO_WIDTH_JOINER => {
                last.is_some_and(shaped_characters::can_join)
                    || [base, next].iter().all(|part| part.is_some_and(shaped_characters::is_emoji_part))
            }
            _ => !is_hidden(character),
        };
        if is_kept {
            visible.push(character);
            last = Some(character);
            if !shaped_characters::is_selector(character) {
                base = last;
            }
        }
    }
    (visible != text).then_some(visible)
}

/// Returns whether a text is printable ASCII, as most texts are. Bytes are checked in chunks without
/// branches, which lets the compiler vectorize the loop.
fn is_plain(text: &[u8]) -> bool {
    let is_plain = |byte: &&u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    text.chunks(64).all(|chunk| chunk.iter().filter(is_plain).count() == chunk.len())
}

/// Returns whether a JSON text is certain to contain nothing to sanitize: it is printable ASCII without markup, and its
/// escapes are harmless. `false` means that the text has to be parsed to find out.
pub fn is_plain_json(json: &[u8]) -> bool {
    let is_plain_escape =
        |index: usize| matches!(json.get(index + 1), Some(b'n' | b't' | b'"' | b'\\' | b'/'));
    is_plain(json) && !markdown::may_be_in(json) && memchr::memchr_iter(b'\\', json).all(is_plain_escape)
}

/// Separates letters that would be connected or combined.
const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';

/// Separates the last vowel of a Mongolian word.
const MONGOLIAN_VOWEL_SEPARATOR: char = '\u{180e}';

/// Connects letters, and the parts of emoji.
const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// Characters that change the text direction (Unicode Standard Annex 9) or are invisible: the
/// default-ignorable code points (`DerivedCoreProperties.txt`, Unicode 16), plus line separators and
/// interlinear annotation marks.
const HIDDEN: [RangeInclusive<char>; 20] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
    '\u{f0000}'..='\u{10ffff}',
];

/// Returns whether a character is removed. Control characters are, except line feeds and tabs.
fn is_hidden(character: char) -> bool {
    let is_control = character.is_control() && character != '\n' && character != '\t';
    is_control || HIDDEN.iter().any(|range| range.contains(&character))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn invisible_characters_are_removed() {
        for (text, expected) in [
            ("plain", None),
            ("two\nlines\tand a tab", None),
            ("Größe, 語, \u{1f469}\u{200d}\u{1f4bb}, می\u{200c}خواهم", None),
            ("a\u{202e}b\u{2066}c\u{2069}", Some("abc")),
            ("bell\u{7}\u{1b}[31m", Some("bell[31m")),
            ("c1\u{85}\u{9b}", Some("c1")),
            ("line\r\n", Some("line\n")),
            ("\u{feff}zero\u{200b}width", Some("zerowidth")),
            ("tag\u{e0041}\u{e0042}", Some("tag")),
            ("vs\u{e0141}\u{e0142} \u{3164}\u{115f}\u{180e}\u{2028}x", Some("vs x")),
            ("\u{2764}\u{fe0f}", None),
            ("bits\u{200d}\u{200c}\u{200d}\u{fe0f}\u{fe00}", Some("bits")),
            ("\u{200d}lead \u{200c}in", Some("lead in")),
        ] {
            assert_eq!(sanitize_text(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn variation_selectors_are_kept_only_after_what_they_can_vary() {
        for (text, expected) in [
            ("1\u{fe0f}\u{20e3} \u{2764}\u{fe0f} \u{2122}\u{fe0e} \u{8fba}\u{e0101} \u{2229}\u{fe00}", None),
            ("a\u{fe0f}b\u{fe0e}c\u{fe00}d\u{e0100}e\u{e01ef}", Some("abcde")),
            ("1\u{fe0f}2\u{fe0e}#\u{fe0f}", Some("12#")),
            ("\u{2764}\u{fe0f}\u{fe0e}\u{fe0f}", Some("\u{2764}\u{fe0f}")),
            ("\u{8fba}\u{e0101}\u{e0102}\u{fe00}", Some("\u{8fba}\u{e0101}")),
            ("\u{3b1}\u{e0101} \u{fe0f}", Some("\u{3b1} ")),
            ("\u{2764}\u{200b}\u{fe0f}", Some("\u{2764}\u{fe0f}")),
            // Names with registered variants, and all other selectors after the same characters.
            ("渡邉\u{e011f} 葛\u{e0100}飾 芦\u{e0101}屋 渡邊\u{e0114} 辻\u{e0100}", None),
            ("邉\u{e0120}葛\u{e010a}辻\u{e0108}\u{f900}\u{e0100}辻\u{fe00}", Some("邉葛辻\u{f900}辻")),
            ("邉\u{e0100}\u{200b}\u{e0101}", Some("邉\u{e0100}")),
            // Mongolian letters, with the separator of a last vowel.
            ("ᠣ\u{180b}ᠨ\u{180c}ᠭ\u{180d} ᠨ\u{180e}ᠠ ᠨ\u{180c}\u{180e}ᠡ", None),
            ("ᠡ\u{180b}\u{180c}\u{180f} \u{180b}ᠨ\u{180e}\u{180e}ᠠ\u{180e}", Some("ᠡ\u{180b} ᠨ\u{180e}ᠠ")),
        ] {
            assert_eq!(sanitize_text(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn joiners_are_kept_only_in_scripts_that_use_them() {
        for (text, expected) in [
            ("\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}", None),
            ("\u{915}\u{94d}\u{200d}\u{937} \u{915}\u{94d}\u{200c}\u{937}", None),
            ("\u{2764}\u{fe0f}\u{200d}\u{1f525} \u{1f469}\u{1f3fd}\u{200d}\u{1f4bb}", None),
            ("\u{1f3f3}\u{fe0f}\u{200d}\u{1f308} \u{1f937}\u{200d}\u{2642}\u{fe0f}", None),
            ("a\u{200d}b\u{200c}c", Some("abc")),
            ("\u{44f}\u{200d}\u{3b1}\u{200c}\u{8a9e}\u{200d}", Some("\u{44f}\u{3b1}\u{8a9e}")),
            ("\u{1f469}\u{200d}a \u{1f469}\u{200c}\u{1f4bb}", Some("\u{1f469}a \u{1f469}\u{1f4bb}")),
            ("\u{1f469}\u{200d}\u{200d}\u{1f4bb}", Some("\u{1f469}\u{200d}\u{1f4bb}")),
            ("\u{645}\u{200c}\u{200d}\u{200c}", Some("\u{645}\u{200c}")),
            ("\u{661}\u{200c} \u{200d}", Some("\u{661} ")),
        ] {
            assert_eq!(sanitize_text(text).as_deref(), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn sanitized_text_stays_as_it_is(
            pieces in prop::collection::vec(
                prop::sample::select(vec!['a', '1', '\u{20e3}', '\u{2764}', '\u{1f469}', '\u{645}', '\u{8fba}',
                    '\u{200c}', '\u{200d}', '\u{200b}', '\u{fe00}', '\u{fe0f}', '\u{e0101}', '\u{e0041}']),
                0..12,
            ),
        ) {
            let text: String = pieces.into_iter().collect();
            let sanitized = sanitize_text(&text).unwrap_or(text);
            prop_assert_eq!(sanitize_text(&sanitized), None);
        }
    }

    #[test]
    fn plain_json_is_detected() {
        for (json, is_plain) in [
            (r#"{"a":"b\nc\t\"d\" \\"}"#, true),
            ("{\"a\":\"é\"}", false),
            (r#"{"a":"\u202e"}"#, false),
            (r#"{"a":"\r"}"#, false),
            (r#"{"a":"\b\f"}"#, false),
            ("{\"a\":\"\u{7f}\"}", false),
            (r#"{"a":[[1],[2]],"b":"x[0] (y)"}"#, true),
            (r#"{"a":"<b>"}"#, false),
            (r#"{"a":"[b](c)"}"#, false),
            (r#"{"a":"[b]: c"}"#, false),
        ] {
            assert_eq!(is_plain_json(json.as_bytes()), is_plain, "{json}");
        }
    }

    #[test]
    fn only_what_teams_wrote_gets_escapes() {
        let mut value = json!({
            "title": "a\u{202e}b [x]\u{200b}(y)",
            "link": "<b>",
            "items": [{"name": null, "extra_columns": {"k\u{200f}<i>": {"deep": "<!-- x -->"}}, "id": "[x](y)"}],
        });
        sanitize_value(&mut value);
        let expected = json!({
            "title": r"ab [x\](y)",
            "link": "<b>",
            "items": [{"name": null, "extra_columns": {r"k\<i>": {"deep": r"\<!-- x -->"}}, "id": "[x](y)"}],
        });
        assert_eq!(value, expected);
        let mut duplicates = json!({"a": 1, "a\u{200b}": 2, "a\u{feff}": 3});
        sanitize_value(&mut duplicates);
        assert_eq!(duplicates, json!({"a": 1, "a*": 2, "a**": 3}));
    }

    /// The properties are those of the Unicode version of the crate `regex`.
    #[test]
    fn each_hidden_character_of_unicode_is_removed() {
        let hidden = [
            r"^\p{Default_Ignorable_Code_Point}$",
            r"^\p{Bidi_Control}$",
            r"^\p{Variation_Selector}$",
            r"^[\p{Zl}\p{Zp}\p{Cf}--\p{Prepended_Concatenation_Mark}]$",
            r"^[\p{Cc}--[\n\t]]$",
        ];
        for property in hidden {
            let regex = regex::Regex::new(property).unwrap();
            let mut count = 0;
            for character in '\0'..=char::MAX {
                if regex.is_match(character.encode_utf8(&mut [0; 4])) {
                    count += 1;
                    let text = format!("a{character}b");
                    assert_eq!(sanitize_text(&text).as_deref(), Some("ab"), "{property}: {character:?}");
                }
            }
            assert!(count > 2, "{property}: {count}");
        }
    }
}
