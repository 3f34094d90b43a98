//! One process serves many markets with one set of routes, and what is written to one is not visible in
//! another.

use marketplace::{
    mcp,
    operations::{
        keys,
        teams::{self, TeamInput},
    },
    rest,
};
use poem::{Endpoint, Request, Response, http::Method};
use serde_json::{Value, json};

use crate::harness::{BASE, TestMarket};

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
        market.market().write_blocking(|writer| teams::create(writer, &team)).unwrap();
        market.market().write_blocking(|writer| keys::create(writer, TEAM, "test", None)).unwrap().1
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
        let names: Vec<&str> = groups["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| group["name"].as_str().unwrap())
            .collect();
        assert_eq!(names[1..], [format!("Group {number}")], "only what was written here");
    }
    assert_eq!(send(&servers[COUNT - 1], &keys[0], None).await.0, 401);
}
