//! Characters that nobody sees.

/// Whether a text begins or ends with a character that cannot be seen, as one does that has no visible characters.
pub fn has_invisible_end(text: &str) -> bool {
    // What selects the form of an emoji belongs to it.
    let without_selector =
        text.trim_end_matches(|char| matches!(char, '\u{fe0f}' | '\u{e0020}'..='\u{e007f}'));
    let is_selected = |last: char| !last.is_ascii() && !last.is_alphanumeric();
    let end = if without_selector.ends_with(is_selected) { without_selector } else { text };
    text.chars().next().is_none_or(is_invisible) || end.chars().next_back().is_none_or(is_invisible)
}

/// Whether nothing of a text can be seen: it counts as absent.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_invisible)
}

/// Returns a text without the characters at both ends that cannot be seen. What is copied from a chat or a document can have some.
pub fn without_invisible_ends(text: &str) -> &str {
    text.trim_matches(is_invisible)
}

/// Whether a character is white space, a control, or, by Unicode, shown as nothing.
fn is_invisible(char: char) -> bool {
    char.is_whitespace()
        || char.is_control()
        || matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{has_invisible_end, is_blank, without_invisible_ends};

    #[test]
    fn what_was_copied_loses_its_invisible_ends() {
        for copied in ["mkt_a", " mkt_a\n", "\u{200b}mkt_a\u{2060}", "\u{feff}mkt_a\u{a0}\u{ad}"] {
            assert_eq!(without_invisible_ends(copied), "mkt_a", "{copied:?}");
        }
        assert_eq!(without_invisible_ends("\u{200b}"), "");
    }

    #[test]
    fn a_text_without_a_visible_character_is_blank() {
        for text in ["", " \n", "\u{200b}", "\u{3164} \u{ad}", "\u{feff}", "\u{fe0f}"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", "\u{200b}a\u{200b}", " . ", "❤\u{fe0f}", "\u{301}"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn names_begin_and_end_with_visible_characters() {
        for name in [
            "a",
            "a b",
            "می\u{200c}خواهم",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "कि",
            "\u{1f3f4}\u{e0067}\u{e007f}",
        ] {
            assert!(!has_invisible_end(name), "{name:?}");
        }
        for name in [
            "",
            " ",
            " a",
            "a ",
            "a\u{a0}",
            "\u{200b}",
            "a\u{200d}",
            "\u{feff}a",
            "\u{3164}",
            "a\u{fe0f}",
            "\u{fe0f}",
            "é\u{e0020}",
        ] {
            assert!(has_invisible_end(name), "{name:?}");
        }
    }
}
