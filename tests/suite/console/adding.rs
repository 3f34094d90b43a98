//! Adding assets: files in parts and in one request, tables, and repositories.

use poem::http::Method;

use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
};

const BOTH: &str = "mkt_demo_both";
const VENDOR: &str = "mkt_demo_vendor";

/// Content of a file. Uploads do not read it.
const CONTENT: &str = "0123456789012345678901234567890";

const FILE: &str = "/console/inventory/add/file";

/// Plans an upload of [`CONTENT`], as the script does. Returns the path of its page.
async fn plan(browser: &Browser<'_>, title: &str) -> String {
    let size = CONTENT.len().to_string();
    let fields = [
        ("form_key", title),
        ("kind", "raw_data"),
        ("title", title),
        ("file_name", "letters.zip"),
        ("size_bytes", &size),
        ("modified_ms", "1700000000000"),
    ];
    let planned = browser.post(FILE, &fields).await;
    assert_eq!(planned.status(), 303, "{}", planned.visible());
    assert!(planned.location().starts_with("/console/inventory/add/uploads/"), "{}", planned.location());
    planned.location().to_owned()
}

async fn put(browser: &Browser<'_>, path: &str, site: &str, content: &str) -> u16 {
    browser.send(Method::PUT, path, &[("sec-fetch-site", site)], content.to_owned()).await.status()
}

#[tokio::test]
async fn file_is_sent_in_parts_and_becomes_raw_data() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let refused = browser.post(FILE, &[("kind", "raw_data")]).await;
    refused.expect(422, "Enter a title");
    let path = plan(&browser, "Court letters").await;
    browser.get(&path).await.expect(200, "data-part-count=\"1\"").expect(200, "Nothing has arrived yet");
    browser.get("/console/inventory/add").await.expect(200, "Unfinished uploads").expect(200, "letters.zip");

    let part = format!("{path}/parts/1");
    assert_eq!(put(&browser, &part, "cross-site", CONTENT).await, 403);
    assert_eq!(put(&browser, &part, "same-origin", &CONTENT[1..]).await, 400);
    assert_eq!(put(&browser, &format!("{path}/parts/2"), "same-origin", CONTENT).await, 404);
    let other = Browser::signed_in(&market, VENDOR).await;
    assert_eq!(put(&other, &part, "same-origin", CONTENT).await, 404);
    other.get(&path).await.expect(404, "");
    assert_eq!(browser.post(&format!("{path}/complete"), &[]).await.status(), 409, "nothing has arrived");
    assert_eq!(put(&browser, &part, "same-origin", CONTENT).await, 204);

    let page = browser.get(&path).await;
    page.expect(200, "data-received=\"1\"").expect(200, "1 of 1 part have arrived");
    let complete = format!("{path}/complete");
    assert_eq!(other.post(&complete, &[]).await.status(), 404);
    let completed = browser.submit(&page, &complete, &[]).await;
    assert_eq!(completed.status(), 303, "{}", completed.visible());
    let done = browser.get(&path).await;
    done.expect(200, "SHA-256").expect(200, "Court letters");
    assert_eq!(browser.submit(&page, &complete, &[]).await.status(), 303, "once more");
    let titles = market.get(BOTH, "/v2/raw-data?filter=name:contains:Court%20letters").await.json();
    assert_eq!(titles["total"], 1, "{titles}");
    assert!(!browser.get("/console/inventory/add").await.text.contains("letters.zip"));
}

#[tokio::test]
async fn discarded_upload_accepts_no_part() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let path = plan(&browser, "Court letters").await;
    let discard = format!("{path}/discard");
    let question = browser.get(&discard).await;
    question.expect(200, "letters.zip");
    assert_eq!(browser.submit(&question, &discard, &[]).await.status(), 303);
    assert_eq!(put(&browser, &format!("{path}/parts/1"), "same-origin", CONTENT).await, 404);
    browser.get(&path).await.expect(404, "");
}

/// Sends a form with a file, as a browser without scripts does.
async fn send_form(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)], file: (&str, &str)) -> Page {
    let mut body = String::new();
    for (name, value) in fields {
        body += &format!("--edge\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    }
    let (name, content) = file;
    body += &format!(
        "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         content-type: application/octet-stream\r\n\r\n{content}\r\n--edge--\r\n"
    );
    let headers = [("content-type", "multipart/form-data; boundary=edge"), ("sec-fetch-site", "same-origin")];
    browser.send_typed(path, &headers, body).await
}

#[tokio::test]
async fn file_is_sent_without_a_script() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let path = "/console/inventory/add/file/whole";
    let fields =
        [("form_key", "once"), ("kind", "codebase"), ("title", "Kiosk"), ("exclusivity", "available")];
    let refused = send_form(&browser, path, &fields[..2], ("kiosk.zip", CONTENT)).await;
    refused.expect(422, "Enter a title").expect(422, "action=\"/console/inventory/add/file/whole\"");
    send_form(&browser, path, &fields, ("", "")).await.expect(422, "Choose a zip file");
    let sent = send_form(&browser, path, &fields, ("kiosk.zip", CONTENT)).await;
    assert_eq!(sent.status(), 303, "{}", sent.visible());
    browser.open(sent.location()).await.expect(200, "kiosk.zip").expect(200, "Kiosk");
    let again = send_form(&browser, path, &fields, ("kiosk.zip", CONTENT)).await;
    assert_eq!(again.location(), sent.location());
}

#[tokio::test]
async fn codebases_of_a_table_are_all_added_or_none() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let path = "/console/inventory/add/table/rows";
    let count = async || market.get(BOTH, "/v2/codebases").await.json()["total"].as_u64().unwrap();
    let before = count().await;
    let table = "Title,Exclusive sale,Commits,Domains\nOne,yes,\"1,200\",\n,yes,many,nowhere\n";
    let refused = send_form(&browser, path, &[("table", table)], ("", "")).await;
    refused.expect(422, "Row 3, Title").expect(422, "Row 3, Commits").expect(422, "Row 3, Domains");
    assert_eq!(count().await, before);
    let fields = [("form_key", "once"), ("table", "ignored")];
    let added =
        send_form(&browser, path, &fields, ("a.csv", "Title;Exclusive sale\nOne;yes\nTwo;no\n")).await;
    assert_eq!(added.status(), 303, "{}", added.visible());
    assert_eq!(count().await, before + 2);
    let template = browser.get("/console/inventory/add/table/template").await;
    template.expect(200, "Title,Exclusive sale,Description");
}

#[tokio::test]
async fn codebase_is_added_by_the_address_of_its_repository() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let path = "/console/inventory/add/repository";
    let page = browser.get(path).await;
    let refused = browser.submit(&page, path, &[("repository", "https://example.com/a/b")]).await;
    refused.expect(422, "GitHub, GitLab, or Bitbucket");
    let address = "https://github.com/tideclock/harbour/tree/main";
    let added = browser.submit(&page, path, &[("repository", address)]).await;
    assert_eq!(added.status(), 303, "{}", added.visible());
    let id = added.location().split(['/', '?']).nth(3).unwrap();
    let codebase = market.get(BOTH, &format!("/v2/codebases/{id}")).await.json();
    assert_eq!(codebase["title"], "harbour");
    assert_eq!(codebase["data"]["repo_full_name"], "tideclock/harbour");
    assert_eq!(codebase["locked_fields"].as_object().map_or(0, serde_json::Map::len), 0, "{codebase}");
    browser.get(&format!("/console/inventory/{id}/repository")).await.expect(200, "already has data");
    browser.get(&format!("/console/inventory/{id}/file")).await.expect(200, "already has data");
}
