//! Who may call what: keys and their roles.

use std::{collections::BTreeSet, rc::Rc};

use marketplace_domain::principals::PrincipalKind;
use uuid::Uuid;

use super::{
    client::{Caller, Request, Stop},
    documents::{Document, Operation},
    rules,
    session::{Access, Session},
};

/// Headers that accept the key of a team besides `Authorization`.
const KEY_HEADERS: [&str; 2] = ["platform-api-key", "x-api-key"];

/// Finds out which APIs each key may use. A key is tried with an operation that only its API has.
pub fn find(session: &mut Session, documents: &[Rc<Document>]) -> Result<Vec<Access>, Stop> {
    let mut found = Vec::new();
    for key in 0..session.client.keys().len() {
        let (mut usable, mut reasons) = (Vec::new(), BTreeSet::new());
        for document in documents {
            let Some(operation) = probe(document, documents) else { continue };
            let response = session.get(operation, &operation.path, &[], Caller::Key(key))?;
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

/// Returns an operation that tells whether a key may use an API: one without parameters in the path that no other API
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
    let response = session.get_ok(&rules::SUCCESS, operation, &operation.path, &[], Caller::Key(key))?;
    Ok(response.is_some_and(|exchange| exchange.json()["unlocked"] == false))
}

/// Checks that an operation refuses requests without a valid key, and keys of others.
pub fn check(
    session: &mut Session,
    document: &Document,
    operation: &Operation,
    path: &str,
    accesses: &[Access],
) -> Result<(), Stop> {
    for caller in [Caller::Nobody, Caller::Stranger] {
        let Some(exchange) = session.get(operation, path, &[], caller)? else { continue };
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
        let may_call = access.documents.iter().any(|own| own.find("GET", &operation.path).is_some());
        if may_call {
            continue;
        }
        let code = match document.keys {
            PrincipalKind::Team => "marketplace_role_required",
            PrincipalKind::Operator => "operator_required",
        };
        let exchange = session.get(operation, path, &[], Caller::Key(access.key))?;
        if let Some(exchange) = exchange {
            session.expect(&rules::FORBIDDEN, &operation.id, &exchange, 403, code);
        }
    }
    Ok(())
}

/// Checks the headers that a key can be in, and request IDs, with one operation of an API.
pub fn check_headers(session: &mut Session, operation: &Operation, key: usize) -> Result<(), Stop> {
    for header in KEY_HEADERS {
        session.get_ok(&rules::KEY_HEADERS, operation, &operation.path, &[], Caller::KeyIn(key, header))?;
    }
    let request = |caller| Request::get(operation.path.clone(), caller);
    let both = request(Caller::Key(key)).with_header("x-api-key", "mkt_none");
    if let Some(exchange) = session.send(Some(operation), both)? {
        session.expect(&rules::KEY_HEADERS, &operation.id, &exchange, 200, "");
    }
    let wrong = request(Caller::KeyIn(key, "x-api-key")).with_header("authorization", "Bearer mkt_none");
    if let Some(exchange) = session.send(Some(operation), wrong)? {
        session.expect(&rules::KEY_HEADERS, &operation.id, &exchange, 401, "unauthorized");
    }
    for id in ["", "a b", &"a".repeat(129)] {
        session.send(Some(operation), request(Caller::Key(key)).with_header("x-request-id", id))?;
    }
    Ok(())
}

/// Checks unknown paths, and paths that GET does not have. Requests of other methods could change something on a
/// deployment that differs from the interface.
pub fn check_paths(session: &mut Session, documents: &[Rc<Document>], key: usize) -> Result<(), Stop> {
    let all = || documents.iter().flat_map(|document| &document.operations);
    for path in [format!("/v2/no-such-path-{}", session.client.run_name()), "/no-such-path".to_owned()] {
        if let Some(exchange) = session.send(None, Request::get(path, Caller::Nobody))? {
            session.expect(&rules::NOT_FOUND, "no operation", &exchange, 404, "not_found");
        }
    }
    let mut seen = BTreeSet::new();
    for operation in all() {
        let path = fill(operation);
        let has_get = all().any(|other| other.method == "GET" && other.matches_path(&path));
        if has_get || !seen.insert(operation.path.clone()) {
            continue;
        }
        let request = Request::get(path, Caller::Key(key));
        let Some(exchange) = session.send(Some(operation), request)? else { continue };
        let is_refused = session.expect(&rules::METHOD, &operation.id, &exchange, 405, "method_not_allowed");
        let allowed = exchange.header("allow");
        if is_refused && !allowed.split(',').any(|method| method.trim() == operation.method) {
            let expected = format!("Allow with {}", operation.method);
            session.report.add(&rules::METHOD, &operation.id, &exchange, expected, format!("{allowed:?}"));
        }
    }
    Ok(())
}

/// Returns the path of an operation with IDs that nothing has.
pub fn fill(operation: &Operation) -> String {
    let value = |name: &str| (name.to_owned(), Uuid::new_v4().to_string());
    let values: Vec<_> = operation.path_parameters().map(value).collect();
    operation.path_with(&values)
}

/// Checks that an operation does not find a record with an unknown ID, and refuses a malformed one.
pub fn check_ids(
    session: &mut Session,
    operation: &Operation,
    values: &[(String, String)],
    key: usize,
) -> Result<(), Stop> {
    let Some(last) = operation.path_parameters().last() else { return Ok(()) };
    let with = |value: String| {
        let mut values = values.to_vec();
        values.retain(|(name, _)| name != last);
        values.push((last.to_owned(), value));
        operation.path_with(&values)
    };
    let unknown = with(Uuid::new_v4().to_string());
    if let Some(exchange) = session.get(operation, &unknown, &[], Caller::Key(key))? {
        session.expect(&rules::NOT_FOUND, &operation.id, &exchange, 404, "");
    }
    let is_uuid = |parameter: &&super::documents::Parameter| {
        parameter.place == "path" && parameter.name == last && parameter.schema["format"] == "uuid"
    };
    if operation.parameters.iter().any(|parameter| is_uuid(&parameter))
        && let Some(exchange) =
            session.get(operation, &with("not-a-uuid".to_owned()), &[], Caller::Key(key))?
    {
        session.expect_problem(&rules::PATH_VALUE, &operation.id, &exchange, &["path", last]);
    }
    Ok(())
}
