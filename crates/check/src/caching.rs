//! Requests that return the headers of a response: HEAD, and GET with the ETag of an earlier response.

use super::{
    client::{Caller, Exchange, Request, Stop},
    documents::Operation,
    rules,
    session::Session,
};

/// Headers that HEAD and GET have in common.
const COMMON: [&str; 4] = ["content-type", "etag", "cache-control", "vary"];

/// Checks HEAD, and `If-None-Match` if the request succeeds.
pub fn check(session: &mut Session, operation: &Operation, target: &str, key: usize) -> Result<(), Stop> {
    let get = || Request::get(target.to_owned(), Caller::Key(key));
    // The response may change between two requests, so a second attempt decides, unless it changes all the time.
    for is_last in [false, true] {
        let Some(full) = session.send(Some(operation), get())? else { return Ok(()) };
        let head = get().with_method("HEAD");
        let Some(head) = session.send(Some(operation), head)? else { return Ok(()) };
        let mut differences = head_differences(session, &full, &head);
        let tag = full.header("etag").to_owned();
        let mut conditional = None;
        if full.status == 200 && !tag.is_empty() {
            let request = get().with_header("if-none-match", &tag);
            let Some(exchange) = session.send(Some(operation), request)? else { return Ok(()) };
            session.report.count(&rules::ENTITY_TAG);
            let opaque = |tag: &str| tag.trim_start_matches("W/").to_owned();
            if exchange.status != 304 || opaque(exchange.header("etag")) != opaque(&tag) {
                let got = format!("status {}, ETag {:?}", exchange.status, exchange.header("etag"));
                conditional = Some((exchange, format!("status 304, ETag {tag}"), got));
            }
            let is_quoted = opaque(&tag).len() > 2 && opaque(&tag).starts_with('"') && tag.ends_with('"');
            if !is_quoted {
                session.report.add(&rules::ENTITY_TAG, &operation.id, &full, "a quoted ETag", tag);
            }
        }
        if differences.is_empty() && conditional.is_none() {
            return Ok(());
        }
        if is_last {
            let again = session.send(Some(operation), get())?;
            if again.is_none_or(|again| again.header("etag") != full.header("etag")) {
                return Ok(());
            }
            for (expected, got) in differences.drain(..) {
                session.report.add(&rules::HEAD, &operation.id, &head, expected, got);
            }
            if let Some((exchange, expected, got)) = conditional {
                session.report.add(&rules::ENTITY_TAG, &operation.id, &exchange, expected, got);
            }
        }
    }
    Ok(())
}

/// Returns the differences of the response to HEAD from the one to GET: the expected and the actual values.
pub fn head_differences(session: &mut Session, full: &Exchange, head: &Exchange) -> Vec<(String, String)> {
    session.report.count(&rules::HEAD);
    let mut found = Vec::new();
    if head.status != full.status {
        found.push((format!("status {}", full.status), format!("status {}", head.status)));
    }
    for name in COMMON {
        let (expected, got) = (full.header(name), head.header(name));
        if expected != got {
            found.push((format!("{name}: {expected}"), format!("{name}: {got}")));
        }
    }
    found
}
