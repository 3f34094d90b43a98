//! Recent changes: documents that searches find before the engine has written them.
//!
//! Writing a segment takes milliseconds even if it is small. So a few documents are kept in memory as one
//! segment, which is rebuilt for each change.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use tantivy::tokenizer::TokenStream;
use tantivy::{DocId, TantivyDocument};

use crate::columns::Columns;
use crate::doc_bitmap::DocBitmap;
use crate::document::{ListingDocument, ListingRowId};
use crate::edit_distance::OneEdit;
use crate::error::Error;
use crate::numeric::{self, NumericRow};
use crate::occurrence::Occurrence;
use crate::postings::Postings;
use crate::schema::{self, Fields};
use crate::text_analysis::Analyzers;

/// Difference between the positions of the last word of a value and the first one of the next, so that no
/// phrase spans both.
const POSITION_GAP: u32 = 2;

/// A document, analyzed once for all segments that it will be in.
pub(crate) struct RecentDocument {
    /// The document as the engine gets it.
    pub(crate) document: TantivyDocument,
    listing: ListingRowId,
    row: NumericRow,
    labels: Vec<Arc<str>>,
    /// Stems with their positions.
    stems: BTreeMap<Arc<str>, Arc<[u32]>>,
    forms: Vec<Arc<str>>,
}

impl RecentDocument {
    pub(crate) fn new(doc: &ListingDocument, fields: Fields, analyzers: &mut Analyzers) -> RecentDocument {
        let mut stems: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut forms: Vec<String> = Vec::new();
        let mut base = 0_u32;
        for text in schema::texts(doc) {
            let mut end = base;
            let mut tokens = analyzers.stems.token_stream(text);
            while tokens.advance() {
                let token = tokens.token();
                let position = base.saturating_add(token.position as u32);
                end = end.max(position);
                stems.entry(token.text.clone()).or_default().push(position);
            }
            base = end.saturating_add(POSITION_GAP);
            let mut tokens = analyzers.forms.token_stream(text);
            while tokens.advance() {
                forms.push(tokens.token().text.clone());
            }
        }
        forms.sort_unstable();
        forms.dedup();
        RecentDocument {
            document: fields.document(doc),
            listing: doc.listing,
            row: numeric::numeric_row(doc),
            labels: schema::labels(doc).into_iter().map(Arc::from).collect(),
            stems: stems.into_iter().map(|(stem, positions)| (stem.into(), positions.into())).collect(),
            forms: forms.into_iter().map(Arc::from).collect(),
        }
    }
}

/// The documents that have a term, and where.
#[derive(Default)]
struct StemPostings {
    docs: Vec<DocId>,
    positions: Vec<Arc<[u32]>>,
}

/// The terms of the recent documents.
pub(crate) struct RecentTerms {
    listings: Vec<ListingRowId>,
    labels: BTreeMap<Arc<str>, Vec<DocId>>,
    stems: BTreeMap<Arc<str>, StemPostings>,
    forms: BTreeMap<Arc<str>, Vec<DocId>>,
}

impl RecentTerms {
    /// Builds the terms and the columns of a segment of these documents.
    pub(crate) fn build(docs: &[&RecentDocument]) -> Result<(RecentTerms, Columns), Error> {
        let mut terms = RecentTerms {
            listings: docs.iter().map(|doc| doc.listing).collect(),
            labels: BTreeMap::new(),
            stems: BTreeMap::new(),
            forms: BTreeMap::new(),
        };
        for (id, doc) in (0..).zip(docs) {
            for label in &doc.labels {
                terms.labels.entry(Arc::clone(label)).or_default().push(id);
            }
            for (stem, positions) in &doc.stems {
                let postings = terms.stems.entry(Arc::clone(stem)).or_default();
                postings.docs.push(id);
                postings.positions.push(Arc::clone(positions));
            }
            for form in &doc.forms {
                terms.forms.entry(Arc::clone(form)).or_default().push(id);
            }
        }
        let columns =
            Columns::build(docs.iter().map(|doc| (&doc.row, doc.labels.iter().map(AsRef::as_ref))))?;
        Ok((terms, columns))
    }

    /// Calls `visit` with each term of each document.
    pub(crate) fn for_each_occurrence(&self, fields: Fields, mut visit: impl FnMut(DocId, &Occurrence)) {
        for (doc, listing) in (0..).zip(&self.listings) {
            let term = fields.listing(*listing);
            let field = fields.listing.field_id();
            visit(doc, &Occurrence { field, term: term.serialized_value_bytes(), positions: &[] });
        }
        for (field, terms) in [(fields.labels, &self.labels), (fields.forms, &self.forms)] {
            for (term, docs) in terms {
                let occurrence =
                    Occurrence { field: field.field_id(), term: term.as_bytes(), positions: &[] };
                for doc in docs {
                    visit(*doc, &occurrence);
                }
            }
        }
        for (term, postings) in &self.stems {
            let (field, term) = (fields.stems.field_id(), term.as_bytes());
            for (doc, positions) in postings.docs.iter().zip(&postings.positions) {
                visit(*doc, &Occurrence { field, term, positions });
            }
        }
    }

    pub(crate) fn find_listing(&self, listing: ListingRowId) -> Option<DocId> {
        self.listings.iter().position(|other| *other == listing).map(|doc| doc as DocId)
    }

    pub(crate) fn find_label(&self, label: &str) -> Option<Postings<'_>> {
        self.labels.get(label).map(|docs| Postings::Recent(docs))
    }

    pub(crate) fn find_stem(&self, stem: &str) -> Option<Postings<'_>> {
        self.stems.get(stem).map(|postings| Postings::Recent(&postings.docs))
    }

    /// Adds the postings of the words that start with this one.
    pub(crate) fn add_longer<'a>(&'a self, form: &str, found: &mut Vec<Postings<'a>>) {
        let from_here = self.forms.range::<str, _>((Bound::Included(form), Bound::Unbounded));
        let longer = from_here.take_while(|(other, _)| other.starts_with(form));
        found.extend(longer.map(|(_, docs)| Postings::Recent(docs)));
    }

    /// Returns the postings of the words that an automaton accepts.
    pub(crate) fn find_similar<'a>(&'a self, automaton: &OneEdit) -> impl Iterator<Item = Postings<'a>> {
        self.forms
            .iter()
            .filter(move |(form, _)| automaton.accepts(form))
            .map(|(_, docs)| Postings::Recent(docs))
    }

    /// Retains the documents that have these stems next to each other, and returns how many are left.
    pub(crate) fn retain_phrase(&self, phrase: &[String], docs: &mut DocBitmap) -> u64 {
        let stems: Option<Vec<&StemPostings>> =
            phrase.iter().map(|stem| self.stems.get(stem.as_str())).collect();
        docs.retain(|doc| stems.as_ref().is_some_and(|stems| has_phrase(stems, doc)))
    }
}

fn has_phrase(stems: &[&StemPostings], doc: DocId) -> bool {
    let positions = stems.iter().map(|stem| Some(&*stem.positions[stem.docs.binary_search(&doc).ok()?]));
    let Some(positions) = positions.collect::<Option<Vec<&[u32]>>>() else { return false };
    positions[0].iter().any(|first| {
        (0..).zip(&positions).all(|(offset, positions)| positions.contains(&first.saturating_add(offset)))
    })
}
