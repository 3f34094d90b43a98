//! Endpoints: checks when they are saved, their maximum number, and deletions.

use marketplace::{
    domain::webhooks::{DeliveryStatus, WebhookDisabledReason, WebhookStatus},
    error::{Error, Result},
    operations::{
        cleanup, keys,
        webhooks::{self, CheckedUrl, WebhookChange, WebhookInput},
    },
    string_enum::StringEnum,
};
use serde_json::json;

use super::{
    BUYER, DAY, SELLER, attempts, check_url, create, create_for, deliveries, find, occur, platform, start,
    wait_for_attempts, wait_until_ended, webhook_event_types, webhook_events,
};
use crate::{
    catalog::small_market::{seed_market, small_market},
    harness::{
        TestMarket,
        backups::{back_up, open_restored, temp_dir},
        receiver::{Receiver, Reply},
        waiting::poll_until,
    },
};

/// An address to which nothing is sent.
const URL: &str = "http://127.0.0.1:9/hook";

/// Returns the type of the only problem.
fn problem<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
    match result {
        Err(Error::Invalid(problems)) if problems.len() == 1 => problems[0].kind,
        other => panic!("not one problem: {other:?}"),
    }
}

#[test]
fn private_addresses_are_refused_when_saved() {
    let market = TestMarket::with_settings(|settings| settings.webhooks.allow_private_addresses = false);
    for url in [
        "https://127.0.0.1/hook",
        "https://10.0.0.8/hook",
        "https://[::1]/hook",
        "https://[::ffff:192.168.0.1]/hook",
        "https://0x7f.1/hook",
        "https://2130706433/hook",
        "https://169.254.169.254/latest",
        "https://localhost/hook",
        "https://LOCALHOST/hook",
    ] {
        assert_eq!(problem(check_url(&market, url)), "private_address", "{url}");
    }
    assert_eq!(problem(check_url(&market, "http://1.1.1.1/")), "url_scheme", "http is for private addresses");
    // The message names the setting that allows such an address.
    for url in ["https://127.0.0.1/hook", "https://localhost/hook", "http://127.0.0.1:9000/hook"] {
        let Err(Error::Invalid(problems)) = check_url(&market, url) else { panic!("{url} is refused") };
        assert!(problems[0].msg.contains("`webhooks.allow_private_addresses`"), "{url}: {}", problems[0].msg);
    }
    let Err(Error::Invalid(problems)) = check_url(&market, "ftp://a/") else { panic!("it is refused") };
    assert!(!problems[0].msg.contains("setting"), "no setting allows it: {}", problems[0].msg);
    assert_eq!(problem(check_url(&market, "https://name.invalid/")), "host_not_found");
    check_url(&market, "https://1.1.1.1/hook").unwrap();
    check_url(&market, "https://[2606:4700::1111]:8443/hook").unwrap();
}

/// The settings may be changed after a webhook was saved, and names may get other addresses.
#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_refused_when_sent() {
    let market = TestMarket::with_settings(|settings| settings.webhooks.allow_private_addresses = false);
    seed_market(&market, &[], &json!({}));
    let receiver = Receiver::start(Reply::status(200));
    let allowing = marketplace::config::WebhookSettings {
        allow_private_addresses: true,
        ..market.market().settings().webhooks.clone()
    };
    let port = receiver.url.split(':').nth(2).unwrap();
    let mut ids = Vec::new();
    for url in
        [format!("https://127.0.0.1:{port}"), format!("https://localhost:{port}"), receiver.url.clone()]
    {
        let url = CheckedUrl::resolve(&allowing, &url).unwrap();
        let input = WebhookInput { team: Some(SELLER), url: &url, description: "", event_types: &[] };
        ids.push(market.write(|writer| webhooks::create(writer, platform(), &input)).unwrap().0.id);
    }
    let key = occur(&market, SELLER);
    let _sender = start(&market);
    for (id, expected) in ids.iter().zip(["private_address", "private_address", "invalid_url"]) {
        wait_for_attempts(&market, *id, 1).await;
        let subject = key.to_string();
        let delivery =
            deliveries(&market, *id).into_iter().find(|found| found.body.contains(&subject)).unwrap();
        poll_until("the attempt", async || !attempts(&market, delivery.id).is_empty()).await;
        let error = attempts(&market, delivery.id).remove(0).error;
        assert_eq!(error.unwrap().as_str(), expected);
    }
    assert!(receiver.received().is_empty());
}

#[test]
fn urls_and_texts_have_limits() {
    let market = small_market(&[]);
    let long = format!("https://1.1.1.1/{}", "a".repeat(2_048));
    for (url, expected) in [
        ("", "url_scheme"),
        ("ftp://1.1.1.1/", "url_scheme"),
        ("http://user:secret@127.0.0.1/", "value_error"),
        ("http://127.0.0.1/#part", "value_error"),
        ("http://127.0.0.1:0/", "value_error"),
        (&long, "string_too_long"),
    ] {
        assert_eq!(problem(check_url(&market, url)), expected, "{url}");
    }
    let url = check_url(&market, URL).unwrap();
    for description in ["x".repeat(501), "a\0b".to_owned()] {
        let input = WebhookInput { team: None, url: &url, description: &description, event_types: &[] };
        problem(market.write(|writer| webhooks::create(writer, platform(), &input)));
    }
    let id = create(&market, SELLER, URL);
    let description = "x".repeat(501);
    let change = WebhookChange { description: Some(&description), ..WebhookChange::default() };
    problem(market.write(|writer| webhooks::update(writer, platform(), id, &change)));
}

#[test]
fn team_can_have_a_limited_number() {
    let market = TestMarket::with_settings(|settings| settings.webhooks.max_endpoints = 2);
    seed_market(&market, &[], &json!({}));
    let first = create(&market, SELLER, URL);
    create(&market, SELLER, URL);
    let more = || create_for(&market, Some(SELLER), URL, &[]);
    let Err(Error::QuotaExceeded(excess)) = more() else { panic!("not refused") };
    assert_eq!((excess.quota, excess.limit, excess.used), ("webhooks", 2, 2));
    // Each team has its own number, and so do the operators.
    create(&market, BUYER, URL);
    for _ in 0..2 {
        create_for(&market, None, URL, &[]).unwrap();
    }
    assert!(matches!(create_for(&market, None, URL, &[]), Err(Error::QuotaExceeded(_))));
    market.write(|writer| webhooks::delete(writer, platform(), first)).unwrap();
    more().unwrap();
    let missing = Some("Nobody");
    assert!(matches!(create_for(&market, missing, URL, &[]), Err(Error::NotFound(_))));
}

#[test]
fn changes_have_events_and_show_no_secret() {
    let market = small_market(&[]);
    let (webhook, secret) = create_for(&market, Some(SELLER), URL, &[]).unwrap();
    assert_eq!(webhook.team_id, Some(marketplace::clock::fixture_record_id("teams", "seller")));
    let update = |change: &WebhookChange| {
        market.write(|writer| webhooks::update(writer, platform(), webhook.id, change)).unwrap()
    };
    let other = check_url(&market, "http://127.0.0.1:10/").unwrap();
    update(&WebhookChange { url: Some(&other), ..WebhookChange::default() });
    // A change without an effect has no event.
    update(&WebhookChange { url: Some(&other), description: Some("Test"), ..WebhookChange::default() });
    update(&WebhookChange { status: Some(WebhookStatus::Enabled), ..WebhookChange::default() });
    let disabled = WebhookChange { status: Some(WebhookStatus::Disabled), ..WebhookChange::default() };
    assert_eq!(update(&disabled).disabled.unwrap().1, WebhookDisabledReason::Requested);
    update(&disabled);
    update(&WebhookChange { status: Some(WebhookStatus::Enabled), ..WebhookChange::default() });
    market.write(|writer| webhooks::rotate(writer, platform(), webhook.id)).unwrap();
    market.write(|writer| webhooks::delete(writer, platform(), webhook.id)).unwrap();
    let expected = [
        "webhook.created",
        "webhook.updated",
        "webhook.disabled",
        "webhook.updated",
        "webhook.rotated",
        "webhook.deleted",
    ];
    assert_eq!(webhook_event_types(&market), expected);
    let all = format!("{:?} {webhook:?} {secret:?}", webhook_events(&market));
    assert!(!all.contains("whsec_") && !all.contains(&secret.reveal()["whsec_".len()..]));
    let missing = market.write(|writer| webhooks::delete(writer, platform(), webhook.id));
    assert!(matches!(missing, Err(Error::NotFound(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_deleted_some_days_after_they_ended() {
    let (market, receiver) = (small_market(&[]), Receiver::start(Reply::status(200)));
    let webhook = create(&market, SELLER, &receiver.url);
    let deleted = create_for(&market, Some(BUYER), URL, &[]).unwrap().0.id;
    let sender = start(&market);
    occur(&market, SELLER);
    wait_until_ended(&market, webhook).await;
    drop(sender);
    market.clock().advance(DAY);
    occur(&market, SELLER);
    occur(&market, BUYER);
    market.write(|writer| webhooks::delete(writer, platform(), deleted)).unwrap();
    let sweep = || cleanup::sweep(market.market()).unwrap().deliveries;
    assert_eq!(sweep(), 1, "those of deleted webhooks");
    market.clock().advance(89 * DAY);
    assert_eq!(sweep(), 0);
    market.clock().advance(1);
    assert_eq!(sweep(), 1);
    let left: Vec<DeliveryStatus> = deliveries(&market, webhook).iter().map(|found| found.status).collect();
    assert_eq!(left, [DeliveryStatus::Pending]);
    // Nothing is sent to a disabled webhook, so what is pending does not end by itself.
    let disabled = WebhookChange { status: Some(WebhookStatus::Disabled), ..WebhookChange::default() };
    market.write(|writer| webhooks::update(writer, platform(), webhook, &disabled)).unwrap();
    market.clock().advance(90 * DAY);
    assert_eq!(sweep(), 0);
    market.clock().advance(1);
    assert_eq!(sweep(), 1);
    assert!(find(&market, webhook).last_success_at.is_some());
}

/// Without webhooks, a transaction with events costs one statement more.
#[test]
fn events_without_webhooks_cost_one_statement_for_each_transaction() {
    let cost = |is_enabled| {
        let market = TestMarket::with_settings(|settings| settings.webhooks.enabled = is_enabled);
        seed_market(&market, &[], &json!({}));
        let costs = (0..3).map(|_| {
            let before = market.market().statement_count();
            let created = market
                .write(|writer| (0..5).try_for_each(|_| keys::create(writer, SELLER, "ci", None).map(drop)));
            created.unwrap();
            market.market().statement_count() - before
        });
        costs.min().unwrap()
    };
    assert_eq!(cost(true), cost(false) + 1);
}

#[test]
fn nothing_is_enqueued_if_the_settings_say_so() {
    let market = TestMarket::with_settings(|settings| settings.webhooks.enabled = false);
    seed_market(&market, &[], &json!({}));
    let webhook = create(&market, SELLER, URL);
    occur(&market, SELLER);
    assert!(deliveries(&market, webhook).is_empty());
}

/// Receivers ignore the IDs of messages that they have received already.
#[test]
fn restored_market_uses_no_id_of_a_message_again() {
    let market = small_market(&[]);
    let webhook = create(&market, SELLER, URL);
    let key = occur(&market, SELLER);
    let backup = temp_dir();
    back_up(market.market(), backup.path()).unwrap();
    let ids =
        |market: &TestMarket| deliveries(market, webhook).iter().map(|found| found.id).collect::<Vec<_>>();
    let pending = ids(&market);
    assert_eq!(pending.len(), 1);
    for _ in 0..3 {
        occur(&market, SELLER);
    }
    let restored = open_restored(backup.path());
    assert_eq!(ids(&restored), pending, "what was pending has the same ID");
    restored.write(|writer| keys::revoke(writer, key)).unwrap();
    let (original, other) = (ids(&market), ids(&restored));
    assert_eq!((original.len(), other.len()), (4, 2));
    let common: Vec<_> = other.into_iter().filter(|id| original.contains(id)).collect();
    assert_eq!(common, pending);
}
