//! The `marketplace upload` command.

use std::{path::PathBuf, thread, time::Duration};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    CommandError, CommandResult, GlobalOptions,
    operator::{
        Client, ListLimit, OperatorOptions, Records, SourceFile, body_of, names::TEAMS, parse_id,
        part_uploads::send_parts,
    },
    print_line, print_note,
    progress::CliProgress,
};
use crate::domain::written::counted;

/// Upload a zip file for a team, or list, show, and cancel uploads in progress.
///
/// The file is sent in parts. If the upload is interrupted, the same command continues it within a day.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  marketplace upload scans-2026.zip --team \"Acme Data\"\n  marketplace upload list"
)]
pub struct Upload {
    #[command(subcommand)]
    command: Option<UploadCommand>,
    #[command(flatten)]
    new: Option<NewUpload>,
    #[command(flatten)]
    options: OperatorOptions,
}

/// A zip to upload. The URL with which it can be attached to raw data is printed.
#[derive(Debug, Args)]
pub struct NewUpload {
    /// The zip file.
    file: PathBuf,
    /// ID or name of the team.
    #[arg(long)]
    team: String,
}

/// Manage uploads in progress.
#[derive(Debug, Subcommand)]
pub enum UploadCommand {
    /// List uploads in progress, newest first.
    #[command(after_help = "Example:\n  marketplace upload list")]
    List {
        /// ID or name of the team.
        #[arg(long)]
        team: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an upload in progress, with the parts that have arrived.
    #[command(after_help = "Example:\n  marketplace upload show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show {
        /// ID of the upload.
        #[arg(value_parser = parse_id)]
        id: Uuid,
    },
    /// Cancel an upload in progress. What has arrived of it is deleted.
    #[command(after_help = "Example:\n  marketplace upload cancel 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Cancel {
        /// ID of the upload.
        #[arg(value_parser = parse_id)]
        id: Uuid,
    },
}

const UPLOADS: Records = Records::new(
    "/uploads",
    "id size_bytes created_at expires_at team file_name",
    "id team_id team file_name size_bytes sha256 part_size_bytes part_count created_at expires_at",
);

/// The fields of a part that has arrived.
const PART_COLUMNS: &str = "part_number size_bytes etag";

/// Possible first bytes of a zip file: a local file header, or the end of the central directory if the archive is
/// empty.
const ZIP_SIGNATURES: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// How often the completion of an upload is requested, and seconds between. The server joins the parts and computes the
/// digest meanwhile, which takes minutes for a large file.
const COMPLETION_ATTEMPTS: usize = 120;
const COMPLETION_SECONDS: u64 = 5;

impl Upload {
    pub(super) fn run(&self, global: &GlobalOptions) -> CommandResult {
        let connect = || self.options.connect(global, false);
        match (&self.command, &self.new) {
            (Some(UploadCommand::List { team, limit }), _) => {
                let client = &connect()?;
                UPLOADS.list(client, &[("team_id", TEAMS.optional_id(client, team.as_ref())?)], *limit)
            }
            (Some(UploadCommand::Show { id }), _) => {
                UPLOADS.show_with_rows(&connect()?, id, ("received", PART_COLUMNS))
            }
            (Some(UploadCommand::Cancel { id }), _) => {
                let client = connect()?;
                client.delete(&format!("{}/{id}", UPLOADS.path))?;
                client.print(&json!({"cancelled": id}), |_| print_line(format_args!("canceled upload {id}")));
                Ok(())
            }
            (None, Some(new)) => new.run(connect),
            (None, None) => Err(CommandError::Usage("name a zip file and a team".to_owned())),
        }
    }
}

impl NewUpload {
    fn run(&self, connect: impl FnOnce() -> Result<Client, CommandError>) -> CommandResult {
        let file = SourceFile::new(&self.file)?;
        if !ZIP_SIGNATURES.contains(&file.first_bytes(4)?.as_slice()) {
            let path = self.file.display();
            return Err(CommandError::Other(format!("{path} is not a zip file; pack the data as one")));
        }
        let client = &connect()?;
        let team = TEAMS.id(client, &self.team)?;
        let sha256 = file.sha256(&CliProgress::bytes("reading"))?;
        let plan = plan(client, &team, &file, &sha256)?;
        let path = format!("{}/{}", UPLOADS.path, plan["id"].as_str().unwrap_or_default());
        let completed = send(client, &file, &path, plan).map_err(continuable)?;
        client.print(&completed, |completed| print_line(completed["url"].as_str().unwrap_or_default()));
        Ok(())
    }
}

/// Returns the plan of an upload of the same file that was interrupted, or else a new one.
fn plan(client: &Client, team: &str, file: &SourceFile, sha256: &str) -> Result<Value, CommandError> {
    let (name, size) = (file.name(), file.size_bytes());
    let in_progress = client.list(UPLOADS.path, &[("team_id", team.into())], None)?;
    let is_same = |upload: &&Value| {
        upload["sha256"] == sha256 && upload["size_bytes"] == size && upload["file_name"] == name
    };
    let Some(found) = in_progress.iter().find(is_same) else {
        let body =
            body_of([("file_name", name.into()), ("size_bytes", size.into()), ("sha256", sha256.into())]);
        return client.post(&format!("/teams/{team}/uploads"), &body);
    };
    let plan = UPLOADS.get(client, found["id"].as_str().unwrap_or_default())?;
    let received = plan["received"].as_array().map_or(0, Vec::len);
    print_note(format_args!(
        "continuing an upload, with {received} of {} received",
        counted(plan["part_count"].as_u64().unwrap_or_default(), "part", "parts")
    ));
    Ok(plan)
}

/// Sends the parts that have not arrived, and completes the upload.
fn send(client: &Client, file: &SourceFile, path: &str, plan: Value) -> Result<Value, CommandError> {
    send_parts(client, file, path, plan)?;
    complete(
        || client.post(&format!("{path}/complete"), &Value::Null),
        || client.get(path),
        |plan| send_parts(client, file, path, plan),
        || thread::sleep(Duration::from_secs(COMPLETION_SECONDS)),
    )
}

/// Calls `request` until it completes the upload, and `pause` between two calls. If parts are missing, `reload` returns a plan of
/// them, and `send` sends them.
fn complete(
    mut request: impl FnMut() -> Result<Value, CommandError>,
    reload: impl Fn() -> Result<Value, CommandError>,
    send: impl Fn(Value) -> CommandResult,
    pause: impl Fn(),
) -> Result<Value, CommandError> {
    let mut first_refusal = None;
    for attempt in 0..COMPLETION_ATTEMPTS {
        if attempt > 0 {
            pause();
        }
        let error = match request() {
            Ok(completed) => return Ok(completed),
            Err(error) => error,
        };
        match code_of(&error) {
            // A part was damaged on the server's disk.
            "parts_missing" => send(reload()?)?,
            code @ ("" | "conflict" | "request_timeout" | "at_capacity") => {
                // Either the previous request is still in progress, although nothing waits for its response, or the store no longer
                // has the upload. In the latter case, `reload` fails with the same code, and its error says what to do.
                if code == "conflict"
                    && let Err(refused) = reload()
                    && code_of(&refused) == code
                {
                    return Err(refused);
                }
                first_refusal.get_or_insert(error);
            }
            // The upload is gone, for the reason that the first refusal gave.
            "not_found" => return Err(first_refusal.unwrap_or(error)),
            _ => return Err(error),
        }
    }
    Err(first_refusal
        .unwrap_or_else(|| CommandError::Other("the upload was not completed in time".to_owned())))
}

/// Returns the code of a refusal; empty if the server did not respond.
fn code_of(error: &CommandError) -> &str {
    match error {
        CommandError::Refused { code, .. } => code,
        CommandError::NoResponse(_) => "",
        _ => "other",
    }
}

/// Adds to an error that the upload can be continued.
fn continuable(error: CommandError) -> CommandError {
    match error {
        CommandError::NoResponse(message) => {
            CommandError::NoResponse(format!("{message}; run the command again to continue the upload"))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &str) -> CommandError {
        CommandError::Refused { code: code.to_owned(), message: String::new() }
    }

    /// Completes an upload. The first requests fail with `codes`, and loading the plan fails with `reload`. Returns the code of the
    /// last refusal if the upload is not completed, and the number of requests.
    fn run(codes: &[&str], reload: Option<&str>) -> (Option<String>, usize) {
        let mut requests = 0;
        let completed = complete(
            || {
                requests += 1;
                codes.get(requests - 1).map_or(Ok(Value::Null), |code| Err(refused(code)))
            },
            || reload.map_or(Ok(Value::Null), |code| Err(refused(code))),
            |_| Ok(()),
            || {},
        );
        (completed.err().map(|error| code_of(&error).to_owned()), requests)
    }

    #[test]
    fn completion_that_goes_on_is_requested_again() {
        assert_eq!(run(&["conflict", "at_capacity", "conflict", "parts_missing"], None), (None, 5));
        // The previous request has completed it, so it is no longer in progress.
        assert_eq!(run(&["conflict"], Some("not_found")), (None, 2));
        // The previous request has discarded it, and has reported the reason.
        assert_eq!(run(&["conflict", "not_found"], Some("not_found")), (Some("conflict".to_owned()), 2));
    }

    #[test]
    fn upload_that_the_store_no_longer_has_is_given_up_at_once() {
        assert_eq!(run(&["conflict"; 3], Some("conflict")), (Some("conflict".to_owned()), 1));
    }
}
