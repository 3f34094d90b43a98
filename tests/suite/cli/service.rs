//! A server as a service: its first files, messages to the service manager, reloads, and secrets in files.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::{fs::PermissionsExt, net::UnixDatagram},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::{ProcessLog, Server, is_root, marketplace, monitoring, run, run_failing, stdout_of, temp_dir};
use crate::harness::waiting::wait_for;

/// How long a message of a server may take. It takes milliseconds.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// A service manager that receives messages.
struct Manager(UnixDatagram);

impl Manager {
    fn new(path: &Path) -> Manager {
        let socket = UnixDatagram::bind(path).unwrap();
        socket.set_read_timeout(Some(MAX_WAIT)).unwrap();
        Manager(socket)
    }

    /// Returns the next message that begins with a text.
    fn next(&self, start: &str) -> String {
        loop {
            let mut buffer = [0; 4096];
            let length = self.0.recv(&mut buffer).unwrap_or_else(|error| panic!("no {start}: {error}"));
            let message = String::from_utf8_lossy(&buffer[..length]).into_owned();
            if message.starts_with(start) {
                return message;
            }
        }
    }
}

/// Returns the response to a GET request, with its head.
fn get(address: &str, path: &str, key: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn new_market_is_served_from_its_settings_file() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let (code, message) = run_failing(&["init", "market", "--key-file", "missing/key"], directory);
    assert!(code == 1 && message.contains("cannot create missing/key"), "{message}");
    assert!(!directory.join("market/data/market.sqlite").exists());
    let created = stdout_of(&run(&["init", "market", "--key-file", "operator.key"], directory));
    assert!(created.contains("Sign in with the key: http://127.0.0.1:8080/console\n"), "{created}");
    assert!(created.contains("marketplace serve --config") && !created.contains("mkt_"), "{created}");
    for file in ["market/marketplace.toml", "operator.key"] {
        assert_eq!(mode(&directory.join(file)), 0o600, "{file}");
    }
    let key = fs::read_to_string(directory.join("operator.key")).unwrap();
    let server = Server::start(&["--config", "market/marketplace.toml"], directory);
    let response = get(&server.1, "/operator/v1/market", key.trim());
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    let mut status = marketplace(&["status", "--url", &format!("http://{}", server.1)], directory);
    let output = status.env("MARKETPLACE_OPERATOR_KEY_FILE", "operator.key").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
    let output = status.env("MARKETPLACE_OPERATOR_KEY", key.trim()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("MARKETPLACE_OPERATOR_KEY and MARKETPLACE_OPERATOR_KEY_FILE are both set"),
        "{stderr}"
    );
    drop(server);
    let (code, message) = run_failing(&["init", "market"], directory);
    assert!(code == 2 && message.contains("market is not empty, so nothing was created"), "{message}");
    let json = stdout_of(&run(&["init", "other", "--data", "elsewhere", "--json"], directory));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json["operator_key"].as_str().unwrap().starts_with("mkt_op_"), "{json}");
    assert!(directory.join("elsewhere/market.sqlite").is_file() && !directory.join("other/data").exists());
    let mut init = marketplace(&["init", "fourth", "--json"], directory);
    let fourth = stdout_of(&init.env("MARKETPLACE_DATA_FOLDER", "of-variable").output().unwrap());
    assert!(fourth.contains("/of-variable\""), "the server would use it, too: {fourth}");
    assert!(directory.join("of-variable/market.sqlite").is_file() && !directory.join("fourth/data").exists());
    // A new file system.
    fs::create_dir_all(directory.join("volume/lost+found")).unwrap();
    stdout_of(&run(&["init", "third", "--data", "volume"], directory));
    assert_eq!(
        json["next"][0].as_str().unwrap().split(' ').take(3).collect::<Vec<_>>(),
        ["marketplace", "serve", "--config"]
    );
}

#[test]
fn service_manager_learns_what_the_server_does() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let manager = Manager::new(&directory.join("notify"));
    let mut command = marketplace(&["serve", "--listen", "127.0.0.1:0", "--data", "market"], directory);
    command.env("NOTIFY_SOCKET", directory.join("notify")).env("WATCHDOG_USEC", "300000");
    let server = Server::spawn(command);
    assert_eq!(manager.next("READY=1"), format!("READY=1\nSTATUS=Serving http://{}", server.1));
    manager.next("WATCHDOG=1");
    manager.next("WATCHDOG=1");
    server.signal("HUP");
    let reloading = manager.next("RELOADING=1\nMONOTONIC_USEC=");
    let since: u64 = reloading.lines().nth(1).unwrap().split_once('=').unwrap().1.parse().unwrap();
    assert!(since > 0);
    manager.next("READY=1\nSTATUS=Serving http://");
    assert_eq!(server.terminate(), 0);
}

/// Also before it has a copy of the database: here, nobody has replicated one.
#[test]
fn service_manager_learns_what_a_replica_does() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let manager = Manager::new(&directory.join("notify"));
    let mut command =
        marketplace(&["serve", "--replica", "--listen", "127.0.0.1:0", "--data", "replica"], directory);
    command.env("NOTIFY_SOCKET", directory.join("notify")).env("WATCHDOG_USEC", "300000").envs([
        ("MARKETPLACE_REPLICA_PRIMARY_URL", "http://127.0.0.1:9"),
        ("MARKETPLACE_REPLICA_SOURCE", "file:///nowhere"),
        ("MARKETPLACE_REPLICA_LITESTREAM", "/nowhere/litestream"),
        ("MARKETPLACE_BLOBS_KIND", "s3"),
        ("MARKETPLACE_BLOBS_ENDPOINT", "http://127.0.0.1:9"),
        ("MARKETPLACE_BLOBS_BUCKET", "files"),
        ("MARKETPLACE_BLOBS_ACCESS_KEY_ID", "a"),
        ("MARKETPLACE_BLOBS_SECRET_ACCESS_KEY", "b"),
    ]);
    let server = Server::spawn(command);
    let ready = format!("READY=1\nSTATUS=Serving http://{} as a replica", server.1);
    assert_eq!(manager.next("READY=1"), ready);
    manager.next("WATCHDOG=1");
    manager.next("WATCHDOG=1");
    server.signal("HUP");
    manager.next("RELOADING=1");
    assert_eq!(manager.next("READY=1"), ready);
    manager.next("WATCHDOG=1");
    assert_eq!(server.terminate(), 0);
}

/// To the first process of a container, the kernel passes on only signals that have a handler.
#[test]
fn first_process_of_a_container_is_ended_by_signals() {
    if !is_root() {
        return;
    }
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data"], directory));
    for (arguments, code) in [(&["events", "--follow"][..], 143), (&["serve", "--listen", "127.0.0.1:0"], 0)]
    {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", env!("CARGO_BIN_EXE_marketplace")]).args(arguments);
        command.current_dir(directory).env_clear().stdout(Stdio::piped()).stderr(Stdio::null());
        let mut container = command.spawn().unwrap();
        let mut output = BufReader::new(container.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_ne!(line, "", "{arguments:?}");
        let id = container.id();
        let first = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        let killed = Command::new("kill").args(["-s", "TERM", first.trim()]).status();
        assert!(killed.unwrap().success());
        assert_eq!(container.wait().unwrap().code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn requests_that_run_are_completed_before_the_server_ends() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let manager = Manager::new(&directory.join("notify"));
    let mut command = marketplace(&["serve", "--demo", "--listen", "127.0.0.1:0"], directory);
    command.env("NOTIFY_SOCKET", directory.join("notify")).env("MARKETPLACE_METRICS_LISTEN", "127.0.0.1:0");
    let mut server = Server::spawn(command);
    let monitoring = monitoring::address_of(&mut server);
    let (mut running, body) =
        (TcpStream::connect(&server.1).unwrap(), r#"{"name":"Late","roles":["vendor"]}"#);
    let head = format!(
        "POST /operator/v1/teams HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer mkt_demo_operator\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        server.1,
        body.len()
    );
    running.write_all(head.as_bytes()).unwrap();
    monitoring::get_until(&monitoring, "/metrics", "marketplace_http_running_requests 1");
    server.signal("TERM");
    manager.next("STOPPING=1");
    running.write_all(body.as_bytes()).unwrap();
    let mut response = String::new();
    running.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
}

#[test]
fn manager_in_the_abstract_namespace_and_none_are_possible() {
    use std::os::linux::net::SocketAddrExt;
    let temp_dir = temp_dir();
    let name = format!("marketplace-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let manager = Manager(UnixDatagram::bind_addr(&address).unwrap());
    manager.0.set_read_timeout(Some(MAX_WAIT)).unwrap();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", "market"];
    let mut command = marketplace(&serve, temp_dir.path());
    command.env("NOTIFY_SOCKET", format!("@{name}"));
    let server = Server::spawn(command);
    manager.next("READY=1");
    assert_eq!(server.terminate(), 0);
    let mut command = marketplace(&serve, temp_dir.path());
    command.env("NOTIFY_SOCKET", "/does/not/exist");
    let mut server = Server::spawn(command);
    server.2.wait_for("the service manager in NOTIFY_SOCKET cannot be reached");
    assert_eq!(server.terminate(), 0);
}

/// Reloads the settings, and returns the log line about it. `number` is that of the reload.
fn reload(server: &mut Server, manager: &Manager) -> String {
    let reloads = |log: &str| -> Vec<String> {
        log.lines().filter(|line| line.contains("the settings were ")).map(str::to_owned).collect()
    };
    let earlier = reloads(&server.2.read()).len();
    server.signal("HUP");
    manager.next("RELOADING=1");
    manager.next("READY=1");
    wait_for("the line about the reload", || reloads(&server.2.read()).into_iter().nth(earlier))
}

#[test]
fn reload_takes_what_can_change_and_says_what_cannot() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let manager = Manager::new(&directory.join("notify"));
    stdout_of(&run(&["init", "market", "--key-file", "key"], directory));
    let key = fs::read_to_string(directory.join("key")).unwrap();
    let first = fs::read_to_string(directory.join("market/marketplace.toml")).unwrap();
    let write = |changes: &str| {
        let text =
            changes.split(';').filter(|change| !change.is_empty()).fold(first.clone(), |text, change| {
                let name = change.split(" = ").next().unwrap();
                let line =
                    text.lines().find(|line| line.starts_with(&format!("#{name} = "))).unwrap().to_owned();
                text.replacen(&line, change, 1)
            });
        fs::write(directory.join("market/marketplace.toml"), text).unwrap();
    };
    let serve = ["serve", "--listen", "127.0.0.1:0", "--config", "market/marketplace.toml"];
    let mut command = marketplace(&serve, directory);
    command.env("NOTIFY_SOCKET", directory.join("notify"));
    let mut server = Server::spawn(command);
    manager.next("READY=1");
    let address = server.1.clone();
    // The headers of a response, with the budget of the key, if there is one.
    let budget = || {
        let response = get(&address, "/operator/v1/settings", key.trim());
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        let policy = response.lines().find(|line| line.starts_with("ratelimit-policy: "));
        policy.unwrap_or_default().to_owned()
    };
    assert!(budget().contains("\"other\";q=1200;"), "{}", budget());
    write("other = 77;banner = \"Open on Sunday\";readers = 3");
    let line = reload(&mut server, &manager);
    assert!(
        line.contains("taken=\"console.banner limits.other\"") && line.contains("needs_restart=data.readers"),
        "{line}"
    );
    assert!(budget().contains("\"other\";q=77;"), "{}", budget());
    let page = || get(&address, "/console/sign-in", "");
    assert!(page().contains("Open on Sunday"), "{}", page());
    for (invalid, problem) in [
        ("other = 5;readers = 1000", "data.readers must be between 0 and 64"),
        ("other = x", "marketplace.toml:"),
        ("other = 5;memory_mb = 16", "limits.memory_mb"),
    ] {
        write(invalid);
        let line = reload(&mut server, &manager);
        assert!(
            line.contains("were not reloaded, and nothing has changed") && line.contains(problem),
            "{line}"
        );
        assert!(budget().contains("\"other\";q=77;"), "{}", budget());
    }
    // The filter of the log, with what it lets through.
    write("filter = \"info,marketplace::web::request_id=off\"");
    reload(&mut server, &manager);
    get(&address, "/operator/v1/teams", key.trim());
    write("filter = \"info\"");
    reload(&mut server, &manager);
    get(&address, "/operator/v1/keys", key.trim());
    server.2.wait_for("route=/operator/v1/keys");
    assert!(!server.2.read().contains("route=/operator/v1/teams"), "{}", server.2.read());
    assert!(!page().contains("Open on Sunday") && budget().contains("\"other\";q=1200;"));
    assert_eq!(server.terminate(), 0);
}

/// Programs that collect logs lose, or report, what is not.
#[test]
fn every_line_of_a_log_in_json_is_json() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let manager = Manager::new(&directory.join("notify"));
    let mut command = marketplace(&["serve", "--listen", "127.0.0.1:0", "--data", "market"], directory);
    command.env("NOTIFY_SOCKET", directory.join("notify"));
    command.env("MARKETPLACE_LOG_FORMAT", "json").env("MARKETPLACE_LOGS_FORMAT", "json");
    let mut server = Server::spawn(command);
    manager.next("READY=1");
    reload(&mut server, &manager);
    server.signal("TERM");
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
    let log = server.2.read();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    let is_warning = |line: &Value| {
        let message = line["fields"]["message"].as_str().unwrap_or_default();
        message.starts_with("MARKETPLACE_LOGS_FORMAT is not a setting")
    };
    assert_eq!(lines.filter(is_warning).count(), 2, "at the start, and with the reload: {log}");
}

#[test]
fn reloads_under_load_lose_no_request() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let manager = Manager::new(&directory.join("notify"));
    stdout_of(&run(&["init", "market", "--key-file", "key"], directory));
    let key = fs::read_to_string(directory.join("key")).unwrap();
    let mut command = marketplace(
        &["serve", "--listen", "127.0.0.1:0", "--config", "limits.toml", "--data", "market/data"],
        directory,
    );
    fs::write(directory.join("limits.toml"), "").unwrap();
    command.env("NOTIFY_SOCKET", directory.join("notify"));
    let mut server = Server::spawn(command);
    manager.next("READY=1");
    let address = server.1.clone();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let response = get(&address, "/operator/v1/settings", key.trim());
                    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
                }
            });
        }
        for round in 0..20 {
            let text = format!("[limits]\nother = {}\nheld = {}\n", 100_000 + round, 100 + round);
            fs::write(directory.join("limits.toml"), text).unwrap();
            let line = reload(&mut server, &manager);
            assert!(line.contains("limits.held limits.other"), "{line}");
        }
    });
    assert_eq!(server.terminate(), 0);
}

#[test]
fn secrets_come_from_files_and_credentials() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    fs::create_dir(directory.join("credentials")).unwrap();
    fs::write(directory.join("credentials/repositories.gitlab_token"), "gitlab\n").unwrap();
    fs::write(directory.join("token"), "github\n").unwrap();
    fs::set_permissions(directory.join("token"), fs::Permissions::from_mode(0o644)).unwrap();
    let list = |variables: &[(&str, &str)]| {
        let mut command = marketplace(&["settings", "repositories.", "--json"], directory);
        let variables = variables.iter().map(|(name, value)| (name, directory.join(value)));
        let output = command.envs(variables).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    stdout_of(&run(&["team", "create", "Acme", "--role", "vendor"], directory));
    let file = ("MARKETPLACE_REPOSITORIES_GITHUB_TOKEN_FILE", "token");
    let (listed, warning) = list(&[file, ("CREDENTIALS_DIRECTORY", "credentials")]);
    assert_eq!(listed.matches("********").count(), 2, "{listed}");
    assert!(warning.contains("users other than its owner can access it (mode 644)"), "{warning}");
    let (_, error) = list(&[file, ("MARKETPLACE_REPOSITORIES_GITHUB_TOKEN", "x")]);
    assert!(error.contains("repositories.github_token is given more than once"), "{error}");
    let (_, error) = list(&[("MARKETPLACE_REPOSITORIES_GITHUB_TOKEN_FILE", "none")]);
    assert!(
        error.contains("cannot read repositories.github_token from")
            && error.contains("there is no such file"),
        "{error}"
    );
    assert!(!error.contains("github\n"));
    std::os::unix::fs::symlink("gone", directory.join("credentials/repositories.github_token")).unwrap();
    let (_, error) = list(&[("CREDENTIALS_DIRECTORY", "credentials")]);
    assert!(error.contains("cannot read repositories.github_token from"), "{error}");
}

/// The unit names only what exists, and its hardening allows what the server does, as far as systemd can tell.
#[test]
fn unit_of_the_service_is_valid() {
    let unit = include_str!("../../../packaging/systemd/marketplace.service");
    let temp_dir = temp_dir();
    let path = temp_dir.path().join("marketplace.service");
    fs::write(&path, unit.replace("/usr/bin/marketplace", env!("CARGO_BIN_EXE_marketplace"))).unwrap();
    // Machines without systemd check it elsewhere.
    let Ok(output) = Command::new("systemd-analyze").arg("verify").arg(&path).output() else { return };
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A full disk of logs, and a log whose reader has gone, change no response.
#[test]
fn server_answers_although_its_log_cannot_be_written() {
    let temp_dir = temp_dir();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (reader, without_reader) = std::io::pipe().unwrap();
    drop(reader);
    for log in [Stdio::from(full), Stdio::from(without_reader)] {
        let command = marketplace(&["serve", "--demo", "--listen", "127.0.0.1:0"], temp_dir.path());
        let server = Server::spawn_with_log(command, log, ProcessLog::new());
        let response = get(&server.1, "/v2/wallet", "mkt_demo_buyer");
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        assert_eq!(server.terminate(), 0);
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = marketplace(&["scan", "missing"], temp_dir.path()).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(2), "messages change no exit code");
}

/// A reader of the log that stops reading delays no response, and not the end.
#[test]
fn server_answers_although_nobody_reads_its_log() {
    let temp_dir = temp_dir();
    let (mut reader, log) = std::io::pipe().unwrap();
    let mut command = marketplace(&["serve", "--demo", "--listen", "127.0.0.1:0"], temp_dir.path());
    command.env("MARKETPLACE_LOG_FILTER", "debug");
    let server = Server::spawn_with_log(command, log.into(), ProcessLog::new());
    // Each request logs more than a hundred bytes, and a pipe holds 64 KiB.
    for _ in 0..700 {
        let response = get(&server.1, "/v2/wallet", "mkt_demo_buyer");
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    }
    assert_eq!(server.terminate(), 0);
    let mut logged = Vec::new();
    reader.read_to_end(&mut logged).unwrap();
    assert!(logged.len() > 60_000, "{}", logged.len());
}
