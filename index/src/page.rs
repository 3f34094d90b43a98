//! One page of results: by scanning the stored orders of all segments in parallel, or by sorting the matches.
//!
//! Scanning is faster if most documents match, sorting if few do. Both can start after a sort key.

use std::ops::ControlFlow;

use tantivy::DocId;

use crate::docs::Docs;
use crate::number::Number;
use crate::order::{Key, Order};
use crate::segment::View;

/// A page of sort keys, and whether more results follow.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) keys: Vec<Key>,
    pub(crate) more: bool,
}

/// The requested page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) order: Order,
    /// The date column that counts.
    pub(crate) dated: Number,
    /// Return only results after this key.
    pub(crate) after: Option<Key>,
    /// Number of results to skip before the page.
    pub(crate) skip: usize,
    pub(crate) limit: usize,
}

impl Wanted {
    fn key(&self, view: &View, doc: DocId) -> Key {
        self.order.key(self.dated, |number| view.segment.columns.get(number, doc))
    }

    fn is_behind(&self, key: &Key) -> bool {
        self.after.is_none_or(|after| *key < after)
    }
}

/// A segment's position in a scan, at a document that belongs to the results.
struct Head {
    key: Key,
    segment: usize,
    place: usize,
}

/// Scans the market's stored order for documents that are visible and accepted. Gives up and returns `None`
/// after `steps` steps.
pub(crate) fn walk<V: AsRef<View>>(
    views: &[V],
    wanted: &Wanted,
    mut steps: u64,
    accept: impl Fn(usize, DocId) -> bool,
) -> Option<Page> {
    // Finds the next accepted document of a segment, starting at an index of its order.
    let mut next = |segment: usize, from: usize| {
        let view: &View = views[segment].as_ref();
        let columns = &view.segment.columns;
        for place in from..columns.ordered() {
            steps = match steps.checked_sub(1) {
                Some(steps) => steps,
                None => return ControlFlow::Break(()),
            };
            let doc = columns.at(wanted.order, place);
            if view.visible.contains(doc) && accept(segment, doc) {
                return ControlFlow::Continue(Some(Head { key: wanted.key(view, doc), segment, place }));
            }
        }
        ControlFlow::Continue(None)
    };
    let mut heads = Vec::with_capacity(views.len());
    for (segment, view) in views.iter().enumerate() {
        heads.extend(next(segment, seek(view.as_ref(), wanted)).continue_value()?);
    }
    let mut page = Page::default();
    let mut skipped = 0;
    while let Some(first) = (0..heads.len()).max_by_key(|head| heads[*head].key) {
        let Head { key, segment, place } = heads[first];
        if skipped < wanted.skip {
            skipped += 1;
        } else if page.keys.len() < wanted.limit {
            page.keys.push(key);
        } else {
            page.more = true;
            break;
        }
        match next(segment, place + 1).continue_value()? {
            Some(head) => heads[first] = head,
            None => drop(heads.swap_remove(first)),
        }
    }
    Some(page)
}

/// Returns the first index of a segment's order that is after the requested key.
fn seek(view: &View, wanted: &Wanted) -> usize {
    let columns = &view.segment.columns;
    let (mut low, mut high) = (0, if wanted.after.is_some() { columns.ordered() } else { 0 });
    while low < high {
        let middle = low.midpoint(high);
        if wanted.is_behind(&wanted.key(view, columns.at(wanted.order, middle))) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Sorts the matches, as far as the page needs.
pub(crate) fn sort<V: AsRef<View>>(views: &[V], wanted: &Wanted, found: &[Docs]) -> Page {
    let needed = wanted.skip.saturating_add(wanted.limit).saturating_add(1);
    let mut keys: Vec<Key> = Vec::new();
    let mut floor = None;
    for (view, found) in views.iter().zip(found) {
        for doc in found.iter() {
            let key = wanted.key(view.as_ref(), doc);
            if !wanted.is_behind(&key) || floor.is_some_and(|floor| key < floor) {
                continue;
            }
            keys.push(key);
            // Truncated only at twice the needed number, so that the cost of truncation is spread over many
            // documents.
            if keys.len() / 2 >= needed {
                keys.select_nth_unstable_by(needed - 1, |left, right| right.cmp(left));
                keys.truncate(needed);
                floor = keys.last().copied();
            }
        }
    }
    keys.sort_unstable_by(|left, right| right.cmp(left));
    let mut keys = keys.split_off(wanted.skip.min(keys.len()));
    let more = keys.len() > wanted.limit;
    keys.truncate(wanted.limit);
    Page { keys, more }
}
