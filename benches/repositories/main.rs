//! What copying and reading a repository costs, held against git: CPU seconds for `git clone --bare` and `git log`, and for our
//! copy and everything that is read of it. And what a browse request costs while that goes on in the same server.
//!
//! `COMMITS=5000 cargo bench --bench repositories`

#![allow(clippy::print_stdout)] // A table is what it is for.

mod browsing;
mod host;
mod sources;

use std::{
    path::Path,
    process::{Command, Stdio},
};

use marketplace::artifacts::{
    codebases,
    git::{self, Limits, Repository, Source},
};

/// Rounds, of which the middle one counts.
const ROUNDS: usize = 5;

const LIMITS: Limits =
    Limits { bytes: 2_000_000_000, files: 200_000, file_bytes: 104_857_600, idle_seconds: 30 };

/// 2030, after every commit.
const NOW: i64 = 1_893_456_000;

fn main() {
    if host::is_asked_for() {
        return host::serve();
    }
    let commits = std::env::var("COMMITS").ok().and_then(|text| text.parse().ok()).unwrap_or(5_000);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let repositories = folder.path().join("repositories");
    let path = repositories.join("acme/ledger.git");
    sources::make(&path, commits);
    println!("{commits} commits, {:.1} MB packed\n", megabytes(&path));
    let host = host::Host::start(&repositories);
    println!("| over | git: clone and log | ours: copy | ours: read | times |\n| - | - | - | - | - |");
    for (over, base) in [("file", format!("file://{}", repositories.display())), ("http", host.url.clone())] {
        let address = format!("{base}/acme/ledger.git");
        let mut rounds: Vec<[f64; 3]> = (0..ROUNDS)
            .map(|round| measure(&address, &folder.path().join(format!("{over}{round}"))))
            .collect();
        rounds.sort_by(|a, b| f64::total_cmp(&times(a), &times(b)));
        let middle = rounds[ROUNDS / 2];
        let [theirs, copy, read] = middle;
        println!("| {over} | {theirs:.2} s | {copy:.2} s | {read:.2} s | {:.2} |", times(&middle));
    }
    drop(host);
    browsing::compare(&repositories);
}

fn times([theirs, copy, read]: &[f64; 3]) -> f64 {
    (copy + read) / theirs
}

/// CPU seconds of git, of our copy, and of our reading; with the programs that each of them starts.
fn measure(address: &str, work: &Path) -> [f64; 3] {
    std::fs::create_dir_all(work).expect("a folder can be made");
    let theirs = cpu_of(|| {
        run(work, &["clone", "--quiet", "--bare", address, "theirs"]);
        run(&work.join("theirs"), &["log", "--format=%H%ae"]);
    });
    let source = Source { address: address.to_owned(), authorization: None, may_be_private: true };
    let ours = work.join("ours");
    let copy = cpu_of(|| {
        git::copy(&source, &ours, LIMITS, &|| true).expect("it can be copied");
    });
    let read = cpu_of(|| {
        let repository = Repository::open(&ours, LIMITS).expect("it can be opened");
        let (reading, history) =
            codebases::repository(&repository, LIMITS, NOW, &|| true).expect("it can be read");
        assert!(reading.mix.lines > 0 && history.commits > 0);
    });
    std::fs::remove_dir_all(work).expect("the folder can be removed");
    [theirs, copy, read]
}

/// Runs git and forgets what it says.
fn run(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git").current_dir(folder).args(arguments).stdout(Stdio::null()).status();
    assert!(status.expect("git runs").success(), "git {arguments:?}");
}

/// CPU seconds that this process and those that it waited for use for something.
fn cpu_of(work: impl FnOnce()) -> f64 {
    let begun = cpu_seconds();
    work();
    // A program that is waited for in the background has ended by then.
    std::thread::sleep(std::time::Duration::from_millis(100));
    cpu_seconds() - begun
}

/// CPU seconds of this process and of those that it started and waited for, in the system's ticks of a hundredth.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a process");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    let ticks: u64 = fields[11..15].iter().map(|field| field.parse::<u64>().expect("ticks")).sum();
    ticks as f64 / 100.0
}

fn megabytes(repository: &Path) -> f64 {
    let packs = std::fs::read_dir(repository.join("objects/pack")).expect("packs");
    packs.map(|file| file.and_then(|file| file.metadata()).expect("a file").len()).sum::<u64>() as f64 / 1e6
}
