//! Makes Markdown and HTML in text that people wrote visible as characters. A client that renders an answer would
//! otherwise load images, hide the targets of links, and hide comments, which a model reads.
//!
//! A backslash before a character makes it plain text in `CommonMark`, so a renderer shows what was written. Only what can
//! begin or end markup gets one: `a[0]`, `x < y`, and `Map<K, V>` stay as they are, and `Vec<T>`, which is a tag of HTML,
//! becomes `Vec\<T>`.

/// Returns an upper bound of the bytes by which escapes lengthen a JSON text.
pub fn max_added_bytes(json: &[u8]) -> usize {
    // In JSON, a backslash takes two bytes.
    2 * memchr::memchr2_iter(b'<', b']', json).filter(|index| can_be_markup(json, *index)).count()
}

/// Returns whether a JSON text can contain markup. No list of JSON is followed by one of these characters.
pub fn may_be_in(json: &[u8]) -> bool {
    memchr::memchr2_iter(b'<', b']', json).any(|index| can_be_markup(json, index))
}

fn can_be_markup(json: &[u8], index: usize) -> bool {
    json[index] == b'<' || matches!(json.get(index + 1), Some(b'(' | b':'))
}

/// Returns the text with its markup escaped; `None` if it has none. An escaped text has none.
pub fn escape(text: &str) -> Option<String> {
    if !may_be_in(text.as_bytes()) {
        return None;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut is_changed = false;
    let mut state = State { is_escaped: false, is_line_start: true, opened_at_line_start: false };
    for (index, character) in text.char_indices() {
        if state.is_markup(character, &text[index + character.len_utf8()..]) {
            escaped.push('\\');
            is_changed = true;
        }
        escaped.push(character);
        state.advance(character);
    }
    is_changed.then_some(escaped)
}

/// What came before a character of a text.
struct State {
    /// Whether a backslash escapes the character.
    is_escaped: bool,
    /// Whether its line has nothing else so far than markers of lists and quotations.
    is_line_start: bool,
    /// Whether the latest opening bracket was at such a place, so that it can begin the definition of a link.
    opened_at_line_start: bool,
}

impl State {
    /// Returns whether a character begins or ends markup, given the text after it.
    fn is_markup(&self, character: char, rest: &str) -> bool {
        !self.is_escaped
            && match character {
                '<' => opens_html(rest),
                // A link or an image, or the definition of one.
                ']' => rest.starts_with('(') || rest.starts_with(':') && self.opened_at_line_start,
                _ => false,
            }
    }

    const fn advance(&mut self, character: char) {
        if character == '[' && !self.is_escaped {
            self.opened_at_line_start = self.is_line_start;
        }
        self.is_escaped = character == '\\' && !self.is_escaped;
        self.is_line_start = match character {
            '\n' => true,
            ' ' | '\t' | '>' | '-' | '*' | '+' | '.' | ')' | '0'..='9' => self.is_line_start,
            _ => false,
        };
    }
}

/// Returns whether `<` begins a tag, a comment, or an address, given the text after it. Reads it only up to the next `<`, so
/// that a text is read at most twice.
fn opens_html(rest: &str) -> bool {
    let tag = rest.strip_prefix('/').unwrap_or(rest);
    let name = tag.find(|character: char| !character.is_ascii_alphanumeric() && character != '-');
    let after_name = &tag[name.unwrap_or(tag.len())..];
    let is_tag = tag.starts_with(|first: char| first.is_ascii_alphabetic())
        && (after_name.is_empty() || after_name.starts_with(['>', '/', ' ', '\t', '\n']));
    let is_address = || {
        let end = rest.find(|character: char| character.is_whitespace() || matches!(character, '<' | '>'));
        end.is_some_and(|end| rest[end..].starts_with('>') && rest[..end].contains([':', '@']))
    };
    rest.starts_with(['!', '?']) || is_tag || is_address()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_escaped() {
        for (text, expected) in [
            ("![x](https://evil.example/p.png)", r"![x\](https://evil.example/p.png)"),
            ("see [the terms](javascript:alert)", r"see [the terms\](javascript:alert)"),
            ("[![a](u)](v)", r"[![a\](u)\](v)"),
            ("[a]: https://evil.example", r"[a\]: https://evil.example"),
            ("text\n > 1. [a]: u", "text\n > 1. [a\\]: u"),
            ("a <!-- hidden --> b", r"a \<!-- hidden --> b"),
            ("<img src=x onerror=y>", r"\<img src=x onerror=y>"),
            ("<IMG\nsrc=x>", "\\<IMG\nsrc=x>"),
            ("<details", r"\<details"),
            ("</p><br/>", r"\</p>\<br/>"),
            ("<?php x?><![CDATA[x]]><!DOCTYPE>", r"\<?php x?>\<![CDATA[x]]>\<!DOCTYPE>"),
            (
                "<https://evil.example> <me@evil.example> <x:y>",
                r"\<https://evil.example> \<me@evil.example> \<x:y>",
            ),
            ("Vec<T>", r"Vec\<T>"),
            // A backslash that is escaped itself escapes nothing.
            (r"[a\\](u) \\<b>", r"[a\\\](u) \\\<b>"),
        ] {
            assert_eq!(escape(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "plain",
            "a[0] + b[i][j]",
            "x < y > z",
            "i<n)",
            "Map<K, V>",
            "1<2, <5 GB, <3, <-, <=, <<",
            "a[0]: first",
            "[x] done, [ ] to do",
            "(a)[b]",
            "dict[str, int]",
            "# Title\n* **bold** `code` https://a.example",
            r"[a\](u) \<b> \[c\]: d",
            "&lt;b&gt; &#91;",
        ] {
            assert_eq!(escape(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn escaped_text_stays_as_it_is_and_loses_nothing(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "[", "]", "(", ")", "<", ">", "!", "/", "?", "\\", ":", "a", "é", " ", "\n", "--", "1.", "@",
            ]), 0..24),
        ) {
            let text = pieces.concat();
            let escaped = escape(&text).unwrap_or_else(|| text.clone());
            prop_assert_eq!(escape(&escaped), None, "{:?}", escaped);
            let json = |text: &str| serde_json::to_string(text).unwrap();
            prop_assert!(json(&escaped).len() <= json(&text).len() + max_added_bytes(json(&text).as_bytes()));
            // Without backslashes, both are the same.
            prop_assert_eq!(escaped.replace('\\', ""), text.replace('\\', ""));
        }
    }
}
