//! CPU time of copying and analyzing a repository, compared with Git: `git clone --bare` and `git log`
//! against our copy and the full analysis. Also the CPU time of a browse request while this runs in the same
//! server.
//!
//! `COMMITS=5000 cargo bench --bench repositories`

#![allow(clippy::print_stdout)] // The benchmark prints a table.

mod browsing;
mod git_host;
mod sample_repository;

use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
};

use marketplace::artifacts::{
    codebases,
    git::{self, Limits, RemoteRepository, Repository},
};

/// Number of rounds. The median counts.
const ROUNDS: usize = 5;

const LIMITS: Limits =
    Limits { bytes: 2_000_000_000, files: 200_000, file_bytes: 104_857_600, idle_seconds: 30 };

/// Start of 2030 in seconds since 1970, later than every commit.
const NOW: i64 = 1_893_456_000;

fn main() {
    if git_host::is_host_process() {
        return git_host::run_host();
    }
    let commits = std::env::var("COMMITS").ok().and_then(|text| text.parse().ok()).unwrap_or(5_000);
    let directory = tempfile::tempdir().expect("create a temporary directory");
    let repositories = directory.path().join("repositories");
    let path = repositories.join("acme/ledger.git");
    sample_repository::create_repository(&path, commits);
    println!("{commits} commits, {:.1} MB packed\n", megabytes(&path));
    let host = git_host::Host::start(&repositories);
    println!(
        "| protocol | git: clone and log | ours: copy | ours: analysis | ratio |\n| - | - | - | - | - |"
    );
    for (protocol, base) in
        [("file", format!("file://{}", repositories.display())), ("http", host.url.clone())]
    {
        let address = format!("{base}/acme/ledger.git");
        let mut rounds: Vec<[f64; 3]> = (0..ROUNDS)
            .map(|round| measure(&address, &directory.path().join(format!("{protocol}{round}"))))
            .collect();
        rounds.sort_by(|a, b| f64::total_cmp(&cpu_ratio(a), &cpu_ratio(b)));
        let median = rounds[ROUNDS / 2];
        let [git_cpu, copy, read] = median;
        println!("| {protocol} | {git_cpu:.2} s | {copy:.2} s | {read:.2} s | {:.2} |", cpu_ratio(&median));
    }
    drop(host);
    browsing::compare_browsing(&repositories);
}

fn cpu_ratio([git_cpu, copy, read]: &[f64; 3]) -> f64 {
    (copy + read) / git_cpu
}

/// Returns the CPU seconds of Git, of our copy, and of our analysis, including child processes.
fn measure(address: &str, work: &Path) -> [f64; 3] {
    std::fs::create_dir_all(work).expect("create a directory");
    let git_cpu = cpu_during(|| {
        run_git(work, &["clone", "--quiet", "--bare", address, "theirs"]);
        run_git(&work.join("theirs"), &["log", "--format=%H%ae"]);
    });
    let source = RemoteRepository {
        address: address.to_owned(),
        authorization: None,
        may_be_private: true,
        origin: git::Origin::Linked,
    };
    let repository_dir = work.join("ours");
    let copy = cpu_during(|| {
        git::copy_repository(&source, &repository_dir, LIMITS, &|| true, |received| {
            git::index_pack(
                File::open(&received.pack),
                &received.directory,
                &received.head,
                LIMITS,
                received.origin,
            )
            .0
        })
        .expect("copy the repository");
    });
    let read = cpu_during(|| {
        let repository = Repository::open(&repository_dir, LIMITS).expect("open the copy");
        let (analysis, history) = codebases::analyze_repository(&repository, LIMITS, NOW, &|| true)
            .expect("analyze the repository");
        assert!(analysis.languages.lines > 0 && history.commits > 0);
    });
    std::fs::remove_dir_all(work).expect("delete the directory");
    [git_cpu, copy, read]
}

/// Runs Git and ignores its output.
fn run_git(directory: &Path, arguments: &[&str]) {
    let status = Command::new("git").current_dir(directory).args(arguments).stdout(Stdio::null()).status();
    assert!(status.expect("run git").success(), "git {arguments:?}");
}

/// Returns the CPU seconds that this process and its child processes use for some work.
fn cpu_during(work: impl FnOnce()) -> f64 {
    let start = cpu_seconds();
    work();
    // Leave time for child processes in the background to end and be counted.
    std::thread::sleep(std::time::Duration::from_millis(100));
    cpu_seconds() - start
}

/// Returns the CPU seconds so far of this process and of its finished child processes, from system ticks of
/// 1/100 s.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("read the process status");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("the status has fields").split(' ').collect();
    let ticks: u64 =
        fields[11..15].iter().map(|field| field.parse::<u64>().expect("ticks are a number")).sum();
    ticks as f64 / 100.0
}

fn megabytes(repository: &Path) -> f64 {
    let packs = std::fs::read_dir(repository.join("objects/pack")).expect("list the packs");
    packs.map(|file| file.and_then(|file| file.metadata()).expect("read the file size").len()).sum::<u64>()
        as f64
        / 1e6
}
