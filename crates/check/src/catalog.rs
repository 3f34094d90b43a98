//! Rules of the catalog that its document cannot state: the browse gate, and listings by ID.

use serde_json::Value;
use uuid::Uuid;

use super::{
    client::{Caller, Stop},
    documents::{Document, Operation},
    rows, rules,
    session::{Access, Session},
};

/// The operations that are concerned.
const BROWSE: &str = "/v2/listings/browse";
const BY_IDS: &str = "/v2/listings/browse/by-ids";
const DETAIL: &str = "/v2/listings/browse/{listing_id}";

/// Number of listings that are requested by their IDs.
const MAX_LISTINGS: usize = 5;

/// Checks the catalog with a key.
pub fn check(session: &mut Session, access: &Access) -> Result<(), Stop> {
    let found = access.documents.iter().find_map(|document| Some((document, document.find("GET", BROWSE)?)));
    let Some((document, browse)) = found else { return Ok(()) };
    let caller = Caller::Key(access.key);
    let page = session.get_ok(&rules::GATE, browse, BROWSE, &[], caller)?;
    let Some(page) = page else { return Ok(()) };
    if page.json()["locked"] != access.is_locked {
        let expected = format!("locked {}, as the access report says", access.is_locked);
        session.report.add(&rules::GATE, &browse.id, &page, expected, page.json()["locked"].to_string());
    }
    if access.is_locked {
        check_gate(session, document, browse, caller)
    } else if let Some(by_ids) = document.find("GET", BY_IDS) {
        check_by_ids(session, browse, by_ids, caller)
    } else {
        Ok(())
    }
}

fn check_gate(
    session: &mut Session,
    document: &Document,
    browse: &Operation,
    caller: Caller,
) -> Result<(), Stop> {
    let refused = [("query", "data"), ("min_price", "0"), ("sort", "recent"), ("cursor", "x")];
    for query in refused {
        if let Some(exchange) = session.get(browse, BROWSE, &[query], caller)? {
            session.expect(&rules::GATE, &browse.id, &exchange, 403, "listing_browse_locked");
        }
    }
    let unknown = Uuid::new_v4().to_string();
    for path in [BY_IDS, DETAIL] {
        let Some(operation) = document.find("GET", path) else { continue };
        let path = operation.path_with(&[("listing_id".to_owned(), unknown.clone())]);
        if let Some(exchange) = session.get(operation, &path, &[], caller)? {
            session.expect(&rules::GATE, &operation.id, &exchange, 403, "listing_browse_locked");
        }
    }
    Ok(())
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
        let Some(page) = session.get_ok(&rules::BY_IDS, browse, BROWSE, &query, caller)? else {
            return Ok(());
        };
        let expected: Vec<String> =
            rows::of(page.json()).into_iter().flatten().take(MAX_LISTINGS).map(rows::identity).collect();
        let mut query = vec![("sort", "recent"), ("ids", unknown.as_str())];
        query.extend(expected.iter().rev().map(|id| ("ids", id.as_str())));
        let Some(exchange) = session.get_ok(&rules::BY_IDS, by_ids, BY_IDS, &query, caller)? else {
            return Ok(());
        };
        let got: Vec<String> = rows::of(exchange.json()).into_iter().flatten().map(rows::identity).collect();
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
