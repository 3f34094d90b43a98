//! Excerpts of what callers send, for messages that repeat it.

/// Maximum number of characters of a caller's text that a message repeats.
const MAX_EXCERPT_CHARS: usize = 100;

/// Returns the beginning of a text, with an ellipsis if it is longer than a message may repeat.
pub fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_shortened_at_a_character() {
        assert_eq!(excerpt("short"), "short");
        assert_eq!(excerpt(&"ä".repeat(100)), "ä".repeat(100));
        assert_eq!(excerpt(&"ä".repeat(101)), format!("{}…", "ä".repeat(100)));
    }
}
