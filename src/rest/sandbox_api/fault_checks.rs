//! Checks that the documents of a fault's operations contain its answer.

use poem::http::Method;

use crate::{
    domain::problems::Problems,
    error::{Code, Problem},
    rest::arguments::unknown_names::{truncate_name, unknown_name_message},
    string_enum::StringEnum,
    web::documented_operations::{DocumentedOperation, DocumentedOperations, Outcome},
    worlds::{FaultAnswer, RequestMatch, journal::WorldApi},
};

/// The statuses that a forced answer can have.
const FORCED_STATUSES: std::ops::RangeInclusive<u16> = 400..=599;

/// The methods of operations.
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Returns the problem with an operation ID that no API of worlds has, or that the given API lacks.
pub fn find_unknown_operation(
    operations: &DocumentedOperations,
    id: &str,
    api: Option<WorldApi>,
) -> Option<Problem> {
    let of_api = operations.of_worlds().filter(move |operation| is_of(operation, api));
    let known = of_api.map(|operation| operation.id.as_str());
    if known.clone().any(|known| known == id) {
        return None;
    }
    let message = unknown_name_message("operation", &truncate_name(id), known);
    Some(Problem::body(&["match", "operation"], "value_error", message))
}

/// Whether the given API has an operation.
fn is_of(operation: &DocumentedOperation, api: Option<WorldApi>) -> bool {
    api.is_none_or(|api| operation.name().is_of(api))
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
    let code = if is_forced && FORCED_STATUSES.contains(&status) {
        Ok(code.map(str::to_owned))
    } else {
        let candidates =
            Candidates { all: candidates(of, operations), is_any_enough: of.operation.is_some() };
        if candidates.all.is_empty() && of.operation.is_some() && of.path.is_none() {
            // The unknown operation is a problem already.
            return None;
        }
        candidates.check_status(status).and_then(|()| candidates.choose_code(status, code))
    };
    match code {
        Ok(code) => Some(FaultAnswer { status, code }),
        Err((field, message)) => {
            problems.push(Problem::body(&["then", field], "value_error", message));
            None
        }
    }
}

/// The operations that a fault may be for.
struct Candidates<'a> {
    all: Vec<&'a DocumentedOperation>,
    /// Whether one of them must have an answer, and not all.
    is_any_enough: bool,
}

/// The field of `then` that is refused, and why.
type Refused = (&'static str, String);

impl Candidates<'_> {
    /// Returns an operation because of which an answer is refused, if it is.
    fn lacking(&self, has: impl Fn(&DocumentedOperation) -> bool) -> Option<&DocumentedOperation> {
        if self.is_any_enough && self.all.iter().any(|operation| has(operation)) {
            return None;
        }
        self.all.iter().copied().find(|operation| !has(operation))
    }

    fn check_status(&self, status: u16) -> std::result::Result<(), Refused> {
        if self.all.is_empty() {
            return Err(("status", undocumented_path(status)));
        }
        match self.lacking(|operation| codes(operation, status).is_some()) {
            Some(operation) => Err(("status", undocumented_status(operation, status))),
            None => Ok(()),
        }
    }

    /// Returns the code of an answer. The documents name its status.
    fn choose_code(&self, status: u16, given: Option<&str>) -> std::result::Result<Option<String>, Refused> {
        let named = self.all.iter().find_map(|operation| codes(operation, status)).unwrap_or_default();
        let code = match (given, named.as_slice()) {
            (None, []) => return Ok(None),
            (None, [only]) => only.as_str(),
            (None, several) => {
                let names = list(several);
                return Err((
                    "code",
                    format!("`code` must be that of the error with status {status}: {names}."),
                ));
            }
            (Some(code), []) => {
                return Err(("code", format!("Answers with status {status} have no code such as `{code}`.")));
            }
            (Some(code), _) => code,
        };
        let known = Code::parse(code);
        let has_code = |operation: &DocumentedOperation| {
            known.is_some_and(|known| operation.has_outcome(Outcome { status, code: Some(known) }))
        };
        match self.lacking(has_code) {
            None => Ok(Some(code.to_owned())),
            Some(operation) => {
                let names = list(&codes(operation, status).unwrap_or_default());
                let message = format!(
                    "The document of `{}` does not name `{code}` for status {status}, but {names}. Set `force` to \
                     answer so nevertheless.",
                    operation.id
                );
                Err(("code", message))
            }
        }
    }
}

/// Returns the codes that the document of an operation names for a status; none if it does not name the status.
fn codes(operation: &DocumentedOperation, status: u16) -> Option<Vec<Code>> {
    let mut outcomes = operation.outcomes.iter().filter(|outcome| outcome.status == status).peekable();
    outcomes.peek()?;
    Some(outcomes.filter_map(|outcome| outcome.code).collect())
}

/// Returns the documented operations that a fault may be for.
fn candidates<'a>(of: &RequestMatch, operations: &'a DocumentedOperations) -> Vec<&'a DocumentedOperation> {
    let has_id = |operation: &&DocumentedOperation| {
        of.operation.as_ref().is_none_or(|id| *id == operation.id) && is_of(operation, of.api)
    };
    match &of.path {
        None => operations.of_worlds().filter(has_id).collect(),
        Some(path) => match path.prefix() {
            Some(prefix) => {
                let has_path = |operation: &&DocumentedOperation| can_begin(&operation.path, prefix);
                operations.of_worlds().filter(has_id).filter(has_path).collect()
            }
            None => {
                let found = METHODS.iter().filter_map(|method| operations.find(method, &path.0));
                found.filter(|operation| operation.is_of_worlds()).filter(has_id).collect()
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

fn undocumented_path(status: u16) -> String {
    format!("No documented operation has this path. {}", force_hint(status))
}

/// Says how to answer with a status that the documents do not name.
fn force_hint(status: u16) -> &'static str {
    if FORCED_STATUSES.contains(&status) {
        "Set `force` to answer with an error nevertheless."
    } else {
        "Only statuses from 400 to 599 can be forced."
    }
}

fn undocumented_status(operation: &DocumentedOperation, status: u16) -> String {
    let mut statuses: Vec<u16> = operation.outcomes.iter().map(|outcome| outcome.status).collect();
    statuses.dedup();
    let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
    format!(
        "The document of `{}` does not name the status {status}, but {}. {}",
        operation.id,
        statuses.join(", "),
        force_hint(status)
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
