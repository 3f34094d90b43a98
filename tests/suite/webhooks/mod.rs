//! Webhooks: messages and their receivers, signatures, and failed deliveries. The endpoints are real servers on ports of their
//! own; the clocks of the markets are stopped.

mod endpoints;
mod payments;
mod receivers;
mod retries;
mod sharing;

use marketplace::{
    domain::{
        events::{EventRowId, EventType},
        time::Timestamp,
        webhook_messages::SigningSecret,
        webhooks::DeliveryStatus,
    },
    error::Result,
    operations::{
        access::Platform,
        keys, records,
        webhook_sender::WebhookSender,
        webhooks::{self, CheckedUrl, WebhookInput},
    },
    store::{
        self,
        records::{
            Filters, Record, Records,
            pages::{PageRequest, RowPage},
            webhook_deliveries::WEBHOOK_DELIVERIES,
        },
        webhook_attempts::Attempt,
        webhook_deliveries::Delivery,
        webhooks::Webhook,
    },
    string_enum::StringEnum,
};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::{
    catalog::small_market::small_market,
    harness::{
        TestMarket,
        receiver::{Receiver, Reply},
        waiting::poll_until,
    },
};

/// Microseconds per second.
const SECOND: i64 = 1_000_000;

/// Microseconds per day.
const DAY: i64 = 86_400 * SECOND;

/// Names of the teams of small markets.
const SELLER: &str = "Seller house";
const BUYER: &str = "Buyer house";

fn platform() -> Platform {
    Platform::of_process()
}

/// Starts to send the events of a market.
fn start(market: &TestMarket) -> WebhookSender {
    WebhookSender::start(market.market(), &Handle::current()).unwrap()
}

fn check_url(market: &TestMarket, url: &str) -> Result<CheckedUrl> {
    CheckedUrl::resolve(&market.market().settings().webhooks, url)
}

/// Creates a webhook of a team, or of the operators, for these types of events.
fn create_for(
    market: &TestMarket,
    team: Option<&str>,
    url: &str,
    event_types: &[EventType],
) -> Result<(Webhook, SigningSecret)> {
    let url = check_url(market, url)?;
    let input = WebhookInput { team, url: &url, description: "Test", event_types };
    market.write(|writer| webhooks::create(writer, platform(), &input))
}

/// Creates a webhook of a team for all types of events. Returns its ID.
fn create(market: &TestMarket, team: &str, url: &str) -> Uuid {
    create_for(market, Some(team), url, &[]).unwrap().0.id
}

/// Returns a market that sends all events of the seller to a receiver, and the ID of the webhook.
fn subscribed(reply: Reply) -> (TestMarket, Receiver, Uuid, WebhookSender) {
    let (market, receiver) = (small_market(&[]), Receiver::start(reply));
    let webhook = create(&market, SELLER, &receiver.url);
    let sender = start(&market);
    (market, receiver, webhook, sender)
}

/// Causes an event of a team: `key.created`. Returns the ID of the key.
fn occur(market: &TestMarket, team: &str) -> Uuid {
    market.write(|writer| keys::create(writer, team, "ci", None)).unwrap().0
}

fn find(market: &TestMarket, id: Uuid) -> Webhook {
    market.read(|reader| store::webhooks::find(reader.rows, id)).unwrap().unwrap()
}

/// A delivery, as operators find it.
#[derive(Deserialize)]
struct DeliveryRecord {
    id: Uuid,
    /// Its attempts, newest first.
    attempts: Vec<Attempt>,
}

impl Record for DeliveryRecord {
    type Id = Uuid;

    const RECORDS: &'static Records = &WEBHOOK_DELIVERIES;
}

/// Returns all deliveries to a webhook, oldest first.
fn deliveries(market: &TestMarket, webhook: Uuid) -> Vec<Delivery> {
    let filters = Filters::new(json!({"webhook_id": webhook, "status": null, "event_type": null}));
    let request = PageRequest { before: None, limit: 1_000 };
    let list = |reader: &marketplace::market::Reader| {
        let page: RowPage<DeliveryRecord> =
            records::page(reader.rows, platform(), reader.now, &filters, request)?;
        let find = |record: DeliveryRecord| store::webhook_deliveries::find(reader.rows, record.id);
        page.rows.into_iter().rev().filter_map(|record| find(record).transpose()).collect()
    };
    market.read(list).unwrap()
}

/// Returns the attempts of a delivery, oldest first.
fn attempts(market: &TestMarket, delivery: Uuid) -> Vec<Attempt> {
    let find = |reader: &marketplace::market::Reader| records::find(reader.rows, platform(), &delivery);
    let DeliveryRecord { mut attempts, .. } = market.read(find).unwrap();
    attempts.reverse();
    attempts
}

/// Waits until the only delivery to a webhook has so many attempts, and returns it.
async fn wait_for_attempts(market: &TestMarket, webhook: Uuid, count: u32) -> Delivery {
    poll_until("the attempt", async || {
        deliveries(market, webhook).iter().any(|delivery| delivery.attempts >= count)
    })
    .await;
    deliveries(market, webhook).remove(0)
}

/// Waits until no delivery to a webhook is pending, and returns the states of all.
async fn wait_until_ended(market: &TestMarket, webhook: Uuid) -> Vec<DeliveryStatus> {
    let states = || deliveries(market, webhook).iter().map(|delivery| delivery.status).collect::<Vec<_>>();
    poll_until("the end of all deliveries", async || !states().contains(&DeliveryStatus::Pending)).await;
    states()
}

/// Advances the clock to the next attempt of a delivery.
fn advance_to_next_attempt(market: &TestMarket, delivery: &Delivery) {
    let next = delivery.next_attempt_at.expect("the delivery is pending");
    market.clock().advance(next.0 - market.clock().now().0);
}

/// Returns the types of the events about webhooks, with the time of each and its data.
fn webhook_events(market: &TestMarket) -> Vec<(String, Timestamp, String)> {
    let list =
        |reader: &marketplace::market::Reader| store::events::list_after(reader.rows, EventRowId(0), 10_000);
    let all = market.read(list).unwrap().into_iter();
    let of_webhooks = all.filter(|event| event.event_type.resource() == "webhook");
    of_webhooks.map(|event| (event.event_type.as_str().to_owned(), event.occurred_at, event.data)).collect()
}

/// Returns the types of the events about webhooks.
fn webhook_event_types(market: &TestMarket) -> Vec<String> {
    webhook_events(market).into_iter().map(|(event_type, ..)| event_type).collect()
}
