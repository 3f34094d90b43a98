//! The `marketplace version` command.

use clap::Args;
use serde_json::json;

use super::print_line;
use crate::store::migrations;

/// The commit that the program was built from. The script that builds releases sets it.
const COMMIT: Option<&str> = option_env!("MARKETPLACE_COMMIT");

/// Print the version of the program.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace version --json")]
pub struct Version {
    /// Print JSON, also with the version of the database schema, the platform, and the commit, if they are known.
    #[arg(long = "json")]
    is_json: bool,
}

impl Version {
    pub(super) fn run(&self) {
        let version = env!("CARGO_PKG_VERSION");
        if !self.is_json {
            return print_line(format_args!("marketplace {version}"));
        }
        let about = json!({
            "version": version,
            "schema_version": migrations::latest_version(),
            "platform": format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            "commit": COMMIT,
        });
        print_line(about);
    }
}
