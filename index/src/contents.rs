//! Everything that searches read about each listing, as one number, to compare two indexes.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use tantivy::DocId;

use crate::document::ListingRowId;
use crate::error::Error;
use crate::numeric::NumericColumn;
use crate::occurrence::Occurrence;
use crate::segment::SegmentView;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// Returns a digest of the indexed data of each listing: its terms with their positions, its numbers, and its labels. It
    /// depends neither on segments nor on the order of changes. Reads the whole index, so it takes about as long as building
    /// it.
    pub fn content_digests(&self) -> Result<BTreeMap<ListingRowId, u64>, Error> {
        let mut digests = BTreeMap::new();
        for view in self.views() {
            let mut of_docs: HashMap<DocId, u64> =
                view.alive_docs().map(|doc| (doc, columns_digest(view, doc))).collect();
            view.for_each_occurrence(self.fields(), |doc, occurrence| {
                // Addition, since segments have their terms in the same order, but documents in another one.
                if let Some(digest) = of_docs.get_mut(&doc) {
                    *digest = digest.wrapping_add(occurrence_digest(occurrence));
                }
            })?;
            let columns = &view.segment.columns;
            digests.extend(
                of_docs.into_iter().map(|(doc, digest)| (columns.get(NumericColumn::Listing, doc), digest)),
            );
        }
        Ok(digests)
    }
}

fn occurrence_digest(occurrence: &Occurrence) -> u64 {
    digest(&(occurrence.field, occurrence.term, occurrence.positions))
}

/// Returns a digest of the numbers and the labels of a document.
fn columns_digest(view: &SegmentView, doc: DocId) -> u64 {
    let columns = &view.segment.columns;
    let mut labels: Vec<&str> =
        columns.labels(doc).map(|ordinal| columns.label_names()[ordinal as usize].as_str()).collect();
    labels.sort_unstable();
    digest(&(columns.row(doc), labels))
}

/// Returns a digest that is the same for equal values in one version of the program.
fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
