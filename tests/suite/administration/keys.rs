//! The lives of API keys: creation, expiry, rotation, and revocation.

use marketplace::{
    domain::{principals::KeyScope, time::Timestamp},
    error::{Error, Result},
    market::{Requester, Writer},
    operations::keys,
};
use poem::{Body, http::Method};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{HOUR, event_types, events, platform, problems, refusal, run_steps};
use crate::{
    catalog::small_market::small_market,
    harness::{NOW, TestMarket, TestResponse},
};

/// Any route that a valid key of the seller may call.
const ROUTE: &str = "/v2/codebases";

fn after(hours: i64) -> Timestamp {
    Timestamp::parse(NOW).unwrap().plus_micros(hours * HOUR)
}

fn create(market: &TestMarket, expires_at: Option<Timestamp>) -> (Uuid, String) {
    market.write(|writer| keys::create(writer, "Seller house", "ci", expires_at)).unwrap()
}

fn rotate(market: &TestMarket, id: Uuid) -> Result<(Uuid, String)> {
    market.write(|writer| keys::rotate(writer, platform(), id, None))
}

#[tokio::test]
async fn both_keys_of_a_rotation_are_valid_until_the_overlap_ends() {
    let market = small_market(&[]);
    let (id, old) = create(&market, None);
    let (successor, new) = rotate(&market, id).unwrap();
    for key in [&old, &new] {
        market.get(key, ROUTE).await.ok();
    }
    market.clock().advance(24 * HOUR - 1);
    market.get(&old, ROUTE).await.ok();
    market.clock().advance(1);
    assert_eq!(market.get(&old, ROUTE).await.expect_error(401), "unauthorized");
    market.get(&new, ROUTE).await.ok();
    assert_eq!(event_types(&market, &["key."]), ["key.created", "key.created", "key.rotated"]);
    run_steps(&market);
    let found = events(&market, &["key."]);
    let rotated = &found[2];
    assert_eq!(rotated.data["successor_id"], successor.to_string());
    assert_eq!((&found[3].kind[..], found[3].subject.as_str()), ("key.expired", &id.to_string()[..]));
    assert_eq!(found[3].occurred_at, after(24).to_string(), "the time of the step is its due time");
    assert!(found.iter().all(|event| event.has_team && !event.data.to_string().contains("mkt_")));
}

#[tokio::test]
async fn rotated_key_never_lives_longer_than_before() {
    let market = small_market(&[]);
    let (id, old) = create(&market, Some(after(2)));
    market.clock().advance(HOUR);
    let (_, new) = rotate(&market, id).unwrap();
    market.clock().advance(HOUR);
    assert_eq!(market.get(&old, ROUTE).await.expect_error(401), "unauthorized");
    market.get(&new, ROUTE).await.ok();
    // The new key has the same lifetime, from the rotation on.
    market.clock().advance(HOUR);
    assert_eq!(market.get(&new, ROUTE).await.expect_error(401), "unauthorized");
}

#[test]
fn successor_of_a_key_does_not_outlive_the_last_year() {
    let market = small_market(&[]);
    let (id, _) = create(&market, Timestamp::parse("9999-12-31T00:00:00Z"));
    market.clock().advance(48 * HOUR);
    rotate(&market, id).unwrap();
    let rotated = events(&market, &["key.rotated"]).remove(0);
    assert_eq!(rotated.data["successor_expires_at"], "9999-12-31T23:59:59.999Z");
}

/// Sends a POST request, and revokes a key after its headers were received and before its body arrives.
async fn send_slowly(
    market: &TestMarket,
    key: &str,
    revoked: Option<Uuid>,
    path: &str,
    body: &Value,
    headers: &[(&str, &str)],
) -> TestResponse {
    let (market_of_key, body) = (market.market().clone(), body.to_string());
    let revoke = move |writer: &mut Writer| revoked.map_or(Ok(()), |id| keys::revoke(writer, id));
    let chunks = futures_util::stream::once(async move {
        market_of_key.write(Requester::process(), revoke).await.unwrap();
        Ok::<_, std::io::Error>(bytes::Bytes::from(body))
    });
    let authorization = format!("Bearer {key}");
    let mut all = vec![("authorization", authorization.as_str()), ("content-type", "application/json")];
    all.extend(headers);
    market.send_body(Method::POST, path, &all, Body::from_bytes_stream(chunks)).await
}

#[tokio::test]
async fn key_that_is_revoked_while_a_body_is_sent_changes_nothing() {
    const GROUPS: &str = "/v2/asset-groups";
    let market = small_market(&[]);
    let (id, key) = create(&market, None);
    send_slowly(&market, &key, None, GROUPS, &json!({"name": "Before"}), &[]).await.expect_status(201);
    let refused = send_slowly(&market, &key, Some(id), GROUPS, &json!({"name": "After"}), &[]).await;
    assert_eq!(refused.expect_error(401), "unauthorized");
    let groups = market.get("mkt_seller", GROUPS).await.ok().to_string();
    assert!(groups.contains("Before") && !groups.contains("After"), "{groups}");
}

/// Without an `Idempotency-Key`, such a request writes nothing to the market of the server.
#[tokio::test(flavor = "multi_thread")]
async fn operator_key_that_is_revoked_while_a_body_is_sent_creates_no_world() {
    const WORLDS: &str = "/sandbox/v1/worlds";
    let market = small_market(&[]);
    let create = |name: &str| {
        market
            .write(|writer| keys::create_for_operator(writer, platform(), name, KeyScope::All, None))
            .unwrap()
    };
    let (_, other_key) = create("other");
    for with_key in [false, true] {
        let (id, key) = create("desk");
        let send = async |revoked: Option<Uuid>, name: &str| {
            // Each request has another idempotency key.
            let headers = [("idempotency-key", name)];
            let headers = if with_key { &headers[..] } else { &[] };
            let body = json!({"from": "market", "name": name});
            send_slowly(&market, &key, revoked, WORLDS, &body, headers).await
        };
        let [before, after] = ["before", "after"].map(|name| format!("{name}-{with_key}"));
        send(None, &before).await.expect_status(201);
        assert_eq!(send(Some(id), &after).await.expect_error(401), "unauthorized");
        let worlds = market.get(&other_key, WORLDS).await.ok().to_string();
        assert!(worlds.contains(&before) && !worlds.contains(&after), "{worlds}");
    }
}

#[test]
fn key_that_was_rotated_or_has_ended_is_not_changed() {
    let market = small_market(&[]);
    let (rotated, _) = create(&market, None);
    let (revoked, _) = rotate(&market, rotated).unwrap();
    market.write(|writer| keys::revoke(writer, revoked)).unwrap();
    let (expired, _) = create(&market, Some(after(1)));
    market.clock().advance(HOUR);
    let change = |id: Uuid| market.write(|writer| keys::change_expiry(writer, platform(), id, None));
    assert_eq!(refusal(rotate(&market, rotated)), ("rotated", vec!["revoke"]));
    assert_eq!(refusal(change(rotated)), ("rotated", vec!["revoke"]));
    for (id, status) in [(revoked, "revoked"), (expired, "expired")] {
        assert_eq!(refusal(rotate(&market, id)), (status, vec![]));
        assert_eq!(refusal(change(id)), (status, vec![]));
        assert_eq!(refusal(market.write(|writer| keys::revoke(writer, id))), (status, vec![]));
    }
    let unknown = Uuid::nil();
    assert!(matches!(rotate(&market, unknown), Err(Error::NotFound(_))));
    // A rotated key can end at once.
    market.write(|writer| keys::revoke(writer, rotated)).unwrap();
}

#[tokio::test]
async fn changed_expiry_replaces_the_earlier_one() {
    let market = small_market(&[]);
    let (id, key) = create(&market, Some(after(1)));
    let change =
        |at: Option<Timestamp>| market.write(|writer| keys::change_expiry(writer, platform(), id, at));
    assert_eq!(problems(change(Some(after(0)))).len(), 1);
    change(Some(after(3))).unwrap();
    market.clock().advance(2 * HOUR);
    run_steps(&market);
    market.get(&key, ROUTE).await.ok();
    change(None).unwrap();
    market.clock().advance(100 * HOUR);
    run_steps(&market);
    market.get(&key, ROUTE).await.ok();
    let expected = ["key.created", "key.expiry_changed", "key.expiry_changed"];
    assert_eq!(event_types(&market, &["key."]), expected);
}

/// What ended a key first is what its events say.
#[test]
fn revoked_key_does_not_expire() {
    let market = small_market(&[]);
    let (id, _) = create(&market, Some(after(1)));
    market.write(|writer| keys::revoke(writer, id)).unwrap();
    market.clock().advance(2 * HOUR);
    run_steps(&market);
    assert_eq!(event_types(&market, &["key."]), ["key.created", "key.revoked"]);
}

#[test]
fn operator_keys_are_rotated_alike_and_belong_to_no_team() {
    let market = small_market(&[]);
    let (id, _) = market
        .write(|writer| keys::create_for_operator(writer, platform(), "desk", KeyScope::All, None))
        .unwrap();
    let (_, key) = rotate(&market, id).unwrap();
    assert!(key.starts_with("mkt_op_"), "{key}");
    let found = events(&market, &["key."]);
    assert!(found.len() == 3 && found.iter().all(|event| !event.has_team));
    let create = |name: &str| {
        market.write(|writer| keys::create_for_operator(writer, platform(), name, KeyScope::All, None))
    };
    for name in ["", "a\nb", &"x".repeat(121)] {
        assert_eq!(problems(create(name)).len(), 1, "{name:?}");
    }
}

#[tokio::test]
async fn ended_key_stays_ended_when_the_clock_jumps_back() {
    let market = small_market(&[]);
    let (expired, expired_key) = create(&market, Some(after(1)));
    let (revoked, revoked_key) = create(&market, None);
    market.clock().advance(2 * HOUR);
    market.write(|writer| keys::revoke(writer, revoked)).unwrap();
    market.clock().advance(-2 * HOUR);
    for key in [&expired_key, &revoked_key] {
        assert_eq!(market.get(key, ROUTE).await.expect_error(401), "unauthorized");
    }
    assert_eq!(refusal(rotate(&market, expired)), ("expired", vec![]));
    market.clock().advance(3 * HOUR);
    run_steps(&market);
    assert_eq!(event_types(&market, &["key.expired"]).len(), 1);
}
