//! The settings of a team: what can be made and ended there, and what is shown once.

use regex::Regex;
use serde_json::json;

use super::{BOTH, NO_NDA, OPERATOR};
use crate::harness::{TestMarket, browser::Browser};

/// Returns the first ID in a text after a mark.
fn id_after(text: &str, mark: &str) -> String {
    let pattern = Regex::new(&format!("{mark}([0-9a-f-]{{36}})")).unwrap();
    pattern.captures(text).unwrap_or_else(|| panic!("no ID after {mark:?}"))[1].to_owned()
}

/// Returns the secret that a page shows once.
fn secret_on(text: &str) -> String {
    Regex::new("data-copy=\"([^\"]+)\"").unwrap().captures(text).unwrap()[1].to_owned()
}

#[tokio::test]
async fn key_is_shown_once_and_ends_when_it_is_revoked() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let form = browser.get("/console/settings/keys/new").await;
    let refused = browser.submit(&form, "/console/settings/keys/new", &[("expires_at", "soon")]).await;
    refused.expect(422, "Enter a name").expect(422, "Enter a day");
    let changes = [("name", "Build server"), ("scope", "all"), ("expires_at", "2099-01-31")];
    let created = browser.submit(&form, "/console/settings/keys/new", &changes).await;
    let key = secret_on(&created.expect(200, "Copy it now").text);
    let again = browser.submit(&form, "/console/settings/keys/new", &changes).await;
    again.expect(409, "carried out once");
    assert_eq!(market.get(&key, "/v2/wallet").await.status, 200);

    let other = Browser::signed_in(&market, &key).await;
    let id = id_after(&other.get("/console/settings/keys").await.text, "Build server.*?/settings/keys/");
    let path = format!("/console/settings/keys/{id}/revoke");
    other.get(&path).await.expect(200, "You are signed in with this key");
    let question = browser.get(&path).await;
    question.expect(200, "1 session ends");
    assert_eq!(browser.submit(&question, &path, &[]).await.status(), 303);
    assert_eq!(market.get(&key, "/v2/wallet").await.status, 401);
    assert_eq!(other.get("/console/settings/keys").await.status(), 303, "the session ended with the key");
    browser.submit(&question, &path, &[("form_key", "other")]).await.expect(409, "revoked");
}

#[tokio::test]
async fn replaced_key_and_its_sessions_go_on() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let keys = browser.get("/console/settings/keys").await;
    let id = id_after(&keys.expect(200, "You are signed in with it").text, "/settings/keys/");
    let path = format!("/console/settings/keys/{id}/replace");
    let question = browser.get(&path).await;
    let replaced = browser.submit(&question, &path, &[]).await;
    let key = secret_on(&replaced.expect(200, "The key was replaced").text);
    for key in [BOTH, &key] {
        assert_eq!(market.get(key, "/v2/wallet").await.status, 200);
    }
    browser.get("/console/settings/keys").await.expect(200, "Replaced, ends soon");
}

#[tokio::test]
async fn other_sessions_end_together_or_one_by_one() {
    let market = TestMarket::demo();
    let (own, one, two) = (
        Browser::signed_in(&market, BOTH).await,
        Browser::signed_in(&market, BOTH).await,
        Browser::signed_in(&market, BOTH).await,
    );
    let path = "/console/settings/sessions";
    let list = own.get(path).await;
    let id = id_after(&list.expect(200, "This session").text, "/settings/sessions/");
    let ended = own.post(&format!("{path}/{id}/end"), &[]).await;
    assert_eq!(ended.location(), "/console/settings/sessions?notice=session_ended");
    let statuses = [one.get(path).await.status(), two.get(path).await.status()];
    assert!([[200, 303], [303, 200]].contains(&statuses), "{statuses:?}");
    own.post(&format!("{path}/end-others"), &[]).await;
    assert_eq!([one.get(path).await.status(), two.get(path).await.status()], [303, 303]);
    own.get(path).await.expect(200, "This session");
    own.post(&format!("{path}/{id}/end"), &[]).await.expect(404, "session");
}

#[tokio::test]
async fn nda_is_accepted_with_the_text_that_was_read() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, NO_NDA).await;
    browser.get("/console/settings/sessions").await.expect(200, "This session");
    for closed in ["/console/settings", "/console/settings/keys", "/console/settings/webhooks"] {
        browser.get(closed).await.expect(403, "Accept the NDA first");
    }
    let path = "/console/settings/nda";
    let page = browser.get(path).await;
    page.expect(200, "Confidential information");
    browser.submit(&page, path, &[]).await.expect(422, "Check this box");
    let other = [("accept", "yes"), ("text", "00")];
    browser.submit(&page, path, &other).await.expect(409, "has changed");
    let accepted = browser.submit(&page, path, &[("accept", "yes")]).await;
    assert_eq!(accepted.location(), "/console/selling?notice=nda_accepted");
    browser.get(path).await.expect(200, "SHA-256 of the accepted text");
    browser.get("/console/settings").await.expect(200, "Only the market");
}

#[tokio::test]
async fn webhook_is_made_tested_paused_and_deleted() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let path = "/console/settings/webhooks/new";
    let form = browser.get(path).await;
    browser
        .submit(&form, path, &[("url", "ftp://x")])
        .await
        .expect(422, "to be corrected")
        .expect(422, "ftp://x");
    let changes = [("url", "http://127.0.0.1:4010/both"), ("event_types", "purchase.completed")];
    let created = browser.submit(&form, path, &changes).await;
    assert!(secret_on(&created.expect(200, "The webhook was added").text).starts_with("whsec_"));
    let id = id_after(&created.text, "/settings/webhooks/");
    let page = format!("/console/settings/webhooks/{id}");
    assert_eq!(browser.post(&format!("{page}/test"), &[("form_key", "a")]).await.status(), 303);
    let shown = browser.get(&page).await;
    let delivery = id_after(&shown.expect(200, "Webhook: tested").text, "/deliveries/");
    browser.get(&format!("{page}/deliveries/{delivery}")).await.expect(200, "webhook.tested");
    shown.expect(200, &format!("{page}?format=csv"));
    let file = browser.get(&format!("{page}?format=csv")).await;
    file.expect(200, "Event,Status,Time,Attempts,ID\r\nWebhook: tested,")
        .expect(200, &format!(",{delivery}\r\n"));
    let paused = [("form_key", "b"), ("status", "disabled")];
    assert_eq!(browser.post(&format!("{page}/status"), &paused).await.status(), 303);
    browser.get(&page).await.expect(200, "Paused");
    browser.post(&format!("{page}/test"), &[("form_key", "c")]).await.expect(409, "disabled");
    let question = browser.get(&format!("{page}/delete")).await;
    let deleted = browser.submit(&question, &format!("{page}/delete"), &[]).await;
    assert_eq!(deleted.location(), "/console/settings/webhooks?notice=webhook_deleted");
    browser.get(&page).await.expect(404, "webhook");
}

#[tokio::test]
async fn upload_grant_is_made_and_revoked() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let path = "/console/settings/grants/new";
    let form = browser.get(path).await;
    browser
        .submit(&form, path, &[("max_megabytes", "x")])
        .await
        .expect(422, "Enter a title")
        .expect(422, "whole number");
    for size in ["0", "50001", "99999999999999"] {
        let refused =
            browser.submit(&form, path, &[("title", "Harbour ledger"), ("max_megabytes", size)]).await;
        refused.expect(422, "Enter a whole number from 1 to 50,000.");
    }
    let created = browser.submit(&form, path, &[("title", "Harbour ledger"), ("max_megabytes", "5")]).await;
    created.expect(200, "5.0 MB");
    assert_eq!(secret_on(&created.text).len(), 32);
    let list = browser.get("/console/settings/grants").await;
    let id = id_after(&list.expect(200, "Can be used").text, "/settings/grants/");
    let path = format!("/console/settings/grants/{id}/revoke");
    let question = browser.get(&path).await;
    browser.submit(&question, &path, &[]).await;
    browser.get("/console/settings/grants").await.expect(200, "Revoked");
}

#[tokio::test(flavor = "multi_thread")]
async fn operator_of_a_world_moves_its_clock() {
    let market = TestMarket::demo();
    market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &json!({"name": "one"})).await.expect_status(201);
    let root = Browser::signed_in(&market, OPERATOR).await;
    root.get("/console/world-clock").await.expect(404, "There is no such page");
    let path = "/w/one/console/world-clock";
    let sign_in = async |key| {
        let mut browser = Browser::new(&market);
        let answer = browser.post("/w/one/console/sign-in", &[("key", key)]).await;
        let cookie = answer.response.header("set-cookie").split(';').next().unwrap().to_owned();
        browser.set_cookie(&cookie);
        browser
    };
    let team = sign_in(BOTH).await;
    team.get(path).await.expect(200, "Only an operator of this world");
    team.post(path, &[("advance", "1d"), ("form_key", "a")]).await.expect(403, "for operators");

    let owner = sign_in(OPERATOR).await;
    owner.get(path).await.expect(200, "1 March 2026, 09:00 UTC");
    for (fields, message) in [
        (&[("advance", "soon")][..], "Enter a duration"),
        (&[], "either a duration or a time"),
        (&[("set", "2026-02-01")], "never goes back"),
    ] {
        owner.post(path, fields).await.expect(422, message);
    }
    let form = owner.get(path).await;
    for _ in 0..2 {
        let moved = owner.submit(&form, path, &[("advance", "1d"), ("set", "")]).await;
        assert_eq!(moved.location(), "/w/one/console/world-clock?notice=clock_changed");
        owner.get(path).await.expect(200, "2 March 2026, 09:00 UTC");
    }
    owner.post(path, &[("set", "2026-04-01 12:30")]).await;
    owner.get(path).await.expect(200, "1 April 2026, 12:30 UTC");
    owner.post("/w/one/console/world-clock/mode", &[("mode", "running")]).await;
    owner.get(path).await.expect(200, "Stop the clock");
}
