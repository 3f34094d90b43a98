//! Assets to be, and how they are added.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::{
    domain::{
        assets::{ArtifactStatus, Channel, Environment, Exclusivity, Kind, Robotics, TaskType},
        field_locks::Locks,
        inventory::Asset,
        money::Cents,
        teams::TeamNumber,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
    store::{Writer, row},
};

/// An asset to be: the fields that every kind has, and those of its own.
#[derive(Debug)]
pub struct NewAsset<'a> {
    /// Its id.
    pub id: Uuid,
    /// The team that owns it.
    pub team: TeamNumber,
    /// The row number of its inventory folder.
    pub group: i64,
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub description: Option<&'a str>,
    /// Slugs of its business fields.
    pub domain_tags: &'a [String],
    /// The field in words, where the tags hold `other`.
    pub other_domain: Option<&'a str>,
    /// Asking price.
    pub price: Option<Cents>,
    /// The vendor's own notes.
    pub notes: Option<&'a str>,
    /// The vendor's own columns.
    pub extra_columns: &'a BTreeMap<String, serde_json::Value>,
    /// When it is made.
    pub created_at: Timestamp,
    /// Fields that are not to be edited by hand.
    pub locks: &'a Locks,
    /// What only its kind has.
    pub own: Own<'a>,
}

impl<'a> NewAsset<'a> {
    /// What is known of an asset that is not kept yet.
    pub fn of(asset: &'a Asset, own: Own<'a>) -> NewAsset<'a> {
        NewAsset {
            id: asset.id,
            team: asset.team,
            group: asset.group.0,
            title: &asset.title,
            description: asset.description.as_deref(),
            domain_tags: &asset.domain_tags,
            other_domain: asset.other_domain.as_deref(),
            price: asset.price,
            notes: asset.notes.as_deref(),
            extra_columns: &asset.extra_columns,
            created_at: asset.created_at,
            locks: &asset.locks,
            own,
        }
    }
}

/// The fields that only one kind has.
#[derive(Debug)]
pub enum Own<'a> {
    /// A repository with its history.
    Codebase(Codebase<'a>),
    /// A zip of files: how many, and their extensions.
    RawData {
        /// Files in the zip.
        files: Option<u64>,
        /// Their extensions.
        extensions: &'a [String],
    },
    /// One version of a task.
    Task {
        /// The version's row number.
        version: i64,
        /// What it is about.
        task_type: TaskType,
    },
    /// A taskset, by its row number.
    Taskset(i64),
    /// Several tasksets, by their row numbers.
    Bundle(&'a [i64]),
    /// Something that tasks run in.
    Environment(&'a Environment),
    /// Recorded robot episodes.
    RoboticsDataset(&'a Robotics),
    /// Anything else: its content tags.
    Other(&'a [String]),
}

impl Own<'_> {
    /// The kind that has these fields.
    pub const fn kind(&self) -> Kind {
        match self {
            Own::Codebase(_) => Kind::Codebase,
            Own::RawData { .. } => Kind::RawData,
            Own::Task { .. } => Kind::Task,
            Own::Taskset(_) => Kind::Taskset,
            Own::Bundle(_) => Kind::Bundle,
            Own::Environment(_) => Kind::Environment,
            Own::RoboticsDataset(_) => Kind::RoboticsDataset,
            Own::Other(_) => Kind::Other,
        }
    }
}

/// What only codebases have.
#[derive(Debug)]
pub struct Codebase<'a> {
    /// Whether it can still be sold exclusively.
    pub exclusivity: Option<Exclusivity>,
    /// Lines of code.
    pub lines_of_code: Option<u64>,
    /// Commits.
    pub commits: Option<u64>,
    /// People who committed.
    pub contributors: Option<u64>,
    /// Merged pull requests.
    pub merged_prs: Option<u64>,
    /// Day of the first commit.
    pub history_start: Option<&'a str>,
    /// Day of the last commit.
    pub history_end: Option<&'a str>,
    /// Whether continuous integration runs on pull requests.
    pub ci_on_prs: Option<bool>,
    /// Bytes by language slug, where they were measured.
    pub languages: Option<&'a BTreeMap<String, u64>>,
}

impl Codebase<'_> {
    /// The fields that are known of those that are read from linked data.
    pub fn measured(&self) -> impl Iterator<Item = &'static str> {
        let fields = [
            ("lines_of_code", self.lines_of_code.is_some()),
            ("commits", self.commits.is_some()),
            ("contributors", self.contributors.is_some()),
            ("merged_prs", self.merged_prs.is_some()),
            ("history_start", self.history_start.is_some()),
            ("history_end", self.history_end.is_some()),
            ("ci_on_prs", self.ci_on_prs.is_some()),
        ];
        fields.into_iter().filter_map(|(field, is_known)| is_known.then_some(field))
    }
}

/// Adds an asset.
pub fn insert(writer: &Writer, asset: &NewAsset) -> Result<i64> {
    const SQL: &str = "INSERT INTO assets (uuid, team, kind, group_id, title, description, domain_tags, other_domain,
             price_cents, notes, extra_columns, created_at, exclusivity, lines_of_code, commits, contributors,
             merged_prs, history_start, history_end, ci_on_prs, languages, file_count, file_extensions, task_version,
             task_type, taskset, environment, robotics, content_tags, locked_fields)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
             ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)";
    let own = Columns::of(&asset.own)?;
    let codebase = own.codebase;
    let count = |count: fn(&Codebase) -> Option<u64>| codebase.and_then(count).map(|count| count as i64);
    let number = writer.insert(
        SQL,
        rusqlite::params![
            asset.id,
            asset.team.0,
            asset.own.kind().word(),
            asset.group,
            asset.title,
            asset.description,
            row::to_json(asset.domain_tags)?,
            asset.other_domain,
            asset.price.map(|price| price.0),
            asset.notes,
            row::to_json(asset.extra_columns)?,
            asset.created_at.0,
            codebase.and_then(|codebase| codebase.exclusivity).map(Vocabulary::word),
            count(|codebase| codebase.lines_of_code),
            count(|codebase| codebase.commits),
            count(|codebase| codebase.contributors),
            count(|codebase| codebase.merged_prs),
            codebase.and_then(|codebase| codebase.history_start),
            codebase.and_then(|codebase| codebase.history_end),
            codebase.and_then(|codebase| codebase.ci_on_prs),
            codebase.and_then(|codebase| codebase.languages).map(row::to_json).transpose()?,
            own.file_count,
            own.file_extensions,
            own.task_version,
            own.task_type,
            own.taskset,
            own.environment,
            own.robotics,
            own.content_tags,
            row::to_json(asset.locks)?,
        ],
    )?;
    if let Own::Bundle(tasksets) = asset.own {
        bundle(writer, number, tasksets)?;
    }
    Ok(number)
}

/// The columns that only some kinds have; null for the others.
#[derive(Default)]
struct Columns<'a> {
    codebase: Option<&'a Codebase<'a>>,
    file_count: Option<i64>,
    file_extensions: Option<String>,
    task_version: Option<i64>,
    task_type: Option<&'static str>,
    taskset: Option<i64>,
    environment: Option<String>,
    robotics: Option<String>,
    content_tags: Option<String>,
}

impl<'a> Columns<'a> {
    fn of(own: &'a Own) -> Result<Columns<'a>> {
        let mut columns = Columns::default();
        match own {
            Own::Codebase(codebase) => columns.codebase = Some(codebase),
            Own::RawData { files, extensions } => {
                columns.file_count = files.map(|files| files as i64);
                columns.file_extensions = Some(row::to_json(extensions)?);
            }
            Own::Task { version, task_type } => {
                columns.task_version = Some(*version);
                columns.task_type = Some(task_type.word());
            }
            Own::Taskset(taskset) => columns.taskset = Some(*taskset),
            Own::Bundle(_) => {}
            Own::Environment(environment) => columns.environment = Some(row::to_json(environment)?),
            Own::RoboticsDataset(robotics) => columns.robotics = Some(row::to_json(robotics)?),
            Own::Other(tags) => columns.content_tags = Some(row::to_json(tags)?),
        }
        Ok(columns)
    }
}

/// Puts tasksets into a bundle, in order.
fn bundle(writer: &Writer, asset: i64, tasksets: &[i64]) -> Result<()> {
    const SQL: &str = "INSERT INTO bundle_tasksets (asset, position, taskset) VALUES (?1, ?2, ?3)";
    for (position, taskset) in tasksets.iter().enumerate() {
        writer.execute(SQL, (asset, position as i64 + 1, taskset))?;
    }
    Ok(())
}

/// Linked data to be.
#[derive(Debug)]
pub struct NewData<'a> {
    /// Where it comes from.
    pub channel: Channel,
    /// `owner/name` of a repository.
    pub repo_full_name: Option<&'a str>,
    /// Whether the repository needs credentials.
    pub is_private: bool,
    /// How far the copying is.
    pub archive_status: ArtifactStatus,
    /// How far the reading is.
    pub analysis_status: ArtifactStatus,
    /// When it is attached.
    pub attached_at: Timestamp,
    /// When it was read.
    pub analyzed_at: Option<Timestamp>,
    /// Size of the archive.
    pub archive_bytes: Option<u64>,
    /// The commit that was read.
    pub commit_sha: Option<&'a str>,
    /// Why the copying failed.
    pub archive_error: Option<&'a str>,
    /// Why the reading failed.
    pub analysis_error: Option<&'a str>,
    /// Where the vendor keeps a manifest of it.
    pub manifest_url: Option<&'a str>,
    /// The row number of the upload that it is.
    pub upload: Option<i64>,
}

impl NewData<'_> {
    /// Data that waits to be copied and read.
    pub const fn pending(channel: Channel, attached_at: Timestamp) -> Self {
        NewData {
            channel,
            repo_full_name: None,
            is_private: false,
            archive_status: ArtifactStatus::Pending,
            analysis_status: ArtifactStatus::Pending,
            attached_at,
            analyzed_at: None,
            archive_bytes: None,
            commit_sha: None,
            archive_error: None,
            analysis_error: None,
            manifest_url: None,
            upload: None,
        }
    }
}
