//! READMEs: recognizes them by name, and extracts a short description.

use marketplace_text::encoding;

use super::lfs_pointers;

/// Maximum number of bytes of a README that are read.
pub const MAX_BYTES: u64 = 65_536;

/// Maximum number of characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 2_000;

/// Maximum number of characters of a link's text, and of its target. Anything longer is not treated as a
/// link.
const MAX_LINK_CHARS: usize = 1_000;

/// Maximum depth to which links inside of link texts are parsed.
const MAX_NESTING: u32 = 3;

/// Names of READMEs. The first ones have formats in which prose is recognized.
const NAMES: [&str; 10] = [
    "readme.md",
    "readme.markdown",
    "readme.rst",
    "readme.txt",
    "readme",
    "readme.adoc",
    "readme.asciidoc",
    "readme.org",
    "readme.rdoc",
    "readme.textile",
];
const DESCRIBED_NAMES: usize = 5;

/// Returns the rank of a README name, or `None` if the name is not that of a README. The lowest rank takes
/// precedence.
pub fn rank(name: &str) -> Option<usize> {
    NAMES.iter().position(|readme| name.eq_ignore_ascii_case(readme))
}

/// Returns the rank of a README name if the README can have a [`description`].
pub fn described_rank(name: &str) -> Option<usize> {
    rank(name).filter(|rank| *rank < DESCRIBED_NAMES)
}

/// Returns the first paragraph of prose of a README, without headings, badges, images, tables, and code.
/// Returns `None` if there is no prose, or the README is a pointer of Git LFS.
pub fn description(bytes: &[u8]) -> Option<String> {
    if lfs_pointers::is_pointer(bytes) {
        return None;
    }
    let text = encoding::decode_for_display(bytes).replace("\r\n", "\n");
    let mut paragraph: Vec<String> = Vec::new();
    let mut lines = without_front_matter(&text).lines().peekable();
    // The end marker of the current code block or comment.
    let mut end_marker: Option<&str> = None;
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(end) = end_marker {
            end_marker = end_marker.filter(|_| !line.contains(end));
            continue;
        }
        // An underlined line is a heading in Markdown and reStructuredText.
        let is_underlined = !line.is_empty() && lines.peek().is_some_and(|next| is_rule_line(next));
        if is_underlined {
            lines.next();
        } else {
            end_marker = [("```", "```"), ("~~~", "~~~"), ("<!--", "-->")]
                .into_iter()
                .find(|(start, end)| line.starts_with(start) && !line[start.len()..].contains(end))
                .map(|(_, end)| end);
        }
        let is_prose =
            !is_underlined && end_marker.is_none() && !line.starts_with('#') && !is_rule_line(line);
        let prose = if is_prose { prose_of_line(line, 0) } else { String::new() };
        if !prose.is_empty() {
            paragraph.push(prose);
        } else if !paragraph.is_empty() {
            break;
        }
    }
    let description_text: String =
        paragraph.join(" ").chars().filter(|character| !is_forbidden(*character)).collect();
    let description_text: String = description_text.trim().chars().take(MAX_DESCRIPTION_CHARS).collect();
    (!description_text.is_empty()).then_some(description_text)
}

/// Returns the text without the YAML front matter that data cards start with.
fn without_front_matter(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---\n") else { return text };
    rest.split_once("\n---").map_or(text, |(_, after)| after)
}

/// Whether a line consists of nothing but rule or underline characters.
fn is_rule_line(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.chars().all(|character| "=-~*_^".contains(character))
}

/// Whether a character is not allowed in descriptions because it controls terminals or the direction of text.
pub(super) fn is_forbidden(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the prose of a line: links are replaced by their texts, images and badges are removed, and so are
/// emphasis marks. `depth` is the number of links that enclose the line.
fn prose_of_line(line: &str, depth: u32) -> String {
    let is_definition = line.starts_with('[') && line.contains("]: ") || line.starts_with(':');
    if is_definition || line.starts_with(['|', '<', '>']) || line.starts_with("..") || depth > MAX_NESTING {
        return String::new();
    }
    let (mut prose_text, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('[') {
        let is_image = rest[..at].ends_with('!');
        prose_text.push_str(rest[..at].trim_end_matches('!'));
        let Some(link) = parse_link(&rest[at..]) else {
            prose_text.push('[');
            rest = &rest[at + 1..];
            continue;
        };
        if !is_image {
            prose_text.push_str(&prose_of_line(link.text, depth + 1));
        }
        rest = &rest[at + link.length..];
    }
    prose_text.push_str(rest);
    prose_text.replace("**", "").replace("__", "").replace('`', "").trim().to_owned()
}

/// Text of a Markdown link, and the length of the whole link in bytes.
struct Link<'a> {
    text: &'a str,
    length: usize,
}

/// Parses the link at the start of a text: `[words](address)` or `[words][name]`. The link text may contain
/// images.
fn parse_link(text: &str) -> Option<Link<'_>> {
    let end = closing_bracket(text, '[', ']')?;
    let after_text = &text[end + 1..];
    let target = match after_text.chars().next()? {
        '(' => closing_bracket(after_text, '(', ')')?,
        '[' => closing_bracket(after_text, '[', ']')?,
        _ => return None,
    };
    Some(Link { text: &text[1..end], length: end + 1 + target + 1 })
}

/// Returns the position of the bracket that closes the one at the start of a text.
fn closing_bracket(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in text.char_indices().take(MAX_LINK_CHARS) {
        if character == open {
            depth += 1;
        } else if character == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_is_first_paragraph_of_prose() {
        for (text, expected) in [
            ("# Ledger\n\nA general ledger.\n\nMore.", "A general ledger."),
            ("Ledger\n======\n\nA ledger\nin two lines.\n", "A ledger in two lines."),
            (
                "# L\n[![build](https://x/b.svg)](https://x) ![logo](l.png)\n\n**Fast** [ledger](https://l.example) in `Rust`.",
                "Fast ledger in Rust.",
            ),
            ("```sh\nmake\n```\nBuilds itself.", "Builds itself."),
            ("\u{feff}Plain.\r\nText.\r\n\r\nMore", "Plain. Text."),
            ("<p align=center>x</p>\n| a | b |\n\nScans [1] of letters.", "Scans [1] of letters."),
            ("a\u{202e}b\u{7}", "ab"),
            ("---\nlicense: mit\ntags:\n- law\n---\n# L\n\nLetters.", "Letters."),
            ("Ledger\n~~~~~~\n\nA ledger.", "A ledger."),
            ("<!-- Do not\nedit -->\nWords.", "Words."),
            ("<!-- one line -->\n[1]: https://x\n:alt: y\n\nWords.", "Words."),
        ] {
            assert_eq!(description(text.as_bytes()).as_deref(), Some(expected), "{text:?}");
        }
        for text in ["", "# Only a heading\n", "```\ncode\n", "\n\n---\n"] {
            assert_eq!(description(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(description(lfs_pointers::tests::POINTER.as_bytes()), None);
        assert_eq!(description("x".repeat(9_000).as_bytes()).unwrap().len(), MAX_DESCRIPTION_CHARS);
    }

    #[test]
    fn descriptions_have_no_replacement_characters() {
        let text = "# Brücke\r\n\r\nPläne für Brücken.\r\n";
        let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let with_mark = [&b"\xff\xfe"[..], &utf_16].concat();
        let big: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect();
        let latin_1: Vec<u8> = text.chars().map(|character| character as u8).collect();
        for bytes in [text.as_bytes(), &utf_16, &with_mark, &big, &latin_1] {
            assert_eq!(description(bytes).as_deref(), Some("Pläne für Brücken."), "{bytes:?}");
        }
        assert_eq!(
            description(b"\x93Words\x94 \x96 5 \x80").as_deref(),
            Some("\u{201c}Words\u{201d} \u{2013} 5 \u{20ac}")
        );
    }

    #[test]
    fn markdown_ranks_before_plain_text() {
        assert!(rank("README.md") < rank("readme.TXT") && rank("Readme").is_some());
        assert_eq!(rank("README.pdf"), None);
        assert!(rank("README.adoc").is_some() && described_rank("README.adoc").is_none());
    }

    #[test]
    fn unclosed_brackets_parse_fast() {
        for text in ["[".repeat(65_536), "[".repeat(16_384) + &"]()".repeat(16_384), "![](".repeat(16_384)] {
            description(text.as_bytes());
        }
    }

    proptest::proptest! {
        /// No input makes it panic, and the result has no forbidden characters.
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            if let Some(text) = description(&bytes) {
                proptest::prop_assert!(!text.chars().any(is_forbidden));
            }
        }

        #[test]
        fn arbitrary_markdown_does_not_panic(text in "[\\[\\]()!a# \\n`*|<-]{0,80}") {
            description(text.as_bytes());
        }
    }
}
