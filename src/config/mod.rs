//! Typed settings from several sources: the compiled-in `marketplace.toml`, a settings file, environment variables, and
//! command-line flags. Later sources override earlier ones.
//!
//! An error names its origin (file and line, variable, or flag), the key, and the most similar known key. The
//! compiled-in file defines every key and the type of its value, and each source is checked against it.

mod agents;
mod connections;
mod console;
mod defaults;
mod limits;
mod listed;
mod listen;
mod live;
mod maintenance;
mod marks;
mod nda_text;
mod ranges;
mod relations;
mod reload;
mod replication;
mod repositories;
mod secret;
mod secret_files;
mod settings;
mod settings_error;
mod sources;
mod template;
mod texts;
mod tls;
mod trade;
mod variables;
mod warnings;
mod worlds;

pub use agents::{ANSWER_BYTES, AgentSettings, SchemaDetail, TextDetail, Toolset};
pub use console::{ConsoleSettings, ReviewSettings};
pub use defaults::DEFAULTS;
pub use limits::LimitSettings;
pub use listed::ListedSetting;
pub use listen::parse_listen_address;
pub use live::{LiveSettings, Prepared};
pub use maintenance::MaintenanceSettings;
pub use nda_text::NdaText;
pub use reload::Reloaded;
pub use replication::{ReplicaSettings, ReplicationSettings};
pub use repositories::{REPOSITORIES_OF_WORLD, RepositorySettings};
pub use secret::Secret;
pub use secret_files::{read_secret, warning_of_permissions};
pub use settings::{
    ArchiveSettings, BackupSettings, BlobKind, BlobSettings, ChildProcessSettings, ContactSettings,
    DataSettings, EventSettings, IndexSettings, JobSettings, KeySettings, LogFormat, LogSettings,
    MetricsSettings, QuotaSettings, SandboxSettings, ServerSettings, Settings, WebhookSettings,
};
pub use settings_error::SettingsError;
pub use sources::SettingsSources;
pub use template::template;
pub use tls::TlsSettings;
pub use trade::{BrowseGateSettings, FeeSettings, PayoutSettings, QualitySettings};
pub use variables::VARIABLE_PREFIX;

#[cfg(test)]
mod tests;
