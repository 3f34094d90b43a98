//! Attempts: their times, what counts as success, what disables a webhook, and what a kill interrupts.

use std::sync::Arc;

use marketplace::{
    domain::webhooks::{AttemptError, DeliveryStatus, WebhookDisabledReason, WebhookStatus},
    error::Error,
    operations::{
        webhook_deliveries,
        webhooks::{self, WebhookChange},
    },
};
use tokio::sync::Notify;

use super::{
    BUYER, DAY, SECOND, SELLER, advance_to_next_attempt, attempts, check_url, create, deliveries, find,
    occur, platform, start, subscribed, wait_for_attempts, wait_until_ended, webhook_event_types,
    webhook_events,
};
use crate::{
    catalog::small_market::small_market,
    harness::{
        TestMarket,
        receiver::{Receiver, Reply},
        waiting::poll_until,
    },
};

/// Makes the only delivery to a webhook fail permanently, from its current attempt on.
async fn fail(market: &TestMarket, webhook: uuid::Uuid) {
    for count in 1..=10 {
        let delivery = wait_for_last_attempt(market, webhook, count).await;
        if delivery.status != DeliveryStatus::Pending {
            return;
        }
        advance_to_next_attempt(market, &delivery);
    }
    panic!("the delivery is still pending");
}

/// Waits until the newest delivery has so many attempts, and returns it.
async fn wait_for_last_attempt(
    market: &TestMarket,
    webhook: uuid::Uuid,
    count: u32,
) -> marketplace::store::webhook_deliveries::Delivery {
    let newest = || deliveries(market, webhook).pop().unwrap();
    poll_until("the attempt", async || newest().attempts >= count).await;
    newest()
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_follow_the_schedule_and_have_one_id() {
    let (market, receiver, webhook, _sender) = subscribed(Reply::status(500));
    occur(&market, SELLER);
    let started = market.clock().now();
    fail(&market, webhook).await;
    let delivery = deliveries(&market, webhook).remove(0);
    let made = attempts(&market, delivery.id);
    let seconds: Vec<i64> =
        made.iter().map(|attempt| (attempt.attempted_at.0 - started.0) / SECOND).collect();
    assert_eq!(seconds, [0, 5, 305, 2_105, 9_305, 27_305, 63_305, 113_705, 185_705, 272_105]);
    assert_eq!(seconds[9], 75 * 3_600 + 35 * 60 + 5, "75 h 35 min in all");
    assert!(made.iter().zip(1..).all(|(attempt, number)| attempt.number == number));
    assert!(made.iter().all(|attempt| attempt.status == Some(500) && attempt.response == "status 500"));
    assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Failed, None));
    let received = receiver.wait_for(10).await;
    assert!(received.iter().all(|request| request.header("webhook-id") == received[0].header("webhook-id")));
    assert!(received.iter().all(|request| request.body == received[0].body));
    // The webhook is not even five days old.
    assert_eq!(find(&market, webhook).status(), WebhookStatus::Enabled);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_delivery_disables_a_webhook_without_success_for_five_days() {
    let (market, receiver, webhook, _sender) = subscribed(Reply::status(200));
    market.clock().advance(9 * DAY);
    // The success counts, not the age of the webhook.
    occur(&market, SELLER);
    wait_until_ended(&market, webhook).await;
    receiver.reply_with(Reply::status(503));
    occur(&market, SELLER);
    fail(&market, webhook).await;
    assert_eq!(find(&market, webhook).status(), WebhookStatus::Enabled);
    occur(&market, SELLER);
    fail(&market, webhook).await;
    let (disabled_at, reason) = find(&market, webhook).disabled.unwrap();
    assert_eq!((disabled_at, reason), (market.clock().now(), WebhookDisabledReason::Failing));
    let events = webhook_events(&market);
    let (kind, _, data) = events.last().unwrap();
    assert!(kind == "webhook.disabled" && data.contains(r#""reason":"failing""#), "{data}");
    // Nothing is sent to it, and what occurs is not kept for later.
    occur(&market, SELLER);
    assert_eq!(deliveries(&market, webhook).len(), 3);
    // Once enabled, it has five days again.
    let change = WebhookChange { status: Some(WebhookStatus::Enabled), ..WebhookChange::default() };
    market.write(|writer| webhooks::update(writer, platform(), webhook, &change)).unwrap();
    occur(&market, SELLER);
    fail(&market, webhook).await;
    assert_eq!(find(&market, webhook).status(), WebhookStatus::Enabled);
}

/// Attempts that were scheduled while the clock was ahead do not wait until that time.
#[tokio::test(flavor = "multi_thread")]
async fn deliveries_go_on_after_the_clock_was_set_back() {
    let (market, receiver, webhook, _sender) = subscribed(Reply::status(500));
    occur(&market, SELLER);
    wait_for_attempts(&market, webhook, 1).await;
    receiver.reply_with(Reply::status(200));
    market.clock().advance(-400 * DAY);
    occur(&market, SELLER);
    receiver.wait_for(3).await;
    wait_until_ended(&market, webhook).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn status_410_disables_at_once_and_keeps_what_is_pending() {
    let (market, receiver, webhook, _sender) = subscribed(Reply::status(500));
    occur(&market, SELLER);
    wait_for_attempts(&market, webhook, 1).await;
    receiver.reply_with(Reply::status(410));
    occur(&market, SELLER);
    poll_until("the end", async || find(&market, webhook).disabled.is_some()).await;
    let states: Vec<DeliveryStatus> = deliveries(&market, webhook).iter().map(|found| found.status).collect();
    assert_eq!(states, [DeliveryStatus::Pending, DeliveryStatus::Failed]);
    assert_eq!(find(&market, webhook).disabled.unwrap().1, WebhookDisabledReason::Gone);
    assert_eq!(webhook_event_types(&market), ["webhook.created", "webhook.disabled"]);
    let failed = deliveries(&market, webhook)[1].id;
    let redeliver = || market.write(|writer| webhook_deliveries::redeliver(writer, platform(), failed));
    assert!(matches!(redeliver(), Err(Error::Conflict(_))));
    // Pending deliveries are sent when the webhook is enabled again.
    receiver.reply_with(Reply::status(204));
    let change = WebhookChange { status: Some(WebhookStatus::Enabled), ..WebhookChange::default() };
    market.write(|writer| webhooks::update(writer, platform(), webhook, &change)).unwrap();
    market.clock().advance(5 * SECOND);
    wait_until_ended(&market, webhook).await;
    assert_eq!(deliveries(&market, webhook)[0].status, DeliveryStatus::Succeeded);
    // The same message is delivered again on request, and the attempts count on.
    redeliver().unwrap();
    wait_until_ended(&market, webhook).await;
    let delivery = deliveries(&market, webhook).remove(1);
    assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Succeeded, 2));
    let received = receiver.wait_for(4).await;
    assert_eq!(received[1].header("webhook-id"), received[3].header("webhook-id"));
}

/// Changes the URL of a webhook.
fn move_to(market: &TestMarket, webhook: uuid::Uuid, url: &str) {
    let url = check_url(market, url).unwrap();
    let change = WebhookChange { url: Some(&url), ..WebhookChange::default() };
    market.write(|writer| webhooks::update(writer, platform(), webhook, &change)).unwrap();
}

fn set_status(market: &TestMarket, webhook: uuid::Uuid, status: WebhookStatus) {
    let change = WebhookChange { status: Some(status), ..WebhookChange::default() };
    market.write(|writer| webhooks::update(writer, platform(), webhook, &change)).unwrap();
}

/// A response to an attempt that began before the webhook was changed does not count for the changed webhook.
#[tokio::test(flavor = "multi_thread")]
async fn status_410_after_a_change_of_the_webhook_does_not_count() {
    let (market, release) = (small_market(&[]), Arc::new(Notify::new()));
    let held = || Receiver::start(Reply::Held(Arc::clone(&release), 410));
    let (old, new, paused) = (held(), Receiver::start(Reply::status(200)), held());
    let _sender = start(&market);

    let webhook = create(&market, SELLER, &old.url);
    occur(&market, SELLER);
    old.wait_for(1).await;
    move_to(&market, webhook, &new.url);
    release.notify_one();
    assert_eq!(wait_until_ended(&market, webhook).await, [DeliveryStatus::Succeeded]);
    let sent_again = new.wait_for(1).await;
    assert_eq!(sent_again[0].header("webhook-id"), old.received()[0].header("webhook-id"));
    let delivery = deliveries(&market, webhook).remove(0);
    assert_eq!((delivery.attempts, delivery.failures), (2, 0));
    assert_eq!(find(&market, webhook).status(), WebhookStatus::Enabled);

    let webhook = create(&market, BUYER, &paused.url);
    occur(&market, BUYER);
    paused.wait_for(1).await;
    set_status(&market, webhook, WebhookStatus::Disabled);
    market.clock().advance(SECOND);
    set_status(&market, webhook, WebhookStatus::Enabled);
    paused.reply_with(Reply::status(200));
    release.notify_one();
    assert_eq!(wait_until_ended(&market, webhook).await, [DeliveryStatus::Succeeded]);
    assert_eq!(paused.received().len(), 2);
    assert_eq!(find(&market, webhook).status(), WebhookStatus::Enabled);
}

/// The last attempt of a delivery that began with another URL does not disable the webhook.
#[tokio::test(flavor = "multi_thread")]
async fn new_url_has_five_days() {
    let (market, receiver, webhook, _sender) = subscribed(Reply::status(503));
    market.clock().advance(9 * DAY);
    occur(&market, SELLER);
    for count in 1..=9 {
        let delivery = wait_for_last_attempt(&market, webhook, count).await;
        if count == 9 {
            move_to(&market, webhook, &format!("{}?new", receiver.url));
        }
        advance_to_next_attempt(&market, &delivery);
    }
    let delivery = wait_for_last_attempt(&market, webhook, 10).await;
    assert_eq!(delivery.status, DeliveryStatus::Failed);
    assert_eq!(find(&market, webhook).status(), WebhookStatus::Enabled);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirect_is_a_failure_and_is_not_followed() {
    let (market, receiver) = (small_market(&[]), Receiver::start(Reply::status(200)));
    for status in [301, 302, 303, 307, 308] {
        receiver.reply_with(Reply::Response(status, "location: /elsewhere\r\n", String::new()));
        let webhook = create(&market, SELLER, &receiver.url);
        let sender = start(&market);
        occur(&market, SELLER);
        let delivery = wait_for_attempts(&market, webhook, 1).await;
        assert_eq!(delivery.status, DeliveryStatus::Pending, "{status}");
        assert_eq!(attempts(&market, delivery.id)[0].status, Some(status));
        drop(sender);
        market.write(|writer| webhooks::delete(writer, platform(), webhook)).unwrap();
    }
    assert!(receiver.received().iter().all(|request| request.target == "/hook"));
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoint_can_only_ask_for_a_longer_delay() {
    let (market, receiver, webhook, _sender) = subscribed(Reply::status(200));
    for (status, header, expected) in [
        (429, "retry-after: 90\r\n", 90),
        (503, "retry-after: 0\r\n", 5),
        (500, "retry-after: 90\r\n", 5),
        (429, "retry-after: Mon, 01 Jan 2300 00:00:00 GMT\r\n", 86_400),
    ] {
        receiver.reply_with(Reply::Response(status, header, String::new()));
        occur(&market, SELLER);
        let delivery = wait_for_last_attempt(&market, webhook, 1).await;
        let delay = delivery.next_attempt_at.unwrap().0 - market.clock().now().0;
        assert_eq!(delay / SECOND, expected, "{header}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn response_is_stored_up_to_a_kilobyte() {
    let (market, receiver) = (small_market(&[]), Receiver::start(Reply::status(200)));
    receiver.reply_with(Reply::Response(200, "", "ä\u{1b}\"".repeat(100_000)));
    let webhook = create(&market, SELLER, &receiver.url);
    let _sender = start(&market);
    occur(&market, SELLER);
    wait_until_ended(&market, webhook).await;
    let delivery = deliveries(&market, webhook).remove(0);
    let stored = attempts(&market, delivery.id).remove(0).response;
    assert_eq!(stored, "ä\u{1b}\"".repeat(256));
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoint_that_does_not_listen_is_tried_again() {
    let market = small_market(&[]);
    // Nobody listens on this port.
    let webhook = create(&market, SELLER, "http://127.0.0.1:9/");
    let _sender = start(&market);
    occur(&market, SELLER);
    let delivery = wait_for_attempts(&market, webhook, 1).await;
    assert_eq!(delivery.status, DeliveryStatus::Pending);
    let attempt = attempts(&market, delivery.id).remove(0);
    assert_eq!(
        (attempt.status, attempt.error, attempt.response.as_str()),
        (None, Some(AttemptError::Unreachable), "")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn later_event_does_not_wait_for_an_earlier_one() {
    let (market, receiver, webhook, _sender) = subscribed(Reply::status(500));
    occur(&market, SELLER);
    let first = wait_for_attempts(&market, webhook, 1).await;
    receiver.reply_with(Reply::status(200));
    market.clock().advance(SECOND);
    occur(&market, SELLER);
    poll_until("the second event", async || {
        deliveries(&market, webhook)[1].status == DeliveryStatus::Succeeded
    })
    .await;
    advance_to_next_attempt(&market, &first);
    wait_until_ended(&market, webhook).await;
    let received = receiver.wait_for(3).await;
    assert_eq!(received[0].header("webhook-id"), received[2].header("webhook-id"));
    // Receivers can restore the order.
    let time = |index: usize| received[index].json()["timestamp"].as_str().unwrap().to_owned();
    assert!(time(2) < time(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_attempt_is_made_again_with_the_same_id() {
    let (market, receiver, webhook, sender) = subscribed(Reply::Never);
    occur(&market, SELLER);
    receiver.wait_for(1).await;
    drop(sender);
    receiver.reply_with(Reply::status(200));
    let _sender = start(&market);
    wait_until_ended(&market, webhook).await;
    let received = receiver.wait_for(2).await;
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    assert_eq!(deliveries(&market, webhook)[0].attempts, 1, "the interrupted one does not count");
}

#[tokio::test(flavor = "multi_thread")]
async fn sender_that_was_stopped_records_what_is_in_progress_and_starts_nothing() {
    let (market, receiver) = (small_market(&[]), Receiver::start(Reply::Never));
    let webhook = create(&market, SELLER, &receiver.url);
    let other = create(&market, BUYER, &receiver.url);
    let sender = start(&market);
    occur(&market, SELLER);
    receiver.wait_for(1).await;
    sender.stop();
    occur(&market, BUYER);
    assert_eq!(deliveries(&market, other)[0].attempts, 0);
    drop(sender);
    assert_eq!(deliveries(&market, webhook)[0].status, DeliveryStatus::Pending);
}
