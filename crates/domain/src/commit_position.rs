//! The position of a market in the order of its commits.

/// How many commits a database had, counted modulo 2^32. It is in the first page of the database
/// (`application_id`), if the setting `replication.litestream` is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitPosition(pub u32);

impl CommitPosition {
    /// Returns the position after the next commit.
    #[must_use]
    pub const fn next(self) -> CommitPosition {
        CommitPosition(self.0.wrapping_add(1))
    }

    /// Whether a database at this position has all that one at the other position has: it is not more than 2^31 commits
    /// behind.
    pub const fn includes(self, other: CommitPosition) -> bool {
        self.0.wrapping_sub(other.0) < 1 << 31
    }
}

#[cfg(test)]
mod tests {
    use super::CommitPosition;

    #[test]
    fn later_positions_include_earlier_ones() {
        for start in [0, 1, 7, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
            let position = CommitPosition(start);
            assert!(position.includes(position));
            assert!(position.next().includes(position) && !position.includes(position.next()));
            let far = CommitPosition(start.wrapping_add((1 << 31) - 1));
            assert!(far.includes(position) && !position.includes(far));
        }
    }
}
