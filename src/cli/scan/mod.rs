//! The `marketplace scan` command: what a market would read from data, without a market.

mod row;
mod sarif;
mod text;

use std::{cell::RefCell, path::PathBuf, sync::atomic::Ordering};

use clap::{Args, ValueEnum};
use serde_json::json;

use super::{
    CommandError, CommandResult, GlobalOptions, init_logging, lists::print_json, print_line, process,
    progress::CliProgress, require_output, temporary_directory::TemporaryDirectory,
};
use crate::{
    artifacts::ReadError,
    clock::Clock,
    domain::{
        assets::{Exclusivity, Kind},
        written::counted,
    },
    error::ErrorChain,
    fixtures, market,
    operations::scans::{self, Report, Scan as ScanOperation, Step, Verdict},
    string_enum::StringEnum,
};

/// Say what a market would read from a repository, a zip, or files, and how its checks would end. Nothing is sent anywhere, and
/// no market is needed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace scan .\n  marketplace scan dataset.zip --json\n  marketplace scan . --sarif > scan.sarif\n  marketplace scan . --row --exclusivity available\n\nOf a Git repository, the newest commit and its history are read, and not what is not committed. The limits are those of the default settings, of --config, and of the environment; a settings file in the working directory is not used.\n\nExit codes: 0 every mandatory check passes, 1 a mandatory check fails, 2 the data cannot be read, the scan was stopped or could not be completed, or invalid usage."
)]
pub struct Scan {
    /// A Git repository, a bundle of one, a zip, a directory with files, or a file with a table.
    path: PathBuf,
    /// Kind of the asset [default: that which the data suggests]
    #[arg(long, value_name = "KIND")]
    kind: Option<KindOption>,
    /// Print the report as JSON.
    #[arg(long = "json", group = "format")]
    is_json: bool,
    /// Print the findings in SARIF 2.1.0, which code hosts show.
    #[arg(long = "sarif", group = "format")]
    is_sarif: bool,
    /// Print the asset as JSON: a row for `POST /v2/codebases/batch`, or the body of `POST /v2/raw-data`.
    #[arg(long = "row", group = "format")]
    is_row: bool,
    /// Title in the row [default: the name of the directory or file]
    #[arg(long, requires = "is_row")]
    title: Option<String>,
    /// Whether the codebase in the row can still be sold exclusively.
    #[arg(long, value_name = "VALUE", requires = "is_row", value_parser = parse_exclusivity)]
    exclusivity: Option<Exclusivity>,
}

/// A kind of data that can be scanned.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum KindOption {
    /// Source code.
    Codebase,
    /// Files of any kind.
    RawData,
}

fn parse_exclusivity(text: &str) -> Result<Exclusivity, String> {
    let valid = || Exclusivity::ALL.iter().map(|value| value.as_str()).collect::<Vec<_>>().join(", ");
    Exclusivity::parse(text).ok_or_else(|| format!("use one of: {}", valid()))
}

impl Scan {
    pub(super) fn run(&self, global: &GlobalOptions) -> CommandResult {
        let settings = global.load_named_layers()?.resolve()?;
        init_logging(&settings, "warn");
        // Before there are any files to delete.
        let is_stopped = process::stop_flag().map_err(|error| incomplete(&error))?;
        let directory = TemporaryDirectory::create();
        let directory = directory.map_err(|error| incomplete(&error))?;
        let scan = ScanOperation {
            path: &self.path,
            kind: self.kind.map(|kind| match kind {
                KindOption::Codebase => Kind::Codebase,
                KindOption::RawData => Kind::RawData,
            }),
            settings: &settings,
            program: &market::this_program(),
            work_directory: directory.path(),
            languages: &fixtures::languages(),
            now: Clock::System.now(),
        };
        if self.is_row {
            row::title(&self.path, self.title.as_deref())?;
            row::exclusivity(scan.known_kind(), self.exclusivity)?;
        }
        let limited = scans::limit_programs(&settings);
        limited.map_err(|cause| CommandError::Incomplete(format!("cannot limit programs: {cause}")))?;
        let spinner = RefCell::new(None);
        let begin = |step| {
            // The next one begins on the same line.
            drop(spinner.take());
            spinner.replace(Some(CliProgress::spinner(step_label(step))));
        };
        let report = scan.run(&begin, &|| !is_stopped.load(Ordering::Relaxed));
        drop(spinner.take());
        let report = report.map_err(|error| {
            CommandError::Incomplete(match error {
                ReadError::Rejected(rejection) => rejection.0,
                ReadError::Canceled => "the scan was stopped".to_owned(),
                ReadError::Io(cause) => ErrorChain(&cause).to_string(),
                ReadError::ProcessEnded(cause) => format!("the process that reads the data ended: {cause}"),
            })
        })?;
        self.print(&report)?;
        require_output()?;
        verdict(&report)
    }

    fn print(&self, report: &Report) -> CommandResult {
        if self.is_json {
            print_json(&json!(report));
        } else if self.is_sarif {
            print_json(&sarif::document(report, &self.path));
        } else if self.is_row {
            if report.verdict != Verdict::Unreadable {
                print_json(&row::row(report, &self.path, self.title.as_deref(), self.exclusivity)?);
            }
        } else {
            text::lines(report).iter().for_each(print_line);
        }
        Ok(())
    }
}

const fn step_label(step: Step) -> &'static str {
    match step {
        Step::Pack => "packing the files",
        Step::Copy => "copying the repository",
        Step::Analyze => "analyzing",
        Step::Check => "checking",
    }
}

/// Returns the error of a scan that has no result, for an error that would have the exit code of a failed check.
fn incomplete(error: &CommandError) -> CommandError {
    CommandError::Incomplete(error.to_string())
}

/// Returns the error that the exit code states.
fn verdict(report: &Report) -> CommandResult {
    match report.verdict {
        Verdict::Passed => Ok(()),
        Verdict::Failed => {
            let failed = report.checks.iter().filter(|check| check.has_failed() && check.is_mandatory);
            let failed = counted(failed.count() as u64, "mandatory check", "mandatory checks");
            Err(CommandError::Other(format!("{failed} failed")))
        }
        Verdict::Unreadable => Err(CommandError::Incomplete(report.problem.clone().unwrap_or_default())),
    }
}
