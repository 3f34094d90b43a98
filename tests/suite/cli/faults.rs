//! The list of answers that `marketplace faults list` prints, which is that of the documents.

use marketplace::string_enum::StringEnum;
use serde_json::{Value, json};

use super::{run, run_failing, stdout_of, temp_dir};
use crate::worlds::faults::answers::operations;

fn list(arguments: &[&str]) -> String {
    stdout_of(&run(&[&["faults", "list"], arguments].concat(), temp_dir().path()))
}

#[test]
fn list_of_answers_is_that_of_the_documents() {
    let listed: Value = serde_json::from_str(&list(&["--json"])).unwrap();
    let expected: Vec<Value> = operations()
        .iter()
        .map(|operation| {
            let outcomes = operation.outcomes.iter();
            let code = |code: marketplace::error::Code| code.as_str();
            let responses: Vec<Value> = outcomes
                .map(|outcome| json!({"status": outcome.status, "code": outcome.code.map(code)}))
                .collect();
            let (id, method, path) = (&operation.id, operation.method.as_str(), &operation.path);
            json!({"api": operation.api, "operation": id, "method": method, "path": path, "responses": responses})
        })
        .collect();
    assert_eq!(listed, Value::from(expected));
}

#[test]
fn table_says_once_what_every_operation_can_answer() {
    let table = list(&[]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), operations().len() + 2, "a heading, what is common, and the operations");
    assert!(lines[1].contains("(every operation)") && lines[1].contains("401 unauthorized"), "{}", lines[1]);
    assert!(!lines[2..].iter().any(|line| line.contains("401 unauthorized")), "{table}");
    let one = list(&["create_codebase"]);
    assert_eq!(one.lines().count(), 2, "{one}");
    assert!(one.contains("401 unauthorized") && one.contains("idempotency_in_flight"), "{one}");
}

#[test]
fn unknown_operation_is_refused() {
    let (code, message) = run_failing(&["faults", "list", "create_nothing"], temp_dir().path());
    assert_eq!(code, 1);
    assert!(message.contains("There is no operation create_nothing."), "{message}");
    let (_, message) = run_failing(&["faults", "list", "create_codebse"], temp_dir().path());
    assert!(message.contains("Did you mean \"create_codebase\"?"), "{message}");
}
