//! Signing in and out, and what ends a session.

use std::pin::pin;

use futures_util::StreamExt;
use marketplace::{market::DATABASE_FILE, operations::access::sessions};
use poem::{Body, http::Method};
use rusqlite::Connection;
use serde_json::json;
use uuid::Uuid;

use super::{BUYER, OPERATOR};
use crate::{
    catalog::small_market::{console_key, seed_market},
    harness::{
        self, BASE, TestMarket,
        browser::Browser,
        records::{self, demo_records},
    },
};

/// Creates a key of a team through the operator API, and returns its ID and its secret.
async fn create_key(market: &TestMarket, scope: &str) -> (String, String) {
    let team = demo_records().team_of(BUYER);
    let body = json!({"team_id": records::id("teams", demo_records().find("teams", team)), "name": "Test", "scope": scope});
    let key = market.call(OPERATOR, "POST", "/operator/v1/keys", &body).await.expect_status(201);
    (key["key"]["id"].as_str().unwrap().to_owned(), key["secret"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn session_lasts_until_one_signs_out() {
    let mut browser = Browser::signed_in(harness::demo(), BUYER).await;
    browser.open("/console").await.expect(200, "Aurora Frontier");
    let cookie = browser.cookie().to_owned();
    let answer = browser.post("/console/sign-out", &[]).await;
    assert_eq!(answer.location(), "/console/sign-in?notice=signed_out");
    let removed = answer.response.header("set-cookie");
    assert!(
        removed.contains("Max-Age=0") && removed.contains("Path=/console") && removed.contains("HttpOnly")
    );
    browser.set_cookie(&cookie);
    assert_eq!(browser.get("/console/catalog").await.status(), 303, "a kept cookie opens nothing");
}

/// A proxy removes the path of the public URL from requests.
#[tokio::test]
async fn addresses_begin_with_the_path_of_the_public_url() {
    let market = TestMarket::with_settings(|settings| {
        settings.server.public_url = "http://market.test/shop".to_owned();
    });
    seed_market(&market, &[], &json!({"keys": [console_key("seller")]}));
    let mut browser = Browser::new(&market);
    for (path, leads_to) in
        [("/console/", "/shop/console"), ("/console/selling", "/shop/console/sign-in?next=%2Fselling")]
    {
        assert_eq!(browser.get(path).await.location(), leads_to, "{path}");
    }
    let form = browser.get("/console/sign-in").await;
    form.expect(200, "action=\"/shop/console/sign-in\"").expect(200, "href=\"/shop/console/assets/");
    let answer = browser.sign_in("mkt_seller_console").await;
    assert!(answer.location().starts_with("/shop/console"), "{}", answer.location());
    assert!(answer.response.header("set-cookie").contains("; Path=/shop/console;"));
    let page = browser.get("/console/selling").await;
    page.expect(200, "href=\"/shop/console/selling/listings\"");
    assert!(!page.text.contains("=\"/console"), "{}", page.text);
}

/// A request that only reads does not wait for the disk: the use of its session is written later, but counts at once.
#[tokio::test]
async fn use_of_a_session_is_noted_and_written_later() {
    const FIRST: &str = "id = (SELECT min(id) FROM sessions)";
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    let rows = Connection::open(market.market().data_dir().join(DATABASE_FILE)).unwrap();
    // Minutes between the last recorded use and the beginning of the session.
    let idle = || -> i64 {
        let read = format!("SELECT (created_at - last_used_at) / 60000000 FROM sessions WHERE {FIRST}");
        rows.query_row(&read, [], |row| row.get(0)).unwrap()
    };
    let set_idle = |minutes: i64| {
        let change = format!("UPDATE sessions SET last_used_at = created_at - ?1 * 60000000 WHERE {FIRST}");
        assert_eq!(rows.execute(&change, [minutes]).unwrap(), 1);
    };
    set_idle(2);
    assert_eq!(browser.get("/console/catalog").await.status(), 200);
    assert_eq!(idle(), 2, "the request has written nothing");
    // Without the noted use, the session would have ended, and signing in would delete it.
    let ended = i64::from(market.market().settings().console.session_idle_minutes) + 1;
    set_idle(ended);
    assert_eq!(browser.get("/console/catalog").await.status(), 200);
    browser.open("/console/settings/sessions").await.expect(200, "This session");
    assert_eq!(idle(), ended);
    Browser::signed_in(&market, BUYER).await;
    assert_eq!(idle(), 0);
    set_idle(ended);
    market.market().record_pending_uses().unwrap();
    assert_eq!(idle(), 0, "the server writes it when it looks for changes");
    assert_eq!(browser.get("/console/catalog").await.status(), 200);
}

#[tokio::test]
async fn session_cannot_be_chosen_by_another() {
    let market = harness::demo();
    let mut browser = Browser::signed_in(market, BUYER).await;
    let chosen = browser.cookie().to_owned();
    let mut victim = Browser::new(market);
    victim.set_cookie(&chosen);
    victim.sign_in("mkt_demo_vendor").await;
    assert_ne!(victim.cookie(), chosen);
    browser.set_cookie(&chosen);
    assert_eq!(browser.get("/console/catalog").await.status(), 303, "the earlier session has ended");
    let (name, _) = chosen.split_once('=').unwrap();
    browser.set_cookie(&format!("{name}=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"));
    assert_eq!(browser.get("/console/catalog").await.status(), 303);
}

#[tokio::test]
async fn cookies_open_no_api() {
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    for path in ["/v2/wallet", "/v2/listings/browse", "/operator/v1/teams"] {
        assert_eq!(browser.get(path).await.status(), 401, "{path}");
    }
}

#[tokio::test]
async fn scope_of_a_key_says_what_it_opens() {
    let market = TestMarket::demo();
    let (_, api) = create_key(&market, "api").await;
    let (_, console) = create_key(&market, "console").await;
    let mut browser = Browser::new(&market);
    browser.sign_in(&api).await.expect(422, "is for programs");
    assert_eq!(market.get(&api, "/v2/wallet").await.status, 200);
    assert_eq!(browser.sign_in(&console).await.status(), 303);
    assert_eq!(market.get(&console, "/v2/wallet").await.expect_error(403), "forbidden");
}

#[tokio::test]
async fn session_ends_with_its_key() {
    let market = TestMarket::demo();
    let (id, secret) = create_key(&market, "console").await;
    let browser = Browser::signed_in(&market, &secret).await;
    assert_eq!(browser.get("/console/catalog").await.status(), 200);
    let path = format!("/operator/v1/keys/{id}/revoke");
    market.call(OPERATOR, "POST", &path, &serde_json::Value::Null).await;
    assert_eq!(browser.get("/console/catalog").await.status(), 303);
}

/// Otherwise, who has a stolen key could begin to send a form, and finish it after the key was revoked, for a key of its own.
#[tokio::test]
async fn form_whose_session_ends_while_it_is_sent_changes_nothing() {
    const NEW_KEY: &str = "/console/settings/keys/new";
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    let (_, token) = browser.cookie().split_once('=').unwrap();
    let ended = (market.market().clone(), token.to_owned());
    let chunks = futures_util::stream::once(async move {
        let (ended, token) = ended;
        ended.spawn_blocking(move |market| sessions::end(market, &token)).await.unwrap();
        Ok::<_, std::io::Error>(bytes::Bytes::from("name=Left+behind&scope=console"))
    });
    let headers = [("sec-fetch-site", "same-origin")];
    let body = Body::from_bytes_stream(chunks);
    let answer = browser.send(Method::POST, NEW_KEY, &headers, body).await;
    assert_eq!(answer.status(), 303);
    assert!(answer.location().contains("notice=session_ended_unsaved"), "{}", answer.location());
    let keys = market.get(OPERATOR, "/operator/v1/keys?limit=100").await.ok().to_string();
    assert!(!keys.contains("Left behind"));
}

/// Otherwise, who signs in with a stolen key could receive a file slowly, and read records with it long after the key was revoked.
#[tokio::test]
async fn file_that_is_being_sent_ends_with_its_session() {
    const FILE: &str = "/console/operator/events?format=csv";
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let whole = browser.get(FILE).await.text.len();
    let response = market.begin(Method::GET, FILE, &[("cookie", browser.cookie())], Vec::new()).await;
    let mut parts = pin!(response.into_body().into_bytes_stream());
    let mut received = parts.next().await.unwrap().unwrap().len();
    browser.post("/console/sign-out", &[]).await;
    let is_cut = loop {
        match parts.next().await {
            Some(Ok(part)) => received += part.len(),
            Some(Err(_)) => break true,
            None => break false,
        }
    };
    assert!(is_cut && received < whole, "{received} of {whole} bytes");
}

#[tokio::test]
async fn invalid_keys_open_nothing_and_are_limited() {
    let market = TestMarket::demo();
    let mut browser = Browser::new(&market);
    for key in ["mkt_demo_expired", "mkt_demo_revoked", "nonsense"] {
        browser.sign_in(key).await.expect(422, "This key is not valid here");
    }
    browser.sign_in("").await.expect(422, "Enter a key");
    let mut statuses = Vec::new();
    for _ in 0..30 {
        statuses.push(browser.sign_in("mkt_guessed").await.status());
    }
    assert!(statuses.contains(&422) && statuses.last() == Some(&429), "{statuses:?}");
}

#[tokio::test]
async fn key_that_was_copied_with_invisible_characters_opens_a_session() {
    let mut browser = Browser::new(harness::demo());
    for copied in ["\u{200b}mkt_demo_buyer", "mkt_demo_buyer\u{2060}\n", "\u{feff}mkt_demo_buyer\u{a0}"] {
        assert_eq!(browser.sign_in(copied).await.status(), 303, "{copied:?}");
    }
}

/// The page for signing in says that nothing was saved, and leads back to the page of the form.
#[tokio::test]
async fn form_without_a_session_leads_back_to_its_page() {
    const ADD: &str = "/console/wallet/buy-credits";
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    browser.post("/console/sign-out", &[]).await;
    let purchase = Uuid::from_u128(7);
    let prepare = format!("/console/purchases/{purchase}/prepare");
    for (path, referer, next) in [
        (ADD, String::new(), "/wallet/buy-credits".to_owned()),
        (ADD, "https://evil.example/console/catalog".to_owned(), "/wallet/buy-credits".to_owned()),
        (ADD, format!("{BASE}{ADD}?amount=5&notice=saved"), "/wallet/buy-credits?amount=5".to_owned()),
        (&prepare, format!("{BASE}/console/purchases/{purchase}"), format!("/purchases/{purchase}")),
        (&prepare, format!("{BASE}/v2/wallet"), String::new()),
        // There is only a form at this address.
        (&prepare, format!("{BASE}{prepare}"), String::new()),
    ] {
        let headers = [("sec-fetch-site", "same-origin"), ("referer", referer.as_str())];
        let answer = browser.send(Method::POST, path, &headers, "amount=5").await;
        assert_eq!(answer.status(), 303, "{path} from {referer}");
        let page = browser.get(answer.location()).await;
        page.expect(200, "Your session has ended, so nothing was saved. Sign in to continue.");
        page.expect(200, "data-sign-in data-unsaved");
        let fields = page.form("/console/sign-in");
        let found = fields.iter().find(|(name, _)| name == "next").map_or("", |(_, value)| value.as_str());
        assert_eq!(found, next, "{path} from {referer}");
        let signed_in = browser.submit(&page, "/console/sign-in", &[("key", BUYER)]).await;
        assert_eq!(signed_in.location(), format!("/console{next}"));
    }
    let page = browser.get("/console/wallet").await;
    assert!(!page.location().contains("notice"), "a page that is only read: {}", page.location());
    let page = browser.get(page.location()).await;
    assert!(!page.expect(200, "data-sign-in").text.contains("data-unsaved"), "nothing was lost");
}

#[tokio::test]
async fn next_page_is_one_of_this_market() {
    let market = harness::demo();
    let browser = Browser::new(market);
    let sign_in = async |next: &str| {
        let answer = browser.post("/console/sign-in", &[("key", BUYER), ("next", next)]).await;
        answer.location().to_owned()
    };
    assert_eq!(sign_in("/purchases?status=pending").await, "/console/purchases?status=pending");
    for other in ["//evil.example", "https://evil.example", "/\\evil.example", "evil"] {
        assert_eq!(sign_in(other).await, "/console", "{other}");
    }
}
