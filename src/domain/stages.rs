//! The stage of an asset: derived from what is known of it and whether its artifact is there, never set.

use super::{
    assets::Kind,
    vocabulary::{Vocabulary, vocabulary},
};

vocabulary! {
    /// How far an asset is on its way to being offered.
    Stage {
        /// Something that it must have is missing.
        Incomplete = "incomplete",
        /// All is known of it, and its artifact does not exist yet.
        Proposed = "proposed",
        /// All is known of it, and its artifact is there.
        Complete = "complete",
    }
}

vocabulary! {
    /// Something that an asset must have before it is complete.
    Piece {
        /// What it is called.
        Title = "title",
        /// Whether it can still be sold exclusively.
        Exclusivity = "exclusivity",
        /// What it is.
        Description = "description",
        /// Its business field.
        DomainTags = "domain_tags",
        /// What its vendor asks for it.
        PriceUsd = "price_usd",
        /// How much code there is.
        LinesOfCode = "lines_of_code",
        /// How many commits.
        Commits = "commits",
        /// How many people committed.
        Contributors = "contributors",
        /// How many pull requests were merged.
        MergedPrs = "merged_prs",
        /// When its history begins.
        HistoryStart = "history_start",
        /// When its history ends.
        HistoryEnd = "history_end",
        /// Whether continuous integration runs on pull requests.
        CiOnPrs = "ci_on_prs",
    }
}

/// What an asset of a kind must have, in the order in which `missing` lists it.
pub const fn required(kind: Kind) -> &'static [Piece] {
    match kind {
        Kind::Codebase => Piece::ALL,
        Kind::RawData | Kind::Task => &[Piece::Title, Piece::Description, Piece::DomainTags, Piece::PriceUsd],
        // What the platform keeps itself is priced on the listing that it stands on.
        Kind::Taskset | Kind::Bundle | Kind::Environment | Kind::RoboticsDataset | Kind::Other => {
            &[Piece::Title, Piece::Description, Piece::DomainTags]
        }
    }
}

/// What an asset lacks of what its kind must have.
pub fn missing(kind: Kind, has: impl Fn(Piece) -> bool) -> Vec<Piece> {
    required(kind).iter().copied().filter(|piece| !has(*piece)).collect()
}

impl Stage {
    /// The stage of an asset that lacks so many pieces. The artifact of a codebase or raw data is linked data; that of a
    /// task is its version, and that of any other kind its record on the platform, so theirs are always there.
    pub const fn of(kind: Kind, missing: usize, is_data_linked: bool) -> Stage {
        let is_there = is_data_linked || !kind.supports_proposals();
        match (missing, is_there) {
            (0, true) => Stage::Complete,
            (0, false) => Stage::Proposed,
            _ => Stage::Incomplete,
        }
    }

    /// Whether an asset of a kind at this stage can be put on a listing, where the kind takes new listings or not.
    pub const fn is_listable(self, kind: Kind, takes_new_listings: bool) -> bool {
        let is_ready = match self {
            Stage::Incomplete => false,
            Stage::Proposed => kind.supports_proposals(),
            Stage::Complete => true,
        };
        is_ready && takes_new_listings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule 1 of asset stages, and the table above it: metadata × artifact × kind, all of it.
    #[test]
    fn stages_follow_from_metadata_artifact_and_kind() {
        for kind in Kind::ALL {
            let pieces = required(*kind);
            // Every subset of what the kind must have: which of it is there.
            for subset in 0..1_u32 << pieces.len() {
                let has = |piece: Piece| {
                    pieces.iter().position(|other| *other == piece).is_none_or(|at| subset >> at & 1 == 1)
                };
                let missing = missing(*kind, has);
                let expected: Vec<Piece> = pieces.iter().copied().filter(|piece| !has(*piece)).collect();
                assert_eq!(missing, expected);
                for is_linked in [false, true] {
                    let stage = match (kind, missing.is_empty(), is_linked) {
                        (_, false, _) => Stage::Incomplete,
                        (Kind::Codebase | Kind::RawData, true, false) => Stage::Proposed,
                        (_, true, _) => Stage::Complete,
                    };
                    assert_eq!(Stage::of(*kind, missing.len(), is_linked), stage, "{kind:?} {missing:?}");
                }
            }
        }
    }

    /// Rule 2 of asset stages: tasks are never proposed, and what a task is about does not matter.
    #[test]
    fn tasks_are_never_proposed() {
        assert!((0..5).all(|missing| Stage::of(Kind::Task, missing, false) != Stage::Proposed));
        assert_eq!(required(Kind::Task)[1..], [Piece::Description, Piece::DomainTags, Piece::PriceUsd]);
    }

    #[test]
    fn codebases_list_what_they_lack_in_the_documented_order() {
        let words: Vec<&str> = missing(Kind::Codebase, |_| false).iter().map(|piece| piece.word()).collect();
        assert_eq!(
            words.join(" "),
            "title exclusivity description domain_tags price_usd lines_of_code commits contributors merged_prs \
             history_start history_end ci_on_prs"
        );
    }

    #[test]
    fn what_can_be_offered() {
        for kind in Kind::ALL {
            for (stage, takes_new, expected) in [
                (Stage::Incomplete, true, false),
                (Stage::Proposed, true, kind.supports_proposals()),
                (Stage::Complete, true, true),
                (Stage::Proposed, false, false),
                (Stage::Complete, false, false),
            ] {
                assert_eq!(stage.is_listable(*kind, takes_new), expected, "{kind:?} {stage:?} {takes_new}");
            }
        }
    }
}
