//! The stage of an asset. It is always derived from the asset's metadata and data, and never set directly.

use super::assets::Kind;
use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// The stage of an asset on its way to a listing.
    Stage {
        /// Required metadata is missing.
        Incomplete = "incomplete",
        /// The metadata is complete, but no data is attached yet.
        Proposed = "proposed",
        /// The metadata is complete, and the data exists.
        Complete = "complete",
    }
}

string_enum! {
    /// A field that an asset must have to be complete. Each kind requires some of them.
    RequiredField {
        /// Title of the asset.
        Title = "title",
        /// Whether a codebase is still available for an exclusive sale.
        Exclusivity = "exclusivity",
        /// Description of the asset.
        Description = "description",
        /// Domain of the asset.
        DomainTags = "domain_tags",
        /// Asking price.
        PriceUsd = "price_usd",
        /// Number of lines of code.
        LinesOfCode = "lines_of_code",
        /// Number of commits.
        Commits = "commits",
        /// Number of contributors.
        Contributors = "contributors",
        /// Number of merged pull requests.
        MergedPrs = "merged_prs",
        /// Date of the first commit.
        HistoryStart = "history_start",
        /// Date of the last commit.
        HistoryEnd = "history_end",
        /// Whether continuous integration runs on pull requests.
        CiOnPrs = "ci_on_prs",
    }
}

/// Returns the fields that an asset of this kind must have, in the order in which `missing` lists them.
pub const fn required_fields(kind: Kind) -> &'static [RequiredField] {
    match kind {
        Kind::Codebase => RequiredField::ALL,
        Kind::RawData | Kind::Task => &[
            RequiredField::Title,
            RequiredField::Description,
            RequiredField::DomainTags,
            RequiredField::PriceUsd,
        ],
        // Assets of these kinds are managed by the platform. Their price is set on the listing.
        Kind::Taskset | Kind::Bundle | Kind::Environment | Kind::RoboticsDataset | Kind::Other => {
            &[RequiredField::Title, RequiredField::Description, RequiredField::DomainTags]
        }
    }
}

/// Returns the required fields that an asset of this kind lacks.
pub fn missing_fields(kind: Kind, has: impl Fn(RequiredField) -> bool) -> Vec<RequiredField> {
    required_fields(kind).iter().copied().filter(|field| !has(*field)).collect()
}

impl Stage {
    /// Returns the stage of an asset that lacks `missing` required fields. Codebases and raw data need
    /// attached data. A task has its version as data, and the platform stores other kinds, so their data
    /// always exists.
    pub const fn new(kind: Kind, missing: usize, is_data_linked: bool) -> Stage {
        let has_data = is_data_linked || !kind.supports_proposals();
        match (missing, has_data) {
            (0, true) => Stage::Complete,
            (0, false) => Stage::Proposed,
            _ => Stage::Incomplete,
        }
    }

    /// Whether an asset at this stage can be listed. `takes_new_listings` says whether its kind still can.
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

    /// Covers rule 1 of asset stages and its table: every combination of metadata, data, and kind.
    #[test]
    fn stages_follow_from_metadata_artifact_and_kind() {
        for kind in Kind::ALL {
            let fields = required_fields(*kind);
            // Every subset of the required fields. Bit `i` says whether field `i` is present.
            for subset in 0..1_u32 << fields.len() {
                let has = |field: RequiredField| {
                    fields.iter().position(|other| *other == field).is_none_or(|bit| subset >> bit & 1 == 1)
                };
                let missing = missing_fields(*kind, has);
                let expected: Vec<RequiredField> =
                    fields.iter().copied().filter(|field| !has(*field)).collect();
                assert_eq!(missing, expected);
                for is_linked in [false, true] {
                    let stage = match (kind, missing.is_empty(), is_linked) {
                        (_, false, _) => Stage::Incomplete,
                        (Kind::Codebase | Kind::RawData, true, false) => Stage::Proposed,
                        (_, true, _) => Stage::Complete,
                    };
                    assert_eq!(Stage::new(*kind, missing.len(), is_linked), stage, "{kind:?} {missing:?}");
                }
            }
        }
    }

    /// Covers rule 2 of asset stages: tasks are never proposed, and the task type has no effect on the stage.
    #[test]
    fn tasks_are_never_proposed() {
        assert!((0..5).all(|missing| Stage::new(Kind::Task, missing, false) != Stage::Proposed));
        assert_eq!(
            required_fields(Kind::Task)[1..],
            [RequiredField::Description, RequiredField::DomainTags, RequiredField::PriceUsd]
        );
    }

    #[test]
    fn missing_fields_of_codebases_have_the_documented_order() {
        let names: Vec<&str> =
            missing_fields(Kind::Codebase, |_| false).iter().map(|field| field.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "title exclusivity description domain_tags price_usd lines_of_code commits contributors merged_prs \
             history_start history_end ci_on_prs"
        );
    }

    #[test]
    fn listability_follows_from_stage_and_kind() {
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
