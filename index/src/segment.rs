//! A segment as searches read it, and what one generation sees of it.
//!
//! A segment never changes once it is written; deleting only changes a view. Both are shared between generations.

use std::sync::Arc;

use tantivy::index::{SegmentComponent, SegmentId};
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, InvertedIndexReader, Opstamp, SegmentMeta, SegmentReader};

use crate::columns::{Columns, EXTENSION};
use crate::docs::Docs;
use crate::document::TeamNumber;
use crate::error::Error;
use crate::schema::Fields;

/// The postings and columns of a segment.
pub(crate) struct Segment {
    pub(crate) columns: Columns,
    pub(crate) labels: Arc<InvertedIndexReader>,
    pub(crate) stems: Arc<InvertedIndexReader>,
    pub(crate) forms: Arc<InvertedIndexReader>,
    pub(crate) reader: SegmentReader,
}

/// What a generation sees of a segment.
pub(crate) struct View {
    pub(crate) segment: Arc<Segment>,
    /// The documents that are not deleted; absent when all are alive.
    alive: Option<Docs>,
    /// The living documents of the stage `active`.
    pub(crate) visible: Docs,
    pub(crate) visible_count: u64,
    /// How many visible documents have each label, by ordinal.
    pub(crate) totals: Vec<u32>,
    deletes: Option<Opstamp>,
}

impl View {
    /// Opens what a commit names; `earlier` views of the same segment lend what they have.
    pub(crate) fn open(
        index: &tantivy::Index,
        fields: Fields,
        meta: &SegmentMeta,
        earlier: Option<&Arc<View>>,
    ) -> Result<Arc<View>, Error> {
        if let Some(earlier) = earlier.filter(|earlier| earlier.deletes == meta.delete_opstamp()) {
            return Ok(Arc::clone(earlier));
        }
        let reader = SegmentReader::open(&index.segment(meta.clone()))?;
        let alive = reader.alive_bitset().map(|alive| Docs::of(meta.max_doc(), alive.iter_alive()));
        let segment = match earlier {
            Some(earlier) => Arc::clone(&earlier.segment),
            None => Arc::new(Segment::open(index, fields, meta, reader)?),
        };
        let mut visible = segment.columns.active().clone();
        if let Some(alive) = &alive {
            visible.intersect(alive);
        }
        // Counting only what died since costs as much as was deleted, however large the segment is.
        let (mut totals, before) = match earlier {
            Some(earlier) => (earlier.totals.clone(), &earlier.visible),
            None => (segment.columns.totals(), segment.columns.active()),
        };
        let mut gone = vec![0; totals.len()];
        segment.columns.count_labels(before.without(&visible).iter(), &mut gone);
        totals.iter_mut().zip(gone).for_each(|(total, gone)| *total -= gone);
        Ok(Arc::new(View {
            alive,
            visible_count: visible.count(),
            visible,
            totals,
            deletes: meta.delete_opstamp(),
            segment,
        }))
    }

    pub(crate) fn id(&self) -> SegmentId {
        self.segment.reader.segment_id()
    }

    pub(crate) const fn deletes(&self) -> Option<Opstamp> {
        self.deletes
    }

    /// The living documents in rising order.
    pub(crate) fn living(&self) -> impl Iterator<Item = DocId> + '_ {
        let all = 0..self.segment.columns.size();
        all.filter(|doc| self.alive.as_ref().is_none_or(|alive| alive.contains(*doc)))
    }

    /// The living documents of a team in rising order, whatever their stage.
    pub(crate) fn team(&self, team: TeamNumber) -> impl Iterator<Item = DocId> + '_ {
        self.segment
            .columns
            .team(team)
            .filter(|doc| self.alive.as_ref().is_none_or(|alive| alive.contains(*doc)))
    }
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
        // The one file whose cells are believed without a check of each: so its checksum is checked, once.
        if !index.directory().validate_checksum(&path)? {
            return Err(Error::Corrupt(format!("{} fails its checksum", path.display())));
        }
        let columns = Columns::open(&reader.open_read(component)?.read_bytes()?)?;
        if columns.size() != meta.max_doc() {
            return Err(Error::Corrupt(format!("{} is of another segment", path.display())));
        }
        Ok(Segment {
            columns,
            labels: reader.inverted_index(fields.labels)?,
            stems: reader.inverted_index(fields.stems)?,
            forms: reader.inverted_index(fields.forms)?,
            reader,
        })
    }
}

/// The documents of one term, dead ones among them.
pub(crate) struct Postings<'a> {
    index: &'a InvertedIndexReader,
    term: TermInfo,
}

impl<'a> Postings<'a> {
    /// The postings of a term of text or labels.
    pub(crate) fn of(index: &'a InvertedIndexReader, term: &str) -> Result<Option<Postings<'a>>, Error> {
        Ok(index.terms().get(term)?.map(|term| Postings { index, term }))
    }

    pub(crate) const fn at(index: &'a InvertedIndexReader, term: TermInfo) -> Postings<'a> {
        Postings { index, term }
    }

    /// How many documents there are.
    pub(crate) fn count(&self) -> u64 {
        u64::from(self.term.doc_freq)
    }

    /// Adds the documents to a set.
    pub(crate) fn fill(&self, docs: &mut Docs) -> Result<(), Error> {
        self.blocks(|block| {
            docs.insert_rising(block);
            true
        })
    }

    /// Whether one of the documents is in the set.
    pub(crate) fn touches(&self, docs: &Docs) -> Result<bool, Error> {
        let mut touches = false;
        self.blocks(|block| {
            touches = block.iter().any(|doc| docs.contains(*doc));
            !touches
        })?;
        Ok(touches)
    }

    /// Keeps what the term has, jumping over the documents between, and returns how many that are.
    pub(crate) fn narrow(&self, docs: &mut Docs) -> Result<u64, Error> {
        let mut postings = self.index.read_postings_from_terminfo(&self.term, IndexRecordOption::Basic)?;
        Ok(docs.retain(|doc| {
            let found = postings.doc();
            (if found < doc { postings.seek(doc) } else { found }) == doc
        }))
    }

    /// Hands over the documents block by block, as long as the sink wants more.
    fn blocks(&self, mut sink: impl FnMut(&[DocId]) -> bool) -> Result<(), Error> {
        let mut blocks =
            self.index.read_block_postings_from_terminfo(&self.term, IndexRecordOption::Basic)?;
        while !blocks.docs().is_empty() && sink(blocks.docs()) {
            blocks.advance();
        }
        Ok(())
    }
}
