//! A segment as searches read it, and a snapshot's view of it.
//!
//! A segment is immutable once written; deletes only change a view. Both are shared between snapshots.

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

/// A snapshot's view of a segment.
pub(crate) struct View {
    pub(crate) segment: Arc<Segment>,
    /// Documents that are not deleted; `None` if all are alive.
    alive: Option<Docs>,
    /// Documents that are alive and in stage `active`.
    pub(crate) visible: Docs,
    pub(crate) visible_count: u64,
    /// Number of visible documents with each label, by ordinal.
    pub(crate) totals: Vec<u32>,
    deletes: Option<Opstamp>,
}

impl View {
    /// Opens a segment of a commit. Reuses what the earlier view of the same segment has loaded.
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
        // Only documents deleted since then are counted, so the cost does not depend on the segment's size.
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

    /// Returns the documents that are alive, in ascending order.
    pub(crate) fn living(&self) -> impl Iterator<Item = DocId> + '_ {
        let all = 0..self.segment.columns.size();
        all.filter(|doc| self.alive.as_ref().is_none_or(|alive| alive.contains(*doc)))
    }

    /// Returns the documents of a team that are alive, at any stage, in ascending order.
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
        // The columns file is the only one whose cells are read without checks, so its checksum is verified
        // once.
        if !index.directory().validate_checksum(&path)? {
            return Err(Error::Corrupt(format!("{} has a wrong checksum", path.display())));
        }
        let columns = Columns::open(&reader.open_read(component)?.read_bytes()?)?;
        if columns.size() != meta.max_doc() {
            return Err(Error::Corrupt(format!("{} belongs to another segment", path.display())));
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

/// The documents of one term, including deleted ones.
pub(crate) struct Postings<'a> {
    index: &'a InvertedIndexReader,
    term: TermInfo,
}

impl<'a> Postings<'a> {
    /// Returns the postings of a text term or label; `None` if the segment does not have it.
    pub(crate) fn of(index: &'a InvertedIndexReader, term: &str) -> Result<Option<Postings<'a>>, Error> {
        Ok(index.terms().get(term)?.map(|term| Postings { index, term }))
    }

    pub(crate) const fn at(index: &'a InvertedIndexReader, term: TermInfo) -> Postings<'a> {
        Postings { index, term }
    }

    /// Returns the number of documents.
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

    /// Returns whether one of the documents is in the set.
    pub(crate) fn touches(&self, docs: &Docs) -> Result<bool, Error> {
        let mut touches = false;
        self.blocks(|block| {
            touches = block.iter().any(|doc| docs.contains(*doc));
            !touches
        })?;
        Ok(touches)
    }

    /// Retains the documents that have the term, seeking from one to the next, and returns how many are left.
    pub(crate) fn narrow(&self, docs: &mut Docs) -> Result<u64, Error> {
        let mut postings = self.index.read_postings_from_terminfo(&self.term, IndexRecordOption::Basic)?;
        Ok(docs.retain(|doc| {
            let found = postings.doc();
            (if found < doc { postings.seek(doc) } else { found }) == doc
        }))
    }

    /// Passes the documents to `sink` in blocks, until it returns `false`.
    fn blocks(&self, mut sink: impl FnMut(&[DocId]) -> bool) -> Result<(), Error> {
        let mut blocks =
            self.index.read_block_postings_from_terminfo(&self.term, IndexRecordOption::Basic)?;
        while !blocks.docs().is_empty() && sink(blocks.docs()) {
            blocks.advance();
        }
        Ok(())
    }
}
