//! Decoding of whole texts, and of parts in which invalid characters do not matter.

use std::borrow::Cow;

use encoding_rs::{CoderResult, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::detection::{Encoding, UTF_16BE_MARK, UTF_16LE_MARK, without_byte_order_mark};

/// Converts text that comes in parts to UTF-8, without its byte order mark. Invalid UTF-16 becomes U+FFFD; other text is passed
/// on unchanged, and may be invalid.
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

    /// Decodes the next part. Returns `bytes` itself if nothing changes, or else the contents of `buffer`. The first part
    /// contains the complete mark. Each byte becomes at most three.
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
        Encoding::Utf8 => std::str::from_utf8(without_byte_order_mark(bytes)).ok().map(Cow::Borrowed),
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

/// Returns a text in an encoding that is named, as headers name it. `None` if the name is unknown or that of UTF-8, or if the text
/// is invalid.
pub fn decode_named<'t>(bytes: &'t [u8], name: &[u8]) -> Option<Cow<'t, str>> {
    // Git knows one name more than the standard for the web.
    let latin = || name.eq_ignore_ascii_case(b"latin-1").then_some(WINDOWS_1252);
    let encoding =
        encoding_rs::Encoding::for_label(name).or_else(latin).filter(|encoding| *encoding != UTF_8)?;
    encoding.decode_without_bom_handling_and_without_replacement(bytes)
}
