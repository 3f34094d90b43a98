//! The server of a copy of a market, and the keys of those who use it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::client::Client;

/// Number of vendor teams, and of buyer teams.
const TEAMS: usize = 8;

/// Credits of each buyer, in US dollars.
const CREDITS: &str = "90000000";

/// Number of codebases in the inventory of a vendor.
const INVENTORY: usize = 500;

/// The server in a process of its own, and who uses it.
pub struct Server {
    process: Child,
    pub address: String,
    pub operator: String,
    pub vendors: Vec<Member>,
    pub buyers: Vec<Member>,
}

/// A team with a key.
pub struct Member {
    pub id: String,
    pub key: String,
    /// IDs of the codebases of a vendor.
    pub codebases: Vec<String>,
}

impl Server {
    /// Creates teams in the market in a directory, and serves it without budgets per minute: they would refuse most of the load, at
    /// almost no cost.
    pub fn start(directory: &Path) -> Server {
        let run = |arguments: &[&str]| run(directory, arguments);
        let operator = run(&["operator", "key", "create", "Soak"]);
        let create = |role: &str| -> Vec<Member> {
            let member = |number| {
                let name = format!("Soak {role} {number}");
                let id = run(&["team", "create", &name, "--role", role, "--nda"]);
                Member { id, key: run(&["key", "create", &name]), codebases: Vec::new() }
            };
            (0..TEAMS).map(member).collect()
        };
        let (mut vendors, buyers) = (create("vendor"), create("buyer"));
        for buyer in &buyers {
            run(&["credits", "adjust", &buyer.id, CREDITS, "--reason", "soak"]);
        }
        let (process, address) = serve(directory, false);
        for vendor in &mut vendors {
            vendor.codebases = fill_inventory(&address, vendor);
        }
        Server { process, address, operator, vendors, buyers }
    }

    /// Serves the market once more, with the budgets that teams have unless settings change them.
    pub fn restart_with_budgets(&mut self, directory: &Path) {
        self.stop();
        (self.process, self.address) = serve(directory, true);
    }

    fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// The ID of the process.
    pub fn id(&self) -> String {
        self.process.id().to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Serves a market, and returns the process and the address.
fn serve(directory: &Path, has_budgets: bool) -> (Child, String) {
    let names = ["CATALOG", "HISTORY", "SALES", "PURCHASES", "QUALITY_CHECKS", "UPLOADS", "OTHER"];
    let budgets = names.iter().filter(|_| !has_budgets);
    let mut process = Command::new(env!("CARGO_BIN_EXE_marketplace"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(directory)
        .env("MARKETPLACE_LOG_FILTER", "warn")
        .envs(budgets.map(|name| (format!("MARKETPLACE_LIMITS_{name}"), "0")))
        // All clients are at one address, and have a connection for each key.
        .env("MARKETPLACE_SERVER_MAX_CONNECTIONS", "4096")
        .env("MARKETPLACE_LIMITS_ADDRESS", "0")
        .env("MARKETPLACE_SERVER_MAX_CONNECTIONS_PER_ADDRESS", "0")
        .env("MARKETPLACE_SERVER_MAX_IDLE_CONNECTIONS_PER_ADDRESS", "0")
        .stdout(Stdio::piped())
        .spawn()
        .expect("start the server");
    let mut line = String::new();
    let mut output = BufReader::new(process.stdout.take().expect("stdout is piped"));
    output.read_line(&mut line).expect("read a line");
    let address = line.trim().rsplit('/').next().expect("the line has an address").to_owned();
    (process, address)
}

/// Creates the codebases of a vendor, and returns their IDs.
fn fill_inventory(address: &str, vendor: &Member) -> Vec<String> {
    let item = |number| json!({"title": format!("Codebase {number}"), "exclusivity": "available"});
    let items: Vec<Value> = (0..INVENTORY).map(item).collect();
    let created = Client::connect(address, &vendor.key)
        .post("/v2/codebases/batch", &json!({"items": items}).to_string());
    let created: Value = serde_json::from_slice(&created).expect("the response is JSON");
    let ids = created["items"].as_array().expect("it has the codebases").iter();
    ids.map(|codebase| codebase["id"].as_str().expect("it has an ID").to_owned()).collect()
}

/// Runs a command, and returns what it prints.
fn run(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marketplace"));
    let output = command.args(arguments).arg("--data").arg(directory).output().expect("run the command");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Copies the files of a directory, and of those in it.
pub fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("create a directory");
    for entry in fs::read_dir(from).expect("list the directory") {
        let entry = entry.expect("list the directory");
        let (kind, to) = (entry.file_type().expect("read the type"), to.join(entry.file_name()));
        if kind.is_dir() {
            copy_directory(&entry.path(), &to);
        } else if kind.is_file() {
            fs::copy(entry.path(), to).expect("copy a file");
        }
    }
}
