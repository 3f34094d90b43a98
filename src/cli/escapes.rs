//! Escapes in texts of others, so that they cannot control a terminal, imitate a line, or change how a line is read.

use std::fmt::Write as _;

/// Escapes the characters of a text that do something to the text around them.
pub fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, character| {
        if is_controlling(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
        escaped
    })
}

/// Like [`escaped`], for a text of several lines, which stay.
pub fn escaped_lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}

/// Like [`escaped`], for JSON, whose value stays the same. The line breaks between values stay, too.
pub fn escaped_json(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut escaped, character| {
        if character != '\n' && is_controlling(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
        escaped
    })
}

/// Whether a character does something to the text around it: control characters (C0 and C1), line and
/// paragraph separators, marks and overrides of the writing direction, and invisible characters.
pub fn is_controlling(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(char, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_change_other_text_are_escaped() {
        for (text, expected) in [
            ("Économie 価格", "Économie 価格"),
            ("a\n\u{1b}[2J", "a\\n\\u{1b}[2J"),
            ("invoice\u{202e}fdp.exe", "invoice\\u{202e}fdp.exe"),
            ("\u{2066}a\u{200b}\u{feff}", "\\u{2066}a\\u{200b}\\u{feff}"),
        ] {
            assert_eq!(escaped(text), expected);
        }
        assert_eq!(escaped_lines("a\n\n\u{9b}2J\n"), "a\n\n\\u{9b}2J");
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = serde_json::json!({"d\u{202e}txt.csv": ["\u{1b}[2J\u{9b}2J", "价\n\\", "\u{e0041}"]});
        let json = escaped_json(&format!("{value:#}"));
        let expected = [r"d\u202etxt.csv", r"\u001b[2J\u009b2J", r"价\n\\", r"\udb40\udc41"];
        assert!(expected.iter().all(|text| json.contains(text)), "{json}");
        assert!(!json.chars().any(|character| character != '\n' && is_controlling(character)), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }
}
