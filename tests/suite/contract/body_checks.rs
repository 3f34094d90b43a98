//! How bodies are checked: no problem hides another, and an invalid body does not occupy the write
//! connection.

use std::{iter, sync::mpsc, thread, time::Duration};

use serde_json::{Value, json};

use super::body_problems::{ABSENT, cases, send};
use crate::harness::TestMarket;

/// The bodies are checked with a connection for reading, so they don't wait for writes, and writes don't wait
/// for them.
#[tokio::test]
async fn invalid_bodies_are_rejected_while_another_request_writes() {
    let market = TestMarket::demo();
    let cases = cases(&market).await;
    let (writing, is_writing) = mpsc::channel();
    let (stop, stopped) = mpsc::channel::<()>();
    let busy = market.market().clone();
    let writer = thread::spawn(move || {
        busy.write_blocking(|_| {
            writing.send(()).unwrap();
            let _ = stopped.recv();
            Ok(())
        })
    });
    is_writing.recv().unwrap();
    for case in &cases {
        let (body, problems) = case.body(case.parts.iter());
        let response = send(&market, case.method(), &case.path, body);
        let response = tokio::time::timeout(Duration::from_secs(20), response).await;
        assert_eq!(response.expect(case.operation).problems(), problems, "{}", case.operation);
    }
    drop(stop);
    writer.join().unwrap().unwrap();
}

/// Returns a value that is nested this deep.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |value, _| json!([value]))
}

/// Bodies with several problems that one check could hide from another, and their problems.
#[tokio::test]
async fn no_problem_hides_another() {
    let market = TestMarket::demo();
    let row = |field: &str, value: Value| {
        let mut row = json!({"title": "A", "exclusivity": "available"});
        row[field] = value;
        row
    };
    let many_tags: Vec<&str> = iter::once("nope").chain(iter::repeat_n("finance", 20)).collect();
    let mut rows = vec![row("domain_tags", json!(["nope"]))];
    rows.extend(iter::repeat_n(row("commits", json!(1)), 500));
    let bad_rows = vec![row("commits", json!(-1)); 501];
    let long = "n".repeat(1_001);
    let columns =
        json!({"a": "x".repeat(70_000), "deep": nested(33), "fine": nested(32), long.as_str(): nested(33)});
    let long_column = format!("body.extra_columns.{}… too_long", "n".repeat(60));
    let column_problems =
        ["body.extra_columns too_long", "body.extra_columns.deep too_long", &long_column, &long_column];
    let at_most_50: Vec<String> = (0..51).map(|number| format!("\"c{number}\": 1")).collect();
    let many_columns = format!(
        r#"{{"title": "A", "extra_columns": {{"deep": {}, {}}}, "group_id": "{ABSENT}"}}"#,
        nested(33),
        at_most_50.join(",")
    );
    let cases: Vec<(&str, String, Vec<&str>)> = vec![
        (
            "raw-data",
            json!({"title": "A", "domain_tags": many_tags}).to_string(),
            vec!["body.domain_tags too_long", "body.domain_tags.0 unknown_slug"],
        ),
        (
            "codebases/batch",
            json!({"items": rows}).to_string(),
            vec!["body.items too_long", "body.items.0.domain_tags.0 unknown_slug"],
        ),
        ("codebases", row("extra_columns", columns).to_string(), column_problems.to_vec()),
        (
            "raw-data",
            many_columns,
            vec![
                "body.extra_columns too_long",
                "body.extra_columns.deep too_long",
                "body.group_id unknown_reference",
            ],
        ),
    ];
    for (path, body, expected) in cases {
        let problems = send(&market, "POST", path, body.clone()).await.problems();
        assert_eq!(problems, expected, "{path} {body:.80}");
    }
    let problems =
        send(&market, "POST", "codebases/batch", json!({"items": bad_rows}).to_string()).await.problems();
    assert_eq!((problems.len(), problems[0].as_str()), (100, "body.items too_long"));
}
