//! Units of supply: their kinds and the words that describe them.

use std::collections::BTreeMap;

use super::vocabulary::vocabulary;

vocabulary! {
    /// The kind of an asset (`sku`, asset type slug).
    Kind {
        /// A repository with its history.
        Codebase = "codebase",
        /// A zip of files.
        RawData = "raw_data",
        /// One version of one task, imported on its own.
        Task = "task",
        /// A collection of tasks.
        Taskset = "taskset",
        /// A set of tasksets.
        Bundle = "bundle",
        /// Something that tasks run in.
        Environment = "environment",
        /// Recorded robot episodes.
        RoboticsDataset = "robotics_dataset",
        /// Anything else.
        Other = "other",
    }
}

impl Kind {
    /// Whether an asset of this kind may be offered before its artifact exists.
    pub const fn supports_proposals(self) -> bool {
        matches!(self, Kind::Codebase | Kind::RawData)
    }
}

vocabulary! {
    /// Where linked data comes from.
    Channel {
        /// A GitHub repository.
        Github = "github",
        /// A GitLab repository.
        Gitlab = "gitlab",
        /// A Bitbucket repository.
        Bitbucket = "bitbucket",
        /// An uploaded zip.
        Zip = "zip",
    }
}

vocabulary! {
    /// Where a repository can be linked from.
    RepositoryChannel {
        /// A GitHub repository.
        Github = "github",
        /// A GitLab repository.
        Gitlab = "gitlab",
        /// A Bitbucket repository.
        Bitbucket = "bitbucket",
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

vocabulary! {
    /// Where an archive can be attached from.
    ArchiveChannel {
        /// An uploaded zip.
        Zip = "zip",
    }
}

vocabulary! {
    /// How far the copying or reading of linked data is.
    ArtifactStatus {
        /// Waiting.
        Pending = "pending",
        /// Under way.
        Running = "running",
        /// Done.
        Completed = "completed",
        /// Ended by a fault.
        Failed = "failed",
        /// Not tried, since the copying failed; of readings only.
        Skipped = "skipped",
    }
}

vocabulary! {
    /// Whether a codebase can still be sold exclusively.
    Exclusivity {
        /// It can.
        Available = "available",
        /// It cannot.
        Unavailable = "unavailable",
    }
}

vocabulary! {
    /// What a task is about.
    TaskType {
        /// Software.
        Coding = "coding",
        /// Money.
        Finance = "finance",
        /// Law.
        Legal = "legal",
        /// Anything else.
        General = "general",
    }
}

vocabulary! {
    /// The declared format of a robotics dataset.
    RoboticsFormat {
        /// LeRobot, version 3.
        LerobotV3 = "lerobot_v3",
        /// LeRobot, version 2.
        LerobotV2 = "lerobot_v2",
        /// Paired first-person and third-person recordings.
        EgoExo = "ego_exo",
        /// Another format.
        Other = "other",
    }
}

/// What only environments have.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Environment {
    /// Number of the build.
    pub build_version: u32,
    /// When it was built, in microseconds.
    pub built_at: Option<i64>,
    /// What it offers to an agent.
    pub capabilities: Vec<String>,
    /// Tasks that run in it.
    pub task_count: u64,
    /// The vendor's own columns about it.
    pub extra_columns: BTreeMap<String, serde_json::Value>,
}

/// What only robotics datasets have.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Robotics {
    /// Declared formats.
    pub formats: Vec<RoboticsFormat>,
    /// Recorded episodes.
    pub episodes: u64,
    /// Size in bytes.
    pub size_bytes: u64,
}
