//! CPU time of a browse request on the threads that serve requests, while repositories are copied and
//! analyzed, and while the server has nothing else to do.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::json;

#[path = "../http/client.rs"]
mod client;

use client::Client;

/// Number of requests per measurement, and of pairs of measurements.
const REQUESTS: usize = 6_000;
const ROUNDS: usize = 5;

/// Number of repositories that are linked in a round: enough to keep the server busy during all its requests.
const LINKED_REPOSITORIES: usize = 4;

/// The server with a demo market.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(repositories: &Path, directory: &Path) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_marketplace"))
            .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--data"])
            .arg(directory)
            .env("MARKETPLACE_LOG_FILTER", "warn")
            .env("MARKETPLACE_REPOSITORIES_GITHUB_URL", format!("file://{}", repositories.display()))
            .env("MARKETPLACE_REPOSITORIES_GITHUB_API_URL", "")
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the server");
        let mut lines =
            BufReader::new(process.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("listening on http://").map(str::to_owned));
        Server { process, address: address.expect("the server prints its address") }
    }

    /// Returns the CPU milliseconds of the runtime threads, which serve requests. Copying and analysis use
    /// other threads.
    fn serving_cpu_ms(&self) -> f64 {
        let threads =
            std::fs::read_dir(format!("/proc/{}/task", self.process.id())).expect("list the threads");
        let ticks = threads.flatten().filter_map(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat")).ok()?;
            let (name, fields) = stat.split_once('(')?.1.rsplit_once(") ")?;
            let is_serving = name.starts_with("tokio");
            let fields = fields.split(' ').skip(11).take(2);
            is_serving
                .then(|| fields.map(|field| field.parse::<u64>().expect("ticks are a number")).sum::<u64>())
        });
        ticks.sum::<u64>() as f64 * 10.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Measures both cases alternately, and prints the results.
pub fn compare_browsing(repositories: &Path) {
    let directory = tempfile::tempdir().expect("create a temporary directory");
    let server = Server::start(repositories, &directory.path().join("market"));
    let mut buyer = Client::connect(&server.address, "mkt_demo_buyer");
    let mut vendor = Client::connect(&server.address, "mkt_demo_vendor");
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|_| {
            let idle = cpu_per_request(&server, &mut buyer);
            let linked: Vec<String> =
                (0..LINKED_REPOSITORIES).map(|_| link_repository(&mut vendor)).collect();
            let busy = cpu_per_request(&server, &mut buyer);
            assert!(
                is_busy(&mut vendor, &linked),
                "the repositories were analyzed before the requests ended"
            );
            while is_busy(&mut vendor, &linked) {
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            (idle, busy)
        })
        .collect();
    rounds.sort_by(|a, b| f64::total_cmp(&(a.1 / a.0), &(b.1 / b.0)));
    let (idle, busy) = rounds[ROUNDS / 2];
    println!(
        "\nbrowse request: {idle:.3} ms of CPU time, {busy:.3} ms while repositories are copied and analyzed"
    );
    println!(
        "{:+.0} % (median of {ROUNDS} rounds, from {:+.0} to {:+.0} %)",
        increase_percent(&(idle, busy)),
        increase_percent(&rounds[0]),
        increase_percent(&rounds[ROUNDS - 1])
    );
}

fn increase_percent((idle, busy): &(f64, f64)) -> f64 {
    (busy / idle - 1.0) * 100.0
}

/// Returns the CPU milliseconds per browse request, with varying filters so that no cache holds all
/// responses.
fn cpu_per_request(server: &Server, client: &mut Client) -> f64 {
    let start = server.serving_cpu_ms();
    for number in 0..REQUESTS {
        client
            .get(&format!("/v2/listings/browse?limit=24&sort=price_low&max_price={}", 5_000 + number % 700));
    }
    (server.serving_cpu_ms() - start) / REQUESTS as f64
}

/// Creates a codebase that is linked to the repository. Returns its path.
fn link_repository(vendor: &mut Client) -> String {
    let body = json!({"title": "Ledger", "exclusivity": "available",
        "data": {"channel": "github", "repo_full_name": "acme/ledger"}});
    let row: serde_json::Value = serde_json::from_slice(&vendor.post("/v2/codebases", &body.to_string()))
        .expect("the codebase is JSON");
    format!("/v2/codebases/{}", row["id"].as_str().expect("the codebase has an ID"))
}

/// Returns whether any of these codebases is still copied or analyzed.
fn is_busy(vendor: &mut Client, linked: &[String]) -> bool {
    linked.iter().any(|path| {
        let row: serde_json::Value = serde_json::from_slice(&vendor.get(path)).expect("the codebase is JSON");
        assert!(row["data"]["archive_error"].is_null(), "{row}");
        row["data"]["analysis_status"] != "completed"
    })
}
