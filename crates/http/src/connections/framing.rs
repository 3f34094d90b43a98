//! Finds the request heads in the bytes of a connection, and rejects lines of a head that end with a bare line
//! feed, which the HTTP parser accepts.
//!
//! In the lines after the last chunk of a body, the parser takes a bare line feed for a part of the line, but
//! others take it for a line end. They are rejected, too.
//!
//! Other software may take such a line for the end of the head or for part of a value, and then see other
//! requests than this server (RFC 9112, 11.2). Each byte is inspected once, and none is kept.

use memchr::memchr;

/// Number of bytes of a line that are compared with header names. It suffices for the two names and a length.
const LINE_PREFIX: usize = 64;

/// Maximum number of empty lines before a request line. Some clients send one after a body.
const MAX_LEADING_EMPTY_LINES: u8 = 4;

/// Why the bytes of a connection are not HTTP/1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A line of a head, or after the last chunk of a body, ends with a line feed without a carriage return.
    BareLineFeed,
    /// There are too many empty lines before a request line.
    EmptyLines,
}

/// The position in the requests of a connection.
#[derive(Debug, Default)]
pub struct Framing {
    position: Position,
    head: Head,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    #[default]
    Head,
    /// A body, or a chunk with its line end, of which this many bytes remain.
    Bytes { remaining: u64, is_chunk: bool },
    /// The line with the size of a chunk. The size ends before the first character that is not a digit.
    ChunkSize { size: u64, is_complete: bool },
    /// A line after the last chunk, with its length and its last byte until now. An empty one ends the body.
    Trailer { length: u64, last_byte: u8 },
    /// The length of the body is not in a form that clients use, so where it ends is unknown.
    Unknown,
}

/// The beginning of a line after the last chunk.
const TRAILER_START: Position = Position::Trailer { length: 0, last_byte: 0 };

impl Framing {
    /// Advances over received bytes. Fails at the byte with this offset if the bytes are malformed there.
    pub fn advance(&mut self, bytes: &[u8]) -> Result<(), (usize, Malformed)> {
        let mut offset = 0;
        while offset < bytes.len() {
            let rest = &bytes[offset..];
            offset += match self.position {
                Position::Head => self.advance_head(rest).map_err(|(at, cause)| (offset + at, cause))?,
                Position::Bytes { remaining, is_chunk } => {
                    let count = remaining.min(rest.len() as u64);
                    self.position = match (remaining - count, is_chunk) {
                        (0, true) => Position::ChunkSize { size: 0, is_complete: false },
                        (0, false) => Position::Head,
                        (remaining, _) => Position::Bytes { remaining, is_chunk },
                    };
                    count as usize
                }
                Position::ChunkSize { size, is_complete } => {
                    self.position = after_size_byte(rest[0], size, is_complete);
                    1
                }
                Position::Trailer { length, last_byte } => {
                    self.position = match (rest[0], last_byte) {
                        (b'\n', b'\r') if length == 1 => Position::Head,
                        (b'\n', b'\r') => TRAILER_START,
                        (b'\n', _) => return Err((offset, Malformed::BareLineFeed)),
                        (last_byte, _) => Position::Trailer { length: length + 1, last_byte },
                    };
                    1
                }
                Position::Unknown => rest.len(),
            };
        }
        Ok(())
    }

    /// Whether a head has begun and is not complete.
    pub fn is_in_head(&self) -> bool {
        self.position == Position::Head && (self.head.has_request_line || self.head.line_length > 0)
    }

    /// Whether the end of a body could not be found, so that heads after it are not checked.
    pub fn is_unknown(&self) -> bool {
        self.position == Position::Unknown
    }

    /// Advances over the rest of a line. Returns the number of bytes.
    fn advance_head(&mut self, bytes: &[u8]) -> Result<usize, (usize, Malformed)> {
        let Some(end) = memchr(b'\n', bytes) else {
            self.head.extend_line(bytes);
            return Ok(bytes.len());
        };
        self.head.extend_line(&bytes[..end]);
        if self.head.last_byte != b'\r' {
            return Err((end, Malformed::BareLineFeed));
        }
        if let Some(position) = self.head.end_line().map_err(|cause| (end, cause))? {
            self.position = position;
            self.head = Head::default();
        }
        Ok(end + 1)
    }
}

/// Returns the position after a byte of the line with the size of a chunk.
fn after_size_byte(byte: u8, size: u64, is_complete: bool) -> Position {
    match (byte, (byte as char).to_digit(16)) {
        (b'\n', _) if size == 0 => TRAILER_START,
        // With the line end after the data.
        (b'\n', _) => match size.checked_add(2) {
            Some(remaining) => Position::Bytes { remaining, is_chunk: true },
            None => Position::Unknown,
        },
        (_, Some(digit)) if !is_complete => match size.checked_mul(16) {
            Some(size) => Position::ChunkSize { size: size | u64::from(digit), is_complete },
            None => Position::Unknown,
        },
        _ => Position::ChunkSize { size, is_complete: true },
    }
}

/// State of the parser for an incomplete head.
#[derive(Debug)]
struct Head {
    /// The beginning of the current line.
    line: [u8; LINE_PREFIX],
    line_length: usize,
    last_byte: u8,
    has_request_line: bool,
    empty_lines: u8,
    length: Option<u64>,
    is_chunked: bool,
    /// Whether the length is not in a form that clients use.
    is_unusual: bool,
}

impl Default for Head {
    fn default() -> Head {
        Head {
            line: [0; LINE_PREFIX],
            line_length: 0,
            last_byte: 0,
            has_request_line: false,
            empty_lines: 0,
            length: None,
            is_chunked: false,
            is_unusual: false,
        }
    }
}

impl Head {
    fn extend_line(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        let free = &mut self.line[self.line_length.min(LINE_PREFIX)..];
        let count = free.len().min(bytes.len());
        free[..count].copy_from_slice(&bytes[..count]);
        self.line_length += bytes.len();
        self.last_byte = *last;
    }

    /// Ends the current line, which has a carriage return. Returns the position after the head if it is complete.
    fn end_line(&mut self) -> Result<Option<Position>, Malformed> {
        let length = self.line_length - 1;
        (self.line_length, self.last_byte) = (0, 0);
        if length > 0 {
            if self.has_request_line {
                self.add_header(length);
            }
            self.has_request_line = true;
            return Ok(None);
        }
        if !self.has_request_line {
            self.empty_lines += 1;
            return if self.empty_lines > MAX_LEADING_EMPTY_LINES {
                Err(Malformed::EmptyLines)
            } else {
                Ok(None)
            };
        }
        Ok(Some(match self.length {
            _ if self.is_chunked => Position::ChunkSize { size: 0, is_complete: false },
            _ if self.is_unusual => Position::Unknown,
            None | Some(0) => Position::Head,
            Some(remaining) => Position::Bytes { remaining, is_chunk: false },
        }))
    }

    /// Takes the length of the body from the current line, if that has it.
    fn add_header(&mut self, length: usize) {
        let line = &self.line[..length.min(LINE_PREFIX)];
        if header_value(line, b"transfer-encoding").is_some() {
            // Any encoding that does not end with `chunked` is rejected by the parser.
            self.is_chunked = true;
        } else if let Some(value) = header_value(line, b"content-length") {
            let value = (length <= LINE_PREFIX).then(|| value.trim_ascii());
            let value = value.filter(|value| value.iter().all(u8::is_ascii_digit));
            let value = value.and_then(|value| std::str::from_utf8(value).ok()?.parse::<u64>().ok());
            self.is_unusual |= value.is_none() || self.length.is_some_and(|length| Some(length) != value);
            self.length = value;
        }
    }
}

/// Returns the value of a header line with this name in lower case.
fn header_value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then(|| rest.strip_prefix(b":")).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Advances over these bytes in pieces that end at the given offsets.
    fn advance(bytes: &[u8], ends: &[usize]) -> Result<Framing, (usize, Malformed)> {
        let mut framing = Framing::default();
        let mut start = 0;
        for end in ends.iter().map(|end| *end.min(&bytes.len())).chain([bytes.len()]) {
            if end > start {
                framing.advance(&bytes[start..end]).map_err(|(at, cause)| (start + at, cause))?;
                start = end;
            }
        }
        Ok(framing)
    }

    const REQUESTS: [&str; 7] = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET /x HTTP/1.1\r\nHost: a\r\nx-content-length: 900\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n\n\n\r\n\n",
        "POST / HTTP/1.1\r\ncontent-length:\t 4 \r\nCONTENT-LENGTH: 4\r\n\r\na\nb\n",
        "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\n\n\n\r\nA;x=\"y\"\r\n0123456\n\n\n\r\n0\r\n\r\n",
        "PUT / HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\ncontent-length: 9\r\n\r\n1\r\na\r\n00\r\nx: y\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    ];

    proptest! {
        #[test]
        fn heads_are_found_however_requests_are_split_and_pipelined(
            requests in prop::collection::vec(prop::sample::select(&REQUESTS[..]), 1..6),
            mut ends in prop::collection::vec(0..400_usize, 0..8),
            damage in 0..10_usize,
        ) {
            ends.sort_unstable();
            let bytes = requests.concat().into_bytes();
            let framing = advance(&bytes, &ends).unwrap();
            prop_assert!(framing.position == Position::Head && !framing.is_in_head());
            // A further head with a bare line feed is rejected at that line feed.
            let damaged = &b"GET / HTTP/1.1\r\nHost: a\r\nx: y\r\n\r\n"[..];
            let mut lines: Vec<u8> = damaged.to_vec();
            let carriage_returns: Vec<usize> = (0..lines.len()).filter(|at| lines[*at] == b'\r').collect();
            let removed = carriage_returns[damage % carriage_returns.len()];
            lines.remove(removed);
            let all = [bytes.as_slice(), &lines].concat();
            let (at, cause) = advance(&all, &ends).unwrap_err();
            prop_assert_eq!((at, cause), (bytes.len() + removed, Malformed::BareLineFeed));
        }
    }

    #[test]
    fn incomplete_head_is_noticed() {
        for (bytes, expected) in [("", false), ("\r\n", false), ("G", true), ("GET / HTTP/1.1\r\n", true)] {
            assert_eq!(advance(bytes.as_bytes(), &[]).unwrap().is_in_head(), expected, "{bytes:?}");
        }
        assert!(!advance(b"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nab", &[]).unwrap().is_in_head());
    }

    #[test]
    fn lengths_that_clients_do_not_send_are_unknown() {
        for header in [
            "content-length: +5".to_owned(),
            "content-length: 5, 5".to_owned(),
            "content-length: 5\r\ncontent-length: 6".to_owned(),
            "content-length:".to_owned(),
            format!("content-length: {}5", " ".repeat(LINE_PREFIX)),
            "transfer-encoding: chunked\r\n\r\n1ffffffffffffffff".to_owned(),
        ] {
            let request = format!("POST / HTTP/1.1\r\n{header}\r\n\r\n");
            assert!(advance(request.as_bytes(), &[]).unwrap().is_unknown(), "{header:?}");
        }
    }

    #[test]
    fn empty_lines_before_a_request_are_limited() {
        let lines = "\r\n".repeat(5);
        assert_eq!(advance(lines.as_bytes(), &[3]).unwrap_err(), (9, Malformed::EmptyLines));
        assert_eq!(advance(b"\n", &[]).unwrap_err(), (0, Malformed::BareLineFeed));
    }
}
