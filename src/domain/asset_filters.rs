//! What lists of assets are filtered and sorted by.

use super::{
    assets::{Channel, Exclusivity, Kind, TaskType},
    filters::{self, Fault, Field, Values, words},
    stages::Stage,
    tasks::QaAgent,
    vocabulary::{Vocabulary, vocabulary},
};

vocabulary! {
    /// What a filter looks at.
    FilterField {
        /// How far the asset is on its way to being offered.
        Stage = "stage",
        /// Its title.
        Name = "name",
        /// Its kind.
        Type = "type",
        /// Its business fields.
        Domain = "domain",
        /// Where its linked data comes from.
        Channel = "channel",
        /// Whether a codebase can still be sold exclusively.
        Exclusivity = "exclusivity",
        /// Whether the linked data cannot be had without credentials.
        PrivateData = "private_data",
        /// What a task is about.
        TaskType = "task_type",
        /// Whether a task has graded runs.
        HasTraces = "has_traces",
        /// Whether a task has completed checks.
        HasQaResults = "has_qa_results",
        /// Whether a task's environment was built.
        HasEnvironment = "has_environment",
        /// A model that ran on a task.
        RanOnModel = "ran_on_model",
        /// An agent whose check of a task is in effect.
        QaAgent = "qa_agent",
    }
}

vocabulary! {
    /// A column that lists of assets can be sorted by.
    SortColumn {
        /// The title, regardless of case.
        Name = "name",
        /// The kind.
        Type = "type",
        /// The business fields.
        Domain = "domain",
        /// Incomplete, proposed, complete.
        Stage = "stage",
        /// Where the linked data comes from.
        Channel = "channel",
        /// When it was made.
        CreatedAt = "created_at",
        /// The asking price.
        Price = "price",
        /// The least that the latest estimation quotes.
        Estimate = "estimate",
        /// Whether a codebase can still be sold exclusively.
        Exclusivity = "exclusivity",
        /// Whether the linked data cannot be had without credentials.
        PrivateData = "private_data",
        /// Lines of code.
        LinesOfCode = "lines_of_code",
        /// Commits.
        Commits = "commits",
        /// People who committed.
        Contributors = "contributors",
        /// Merged pull requests.
        MergedPrs = "merged_prs",
        /// Day of the first commit.
        HistoryStart = "history_start",
        /// Day of the last commit.
        HistoryEnd = "history_end",
        /// Whether continuous integration runs on pull requests.
        CiOnPrs = "ci_on_prs",
        /// What a task is about.
        TaskType = "task_type",
        /// Whether a task has graded runs.
        HasTraces = "has_traces",
        /// Whether a task has completed checks.
        HasQaResults = "has_qa_results",
        /// Whether a task's environment was built.
        HasEnvironment = "has_environment",
    }
}

/// The word that stands for no linked data in filters by channel.
pub const NOT_LINKED: &str = "not_linked";

/// One condition on assets.
pub type Condition = filters::Condition<FilterField>;

impl FilterField {
    /// The fields that lists of a kind's assets take; those of all kinds, all of them.
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

/// Reads an entry of a list over a kind's assets, or over all kinds.
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
            ("", 0, "colon is expected behind the field"),
            ("stage", 5, "colon is expected behind the field"),
            ("stagé:is:complete", 0, "there are stage, name"),
            ("stage:is", 8, "colon is expected behind the operator"),
            ("stage:contains:comp", 6, "it takes is, is_not"),
            ("name:has:x", 5, "is, is_not, contains"),
            ("stage:is:", 9, "a value of `stage`"),
            ("stage:is:done", 9, "incomplete, proposed, complete"),
            ("channel:is_not:ftp", 15, "github, gitlab, bitbucket, zip, not_linked"),
            ("has_traces:is:yes", 14, "true, false"),
            ("STAGE:is:complete", 0, "there is no field"),
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
        /// No text breaks the parser, and a fault is within the text.
        #[test]
        fn every_text_is_read_or_refused(text in ".*") {
            if let Err(fault) = parse(&text, None) {
                proptest::prop_assert!(fault.at <= text.chars().count());
            }
        }
    }
}
