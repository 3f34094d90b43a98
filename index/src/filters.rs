//! Filters as conditions on the numbers and labels of a document.
//!
//! Conditions can be evaluated for one document during a scan, or for a whole set of documents.

use std::collections::BTreeSet;
use std::sync::Arc;

use tantivy::DocId;

use crate::columns::Columns;
use crate::doc_bitmap::DocBitmap;
use crate::document::{ListingRowId, TeamRowId};
use crate::error::Error;
use crate::measure::Measure;
use crate::numeric::{NumericColumn, StateBits, encode_date, encode_measure};
use crate::postings::Postings;
use crate::search::{Bounds, Filters};
use crate::segment::SegmentView;

/// Number of postings that can be read in the time of checking one document's labels, which are scattered in
/// memory.
const POSTINGS_PER_LABEL_CHECK: u64 = 32;

/// Filters, prepared for the segments of a snapshot.
pub(crate) struct Conditions {
    team: Option<TeamRowId>,
    /// Measures, each with the inclusive minimum and maximum of its encoded value.
    ranges: Vec<(Measure, u64, u64)>,
    /// Bits of the state that must be set, and bits that must not be set.
    set: u64,
    unset: u64,
    /// Stages that match, as a bit set.
    stages: u64,
    tiers: Option<Vec<u64>>,
    teams: Option<Vec<TeamRowId>>,
    listings: Option<Arc<BTreeSet<ListingRowId>>>,
    /// Inclusive bounds of the encoded time of publication; `None` if it is not bounded.
    published: Option<(u64, u64)>,
    /// For each segment, the lists of labels; a document needs one label of each list.
    labels: Vec<Vec<AnyLabel>>,
}

/// A list of labels of which a document must have at least one.
struct AnyLabel {
    names: Vec<String>,
    /// Ordinals of the names. Names that the segment does not have are left out.
    ordinals: Vec<u32>,
}

impl Conditions {
    pub(crate) fn new(filters: &Filters, views: &[impl AsRef<SegmentView>]) -> Conditions {
        let mut set = 0;
        let mut unset = 0;
        for (is_required, bit) in [
            (filters.certified, StateBits::CERTIFIED),
            (filters.active_bids, StateBits::ACTIVE_BIDS),
            (filters.rare_languages, StateBits::RARE_LANGUAGES),
            (filters.sample_available == Some(true), StateBits::SAMPLE),
        ] {
            set |= if is_required { bit } else { 0 };
        }
        if filters.sample_available == Some(false) {
            unset = StateBits::SAMPLE;
        }
        let stages = filters.stages.iter().fold(0, |stages, stage| stages | 1 << (*stage as u64));
        let lists = label_lists(filters);
        let labels = views.iter().map(|view| {
            let names = view.as_ref().segment.columns.label_names();
            lists.iter().map(|list| AnyLabel::new(list, names)).collect()
        });
        Conditions {
            team: filters.team,
            ranges: ranges(filters),
            set,
            unset,
            stages: if filters.stages.is_empty() { u64::MAX } else { stages },
            tiers: filters.vendor_tiers.clone(),
            teams: filters.teams.clone(),
            listings: filters.listings.clone(),
            published: published_range(filters.published),
            labels: labels.collect(),
        }
    }

    /// Returns whether a document meets all conditions.
    pub(crate) fn accepts_doc(&self, segment: usize, columns: &Columns, doc: DocId) -> bool {
        self.accepts_state(columns.get(NumericColumn::State, doc))
            && self.team.is_none_or(|team| columns.get(NumericColumn::Team, doc) == team)
            && self.ranges.iter().all(|(measure, min, max)| {
                (min..=max).contains(&&columns.get(NumericColumn::Measure(*measure), doc))
            })
            && self.accepts_tier(columns, doc)
            && self.accepts_sets(columns, doc)
            && self.labels[segment].iter().all(|any| any.accepts(columns, doc))
    }

    /// Retains the documents of a segment that meet all conditions, and returns how many are left.
    pub(crate) fn retain(
        &self,
        segment: usize,
        view: &SegmentView,
        docs: &mut DocBitmap,
    ) -> Result<u64, Error> {
        let columns = &view.segment.columns;
        let mut remaining = docs.count();
        if let Some(team) = self.team {
            remaining = docs.intersect(&DocBitmap::from_docs(columns.size(), view.team_docs(team)));
        }
        // Labels are checked first if their postings are short enough: reading postings is sequential, and
        // avoids random access to numbers. Labels that would have to be looked up for each document are
        // checked after the numbers, which are closer together in memory.
        let mut checked_per_doc = Vec::new();
        for any in &self.labels[segment] {
            let postings = any.postings(view)?;
            if postings.iter().map(Postings::count).sum::<u64>() > remaining * POSTINGS_PER_LABEL_CHECK {
                checked_per_doc.push(any);
                continue;
            }
            let mut found = DocBitmap::empty(columns.size());
            postings.iter().try_for_each(|postings| postings.insert_into(&mut found))?;
            remaining = docs.intersect(&found);
        }
        for (measure, min, max) in &self.ranges {
            remaining = columns.retain_between(NumericColumn::Measure(*measure), docs, *min, *max);
        }
        if let Some((min, max)) = self.published {
            remaining = columns.retain_between(NumericColumn::Published, docs, min, max);
        }
        for any in checked_per_doc {
            remaining = docs.retain(|doc| any.accepts(columns, doc));
        }
        if (self.set | self.unset) != 0 || self.stages != u64::MAX {
            remaining = docs.retain(|doc| self.accepts_state(columns.get(NumericColumn::State, doc)));
        }
        if self.tiers.is_some() {
            remaining = docs.retain(|doc| self.accepts_tier(columns, doc));
        }
        if self.teams.is_some() || self.listings.is_some() {
            remaining = docs.retain(|doc| self.accepts_sets(columns, doc));
        }
        Ok(remaining)
    }

    /// Returns an upper bound of the documents in a segment that meet the conditions, based on team and
    /// labels only.
    pub(crate) fn max_matches(&self, segment: usize, view: &SegmentView) -> Result<u64, Error> {
        let mut max = view.visible_count;
        if let Some(team) = self.team {
            max = max.min(view.team_docs(team).count() as u64);
        }
        for any in &self.labels[segment] {
            max = max.min(any.postings(view)?.iter().map(Postings::count).sum());
        }
        Ok(max)
    }

    fn accepts_state(&self, state: u64) -> bool {
        state & self.set == self.set
            && state & self.unset == 0
            && self.stages >> (state & StateBits::STAGE) & 1 == 1
    }

    /// Whether a document is of one of the teams, one of the listings, and published in the bounds.
    fn accepts_sets(&self, columns: &Columns, doc: DocId) -> bool {
        let is_published_within =
            |(min, max): (u64, u64)| (min..=max).contains(&columns.get(NumericColumn::Published, doc));
        let has = |column| columns.get(column, doc);
        self.teams.as_ref().is_none_or(|teams| teams.contains(&has(NumericColumn::Team)))
            && self.listings.as_ref().is_none_or(|listings| listings.contains(&has(NumericColumn::Listing)))
            && self.published.is_none_or(is_published_within)
    }

    fn accepts_tier(&self, columns: &Columns, doc: DocId) -> bool {
        let tier = NumericColumn::Measure(Measure::VendorTier);
        self.tiers.as_ref().is_none_or(|tiers| tiers.contains(&columns.get(tier, doc)))
    }
}

impl AnyLabel {
    fn new(list: &[String], segment: &[String]) -> AnyLabel {
        let mut names = list.to_vec();
        names.retain(|name| segment.binary_search(name).is_ok());
        names.sort_unstable();
        names.dedup();
        let ordinals = names.iter().filter_map(|name| segment.binary_search(name).ok());
        AnyLabel { ordinals: ordinals.map(|ordinal| ordinal as u32).collect(), names }
    }

    fn accepts(&self, columns: &Columns, doc: DocId) -> bool {
        !self.ordinals.is_empty() && columns.labels(doc).any(|label| self.ordinals.contains(&label))
    }

    fn postings<'a>(&self, view: &'a SegmentView) -> Result<Vec<Postings<'a>>, Error> {
        self.names.iter().filter_map(|name| view.segment.find_label(name).transpose()).collect()
    }
}

fn label_lists(filters: &Filters) -> Vec<Vec<String>> {
    let filtered = filters.labels.lists().into_iter().filter(|(_, values)| !values.is_empty());
    filtered.map(|(facet, values)| values.iter().map(|value| facet.label(value)).collect()).collect()
}

/// Returns the range of encoded times of publication; `None` if neither end is bounded.
fn published_range((min, max): (Option<i64>, Option<i64>)) -> Option<(u64, u64)> {
    let max_code = max.map_or(u64::MAX, |max| encode_date(Some(max)));
    // The smallest date excludes listings without one, whose code is less.
    (min.is_some() || max.is_some()).then(|| (encode_date(Some(min.unwrap_or(i64::MIN))), max_code))
}

/// Returns the measures that a search bounds, each with the inclusive range of encoded values that match.
fn ranges(filters: &Filters) -> Vec<(Measure, u64, u64)> {
    let mut ranges = Vec::new();
    for (measure, bounds) in filters.bounds.iter() {
        if *bounds != Bounds::default() {
            // The default minimum excludes missing values: their code is less than that of 0.
            let min = encode_measure(measure, bounds.min.or(Some(0)));
            let max = encode_measure(measure, bounds.max.or(Some(u64::MAX)));
            ranges.push((measure, min, max));
        }
    }
    if filters.no_assets {
        ranges.push((Measure::Assets, 0, 0));
    }
    ranges
}
