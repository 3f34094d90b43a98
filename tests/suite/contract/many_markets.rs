//! One process serves many markets with one set of routes. Writes to one are not visible in another, and usage of
//! a principal in one does not count in another, although the row IDs are the same.

use std::sync::mpsc;

use marketplace::{
    config::Settings,
    market::Requester,
    mcp,
    operations::{
        keys,
        teams::{self, TeamInput},
    },
    rest,
};
use poem::{Endpoint, Request, Response, http::Method};
use serde_json::{Value, json};

use crate::{
    catalog::small_market::{BROWSE, keys as listing_keys, published, seed_market},
    harness::{BASE, TestMarket, TestResponse, elements},
};

/// Number of markets.
const COUNT: usize = 8;

/// The name of the only team of each market. Its key is the same in all of them, since they have the same
/// entropy.
const TEAM: &str = "Tideclock";

async fn send(server: &impl Endpoint<Output = Response>, key: &str, body: Option<Value>) -> (u16, Value) {
    let request = Request::builder()
        .uri("/v2/asset-groups".parse().unwrap())
        .header("authorization", format!("Bearer {key}"));
    let request = match body {
        Some(body) => request.method(Method::POST).content_type("application/json").body(body.to_string()),
        None => request.finish(),
    };
    let response = server.get_response(request).await;
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&response.into_body().into_vec().await.unwrap()).unwrap())
}

#[tokio::test]
async fn markets_on_one_set_of_routes_are_separate() {
    let markets: Vec<TestMarket> = (0..COUNT).map(|_| TestMarket::empty()).collect();
    let app = mcp::App::new(rest::App::new(markets[0].market().settings(), false));
    let servers: Vec<_> = markets.iter().map(|market| app.serve(market.market().clone(), BASE)).collect();
    let new_key = |market: &TestMarket| {
        let team =
            TeamInput { name: TEAM, is_vendor: true, is_buyer: false, tier: 1, has_accepted_nda: true };
        market.write(|writer| teams::create(writer, &team)).unwrap();
        market.write(|writer| keys::create(writer, TEAM, "test", None)).unwrap().1
    };
    // The last market has no team, so it does not know the key.
    let keys: Vec<String> = markets[..COUNT - 1].iter().map(new_key).collect();
    for (number, key) in keys.iter().enumerate() {
        let (status, group) =
            send(&servers[number], key, Some(json!({"name": format!("Group {number}")}))).await;
        assert_eq!(status, 201, "{group}");
    }
    for (number, key) in keys.iter().enumerate() {
        let (_, groups) = send(&servers[number], key, None).await;
        let names: Vec<&str> =
            elements(&groups["groups"]).map(|group| group["name"].as_str().unwrap()).collect();
        assert_eq!(names[1..], [format!("Group {number}")], "only what was written here");
    }
    assert_eq!(send(&servers[COUNT - 1], &keys[0], None).await.0, 401);
}

/// The key of a team that exists in both markets of a test, with the same row ID.
const BOTH: &str = "mkt_both";

/// Returns two markets that share one set of routes and have equal teams, each with one published listing of
/// its own.
fn two_markets(change: impl Fn(&mut Settings)) -> [TestMarket; 2] {
    ["a", "b"].map(|listing| {
        let market = TestMarket::with_settings(|settings| {
            settings.browse_gate.required_published = 0;
            change(settings);
        });
        seed_market(&market, &[published(listing, 3, &json!({}))], &json!({}));
        market
    })
}

async fn create_group(market: &TestMarket, name: &str, repeat: &str) -> TestResponse {
    let headers = [("idempotency-key", repeat)];
    market.call_with(BOTH, "POST", "/v2/asset-groups", &json!({"name": name}), &headers).await
}

#[tokio::test]
async fn budget_of_a_team_is_separate_in_each_market() {
    let markets = two_markets(|settings| settings.limits.other = 1);
    for market in &markets {
        market.get(BOTH, "/v2/wallet").await.ok();
    }
    for market in &markets {
        assert_eq!(market.get(BOTH, "/v2/wallet").await.expect_error(429), "rate_limited");
    }
}

#[tokio::test]
async fn first_page_is_cached_for_each_market() {
    let markets = two_markets(|_| {});
    for _ in 0..2 {
        for (market, listing) in markets.iter().zip(["a", "b"]) {
            assert_eq!(listing_keys(&market.get(BOTH, BROWSE).await.ok()), [listing]);
        }
    }
}

/// A request that waits for the writer of its market occupies a slot, and its idempotency key is in use.
#[tokio::test]
async fn slots_and_requests_in_progress_are_separate_in_each_market() {
    let markets = two_markets(|settings| (settings.limits.in_flight, settings.limits.queue) = (4, 0));
    let (release, released) = mpsc::channel::<()>();
    let mut occupying = std::pin::pin!(markets[0].market().write(Requester::process(), move |_| {
        released.recv().ok();
        Ok(())
    }));
    assert!(futures_util::poll!(&mut occupying).is_pending());
    let mut first = std::pin::pin!(create_group(&markets[0], "Waiting", "k"));
    let mut second = std::pin::pin!(create_group(&markets[0], "Also waiting", "l"));
    for _ in 0..20 {
        assert!(futures_util::poll!(&mut first).is_pending());
        assert!(futures_util::poll!(&mut second).is_pending());
        tokio::task::yield_now().await;
    }
    // One team can use half of the slots for changes.
    assert_eq!(create_group(&markets[0], "Refused", "m").await.expect_error(503), "at_capacity");
    markets[0].get(BOTH, "/v2/wallet").await.ok();
    create_group(&markets[1], "Waiting", "k").await.expect_status(201);
    markets[1].get(BOTH, "/v2/wallet").await.ok();
    release.send(()).unwrap();
    occupying.await.unwrap();
    first.await.expect_status(201);
    second.await.expect_status(201);
}

#[tokio::test]
async fn request_in_progress_in_one_market_can_be_sent_to_another() {
    let markets = two_markets(|_| {});
    let (release, released) = mpsc::channel::<()>();
    let mut occupying = std::pin::pin!(markets[0].market().write(Requester::process(), move |_| {
        released.recv().ok();
        Ok(())
    }));
    assert!(futures_util::poll!(&mut occupying).is_pending());
    let mut first = std::pin::pin!(create_group(&markets[0], "Waiting", "k"));
    for _ in 0..20 {
        assert!(futures_util::poll!(&mut first).is_pending());
        tokio::task::yield_now().await;
    }
    let repeated = create_group(&markets[0], "Waiting", "k").await;
    assert_eq!(repeated.expect_error(409), "idempotency_in_flight");
    create_group(&markets[1], "Waiting", "k").await.expect_status(201);
    release.send(()).unwrap();
    occupying.await.unwrap();
    first.await.expect_status(201);
}

#[tokio::test]
async fn bodies_of_a_team_are_counted_in_each_market() {
    let markets = two_markets(|settings| settings.limits.bodies_per_team = 1);
    let (_sender, receiver) = tokio::io::duplex(64);
    let headers = [("x-api-key", BOTH), ("content-type", "application/json")];
    let body = poem::Body::from_async_read(receiver);
    let mut unfinished =
        std::pin::pin!(markets[0].send_body(Method::POST, "/v2/asset-groups", &headers, body));
    for _ in 0..20 {
        assert!(futures_util::poll!(&mut unfinished).is_pending());
        tokio::task::yield_now().await;
    }
    assert_eq!(create_group(&markets[0], "A", "k").await.expect_error(503), "at_capacity");
    create_group(&markets[1], "A", "k").await.expect_status(201);
}
