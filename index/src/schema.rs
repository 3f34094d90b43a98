//! The fields of the search engine, and the conversion of listing documents for the engine.
//!
//! Text and labels are indexed as postings; numbers go to the columns. Nothing is in the document store.

use std::collections::BTreeSet;

use tantivy::schema::{
    BytesOptions, Field, IndexRecordOption, NumericOptions, Schema, TantivyDocument, TextFieldIndexing,
    TextOptions,
};
use tantivy::{Index, Term};

use crate::document::{ListingDocument, ListingRowId};
use crate::facet::Facet;
use crate::numeric;
use crate::text_analysis::Analyzers;
use crate::words::Splitting;

/// Version of everything that determines the contents of a new index: fields, text analysis and the columns
/// file.
pub const SCHEMA_VERSION: u32 = 6;

/// Oldest schema version of an index that can still be opened, searched and changed, so that it can be used
/// while a new one is built. An index with any other version cannot be opened and has to be rebuilt.
pub const OLDEST_SCHEMA_VERSION: u32 = 2;

/// Returns how an index with a schema version splits text. Nothing else differs between the versions that can be opened.
/// Versions 3 and 5, which were never released, differ from the next ones only for few texts, so they use the rules of these:
/// some of these texts are not found until the index is replaced.
pub(crate) const fn splitting(version: u32) -> Splitting {
    match version {
        0..3 => Splitting::LettersAndDigits,
        3..5 => Splitting::NamesAndUnspacedText,
        5.. => Splitting::FoldedText,
    }
}

/// Maximum length of a label in bytes. Longer labels are neither counted nor found.
pub const MAX_LABEL_BYTES: usize = 1024;

const FORMS: &str = "forms";
const STEMS: &str = "stems";

/// The fields of the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) listing: Field,
    pub(crate) labels: Field,
    /// Stems, and the parts of text without spaces, with positions for phrases.
    pub(crate) stems: Field,
    /// Words as written, except in text without spaces, for prefixes and for words one edit away.
    pub(crate) forms: Field,
    /// Passes the numbers of a document to its columns; the engine itself ignores them.
    pub(crate) numbers: Field,
}

/// Builds the schema.
pub(crate) fn schema() -> (Schema, Fields) {
    let text = |tokenizer: &str, record: IndexRecordOption| {
        let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record);
        TextOptions::default().set_indexing_options(indexing.set_fieldnorms(false))
    };
    let mut schema = Schema::builder();
    let fields = Fields {
        listing: schema.add_u64_field("listing", NumericOptions::default().set_indexed()),
        labels: schema.add_text_field("labels", text("raw", IndexRecordOption::Basic)),
        stems: schema.add_text_field("stems", text(STEMS, IndexRecordOption::WithFreqsAndPositions)),
        forms: schema.add_text_field("forms", text(FORMS, IndexRecordOption::Basic)),
        numbers: schema.add_bytes_field("numbers", BytesOptions::default()),
    };
    (schema.build(), fields)
}

/// Registers the text analyzers with an index.
pub(crate) fn register_tokenizers(index: &Index, splitting: Splitting) {
    let Analyzers { stems, forms } = Analyzers::new(splitting);
    index.tokenizers().register(FORMS, forms);
    index.tokenizers().register(STEMS, stems);
}

impl Fields {
    /// Returns the term that identifies a listing.
    pub(crate) fn listing(self, listing: ListingRowId) -> Term {
        Term::from_field_u64(self.listing, listing)
    }

    /// Converts a listing document for the engine.
    pub(crate) fn document(self, doc: &ListingDocument) -> TantivyDocument {
        let mut out = TantivyDocument::default();
        out.add_u64(self.listing, doc.listing);
        for label in labels(doc) {
            out.add_text(self.labels, label);
        }
        // The engine leaves a position gap between the values of a field, so no phrase spans two of them.
        for value in texts(doc) {
            out.add_text(self.stems, value);
            out.add_text(self.forms, value);
        }
        let numbers: Vec<u8> =
            numeric::numeric_row(doc).iter().flat_map(|number| number.to_le_bytes()).collect();
        out.add_bytes(self.numbers, &numbers);
        out
    }
}

/// Returns the texts of a document.
pub(crate) fn texts(doc: &ListingDocument) -> impl Iterator<Item = &str> {
    let text = &doc.text;
    let tags = text.tag_labels.iter().map(String::as_str);
    [text.title.as_str(), &text.description, &text.team_name].into_iter().chain(tags)
}

/// Returns the labels of a document, without duplicates.
pub(crate) fn labels(doc: &ListingDocument) -> BTreeSet<String> {
    let mut labels = BTreeSet::from([Facet::LifecycleStages.label(doc.stage.name())]);
    for (facet, values) in doc.labels.lists() {
        // The engine drops longer terms silently; skipping them here keeps postings and columns consistent.
        labels.extend(
            values.iter().filter(|value| value.len() <= MAX_LABEL_BYTES).map(|value| facet.label(value)),
        );
    }
    labels
}
