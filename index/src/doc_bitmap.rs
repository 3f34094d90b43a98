//! A set of documents of one segment, as a bit set.
//!
//! Every step of a search (scope, text, filters) reduces such a set, so sets are combined 64 documents at a
//! time.

use tantivy::DocId;

/// A set of documents of a segment of fixed size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocBitmap {
    words: Vec<u64>,
}

impl DocBitmap {
    /// Creates an empty set for a segment of `size` documents.
    pub(crate) fn empty(size: u32) -> DocBitmap {
        DocBitmap { words: vec![0; size.div_ceil(64) as usize] }
    }

    /// Creates a set of all documents of a segment of `size` documents.
    pub(crate) fn full(size: u32) -> DocBitmap {
        let mut words = vec![u64::MAX; size.div_ceil(64) as usize];
        if let Some(last) = words.last_mut().filter(|_| !size.is_multiple_of(64)) {
            *last = (1 << (size % 64)) - 1;
        }
        DocBitmap { words }
    }

    /// Removes a document.
    pub(crate) fn remove(&mut self, doc: DocId) {
        self.words[doc as usize / 64] &= !(1 << (doc % 64));
    }

    /// Creates a set from its bits; the lowest bit is the first document.
    pub(crate) fn from_words(words: Vec<u64>) -> DocBitmap {
        DocBitmap { words }
    }

    /// Creates a set of the given documents.
    pub(crate) fn from_docs(size: u32, docs: impl IntoIterator<Item = DocId>) -> DocBitmap {
        let mut set = DocBitmap::empty(size);
        docs.into_iter().for_each(|doc| set.insert(doc));
        set
    }

    #[inline]
    pub(crate) fn insert(&mut self, doc: DocId) {
        self.words[doc as usize / 64] |= 1 << (doc % 64);
    }

    /// Inserts documents that are in ascending order.
    pub(crate) fn insert_sorted(&mut self, docs: &[DocId]) {
        // Neighbors are in the same word, so each insertion would wait for the one before. Inserting four
        // distant parts in turn avoids that.
        let quarter = docs.len() / 4;
        let (first, rest) = docs.split_at(quarter);
        let (second, rest) = rest.split_at(quarter);
        let (third, rest) = rest.split_at(quarter);
        let (fourth, rest) = rest.split_at(quarter);
        for (((first, second), third), fourth) in first.iter().zip(second).zip(third).zip(fourth) {
            self.insert(*first);
            self.insert(*second);
            self.insert(*third);
            self.insert(*fourth);
        }
        for doc in rest {
            self.insert(*doc);
        }
    }

    #[inline]
    pub(crate) fn contains(&self, doc: DocId) -> bool {
        self.words[doc as usize / 64] & (1 << (doc % 64)) != 0
    }

    pub(crate) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Retains the documents that are also in `other`, and returns how many are left.
    pub(crate) fn intersect(&mut self, other: &DocBitmap) -> u64 {
        let mut remaining = 0;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
            remaining += u64::from(word.count_ones());
        }
        remaining
    }

    /// Returns the documents of this set that are not in `other`.
    pub(crate) fn difference(&self, other: &DocBitmap) -> DocBitmap {
        DocBitmap { words: self.words.iter().zip(&other.words).map(|(word, other)| word & !other).collect() }
    }

    /// Retains the documents that pass, tested in ascending order, and returns how many are left.
    #[inline]
    pub(crate) fn retain(&mut self, mut passes: impl FnMut(DocId) -> bool) -> u64 {
        let mut count = 0;
        for (index, word) in self.words.iter_mut().enumerate() {
            let mut remaining = *word;
            while remaining != 0 {
                let bit = remaining.trailing_zeros();
                remaining &= remaining - 1;
                // Whether a document passes is hard to predict, so there is no branch on it.
                *word &= !(u64::from(!passes(index as u32 * 64 + bit)) << bit);
            }
            count += u64::from(word.count_ones());
        }
        count
    }

    /// Iterates over the documents in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut remaining = word;
            std::iter::from_fn(move || {
                (remaining != 0).then(|| {
                    let bit = remaining.trailing_zeros();
                    remaining &= remaining - 1;
                    index as u32 * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::DocBitmap;

    #[test]
    fn set_operations() {
        let mut left = DocBitmap::from_docs(200, [0, 63, 64, 127, 199]);
        let right = DocBitmap::from_docs(200, [63, 64, 100, 199]);
        assert_eq!(left.difference(&right).iter().collect::<Vec<_>>(), [0, 127]);
        assert_eq!(left.intersect(&right), 3);
        assert_eq!(left.iter().collect::<Vec<_>>(), [63, 64, 199]);
        assert_eq!(left.retain(|doc| doc != 64), 2);
        assert!(left.contains(199) && !left.contains(64));
        assert_eq!(left.count(), 2);
    }
}
