//! The `marketplace settings` command.

use clap::Args;
use serde_json::Value;

use super::{
    CommandError, CommandResult, GlobalOptions,
    operator::{ListLimit, OperatorOptions},
};

/// List the settings in effect, with their defaults. Secrets are masked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  marketplace settings webhooks.\n  marketplace settings --changed")]
pub struct Settings {
    /// Beginning of the keys to list, such as `server.` [default: all]
    prefix: Option<String>,
    /// List only settings that differ from their defaults.
    #[arg(long)]
    changed: bool,
    #[command(flatten)]
    limit: ListLimit,
    #[command(flatten)]
    options: OperatorOptions,
}

/// The fields of a setting.
const COLUMNS: &str = "key value default reloadable";

impl Settings {
    pub(super) fn run(&self, global: &GlobalOptions) -> CommandResult {
        let client = &self.options.connect(global, false)?;
        let mut settings = match client.get("/settings")?["items"].take() {
            Value::Array(settings) => settings,
            _ => Vec::new(),
        };
        let prefix = self.prefix.as_deref().unwrap_or_default();
        settings.retain(|setting| setting["key"].as_str().is_some_and(|key| key.starts_with(prefix)));
        if settings.is_empty() {
            return Err(CommandError::Other(format!(
                "no setting begins with {prefix:?}; `marketplace settings` lists all of them"
            )));
        }
        settings.retain(|setting| !self.changed || setting["value"] != setting["default"]);
        settings.truncate(self.limit.rows().unwrap_or(usize::MAX));
        client.print_list(COLUMNS, settings)
    }
}
