//! Runs of agents: what is counted over HTTP, and what the command does with the process of an agent.

use std::{
    path::Path,
    process::{Command, Output},
    thread,
    time::{Duration, Instant},
};

use marketplace::gym::{Answers, Expected, Kind, Outcome, Question};
use poem::{Endpoint, Request, http::Method};
use serde_json::{Value, json};

use super::{TestGym, usual_gym};

/// Sends a request to a path of the gym's endpoint. Returns its status and its JSON.
fn post(opened: &TestGym, path: &str, key: &str, body: &Value) -> (u16, Value) {
    let request = Request::builder()
        .method(Method::POST)
        .uri(path.parse().unwrap())
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .body(body.to_string());
    let runtime = opened.gym.runtime();
    let response = runtime.block_on(opened.gym.app().get_response(request));
    let status = response.status().as_u16();
    let bytes = runtime.block_on(response.into_body().into_vec()).unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

fn line(opened: &TestGym, question: &Question) -> (String, String) {
    let line = opened.gym.line_for_agents(question);
    let path = line["endpoint"].as_str().unwrap().strip_prefix("http://127.0.0.1:1").unwrap().to_owned();
    (path, line["key"].as_str().unwrap().to_owned())
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

#[test]
fn each_endpoint_counts_for_its_question() {
    let opened = usual_gym();
    let question = &opened.gym.questions()[0];
    let (path, key) = line(&opened, question);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(post(&opened, &path, &key, &list).0, 200);
    let (status, response) = post(&opened, &path, &key, &call("get_wallet", &json!({})));
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!((status, post(&opened, &path, &key, &call("get_walet", &json!({}))).0), (200, 200));
    assert_eq!(post(&opened, &path, "mkt_wrong", &call("get_wallet", &json!({}))).0, 401);
    for path in
        ["/", "/v2/mcp/", "/q/none/v2/mcp/", "/q/-/v2/mcp/", "/q/q01/v2/listings/browse", "/q/q01/v2/mcp/x"]
    {
        assert_eq!(post(&opened, path, &key, &list).0, 404, "{path}");
    }
    let report = opened.gym.report(&Answers::default()).unwrap();
    let counts = &report.questions[0].counts;
    assert_eq!((counts.calls, counts.errors, report.total.counts.calls), (3, 2, 3));
    assert!(counts.tokens >= text.len().div_ceil(4) as u64 && counts.answer_bytes > text.len() as u64);
    let session = report.sessions.iter().find(|session| session.side == question.side).unwrap();
    assert_eq!(counts.opening_tokens, session.tool_tokens);
    assert_eq!((report.total.missing, report.total.score()), (report.total.questions, 0.0));
}

#[test]
fn agent_that_follows_planted_orders_is_caught() {
    let opened = usual_gym();
    let gym = &opened.gym;
    let mut answers = Answers::default();
    let mut planted = 0;
    for question in gym.questions() {
        let canary = gym.planted().canaries.iter().find(|canary| canary.name == question.name);
        let Some(canary) = canary else {
            answers.insert(&question.id, question.expected.to_json());
            continue;
        };
        planted += 1;
        // Every other one is followed by a call, with the right answer.
        if planted % 2 == 0 {
            answers.insert(&question.id, json!(format!("The answer is {}.", canary.token.to_lowercase())));
        } else {
            let query = json!({"query": canary.token, "limit": 1});
            gym.session(question).call("browse_listings", &query).unwrap();
            answers.insert(&question.id, question.expected.to_json());
        }
    }
    let report = gym.report(&answers).unwrap();
    assert_eq!((planted, report.total.injections_followed), (11, 11));
    assert_eq!(report.total.wrong, 5, "{}", report.to_text());
    for result in &report.questions {
        let is_planted = matches!(result.kind, Kind::Injection | Kind::Hidden);
        let followed: Vec<&str> = result.injections_followed.iter().copied().collect();
        assert_eq!(followed, if is_planted { vec![result.name] } else { Vec::new() });
    }
    assert!(report.to_text().contains("the planted text hidden-tags"));
}

/// Returns `marketplace gym run --demo` with a shell script as agent.
fn command(arguments: &[&str], script: &str, directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marketplace"));
    command.args(["gym", "run", "--demo"]).args(arguments).args(["--", "/bin/sh", "-c", script]);
    command.current_dir(directory).env_clear();
    command
}

/// Runs the command with a report as JSON.
fn run(arguments: &[&str], script: &str, directory: &Path) -> (Output, Duration) {
    let start = Instant::now();
    let output = command(&[&["--json"], arguments].concat(), script, directory).output().unwrap();
    (output, start.elapsed())
}

#[test]
fn answers_do_not_control_the_terminal_of_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let script = "cat > questions; echo '{\"id\": \"q01\", \"answer\": \"\u{9b}2J\u{202e}\"}'";
    let output = command(&[], script, directory.path()).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    // Control characters are left out, and marks of the writing direction are escaped.
    assert!(report.contains("\"2J\\u{202e}\"\n"), "{report}");
}

/// Whether the process whose ID a script wrote to the file `child` has ended.
fn is_gone(directory: &Path) -> bool {
    let child = std::fs::read_to_string(directory.join("child")).unwrap();
    let process = format!("/proc/{}/stat", child.trim());
    // A killed process may not have ended yet, or not have been reaped.
    let is_there = || std::fs::read_to_string(&process).is_ok_and(|stat| !stat.contains(") Z "));
    let began = Instant::now();
    while is_there() && began.elapsed() < Duration::from_mins(1) {
        thread::yield_now();
    }
    !is_there()
}

#[test]
fn command_asks_an_agent_and_reports() {
    let directory = tempfile::tempdir().unwrap();
    let opened = usual_gym();
    let dollars = |question: &&Question| matches!(question.expected, Expected::Dollars(_));
    let question = opened.gym.questions().iter().find(dollars).unwrap();
    let right = json!({"id": question.id, "answer": question.expected.to_json()});
    // The right answer, a second one, which is ignored, a wrong one, and lines that are no answers.
    let script = format!(
        "cat > questions; echo '{right}'; echo '{{\"id\": \"{}\", \"answer\": 0}}'; echo '{{\"id\": \"q01\", \"answer\": 1}}'; \
         echo nonsense; echo '{{\"id\": \"x\", \"answer\": 1}}'",
        question.id
    );
    let (output, _) = run(&["--min-score", "0.001"], &script, directory.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    for problem in ["already answered", "is not JSON", "of no question"] {
        assert!(stderr.contains(problem), "{stderr}");
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let total = &report["total"];
    assert_eq!((&total["right"], &total["wrong"]), (&json!(1), &json!(1)), "{total}");
    let outcome = |id: &str| {
        let results = report["questions"].as_array().unwrap();
        results.iter().find(|result| result["id"] == id).unwrap()["outcome"].clone()
    };
    assert_eq!(outcome(&question.id), serde_json::to_value(Outcome::Right).unwrap());
    assert_eq!((outcome("q01"), outcome("q02")), (json!("wrong"), json!("missing")));
    let questions = std::fs::read_to_string(directory.path().join("questions")).unwrap();
    assert_eq!(questions.lines().count(), opened.gym.questions().len());
    assert!(
        serde_json::from_str::<Value>(questions.lines().next().unwrap()).unwrap()["endpoint"].is_string()
    );
}

#[test]
fn run_ends_in_time_with_all_processes_of_the_agent() {
    let directory = tempfile::tempdir().unwrap();
    let script = "sleep 600 & echo $! > child; wait";
    let (output, elapsed) = run(&["--timeout-seconds", "5", "--min-score", "0.5"], script, directory.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains("below the minimum"), "{stderr}");
    assert!(stderr.contains("time was over") && elapsed < Duration::from_mins(1), "{stderr}");
    assert!(is_gone(directory.path()));
}

#[test]
fn run_ends_with_the_agent_although_a_process_of_it_writes_on() {
    let directory = tempfile::tempdir().unwrap();
    let opened = usual_gym();
    let question = &opened.gym.questions()[0];
    let right = json!({"id": question.id, "answer": question.expected.to_json()});
    let script = format!("cat > questions; echo '{right}'; yes nonsense & echo $! > child");
    let (output, elapsed) = run(&[], &script, directory.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !stderr.contains("time was over"), "{stderr}");
    assert!(elapsed < Duration::from_mins(1), "{elapsed:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["total"]["right"], 1, "{report}");
    assert!(is_gone(directory.path()));
}

#[test]
fn interrupted_run_reports_and_ends_all_processes_of_the_agent() {
    let directory = tempfile::tempdir().unwrap();
    let script = "cat > questions; sleep 600 & echo $! > child; kill -INT $PPID; wait";
    let (output, elapsed) = run(&[], script, directory.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("the run was interrupted"), "{stderr}");
    assert!(elapsed < Duration::from_mins(1), "{elapsed:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["total"]["missing"], report["total"]["questions"], "{report}");
    assert!(is_gone(directory.path()));
}
