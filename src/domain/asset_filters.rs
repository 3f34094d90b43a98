//! Filters and sort columns of asset collections.

use super::{
    assets::{Channel, Exclusivity, Kind, TaskType},
    filters::{self, Fault, Field, Values, words},
    stages::Stage,
    tasks::QaAgent,
    vocabulary::{Vocabulary, vocabulary},
};

vocabulary! {
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
        /// Whether the attached data requires credentials to access.
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
    }
}

vocabulary! {
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
        /// Low quote of the latest estimation.
        Estimate = "estimate",
        /// Whether a codebase is still available for an exclusive sale.
        Exclusivity = "exclusivity",
        /// Whether the attached data requires credentials to access.
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
pub type Condition = filters::Condition<FilterField>;

impl FilterField {
    /// Returns the fields that collections of this kind support. `None` stands for collections of all kinds.
    pub fn of(kind: Option<Kind>) -> Vec<FilterField> {
        use FilterField as F;
        let is_taken = |field: &FilterField| match field {
            F::Stage | F::Name | F::Type | F::Domain | F::Channel => true,
            F::Exclusivity | F::PrivateData => matches!(kind, None | Some(Kind::Codebase)),
            F::TaskType | F::HasTraces | F::HasQaResults | F::HasEnvironment | F::RanOnModel | F::QaAgent => {
                matches!(kind, None | Some(Kind::Task))
            }
        };
        FilterField::ALL.iter().copied().filter(is_taken).collect()
    }
}

impl Field for FilterField {
    fn values(self) -> Values {
        use FilterField as F;
        match self {
            F::Stage => Values::Words(words::<Stage>()),
            F::Type => Values::Words(words::<Kind>()),
            F::Channel => Values::Words([words::<Channel>(), vec![NOT_LINKED]].concat()),
            F::Exclusivity => Values::Words(words::<Exclusivity>()),
            F::TaskType => Values::Words(words::<TaskType>()),
            F::QaAgent => Values::Words(words::<QaAgent>()),
            F::PrivateData | F::HasTraces | F::HasQaResults | F::HasEnvironment => {
                Values::Words(vec!["true", "false"])
            }
            F::Name => Values::Text,
            F::Domain | F::RanOnModel => Values::Name,
        }
    }
}

/// Parses a filter entry of a collection of this kind. `None` stands for collections of all kinds.
pub fn parse(text: &str, kind: Option<Kind>) -> Result<Condition, Fault> {
    filters::parse(text, &FilterField::of(kind))
}

#[cfg(test)]
mod tests {
    use super::{super::filters::FilterOperator, *};

    #[test]
    fn values_may_hold_colons() {
        for (text, field, operator, value) in [
            ("stage:is:proposed", FilterField::Stage, FilterOperator::Is, "proposed"),
            ("name:contains:a:b::c", FilterField::Name, FilterOperator::Contains, "a:b::c"),
            ("name:is_not: ", FilterField::Name, FilterOperator::IsNot, " "),
            ("ran_on_model:is:corvid:2", FilterField::RanOnModel, FilterOperator::Is, "corvid:2"),
            ("channel:is:not_linked", FilterField::Channel, FilterOperator::Is, "not_linked"),
            ("domain:is:no-such-field", FilterField::Domain, FilterOperator::Is, "no-such-field"),
            ("private_data:is_not:true", FilterField::PrivateData, FilterOperator::IsNot, "true"),
        ] {
            assert_eq!(
                parse(text, None),
                Ok(Condition { field, operator, value: value.to_owned() }),
                "{text}"
            );
        }
    }

    #[test]
    fn faults_say_where() {
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
            let fault = parse(text, None).unwrap_err();
            assert_eq!(fault.at, at, "{text}: {fault:?}");
            assert!(fault.what.contains(part), "{text}: {fault:?}");
        }
    }

    #[test]
    fn each_collection_takes_the_common_fields_and_its_own() {
        let taken = |text: &str, kind| parse(text, kind).is_ok();
        for kind in [None, Some(Kind::Codebase), Some(Kind::RawData), Some(Kind::Task)] {
            assert!(taken("type:is:codebase", kind) && taken("channel:is:zip", kind));
            assert_eq!(taken("exclusivity:is:available", kind), matches!(kind, None | Some(Kind::Codebase)));
            assert_eq!(taken("has_traces:is:true", kind), matches!(kind, None | Some(Kind::Task)));
        }
    }

    proptest::proptest! {
        /// Any text parses or fails without a panic, and the position of an error is within the text.
        #[test]
        fn every_text_is_read_or_refused(text in ".*") {
            if let Err(fault) = parse(&text, None) {
                proptest::prop_assert!(fault.at <= text.chars().count());
            }
        }
    }
}
