//! Every operation with a body reports all problems of the body at once, in the order of the body: those that
//! its schema finds, and those that the operation finds.

use std::{collections::BTreeSet, iter};

use marketplace::{
    domain::assets::Exclusivity,
    operations::{self, grants::GrantInput},
    rest,
};
use poem::http::Method;
use serde_json::{Value, json};

use super::cases::VENDOR;
use crate::harness::{
    TestMarket, TestResponse,
    documents::{Document, documents, documents_of_teams, vendor_document},
    records::{self, demo_records},
    uploads::import_zip,
};

/// An ID that nothing has.
pub const ABSENT: &str = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";

/// Operations whose bodies refer to nothing and repeat nothing, so only their schemas have problems.
const SCHEMA_ONLY: [&str; 3] = ["attach_codebase_data", "create_asset_group", "update_asset_group"];

/// Types of problems that only operations report.
const FOUND_BY_OPERATIONS: [&str; 6] =
    ["unknown_reference", "unknown_slug", "field_locked", "duplicate", "date_future", "less_than_equal"];

/// A part of a body, and the problems that it causes, each without `body.` and the prefix of the case.
pub type Part = (String, &'static [&'static str]);

/// A body with problems of several kinds.
pub struct Case {
    pub operation: &'static str,
    pub path: String,
    /// The path with an ID or a token that nothing has; empty if the path has none.
    absent_path: String,
    /// The text of the body before and after the parts.
    around: [&'static str; 2],
    /// Where the parts are, such as `items.1.`.
    prefix: &'static str,
    /// Problems before and after those of the parts.
    leading: &'static [&'static str],
    trailing: &'static [&'static str],
    pub parts: Vec<Part>,
}

impl Case {
    fn new(operation: &'static str, path: &str, parts: &[(&str, &'static [&'static str])]) -> Case {
        Case {
            operation,
            path: path.to_owned(),
            absent_path: String::new(),
            around: ["{", "}"],
            prefix: "",
            leading: &[],
            trailing: &[],
            parts: parts.iter().map(|(text, problems)| (text.replace("ABSENT", ABSENT), *problems)).collect(),
        }
    }

    fn with_id(mut self, id: &str) -> Case {
        self.absent_path = self.path.replace("{}", ABSENT);
        self.path = self.path.replace("{}", id);
        self
    }

    pub fn method(&self) -> &'static str {
        let operation = vendor_document().operation(self.operation);
        if operation.unwrap().method == "PATCH" { "PATCH" } else { "POST" }
    }

    /// Returns the body with its parts in this order, and its problems.
    pub fn body<'a>(&'a self, parts: impl Iterator<Item = &'a Part> + Clone) -> (String, Vec<String>) {
        let texts: Vec<&str> = parts.clone().map(|(text, _)| text.as_str()).collect();
        let of_parts = parts.flat_map(|(_, problems)| *problems);
        let of_parts = of_parts.map(|problem| format!("body.{}{problem}", self.prefix));
        let fixed = |problems: &'static [&str]| problems.iter().map(|problem| format!("body.{problem}"));
        let problems = fixed(self.leading).chain(of_parts).chain(fixed(self.trailing)).collect();
        (format!("{}{}{}", self.around[0], texts.join(","), self.around[1]), problems)
    }
}

const TAGS: (&str, &[&str]) = (
    r#""domain_tags": ["finance", "nope", 7, "Bad"]"#,
    &["domain_tags.1 unknown_slug", "domain_tags.2 string_type", "domain_tags.3 string_pattern_mismatch"],
);
const GROUP: (&str, &[&str]) = (r#""group_id": "ABSENT""#, &["group_id unknown_reference"]);
const COMMITS: (&str, &[&str]) = (r#""commits": -1"#, &["commits greater_than_equal"]);
const PRICE: (&str, &[&str]) = (r#""price_usd": 0.001"#, &["price_usd multiple_of"]);
const HISTORY: (&str, &[&str]) = (r#""history_end": "9999-12-31""#, &["history_end date_future"]);
const NOTES: (&str, &[&str]) = (r#""notes": 7"#, &["notes string_type"]);
const UPLOAD: &str = r#""upload_id": "ABSENT""#;
const UNKNOWN_UPLOAD: (&str, &[&str]) = (UPLOAD, &["upload_id unknown_reference"]);

fn codebase_cases(locked_codebase: &str, codebase: &str) -> Vec<Case> {
    let title = (r#""title": "Billing""#, &[][..]);
    let link = (r#""data": {"repo_full_name": "acme/ledger", "channel": "svn"}"#, &["data.channel enum"][..]);
    let create =
        Case::new("create_codebase", "codebases", &[GROUP, COMMITS, title, TAGS, link, PRICE, HISTORY]);
    let batch =
        Case::new("create_codebases", "codebases/batch", &[GROUP, COMMITS, title, TAGS, PRICE, HISTORY]);
    let locked = (r#""commits": 7"#, &["commits field_locked"][..]);
    let both =
        (r#""contributors": -1"#, &["contributors greater_than_equal", "contributors field_locked"][..]);
    let exclusivity = (r#""exclusivity": "maybe""#, &["exclusivity enum"][..]);
    let update = Case::new("update_codebase", "codebases/{}", &[locked, exclusivity, GROUP, both, TAGS]);
    let channel = (r#""channel": "svn""#, &["channel enum"][..]);
    let name = (r#""repo_full_name": "x""#, &["repo_full_name string_too_short"][..]);
    vec![
        Case { leading: &["exclusivity missing"], ..create },
        Case {
            around: [
                r#"{"items": [{"title": "A", "exclusivity": "available", "domain_tags": ["nope"]}, {"#,
                "}, 7]}",
            ],
            prefix: "items.1.",
            leading: &["items.0.domain_tags.0 unknown_slug", "items.1.exclusivity missing"],
            trailing: &["items.2 dict_type"],
            ..batch
        },
        update.with_id(locked_codebase),
        Case::new("attach_codebase_data", "codebases/{}/data", &[channel, name]).with_id(codebase),
    ]
}

fn raw_data_cases(raw_data: &str) -> Vec<Case> {
    let url = (r#""url": "https://market.test/none.zip""#, &["url unknown_reference"][..]);
    let channel = (r#""channel": "tar""#, &["channel enum"][..]);
    let data = (
        r#""data": {"url": "https://market.test/none.zip", "channel": "tar"}"#,
        &["data.url unknown_reference", "data.channel enum"][..],
    );
    let suffix = (r#""suffix_title": "yes""#, &["suffix_title bool_type"][..]);
    let exclusivity = (r#""exclusivity": "available""#, &["exclusivity extra_forbidden"][..]);
    let create = Case::new("create_raw_data", "raw-data", &[data, TAGS, suffix, GROUP, NOTES, exclusivity]);
    vec![
        Case { leading: &["title missing"], ..create },
        Case::new("update_raw_data", "raw-data/{}", &[NOTES, GROUP, exclusivity, TAGS]).with_id(raw_data),
        Case::new("attach_raw_data", "raw-data/{}/data", &[url, channel]).with_id(raw_data),
    ]
}

fn other_cases(group: &str, task: &str, listing: &str) -> Vec<Case> {
    let name = (r#""name": 7"#, &["name string_type"][..]);
    let misspelled = (r#""nam": 1"#, &["nam extra_forbidden"][..]);
    let task_type = (r#""task_type": "physics""#, &["task_type enum"][..]);
    let taskset = (r#""taskset_id": "ABSENT""#, &["taskset_id value_error"][..]);
    let tasks = (r#""task_ids": []"#, &["task_ids too_short"][..]);
    let matches = (
        r#""matches": [{"sku": "task"}, {"group_id": "ABSENT", "filters": ["nope", 7], "sku": 3}]"#,
        &[
            "matches.1.group_id unknown_reference",
            "matches.1.filters.0 value_error",
            "matches.1.filters.1 string_type",
            "matches.1.sku string_type",
        ][..],
    );
    let ids = (r#""asset_ids": ["x"]"#, &["asset_ids.0 uuid_parsing"][..]);
    vec![
        Case::new("create_asset_group", "asset-groups", &[name, misspelled]),
        Case::new("update_asset_group", "asset-groups/{}", &[name, misspelled]).with_id(group),
        Case::new("import_tasks", "tasks/import", &[task_type, GROUP, taskset, tasks]),
        Case::new("update_task", "tasks/{}", &[task_type, TAGS, NOTES, GROUP]).with_id(task),
        Case::new("attach_listing_assets", "listings/{}/assets", &[matches, ids]).with_id(listing),
    ]
}

fn upload_cases(token: &str) -> Vec<Case> {
    let size = (r#""size_bytes": 2000"#, &["size_bytes less_than_equal"][..]);
    let file = (r#""file_name": """#, &["file_name string_too_short"][..]);
    let kind = (r#""content_type": "application/zip""#, &[][..]);
    let numbers = (r#""part_numbers": [1, 0]"#, &["part_numbers.1 greater_than_equal"][..]);
    let parts = (
        r#""parts": [{"part_number": 1, "etag": "a"}, {"etag": "", "part_number": 1}, 7]"#,
        &["parts.1.etag string_too_short", "parts.1.part_number duplicate", "parts.2 dict_type"][..],
    );
    let path = "vendor/uploads/grants/{}";
    vec![
        Case::new("plan_upload", path, &[size, file, kind]).with_id(token),
        Case::new("get_upload_parts", &format!("{path}/parts"), &[UNKNOWN_UPLOAD, numbers]).with_id(token),
        Case::new("complete_upload", &format!("{path}/complete"), &[UNKNOWN_UPLOAD, parts]).with_id(token),
    ]
}

async fn list(market: &TestMarket, path: &str) -> Vec<Value> {
    let page = market.get(VENDOR, &format!("/v2/{path}")).await.ok();
    page["items"].as_array().or_else(|| page["groups"].as_array()).unwrap().clone()
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

/// Returns the name of the team that the vendor's key belongs to.
fn team_name() -> &'static str {
    demo_records().find("teams", demo_records().team_of(VENDOR))["name"].as_str().unwrap()
}

/// Creates raw data with an archive.
async fn create_raw_data(market: &TestMarket) -> Value {
    let url = import_zip(market.market(), team_name(), b"PK\x05\x06");
    let body = json!({"title": "Scans", "data": {"channel": "zip", "url": url}});
    send(market, "POST", "raw-data", body.to_string()).await.expect_status(201)
}

fn create_grant(market: &TestMarket) -> String {
    let (team, exclusivity) = (team_name(), Exclusivity::Available);
    let grant = GrantInput { team, title: "Billing", exclusivity, group: None, max_bytes: Some(1_000) };
    market.write(|writer| operations::grants::create(writer, &grant)).unwrap().1
}

/// Returns a case of each operation with a body.
pub async fn cases(market: &TestMarket) -> Vec<Case> {
    let codebases = list(market, "codebases?limit=200").await;
    let is_locked = |codebase: &&Value| {
        ["commits", "contributors"].iter().all(|field| codebase["locked_fields"][field] == "github")
    };
    let locked = codebases.iter().find(is_locked).expect("a codebase with measured fields");
    let raw_data = create_raw_data(market).await;
    let tasks = list(market, "tasks").await;
    let groups = list(market, "asset-groups").await;
    let team = demo_records().team_of(VENDOR);
    let listing = demo_records().collection("listings").iter().find(|listing| listing["team"] == team);
    let listing = records::id("listings", listing.unwrap()).to_string();
    let mut cases = codebase_cases(id(locked), id(&codebases[0]));
    cases.extend(raw_data_cases(id(&raw_data)));
    cases.extend(other_cases(id(&groups[0]), id(&tasks[0]), &listing));
    cases.extend(upload_cases(&create_grant(market)));
    cases
}

pub async fn send(market: &TestMarket, method: &str, path: &str, body: String) -> TestResponse {
    let headers = [("x-api-key", VENDOR), ("content-type", "application/json")];
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    market.send_body(method, &format!("/v2/{path}"), &headers, body.into_bytes()).await
}

#[tokio::test]
async fn all_problems_of_a_body_are_reported_in_its_order() {
    let market = TestMarket::demo();
    let cases = cases(&market).await;
    let with_body: BTreeSet<&str> = documents_of_teams()
        .into_iter()
        .flat_map(Document::operations)
        .filter(|operation| operation.takes_body())
        .map(|operation| operation.id.as_str())
        .collect();
    assert_eq!(cases.iter().map(|case| case.operation).collect::<BTreeSet<_>>(), with_body);
    for case in &cases {
        let name = case.operation;
        let (body, problems) = case.body(case.parts.iter());
        assert_eq!(
            send(&market, case.method(), &case.path, body.clone()).await.problems(),
            problems,
            "{name}"
        );
        let (reversed, problems_reversed) = case.body(case.parts.iter().rev());
        let response = send(&market, case.method(), &case.path, reversed).await;
        assert_eq!(response.problems(), problems_reversed, "{name}");
        let is_of_operation =
            |problem: &String| FOUND_BY_OPERATIONS.iter().any(|kind| problem.ends_with(&format!(" {kind}")));
        assert_eq!(problems.iter().any(is_of_operation), !SCHEMA_ONLY.contains(&name), "{name}");
        assert!(!problems.iter().all(is_of_operation), "{name}");
        if !case.absent_path.is_empty() {
            // If the record in the path does not exist, at least the problems of the schema are reported, in the
            // same order.
            let reported = send(&market, case.method(), &case.absent_path, body).await.problems();
            let mut rest = problems.iter();
            assert!(
                reported.iter().all(|problem| rest.any(|other| other == problem)),
                "{name}: {reported:?}"
            );
            let mut missed = problems.iter().filter(|problem| !reported.contains(problem));
            assert!(missed.all(is_of_operation), "{name}: {reported:?}");
        }
    }
}

#[tokio::test]
async fn first_hundred_problems_of_a_batch_are_of_all_kinds() {
    let market = TestMarket::demo();
    let row = json!({"title": "A", "exclusivity": "available", "commits": -1, "domain_tags": ["nope"]});
    let body = json!({"items": vec![row; 120]});
    let problems = send(&market, "POST", "codebases/batch", body.to_string()).await.problems();
    let expected = (0..50).flat_map(|row| {
        [
            format!("body.items.{row}.commits greater_than_equal"),
            format!("body.items.{row}.domain_tags.0 unknown_slug"),
        ]
    });
    assert_eq!(problems, expected.collect::<Vec<_>>());
    let unknown = json!({"title": "A", "exclusivity": "available", "domain_tags": vec!["nope"; 20]});
    let late = json!({"title": "", "exclusivity": "available"});
    let items: Vec<Value> = iter::repeat_n(unknown, 120).chain([late]).collect();
    let problems =
        send(&market, "POST", "codebases/batch", json!({"items": items}).to_string()).await.problems();
    assert_eq!(problems.len(), 100);
    assert_eq!(problems[99], "body.items.4.domain_tags.19 unknown_slug");
}

#[tokio::test]
async fn conflicts_with_stored_rows_come_after_all_problems() {
    let market = TestMarket::demo();
    let raw = create_raw_data(&market).await;
    let taken = json!({"title": raw["title"], "domain_tags": ["nope"]});
    let response = send(&market, "POST", "raw-data", taken.to_string()).await;
    assert_eq!(response.problems(), ["body.domain_tags.0 unknown_slug"]);
    let response = send(&market, "POST", "raw-data", json!({"title": raw["title"]}).to_string()).await;
    assert_eq!(response.expect_error(409), "conflict");
    let path = format!("raw-data/{}/data", id(&raw));
    let upload = json!({"channel": "zip", "url": "https://market.test/none.zip"});
    let response = send(&market, "POST", &path, upload.to_string()).await;
    assert_eq!(response.problems(), ["body.url unknown_reference"]);
    let team = demo_records().team_of(VENDOR);
    let published = demo_records()
        .collection("listings")
        .iter()
        .find(|listing| listing["team"] == team && records::is_published(listing))
        .unwrap();
    let path = format!("listings/{}/assets", records::id("listings", published));
    let response = send(&market, "POST", &path, json!({"matches": [{"group_id": ABSENT}]}).to_string()).await;
    assert_eq!(response.problems(), ["body.matches.0.group_id unknown_reference"]);
    let response = send(&market, "POST", &path, "{}".to_owned()).await;
    assert_eq!(response.expect_error(409), "listing_not_editable");
    // The record in the path must exist before references are checked, but not before the schema is checked.
    let absent = format!("codebases/{ABSENT}");
    let response = send(&market, "PATCH", &absent, json!({"domain_tags": ["nope"]}).to_string()).await;
    assert_eq!(response.expect_error(404), "not_found");
    let body = json!({"commits": -1, "domain_tags": ["nope"]});
    assert_eq!(
        send(&market, "PATCH", &absent, body.to_string()).await.problems(),
        ["body.commits greater_than_equal", "body.domain_tags.0 unknown_slug"]
    );
}

/// Some clients send `{}` with every request.
#[tokio::test]
async fn operations_without_a_body_reject_content() {
    let market = TestMarket::demo();
    for (document, api) in documents().iter().zip(rest::APIS) {
        for operation in document.operations().iter().filter(|operation| !operation.takes_body()) {
            let steps = operation.path.split('/').map(|step| match step {
                "{job_id}" => "7",
                step if step.starts_with('{') => ABSENT,
                step => step,
            });
            let mut path = steps.collect::<Vec<_>>().join("/");
            if operation.id == "list_latest_estimations" {
                path = format!("{path}?asset_id={ABSENT}");
            }
            let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
            let headers = [("x-api-key", api.demo_key)];
            let send = async |body: &str| {
                market.send_body(method.clone(), &path, &headers, body.as_bytes().to_vec()).await
            };
            for body in ["x", "[]", "{", "{\"a\": 1}", "null", "{}{}", "}"] {
                assert_eq!(send(body).await.problems(), ["body extra_forbidden"], "{} {body}", operation.id);
            }
            let status = send("").await.status;
            for body in [" ", "{}", " \r\n{\t} "] {
                assert_eq!(send(body).await.status, status, "{} {body}", operation.id);
            }
            let blank = " ".repeat(1 << 17);
            assert_eq!(send(&blank).await.problems(), ["body extra_forbidden"], "{}", operation.id);
        }
    }
}

#[tokio::test]
async fn each_domain_tag_is_stored_once() {
    let market = TestMarket::demo();
    let domains = market.get(VENDOR, "/v2/domains").await.ok();
    let (first, second) = (&domains["domains"][0]["slug"], &domains["domains"][1]["slug"]);
    let (tags, once) = (json!([second, first, second]), json!([second, first]));
    let codebase = json!({"title": "A", "exclusivity": "available", "domain_tags": tags});
    let created = send(&market, "POST", "codebases", codebase.to_string()).await.expect_status(201);
    assert_eq!(created["domain_tags"], once);
    let batch = json!({"items": [codebase]}).to_string();
    let created = send(&market, "POST", "codebases/batch", batch).await.expect_status(201);
    assert_eq!(created["items"][0]["domain_tags"], once);
    let raw = json!({"title": "Tagged", "domain_tags": tags}).to_string();
    assert_eq!(send(&market, "POST", "raw-data", raw).await.expect_status(201)["domain_tags"], once);
    for collection in ["codebases", "raw-data", "tasks"] {
        let path = format!("{collection}/{}", id(&list(&market, collection).await[0]));
        let changed = send(&market, "PATCH", &path, json!({"domain_tags": tags}).to_string()).await.ok();
        assert_eq!(changed["domain_tags"], once);
        assert_eq!(market.get(VENDOR, &format!("/v2/{path}")).await.ok()["domain_tags"], once);
    }
}

#[tokio::test]
async fn ids_that_are_no_uuids_are_rejected_everywhere() {
    let market = crate::harness::demo();
    for (path, parameter) in [
        ("assets", "id"),
        ("codebases", "id"),
        ("raw-data", "id"),
        ("tasks", "id"),
        ("estimations/latest", "asset_id"),
    ] {
        let response =
            market.get(VENDOR, &format!("/v2/{path}?{parameter}={ABSENT}&{parameter}=nonsense")).await;
        assert_eq!(response.problems(), [format!("query.{parameter}.1 uuid_parsing")], "{path}");
    }
}
