//! Compares a deployment of the marketplace with OpenAPI documents and with the rules of the interface, as a client that knows
//! nothing else about it.

mod access;
mod caching;
mod catalog;
mod client;
mod documents;
mod keys;
mod pages;
mod parameters;
mod report;
mod responses;
mod rows;
pub mod rules;
mod schemas;
mod served_documents;
mod session;
mod walk;
mod writes;

use std::{collections::BTreeSet, rc::Rc};

use marketplace_domain::error_sources::BoxedError;
use url::Url;

pub use self::{client::Bounds, documents::Document, keys::Key, report::Report};
use self::{
    client::{Caller, Client, Request, Stop},
    documents::Operation,
    session::{Access, Session},
    walk::Found,
};

/// What a check has found.
#[derive(Debug)]
pub struct Outcome {
    /// The differences, and what was not checked.
    pub report: Report,
    /// Number of requests that were sent.
    pub sent: u32,
    /// Why the check is not complete, if it is not.
    pub incomplete: Option<String>,
}

/// Compares the deployment at a URL with documents. Changes are checked only if `may_write` is set.
pub fn check(
    url: &Url,
    keys: Vec<Key>,
    bounds: Bounds,
    documents: &[Rc<Document>],
    may_write: bool,
) -> Result<Outcome, BoxedError> {
    let client = Client::new(url, keys, bounds)?;
    let report = Report::new(client.base_url(), client.keys());
    let mut session = Session { client, report };
    let incomplete = match check_parts(&mut session, documents, may_write) {
        Ok(true) => None,
        Ok(false) => Some("no key can use any API of the deployment".to_owned()),
        Err(Stop::Unreachable(reason)) => Some(reason),
        Err(Stop::Limit(reason)) => Some(format!(
            "the check is incomplete: {reason}; --max-requests and --max-seconds set the limits"
        )),
    };
    if let Some(reason) = &incomplete {
        session.report.add_unchecked("what follows the last request", reason.clone());
    }
    let Session { client, report } = session;
    let incomplete = incomplete.map(|reason| report.clean(&reason));
    Ok(Outcome { report, sent: client.sent(), incomplete })
}

/// Runs all parts. Returns whether there was anything to check.
fn check_parts(session: &mut Session, documents: &[Rc<Document>], may_write: bool) -> Result<bool, Stop> {
    let accesses = access::find(session, documents)?;
    let Some(first) = accesses.first() else { return Ok(false) };
    for document in documents {
        let is_used = accesses.iter().any(|access| access.has(document));
        if is_used || !document.is_optional {
            served_documents::check(session, document)?;
        }
    }
    let mut found = Vec::new();
    for access in &accesses {
        found.push(walk::run(session, access)?);
    }
    access::check_paths(session, &served(&accesses), first.key, may_write)?;
    for access in &accesses {
        if let Some((_, operation)) =
            walk::operations(access).find(|(_, operation)| !operation.path.contains('{'))
        {
            access::check_headers(session, &operation, access.key)?;
        }
        catalog::check(session, access)?;
    }
    let mut seen = BTreeSet::new();
    for (access, found) in accesses.iter().zip(&found) {
        for (document, operation) in walk::operations(access) {
            if access.is_locked && walk::is_behind_gate(&operation) {
                continue;
            }
            if found.samples.contains_key(&operation.path) && seen.insert(operation.path.clone()) {
                check_operation(session, &document, &operation, access, found, &accesses)?;
            }
        }
    }
    for document in documents {
        for operation in document.operations.iter().filter(|operation| operation.method == "GET") {
            if !seen.contains(&operation.path) {
                check_without_sample(session, document, operation, &accesses)?;
            }
        }
    }
    if may_write {
        check_changes(session, &accesses)?;
        writes::check(session, &accesses)?;
    } else {
        session.report.add_unchecked("changes", "--allow-writes is not set");
    }
    session.report.add_unchecked("agent server", "its requests are not checked");
    Ok(true)
}

/// Checks which changes are refused, whatever they would change.
fn check_changes(session: &mut Session, accesses: &[Access]) -> Result<(), Stop> {
    let mut seen = BTreeSet::new();
    for document in served(accesses) {
        for operation in document.operations.iter().filter(|operation| operation.method != "GET") {
            if seen.insert((operation.method, operation.path.clone())) {
                access::check_change(session, &document, operation, accesses)?;
            }
        }
    }
    Ok(())
}

/// Returns the documents of the APIs that any key may use.
fn served(accesses: &[Access]) -> Vec<Rc<Document>> {
    let mut documents: Vec<Rc<Document>> = Vec::new();
    for document in accesses.iter().flat_map(|access| &access.documents) {
        if documents.iter().all(|known| known.name != document.name) {
            documents.push(Rc::clone(document));
        }
    }
    documents
}

/// Checks an operation with a request that has succeeded.
fn check_operation(
    session: &mut Session,
    document: &Document,
    operation: &Operation,
    access: &Access,
    found: &Found,
    accesses: &[Access],
) -> Result<(), Stop> {
    let sample = &found.samples[&operation.path];
    let path = operation.path_with(&sample.values);
    access::check(session, document, operation, &path, accesses)?;
    access::check_ids(session, operation, &sample.values, access.key)?;
    caching::check(session, operation, &sample.target, access.key)?;
    if access.is_locked && operation.path == "/v2/listings/browse" {
        return Ok(());
    }
    pages::check(session, operation, &path, access.key)?;
    parameters::check(session, operation, &path, access.key)
}

/// Makes the checks that need no record, for an operation without a successful request.
fn check_without_sample(
    session: &mut Session,
    document: &Document,
    operation: &Operation,
    accesses: &[Access],
) -> Result<(), Stop> {
    let is_usable = accesses.iter().any(|access| access.has(document));
    if is_usable {
        let name = format!("{} {}", operation.method, operation.path);
        session.report.add_unchecked(&name, "no response names a record for it, or it failed");
    } else {
        session.report.add_unchecked(&format!("{} API", document.name), "no key can use it");
    }
    let path = operation.path_with(&access::unknown_values(operation));
    let response = session.fetch(&operation.id, Request::get(path.clone(), Caller::Nobody))?;
    // The deployment may not serve an API that no key can use.
    if is_usable || response.is_some_and(|exchange| exchange.status != 404) {
        access::check(session, document, operation, &path, accesses)?;
    }
    Ok(())
}
