//! Filters as conditions on the numbers and labels of a document.
//!
//! Conditions can be evaluated for one document during a scan, or for a whole set of documents.

use tantivy::DocId;

use crate::columns::Columns;
use crate::docs::Docs;
use crate::document::TeamNumber;
use crate::error::Error;
use crate::facets::Facet;
use crate::number::{Number, State, present};
use crate::search::{Bounds, Filters};
use crate::segment::{Postings, View};

/// Number of postings that can be read in the time of checking one document's labels, which are scattered in
/// memory.
const POSTINGS_PER_LOOK: u64 = 32;

/// Filters, prepared for the segments of a snapshot.
pub(crate) struct Conditions {
    team: Option<TeamNumber>,
    /// Numeric columns, each with the inclusive minimum and maximum of its encoded value.
    ranges: Vec<(Number, u64, u64)>,
    /// Bits of the state that must be set, and bits that must not be set.
    set: u64,
    unset: u64,
    /// Stages that match, as a bit set.
    stages: u64,
    tiers: Option<Vec<u64>>,
    /// For each segment, the lists of labels; a document needs one label of each list.
    labels: Vec<Vec<AnyOf>>,
}

/// A list of labels of which a document must have at least one.
struct AnyOf {
    names: Vec<String>,
    /// Ordinals of the names. Names that the segment does not have are left out.
    ordinals: Vec<u32>,
}

impl Conditions {
    pub(crate) fn of(filters: &Filters, views: &[impl AsRef<View>]) -> Conditions {
        let mut set = 0;
        let mut unset = 0;
        for (wanted, bit) in [
            (filters.certified, State::CERTIFIED),
            (filters.active_bids, State::ACTIVE_BIDS),
            (filters.rare_languages, State::RARE_LANGUAGES),
            (filters.sample_available == Some(true), State::SAMPLE),
        ] {
            set |= if wanted { bit } else { 0 };
        }
        if filters.sample_available == Some(false) {
            unset = State::SAMPLE;
        }
        let stages = filters.stages.iter().fold(0, |stages, stage| stages | 1 << (*stage as u64));
        let lists = label_lists(filters);
        let labels = views.iter().map(|view| {
            let names = view.as_ref().segment.columns.names();
            lists.iter().map(|list| AnyOf::of(list, names)).collect()
        });
        Conditions {
            team: filters.team,
            ranges: ranges(filters),
            set,
            unset,
            stages: if filters.stages.is_empty() { u64::MAX } else { stages },
            tiers: filters.vendor_tiers.clone(),
            labels: labels.collect(),
        }
    }

    /// Returns whether a document meets all conditions.
    pub(crate) fn accept(&self, segment: usize, columns: &Columns, doc: DocId) -> bool {
        self.accepts_state(columns.get(Number::State, doc))
            && self.team.is_none_or(|team| columns.get(Number::Team, doc) == team)
            && self
                .ranges
                .iter()
                .all(|(number, least, most)| (least..=most).contains(&&columns.get(*number, doc)))
            && self.accepts_tier(columns, doc)
            && self.labels[segment].iter().all(|any| any.accepts(columns, doc))
    }

    /// Retains the documents of a segment that meet all conditions, and returns how many are left.
    pub(crate) fn narrow(&self, segment: usize, view: &View, docs: &mut Docs) -> Result<u64, Error> {
        let columns = &view.segment.columns;
        let mut left = docs.count();
        if let Some(team) = self.team {
            left = docs.intersect(&Docs::of(columns.size(), view.team(team)));
        }
        // Labels are checked first if their postings are short enough: reading postings is sequential, and
        // avoids random access to numbers. Labels that would have to be looked up for each document are
        // checked after the numbers, which are closer together in memory.
        let mut looked_at = Vec::new();
        for any in &self.labels[segment] {
            let postings = any.postings(view)?;
            if postings.iter().map(Postings::count).sum::<u64>() > left * POSTINGS_PER_LOOK {
                looked_at.push(any);
                continue;
            }
            let mut found = Docs::none(columns.size());
            postings.iter().try_for_each(|postings| postings.fill(&mut found))?;
            left = docs.intersect(&found);
        }
        for (number, least, most) in &self.ranges {
            left = columns.retain_between(*number, docs, *least, *most);
        }
        for any in looked_at {
            left = docs.retain(|doc| any.accepts(columns, doc));
        }
        if (self.set | self.unset) != 0 || self.stages != u64::MAX {
            left = docs.retain(|doc| self.accepts_state(columns.get(Number::State, doc)));
        }
        if self.tiers.is_some() {
            left = docs.retain(|doc| self.accepts_tier(columns, doc));
        }
        Ok(left)
    }

    /// Returns an upper bound of the documents in a segment that meet the conditions, based on team and
    /// labels only.
    pub(crate) fn at_most(&self, segment: usize, view: &View) -> Result<u64, Error> {
        let mut most = view.visible_count;
        if let Some(team) = self.team {
            most = most.min(view.team(team).count() as u64);
        }
        for any in &self.labels[segment] {
            most = most.min(any.postings(view)?.iter().map(Postings::count).sum());
        }
        Ok(most)
    }

    fn accepts_state(&self, state: u64) -> bool {
        state & self.set == self.set
            && state & self.unset == 0
            && self.stages >> (state & State::STAGE) & 1 == 1
    }

    fn accepts_tier(&self, columns: &Columns, doc: DocId) -> bool {
        self.tiers.as_ref().is_none_or(|tiers| tiers.contains(&columns.get(Number::VendorTier, doc)))
    }
}

impl AnyOf {
    fn of(list: &[String], segment: &[String]) -> AnyOf {
        let mut names = list.to_vec();
        names.retain(|name| segment.binary_search(name).is_ok());
        names.sort_unstable();
        names.dedup();
        let ordinals = names.iter().filter_map(|name| segment.binary_search(name).ok());
        AnyOf { ordinals: ordinals.map(|ordinal| ordinal as u32).collect(), names }
    }

    fn accepts(&self, columns: &Columns, doc: DocId) -> bool {
        !self.ordinals.is_empty() && columns.labels(doc).any(|label| self.ordinals.contains(&label))
    }

    fn postings<'a>(&self, view: &'a View) -> Result<Vec<Postings<'a>>, Error> {
        let labels = &view.segment.labels;
        self.names.iter().filter_map(|name| Postings::of(labels, name).transpose()).collect()
    }
}

fn label_lists(filters: &Filters) -> Vec<Vec<String>> {
    let lists = [
        (Facet::Tags, &filters.tags),
        (Facet::TagSlugs, &filters.tag_slugs),
        (Facet::AssetTypes, &filters.asset_types),
        (Facet::Languages, &filters.languages),
        (Facet::FileExtensions, &filters.file_extensions),
        (Facet::RoboticsFormats, &filters.robotics_formats),
        (Facet::Capabilities, &filters.capabilities),
    ];
    let filtered = lists.into_iter().filter(|(_, values)| !values.is_empty());
    filtered.map(|(facet, values)| values.iter().map(|value| facet.label(value)).collect()).collect()
}

fn ranges(filters: &Filters) -> Vec<(Number, u64, u64)> {
    let always = [
        (Number::VendorTier, filters.vendor_tier),
        (Number::Tasks, filters.tasks),
        (Number::Loc, filters.loc),
        (Number::ZipFiles, filters.zip_files),
        (Number::ZipBytes, filters.zip_bytes),
        (Number::Codebases, filters.codebases),
        (Number::Tasksets, filters.tasksets),
        (Number::Environments, filters.environments),
        (Number::RoboticsDatasets, filters.robotics_datasets),
        (Number::RawData, filters.raw_data),
        (Number::Assets, Bounds { min: None, max: filters.no_assets.then_some(0) }),
    ];
    let sometimes = [
        (Number::Price, filters.price),
        (Number::SamplePrice, filters.sample_price),
        (Number::PricePerTask, filters.price_per_task),
    ];
    let bounded = |(_, bounds): &(Number, Bounds)| *bounds != Bounds::default();
    let plain = |bounds: Bounds| (bounds.min.unwrap_or(0), bounds.max.unwrap_or(u64::MAX));
    // An absent number is encoded as 0, and therefore below every bound.
    let shifted = |bounds: Bounds| {
        let (least, most) = plain(bounds);
        (present(Some(least)), present(Some(most)))
    };
    let always = always.into_iter().filter(bounded).map(|(number, bounds)| (number, plain(bounds)));
    let sometimes = sometimes.into_iter().filter(bounded).map(|(number, bounds)| (number, shifted(bounds)));
    always.chain(sometimes).map(|(number, (least, most))| (number, least, most)).collect()
}
