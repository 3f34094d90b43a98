//! Rules of the catalog that its document cannot state: the browse gate, and listings by ID.

use serde_json::Value;
use uuid::Uuid;

use super::{
    access::UNKNOWN,
    client::{Caller, Exchange, Stop},
    documents::{Document, Operation},
    rows, rules,
    session::{Access, Session},
    walk,
};

/// The operations that are concerned.
const BROWSE: &str = "/v2/listings/browse";
const BY_IDS: &str = "/v2/listings/browse/by-ids";
const OWN: &str = "/v2/listings";

/// The parameter of paths that names a listing.
const LISTING: &str = "listing_id";

/// Number of listings that are requested by their IDs.
const MAX_LISTINGS: usize = 5;

/// Checks the catalog with a key.
pub fn check(session: &mut Session, access: &Access) -> Result<(), Stop> {
    let found = access.documents.iter().find_map(|document| Some((document, document.find("GET", BROWSE)?)));
    let Some((document, browse)) = found else { return Ok(()) };
    let caller = Caller::Key(access.key);
    let page = session.call_ok(&rules::GATE, browse, BROWSE, &[], caller)?;
    let Some(page) = page else { return Ok(()) };
    if page.json()["locked"] != access.is_locked {
        let expected = format!("locked {}, as the access report says", access.is_locked);
        session.report.add(&rules::GATE, &browse.id, &page, expected, page.json()["locked"].to_string());
    }
    if access.is_locked {
        check_gate(session, document, browse, &page, caller)
    } else if let Some(by_ids) = document.find("GET", BY_IDS) {
        check_by_ids(session, browse, by_ids, caller)
    } else {
        Ok(())
    }
}

/// Checks which requests a team whose catalog is locked may send: for the first page without filters, in the order of
/// recommendation, and for its own listings. Ignores values of parameters.
fn check_gate(
    session: &mut Session,
    document: &Document,
    browse: &Operation,
    page: &Exchange,
    caller: Caller,
) -> Result<(), Stop> {
    let filters = browse.query().map(|parameter| (parameter.name.as_str(), "x"));
    let filters = filters.filter(|(name, _)| !["limit", "sort"].contains(name));
    for query in filters.chain([("sort", "recent"), ("sort", ""), UNKNOWN]) {
        let refused = session.call(browse, BROWSE, &[("limit", "0"), query], caller)?;
        expect_locked(session, browse, refused);
    }
    session.call_ok(&rules::GATE, browse, BROWSE, &[("sort", "recommended"), ("limit", "5")], caller)?;
    if let Some(exchange) = session.call(browse, BROWSE, &[("limit", "0")], caller)? {
        session.expect_problem(&rules::GATE, &browse.id, &exchange, &["query", "limit"]);
    }
    let own = match document.find("GET", OWN) {
        Some(list) => {
            let page = session.call_ok(&rules::GATE, list, OWN, &[], caller)?;
            page.map_or_else(Vec::new, |page| rows::identities(page.json()))
        }
        None => Vec::new(),
    };
    let foreign = rows::identities(page.json()).into_iter().find(|id| !own.contains(id));
    let unknown = Uuid::new_v4().to_string();
    for operation in document.operations.iter().filter(|operation| walk::is_behind_gate(operation)) {
        let path = |id: &str| {
            let value = |name: &str| if name == LISTING { id.to_owned() } else { unknown.clone() };
            let values: Vec<_> =
                operation.path_parameters().map(|name| (name.to_owned(), value(name))).collect();
            operation.path_with(&values)
        };
        for id in [Some(&unknown), foreign.as_ref()].into_iter().flatten() {
            for query in [&[][..], &[UNKNOWN]] {
                let refused = session.call(operation, &path(id), query, caller)?;
                expect_locked(session, operation, refused);
            }
        }
        // Of parts of own listings, this ID is not known.
        let has_part = operation.path_parameters().count() > 1;
        let is_of_listing = operation.path_parameters().next().is_some();
        for id in own.iter().take(MAX_LISTINGS).filter(|_| is_of_listing) {
            if let Some(exchange) = session.call(operation, &path(id), &[], caller)? {
                let status = if has_part { 404 } else { 200 };
                session.expect(&rules::GATE, &operation.id, &exchange, status, "");
            }
        }
    }
    Ok(())
}

/// Checks that a request was refused because the catalog is locked, and that the error says how to unlock it.
fn expect_locked(session: &mut Session, operation: &Operation, response: Option<Exchange>) {
    let Some(exchange) = response else { return };
    if session.expect(&rules::GATE, &operation.id, &exchange, 403, "listing_browse_locked") {
        let details = &exchange.json()["error"]["details"];
        let counts = ["published_count", "required_count"].map(|name| details[name].as_u64());
        if !matches!(counts, [Some(published), Some(required)] if published < required) {
            let expected = "details with a published_count below the required_count";
            session.report.add(&rules::GATE, &operation.id, &exchange, expected, details.to_string());
        }
    }
}

fn check_by_ids(
    session: &mut Session,
    browse: &Operation,
    by_ids: &Operation,
    caller: Caller,
) -> Result<(), Stop> {
    let unknown = Uuid::new_v4().to_string();
    // The catalog may change between two requests, so the second attempt decides.
    for is_last in [false, true] {
        let limit = MAX_LISTINGS.to_string();
        let query = [("limit", limit.as_str()), ("sort", "recent")];
        let Some(page) = session.call_ok(&rules::BY_IDS, browse, BROWSE, &query, caller)? else {
            return Ok(());
        };
        let expected: Vec<String> = rows::identities(page.json()).into_iter().take(MAX_LISTINGS).collect();
        let mut query = vec![("sort", "recent"), ("ids", unknown.as_str())];
        query.extend(expected.iter().rev().map(|id| ("ids", id.as_str())));
        let Some(exchange) = session.call_ok(&rules::BY_IDS, by_ids, BY_IDS, &query, caller)? else {
            return Ok(());
        };
        let got = rows::identities(exchange.json());
        if got == expected {
            return Ok(());
        }
        if is_last {
            let [expected, got] = [expected, got].map(|ids| Value::from(ids).to_string());
            session.report.add(&rules::BY_IDS, &by_ids.id, &exchange, expected, got);
        }
    }
    Ok(())
}
