//! Concurrent requests: a repeated operation takes effect once, and an exclusive item is sold once.

use serde_json::json;

use super::sales_market::{OPERATOR, credits, get, listed, offer, post, purchase, sales_market};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn same_request_twice_at_once_acts_once() {
    let market = sales_market();
    let headers = [("idempotency-key", "k")];
    let body = purchase("buyer", "plain", "credits");
    let buy = || market.call_with(OPERATOR, "POST", "/operator/v1/purchases", &body, &headers);
    let responses = futures_util::future::join_all((0..8).map(|_| buy())).await;
    let bought = listed(&market, "purchases", "id").await;
    assert_eq!(bought.len(), 1);
    for response in &responses {
        match response.status {
            201 => assert_eq!(response.json()["id"], bought[0]),
            _ => assert_eq!(response.expect_error(409), "idempotency_in_flight"),
        }
    }
    assert!(responses.iter().any(|response| response.status == 201));
    assert_eq!(buy().await.expect_status(201)["id"], bought[0]);
    assert_eq!(credits(&market, "buyer").await, "947.50");
    let audit = get(&market, "audit?operation=create_purchase").await;
    assert_eq!(audit["total"], 1);
    // Without a key, each request is another one, and the second purchase is refused.
    let twice = post(&market, "purchases", &body).await;
    assert_eq!(twice.expect_error(409), "conflict");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exclusive_right_is_sold_to_one_of_two_buyers_at_once() {
    for _ in 0..8 {
        let market = sales_market();
        let (first, second) = (purchase("buyer", "only", "credits"), purchase("other", "only", "credits"));
        let (first, second) =
            tokio::join!(post(&market, "purchases", &first), post(&market, "purchases", &second));
        let (loser, refused) = if first.status == 201 { ("other", second) } else { ("buyer", first) };
        let winner = if loser == "other" { "buyer" } else { "other" };
        assert_eq!(refused.expect_error(409), "no_longer_available");
        assert_eq!(
            (credits(&market, winner).await, credits(&market, loser).await),
            (json!("916.00"), json!("1000.00"))
        );
        assert_eq!(listed(&market, "purchases", "exclusive").await, [true]);
    }
}

/// An offer is accepted while another buyer buys: both cannot get the exclusive right.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exclusive_right_is_sold_or_its_offer_accepted() {
    for _ in 0..8 {
        let market = sales_market();
        let made =
            post(&market, "offers", &offer("buyer", "only", "60.00", "credits")).await.expect_status(201);
        let path = format!("offers/{}/accept", made["id"].as_str().unwrap());
        let body = purchase("other", "only", "credits");
        let (accepted, bought) =
            tokio::join!(post(&market, &path, &serde_json::Value::Null), post(&market, "purchases", &body));
        assert_eq!(
            (accepted.status == 200, bought.status == 201),
            (bought.status == 409, accepted.status == 409)
        );
        let (paying, other) = if accepted.status == 200 { ("buyer", "other") } else { ("other", "buyer") };
        let price = if paying == "buyer" { "937.00" } else { "916.00" };
        assert_eq!(
            (credits(&market, paying).await, credits(&market, other).await),
            (json!(price), json!("1000.00"))
        );
        assert_eq!(listed(&market, "purchases?status=completed", "exclusive").await, [true]);
    }
}
