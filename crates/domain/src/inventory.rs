//! Assets in a vendor's inventory: their fields, what is missing from them, and how they change.

use std::collections::BTreeMap;

use marketplace_text::is_blank;
use serde_json::Value;
use uuid::Uuid;

use super::{
    assets::{ArtifactStatus, Channel, Environment, Kind, TaskType},
    changes::Change,
    codebase_fields::{CodebaseChange, CodebaseFields},
    field_locks::FieldLocks,
    money::Cents,
    problem::Problem,
    problems::Problems,
    row_ids::{AssetRowId, GroupRowId},
    stages::{self, RequiredField, Stage},
    task_quality::TaskQuality,
    teams::TeamRowId,
    texts,
    time::Timestamp,
};
use crate::string_enum::StringEnum;

/// The domain slug that requires a description in `other_domain`.
const OTHER_DOMAIN: &str = "other";

/// Maximum number of domain tags of an asset.
pub const MAX_DOMAIN_TAGS: usize = 20;

/// Maximum number of columns that a vendor defines for an asset.
const MAX_COLUMNS: usize = 50;

/// Maximum asking price: one billion dollars.
pub const MAX_PRICE: Cents = Cents(100_000_000_000);

/// Maximum of a number that a vendor states, such as that of commits: the largest integer that JSON represents exactly.
const MAX_NUMBER: i64 = 9_007_199_254_740_991;

/// An asset in the inventory. Deleted assets are never loaded.
#[derive(Clone, Debug)]
pub struct Asset {
    /// Row ID of the asset. Increases with the time of creation.
    pub row_id: AssetRowId,
    /// ID of the asset (UUID).
    pub id: Uuid,
    /// Row ID of the team that owns the asset.
    pub team: TeamRowId,
    /// Inventory group of the asset: its row ID and its UUID.
    pub group: (GroupRowId, Uuid),
    /// Kind of the asset.
    pub kind: Kind,
    /// Title of the asset. Can be empty while the asset is incomplete.
    pub title: String,
    /// Description of the asset.
    pub description: Option<String>,
    /// Slugs of the asset's domain tags.
    pub domain_tags: Vec<String>,
    /// Description of the domain, if the domain tags contain `other`.
    pub other_domain: Option<String>,
    /// Asking price.
    pub price: Option<Cents>,
    /// Private notes of the vendor.
    pub notes: Option<String>,
    /// Additional columns defined by the vendor, by name.
    pub extra_columns: BTreeMap<String, Value>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// The fields that only codebases have. Empty for other kinds.
    pub codebase: CodebaseFields,
    /// The fields that only environments have.
    pub environment: Option<Environment>,
    /// The task version that the asset was imported from. Tasks only.
    pub task: Option<TaskDetails>,
    /// The attached repository or archive.
    pub data: Option<AttachedData>,
    /// Fields that cannot be edited, or only with an API key.
    pub locks: FieldLocks,
}

impl Asset {
    /// Returns an asset of a kind, with all other fields empty. It belongs to no team yet.
    #[must_use]
    pub fn empty(kind: Kind) -> Asset {
        Asset {
            row_id: AssetRowId(0),
            id: Uuid::nil(),
            team: TeamRowId(0),
            group: (GroupRowId(0), Uuid::nil()),
            kind,
            title: String::new(),
            description: None,
            domain_tags: Vec::new(),
            other_domain: None,
            price: None,
            notes: None,
            extra_columns: BTreeMap::new(),
            created_at: Timestamp(0),
            codebase: CodebaseFields::default(),
            environment: None,
            task: None,
            data: None,
            locks: FieldLocks::default(),
        }
    }
}

/// An attached repository or archive.
#[derive(Clone, Debug)]
pub struct AttachedData {
    /// Source of the data.
    pub channel: Channel,
    /// Whether the source requires credentials to access.
    pub is_private: bool,
    /// Progress of copying the data.
    pub archive_status: ArtifactStatus,
    /// Progress of analyzing the data.
    pub analysis_status: ArtifactStatus,
    /// Time at which the data was attached.
    pub attached_at: Timestamp,
    /// Time at which the analysis finished.
    pub analyzed_at: Option<Timestamp>,
    /// Size of the archive in bytes.
    pub archive_bytes: Option<i64>,
    /// Hash of the analyzed commit. Repositories only.
    pub commit_sha: Option<String>,
    /// URL of a manifest that the vendor provides.
    pub manifest_url: Option<String>,
    /// Why copying failed.
    pub archive_error: Option<String>,
    /// Why the analysis failed.
    pub analysis_error: Option<String>,
}

/// The task version that a task asset was imported from, and its quality as of the last refresh.
#[derive(Clone, Debug)]
pub struct TaskDetails {
    /// ID of the task version.
    pub version_id: Uuid,
    /// ID of the task.
    pub task_id: Uuid,
    /// Name of the task.
    pub name: String,
    /// Version number of the task version.
    pub version: u32,
    /// Subject area of the task.
    pub task_type: TaskType,
    /// Quality of the task version, as of `refreshed_at`.
    pub quality: TaskQuality,
    /// Time of the last quality refresh.
    pub refreshed_at: Option<Timestamp>,
}

impl Asset {
    /// Returns the required fields that the asset lacks, in the documented order.
    pub fn missing_fields(&self) -> Vec<RequiredField> {
        let is_present = |text: Option<&String>| text.is_some_and(|text| !is_blank(text));
        stages::missing_fields(self.kind, |field| match field {
            RequiredField::Title => !is_blank(&self.title),
            RequiredField::Description => is_present(self.description.as_ref()),
            RequiredField::DomainTags => self.has_domain(),
            RequiredField::PriceUsd => self.price.is_some(),
            field => self.codebase.has(field.as_str()),
        })
    }

    /// Returns the stage of the asset.
    pub fn stage(&self) -> Stage {
        Stage::new(self.kind, self.missing_fields().len(), self.data.is_some())
    }

    /// Whether the domain is set: some domain tag, and if `other` is the only one, a description in
    /// `other_domain`. Codebases have no `other_domain` field, so any tag is enough for them.
    fn has_domain(&self) -> bool {
        let is_described =
            self.kind == Kind::Codebase || self.other_domain.as_ref().is_some_and(|text| !is_blank(text));
        self.domain_tags.iter().any(|tag| tag != OTHER_DOMAIN || is_described)
    }
}

/// Where a change of an asset is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeOrigin {
    /// A request with an API key, which locks the fields that it writes.
    #[default]
    Api,
    /// The inventory of the web app, where locked fields are read-only.
    Inventory,
}

/// The fields of an asset that a request changes; by default none. Creating an asset changes an empty one.
#[derive(Clone, Debug, Default)]
pub struct AssetChange {
    /// Where the change is made.
    pub origin: ChangeOrigin,
    /// Title of the asset.
    pub title: Option<String>,
    /// Description of the asset.
    pub description: Change<String>,
    /// Slugs of the domain tags; `None` for each that the request states in an invalid form. Replaces the whole
    /// list.
    pub domain_tags: Option<Vec<Option<String>>>,
    /// Description of the domain, if the domain tags contain `other`.
    pub other_domain: Change<String>,
    /// Asking price in US dollars.
    pub price_usd: Change<f64>,
    /// Private notes of the vendor.
    pub notes: Change<String>,
    /// Additional columns defined by the vendor. Replaces the whole map.
    pub extra_columns: Option<BTreeMap<String, Value>>,
    /// ID of the inventory group. Clearing it selects the default group.
    pub group_id: Change<Uuid>,
    /// Subject area of a task.
    pub task_type: Option<TaskType>,
    /// The fields that only codebases have.
    pub codebase: CodebaseChange,
}

impl AssetChange {
    /// Returns the changed fields that can be locked, each with whether it has a value after the change. The
    /// group and the notes do not describe the asset, so they are never locked.
    pub fn changed_fields(&self) -> Vec<(&'static str, bool)> {
        let fields = [
            ("title", self.title.as_ref().map(|_| true)),
            ("description", self.description.has_value_after()),
            ("domain_tags", self.domain_tags.as_ref().map(|tags| !tags.is_empty())),
            ("other_domain", self.other_domain.has_value_after()),
            ("price_usd", self.price_usd.has_value_after()),
            ("extra_columns", self.extra_columns.as_ref().map(|columns| !columns.is_empty())),
            ("task_type", self.task_type.map(|_| true)),
        ];
        let fields = fields.into_iter().chain(self.codebase.has_values_after());
        fields.filter_map(|(name, is_filled)| Some((name, is_filled?))).collect()
    }

    /// Returns the problems with the values themselves. Bodies of requests are checked by their schema, which has the same
    /// bounds.
    pub fn find_problems(&self) -> Problems {
        let mut problems = Problems::default();
        let texts = [
            ("title", self.title.as_deref(), texts::TITLE),
            ("description", self.description.value().map(String::as_str), texts::DESCRIPTION),
            ("other_domain", self.other_domain.value().map(String::as_str), texts::OTHER_DOMAIN),
            ("notes", self.notes.value().map(String::as_str), texts::DESCRIPTION),
        ];
        for (name, text, rule) in texts {
            if let Some(text) = text {
                problems.check_text(&[name], text, rule);
            }
        }
        let mut report = |name: &str, kind, rest: String| {
            problems.push(Problem::body(&[name], kind, format!("`{name}` {rest}.")));
        };
        if self.domain_tags.as_ref().is_some_and(|tags| tags.len() > MAX_DOMAIN_TAGS) {
            report("domain_tags", "too_long", format!("can have at most {MAX_DOMAIN_TAGS} entries"));
        }
        if self.extra_columns.as_ref().is_some_and(|columns| columns.len() > MAX_COLUMNS) {
            report("extra_columns", "too_long", format!("can have at most {MAX_COLUMNS} columns"));
        }
        let max_price = MAX_PRICE.dollars();
        if self.price_usd.value().is_some_and(|price| !(0.0..=max_price).contains(price)) {
            report("price_usd", "less_than_equal", format!("must be from 0 to {max_price} US dollars"));
        }
        let codebase = &self.codebase;
        let numbers = [
            ("lines_of_code", &codebase.lines_of_code),
            ("commits", &codebase.commits),
            ("contributors", &codebase.contributors),
            ("merged_prs", &codebase.merged_prs),
        ];
        for (name, number) in numbers {
            if number.value().is_some_and(|number| !(0..=MAX_NUMBER).contains(number)) {
                report(name, "less_than_equal", format!("must be from 0 to {MAX_NUMBER}"));
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_changes_have_bounds() {
        let codebase = CodebaseChange { commits: Change::Set(-1), ..CodebaseChange::default() };
        let change = AssetChange {
            title: Some(" ".to_owned()),
            other_domain: Change::Set("a\nb".to_owned()),
            price_usd: Change::Set(2e9),
            domain_tags: Some(vec![None; 21]),
            codebase,
            ..AssetChange::default()
        };
        let problems = change.find_problems();
        for field in ["title", "other_domain", "price_usd", "domain_tags", "commits"] {
            assert!(problems.has_field(&[], field), "{field}");
        }
        assert_eq!(problems.len(), 5);
        assert!(AssetChange::default().find_problems().is_empty());
    }
}
