//! Excerpts of what callers send, for messages that repeat it.

/// Maximum number of characters of a caller's text that a message repeats.
const MAX_EXCERPT_CHARS: usize = 100;

/// Returns the beginning of a text, with an ellipsis if it is longer than a message may repeat.
pub fn excerpt(text: &str) -> String {
    beginning(text, MAX_EXCERPT_CHARS)
}

/// Returns a text with at most this number of characters, or else its beginning with an ellipsis.
pub fn beginning(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a text in quotes, for messages. Escapes all characters that could change how the rest of the message is read:
/// quotes, control characters, line separators, and marks of the writing direction. Letters of all scripts with their marks
/// stay.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                quoted.extend(char.escape_unicode());
            }
            _ if char.is_control() => quoted.extend(char.escape_default()),
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_enclose_letters_of_all_scripts_and_escape_what_misleads() {
        for (text, expected) in [
            ("हिन्दी", "\"हिन्दी\""),
            ("e\u{301}", "\"e\u{301}\""),
            ("👩‍🔬", "\"👩‍🔬\""),
            ("a\"b\\", r#""a\"b\\""#),
            ("a\nb\u{7f}", r#""a\nb\u{7f}""#),
            ("\u{202e}gpj.exe", r#""\u{202e}gpj.exe""#),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    #[test]
    fn long_text_is_shortened_at_a_character() {
        assert_eq!(excerpt("short"), "short");
        assert_eq!(excerpt(&"ä".repeat(100)), "ä".repeat(100));
        assert_eq!(excerpt(&"ä".repeat(101)), format!("{}…", "ä".repeat(100)));
    }
}
