//! One page of results: by scanning the stored orders of all segments in parallel, or by sorting the matches.
//!
//! Scanning is faster if most documents match, sorting if few do. Both can start after a sort key, and both can
//! order some documents by other values than those in the columns.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tantivy::DocId;

use crate::doc_bitmap::DocBitmap;
use crate::numeric::NumericColumn;
use crate::order::{Order, SortKey};
use crate::segment::SegmentView;

/// A page of sort keys, and whether more results follow.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) keys: Vec<SortKey>,
    pub(crate) more: bool,
}

/// The requested page.
#[derive(Clone, Debug)]
pub(crate) struct PageRequest {
    pub(crate) order: Order,
    /// The column with the date to sort by.
    pub(crate) date_column: NumericColumn,
    /// Sort keys of the documents that are not ordered by their columns, by segment and document.
    pub(crate) moved: HashMap<(usize, DocId), SortKey>,
    /// Return only results after this key.
    pub(crate) after: Option<SortKey>,
    /// Number of results to skip before the page.
    pub(crate) skip: usize,
    pub(crate) limit: usize,
}

impl PageRequest {
    fn sort_key(&self, view: &SegmentView, doc: DocId) -> SortKey {
        self.order.sort_key(self.date_column, |column| view.segment.columns.get(column, doc))
    }

    /// Returns the sort key of a document that may have been moved.
    pub(crate) fn final_sort_key(&self, segment: usize, view: &SegmentView, doc: DocId) -> SortKey {
        // Moved documents are few, and mostly there are none.
        let moved = if self.moved.is_empty() { None } else { self.moved.get(&(segment, doc)) };
        moved.copied().unwrap_or_else(|| self.sort_key(view, doc))
    }

    fn is_after_start(&self, key: &SortKey) -> bool {
        self.after.is_none_or(|after| *key < after)
    }
}

/// A segment's position in a scan, at a document that belongs to the results. The moved documents follow the
/// segments as if they were another one.
struct ScanHead {
    key: SortKey,
    segment: usize,
    index: usize,
}

/// Scans the market's stored order for documents that are visible and accepted. Gives up and returns `None`
/// after `steps` steps.
pub(crate) fn scan_orders<V: AsRef<SegmentView>>(
    views: &[V],
    request: &PageRequest,
    mut steps: u64,
    accept: impl Fn(usize, DocId) -> bool,
) -> Option<Page> {
    let moved = moved_keys(views, request, &accept);
    // Finds the next accepted document of a segment, starting at an index of its order.
    let mut next = |segment: usize, from: usize| {
        let Some(view) = views.get(segment) else {
            let key = moved.get(from).copied();
            return ControlFlow::Continue(key.map(|key| ScanHead { key, segment, index: from }));
        };
        let view: &SegmentView = view.as_ref();
        let columns = &view.segment.columns;
        for index in from..columns.order_len() {
            steps = match steps.checked_sub(1) {
                Some(steps) => steps,
                None => return ControlFlow::Break(()),
            };
            let doc = columns.doc_at(request.order, index);
            let is_moved = || !request.moved.is_empty() && request.moved.contains_key(&(segment, doc));
            if view.visible.contains(doc) && accept(segment, doc) && !is_moved() {
                return ControlFlow::Continue(Some(ScanHead {
                    key: request.sort_key(view, doc),
                    segment,
                    index,
                }));
            }
        }
        ControlFlow::Continue(None)
    };
    let mut heads = Vec::with_capacity(views.len());
    for (segment, view) in views.iter().enumerate() {
        heads.extend(next(segment, find_start(view.as_ref(), request)).continue_value()?);
    }
    heads.extend(next(views.len(), 0).continue_value()?);
    let mut page = Page::default();
    let mut skipped = 0;
    while let Some(first) = (0..heads.len()).max_by_key(|head| heads[*head].key) {
        let ScanHead { key, segment, index } = heads[first];
        if skipped < request.skip {
            skipped += 1;
        } else if page.keys.len() < request.limit {
            page.keys.push(key);
        } else {
            page.more = true;
            break;
        }
        match next(segment, index + 1).continue_value()? {
            Some(head) => heads[first] = head,
            None => drop(heads.swap_remove(first)),
        }
    }
    Some(page)
}

/// Returns the sort keys of the moved documents that belong to the results, in order.
fn moved_keys<V: AsRef<SegmentView>>(
    views: &[V],
    request: &PageRequest,
    accept: impl Fn(usize, DocId) -> bool,
) -> Vec<SortKey> {
    let is_result =
        |segment: usize, doc| views[segment].as_ref().visible.contains(doc) && accept(segment, doc);
    let moved = request
        .moved
        .iter()
        .filter(|((segment, doc), key)| request.is_after_start(key) && is_result(*segment, *doc));
    let mut keys: Vec<SortKey> = moved.map(|(_, key)| *key).collect();
    keys.sort_unstable_by(|left, right| right.cmp(left));
    keys
}

/// Returns the first index of a segment's order that is after the requested key.
fn find_start(view: &SegmentView, request: &PageRequest) -> usize {
    if request.after.is_none() {
        return 0;
    }
    let is_not_after = |doc| !request.is_after_start(&request.sort_key(view, doc));
    view.segment.columns.partition_point(request.order, is_not_after)
}

/// Sorts the matches, as far as the page needs.
pub(crate) fn sort_matches<V: AsRef<SegmentView>>(
    views: &[V],
    request: &PageRequest,
    matches: &[DocBitmap],
) -> Page {
    let needed = request.skip.saturating_add(request.limit).saturating_add(1);
    let mut keys: Vec<SortKey> = Vec::new();
    let mut lowest = None;
    for (segment, (view, matches)) in views.iter().zip(matches).enumerate() {
        for doc in matches.iter() {
            let key = request.final_sort_key(segment, view.as_ref(), doc);
            if !request.is_after_start(&key) || lowest.is_some_and(|lowest| key < lowest) {
                continue;
            }
            keys.push(key);
            // Truncated only at twice the needed number, so that the cost of truncation is spread over many
            // documents.
            if keys.len() / 2 >= needed {
                keys.select_nth_unstable_by(needed - 1, |left, right| right.cmp(left));
                keys.truncate(needed);
                lowest = keys.last().copied();
            }
        }
    }
    keys.sort_unstable_by(|left, right| right.cmp(left));
    let mut keys = keys.split_off(request.skip.min(keys.len()));
    let more = keys.len() > request.limit;
    keys.truncate(request.limit);
    Page { keys, more }
}
