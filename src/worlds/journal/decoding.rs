//! Decodes bytes as their receiver may decode them: percent-encoding and JSON escapes, also nested. Each match in the decoded
//! bytes has a position in the sent bytes.

use std::{borrow::Cow, ops::Range};

/// How often bytes are decoded that are still encoded.
const MAX_DECODINGS: usize = 4;

/// Bytes that were decoded a number of times.
#[derive(Debug)]
struct Layer<'a> {
    bytes: Cow<'a, [u8]>,
    /// Maps positions in the decoded bytes to positions in the sent bytes: after each of these pairs, both advance equally.
    starts: Vec<(usize, usize)>,
}

/// Returns the matches of `find` in the sent bytes and in the bytes decoded once, twice, and so on. The matches are ranges of
/// the sent bytes, in order, and joined if they overlap.
pub fn find_in_decoded(sent: &[u8], find: impl Fn(&[u8]) -> Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut layer = Layer { bytes: Cow::Borrowed(sent), starts: vec![(0, 0)] };
    let mut found = find(sent);
    for _ in 0..MAX_DECODINGS {
        let Some(next) = layer.decode() else { break };
        found.extend(find(&next.bytes).into_iter().map(|place| next.source(&place)));
        layer = next;
    }
    joined(found)
}

/// Whether bytes are the beginning of an escape, or nothing.
pub fn is_begun_escape(bytes: &[u8]) -> bool {
    match bytes {
        [] | [b'%' | b'\\'] => true,
        [b'%', digit] => digit.is_ascii_hexdigit(),
        [b'\\', b'u', digits @ ..] => digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}

impl Layer<'_> {
    /// Returns the place of decoded bytes in what was sent.
    fn source(&self, place: &Range<usize>) -> Range<usize> {
        let source = |at: usize| {
            let next = self.starts.partition_point(|(here, _)| *here <= at);
            let (here, there) = self.starts[next - 1];
            there + (at - here)
        };
        source(place.start)..source(place.end)
    }

    /// Decodes once. Returns none if nothing is encoded.
    fn decode(&self) -> Option<Layer<'static>> {
        let is_escape = |byte: &u8| matches!(byte, b'%' | b'\\');
        let mut next = Layer { bytes: Cow::Owned(Vec::new()), starts: Vec::new() };
        let (mut copied, mut at) = (0, 0);
        while let Some(plain) = self.bytes[at..].iter().position(is_escape) {
            at += plain;
            let Some((decoded, length)) = decode_one(&self.bytes[at..]) else {
                at += 1;
                continue;
            };
            next.append(self, copied..at);
            next.starts.push((next.bytes.len(), self.source(&(at..at)).start));
            match decoded {
                Decoded::Byte(byte) => next.bytes.to_mut().push(byte),
                Decoded::Char(text) => {
                    next.bytes.to_mut().extend_from_slice(text.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            at += length;
            copied = at;
        }
        if copied == 0 {
            return None;
        }
        next.append(self, copied..self.bytes.len());
        Some(next)
    }

    /// Appends bytes of another layer as they are.
    fn append(&mut self, from: &Layer, range: Range<usize>) {
        let start = self.bytes.len();
        self.starts.push((start, from.source(&(range.start..range.start)).start));
        let [first, last] =
            [range.start, range.end].map(|place| from.starts.partition_point(|(here, _)| *here <= place));
        let between = from.starts[first..last].iter();
        self.starts.extend(between.map(|(here, there)| (here - range.start + start, *there)));
        self.bytes.to_mut().extend_from_slice(&from.bytes[range]);
    }
}

enum Decoded {
    Byte(u8),
    Char(char),
}

/// Decodes an escape at the start of `bytes`. Returns the decoded byte or character, and the length of the escape.
fn decode_one(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let hex = |digits: &[u8]| {
        let text =
            std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        text.and_then(|text| u32::from_str_radix(text, 16).ok())
    };
    match bytes {
        [b'%', rest @ ..] => {
            let byte = u8::try_from(hex(rest.get(..2)?)?).ok()?;
            Some((Decoded::Byte(byte), 3))
        }
        // No half of a character is part of a secret.
        [b'\\', b'u', rest @ ..] => {
            let code = hex(rest.get(..4)?)?;
            Some((Decoded::Char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)), 6))
        }
        [b'\\', plain @ (b'"' | b'\\' | b'/'), ..] => Some((Decoded::Byte(*plain), 2)),
        [b'\\', b'b' | b'f' | b'n' | b'r' | b't', ..] => Some((Decoded::Byte(b' '), 2)),
        _ => None,
    }
}

/// Returns places in their order, and those that overlap as one.
fn joined(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_unstable_by_key(|place| place.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(places.len());
    for place in places {
        match joined.last_mut() {
            Some(last) if place.start < last.end => last.end = last.end.max(place.end),
            _ => joined.push(place),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns where a text is found.
    fn find(sent: &str, text: &str) -> Vec<Range<usize>> {
        find_in_decoded(sent.as_bytes(), |bytes| {
            let found = bytes.windows(text.len()).position(|window| window == text.as_bytes());
            found.map(|at| at..at + text.len()).into_iter().collect()
        })
    }

    #[test]
    fn text_is_found_however_it_is_encoded() {
        for (sent, expected) in [
            ("a mkt_ b", "mkt_"),
            ("a %6dkt%5F b", "%6dkt%5F"),
            ("100% %zz %256dkt_ b", "%256dkt_"),
            (r"\n\u006dkt\u005f b", r"\u006dkt\u005f"),
            (r#"{\"a\":\"\\u006dkt_\"}"#, r"\\u006dkt_"),
            (r"x%20\u00256dkt_%20", r"\u00256dkt_"),
            ("%5Cu006dkt_", "%5Cu006dkt_"),
            (r"\u12 \x ä%C3%A4 mkt%5f!", "mkt%5f"),
            ("%25252525256dkt_", ""),
        ] {
            let found: Vec<&str> = find(sent, "mkt_").into_iter().map(|place| &sent[place]).collect();
            let expected: Vec<&str> = Some(expected).filter(|text| !text.is_empty()).into_iter().collect();
            assert_eq!(found, expected, "{sent}");
        }
    }

    #[test]
    fn places_after_what_was_decoded_are_right() {
        for sent in ["%2525 %41 z", r"\u0041\\ %41 z", "%41%42 %25%32%35 z", "z"] {
            let place = find(sent, "z");
            assert_eq!(place.first(), Some(&(sent.len() - 1..sent.len())), "{sent}");
            assert_eq!(place.len(), 1, "{sent}");
        }
    }

    #[test]
    fn places_that_overlap_are_joined() {
        assert_eq!(joined(vec![5..9, 0..2, 1..3, 3..4]), [0..3, 3..4, 5..9]);
    }

    #[test]
    fn begun_escapes_are_recognized() {
        for (bytes, expected) in
            [("", true), ("%4", true), (r"\u00", true), (r"\u0041", false), ("x", false), ("%4x", false)]
        {
            assert_eq!(is_begun_escape(bytes.as_bytes()), expected, "{bytes}");
        }
    }
}
