//! Adding assets: files in parts and in one request, tables, tasks, and repositories.

mod files;
mod tables;
mod whole_files;

use marketplace::config::Settings;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    catalog::small_market,
    harness::{
        TestMarket,
        browser::{Browser, Page},
    },
    vendor_api::seller_market::{SELLER, seeded_id, taskset_record},
};

/// Keys of two vendors for their browsers.
const VENDOR: &str = "mkt_seller_people";
const OTHER_VENDOR: &str = "mkt_both_people";

const FILE: &str = "/console/inventory/add/file";
const WHOLE: &str = "/console/inventory/add/file/whole";
const TASKS: &str = "/console/inventory/add/tasks";
const REPOSITORY: &str = "/console/inventory/add/repository";

fn market() -> TestMarket {
    market_with(&[], |_| {})
}

/// Returns a market of two vendors with these tasksets, and with changed settings.
fn market_with(tasksets: &[Value], change: impl FnOnce(&mut Settings)) -> TestMarket {
    let market = TestMarket::with_settings(change);
    let key = |team: &str| {
        json!({"key": format!("{team}-people"), "team": team, "name": "People", "scope": "console",
        "secret": format!("mkt_{team}_people"), "created_at": "-P99D"})
    };
    let keys = [key("seller"), key("both")];
    small_market::seed_market(&market, &[], &json!({"keys": keys, "tasksets": tasksets}));
    market
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// Returns the ID of the only codebase with a title that has these words.
async fn find_codebase(market: &TestMarket, words: &str) -> String {
    let found = market.get(SELLER, &format!("/v2/codebases?filter=name:contains:{words}")).await.ok();
    assert_eq!(found["total"], 1, "{found}");
    found["items"][0]["id"].as_str().unwrap().to_owned()
}

async fn get_codebase(market: &TestMarket, id: &str) -> Value {
    market.get(SELLER, &format!("/v2/codebases/{id}")).await.ok()
}

async fn count_codebases(market: &TestMarket) -> u64 {
    market.get(SELLER, "/v2/codebases").await.ok()["total"].as_u64().unwrap()
}

/// Sends a form with a file, as a browser without scripts does.
async fn send_form(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)], file: (&str, &[u8])) -> Page {
    let mut body = Vec::new();
    for (name, value) in fields {
        body.extend(
            format!("--edge\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes(),
        );
    }
    let (name, content) = file;
    body.extend(
        format!(
            "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             content-type: application/octet-stream\r\n\r\n"
        )
        .bytes(),
    );
    body.extend(content);
    body.extend(b"\r\n--edge--\r\n");
    let headers = [("content-type", "multipart/form-data; boundary=edge"), ("sec-fetch-site", "same-origin")];
    browser.send_typed(path, &headers, body).await
}

#[tokio::test]
async fn tasks_are_added_from_tasksets_with_what_is_skipped() {
    let [s, t] = ["s", "t"].map(|key| taskset_record(key, "seller"));
    let market = market_with(&[s, t, taskset_record("foreign", "both")], |_| {});
    let browser = Browser::signed_in(&market, VENDOR).await;
    let page = browser.get(TASKS).await;
    page.expect(200, "Set s (").expect(200, "Set t (");
    assert!(!page.text.contains("Set foreign"), "{}", page.visible());
    browser.get(&format!("{TASKS}?query=set%20t")).await.expect(200, "Set t (");
    browser.get(&format!("{TASKS}?query=zzz")).await.expect(200, "Nothing matches");
    browser.submit(&page, TASKS, &[]).await.expect(422, "Choose at least one taskset.");
    let [s, foreign] = ["s", "foreign"].map(|key| seeded_id("tasksets", key));
    browser
        .submit(&page, TASKS, &[("taskset_id", &s), ("task_type", "x")])
        .await
        .expect(422, "Choose the subject");
    assert_eq!(browser.submit(&page, TASKS, &[("taskset_id", &foreign)]).await.status(), 404);
    let added = browser.submit(&page, TASKS, &[("taskset_id", &s)]).await;
    added.expect(200, "3 tasks were added");
    for (task, reason) in [
        ("Task bare", "It has no version yet"),
        ("Task waiting", "Its latest version has no build"),
        ("Task broken", "The latest build of its latest version has not succeeded"),
    ] {
        added.expect(200, task).expect(200, reason);
    }
    assert!(!added.text.contains("Task gone"), "{}", added.visible());
    let again = browser.submit(&page, TASKS, &[("taskset_id", &s)]).await;
    again.expect(200, "3 tasks were added");
    let once_more = browser.submit(&browser.get(TASKS).await, TASKS, &[("taskset_id", &s)]).await;
    once_more.expect(200, "0 tasks were added");
    assert_eq!(market.get(SELLER, "/v2/tasks").await.ok()["total"], 3);
}

#[tokio::test]
async fn codebase_is_added_by_the_address_of_its_repository() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let page = browser.get(REPOSITORY).await;
    for wrong in
        ["https://example.com/a/b", "a/b", "https://github.com/a", "https://me:secret@github.com/a/b"]
    {
        let refused = browser.submit(&page, REPOSITORY, &[("repository", wrong)]).await;
        refused.expect(422, "GitHub, GitLab, or Bitbucket");
    }
    for (address, channel, title, name) in [
        ("https://github.com/tideclock/harbour/tree/main", "github", "harbour", "tideclock/harbour"),
        ("git@gitlab.com:group/sub/ledger.git", "gitlab", "ledger", "group/sub/ledger"),
        ("bitbucket.org/acme/kiosk/src/main/?at=main", "bitbucket", "kiosk", "acme/kiosk"),
    ] {
        // Each form has a key of its own.
        let page = browser.get(REPOSITORY).await;
        let added = browser.submit(&page, REPOSITORY, &[("repository", address)]).await;
        assert_eq!(added.status(), 303, "{}", added.visible());
        let again = browser.submit(&page, REPOSITORY, &[("repository", address)]).await;
        assert_eq!(again.location(), added.location());
        let codebase = get_codebase(&market, &find_codebase(&market, title).await).await;
        assert_eq!(codebase["title"], title);
        assert_eq!(codebase["data"]["channel"], channel, "{codebase}");
        browser.open(added.location()).await.expect(200, name);
    }
    assert_eq!(count_codebases(&market).await, 3);
    let new = json!({"title": "Empty", "exclusivity": "available"});
    let id = market.call(SELLER, "POST", "/v2/codebases", &new).await.expect_status(201)["id"].clone();
    let path = format!("/console/inventory/{}/repository", id.as_str().unwrap());
    let page = browser.get(&path).await;
    browser.submit(&page, &path, &[("repository", "x")]).await.expect(422, "GitHub, GitLab, or Bitbucket");
    let linked = browser.submit(&page, &path, &[("repository", "https://github.com/acme/empty")]).await;
    assert_eq!(linked.status(), 303, "{}", linked.visible());
    let other = Browser::signed_in(&market, OTHER_VENDOR).await;
    other.get(&path).await.expect(404, "This is not here");
    assert_eq!(other.post(&path, &[("repository", "https://github.com/a/b")]).await.status(), 404);
}
