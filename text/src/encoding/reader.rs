//! Reading of text from a stream.

use std::io::{self, BufRead, Read};

use super::{
    decoder::Decoder,
    detection::{Encoding, HEAD_BYTES},
};

/// Number of bytes that are read and decoded at once.
const BUFFER_BYTES: usize = 65_536;

/// Reads a text in UTF-8, without its byte order mark, from a source in UTF-8 or UTF-16. Text in another encoding is passed on
/// unchanged.
pub struct TextReader<R> {
    source: R,
    /// The decoder, once the beginning was read.
    decoder: Option<Decoder>,
    raw: Vec<u8>,
    /// Text from `next` to its end was not read yet.
    text: Vec<u8>,
    next: usize,
    is_at_end: bool,
    buffer: Vec<u8>,
}

impl<R: Read> TextReader<R> {
    /// Creates a reader of a source from its beginning.
    pub const fn new(source: R) -> TextReader<R> {
        TextReader {
            source,
            decoder: None,
            raw: Vec::new(),
            text: Vec::new(),
            next: 0,
            is_at_end: false,
            buffer: Vec::new(),
        }
    }

    /// Returns the source, of which more was read than of the text.
    pub const fn source(&self) -> &R {
        &self.source
    }

    /// Skips a number of bytes of the text.
    pub fn skip(&mut self, bytes: u64) -> io::Result<()> {
        io::copy(&mut self.take(bytes), &mut io::sink()).map(|_| ())
    }

    /// Reads and decodes the next part, which may have no text.
    fn read_part(&mut self) -> io::Result<()> {
        self.raw.resize(BUFFER_BYTES, 0);
        // The first part decides the encoding, and has the whole mark.
        let wanted = if self.decoder.is_none() { HEAD_BYTES } else { 1 };
        let mut filled = 0;
        while filled < wanted && !self.is_at_end {
            match self.source.read(&mut self.raw[filled..]) {
                Ok(count) => {
                    self.is_at_end = count == 0;
                    filled += count;
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
        let raw = &self.raw[..filled];
        let decoder = self.decoder.get_or_insert_with(|| Decoder::new(Encoding::of_text(raw)));
        let text = decoder.decode(raw, self.is_at_end, &mut self.buffer);
        self.text.clear();
        self.text.extend_from_slice(text);
        self.next = 0;
        Ok(())
    }
}

impl<R: Read> Read for TextReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(target.len());
        target[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for TextReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.next == self.text.len() && !self.is_at_end {
            self.read_part()?;
        }
        Ok(&self.text[self.next..])
    }

    fn consume(&mut self, count: usize) {
        self.next = (self.next + count).min(self.text.len());
    }
}
