//! Checks of every response: its status, media type, body, and headers.

use serde_json::Value;
use uuid::Uuid;

use super::{
    client::Exchange,
    documents::Operation,
    report::Report,
    rules::{self, Rule},
    schemas::{Kind, short},
};

/// The codes of each status of an error.
const CODES: [(u16, &[&str]); 13] = [
    (400, &["bad_request", "invalid_cursor"]),
    (401, &["unauthorized"]),
    (
        403,
        &[
            "marketplace_role_required",
            "nda_required",
            "listing_browse_locked",
            "operator_required",
            "forbidden",
        ],
    ),
    (404, &["not_found", "world_not_found"]),
    (405, &["method_not_allowed"]),
    (408, &["request_timeout"]),
    (
        409,
        &[
            "conflict",
            "invalid_transition",
            "data_attached",
            "data_not_attached",
            "data_not_readable",
            "asset_in_use",
            "default_group",
            "group_not_empty",
            "listing_not_editable",
            "run_in_progress",
            "insufficient_credits",
            "insufficient_earnings",
            "refund_window_closed",
            "no_longer_available",
            "quota_exceeded",
            "too_many_worlds",
            "idempotency_in_flight",
            "parts_missing",
        ],
    ),
    (410, &["grant_expired", "grant_consumed", "purchase_refunded", "cursor_expired"]),
    (412, &["precondition_failed"]),
    (413, &["payload_too_large"]),
    (429, &["rate_limited"]),
    (500, &["internal_error"]),
    (503, &["at_capacity", "storage_full"]),
];

/// The media type of JSON.
const JSON: &str = "application/json";

/// Checks the response to a request. `operation` is `None` for requests that no operation receives.
pub fn check(report: &mut Report, operation: Option<&Operation>, exchange: &Exchange) {
    let name = operation.map_or("no operation", |operation| &operation.id);
    let mut checker = Checker { report, name, exchange };
    checker.check_request_id();
    checker.check_headers();
    if exchange.request.method == "HEAD" || exchange.status == 304 {
        return checker.check_absent_body();
    }
    checker.count(&rules::SERVER_ERROR);
    if exchange.status >= 500 && exchange.status != 503 {
        checker.add(&rules::SERVER_ERROR, "no internal error", format!("status {}", exchange.status));
    }
    match operation {
        Some(operation) => checker.check_documented(operation),
        None => checker.check_json(JSON),
    }
    checker.check_error();
}

struct Checker<'a> {
    report: &'a mut Report,
    name: &'a str,
    exchange: &'a Exchange,
}

impl Checker<'_> {
    fn count(&mut self, rule: &'static Rule) {
        self.report.count(rule);
    }

    fn add(&mut self, rule: &'static Rule, expected: impl Into<String>, got: impl Into<String>) {
        self.report.add(rule, self.name, self.exchange, expected, got);
    }

    fn check_request_id(&mut self) {
        let got = self.exchange.header("x-request-id");
        match &self.exchange.sent_id {
            Some(sent) => {
                self.count(&rules::REQUEST_ID);
                if sent != got {
                    self.add(&rules::REQUEST_ID, format!("X-Request-Id: {sent}"), header_text(got));
                }
            }
            None => {
                self.count(&rules::NEW_REQUEST_ID);
                if Uuid::try_parse(got).is_err() {
                    self.add(&rules::NEW_REQUEST_ID, "a UUID as X-Request-Id", header_text(got));
                }
            }
        }
    }

    fn check_headers(&mut self) {
        let (policy, limit) = (self.exchange.header("ratelimit-policy"), self.exchange.header("ratelimit"));
        if !(policy.is_empty() && limit.is_empty()) {
            self.count(&rules::RATE_LIMIT);
            let parsed = (budgets(policy, "q", Some("w")), budgets(limit, "r", None));
            if !matches!(&parsed, (Some(policy), Some(limit)) if policy == limit) {
                let expected =
                    r#"RateLimit-Policy: "name";q=1;w=60 and RateLimit: "name";r=1;t=1, for the same names"#;
                self.add(&rules::RATE_LIMIT, expected, format!("{policy} and {limit}"));
            }
        }
        if matches!(self.exchange.status, 429 | 503) {
            self.count(&rules::RETRY_AFTER);
            let got = self.exchange.header("retry-after");
            if got.parse::<u64>().is_err() {
                self.add(&rules::RETRY_AFTER, "Retry-After with a number of seconds", header_text(got));
            }
        }
    }

    fn check_absent_body(&mut self) {
        self.count(&rules::JSON);
        if !self.exchange.body.is_empty() {
            self.add(&rules::JSON, "no body", format!("{} bytes", self.exchange.body.len()));
        }
    }

    /// Checks a response of an operation against its document.
    fn check_documented(&mut self, operation: &Operation) {
        self.count(&rules::STATUS);
        let Some(response) = operation.responses.get(&self.exchange.status) else {
            // Wrong methods are answered by no operation.
            if self.exchange.status != 405 {
                let known: Vec<String> = operation.responses.keys().map(ToString::to_string).collect();
                let expected = format!("one of {}", known.join(", "));
                self.add(&rules::STATUS, expected, format!("status {}", self.exchange.status));
            }
            return self.check_json(JSON);
        };
        if response.content.is_empty() {
            return self.check_absent_body();
        }
        let kind = self.exchange.header("content-type").split(';').next().unwrap_or_default().trim();
        if kind != JSON && response.content.contains_key(kind) {
            self.count(&rules::CONTENT_TYPE);
            return;
        }
        let Some(schema) = response.content.get(JSON) else { return };
        self.check_json(JSON);
        for violation in operation.schemas.violations(schema, self.exchange.json()) {
            let rule = rule_of(violation.kind);
            let place = if violation.pointer.is_empty() { "the body" } else { &violation.pointer };
            self.add(rule, format!("{place}: {}", violation.expected), violation.got);
        }
        for rule in [
            &rules::MISSING_FIELD,
            &rules::UNKNOWN_FIELD,
            &rules::TYPE,
            &rules::VALUE,
            &rules::FORM,
            &rules::BOUNDS,
        ] {
            self.count(rule);
        }
    }

    fn check_json(&mut self, kind: &str) {
        self.count(&rules::CONTENT_TYPE);
        self.count(&rules::JSON);
        let got = self.exchange.header("content-type");
        let essence = got.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case(kind) {
            self.add(&rules::CONTENT_TYPE, kind, header_text(got));
        }
        if let Err(cause) = self.exchange.parsed() {
            self.add(
                &rules::JSON,
                "JSON",
                format!("{cause}: {}", String::from_utf8_lossy(&self.exchange.body)),
            );
        }
    }

    fn check_error(&mut self) {
        let exchange = self.exchange;
        if exchange.status < 400 || exchange.parsed().is_err() {
            return;
        }
        if exchange.status == 422 {
            self.count(&rules::VALIDATION_PLACE);
            let problems = exchange.json()["detail"].as_array().map(Vec::as_slice).unwrap_or_default();
            let place = |problem: &Value| problem["loc"][0].as_str().unwrap_or_default().to_owned();
            let is_known = |place: &String| ["path", "query", "header", "body"].contains(&place.as_str());
            let places: Vec<String> = problems.iter().map(place).collect();
            if places.is_empty() || !places.iter().all(is_known) {
                let expected = r#"{"detail": [{"loc": ["path" | "query" | "header" | "body", …], …}]}"#;
                self.add(&rules::VALIDATION_PLACE, expected, exchange.json().to_string());
            }
            return;
        }
        self.count(&rules::ERROR_CODE);
        self.count(&rules::ERROR_ID);
        let codes =
            CODES.iter().find(|(status, _)| *status == exchange.status).map_or(&[][..], |(_, codes)| codes);
        if !codes.contains(&exchange.code()) {
            let expected = format!("status {} with one of {}", exchange.status, codes.join(", "));
            self.add(&rules::ERROR_CODE, expected, short(&exchange.json()["error"]["code"]));
        }
        let id = &exchange.json()["error"]["request_id"];
        if id != exchange.header("x-request-id") {
            let expected = format!("error.request_id {:?}", exchange.header("x-request-id"));
            self.add(&rules::ERROR_ID, expected, short(id));
        }
    }
}

/// Returns the rule that a violation of a schema breaks.
fn rule_of(kind: Kind) -> &'static Rule {
    match kind {
        Kind::Missing => &rules::MISSING_FIELD,
        Kind::Unknown => &rules::UNKNOWN_FIELD,
        Kind::Type => &rules::TYPE,
        Kind::NotAllowed => &rules::VALUE,
        Kind::Form => &rules::FORM,
        Kind::Bounds => &rules::BOUNDS,
    }
}

fn header_text(value: &str) -> String {
    if value.is_empty() { "no such header".to_owned() } else { value.to_owned() }
}

/// Returns the names in a list of budgets such as `"address";q=3000;w=60, "catalog";q=1200;w=60`; `None` if it is
/// malformed or lacks a parameter. Parameters are counts, except for keys of partitions.
fn budgets<'a>(text: &'a str, required: &str, also_required: Option<&str>) -> Option<Vec<&'a str>> {
    let budget = |item: &'a str| {
        let mut parts = item.trim().split(';');
        let name = parts.next()?.trim().strip_prefix('"')?.strip_suffix('"')?;
        let mut found = Vec::new();
        for part in parts {
            let (key, value) = part.trim().split_once('=')?;
            let is_count = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            if ["q", "w", "r", "t"].contains(&key) && !is_count {
                return None;
            }
            found.push(key);
        }
        let has = |key: &str| found.contains(&key);
        (!name.is_empty() && has(required) && also_required.is_none_or(has)).then_some(name)
    };
    text.split(',').map(budget).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_have_names_and_counts() {
        let policy = r#""address";q=3000;w=60, "catalog";q=1200;w=60"#;
        assert_eq!(budgets(policy, "q", Some("w")), Some(vec!["address", "catalog"]));
        assert_eq!(budgets(r#""catalog";r=1199;t=1"#, "r", None), Some(vec!["catalog"]));
        assert_eq!(budgets(r#""catalog";r=1199;pk=:QQ==:"#, "r", None), Some(vec!["catalog"]));
        for invalid in
            ["", "catalog;r=1", r#""catalog""#, r#""catalog";r=x"#, r#""catalog";r=-1"#, r#""a";r=1,"#]
        {
            assert_eq!(budgets(invalid, "r", None), None, "{invalid}");
        }
    }
}
