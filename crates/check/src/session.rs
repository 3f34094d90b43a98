//! A running check: sends requests, makes the checks of every response, and collects the findings.

use std::rc::Rc;

use marketplace_http_client::redirection;
use serde_json::Value;

use super::{
    client::{Caller, Client, Exchange, Failure, Request, Stop},
    documents::{Document, Operation},
    report::Report,
    responses,
    rules::{self, Rule},
};

/// A key that is valid, and the APIs that its principal may use.
#[derive(Debug)]
pub struct Access {
    /// Position of the key.
    pub key: usize,
    /// The documents of the APIs.
    pub documents: Vec<Rc<Document>>,
    /// Whether the catalog is locked for its team.
    pub is_locked: bool,
}

impl Access {
    /// Whether the principal may use an API.
    pub fn has(&self, document: &Document) -> bool {
        self.documents.iter().any(|own| own.name == document.name)
    }
}

/// A check under way.
pub struct Session {
    /// What sends the requests.
    pub client: Client,
    /// What was found.
    pub report: Report,
}

impl Session {
    /// Sends a request to an operation, and makes the checks of every response. Returns `None` without a response, which is a
    /// difference itself.
    pub fn send(
        &mut self,
        operation: Option<&Operation>,
        request: Request,
    ) -> Result<Option<Exchange>, Stop> {
        let name = operation.map_or("no operation", |operation| &operation.id);
        self.exchange(name, request, |report, exchange| {
            responses::check(report, operation, exchange);
            Ok(())
        })
    }

    /// Sends the first request to an API that every deployment serves. A deployment that redirects it would redirect the others,
    /// too, so the check ends.
    pub fn probe(&mut self, operation: &Operation, key: usize) -> Result<Option<Exchange>, Stop> {
        let base_url = self.client.base_url().to_owned();
        let request = Request::get(operation.path.clone(), Caller::Key(key));
        self.exchange(&operation.id, request, |report, exchange| {
            if let Some(problem) = redirection(exchange.status, &exchange.headers, &base_url) {
                return Err(Stop::Unreachable(problem));
            }
            responses::check(report, Some(operation), exchange);
            Ok(())
        })
    }

    /// Sends a request that belongs to no operation, and only checks that there is a response.
    pub fn fetch(&mut self, name: &str, request: Request) -> Result<Option<Exchange>, Stop> {
        self.exchange(name, request, |_, _| Ok(()))
    }

    /// Sends a request, and repeats it if it is refused because of a rate limit or the load.
    fn exchange(
        &mut self,
        name: &str,
        mut request: Request,
        check: impl Fn(&mut Report, &Exchange) -> Result<(), Stop>,
    ) -> Result<Option<Exchange>, Stop> {
        self.report.count(&rules::RESPONSE);
        let mut repetitions = 0;
        loop {
            let sent = request.clone();
            let result = self.client.send(request).and_then(|exchange| {
                check(&mut self.report, &exchange).map_err(Failure::Stop)?;
                Ok((self.client.wait(&exchange, repetitions)?, exchange))
            });
            match result {
                Ok((false, exchange)) => return Ok(Some(exchange)),
                Ok((true, exchange)) => {
                    request = exchange.request;
                    repetitions += 1;
                }
                Err(Failure::Stop(stop)) => return Err(stop),
                Err(Failure::NoResponse(reason)) => {
                    self.report.add_request(&rules::RESPONSE, name, &sent, "a complete response", reason);
                    return Ok(None);
                }
            }
        }
    }

    /// Sends a request for an operation, without a body.
    pub fn call(
        &mut self,
        operation: &Operation,
        path: &str,
        query: &[(&str, &str)],
        caller: Caller,
    ) -> Result<Option<Exchange>, Stop> {
        let request = Request::get(target(path, query), caller).with_method(operation.method);
        self.send(Some(operation), request)
    }

    /// Like [`Session::call`], for a request that must succeed by a rule. Returns `None` if it does not, which is a
    /// difference.
    pub fn call_ok(
        &mut self,
        rule: &'static Rule,
        operation: &Operation,
        path: &str,
        query: &[(&str, &str)],
        caller: Caller,
    ) -> Result<Option<Exchange>, Stop> {
        let Some(exchange) = self.call(operation, path, query, caller)? else { return Ok(None) };
        let is_ok = self.expect(rule, &operation.id, &exchange, 200, "");
        Ok(Some(exchange).filter(|_| is_ok))
    }

    /// Checks that a response has a status, and the code of an error unless it is empty.
    pub fn expect(
        &mut self,
        rule: &'static Rule,
        name: &str,
        exchange: &Exchange,
        status: u16,
        code: &str,
    ) -> bool {
        self.report.count(rule);
        let is_expected = exchange.status == status && (code.is_empty() || exchange.code() == code);
        if !is_expected {
            let expected = [&format!("status {status}"), code].join(" ");
            self.report.add(rule, name, exchange, expected.trim(), outcome(exchange));
        }
        is_expected
    }

    /// Checks that a request was refused with 422 because of the value at a place.
    pub fn expect_problem(
        &mut self,
        rule: &'static Rule,
        name: &str,
        exchange: &Exchange,
        place: &[&str],
    ) -> bool {
        self.report.count(rule);
        let problems = exchange.json()["detail"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_place = |problem: &Value| {
            let steps: Vec<&str> =
                problem["loc"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            steps.starts_with(place)
        };
        let is_expected = exchange.status == 422 && problems.iter().any(is_place);
        if !is_expected {
            let expected = format!("status 422 with a problem at {place:?}");
            self.report.add(rule, name, exchange, expected, outcome(exchange));
        }
        is_expected
    }
}

/// Describes the outcome of a request in a few words.
pub fn outcome(exchange: &Exchange) -> String {
    let json = exchange.json();
    let problems = json["detail"].as_array().into_iter().flatten();
    let places: Vec<String> = problems.map(|problem| problem["loc"].to_string()).collect();
    let detail = match (exchange.code(), places.as_slice()) {
        ("", []) => String::new(),
        ("", places) => format!(" with problems at {}", places.join(", ")),
        (code, _) => format!(" {code}"),
    };
    format!("status {}{detail}", exchange.status)
}

/// Returns the target of a request: a path with a query.
pub fn target(path: &str, query: &[(&str, &str)]) -> String {
    if query.is_empty() {
        return path.to_owned();
    }
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    format!("{path}?{query}")
}
