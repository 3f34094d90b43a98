//! Text matching: finds the documents that contain every word and every phrase of a text, without scores.
//!
//! A word matches its English stem. The last word of the text, if not in quotes, also matches longer words
//! that start with it. Text without spaces matches wherever it occurs. If a word outside quotes has at least five characters and no
//! digit, and matches nothing in scope, it is retried with one edit in the word as written: an inserted, deleted, or replaced
//! letter, or two swapped neighbors. Only documents that are alive in this snapshot count as in scope, so results do not depend on
//! merges or on deleted documents that are still stored.

use crate::doc_bitmap::DocBitmap;
use crate::edit_distance::OneEdit;
use crate::error::Error;
use crate::postings::{self, Postings};
use crate::segment::SegmentView;
use crate::text_analysis::{ParsedText, SearchWord};

/// Minimum length of a word for a retry with one edit. Too many words are one edit away from a shorter one.
const MIN_FUZZY_CHARS: usize = 5;

/// For each segment, postings of which a document must be in at least one.
type Alternatives<'a> = Vec<Vec<Postings<'a>>>;

/// Returns the documents in scope that match, for each segment.
pub(crate) fn matching_docs<V: AsRef<SegmentView>>(
    text: &ParsedText,
    views: &[V],
    scope: &[&DocBitmap],
) -> Result<Vec<DocBitmap>, Error> {
    let no_matches =
        || views.iter().map(|view| DocBitmap::empty(view.as_ref().segment.columns.size())).collect();
    let mut clauses: Vec<(u64, Alternatives)> = Vec::new();
    let words = text.words.iter().map(|word| word_postings(word, views, scope));
    let stems =
        text.phrases.iter().filter(|phrase| phrase.len() == 1).map(|phrase| stem_postings(&phrase[0], views));
    for clause in words.chain(stems) {
        let clause = clause?;
        let count = clause.iter().flatten().map(Postings::count).sum();
        if count == 0 {
            return Ok(no_matches());
        }
        clauses.push((count, clause));
    }
    // Rarest first, so that few documents are left for the others.
    clauses.sort_by_key(|(count, _)| *count);
    let phrases: Vec<&Vec<String>> = text.phrases.iter().filter(|phrase| phrase.len() > 1).collect();
    let mut found = Vec::with_capacity(views.len());
    for (segment, view) in views.iter().enumerate() {
        let mut docs = scope[segment].clone();
        let mut remaining = docs.count();
        for (_, clause) in &clauses {
            remaining = postings::retain_matching(
                &clause[segment],
                &mut docs,
                remaining,
                view.as_ref().segment.columns.size(),
            )?;
        }
        for phrase in &phrases {
            if remaining > 0 {
                remaining = view.as_ref().segment.retain_phrase(phrase, &mut docs)?;
            }
        }
        found.push(docs);
    }
    Ok(found)
}

/// Returns the postings of a word: as written, or with one edit if that matches nothing in scope.
fn word_postings<'a, V: AsRef<SegmentView>>(
    word: &SearchWord,
    views: &'a [V],
    scope: &[&DocBitmap],
) -> Result<Alternatives<'a>, Error> {
    let mut found = stem_postings(&word.stem, views)?;
    if word.is_prefix {
        for (view, found) in views.iter().zip(&mut found) {
            view.as_ref().segment.add_longer(&word.form, found)?;
        }
    }
    if !can_have_typos(&word.form) || has_match_in_scope(&found, scope)? {
        return Ok(found);
    }
    let edited = OneEdit::new(&word.form);
    views.iter().map(|view| view.as_ref().segment.find_similar(&edited)).collect()
}

/// Returns whether a word is retried with one edit. A word with a digit is not, since another number or version means something
/// else.
fn can_have_typos(form: &str) -> bool {
    form.chars().count() >= MIN_FUZZY_CHARS && !form.contains(char::is_numeric)
}

/// Returns the postings of a stem.
fn stem_postings<'a, V: AsRef<SegmentView>>(stem: &str, views: &'a [V]) -> Result<Alternatives<'a>, Error> {
    let find_in = |view: &'a V| Ok(view.as_ref().segment.find_stem(stem)?.into_iter().collect());
    views.iter().map(find_in).collect()
}

fn has_match_in_scope(found: &Alternatives, scope: &[&DocBitmap]) -> Result<bool, Error> {
    for (found, scope) in found.iter().zip(scope) {
        for postings in found {
            if postings.intersects(scope)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
