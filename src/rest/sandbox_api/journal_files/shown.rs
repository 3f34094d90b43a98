//! The form in which an entry is shown: with its secrets masked, and bodies before compression.

use crate::{
    http_server::coding,
    worlds::journal::{Header, INLINE_BYTES, JournalEntry, RecordedBody, find_header, secrets},
};

/// A body as it is shown.
#[derive(Clone, Debug)]
pub struct ShownBody {
    /// The body, or its beginning.
    pub bytes: Vec<u8>,
    /// Number of bytes that were transferred.
    pub length: u64,
    /// Whether it was transferred to its end.
    pub is_complete: bool,
    /// Whether `bytes` is only the beginning of what was transferred.
    pub is_cut: bool,
}

/// An entry as it is shown.
#[derive(Clone, Debug)]
pub struct ShownEntry<'a> {
    /// The entry.
    pub entry: &'a JournalEntry,
    /// Path of the request.
    pub path: String,
    /// Query of the request.
    pub query: Option<String>,
    /// Body of the request.
    pub request_body: ShownBody,
    /// Body of the answer.
    pub response_body: ShownBody,
}

impl<'a> ShownEntry<'a> {
    /// Returns what is shown of an entry. May read files.
    pub fn new(entry: &'a JournalEntry) -> ShownEntry<'a> {
        let response_headers = entry.answer().map_or(&[][..], |answer| &answer.headers);
        ShownEntry {
            entry,
            path: secrets::mask_path(&entry.request.path),
            query: entry.request.query.as_deref().map(secrets::mask_text),
            request_body: ShownBody::new(&entry.request_body, &entry.request.headers),
            response_body: ShownBody::new(&entry.response_body, response_headers),
        }
    }

    /// Returns the path with the query.
    pub fn path_and_query(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }
}

impl ShownBody {
    fn new(body: &RecordedBody, headers: &[Header]) -> ShownBody {
        let snapshot = body.snapshot();
        let encoding = find_header(headers, "content-encoding");
        let is_beginning = snapshot.length > snapshot.beginning.len() as u64;
        // One byte more, to see whether there are more.
        let decoded = coding::decode(encoding, &snapshot.beginning, INLINE_BYTES + 1);
        let mut bytes = decoded.map_or_else(|| snapshot.beginning.clone(), std::borrow::Cow::into_owned);
        let is_cut = is_beginning || bytes.len() > INLINE_BYTES;
        bytes.truncate(INLINE_BYTES);
        ShownBody {
            bytes: secrets::mask(&bytes, is_cut),
            length: snapshot.length,
            is_complete: snapshot.is_complete,
            is_cut,
        }
    }

    /// Returns the body as text. Of a beginning, a character that was cut is left out. Returns none for other bytes.
    pub fn text(&self) -> Option<&str> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Some(text),
            Err(error) if self.is_cut && error.error_len().is_none() => {
                std::str::from_utf8(&self.bytes[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        }
    }
}
