//! Filters and sort columns of asset collections.

use super::{
    assets::{Channel, Exclusivity, Kind, TaskType},
    filters::{self, AllowedValues, FilterError, FilterableField, variant_strings},
    quality_runs::RunOutcome,
    stages::Stage,
    tasks::QaAgent,
};
use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// A field that filters on assets can test.
    FilterField {
        /// Stage of the asset: incomplete, proposed or complete.
        Stage = "stage",
        /// Title of the asset.
        Name = "name",
        /// Kind of the asset.
        Type = "type",
        /// Domain tag of the asset.
        Domain = "domain",
        /// Source of the attached data.
        Channel = "channel",
        /// Whether a codebase is still available for an exclusive sale.
        Exclusivity = "exclusivity",
        /// Whether the attached data of a codebase requires credentials to access.
        PrivateData = "private_data",
        /// Subject area of a task.
        TaskType = "task_type",
        /// Whether a task has graded runs.
        HasTraces = "has_traces",
        /// Whether a task has completed QA checks.
        HasQaResults = "has_qa_results",
        /// Whether the environment of a task was built successfully.
        HasEnvironment = "has_environment",
        /// Model with graded runs of a task.
        RanOnModel = "ran_on_model",
        /// QA agent with a result in effect for a task.
        QaAgent = "qa_agent",
        /// Outcome of the latest quality run. Only lists for agents can be filtered by it.
        Qc = "qc",
    }
}

string_enum! {
    /// A column that asset collections can be sorted by.
    SortColumn {
        /// Title, case-insensitive.
        Name = "name",
        /// Kind of the asset.
        Type = "type",
        /// Domain tags.
        Domain = "domain",
        /// Stage, in the order incomplete, proposed, complete.
        Stage = "stage",
        /// Source of the attached data.
        Channel = "channel",
        /// Time of creation.
        CreatedAt = "created_at",
        /// Asking price.
        Price = "price",
        /// Low quote of the latest estimation of a codebase.
        Estimate = "estimate",
        /// Whether a codebase is still available for an exclusive sale.
        Exclusivity = "exclusivity",
        /// Whether the attached data of a codebase requires credentials to access.
        PrivateData = "private_data",
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
        /// Subject area of a task.
        TaskType = "task_type",
        /// Whether a task has graded runs.
        HasTraces = "has_traces",
        /// Whether a task has completed QA checks.
        HasQaResults = "has_qa_results",
        /// Whether the environment of a task was built successfully.
        HasEnvironment = "has_environment",
    }
}

/// Value of channel filters that matches assets without attached data.
pub const NOT_LINKED: &str = "not_linked";

/// A filter condition on assets.
pub type AssetCondition = filters::Condition<FilterField>;

impl FilterField {
    /// Returns the fields that collections of this kind support. `None` means collections of all kinds.
    pub fn for_kind(kind: Option<Kind>) -> Vec<FilterField> {
        use FilterField as F;
        let is_supported = |field: &FilterField| match field {
            F::Stage | F::Name | F::Type | F::Domain | F::Channel => true,
            F::Exclusivity | F::PrivateData => matches!(kind, None | Some(Kind::Codebase)),
            F::TaskType | F::HasTraces | F::HasQaResults | F::HasEnvironment | F::RanOnModel | F::QaAgent => {
                matches!(kind, None | Some(Kind::Task))
            }
            F::Qc => false,
        };
        FilterField::ALL.iter().copied().filter(is_supported).collect()
    }
}

impl FilterableField for FilterField {
    fn allowed_values(self) -> AllowedValues {
        use FilterField as F;
        match self {
            F::Stage => AllowedValues::OneOf(variant_strings::<Stage>()),
            F::Type => AllowedValues::OneOf(variant_strings::<Kind>()),
            F::Channel => AllowedValues::OneOf([variant_strings::<Channel>(), vec![NOT_LINKED]].concat()),
            F::Exclusivity => AllowedValues::OneOf(variant_strings::<Exclusivity>()),
            F::TaskType => AllowedValues::OneOf(variant_strings::<TaskType>()),
            F::QaAgent => AllowedValues::OneOf(variant_strings::<QaAgent>()),
            F::Qc => AllowedValues::OneOf(variant_strings::<RunOutcome>()),
            F::PrivateData | F::HasTraces | F::HasQaResults | F::HasEnvironment => AllowedValues::Boolean,
            F::Name => AllowedValues::AnyText,
            F::Domain | F::RanOnModel => AllowedValues::AnyName,
        }
    }
}

/// Parses a filter entry of a collection of this kind. `None` means collections of all kinds.
pub fn parse_filter(text: &str, kind: Option<Kind>) -> Result<AssetCondition, FilterError> {
    filters::parse_filter(text, &FilterField::for_kind(kind))
}

#[cfg(test)]
mod tests {
    use super::{super::filters::FilterOperator, *};

    #[test]
    fn filter_values_can_contain_colons() {
        for (text, field, operator, value) in [
            ("stage:is:proposed", FilterField::Stage, FilterOperator::Is, "proposed"),
            ("name:contains:a:b::c", FilterField::Name, FilterOperator::Contains, "a:b::c"),
            ("name:is_not: ", FilterField::Name, FilterOperator::IsNot, " "),
            ("ran_on_model:is:corvid:2", FilterField::RanOnModel, FilterOperator::Is, "corvid:2"),
            ("channel:is:not_linked", FilterField::Channel, FilterOperator::Is, "not_linked"),
            ("domain:is:no-such-field", FilterField::Domain, FilterOperator::Is, "no-such-field"),
            ("private_data:is_not:true", FilterField::PrivateData, FilterOperator::IsNot, "true"),
            ("has_traces:is:True", FilterField::HasTraces, FilterOperator::Is, "true"),
            ("has_traces:is:FALSE", FilterField::HasTraces, FilterOperator::Is, "false"),
        ] {
            assert_eq!(
                parse_filter(text, None),
                Ok(AssetCondition { field, operator, value: value.to_owned() }),
                "{text}"
            );
        }
    }

    #[test]
    fn errors_report_position_and_expected_values() {
        for (text, at, part) in [
            ("", 0, "expected `:` after the field"),
            ("stage", 5, "expected `:` after the field"),
            ("stagé:is:complete", 0, "expected one of stage, name"),
            ("stage:is", 8, "expected `:` after the operator"),
            ("stage:contains:comp", 6, "expected one of is, is_not"),
            ("name:has:x", 5, "is, is_not, contains"),
            ("stage:is:", 9, "expected a value for `stage`"),
            ("stage:is:done", 9, "incomplete, proposed, complete"),
            ("channel:is_not:ftp", 15, "github, gitlab, bitbucket, zip, not_linked"),
            ("has_traces:is:yes", 14, "true, false"),
            ("STAGE:is:complete", 0, "unknown field"),
        ] {
            let error = parse_filter(text, None).unwrap_err();
            assert_eq!(error.position, at, "{text}: {error:?}");
            assert!(error.message.contains(part), "{text}: {error:?}");
        }
    }

    #[test]
    fn each_collection_supports_common_fields_and_its_own() {
        let is_accepted = |text: &str, kind| parse_filter(text, kind).is_ok();
        for kind in [None, Some(Kind::Codebase), Some(Kind::RawData), Some(Kind::Task)] {
            assert!(is_accepted("type:is:codebase", kind) && is_accepted("channel:is:zip", kind));
            assert_eq!(
                is_accepted("exclusivity:is:available", kind),
                matches!(kind, None | Some(Kind::Codebase))
            );
            assert_eq!(is_accepted("has_traces:is:true", kind), matches!(kind, None | Some(Kind::Task)));
        }
    }

    proptest::proptest! {
        /// Any text parses or fails without a panic, and the position of an error is within the text.
        #[test]
        fn any_text_parses_or_returns_an_error(text in ".*") {
            if let Err(error) = parse_filter(&text, None) {
                proptest::prop_assert!(error.position <= text.chars().count());
            }
        }
    }
}
