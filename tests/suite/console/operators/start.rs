//! The start page of operators: its numbers equal those of the linked lists, and its health is that of the market.

use marketplace::{
    domain::{events::EventType, principals::KeyScope},
    operations::{
        access::Platform,
        health::{FileFacts, Health},
        operator_start::{self, Overview},
        webhook_sender::WebhookSender,
        webhooks::{self, CheckedUrl, WebhookInput},
    },
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::records::{OPERATOR, key_of, list};
use crate::harness::{
    self, TestMarket, backups,
    browser::{Browser, Page},
    documents::operator_document,
    patterns::pattern,
    random::Random,
    receiver::{Receiver, Reply},
    waiting::poll_for,
};

const START: &str = "/console/operator";

/// Returns the lists of what waits: their paths, and the numbers that the start page states.
fn waiting(page: &Page) -> Vec<(String, u64)> {
    let row = pattern(r#"<a href="(/console/operator/[^"]*)">[^<]*</a></th><td class="num">([\d,]+)</td>"#);
    let number = |text: &str| text.replace(',', "").parse().unwrap();
    row.captures_iter(&page.text).map(|row| (row[1].replace("&amp;", "&"), number(&row[2]))).collect()
}

/// Returns how many records a list says that it has.
async fn count(browser: &Browser<'_>, path: &str) -> u64 {
    let page = browser.get(path).await;
    let total = pattern(r"([\d,]+) (?:record|listing)s?");
    let note =
        page.text.split("Pages of the list").nth(1).unwrap_or_else(|| panic!("{path}: {}", page.visible()));
    total.captures(note).unwrap()[1].replace(',', "").parse().unwrap()
}

/// Checks every number against the list that it leads to. Returns how many there are.
async fn check(browser: &Browser<'_>) -> usize {
    let page = browser.get(START).await;
    let waiting = waiting(&page);
    assert!(waiting.is_empty() == page.text.contains("Nothing waits"), "{}", page.visible());
    for (path, number) in &waiting {
        assert_eq!(count(browser, path).await, *number, "{path}");
    }
    waiting.len()
}

/// Calls a random operation of the operator API on a random record that may wait.
async fn act(market: &TestMarket, random: &mut Random) -> bool {
    let path =
        pattern(r"^/operator/v1/(purchases|withdrawals|credit-purchases|listings|jobs)/\{[^}]*\}/([a-z-]+)$");
    let steps: Vec<(String, String)> = operator_document()
        .operations()
        .iter()
        .filter(|row| row.method == "POST")
        .filter_map(|row| path.captures(&row.path))
        .map(|found| (found[1].to_owned(), found[2].to_owned()))
        .collect();
    let (collection, step) = random.pick(&steps).clone();
    let records = list(market, &format!("/operator/v1/{collection}"), &[]).await;
    if records.is_empty() {
        return false;
    }
    let key = key_of(random.pick(&records));
    let has_note = step.contains("reject") || step.contains("changes");
    let body = if has_note { json!({"note": "Please describe the data."}) } else { Value::Null };
    let path = format!("/operator/v1/{collection}/{key}/{step}");
    let answer = market.call(OPERATOR, "POST", &path, &body).await;
    assert!(answer.status < 500, "{path}");
    answer.status < 300
}

#[tokio::test]
async fn numbers_are_those_of_the_lists() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    assert!(check(&browser).await >= 3, "{}", browser.get(START).await.visible());
    let mut random = Random::new(7);
    let mut changed = 0;
    for _ in 0..12 {
        for _ in 0..12 {
            changed += usize::from(act(&market, &mut random).await);
        }
        check(&browser).await;
    }
    assert!(changed > 20, "{changed}");
}

/// What waits longest comes first.
#[tokio::test]
async fn what_waits_longest_comes_first() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let page = browser.get(START).await;
    let table = page.text.split("id=\"waiting\"").nth(1).unwrap().split("</table>").next().unwrap();
    let times: Vec<&str> =
        table.split("datetime=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(times.len() >= 3 && times.is_sorted(), "{times:?}");
}

/// A webhook is failing from the moment when an event has to be sent again until the event is accepted.
#[tokio::test]
async fn webhooks_that_fail_are_counted() {
    let market = TestMarket::empty();
    let secret = market.operator_key("tests", KeyScope::All);
    let browser = Browser::signed_in(&market, &secret).await;
    browser.get(START).await.expect(200, "Nothing waits");
    let receiver = Receiver::start(Reply::status(500));
    let url = CheckedUrl::resolve(&market.market().settings().webhooks, &receiver.url).unwrap();
    let input =
        WebhookInput { team: None, url: &url, description: "", event_types: &[EventType::TeamCreated] };
    market.write(|writer| webhooks::create(writer, Platform::of_process(), &input)).unwrap();
    let _sender = WebhookSender::start(market.market(), &Handle::current()).unwrap();
    backups::create_team(market.market(), "Anybody");
    receiver.wait_for(1).await;
    let page = poll_for("failing webhooks", async || {
        Some(browser.get(START).await).filter(|page| page.text.contains("Failing webhooks"))
    })
    .await;
    assert_eq!(waiting(&page), [("/console/operator/webhooks?failing=true".to_owned(), 1)]);
    check(&browser).await;
    let hooks = "/console/operator/webhooks";
    browser.get(hooks).await.expect(200, "Failing</span>");
    let deliveries = "/console/operator/webhook-deliveries?failing=true";
    let page = browser.get(deliveries).await;
    page.expect(200, "Pending</span>");
    let delivery = page.text.split("href=\"/console/operator/webhook-deliveries/").nth(1).unwrap();
    let delivery = format!("/console/operator/webhook-deliveries/{}", delivery.split('"').next().unwrap());
    let page = browser.get(&delivery).await;
    page.expect(200, "It is about the record").expect(200, "\n  &quot;");
    browser.get(&format!("{delivery}/redeliver")).await.expect(200, "The next automatic attempt is at");
    browser.get("/console/operator/webhooks?failing=false").await.expect(200, "Nothing matches");
}

/// Operators start on this page, and keys that may only read see all of it.
#[tokio::test]
async fn operators_start_here() {
    let market = TestMarket::demo();
    let secret = market.operator_key("tests", KeyScope::Read);
    for key in [OPERATOR, &secret] {
        let browser = Browser::signed_in(&market, key).await;
        assert_eq!(browser.get("/console").await.location(), START);
        let page = browser.get(START).await;
        page.expect(200, "Waiting for you").expect(200, "Health").expect(200, "The last days");
        page.expect(200, "aria-current=\"page\"");
    }
}

#[tokio::test]
async fn market_without_the_operator_api_has_no_such_page() {
    let market = TestMarket::with_settings(|settings| settings.operator.enabled = false);
    let secret = market.operator_key("tests", KeyScope::All);
    let browser = Browser::signed_in(&market, &secret).await;
    let page = browser.get("/console").await;
    page.expect(200, "This market serves no pages for operators");
    assert!(!page.text.contains("/console/operator/search"));
}

/// The health has the facts, and says what to do.
#[tokio::test]
async fn health_is_that_of_the_market() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let page = browser.get(START).await;
    page.expect(200, "Up to date").expect(200, "No backup yet").expect(200, "Needs attention");
    let directory = backups::temp_dir();
    backups::back_up(market.market(), &directory.path().join("backup")).unwrap();
    let page = browser.get(START).await;
    page.expect(200, "complete, and compared with its digests");
    assert!(!page.text.contains("No backup yet"));
    let read = |reader: &marketplace::market::Reader| Health::read(reader, FileFacts::read(market.market())?);
    let health = market.read(read).unwrap();
    assert_eq!((health.index_lag, health.has_index_failed), (0, false));
    assert!(health.database_bytes > 0 && health.files.disk_free_bytes > 0);
    assert!(health.files.last_backup.is_some_and(|backup| backup.bytes > 0 && backup.missing_files == 0));
}

/// The figures are sums over what the operator API lists.
#[tokio::test]
async fn figures_are_sums_over_the_lists() {
    let market = harness::demo();
    let find = |reader: &marketplace::market::Reader| operator_start::find(reader, Platform::of_process());
    let Overview { activity, .. } = market.read(find).unwrap();
    let now = market.clock().now();
    let midnight = format!("{}T00:00:00Z", now.day());
    let midnight = marketplace::domain::time::Timestamp::parse(&midnight).unwrap();
    let since = |field: &str, items: &[Value], days: i64| {
        let start = midnight.plus_days(1 - days).to_string();
        items.iter().filter(|item| item[field].as_str().is_some_and(|at| at >= start.as_str())).count() as u64
    };
    let teams = list(market, "/operator/v1/teams", &[]).await;
    let listings = list(market, "/operator/v1/listings", &[]).await;
    let purchases = list(market, "/operator/v1/purchases", &[]).await;
    for (activity, days) in activity.iter().zip([1, 7, 30]) {
        assert_eq!(activity.teams, since("created_at", &teams, days), "{days}");
        assert_eq!(activity.listings, since("created_at", &listings, days), "{days}");
        assert_eq!(activity.sales, since("paid_at", &purchases, days), "{days}");
    }
    let browser = Browser::signed_in(market, OPERATOR).await;
    let page = browser.get(START).await;
    page.expect(200, &format!("<td class=\"num\">{}</td>", activity[2].listings));
}
