//! Counts the values that encoded levels and delta-encoded lengths declare, without storing them. Takes one step
//! for each run or packed value, and at most as many as the page declares values.

/// A reader of bytes, variable-length integers, and values of a few bits.
#[derive(Clone, Debug)]
struct BitReader<'a> {
    bytes: &'a [u8],
    /// Position in bits.
    at: usize,
}

impl BitReader<'_> {
    /// Reads an integer of at most 64 bits, the lowest bits first.
    fn read_bits(&mut self, width: usize) -> Option<u64> {
        let mut value = 0;
        let mut read = 0;
        while read < width {
            let byte = u64::from(*self.bytes.get(self.at / 8)?);
            let count = (8 - self.at % 8).min(width - read);
            let bits = byte >> (self.at % 8) & ((1 << count) - 1);
            value |= bits << read;
            read += count;
            self.at += count;
        }
        Some(value)
    }

    fn align(&mut self) {
        self.at = self.at.div_ceil(8) * 8;
    }

    fn read_varint(&mut self) -> Option<u64> {
        self.align();
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.read_bits(8)?;
            value |= (byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

/// Lengths of records, from the repetition levels of the pages of a column.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Number of records that start in the current page.
    pub(super) started: u64,
    /// Number of levels of the longest record so far, and of the record that is not ended.
    pub(super) longest: u64,
    open: u64,
}

impl Records {
    /// Returns the records of a page whose records have one level each.
    pub(super) fn of_one_level(count: u64) -> Records {
        Records { started: count, longest: 1, open: 1 }
    }

    /// Adds a number of equal levels.
    fn add(&mut self, level: u64, count: u64) {
        if count == 0 {
            return;
        }
        if level == 0 {
            self.started += count;
            self.open = 1;
        } else {
            self.open += count;
        }
        self.longest = self.longest.max(self.open);
    }

    /// Adds the levels of a page. Ignores levels after the declared number, and stops at damaged ones.
    pub(super) fn add_page(&mut self, levels: &[u8], is_packed: bool, width: usize, declared: u64) {
        (self.started, self.longest) = (0, self.open);
        let mut reader = BitReader { bytes: levels, at: 0 };
        let _ = if is_packed {
            self.add_packed(&mut reader, width, declared)
        } else {
            self.add_runs(&mut reader, width, declared)
        };
    }

    fn add_packed(&mut self, reader: &mut BitReader<'_>, width: usize, count: u64) -> Option<()> {
        (0..count).try_for_each(|_| {
            let level = reader.read_bits(width)?;
            self.add(level, 1);
            Some(())
        })
    }

    /// Adds levels in the hybrid encoding of runs and packed groups of eight.
    fn add_runs(&mut self, reader: &mut BitReader<'_>, width: usize, mut remaining: u64) -> Option<()> {
        while remaining > 0 {
            let indicator = reader.read_varint()?;
            let (is_packed, length) = (indicator & 1 == 1, indicator >> 1);
            if indicator == 0 {
                return None;
            }
            let count = if is_packed { length.saturating_mul(8) } else { length }.min(remaining);
            remaining -= count;
            if is_packed {
                self.add_packed(reader, width, count)?;
                reader.align();
            } else {
                let level = reader.read_bits(width.div_ceil(8) * 8)?;
                self.add(level, count);
            }
        }
        Some(())
    }
}

/// What delta-encoded lengths declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeltaLengths {
    /// Number of lengths.
    pub(super) count: u64,
    /// Sum of the lengths.
    pub(super) sum: u64,
    /// Number of bytes that they take.
    pub(super) bytes: usize,
}

/// Returns the number of delta-encoded values that a header declares.
pub(super) fn delta_count(bytes: &[u8]) -> Option<u64> {
    let mut reader = BitReader { bytes, at: 0 };
    let (_block_size, _mini_blocks) = (reader.read_varint()?, reader.read_varint()?);
    reader.read_varint()
}

/// Decodes delta-encoded lengths, at most `max_count`. Returns `None` if they are damaged or negative.
pub(super) fn delta_lengths(bytes: &[u8], max_count: u64) -> Option<DeltaLengths> {
    let mut reader = BitReader { bytes, at: 0 };
    let zigzag = |value: u64| (value >> 1) as i32 ^ -((value & 1) as i32);
    let (block_size, mini_blocks) = (reader.read_varint()?, reader.read_varint()?);
    let count = reader.read_varint().filter(|count| *count <= max_count)?;
    let mut length = zigzag(reader.read_varint()?);
    let per_mini_block = block_size.checked_div(mini_blocks)?;
    let mini_blocks = usize::try_from(mini_blocks).ok().filter(|count| *count <= bytes.len())?;
    let (mut sum, mut remaining) = (u64::try_from(length).ok()?, count.saturating_sub(1));
    let mut end = reader.at;
    while remaining > 0 {
        let min_delta = zigzag(reader.read_varint()?);
        let start = reader.at / 8;
        let widths = bytes.get(start..start.checked_add(mini_blocks)?)?;
        reader.at += mini_blocks * 8;
        end = reader.at;
        for width in widths.iter().copied().map(usize::from) {
            if remaining == 0 {
                break;
            }
            if width > 32 {
                return None;
            }
            reader.at = end;
            end = usize::try_from(per_mini_block).ok()?.checked_mul(width)?.checked_add(end)?;
            for _ in 0..per_mini_block.min(remaining) {
                let delta = reader.read_bits(width)? as i32;
                length = length.wrapping_add(delta).wrapping_add(min_delta);
                sum = sum.checked_add(u64::try_from(length).ok()?)?;
            }
            remaining -= per_mini_block.min(remaining);
        }
        reader.at = end;
    }
    Some(DeltaLengths { count, sum, bytes: end.div_ceil(8) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_measured_across_runs_and_pages() {
        let mut records = Records::default();
        // A run of two zeros, a run of five ones, eight packed levels (0, 1, 1, 0, 0, 0, 0, 1).
        records.add_page(&[4, 0, 10, 1, 3, 0b1000_0110], false, 1, 15);
        assert_eq!((records.started, records.longest, records.open), (7, 6, 2));
        // The open record continues in the next page, for a billion levels.
        records.add_page(&[0x80, 0xa8, 0xd6, 0xb9, 0x07, 1], false, 1, 3_000_000_000);
        assert_eq!((records.started, records.longest), (0, 1_000_000_002));
        let mut packed = Records::default();
        packed.add_page(&[0b1101_0010], true, 1, 8);
        assert_eq!((packed.started, packed.longest), (4, 3));
        packed.add_page(&[3], false, 1, 8);
        assert_eq!(packed.started, 0);
    }

    #[test]
    fn delta_lengths_are_summed() {
        // Blocks of 128 values in four mini blocks of 32; three values, the first is 5; each delta is 2.
        let bytes = [0x80, 1, 4, 3, 10, 4, 0, 0, 0, 0, 99];
        assert_eq!(delta_count(&bytes), Some(3));
        assert_eq!(delta_lengths(&bytes, 3), Some(DeltaLengths { count: 3, sum: 5 + 7 + 9, bytes: 10 }));
        assert_eq!(delta_lengths(&bytes, 2), None);
        let negative = [0x80, 1, 4, 3, 10, 11, 0, 0, 0, 0];
        assert_eq!(delta_lengths(&negative, 3), None);
        // Packed deltas of two bits: 1 and 2.
        let packed = [0x80, 1, 4, 3, 10, 0, 2, 0, 0, 0, 0b1001, 0, 0, 0, 0, 0, 0, 0, 7];
        assert_eq!(delta_lengths(&packed, 3), Some(DeltaLengths { count: 3, sum: 5 + 6 + 8, bytes: 18 }));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            let _ = delta_lengths(&bytes, 10_000);
            let mut records = Records::default();
            records.add_page(&bytes, false, 3, 10_000);
            records.add_page(&bytes, true, 2, 10_000);
            proptest::prop_assert!(records.longest <= 20_000);
        }
    }
}
