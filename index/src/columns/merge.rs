//! Merges the columns of segments. Every array is copied from those of the sources, so a merge needs little memory for
//! any number of documents.
//!
//! The result is the file that [`ColumnsBuilder`](super::builder::ColumnsBuilder) would write for the same documents.

use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, Write};

use tantivy::DocId;

use super::file_writer::{FileWriter, Shape};
use super::packed::width_of;
use super::{
    ACTIVE_BITS, ARRAYS, Columns, DOCS_BY_TEAM, LABEL_NAME_ENDS, LABEL_NAMES, LABEL_ROW_CELLS, LABEL_TOTALS,
    LABELS, ORDERS, OVERFLOW_DOCS, OVERFLOW_ENDS, OVERFLOW_LABELS,
};
use crate::numeric::{NUMERIC_COLUMNS, NumericColumn};
use crate::order::Order;

/// Mark of a document that is not in the merged segment.
const DELETED: DocId = DocId::MAX;

/// A segment that is merged.
pub(super) struct Source {
    columns: Columns,
    /// The merged document of each document; `None` if they follow one another.
    merged: Option<Vec<DocId>>,
    /// The first merged document, and the number of them.
    first: DocId,
    len: u32,
}

impl Source {
    /// Creates the source after others, which have `first` documents. `alive` are its documents that are not deleted;
    /// `None` for all.
    pub(super) fn new(columns: Columns, first: DocId, alive: Option<impl Iterator<Item = DocId>>) -> Source {
        let mut len = columns.size();
        let merged = alive.map(|alive| {
            let mut merged = vec![DELETED; columns.size() as usize];
            len = 0;
            for doc in alive {
                merged[doc as usize] = first + len;
                len += 1;
            }
            merged
        });
        Source { columns, merged, first, len }
    }

    /// Returns the first merged document of the next source.
    pub(super) const fn end(&self) -> DocId {
        self.first + self.len
    }

    /// Returns the document in the merged segment, unless it is deleted.
    fn merged(&self, doc: DocId) -> Option<DocId> {
        match &self.merged {
            None => Some(self.first + doc),
            Some(merged) => Some(merged[doc as usize]).filter(|doc| *doc != DELETED),
        }
    }

    /// Returns the documents that are not deleted.
    fn docs(&self) -> impl Iterator<Item = DocId> + '_ {
        (0..self.columns.size()).filter(|doc| self.merged(*doc).is_some())
    }
}

/// Writes the columns file of the merged segment.
pub(super) fn merge(sources: &[Source], out: &mut impl Write) -> io::Result<()> {
    let docs = sources.last().map_or(0, Source::end);
    let labels = MergedLabels::of(sources);
    let active = active_bits(sources, docs);
    let mut shapes = [Shape { width: 1, len: 0 }; ARRAYS];
    for (column, shape) in shapes[..NUMERIC_COLUMNS].iter_mut().enumerate() {
        let widths = sources.iter().map(|source| number_width(source, column));
        *shape = Shape { width: widths.max().unwrap_or(1), len: docs as usize };
    }
    labels.set_shapes(&mut shapes, docs as usize);
    shapes[ACTIVE_BITS] = Shape { width: 8, len: active.len() };
    shapes[DOCS_BY_TEAM] = Shape { width: width_of(u64::from(docs.saturating_sub(1))), len: docs as usize };
    let active_count = active.iter().map(|word| word.count_ones() as usize).sum();
    let last_active = active
        .iter()
        .enumerate()
        .rev()
        .find_map(|(index, word)| word.checked_ilog2().map(|bit| index as u64 * 64 + u64::from(bit)));
    shapes[ORDERS..].fill(Shape { width: width_of(last_active.unwrap_or(0)), len: active_count });

    let mut file = FileWriter::new(docs as usize, &shapes, out)?;
    for column in 0..NUMERIC_COLUMNS {
        write_numbers(sources, column, &mut file)?;
    }
    labels.write_cells(sources, &mut file)?;
    file.start_array()?;
    active.iter().try_for_each(|word| file.push(*word))?;
    labels.write_names(&mut file)?;
    write_docs_by_team(sources, &mut file)?;
    for order in Order::ALL {
        write_order(sources, order, &mut file)?;
    }
    file.finish()
}

/// Returns the width of the narrowest cells for the numbers of a source.
fn number_width(source: &Source, column: usize) -> u8 {
    let numbers = &source.columns.arrays[column];
    match &source.merged {
        None => numbers.width(),
        Some(_) => source.docs().map(|doc| width_of(numbers.get(doc as usize))).max().unwrap_or(1),
    }
}

fn write_numbers(sources: &[Source], column: usize, file: &mut FileWriter<'_, impl Write>) -> io::Result<()> {
    let shape = file.start_array()?;
    for source in sources {
        let numbers = &source.columns.arrays[column];
        if source.merged.is_none() && numbers.width() == shape.width {
            file.push_cells(numbers.bytes())?;
        } else {
            source.docs().try_for_each(|doc| file.push(numbers.get(doc as usize)))?;
        }
    }
    Ok(())
}

/// Returns the bits of the merged documents that are in stage `active`.
fn active_bits(sources: &[Source], docs: u32) -> Vec<u64> {
    let mut bits = vec![0_u64; docs.div_ceil(64) as usize];
    for source in sources {
        for doc in source.columns.active().iter().filter_map(|doc| source.merged(doc)) {
            bits[doc as usize / 64] |= 1 << (doc % 64);
        }
    }
    bits
}

/// Merges the documents by team, which each source has sorted.
fn write_docs_by_team(sources: &[Source], file: &mut FileWriter<'_, impl Write>) -> io::Result<()> {
    file.start_array()?;
    merge_sorted(
        sources,
        |source| source.columns.arrays[DOCS_BY_TEAM].len(),
        |source, index| source.columns.arrays[DOCS_BY_TEAM].get(index) as DocId,
        // Reversed, since the largest key comes first.
        |source, doc, merged| std::cmp::Reverse((source.columns.get(NumericColumn::Team, doc), merged)),
        file,
    )
}

/// Merges the active documents of an order, which each source has sorted.
fn write_order(sources: &[Source], order: Order, file: &mut FileWriter<'_, impl Write>) -> io::Result<()> {
    file.start_array()?;
    merge_sorted(
        sources,
        |source| source.columns.order_len(),
        |source, index| source.columns.doc_at(order, index),
        |source, doc, merged| {
            let key = order.sort_key(NumericColumn::Published, |column| source.columns.get(column, doc));
            (key, merged)
        },
        file,
    )
}

/// Writes the merged documents of sorted lists, by descending key.
fn merge_sorted<K: Ord>(
    sources: &[Source],
    len: impl Fn(&Source) -> usize,
    doc_at: impl Fn(&Source, usize) -> DocId,
    key: impl Fn(&Source, DocId, DocId) -> K,
    file: &mut FileWriter<'_, impl Write>,
) -> io::Result<()> {
    let next = |source: usize, start: usize| {
        let of = &sources[source];
        (start..len(of)).find_map(|index| {
            let doc = doc_at(of, index);
            let merged = of.merged(doc)?;
            Some((key(of, doc, merged), merged, source, index))
        })
    };
    let mut heads: BinaryHeap<_> = (0..sources.len()).filter_map(|source| next(source, 0)).collect();
    while let Some(mut head) = heads.peek_mut() {
        let (_, merged, source, index) = *head;
        file.push(u64::from(merged))?;
        match next(source, index + 1) {
            Some(following) => *head = following,
            None => drop(std::collections::binary_heap::PeekMut::pop(head)),
        }
    }
    Ok(())
}

/// The labels of the merged segment.
struct MergedLabels {
    /// The names, sorted. The index of a name is its ordinal.
    names: Vec<String>,
    /// For each source, the merged ordinal of each of its labels.
    ordinals: Vec<Vec<u32>>,
    /// Number of active documents with each label.
    totals: Vec<u32>,
    /// The largest number in the rows, and in the labels that do not fit there.
    max_in_rows: u64,
    max_overflow_label: u64,
    overflow_labels: usize,
    overflow_docs: usize,
    last_overflow_doc: u64,
}

impl MergedLabels {
    fn of(sources: &[Source]) -> MergedLabels {
        // Labels that no document of the merged segment has are left out.
        let mut used = BTreeMap::new();
        for source in sources {
            let names = source.columns.label_names();
            let mut is_used = vec![source.merged.is_none(); names.len()];
            if source.merged.is_some() {
                for doc in source.docs() {
                    source.columns.labels(doc).for_each(|label| is_used[label as usize] = true);
                }
            }
            let names = names.iter().zip(is_used).filter(|(_, is_used)| *is_used);
            used.extend(names.map(|(name, _)| (name.clone(), 0)));
        }
        used.values_mut().zip(0..).for_each(|(ordinal, next)| *ordinal = next);
        let ordinals = sources.iter().map(|source| {
            let names = source.columns.label_names().iter();
            names.map(|name| used.get(name).copied().unwrap_or(u32::MAX)).collect()
        });
        let mut merged = MergedLabels {
            ordinals: ordinals.collect(),
            totals: vec![0; used.len()],
            names: used.into_keys().collect(),
            max_in_rows: 0,
            max_overflow_label: 0,
            overflow_labels: 0,
            overflow_docs: 0,
            last_overflow_doc: 0,
        };
        for (source, ordinals) in sources.iter().zip(std::mem::take(&mut merged.ordinals)) {
            for doc in source.docs() {
                merged.count(source, &ordinals, doc);
            }
            merged.ordinals.push(ordinals);
        }
        merged
    }

    fn count(&mut self, source: &Source, ordinals: &[u32], doc: DocId) {
        let is_active = source.columns.active().contains(doc);
        let mut count = 0;
        for label in source.columns.labels(doc) {
            let label = ordinals[label as usize];
            count += 1;
            self.totals[label as usize] += u32::from(is_active);
            if count < LABEL_ROW_CELLS {
                self.max_in_rows = self.max_in_rows.max(u64::from(label));
            } else {
                self.max_overflow_label = self.max_overflow_label.max(u64::from(label));
            }
        }
        self.max_in_rows = self.max_in_rows.max(count as u64);
        if count >= LABEL_ROW_CELLS {
            self.overflow_docs += 1;
            self.overflow_labels += count + 1 - LABEL_ROW_CELLS;
            self.last_overflow_doc = source.merged(doc).map_or(0, u64::from);
        }
    }

    fn set_shapes(&self, shapes: &mut [Shape; ARRAYS], docs: usize) {
        let mut set = |array: usize, max: u64, len: usize| {
            shapes[array] = Shape { width: width_of(max), len };
        };
        let name_bytes = self.names.iter().map(String::len).sum::<usize>();
        let max_byte = self.names.iter().flat_map(|name| name.bytes()).max();
        set(LABELS, self.max_in_rows, docs * LABEL_ROW_CELLS);
        set(OVERFLOW_DOCS, self.last_overflow_doc, self.overflow_docs);
        set(OVERFLOW_ENDS, self.overflow_labels as u64, self.overflow_docs);
        set(OVERFLOW_LABELS, self.max_overflow_label, self.overflow_labels);
        set(LABEL_NAME_ENDS, name_bytes as u64, self.names.len());
        set(LABEL_NAMES, max_byte.map_or(0, u64::from), name_bytes);
        set(LABEL_TOTALS, self.totals.iter().copied().max().map_or(0, u64::from), self.names.len());
    }

    /// Writes the labels of the documents.
    fn write_cells(&self, sources: &[Source], file: &mut FileWriter<'_, impl Write>) -> io::Result<()> {
        let width = usize::from(file.start_array()?.width);
        let mut row = Vec::with_capacity(LABEL_ROW_CELLS * width);
        for (source, ordinals) in sources.iter().zip(&self.ordinals) {
            for doc in source.docs() {
                row.clear();
                row.resize(width, 0);
                let mut count = 0_u64;
                for label in source.columns.labels(doc) {
                    count += 1;
                    if row.len() < LABEL_ROW_CELLS * width {
                        row.extend_from_slice(&ordinals[label as usize].to_le_bytes()[..width]);
                    }
                }
                row[..width].copy_from_slice(&count.to_le_bytes()[..width]);
                row.resize(LABEL_ROW_CELLS * width, 0);
                file.push_cells(&row)?;
            }
        }
        file.start_array()?;
        self.for_each_overflow(sources, |doc, _| file.push(u64::from(doc)))?;
        file.start_array()?;
        let mut end = 0;
        self.for_each_overflow(sources, |_, labels| {
            end += labels.len() as u64;
            file.push(end)
        })?;
        file.start_array()?;
        self.for_each_overflow(sources, |_, labels| {
            labels.iter().try_for_each(|label| file.push(u64::from(*label)))
        })
    }

    /// Calls `visit` with each merged document whose labels do not fit into its row, and with those labels.
    fn for_each_overflow(
        &self,
        sources: &[Source],
        mut visit: impl FnMut(DocId, &[u32]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut overflow = Vec::new();
        for (source, ordinals) in sources.iter().zip(&self.ordinals) {
            let docs = &source.columns.arrays[OVERFLOW_DOCS];
            for doc in (0..docs.len()).map(|index| docs.get(index) as DocId) {
                let Some(merged) = source.merged(doc) else { continue };
                overflow.clear();
                let labels = source.columns.labels(doc).skip(LABEL_ROW_CELLS - 1);
                overflow.extend(labels.map(|label| ordinals[label as usize]));
                visit(merged, &overflow)?;
            }
        }
        Ok(())
    }

    fn write_names(&self, file: &mut FileWriter<'_, impl Write>) -> io::Result<()> {
        file.start_array()?;
        let mut end = 0;
        for name in &self.names {
            end += name.len() as u64;
            file.push(end)?;
        }
        file.start_array()?;
        self.names.iter().try_for_each(|name| file.push_cells(name.as_bytes()))?;
        file.start_array()?;
        self.totals.iter().try_for_each(|total| file.push(u64::from(*total)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::{Columns, Source, merge};
    use crate::columns::builder::ColumnsBuilder;
    use crate::numeric::{NUMERIC_COLUMNS, NumericColumn, NumericRow};
    use tantivy::directory::OwnedBytes;

    #[derive(Clone, Debug)]
    struct Document {
        row: NumericRow,
        labels: BTreeSet<String>,
        is_deleted: bool,
    }

    fn document() -> impl Strategy<Value = Document> {
        let number = (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift);
        let label = (0..300_u32).prop_map(|label| format!("label-{label}"));
        let labels = prop_oneof![3 => btree_set(label.clone(), 0..6), 1 => btree_set(label, 25..40)];
        (vec(number, NUMERIC_COLUMNS), 0..6_u64, 0..4_u64, labels, prop::bool::weighted(0.2)).prop_map(
            |(numbers, state, team, labels, is_deleted)| {
                let mut row: NumericRow = numbers.try_into().expect("there is a number for each column");
                row[NumericColumn::State.index()] = state;
                row[NumericColumn::Team.index()] = team;
                Document { row, labels, is_deleted }
            },
        )
    }

    fn file(docs: &[&Document]) -> Vec<u8> {
        let mut builder = ColumnsBuilder::new();
        for doc in docs {
            builder.push(&doc.row, doc.labels.iter().map(String::as_str));
        }
        let mut file = Vec::new();
        builder.write(&mut file).expect("write to memory");
        file
    }

    proptest! {
        #[test]
        fn merged_columns_equal_those_of_one_segment(
            mut segments in vec((vec(document(), 0..30), any::<bool>()), 0..5),
        ) {
            let mut listing = 0;
            let mut sources: Vec<Source> = Vec::new();
            for (docs, has_deletes) in &mut segments {
                for doc in &mut *docs {
                    listing += 1;
                    doc.row[NumericColumn::Listing.index()] = listing;
                    doc.is_deleted &= *has_deletes;
                }
                let all: Vec<&Document> = docs.iter().collect();
                let columns = Columns::open(&OwnedBytes::new(file(&all))).expect("the file is valid");
                let alive = (0..).zip(&*docs).filter(|(_, doc)| !doc.is_deleted).map(|(id, _)| id);
                sources.push(Source::new(
                    columns,
                    sources.last().map_or(0, Source::end),
                    has_deletes.then_some(alive),
                ));
            }
            let mut merged = Vec::new();
            merge(&sources, &mut merged).expect("write to memory");
            let alive = segments.iter().flat_map(|(docs, _)| docs).filter(|doc| !doc.is_deleted);
            prop_assert_eq!(merged, file(&alive.collect::<Vec<_>>()));
        }
    }
}
