//! The merge policy: segments are merged often enough to stay few, but rarely enough that writing stays
//! cheap.

use tantivy::SegmentMeta;
use tantivy::indexer::{MergeCandidate, MergePolicy};

/// Minimum number of segments in a merge.
const MIN_MERGED_SEGMENTS: usize = 4;

/// Minimum number of segments in a merge of few documents. Such a merge costs about as much for one document as
/// for hundreds, and causes most of the cost of writing a single listing.
const MIN_MERGED_SMALL_SEGMENTS: usize = 8;

/// A segment joins the merge of the smaller ones if it is at most this many times as large as all of them
/// together. Segment sizes then grow by about this factor, and a million documents need about half a dozen
/// segments.
const GROWTH_FACTOR: u64 = 4;

/// Maximum number of documents in a merge of few documents, and in segments that are not rewritten when many
/// of their documents are deleted, since they are soon merged anyway.
const MAX_SMALL_DOCS: u64 = 1_000;

/// Maximum number of documents in a merge of many documents, unless the index has many times as many: then, one of these
/// parts of it. A merge maps the files of its segments into memory, and larger segments are hardly faster to search.
const MAX_MERGED_DOCS: u64 = 250_000;
const MAX_MERGED_PARTS: u64 = 4;

/// Merges the smallest segments, and rewrites segments in which more than a third of the documents are
/// deleted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrowingSegments;

impl MergePolicy for GrowingSegments {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let mut by_size: Vec<&SegmentMeta> = segments.iter().collect();
        by_size.sort_by_key(|segment| segment.num_docs());
        let sizes: Vec<u64> = by_size.iter().map(|segment| u64::from(segment.num_docs())).collect();
        let merged = count_to_merge(&sizes);
        let (smallest, rest) = by_size.split_at(merged);
        let mut candidates = Vec::new();
        if merged > 0 {
            candidates.push(MergeCandidate(smallest.iter().map(|segment| segment.id()).collect()));
        }
        let large = rest.iter().filter(|segment| u64::from(segment.max_doc()) > MAX_SMALL_DOCS);
        let sparse = large.filter(|segment| segment.num_deleted_docs() > segment.max_doc() / 3);
        candidates.extend(sparse.map(|segment| MergeCandidate(vec![segment.id()])));
        candidates
    }
}

/// Returns how many of the segments, given by ascending size, to merge into one.
fn count_to_merge(sizes: &[u64]) -> usize {
    let max_merged = MAX_MERGED_DOCS.max(sizes.iter().sum::<u64>() / MAX_MERGED_PARTS);
    let mut sum = 0;
    let mut count = 0;
    for size in sizes {
        if count > 0 && (*size > GROWTH_FACTOR * sum || sum + size > max_merged) {
            break;
        }
        sum += size;
        count += 1;
    }
    let min = if sum <= MAX_SMALL_DOCS { MIN_MERGED_SMALL_SEGMENTS } else { MIN_MERGED_SEGMENTS };
    if count >= min { count } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{MAX_MERGED_DOCS, MAX_MERGED_PARTS, count_to_merge};

    #[test]
    fn segments_stay_few_and_writing_stays_cheap() {
        for batch in [1, 100, 20_000] {
            let (mut sizes, mut written, mut merges, mut max_segments) = (Vec::new(), 0_u64, 0, 0);
            let mut largest_merge = 0;
            let commits = 50_000 / batch.min(50);
            for _ in 0..commits {
                sizes.push(batch);
                sizes.sort_unstable();
                let together = count_to_merge(&sizes);
                if together > 0 {
                    let size: u64 = sizes.drain(..together).sum();
                    written += size;
                    largest_merge = largest_merge.max(size);
                    merges += 1;
                    sizes.push(size);
                    sizes.sort_unstable();
                }
                max_segments = max_segments.max(sizes.len());
            }
            assert!(max_segments <= 12, "{max_segments} segments at batches of {batch}");
            assert!(merges <= commits / 3, "{merges} merges at batches of {batch}");
            assert!(written <= 15 * batch * commits, "{written} written at batches of {batch}");
            let max_merged = MAX_MERGED_DOCS.max(batch * commits / MAX_MERGED_PARTS);
            assert!(largest_merge <= max_merged, "a merge of {largest_merge} at batches of {batch}");
        }
    }
}
