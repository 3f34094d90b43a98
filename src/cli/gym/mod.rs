//! The `marketplace gym` command: measures agents on a private copy of a market.

mod agent;
mod lines;
mod run;
mod subject;

use clap::{Args, Subcommand};

use self::subject::{OpenedGym, Subject};
use super::{CommandError, CommandResult, GlobalOptions, lists::print_json, print_line, print_note};
use crate::{error::NameList, gym::Outcome};

/// Measure how well an agent answers questions with the tools of the agent server.
///
/// All subcommands work on a private copy of the market, which is deleted at the end. The market itself is never changed.
#[derive(Debug, Subcommand)]
pub enum GymCommand {
    Questions(Questions),
    Run(run::Run),
    Reference(Reference),
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
            print_note(format_args!(
                "warning: the script of {} ({}) failed: {reason}",
                question.id, question.name
            ));
        });
        let report = gym.report(&answers)?;
        if self.is_json {
            print_json(&report.to_json());
        } else {
            print_line(report.to_text().trim_end());
        }
        let unanswered = report.questions.iter().filter(|question| question.outcome != Outcome::Right);
        let unanswered: NameList = unanswered.map(|question| &question.id).collect();
        if unanswered.is_empty() {
            return Ok(());
        }
        Err(CommandError::Other(format!("these questions have no right answer: {unanswered}")))
    }
}
