//! Numeric columns of a document, and the encoding of absent values, dates and flags as numbers.

use crate::document::{ListingDocument, Stage};

/// A numeric column; every document has a value in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Listing,
    Team,
    /// Stage and flags; see [`State`].
    State,
    /// Rank among the featured listings; 0 if not featured.
    Featured,
    Published,
    Created,
    Digest,
    Price,
    SamplePrice,
    PricePerTask,
    VendorTier,
    Tasks,
    Loc,
    ZipFiles,
    ZipBytes,
    Codebases,
    Tasksets,
    Environments,
    RoboticsDatasets,
    RawData,
    Assets,
}

/// Number of numeric columns.
pub(crate) const NUMBERS: usize = Number::Assets as usize + 1;

/// The numeric values of one document, in the order of [`Number`].
pub(crate) type Row = [u64; NUMBERS];

/// Bits of [`Number::State`]. The lowest three are the index of the stage in [`Stage::ALL`].
pub(crate) struct State;

impl State {
    pub(crate) const STAGE: u64 = 0b111;
    pub(crate) const CERTIFIED: u64 = 1 << 3;
    pub(crate) const ACTIVE_BIDS: u64 = 1 << 4;
    pub(crate) const SAMPLE: u64 = 1 << 5;
    pub(crate) const RARE_LANGUAGES: u64 = 1 << 6;

    pub(crate) const fn is_active(state: u64) -> bool {
        state & State::STAGE == Stage::Active as u64
    }

    pub(crate) const fn is_certified(state: u64) -> bool {
        state & State::CERTIFIED != 0
    }
}

/// Encodes an optional number: 0 if absent, else the number plus one. The two largest numbers share an
/// encoding.
pub(crate) const fn present(value: Option<u64>) -> u64 {
    match value {
        Some(value) => value.saturating_add(1),
        None => 0,
    }
}

/// Encodes an optional date such that later dates are larger, and an absent date is the smallest.
pub(crate) const fn date(micros: Option<i64>) -> u64 {
    match micros {
        Some(micros) => (micros.cast_unsigned() ^ (1 << 63)).saturating_add(1),
        None => 0,
    }
}

/// Returns the numeric values of a document.
pub(crate) fn row(doc: &ListingDocument) -> Row {
    let flag = |holds: bool, bit: u64| if holds { bit } else { 0 };
    let state = doc.stage as u64
        | flag(doc.flags.certified, State::CERTIFIED)
        | flag(doc.flags.active_bids, State::ACTIVE_BIDS)
        | flag(doc.flags.sample_available, State::SAMPLE)
        | flag(doc.flags.rare_languages, State::RARE_LANGUAGES);
    let mut row = [0; NUMBERS];
    let measures = &doc.measures;
    for (number, value) in [
        (Number::Listing, doc.listing),
        (Number::Team, doc.team),
        (Number::State, state),
        (Number::Featured, present(doc.featured.map(u64::from))),
        (Number::Published, date(doc.published_at)),
        (Number::Created, date(Some(doc.created_at))),
        (Number::Digest, doc.digest()),
        (Number::Price, present(measures.price)),
        (Number::SamplePrice, present(measures.sample_price)),
        (Number::PricePerTask, present(measures.price_per_task)),
        (Number::VendorTier, measures.vendor_tier),
        (Number::Tasks, measures.tasks),
        (Number::Loc, measures.loc),
        (Number::ZipFiles, measures.zip_files),
        (Number::ZipBytes, measures.zip_bytes),
        (Number::Codebases, measures.codebases),
        (Number::Tasksets, measures.tasksets),
        (Number::Environments, measures.environments),
        (Number::RoboticsDatasets, measures.robotics_datasets),
        (Number::RawData, measures.raw_data),
        (Number::Assets, measures.assets),
    ] {
        row[number as usize] = value;
    }
    row
}
