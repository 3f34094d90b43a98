//! The example that is connected to a payment provider, with a real server.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    contract::cases::cases,
    harness::{
        records::{self, demo_records},
        server::Server,
    },
};

const OPERATOR: &str = "mkt_demo_operator";

/// The example in a process of its own. It is killed when dropped.
struct Example {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Example {
    fn start(variables: &[(&str, &str)]) -> Example {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/payments.py");
        let mut command = Command::new("python3");
        command.arg(script).arg("0").envs(variables.iter().copied());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Example { process, output }
    }

    /// Returns the next line that the example prints.
    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Returns the ID of the team of a key of the demo market.
fn team(key: &str) -> String {
    records::id("teams", demo_records().find("teams", demo_records().team_of(key))).to_string()
}

/// Sends an event without a valid signature. Returns the first line of the response.
fn forge(url: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let head = format!(
        "POST / HTTP/1.1\r\nwebhook-id: msg_1\r\nwebhook-timestamp: {now}\r\nwebhook-signature: v1,AAAA\r\n\
         content-length: 2\r\n\r\n{{}}"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.lines().next().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "needs Python, with which `.ci/webhooks` runs it"]
fn example_reports_what_was_paid() {
    let server = Server::start_demo(OPERATOR);
    let post = |path: &str, body: Value| {
        let (status, body) = server.call("POST", &format!("/operator/v1/{path}"), &body);
        assert!(status < 300, "{path}: {status} {body}");
        body
    };
    let types = ["purchase.created", "credit_purchase.requested", "withdrawal.requested"];
    let webhook = post("webhooks", json!({"url": "http://127.0.0.1:9/", "event_types": types}));
    let key = post("operator-keys", json!({"name": "Payments", "scope": "payments"}));
    let mut example = Example::start(&[
        ("MARKETPLACE_URL", server.url()),
        ("MARKETPLACE_OPERATOR_KEY", key["secret"].as_str().unwrap()),
        ("WEBHOOK_SECRET", webhook["secret"].as_str().unwrap()),
    ]);
    let url = example.read_line().split_off("listening on ".len());
    let path = format!("/operator/v1/webhooks/{}", webhook["webhook"]["id"].as_str().unwrap());
    assert_eq!(server.call("PATCH", &path, &json!({"url": url})).0, 200);
    assert_eq!(forge(&url), "HTTP/1.0 401 Unauthorized");
    let mut body = cases().find(|case| case.operation == "create_purchase").unwrap().body();
    body["pay_with"] = "invoice".into();
    let order = post("purchases", body);
    assert_eq!(order["status"], "pending");
    let id = order["id"].as_str().unwrap();
    assert_eq!(example.read_line(), format!("purchase.created {id} completed"));
    let (_, completed) = server.call("GET", &format!("/operator/v1/purchases/{id}"), &Value::Null);
    assert_eq!(completed["status"], "completed");
    let withdrawal = post("withdrawals", json!({"team_id": team("mkt_demo_vendor"), "amount": "1.00"}));
    let id = withdrawal["id"].as_str().unwrap();
    assert_eq!(example.read_line(), format!("withdrawal.requested {id} paid"));
}
