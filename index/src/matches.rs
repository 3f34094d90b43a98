//! Every document that a search matches, for sums and counts.

use std::ops::{ControlFlow, Range};

use tantivy::DocId;

use crate::document::{ListingRowId, TeamRowId};
use crate::error::Error;
use crate::facet::Facet;
use crate::filters::Conditions;
use crate::measure::Measure;
use crate::numeric::{self, NumericColumn, StateBits};
use crate::search::Search;
use crate::segment::SegmentView;
use crate::snapshot::Snapshot;

/// A document that a search matches.
#[derive(Clone, Copy)]
pub struct Match<'a> {
    view: &'a SegmentView,
    doc: DocId,
    segment: usize,
    /// For each facet, the ordinals of its labels in the segment.
    facets: &'a [Range<u32>; Facet::ALL.len()],
}

impl<'a> Match<'a> {
    /// Returns the row ID of the listing.
    pub fn listing(&self) -> ListingRowId {
        self.get(NumericColumn::Listing)
    }

    /// Returns the row ID of the vendor team.
    pub fn team(&self) -> TeamRowId {
        self.get(NumericColumn::Team)
    }

    /// Returns the value of a measure; `None` if the listing has none.
    pub fn measure(&self, measure: Measure) -> Option<u64> {
        numeric::decode_measure(measure, self.get(NumericColumn::Measure(measure)))
    }

    /// Returns the time of the latest publication in microseconds; `None` unless the listing is active.
    pub fn published_at(&self) -> Option<i64> {
        numeric::decode_date(self.get(NumericColumn::Published))
    }

    /// Returns the time of creation in microseconds.
    pub fn created_at(&self) -> Option<i64> {
        numeric::decode_date(self.get(NumericColumn::Created))
    }

    /// Whether the listing is certified.
    pub fn is_certified(&self) -> bool {
        self.has_state(StateBits::CERTIFIED)
    }

    /// Whether a sample is offered.
    pub fn has_sample(&self) -> bool {
        self.has_state(StateBits::SAMPLE)
    }

    /// Whether the listing has a submitted bid.
    pub fn has_active_bids(&self) -> bool {
        self.has_state(StateBits::ACTIVE_BIDS)
    }

    /// Returns the number of the segment that has the document.
    pub const fn segment(&self) -> usize {
        self.segment
    }

    /// Returns the values of a facet by their numbers, which [`Match::label`] names. A value has the same number in all documents of
    /// a segment.
    pub fn labels(&self, facet: Facet) -> impl Iterator<Item = u32> + 'a {
        let range = &self.facets[facet as usize];
        self.view.segment.columns.labels(self.doc).filter(move |number| range.contains(number))
    }

    /// Returns the value of a facet that has a number in the segment.
    pub fn label(&self, facet: Facet, number: u32) -> &'a str {
        facet.value(&self.view.segment.columns.label_names()[number as usize])
    }

    fn has_state(&self, bit: u64) -> bool {
        self.get(NumericColumn::State) & bit != 0
    }

    fn get(&self, column: NumericColumn) -> u64 {
        self.view.segment.columns.get(column, self.doc)
    }
}

impl Snapshot {
    /// Calls `visit` with each document that matches the scope, text, and filters of a search, in no particular
    /// order but segment by segment, until it breaks. The sort order and the page are ignored.
    pub fn for_each_match(
        &self,
        search: &Search,
        mut visit: impl FnMut(Match) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let matches = self.matching_docs(search)?;
        let conditions = Conditions::new(&search.filters, self.views());
        let found = self.apply_filters(&search.filters, &conditions, &matches.iter().collect::<Vec<_>>())?;
        for (segment, (view, docs)) in self.views().iter().zip(&found).enumerate() {
            let facets = Facet::ALL.map(|facet| facet.range(view.segment.columns.label_names()));
            for doc in docs.iter() {
                if visit(Match { view, doc, segment, facets: &facets }).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
