//! The rules of texts that people write: their lengths, and the characters that they must not contain.

use std::ops::RangeInclusive;

use crate::error::Problem;

/// Whether a text may have several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// One line.
    One,
    /// Any number of lines, with tabs.
    Many,
}

/// Returns what is wrong with a text: its length in characters, or a control character. `path` leads to it in
/// the body.
pub fn find_problem(
    path: &[&str],
    text: &str,
    lengths: RangeInclusive<usize>,
    lines: Lines,
) -> Option<Problem> {
    let name = path.last().copied().unwrap_or("body");
    let (min, max) = (*lengths.start(), *lengths.end());
    let length = text.chars().count();
    if length < min || (min > 0 && text.trim().is_empty()) {
        let message = format!("`{name}` must not be blank.");
        return Some(Problem::body(path, "string_too_short", message));
    }
    if length > max {
        let message = format!("`{name}` has {length} characters. It can have at most {max}.");
        return Some(Problem::body(path, "string_too_long", message));
    }
    let is_allowed = |c: char| lines == Lines::Many && matches!(c, '\n' | '\r' | '\t');
    if text.chars().any(|c| is_control(c) && !is_allowed(c)) {
        let message = match lines {
            Lines::One => format!("`{name}` must be one line without control characters."),
            Lines::Many => {
                format!("`{name}` must have no control characters other than tabs and line breaks.")
            }
        };
        return Some(Problem::body(path, "string_pattern_mismatch", message));
    }
    None
}

/// Whether a character is a control character, or changes the direction of the text after it.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_bounds_and_no_control_characters() {
        let kind = |text: &str, lengths, lines| {
            find_problem(&["title"], text, lengths, lines).map_or("", |problem| problem.kind)
        };
        for (text, one, many) in [
            ("", "string_too_short", ""),
            ("  ", "string_too_short", ""),
            ("äöü", "", ""),
            ("äöüß", "string_too_long", "string_too_long"),
            ("a\nb", "string_pattern_mismatch", ""),
            ("a\0b", "string_pattern_mismatch", "string_pattern_mismatch"),
            ("a\u{202e}b", "string_pattern_mismatch", "string_pattern_mismatch"),
        ] {
            assert_eq!(kind(text, 1..=3, Lines::One), one, "{text:?}");
            assert_eq!(kind(text, 0..=3, Lines::Many), many, "{text:?}");
        }
    }
}
