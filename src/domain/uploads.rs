//! Upload grants, and how uploads are split into parts.

use uuid::Uuid;

use super::{assets::Exclusivity, teams::TeamNumber, time::Timestamp};

/// Maximum size in bytes of an upload in one part. Larger uploads are multipart, as S3 recommends.
pub const SINGLE_BYTES: u64 = 100_000_000;

/// Maximum number of parts of an upload, the limit of S3.
const MAX_PARTS: u64 = 10_000;

/// Minimum size in bytes of a part of a multipart upload, except for the last.
const PART_BYTES: u64 = 16 << 20;

/// Lifetime of an upload grant in hours.
pub const GRANT_HOURS: i64 = 24;

/// Lifetime of a signed part URL in seconds.
pub const ADDRESS_SECONDS: i64 = 3600;

/// How an upload is split into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Size of the upload in bytes.
    pub size_bytes: u64,
    /// Size in bytes of each part except the last.
    pub part_bytes: u64,
}

impl Split {
    /// Computes the parts of an upload of this size. Deterministic: the same size always has the same parts.
    pub const fn of(size_bytes: u64) -> Split {
        let least = size_bytes.div_ceil(MAX_PARTS).next_multiple_of(1 << 20);
        let part_bytes = if size_bytes <= SINGLE_BYTES {
            size_bytes
        } else if least > PART_BYTES {
            least
        } else {
            PART_BYTES
        };
        Split { size_bytes, part_bytes }
    }

    /// Whether the upload has a single part.
    pub const fn is_single(self) -> bool {
        self.size_bytes <= self.part_bytes
    }

    /// Returns the number of parts.
    pub const fn count(self) -> u32 {
        self.size_bytes.div_ceil(self.part_bytes) as u32
    }

    /// Returns the offset and length of a part, or `None` if there is no such part. Part numbers start at 1.
    pub fn part(self, number: u32) -> Option<(u64, u64)> {
        if number == 0 || number > self.count() {
            return None;
        }
        let begin = u64::from(number - 1) * self.part_bytes;
        Some((begin, self.part_bytes.min(self.size_bytes - begin)))
    }
}

/// An upload in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// ID of the upload (UUID).
    pub id: Uuid,
    /// How the upload is split into parts.
    pub split: Split,
    /// Upload ID of the blob store, if it assigns its own (S3).
    pub reference: Option<String>,
}

/// A grant that allows a team to create one codebase from one upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Row ID of the grant.
    pub number: i64,
    /// Row ID of the team.
    pub team: TeamNumber,
    /// Title of the codebase to create.
    pub title: String,
    /// Exclusivity of the codebase to create.
    pub exclusivity: Exclusivity,
    /// Row ID of the group for the codebase; `None` for the default group.
    pub group: Option<i64>,
    /// Maximum size of the upload in bytes.
    pub max_bytes: u64,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of expiry.
    pub expires_at: Timestamp,
    /// Time of revocation; `None` if not revoked.
    pub revoked_at: Option<Timestamp>,
    /// Time of use; `None` if not used.
    pub consumed_at: Option<Timestamp>,
}

/// The state of an upload grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// The grant can be used.
    Open,
    /// The grant has expired or was revoked.
    Expired,
    /// The grant was used.
    Consumed,
}

impl Grant {
    /// Returns the state at the time `now`.
    pub fn state(&self, now: Timestamp) -> GrantState {
        match (self.consumed_at, self.revoked_at) {
            (Some(_), _) => GrantState::Consumed,
            (None, Some(_)) => GrantState::Expired,
            (None, None) if self.expires_at <= now => GrantState::Expired,
            (None, None) => GrantState::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_border_is_a_hundred_megabytes() {
        assert_eq!((Split::of(SINGLE_BYTES).count(), Split::of(SINGLE_BYTES + 1).count()), (1, 6));
        assert_eq!(Split::of(1), Split { size_bytes: 1, part_bytes: 1 });
        assert_eq!(Split::of(5_000_000_000).part_bytes, PART_BYTES);
        assert!(Split::of(1_000_000_000_000).part_bytes > PART_BYTES);
    }

    proptest! {
        #[test]
        fn parts_lie_side_by_side(size in 1_u64..2_000_000_000_000) {
            let split = Split::of(size);
            prop_assert!(u64::from(split.count()) <= MAX_PARTS);
            let mut at = 0;
            for number in 1..=split.count() {
                let (begin, length) = split.part(number).unwrap();
                prop_assert_eq!(begin, at);
                // S3 rejects parts smaller than 5 MiB, except for the last.
                prop_assert!(length > 0 && (split.is_single() || number == split.count() || length >= 5 << 20));
                at += length;
            }
            prop_assert_eq!(at, size);
            prop_assert_eq!((split.part(0), split.part(split.count() + 1)), (None, None));
        }
    }
}
