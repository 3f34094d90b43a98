//! Steps of operators: a page offers a step exactly when the operator API accepts it, and both have the same effect on the record and
//! in the audit. Two markets have the same records. One is changed by the forms of the web app, the other one by the operator API.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::console::{self, Input, ResourceInfo, StepInfo};
use marketplace::domain::principals::PrincipalKind;
use serde_json::{Map, Value, json};

use super::{
    records::{Found, OPERATOR, key_of},
    resources,
};
use crate::{
    contract::cases::{READING_OPERATOR, cases},
    harness::{
        self, TestMarket,
        browser::{Browser, Page},
        documents::operator_document,
        markup::unescape,
        patterns::pattern,
        random::Random,
        records::{self, demo_records},
    },
};

/// Number of records of a resource that are tried.
const RECORDS: usize = 24;

/// Steps for which the demo has no record: no zip is being sent, and no job has failed or waits.
const NEVER_OFFERED: &[&str] = &["cancel_team_upload", "retry_job", "cancel_job"];

/// Steps that the records of the demo refuse with the values of this test, so that only the refusals are compared.
const ONLY_REFUSED: &[&str] = &["detach_listing_asset", "update_project_opportunity"];

/// Steps that pages do not offer in some states in which the API accepts them, since nobody means them: a certified listing is
/// certified again, or one without assets.
const WITHHELD: &[&str] = &["certify_listing"];

/// Values of fields that the examples of bodies do not state.
fn sample(name: &str) -> Option<Value> {
    Some(match name {
        "name" => json!("Another name"),
        "label" => json!("Another label"),
        "description" => json!("Another description."),
        "category" => json!("Another category"),
        "roles" => json!(["vendor", "buyer"]),
        "tier" => json!(3),
        "payout_setup" => json!("By bank transfer."),
        "expires_at" | "deadline" => json!("2027-03-01T00:00:00Z"),
        "title" => json!("Another title"),
        "place" => json!(70),
        "avatar_url" => json!("https://pictures.example/another.png"),
        _ => return None,
    })
}

/// Two markets with the same records, and an operator who uses the web app of the first one.
struct Markets<'m> {
    used: &'m TestMarket,
    called: &'m TestMarket,
    browser: Browser<'m>,
}

/// What failed, in words.
type Tested<T> = Result<T, String>;

impl<'m> Markets<'m> {
    async fn open(used: &'m TestMarket, called: &'m TestMarket) -> Markets<'m> {
        Markets { used, called, browser: Browser::signed_in(used, OPERATOR).await }
    }

    /// Sends a form with these values, and calls the operation. Returns whether both did it; fails unless both did it, or refused it.
    async fn perform(
        &self,
        (path, step): (&str, &StepInfo),
        form: &Value,
        (request, body): (&str, &Value),
    ) -> Tested<bool> {
        let path = format!("/console{path}");
        let page = self.browser.get(&path).await;
        assert_eq!(page.status(), 200, "{path}: {}", page.visible());
        let fields = fields_of(step, form);
        let retyped = retyped(&page);
        let mut fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fields.extend(retyped.as_deref().map(|name| ("retyped", name)));
        let answer = if page.text.contains(&format!("action=\"{path}\"")) {
            self.browser.submit(&page, &path, &fields).await
        } else {
            self.browser.post(&path, &fields).await
        };
        let answer = if answer.text.contains("name=\"confirmed\"") {
            assert_eq!(answer.status(), 200, "{path}");
            self.browser.submit(&answer, &path, &[("confirmed", "yes")]).await
        } else {
            answer
        };
        let method = &operator_document().operation(step.operation).unwrap().method;
        let called = self.called.call(OPERATOR, method, request, body).await;
        let (is_shown, is_done) = (answer.status() < 400, called.status < 300);
        if is_shown != is_done {
            let text = String::from_utf8_lossy(&called.bytes);
            let (status, visible) = (answer.status(), answer.visible());
            return Err(format!("{path} {fields:?} {status}: {visible}\n{body} {}: {text}", called.status));
        }
        Ok(is_done)
    }

    /// Tries a step of a record in both markets. Returns whether it was done. Fails unless both do the same and say the same in the
    /// audit, and if something that is not offered has an effect.
    async fn try_step(
        &self,
        info: &ResourceInfo,
        step: &StepInfo,
        key: &str,
        is_offered: bool,
    ) -> Tested<bool> {
        let path = format!("{}/{key}/{}", info.list, step.name);
        let record = format!("{}/{key}", info.api.unwrap_or_default());
        let before = (self.called.get(OPERATOR, &record).await.bytes, last_entry(self.called).await);
        let body = body_of(info, step, key);
        if !self.perform((&path, step), &body, (&request_of(step, key), &body)).await? {
            return Ok(false);
        }
        let is_same = self.called.get(OPERATOR, &record).await.bytes == before.0;
        if !is_offered && !is_same && !WITHHELD.contains(&step.operation) {
            return Err(format!("{path} is not offered, but was done"));
        }
        // The API also accepts a request that changes nothing.
        if last_entry(self.called).await != before.1 {
            self.compare_audit(step, Some(key)).await?;
        } else if !is_same {
            return Err(format!("{path} is not in the audit"));
        }
        self.compare(info, (key, key), &path).await?;
        Ok(true)
    }

    /// Fails unless a record is the same in both markets, apart from IDs that were made, and times.
    async fn compare(&self, info: &ResourceInfo, keys: (&str, &str), what: &str) -> Tested<()> {
        let Some(api) = info.api else { return Ok(()) };
        let used = self.used.get(OPERATOR, &format!("{api}/{}", keys.0)).await;
        let called = self.called.get(OPERATOR, &format!("{api}/{}", keys.1)).await;
        let is_same = used.status == called.status
            && (used.status != 200 || mask_variable(used.json()) == mask_variable(called.json()));
        let texts = [used.bytes, called.bytes].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        if is_same { Ok(()) } else { Err(format!("{what}: {} is not {}", texts[0], texts[1])) }
    }

    /// Returns the last entries of the audit in both markets, which say the same. `key` identifies the record.
    async fn compare_audit(&self, step: &StepInfo, key: Option<&str>) -> Tested<(String, String)> {
        let (used, called) = (last_entry(self.used).await, last_entry(self.called).await);
        let subject = |entry: &Value| entry["subject"]["id"].as_str().unwrap_or_default().to_owned();
        let said = |entry: &Value| {
            let is_own = key.is_some_and(|key| key == subject(entry));
            let names = ["operation", "team_id", "operator_key_id", "actor_kind"];
            (is_own, entry["subject"]["kind"].clone(), names.map(|name| entry[name].clone()))
        };
        if said(&used) != said(&called) || used["operation"] != step.operation {
            return Err(format!("{} {key:?}: {used} is not {called}", step.operation));
        }
        Ok((subject(&used), subject(&called)))
    }
}

/// Returns the text that a page asks to type again.
fn retyped(page: &Page) -> Option<String> {
    let name = page.text.split("<b id=\"retype\" translate=\"no\"><bdi>").nth(1)?.split("</bdi>").next()?;
    Some(unescape(name))
}

/// Returns the last entry of the audit.
async fn last_entry(market: &TestMarket) -> Value {
    market.get(OPERATOR, "/operator/v1/audit?limit=1").await.ok()["items"][0].clone()
}

/// Returns a value without what differs between two markets: IDs that were made, and times.
fn mask_variable(value: Value) -> Value {
    let varies = pattern(r"^(\d{4}-\d\d-\d\dT.*|[0-9a-f]{8}-[0-9a-f]{4}-.*)$");
    match value {
        Value::String(text) if varies.is_match(&text) => json!("varies"),
        Value::Array(items) => items.into_iter().map(mask_variable).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, mask_variable(value))).collect()
        }
        other => other,
    }
}

/// Returns the fields of a form that say what a body says.
fn fields_of(step: &StepInfo, body: &Value) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    for input in step.inputs {
        let (name, value) = (input.name(), &body[input.name()]);
        let texts =
            |value: &Value| -> Vec<String> { value.as_array().into_iter().flatten().map(text_of).collect() };
        let kind = if let Input::Required(kind) = input { kind } else { input };
        match (kind, value) {
            (Input::Tick(..), value) => {
                let value = if value == &json!(true) { "yes" } else { "" };
                fields.push((name, value.to_owned()));
            }
            (_, Value::Null) => {}
            (Input::Day(..), value) => fields.push((name, text_of(value)[..10].to_owned())),
            (Input::Lines(..), Value::Array(_)) => fields.push((name, texts(value).join("\n"))),
            (Input::Words(..), Value::Array(_)) => fields.push((name, texts(value).join(", "))),
            (_, Value::Array(_)) => fields.extend(texts(value).into_iter().map(|text| (name, text))),
            (_, value) => fields.push((name, text_of(value))),
        }
    }
    fields
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the body of the operation of a step for a record: the example of the document, with the fields that the form has.
fn body_of(info: &ResourceInfo, step: &StepInfo, key: &str) -> Value {
    match (step.operation, step.name) {
        ("update_webhook", name) => return json!({"status": format!("{name}d")}),
        ("update_asset_type", name) => return json!({"enabled": name == "enable"}),
        ("create_quality_run", "check") if info.list.ends_with("assets") => return json!({"asset_id": key}),
        ("create_quality_run", "check") => return json!({"listing_id": key}),
        _ if step.inputs.is_empty() => {
            let takes_body = operator_document().operation(step.operation).unwrap().takes_body();
            return if takes_body { json!({}) } else { Value::Null };
        }
        _ => {}
    }
    let of_operators = |case: &&crate::contract::cases::Case| {
        case.operation == step.operation && case.access.key_kind() == PrincipalKind::Operator
    };
    let example = cases().find(of_operators).unwrap().body();
    let value = |input: &Input| {
        let name = input.name();
        let value = Some(example[name].clone()).filter(|value| !value.is_null()).or_else(|| sample(name))?;
        Some((name.to_owned(), value))
    };
    let body: Map<String, Value> = step.inputs.iter().filter_map(value).collect();
    assert!(!body.is_empty(), "{} changes nothing", step.operation);
    Value::Object(body)
}

/// Returns the path of the operation of a step, with the key of the record that it is about.
fn request_of(step: &StepInfo, key: &str) -> String {
    let path = &operator_document().operation(step.operation).unwrap().path;
    match (path.find('{'), path.find('}')) {
        (Some(start), Some(end)) => format!("{}{key}{}", &path[..start], &path[end + 1..]),
        _ => path.clone(),
    }
}

/// Whether a step has a page of its own, which is tested by itself.
fn has_own_page(info: &ResourceInfo, step: &StepInfo) -> bool {
    let path = format!("{}/{{id}}/{}", info.list, step.name);
    console::pages().iter().any(|row| row.path == path)
}

/// Returns the names of the steps that the page of a record offers; the others are on it with a reason.
fn offered(info: &ResourceInfo, page: &Page, key: &str) -> Vec<&'static str> {
    let is_offered =
        |step: &&StepInfo| page.text.contains(&format!("href=\"/console{}/{key}/{}\"", info.list, step.name));
    let (offered, refused): (Vec<&StepInfo>, Vec<&StepInfo>) = info.steps.iter().partition(is_offered);
    for step in refused {
        let reason = page.text.split(&format!("<dt>{}</dt><dd>", step.label)).nth(1);
        let reason = reason.and_then(|rest| rest.split("</dd>").next()).unwrap_or_default();
        assert!(reason.len() > 5, "{}/{key} says nothing about {}", info.list, step.name);
    }
    offered.iter().map(|step| step.name).collect()
}

/// Returns the key with which operators of the tests sign in.
fn own_key() -> String {
    let own = demo_records().collection("operator_keys").iter().find(|key| key["secret"] == OPERATOR);
    own.map(|key| records::id("operator_keys", key).to_string()).unwrap_or_default()
}

/// Returns the keys of records: one of each state, then another one of each, and so on.
fn in_turns_of_states(records: &[&Value]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, String)> = Vec::new();
    for record in records {
        let state = ["status", "stage", "payment_method"].map(|name| &record[name]);
        let turn = seen.entry(format!("{state:?}")).or_default();
        turns.push((*turn, key_of(record)));
        *turn += 1;
    }
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, key)| key).collect()
}

/// What happened to the steps of a resource.
#[derive(Debug, Default)]
struct Tried {
    done: BTreeSet<&'static str>,
    /// Offered, but refused by both for another reason than the state, such as a balance.
    refused: BTreeSet<&'static str>,
    never: Vec<&'static str>,
}

/// Tries all steps of a resource, those last that cannot be undone.
async fn walk(info: &ResourceInfo, found: &Found, random: &mut Random, tried: &mut Tried) -> Tested<()> {
    let (used, called) = (harness::demo_with_grant(), harness::demo_with_grant());
    let markets = Markets::open(&used, &called).await;
    let mut records: Vec<&Value> =
        found.of(info).iter().filter(|record| key_of(record) != own_key()).collect();
    for index in (1..records.len()).rev() {
        records.swap(index, random.below(index as u64 + 1) as usize);
    }
    let mut keys = in_turns_of_states(&records);
    // A few records of each state are enough.
    keys.truncate(RECORDS);
    let mut menus = Vec::new();
    for key in &keys {
        let page = markets.browser.get(&format!("/console{}/{key}", info.list)).await;
        assert_eq!(page.status(), 200, "{}/{key}: {}", info.list, page.visible());
        menus.push(offered(info, &page, key));
    }
    for step in info.steps.iter().filter(|step| !has_own_page(info, step)) {
        if let Some(index) = menus.iter().position(|menu| !menu.contains(&step.name)) {
            markets.try_step(info, step, &keys[index], false).await?;
        }
        let mut candidates: Vec<usize> =
            (0..keys.len()).filter(|index| menus[*index].contains(&step.name)).collect();
        if candidates.is_empty() {
            tried.never.push(step.operation);
        }
        candidates.truncate(6);
        for index in candidates {
            let key = &keys[index];
            if !markets.try_step(info, step, key, true).await? {
                tried.refused.insert(step.operation);
                continue;
            }
            tried.done.insert(step.operation);
            let page = markets.browser.get(&format!("/console{}/{key}", info.list)).await;
            menus[index] = if page.status() == 200 { offered(info, &page, key) } else { Vec::new() };
            break;
        }
    }
    // The menu is also right after other steps.
    for (index, key) in keys.iter().enumerate().take(4) {
        for step in info.steps.iter().filter(|step| !has_own_page(info, step)) {
            let page = markets.browser.get(&format!("/console{}/{key}", info.list)).await;
            if page.status() != 200 {
                break;
            }
            menus[index] = offered(info, &page, key);
            markets.try_step(info, step, key, menus[index].contains(&step.name)).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn steps_are_offered_when_the_api_accepts_them_and_do_the_same() {
    let mut random = Random::new(7);
    let found = Found::all(harness::demo(), &resources()).await;
    let (mut tried, mut failed) = (Tried::default(), Vec::new());
    for info in resources().iter().filter(|info| !info.steps.is_empty()) {
        failed.extend(walk(info, &found, &mut random, &mut tried).await.err());
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    tried.never.retain(|operation| !tried.done.contains(operation) && !NEVER_OFFERED.contains(operation));
    assert!(tried.never.is_empty(), "{tried:#?}");
    let undone: Vec<_> = tried.refused.difference(&tried.done).copied().collect();
    assert_eq!(undone, ONLY_REFUSED, "no record allowed these");
}

#[tokio::test]
async fn records_are_made_as_by_the_api() {
    let found = Found::all(harness::demo(), &resources()).await;
    for info in resources() {
        let Some(step) = &info.new else { continue };
        let path = format!("{}/new", info.list);
        if console::pages().iter().any(|row| row.path == path && !row.operations.is_empty()) {
            continue;
        }
        let (used, called) = (harness::demo_with_grant(), harness::demo_with_grant());
        let markets = Markets::open(&used, &called).await;
        let parent = operator_document().operation(step.operation).unwrap().path.split('{').nth(1);
        let parent = parent.map(|rest| rest.split('}').next().unwrap().to_owned());
        let parent_id =
            parent.as_deref().map(|name| found.named(name).unwrap()[0].clone()).unwrap_or_default();
        let body = body_of(&info, step, &parent_id);
        let mut form = body.clone();
        if let Some(parent) = &parent {
            // The form states what the path of the operation states.
            form[parent] = json!(parent_id);
        }
        let request = request_of(step, &parent_id);
        assert!(markets.perform((&path, step), &form, (&request, &body)).await.unwrap(), "{path}: {body}");
        let (used_key, called_key) = markets.compare_audit(step, None).await.unwrap();
        markets.compare(&info, (&used_key, &called_key), &path).await.unwrap();
    }
}

#[tokio::test]
async fn operators_who_read_see_no_steps() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, READING_OPERATOR).await;
    let resources = resources();
    let found = Found::all(market, &resources).await;
    for info in &resources {
        let list = browser.get(&format!("/console{}", info.list)).await;
        assert!(!list.text.contains(&format!("{}/new", info.list)), "{}", info.list);
        let Some(key) = found.of(info).first().map(key_of) else { continue };
        let path = format!("/console{}/{key}", info.list);
        let page = browser.get(&path).await;
        assert_eq!(page.status(), 200, "{path}");
        for step in &info.steps {
            assert!(!page.text.contains(&format!("{path}/{}\"", step.name)), "{path} offers {}", step.name);
            assert_eq!(
                browser.get(&format!("{path}/{}", step.name)).await.status(),
                403,
                "{path}/{}",
                step.name
            );
        }
    }
}
