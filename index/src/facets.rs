//! Facets: how many documents have each label.
//!
//! A snapshot assigns global ordinals to the labels of all its segments once; counting then only adds
//! numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::columns::Columns;
use crate::facet::Facet;

/// For each facet, counts by value. Values without documents are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets([BTreeMap<String, u64>; Facet::ALL.len()]);

impl Facets {
    /// Computes the counts of each facet, in the order of [`Facet::ALL`].
    pub fn from_fn(values: impl FnMut(Facet) -> BTreeMap<String, u64>) -> Facets {
        Facets(Facet::ALL.map(values))
    }

    /// Iterates over the facets with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &BTreeMap<String, u64>)> {
        Facet::ALL.into_iter().map(Facet::name).zip(&self.0)
    }

    /// Returns the counts of one facet.
    pub const fn values(&self, facet: Facet) -> &BTreeMap<String, u64> {
        &self.0[facet as usize]
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
        let mut start = 0;
        Facets::from_fn(|facet| {
            let names = &self.dictionary.names[start..];
            let length = names.partition_point(|name| name.starts_with(facet.prefix()));
            let counted = names[..length].iter().zip(&self.counts[start..]).filter(|(_, count)| **count > 0);
            let counted = counted.map(|(name, count)| (name[1..].to_owned(), *count));
            let counts = counted.collect();
            start += length;
            counts
        })
    }
}
