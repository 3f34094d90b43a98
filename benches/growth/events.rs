//! Events, with a delivery to a webhook for each.

use marketplace::{
    domain::{
        collections::Collection, events::EventType, webhook_messages::SigningSecret, webhooks::DeliveryStatus,
    },
    error::Result,
    market::{Reader, Writer},
    operations::{self, access::Platform, events::Filters, records},
    store::{
        self,
        records::{self as rows, pages, webhook_deliveries::WEBHOOK_DELIVERIES},
        webhook_deliveries::NewDelivery,
        webhooks::NewWebhook,
    },
};
use poem::Endpoint;
use uuid::Uuid;

use super::{
    BATCH_SIZE, Bench,
    table::{Table, cpu_seconds},
    teams,
};

/// Number of teams whose tiers change in turn. Every tenth change is a change of the first team.
const TEAMS: usize = 1_000;

pub fn measure(bench: &Bench<impl Endpoint<Output = poem::Response>>, sizes: &[usize]) -> Table {
    let mut table = Table::new("events", sizes);
    let key = teams::create_operator_key(bench);
    teams::create(bench, 0, TEAMS);
    let webhook = bench.market.write_blocking(create_webhook).expect("create a webhook");
    let mut existing = 0;
    for size in sizes {
        let (start, bytes) = (cpu_seconds(), bench.stored_bytes());
        write(bench, existing..*size, emit);
        let added = (size - existing) as f64;
        table.add("added, with the change", "µs", (cpu_seconds() - start) * 1e6 / added);
        table.add("stored", "bytes", bench.stored_bytes().saturating_sub(bytes) as f64 / added);
        let (start, bytes) = (cpu_seconds(), bench.stored_bytes());
        write(bench, existing..*size, |writer, _| deliver(writer, webhook));
        table.add("delivery added and ended", "µs", (cpu_seconds() - start) * 1e6 / added);
        table.add("delivery stored", "bytes", bench.stored_bytes().saturating_sub(bytes) as f64 / added);
        existing = *size;
        measure_requests(bench, &key, webhook, &mut table);
    }
    table
}

/// Writes records with the numbers in a range.
fn write(
    bench: &Bench<impl Endpoint<Output = poem::Response>>,
    numbers: std::ops::Range<usize>,
    record: impl Fn(&mut Writer, usize) -> Result<()>,
) {
    let bulk = bench.market.bulk_writer().expect("start a bulk write");
    for first in numbers.clone().step_by(BATCH_SIZE) {
        let mut numbers = first..numbers.end.min(first + BATCH_SIZE);
        bulk.write(|writer| numbers.try_for_each(|number| record(writer, number))).expect("write records");
    }
    bulk.finish(&()).expect("update the index");
}

/// Changes the tier of a team, which is an event. The tier of a team changes each time that it is its turn.
fn emit(writer: &mut Writer, number: usize) -> Result<()> {
    let round = number / 10;
    let (team, turn) = if number.is_multiple_of(10) { (0, round) } else { (1 + number % 999, number / 999) };
    let tier = 1 + ((turn + 1) % 3) as u8;
    operations::teams::set_tier(writer, Platform::of_process(), &format!("Team {team}"), tier)?;
    Ok(())
}

/// Creates a webhook that matches no event, so that only [`deliver`] creates deliveries.
fn create_webhook(writer: &mut Writer) -> Result<Uuid> {
    let webhook = NewWebhook {
        id: writer.new_id(Collection::Webhooks),
        team: None,
        url: "https://example.com/events",
        description: "",
        event_types: &[EventType::OutboxTrimmed],
        secret: SigningSecret([1; 32]),
        id_secret: [2; 32],
        created_at: writer.now,
    };
    store::webhooks::insert(writer.rows, &webhook)?;
    Ok(webhook.id)
}

/// Adds a delivery that has succeeded.
fn deliver(writer: &mut Writer, webhook: Uuid) -> Result<()> {
    let webhook = store::webhooks::find(writer.rows, webhook)?.expect("the webhook exists");
    let new = NewDelivery {
        id: Uuid::new_v4(),
        webhook: webhook.row_id,
        event_type: EventType::TeamTierChanged,
        body: r#"{"type": "team.tier_changed", "timestamp": "2026-01-01T00:00:00.000Z", "data": {"tier": 2}}"#,
        created_at: writer.now,
    };
    let row_id = store::webhook_deliveries::insert(writer.rows, &new)?;
    let delivery = store::webhook_deliveries::find_by_row_id(writer.rows, row_id)?;
    let mut delivery = delivery.expect("the delivery was added");
    (delivery.status, delivery.next_attempt_at, delivery.attempts) = (DeliveryStatus::Succeeded, None, 1);
    delivery.ended_at = Some(writer.now);
    store::webhook_deliveries::update(writer.rows, &delivery)
}

fn measure_requests(
    bench: &Bench<impl Endpoint<Output = poem::Response>>,
    key: &str,
    webhook: Uuid,
    table: &mut Table,
) {
    let market = &bench.market;
    let first = |reader: &Reader| Ok(operations::teams::resolve(reader.rows, "Team 0")?.id);
    let team = market.read_blocking(first).expect("find the team");
    for (name, path) in [
        ("first page", "/operator/v1/events".to_owned()),
        ("of a type, none", "/operator/v1/events?types=listing.published".to_owned()),
        ("of the team of a tenth", format!("/operator/v1/events?team={team}")),
        ("of this team and a type, none", format!("/operator/v1/events?team={team}&types=listing.published")),
        ("deliveries to the webhook of all", format!("/operator/v1/webhook-deliveries?webhook_id={webhook}")),
        ("failed deliveries, none", "/operator/v1/webhook-deliveries?status=failed".to_owned()),
    ] {
        table.add_request(name, || drop(bench.get(&path, key)));
    }
    let unknown = Some("00000000-0000-0000-0000-000000000000".to_owned());
    for (name, filters) in [
        ("latest about a record, none", Filters { subject: unknown.clone(), ..Filters::default() }),
        (
            "latest of this team about a record, none",
            Filters { subject: unknown, team: Some(team), ..Filters::default() },
        ),
    ] {
        let list = |reader: &Reader| {
            operations::events::list_latest(reader, Platform::of_process(), &filters, None, 24)
        };
        table.add_request(name, || drop(market.read_blocking(list).expect("read a page")));
    }
    for (name, filters) in [
        ("failed or tried in vain, none", rows::Filters::default().with("failing", true)),
        (
            "failed or tried in vain of the webhook, none",
            rows::Filters::default().with("failing", true).with("webhook_id", webhook.to_string()),
        ),
    ] {
        let request = pages::TeamPageRequest { start: pages::Start::Newest, limit: 24, counts: true };
        let list = |reader: &Reader| {
            records::page_of_any(reader, Platform::of_process(), &WEBHOOK_DELIVERIES, &filters, request)
        };
        table.add_request(name, || drop(market.read_blocking(list).expect("read a page")));
    }
}
