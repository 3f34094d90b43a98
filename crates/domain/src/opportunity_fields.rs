//! The fields of an opportunity that its owner sets, and their rules.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{
    assets::Kind,
    changes::Change,
    money::Cents,
    opportunities::{Opportunity, OpportunityKind, OpportunityMetadata, VisibilityMode},
    problems::Problems,
    texts,
    time::Timestamp,
};
use crate::{
    excerpt::{excerpt, quoted},
    name_lists::NameList,
    problem::Problem,
    string_enum::StringEnum,
};

/// Maximum number of teams that an opportunity excludes.
pub const MAX_EXCLUDED_TEAMS: usize = 100;

/// Maximum number of days from now to a deadline or an evaluation.
pub const MAX_DAYS_AHEAD: i64 = 3_650;

/// Maximum number of tags.
const MAX_TAGS: usize = 20;

/// Maximum of a budget in US dollars.
const MAX_BUDGET: f64 = 1e9;

/// The fields of an opportunity that its owner sets.
#[derive(Clone, Debug, PartialEq)]
pub struct OpportunityFields {
    /// Title, see [`texts::TITLE`].
    pub title: String,
    /// Description, see [`texts::DESCRIPTION`].
    pub description: String,
    /// Asset kinds that the buyer accepts; empty for any kind.
    pub accepted_asset_types: Vec<Kind>,
    /// Budget, tags, and overview.
    pub metadata: OpportunityMetadata,
    /// The vendors that can see the opportunity.
    pub visibility: VisibilityMode,
    /// IDs of the excluded teams, at most [`MAX_EXCLUDED_TEAMS`]. Only with [`VisibilityMode::AllExcept`].
    pub excluded_team_ids: Vec<Uuid>,
    /// Deadline for responses.
    pub deadline: Option<Timestamp>,
    /// Time at which the buyer evaluates bids. Project opportunities only.
    pub evaluation_date: Option<Timestamp>,
}

/// A change of an opportunity. Fields that are `None` or [`Change::Unchanged`] stay as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpportunityChange {
    /// See [`OpportunityFields::title`].
    pub title: Option<String>,
    /// See [`OpportunityFields::description`].
    pub description: Option<String>,
    /// See [`OpportunityFields::accepted_asset_types`].
    pub accepted_asset_types: Option<Vec<Kind>>,
    /// See [`OpportunityFields::metadata`]. Replaced as a whole.
    pub metadata: Option<OpportunityMetadata>,
    /// See [`OpportunityFields::visibility`].
    pub visibility: Option<VisibilityMode>,
    /// See [`OpportunityFields::excluded_team_ids`].
    pub excluded_team_ids: Option<Vec<Uuid>>,
    /// See [`OpportunityFields::deadline`].
    pub deadline: Change<Timestamp>,
    /// See [`OpportunityFields::evaluation_date`].
    pub evaluation_date: Change<Timestamp>,
}

impl OpportunityChange {
    /// Whether the change only sets a deadline, which a published opportunity allows.
    pub fn is_only_deadline(&self) -> bool {
        let only = OpportunityChange { deadline: self.deadline.clone(), ..OpportunityChange::default() };
        *self == only && self.deadline != Change::Unchanged
    }

    /// Returns the fields after the change.
    pub fn apply(self, mut fields: OpportunityFields) -> OpportunityFields {
        fn set<T>(to: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *to = value;
            }
        }
        set(&mut fields.title, self.title);
        set(&mut fields.description, self.description);
        set(&mut fields.accepted_asset_types, self.accepted_asset_types);
        set(&mut fields.metadata, self.metadata);
        set(&mut fields.visibility, self.visibility);
        set(&mut fields.excluded_team_ids, self.excluded_team_ids);
        self.deadline.apply(&mut fields.deadline);
        self.evaluation_date.apply(&mut fields.evaluation_date);
        fields
    }
}

impl From<&Opportunity> for OpportunityFields {
    fn from(opportunity: &Opportunity) -> OpportunityFields {
        OpportunityFields {
            title: opportunity.title.clone(),
            description: opportunity.description.clone(),
            accepted_asset_types: opportunity.accepted_asset_types.clone(),
            metadata: opportunity.metadata.clone(),
            visibility: opportunity.visibility,
            excluded_team_ids: opportunity.excluded.clone(),
            deadline: opportunity.deadline,
            evaluation_date: opportunity.evaluation_date,
        }
    }
}

impl OpportunityFields {
    /// Returns the problems with the fields that depend neither on the time nor on existing teams.
    pub fn find_problems(&self, kind: OpportunityKind) -> Problems {
        let mut problems = Problems::default();
        problems.check_text(&["title"], &self.title, texts::TITLE);
        problems.check_text(&["description"], &self.description, texts::DESCRIPTION);
        if let Some(overview) = &self.metadata.overview {
            problems.check_text(&["metadata", "overview"], overview, texts::OVERVIEW);
        }
        for (index, tag) in self.metadata.tags.iter().take(MAX_TAGS).enumerate() {
            problems.check_text(&["metadata", "tags", &index.to_string()], tag, texts::FREE_TAG);
        }
        self.check_lists(&mut problems);
        self.check_budget(&mut problems);
        if self.evaluation_date.is_some() && kind != OpportunityKind::Project {
            let message = "`evaluation_date` is only allowed on project opportunities.";
            problems.push(Problem::body(&["evaluation_date"], "value_error", message));
        }
        if let (Some(deadline), Some(evaluation)) = (self.deadline, self.evaluation_date)
            && evaluation < deadline
        {
            let message = "`evaluation_date` must not be before `deadline`.";
            problems.push(Problem::body(&["evaluation_date"], "value_error", message));
        }
        problems
    }

    /// Adds the problems with the times to `problems`: they must be after `now`, by at most [`MAX_DAYS_AHEAD`].
    pub fn check_times(&self, now: Timestamp, problems: &mut Problems) {
        for (name, time) in [("deadline", self.deadline), ("evaluation_date", self.evaluation_date)] {
            if time.is_some_and(|time| time <= now || time > now.plus_days(MAX_DAYS_AHEAD)) {
                let message =
                    format!("`{name}` must be in the future, and at most {MAX_DAYS_AHEAD} days ahead.");
                problems.push(Problem::body(&[name], "value_error", message));
            }
        }
    }

    fn check_lists(&self, problems: &mut Problems) {
        let mut check = |path: &[&str], count: usize, max: usize, repeated: NameList| {
            let name = path.last().copied().unwrap_or_default();
            if count > max {
                let message = format!("`{name}` has {count} items. It can have at most {max}.");
                problems.push(Problem::body(path, "too_long", message));
            } else if !repeated.is_empty() {
                let message = format!("`{name}` has these items more than once: {repeated}.");
                problems.push(Problem::body(path, "duplicate", message));
            }
        };
        let tags = &self.metadata.tags;
        let repeated_tags = find_repeated(tags.iter(), MAX_TAGS, |tag| quoted(&excerpt(tag)));
        check(&["metadata", "tags"], tags.len(), MAX_TAGS, repeated_tags);
        let kinds = &self.accepted_asset_types;
        let max_kinds = Kind::ALL.len();
        let repeated_kinds =
            find_repeated(kinds.iter().map(|kind| kind.as_str()), max_kinds, |kind| (*kind).to_owned());
        check(&["accepted_asset_types"], kinds.len(), max_kinds, repeated_kinds);
        let teams = &self.excluded_team_ids;
        let repeated_teams = find_repeated(teams.iter(), MAX_EXCLUDED_TEAMS, |team| format!("{team}"));
        check(&["excluded_team_ids"], teams.len(), MAX_EXCLUDED_TEAMS, repeated_teams);
        if !teams.is_empty() && self.visibility != VisibilityMode::AllExcept {
            let message = "`excluded_team_ids` is only allowed with the visibility mode `all_except`.";
            problems.push(Problem::body(&["excluded_team_ids"], "value_error", message));
        }
    }

    fn check_budget(&self, problems: &mut Problems) {
        let (min, max) = (self.metadata.budget_min, self.metadata.budget_max);
        for (name, amount) in [("budget_min", min), ("budget_max", max)] {
            let is_valid =
                |amount: f64| (0.0..=MAX_BUDGET).contains(&amount) && Cents::from_dollars(amount).is_some();
            if amount.is_some_and(|amount| !is_valid(amount)) {
                let message =
                    format!("`{name}` must be 0 to {MAX_BUDGET} US dollars, with at most two decimals.");
                problems.push(Problem::body(&["metadata", name], "value_error", message));
            }
        }
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            let message = "`budget_max` must not be less than `budget_min`.";
            problems.push(Problem::body(&["metadata", "budget_max"], "value_error", message));
        }
    }
}

/// Names the items that occur more than once among the first `max` items.
fn find_repeated<T: Ord>(
    items: impl Iterator<Item = T>,
    max: usize,
    name: impl Fn(&T) -> String,
) -> NameList {
    let mut counts = BTreeMap::new();
    for item in items.take(max) {
        *counts.entry(item).or_insert(0) += 1;
    }
    counts.iter().filter(|(_, count)| **count > 1).map(|(item, _)| name(item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> OpportunityFields {
        OpportunityFields {
            title: "Maps".to_owned(),
            description: String::new(),
            accepted_asset_types: vec![Kind::Codebase],
            metadata: OpportunityMetadata::default(),
            visibility: VisibilityMode::AllVendors,
            excluded_team_ids: Vec::new(),
            deadline: None,
            evaluation_date: None,
        }
    }

    fn problems(fields: &OpportunityFields, kind: OpportunityKind) -> Vec<String> {
        let mut problems = fields.find_problems(kind);
        fields.check_times(Timestamp(1_000), &mut problems);
        problems
            .into_vec()
            .iter()
            .map(|problem| format!("{} {}", problem.body_path(), problem.kind))
            .collect()
    }

    #[test]
    fn every_field_has_bounds() {
        assert!(problems(&fields(), OpportunityKind::Listing).is_empty());
        let mut invalid = fields();
        invalid.title = "x".repeat(texts::TITLE.max + 1);
        invalid.description = "\0".to_owned();
        invalid.accepted_asset_types = vec![Kind::Codebase; 2];
        invalid.metadata = OpportunityMetadata {
            budget_min: Some(f64::NAN),
            budget_max: Some(-0.01),
            tags: vec!["a".to_owned(), " ".to_owned(), "a".to_owned()],
            overview: Some("a\nb".to_owned()),
            ..OpportunityMetadata::default()
        };
        invalid.excluded_team_ids = vec![Uuid::nil(); 2];
        invalid.deadline = Some(Timestamp(1_000));
        invalid.evaluation_date = Some(Timestamp(999));
        assert_eq!(
            problems(&invalid, OpportunityKind::Listing),
            [
                "title string_too_long",
                "description string_pattern_mismatch",
                "metadata.overview string_pattern_mismatch",
                "metadata.tags.1 string_too_short",
                "metadata.tags duplicate",
                "accepted_asset_types duplicate",
                "excluded_team_ids duplicate",
                "excluded_team_ids value_error",
                "metadata.budget_min value_error",
                "metadata.budget_max value_error",
                "evaluation_date value_error",
                "evaluation_date value_error",
                "deadline value_error",
                "evaluation_date value_error",
            ]
        );
        let mut long = fields();
        long.metadata.tags = vec!["a".to_owned(); 1_000_000];
        long.excluded_team_ids = vec![Uuid::nil(); 1_000_000];
        long.metadata.budget_min = Some(2.0);
        long.metadata.budget_max = Some(1.0);
        let expected =
            ["metadata.tags too_long", "excluded_team_ids too_long", "excluded_team_ids value_error"];
        let found = problems(&long, OpportunityKind::Project);
        assert_eq!(found[..3], expected);
        assert_eq!(found[3], "metadata.budget_max value_error");
    }

    #[test]
    fn repeated_items_are_named() {
        let mut invalid = fields();
        invalid.metadata.tags = ["b", "a", "c", "a", "b", "a"].map(str::to_owned).to_vec();
        invalid.accepted_asset_types = vec![Kind::Codebase, Kind::Task, Kind::Codebase];
        let found = invalid.find_problems(OpportunityKind::Listing).into_vec();
        let messages: Vec<&str> = found.iter().map(|problem| problem.msg.as_str()).collect();
        assert_eq!(
            messages,
            [
                "`tags` has these items more than once: \"a\"; \"b\".",
                "`accepted_asset_types` has these items more than once: codebase."
            ]
        );
    }

    #[test]
    fn only_a_deadline_is_recognized() {
        let deadline = || Change::Set(Timestamp(9));
        let change = OpportunityChange { deadline: deadline(), ..OpportunityChange::default() };
        assert!(change.is_only_deadline());
        let both = OpportunityChange { title: Some("T".to_owned()), ..change };
        assert!(!both.is_only_deadline() && !OpportunityChange::default().is_only_deadline());
        let applied = both.apply(fields());
        assert_eq!((applied.title.as_str(), applied.deadline), ("T", Some(Timestamp(9))));
    }
}
