//! Uploads, and how they are split into parts.

use uuid::Uuid;

/// Maximum size in bytes of an upload in one part. Larger uploads are multipart, as S3 recommends.
pub const MAX_SINGLE_PART_BYTES: u64 = 100_000_000;

/// Maximum number of parts of an upload, the limit of S3.
const MAX_PARTS: u64 = 10_000;

/// Minimum size in bytes of a part of a multipart upload, except for the last.
const MIN_PART_BYTES: u64 = 16 << 20;

/// Number of days after which an unused upload is deleted, unless a purchase contains it.
pub const KEEP_UNUSED_DAYS: i64 = 30;

/// Lifetime of a signed part URL in seconds.
pub const SIGNED_URL_SECONDS: i64 = 3600;

/// How an upload is split into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLayout {
    /// Size of the upload in bytes.
    pub size_bytes: u64,
    /// Size in bytes of each part except the last.
    pub part_bytes: u64,
}

impl PartLayout {
    /// Computes the parts of an upload of this size. Deterministic: the same size always has the same parts.
    pub const fn new(size_bytes: u64) -> PartLayout {
        let min_bytes = size_bytes.div_ceil(MAX_PARTS).next_multiple_of(1 << 20);
        let part_bytes = if size_bytes <= MAX_SINGLE_PART_BYTES {
            size_bytes
        } else if min_bytes > MIN_PART_BYTES {
            min_bytes
        } else {
            MIN_PART_BYTES
        };
        PartLayout { size_bytes, part_bytes }
    }

    /// Whether the upload has a single part.
    pub const fn is_single(self) -> bool {
        self.size_bytes <= self.part_bytes
    }

    /// Returns the number of parts.
    pub const fn part_count(self) -> u32 {
        self.size_bytes.div_ceil(self.part_bytes) as u32
    }

    /// Returns the offset and length of a part, or `None` if there is no such part. Part numbers start at 1.
    pub fn part(self, number: u32) -> Option<(u64, u64)> {
        if number == 0 || number > self.part_count() {
            return None;
        }
        let offset = u64::from(number - 1) * self.part_bytes;
        Some((offset, self.part_bytes.min(self.size_bytes - offset)))
    }
}

/// An upload in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// ID of the upload (UUID).
    pub id: Uuid,
    /// How the upload is split into parts.
    pub layout: PartLayout,
    /// Upload ID of the blob store, if it assigns its own (S3).
    pub store_upload_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn uploads_over_100_mb_are_multipart() {
        assert_eq!(
            (
                PartLayout::new(MAX_SINGLE_PART_BYTES).part_count(),
                PartLayout::new(MAX_SINGLE_PART_BYTES + 1).part_count()
            ),
            (1, 6)
        );
        assert_eq!(PartLayout::new(1), PartLayout { size_bytes: 1, part_bytes: 1 });
        assert_eq!(PartLayout::new(5_000_000_000).part_bytes, MIN_PART_BYTES);
        assert!(PartLayout::new(1_000_000_000_000).part_bytes > MIN_PART_BYTES);
    }

    proptest! {
        #[test]
        fn parts_are_contiguous(size in 1_u64..2_000_000_000_000) {
            let split = PartLayout::new(size);
            prop_assert!(u64::from(split.part_count()) <= MAX_PARTS);
            let mut expected_start = 0;
            for number in 1..=split.part_count() {
                let (start, length) = split.part(number).unwrap();
                prop_assert_eq!(start, expected_start);
                // S3 rejects parts smaller than 5 MiB, except for the last.
                prop_assert!(length > 0 && (split.is_single() || number == split.part_count() || length >= 5 << 20));
                expected_start += length;
            }
            prop_assert_eq!(expected_start, size);
            prop_assert_eq!((split.part(0), split.part(split.part_count() + 1)), (None, None));
        }
    }
}
