//! The settings themselves: what each is, and from where to where it may go. `marketplace.toml` states every one.

use serde::Deserialize;

use crate::domain::estimations::Rates;

/// How the server is reached.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// Address and port to listen on.
    pub listen: std::net::SocketAddr,
    /// Base of every link that the server makes, without a slash at its end.
    pub public_url: String,
    /// Web origins that browsers may call from.
    pub cors_origins: Vec<String>,
    /// Seconds that running requests get when the server is told to stop.
    pub drain_seconds: u64,
    /// Connections that are open at the same time at most.
    pub max_connections: u32,
    /// How many of them may come from one address; 0 for as many as there are.
    pub max_connections_per_address: u32,
    /// Bytes of a request's line and headers at most.
    pub max_header_bytes: u32,
    /// Seconds that a request's line and headers may take, and that a connection stays open between two requests.
    pub header_seconds: u32,
    /// Bytes of a request's body at most.
    pub max_body_bytes: u64,
    /// Seconds that a request's body may take.
    pub body_seconds: u32,
    /// Seconds that an answer may take; 0 for as long as it needs.
    pub answer_seconds: u32,
    /// Seconds that a caller may let the server wait before it reads more of an answer.
    pub write_seconds: u32,
}

/// How much may be asked of the server. Budgets are requests a minute, and 0 is no limit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    /// A team's budget for the catalog.
    pub catalog: u32,
    /// For the history of its listings.
    pub history: u32,
    /// For its sales.
    pub sales: u32,
    /// For what it bought and bid.
    pub purchases: u32,
    /// For starting quality checks.
    pub quality_checks: u32,
    /// For uploads.
    pub uploads: u32,
    /// For everything else.
    pub other: u32,
    /// The budget of an address.
    pub address: u32,
    /// Whether the last entry of `X-Forwarded-For` is the caller's address.
    pub trust_forwarded_for: bool,
    /// Requests that are answered at the same time at most; 0 for no bound.
    pub in_flight: u32,
    /// Requests that wait for one of those to end.
    pub queue: u32,
    /// How long they wait.
    pub queue_milliseconds: u32,
}

/// Where everything is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSettings {
    /// The folder.
    pub folder: std::path::PathBuf,
    /// Connections that read.
    pub readers: u32,
}

/// How the index is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// Megabytes gathered in memory, for each thread.
    pub writer_memory_mb: usize,
    /// Threads that build segments.
    pub writer_threads: usize,
}

/// How much is read of uploaded archives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSettings {
    /// Files and folders at most.
    pub max_files: u64,
    /// How many times its size one may unpack to.
    pub max_ratio: u64,
    /// Seconds that reading or checking data may take.
    pub max_seconds: u32,
}

/// A text that is not shown to anybody.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text; nothing where it is empty.
    pub fn reveal(&self) -> Option<&str> {
        Some(self.0.as_str()).filter(|text| !text.is_empty())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "unset" } else { "set" })
    }
}

/// Where repositories are copied from, and how much of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepositorySettings {
    /// Base of the addresses of the repositories of channel `github`, without a slash at its end.
    pub github_url: String,
    /// Base of its API; empty where it is not asked.
    pub github_api_url: String,
    /// What opens repositories that not everybody may read.
    pub github_token: Secret,
    /// The same of `gitlab`.
    pub gitlab_url: String,
    /// Base of its API.
    pub gitlab_api_url: String,
    /// What opens its repositories.
    pub gitlab_token: Secret,
    /// The same of `bitbucket`.
    pub bitbucket_url: String,
    /// Base of its API.
    pub bitbucket_api_url: String,
    /// What opens its repositories.
    pub bitbucket_token: Secret,
    /// Whether these hosts may stand in a private network.
    pub private_hosts: bool,
    /// Bytes of a copy at most.
    pub max_bytes: u64,
    /// Files and folders of the newest commit at most.
    pub max_files: u64,
    /// Bytes of a file at most, in any commit.
    pub max_file_bytes: u64,
    /// Seconds that copying or reading one may take.
    pub max_seconds: u32,
    /// Seconds that a host may say nothing.
    pub idle_seconds: u32,
}

/// Where uploads are kept.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum BlobKind {
    /// In the market's own folder.
    Local,
    /// In an S3-compatible store.
    S3,
}

/// Where uploads are kept, and how large they may be.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobSettings {
    /// Where.
    pub kind: BlobKind,
    /// Where the S3-compatible store answers; empty for Amazon's own.
    pub endpoint: String,
    /// Its region.
    pub region: String,
    /// The bucket.
    pub bucket: String,
    /// What the names of objects begin with.
    pub prefix: String,
    /// The id of the key.
    pub access_key_id: String,
    /// The key itself.
    pub secret_access_key: Secret,
    /// Bytes that an upload under a grant may have.
    pub max_upload_bytes: u64,
}

impl RepositorySettings {
    /// Every address, by its key.
    pub(super) fn urls(&self) -> [(&'static str, &str); 6] {
        [
            ("repositories.github_url", &self.github_url),
            ("repositories.github_api_url", &self.github_api_url),
            ("repositories.gitlab_url", &self.gitlab_url),
            ("repositories.gitlab_api_url", &self.gitlab_api_url),
            ("repositories.bitbucket_url", &self.bitbucket_url),
            ("repositories.bitbucket_api_url", &self.bitbucket_api_url),
        ]
    }
}

/// How much is done in the background at the same time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSettings {
    /// Repositories that are copied.
    pub copies: u32,
    /// Repositories and archives that are read or checked.
    pub readings: u32,
}

/// Which keys count.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySettings {
    /// Whether keys that a fixture states in clear text are accepted.
    pub allow_fixture_keys: bool,
}

/// When a team that only sells may browse.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowseGateSettings {
    /// Published listings that it needs.
    pub required_published: u64,
}

/// What quality runs cost.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QualitySettings {
    /// In US dollars.
    pub credits_per_run: f64,
}

/// What a sale costs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeSettings {
    /// Per cent that the buyer pays on top of the price.
    pub buyer_percent: f64,
    /// Per cent of the vendor's part that the platform keeps.
    pub platform_percent: f64,
}

/// When earnings can be used.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayoutSettings {
    /// Days until then.
    pub hold_days: u32,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What is logged.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// A filter in the terms of `tracing`.
    pub filter: String,
    /// How lines are written.
    pub format: LogFormat,
}

/// Every setting.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How the server is reached.
    pub server: ServerSettings,
    /// How much may be asked of the server.
    pub limits: LimitSettings,
    /// Where everything is kept.
    pub data: DataSettings,
    /// How the index is written.
    pub index: IndexSettings,
    /// Where uploads are kept, and how large they may be.
    pub blobs: BlobSettings,
    /// How much is read of uploaded archives.
    pub archives: ArchiveSettings,
    /// Where repositories are copied from, and how much of them.
    pub repositories: RepositorySettings,
    /// How much is done in the background at the same time.
    pub jobs: JobSettings,
    /// Which keys count.
    pub keys: KeySettings,
    /// When a team that only sells may browse.
    pub browse_gate: BrowseGateSettings,
    /// What quality runs cost.
    pub quality: QualitySettings,
    /// What a sale costs.
    pub fees: FeeSettings,
    /// When earnings can be used.
    pub payouts: PayoutSettings,
    /// What repositories may be worth.
    pub estimations: Rates,
    /// What is logged.
    pub log: LogSettings,
}

impl Settings {
    /// Numbers that have bounds: the key, the value, the least and the most.
    pub(super) fn ranges(&self) -> [(&'static str, f64, f64, f64); 32] {
        let (server, limits, repositories) = (&self.server, &self.limits, &self.repositories);
        [
            ("server.drain_seconds", server.drain_seconds as f64, 0.0, 3600.0),
            ("server.max_connections", f64::from(server.max_connections), 1.0, 1e5),
            ("server.max_header_bytes", f64::from(server.max_header_bytes), 8192.0, 1e6),
            ("server.max_connections_per_address", f64::from(server.max_connections_per_address), 0.0, 1e5),
            ("server.write_seconds", f64::from(server.write_seconds), 1.0, 3600.0),
            ("server.header_seconds", f64::from(server.header_seconds), 1.0, 3600.0),
            ("server.body_seconds", f64::from(server.body_seconds), 1.0, 3600.0),
            ("server.answer_seconds", f64::from(server.answer_seconds), 0.0, 3600.0),
            ("limits.in_flight", f64::from(limits.in_flight), 0.0, 1e5),
            ("limits.queue", f64::from(limits.queue), 0.0, 1e5),
            ("limits.queue_milliseconds", f64::from(limits.queue_milliseconds), 1.0, 1e4),
            ("server.max_body_bytes", server.max_body_bytes as f64, 1024.0, 1e9),
            ("data.readers", f64::from(self.data.readers), 1.0, 64.0),
            ("index.writer_memory_mb", self.index.writer_memory_mb as f64, 16.0, 4096.0),
            ("index.writer_threads", self.index.writer_threads as f64, 1.0, 8.0),
            ("archives.max_files", self.archives.max_files as f64, 1.0, 1e7),
            ("archives.max_seconds", f64::from(self.archives.max_seconds), 1.0, 86_400.0),
            ("archives.max_ratio", self.archives.max_ratio as f64, 1.0, 1e6),
            ("blobs.max_upload_bytes", self.blobs.max_upload_bytes as f64, 1e3, 5e12),
            ("repositories.max_bytes", repositories.max_bytes as f64, 1e4, 1e12),
            ("repositories.max_files", repositories.max_files as f64, 1.0, 1e7),
            ("repositories.max_file_bytes", repositories.max_file_bytes as f64, 1e4, 1e9),
            ("repositories.max_seconds", f64::from(repositories.max_seconds), 1.0, 86_400.0),
            ("repositories.idle_seconds", f64::from(repositories.idle_seconds), 1.0, 600.0),
            ("jobs.copies", f64::from(self.jobs.copies), 1.0, 64.0),
            ("jobs.readings", f64::from(self.jobs.readings), 1.0, 64.0),
            ("browse_gate.required_published", self.browse_gate.required_published as f64, 0.0, 1e6),
            ("quality.credits_per_run", self.quality.credits_per_run, 0.0, 1e6),
            ("fees.buyer_percent", self.fees.buyer_percent, 0.0, 100.0),
            ("fees.platform_percent", self.fees.platform_percent, 0.0, 100.0),
            ("payouts.hold_days", f64::from(self.payouts.hold_days), 0.0, 3650.0),
            ("estimations.spread_percent", self.estimations.spread_percent as f64, 0.0, 100.0),
        ]
    }
}
