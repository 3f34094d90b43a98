//! Expectations: how often a world was called.

use std::{collections::BTreeMap, fmt::Write};

use serde_json::Value;

use super::{access::WorldOperator, fault_checks, worlds::change};
use crate::{
    domain::written::counted,
    error::{LocSegment, Problem, Result},
    rest::{prelude::*, shapes::strings::MatchText},
    web::documented_operations::DocumentedOperations,
    worlds::journal::{CallMatch, Expectation, Verdict, WorldApi},
};

/// Type of the problems that say that an expectation is not met.
const NOT_MET: &str = "expectation_failed";

/// Which calls count. All that is set must match.
#[derive(Debug, Object)]
pub struct CallMatchIn {
    /// `operationId` in the document.
    operation: Option<MatchText>,
    /// API that has the operation. Vendors and buyers have some in common.
    api: Option<EnumValue<WorldApi>>,
    /// Method.
    method: Option<MatchText>,
    /// Path below the base address of the world, in which `*` matches any text.
    path: Option<MatchText>,
    /// Team whose key was sent, by its ID or its name.
    team: Option<MatchText>,
    /// Query parameters, by name.
    query: Option<BTreeMap<String, Value>>,
    /// Headers of the request, by name.
    headers: Option<BTreeMap<String, Value>>,
    /// HTTP status of the answer.
    #[oai(validator(minimum(value = "100"), maximum(value = "599")))]
    status: Option<i64>,
    /// Error code of the answer.
    code: Option<EnumValue<Code>>,
    /// A part of the JSON body of the request: objects may have more fields, and arrays must have as many elements.
    body: Option<Value>,
}

/// How often a world is expected to have been called: `times`, or `at_least` and `at_most`; if all are absent, at least once.
#[derive(Debug, Object)]
pub struct ExpectationIn {
    /// Which calls count; all if absent.
    #[oai(rename = "match")]
    calls: Option<CallMatchIn>,
    /// Exact number of calls.
    #[oai(validator(minimum(value = "0")))]
    times: Option<i64>,
    /// Minimum number of calls.
    #[oai(validator(minimum(value = "0")))]
    at_least: Option<i64>,
    /// Maximum number of calls.
    #[oai(validator(minimum(value = "0")))]
    at_most: Option<i64>,
}

/// An expectation that is met.
#[derive(Debug, Object, Serialize)]
pub struct MetExpectation {
    /// Number of calls that match.
    pub called: u64,
    /// Numbers of these calls in the journal, up to 1,000.
    pub numbers: Vec<u64>,
    /// Number of calls that the journal has dropped, and that do not count.
    pub dropped: u64,
}

impl CallMatchIn {
    fn into_match(self) -> Result<CallMatch> {
        let texts = |values: Option<BTreeMap<String, Value>>, field: &str| {
            let text = |(name, value): (String, Value)| match value {
                Value::String(text) => Ok((name, text)),
                Value::Number(_) | Value::Bool(_) => Ok((name, value.to_string())),
                _ => {
                    let message = format!("`{name}` must be a text, a number, or true or false.");
                    Err(Error::invalid(Problem::body(&["match", field, &name], "value_error", message)))
                }
            };
            values.unwrap_or_default().into_iter().map(text).collect::<Result<BTreeMap<_, _>>>()
        };
        let headers = texts(self.headers, "headers")?;
        Ok(CallMatch {
            operation: self.operation.map(String::from),
            api: self.api.map(|api| api.0),
            method: self.method.map(String::from),
            path: self.path.map(String::from),
            team: self.team.map(|team| String::from(team).into()),
            query: texts(self.query, "query")?,
            headers: headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
            status: self.status.map(|status| status.unsigned_abs() as u16),
            code: self.code.map(|code| code.0),
            body: self.body,
        })
    }
}

impl ExpectationIn {
    /// Returns the problem with an operation that the APIs of worlds do not have, and that could never be called.
    fn find_unknown_operation(&self, operations: &DocumentedOperations) -> Option<Problem> {
        let calls = self.calls.as_ref()?;
        let api = calls.api.map(|api| api.0);
        fault_checks::find_unknown_operation(operations, &calls.operation.as_ref()?.0, api)
    }

    fn into_expectation(self) -> Result<(Expectation, String)> {
        let [times, at_least, at_most] =
            [self.times, self.at_least, self.at_most].map(|count| count.map(i64::unsigned_abs));
        let (range, text) = match (times, at_least, at_most) {
            (Some(times), None, None) => (times..=times, calls(times)),
            (None, None, None) => (1..=u64::MAX, "at least 1 call".to_owned()),
            (None, Some(min), None) => (min..=u64::MAX, format!("at least {}", calls(min))),
            (None, None, Some(max)) => (0..=max, format!("at most {}", calls(max))),
            (None, Some(min), Some(max)) if min <= max => (min..=max, format!("{min} to {}", calls(max))),
            _ => {
                let message = "The body must have `times`, or `at_least` and `at_most`, of which the second is not smaller.";
                return Err(Error::invalid(Problem::body(&[], "value_error", message)));
            }
        };
        let calls = self.calls.map_or_else(|| Ok(CallMatch::default()), CallMatchIn::into_match)?;
        Ok((Expectation { calls, times: range }, text))
    }
}

fn calls(count: u64) -> String {
    counted(count, "matching call", "matching calls")
}

/// Returns the problems that say what was expected, and what the nearest calls are.
fn not_met(verdict: Verdict, expected: &str) -> Error {
    let problem = |msg: String| {
        let loc = ["body", "match"].map(|name| LocSegment::Name(name.to_owned())).to_vec();
        Problem { loc, msg, kind: NOT_MET }
    };
    let Verdict { called, numbers, dropped, nearest, .. } = verdict;
    let mut message = format!("Expected {expected}, found {called}.");
    if !numbers.is_empty() {
        let shown: Vec<String> = numbers.iter().take(10).map(u64::to_string).collect();
        // Writing to a `String` does not fail.
        let _ = write!(message, " Their numbers: {}.", shown.join(", "));
    }
    if dropped > 0 {
        let earlier = counted(dropped, "earlier request, which does", "earlier requests, which do");
        let _ = write!(message, " The journal has dropped {earlier} not count.");
    }
    Error::Invalid(std::iter::once(message).chain(nearest).map(problem).collect())
}

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl ExpectationsApi {
    /// Check how often a world was called
    ///
    /// Counts the requests to the world that match, by its journal. If their number is not as expected, the response is 422:
    /// its first problem says what was expected and how many there were, and the others show the nearest requests and what
    /// differs.
    #[post("/worlds/{world}/expectations", change(Target::World))]
    async fn check_world_expectation(
        call: Call<WorldOperator>,
        idempotent: Idempotent,
        /// Name of the world.
        world: Path<String>,
        #[example(json!({
            "match": {"operation": "create_codebase", "status": 201},
            "times": 0,
        }))]
        body: Body<ExpectationIn>,
    ) -> JsonResult<MetExpectation> {
        let sandbox = call.served.require_sandbox()?;
        let world = sandbox.worlds().require(&world.0)?;
        let Body { value, source } = body;
        let work = move |_: &WorldOperator| {
            if let Some(problem) = value.find_unknown_operation(sandbox.operations()) {
                return Err(Error::invalid(problem));
            }
            let (expectation, text) = value.into_expectation()?;
            let verdict = expectation.check(world.journal());
            if !verdict.is_met {
                return Err(not_met(verdict, &text));
            }
            Ok(MetExpectation { called: verdict.called, numbers: verdict.numbers, dropped: verdict.dropped })
        };
        idempotent.run(&call.served, call.access, source, work).await
    }
}
