//! Scans text that comes in chunks, so that a match across two chunks is found exactly once, with its line
//! number.

use std::ops::Range;

/// Maximum number of bytes by which a match may extend beyond the chunk that it starts in.
pub const OVERLAP_BYTES: usize = 4_096;

/// Number of bytes before a match that stay available to judge it.
pub const CONTEXT_BYTES: usize = 64;

/// Maximum number of bytes of a chunk that are scanned at once. It bounds the cost of scanners that may look
/// at the rest of the text after each match.
const MAX_SCANNED_BYTES: usize = 65_536;

/// Minimum number of bytes that are scanned at once, unless they are the last ones of the file. Each scan
/// repeats the overlap with the previous one, so many small scans cost much more than one large scan.
const MIN_SCANNED_BYTES: usize = 16_384;

/// Buffers the text between the scanned part and the next chunk.
#[derive(Debug, Default)]
pub struct Window {
    bytes: Vec<u8>,
    /// Position from which matches may start; the bytes before it are only context.
    from: usize,
    /// Number of line breaks before `from`.
    lines: u64,
}

/// The text that can be scanned now.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The text, with some context before and after it.
    pub bytes: &'a [u8],
    from: usize,
    until: usize,
    lines: u64,
}

impl View<'_> {
    /// Whether a match that starts at `at` belongs to this view, rather than to the previous or the next one.
    pub fn owns_match_at(&self, at: usize) -> bool {
        (self.from..self.until).contains(&at)
    }

    /// Returns the line number of a position, starting at 1.
    pub fn line_number(&self, at: usize) -> u64 {
        self.lines + count_newlines(&self.bytes[self.from..at.max(self.from)]) + 1
    }

    /// Returns the text before and after a match in its line, at most [`CONTEXT_BYTES`] of each. It does not depend on the chunks.
    pub fn line_around(&self, found: &Range<usize>) -> [&[u8]; 2] {
        let before = &self.bytes[found.start.saturating_sub(CONTEXT_BYTES)..found.start];
        let after = &self.bytes[found.end..self.bytes.len().min(found.end + CONTEXT_BYTES)];
        let is_line_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        [
            before.rsplit(is_line_break).next().unwrap_or_default(),
            after.split(is_line_break).next().unwrap_or_default(),
        ]
    }
}

impl Window {
    /// Appends a chunk, and calls `scan` with the text that can be scanned now. `is_last` means that no chunk
    /// follows.
    pub fn push(&mut self, bytes: &[u8], is_last: bool, mut scan: impl FnMut(View<'_>)) {
        let mut parts = bytes.chunks(MAX_SCANNED_BYTES).peekable();
        while let Some(part) = parts.next() {
            let is_last = is_last && parts.peek().is_none();
            self.push_part(part, is_last, &mut scan);
        }
        if bytes.is_empty() && is_last {
            self.push_part(bytes, true, &mut scan);
        }
    }

    fn push_part(&mut self, bytes: &[u8], is_last: bool, scan: &mut impl FnMut(View<'_>)) {
        self.bytes.extend_from_slice(bytes);
        if !is_last && self.bytes.len() - self.from < OVERLAP_BYTES + MIN_SCANNED_BYTES {
            return;
        }
        let until = self.bytes.len().saturating_sub(if is_last { 0 } else { OVERLAP_BYTES }).max(self.from);
        if until > self.from {
            scan(View { bytes: &self.bytes, from: self.from, until, lines: self.lines });
        }
        self.lines += count_newlines(&self.bytes[self.from..until]);
        let drained = until.saturating_sub(CONTEXT_BYTES);
        self.bytes.drain(..drained);
        self.from = until - drained;
    }

    /// Resets the window for the next file.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.from, self.lines) = (0, 0);
    }
}

/// Counts the line breaks in a text.
pub fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines on which `needle` starts, scanning the text in chunks of the given lengths.
    fn lines_of_matches(text: &[u8], needle: &[u8], lengths: &[usize]) -> Vec<u64> {
        let (mut window, mut lines, mut rest, mut at) = (Window::default(), Vec::new(), text, 0);
        while !rest.is_empty() {
            let (chunk, remaining) = rest.split_at(lengths[at % lengths.len()].clamp(1, rest.len()));
            (rest, at) = (remaining, at + 1);
            window.push(chunk, rest.is_empty(), |view| {
                for position in 0..view.bytes.len() {
                    if view.bytes[position..].starts_with(needle) && view.owns_match_at(position) {
                        lines.push(view.line_number(position));
                    }
                }
            });
        }
        lines
    }

    proptest::proptest! {
        /// However the text is split into chunks, each word is found once and on its line.
        #[test]
        fn matches_are_found_once_for_any_chunking(
            gaps in proptest::collection::vec((0..6_000usize, 0..3usize), 1..6),
            lengths in proptest::collection::vec(1..9_000usize, 1..5),
        ) {
            let (mut text, mut lines, mut line) = (Vec::new(), Vec::new(), 1);
            for (gap, breaks) in gaps {
                text.extend(vec![b'.'; gap]);
                text.extend(vec![b'\n'; breaks]);
                line += breaks as u64;
                lines.push(line);
                text.extend_from_slice(b"secret");
            }
            proptest::prop_assert_eq!(lines_of_matches(&text, b"secret", &lengths), lines);
        }
    }

    #[test]
    fn scanned_bytes_are_proportional_to_the_text() {
        let text = vec![b'.'; 1 << 20];
        for length in [1, 100, 5_000, 65_536, 1 << 20] {
            let (mut window, mut scanned, mut largest) = (Window::default(), 0, 0);
            for chunk in text.chunks(length) {
                window.push(chunk, false, |view| {
                    scanned += view.bytes.len();
                    largest = largest.max(view.bytes.len());
                });
            }
            window.push(&[], true, |view| scanned += view.bytes.len());
            assert!(scanned >= text.len() && scanned < text.len() * 3 / 2, "{length} {scanned}");
            assert!(largest <= 2 * MAX_SCANNED_BYTES, "{length} {largest}");
        }
    }
}
