//! One number of every document, in an array of equal cells that are as narrow as its largest value allows.
//!
//! The same code reads cells in memory, while a segment is being written, and in a mapped file.

use std::ops::{Deref, Range};

use tantivy::DocId;

use crate::docs::Docs;

/// Cells of one, two, four or eight bytes, little-endian.
#[derive(Clone, Debug)]
pub(crate) struct Packed<B> {
    width: u8,
    bytes: B,
}

/// The narrowest cell that holds the value.
pub(crate) const fn width_of(value: u64) -> u8 {
    match value {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

#[inline]
fn cell<const WIDTH: usize>(bytes: &[u8], index: usize) -> u64 {
    let mut value = [0; 8];
    value[..WIDTH].copy_from_slice(&bytes[index * WIDTH..index * WIDTH + WIDTH]);
    u64::from_le_bytes(value)
}

impl<B: Deref<Target = [u8]>> Packed<B> {
    /// Reads existing cells; `None` for a width that does not exist.
    pub(crate) fn of(width: u8, bytes: B) -> Option<Packed<B>> {
        matches!(width, 1 | 2 | 4 | 8).then_some(Packed { width, bytes })
    }

    pub(crate) const fn width(&self) -> u8 {
        self.width
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / usize::from(self.width)
    }

    /// Hands over the values of a range of cells.
    #[inline]
    pub(crate) fn for_each(&self, range: Range<usize>, mut sink: impl FnMut(u64)) {
        let width = usize::from(self.width);
        let cells = &self.bytes[range.start * width..range.end * width];
        match width {
            1 => cells.iter().for_each(|cell| sink(u64::from(*cell))),
            2 => (0..cells.len() / 2).for_each(|index| sink(cell::<2>(cells, index))),
            4 => (0..cells.len() / 4).for_each(|index| sink(cell::<4>(cells, index))),
            _ => (0..cells.len() / 8).for_each(|index| sink(cell::<8>(cells, index))),
        }
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        match self.width {
            1 => u64::from(self.bytes[index]),
            2 => cell::<2>(&self.bytes, index),
            4 => cell::<4>(&self.bytes, index),
            _ => cell::<8>(&self.bytes, index),
        }
    }

    /// The first place whose value does not pass, where those that pass come first.
    pub(crate) fn partition_point(&self, passes: impl Fn(u64) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if passes(self.get(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Keeps the documents whose value lies between `least` and `most`, and returns how many that are.
    pub(crate) fn retain_between(&self, docs: &mut Docs, least: u64, most: u64) -> u64 {
        // The choice of the width is taken out of the loop.
        match self.width {
            1 => self.retain::<1>(docs, least, most),
            2 => self.retain::<2>(docs, least, most),
            4 => self.retain::<4>(docs, least, most),
            _ => self.retain::<8>(docs, least, most),
        }
    }

    fn retain<const WIDTH: usize>(&self, docs: &mut Docs, least: u64, most: u64) -> u64 {
        let bytes = &*self.bytes;
        docs.retain(|doc: DocId| (least..=most).contains(&cell::<WIDTH>(bytes, doc as usize)))
    }
}

impl Packed<Vec<u8>> {
    /// No cells yet, of the narrowest kind.
    pub(crate) const fn new() -> Packed<Vec<u8>> {
        Packed { width: 1, bytes: Vec::new() }
    }

    /// Cells of eight bytes, whatever their values.
    pub(crate) fn of_words(words: &[u64]) -> Packed<Vec<u8>> {
        Packed { width: 8, bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect() }
    }

    /// Appends a value, widening every cell when it needs more room.
    pub(crate) fn push(&mut self, value: u64) {
        let needed = width_of(value);
        if needed > self.width {
            let mut wider = Vec::with_capacity((self.len() + 1) * usize::from(needed));
            for index in 0..self.len() {
                wider.extend_from_slice(&self.get(index).to_le_bytes()[..usize::from(needed)]);
            }
            *self = Packed { width: needed, bytes: wider };
        }
        self.bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(self.width)]);
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;
    use crate::docs::Docs;

    #[test]
    fn cells_widen_and_keep_their_values() {
        let values = [0, 255, 256, 65_535, 65_536, u64::from(u32::MAX), u64::from(u32::MAX) + 1, u64::MAX, 3];
        let mut packed = Packed::new();
        for (count, value) in values.into_iter().enumerate() {
            packed.push(value);
            assert_eq!((0..=count).map(|index| packed.get(index)).collect::<Vec<_>>(), values[..=count]);
        }
        let mut docs = Docs::of(9, 0..9);
        assert_eq!(packed.retain_between(&mut docs, 255, 65_536), 4);
        assert_eq!(docs, Docs::of(9, 1..5));
    }
}
