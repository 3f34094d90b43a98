//! A segment as searches read it, and a snapshot's view of it.
//!
//! A segment is immutable once written; deletes only change a view. Both are shared between snapshots.

use std::sync::Arc;

use tantivy::directory::{CompositeFile, FileSlice};
use tantivy::index::{SegmentComponent, SegmentId};
use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{
    Directory, DocId, DocSet, InvertedIndexReader, Opstamp, SegmentMeta, SegmentReader, TERMINATED,
};

use crate::columns::{Columns, EXTENSION};
use crate::doc_bitmap::DocBitmap;
use crate::document::{ListingRowId, TeamRowId};
use crate::edit_distance::OneEdit;
use crate::error::Error;
use crate::occurrence::Occurrence;
use crate::phrases::Stems;
use crate::postings::Postings;
use crate::recent::{RecentDocument, RecentTerms};
use crate::schema::Fields;

/// The postings and columns of a segment.
pub(crate) struct Segment {
    pub(crate) columns: Columns,
    terms: Terms,
}

/// The postings of a segment.
enum Terms {
    Engine(Box<EngineTerms>),
    Recent(RecentTerms),
}

/// The postings of a segment that the engine has written.
struct EngineTerms {
    labels: Arc<InvertedIndexReader>,
    stems: Arc<InvertedIndexReader>,
    /// The positions of the stems.
    positions: FileSlice,
    forms: Arc<InvertedIndexReader>,
    reader: SegmentReader,
}

/// A snapshot's view of a segment.
pub(crate) struct SegmentView {
    pub(crate) segment: Arc<Segment>,
    /// Documents that are not deleted; `None` if all are alive.
    alive: Option<DocBitmap>,
    /// Documents that are alive and in stage `active`.
    pub(crate) visible: DocBitmap,
    pub(crate) visible_count: u64,
    /// Number of visible documents with each label, by ordinal.
    pub(crate) label_totals: Vec<u32>,
    delete_opstamp: Option<Opstamp>,
}

impl SegmentView {
    /// Opens a segment of a commit. Reuses what the earlier view of the same segment has loaded.
    pub(crate) fn open(
        index: &tantivy::Index,
        fields: Fields,
        meta: &SegmentMeta,
        earlier: Option<&Arc<SegmentView>>,
    ) -> Result<Arc<SegmentView>, Error> {
        if let Some(earlier) = earlier.filter(|earlier| earlier.delete_opstamp == meta.delete_opstamp()) {
            return Ok(Arc::clone(earlier));
        }
        let alive = read_alive(index, meta)?;
        let segment = match earlier {
            Some(earlier) => Arc::clone(&earlier.segment),
            None => {
                let reader = SegmentReader::open(&index.segment(meta.clone()))?;
                Arc::new(Segment::open(index, fields, meta, reader)?)
            }
        };
        let mut visible = segment.columns.active().clone();
        if let Some(alive) = &alive {
            visible.intersect(alive);
        }
        // Only documents deleted since then are counted, so the cost does not depend on the segment's size.
        let (mut totals, before) = match earlier {
            Some(earlier) => (earlier.label_totals.clone(), &earlier.visible),
            None => (segment.columns.label_totals(), segment.columns.active()),
        };
        let mut deleted = vec![0; totals.len()];
        segment.columns.count_labels(before.difference(&visible).iter(), &mut deleted);
        totals.iter_mut().zip(deleted).for_each(|(total, deleted)| *total -= deleted);
        Ok(Arc::new(SegmentView {
            alive,
            visible_count: visible.count(),
            visible,
            label_totals: totals,
            delete_opstamp: meta.delete_opstamp(),
            segment,
        }))
    }

    /// Returns a view of a segment of recent documents.
    pub(crate) fn of_recent(docs: &[&RecentDocument]) -> Result<Arc<SegmentView>, Error> {
        let (terms, columns) = RecentTerms::build(docs)?;
        let visible = columns.active().clone();
        Ok(Arc::new(SegmentView {
            alive: None,
            visible_count: visible.count(),
            visible,
            label_totals: columns.label_totals(),
            delete_opstamp: None,
            segment: Arc::new(Segment { columns, terms: Terms::Recent(terms) }),
        }))
    }

    /// Returns a view in which these documents, which are alive, are deleted.
    pub(crate) fn without(&self, docs: &[DocId]) -> SegmentView {
        let columns = &self.segment.columns;
        let mut alive = self.alive.clone().unwrap_or_else(|| DocBitmap::full(columns.size()));
        let (mut visible, mut totals) = (self.visible.clone(), self.label_totals.clone());
        let mut deleted = vec![0; totals.len()];
        columns.count_labels(docs.iter().copied().filter(|doc| visible.contains(*doc)), &mut deleted);
        totals.iter_mut().zip(deleted).for_each(|(total, deleted)| *total -= deleted);
        for doc in docs {
            alive.remove(*doc);
            visible.remove(*doc);
        }
        SegmentView {
            alive: Some(alive),
            visible_count: visible.count(),
            visible,
            label_totals: totals,
            delete_opstamp: self.delete_opstamp,
            segment: Arc::clone(&self.segment),
        }
    }

    /// Returns the ID of the segment; `None` if the engine has not written it.
    pub(crate) fn id(&self) -> Option<SegmentId> {
        match &self.segment.terms {
            Terms::Engine(terms) => Some(terms.reader.segment_id()),
            Terms::Recent(_) => None,
        }
    }

    pub(crate) const fn delete_opstamp(&self) -> Option<Opstamp> {
        self.delete_opstamp
    }

    /// Returns the document of a listing, if it is alive.
    pub(crate) fn find_listing(&self, fields: Fields, listing: ListingRowId) -> Result<Option<DocId>, Error> {
        let terms = match &self.segment.terms {
            Terms::Engine(terms) => terms,
            Terms::Recent(terms) => return Ok(terms.find_listing(listing)),
        };
        let index = terms.reader.inverted_index(fields.listing)?;
        let Some(term) = index.get_term_info(&fields.listing(listing))? else { return Ok(None) };
        // The segment may also have earlier documents of the listing, which are deleted.
        let mut postings = index.read_block_postings_from_terminfo(&term, IndexRecordOption::Basic)?;
        while !postings.docs().is_empty() {
            if let Some(doc) = postings.docs().iter().find(|doc| self.is_alive(**doc)) {
                return Ok(Some(*doc));
            }
            postings.advance();
        }
        Ok(None)
    }

    fn is_alive(&self, doc: DocId) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive.contains(doc))
    }

    /// Returns the documents that are alive, in ascending order.
    pub(crate) fn alive_docs(&self) -> impl Iterator<Item = DocId> + '_ {
        let all = 0..self.segment.columns.size();
        all.filter(|doc| self.is_alive(*doc))
    }

    /// Calls `visit` with each term of each document, also of deleted ones.
    pub(crate) fn for_each_occurrence(
        &self,
        fields: Fields,
        mut visit: impl FnMut(DocId, &Occurrence),
    ) -> Result<(), Error> {
        let reader = match &self.segment.terms {
            Terms::Engine(terms) => &terms.reader,
            Terms::Recent(terms) => {
                terms.for_each_occurrence(fields, visit);
                return Ok(());
            }
        };
        let mut positions = Vec::new();
        for field in [fields.listing, fields.labels, fields.stems, fields.forms] {
            let index = reader.inverted_index(field)?;
            let mut terms = index.terms().stream()?;
            while terms.advance() {
                let option = IndexRecordOption::WithFreqsAndPositions;
                let mut postings = index.read_postings_from_terminfo(terms.value(), option)?;
                while postings.doc() != TERMINATED {
                    postings.positions(&mut positions);
                    let (field, term) = (field.field_id(), terms.key());
                    visit(postings.doc(), &Occurrence { field, term, positions: &positions });
                    postings.advance();
                }
            }
        }
        Ok(())
    }

    /// Returns the documents of a team that are alive, at any stage, in ascending order.
    pub(crate) fn team_docs(&self, team: TeamRowId) -> impl Iterator<Item = DocId> + '_ {
        self.segment.columns.team_docs(team).filter(|doc| self.is_alive(*doc))
    }
}

/// Reads the documents of a segment that are not deleted; `None` if all are alive. The engine would iterate
/// over them, which takes milliseconds for a million.
fn read_alive(index: &tantivy::Index, meta: &SegmentMeta) -> Result<Option<DocBitmap>, Error> {
    if meta.delete_opstamp().is_none() {
        return Ok(None);
    }
    let path = meta.relative_path(SegmentComponent::Delete);
    let bytes = index.directory().open_read(&path)?.read_bytes()?;
    // The number of documents, and a bit for each.
    let Some((size, words)) = bytes.split_first_chunk::<4>() else {
        return Err(Error::Corrupt(format!("{} is truncated", path.display())));
    };
    let (words, rest) = words.as_chunks::<8>();
    let is_complete = words.len() == meta.max_doc().div_ceil(64) as usize && rest.is_empty();
    if !is_complete || u32::from_le_bytes(*size) != meta.max_doc() {
        return Err(Error::Corrupt(format!("{} belongs to another segment", path.display())));
    }
    Ok(Some(DocBitmap::from_words(words.iter().map(|word| u64::from_le_bytes(*word)).collect())))
}

impl Segment {
    fn open(
        index: &tantivy::Index,
        fields: Fields,
        meta: &SegmentMeta,
        reader: SegmentReader,
    ) -> Result<Segment, Error> {
        let component = SegmentComponent::Custom(EXTENSION.to_owned());
        let path = meta.relative_path(component.clone());
        // Only the cells of the columns file are read without checks, so its checksum is verified once.
        if !index.directory().validate_checksum(&path)? {
            return Err(Error::Corrupt(format!("{} has a wrong checksum", path.display())));
        }
        let columns = Columns::open(&reader.open_read(component)?.read_bytes()?)?;
        if columns.size() != meta.max_doc() {
            return Err(Error::Corrupt(format!("{} belongs to another segment", path.display())));
        }
        let positions = CompositeFile::open(&reader.open_read(SegmentComponent::Positions)?)?;
        let terms = EngineTerms {
            positions: positions.open_read(fields.stems).unwrap_or_else(FileSlice::empty),
            labels: reader.inverted_index(fields.labels)?,
            stems: reader.inverted_index(fields.stems)?,
            forms: reader.inverted_index(fields.forms)?,
            reader,
        };
        Ok(Segment { columns, terms: Terms::Engine(Box::new(terms)) })
    }

    /// Returns the postings of a label; `None` if the segment does not have it.
    pub(crate) fn find_label(&self, label: &str) -> Result<Option<Postings<'_>>, Error> {
        match &self.terms {
            Terms::Engine(terms) => Postings::find(&terms.labels, label),
            Terms::Recent(terms) => Ok(terms.find_label(label)),
        }
    }

    /// Returns the postings of a stem; `None` if the segment does not have it.
    pub(crate) fn find_stem(&self, stem: &str) -> Result<Option<Postings<'_>>, Error> {
        match &self.terms {
            Terms::Engine(terms) => Postings::find(&terms.stems, stem),
            Terms::Recent(terms) => Ok(terms.find_stem(stem)),
        }
    }

    /// Adds the postings of the words that start with this one.
    pub(crate) fn add_longer<'a>(&'a self, form: &str, found: &mut Vec<Postings<'a>>) -> Result<(), Error> {
        let forms = match &self.terms {
            Terms::Engine(terms) => &terms.forms,
            Terms::Recent(terms) => {
                terms.add_longer(form, found);
                return Ok(());
            }
        };
        // No byte of UTF-8 is 0xff, so the last byte can be incremented to get the end of the range.
        let mut end = form.as_bytes().to_vec();
        end.last_mut().into_iter().for_each(|last| *last += 1);
        let mut longer = forms.terms().range().ge(form).lt(end).into_stream()?;
        while longer.advance() {
            found.push(Postings::Engine(forms, longer.value().clone()));
        }
        Ok(())
    }

    /// Returns the postings of the words that an automaton accepts.
    pub(crate) fn find_similar(&self, automaton: &OneEdit) -> Result<Vec<Postings<'_>>, Error> {
        let forms = match &self.terms {
            Terms::Engine(terms) => &terms.forms,
            Terms::Recent(terms) => return Ok(terms.find_similar(automaton).collect()),
        };
        let mut similar = forms.terms().search(automaton).into_stream()?;
        let mut found = Vec::new();
        while similar.advance() {
            found.push(Postings::Engine(forms, similar.value().clone()));
        }
        Ok(found)
    }

    /// Retains the documents that have these stems next to each other, and returns how many are left.
    pub(crate) fn retain_phrase(&self, phrase: &[String], docs: &mut DocBitmap) -> Result<u64, Error> {
        let terms = match &self.terms {
            Terms::Engine(terms) => terms,
            Terms::Recent(terms) => return Ok(terms.retain_phrase(phrase, docs)),
        };
        let mut infos = Vec::with_capacity(phrase.len());
        for stem in phrase {
            infos.extend(terms.stems.terms().get(stem)?);
        }
        if infos.len() < phrase.len() {
            *docs = DocBitmap::empty(self.columns.size());
            return Ok(0);
        }
        let stems = Stems { index: &terms.stems, positions: &terms.positions };
        stems.retain_phrase(&infos, docs, self.columns.size())
    }
}
