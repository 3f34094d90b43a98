//! The encoding of text from strangers: decides it from the beginning of the text, and converts the text to UTF-8,
//! at once or in parts of bounded size. What is read from the text, and what a reader says of text that it cannot
//! read, is up to the reader.

mod reader;
mod strict;

use std::borrow::Cow;

use encoding_rs::{CoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};

pub use self::{
    reader::TextReader,
    strict::{InvalidText, StrictDecoder},
};

/// Number of bytes at the beginning that decide the encoding.
pub const HEAD_BYTES: usize = 8_192;

/// Without a byte order mark, at least one in this many characters of UTF-16 has a zero byte: those of ASCII and
/// Latin-1, such as spaces, digits, and line ends.
const CHARACTERS_PER_ZERO: usize = 32;

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF_16LE_MARK: &[u8] = b"\xff\xfe";
const UTF_16BE_MARK: &[u8] = b"\xfe\xff";
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
        let by_zeros = || utf_16_by_zeros(head).filter(|encoding| is_utf_16(head, *encoding));
        utf_16_by_mark(head).or_else(by_zeros).unwrap_or(Encoding::Utf8)
    }

    /// Returns the byte order mark that a text in this encoding may start with.
    const fn mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf8 => UTF_8_MARK,
            Encoding::Utf16Le => UTF_16LE_MARK,
            Encoding::Utf16Be => UTF_16BE_MARK,
            Encoding::Utf32 => &[],
        }
    }

    fn utf_16_decoder(self) -> Option<encoding_rs::Decoder> {
        match self {
            Encoding::Utf16Le => Some(UTF_16LE.new_decoder_without_bom_handling()),
            Encoding::Utf16Be => Some(UTF_16BE.new_decoder_without_bom_handling()),
            Encoding::Utf8 | Encoding::Utf32 => None,
        }
    }
}

/// Converts text that comes in parts to UTF-8, without its byte order mark. Invalid UTF-16 becomes U+FFFD; what is not
/// UTF-16 stays as it is, and so may be invalid.
pub struct Decoder {
    utf_16: Option<encoding_rs::Decoder>,
    /// The mark, until the first part was decoded.
    mark: &'static [u8],
}

impl Decoder {
    /// Creates a decoder of a text.
    pub fn new(encoding: Encoding) -> Decoder {
        Decoder { utf_16: encoding.utf_16_decoder(), mark: encoding.mark() }
    }

    /// Decodes the next part: `bytes` itself if nothing changes, else what is then in `buffer`. The first part has the
    /// whole mark. Each byte becomes at most three.
    pub fn decode<'b>(&mut self, bytes: &'b [u8], is_last: bool, buffer: &'b mut Vec<u8>) -> &'b [u8] {
        let bytes = bytes.strip_prefix(std::mem::take(&mut self.mark)).unwrap_or(bytes);
        let Some(decoder) = &mut self.utf_16 else { return bytes };
        buffer.resize(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len() * 3 + 16), 0);
        let (result, _, written, _) = decoder.decode_to_utf8(bytes, buffer, is_last);
        debug_assert_eq!(result, CoderResult::InputEmpty, "the buffer is large enough");
        &buffer[..written]
    }
}

/// Returns a text in UTF-8 or UTF-16, without its byte order mark. `None` if it is in another encoding.
pub fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match Encoding::of_text(bytes) {
        Encoding::Utf8 => {
            std::str::from_utf8(bytes.strip_prefix(UTF_8_MARK).unwrap_or(bytes)).ok().map(Cow::Borrowed)
        }
        Encoding::Utf16Le => UTF_16LE.decode_without_bom_handling_and_without_replacement(
            bytes.strip_prefix(UTF_16LE_MARK).unwrap_or(bytes),
        ),
        Encoding::Utf16Be => UTF_16BE.decode_without_bom_handling_and_without_replacement(
            bytes.strip_prefix(UTF_16BE_MARK).unwrap_or(bytes),
        ),
        Encoding::Utf32 => None,
    }
}

/// Returns a text that is only displayed, without its byte order mark: in UTF-8, UTF-16, or else Windows-1252, which
/// includes Latin-1. Text that is mostly UTF-8 stays readable: Windows-1252 is assumed for its invalid bytes only.
pub fn decode_for_display(bytes: &[u8]) -> String {
    let encoding = Encoding::of_text(bytes);
    let mut buffer = Vec::new();
    let text = Decoder::new(encoding).decode(bytes, true, &mut buffer);
    let mut displayed = String::with_capacity(text.len());
    for part in text.utf8_chunks() {
        displayed.push_str(part.valid());
        displayed.push_str(&WINDOWS_1252.decode_without_bom_handling(part.invalid()).0);
    }
    displayed
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

#[cfg(test)]
mod tests;
