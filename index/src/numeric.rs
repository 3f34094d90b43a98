//! Numeric columns of a document, and the encoding of absent values, dates and flags as numbers.

use crate::document::{ListingDocument, Stage};
use crate::measure::Measure;

/// A numeric column; every document has a value in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumericColumn {
    Listing,
    Team,
    /// Stage and flags; see [`StateBits`].
    State,
    /// Rank among the featured listings; 0 if not featured.
    Featured,
    Published,
    Created,
    Digest,
    Measure(Measure),
}

/// Index of the first measure's column; the others follow in order.
const MEASURES: usize = 7;

impl NumericColumn {
    /// Returns the index of the column in a row, and among the arrays of a columns file.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        match self {
            NumericColumn::Listing => 0,
            NumericColumn::Team => 1,
            NumericColumn::State => 2,
            NumericColumn::Featured => 3,
            NumericColumn::Published => 4,
            NumericColumn::Created => 5,
            NumericColumn::Digest => 6,
            NumericColumn::Measure(measure) => MEASURES + measure as usize,
        }
    }
}

/// Number of numeric columns.
pub(crate) const NUMERIC_COLUMNS: usize = MEASURES + Measure::COUNT;

/// The numeric values of one document, by [index](NumericColumn::index).
pub(crate) type NumericRow = [u64; NUMERIC_COLUMNS];

/// Bits of [`NumericColumn::State`]. The lowest three are the index of the stage in [`Stage::ALL`].
pub(crate) struct StateBits;

impl StateBits {
    pub(crate) const STAGE: u64 = 0b111;
    pub(crate) const CERTIFIED: u64 = 1 << 3;
    pub(crate) const ACTIVE_BIDS: u64 = 1 << 4;
    pub(crate) const SAMPLE: u64 = 1 << 5;
    pub(crate) const RARE_LANGUAGES: u64 = 1 << 6;

    pub(crate) const fn is_active(state: u64) -> bool {
        state & StateBits::STAGE == Stage::Active as u64
    }

    pub(crate) const fn is_certified(state: u64) -> bool {
        state & StateBits::CERTIFIED != 0
    }
}

/// Encodes an optional number: 0 if absent, else the number plus one. The two largest numbers share an
/// encoding.
pub(crate) const fn encode_option(value: Option<u64>) -> u64 {
    match value {
        Some(value) => value.saturating_add(1),
        None => 0,
    }
}

/// Returns the number that [`encode_option`] encoded.
pub(crate) const fn decode_option(code: u64) -> Option<u64> {
    code.checked_sub(1)
}

/// Returns the value of a measure that [`encode_measure`] encoded.
pub(crate) const fn decode_measure(measure: Measure, code: u64) -> Option<u64> {
    if measure.is_optional() { decode_option(code) } else { Some(code) }
}

/// Returns the date that [`encode_date`] encoded, in microseconds.
pub(crate) const fn decode_date(code: u64) -> Option<i64> {
    match decode_option(code) {
        Some(date) => Some((date ^ (1 << 63)).cast_signed()),
        None => None,
    }
}

/// Encodes the value of a measure. The missing value of an optional measure is less than all others; the
/// missing value of another measure equals 0.
pub(crate) const fn encode_measure(measure: Measure, value: Option<u64>) -> u64 {
    match value {
        Some(value) if !measure.is_optional() => value,
        _ => encode_option(value),
    }
}

/// Encodes an optional date such that later dates are larger, and an absent date is the smallest.
pub(crate) const fn encode_date(micros: Option<i64>) -> u64 {
    match micros {
        Some(micros) => (micros.cast_unsigned() ^ (1 << 63)).saturating_add(1),
        None => 0,
    }
}

/// Returns the numeric values of a document.
pub(crate) fn numeric_row(doc: &ListingDocument) -> NumericRow {
    let flag = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
    let state = doc.stage as u64
        | flag(doc.flags.certified, StateBits::CERTIFIED)
        | flag(doc.flags.active_bids, StateBits::ACTIVE_BIDS)
        | flag(doc.flags.sample_available, StateBits::SAMPLE)
        | flag(doc.flags.rare_languages, StateBits::RARE_LANGUAGES);
    let mut row = [0; NUMERIC_COLUMNS];
    for (column, value) in [
        (NumericColumn::Listing, doc.listing),
        (NumericColumn::Team, doc.team),
        (NumericColumn::State, state),
        (NumericColumn::Featured, encode_option(doc.featured.map(u64::from))),
        (NumericColumn::Published, encode_date(doc.published_at)),
        (NumericColumn::Created, encode_date(Some(doc.created_at))),
        (NumericColumn::Digest, doc.digest()),
    ] {
        row[column.index()] = value;
    }
    for (measure, value) in doc.measures.iter() {
        row[NumericColumn::Measure(measure).index()] = encode_measure(measure, *value);
    }
    row
}
