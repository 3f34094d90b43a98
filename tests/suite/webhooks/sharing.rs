//! Who gets what: the events of a team, the filter of types, and the turns of teams whose endpoints are slow.

use marketplace::{
    domain::{
        events::EventType,
        purchases::{PayWith, PurchaseKind},
        webhook_messages::signature_header,
        webhooks::{DeliveryStatus, WebhookStatus},
    },
    operations::webhooks::{self, WebhookChange},
    string_enum::StringEnum,
};
use serde_json::{Value, json};

use super::{
    BUYER, SELLER, create, create_for, deliveries, find, occur, platform, start, subscribed,
    wait_until_ended, webhook_events,
};
use crate::{
    catalog::small_market::{seed_market, small_market},
    harness::{
        TestMarket,
        receiver::{Receiver, Reply},
    },
    sales::{buy, listing_id, sales_market},
};

#[tokio::test(flavor = "multi_thread")]
async fn team_gets_its_own_events_and_operators_get_all() {
    let market = small_market(&[]);
    let [seller, buyer, operators] = [(); 3].map(|()| Receiver::start(Reply::status(200)));
    create(&market, SELLER, &seller.url);
    create(&market, BUYER, &buyer.url);
    create_for(&market, None, &operators.url, &[]).unwrap();
    let _sender = start(&market);
    let keys = [occur(&market, SELLER), occur(&market, BUYER)];
    // Webhooks of other owners were created after that of the operators, and nothing else.
    let of_operators = operators.wait_for(2).await;
    let (of_seller, of_buyer) = (seller.wait_for(1).await, buyer.wait_for(1).await);
    for (received, key) in [(&of_seller[0], keys[0]), (&of_buyer[0], keys[1])] {
        let body = received.json();
        let names: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(names.len(), 3, "type, timestamp, and data: {names:?}");
        assert_eq!(received.event_type(), "key.created");
        assert_eq!(body["timestamp"], market.clock().now().to_string());
        let expected = json!({
            "key_id": key, "name": "ci", "expires_at": null, "subject": {"kind": "key", "id": key},
        });
        assert_eq!(body["data"], expected);
        assert_eq!(received.header("content-type"), "application/json");
    }
    let teams: Vec<Value> =
        of_operators.iter().map(|received| received.json()["data"]["team_id"].clone()).collect();
    for team in ["seller", "buyer"] {
        assert!(teams.contains(&json!(marketplace::clock::fixture_record_id("teams", team))), "{teams:?}");
    }
    assert_eq!((seller.received().len(), buyer.received().len()), (1, 1));
    // The IDs of the same event differ.
    let ids: std::collections::BTreeSet<String> = [&of_seller, &of_buyer, &of_operators]
        .into_iter()
        .flatten()
        .map(|received| received.header("webhook-id").to_owned())
        .collect();
    assert_eq!(ids.len(), 4);
    let all = of_seller.iter().chain(&of_buyer).map(|received| format!("{received:?}"));
    for text in all {
        assert!(
            !text.contains("evt_") && !text.contains("request_id") && !text.contains("team_id"),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_gets_only_the_types_that_it_wants() {
    let (market, receiver) = (small_market(&[]), Receiver::start(Reply::status(200)));
    let wanted = [EventType::KeyRevoked, EventType::TeamRenamed, EventType::KeyRevoked];
    let (webhook, _) = create_for(&market, Some(SELLER), &receiver.url, &wanted).unwrap();
    assert_eq!(webhook.event_types.len(), 2);
    let _sender = start(&market);
    let key = occur(&market, SELLER);
    market.write(|writer| marketplace::operations::keys::revoke(writer, key)).unwrap();
    assert_eq!(receiver.wait_for(1).await[0].event_type(), "key.revoked");
    // No type means all types.
    let change = WebhookChange { event_types: Some(&[]), ..WebhookChange::default() };
    market.write(|writer| webhooks::update(writer, platform(), webhook.id, &change)).unwrap();
    occur(&market, SELLER);
    assert_eq!(receiver.wait_for(2).await[1].event_type(), "key.created");
    let types: Vec<EventType> =
        deliveries(&market, webhook.id).iter().map(|found| found.event_type).collect();
    assert_eq!(types, [EventType::KeyRevoked, EventType::KeyCreated]);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_gets_events_about_others_and_not_about_itself() {
    let market = small_market(&[]);
    let [first, second] = [(); 2].map(|()| Receiver::start(Reply::status(200)));
    create(&market, SELLER, &first.url);
    let other = create(&market, SELLER, &second.url);
    let _sender = start(&market);
    market.write(|writer| webhooks::rotate(writer, platform(), other)).unwrap();
    let change = WebhookChange { description: Some("x"), ..WebhookChange::default() };
    market.write(|writer| webhooks::update(writer, platform(), other, &change)).unwrap();
    market.write(|writer| webhooks::delete(writer, platform(), other)).unwrap();
    let received = first.wait_for(4).await;
    let mut types: Vec<String> =
        received.iter().map(super::super::harness::receiver::Received::event_type).collect();
    types.sort();
    assert_eq!(types, ["webhook.created", "webhook.deleted", "webhook.rotated", "webhook.updated"]);
    assert!(second.received().is_empty());
    assert!(
        received.iter().all(|request| !request.body.contains("whsec_") && !request.body.contains("secret\""))
    );
    assert!(webhook_events(&market).iter().all(|(_, _, data)| !data.contains("whsec_")));
}

/// The vendor learns of the sale, and nothing about the buyer.
#[tokio::test(flavor = "multi_thread")]
async fn vendor_is_not_told_who_buys() {
    let market = sales_market();
    let [vendor, buyer] = [(); 2].map(|()| Receiver::start(Reply::status(200)));
    let both = [create(&market, SELLER, &vendor.url), create(&market, BUYER, &buyer.url)];
    let _sender = start(&market);
    let purchase = buy(&market, "buyer", listing_id("plain"), PurchaseKind::Full, PayWith::Credits).unwrap();
    for webhook in both {
        wait_until_ended(&market, webhook).await;
    }
    let received = vendor.received();
    let sale = received.iter().find(|request| request.event_type() == "purchase.completed").unwrap();
    assert_eq!(sale.json()["data"]["subject"], json!({"kind": "purchase", "id": purchase.id}));
    let buyer_id = marketplace::clock::fixture_record_id("teams", "buyer").to_string();
    for request in &received {
        let text = format!("{request:?}");
        for secret in [BUYER, &buyer_id, "mkt_buyer", "team_id"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    assert!(buyer.received().iter().any(|request| request.event_type() == "purchase.completed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_endpoints_of_one_team_delay_no_other_team() {
    let market = TestMarket::with_settings(|settings| settings.webhooks.concurrent_attempts = 4);
    seed_market(&market, &[], &json!({}));
    let [slow, fast] = [(Reply::Never), (Reply::status(200))].map(Receiver::start);
    for _ in 0..3 {
        create(&market, SELLER, &slow.url);
    }
    for _ in 0..10 {
        occur(&market, SELLER);
    }
    let webhook = create(&market, BUYER, &fast.url);
    let _sender = start(&market);
    slow.wait_for(2).await;
    for _ in 0..5 {
        occur(&market, BUYER);
    }
    let states = wait_until_ended(&market, webhook).await;
    assert_eq!(states, [DeliveryStatus::Succeeded; 5]);
    assert_eq!(slow.received().len(), 2, "half of the places stay free for others");
}

#[tokio::test(flavor = "multi_thread")]
async fn both_secrets_sign_until_the_overlap_ends() {
    let (market, receiver) = (small_market(&[]), Receiver::start(Reply::status(200)));
    let (webhook, old) = create_for(&market, Some(SELLER), &receiver.url, &[]).unwrap();
    let _sender = start(&market);
    let mut expected = Vec::new();
    occur(&market, SELLER);
    wait_until_ended(&market, webhook.id).await;
    expected.push(vec![old]);
    let (rotated, new) = market.write(|writer| webhooks::rotate(writer, platform(), webhook.id)).unwrap();
    assert!(new != old && new.reveal().starts_with("whsec_"));
    let ends_at = market.clock().now().plus_days(1);
    assert_eq!(rotated.previous_secret_ends_at, Some(ends_at));
    market.clock().advance(super::DAY - 1);
    occur(&market, SELLER);
    wait_until_ended(&market, webhook.id).await;
    expected.push(vec![new, old]);
    market.clock().advance(1);
    occur(&market, SELLER);
    wait_until_ended(&market, webhook.id).await;
    expected.push(vec![new]);
    for (request, secrets) in receiver.received().iter().zip(expected) {
        let (id, timestamp) = (request.header("webhook-id"), request.header("webhook-timestamp"));
        let signature = signature_header(&secrets, id, timestamp.parse().unwrap(), &request.body);
        assert_eq!(request.header("webhook-signature"), signature);
        // The clock of the market is not that of the receiver.
        let wall = marketplace::clock::Clock::System.now().seconds();
        assert!((wall - timestamp.parse::<i64>().unwrap()).abs() < 300);
    }
    // A third secret replaces the second one, and the first one is forgotten.
    let (_, newest) = market.write(|writer| webhooks::rotate(writer, platform(), webhook.id)).unwrap();
    occur(&market, SELLER);
    let received = receiver.wait_for(4).await;
    let timestamp = received[3].header("webhook-timestamp").parse().unwrap();
    let signature =
        signature_header(&[newest, new], received[3].header("webhook-id"), timestamp, &received[3].body);
    assert_eq!(received[3].header("webhook-signature"), signature);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_of_a_closed_team_are_disabled_for_good() {
    let (market, _receiver, webhook, _sender) = subscribed(Reply::status(200));
    let closed = market.write(|writer| {
        let actor = marketplace::domain::listings::Actor::Platform;
        marketplace::operations::team_closures::close(writer, platform(), actor, SELLER)
    });
    closed.unwrap();
    let (_, reason) = find(&market, webhook).disabled.unwrap();
    assert_eq!(reason.as_str(), "team_closed");
    let change = WebhookChange { status: Some(WebhookStatus::Enabled), ..WebhookChange::default() };
    let enabled = market.write(|writer| webhooks::update(writer, platform(), webhook, &change));
    assert!(matches!(enabled, Err(marketplace::error::Error::Conflict(_))));
}
