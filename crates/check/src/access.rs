//! Who may call what: keys and their roles.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use marketplace_domain::principals::PrincipalKind;
use uuid::Uuid;

use super::{
    caching,
    client::{Caller, MAX_ID, REQUEST_ID, Request, Stop},
    documents::{Document, Operation},
    rules,
    session::{Access, Session, target},
    walk::PathValues,
};

/// A query parameter that no operation has, with a value.
pub const UNKNOWN: (&str, &str) = ("no_such_parameter", "1");

/// The methods that are tried where the documents do not have them.
const METHODS: [&str; 6] = ["DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT"];

/// Steps of a path that are no UUIDs.
const MALFORMED_IDS: [&str; 3] = ["not-a-uuid", "00000000-0000-0000-0000-00000000000g", "\0"];

/// Headers that accept the key of a team besides `Authorization`.
const KEY_HEADERS: [&str; 2] = ["platform-api-key", "x-api-key"];

/// Finds out which APIs each key may use. A key is tried with an operation that only its API has.
pub fn find(session: &mut Session, documents: &[Rc<Document>]) -> Result<Vec<Access>, Stop> {
    let mut found = Vec::new();
    for key in 0..session.client.keys().len() {
        let (mut usable, mut reasons) = (Vec::new(), BTreeSet::new());
        for document in documents {
            let Some(operation) = probe(document, documents) else { continue };
            let response = if document.is_optional {
                session.call(operation, &operation.path, &[], Caller::Key(key))?
            } else {
                session.probe(operation, key)?
            };
            match response {
                Some(exchange) if exchange.status == 200 => usable.push(Rc::clone(document)),
                Some(exchange) if exchange.status == 404 => {
                    session
                        .report
                        .add_unchecked(&format!("{} API", document.name), "the deployment does not serve it");
                }
                Some(exchange) => {
                    reasons.insert(format!("{} {}", exchange.status, exchange.code()));
                }
                None => {}
            }
        }
        if usable.is_empty() {
            let reasons = reasons.into_iter().collect::<Vec<_>>().join(", ");
            let name = session.client.keys()[key].name.clone();
            session.report.add_unchecked(&name, format!("the key can use no API: {reasons}"));
        } else {
            let is_locked = is_locked(session, key, &usable)?;
            found.push(Access { key, documents: usable, is_locked });
        }
    }
    Ok(found)
}

/// Returns an operation that shows whether a key may use an API: one without parameters in the path that no other API
/// has.
fn probe<'a>(document: &'a Document, documents: &[Rc<Document>]) -> Option<&'a Operation> {
    let is_own = |operation: &&Rc<Operation>| {
        let mut others = documents.iter().filter(|other| other.name != document.name);
        operation.method == "GET"
            && !operation.path.contains('{')
            && operation.parameters.iter().all(|parameter| !parameter.is_required)
            && others.all(|other| other.find("GET", &operation.path).is_none())
    };
    document.operations.iter().find(is_own).map(Rc::as_ref)
}

/// Whether the catalog is locked for the team of a key.
fn is_locked(session: &mut Session, key: usize, documents: &[Rc<Document>]) -> Result<bool, Stop> {
    let mut found =
        documents.iter().filter_map(|document| document.find("GET", "/v2/listings/browse/access"));
    let Some(operation) = found.next() else { return Ok(false) };
    let response = session.call_ok(&rules::SUCCESS, operation, &operation.path, &[], Caller::Key(key))?;
    Ok(response.is_some_and(|exchange| exchange.json()["unlocked"] == false))
}

/// Checks that an operation refuses requests without a valid key, even if they are invalid, and keys of others.
pub fn check(
    session: &mut Session,
    document: &Document,
    operation: &Operation,
    path: &str,
    accesses: &[Access],
) -> Result<(), Stop> {
    for (caller, query) in [(Caller::Nobody, &[][..]), (Caller::Stranger, &[UNKNOWN])] {
        let Some(exchange) = session.call(operation, path, query, caller)? else { continue };
        let is_refused = session.expect(&rules::UNAUTHORIZED, &operation.id, &exchange, 401, "unauthorized");
        let scheme = exchange.header("www-authenticate");
        if is_refused && !scheme.starts_with("Bearer") {
            let got = format!("{scheme:?}");
            session.report.add(
                &rules::UNAUTHORIZED,
                &operation.id,
                &exchange,
                "WWW-Authenticate: Bearer",
                got,
            );
        }
    }
    for access in accesses {
        let may_call =
            access.documents.iter().any(|own| own.find(operation.method, &operation.path).is_some());
        if may_call {
            continue;
        }
        let code = match document.keys {
            PrincipalKind::Team => "marketplace_role_required",
            PrincipalKind::Operator => "operator_required",
        };
        for query in [&[][..], &[UNKNOWN]] {
            if let Some(exchange) = session.call(operation, path, query, Caller::Key(access.key))? {
                session.expect(&rules::FORBIDDEN, &operation.id, &exchange, 403, code);
            }
        }
    }
    Ok(())
}

/// Checks that an operation that changes data refuses unauthorized callers, and invalid paths and queries. Calls it with
/// unknown IDs, and without a body.
pub fn check_change(
    session: &mut Session,
    document: &Document,
    operation: &Operation,
    accesses: &[Access],
) -> Result<(), Stop> {
    let values = unknown_values(operation);
    let path = operation.path_with(&values);
    check(session, document, operation, &path, accesses)?;
    let Some(access) = accesses.iter().find(|access| access.has(document)) else { return Ok(()) };
    check_malformed_ids(session, operation, &values, access.key)?;
    if let Some(exchange) = session.call(operation, &path, &[UNKNOWN], Caller::Key(access.key))? {
        let place = ["query", UNKNOWN.0];
        session.expect_problem(&rules::UNKNOWN_PARAMETER, &operation.id, &exchange, &place);
    }
    Ok(())
}

/// Checks the headers that a key can be in, request IDs, and HEAD of a refused request, with one operation of an API.
pub fn check_headers(session: &mut Session, operation: &Operation, key: usize) -> Result<(), Stop> {
    for header in KEY_HEADERS {
        session.call_ok(&rules::KEY_HEADERS, operation, &operation.path, &[], Caller::KeyIn(key, header))?;
    }
    let request = |caller| Request::get(operation.path.clone(), caller);
    for first in [Caller::Key(key), Caller::KeyIn(key, "platform-api-key")] {
        let both = request(first).with_header("x-api-key", "mkt_none");
        if let Some(exchange) = session.send(Some(operation), both)? {
            session.expect(&rules::KEY_HEADERS, &operation.id, &exchange, 200, "");
        }
    }
    let wrong = request(Caller::KeyIn(key, "x-api-key")).with_header("authorization", "Bearer mkt_none");
    if let Some(exchange) = session.send(Some(operation), wrong)? {
        session.expect(&rules::KEY_HEADERS, &operation.id, &exchange, 401, "unauthorized");
    }
    check_request_ids(session, operation, key)?;
    caching::check(session, operation, &target(&operation.path, &[UNKNOWN]), key)?;
    if let Some(head) = session.send(Some(operation), request(Caller::Nobody).with_method("HEAD"))? {
        session.expect(&rules::HEAD, &operation.id, &head, 401, "");
    }
    Ok(())
}

/// Checks which request IDs a response repeats, and that invalid ones are replaced by new IDs each time.
fn check_request_ids(session: &mut Session, operation: &Operation, key: usize) -> Result<(), Stop> {
    let (longest, longer) = ("a".repeat(MAX_ID), "a".repeat(MAX_ID + 1));
    let mut new = BTreeSet::new();
    for id in ["A.b_c-9", &longest, "", "", &longer, "a b", "a/b", "a;b", "<script>", "ü"] {
        let request = Request::get(operation.path.clone(), Caller::Key(key)).with_header(REQUEST_ID, id);
        let Some(exchange) = session.send(Some(operation), request)? else { continue };
        let got = exchange.header(REQUEST_ID).to_owned();
        if exchange.sent_id.is_none() && !new.insert(got.clone()) {
            let rule = &rules::NEW_REQUEST_ID;
            session.report.add(rule, &operation.id, &exchange, "an ID that no other response has", got);
        }
    }
    Ok(())
}

/// Checks unknown paths, and methods that a path does not have. Requests of other methods than GET could change something on
/// a deployment that differs from the interface, so they are sent without a key, and only if changes are allowed.
pub fn check_paths(
    session: &mut Session,
    documents: &[Rc<Document>],
    key: usize,
    may_write: bool,
) -> Result<(), Stop> {
    let tried = if may_write { &METHODS[..] } else { &["GET"] };
    let unknown = format!("/v2/no-such-path-{}", session.client.run_name());
    for path in [&unknown, "/no-such-path", "/v2", "/v2/", "/%00", "/..%2f"] {
        for method in tried.iter().filter(|method| **method != "OPTIONS") {
            let request = Request::get(path.to_owned(), Caller::Nobody).with_method(method);
            if let Some(exchange) = session.send(None, request)? {
                session.expect(&rules::NOT_FOUND, "no operation", &exchange, 404, "not_found");
            }
        }
    }
    let mut paths = BTreeMap::<&str, (&Operation, BTreeSet<&str>)>::new();
    for operation in documents.iter().flat_map(|document| &document.operations) {
        let (_, methods) = paths.entry(&operation.path).or_insert_with(|| (operation, BTreeSet::new()));
        methods.insert(operation.method);
    }
    for (operation, mut methods) in paths.into_values() {
        methods.extend(methods.contains("GET").then_some("HEAD"));
        let path = operation.path_with(&unknown_values(operation));
        for method in tried.iter().filter(|method| !methods.contains(*method)) {
            let caller = if *method == "GET" { Caller::Key(key) } else { Caller::Nobody };
            let request = Request::get(path.clone(), caller).with_method(method);
            let Some(exchange) = session.send(Some(operation), request)? else { continue };
            session.expect(&rules::METHOD, &operation.id, &exchange, 405, "method_not_allowed");
            let allowed: BTreeSet<&str> = exchange.header("allow").split(',').map(str::trim).collect();
            if exchange.status == 405 && allowed != methods {
                let expected = format!("Allow with {methods:?}");
                session.report.add(
                    &rules::METHOD,
                    &operation.id,
                    &exchange,
                    expected,
                    format!("{allowed:?}"),
                );
            }
        }
    }
    Ok(())
}

/// Returns unknown IDs for the parameters of a path.
pub fn unknown_values(operation: &Operation) -> PathValues {
    operation.path_parameters().map(|name| (name.to_owned(), Uuid::new_v4().to_string())).collect()
}

/// Checks that an operation does not find a record with an unknown ID, and refuses malformed ones.
pub fn check_ids(
    session: &mut Session,
    operation: &Operation,
    values: &[(String, String)],
    key: usize,
) -> Result<(), Stop> {
    let Some(last) = operation.path_parameters().last() else { return Ok(()) };
    let unknown = operation.path_with(&with_value(values, last, &Uuid::new_v4().to_string()));
    if let Some(exchange) = session.call(operation, &unknown, &[], Caller::Key(key))? {
        session.expect(&rules::NOT_FOUND, &operation.id, &exchange, 404, "");
    }
    check_malformed_ids(session, operation, values, key)
}

/// Checks that an operation refuses an invalid UUID in its path.
fn check_malformed_ids(
    session: &mut Session,
    operation: &Operation,
    values: &[(String, String)],
    key: usize,
) -> Result<(), Stop> {
    let in_path = operation.parameters.iter().filter(|parameter| parameter.place == "path");
    for parameter in in_path.filter(|parameter| parameter.schema["format"] == "uuid") {
        let name = parameter.name.as_str();
        for malformed in MALFORMED_IDS {
            let path = operation.path_with(&with_value(values, name, malformed));
            if let Some(exchange) = session.call(operation, &path, &[], Caller::Key(key))? {
                session.expect_problem(&rules::PATH_VALUE, &operation.id, &exchange, &["path", name]);
            }
        }
    }
    Ok(())
}

/// Returns the values of path parameters with another value of one of them.
fn with_value(values: &[(String, String)], name: &str, value: &str) -> PathValues {
    let others = values.iter().filter(|(known, _)| known != name).cloned();
    others.chain([(name.to_owned(), value.to_owned())]).collect()
}
