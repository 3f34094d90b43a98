//! The `marketplace taskset` command.

use std::path::{Path, PathBuf};

use super::{
    operator::{SourceFile, names::TASKSETS, part_uploads::send_parts},
    prelude::*,
};
use crate::domain::trace_imports::TraceImportStatus;

/// Manage tasksets.
#[derive(Debug, Subcommand)]
pub enum TasksetCommand {
    /// List tasksets, newest first.
    #[command(after_help = "Example:\n  marketplace taskset list --team \"Acme Data\"")]
    List {
        /// ID or name of the team.
        #[arg(long)]
        team: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
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
    /// List the imports of traces into a taskset, newest first.
    #[command(after_help = "Example:\n  marketplace taskset imports \"Court forms\"")]
    Imports {
        /// ID or name of the taskset.
        taskset: String,
        /// Status of the imports.
        #[arg(long, value_parser = parse_value::<TraceImportStatus>)]
        status: Option<TraceImportStatus>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an import of traces, with the first lines that were rejected.
    #[command(
        after_help = "Example:\n  marketplace taskset import-result 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11"
    )]
    ImportResult {
        /// ID of the import, as printed by `taskset imports`.
        #[arg(value_parser = parse_id)]
        id: Uuid,
    },
    /// Show a taskset.
    #[command(after_help = "Example:\n  marketplace taskset show \"Court forms\"")]
    Show {
        /// ID or name of the taskset.
        taskset: String,
    },
}

const IMPORTS: Records = Records::new(
    "/trace-imports",
    "id status lines inserted existing rejected requested_at",
    "id taskset_id team_id team status size_bytes lines inserted existing rejected error requested_at \
     started_at finished_at",
);

impl ApiCommand for TasksetCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            TasksetCommand::List { team, limit } => {
                let filters = [("team_id", TEAMS.optional_id(client, team.as_ref())?)];
                TASKSETS.list(client, &filters, *limit)?;
            }
            TasksetCommand::Create { team, name } => {
                let body = json!({"team_id": TEAMS.id(client, team)?, "name": name});
                TASKSETS.create(client, &body)?;
            }
            TasksetCommand::Import { taskset, file } => import(client, taskset, file)?,
            TasksetCommand::Imports { taskset, status, limit } => {
                let path = format!("{}/traces", TASKSETS.path_of(client, taskset)?);
                let filters = [("status", json!(status))];
                IMPORTS.list_at(&path, client, &filters, *limit)?;
            }
            TasksetCommand::ImportResult { id } => {
                IMPORTS.show_with_rows(client, id, ("problems", "line message"))?;
            }
            TasksetCommand::Show { taskset } => {
                TASKSETS.show(client, taskset)?;
            }
        }
        Ok(())
    }
}

/// Uploads a file in its parts, and starts the import.
fn import(client: &Client, taskset: &str, file: &Path) -> CommandResult {
    let file = SourceFile::new(file)?;
    let taskset = TASKSETS.path_of(client, taskset)?;
    let plan_body = json!({"file_name": file.name(), "size_bytes": file.size_bytes()});
    let plan = client.post(&format!("{taskset}/trace-uploads"), &plan_body)?;
    let body = json!({"upload_id": plan["id"]});
    let path = format!("/trace-uploads/{}", plan["id"].as_str().unwrap_or_default());
    send_parts(client, &file, &path, plan)?;
    client.print_id(&client.post(&format!("{taskset}/traces"), &body)?);
    print_note(format_args!("started the import; a running server performs it"));
    Ok(())
}
