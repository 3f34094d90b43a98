//! An asset as its vendor keeps it: what is known of it, what it lacks, and how it changes.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::{
    assets::{ArtifactStatus, Channel, Environment, Exclusivity, Kind, TaskType},
    field_locks::Locks,
    money::Cents,
    stages::{self, Piece, Stage},
    task_quality::TaskQuality,
    teams::TeamNumber,
    time::{Day, Timestamp},
};

/// The business field that has to be said in words.
const OTHER_DOMAIN: &str = "other";

/// An asset that is not deleted.
#[derive(Clone, Debug)]
pub struct Asset {
    /// Its row number; later ones were added later.
    pub number: i64,
    /// Its id.
    pub id: Uuid,
    /// The team that owns it.
    pub team: TeamNumber,
    /// Its inventory folder, by row number and by id.
    pub group: (i64, Uuid),
    /// Its kind.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// What it is.
    pub description: Option<String>,
    /// Slugs of its business fields.
    pub domain_tags: Vec<String>,
    /// The field in words, where the tags hold `other`.
    pub other_domain: Option<String>,
    /// Asking price.
    pub price: Option<Cents>,
    /// The vendor's own notes.
    pub notes: Option<String>,
    /// The vendor's own columns.
    pub extra_columns: BTreeMap<String, Value>,
    /// When it was made.
    pub created_at: Timestamp,
    /// What only codebases have; empty for other kinds.
    pub history: History,
    /// What only environments have.
    pub environment: Option<Environment>,
    /// The task version that a task asset stands for.
    pub task: Option<TaskBlock>,
    /// The linked repository or uploaded archive.
    pub data: Option<Data>,
    /// Fields that are not to be edited by hand.
    pub locks: Locks,
}

/// What is known of a codebase's past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Whether it can still be sold exclusively.
    pub exclusivity: Option<Exclusivity>,
    /// Lines of code.
    pub lines_of_code: Option<i64>,
    /// Commits on the default branch.
    pub commits: Option<i64>,
    /// People who committed.
    pub contributors: Option<i64>,
    /// Merged pull requests.
    pub merged_prs: Option<i64>,
    /// Day of the first commit.
    pub start: Option<Day>,
    /// Day of the last commit.
    pub end: Option<Day>,
    /// Whether continuous integration runs on pull requests.
    pub ci_on_prs: Option<bool>,
}

/// A linked repository or an uploaded archive.
#[derive(Clone, Debug)]
pub struct Data {
    /// Where it comes from.
    pub channel: Channel,
    /// Whether it cannot be had without credentials.
    pub is_private: bool,
    /// How far the copying is.
    pub archive_status: ArtifactStatus,
    /// How far the reading is.
    pub analysis_status: ArtifactStatus,
    /// When it was attached.
    pub attached_at: Timestamp,
    /// When it was read.
    pub analyzed_at: Option<Timestamp>,
    /// Size of the archive.
    pub archive_bytes: Option<i64>,
    /// The commit that was read.
    pub commit_sha: Option<String>,
    /// Where the vendor keeps a manifest of it.
    pub manifest_url: Option<String>,
    /// Why the copying failed.
    pub archive_error: Option<String>,
    /// Why the reading failed.
    pub analysis_error: Option<String>,
}

/// The task version that a task asset stands for, and what was last read of its quality.
#[derive(Clone, Debug)]
pub struct TaskBlock {
    /// The version's id.
    pub version_id: Uuid,
    /// The task's id.
    pub task_id: Uuid,
    /// The task's name.
    pub name: String,
    /// The version's number.
    pub version: u32,
    /// What it is about.
    pub task_type: TaskType,
    /// Its quality, as last read.
    pub quality: TaskQuality,
    /// When that was.
    pub read_at: Option<Timestamp>,
}

impl Asset {
    /// What it lacks of what its kind must have, in the documented order.
    pub fn missing(&self) -> Vec<Piece> {
        let is_said = |text: Option<&String>| text.is_some_and(|text| !text.trim().is_empty());
        stages::missing(self.kind, |piece| match piece {
            Piece::Title => !self.title.trim().is_empty(),
            Piece::Description => is_said(self.description.as_ref()),
            Piece::DomainTags => self.states_domain(),
            Piece::PriceUsd => self.price.is_some(),
            Piece::Exclusivity => self.history.exclusivity.is_some(),
            Piece::LinesOfCode => self.history.lines_of_code.is_some(),
            Piece::Commits => self.history.commits.is_some(),
            Piece::Contributors => self.history.contributors.is_some(),
            Piece::MergedPrs => self.history.merged_prs.is_some(),
            Piece::HistoryStart => self.history.start.is_some(),
            Piece::HistoryEnd => self.history.end.is_some(),
            Piece::CiOnPrs => self.history.ci_on_prs.is_some(),
        })
    }

    /// How far it is on its way to being offered.
    pub fn stage(&self) -> Stage {
        Stage::of(self.kind, self.missing().len(), self.data.is_some())
    }

    /// Whether its business field is stated: some slug, and where that is only `other`, the field in words. Codebases have
    /// no place for such words, so for them the slug is enough.
    fn states_domain(&self) -> bool {
        let is_in_words = self.kind == Kind::Codebase
            || self.other_domain.as_ref().is_some_and(|words| !words.trim().is_empty());
        self.domain_tags.iter().any(|tag| tag != OTHER_DOMAIN || is_in_words)
    }
}

/// What a request does with a field that may be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Change<T> {
    /// Leaves it as it is.
    #[default]
    Keep,
    /// Empties it.
    Clear,
    /// Fills it.
    Set(T),
}

impl<T> Change<T> {
    /// The same change of another value.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
            Change::Set(value) => Change::Set(of(value)),
        }
    }

    /// Makes the change.
    pub fn apply(self, to: &mut Option<T>) {
        match self {
            Change::Keep => {}
            Change::Clear => *to = None,
            Change::Set(value) => *to = Some(value),
        }
    }

    /// Whether there is something afterwards, where anything is changed.
    pub const fn leaves(&self) -> Option<bool> {
        match self {
            Change::Keep => None,
            Change::Clear => Some(false),
            Change::Set(_) => Some(true),
        }
    }
}

impl<T> From<Option<T>> for Change<T> {
    fn from(value: Option<T>) -> Change<T> {
        value.map_or(Change::Keep, Change::Set)
    }
}

/// What a request changes of an asset; by itself nothing. Making one is changing a blank one.
#[derive(Clone, Debug, Default)]
pub struct AssetChange {
    /// Its title.
    pub title: Option<String>,
    /// What it is.
    pub description: Change<String>,
    /// Slugs of its business fields.
    pub domain_tags: Option<Vec<String>>,
    /// The field in words.
    pub other_domain: Change<String>,
    /// Asking price in US dollars.
    pub price_usd: Change<f64>,
    /// The vendor's own notes.
    pub notes: Change<String>,
    /// The vendor's own columns, all of them.
    pub extra_columns: Option<BTreeMap<String, Value>>,
    /// Its inventory folder; the default one when cleared.
    pub group_id: Change<Uuid>,
    /// What a task is about.
    pub task_type: Option<TaskType>,
    /// Whether a codebase can still be sold exclusively.
    pub exclusivity: Change<Exclusivity>,
    /// Lines of code.
    pub lines_of_code: Change<i64>,
    /// Commits.
    pub commits: Change<i64>,
    /// People who committed.
    pub contributors: Change<i64>,
    /// Merged pull requests.
    pub merged_prs: Change<i64>,
    /// Day of the first commit.
    pub history_start: Change<Day>,
    /// Day of the last commit.
    pub history_end: Change<Day>,
    /// Whether continuous integration runs on pull requests.
    pub ci_on_prs: Change<bool>,
}

impl AssetChange {
    /// The fields that are written, and whether each is filled afterwards. The folder and the notes are not among them:
    /// they say nothing about the asset, so they are never locked.
    pub fn written(&self) -> Vec<(&'static str, bool)> {
        let fields = [
            ("title", self.title.as_ref().map(|_| true)),
            ("description", self.description.leaves()),
            ("domain_tags", self.domain_tags.as_ref().map(|tags| !tags.is_empty())),
            ("other_domain", self.other_domain.leaves()),
            ("price_usd", self.price_usd.leaves()),
            ("extra_columns", self.extra_columns.as_ref().map(|columns| !columns.is_empty())),
            ("task_type", self.task_type.map(|_| true)),
            ("exclusivity", self.exclusivity.leaves()),
            ("lines_of_code", self.lines_of_code.leaves()),
            ("commits", self.commits.leaves()),
            ("contributors", self.contributors.leaves()),
            ("merged_prs", self.merged_prs.leaves()),
            ("history_start", self.history_start.leaves()),
            ("history_end", self.history_end.leaves()),
            ("ci_on_prs", self.ci_on_prs.leaves()),
        ];
        fields.into_iter().filter_map(|(name, is_filled)| Some((name, is_filled?))).collect()
    }
}
