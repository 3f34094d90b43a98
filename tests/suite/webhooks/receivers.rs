//! Receivers that other libraries implement, started by `.ci/webhooks`; and a server that is killed while it sends.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use marketplace::{
    config::{Settings, SettingsSources},
    market::Market,
    operations::{
        keys, teams,
        webhooks::{self, CheckedUrl, WebhookInput},
    },
};
use serde_json::Value;

use super::{SELLER, create_for, occur, platform, start};
use crate::{
    catalog::small_market::small_market,
    contract::kill::open_with,
    harness::{
        receiver::{Receiver, Reply},
        server::Server,
    },
};

/// Environment variable with the command that starts a receiver.
const COMMAND: &str = "WEBHOOK_RECEIVER";

/// A receiver in a process of its own. It prints its URL; then it reads a line with a secret for each request that it
/// is to receive, and prints what the verification of the request found. It is killed when dropped.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(command: &str) -> Process {
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Process { child, input, output: BufReader::new(output) }
    }

    fn expect(&mut self, secret: &str) {
        writeln!(self.input, "{secret}").unwrap();
        assert_eq!(self.read_line(), "ready");
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs receivers with libraries from package registries, which `.ci/webhooks` starts"]
async fn other_libraries_verify_what_is_sent() {
    let mut receiver = Process::start(&std::env::var(COMMAND).unwrap());
    let url = receiver.read_line();
    let market = small_market(&[]);
    let (webhook, first) = create_for(&market, Some(SELLER), &url, &[]).unwrap();
    let _sender = start(&market);
    let mut verify = |secret: String| {
        receiver.expect(&secret);
        let key = occur(&market, SELLER);
        let found: Value = serde_json::from_str(&receiver.read_line()).unwrap();
        assert_eq!(found["type"], "key.created", "{found}");
        assert_eq!(found["subject"], key.to_string(), "{found}");
        assert_eq!(
            found["refused"],
            serde_json::json!(["wrong ID", "other body", "old time", "future time"])
        );
        found["signatures"].as_u64().unwrap()
    };
    assert_eq!(verify(first.reveal()), 1);
    let (_, second) = market.write(|writer| webhooks::rotate(writer, platform(), webhook.id)).unwrap();
    assert_eq!(verify(first.reveal()), 2);
    assert_eq!(verify(second.reveal()), 2);
    market.clock().advance(super::DAY);
    assert_eq!(verify(second.reveal()), 1);
}

/// Opens the market of a directory. Only possible while no server runs on it.
fn open(directory: &std::path::Path) -> Market {
    let mut sources = SettingsSources::new();
    sources.apply_demo().unwrap();
    let settings: Settings = sources.resolve().unwrap();
    open_with(directory, settings)
}

/// A server is killed while it waits for the response, and another one sends the same message again.
#[test]
fn killed_server_sends_again_with_the_same_id() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let receiver = runtime.block_on(async { Receiver::start(Reply::Never) });
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("market");
    let market = open(&path);
    let url = CheckedUrl::resolve(&market.settings().webhooks, &receiver.url).unwrap();
    let created = market.write_blocking(|writer| {
        let team = teams::TeamInput {
            name: SELLER,
            is_vendor: true,
            is_buyer: false,
            tier: 1,
            has_accepted_nda: true,
        };
        teams::create(writer, &team)?;
        let input = WebhookInput { team: Some(SELLER), url: &url, description: "", event_types: &[] };
        webhooks::create(writer, platform(), &input)
    });
    created.unwrap();
    let (_, key) = market.write_blocking(|writer| keys::create(writer, SELLER, "kill", None)).unwrap();
    drop(market);
    let settings = [("MARKETPLACE_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES".to_owned(), "true".to_owned())];
    let server = Server::start(&path, &key, &settings);
    let first = runtime.block_on(receiver.wait_for(1)).remove(0);
    server.kill();
    receiver.reply_with(Reply::status(200));
    let server = Server::start(&path, &key, &settings);
    let second = runtime.block_on(receiver.wait_for(2)).remove(1);
    assert_eq!(first.event_type(), "key.created");
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    assert_eq!(first.body, second.body);
    drop(server);
    assert_eq!(receiver.received().len(), 2);
}
