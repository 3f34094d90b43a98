//! The postings of a term, in a segment of the engine or in memory.

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, InvertedIndexReader};

use crate::doc_bitmap::DocBitmap;
use crate::error::Error;

/// Seeking in postings pays off if there are at least this many of them per document.
const POSTINGS_PER_SEEK: u64 = 16;

/// The documents of one term, including deleted ones.
pub(crate) enum Postings<'a> {
    Engine(&'a InvertedIndexReader, TermInfo),
    Recent(&'a [DocId]),
}

impl<'a> Postings<'a> {
    /// Returns the postings of a term; `None` if the segment does not have it.
    pub(crate) fn find(index: &'a InvertedIndexReader, term: &str) -> Result<Option<Postings<'a>>, Error> {
        Ok(index.terms().get(term)?.map(|term| Postings::Engine(index, term)))
    }

    /// Returns the number of documents.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Postings::Engine(_, term) => u64::from(term.doc_freq),
            Postings::Recent(docs) => docs.len() as u64,
        }
    }

    /// Adds the documents to a set.
    pub(crate) fn insert_into(&self, docs: &mut DocBitmap) -> Result<(), Error> {
        self.for_each_block(|block| {
            docs.insert_sorted(block);
            true
        })
    }

    /// Returns whether one of the documents is in the set.
    pub(crate) fn intersects(&self, docs: &DocBitmap) -> Result<bool, Error> {
        let mut intersects = false;
        self.for_each_block(|block| {
            intersects = block.iter().any(|doc| docs.contains(*doc));
            !intersects
        })?;
        Ok(intersects)
    }

    /// Retains the documents that have the term, seeking from one to the next, and returns how many are left.
    pub(crate) fn retain_in(&self, docs: &mut DocBitmap) -> Result<u64, Error> {
        let (index, term) = match self {
            Postings::Engine(index, term) => (index, term),
            Postings::Recent(recent) => return Ok(docs.retain(|doc| recent.binary_search(&doc).is_ok())),
        };
        let mut postings = index.read_postings_from_terminfo(term, IndexRecordOption::Basic)?;
        Ok(docs.retain(|doc| {
            let found = postings.doc();
            (if found < doc { postings.seek(doc) } else { found }) == doc
        }))
    }

    /// Passes the documents to `sink` in blocks, until it returns `false`.
    fn for_each_block(&self, mut sink: impl FnMut(&[DocId]) -> bool) -> Result<(), Error> {
        let (index, term) = match self {
            Postings::Engine(index, term) => (index, term),
            Postings::Recent(docs) => {
                sink(docs);
                return Ok(());
            }
        };
        let mut blocks = index.read_block_postings_from_terminfo(term, IndexRecordOption::Basic)?;
        while !blocks.docs().is_empty() && sink(blocks.docs()) {
            blocks.advance();
        }
        Ok(())
    }
}

/// Returns whether seeking each of these documents in postings is faster than reading all of them.
pub(crate) const fn is_seeking_faster(documents: u64, postings: u64) -> bool {
    documents * POSTINGS_PER_SEEK < postings
}

/// Retains the documents that are in one of the postings, and returns how many are left.
pub(crate) fn retain_matching(
    alternatives: &[Postings],
    docs: &mut DocBitmap,
    remaining: u64,
    size: u32,
) -> Result<u64, Error> {
    if let [only] = alternatives
        && is_seeking_faster(remaining, only.count())
    {
        return only.retain_in(docs);
    }
    let mut any = DocBitmap::empty(size);
    if remaining > 0 {
        alternatives.iter().try_for_each(|postings| postings.insert_into(&mut any))?;
    }
    Ok(docs.intersect(&any))
}
