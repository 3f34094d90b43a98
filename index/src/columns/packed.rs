//! A numeric column: one number per document, in an array of equal cells that are as narrow as the largest
//! value allows.
//!
//! The same code reads cells in memory, while a segment is being written, and cells in a mapped file.

use std::ops::{Deref, Range};

use tantivy::DocId;

use crate::doc_bitmap::DocBitmap;

/// An array of cells of one, two, four or eight bytes, little-endian.
#[derive(Clone, Debug)]
pub(crate) struct PackedArray<B> {
    width: u8,
    bytes: B,
}

/// Returns the width in bytes of the narrowest cell for a value.
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

impl<B: Deref<Target = [u8]>> PackedArray<B> {
    /// Wraps existing cells; returns `None` if the width is invalid.
    pub(crate) fn from_cells(width: u8, bytes: B) -> Option<PackedArray<B>> {
        matches!(width, 1 | 2 | 4 | 8).then_some(PackedArray { width, bytes })
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

    /// Passes the values in a range of cells to `sink`.
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

    /// Returns the index of the first value that does not pass. Values that pass must come before those that
    /// do not.
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

    /// Retains the documents whose value is between `min` and `max` (inclusive), and returns how many are
    /// left.
    pub(crate) fn retain_between(&self, docs: &mut DocBitmap, min: u64, max: u64) -> u64 {
        // The width is matched here, outside of the loop.
        match self.width {
            1 => self.retain_cells::<1>(docs, min, max),
            2 => self.retain_cells::<2>(docs, min, max),
            4 => self.retain_cells::<4>(docs, min, max),
            _ => self.retain_cells::<8>(docs, min, max),
        }
    }

    fn retain_cells<const WIDTH: usize>(&self, docs: &mut DocBitmap, min: u64, max: u64) -> u64 {
        let bytes = &*self.bytes;
        docs.retain(|doc: DocId| (min..=max).contains(&cell::<WIDTH>(bytes, doc as usize)))
    }
}

impl PackedArray<Vec<u8>> {
    /// Creates an empty array with the narrowest cells.
    pub(crate) const fn new() -> PackedArray<Vec<u8>> {
        PackedArray { width: 1, bytes: Vec::new() }
    }

    /// Creates an array with cells of eight bytes, regardless of the values.
    pub(crate) fn from_words(words: &[u64]) -> PackedArray<Vec<u8>> {
        PackedArray { width: 8, bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect() }
    }

    /// Appends a value. Widens all cells if the value does not fit.
    pub(crate) fn push(&mut self, value: u64) {
        let needed = width_of(value);
        if needed > self.width {
            let mut wider = Vec::with_capacity((self.len() + 1) * usize::from(needed));
            for index in 0..self.len() {
                wider.extend_from_slice(&self.get(index).to_le_bytes()[..usize::from(needed)]);
            }
            *self = PackedArray { width: needed, bytes: wider };
        }
        self.bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(self.width)]);
    }
}

#[cfg(test)]
mod tests {
    use super::PackedArray;
    use crate::doc_bitmap::DocBitmap;

    #[test]
    fn cells_widen_without_changing_values() {
        let values = [0, 255, 256, 65_535, 65_536, u64::from(u32::MAX), u64::from(u32::MAX) + 1, u64::MAX, 3];
        let mut packed = PackedArray::new();
        for (count, value) in values.into_iter().enumerate() {
            packed.push(value);
            assert_eq!((0..=count).map(|index| packed.get(index)).collect::<Vec<_>>(), values[..=count]);
        }
        let mut docs = DocBitmap::from_docs(9, 0..9);
        assert_eq!(packed.retain_between(&mut docs, 255, 65_536), 4);
        assert_eq!(docs, DocBitmap::from_docs(9, 1..5));
    }
}
