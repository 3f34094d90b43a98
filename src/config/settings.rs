//! The settings, their types, and their valid ranges. `marketplace.toml` documents each setting and default.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{
    agents::AgentSettings,
    console::{ConsoleSettings, ReviewSettings},
    listen,
    maintenance::MaintenanceSettings,
    tls::{self, TlsSettings},
    trade::{
        BrowseGateSettings, FeeSettings, OfferSettings, PayoutSettings, PurchaseSettings, QualitySettings,
    },
};
use crate::{domain::estimations::Rates, http_server::trusted_proxies::TrustedProxies};

/// Stands for the repositories of a world itself, in its settings of where Git hosts are.
pub const REPOSITORIES_OF_WORLD: &str = "file:///world";

fn deserialize_listen_address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    listen::parse_listen_address(&String::deserialize(from)?).map_err(D::Error::custom)
}

pub(super) fn deserialize_optional_listen_address<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<SocketAddr>, D::Error> {
    match String::deserialize(from)?.as_str() {
        "" => Ok(None),
        address => listen::parse_listen_address(address).map(Some).map_err(D::Error::custom),
    }
}

// serde requires this signature.
#[allow(clippy::ref_option)]
pub(super) fn serialize_optional_address<S: Serializer>(
    address: &Option<SocketAddr>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => serializer.collect_str(address),
        None => serializer.serialize_str(""),
    }
}

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

/// Rate limits and capacity limits. Budgets are requests per minute; 0 for no limit. Each operator key has the
/// budgets of a team.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    /// A team's budget for browsing the catalog.
    pub catalog: u32,
    /// A team's budget for the history of its listings.
    pub history: u32,
    /// A team's budget for its sales.
    pub sales: u32,
    /// A team's budget for its purchases and offers.
    pub purchases: u32,
    /// A team's budget for quality checks: starting and reading them.
    pub quality_checks: u32,
    /// A team's budget for uploads.
    pub uploads: u32,
    /// A team's budget for all other requests.
    pub other: u32,
    /// The budget of a client address, for all requests.
    pub address: u32,
    /// Whether to take the client address from the last entry of `X-Forwarded-For`. Replaced by `server.trusted_proxies`.
    pub trust_forwarded_for: bool,
    /// Maximum number of requests in progress; 0 for no limit.
    pub in_flight: u32,
    /// Maximum number of requests that wait for capacity.
    pub queue: u32,
    /// Milliseconds that a request waits for capacity before it is rejected.
    pub queue_milliseconds: u32,
    /// Maximum number of request bodies and upload parts that are being received; 0 for no limit.
    pub bodies: u32,
    /// The same for one team or operator key; 0 for no limit.
    pub bodies_per_team: u32,
    /// The same for one client address, while the principal is not known; 0 for no limit.
    pub bodies_per_address: u32,
    /// Maximum number of bundles that are being downloaded; 0 for no limit.
    pub downloads: u32,
    /// The same for one team; 0 for no limit.
    pub downloads_per_team: u32,
    /// The same for one client address, while the team is not known; 0 for no limit.
    pub downloads_per_address: u32,
    /// Maximum number of requests that are held open, such as streams; 0 for no limit.
    pub held: u32,
    /// The same for one team or operator key; 0 for no limit.
    pub held_per_principal: u32,
    /// Megabytes of memory for the bodies and responses of all requests; 0 for no limit.
    pub memory_mb: u32,
    /// Megabytes of temporary files for large responses; 0 for no limit.
    pub spool_mb: u32,
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
    /// Number of database connections for reading.
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

/// A secret text. Its `Debug` output does not reveal it.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Returns the text, or `None` if it is empty.
    pub fn reveal(&self) -> Option<&str> {
        Some(self.0.as_str()).filter(|text| !text.is_empty())
    }
}

/// What takes the place of a secret in JSON.
pub const MASK: &str = "********";

/// Writes [`MASK`] instead of the text, so that listing the settings reveals no secret.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if self.0.is_empty() { "" } else { MASK })
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "unset" } else { "set" })
    }
}

/// Hosts of linked repositories, and limits for copies of repositories.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RepositorySettings {
    /// Base URL of repositories on GitHub, without a trailing slash.
    pub github_url: String,
    /// Base URL of the GitHub API. Empty to not use the API.
    pub github_api_url: String,
    /// Access token for private repositories on GitHub.
    pub github_token: Secret,
    /// Base URL of repositories on GitLab, without a trailing slash.
    pub gitlab_url: String,
    /// Base URL of the GitLab API. Empty to not use the API.
    pub gitlab_api_url: String,
    /// Access token for private repositories on GitLab.
    pub gitlab_token: Secret,
    /// Base URL of repositories on Bitbucket, without a trailing slash.
    pub bitbucket_url: String,
    /// Base URL of the Bitbucket API. Empty to not use the API.
    pub bitbucket_api_url: String,
    /// Access token for private repositories on Bitbucket.
    pub bitbucket_token: Secret,
    /// Whether these hosts may have private network addresses.
    pub private_hosts: bool,
    /// Maximum size in bytes of a repository copy.
    pub max_bytes: u64,
    /// Maximum number of files and directories in the newest commit.
    pub max_files: u64,
    /// Maximum size in bytes of a file in any commit.
    pub max_file_bytes: u64,
    /// Seconds that copying a repository, and then analyzing it, may each take.
    pub max_seconds: u32,
    /// Seconds without data from a host after which a copy is aborted.
    pub idle_seconds: u32,
    /// How often a repository is requested from a host that cannot be reached.
    pub attempts: u32,
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

impl BlobSettings {
    /// Returns the settings of a store in the data directory.
    pub fn local() -> BlobSettings {
        BlobSettings { kind: BlobKind::Local, ..Settings::default().blobs }
    }
}

/// The S3-compatible store of backups to `s3://` addresses. What is empty is that of the uploads.
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
