//! Uploads under a grant: how much one may bring, how it is cut into parts, and how far it is.

use uuid::Uuid;

use super::{assets::Exclusivity, teams::TeamNumber, time::Timestamp};

/// Bytes that still go in one piece; larger uploads are cut, as S3 advises.
pub const SINGLE_BYTES: u64 = 100_000_000;

/// Parts of an upload at most, as S3 has it.
const MAX_PARTS: u64 = 10_000;

/// Bytes of a part at least.
const PART_BYTES: u64 = 16 << 20;

/// Hours that a grant lasts.
pub const GRANT_HOURS: i64 = 24;

/// Seconds that a signed address lasts.
pub const ADDRESS_SECONDS: i64 = 3600;

/// How an upload is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Its size.
    pub size_bytes: u64,
    /// Bytes of each part but the last.
    pub part_bytes: u64,
}

impl Split {
    /// How an upload of a size is cut, which is the same each time.
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

    /// Whether it goes in one piece.
    pub const fn is_single(self) -> bool {
        self.size_bytes <= self.part_bytes
    }

    /// How many parts there are.
    pub const fn count(self) -> u32 {
        self.size_bytes.div_ceil(self.part_bytes) as u32
    }

    /// Where a part begins, and how long it is; nothing where there is no such part. Parts count from 1.
    pub fn part(self, number: u32) -> Option<(u64, u64)> {
        if number == 0 || number > self.count() {
            return None;
        }
        let begin = u64::from(number - 1) * self.part_bytes;
        Some((begin, self.part_bytes.min(self.size_bytes - begin)))
    }
}

/// An upload on its way: its id, how it is cut, and what the store calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Its id.
    pub id: Uuid,
    /// How it is cut.
    pub split: Split,
    /// What the store calls it, where that is something else.
    pub reference: Option<String>,
}

/// What a grant lets a team make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its row number.
    pub number: i64,
    /// The team.
    pub team: TeamNumber,
    /// The title of the codebase.
    pub title: String,
    /// Its exclusivity.
    pub exclusivity: Exclusivity,
    /// The row number of the folder that it goes to; the default one where there is none.
    pub group: Option<i64>,
    /// Bytes that may be uploaded.
    pub max_bytes: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it counts.
    pub expires_at: Timestamp,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
    /// When it was used.
    pub consumed_at: Option<Timestamp>,
}

/// How far a grant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// It may be used.
    Open,
    /// Its time is over, or it was taken back.
    Expired,
    /// It was used.
    Consumed,
}

impl Grant {
    /// How far it is.
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
                // S3 takes no part below 5 MiB but the last.
                prop_assert!(length > 0 && (split.is_single() || number == split.count() || length >= 5 << 20));
                at += length;
            }
            prop_assert_eq!(at, size);
            prop_assert_eq!((split.part(0), split.part(split.count() + 1)), (None, None));
        }
    }
}
