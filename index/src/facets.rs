//! Facets: how many documents have each label.
//!
//! A snapshot assigns global ordinals to the labels of all its segments once; counting then only adds
//! numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::columns::Columns;
use crate::facet::Facet;

/// Counts by value. Values without documents are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Domain tag slugs.
    pub tags: BTreeMap<String, u64>,
    /// Asset kinds.
    pub asset_types: BTreeMap<String, u64>,
    /// Environment capabilities.
    pub capabilities: BTreeMap<String, u64>,
    /// File extensions in raw data.
    pub file_extensions: BTreeMap<String, u64>,
    /// Language slugs of codebases.
    pub languages: BTreeMap<String, u64>,
    /// Stage names; see [`Stage::name`](crate::document::Stage::name).
    pub lifecycle_stages: BTreeMap<String, u64>,
    /// Robotics dataset formats.
    pub robotics_formats: BTreeMap<String, u64>,
    /// Inventory tag slugs.
    pub tag_slugs: BTreeMap<String, u64>,
}

impl Facets {
    /// Iterates over the facets with their names, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &BTreeMap<String, u64>)> {
        [
            ("asset_types", &self.asset_types),
            ("capabilities", &self.capabilities),
            ("file_extensions", &self.file_extensions),
            ("languages", &self.languages),
            ("lifecycle_stages", &self.lifecycle_stages),
            ("robotics_formats", &self.robotics_formats),
            ("tag_slugs", &self.tag_slugs),
            ("tags", &self.tags),
        ]
        .into_iter()
    }

    /// Returns the counts of one facet.
    pub const fn values(&self, facet: Facet) -> &BTreeMap<String, u64> {
        match facet {
            Facet::Tags => &self.tags,
            Facet::AssetTypes => &self.asset_types,
            Facet::Capabilities => &self.capabilities,
            Facet::FileExtensions => &self.file_extensions,
            Facet::Languages => &self.languages,
            Facet::LifecycleStages => &self.lifecycle_stages,
            Facet::RoboticsFormats => &self.robotics_formats,
            Facet::TagSlugs => &self.tag_slugs,
        }
    }

    fn get_mut(&mut self, facet: Facet) -> &mut BTreeMap<String, u64> {
        match facet {
            Facet::Tags => &mut self.tags,
            Facet::AssetTypes => &mut self.asset_types,
            Facet::Capabilities => &mut self.capabilities,
            Facet::FileExtensions => &mut self.file_extensions,
            Facet::Languages => &mut self.languages,
            Facet::LifecycleStages => &mut self.lifecycle_stages,
            Facet::RoboticsFormats => &mut self.robotics_formats,
            Facet::TagSlugs => &mut self.tag_slugs,
        }
    }
}

/// The labels of all segments of a snapshot, with global ordinals.
#[derive(Default)]
pub(crate) struct LabelDictionary {
    /// All labels, sorted. The index of a label is its global ordinal.
    names: Arc<[String]>,
    /// For each segment, the global ordinal of each of its own ordinals.
    global_ordinals: Vec<Arc<[u32]>>,
}

impl LabelDictionary {
    /// Assigns global ordinals to the labels of these segments, starting from the dictionary of the earlier
    /// snapshot. While new segments have no new labels, which is nearly always the case, only their own
    /// ordinals are looked up.
    pub(crate) fn new<'a>(
        segments: impl Iterator<Item = &'a Columns> + Clone,
        earlier: &LabelDictionary,
    ) -> LabelDictionary {
        let find_ordinals = |columns: &Columns| find_all_sorted(columns.label_names(), &earlier.names);
        if let Some(ordinals) = segments.clone().map(find_ordinals).collect() {
            return LabelDictionary { names: Arc::clone(&earlier.names), global_ordinals: ordinals };
        }
        let names: BTreeSet<&String> = segments.clone().flat_map(Columns::label_names).collect();
        let names: Arc<[String]> = names.into_iter().cloned().collect();
        let ordinals =
            segments.filter_map(|columns| find_all_sorted(columns.label_names(), &names)).collect();
        LabelDictionary { names, global_ordinals: ordinals }
    }

    /// Returns a counter for every label, starting at zero.
    pub(crate) fn counter(&self) -> LabelCounter<'_> {
        LabelCounter { dictionary: self, counts: vec![0; self.names.len()] }
    }
}

/// Returns the index of each of the sorted names among the other sorted names; `None` if one is missing.
fn find_all_sorted(names: &[String], other_names: &[String]) -> Option<Arc<[u32]>> {
    let mut indexes = Vec::with_capacity(names.len());
    let mut index = 0;
    for name in names {
        index += other_names[index..].iter().position(|other| other >= name)?;
        if other_names[index] != *name {
            return None;
        }
        indexes.push(index as u32);
    }
    Some(indexes.into())
}

/// Adds up label counts of segments.
pub(crate) struct LabelCounter<'a> {
    dictionary: &'a LabelDictionary,
    counts: Vec<u64>,
}

impl LabelCounter<'_> {
    /// Adds a segment's counts, given by its own ordinals.
    pub(crate) fn add(&mut self, segment: usize, counts: &[u32]) {
        for (ordinal, count) in self.dictionary.global_ordinals[segment].iter().zip(counts) {
            self.counts[*ordinal as usize] += u64::from(*count);
        }
    }

    /// Returns the counts as facets.
    pub(crate) fn to_facets(&self) -> Facets {
        let mut facets = Facets::default();
        let mut start = 0;
        for facet in Facet::ALL {
            let names = &self.dictionary.names[start..];
            let length = names.partition_point(|name| name.starts_with(facet.prefix()));
            let counted = names[..length].iter().zip(&self.counts[start..]).filter(|(_, count)| **count > 0);
            let counted = counted.map(|(name, count)| (name[1..].to_owned(), *count));
            *facets.get_mut(facet) = counted.collect();
            start += length;
        }
        facets
    }
}
