//! Text that is looked through in pieces, so that what lies across two of them is met, once, with its line.

/// Bytes that a match may span beyond the piece that it begins in.
pub const OVERLAP: usize = 4_096;

/// Bytes before a match that may say whether it is one.
const CONTEXT: usize = 64;

/// The text between what was looked through and what is to come.
#[derive(Debug, Default)]
pub struct Window {
    bytes: Vec<u8>,
    /// Where matches may begin, before which there is only context.
    from: usize,
    /// Lines that ended before `from`.
    lines: u64,
}

/// What can be looked through now.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The text, with some context before and behind.
    pub bytes: &'a [u8],
    from: usize,
    until: usize,
    lines: u64,
}

impl View<'_> {
    /// Whether a match that begins here counts now, rather than with the view before or behind.
    pub fn counts(&self, at: usize) -> bool {
        (self.from..self.until).contains(&at)
    }

    /// The line that a place is in, from 1.
    pub fn line(&self, at: usize) -> u64 {
        self.lines + newlines(&self.bytes[self.from..at.max(self.from)]) + 1
    }
}

impl Window {
    /// Takes the next bytes, and shows what can be looked through with them. `is_last` says that nothing follows.
    pub fn push(&mut self, bytes: &[u8], is_last: bool, look: impl FnOnce(View<'_>)) {
        self.bytes.extend_from_slice(bytes);
        let until = self.bytes.len().saturating_sub(if is_last { 0 } else { OVERLAP }).max(self.from);
        if until > self.from {
            look(View { bytes: &self.bytes, from: self.from, until, lines: self.lines });
        }
        self.lines += newlines(&self.bytes[self.from..until]);
        let keep = until.saturating_sub(CONTEXT);
        self.bytes.drain(..keep);
        self.from = until - keep;
    }

    /// Begins anew, for another file.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.from, self.lines) = (0, 0);
    }
}

/// Ends of lines in a text.
pub fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a word begins, with its lines, met through pieces of these lengths.
    fn met(text: &[u8], word: &[u8], lengths: &[usize]) -> Vec<u64> {
        let (mut window, mut lines, mut rest, mut at) = (Window::default(), Vec::new(), text, 0);
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(lengths[at % lengths.len()].clamp(1, rest.len()));
            (rest, at) = (behind, at + 1);
            window.push(piece, rest.is_empty(), |view| {
                for place in 0..view.bytes.len() {
                    if view.bytes[place..].starts_with(word) && view.counts(place) {
                        lines.push(view.line(place));
                    }
                }
            });
        }
        lines
    }

    proptest::proptest! {
        /// However the text is cut, each word is met once and in its line.
        #[test]
        fn words_are_met_once_however_they_are_cut(
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
            proptest::prop_assert_eq!(met(&text, b"secret", &lengths), lines);
        }
    }
}
