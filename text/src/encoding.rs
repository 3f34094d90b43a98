//! The encoding of text from strangers: decides it from the beginning of the text, and converts the text to UTF-8, at once or
//! in parts of bounded size. Parsing the text, and messages about unreadable text, are up to the reader.

mod decoder;
mod detection;
mod reader;
mod strict;

pub use self::{
    decoder::{Decoder, decode, decode_for_display, decode_named},
    detection::{Encoding, HEAD_BYTES, without_byte_order_mark},
    reader::TextReader,
    strict::{InvalidText, StrictDecoder},
};

#[cfg(test)]
mod tests;
