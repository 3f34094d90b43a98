//! The settings, their types, and their valid ranges. `marketplace.toml` documents each setting and default.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    agents::AgentSettings,
    console::{ConsoleSettings, ReviewSettings},
    limits::{LimitSettings, cores},
    listen::{deserialize_listen_address, deserialize_optional_listen_address, serialize_optional_address},
    maintenance::MaintenanceSettings,
    replication::{ReplicaSettings, ReplicationSettings},
    repositories::RepositorySettings,
    secret::Secret,
    tls::{self, TlsSettings},
    trade::{
        BrowseGateSettings, FeeSettings, OfferSettings, PayoutSettings, PurchaseSettings, QualitySettings,
    },
};
use crate::{domain::estimations::Rates, http_server::trusted_proxies::TrustedProxies};

/// How clients connect to the server.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// Address and port to listen on.
    #[serde(deserialize_with = "deserialize_listen_address")]
    pub listen: SocketAddr,
    /// Base URL of all links in responses, without a trailing slash. Empty for the listen address.
    pub public_url: String,
    /// Host names and addresses of this server, without ports, in addition to those that it knows itself.
    pub trusted_hosts: Vec<String>,
    /// The proxies whose records of clients are believed.
    #[serde(deserialize_with = "tls::deserialize_proxies", serialize_with = "tls::serialize_proxies")]
    pub trusted_proxies: TrustedProxies,
    /// Web origins that browsers may send requests from.
    pub cors_origins: Vec<String>,
    /// Whether `--demo` may listen on an address that others can reach.
    pub allow_public_demo: bool,
    /// Seconds that running requests get to finish when the server shuts down.
    pub drain_seconds: u64,
    /// Maximum number of open connections.
    pub max_connections: u32,
    /// Maximum number of open connections from one address; 0 for no limit.
    pub max_connections_per_address: u32,
    /// Maximum number of open connections from one address on which no request is running; 0 for no limit.
    pub max_idle_connections_per_address: u32,
    /// Maximum size in bytes of the request line and headers.
    pub max_header_bytes: u32,
    /// Seconds to receive the request line and headers, and to keep an idle connection open.
    pub header_seconds: u32,
    /// Maximum size in bytes of a request body.
    pub max_body_bytes: u64,
    /// Seconds to receive a request body.
    pub body_seconds: u32,
    /// Seconds to produce a response; 0 for no limit.
    pub answer_seconds: u32,
    /// Seconds that a client may leave response data unread before its connection is closed.
    pub write_seconds: u32,
    /// Minimum rate of request bodies and responses, in bytes per second; 0 for no limit.
    pub min_bytes_per_second: u32,
    /// Length in seconds of the windows in which that rate is measured.
    pub rate_window_seconds: u32,
}

/// Worlds: private copies of a market for tests.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxSettings {
    /// Whether there is a sandbox API.
    pub enabled: bool,
    /// Maximum number of worlds at the same time.
    pub max_worlds: u32,
    /// Maximum number of snapshots of one world at the same time. There are at most as many snapshots as worlds.
    pub max_snapshots_per_world: u32,
    /// Megabytes of the disk for all worlds and snapshots together; 0 for no limit.
    pub max_mb: u64,
}

/// Where data is stored.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DataSettings {
    /// Data directory, which contains the database, the index, and the local blobs.
    pub folder: std::path::PathBuf,
    /// Number of database connections for reading; 0 to choose the number by the cores.
    pub readers: u32,
    /// Megabytes of the disk that stay free for what frees space; 0 to not check the free space.
    pub reserve_mb: u64,
    /// Whether the database is copied before a migration that cannot be undone.
    pub backup_before_upgrade: bool,
}

/// What each team may have. 0 for no limit. Each operator key has the quotas of stored responses, too.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QuotaSettings {
    /// Maximum number of assets.
    pub assets: u64,
    /// Maximum number of groups.
    pub groups: u64,
    /// Maximum size in gigabytes of all uploads, stored and planned.
    pub upload_gb: u64,
    /// Maximum number of idempotency keys in 24 hours.
    pub idempotency_keys: u64,
    /// Maximum size in megabytes of the responses stored for them.
    pub idempotency_mb: u64,
}

/// How the search index is written.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// Megabytes of memory that each thread buffers before it writes a segment.
    pub writer_memory_mb: usize,
    /// Number of threads that build segments.
    pub writer_threads: usize,
}

/// Limits for the analysis of uploaded archives.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSettings {
    /// Maximum number of files and directories in an archive.
    pub max_files: u64,
    /// Maximum ratio of unpacked size to archive size.
    pub max_ratio: u64,
    /// Seconds that analyzing an archive or checking data may take.
    pub max_seconds: u32,
}

/// The store for uploads.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum BlobKind {
    /// The data directory.
    Local,
    /// An S3-compatible object store.
    S3,
}

/// The store for uploads, and the maximum size of an upload.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BlobSettings {
    /// Type of the store.
    pub kind: BlobKind,
    /// Endpoint URL of the S3-compatible store. Empty for Amazon S3.
    pub endpoint: String,
    /// Region of the bucket.
    pub region: String,
    /// Name of the bucket.
    pub bucket: String,
    /// Prefix of object keys.
    pub prefix: String,
    /// ID of the access key.
    pub access_key_id: String,
    /// Secret part of the access key.
    pub secret_access_key: Secret,
    /// Maximum size in bytes of an upload under a grant.
    pub max_upload_bytes: u64,
}

impl DataSettings {
    /// Returns the number of database connections for reading.
    pub fn read_connections(&self) -> u32 {
        match self.readers {
            0 => cores().clamp(2, 64) as u32,
            readers => readers,
        }
    }
}

impl BlobSettings {
    /// Returns the settings of a store in the data directory.
    pub fn local() -> BlobSettings {
        BlobSettings { kind: BlobKind::Local, ..Settings::default().blobs }
    }
}

/// The S3-compatible store of backups to `s3://` addresses. Empty values are taken from the store of the uploads.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BackupSettings {
    /// Endpoint URL.
    pub endpoint: String,
    /// Region of the bucket.
    pub region: String,
    /// ID of the access key.
    pub access_key_id: String,
    /// Secret part of the access key.
    pub secret_access_key: Secret,
}

/// Numbers of background jobs.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct JobSettings {
    /// Maximum number of repositories that are received from hosts at the same time.
    pub copies: u32,
    /// Maximum number of child processes that compute at the same time.
    pub readings: u32,
    /// Maximum number of child processes, including paused ones.
    pub started: u32,
}

/// Resource limits of each child process.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChildProcessSettings {
    /// Megabytes of private memory. The address space is larger by `repositories.max_bytes`.
    pub memory_mb: u64,
    /// Seconds of CPU time.
    pub cpu_seconds: u64,
    /// Number of open files.
    pub open_files: u64,
    /// Megabytes of a file that the child writes.
    pub file_mb: u64,
    /// Megabytes of the reply.
    pub reply_mb: u64,
}

/// Whom to ask about the API, for the OpenAPI documents. Empty values are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ContactSettings {
    /// Name of a person or an organization.
    pub name: String,
    /// Address of a web page.
    pub url: String,
    /// Email address.
    pub email: String,
}

/// Whether operators are served.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorSettings {
    /// Whether the operator API is served.
    pub enabled: bool,
}

/// Which API keys are accepted.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KeySettings {
    /// Whether clear-text keys from fixtures are accepted.
    pub allow_fixture_keys: bool,
    /// Hours for which a key stays valid after it was rotated.
    pub rotation_overlap_hours: u32,
}

/// How events are sent to webhooks.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// Whether events are sent.
    pub enabled: bool,
    /// Whether webhooks may have private network addresses, and may use http.
    pub allow_private_addresses: bool,
    /// Maximum number of webhooks of each team, and of the operators together.
    pub max_endpoints: u32,
    /// Maximum number of requests that are in progress at the same time.
    pub concurrent_attempts: u32,
}

/// How long events are kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EventSettings {
    /// Days for which events, audit records, and deliveries are kept; 0 for ever.
    pub keep_days: u32,
}

/// Where metrics are served.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsSettings {
    /// Address and port of their own; `None` to serve them only to operators, at the address of the server.
    #[serde(
        deserialize_with = "deserialize_optional_listen_address",
        serialize_with = "serialize_optional_address"
    )]
    pub listen: Option<SocketAddr>,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// What is logged and how.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// Filter directives in the syntax of `tracing_subscriber::EnvFilter`.
    pub filter: String,
    /// Format of log lines.
    pub format: LogFormat,
}

/// All settings of the marketplace.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How clients connect to the server.
    pub server: ServerSettings,
    /// TLS of the server.
    pub tls: TlsSettings,
    /// Whom to ask about the API.
    pub contact: ContactSettings,
    /// Rate limits and capacity limits.
    pub limits: LimitSettings,
    /// Where data is stored.
    pub data: DataSettings,
    /// What each team may have.
    pub quotas: QuotaSettings,
    /// How the search index is written.
    pub index: IndexSettings,
    /// The store for uploads, and the maximum size of an upload.
    pub blobs: BlobSettings,
    /// The S3-compatible store of backups.
    pub backups: BackupSettings,
    /// How the database is replicated.
    pub replication: ReplicationSettings,
    /// How a replica gets its database, and where its primary is.
    pub replica: ReplicaSettings,
    /// Limits for the analysis of uploaded archives.
    pub archives: ArchiveSettings,
    /// Hosts of linked repositories, and limits for copies of repositories.
    pub repositories: RepositorySettings,
    /// Numbers of background jobs.
    pub jobs: JobSettings,
    /// Resource limits of each child process.
    pub child_processes: ChildProcessSettings,
    /// Which API keys are accepted.
    pub keys: KeySettings,
    /// Whether operators are served.
    pub operator: OperatorSettings,
    /// Pages for people.
    pub console: ConsoleSettings,
    /// The review of listings.
    pub review: ReviewSettings,
    /// Maintenance.
    pub maintenance: MaintenanceSettings,
    /// Worlds, for tests.
    pub sandbox: SandboxSettings,
    /// What agents get.
    pub agents: AgentSettings,
    /// How events are sent to webhooks.
    pub webhooks: WebhookSettings,
    /// When a team with only the vendor role may browse the catalog.
    pub browse_gate: BrowseGateSettings,
    /// Prices of quality runs.
    pub quality: QualitySettings,
    /// Fees on sales.
    pub fees: FeeSettings,
    /// How long buyers' offers stand.
    pub offers: OfferSettings,
    /// How long purchases can be paid and refunded.
    pub purchases: PurchaseSettings,
    /// When earnings become available.
    pub payouts: PayoutSettings,
    /// Rates for estimations of repositories.
    pub estimations: Rates,
    /// How long events are kept.
    pub events: EventSettings,
    /// Where metrics are served.
    pub metrics: MetricsSettings,
    /// What is logged and how.
    pub log: LogSettings,
    /// Where the values come from that are not the compiled-in ones, by key.
    #[serde(skip)]
    pub(super) origins: Arc<BTreeMap<String, String>>,
}

impl Settings {
    /// Removes slashes at the end of base URLs, to which paths are appended.
    pub(super) fn trim_urls(&mut self) {
        let repositories = &mut self.repositories;
        for url in [
            &mut self.server.public_url,
            &mut self.blobs.endpoint,
            &mut repositories.github_url,
            &mut repositories.github_api_url,
            &mut repositories.gitlab_url,
            &mut repositories.gitlab_api_url,
            &mut repositories.bitbucket_url,
            &mut repositories.bitbucket_api_url,
        ] {
            url.truncate(url.trim_end_matches('/').len());
        }
    }
}
