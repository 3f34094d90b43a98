//! Which encoding a text has, by its beginning.

use encoding_rs::{UTF_16BE, UTF_16LE};

/// Number of bytes at the beginning that decide the encoding.
pub const HEAD_BYTES: usize = 8_192;

/// Without a byte order mark, at least one in this many characters of UTF-16 has a zero byte: those of ASCII and
/// Latin-1, such as spaces, digits, and line ends.
const CHARACTERS_PER_ZERO: usize = 32;

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
pub(super) const UTF_16LE_MARK: &[u8] = b"\xff\xfe";
pub(super) const UTF_16BE_MARK: &[u8] = b"\xfe\xff";
const UTF_32LE_MARK: &[u8] = b"\xff\xfe\0\0";
const UTF_32BE_MARK: &[u8] = b"\0\0\xfe\xff";

/// The encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or an unknown encoding, which is valid as far as it is ASCII.
    Utf8,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// UTF-16, the higher byte first.
    Utf16Be,
    /// UTF-32, which nothing here decodes.
    Utf32,
}

impl Encoding {
    /// Returns the encoding of a file that may be binary, by its beginning. `None` for a binary file: it has a zero byte
    /// that is not part of a character.
    pub fn of_file(head: &[u8]) -> Option<Encoding> {
        let head = &head[..head.len().min(HEAD_BYTES)];
        match Encoding::of_text(head) {
            Encoding::Utf32 => Some(Encoding::Utf32),
            encoding @ (Encoding::Utf16Le | Encoding::Utf16Be) if is_utf_16(head, encoding) => Some(encoding),
            _ => memchr::memchr(0, head).is_none().then_some(Encoding::Utf8),
        }
    }

    /// Returns the encoding of a text, by its beginning.
    pub fn of_text(head: &[u8]) -> Encoding {
        let head = &head[..head.len().min(HEAD_BYTES)];
        if is_utf_32(head) {
            return Encoding::Utf32;
        }
        let by_zeros = || {
            utf_16_by_zeros(head)
                .filter(|encoding| is_utf_16(head, *encoding) && !is_utf_8_with_few_zeros(head))
        };
        utf_16_by_mark(head).or_else(by_zeros).unwrap_or(Encoding::Utf8)
    }

    /// Returns the byte order mark that a text in this encoding may start with.
    pub(super) const fn mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf8 => UTF_8_MARK,
            Encoding::Utf16Le => UTF_16LE_MARK,
            Encoding::Utf16Be => UTF_16BE_MARK,
            Encoding::Utf32 => &[],
        }
    }

    pub(super) fn utf_16_decoder(self) -> Option<encoding_rs::Decoder> {
        match self {
            Encoding::Utf16Le => Some(UTF_16LE.new_decoder_without_bom_handling()),
            Encoding::Utf16Be => Some(UTF_16BE.new_decoder_without_bom_handling()),
            Encoding::Utf8 | Encoding::Utf32 => None,
        }
    }
}

/// Returns a text in UTF-8 without its byte order mark, which some editors and terminals write at the beginning.
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(UTF_8_MARK).unwrap_or(text)
}

fn utf_16_by_mark(head: &[u8]) -> Option<Encoding> {
    match head {
        _ if head.starts_with(UTF_16LE_MARK) => Some(Encoding::Utf16Le),
        _ if head.starts_with(UTF_16BE_MARK) => Some(Encoding::Utf16Be),
        _ => None,
    }
}

/// Returns the order of bytes in which more characters have a higher byte of zero, if those are enough.
fn utf_16_by_zeros(head: &[u8]) -> Option<Encoding> {
    let units = head.as_chunks::<2>().0;
    let zeros = |at: usize| units.iter().filter(|unit| unit[at] == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let is_enough = |zeros: usize| zeros * CHARACTERS_PER_ZERO >= units.len();
    match () {
        () if second > first && is_enough(second) => Some(Encoding::Utf16Le),
        () if first > second && is_enough(first) => Some(Encoding::Utf16Be),
        () => None,
    }
}

/// Whether bytes are text in UTF-8 with some zeros, as damaged text has. In UTF-16, text whose other bytes are all like that
/// has a zero in most of its characters.
fn is_utf_8_with_few_zeros(head: &[u8]) -> bool {
    let is_text =
        |text: &str| text.chars().all(|character| character == '\0' || is_text_character(character));
    let zeros = memchr::memchr_iter(0, head).count();
    zeros * 4 < head.len() && str::from_utf8(head).is_ok_and(is_text)
}

/// Whether bytes are text in an order of UTF-16: without control characters and unpaired surrogates, except for one that the
/// end of `head` may cut off.
fn is_utf_16(head: &[u8], encoding: Encoding) -> bool {
    let head = head.strip_prefix(encoding.mark()).unwrap_or(head);
    let units = head.as_chunks::<2>().0.iter().map(|unit| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes(*unit),
        _ => u16::from_le_bytes(*unit),
    });
    let mut characters = char::decode_utf16(units).peekable();
    while let Some(character) = characters.next() {
        let is_text = character.map_or_else(|_| characters.peek().is_none(), is_text_character);
        if !is_text {
            return false;
        }
    }
    true
}

/// Whether bytes start with the mark of UTF-32, and continue with its characters.
fn is_utf_32(head: &[u8]) -> bool {
    let of_units = |mark: &[u8], number: fn([u8; 4]) -> u32| {
        let text = head.strip_prefix(mark)?;
        let mut units = text.as_chunks::<4>().0.iter().map(|unit| char::from_u32(number(*unit)));
        Some(units.all(|character| character.is_some_and(is_text_character)))
    };
    of_units(UTF_32LE_MARK, u32::from_le_bytes)
        .or_else(|| of_units(UTF_32BE_MARK, u32::from_be_bytes))
        .unwrap_or(false)
}

/// Whether a character occurs in text files. Of the control characters, those for layout and color, the old end of
/// files, and the next line do.
fn is_text_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{1a}' | '\u{1b}' | '\u{85}')
        || !character.is_control() && !matches!(character, '\u{fffe}' | '\u{ffff}')
}
