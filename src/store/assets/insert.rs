//! Insertion of assets.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::{
    domain::{
        assets::{ArtifactStatus, Channel, Environment, Exclusivity, Kind, Robotics, TaskType},
        field_locks::FieldLocks,
        inventory::Asset,
        money::Cents,
        row_ids::{AssetRowId, GroupRowId, TaskVersionRowId, TasksetRowId, UploadRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    store::{Writer, row},
    string_enum::StringEnum,
};

/// The fields of an asset to insert: those that all kinds have, and those specific to its kind.
#[derive(Debug)]
pub struct NewAsset<'a> {
    /// ID of the asset.
    pub id: Uuid,
    /// Row ID of the team that owns the asset.
    pub team: TeamRowId,
    /// Row ID of the group.
    pub group: GroupRowId,
    /// Title for people.
    pub title: &'a str,
    /// Description for people.
    pub description: Option<&'a str>,
    /// Slugs of the domains.
    pub domain_tags: &'a [String],
    /// Free-text domain, where the domain tags include `other`.
    pub other_domain: Option<&'a str>,
    /// Asking price.
    pub price: Option<Cents>,
    /// Private notes of the vendor.
    pub notes: Option<&'a str>,
    /// Custom columns of the vendor.
    pub extra_columns: &'a BTreeMap<String, serde_json::Value>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Fields that cannot be edited by hand.
    pub locks: &'a FieldLocks,
    /// Fields specific to the kind of the asset.
    pub kind_fields: KindFields<'a>,
}

impl<'a> NewAsset<'a> {
    /// Creates the fields to insert from an asset that is not stored yet.
    pub fn from_asset(asset: &'a Asset, kind_fields: KindFields<'a>) -> NewAsset<'a> {
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
            kind_fields,
        }
    }
}

/// The fields that are specific to one kind.
#[derive(Debug)]
pub enum KindFields<'a> {
    /// A repository and its history.
    Codebase(CodebaseFields<'a>),
    /// A zip archive of files.
    RawData {
        /// Number of files in the archive.
        files: Option<u64>,
        /// Distinct extensions of the files.
        extensions: &'a [String],
    },
    /// One version of a task.
    Task {
        /// Row ID of the task version.
        version: TaskVersionRowId,
        /// Type of the task.
        task_type: TaskType,
    },
    /// A taskset, by its row ID.
    Taskset(TasksetRowId),
    /// A bundle of tasksets, by their row IDs.
    Bundle(&'a [TasksetRowId]),
    /// An environment in which tasks run.
    Environment(&'a Environment),
    /// Recorded robot episodes.
    RoboticsDataset(&'a Robotics),
    /// Anything else, with its content tags.
    Other(&'a [String]),
}

impl KindFields<'_> {
    /// Returns the kind that has these fields.
    pub const fn kind(&self) -> Kind {
        match self {
            KindFields::Codebase(_) => Kind::Codebase,
            KindFields::RawData { .. } => Kind::RawData,
            KindFields::Task { .. } => Kind::Task,
            KindFields::Taskset(_) => Kind::Taskset,
            KindFields::Bundle(_) => Kind::Bundle,
            KindFields::Environment(_) => Kind::Environment,
            KindFields::RoboticsDataset(_) => Kind::RoboticsDataset,
            KindFields::Other(_) => Kind::Other,
        }
    }
}

/// The fields that only codebases have.
#[derive(Debug)]
pub struct CodebaseFields<'a> {
    /// Whether the codebase can still be sold exclusively.
    pub exclusivity: Option<Exclusivity>,
    /// Number of lines of code.
    pub lines_of_code: Option<u64>,
    /// Number of commits.
    pub commits: Option<u64>,
    /// Number of people with at least one commit.
    pub contributors: Option<u64>,
    /// Number of merged pull requests.
    pub merged_prs: Option<u64>,
    /// Date of the first commit.
    pub history_start: Option<&'a str>,
    /// Date of the last commit.
    pub history_end: Option<&'a str>,
    /// Whether continuous integration runs on pull requests.
    pub ci_on_prs: Option<bool>,
    /// Size in bytes of the code in each language (by slug), if measured.
    pub languages: Option<&'a BTreeMap<String, u64>>,
}

impl CodebaseFields<'_> {
    /// Returns the names of the fields with a known value, among those that are measured from linked data.
    pub fn measured_fields(&self) -> impl Iterator<Item = &'static str> {
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

/// Inserts an asset and returns its row ID.
pub fn insert(writer: &Writer, asset: &NewAsset) -> Result<AssetRowId> {
    const SQL: &str = "INSERT INTO assets (uuid, team, kind, group_id, title, description, domain_tags, other_domain,
             price_cents, notes, extra_columns, created_at, exclusivity, lines_of_code, commits, contributors,
             merged_prs, history_start, history_end, ci_on_prs, languages, file_count, file_extensions, task_version,
             task_type, taskset, environment, robotics, content_tags, locked_fields)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
             ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)";
    let columns = KindColumns::new(&asset.kind_fields)?;
    let codebase = columns.codebase;
    let count =
        |count: fn(&CodebaseFields) -> Option<u64>| codebase.and_then(count).map(|count| count as i64);
    let row_id = AssetRowId(writer.insert(
        SQL,
        rusqlite::params![
            asset.id,
            asset.team,
            asset.kind_fields.kind().as_str(),
            asset.group,
            asset.title,
            asset.description,
            row::to_json(asset.domain_tags)?,
            asset.other_domain,
            asset.price.map(|price| price.0),
            asset.notes,
            row::to_json(asset.extra_columns)?,
            asset.created_at.0,
            codebase.and_then(|codebase| codebase.exclusivity).map(StringEnum::as_str),
            count(|codebase| codebase.lines_of_code),
            count(|codebase| codebase.commits),
            count(|codebase| codebase.contributors),
            count(|codebase| codebase.merged_prs),
            codebase.and_then(|codebase| codebase.history_start),
            codebase.and_then(|codebase| codebase.history_end),
            codebase.and_then(|codebase| codebase.ci_on_prs),
            codebase.and_then(|codebase| codebase.languages).map(row::to_json).transpose()?,
            columns.file_count,
            columns.file_extensions,
            columns.task_version,
            columns.task_type,
            columns.taskset,
            columns.environment,
            columns.robotics,
            columns.content_tags,
            row::to_json(asset.locks)?,
        ],
    )?);
    if let KindFields::Bundle(tasksets) = asset.kind_fields {
        insert_bundle_tasksets(writer, row_id, tasksets)?;
    }
    Ok(row_id)
}

/// The columns that only some kinds have; null for other kinds.
#[derive(Default)]
struct KindColumns<'a> {
    codebase: Option<&'a CodebaseFields<'a>>,
    file_count: Option<i64>,
    file_extensions: Option<String>,
    task_version: Option<TaskVersionRowId>,
    task_type: Option<&'static str>,
    taskset: Option<TasksetRowId>,
    environment: Option<String>,
    robotics: Option<String>,
    content_tags: Option<String>,
}

impl<'a> KindColumns<'a> {
    fn new(kind_fields: &'a KindFields) -> Result<KindColumns<'a>> {
        let mut columns = KindColumns::default();
        match kind_fields {
            KindFields::Codebase(codebase) => columns.codebase = Some(codebase),
            KindFields::RawData { files, extensions } => {
                columns.file_count = files.map(|files| files as i64);
                columns.file_extensions = Some(row::to_json(extensions)?);
            }
            KindFields::Task { version, task_type } => {
                columns.task_version = Some(*version);
                columns.task_type = Some(task_type.as_str());
            }
            KindFields::Taskset(taskset) => columns.taskset = Some(*taskset),
            KindFields::Bundle(_) => {}
            KindFields::Environment(environment) => columns.environment = Some(row::to_json(environment)?),
            KindFields::RoboticsDataset(robotics) => columns.robotics = Some(row::to_json(robotics)?),
            KindFields::Other(tags) => columns.content_tags = Some(row::to_json(tags)?),
        }
        Ok(columns)
    }
}

/// Adds tasksets to a bundle, in order.
fn insert_bundle_tasksets(writer: &Writer, asset: AssetRowId, tasksets: &[TasksetRowId]) -> Result<()> {
    const SQL: &str = "INSERT INTO bundle_tasksets (asset, position, taskset) VALUES (?1, ?2, ?3)";
    for (position, taskset) in tasksets.iter().enumerate() {
        writer.execute(SQL, (asset, position as i64 + 1, taskset))?;
    }
    Ok(())
}

/// The linked data to insert for an asset.
#[derive(Debug)]
pub struct NewData<'a> {
    /// Source of the data: a repository host or an upload.
    pub channel: Channel,
    /// Full name of the repository, as `owner/name`; `None` for an upload.
    pub repo_full_name: Option<&'a str>,
    /// Whether the repository requires credentials.
    pub is_private: bool,
    /// State of the copy.
    pub archive_status: ArtifactStatus,
    /// State of the analysis.
    pub analysis_status: ArtifactStatus,
    /// Time at which the data is linked.
    pub attached_at: Timestamp,
    /// Time at which the analysis completed.
    pub analyzed_at: Option<Timestamp>,
    /// Size of the archive in bytes.
    pub archive_bytes: Option<u64>,
    /// SHA of the analyzed commit.
    pub commit_sha: Option<&'a str>,
    /// Reason why the copy failed.
    pub archive_error: Option<&'a str>,
    /// Reason why the analysis failed.
    pub analysis_error: Option<&'a str>,
    /// URL of a manifest that the vendor hosts.
    pub manifest_url: Option<&'a str>,
    /// Row ID of the upload, if the data is one.
    pub upload: Option<UploadRowId>,
}

impl NewData<'_> {
    /// Creates data whose copy and analysis are pending.
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
