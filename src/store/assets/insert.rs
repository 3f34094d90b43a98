//! Insertion of assets.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use uuid::Uuid;

use crate::{
    domain::{
        assets::{ArtifactStatus, Channel, Environment, Kind, Robotics, TaskType},
        codebase_fields::CodebaseFields,
        field_locks::FieldLocks,
        inventory::Asset,
        money::Cents,
        row_ids::{AssetRowId, GroupRowId, TaskVersionRowId, TasksetRowId, UploadRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    store::{
        Writer,
        columns::{self, Column},
        row,
    },
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
    Codebase {
        /// The fields that only codebases have.
        fields: CodebaseFields,
        /// Size in bytes of the code in each language (by slug), if measured.
        languages: Option<&'a BTreeMap<String, u64>>,
    },
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
            KindFields::Codebase { .. } => Kind::Codebase,
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

/// Inserts an asset and returns its row ID.
pub fn insert(writer: &Writer, asset: &NewAsset) -> Result<AssetRowId> {
    let kind_columns = kind_columns(&asset.kind_fields)?;
    let shared: [Column; 13] = [
        ("uuid", &asset.id),
        ("team", &asset.team),
        ("kind", &asset.kind_fields.kind().as_str()),
        ("group_id", &asset.group),
        ("title", &asset.title),
        ("description", &asset.description),
        ("domain_tags", &row::to_json(asset.domain_tags)?),
        ("other_domain", &asset.other_domain),
        ("price_cents", &asset.price.map(|price| price.0)),
        ("notes", &asset.notes),
        ("extra_columns", &row::to_json(asset.extra_columns)?),
        ("created_at", &asset.created_at.0),
        ("locked_fields", &row::to_json(asset.locks)?),
    ];
    let columns: Vec<Column> = shared.into_iter().chain(columns::by_reference(&kind_columns)).collect();
    let row_id = AssetRowId(columns::insert(writer, "assets", &columns)?);
    if let KindFields::Bundle(tasksets) = asset.kind_fields {
        insert_bundle_tasksets(writer, row_id, tasksets)?;
    }
    Ok(row_id)
}

/// Returns the columns that only the kind of these fields has.
fn kind_columns(kind_fields: &KindFields) -> Result<Vec<(&'static str, Value)>> {
    Ok(match kind_fields {
        KindFields::Codebase { fields, languages } => {
            let languages = languages.map(row::to_json).transpose()?;
            fields.columns().chain([("languages", languages.into())]).collect()
        }
        KindFields::RawData { files, extensions } => vec![
            ("file_count", files.map(|files| files as i64).into()),
            ("file_extensions", row::to_json(extensions)?.into()),
        ],
        KindFields::Task { version, task_type } => {
            vec![("task_version", version.0.into()), ("task_type", task_type.as_str().to_owned().into())]
        }
        KindFields::Taskset(taskset) => vec![("taskset", taskset.0.into())],
        KindFields::Bundle(_) => Vec::new(),
        KindFields::Environment(environment) => vec![("environment", row::to_json(environment)?.into())],
        KindFields::RoboticsDataset(robotics) => vec![("robotics", row::to_json(robotics)?.into())],
        KindFields::Other(tags) => vec![("content_tags", row::to_json(tags)?.into())],
    })
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
