//! How bodies of answers are kept in a file and compared: before compression, and with their secrets masked.

use std::borrow::Cow;

use crate::{
    http_server::coding,
    worlds::journal::{Header, INLINE_BYTES, find_header, secrets},
};

/// Maximum size in bytes of an answer that is kept. For a longer one, only the length and the hash are compared.
pub const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Maximum size in bytes of an answer before compression.
const MAX_DECODED_BYTES: usize = 16 << 20;

/// Returns a body before compression; none if it has another coding.
pub fn decoded<'a>(headers: &[Header], body: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    coding::decode(find_header(headers, "content-encoding"), body, MAX_DECODED_BYTES)
}

/// Returns a body before compression, with its secrets masked.
pub fn comparable(headers: &[Header], body: &[u8], is_cut: bool) -> Vec<u8> {
    let decoded = decoded(headers, body).unwrap_or(Cow::Borrowed(body));
    secrets::mask(&decoded, is_cut)
}

/// Returns the secrets in the first 64 KB of an answer, in their order.
pub fn secrets_of(headers: &[Header], body: &[u8]) -> Vec<Vec<u8>> {
    let Some(decoded) = decoded(headers, body) else { return Vec::new() };
    let beginning = &decoded[..decoded.len().min(INLINE_BYTES)];
    secrets::find(beginning, false).into_iter().map(|place| beginning[place].to_vec()).collect()
}
