//! Phrases in segments of the engine: the documents in which stems are next to each other.
//!
//! The engine's own phrase query reads the positions of one document at a time, and adds up the frequencies before it
//! in the block each time. For common stems, it is several times as fast to read the positions of whole blocks.

use tantivy::directory::FileSlice;
use tantivy::positions::PositionReader;
use tantivy::postings::{BlockSegmentPostings, Postings as _, SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, InvertedIndexReader};

use crate::doc_bitmap::DocBitmap;
use crate::error::Error;
use crate::postings::{self, Postings};

/// Maximum number of positions that a byte of a positions file encodes: each block of 128 has at least a byte that
/// states its width.
const MAX_POSITIONS_PER_BYTE: usize = 128;

/// The stems of a segment, with the file of their positions.
#[derive(Clone, Copy)]
pub(crate) struct Stems<'a> {
    pub(crate) index: &'a InvertedIndexReader,
    pub(crate) positions: &'a FileSlice,
}

impl Stems<'_> {
    /// Retains the documents of a segment of `size` documents that have these stems next to each other, and returns
    /// how many are left.
    pub(crate) fn retain_phrase(
        self,
        phrase: &[TermInfo],
        docs: &mut DocBitmap,
        size: u32,
    ) -> Result<u64, Error> {
        let mut rarest_first: Vec<&TermInfo> = phrase.iter().collect();
        rarest_first.sort_by_key(|stem| stem.doc_freq);
        let mut remaining = docs.count();
        for stem in rarest_first {
            let stem = [Postings::Engine(self.index, stem.clone())];
            remaining = postings::retain_matching(&stem, docs, remaining, size)?;
        }
        if remaining == 0 {
            return Ok(0);
        }
        let cursors = phrase.iter().map(|stem| self.open(stem, remaining));
        let mut cursors = cursors.collect::<Result<Vec<Cursor>, Error>>()?;
        let Some((first, others)) = cursors.split_first_mut() else { return Ok(remaining) };
        let (mut ends, mut positions) = (Positions::default(), Positions::default());
        let mut result = Ok(());
        let mut has_phrase = |doc: DocId| -> Result<bool, Error> {
            first.read(doc, &mut ends)?;
            for stem in &mut *others {
                if ends.is_empty() {
                    break;
                }
                stem.read(doc, &mut positions)?;
                ends.retain_followed(&positions);
            }
            Ok(!ends.is_empty())
        };
        remaining = docs.retain(|doc| {
            result.is_ok()
                && has_phrase(doc).unwrap_or_else(|error| {
                    result = Err(error);
                    false
                })
        });
        result.map(|()| remaining)
    }

    /// Opens the positions of a stem, for reading those of this many documents.
    fn open(self, stem: &TermInfo, documents: u64) -> Result<Cursor, Error> {
        let option = IndexRecordOption::WithFreqsAndPositions;
        if postings::is_seeking_faster(documents, u64::from(stem.doc_freq)) {
            let postings = self.index.read_postings_from_terminfo(stem, option)?;
            return Ok(Cursor::Seeking(postings, Vec::new()));
        }
        let bytes = self.positions.read_bytes_slice(stem.positions_range.clone())?;
        Ok(Cursor::Blocks(BlockCursor {
            max_position_count: bytes.len().saturating_mul(MAX_POSITIONS_PER_BYTE),
            blocks: self.index.read_block_postings_from_terminfo(stem, option)?,
            reader: PositionReader::open(bytes)?,
            first_position: 0,
            index: 0,
            start: 0,
            gaps: Vec::new(),
        }))
    }
}

/// Number of words of [`Positions::bits`], and of positions in it.
const BIT_WORDS: usize = 4;
const BIT_POSITIONS: u32 = BIT_WORDS as u32 * 64;

/// Positions in a document. In most documents, all of them fit into a few words of bits, which are compared at once.
#[derive(Default)]
struct Positions {
    bits: [u64; BIT_WORDS],
    /// The positions from [`BIT_POSITIONS`] on, in ascending order.
    others: Vec<u32>,
}

impl Positions {
    /// Replaces the positions by others, which are in ascending order.
    fn replace(&mut self, positions: impl Iterator<Item = u32>) {
        self.clear();
        for position in positions {
            match self.bits.get_mut(position as usize / 64) {
                Some(word) => *word |= 1 << (position % 64),
                None => self.others.push(position),
            }
        }
    }

    fn clear(&mut self) {
        self.bits = [0; BIT_WORDS];
        self.others.clear();
    }

    fn is_empty(&self) -> bool {
        self.bits == [0; BIT_WORDS] && self.others.is_empty()
    }

    /// Retains the positions that the other stem has right after them, and moves them there.
    fn retain_followed(&mut self, other: &Positions) {
        let mut carry = 0;
        for (word, other) in self.bits.iter_mut().zip(other.bits) {
            let moved = *word << 1 | carry;
            carry = *word >> 63;
            *word = moved & other;
        }
        if carry > 0 {
            self.others.insert(0, BIT_POSITIONS - 1);
        }
        let mut rest = &other.others[..];
        self.others.retain_mut(|position| {
            let Some(next) = position.checked_add(1) else { return false };
            while let [first, others @ ..] = rest
                && *first < next
            {
                rest = others;
            }
            *position = next;
            rest.first() == Some(&next)
        });
    }
}

/// The positions of a stem, read for documents in ascending order.
enum Cursor {
    /// Skips most of the stem's documents.
    Seeking(SegmentPostings, Vec<u32>),
    /// Reads all of the stem's documents.
    Blocks(BlockCursor),
}

struct BlockCursor {
    blocks: BlockSegmentPostings,
    reader: PositionReader,
    max_position_count: usize,
    /// Number of the block's first position among all of the stem.
    first_position: u64,
    /// Index in the block of the current document, and of its first position.
    index: usize,
    start: usize,
    /// The positions of the block's documents, each as the distance to the one before in the same document; empty until
    /// they are needed.
    gaps: Vec<u32>,
}

impl Cursor {
    /// Reads the positions of the stem in a document that has it.
    fn read(&mut self, doc: DocId, positions: &mut Positions) -> Result<(), Error> {
        match self {
            Cursor::Seeking(postings, buffer) => {
                if postings.doc() < doc {
                    postings.seek(doc);
                }
                postings.positions(buffer);
                positions.replace(buffer.iter().copied());
                Ok(())
            }
            Cursor::Blocks(cursor) => cursor.read(doc, positions),
        }
    }
}

impl BlockCursor {
    fn read(&mut self, doc: DocId, positions: &mut Positions) -> Result<(), Error> {
        while self.blocks.docs().last().is_some_and(|last| *last < doc) {
            self.first_position += self.count_positions();
            self.blocks.advance();
            (self.index, self.start) = (0, 0);
            self.gaps.clear();
        }
        let (docs, frequencies) = (self.blocks.docs(), self.blocks.freqs());
        while docs.get(self.index).is_some_and(|other| *other < doc) {
            self.start += frequencies[self.index] as usize;
            self.index += 1;
        }
        if docs.get(self.index) != Some(&doc) {
            positions.clear();
            return Ok(());
        }
        let end = self.start + frequencies[self.index] as usize;
        if self.gaps.is_empty() {
            let count = self.count_positions();
            if count > self.max_position_count as u64 {
                return Err(Error::Corrupt("a segment has fewer positions than it states".to_owned()));
            }
            self.gaps.resize(count as usize, 0);
            self.reader.read(self.first_position, &mut self.gaps);
        }
        let mut position = 0_u32;
        positions.replace(self.gaps[self.start..end].iter().map(|gap| {
            position = position.wrapping_add(*gap);
            position
        }));
        Ok(())
    }

    /// Returns the number of positions of the block.
    fn count_positions(&self) -> u64 {
        self.blocks.freqs().iter().map(|frequency| u64::from(*frequency)).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::{BIT_POSITIONS, Positions};

    fn positions() -> impl Strategy<Value = BTreeSet<u32>> {
        btree_set(prop_oneof![0..10_u32, BIT_POSITIONS - 70..BIT_POSITIONS + 10, Just(u32::MAX)], 0..20)
    }

    proptest! {
        #[test]
        fn positions_are_followed_in_bits_and_beyond(first in positions(), second in positions()) {
            let [mut ends, mut other] = [Positions::default(), Positions::default()];
            ends.replace(first.iter().copied());
            other.replace(second.iter().copied());
            ends.retain_followed(&other);
            let next = first.iter().filter_map(|position| position.checked_add(1));
            let mut expected = Positions::default();
            expected.replace(next.filter(|position| second.contains(position)));
            prop_assert_eq!(ends.bits, expected.bits);
            prop_assert_eq!(&ends.others, &expected.others);
            prop_assert_eq!(ends.is_empty(), expected.is_empty());
        }
    }
}
