//! Strangers who try keys, cookies, and the cookies of other markets.

use std::time::Instant;

use futures_util::{StreamExt, stream};
use marketplace::clock::fixture_record_id;
use poem::http::Method;
use serde_json::{Value, json};

use super::{BUYER, OPERATOR, VENDOR};
use crate::harness::{self, TestMarket, browser::Browser};

const SIGN_IN: &str = "/console/sign-in";

/// Sends the form for signing in from an address, and returns the status.
async fn try_key(market: &TestMarket, address: &str, key: &str) -> u16 {
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("sec-fetch-site", "same-origin"),
        ("x-forwarded-for", address),
    ];
    market.send_body(Method::POST, SIGN_IN, &headers, format!("key={key}")).await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_sign_ins_are_limited() {
    let market = TestMarket::with_settings(|settings| {
        settings.limits.trust_forwarded_for = true;
        settings.limits.address = 0;
    });
    market.seed_json(&json!({
        "teams": [{"key": "tides", "name": "Tides", "roles": ["buyer"], "tier": 1, "created_at": "-P9D", "nda_accepted_at": "-P8D"}],
        "keys": [{"key": "k", "team": "tides", "name": "k", "scope": "all", "secret": "mkt_test_tides_tables", "created_at": "-P8D"}],
    }));
    let start = Instant::now();
    let refused = |statuses: &[u16]| statuses.iter().filter(|status| **status == 422).count();
    // One network tries many keys at once.
    let one = stream::iter(0..5_000).map(|number| {
        let market = &market;
        async move { try_key(market, "192.0.2.1", &format!("mkt_{number:08}")).await }
    });
    let one: Vec<u16> = one.buffer_unordered(64).collect().await;
    // The limits follow the time of the machine: a slow one allows more.
    let allowed = || 10 + 1 + start.elapsed().as_secs() as usize / 30;
    assert!(refused(&one) <= allowed(), "one network tried {} keys", refused(&one));
    assert_eq!(refused(&one) + one.iter().filter(|status| **status == 429).count(), 5_000);
    // Many networks try keys with the beginning of one key.
    let many = stream::iter(0..5_000).map(|number: u32| {
        let market = &market;
        async move {
            let address = format!("10.{}.{}.7", number / 250 + 1, number % 250 + 1);
            try_key(market, &address, &format!("mkt_abcdefgh{number}")).await
        }
    });
    let many: Vec<u16> = many.buffer_unordered(64).collect().await;
    assert!(refused(&many) <= allowed(), "many networks tried {} keys", refused(&many));
    // Others sign in as before, and also the one who tried, from elsewhere.
    assert_eq!(try_key(&market, "198.51.100.9", "mkt_test_tides_tables").await, 303);
}

#[tokio::test]
async fn many_sessions_of_a_key_are_bounded() {
    let market = TestMarket::demo();
    let first = Browser::signed_in(&market, BUYER).await;
    for _ in 0..300 {
        Browser::signed_in(&market, BUYER).await;
    }
    assert_eq!(first.get("/console/catalog").await.status(), 303, "the oldest sessions end");
    let last = Browser::signed_in(&market, BUYER).await;
    let page = last.get("/console/settings/sessions").await;
    assert!(page.text.matches("/console/settings/sessions/").count() < 250, "{}", page.text.len());
}

#[tokio::test]
async fn key_is_never_shown_again() {
    let market = harness::demo();
    let browser = Browser::new(market);
    for key in ["mkt_typed_wrongly", "mkt_demo_expired"] {
        let page = browser.post(SIGN_IN, &[("key", key), ("next", "/catalog")]).await;
        assert!(!page.text.contains(&format!("value=\"{key}\"")) && !page.visible().contains(key));
    }
    for method in [Method::GET, Method::HEAD] {
        let page = browser.send(method, &format!("{SIGN_IN}?key={BUYER}"), &[], String::new()).await;
        assert!(page.response.headers.get("set-cookie").is_none(), "keys are in no address");
    }
}

#[tokio::test]
async fn cookies_of_one_market_open_no_other() {
    let market = harness::complete_demo();
    let base = format!("/w/{}", harness::worlds::EXAMPLE);
    let root = Browser::signed_in(&market, BUYER).await;
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    let path = format!("{base}{SIGN_IN}");
    let answer = market.send_body(Method::POST, &path, &headers, format!("key={BUYER}")).await;
    assert_eq!((answer.status, answer.header("location")), (303, format!("{base}/console").as_str()));
    let set = answer.header("set-cookie").to_owned();
    assert!(set.contains(&format!("Path={base}/console;")), "{set}");
    let in_world = set.split(';').next().unwrap().to_owned();
    let (name, token) = in_world.split_once('=').unwrap();
    let (root_name, root_token) = root.cookie().split_once('=').unwrap();
    assert!(name != root_name && token != root_token);
    let mut browser = Browser::new(&market);
    let page = async |browser: &Browser<'_>, path: &str| browser.get(path).await.status();
    browser.set_cookie(&in_world);
    let catalog = format!("{base}/console/catalog");
    assert_eq!(page(&browser, &catalog).await, 200);
    for (cookie, path) in [
        (format!("{root_name}={root_token}"), catalog.as_str()),
        (format!("{name}={root_token}"), catalog.as_str()),
        (format!("{name}={token}"), "/console/catalog"),
        (format!("{root_name}={token}"), "/console/catalog"),
    ] {
        browser.set_cookie(&cookie);
        assert_eq!(page(&browser, path).await, 303, "{cookie} opens {path}");
    }
    // Signing out of the world ends its session only.
    browser.set_cookie(&in_world);
    browser.post(&format!("{base}/console/sign-out"), &[]).await;
    assert_eq!(page(&browser, &catalog).await, 303);
    assert_eq!(page(&root, "/console/catalog").await, 200);
}

#[tokio::test]
async fn ended_sessions_stay_ended() {
    let market = TestMarket::demo();
    let mut browser = Browser::signed_in(&market, VENDOR).await;
    let other = Browser::signed_in(&market, VENDOR).await;
    let cookie = browser.cookie().to_owned();
    assert_eq!(browser.sign_in(VENDOR).await.status(), 303);
    assert_ne!(browser.cookie(), cookie, "signing in again gives a new session");
    browser.set_cookie(&cookie);
    assert_eq!(browser.get("/console/settings").await.status(), 303, "and ends the old one");
    other.post("/console/sign-out", &[]).await;
    assert_eq!(other.get("/console/settings").await.status(), 303);
    let answer = other.post("/console/settings/sessions/end-others", &[]).await;
    assert!(answer.location().starts_with(SIGN_IN), "{}", answer.location());
    for cookie in ["", "=", "market_00000000=", "; ; =x", &"x".repeat(20_000), "\u{ff}"] {
        browser.set_cookie(cookie);
        assert_eq!(browser.get("/console/settings").await.status(), 303);
    }
}

#[tokio::test]
async fn session_ends_when_its_key_expires() {
    let market = TestMarket::demo();
    let id = fixture_record_id("teams", "aurora-frontier");
    let body =
        json!({"team_id": id, "name": "Short", "scope": "console", "expires_at": "2026-03-02T09:00:00Z"});
    let key = market.call(OPERATOR, "POST", "/operator/v1/keys", &body).await.expect_status(201);
    let browser = Browser::signed_in(&market, key["secret"].as_str().unwrap()).await;
    assert_eq!(browser.get("/console/catalog").await.status(), 200);
    market.clock().advance(86_400 * 1_000_000);
    assert_eq!(browser.get("/console/catalog").await.status(), 303);
    let answer = browser.post("/console/wallet/buy-credits", &[("amount", "10")]).await;
    assert!(answer.location().starts_with(SIGN_IN), "{}", answer.location());
}

#[tokio::test]
async fn session_of_a_replaced_key_ends_when_its_successor_does() {
    let market = TestMarket::demo();
    let id = fixture_record_id("teams", "aurora-frontier");
    let body = json!({"team_id": id, "name": "Old", "scope": "console"});
    let key = market.call(OPERATOR, "POST", "/operator/v1/keys", &body).await.expect_status(201);
    let browser = Browser::signed_in(&market, key["secret"].as_str().unwrap()).await;
    let id_of = |key: &Value| {
        key["id"].as_str().or_else(|| key["key"]["id"].as_str()).unwrap_or_else(|| panic!("{key}")).to_owned()
    };
    let path = format!("/operator/v1/keys/{}/rotate", id_of(&key));
    let rotated = market.call(OPERATOR, "POST", &path, &json!({})).await;
    let new = rotated.json();
    assert!([200, 201].contains(&rotated.status), "{new}");
    market.clock().advance(60 * 86_400 * 1_000_000);
    assert_eq!(browser.get("/console/catalog").await.status(), 200, "the session has moved to the new key");
    let path = format!("/operator/v1/keys/{}/revoke", id_of(&new));
    let revoked = market.call(OPERATOR, "POST", &path, &Value::Null).await;
    assert_eq!(revoked.status, 200, "{}", revoked.json());
    assert_eq!(browser.get("/console/catalog").await.status(), 303);
}

/// Who revokes a stolen key gets rid of the thief, even if the key was replaced first.
#[tokio::test]
async fn sessions_opened_with_a_key_end_when_it_is_revoked_after_its_replacement() {
    let market = TestMarket::demo();
    let team = fixture_record_id("teams", "aurora-frontier");
    let body = json!({"team_id": team, "name": "Stolen", "scope": "console"});
    let stolen = market.call(OPERATOR, "POST", "/operator/v1/keys", &body).await.expect_status(201);
    let path = format!("/operator/v1/keys/{}", stolen["key"]["id"].as_str().unwrap());
    let thief = Browser::signed_in(&market, stolen["secret"].as_str().unwrap()).await;
    let new = market.call(OPERATOR, "POST", &format!("{path}/rotate"), &json!({})).await.expect_status(201);
    let owner = Browser::signed_in(&market, new["secret"].as_str().unwrap()).await;
    assert_eq!(thief.get("/console/catalog").await.status(), 200, "the session goes on with the new key");
    market.call(OPERATOR, "POST", &format!("{path}/revoke"), &Value::Null).await.ok();
    assert_eq!(thief.get("/console/catalog").await.status(), 303);
    assert_eq!(owner.get("/console/catalog").await.status(), 200);
}
