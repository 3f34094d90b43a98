//! `marketplace gym run`: asks an agent, and reports.

use std::{
    io::Write,
    net::SocketAddr,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use tokio::sync::{oneshot, watch};

use super::{
    agent::Agent,
    lines::{self, Event},
    subject::{OpenedGym, Subject, check_score},
};
use crate::{
    cli::{
        CommandError, CommandResult, GlobalOptions,
        escapes::{escaped_json, escaped_lines},
        listeners::local_address,
        lists::print_json,
        print_line, print_note, process,
    },
    config::parse_listen_address,
    gym::{Answers, Gym},
    web,
};

/// Number of lines that are read ahead.
const MAX_WAITING_LINES: usize = 16;

/// Maximum number of problems with lines that are printed.
const MAX_PROBLEMS: usize = 20;

/// How long a command that has answered all questions may take to end its output.
const MAX_END_TIME: Duration = Duration::from_secs(10);

/// Maximum time to read the output of a command that has exited, if a process that it left behind keeps the output open.
const MAX_OUTPUT_TIME_AFTER_EXIT: Duration = Duration::from_secs(5);

/// Ask an agent all questions, and report how it did.
///
/// COMMAND gets a line of JSON per question on its standard input, each with the URL of an MCP server and an API key for it.
/// It answers with lines `{"id": …, "answer": …}` on its standard output. Without COMMAND, questions are written to standard
/// output, answers are read from standard input, and the report is written to standard error.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace gym run --demo -- python3 agent.py\n  marketplace gym run --demo --json --min-score 0.9 -- ./agent\n\ndocs/agents.md describes the lines and the report."
)]
pub struct Run {
    #[command(flatten)]
    subject: Subject,
    /// Address and port of this machine for the MCP servers. Port 0 picks a free port.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0", value_parser = parse_listen_address)]
    listen: SocketAddr,
    /// Stop the run after this many seconds [default: no limit].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    timeout_seconds: Option<u64>,
    /// Exit with 1 if the share of right answers is lower than this, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    min_score: Option<f64>,
    /// Print the report as JSON.
    #[arg(long = "json")]
    is_json: bool,
    /// The agent, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
enum RunEnd {
    Complete,
    TimedOut,
    Interrupted,
}

impl Run {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        if !self.listen.ip().is_loopback() {
            return Err(CommandError::Usage(
                "--listen must be an address of this machine, such as 127.0.0.1:0".to_owned(),
            ));
        }
        let listener = process::bind_listener(self.listen, "--listen")?;
        let address = local_address(&listener)?;
        let OpenedGym { gym, .. } = &self.subject.open(options, Some(address))?;
        let (stop, stopped) = oneshot::channel::<()>();
        let (app, settings) = (gym.app(), gym.settings().clone());
        let server = gym.runtime().spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            web::listening::serve(app, listener, &settings.server, watch::Sender::default(), stopped).await
        });
        let asked = self.ask(gym);
        // The connections of an agent that was ended do not matter any more.
        drop(stop);
        server.abort();
        let (answers, ending) = asked?;
        let report = gym.report(&answers)?;
        // The agent wrote the answers.
        let text = if self.is_json {
            escaped_json(&report.to_json().to_string())
        } else {
            escaped_lines(&report.to_text())
        };
        match (self.command.is_empty(), self.is_json) {
            (true, _) => print_note(format_args!("{}", text.trim_end())),
            (false, true) => print_json(&report.to_json()),
            (false, false) => print_line(text.trim_end()),
        }
        match ending {
            RunEnd::Interrupted => Err(CommandError::Other("the run was interrupted".to_owned())),
            RunEnd::TimedOut => {
                print_note(format_args!("warning: the time was over before the agent ended"));
                check_score(&report, self.min_score)
            }
            RunEnd::Complete => check_score(&report, self.min_score),
        }
    }

    /// Asks the questions, and collects the answers.
    fn ask(&self, gym: &Gym) -> Result<(Answers, RunEnd), CommandError> {
        let (sender, events) = sync_channel(MAX_WAITING_LINES);
        {
            let _context = gym.runtime().enter();
            let (signal, sender) = (process::stop_signal()?, sender.clone());
            gym.runtime().spawn(async move {
                signal.await;
                // The channel may be full of lines, which are received in time.
                let _ = tokio::task::spawn_blocking(move || sender.send(Event::Interrupted)).await;
            });
        }
        let mut lines = String::new();
        for question in gym.questions() {
            lines.push_str(&gym.line_for_agents(question).to_string());
            lines.push('\n');
        }
        let deadline = self.timeout_seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let _agent = if self.command.is_empty() {
            let mut output = std::io::stdout();
            let written = output.write_all(lines.as_bytes()).and_then(|()| output.flush());
            written.map_err(|cause| CommandError::Other(format!("cannot write the questions: {cause}")))?;
            read_lines(std::io::stdin(), sender)?;
            None
        } else {
            let (agent, output) = Agent::start(&self.command, lines)?;
            agent.watch(sender.clone())?;
            read_lines(output, sender)?;
            Some(agent)
        };
        Ok(collect(gym, &events, deadline, self.command.is_empty()))
    }
}

/// Receives answers until the output ends, the deadline passes, or a signal arrives. When the agent exits, the deadline is at most
/// [`MAX_OUTPUT_TIME_AFTER_EXIT`] later. If `ends_complete` is set, also stops when all questions are answered.
fn collect(
    gym: &Gym,
    events: &Receiver<Event>,
    mut deadline: Option<Instant>,
    ends_complete: bool,
) -> (Answers, RunEnd) {
    let mut answers = Answers::default();
    let mut problems = 0;
    let mut has_exited = false;
    let is_question = |id: &str| gym.questions().iter().any(|question| question.id == id);
    loop {
        let is_complete = answers.len() == gym.questions().len();
        if is_complete && ends_complete {
            return (answers, RunEnd::Complete);
        }
        match receive(events, deadline) {
            Ok(Event::Line(line)) => match answers.add_line(&line, is_question) {
                Ok(()) if answers.len() == gym.questions().len() && !is_complete => {
                    deadline = Some(earlier(deadline, MAX_END_TIME));
                }
                Ok(()) => {}
                Err(problem) => {
                    problems += 1;
                    if problems <= MAX_PROBLEMS {
                        print_note(format_args!("warning: {problem}"));
                    }
                }
            },
            Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return (answers, RunEnd::Complete),
            Ok(Event::Exit) => {
                has_exited = true;
                deadline = Some(earlier(deadline, MAX_OUTPUT_TIME_AFTER_EXIT));
            }
            Ok(Event::Interrupted) => return (answers, RunEnd::Interrupted),
            Err(RecvTimeoutError::Timeout) if is_complete || has_exited => {
                return (answers, RunEnd::Complete);
            }
            Err(RecvTimeoutError::Timeout) => return (answers, RunEnd::TimedOut),
        }
    }
}

/// Waits for an event until the deadline. After the deadline, ignores events that have already arrived, since output may never end.
fn receive(events: &Receiver<Event>, deadline: Option<Instant>) -> Result<Event, RecvTimeoutError> {
    let Some(deadline) = deadline else { return events.recv().map_err(|_| RecvTimeoutError::Disconnected) };
    let left = deadline.checked_duration_since(Instant::now()).ok_or(RecvTimeoutError::Timeout)?;
    events.recv_timeout(left)
}

/// Returns the earlier of the deadline and the time after this duration.
fn earlier(deadline: Option<Instant>, duration: Duration) -> Instant {
    let end = Instant::now() + duration;
    deadline.map_or(end, |deadline| deadline.min(end))
}

/// Reads lines on a thread of its own.
fn read_lines(
    input: impl std::io::Read + Send + 'static,
    events: SyncSender<Event>,
) -> Result<(), CommandError> {
    let read = move || lines::send_lines(input, &events);
    let started = thread::Builder::new().name("answers".to_owned()).spawn(read);
    started.map(drop).map_err(|cause| CommandError::Other(format!("cannot read answers: {cause}")))
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("must be a number from 0 to 1".to_owned()),
    }
}
