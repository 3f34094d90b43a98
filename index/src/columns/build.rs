//! Builds the columns of a new segment, document by document, and writes them.
//!
//! Flushes and merges use the same builder, so a merged segment has the same form as a flushed one.

use std::collections::HashMap;
use std::io::{self, Write};

use super::packed::Packed;
use super::{
    ACTIVE, ARRAYS, BY_TEAM, LABELS, LONG, LONG_ENDS, LONG_LABELS, NAME_ENDS, NAMES, ORDERS, ROW, TOTALS,
    write,
};
use crate::number::{NUMBERS, Number, Row, State};
use crate::order::{Key, Order};

/// The columns of a segment that is being written.
pub(super) struct Builder {
    numbers: [Packed<Vec<u8>>; NUMBERS],
    starts: Packed<Vec<u8>>,
    /// Label ordinals, in order of first use; renumbered by name when the file is written.
    labels: Vec<u32>,
    ordinals: HashMap<String, u32>,
    names: Vec<String>,
}

impl Builder {
    pub(super) fn new() -> Builder {
        let mut starts = Packed::new();
        starts.push(0);
        Builder {
            numbers: std::array::from_fn(|_| Packed::new()),
            starts,
            labels: Vec::new(),
            ordinals: HashMap::new(),
            names: Vec::new(),
        }
    }

    /// Returns the ordinal of a label in this builder. Adds the label if it is new.
    pub(super) fn ordinal(&mut self, name: &str) -> u32 {
        if let Some(ordinal) = self.ordinals.get(name) {
            return *ordinal;
        }
        let ordinal = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.ordinals.insert(name.to_owned(), ordinal);
        ordinal
    }

    /// Appends a document. Its labels are ordinals of this builder.
    pub(super) fn push(&mut self, row: &Row, labels: impl Iterator<Item = u32>) {
        for (column, value) in self.numbers.iter_mut().zip(row) {
            column.push(*value);
        }
        self.labels.extend(labels);
        self.starts.push(self.labels.len() as u64);
    }

    /// Returns the labels of a document, as ordinals of this builder.
    fn labels(&self, doc: u32) -> &[u32] {
        let end = |doc: u32| self.starts.get(doc as usize) as usize;
        &self.labels[end(doc)..end(doc + 1)]
    }

    /// Returns the approximate memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        let numbers: usize = self.numbers.iter().map(|column| column.bytes().len()).sum();
        numbers + self.starts.bytes().len() + self.labels.len() * 4 + self.names.len() * 128
    }

    /// Writes the columns file.
    pub(super) fn write(self, out: &mut impl Write) -> io::Result<()> {
        let docs = self.numbers[0].len();
        let mut arrays: [Packed<Vec<u8>>; ARRAYS] = std::array::from_fn(|_| Packed::new());
        let active: Vec<u32> = (0..docs as u32)
            .filter(|doc| State::is_active(self.numbers[Number::State as usize].get(*doc as usize)))
            .collect();
        let mut bits = vec![0_u64; docs.div_ceil(64)];
        for doc in &active {
            bits[*doc as usize / 64] |= 1 << (doc % 64);
        }
        arrays[ACTIVE] = Packed::of_words(&bits);
        for order in Order::ALL {
            arrays[ORDERS + order as usize] = self.sorted(order, &active);
        }
        let mut by_team: Vec<u32> = (0..docs as u32).collect();
        by_team.sort_by_key(|doc| self.numbers[Number::Team as usize].get(*doc as usize));
        for doc in by_team {
            arrays[BY_TEAM].push(u64::from(doc));
        }
        self.write_labels(&active, &mut arrays);
        for (array, numbers) in arrays.iter_mut().zip(self.numbers) {
            *array = numbers;
        }
        write(docs, &arrays, out)
    }

    /// Returns the active documents sorted by an order.
    fn sorted(&self, order: Order, active: &[u32]) -> Packed<Vec<u8>> {
        let key =
            |doc: u32| order.key(Number::Published, |number| self.numbers[number as usize].get(doc as usize));
        let mut keyed: Vec<(Key, u32)> = active.iter().map(|doc| (key(*doc), *doc)).collect();
        keyed.sort_unstable_by(|left, right| right.cmp(left));
        let mut sorted = Packed::new();
        for (_, doc) in keyed {
            sorted.push(u64::from(doc));
        }
        sorted
    }

    /// Renumbers the labels by name, leaving out those that no document of the segment has.
    fn write_labels(&self, active: &[u32], arrays: &mut [Packed<Vec<u8>>; ARRAYS]) {
        let mut used = vec![false; self.names.len()];
        self.labels.iter().for_each(|label| used[*label as usize] = true);
        let mut by_name: Vec<u32> =
            (0..self.names.len() as u32).filter(|label| used[*label as usize]).collect();
        by_name.sort_unstable_by_key(|label| &self.names[*label as usize]);
        let mut renumbered = vec![0; self.names.len()];
        let mut end = 0;
        for (ordinal, label) in by_name.iter().enumerate() {
            renumbered[*label as usize] = ordinal as u64;
            let name = &self.names[*label as usize];
            name.bytes().for_each(|byte| arrays[NAMES].push(u64::from(byte)));
            end += name.len() as u64;
            arrays[NAME_ENDS].push(end);
        }
        for doc in 0..self.numbers[0].len() as u32 {
            let labels = self.labels(doc);
            let (row, long) = labels.split_at(labels.len().min(ROW - 1));
            arrays[LABELS].push(labels.len() as u64);
            for cell in 0..ROW - 1 {
                arrays[LABELS].push(row.get(cell).map_or(0, |label| renumbered[*label as usize]));
            }
            if !long.is_empty() {
                for label in long {
                    arrays[LONG_LABELS].push(renumbered[*label as usize]);
                }
                let end = arrays[LONG_LABELS].len() as u64;
                arrays[LONG].push(u64::from(doc));
                arrays[LONG_ENDS].push(end);
            }
        }
        let mut totals = vec![0; self.names.len()];
        for doc in active {
            self.labels(*doc).iter().for_each(|label| totals[*label as usize] += 1);
        }
        for label in by_name {
            arrays[TOTALS].push(totals[label as usize]);
        }
    }
}
