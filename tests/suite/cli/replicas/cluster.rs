//! A primary, replicas, Litestream, and the store that they share, as processes.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU16, Ordering},
    thread,
    time::{Duration, Instant},
};

use reqwest::{Method, blocking::Response, header::HeaderMap};
use serde_json::Value;
use tempfile::TempDir;

use super::proxy::Nginx;
use crate::{
    cli::{Server, marketplace, stdout_of, temp_dir},
    harness::s3::S3Server,
};

/// The header of positions.
pub const POSITION: &str = "market-position";

/// Where the primary replicates to.
const STORE: &str = "s3://market/replicas";

/// How long replicas may take to restore a database, or to become equal to the primary.
const PATIENCE: Duration = Duration::from_mins(2);

/// Pause between two checks meanwhile.
const PAUSE: Duration = Duration::from_millis(50);

/// An answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<String> {
        Some(self.headers.get(name)?.to_str().unwrap().to_owned())
    }

    fn read(response: Response) -> reqwest::Result<Answer> {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, body: response.bytes()?.to_vec() })
    }

    /// Returns the cookies that the answer sets, as a client sends them back.
    pub fn cookies(&self) -> String {
        let set = self.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
        set.filter_map(|cookie| cookie.split(';').next()).collect::<Vec<_>>().join("; ")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A request, by an operator unless it has another key.
#[derive(Clone, Debug)]
pub struct Call {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Option<String>,
}

impl Call {
    pub fn get(path: &str) -> Call {
        let call = Call { method: Method::GET, path: path.to_owned(), headers: HeaderMap::new(), body: None };
        call.by("mkt_demo_operator")
    }

    pub fn post(path: &str, body: &Value) -> Call {
        let call = Call { method: Method::POST, body: Some(body.to_string()), ..Call::get(path) };
        call.with("content-type", "application/json")
    }

    /// Sends a form, as a browser does that is at this server.
    pub fn form(path: &str, fields: &str, url: &str) -> Call {
        let call = Call { method: Method::POST, body: Some(fields.to_owned()), ..Call::get(path) };
        call.with("content-type", "application/x-www-form-urlencoded")
            .with("origin", url)
            .with("sec-fetch-site", "same-origin")
    }

    #[must_use]
    pub fn by(self, key: &str) -> Call {
        self.with("authorization", &format!("Bearer {key}"))
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Call {
        self.headers.insert(name, value.parse().unwrap());
        self
    }
}

/// The processes. They end when it is dropped.
pub struct Cluster {
    replicas: Vec<Option<Server>>,
    primary: Option<Server>,
    client: reqwest::blocking::Client,
    primary_url: String,
    /// Name of the data directory of the primary.
    data: String,
    port: u16,
    directory: TempDir,
    store: S3Server,
}

impl Cluster {
    /// Starts a primary with the demo market, and replicas of it.
    pub fn start(replicas: usize) -> Cluster {
        let directory = temp_dir();
        let store = S3Server::start();
        // The primary has the same one after a restart.
        let port = unused_port();
        let client = marketplace::http_client::blocking().unwrap().timeout(Duration::from_secs(30));
        let primary_url = format!("http://127.0.0.1:{port}");
        let primary = Server::spawn(primary_command(directory.path(), "primary", port, &store));
        let mut cluster = Cluster {
            replicas: Vec::new(),
            primary: Some(primary),
            client: client.build().unwrap(),
            primary_url,
            data: "primary".to_owned(),
            port,
            directory,
            store,
        };
        for index in 0..replicas {
            cluster.replicas.push(None);
            cluster.start_replica(index);
        }
        cluster
    }

    pub fn primary_url(&self) -> &str {
        &self.primary_url
    }

    pub fn replica_url(&self, index: usize) -> String {
        format!("http://{}", self.replicas[index].as_ref().unwrap().1)
    }

    pub fn stop_primary(&mut self) {
        assert_eq!(self.primary.take().unwrap().terminate(), 0);
    }

    /// Kills the primary, with which its Litestream ends, as the loss of their machine does.
    pub fn kill_primary(&self) {
        let id = self.primary.as_ref().unwrap().0.id().to_string();
        Command::new("kill").args(["-KILL", &id]).status().unwrap();
    }

    pub fn start_primary(&mut self) {
        let command = primary_command(self.directory.path(), &self.data, self.port, &self.store);
        self.primary = Some(Server::spawn(command));
    }

    fn start_replica(&mut self, index: usize) {
        let data = self.directory.path().join(format!("replica-{index}"));
        let data = data.to_str().unwrap();
        let arguments = ["serve", "--replica", "--listen", "127.0.0.1:0", "--data", data];
        let mut command = marketplace(&arguments, self.directory.path());
        configure(&mut command, &self.store);
        command.env("MARKETPLACE_REPLICA_PRIMARY_URL", &self.primary_url);
        // With all that Litestream logs.
        command.env("MARKETPLACE_LOG_FILTER", "info,marketplace::replica::litestream=debug");
        self.replicas[index] = Some(Server::spawn(command));
        let url = self.replica_url(index);
        self.wait_for("a copy of the database", |cluster| {
            cluster.try_send(&url, &Call::get("/readyz")).is_some_and(|state| state.status == 200)
        });
    }

    /// Starts nginx in front of all servers.
    pub fn start_proxy(&self) -> Nginx {
        let replicas = (0..self.replicas.len()).map(|index| self.replica_url(index));
        let urls = replicas.chain([self.primary_url.clone()]);
        let addresses: Vec<String> = urls.map(|url| url.trim_start_matches("http://").to_owned()).collect();
        Nginx::start(self.directory.path(), &addresses)
    }

    /// Stops a replica, which reports the uses of keys before it ends.
    pub fn stop_replica(&mut self, index: usize) {
        assert_eq!(self.replicas[index].take().unwrap().terminate(), 0);
    }

    /// Kills one of the processes, and starts it again if nothing else does.
    pub fn kill_one(&mut self, turn: usize) {
        match turn % 4 {
            0 | 2 => self.kill_follower(turn / 2 % self.replicas.len()),
            1 => kill_litestream(self.primary.as_ref().unwrap().0.id()),
            _ => {
                let index = turn / 4 % self.replicas.len();
                drop(self.replicas[index].take());
                self.start_replica(index);
                drop(self.primary.take());
                self.start_primary();
            }
        }
    }

    /// Kills the Litestream of a replica.
    pub fn kill_follower(&self, index: usize) {
        kill_litestream(self.replicas[index].as_ref().unwrap().0.id());
    }

    /// Returns the ID of a listing that is published.
    pub fn first_listing(&self) -> String {
        let published = Call::get("/operator/v1/listings?catalog_status=published&limit=1");
        let page = self.send(&self.primary_url, &published);
        page.json()["items"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Waits until a replica has what the primary has.
    pub fn wait_until_equal(&mut self, url: &str) {
        let answers = |cluster: &Cluster, url: &str| {
            let paths = ["/operator/v1/teams?limit=1", "/operator/v1/keys?limit=100"];
            paths.map(|path| {
                let answer = cluster.try_send(url, &Call::get(path));
                answer.filter(|answer| answer.status == 200).map(|answer| answer.body)
            })
        };
        self.wait_for("equal answers", |cluster| {
            let own = answers(cluster, url);
            own.iter().all(Option::is_some) && own == answers(cluster, &cluster.primary_url)
        });
    }

    pub fn wait_for(&mut self, what: &str, condition: impl Fn(&Cluster) -> bool) {
        let began = Instant::now();
        while !condition(self) {
            assert!(began.elapsed() < PATIENCE, "waited for {what} in vain\n{}", self.logs());
            thread::sleep(PAUSE);
        }
    }

    /// Waits until the process of the primary has ended by itself. Returns its status.
    pub fn wait_for_end_of_primary(&mut self) -> Option<i32> {
        let began = Instant::now();
        let mut primary = self.primary.take().unwrap();
        while began.elapsed() < PATIENCE {
            if let Some(status) = primary.0.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(PAUSE);
        }
        panic!("it has not ended: {}", primary.2.read());
    }

    /// Returns the logs of the servers.
    pub fn logs(&mut self) -> String {
        let servers = self.primary.iter_mut().chain(self.replicas.iter_mut().flatten());
        servers.map(|server| server.2.read()).collect()
    }

    /// Promotes the data directory of a stopped replica to the primary. Returns the output of the command.
    pub fn promote(&mut self, index: usize) -> String {
        drop(self.replicas[index].take());
        let data = format!("replica-{index}");
        let arguments = ["promote", "--primary-is-stopped", "--data", &data];
        let mut command = marketplace(&arguments, self.directory.path());
        configure(&mut command, &self.store);
        let printed = stdout_of(&command.output().unwrap());
        self.data = data;
        printed
    }

    /// Makes the database of the primary look as if a later version had migrated it.
    pub fn set_schema_version(&self, version: u32) {
        let database = self.directory.path().join(&self.data).join(marketplace::market::DATABASE_FILE);
        let rows = rusqlite::Connection::open(database).unwrap();
        rows.busy_timeout(PATIENCE).unwrap();
        rows.pragma_update(None, "user_version", version).unwrap();
    }

    /// Replaces the key by which the primary signs, before which it makes a head of its log. Returns that head.
    pub fn make_head(&self) -> String {
        let arguments = ["signing-key", "rotate", "--data", &self.data];
        let printed = stdout_of(&marketplace(&arguments, self.directory.path()).output().unwrap());
        let head = printed.lines().find_map(|line| line.strip_prefix("newest head of the log, of "));
        head.and_then(|head| head.split_once(": ")).expect("a head").1.to_owned()
    }

    /// Starts the server of a data directory that belongs to an earlier primary. Returns its error.
    pub fn start_former_primary(&self) -> String {
        let mut command = primary_command(self.directory.path(), "primary", self.port, &self.store);
        let output = command.output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    /// Sends a request to a server, and returns the answer.
    pub fn send(&self, url: &str, call: &Call) -> Answer {
        Answer::read(self.open(url, call).unwrap()).unwrap()
    }

    /// Sends a request. Returns `None` if the connection was interrupted.
    pub fn try_send(&self, url: &str, call: &Call) -> Option<Answer> {
        self.open(url, call).and_then(Answer::read).ok()
    }

    /// Sends a request, and returns the response before its body.
    pub fn open(&self, url: &str, call: &Call) -> reqwest::Result<Response> {
        let request = self.client.request(call.method.clone(), format!("{url}{}", call.path));
        let request = request.headers(call.headers.clone()).header("x-request-id", "same");
        call.body.iter().fold(request, |request, body| request.body(body.clone())).send()
    }
}

/// The program of Litestream.
fn litestream() -> PathBuf {
    std::env::var_os("LITESTREAM").expect("LITESTREAM names the program").into()
}

fn configure(command: &mut Command, store: &S3Server) {
    command.env("MARKETPLACE_SERVER_PUBLIC_URL", "http://market.test");
    command.envs(store.variables());
    for limit in ["CATALOG", "HISTORY", "SALES", "OTHER", "ADDRESS", "UPLOADS"] {
        command.env(format!("MARKETPLACE_LIMITS_{limit}"), "0");
    }
    command.env("MARKETPLACE_KEYS_ALLOW_FIXTURE_KEYS", "true");
    command.env("MARKETPLACE_SERVER_TRUSTED_PROXIES", "[\"127.0.0.1\"]");
    command.env("MARKETPLACE_REPLICA_LITESTREAM", litestream());
    command.env("MARKETPLACE_REPLICA_SOURCE", STORE);
    command.env("MARKETPLACE_REPLICATION_LITESTREAM", "true");
    command.env("MARKETPLACE_REPLICATION_DESTINATION", STORE);
}

/// Returns the command that serves the primary. Only the first one has the demo.
fn primary_command(directory: &Path, data: &str, port: u16, store: &S3Server) -> Command {
    let (data, address) = (directory.join(data), format!("127.0.0.1:{port}"));
    let arguments = ["serve", "--listen", &address, "--data", data.to_str().unwrap()];
    let demo: &[&str] = if data.ends_with("primary") { &["--demo"] } else { &[] };
    let mut command = marketplace(&[&arguments[..], demo].concat(), directory);
    configure(&mut command, store);
    command
}

/// Returns a port on which nothing listens: below those that the system gives to connections, so that it stays free.
pub(super) fn unused_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Tests of other processes begin elsewhere.
    let first = 10_000 + (std::process::id() % 20_000) as u16;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % 2_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Kills the Litestream of a server.
fn kill_litestream(server: u32) {
    let children = Command::new("pgrep").args(["--parent", &server.to_string()]).output().unwrap();
    for child in String::from_utf8(children.stdout).unwrap().lines() {
        Command::new("kill").args(["-KILL", child]).status().unwrap();
    }
}
