//! Decoding of text that must be valid.

use std::fmt;

use encoding_rs::DecoderResult;

use super::detection::{Encoding, HEAD_BYTES};

/// Number of bytes that are decoded at once.
const BUFFER_BYTES: usize = 16_384;

/// Why bytes are not text, as a phrase that follows the name of a file, with what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidText {
    /// The text is in neither UTF-8 nor UTF-16.
    Encoding,
    /// The text has a zero character, so it is binary or damaged.
    Zero,
    /// The text ends in the middle of a character.
    CutOff,
}

impl InvalidText {
    /// Returns the phrase with the line of the problem.
    pub fn in_line(self, line: u64) -> String {
        let (problem, advice) = self.problem_and_advice();
        format!("{problem} (line {line}). {advice}")
    }

    const fn problem_and_advice(self) -> (&'static str, &'static str) {
        match self {
            InvalidText::Encoding => ("is not UTF-8", "Save it as UTF-8"),
            InvalidText::Zero => {
                ("has bytes of zero, so it is damaged or not text", "Include the original file")
            }
            InvalidText::CutOff => ("ends in the middle of a character", "Include the whole file"),
        }
    }
}

impl fmt::Display for InvalidText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (problem, advice) = self.problem_and_advice();
        write!(f, "{problem}. {advice}")
    }
}

/// Decodes text that comes in chunks of any length. At most the first [`HEAD_BYTES`] bytes are kept, until they decide
/// the encoding.
#[derive(Default)]
pub struct StrictDecoder {
    head: Vec<u8>,
    encoding: Option<Encoding>,
    utf_16: Option<encoding_rs::Decoder>,
    buffer: Vec<u8>,
    /// Beginning of a character of UTF-8 that the last chunk cut off.
    partial: Vec<u8>,
    error: Option<InvalidText>,
}

impl StrictDecoder {
    /// Decodes the next chunk, and calls `read` with whole characters of its text, in UTF-8 and without
    /// a byte order mark. After an error, nothing more is read.
    pub fn push(&mut self, bytes: &[u8], mut read: impl FnMut(&[u8])) -> Result<(), InvalidText> {
        self.decode(bytes, false, &mut read)
    }

    /// Decodes what is left after the last chunk.
    pub fn finish(&mut self, mut read: impl FnMut(&[u8])) -> Result<(), InvalidText> {
        self.decode(&[], true, &mut read)
    }

    fn decode(
        &mut self,
        bytes: &[u8],
        is_last: bool,
        read: &mut dyn FnMut(&[u8]),
    ) -> Result<(), InvalidText> {
        if self.encoding.is_none() {
            // A large first chunk is not copied.
            if self.head.is_empty() && bytes.len() >= HEAD_BYTES {
                return self.start(bytes, is_last, read);
            }
            self.head.extend_from_slice(bytes);
            if self.head.len() < HEAD_BYTES && !is_last {
                return Ok(());
            }
            let head = std::mem::take(&mut self.head);
            return self.start(&head, is_last, read);
        }
        self.decode_known(bytes, is_last, read)
    }

    fn start(&mut self, bytes: &[u8], is_last: bool, read: &mut dyn FnMut(&[u8])) -> Result<(), InvalidText> {
        let encoding = Encoding::of_text(bytes);
        self.encoding = Some(encoding);
        self.utf_16 = encoding.utf_16_decoder();
        if encoding == Encoding::Utf32 {
            self.error = Some(InvalidText::Encoding);
        }
        self.decode_known(bytes.strip_prefix(encoding.mark()).unwrap_or(bytes), is_last, read)
    }

    fn decode_known(
        &mut self,
        bytes: &[u8],
        is_last: bool,
        read: &mut dyn FnMut(&[u8]),
    ) -> Result<(), InvalidText> {
        let decoded = match self.error {
            Some(error) => Err(error),
            None if self.utf_16.is_some() => self.decode_utf_16(bytes, is_last, read),
            None => self.check_utf_8(bytes, is_last, read),
        };
        self.error = decoded.err();
        decoded
    }

    fn decode_utf_16(
        &mut self,
        mut bytes: &[u8],
        is_last: bool,
        read: &mut dyn FnMut(&[u8]),
    ) -> Result<(), InvalidText> {
        let Some(decoder) = &mut self.utf_16 else { return Ok(()) };
        self.buffer.resize(BUFFER_BYTES, 0);
        loop {
            let (result, count, written) =
                decoder.decode_to_utf8_without_replacement(bytes, &mut self.buffer, is_last);
            bytes = &bytes[count..];
            read_without_zero(&self.buffer[..written], read)?;
            match result {
                DecoderResult::OutputFull => {}
                DecoderResult::InputEmpty => return Ok(()),
                DecoderResult::Malformed(_, 0) if is_last && bytes.is_empty() => {
                    return Err(InvalidText::CutOff);
                }
                DecoderResult::Malformed(..) => return Err(InvalidText::Encoding),
            }
        }
    }

    fn check_utf_8(
        &mut self,
        mut bytes: &[u8],
        is_last: bool,
        read: &mut dyn FnMut(&[u8]),
    ) -> Result<(), InvalidText> {
        while !self.partial.is_empty()
            && let Some((next, rest)) = bytes.split_first()
        {
            self.partial.push(*next);
            bytes = rest;
            match std::str::from_utf8(&self.partial) {
                Ok(character) => {
                    read(character.as_bytes());
                    self.partial.clear();
                }
                Err(error) if error.error_len().is_some() => return Err(InvalidText::Encoding),
                Err(_) => {}
            }
        }
        let checked = std::str::from_utf8(bytes);
        let (text, rest) = bytes.split_at(checked.map_or_else(|error| error.valid_up_to(), str::len));
        read_without_zero(text, read)?;
        if checked.is_err_and(|error| error.error_len().is_some()) {
            return Err(InvalidText::Encoding);
        }
        self.partial.extend_from_slice(rest);
        if is_last && !self.partial.is_empty() { Err(InvalidText::CutOff) } else { Ok(()) }
    }
}

/// Calls `read` with a text up to the first zero. Fails if there is one.
fn read_without_zero(text: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<(), InvalidText> {
    let zero = memchr::memchr(0, text);
    read(&text[..zero.unwrap_or(text.len())]);
    if zero.is_some() { Err(InvalidText::Zero) } else { Ok(()) }
}
