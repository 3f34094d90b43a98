//! Changes, if they are allowed: a group with a raw data row and a codebase, which are deleted in the end.

use std::rc::Rc;

use marketplace_domain::written::counted;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    client::{Caller, Exchange, Request, Stop},
    documents::Document,
    rows,
    rules::{self, Rule},
    session::{Access, Session, outcome, target},
};

const GROUPS: &str = "/v2/asset-groups";
const GROUP: &str = "/v2/asset-groups/{group_id}";
const RAW_DATA: &str = "/v2/raw-data";
const RAW_DATA_ROW: &str = "/v2/raw-data/{asset_id}";
const CODEBASES: &str = "/v2/codebases";
const CODEBASE: &str = "/v2/codebases/{asset_id}";

/// The fields that a raw data row with only a title lacks.
const MISSING: [&str; 3] = ["description", "domain_tags", "price_usd"];

struct Writes<'a> {
    session: &'a mut Session,
    document: Rc<Document>,
    caller: Caller,
    /// The paths of records that were created and not deleted yet, with their templates.
    created: Vec<(&'static str, String)>,
}

/// Checks changes of the first team that is a vendor. Deletes what it created, even if the check must end.
pub fn check(session: &mut Session, accesses: &[Access]) -> Result<(), Stop> {
    let found = accesses.iter().find_map(|access| {
        let document = access.documents.iter().find(|document| document.find("POST", GROUPS).is_some())?;
        Some((access.key, Rc::clone(document)))
    });
    let Some((key, document)) = found else {
        session.report.add_unchecked("changes", "no key of a vendor");
        return Ok(());
    };
    let mut writes = Writes { session, document, caller: Caller::Key(key), created: Vec::new() };
    let result = writes.run();
    writes.session.client.begin_clean_up();
    let cleaned = writes.clean_up();
    result.and(cleaned)
}

impl Writes<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        let Some(group) = self.check_group()? else { return Ok(()) };
        self.check_raw_data(&group)?;
        self.check_codebase(&group)
    }

    /// Sends a change. Created records are deleted at the end, even if the change should have been refused.
    fn send(
        &mut self,
        method: &'static str,
        template: &'static str,
        id: &str,
        body: Option<String>,
        idempotency_key: Option<&str>,
    ) -> Result<Option<Exchange>, Stop> {
        let Some(operation) = self.document.find(method, template).cloned() else { return Ok(None) };
        let values: Vec<_> =
            operation.path_parameters().map(|name| (name.to_owned(), id.to_owned())).collect();
        let mut request = Request {
            method,
            target: operation.path_with(&values),
            caller: self.caller,
            headers: Vec::new(),
            body,
        };
        if let Some(key) = idempotency_key {
            request = request.with_header("idempotency-key", key);
        }
        let response = self.session.send(Some(&operation), request)?;
        let created = response.as_ref().filter(|exchange| method == "POST" && exchange.status == 201);
        if let Some(id) = created.and_then(|exchange| uuid(&exchange.json()["id"])) {
            let template = match template {
                GROUPS => GROUP,
                RAW_DATA => RAW_DATA_ROW,
                _ => CODEBASE,
            };
            if self.created.iter().all(|(_, known)| *known != id) {
                self.created.push((template, id));
            }
        }
        Ok(response)
    }

    fn post(&mut self, template: &'static str, body: &Value) -> Result<Option<Exchange>, Stop> {
        self.send("POST", template, "", Some(body.to_string()), None)
    }

    fn expect(&mut self, rule: &'static Rule, response: Option<&Exchange>, status: u16, code: &str) -> bool {
        let Some(exchange) = response else { return false };
        let name = self.name_of(exchange);
        self.session.expect(rule, &name, exchange, status, code)
    }

    fn name_of(&self, exchange: &Exchange) -> String {
        let path = exchange.request.target.split('?').next().unwrap_or_default();
        let method = exchange.request.method;
        let mut operations = self.document.operations.iter();
        let found = operations.find(|operation| operation.method == method && operation.matches_path(path));
        found.map(|operation| operation.id.clone()).unwrap_or_default()
    }

    fn expect_problem(&mut self, response: Option<&Exchange>, place: &[&str]) {
        if let Some(exchange) = response {
            let name = self.name_of(exchange);
            self.session.expect_problem(&rules::REFUSAL, &name, exchange, place);
        }
    }

    /// Checks that a field of a response has a value.
    fn expect_field(&mut self, response: Option<&Exchange>, pointer: &str, value: &Value) {
        let Some(exchange) = response else { return };
        self.session.report.count(&rules::WRITE);
        let got = exchange.json().pointer(pointer).unwrap_or(&Value::Null);
        if got != value {
            let (name, expected) = (self.name_of(exchange), format!("{pointer}: {value}"));
            self.session.report.add(&rules::WRITE, &name, exchange, expected, got.to_string());
        }
    }

    fn get(&mut self, template: &'static str, id: &str) -> Result<Option<Exchange>, Stop> {
        self.send("GET", template, id, None, None)
    }

    /// Creates a group, repeats the request, and tries invalid ones. Returns the ID of the group.
    fn check_group(&mut self) -> Result<Option<String>, Stop> {
        let name = format!("Check {}", self.session.client.run_name());
        let key = format!("check-{}", Uuid::new_v4());
        let body = json!({"name": name}).to_string();
        let first = self.send("POST", GROUPS, "", Some(body.clone()), Some(&key))?;
        if !self.expect(&rules::WRITE, first.as_ref(), 201, "") {
            return Ok(None);
        }
        let Some(first) = first else { return Ok(None) };
        let Some(group) = uuid(&first.json()["id"]) else { return Ok(None) };
        self.expect_field(Some(&first), "/name", &json!(name));
        let operation = self.name_of(&first);
        if let Some(again) = self.send("POST", GROUPS, "", Some(body), Some(&key))? {
            self.session.report.count(&rules::IDEMPOTENCY);
            if (again.status, again.json()) != (first.status, first.json()) {
                let expected = format!("status {} with the same body", first.status);
                self.session.report.add(&rules::IDEMPOTENCY, &operation, &again, expected, outcome(&again));
            }
        }
        let other = json!({"name": format!("{name} b")}).to_string();
        if let Some(reused) = self.send("POST", GROUPS, "", Some(other), Some(&key))? {
            let place = ["header", "Idempotency-Key"];
            if self.session.expect_problem(&rules::IDEMPOTENCY, &operation, &reused, &place)
                && reused.json()["detail"][0]["type"] != "idempotency_key_reused"
            {
                let got = reused.json()["detail"][0]["type"].to_string();
                self.session.report.add(
                    &rules::IDEMPOTENCY,
                    &operation,
                    &reused,
                    "type idempotency_key_reused",
                    got,
                );
            }
        }
        let duplicate = self.post(GROUPS, &json!({"name": name.to_uppercase()}))?;
        self.expect(&rules::REFUSAL, duplicate.as_ref(), 409, "conflict");
        let unknown = self.post(GROUPS, &json!({"name": format!("{name} c"), "no_such_field": 1}))?;
        self.expect_problem(unknown.as_ref(), &["body", "no_such_field"]);
        let empty = self.post(GROUPS, &json!({}))?;
        self.expect_problem(empty.as_ref(), &["body", "name"]);
        let malformed = self.send("POST", GROUPS, "", Some("{\"name\": ".to_owned()), None)?;
        self.expect(&rules::REFUSAL, malformed.as_ref(), 400, "bad_request");
        let renamed = json!({"name": format!("{name} d")});
        let response = self.send("PATCH", GROUP, &group, Some(renamed.to_string()), None)?;
        self.expect(&rules::WRITE, response.as_ref(), 200, "");
        let read = self.get(GROUP, &group)?;
        self.expect_field(read.as_ref(), "/name", &renamed["name"]);
        Ok(Some(group))
    }

    fn check_raw_data(&mut self, group: &str) -> Result<(), Stop> {
        let body = json!({"title": format!("Check {}", self.session.client.run_name()), "group_id": group});
        let row = self.post(RAW_DATA, &body)?;
        if !self.expect(&rules::WRITE, row.as_ref(), 201, "") {
            return Ok(());
        }
        for (pointer, value) in
            [("/stage", json!("incomplete")), ("/missing", json!(MISSING)), ("/group_id", json!(group))]
        {
            self.expect_field(row.as_ref(), pointer, &value);
        }
        let Some(id) = row.and_then(|row| uuid(&row.json()["id"])) else { return Ok(()) };
        let with = |name: &str, value: Value| {
            let mut changed = body.clone();
            changed["title"] = format!("Check {}", Uuid::new_v4()).into();
            changed[name] = value;
            changed
        };
        let duplicate = self.post(RAW_DATA, &body)?;
        self.expect(&rules::REFUSAL, duplicate.as_ref(), 409, "conflict");
        let exclusive = self.post(RAW_DATA, &with("exclusivity", json!("available")))?;
        self.expect_problem(exclusive.as_ref(), &["body", "exclusivity"]);
        let foreign = self.post(RAW_DATA, &with("group_id", json!(Uuid::new_v4())))?;
        self.expect_problem(foreign.as_ref(), &["body", "group_id"]);
        self.check_listed(group, &id)?;
        let kept = self.send("DELETE", GROUP, group, None, None)?;
        self.expect(&rules::REFUSAL, kept.as_ref(), 409, "group_not_empty");
        for description in [json!("Made by a check."), Value::Null] {
            let patch = json!({"description": description}).to_string();
            let changed = self.send("PATCH", RAW_DATA_ROW, &id, Some(patch), None)?;
            self.expect(&rules::WRITE, changed.as_ref(), 200, "");
            let read = self.get(RAW_DATA_ROW, &id)?;
            self.expect_field(read.as_ref(), "/description", &description);
        }
        self.delete(RAW_DATA_ROW, &id)
    }

    /// Checks that the list of a group has its only row.
    fn check_listed(&mut self, group: &str, id: &str) -> Result<(), Stop> {
        let Some(operation) = self.document.find("GET", RAW_DATA).cloned() else { return Ok(()) };
        let request = Request::get(target(RAW_DATA, &[("group_id", group)]), self.caller);
        let Some(exchange) = self.session.send(Some(&operation), request)? else { return Ok(()) };
        self.session.report.count(&rules::WRITE);
        let rows = rows::identities(exchange.json());
        if rows != [id] {
            let got = counted(rows.len() as u64, "row", "rows");
            self.session.report.add(
                &rules::WRITE,
                &operation.id,
                &exchange,
                format!("only the row {id}"),
                got,
            );
        }
        Ok(())
    }

    fn check_codebase(&mut self, group: &str) -> Result<(), Stop> {
        let title = format!("Check {}", self.session.client.run_name());
        let body = json!({"title": title, "exclusivity": "available", "group_id": group});
        let mut invalid = body.clone();
        invalid["exclusivity"] = json!("no-such-value");
        let refused = self.post(CODEBASES, &invalid)?;
        self.expect_problem(refused.as_ref(), &["body", "exclusivity"]);
        let row = self.post(CODEBASES, &body)?;
        if !self.expect(&rules::WRITE, row.as_ref(), 201, "") {
            return Ok(());
        }
        self.expect_field(row.as_ref(), "/stage", &json!("incomplete"));
        let Some(id) = row.and_then(|row| uuid(&row.json()["id"])) else { return Ok(()) };
        let changed = self.send("PATCH", CODEBASE, &id, Some(json!({"commits": 5}).to_string()), None)?;
        self.expect(&rules::WRITE, changed.as_ref(), 200, "");
        let read = self.get(CODEBASE, &id)?;
        self.expect_field(read.as_ref(), "/commits", &json!(5));
        self.expect_field(read.as_ref(), "/locked_fields/commits", &json!("api"));
        self.delete(CODEBASE, &id)
    }

    /// Deletes what was created, and checks that it is gone.
    fn delete(&mut self, template: &'static str, id: &str) -> Result<(), Stop> {
        let response = self.send("DELETE", template, id, None, None)?;
        if self.expect(&rules::WRITE, response.as_ref(), 204, "") {
            self.created.retain(|(_, known)| known != id);
            let gone = self.get(template, id)?;
            self.expect(&rules::WRITE, gone.as_ref(), 404, "not_found");
        }
        Ok(())
    }

    /// Deletes all that is left of what was created, groups last.
    fn clean_up(&mut self) -> Result<(), Stop> {
        let mut created = self.created.clone();
        created.sort_by_key(|(template, _)| *template == GROUP);
        let mut result = Ok(());
        for (template, id) in created {
            if result.is_ok() {
                result = self.delete(template, &id);
            }
        }
        for (template, id) in &self.created {
            let path = template.split('{').next().unwrap_or_default();
            self.session
                .report
                .add_unchecked(&format!("{path}{id}"), "was created by this check, and is not deleted");
        }
        result
    }
}

/// Returns an ID that can be part of a path.
fn uuid(value: &Value) -> Option<String> {
    Uuid::try_parse(value.as_str()?).ok().map(|id| id.to_string())
}
