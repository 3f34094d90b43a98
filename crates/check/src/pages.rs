//! Paging: each row once, in a stable order, with the size and the total that the pages report.

use std::collections::BTreeSet;

use marketplace_domain::written::counted;
use serde_json::Value;

use super::{
    client::{Caller, Exchange, Request, Stop},
    documents::Operation,
    rows,
    rules::{self, Rule},
    session::{Session, target},
};

/// Maximum number of pages of a list that are requested.
const MAX_PAGES: usize = 20;

/// The limit of a short page, and how many of them are compared with a long one.
const SHORT_PAGE: u64 = 2;
const SHORT_PAGES: usize = 3;

/// How a list is paged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paging {
    Cursor,
    Offset,
}

/// A difference that is reported only if it occurs again: something may have changed between two pages.
struct Suspicion {
    rule: &'static Rule,
    request: Request,
    expected: String,
    got: String,
}

/// The pages of a list.
struct Pages {
    identities: Vec<String>,
    totals: Vec<u64>,
    is_complete: bool,
    second: Option<(Request, Vec<String>)>,
    last: Option<Request>,
    suspicions: Vec<Suspicion>,
}

/// Checks the pages of a list, if it has any.
pub fn check(session: &mut Session, operation: &Operation, path: &str, key: usize) -> Result<(), Stop> {
    let Some(limit) = operation.query_parameter("limit") else { return Ok(()) };
    let paging = if operation.query_parameter("cursor").is_some() {
        Some(Paging::Cursor)
    } else {
        operation.query_parameter("offset").map(|_| Paging::Offset)
    };
    let largest = limit.schema["maximum"].as_f64().map_or(100, |maximum| maximum as u64);
    let list = List { operation, path, caller: Caller::Key(key), paging, largest };
    list.check_default(session)?;
    let first = list.suspicions(session)?;
    if first.is_empty() {
        return Ok(());
    }
    let rules: BTreeSet<&str> = first.iter().map(|suspicion| suspicion.rule.id).collect();
    for suspicion in list.suspicions(session)?.into_iter().filter(|again| rules.contains(again.rule.id)) {
        let Suspicion { rule, request, expected, got } = suspicion;
        session.report.add_request(rule, &operation.id, &request, expected, got);
    }
    Ok(())
}

struct List<'a> {
    operation: &'a Operation,
    path: &'a str,
    caller: Caller,
    paging: Option<Paging>,
    largest: u64,
}

impl List<'_> {
    /// Checks the size of a page that is requested without a limit.
    fn check_default(&self, session: &mut Session) -> Result<(), Stop> {
        let limit =
            self.operation.query_parameter("limit").and_then(|limit| limit.schema["default"].as_u64());
        let response = session.call_ok(&rules::SUCCESS, self.operation, self.path, &[], self.caller)?;
        if let (Some(limit), Some(exchange)) = (limit, response) {
            self.check_page(session, limit, None, &exchange);
        }
        Ok(())
    }

    /// Requests the pages, and returns what may be a difference.
    fn suspicions(&self, session: &mut Session) -> Result<Vec<Suspicion>, Stop> {
        let Some(mut long) = self.pages(session, self.largest, MAX_PAGES)? else { return Ok(Vec::new()) };
        let mut suspicions = std::mem::take(&mut long.suspicions);
        let Some(mut short) = self.pages(session, SHORT_PAGE, SHORT_PAGES)? else { return Ok(suspicions) };
        suspicions.append(&mut short.suspicions);
        self.check_total(session, &long, &mut suspicions);
        session.report.count(&rules::STABLE);
        let count = long.identities.len().min(short.identities.len());
        if let Some(request) = short.last.filter(|_| self.paging.is_some())
            && long.identities[..count] != short.identities[..count]
        {
            let expected = format!("the first {count} rows as with limit={}", self.largest);
            suspicions.push(Suspicion {
                rule: &rules::STABLE,
                request,
                expected,
                got: "other rows, or another order".to_owned(),
            });
        }
        if let Some((request, identities)) = short.second
            && let Some(again) = session.send(Some(self.operation), request.clone())?
            && again.status == 200
            && rows::identities(again.json()) != identities
        {
            let expected = "the rows of the first request for this page".to_owned();
            let got = "other rows, or another order".to_owned();
            suspicions.push(Suspicion { rule: &rules::STABLE, request, expected, got });
        }
        Ok(suspicions)
    }

    fn check_total(&self, session: &mut Session, pages: &Pages, suspicions: &mut Vec<Suspicion>) {
        let (Some(first), Some(request)) = (pages.totals.first(), &pages.last) else { return };
        session.report.count(&rules::TOTAL);
        let mut add = |expected: String, got: String| {
            suspicions.push(Suspicion { rule: &rules::TOTAL, request: request.clone(), expected, got });
        };
        if let Some(other) = pages.totals.iter().find(|total| *total != first) {
            add(format!("a total of {first} as on the first page"), other.to_string());
        }
        let count = pages.identities.len() as u64;
        if self.paging.is_some() && (pages.is_complete && count != *first || count > *first) {
            let reported = counted(*first, "row", "rows");
            add(format!("{reported} on all pages, as reported"), count.to_string());
        }
    }

    /// Requests up to `max_pages` pages. Returns `None` if the first one cannot be read.
    fn pages(&self, session: &mut Session, limit: u64, max_pages: usize) -> Result<Option<Pages>, Stop> {
        let mut pages = Pages {
            identities: Vec::new(),
            totals: Vec::new(),
            is_complete: false,
            second: None,
            last: None,
            suspicions: Vec::new(),
        };
        let (limit_text, mut place) = (limit.to_string(), None::<String>);
        let mut cursors = BTreeSet::new();
        for number in 0..max_pages {
            let mut query = vec![("limit", limit_text.as_str())];
            let name = if self.paging == Some(Paging::Cursor) { "cursor" } else { "offset" };
            query.extend(place.as_deref().map(|place| (name, place)));
            let request = Request::get(target(self.path, &query), self.caller);
            let Some(exchange) = session.send(Some(self.operation), request.clone())? else {
                return Ok(None);
            };
            if !session.expect(&rules::SUCCESS, &self.operation.id, &exchange, 200, "") {
                return Ok(None);
            }
            self.check_page(session, limit, place.as_deref(), &exchange);
            let identities = rows::identities(exchange.json());
            let known: BTreeSet<&String> = pages.identities.iter().collect();
            session.report.count(&rules::ONCE);
            let mut on_page = BTreeSet::new();
            if let Some(repeated) = identities.iter().find(|id| known.contains(id) || !on_page.insert(*id)) {
                let (request, expected) = (request.clone(), "each row once".to_owned());
                let got = format!("{repeated} twice");
                pages.suspicions.push(Suspicion { rule: &rules::ONCE, request, expected, got });
            }
            if number == 1 {
                pages.second = Some((request.clone(), identities.clone()));
            }
            let count = identities.len() as u64;
            pages.totals.extend(rows::total(exchange.json()));
            pages.identities.extend(identities);
            pages.last = Some(request.clone());
            session.report.count(&rules::END);
            place = match self.paging {
                None => None,
                Some(Paging::Offset) => (count == limit).then(|| pages.identities.len().to_string()),
                Some(Paging::Cursor) => exchange.json()["next_cursor"].as_str().map(str::to_owned),
            };
            let Some(next) = &place else {
                pages.is_complete = true;
                break;
            };
            let is_new = next.len() <= rows::MAX_VALUE && cursors.insert(next.clone());
            if self.paging == Some(Paging::Cursor) && (!is_new || count == 0) {
                let expected =
                    "rows and a cursor that is not too long and leads to a later page, or null".to_owned();
                let got = format!("{} and next_cursor {next:?}", counted(count, "row", "rows"));
                pages.suspicions.push(Suspicion { rule: &rules::END, request, expected, got });
                break;
            }
        }
        Ok(Some(pages))
    }

    /// Checks the size of a page, and what it says about itself.
    fn check_page(&self, session: &mut Session, limit: u64, place: Option<&str>, exchange: &Exchange) {
        let (body, report) = (exchange.json(), &mut session.report);
        report.count(&rules::PAGE_SIZE);
        let mut add = |rule: &'static Rule, expected: String, got: String| {
            report.add(rule, &self.operation.id, exchange, expected, got);
        };
        let count = rows::of(body).map_or(0, <[Value]>::len) as u64;
        if count > limit {
            let rows = |count| counted(count, "row", "rows");
            add(&rules::PAGE_SIZE, format!("at most {}", rows(limit)), rows(count));
        }
        let offset =
            if self.paging == Some(Paging::Offset) { place.unwrap_or("0").parse().ok() } else { None };
        for (name, sent) in [("limit", Some(limit)), ("offset", offset)] {
            if let (Some(got), Some(sent)) = (body[name].as_u64(), sent)
                && got != sent
            {
                add(&rules::PAGE_SIZE, format!("{name} {sent}, as requested"), got.to_string());
            }
        }
        if self.operation.path == "/v2/listings/browse" {
            for name in ["counts", "facets"] {
                if body[name].is_null() == place.is_none() {
                    let expected =
                        if place.is_none() { "an object on the first page" } else { "null on later pages" };
                    let got = if place.is_none() { "null" } else { "a value" };
                    add(&rules::FIRST_PAGE, format!("{name}: {expected}"), got.to_owned());
                }
            }
        }
    }
}
