//! One process serves many markets, and those that nobody uses cost neither threads nor wakeups.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Lines, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use marketplace::{
    config::SettingsSources,
    domain::jobs::{JobKind, JobSubject},
    fixtures,
    market::{self, Market, OpenMode, OpenOptions},
    mcp,
    operations::{background::BackgroundJobs, webhook_sender::WebhookSender},
    rest, store,
};

use tokio::sync::watch;

use crate::harness::{BASE, backups::copy_directory, market_options};

/// Number of markets.
const MARKETS: usize = 100;

/// Number of threads of the runtime that serves all markets.
const RUNTIME_THREADS: usize = 2;

/// Number of threads of a test process: the one that it starts with, and that of the test.
const TEST_THREADS: usize = 2;

/// How long nothing may happen: longer than any interval at which a server polls.
const IDLE_TIME: Duration = Duration::from_millis(1_100);

/// How long nothing happens when the work before that has ended.
const SETTLED_TIME: Duration = Duration::from_millis(20);

/// Maximum number of times that the test waits for that. The process may be slow.
const MAX_WAITS: usize = 500;

/// Maximum number of times that the test looks for a time in which nothing happens.
const MAX_ATTEMPTS: usize = 5;

/// The environment variable with the directory of the markets, for the process that serves them.
const DIRECTORY: &str = "IDLE_MARKETS";

fn open(directory: &Path, mode: OpenMode) -> Market {
    let mut sources = SettingsSources::new();
    sources.apply_demo().unwrap();
    let mut settings = sources.resolve().unwrap();
    settings.data.readers = 1;
    Market::open(OpenOptions {
        mode,
        // Children are not what this test is about.
        program: "/bin/false".into(),
        ..market_options(directory, settings)
    })
    .unwrap()
}

/// Serves markets until the standard input is closed, and runs a job in each of them for each line. Prints a
/// line when this is done.
#[test]
#[ignore = "runs in a process of its own, which `idle_market_has_no_thread_and_no_wakeup` starts"]
fn process_that_serves_idle_markets() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(RUNTIME_THREADS)
        .enable_all()
        .build()
        .unwrap();
    let markets: Vec<Market> = (0..MARKETS)
        .map(|number| open(&Path::new(&directory).join(number.to_string()), OpenMode::Serve))
        .collect();
    let app = mcp::App::new(rest::App::new(markets[0].settings(), false));
    let _servers: Vec<_> = markets.iter().map(|market| app.serve(market.clone(), BASE)).collect();
    let _background: Vec<_> =
        markets.iter().map(|market| BackgroundJobs::start(market, runtime.handle()).unwrap()).collect();
    let _webhooks: Vec<_> =
        markets.iter().map(|market| WebhookSender::start(market, runtime.handle()).unwrap()).collect();
    let connected = watch::Sender::new(0);
    for market in &markets {
        let _runtime = runtime.enter();
        runtime.spawn(market::follow_processes(market.clone(), connected.subscribe()));
    }
    let (kind, subject) = (JobKind::Cleanup, JobSubject::NONE);
    let mut input = std::io::stdin().lines();
    loop {
        for market in &markets {
            let is_queued =
                || market.read_blocking(|reader| store::jobs::is_queued(reader.rows, kind, subject)).unwrap();
            while is_queued() {
                std::thread::yield_now();
            }
        }
        writeln!(std::io::stdout(), "done").unwrap();
        if input.next().is_none() {
            break;
        }
        for market in &markets {
            market.write_blocking(|writer| writer.enqueue(kind, subject)).unwrap();
        }
    }
}

/// The process that serves the markets. It is killed when dropped.
struct Process {
    process: Child,
    output: Lines<BufReader<ChildStdout>>,
}

/// Counters of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Thread {
    name: String,
    /// Number of times that it waited or was interrupted, and the CPU time that it used.
    activity: [u64; 4],
}

impl Process {
    fn start(directory: &Path) -> Process {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "contract::idle_markets::process_that_serves_idle_markets"])
            .args(["--ignored", "--nocapture"])
            .env(DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        Process { process, output }
    }

    /// Waits until the process has done what it was asked to.
    fn wait_until_done(&mut self) {
        assert!(self.output.any(|line| line.unwrap() == "done"), "the process ended");
    }

    /// Runs a job in each market.
    fn run_jobs(&mut self) {
        writeln!(self.process.stdin.as_ref().unwrap(), "run").unwrap();
        self.wait_until_done();
    }

    /// Returns the threads.
    fn threads(&self) -> BTreeMap<String, Thread> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.id())).unwrap();
        let found = tasks.filter_map(|task| {
            let path = task.unwrap().path();
            // A thread may end meanwhile.
            let status = fs::read_to_string(path.join("status")).ok()?;
            let stat = fs::read_to_string(path.join("stat")).ok()?;
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
                line.trim_start_matches(':').trim().to_owned()
            };
            let switches = |name| field(name).parse::<u64>().unwrap();
            // The name, in parentheses, may contain anything. User and system time are fields 14 and 15.
            let times: Vec<u64> = stat[stat.rfind(')').unwrap() + 2..]
                .split(' ')
                .skip(11)
                .take(2)
                .map(|ticks| ticks.parse().unwrap())
                .collect();
            let activity = [
                switches("voluntary_ctxt_switches"),
                switches("nonvoluntary_ctxt_switches"),
                times[0],
                times[1],
            ];
            Some((path.display().to_string(), Thread { name: field("Name"), activity }))
        });
        found.collect()
    }

    /// Waits until nothing happens for [`IDLE_TIME`], and returns the threads.
    fn wait_until_idle(&self) -> BTreeMap<String, Thread> {
        for _ in 0..MAX_ATTEMPTS {
            let before = self.wait_until_settled();
            std::thread::sleep(IDLE_TIME);
            if self.threads() == before {
                return before;
            }
        }
        panic!("the process is never idle: {:#?}", self.threads());
    }

    /// Waits until the work that has begun seems to have ended, and returns the threads.
    fn wait_until_settled(&self) -> BTreeMap<String, Thread> {
        let mut before = self.threads();
        for _ in 0..MAX_WAITS {
            std::thread::sleep(SETTLED_TIME);
            let after = self.threads();
            if after == before {
                return after;
            }
            before = after;
        }
        panic!("the process is always busy: {before:#?}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn idle_market_has_no_thread_and_no_wakeup() {
    let directory = tempfile::tempdir().unwrap();
    let template = directory.path().join("0");
    fixtures::seed_taxonomy(&open(&template, OpenMode::Command)).unwrap();
    for number in 1..MARKETS {
        copy_directory(&template, &directory.path().join(number.to_string()));
    }
    let mut process = Process::start(directory.path());
    process.wait_until_done();
    process.run_jobs();
    let threads = process.wait_until_idle();
    assert!(threads.len() <= RUNTIME_THREADS + TEST_THREADS, "{threads:#?}");
}
