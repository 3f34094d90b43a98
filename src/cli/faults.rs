//! The `marketplace faults` command.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{
    CommandError, CommandResult, GlobalOptions,
    lists::{print_json, print_table},
    operator::suggestion,
};
use crate::{
    config::Settings,
    rest::App,
    string_enum::StringEnum,
    web::{DocumentedOperation, Outcome},
};

/// Show what faults of worlds can do.
#[derive(Debug, Subcommand)]
pub enum FaultsCommand {
    /// List the responses that a fault can give in place of each operation.
    List(List),
}

/// List the responses that a fault can give in place of each operation, as the documents name them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace faults list\n  marketplace faults list create_codebase --json"
)]
pub struct List {
    /// `operationId` of the only operation to list [default: all]
    operation: Option<String>,
    /// Print JSON.
    #[arg(long = "json")]
    is_json: bool,
}

/// The fields of an operation in the table.
const COLUMNS: &str = "api operation request responses";

/// The name of the table's row for the responses that all operations have in common.
const EVERY_OPERATION: &str = "(every operation)";

impl FaultsCommand {
    pub(super) fn run(&self, _: &GlobalOptions) -> CommandResult {
        match self {
            FaultsCommand::List(list) => list.run(),
        }
    }
}

impl List {
    fn run(&self) -> CommandResult {
        let all = operations_of_worlds();
        let shown: Vec<&DocumentedOperation> = all
            .iter()
            .filter(|operation| self.operation.as_ref().is_none_or(|id| *id == operation.id))
            .collect();
        if let Some(id) = self.operation.as_ref().filter(|_| shown.is_empty()) {
            let hint = suggestion(id, all.iter().map(|operation| &operation.id));
            let message =
                format!("There is no operation {id}.{hint} `marketplace faults list` lists all operations.");
            return Err(CommandError::Other(message));
        }
        if self.is_json {
            print_json(&shown.into_iter().map(to_json).collect());
            return Ok(());
        }
        // A single operation is shown with all of its responses. The list of all operations shows what they have in
        // common once.
        let common: Vec<Outcome> = match self.operation {
            Some(_) => Vec::new(),
            None => outcomes_of_all(&all),
        };
        let mut rows = Vec::new();
        if !common.is_empty() {
            let responses = describe(common.iter());
            rows.push(
                json!({"api": "", "operation": EVERY_OPERATION, "request": "", "responses": responses}),
            );
        }
        rows.extend(shown.into_iter().map(|operation| to_row(operation, &common)));
        print_table(COLUMNS, &rows);
        Ok(())
    }
}

/// Returns the operations that worlds have, regardless of the settings.
fn operations_of_worlds() -> Vec<DocumentedOperation> {
    let mut operations = documented_operations();
    operations.retain(DocumentedOperation::is_of_worlds);
    operations
}

/// Returns the operations of all documents.
pub fn documented_operations() -> Vec<DocumentedOperation> {
    let mut settings = Settings::default();
    (settings.operator.enabled, settings.sandbox.enabled) = (true, true);
    App::new(&settings, false).operations().iter().cloned().collect()
}

fn outcomes_of_all(operations: &[DocumentedOperation]) -> Vec<Outcome> {
    let Some((first, others)) = operations.split_first() else {
        return Vec::new();
    };
    let is_common = |outcome: &Outcome| others.iter().all(|operation| operation.has_outcome(*outcome));
    first.outcomes.iter().copied().filter(is_common).collect()
}

fn to_row(operation: &DocumentedOperation, without: &[Outcome]) -> Value {
    let DocumentedOperation { id, api, method, path, outcomes, .. } = operation;
    let responses = describe(outcomes.iter().filter(|outcome| !without.contains(outcome)));
    json!({"api": api, "operation": id, "request": format!("{method} {path}"), "responses": responses})
}

fn to_json(operation: &DocumentedOperation) -> Value {
    let DocumentedOperation { id, api, method, path, outcomes, .. } = operation;
    let responses: Vec<Value> =
        outcomes.iter().map(|Outcome { status, code }| json!({"status": status, "code": code})).collect();
    json!({"api": api, "operation": id, "method": method.as_str(), "path": path, "responses": responses})
}

/// Returns statuses with their codes, such as `200; 409 quota_exceeded`.
fn describe<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    let mut codes: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for outcome in outcomes {
        codes.entry(outcome.status).or_default().extend(outcome.code.map(StringEnum::as_str));
    }
    let describe =
        |(status, codes): (u16, Vec<&str>)| format!("{status} {}", codes.join(", ")).trim().to_owned();
    codes.into_iter().map(describe).collect::<Vec<_>>().join("; ")
}
