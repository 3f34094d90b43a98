//! Builds the columns of a new segment, document by document, and writes them.

use std::collections::HashMap;
use std::io::{self, Write};

use super::packed::PackedArray;
use super::{
    ACTIVE_BITS, ARRAYS, DOCS_BY_TEAM, LABEL_NAME_ENDS, LABEL_NAMES, LABEL_ROW_CELLS, LABEL_TOTALS, LABELS,
    ORDERS, OVERFLOW_DOCS, OVERFLOW_ENDS, OVERFLOW_LABELS, write_arrays,
};
use crate::numeric::{NUMERIC_COLUMNS, NumericColumn, NumericRow, StateBits};
use crate::order::{Order, SortKey};

/// The columns of a segment that is being written.
pub(super) struct ColumnsBuilder {
    numbers: [PackedArray<Vec<u8>>; NUMERIC_COLUMNS],
    starts: PackedArray<Vec<u8>>,
    /// Label ordinals, in order of first use; renumbered by name when the file is written.
    labels: Vec<u32>,
    ordinals: HashMap<String, u32>,
    names: Vec<String>,
}

impl ColumnsBuilder {
    pub(super) fn new() -> ColumnsBuilder {
        let mut starts = PackedArray::new();
        starts.push(0);
        ColumnsBuilder {
            numbers: std::array::from_fn(|_| PackedArray::new()),
            starts,
            labels: Vec::new(),
            ordinals: HashMap::new(),
            names: Vec::new(),
        }
    }

    /// Returns the ordinal of a label in this builder. Adds the label if it is new.
    fn ordinal(&mut self, name: &str) -> u32 {
        if let Some(ordinal) = self.ordinals.get(name) {
            return *ordinal;
        }
        let ordinal = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.ordinals.insert(name.to_owned(), ordinal);
        ordinal
    }

    /// Appends a document with its labels.
    pub(super) fn push<'a>(&mut self, row: &NumericRow, labels: impl Iterator<Item = &'a str>) {
        for (column, value) in self.numbers.iter_mut().zip(row) {
            column.push(*value);
        }
        for label in labels {
            let ordinal = self.ordinal(label);
            self.labels.push(ordinal);
        }
        self.starts.push(self.labels.len() as u64);
    }

    /// Returns the labels of a document, as ordinals of this builder.
    fn labels(&self, doc: u32) -> &[u32] {
        let end = |doc: u32| self.starts.get(doc as usize) as usize;
        &self.labels[end(doc)..end(doc + 1)]
    }

    /// Returns the approximate memory use in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let numbers: usize = self.numbers.iter().map(|column| column.bytes().len()).sum();
        numbers + self.starts.bytes().len() + self.labels.len() * 4 + self.names.len() * 128
    }

    /// Writes the columns file.
    pub(super) fn write(self, out: &mut impl Write) -> io::Result<()> {
        let docs = self.numbers[0].len();
        let mut arrays: [PackedArray<Vec<u8>>; ARRAYS] = std::array::from_fn(|_| PackedArray::new());
        let active: Vec<u32> = (0..docs as u32)
            .filter(|doc| StateBits::is_active(self.numbers[NumericColumn::State.index()].get(*doc as usize)))
            .collect();
        let mut bits = vec![0_u64; docs.div_ceil(64)];
        for doc in &active {
            bits[*doc as usize / 64] |= 1 << (doc % 64);
        }
        arrays[ACTIVE_BITS] = PackedArray::from_words(&bits);
        for order in Order::ALL {
            arrays[ORDERS + order as usize] = self.sort_active(order, &active);
        }
        let mut by_team: Vec<u32> = (0..docs as u32).collect();
        by_team.sort_by_key(|doc| self.numbers[NumericColumn::Team.index()].get(*doc as usize));
        for doc in by_team {
            arrays[DOCS_BY_TEAM].push(u64::from(doc));
        }
        self.write_labels(&active, &mut arrays);
        for (array, numbers) in arrays.iter_mut().zip(self.numbers) {
            *array = numbers;
        }
        write_arrays(docs, &arrays, out)
    }

    /// Returns the active documents sorted by an order.
    fn sort_active(&self, order: Order, active: &[u32]) -> PackedArray<Vec<u8>> {
        let key = |doc: u32| {
            order.sort_key(NumericColumn::Published, |column| self.numbers[column.index()].get(doc as usize))
        };
        let mut keyed: Vec<(SortKey, u32)> = active.iter().map(|doc| (key(*doc), *doc)).collect();
        keyed.sort_unstable_by(|left, right| right.cmp(left));
        let mut sorted = PackedArray::new();
        for (_, doc) in keyed {
            sorted.push(u64::from(doc));
        }
        sorted
    }

    /// Renumbers the labels by name, leaving out those that no document of the segment has.
    fn write_labels(&self, active: &[u32], arrays: &mut [PackedArray<Vec<u8>>; ARRAYS]) {
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
            name.bytes().for_each(|byte| arrays[LABEL_NAMES].push(u64::from(byte)));
            end += name.len() as u64;
            arrays[LABEL_NAME_ENDS].push(end);
        }
        for doc in 0..self.numbers[0].len() as u32 {
            let labels = self.labels(doc);
            let (row, overflow) = labels.split_at(labels.len().min(LABEL_ROW_CELLS - 1));
            arrays[LABELS].push(labels.len() as u64);
            for cell in 0..LABEL_ROW_CELLS - 1 {
                arrays[LABELS].push(row.get(cell).map_or(0, |label| renumbered[*label as usize]));
            }
            if !overflow.is_empty() {
                for label in overflow {
                    arrays[OVERFLOW_LABELS].push(renumbered[*label as usize]);
                }
                let end = arrays[OVERFLOW_LABELS].len() as u64;
                arrays[OVERFLOW_DOCS].push(u64::from(doc));
                arrays[OVERFLOW_ENDS].push(end);
            }
        }
        let mut totals = vec![0; self.names.len()];
        for doc in active {
            self.labels(*doc).iter().for_each(|label| totals[*label as usize] += 1);
        }
        for label in by_name {
            arrays[LABEL_TOTALS].push(totals[label as usize]);
        }
    }
}
