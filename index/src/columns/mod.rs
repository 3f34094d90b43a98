//! The file kept beside each segment's postings: every document's numbers and labels, and the orders of the market.
//!
//! It is a component of the segment itself (extension `columns`), written when the segment is flushed or merged: it
//! commits, is collected and survives a kill exactly as the postings do, and merging threads, not commits, bear the work
//! that large segments make.
//!
//! Fast fields and the document store of tantivy stay unused. An array of plain cells in a mapped file costs no memory
//! of the process and one load per value, where a fast field pays a virtual call and unpacks bits; and keeping both
//! would keep every number twice.
//!
//! The file is a list of packed arrays: a header of widths and lengths, then their cells, each array from the beginning
//! of a cache line.
//!
//! Labels are asked for of many documents that lie apart, so that what counts is how much memory each of them touches:
//! a document's labels stand in a row of fixed length, a cache line as a rule, and only what does not fit there elsewhere.

mod build;
mod component;
mod packed;

use std::hint::black_box;
use std::io::{self, Write};
use std::ops::Range;

use tantivy::DocId;
use tantivy::directory::OwnedBytes;

pub(crate) use self::component::{Component, EXTENSION};
use self::packed::Packed;
use crate::docs::Docs;
use crate::document::TeamNumber;
use crate::error::Error;
use crate::number::{NUMBERS, Number};
use crate::order::Order;

const MAGIC: &[u8; 8] = b"MKTCOLS2";

// The arrays after the numbers, by place.
const LABELS: usize = NUMBERS;
const LONG: usize = NUMBERS + 1;
const LONG_ENDS: usize = NUMBERS + 2;
const LONG_LABELS: usize = NUMBERS + 3;
const ACTIVE: usize = NUMBERS + 4;
const NAME_ENDS: usize = NUMBERS + 5;
const NAMES: usize = NUMBERS + 6;
const TOTALS: usize = NUMBERS + 7;
const BY_TEAM: usize = NUMBERS + 8;
const ORDERS: usize = NUMBERS + 9;
const ARRAYS: usize = ORDERS + Order::ALL.len();
const HEADER: usize = MAGIC.len() + 8 + ARRAYS * 16;

/// The arrays of a file begin at multiples of this, the length of a cache line.
const ALIGNMENT: usize = 64;

/// Cells of a document's row in [`LABELS`]: the first says how many labels it has, the others are the first of them. What
/// is more stands in [`LONG_LABELS`], for the documents that [`LONG`] names.
const ROW: usize = 32;

/// How many documents have their labels asked for at once.
const LABEL_BATCH: usize = 64;

/// The columns of one segment, mapped.
pub(crate) struct Columns {
    size: u32,
    arrays: Vec<Packed<OwnedBytes>>,
    active: Docs,
    names: Vec<String>,
}

impl Columns {
    /// Takes a whole file apart, and refuses one whose lengths do not fit together.
    pub(crate) fn open(bytes: &OwnedBytes) -> Result<Columns, Error> {
        let broken = || Error::Corrupt("a columns file does not have the lengths it names".to_owned());
        if bytes.len() < HEADER || !bytes.starts_with(MAGIC) {
            return Err(Error::Corrupt("a columns file is of an unknown format".to_owned()));
        }
        let header = Packed::of(8, bytes.slice(MAGIC.len()..HEADER)).ok_or_else(broken)?;
        let size = u32::try_from(header.get(0)).map_err(|_| broken())?;
        let mut arrays = Vec::with_capacity(ARRAYS);
        let mut end = HEADER;
        for array in 0..ARRAYS {
            let start = end.next_multiple_of(ALIGNMENT);
            let width = u8::try_from(header.get(1 + 2 * array)).map_err(|_| broken())?;
            let length = usize::try_from(header.get(2 + 2 * array)).map_err(|_| broken())?;
            let length = length.checked_mul(usize::from(width));
            let behind = length.and_then(|length| start.checked_add(length));
            end = behind.filter(|end| *end <= bytes.len()).ok_or_else(broken)?;
            arrays.push(Packed::of(width, bytes.slice(start..end)).ok_or_else(broken)?);
        }
        let columns = Columns::read(size, arrays).ok_or_else(broken)?;
        if end == bytes.len() { Ok(columns) } else { Err(broken()) }
    }

    fn read(size: u32, arrays: Vec<Packed<OwnedBytes>>) -> Option<Columns> {
        let docs = size as usize;
        let orders = &arrays[ORDERS..];
        let fits = arrays[..NUMBERS].iter().all(|array| array.len() == docs)
            && arrays[LABELS].len() == docs * ROW
            && arrays[LONG].len() == arrays[LONG_ENDS].len()
            && last(&arrays[LONG_ENDS]) == arrays[LONG_LABELS].len() as u64
            && arrays[ACTIVE].len() == docs.div_ceil(64)
            && arrays[ACTIVE].width() == 8
            && arrays[BY_TEAM].len() == docs
            && arrays[TOTALS].len() == arrays[NAME_ENDS].len()
            && orders.iter().all(|order| order.len() == orders[0].len());
        if !fits {
            return None;
        }
        let active = Docs::of_words((0..docs.div_ceil(64)).map(|word| arrays[ACTIVE].get(word)).collect());
        let text = arrays[NAMES].bytes();
        let mut names = Vec::with_capacity(arrays[NAME_ENDS].len());
        let mut start = 0;
        for name in 0..arrays[NAME_ENDS].len() {
            let end = usize::try_from(arrays[NAME_ENDS].get(name)).ok()?;
            names.push(std::str::from_utf8(text.get(start..end)?).ok()?.to_owned());
            start = end;
        }
        Some(Columns { size, arrays, active, names })
    }

    /// How many documents the segment was written with.
    pub(crate) const fn size(&self) -> u32 {
        self.size
    }

    /// The documents of the stage `active`, dead ones among them.
    pub(crate) const fn active(&self) -> &Docs {
        &self.active
    }

    /// The labels of the segment, sorted; a label's place here is its ordinal.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// How many active documents have each label, by ordinal, dead ones among them.
    pub(crate) fn totals(&self) -> Vec<u32> {
        (0..self.names.len()).map(|label| self.arrays[TOTALS].get(label) as u32).collect()
    }

    #[inline]
    pub(crate) fn get(&self, number: Number, doc: DocId) -> u64 {
        self.arrays[number as usize].get(doc as usize)
    }

    /// Keeps the documents whose number lies between the two.
    pub(crate) fn retain_between(&self, number: Number, docs: &mut Docs, least: u64, most: u64) -> u64 {
        self.arrays[number as usize].retain_between(docs, least, most)
    }

    /// How many active documents an order lists.
    pub(crate) fn ordered(&self) -> usize {
        self.arrays[ORDERS].len()
    }

    /// The document at a place of an order.
    #[inline]
    pub(crate) fn at(&self, order: Order, place: usize) -> DocId {
        self.arrays[ORDERS + order as usize].get(place) as DocId
    }

    /// The documents of a team in rising order, dead ones among them.
    pub(crate) fn team(&self, team: TeamNumber) -> impl Iterator<Item = DocId> + '_ {
        let by_team = &self.arrays[BY_TEAM];
        let first = |larger: bool| {
            by_team.partition_point(|doc| {
                let other = self.get(Number::Team, doc as DocId);
                other < team || (larger && other == team)
            })
        };
        (first(false)..first(true)).map(|place| by_team.get(place) as DocId)
    }

    /// The ordinals of a document's labels.
    #[inline]
    pub(crate) fn labels(&self, doc: DocId) -> impl Iterator<Item = u32> + '_ {
        let (row, long) = self.row(doc);
        let row = row.map(|cell| self.arrays[LABELS].get(cell) as u32);
        row.chain(long.map(|cell| self.arrays[LONG_LABELS].get(cell) as u32))
    }

    /// Where a document's labels stand: cells of its row, and of the labels that did not fit there.
    #[inline]
    fn row(&self, doc: DocId) -> (Range<usize>, Range<usize>) {
        let first = doc as usize * ROW;
        let count = self.arrays[LABELS].get(first) as usize;
        if count < ROW {
            (first + 1..first + 1 + count, 0..0)
        } else {
            (first + 1..first + ROW, self.long(doc))
        }
    }

    /// The cells of a document's further labels. Few documents have any.
    #[cold]
    fn long(&self, doc: DocId) -> Range<usize> {
        let (long, ends) = (&self.arrays[LONG], &self.arrays[LONG_ENDS]);
        let place = long.partition_point(|other| other < u64::from(doc));
        let start = if place == 0 { 0 } else { ends.get(place - 1) };
        start as usize..ends.get(place) as usize
    }

    /// Adds the labels of these documents to a counter for each ordinal.
    pub(crate) fn count_labels(&self, mut docs: impl Iterator<Item = DocId>, counts: &mut [u32]) {
        let labels = &self.arrays[LABELS];
        // The rows of scattered documents are rarely in a cache. Asking for those of a whole batch before any of them is
        // counted lets the memory work on all of them at once.
        let mut batch = Vec::with_capacity(LABEL_BATCH);
        loop {
            batch.clear();
            batch.extend(docs.by_ref().take(LABEL_BATCH));
            if batch.is_empty() {
                return;
            }
            black_box(batch.iter().fold(0, |any, doc| any ^ labels.get(*doc as usize * ROW)));
            for doc in &batch {
                let (row, long) = self.row(*doc);
                labels.for_each(row, |label| counts[label as usize] += 1);
                self.arrays[LONG_LABELS].for_each(long, |label| counts[label as usize] += 1);
            }
        }
    }
}

/// The last value of an array, 0 for an empty one.
fn last(array: &Packed<OwnedBytes>) -> u64 {
    array.len().checked_sub(1).map_or(0, |last| array.get(last))
}

/// Writes arrays, in their places, as a file of columns.
fn write(size: usize, arrays: &[Packed<Vec<u8>>; ARRAYS], out: &mut impl Write) -> io::Result<()> {
    out.write_all(MAGIC)?;
    out.write_all(&(size as u64).to_le_bytes())?;
    for array in arrays {
        out.write_all(&u64::from(array.width()).to_le_bytes())?;
        out.write_all(&(array.len() as u64).to_le_bytes())?;
    }
    let mut end = HEADER;
    for array in arrays {
        let start = end.next_multiple_of(ALIGNMENT);
        out.write_all(&[0; ALIGNMENT][..start - end])?;
        out.write_all(array.bytes())?;
        end = start + array.bytes().len();
    }
    Ok(())
}
