//! The `marketplace gym` command: measures agents on a private copy of a market.

mod agent;
mod lines;
mod run;

use std::net::SocketAddr;

use clap::{Args, Subcommand};

use super::{
    CommandError, CommandResult, GlobalOptions, init_logging, lists::print_json, open_directory, print_line,
    temporary_directory::TemporaryDirectory,
};
use crate::{
    fixtures::demo_image::{self, DEMO_TIME},
    gym::{self, Gym, GymOptions, Report},
    market::OpenMode,
    store::Durability,
    worlds,
};

/// Measure how well an agent answers questions with the tools of the agent server.
///
/// All subcommands work on a private copy of the market, which is deleted at the end. The market itself is never changed.
#[derive(Debug, Subcommand)]
pub enum GymCommand {
    /// Print the questions as JSON Lines.
    Questions(Questions),
    /// Ask an agent all questions, and report how it did.
    Run(run::Run),
    /// Answer all questions by scripted calls of tools, and report what they cost.
    Reference(Reference),
}

/// Which market and which questions.
#[derive(Debug, Args)]
struct Subject {
    /// Use the demo market instead of a data directory.
    #[arg(long)]
    demo: bool,
    /// Selects the subjects of questions. The same market and seed always result in the same questions.
    #[arg(long, value_name = "N", default_value_t = gym::DEFAULT_SEED)]
    seed: u64,
}

/// Print the questions as JSON Lines.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace gym questions --demo\n  marketplace gym questions --data ./market --seed 7"
)]
pub struct Questions {
    #[command(flatten)]
    subject: Subject,
    /// Also print the expected answers.
    #[arg(long)]
    with_answers: bool,
}

/// Answer all questions by scripted calls of tools, and report what they cost.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace gym reference --demo")]
pub struct Reference {
    #[command(flatten)]
    subject: Subject,
    /// Print the report as JSON.
    #[arg(long = "json")]
    is_json: bool,
}

impl GymCommand {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        match self {
            GymCommand::Questions(questions) => questions.run(options),
            GymCommand::Run(run) => run.run(options),
            GymCommand::Reference(reference) => reference.run(options),
        }
    }
}

impl Questions {
    fn run(&self, options: &GlobalOptions) -> CommandResult {
        let opened = self.subject.open(options, None)?;
        for question in opened.gym.questions() {
            print_line(question.to_json(self.with_answers));
        }
        Ok(())
    }
}

impl Reference {
    fn run(&self, options: &GlobalOptions) -> CommandResult {
        let OpenedGym { gym, .. } = &self.subject.open(options, None)?;
        let answers = gym.reference_answers(|question, reason| {
            eprintln!("warning: the script of {} ({}) failed: {reason}", question.id, question.name);
        });
        let report = gym.report(&answers)?;
        if self.is_json {
            print_json(&report.to_json());
        } else {
            print_line(report.to_text().trim_end());
        }
        match report.total.questions - report.total.right {
            0 => Ok(()),
            count => Err(CommandError::Other(format!("{count} questions have no right answer"))),
        }
    }
}

/// A gym, and its directory, which is deleted after it.
struct OpenedGym {
    gym: Gym,
    _directory: TemporaryDirectory,
}

impl Subject {
    /// Copies the market and opens the copy, whose endpoint is served at `address` if that is set. Says which templates are
    /// omitted.
    fn open(&self, options: &GlobalOptions, address: Option<SocketAddr>) -> Result<OpenedGym, CommandError> {
        if self.demo && options.data.is_some() {
            return Err(CommandError::Usage("--demo and --data exclude each other".to_owned()));
        }
        let mut layers = options.load_layers()?;
        let address = address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        layers.set("server.listen", address.to_string().into(), "--listen".to_owned())?;
        let settings = layers.resolve()?;
        init_logging(&settings, "warn");
        let temporary = TemporaryDirectory::create()?;
        let directory = temporary.path().join("market");
        let now = if self.demo {
            demo_image::unpack(&directory, None, Durability::None)?;
            DEMO_TIME
        } else {
            let folder = settings.data.folder.clone();
            let market = open_directory(&folder, settings.clone(), OpenMode::ReadOnly, Durability::Full)?;
            worlds::copy_records(&market, &directory)
                .map_err(|error| CommandError::Other(error.to_string()))?;
            market.clock().now()
        };
        let base_url = format!("http://{address}");
        let gym = Gym::open(GymOptions { directory, settings, now, seed: self.seed, base_url })?;
        for name in gym.omitted() {
            eprintln!("omitted: the market has no data for the question {name}");
        }
        Ok(OpenedGym { gym, _directory: temporary })
    }
}

impl From<gym::GymError> for CommandError {
    fn from(error: gym::GymError) -> CommandError {
        CommandError::Other(error.to_string())
    }
}

/// Fails if the share of right answers is below a minimum.
fn check_score(report: &Report, min_score: Option<f64>) -> CommandResult {
    let score = report.total.score();
    match min_score {
        Some(min_score) if score < min_score => {
            Err(CommandError::Other(format!("the score {score:.3} is below the minimum of {min_score}")))
        }
        _ => Ok(()),
    }
}
