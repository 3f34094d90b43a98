//! A query for the documents that a new segment replaces.

use tantivy::index::SegmentId;
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, TermQuery, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Score, SegmentReader, Term};

/// Matches the documents of a listing in all segments but one, which has its new document. The engine applies
/// deletions to segments that are added later, if no segment has applied them yet.
#[derive(Clone, Debug)]
pub(crate) struct ReplacedListing {
    listing: TermQuery,
    new_segment: SegmentId,
}

impl ReplacedListing {
    /// Creates a query from the term that identifies the listing.
    pub(crate) fn new(listing: Term, new_segment: SegmentId) -> ReplacedListing {
        ReplacedListing { listing: TermQuery::new(listing, IndexRecordOption::Basic), new_segment }
    }
}

impl Query for ReplacedListing {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(ReplacedWeight { listing: self.listing.weight(scoring)?, new_segment: self.new_segment }))
    }
}

struct ReplacedWeight {
    listing: Box<dyn Weight>,
    new_segment: SegmentId,
}

impl Weight for ReplacedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        if reader.segment_id() == self.new_segment {
            Ok(Box::new(EmptyScorer))
        } else {
            self.listing.scorer(reader, boost)
        }
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.listing.explain(reader, doc)
    }
}
