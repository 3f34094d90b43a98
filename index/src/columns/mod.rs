//! The columns file of each segment: the numbers and labels of every document, and the sort orders of the
//! market.
//!
//! It is a component of the segment (extension `columns`), written when the segment is flushed or merged. It
//! is therefore committed, garbage-collected and crash-safe exactly like the postings, and the cost of large
//! segments is borne by merging threads, not by commits.
//!
//! The fast fields and document store of tantivy are not used. An array of plain cells in a mapped file uses
//! no process memory and needs one load per value, while a fast field needs a virtual call and bit unpacking;
//! and using both would store every number twice.
//!
//! The file is a list of packed arrays: a header with widths and lengths, followed by the cells. Each array
//! starts at a cache line.
//!
//! Labels are read for many scattered documents, so the memory that is touched for each one determines the cost.
//! A document's labels are therefore in a row of fixed length, typically one cache line; only those that do not
//! fit are stored elsewhere.

mod builder;
mod file_writer;
mod merge;
mod packed;
mod plugin;

use std::hint::black_box;
use std::io::{self, Write};
use std::ops::Range;

use tantivy::DocId;
use tantivy::directory::OwnedBytes;

use self::builder::ColumnsBuilder;
use self::file_writer::{FileWriter, Shape};
use self::packed::PackedArray;
pub(crate) use self::plugin::{ColumnsPlugin, EXTENSION};
use crate::doc_bitmap::DocBitmap;
use crate::document::TeamRowId;
use crate::error::Error;
use crate::numeric::{NUMERIC_COLUMNS, NumericColumn, NumericRow};
use crate::order::Order;

const MAGIC: &[u8; 8] = b"MKTCOLS2";

// Indexes of the arrays after the numeric columns.
const LABELS: usize = NUMERIC_COLUMNS;
const OVERFLOW_DOCS: usize = NUMERIC_COLUMNS + 1;
const OVERFLOW_ENDS: usize = NUMERIC_COLUMNS + 2;
const OVERFLOW_LABELS: usize = NUMERIC_COLUMNS + 3;
const ACTIVE_BITS: usize = NUMERIC_COLUMNS + 4;
const LABEL_NAME_ENDS: usize = NUMERIC_COLUMNS + 5;
const LABEL_NAMES: usize = NUMERIC_COLUMNS + 6;
const LABEL_TOTALS: usize = NUMERIC_COLUMNS + 7;
const DOCS_BY_TEAM: usize = NUMERIC_COLUMNS + 8;
const ORDERS: usize = NUMERIC_COLUMNS + 9;
const ARRAYS: usize = ORDERS + Order::ALL.len();
const HEADER_BYTES: usize = MAGIC.len() + 8 + ARRAYS * 16;

/// Alignment of the arrays in a file, in bytes: the size of a cache line.
const ALIGNMENT: usize = 64;

/// Cells of a document's row in [`LABELS`]: the number of its labels, followed by the first of them. Further
/// labels are in [`OVERFLOW_LABELS`], for the documents listed in [`OVERFLOW_DOCS`].
const LABEL_ROW_CELLS: usize = 32;

/// Number of documents whose label rows are prefetched together.
const LABEL_BATCH: usize = 64;

/// The columns of one segment, memory-mapped.
pub(crate) struct Columns {
    size: u32,
    arrays: Vec<PackedArray<OwnedBytes>>,
    active: DocBitmap,
    label_names: Vec<String>,
}

impl Columns {
    /// Parses a columns file. Fails if its lengths are inconsistent.
    pub(crate) fn open(bytes: &OwnedBytes) -> Result<Columns, Error> {
        let inconsistent = || Error::Corrupt("the lengths in a columns file are inconsistent".to_owned());
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return Err(Error::Corrupt("a columns file has an unknown format".to_owned()));
        }
        let header =
            PackedArray::from_cells(8, bytes.slice(MAGIC.len()..HEADER_BYTES)).ok_or_else(inconsistent)?;
        let size = u32::try_from(header.get(0)).map_err(|_| inconsistent())?;
        let mut arrays = Vec::with_capacity(ARRAYS);
        let mut end = HEADER_BYTES;
        for array in 0..ARRAYS {
            let start = end.next_multiple_of(ALIGNMENT);
            let width = u8::try_from(header.get(1 + 2 * array)).map_err(|_| inconsistent())?;
            let length = usize::try_from(header.get(2 + 2 * array)).map_err(|_| inconsistent())?;
            let length = length.checked_mul(usize::from(width));
            let array_end = length.and_then(|length| start.checked_add(length));
            end = array_end.filter(|end| *end <= bytes.len()).ok_or_else(inconsistent)?;
            arrays.push(PackedArray::from_cells(width, bytes.slice(start..end)).ok_or_else(inconsistent)?);
        }
        let columns = Columns::from_arrays(size, arrays).ok_or_else(inconsistent)?;
        if end == bytes.len() { Ok(columns) } else { Err(inconsistent()) }
    }

    /// Builds the columns of documents, given by their numbers and labels, in memory.
    pub(crate) fn build<'a, L: Iterator<Item = &'a str>>(
        docs: impl Iterator<Item = (&'a NumericRow, L)>,
    ) -> Result<Columns, Error> {
        let mut builder = ColumnsBuilder::new();
        for (row, labels) in docs {
            builder.push(row, labels);
        }
        let mut file = Vec::new();
        builder.write(&mut file)?;
        Columns::open(&OwnedBytes::new(file))
    }

    fn from_arrays(size: u32, arrays: Vec<PackedArray<OwnedBytes>>) -> Option<Columns> {
        let docs = size as usize;
        let orders = &arrays[ORDERS..];
        let fits = arrays[..NUMERIC_COLUMNS].iter().all(|array| array.len() == docs)
            && arrays[LABELS].len() == docs * LABEL_ROW_CELLS
            && arrays[OVERFLOW_DOCS].len() == arrays[OVERFLOW_ENDS].len()
            && last_or_zero(&arrays[OVERFLOW_ENDS]) == arrays[OVERFLOW_LABELS].len() as u64
            && arrays[ACTIVE_BITS].len() == docs.div_ceil(64)
            && arrays[ACTIVE_BITS].width() == 8
            && arrays[DOCS_BY_TEAM].len() == docs
            && arrays[LABEL_TOTALS].len() == arrays[LABEL_NAME_ENDS].len()
            && orders.iter().all(|order| order.len() == orders[0].len());
        if !fits {
            return None;
        }
        let active =
            DocBitmap::from_words((0..docs.div_ceil(64)).map(|word| arrays[ACTIVE_BITS].get(word)).collect());
        let text = arrays[LABEL_NAMES].bytes();
        let mut names = Vec::with_capacity(arrays[LABEL_NAME_ENDS].len());
        let mut start = 0;
        for name in 0..arrays[LABEL_NAME_ENDS].len() {
            let end = usize::try_from(arrays[LABEL_NAME_ENDS].get(name)).ok()?;
            names.push(std::str::from_utf8(text.get(start..end)?).ok()?.to_owned());
            start = end;
        }
        Some(Columns { size, arrays, active, label_names: names })
    }

    /// Returns the number of documents with which the segment was written.
    pub(crate) const fn size(&self) -> u32 {
        self.size
    }

    /// Returns the documents in stage `active`, including deleted ones.
    pub(crate) const fn active(&self) -> &DocBitmap {
        &self.active
    }

    /// Returns the labels of the segment, sorted. The index of a label is its ordinal.
    pub(crate) fn label_names(&self) -> &[String] {
        &self.label_names
    }

    /// Returns the number of active documents with each label, by ordinal, including deleted documents.
    pub(crate) fn label_totals(&self) -> Vec<u32> {
        (0..self.label_names.len()).map(|label| self.arrays[LABEL_TOTALS].get(label) as u32).collect()
    }

    #[inline]
    pub(crate) fn get(&self, column: NumericColumn, doc: DocId) -> u64 {
        self.arrays[column.index()].get(doc as usize)
    }

    /// Returns all numbers of a document.
    pub(crate) fn row(&self, doc: DocId) -> NumericRow {
        std::array::from_fn(|column| self.arrays[column].get(doc as usize))
    }

    /// Retains the documents whose number is between `min` and `max` (inclusive), and returns how many are
    /// left.
    pub(crate) fn retain_between(
        &self,
        column: NumericColumn,
        docs: &mut DocBitmap,
        min: u64,
        max: u64,
    ) -> u64 {
        self.arrays[column.index()].retain_between(docs, min, max)
    }

    /// Returns the number of documents in each order, which is the number of active documents.
    pub(crate) fn order_len(&self) -> usize {
        self.arrays[ORDERS].len()
    }

    /// Returns the document at an index of an order.
    #[inline]
    pub(crate) fn doc_at(&self, order: Order, index: usize) -> DocId {
        self.arrays[ORDERS + order as usize].get(index) as DocId
    }

    /// Returns the index of the first document of an order that does not pass. Those that pass must come before it.
    pub(crate) fn partition_point(&self, order: Order, passes: impl Fn(DocId) -> bool) -> usize {
        self.arrays[ORDERS + order as usize].partition_point(|doc| passes(doc as DocId))
    }

    /// Returns the documents of a team in ascending order, including deleted ones.
    pub(crate) fn team_docs(&self, team: TeamRowId) -> impl Iterator<Item = DocId> + '_ {
        let by_team = &self.arrays[DOCS_BY_TEAM];
        let first = |larger: bool| {
            by_team.partition_point(|doc| {
                let other = self.get(NumericColumn::Team, doc as DocId);
                other < team || (larger && other == team)
            })
        };
        (first(false)..first(true)).map(|index| by_team.get(index) as DocId)
    }

    /// Returns the ordinals of a document's labels.
    #[inline]
    pub(crate) fn labels(&self, doc: DocId) -> impl Iterator<Item = u32> + '_ {
        let (row, overflow) = self.label_cells(doc);
        let row = row.map(|cell| self.arrays[LABELS].get(cell) as u32);
        row.chain(overflow.map(|cell| self.arrays[OVERFLOW_LABELS].get(cell) as u32))
    }

    /// Returns the cells of a document's labels: those in its row, and those that did not fit there.
    #[inline]
    fn label_cells(&self, doc: DocId) -> (Range<usize>, Range<usize>) {
        let first = doc as usize * LABEL_ROW_CELLS;
        let count = self.arrays[LABELS].get(first) as usize;
        if count < LABEL_ROW_CELLS {
            (first + 1..first + 1 + count, 0..0)
        } else {
            (first + 1..first + LABEL_ROW_CELLS, self.overflow_cells(doc))
        }
    }

    /// Returns the cells of the labels that did not fit into a document's row. Few documents have any.
    #[cold]
    fn overflow_cells(&self, doc: DocId) -> Range<usize> {
        let (docs, ends) = (&self.arrays[OVERFLOW_DOCS], &self.arrays[OVERFLOW_ENDS]);
        let index = docs.partition_point(|other| other < u64::from(doc));
        let start = if index == 0 { 0 } else { ends.get(index - 1) };
        start as usize..ends.get(index) as usize
    }

    /// Adds the labels of these documents to the counts, by ordinal.
    pub(crate) fn count_labels(&self, mut docs: impl Iterator<Item = DocId>, counts: &mut [u32]) {
        let labels = &self.arrays[LABELS];
        // The rows of scattered documents are rarely cached. Touching all rows of a batch before counting
        // lets the CPU load them in parallel.
        let mut batch = Vec::with_capacity(LABEL_BATCH);
        loop {
            batch.clear();
            batch.extend(docs.by_ref().take(LABEL_BATCH));
            if batch.is_empty() {
                return;
            }
            black_box(batch.iter().fold(0, |any, doc| any ^ labels.get(*doc as usize * LABEL_ROW_CELLS)));
            for doc in &batch {
                let (row, overflow) = self.label_cells(*doc);
                labels.for_each(row, |label| counts[label as usize] += 1);
                self.arrays[OVERFLOW_LABELS].for_each(overflow, |label| counts[label as usize] += 1);
            }
        }
    }
}

/// Returns the last value of an array; 0 if it is empty.
fn last_or_zero(array: &PackedArray<OwnedBytes>) -> u64 {
    array.len().checked_sub(1).map_or(0, |last| array.get(last))
}

/// Writes the arrays, in order, as a columns file.
fn write_arrays(
    size: usize,
    arrays: &[PackedArray<Vec<u8>>; ARRAYS],
    out: &mut impl Write,
) -> io::Result<()> {
    let shapes = arrays.each_ref().map(|array| Shape { width: array.width(), len: array.len() });
    let mut file = FileWriter::new(size, &shapes, out)?;
    for array in arrays {
        file.start_array()?;
        file.push_cells(array.bytes())?;
    }
    file.finish()
}
