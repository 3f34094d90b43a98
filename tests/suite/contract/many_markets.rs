//! One process serves many markets with one set of routes, and each has its own data, keys, and limits.

use marketplace::{
    mcp,
    operations::{
        keys,
        teams::{self, TeamInput},
    },
    rest,
};
use poem::{Endpoint, Request};
use serde_json::Value;

use crate::harness::{BASE, TestMarket};

/// Number of markets.
const COUNT: usize = 8;

#[tokio::test]
async fn markets_on_one_set_of_routes_are_separate() {
    let markets: Vec<TestMarket> = (0..COUNT).map(|_| TestMarket::empty()).collect();
    let app = mcp::App::new(rest::App::new(markets[0].market().settings(), false));
    let servers: Vec<_> = markets.iter().map(|market| app.serve(market.market().clone(), BASE)).collect();
    let new_key = |number: usize| {
        let market = markets[number].market();
        let name = &format!("Team {number}");
        let team = TeamInput { name, is_vendor: true, is_buyer: true, tier: 1, has_accepted_nda: true };
        market.write_blocking(|writer| teams::create(writer, &team)).unwrap();
        market.write_blocking(|writer| keys::create(writer, name, "test", None)).unwrap().1
    };
    let keys: Vec<String> = (0..COUNT).map(new_key).collect();
    for (number, key) in keys.iter().enumerate() {
        for (other, server) in servers.iter().enumerate() {
            let request = Request::builder().uri("/v2/domains".parse().unwrap());
            let request = request.header("authorization", format!("Bearer {key}")).finish();
            let response = server.get_response(request).await;
            let status = response.status().as_u16();
            assert_eq!(status, if number == other { 200 } else { 401 }, "key {number} at market {other}");
            let body: Value =
                serde_json::from_slice(&response.into_body().into_vec().await.unwrap()).unwrap();
            assert_eq!(body.get("domains").is_some(), number == other, "{body}");
        }
    }
}
