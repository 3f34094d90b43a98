//! The `marketplace taskset` command.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use super::{
    CommandError, CommandResult, GlobalOptions,
    operator::{Client, OperatorOptions, names},
    print_line,
};
use crate::regular_files;

/// Manage tasksets.
#[derive(Debug, Subcommand)]
pub enum TasksetCommand {
    /// List tasksets, newest first.
    #[command(after_help = "Example:\n  marketplace taskset list --team \"Acme Data\"")]
    List {
        /// ID or name of the team.
        #[arg(long)]
        team: Option<String>,
    },
    /// Create an empty taskset for a team, and print its ID.
    #[command(after_help = "Example:\n  marketplace taskset create \"Acme Data\" \"Court forms\"")]
    Create {
        /// ID or name of the team.
        team: String,
        /// Name of the taskset.
        name: String,
    },
    /// Import traces of graded runs from a file of JSON Lines, and print the ID of the import.
    ///
    /// A running server imports the file in the background. Traces that were imported before are skipped.
    #[command(after_help = "Example:\n  marketplace taskset import \"Court forms\" traces.jsonl")]
    Import {
        /// ID or name of the taskset.
        taskset: String,
        /// The file, with a JSON object in each line.
        file: PathBuf,
    },
    /// Show the imports of traces into a taskset, newest first.
    #[command(after_help = "Example:\n  marketplace taskset imports \"Court forms\"")]
    Imports {
        /// ID or name of the taskset.
        taskset: String,
    },
    /// Show a taskset.
    #[command(after_help = "Example:\n  marketplace taskset show \"Court forms\"")]
    Show {
        /// ID or name of the taskset.
        taskset: String,
    },
}

/// The fields that lists of tasksets show.
const COLUMNS: [&str; 5] = ["id", "task_count", "created_at", "team", "name"];

/// The fields that lists of imports show.
const IMPORT_COLUMNS: [&str; 7] =
    ["id", "status", "lines", "inserted", "existing", "rejected", "requested_at"];

impl TasksetCommand {
    pub(super) fn run(&self, options: &OperatorOptions, global: &GlobalOptions) -> CommandResult {
        let client = &options.connect(global, false)?;
        match self {
            TasksetCommand::List { team } => {
                let filters = [("team_id", names::optional_team(client, team.as_ref())?)];
                client.print_list(&COLUMNS, client.list("/tasksets", &filters, None)?)?;
            }
            TasksetCommand::Create { team, name } => {
                let body = json!({"team_id": names::team(client, team)?, "name": name});
                client.print_id(&client.post("/tasksets", &body)?);
            }
            TasksetCommand::Import { taskset, file } => import(client, taskset, file)?,
            TasksetCommand::Imports { taskset } => {
                let path = format!("{}/traces", names::TASKSETS.path(client, taskset)?);
                client.print_list(&IMPORT_COLUMNS, client.list(&path, &[], None)?)?;
            }
            TasksetCommand::Show { taskset } => {
                client.print_record(&COLUMNS, client.get(&names::TASKSETS.path(client, taskset)?)?)?;
            }
        }
        Ok(())
    }
}

/// Uploads a file in its parts, and starts the import.
fn import(client: &Client, taskset: &str, file: &Path) -> CommandResult {
    let cannot_read = |cause| CommandError::Other(format!("cannot read {}: {cause}", file.display()));
    // The server has limits of its own for uploads.
    let opened = regular_files::open(file, u64::MAX).map_err(cannot_read)?;
    let size = opened.metadata().map_err(cannot_read)?.len();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let taskset = names::TASKSETS.path(client, taskset)?;
    let plan_body = json!({"file_name": name, "size_bytes": size});
    let plan = client.post(&format!("{taskset}/trace-uploads"), &plan_body)?;
    let part_size = plan["part_size_bytes"].as_u64().unwrap_or(size);
    for part in plan["parts"].as_array().into_iter().flatten() {
        let start = (part["part_number"].as_u64().unwrap_or(1) - 1) * part_size;
        client.put_part(part, &opened, start, part_size.min(size - start))?;
    }
    let body = json!({"upload_id": plan["id"]});
    let started: Value = client.post(&format!("{taskset}/traces"), &body)?;
    client.print(&started, |started| print_line(started["id"].as_str().unwrap_or_default()));
    eprintln!("started the import; a running server performs it");
    Ok(())
}
