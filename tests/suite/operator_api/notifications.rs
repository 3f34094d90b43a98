//! Notifications of teams, as operators see them.

use serde_json::{Value, json};
use uuid::Uuid;

use super::sales_market::{
    OPERATOR, event_types, get, last_event, listed, post, purchase, sales_market, team_id,
};

#[tokio::test]
async fn notification_is_marked_as_read_once() {
    let market = sales_market();
    post(&market, "purchases", &purchase("buyer", "plain", "credits")).await.expect_status(201);
    let sent = get(&market, "notifications?type=sale_completed&unread=true").await["items"][0].clone();
    assert_eq!((&sent["team_id"], &sent["read"]), (&json!(team_id("seller")), &json!(false)));
    let path = format!("notifications/{}", sent["id"].as_str().unwrap());
    assert_eq!(get(&market, &path).await, sent);
    let since = last_event(&market);
    for _ in 0..2 {
        let read = post(&market, &format!("{path}/read"), &Value::Null).await.ok();
        assert_eq!((&read["read"], &read["id"]), (&json!(true), &sent["id"]));
    }
    assert_eq!(event_types(&market, since), ["notification.read"]);
    let feed = market.get("mkt_seller", "/v2/vendor/notifications").await.ok();
    assert_eq!((&feed["unread_count"], &feed["notifications"][0]["read"]), (&json!(0), &json!(true)));
    for (filter, count) in [
        ("unread=true".to_owned(), 0),
        ("unread=false".to_owned(), 1),
        (format!("team_id={}", team_id("seller")), 1),
        (format!("team_id={}", team_id("buyer")), 0),
        ("type=offer_received".to_owned(), 0),
    ] {
        assert_eq!(listed(&market, &format!("notifications?{filter}"), "id").await.len(), count, "{filter}");
    }
    let unknown = format!("/operator/v1/notifications/{}/read", Uuid::nil());
    assert_eq!(market.call(OPERATOR, "POST", &unknown, &Value::Null).await.expect_error(404), "not_found");
}
