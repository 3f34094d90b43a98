//! Memory of a process that serves hundreds of worlds to clients over HTTP.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::{Targets, client::Client, process::Usage};

/// Number of connections that use the worlds at the same time.
const CONNECTIONS: usize = 8;

/// Number of writes to each world, of which the first are measured alone.
const WRITES: usize = 11;

/// Maximum resident memory of the process in MB.
const MAX_MB: f64 = 400.0;

/// Time after which everything that is idle is closed.
const IDLE: Duration = Duration::from_secs(4);

/// A server of the demo in a process of its own.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(directory: &Path) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_marketplace"))
            .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--data"])
            .arg(directory)
            .current_dir(directory)
            .env("MARKETPLACE_LOG_FILTER", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the server");
        let mut lines = BufReader::new(process.stdout.take().expect("stdout is piped")).lines();
        let line = lines.find_map(|line| line.ok().filter(|line| line.contains("127.0.0.1:")));
        let line = line.expect("the server prints its address");
        let (_, rest) = line.split_once("127.0.0.1:").expect("the line has an address");
        let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
        // What it prints later must not fill the pipe.
        thread::spawn(move || lines.for_each(drop));
        Server { process, address: format!("127.0.0.1:{port}") }
    }

    /// Calls `send` for each world, on several connections at the same time.
    fn for_each_world(&self, worlds: usize, send: impl Fn(&mut Client, usize) + Sync) {
        thread::scope(|scope| {
            for connection in 0..CONNECTIONS {
                let send = &send;
                scope.spawn(move || {
                    let mut client = Client::connect(&self.address, "mkt_demo_operator");
                    (connection..worlds).step_by(CONNECTIONS).for_each(|world| send(&mut client, world));
                });
            }
        });
    }

    fn usage(&self) -> Usage {
        Usage::of_process(&self.process.id().to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Measures the memory of a server with this number of worlds: when they are new, after writes to each, and after they were
/// deleted.
pub fn measure(directory: &Path, worlds: usize, targets: &mut Targets) {
    std::fs::create_dir_all(directory).expect("create a directory");
    let server = Server::start(directory);
    let mut check = |what: &str| {
        for state in ["", ", idle"] {
            let usage = server.usage();
            let name = format!("resident memory of the server: {worlds} worlds, {what}{state}");
            targets.at_most(&name, usage.resident_mb, "MB", MAX_MB);
            println!(
                "| of that anonymous | {:.0} MB, {} threads, {} files | |",
                usage.anonymous_mb, usage.threads, usage.files
            );
            if state.is_empty() {
                thread::sleep(IDLE);
            }
        }
    };
    println!("| resident memory of a server without worlds | {:.0} MB | |", server.usage().resident_mb);
    server.for_each_world(worlds, |client, world| {
        client.post("/sandbox/v1/worlds", &format!(r#"{{"name": "w{world}"}}"#));
    });
    check("new");
    let write = |client: &mut Client, world: usize, number: usize| {
        let team = format!(r#"{{"name": "Team {number}", "roles": ["buyer"], "tier": 1}}"#);
        client.post(&format!("/w/w{world}/operator/v1/teams"), &team);
    };
    server.for_each_world(worlds, |client, world| write(client, world, 0));
    check("after a write to each");
    for number in 1..WRITES {
        server.for_each_world(worlds, |client, world| write(client, world, number));
    }
    check(&format!("after {WRITES} writes to each"));
    server.for_each_world(worlds, |client, world| client.delete(&format!("/sandbox/v1/worlds/w{world}")));
    check("deleted");
}
