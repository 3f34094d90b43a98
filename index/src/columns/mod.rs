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
//! The file is a list of packed arrays: a header of widths and lengths, then their cells.

mod build;
mod component;
mod number;
mod packed;

use std::hint::black_box;
use std::io::{self, Write};

use tantivy::DocId;
use tantivy::directory::OwnedBytes;

pub(crate) use self::component::{Component, EXTENSION};
pub(crate) use self::number::{NUMBERS, Number, Row, State, present, row};
use self::packed::Packed;
use crate::docs::Docs;
use crate::document::TeamNumber;
use crate::error::Error;
use crate::order::Order;

const MAGIC: &[u8; 8] = b"MKTCOLS1";

// The arrays after the numbers, by place.
const LABEL_STARTS: usize = NUMBERS;
const LABELS: usize = NUMBERS + 1;
const ACTIVE: usize = NUMBERS + 2;
const NAME_ENDS: usize = NUMBERS + 3;
const NAMES: usize = NUMBERS + 4;
const TOTALS: usize = NUMBERS + 5;
const BY_TEAM: usize = NUMBERS + 6;
const ORDERS: usize = NUMBERS + 7;
const ARRAYS: usize = ORDERS + Order::ALL.len();
const HEADER: usize = MAGIC.len() + 8 + ARRAYS * 16;

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
        let mut start = HEADER;
        for array in 0..ARRAYS {
            let width = u8::try_from(header.get(1 + 2 * array)).map_err(|_| broken())?;
            let length = usize::try_from(header.get(2 + 2 * array)).map_err(|_| broken())?;
            let end = length.checked_mul(usize::from(width)).and_then(|length| start.checked_add(length));
            let end = end.filter(|end| *end <= bytes.len()).ok_or_else(broken)?;
            arrays.push(Packed::of(width, bytes.slice(start..end)).ok_or_else(broken)?);
            start = end;
        }
        let columns = Columns::read(size, arrays).ok_or_else(broken)?;
        if start == bytes.len() { Ok(columns) } else { Err(broken()) }
    }

    fn read(size: u32, arrays: Vec<Packed<OwnedBytes>>) -> Option<Columns> {
        let docs = size as usize;
        let (starts, orders) = (&arrays[LABEL_STARTS], &arrays[ORDERS..]);
        let fits = arrays[..NUMBERS].iter().all(|array| array.len() == docs)
            && starts.len() == docs + 1
            && starts.get(docs) == arrays[LABELS].len() as u64
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
            let (mut low, mut high) = (0, by_team.len());
            while low < high {
                let middle = low.midpoint(high);
                let other = self.get(Number::Team, by_team.get(middle) as DocId);
                if other < team || (larger && other == team) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        (first(false)..first(true)).map(|place| by_team.get(place) as DocId)
    }

    /// The ordinals of a document's labels.
    #[inline]
    pub(crate) fn labels(&self, doc: DocId) -> impl Iterator<Item = u32> + '_ {
        let starts = &self.arrays[LABEL_STARTS];
        let (start, end) = (starts.get(doc as usize), starts.get(doc as usize + 1));
        (start as usize..end as usize).map(|entry| self.arrays[LABELS].get(entry) as u32)
    }

    /// Adds the labels of these documents to a counter for each ordinal.
    pub(crate) fn count_labels(&self, mut docs: impl Iterator<Item = DocId>, counts: &mut [u32]) {
        let (starts, labels) = (&self.arrays[LABEL_STARTS], &self.arrays[LABELS]);
        // The labels of scattered documents are rarely in a cache. Asking for those of a whole batch before any of them
        // is counted lets the memory work on all of them at once.
        let mut batch = Vec::with_capacity(LABEL_BATCH);
        loop {
            batch.clear();
            let entries = docs.by_ref().take(LABEL_BATCH).map(|doc| {
                let (start, end) = (starts.get(doc as usize), starts.get(doc as usize + 1));
                start as usize..end as usize
            });
            batch.extend(entries);
            if batch.is_empty() {
                return;
            }
            let filled = batch.iter().filter(|entries| !entries.is_empty());
            black_box(filled.fold(0, |any, entries| any ^ labels.get(entries.start)));
            for entries in batch.drain(..) {
                labels.for_each(entries, |label| counts[label as usize] += 1);
            }
        }
    }
}

/// Writes arrays, in their places, as a file of columns.
fn write(size: usize, arrays: &[Packed<Vec<u8>>; ARRAYS], out: &mut impl Write) -> io::Result<()> {
    out.write_all(MAGIC)?;
    out.write_all(&(size as u64).to_le_bytes())?;
    for array in arrays {
        out.write_all(&u64::from(array.width()).to_le_bytes())?;
        out.write_all(&(array.len() as u64).to_le_bytes())?;
    }
    arrays.iter().try_for_each(|array| out.write_all(array.bytes()))
}
