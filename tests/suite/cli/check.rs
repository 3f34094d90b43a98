//! `marketplace check`: no differences on the demo market, and each fault of a server is found by its rule.

mod faults;
mod proxy;

use std::{
    collections::BTreeSet,
    path::Path,
    process::Output,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use self::{
    faults::FAULTS,
    proxy::{Answer, Proxy, Seen},
};
use super::{Server, run, temp_dir};

/// The rules that find the faults of changes, each with the operation that has the fault.
const WRITE_FAULTS: [(&str, &str); 3] = [
    ("writes.idempotency", "create_asset_group"),
    ("writes.effect", "get_raw_data"),
    ("writes.refused", "create_asset_group"),
];

/// Runs a check with these keys, and returns its output.
fn check(url: &str, keys: &[&str], options: &[&str], directory: &Path) -> Output {
    let keys = keys.iter().flat_map(|key| ["--key", key]);
    let arguments: Vec<&str> =
        ["check", url].into_iter().chain(keys).chain(options.iter().copied()).collect();
    run(&arguments, directory)
}

/// Returns the report, and asserts that the command exited with a code.
fn report(output: &Output, code: i32) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(output.status.code(), Some(code), "{stderr}\n{report:#}");
    report
}

/// Returns the rules and operations of the differences in a report.
fn differences(report: &Value) -> BTreeSet<(String, String)> {
    let rules = report["differences"].as_array().into_iter().flatten();
    let all = rules.flat_map(|rule| {
        let found = rule["differences"].as_array().into_iter().flatten();
        found.map(|found| (rule["rule"].as_str().unwrap(), found["operation"].as_str().unwrap()))
    });
    all.map(|(rule, operation)| (rule.to_owned(), operation.to_owned())).collect()
}

/// Calls an operation of the operator API.
fn call(url: &str, method: &str, path: &str, body: &Value) -> Value {
    let client = marketplace::http_client::blocking().unwrap().build().unwrap();
    let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
    let request = client.request(method, format!("{url}{path}")).bearer_auth("mkt_demo_operator");
    let request = if body.is_null() { request } else { request.json(body) };
    request.send().unwrap().error_for_status().unwrap().json().unwrap()
}

/// Returns everything that a change would be seen in.
fn changes(url: &str) -> [Value; 2] {
    ["/operator/v1/events?limit=1", "/operator/v1/audit?limit=100"].map(|path| {
        let mut page = call(url, "GET", path, &Value::Null);
        page["items"].take();
        [page["total"].take(), page["end_cursor"].take()].into_iter().collect()
    })
}

fn is_read(request: &Seen) -> bool {
    ["GET", "HEAD"].contains(&request.method.as_str())
}

#[test]
fn demo_market_has_no_differences_and_a_check_changes_nothing() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let proxy = Proxy::start(&server.1, |_, _| {});
    let before = changes(&proxy.url);
    let found = report(&check(&proxy.url, &["mkt_demo_buyer"], &["--json"], temp_dir.path()), 0);
    assert_eq!(found["differences"], json!([]));
    let operations = found["checked_operations"].as_array().unwrap().len();
    assert!(operations > 10, "{operations} operations");
    assert_eq!(changes(&proxy.url), before);
    let written: Vec<Seen> = proxy.seen().into_iter().filter(|request| !is_read(request)).collect();
    assert!(written.is_empty(), "{written:?}");
    assert_eq!(proxy.seen().len() as u64, found["requests"].as_u64().unwrap() + 4, "each request is counted");
}

#[test]
fn changes_are_checked_and_undone_if_they_are_allowed() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let changes = Arc::<Mutex<Vec<Seen>>>::default();
    let log = Arc::clone(&changes);
    let proxy = Proxy::start(&server.1, move |request, answer| {
        if !is_read(request) && answer.status < 300 {
            log.lock().unwrap().push(request.clone());
        }
    });
    let assets = || call(&proxy.url, "GET", "/operator/v1/assets?limit=100", &Value::Null);
    let before = assets();
    let options = ["--json", "--allow-writes"];
    let found = report(&check(&proxy.url, &["mkt_demo_vendor"], &options, temp_dir.path()), 0);
    for rule in ["writes.effect", "writes.idempotency", "writes.refused"] {
        assert!(found["checked_rules"][rule].as_u64().unwrap() > 1, "{found:#}");
    }
    assert_eq!(assets(), before);
    let changes = changes.lock().unwrap();
    let count = |method: &str| changes.iter().filter(|change| change.method == method).count();
    // A group, a raw data row, and a codebase.
    assert_eq!(count("DELETE"), 3);
    let paths = ["/v2/asset-groups", "/v2/raw-data", "/v2/codebases"];
    assert!(
        changes.iter().all(|change| paths.iter().any(|path| change.target.starts_with(path))),
        "{changes:?}"
    );

    // A server that creates a group twice, and shows old data. What it created is deleted.
    let mut first = None;
    let faulty = Proxy::start(&server.1, move |request, answer| {
        if request.method == "POST" && request.path() == "/v2/asset-groups" && answer.status == 201 {
            match &first {
                None => first = Some(answer.body.clone()),
                Some(_) => answer.change(|group| group["name"] = json!("Another")),
            }
        }
        if answer.status == 409 {
            answer.status = 400;
        }
        if request.method == "GET" && request.path().starts_with("/v2/raw-data/") && answer.status == 200 {
            answer.change(|row| row["description"] = json!("Old."));
        }
    });
    let found = report(&check(&faulty.url, &["mkt_demo_vendor"], &options, temp_dir.path()), 1);
    let found = differences(&found);
    for (rule, operation) in WRITE_FAULTS {
        assert!(found.contains(&(rule.to_owned(), operation.to_owned())), "{found:?}");
    }
    assert_eq!(assets(), before);
}

#[test]
fn each_fault_of_a_server_is_found_by_its_rule() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let mut counts = vec![0; FAULTS.len()];
    let proxy = Proxy::start(&server.1, move |request: &Seen, answer: &mut Answer| {
        for (fault, count) in FAULTS.iter().zip(&mut counts) {
            if request.method == fault.method && (fault.applies_to)(request) {
                *count += 1;
                (fault.change)(answer, request, *count);
            }
        }
    });
    let keys = ["mkt_demo_vendor", "mkt_demo_buyer"];
    let output = check(&proxy.url, &keys, &["--json"], temp_dir.path());
    let found = report(&output, 1);
    let all = differences(&found);
    let missed: Vec<_> = FAULTS
        .iter()
        .flat_map(|fault| fault.rules.iter().map(|rule| (rule.to_string(), fault.operation.to_owned())))
        .filter(|expected| !all.contains(expected))
        .collect();
    assert!(missed.is_empty(), "missed: {missed:#?}\nfound: {all:#?}");
    // No other operation is accused.
    let faulty: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.operation).collect();
    let accused: Vec<_> = all.iter().filter(|(_, operation)| !faulty.contains(operation.as_str())).collect();
    assert!(accused.is_empty(), "{accused:#?}");
    // Redirects are not followed, and the output has no secrets and no control characters.
    assert!(proxy.seen().iter().all(|request| request.path() != "/elsewhere"));
    let human = check(&proxy.url, &keys, &["--per-rule", "100"], temp_dir.path());
    for output in [&output.stdout, &output.stderr, &human.stdout, &human.stderr] {
        let text = String::from_utf8(output.clone()).unwrap();
        assert!(
            !text.contains("mkt_demo") && !text.contains('\u{1b}') && !text.contains('\u{202e}'),
            "{text}"
        );
    }
    let human = String::from_utf8(human.stdout).unwrap();
    assert!(human.contains("curl -i -H \"Authorization: Bearer $KEY_1\" 'http://127.0.0.1:"), "{human}");
}

#[test]
fn a_check_that_cannot_be_completed_says_so() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let server = Server::start(&["--demo"], directory);
    let url = format!("http://{}", server.1);
    for (url, keys, options, expected) in [
        (&*url, &["mkt_nobody"][..], &[][..], "no key can use any API"),
        (&url, &["mkt_demo_no_nda"], &[], "no key can use any API"),
        (&url, &["mkt_demo_buyer"], &["--max-requests", "20"], "20 requests were sent; --max-requests"),
        ("http://127.0.0.1:1", &["mkt_demo_buyer"], &[], "cannot connect to http://127.0.0.1:1"),
        ("http://user:secret@127.0.0.1:1", &["mkt_demo_buyer"], &[], "use --key instead"),
        (&url, &[], &[], "a check needs an API key"),
        (&url, &["@NO_SUCH_VARIABLE"], &[], "contains no key"),
    ] {
        let output = check(url, keys, options, directory);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(expected) && !stderr.contains("mkt_") && !stderr.contains("secret"),
            "{stderr}"
        );
    }
}

/// Such as a server that redirects http to https.
#[test]
fn a_deployment_that_redirects_everything_is_not_checked() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let proxy = Proxy::start(&server.1, |request, answer| {
        answer.status = 301;
        answer.set_header("location", &format!("https://market.example.com{}", request.target));
        answer.body.clear();
    });
    let output = check(&proxy.url, &["mkt_demo_buyer"], &["--json"], temp_dir.path());
    assert_eq!(report(&output, 2)["differences"], json!([]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = format!("{} redirects to https://market.example.com, and redirects are not", proxy.url);
    assert!(stderr.contains(&expected), "{stderr}");
    assert_eq!(proxy.seen().len(), 1);
    let output = check(&proxy.url, &["mkt_demo_buyer"], &[], temp_dir.path());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("rules checked with 1 request: no differences"), "{text}");
}

#[test]
fn each_rule_is_tested_with_a_fault() {
    let rules = run(&["check", "--rules"], temp_dir().path());
    let rules = String::from_utf8(rules.stdout).unwrap();
    let names: BTreeSet<&str> = rules.lines().map(|line| line.split('`').nth(1).unwrap()).collect();
    let of_changes = WRITE_FAULTS.iter().map(|(rule, _)| *rule);
    let tested: BTreeSet<&str> =
        FAULTS.iter().flat_map(|fault| fault.rules).copied().chain(of_changes).collect();
    assert_eq!(names, tested);
}
