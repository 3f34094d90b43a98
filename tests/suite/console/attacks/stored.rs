//! Texts that vendors and buyers write, on all pages on which others see them.

use std::{collections::BTreeSet, fs, path::Path};

use marketplace::{console, fixtures, fixtures::FixtureSet};
use poem::http::Method;
use serde_json::{Value, json};

use super::{BOTH, BUYER, Crawl, OPERATOR, VENDOR, console_key, crawl};
use crate::harness::{
    TestMarket, backups,
    browser::{Browser, row_of},
    csv,
    markup::{self, Document},
    records::{self, demo_records},
};

/// Beginnings of short texts: a formula of spreadsheets, an end of attributes and elements, an element, and a letter of a
/// script that is read from the right. Characters that reverse what follows are refused in all texts.
pub const SHORT: &str = "=1+ZQ\"'><b onx=ZQ>\u{5D0}";

/// What shows that a text was written by an attacker.
const MARK: &str = "onx=ZQ";

/// What long texts contain in addition.
pub const LONG: &str = "&#x202E;&#8294;\n\n[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) <javascript:alert(1)> [c](data:text/html,x) \
     [d](//evil.example) ![e](https://evil.example/x.png) <a href=javascript:alert(1) onclick=x>f</a> \
     [g](https://evil.example/?\"onx=1) <script>alert(1)</script> <!-- x --> <![CDATA[x]]> <?x?>\n\n\
     ```html\tout flash\n</code><script>\n```\n\n| h | i |\n|:-:|--:|\n| <b> | j |\n\n\
     # k\n\n<div\nonclick=x>\n\n> > > > > l\n\n[m]: javascript:x \"n\"\n\n[m]\n\n<style>*{}</style>\n\n&lt;script&gt; &#60;b&#62;\n\n";

/// The characters that change the direction of what follows.
pub const CONTROLS: [char; 9] = [
    '\u{202A}', '\u{202B}', '\u{202C}', '\u{202D}', '\u{202E}', '\u{2066}', '\u{2067}', '\u{2068}',
    '\u{2069}',
];

/// Replaces the texts of a record that people write.
fn corrupt(collection: &str, name: &str, value: &mut Value) {
    const SHORT_NAMES: [&str; 20] = [
        "overview",
        "title",
        "name",
        "task",
        "notes",
        "message",
        "label",
        "external_id",
        "assignee",
        "change_note",
        "expected",
        "grading",
        "persona",
        "policy",
        "action",
        "event",
        "file_name",
        "review_feedback",
        "model",
        "response",
    ];
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if !["brief.prompt", "delivery", "asset_types", "$schema"].contains(&name.as_str()) {
                    corrupt(collection, name, value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| corrupt(collection, name, value)),
        Value::String(text) => {
            let is_reference = (["notifications", "assets"].contains(&collection) && name == "task")
                || (collection == "tasksets" && name == "event")
                || (collection == "listings" && name == "event")
                || (name == "label" && collection == "asset_types")
                || (collection == "tasksets"
                    && name == "name"
                    && !text.contains(' ')
                    && *text == text.to_lowercase());
            if is_reference {
                return;
            }
            if ["description", "terms", "prompt", "rubric"].contains(&name) {
                let has_space = !["webhooks", "ledger_entries"].contains(&collection);
                let (long, word) = if has_space { (LONG, 5_000) } else { ("", 0) };
                let word = if name == "rubric" { 0 } else { word };
                *text = format!("{SHORT}{text}{long}{}", "W".repeat(word));
            } else if SHORT_NAMES.contains(&name) {
                *text = format!("{SHORT}{text}");
            }
        }
        _ => {}
    }
}

/// Creates the demo market with texts that attack.
fn corrupted_demo() -> TestMarket {
    let directory = tempfile::tempdir().unwrap();
    backups::copy_directory(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo"), directory.path());
    for entry in fs::read_dir(directory.path()).unwrap().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|extension| extension == "json") {
            let mut file: Value = serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap();
            for (collection, records) in file.as_object_mut().unwrap() {
                if !["keys", "operator_keys", "asset_types", "estimations"].contains(&collection.as_str()) {
                    corrupt(collection, collection, records);
                }
            }
            fs::write(entry.path(), file.to_string()).unwrap();
        }
    }
    let market = TestMarket::empty();
    let set = FixtureSet::open(directory.path()).unwrap();
    fixtures::seed(market.market(), &set).unwrap();
    market
}

/// Returns what an attacker's text can change on a page.
pub fn faults(document: &Document) -> Vec<String> {
    let mut faults = Vec::new();
    for line in &document.lines {
        // Each line of preformatted text is on its own.
        for piece in line
            .iter()
            .filter(|piece| piece.text.contains(MARK) && !piece.is_isolated && piece.block != "pre")
        {
            let is_alone = line.iter().all(|other| other.is_isolated || other.text.contains(MARK));
            // What cannot have elements ends with the text.
            let is_last = piece.text.trim_start().starts_with(SHORT)
                || ["title", "option", "textarea"].contains(&piece.block.as_str());
            if !is_alone || !is_last {
                let line: Vec<&str> = line.iter().map(|piece| piece.text.as_str()).collect();
                faults.push(format!(
                    "<{}> is not isolated: {}",
                    piece.block,
                    line.join("|").chars().take(160).collect::<String>()
                ));
            }
        }
    }
    faults
}

/// What only worlds have, what leads to another page, and files without markup of downloads that are ready.
const NOT_OPENED: [&str; 5] = [
    "/world-clock",
    "/project-opportunities/{id}",
    "/purchases/{purchase_id}/attestation",
    "/purchases/{purchase_id}/proof",
    "/purchases/{purchase_id}/sha256",
];

/// Plans an upload, and changes many assets, so that the pages of these are opened.
async fn begin(browser: &Browser<'_>) {
    let upload = [
        ("form_key", "upload"),
        ("kind", "raw_data"),
        ("title", SHORT),
        ("file_name", SHORT),
        ("size_bytes", "1000"),
    ];
    let change = [("form_key", "change"), ("all", "1"), ("action", "describe"), ("description", SHORT)];
    for (path, fields) in
        [("/console/inventory/add/file", &upload[..]), ("/console/inventory/changes/new", &change)]
    {
        let page = browser.post(path, fields).await;
        assert_eq!(page.status(), 303, "{path}: {}", page.visible());
    }
}

/// Starts an import of traces, plans an upload for a team, records a build, and creates a world, so that the pages of these are
/// opened.
async fn begin_as_operator(market: &TestMarket) {
    let first = async |path: &str| {
        let list = market.get(OPERATOR, &format!("/operator/v1/{path}?limit=1")).await.ok();
        list["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{path}: {list}")).to_owned()
    };
    let create = async |path: &str, body: Value| {
        let answer = market.call(OPERATOR, "POST", &format!("/operator/v1/{path}"), &body).await;
        answer.expect_status(201)
    };
    let taskset = first("tasksets").await;
    let plan = json!({"file_name": "a.jsonl", "size_bytes": 1});
    let upload = create(&format!("tasksets/{taskset}/trace-uploads"), plan).await;
    assert_eq!(market.send_part(&upload["parts"][0], "\n".to_owned()).await.status, 200);
    create(&format!("tasksets/{taskset}/traces"), json!({"upload_id": upload["id"]})).await;
    let team = records::id("teams", demo_records().find("teams", demo_records().team_of(VENDOR)));
    let plan = json!({"file_name": format!("{SHORT}.zip"), "size_bytes": 22});
    create(&format!("teams/{team}/uploads"), plan).await;
    let task = first(&format!("tasksets/{taskset}/tasks")).await;
    let version = first(&format!("tasks/{task}/versions")).await;
    create(&format!("task-versions/{version}/builds"), json!({"status": "queued"})).await;
    let browser = Browser::signed_in(market, OPERATOR).await;
    let path = "/console/operator/worlds/new";
    let form = browser.get(path).await;
    let world = browser.submit(&form, path, &[("name", "one"), ("from", "empty")]).await;
    assert_eq!(world.status(), 303, "{}", world.visible());
}

#[tokio::test]
async fn texts_of_others_change_nothing_on_any_page() {
    let market = corrupted_demo();
    let (browser, path) = (Browser::signed_in(&market, VENDOR).await, "/console/settings/grants/new");
    let form = browser.get(path).await;
    browser
        .submit(&form, path, &[("title", &format!("{SHORT} grant"))])
        .await
        .expect(200, "&lt;b onx=ZQ&gt;");
    begin(&browser).await;
    begin_as_operator(&market).await;
    let mut opened = BTreeSet::new();
    let (mut faults_found, mut marks) = (BTreeSet::new(), 0);
    // It has received a delivery.
    let other = console_key(&market, &format!("{SHORT}Copperline AI")).await;
    for key in
        [BUYER, BOTH, VENDOR, OPERATOR, "mkt_demo_locked", "mkt_demo_no_nda", "mkt_demo_no_role", &other]
    {
        let browser = Browser::signed_in(&market, key).await;
        let Crawl { mut pages, .. } = crawl(&browser).await;
        // The states of these records do not allow these steps, and their pages say so. So no page links them.
        for (record, step) in [("/selling/listings/{id}", "restore"), ("/operator/assets/{id}", "check")] {
            let is_record = |address: &&String| row_of(address).is_some_and(|row| row.path == record);
            if let Some(found) = pages.keys().find(is_record) {
                let address = format!("{}/{step}", found.split('?').next().unwrap());
                let page = browser.get(&address).await;
                pages.insert(address, page);
            }
        }
        for (address, page) in pages {
            let row = row_of(&address).map_or("", |row| row.path);
            if page.status() == 200 {
                opened.insert(row);
            }
            if !page.response.header("content-type").starts_with("text/html") {
                continue;
            }
            marks += page.text.matches(MARK).count();
            match markup::parse(&page.text) {
                Err(fault) => drop(faults_found.insert(format!("{row}: {fault}"))),
                Ok(document) => {
                    faults_found.extend(faults(&document).into_iter().map(|fault| format!("{row}: {fault}")));
                }
            }
            if page.text.contains(CONTROLS) {
                faults_found.insert(format!("{row} has characters that change directions"));
            }
        }
    }
    assert!(marks > 1_000, "{marks} texts of attackers were shown");
    let faults_found: Vec<_> = faults_found.into_iter().collect();
    assert!(faults_found.is_empty(), "{} faults:\n{}", faults_found.len(), faults_found.join("\n"));
    let missing: Vec<_> = console::pages()
        .into_iter()
        .filter(|row| row.is_shown && !opened.contains(row.path))
        .map(|row| row.path)
        .filter(|path| !NOT_OPENED.contains(path))
        .collect();
    assert!(missing.is_empty(), "no team opened {missing:?}");
}

#[tokio::test]
async fn cells_of_files_are_no_formulas() {
    let market = corrupted_demo();
    let mut files = 0;
    for key in [BUYER, BOTH, VENDOR] {
        let browser = Browser::signed_in(&market, key).await;
        for row in console::pages().into_iter().filter(|row| row.is_shown && !row.path.contains('{')) {
            let address = format!("/console{}?format=csv", row.path);
            let page = browser.send(Method::GET, &address, &[], String::new()).await;
            if !page.response.header("content-type").starts_with("text/csv") {
                continue;
            }
            files += usize::from(page.text.contains(MARK));
            for cell in csv::rows(&page.text).concat() {
                let begins = cell.trim_start_matches([' ', '\u{FEFF}', '\u{200B}', '\n']);
                let is_formula = begins.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
                let is_number = cell.parse::<f64>().is_ok();
                assert!(!is_formula || is_number, "{address}: {cell:?}");
                // Cells of a spreadsheet with another separator.
                for part in cell.split([';', '\t', '\r', '\n']) {
                    let begins = part.trim_start_matches([' ', '\u{FEFF}', '\u{200B}', '"']);
                    let is_formula = begins.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
                    assert!(!is_formula || is_number, "{address}: {cell:?}");
                }
            }
        }
    }
    assert!(files > 4, "{files} files have texts of others");
}

#[tokio::test]
async fn note_in_a_link_is_text() {
    let browser = Browser::signed_in(crate::harness::demo(), BUYER).await;
    let catalog = browser.get("/console/catalog").await;
    let (_, id) = catalog.text.split_once("href=\"/console/listings/").expect("a listing");
    let listing = format!("/console/listings/{}", &id[..36]);
    let note =
        format!("{SHORT}\u{202E}<script>alert(1)</script>\u{0}\u{7}\r\nSet-Cookie: x{}", "W".repeat(5_000));
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("note", &note).finish();
    for address in [format!("{listing}?{query}"), format!("{listing}?{query}&link=yes")] {
        let page = browser.get(&address).await;
        page.expect(200, "&lt;b onx=ZQ&gt;");
        let document = markup::parse(&page.text).unwrap();
        assert!(faults(&document).is_empty(), "{:?}", faults(&document));
        assert!(!page.text.contains(['\u{0}', '\u{7}', '\u{202E}']));
        assert!(!page.text.contains(&"W".repeat(501)), "notes are short");
    }
}
