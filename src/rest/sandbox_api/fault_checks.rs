//! Which answers a fault can give: those that the documents name for the operations that it is for.

use poem::http::Method;

use crate::{
    domain::problems::Problems,
    error::{Code, Problem},
    rest::{
        documented_operations::{DocumentedOperation, DocumentedOperations, Outcome},
        unknown_names::{truncate_name, unknown_name_message},
    },
    string_enum::StringEnum,
    worlds::{FaultAnswer, RequestMatch},
};

/// The API that worlds do not have.
const SANDBOX_API: &str = "sandbox";

/// The statuses that a forced answer can have.
const FORCED_STATUSES: std::ops::RangeInclusive<u16> = 400..=599;

/// The methods of operations.
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Returns the operations of worlds, which do not have those of the sandbox.
fn operations_of_worlds(
    operations: &DocumentedOperations,
) -> impl Iterator<Item = &DocumentedOperation> + Clone {
    operations.iter().filter(|operation| operation.api != SANDBOX_API)
}

/// Returns the operations of worlds with an ID.
pub fn with_id<'a>(
    operations: &'a DocumentedOperations,
    id: &str,
) -> impl Iterator<Item = &'a DocumentedOperation> {
    operations_of_worlds(operations).filter(move |operation| operation.id == id)
}

/// Returns the problem with the ID of an operation that worlds do not have.
pub fn unknown_operation(operations: &DocumentedOperations, id: &str) -> Problem {
    let known = operations_of_worlds(operations).map(|operation| operation.id.as_str());
    let message = unknown_name_message("operation", &truncate_name(id), known);
    Problem::body(&["match", "operation"], "value_error", message)
}

/// Checks that the documents name an answer, unless it is forced, and completes its code. If the fault names its operation,
/// one with this ID must have the answer. Otherwise, all operations must have it that the fault may be for.
pub fn check(
    of: &RequestMatch,
    (status, code): (u16, Option<&str>),
    operations: &DocumentedOperations,
    is_forced: bool,
    problems: &mut Problems,
) -> Option<FaultAnswer> {
    let answer = |code: Option<&str>| Some(FaultAnswer { status, code: code.map(str::to_owned) });
    if is_forced && FORCED_STATUSES.contains(&status) {
        return answer(code);
    }
    let mut refuse = |field: &str, message: String| {
        problems.push(Problem::body(&["then", field], "value_error", message));
        None
    };
    let candidates = candidates(of, operations);
    let is_named = of.operation.is_some();
    if candidates.is_empty() {
        // An unknown operation was reported.
        return if is_named { None } else { refuse("status", undocumented_path()) };
    }
    let outcomes_of = |operation: &DocumentedOperation| -> Vec<Outcome> {
        operation.outcomes.iter().copied().filter(|outcome| outcome.status == status).collect()
    };
    let has_status = |operation: &&DocumentedOperation| !outcomes_of(operation).is_empty();
    let lacking = candidates.iter().copied().find(|operation| !has_status(operation));
    let with_status = candidates.iter().copied().find(has_status);
    let named = match (with_status, lacking) {
        (Some(operation), _) if is_named => operation,
        (Some(operation), None) => operation,
        (_, lacking) => {
            let operation = lacking.unwrap_or(candidates[0]);
            return refuse("status", undocumented_status(operation, status));
        }
    };
    let codes: Vec<Code> = outcomes_of(named).iter().filter_map(|outcome| outcome.code).collect();
    let code = match (code, codes.as_slice()) {
        (None, []) => return answer(None),
        (None, [only]) => only.as_str(),
        (None, several) => {
            let names = list(several);
            return refuse(
                "code",
                format!("`code` must say which error with status {status} it is: {names}."),
            );
        }
        (Some(code), []) => {
            return refuse(
                "code",
                format!("Answers with status {status} have no code, so `{code}` cannot be given."),
            );
        }
        (Some(code), _) => code,
    };
    let outcome = Code::parse(code).map(|code| Outcome { status, code: Some(code) });
    let has_outcome = |operation: &&DocumentedOperation| {
        outcome.is_some_and(|outcome| operation.outcomes.contains(&outcome))
    };
    let is_documented =
        if is_named { candidates.iter().any(has_outcome) } else { candidates.iter().all(has_outcome) };
    if is_documented {
        return answer(Some(code));
    }
    let operation = candidates.iter().copied().find(|operation| !has_outcome(operation)).unwrap_or(named);
    let codes: Vec<Code> = outcomes_of(operation).iter().filter_map(|outcome| outcome.code).collect();
    refuse(
        "code",
        format!(
            "The document of `{}` does not name `{code}` for status {status}, but {}. Set `force` to answer so \
             nevertheless.",
            operation.id,
            list(&codes)
        ),
    )
}

/// Returns the documented operations that a fault may be for.
fn candidates<'a>(of: &RequestMatch, operations: &'a DocumentedOperations) -> Vec<&'a DocumentedOperation> {
    let has_id =
        |operation: &&DocumentedOperation| of.operation.as_ref().is_none_or(|id| *id == operation.id);
    match &of.path {
        None => operations_of_worlds(operations).filter(has_id).collect(),
        Some(path) => match path.prefix() {
            Some(prefix) => {
                let has_path = |operation: &&DocumentedOperation| can_begin(&operation.path, prefix);
                operations_of_worlds(operations).filter(has_id).filter(has_path).collect()
            }
            None => {
                let found = METHODS.iter().filter_map(|method| operations.find(method, &path.0));
                found.filter(|operation| operation.api != SANDBOX_API).filter(has_id).collect()
            }
        },
    }
}

/// Whether a path of an operation can begin with a text. `path` has the names of its parameters in braces.
fn can_begin(path: &str, prefix: &str) -> bool {
    let mut own = path.split('/');
    let mut given = prefix.split('/').peekable();
    while let Some(given_segment) = given.next() {
        let Some(segment) = own.next() else { return false };
        let is_last = given.peek().is_none();
        let fits = segment.starts_with('{')
            || if is_last { segment.starts_with(given_segment) } else { segment == given_segment };
        if !fits {
            return false;
        }
    }
    true
}

fn list(codes: &[Code]) -> String {
    codes.iter().map(|code| code.as_str()).collect::<Vec<_>>().join(", ")
}

fn undocumented_path() -> String {
    "No documented operation has this path. Set `force` to answer with an error nevertheless.".to_owned()
}

fn undocumented_status(operation: &DocumentedOperation, status: u16) -> String {
    let mut statuses: Vec<u16> = operation.outcomes.iter().map(|outcome| outcome.status).collect();
    statuses.dedup();
    let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
    format!(
        "The document of `{}` does not name the status {status}, but {}. Set `force` to answer with an error \
         nevertheless.",
        operation.id,
        statuses.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_may_end_anywhere_in_a_path() {
        let path = "/v2/assets/{asset_id}/data";
        for prefix in [
            "",
            "/",
            "/v2",
            "/v2/as",
            "/v2/assets/",
            "/v2/assets/7f",
            "/v2/assets/7f/da",
            "/v2/assets/7f/data",
        ] {
            assert!(can_begin(path, prefix), "{prefix}");
        }
        for prefix in ["/v3", "/v2/x", "/v2/asset/", "/v2/assets/7f/x", "/v2/assets/7f/data/"] {
            assert!(!can_begin(path, prefix), "{prefix}");
        }
    }
}
