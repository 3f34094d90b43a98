//! Assets: their kinds, and the string enums that describe them.

use std::collections::BTreeMap;

use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// The kind of an asset. The API calls it `sku`, asset type, or slug.
    Kind {
        /// A code repository with its history.
        Codebase = "codebase",
        /// A zip archive of data files.
        RawData = "raw_data",
        /// A single version of a task, imported individually.
        Task = "task",
        /// A collection of tasks.
        Taskset = "taskset",
        /// A collection of tasksets.
        Bundle = "bundle",
        /// An environment in which tasks run.
        Environment = "environment",
        /// Recorded robot episodes.
        RoboticsDataset = "robotics_dataset",
        /// Any other kind of data.
        Other = "other",
    }
}

impl Kind {
    /// Whether an asset of this kind can be listed before its data is attached.
    pub const fn supports_proposals(self) -> bool {
        matches!(self, Kind::Codebase | Kind::RawData)
    }

    /// Whether vendors set the fields of assets of this kind. The platform manages those of other kinds.
    pub const fn is_edited_by_vendors(self) -> bool {
        matches!(self, Kind::Codebase | Kind::RawData | Kind::Task)
    }
}

string_enum! {
    /// The source of attached data.
    Channel {
        /// A GitHub repository.
        Github = "github",
        /// A GitLab repository.
        Gitlab = "gitlab",
        /// A Bitbucket repository.
        Bitbucket = "bitbucket",
        /// An uploaded zip archive.
        Zip = "zip",
    }
}

string_enum! {
    /// A host from which a repository can be linked.
    RepositoryChannel {
        /// A GitHub repository.
        Github = "github",
        /// A GitLab repository.
        Gitlab = "gitlab",
        /// A Bitbucket repository.
        Bitbucket = "bitbucket",
    }
}

impl Channel {
    /// Returns the host of a repository; `None` for other data.
    pub fn repository(self) -> Option<RepositoryChannel> {
        RepositoryChannel::parse(self.as_str())
    }
}

impl RepositoryChannel {
    /// Whether names of repositories can have subgroups between the owner and the name.
    pub const fn has_subgroups(self) -> bool {
        matches!(self, RepositoryChannel::Gitlab)
    }
}

impl From<RepositoryChannel> for Channel {
    fn from(channel: RepositoryChannel) -> Channel {
        match channel {
            RepositoryChannel::Github => Channel::Github,
            RepositoryChannel::Gitlab => Channel::Gitlab,
            RepositoryChannel::Bitbucket => Channel::Bitbucket,
        }
    }
}

string_enum! {
    /// A source from which an archive can be attached.
    ArchiveChannel {
        /// An uploaded zip archive.
        Zip = "zip",
    }
}

string_enum! {
    /// Progress of copying or analyzing attached data.
    ArtifactStatus {
        /// Waiting to start.
        Pending = "pending",
        /// In progress.
        Running = "running",
        /// Finished successfully.
        Completed = "completed",
        /// Finished with an error.
        Failed = "failed",
        /// Not analyzed, because copying failed. Only an analysis can have this status.
        Skipped = "skipped",
    }
}

string_enum! {
    /// Whether a codebase is still available for an exclusive sale.
    Exclusivity {
        /// Can be sold exclusively.
        Available = "available",
        /// Can no longer be sold exclusively.
        Unavailable = "unavailable",
    }
}

string_enum! {
    /// The subject area of a task.
    TaskType {
        /// Software development.
        Coding = "coding",
        /// Finance.
        Finance = "finance",
        /// Law.
        Legal = "legal",
        /// Any other subject.
        General = "general",
    }
}

string_enum! {
    /// The declared format of a robotics dataset.
    RoboticsFormat {
        /// LeRobot dataset, version 3.
        LerobotV3 = "lerobot_v3",
        /// LeRobot dataset, version 2.
        LerobotV2 = "lerobot_v2",
        /// Paired egocentric (first-person) and exocentric (third-person) recordings.
        EgoExo = "ego_exo",
        /// Any other format.
        Other = "other",
    }
}

/// The fields that only environments have.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Environment {
    /// Build number of the environment.
    pub build_version: u32,
    /// Time of the build, in microseconds since the Unix epoch.
    pub built_at: Option<i64>,
    /// Capabilities that the environment offers to an agent.
    pub capabilities: Vec<String>,
    /// Number of tasks that run in the environment.
    pub task_count: u64,
    /// Additional columns defined by the vendor, by name.
    pub extra_columns: BTreeMap<String, serde_json::Value>,
}

/// The fields that only robotics datasets have.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Robotics {
    /// Formats that the vendor declared.
    pub formats: Vec<RoboticsFormat>,
    /// Number of recorded episodes.
    pub episodes: u64,
    /// Size of the dataset in bytes.
    pub size_bytes: u64,
}
