//! Files that are sent in parts, as the script of the page does.

use poem::http::Method;
use serde_json::json;

use super::{
    FILE, OTHER_VENDOR, VENDOR, WHOLE, count_codebases, find_codebase, get_codebase, market, market_with,
    send_form, sha256,
};
use crate::{
    harness::{
        archives::{zip_of, zip_with_filling},
        browser::{Browser, Page},
        s3,
    },
    vendor_api::seller_market::{SELLER, seeded_id, taskset_record},
};

/// Size in bytes of each part of a large file except the last.
const PART: usize = 16 << 20;

/// Plans the upload of a codebase, as the script does. Returns the path of its page.
async fn plan(browser: &Browser<'_>, page: &str, title: &str, size: usize) -> String {
    let size = size.to_string();
    let fields = [
        ("form_key", title),
        ("kind", "codebase"),
        ("title", title),
        ("exclusivity", "available"),
        ("file_name", "ledger.zip"),
        ("size_bytes", &size),
        ("modified_ms", "1700000000000"),
    ];
    let planned = browser.post(page, &fields).await;
    assert_eq!(planned.status(), 303, "{}", planned.visible());
    assert!(planned.location().starts_with("/console/inventory/add/uploads/"), "{}", planned.location());
    planned.location().to_owned()
}

async fn put(browser: &Browser<'_>, path: &str, site: &str, content: &[u8]) -> Page {
    browser.send(Method::PUT, path, &[("sec-fetch-site", site)], content.to_vec()).await
}

/// Completes an upload with the form of its page.
async fn complete(browser: &Browser<'_>, path: &str) -> Page {
    let page = browser.get(path).await;
    browser.submit(&page, &format!("{path}/complete"), &[]).await
}

#[tokio::test]
async fn parts_arrive_in_any_order_and_only_missing_ones_are_sent_again() {
    // Far fewer requests than parts are sent: parts count for no budget.
    let market = market_with(&[], |settings| settings.limits.uploads = 14);
    let browser = Browser::signed_in(&market, VENDOR).await;
    let bytes = zip_with_filling(100_000_000);
    let parts: Vec<&[u8]> = bytes.chunks(PART).collect();
    let path = plan(&browser, FILE, "Ledger in parts", bytes.len()).await;
    browser.get(&path).await.expect(200, "data-part-count=\"6\"").expect(200, "Nothing has arrived yet");
    let send = async |number: usize| {
        let part = format!("{path}/parts/{number}");
        put(&browser, &part, "same-origin", parts[number - 1]).await.status()
    };
    for _ in 0..20 {
        let cut = put(&browser, &format!("{path}/parts/4"), "same-origin", b"cut").await;
        assert_eq!(cut.status(), 400, "{}", cut.visible());
    }
    for number in [6, 2, 5, 2, 1, 3, 6] {
        assert_eq!(send(number).await, 204, "part {number}");
    }
    let page = browser.get(&path).await;
    page.expect(200, "data-received=\"1,2,3,5,6\"").expect(200, "5 of 6 parts have arrived");
    let early = browser.submit(&page, &format!("{path}/complete"), &[]).await;
    early.expect(409, "This was refused");
    for _ in 0..2 {
        assert_eq!(send(4).await, 204);
    }
    browser.get(&path).await.expect(200, "6 of 6 parts have arrived");
    let completed = complete(&browser, &path).await;
    assert_eq!(completed.status(), 303, "{}", completed.visible());
    let done = browser.open(completed.location()).await;
    done.expect(200, &sha256(&bytes)).expect(200, "Ledger in parts").expect(200, "ledger.zip");
    done.expect(200, "The page of the asset shows how far it is");
    market.run_background();
    let id = find_codebase(&market, "Ledger").await;
    let codebase = get_codebase(&market, &id).await;
    assert_eq!(codebase["data"]["analysis_status"], "completed", "{codebase}");
    assert_eq!(codebase["description"], "Keeps accounts.");
    let detach = format!("/console/inventory/{id}/detach");
    let detached = browser.submit(&browser.open(&detach).await, &detach, &[]).await;
    assert_eq!(detached.status(), 303, "{}", detached.visible());
    let page = browser.open(completed.location()).await;
    page.expect(200, "or its data was detached");
    assert!(!page.text.contains("Open the asset"), "{}", page.visible());
}

#[tokio::test]
async fn part_is_refused_unless_its_team_sends_the_whole_part_from_the_page() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let zip = zip_of(&[("README.md", "# Ledger\n\nKeeps accounts.\n")]);
    let path = plan(&browser, FILE, "Ledger", zip.len()).await;
    browser.get("/console/inventory/add").await.expect(200, "Unfinished uploads").expect(200, "ledger.zip");
    let part = format!("{path}/parts/1");
    for site in ["cross-site", "same-site"] {
        assert_eq!(put(&browser, &part, site, &zip).await.status(), 403, "{site}");
    }
    assert_eq!(put(&browser, &part, "same-origin", &zip[1..]).await.status(), 400);
    assert_eq!(put(&browser, &part, "same-origin", &[&zip[..], b"x"].concat()).await.status(), 400);
    for wrong in ["0", "2", "-1", "+1", "01", "x", "99999999999"] {
        let wrong = format!("{path}/parts/{wrong}");
        assert_eq!(put(&browser, &wrong, "same-origin", &zip).await.status(), 404, "{wrong}");
    }
    let other = Browser::signed_in(&market, OTHER_VENDOR).await;
    for hidden in [&path, &format!("{path}/discard")] {
        other.get(hidden).await.expect(404, "This is not here");
    }
    for hidden in ["complete", "discard"] {
        assert_eq!(other.post(&format!("{path}/{hidden}"), &[]).await.status(), 404, "{hidden}");
    }
    assert_eq!(put(&other, &part, "same-origin", &zip).await.status(), 404);
    let nobody = Browser::new(&market);
    assert_eq!(put(&nobody, &part, "same-origin", &zip).await.status(), 303, "to the page for signing in");
    assert_eq!(
        browser.send(Method::POST, &part, &[("sec-fetch-site", "same-origin")], "").await.status(),
        405
    );
    browser.get(&path).await.expect(200, "Nothing has arrived yet");

    let sent = put(&browser, &part, "same-origin", &zip).await;
    assert_eq!((sent.status(), sent.response.header("etag").is_empty()), (204, false));
    browser.get(&path).await.expect(200, "data-received=\"1\"").expect(200, "1 of 1 part has arrived");
    let page = browser.get(&path).await;
    for _ in 0..2 {
        let completed = browser.submit(&page, &format!("{path}/complete"), &[]).await;
        assert_eq!(completed.status(), 303, "{}", completed.visible());
    }
    browser.get(&path).await.expect(200, &sha256(&zip));
    assert!(!browser.get("/console/inventory/add").await.text.contains("ledger.zip"));
    other.get(&path).await.expect(404, "This is not here");
    assert_eq!(count_codebases(&market).await, 1);
}

#[tokio::test]
async fn form_of_a_file_says_all_that_is_wrong() {
    let market = market_with(&[], |settings| settings.blobs.max_upload_bytes = 1_000);
    let browser = Browser::signed_in(&market, VENDOR).await;
    browser.post(FILE, &[]).await.expect(422, "Choose what the zip has.").expect(422, "Enter a title");
    let fields = [("kind", "raw_data"), ("title", "Letters")];
    browser.post(FILE, &fields).await.expect(422, "Choose a zip file.");
    for (name, size, problem) in [
        ("a.zip", "1001", "This file is larger than the limit of 1.0 KB."),
        ("a.zip", "21", "too small to be a zip: it has 21 bytes."),
        ("a.zip", "-1", "Choose a zip file."),
        ("a\nb.zip", "100", "one line without control characters"),
    ] {
        let file = [fields[0], fields[1], ("file_name", name), ("size_bytes", size)];
        let refused = browser.post(FILE, &file).await;
        refused.expect(422, problem).expect(422, "value=\"Letters\"").expect(422, "id=\"file-p\"");
    }
    let other = "11111111-1111-4111-8111-111111111111";
    let group = [fields[0], fields[1], ("group", other), ("file_name", "a.zip"), ("size_bytes", "100")];
    browser.post(FILE, &group).await.expect(422, "Choose a group of your inventory.");
    assert!(!browser.get("/console/inventory/add").await.text.contains("Unfinished"));
}

#[tokio::test]
async fn discarded_upload_accepts_no_part() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let zip = zip_of(&[("a", "b")]);
    let path = plan(&browser, FILE, "Ledger", zip.len()).await;
    assert_eq!(put(&browser, &format!("{path}/parts/1"), "same-origin", &zip).await.status(), 204);
    let discard = format!("{path}/discard");
    let question = browser.get(&discard).await;
    question.expect(200, "ledger.zip");
    let discarded = browser.submit(&question, &discard, &[]).await;
    assert_eq!(discarded.status(), 303);
    let page = browser.open(discarded.location()).await;
    page.expect(200, "The upload was discarded.");
    assert!(!page.text.contains("Unfinished"));
    for part in ["parts/1", "parts/2"] {
        assert_eq!(put(&browser, &format!("{path}/{part}"), "same-origin", &zip).await.status(), 404);
    }
    browser.get(&path).await.expect(404, "This is not here");
    assert_eq!(browser.post(&format!("{path}/complete"), &[]).await.status(), 404);
    market.run_background();
    assert_eq!(count_codebases(&market).await, 0);
}

#[tokio::test]
async fn file_becomes_the_data_of_an_asset_without_data() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let new = json!({"title": "Ledger", "exclusivity": "available"});
    let id = market.call(SELLER, "POST", "/v2/codebases", &new).await.expect_status(201)["id"].clone();
    let page = format!("/console/inventory/{}/file", id.as_str().unwrap());
    let zip = zip_of(&[("README.md", "# Ledger\n\nKeeps accounts.\n")]);
    browser.get(&page).await.expect(200, "Ledger");
    let path = plan(&browser, &page, "", zip.len()).await;
    assert_eq!(put(&browser, &format!("{path}/parts/1"), "same-origin", &zip).await.status(), 204);
    // Meanwhile, another file becomes its data.
    let whole = send_form(&browser, &format!("{page}/whole"), &[], ("other.zip", &zip)).await;
    assert_eq!(whole.status(), 303, "{}", whole.visible());
    complete(&browser, &path).await.expect(409, "This asset already has data. Detach it first.");
    browser.get(&path).await.expect(200, "data-received=\"1\"").expect(200, "1 of 1 part has arrived");
    assert_eq!(put(&browser, &format!("{path}/parts/1"), "same-origin", &zip).await.status(), 409);
    browser.get(&page).await.expect(200, "This asset already has data. Detach it first.");
    let again = send_form(&browser, &format!("{page}/whole"), &[], ("third.zip", &zip)).await;
    again.expect(409, "This asset already has data.");
    let repository = format!("/console/inventory/{}/repository", id.as_str().unwrap());
    browser.get(&repository).await.expect(200, "This asset already has data.");
    let linked = browser.post(&repository, &[("repository", "https://github.com/a/b")]).await;
    linked.expect(409, "This asset already has data.");
    assert!(!linked.text.contains("DELETE"), "{}", linked.visible());
    let other = Browser::signed_in(&market, OTHER_VENDOR).await;
    other.get(&page).await.expect(404, "This is not here");
    let stolen = send_form(&other, &format!("{page}/whole"), &[], ("other.zip", &zip)).await;
    assert_eq!(stolen.status(), 404);
    market.run_background();
    assert_eq!(get_codebase(&market, id.as_str().unwrap()).await["description"], "Keeps accounts.");
}

#[tokio::test]
async fn asset_of_another_kind_gets_no_file_and_no_repository() {
    let market = market_with(&[taskset_record("s", "seller")], |_| {});
    let browser = Browser::signed_in(&market, VENDOR).await;
    let new = json!({"taskset_id": seeded_id("tasksets", "s"), "task_type": "coding"});
    let imported = market.call(SELLER, "POST", "/v2/tasks/import", &new).await.ok();
    let asset = format!("/console/inventory/{}", imported["imported"][0]["id"].as_str().unwrap());
    let (file, repository) = (format!("{asset}/file"), format!("{asset}/repository"));
    browser.get(&file).await.expect(200, "Only codebases and raw data have files.");
    browser.get(&repository).await.expect(200, "Only codebases have repositories.");
    let announced = [("file_name", "a.zip"), ("size_bytes", "100")];
    browser.post(&file, &announced).await.expect(409, "Only codebases and raw data have files.");
    let sent = send_form(&browser, &format!("{file}/whole"), &[], ("a.zip", &zip_of(&[("a", "b")]))).await;
    sent.expect(409, "Only codebases and raw data have files.");
    let linked = browser.post(&repository, &[("repository", "https://github.com/a/b")]).await;
    linked.expect(409, "Only codebases have repositories.");
}

#[tokio::test]
async fn upload_to_an_s3_store_is_relayed() {
    let store = s3::S3Server::start();
    let market = market_with(&[], |settings| store.configure(settings));
    let browser = Browser::signed_in(&market, VENDOR).await;
    for (title, filling) in [("Short", 100), ("Long", 100_000_000)] {
        let bytes = zip_with_filling(filling);
        let path = plan(&browser, FILE, title, bytes.len()).await;
        let parts: Vec<&[u8]> = bytes.chunks(PART).collect();
        let parts = if bytes.len() > 100_000_000 { parts } else { vec![&bytes[..]] };
        for (index, part) in parts.iter().enumerate().rev() {
            let number = format!("{path}/parts/{}", index + 1);
            assert_eq!(put(&browser, &number, "same-origin", &part[1..]).await.status(), 400);
            let sent = put(&browser, &number, "same-origin", part).await;
            assert_eq!(sent.status(), 204, "{}", sent.visible());
            let received: Vec<String> = (index + 1..=parts.len()).map(|number| number.to_string()).collect();
            let received = format!("data-received=\"{}\"", received.join(","));
            browser.get(&path).await.expect(200, &received);
        }
        let completed = complete(&browser, &path).await;
        assert_eq!(completed.status(), 303, "{}", completed.visible());
        browser.get(&path).await.expect(200, &sha256(&bytes));
    }
    let zip = zip_of(&[("a", "b")]);
    let fields = [("kind", "raw_data"), ("title", "Letters")];
    let sent = send_form(&browser, WHOLE, &fields, ("letters.zip", &zip)).await;
    assert_eq!(sent.status(), 303, "{}", sent.visible());
    browser.open(sent.location()).await.expect(200, &sha256(&zip));
    let path = plan(&browser, FILE, "Discarded", zip.len()).await;
    assert_eq!(put(&browser, &format!("{path}/parts/1"), "same-origin", &zip).await.status(), 204);
    assert_eq!(store.object_names().len(), 4);
    assert_eq!(browser.post(&format!("{path}/discard"), &[]).await.status(), 303);
    let work = market.market().clone();
    let run = move || marketplace::operations::background::run_pending(&work, &|| true).unwrap();
    tokio::task::spawn_blocking(run).await.unwrap();
    assert_eq!(store.object_names().len(), 3, "what was discarded is deleted");
}

/// Buckets often have a rule that deletes uploads that are not complete after some days.
#[tokio::test]
async fn upload_that_an_s3_store_no_longer_has_can_only_be_discarded() {
    let store = s3::S3Server::start();
    let market = market_with(&[], |settings| store.configure(settings));
    let browser = Browser::signed_in(&market, VENDOR).await;
    let path = plan(&browser, FILE, "Dropped", 100_000_001).await;
    browser.get(&path).await.expect(200, "Nothing has arrived yet");
    store.abort_uploads();
    let sent = put(&browser, &format!("{path}/parts/1"), "same-origin", &vec![0; PART]).await;
    assert_eq!(sent.status(), 404, "{}", sent.visible());
    let page = browser.get(&path).await;
    page.expect(200, "The store no longer has what has arrived of this file.");
    assert!(!page.text.contains("data-upload "), "the script sends nothing");
    let completed = browser.post(&format!("{path}/complete"), &[]).await;
    completed.expect(409, "Discard it, and send the file again.");
    assert_eq!(browser.post(&format!("{path}/discard"), &[]).await.status(), 303);
    let work = market.market().clone();
    let run = move || marketplace::operations::background::run_pending(&work, &|| true).unwrap();
    tokio::task::spawn_blocking(run).await.unwrap();
}
