//! Figures equal the sums of the records of the operator API, and the aggregates of agents.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::domain::time::Timestamp;
use serde_json::{Value, json};

use super::{Numbers, OPERATOR, RANGES, Range, file, numbers};
use crate::{
    harness::{self, TestMarket, browser::Browser},
    mcp,
};

const BUYER: &str = "mkt_demo_buyer";

/// Records by group and by series.
type Groups<'r> = BTreeMap<Vec<String>, Vec<&'r Value>>;

/// Returns all records of a list of the operator API.
async fn list(market: &TestMarket, path: &str) -> Vec<Value> {
    market.list_all(OPERATOR, &format!("/operator/v1/{path}")).await
}

fn text<'v>(record: &'v Value, field: &str) -> &'v str {
    record[field].as_str().unwrap_or_else(|| panic!("{field} of {record}"))
}

/// Writes a name on the wire as words.
fn words(name: &str) -> String {
    let text = name.replace('_', " ");
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

/// Groups records that are in a range by `group`, in all, and by each of their names.
fn grouped<'r>(
    records: &'r [Value],
    range: &Range,
    at: &str,
    group: impl Fn(&Value) -> String,
    names: impl Fn(&Value) -> BTreeSet<String>,
) -> Groups<'r> {
    let mut groups = Groups::new();
    for record in records.iter().filter(|record| record[at].as_str().is_some_and(|at| range.has(at))) {
        for name in names(record).into_iter().chain(["All".to_owned()]) {
            groups.entry(vec![group(record), name]).or_default().push(record);
        }
    }
    groups
}

fn counts(groups: Groups) -> Numbers {
    groups.into_iter().map(|(keys, records)| (keys, vec![records.len().to_string()])).collect()
}

/// Returns an amount in cents.
fn cents(record: &Value, field: &str) -> i64 {
    text(record, field).replace('.', "").parse().unwrap()
}

fn amount(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// Returns the published listings with the kinds of their assets.
async fn published(market: &TestMarket) -> (Vec<Value>, BTreeMap<String, String>) {
    let kind = |asset: &Value| (text(asset, "id").to_owned(), words(text(asset, "kind")));
    let kinds = list(market, "assets").await.iter().map(kind).collect();
    (list(market, "listings?catalog_status=published").await, kinds)
}

fn kinds_of(listing: &Value, kinds: &BTreeMap<String, String>) -> BTreeSet<String> {
    let assets = listing["asset_ids"].as_array().unwrap();
    assets.iter().map(|asset| kinds[asset.as_str().unwrap()].clone()).collect()
}

#[tokio::test]
async fn growth_and_prices_are_those_of_the_published_listings() {
    const BOUNDS: [i64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
    const BANDS: [&str; 11] = [
        "Under $1,000",
        "$1,000 to $2,000",
        "$2,000 to $5,000",
        "$5,000 to $10,000",
        "$10,000 to $20,000",
        "$20,000 to $50,000",
        "$50,000 to $100,000",
        "$100,000 to $200,000",
        "$200,000 to $500,000",
        "$500,000 to $1,000,000",
        "$1,000,000 and more",
    ];
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let (listings, kinds) = published(market).await;
    let kinds_of = |listing: &Value| kinds_of(listing, &kinds);
    let band = |listing: &Value| {
        let Some(price) = listing["price"].as_str() else { return "No price".to_owned() };
        let price: f64 = price.parse().unwrap();
        BANDS[BOUNDS.iter().filter(|bound| price >= **bound as f64 * 1_000.0).count()].to_owned()
    };
    for range in &RANGES {
        let step = |listing: &Value| range.step_of(text(listing, "published_at"));
        let expected = counts(grouped(&listings, range, "published_at", step, kinds_of));
        assert_eq!(numbers(&browser, "catalog-growth", range.query, 2).await, expected, "{}", range.query);
        let expected = counts(grouped(&listings, range, "published_at", band, kinds_of));
        assert_eq!(numbers(&browser, "prices", range.query, 2).await, expected, "{}", range.query);
    }
}

/// Returns the records of each group of an aggregate of the catalog.
async fn aggregated(market: &TestMarket, property: &str) -> BTreeMap<String, u64> {
    let arguments = json!({"list": "browse_listings", "group_by": [property], "limit": 100});
    let result = mcp::call(market, BUYER, "aggregate", arguments).await;
    assert!(!result.is_error, "{}", result.text);
    let groups = result.value["groups"].as_array().unwrap();
    let group =
        |group: &Value| Some((group["group"][0].as_str()?.to_owned(), group["records"].as_u64().unwrap()));
    groups.iter().filter_map(group).collect()
}

#[tokio::test]
async fn figures_of_the_catalog_are_the_aggregates_of_agents() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let growth = numbers(&browser, "catalog-growth", "range=all", 2).await;
    let count = |values: &[String]| values[0].parse::<u64>().unwrap();
    let all = growth.iter().filter(|(keys, _)| keys[1] == "All");
    let by_month: BTreeMap<String, u64> =
        all.map(|(keys, values)| (keys[0].clone(), count(values))).collect();
    assert_eq!(by_month, aggregated(market, "month").await);
    let mut by_kind = BTreeMap::<String, u64>::new();
    for (keys, values) in growth.iter().filter(|(keys, _)| keys[1] != "All") {
        *by_kind.entry(keys[1].clone()).or_default() += count(values);
    }
    let kinds = aggregated(market, "asset_type").await.into_iter();
    assert_eq!(by_kind, kinds.map(|(kind, count)| (words(&kind), count)).collect());
    let languages = numbers(&browser, "languages", "range=all", 1).await;
    let mut found: Vec<u64> = languages.values().map(|values| count(values)).collect();
    found.sort_unstable();
    let mut expected: Vec<u64> = aggregated(market, "language").await.into_values().collect();
    expected.sort_unstable();
    assert!(!expected.is_empty() && found == expected, "{found:?} {expected:?}");
}

#[tokio::test]
async fn sales_are_those_of_the_completed_purchases() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let purchases = list(market, "purchases?status=completed").await;
    for range in &RANGES {
        let step = |purchase: &Value| range.step_of(text(purchase, "paid_at"));
        let kind = |purchase: &Value| BTreeSet::from([words(text(purchase, "kind"))]);
        let sums = |purchases: Vec<&Value>| {
            let sum = |field: &str| purchases.iter().map(|purchase| cents(purchase, field)).sum::<i64>();
            let fees = sum("platform_fee") + sum("buyer_fee");
            vec![purchases.len().to_string(), amount(sum("price")), amount(sum("net")), amount(fees)]
        };
        let groups = grouped(&purchases, range, "paid_at", step, kind);
        let expected: Numbers = groups.into_iter().map(|(keys, group)| (keys, sums(group))).collect();
        assert!(range.query != "range=all" || expected.len() > 10, "{expected:?}");
        assert_eq!(numbers(&browser, "sales", range.query, 2).await, expected, "{}", range.query);
    }
}

/// The sums of all listings are those of the sales, and so are the numbers of the whole range.
#[tokio::test]
async fn sums_of_the_best_sellers_are_those_of_the_sales() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let hundredths = |text: &str| text.replace('.', "").parse::<i64>().unwrap();
    let sum = |rows: &[Vec<String>], column: usize| -> i64 {
        rows.iter().map(|row| hundredths(&row[column])).sum()
    };
    for range in &RANGES {
        let best = file(&browser, "best-sellers", range.query).await;
        let sales = file(&browser, "sales", range.query).await;
        let all: Vec<_> = sales.into_iter().filter(|row| row[1] == "All").collect();
        // Name, sum of prices, sales, earnings, fees; step, kind, sales, sum of prices, earnings, fees.
        for (of_best, of_sales) in [(1, 3), (2, 2), (3, 4), (4, 5)] {
            assert_eq!(sum(&best, of_best), sum(&all, of_sales), "{} column {of_best}", range.query);
        }
        assert!(best.is_sorted_by(|one, next| hundredths(&one[1]) >= hundredths(&next[1])));
        if best.is_empty() {
            continue;
        }
        let page = browser.get(&format!("/console/operator/figures/best-sellers?{}", range.query)).await;
        let totals = page.text.split("<tfoot>").nth(1).expect("totals");
        assert!(totals.contains(&format!(">{}<", sum(&best, 2))), "{}: {totals}", range.query);
    }
}

#[tokio::test]
async fn pass_rates_are_those_of_the_checks() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let (mut checks, mut labels) = (Vec::new(), BTreeMap::new());
    // The newest run comes first, whose labels the figure has.
    for run in list(market, "quality-runs").await {
        let id = text(&run, "id");
        let run = market.get(OPERATOR, &format!("/operator/v1/quality-runs/{id}")).await.ok();
        for check in run["checks"].as_array().unwrap() {
            let key = text(check, "key").to_owned();
            labels.entry(key).or_insert_with(|| text(check, "label").to_owned());
            checks.push(json!({"at": run["started_at"], "key": check["key"], "status": check["status"]}));
        }
    }
    for range in &RANGES {
        let mut results: BTreeMap<String, [u64; 3]> = BTreeMap::new();
        for check in checks.iter().filter(|check| range.has(text(check, "at"))) {
            let statuses = ["passed", "failed", "error"];
            let Some(status) = statuses.iter().position(|status| check["status"] == *status) else {
                continue;
            };
            results.entry(labels[text(check, "key")].clone()).or_default()[status] += 1;
        }
        let expected = results.into_iter().map(|(key, [passed, failed, error])| {
            let decided = passed + failed;
            let rate = match passed {
                _ if decided == 0 => String::new(),
                0 => "0.0".to_owned(),
                _ if passed == decided => "100.0".to_owned(),
                _ => format!(
                    "{:.1}",
                    (1_000.0 * passed as f64 / decided as f64).round().clamp(1.0, 999.0) / 10.0
                ),
            };
            (vec![key], vec![rate, passed.to_string(), failed.to_string(), error.to_string()])
        });
        let expected: Numbers = expected.collect();
        assert_eq!(numbers(&browser, "check-results", range.query, 1).await, expected, "{}", range.query);
    }
}

/// Returns the time between two times of a record.
fn between(record: &Value, begin: &str, end: &str) -> Option<i64> {
    let at = |field: &str| Timestamp::parse(record[field].as_str()?);
    Some(at(end)?.0 - at(begin)?.0)
}

/// Returns the number of times, their median, and the longest, in a unit.
fn statistics(mut micros: Vec<i64>, unit: f64) -> [String; 3] {
    micros.sort_unstable();
    let count = micros.len();
    let median = (micros[(count - 1) / 2] + micros[count / 2]) as f64 / 2.0;
    [count.to_string(), format!("{:.1}", median / unit), format!("{:.1}", micros[count - 1] as f64 / unit)]
}

#[tokio::test]
async fn review_times_are_those_of_the_histories() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let mut decisions = Vec::new();
    for listing in list(market, "listings").await {
        let mut events = list(market, &format!("listings/{}/history", text(&listing, "id"))).await;
        events.sort_by_key(|event| (text(event, "occurred_at").to_owned(), event["number"].as_i64()));
        let mut submitted = Value::Null;
        for event in events {
            match text(&event, "event_type") {
                "submitted" => submitted = event["occurred_at"].clone(),
                "approved" | "changes_requested" | "rejected" => decisions.push(json!({
                    "decision": event["event_type"], "begin": submitted, "at": event["occurred_at"],
                })),
                _ => {}
            }
        }
    }
    for range in &RANGES {
        let step = |decision: &Value| range.step_of(text(decision, "at"));
        let decision = |decision: &Value| BTreeSet::from([words(text(decision, "decision"))]);
        let times = |decisions: Vec<&Value>| {
            let micros = decisions.iter().map(|decision| between(decision, "begin", "at").unwrap());
            statistics(micros.collect(), 3_600e6).to_vec()
        };
        let groups = grouped(&decisions, range, "at", step, decision);
        let expected: Numbers = groups.into_iter().map(|(keys, group)| (keys, times(group))).collect();
        assert_eq!(numbers(&browser, "review-times", range.query, 2).await, expected, "{}", range.query);
    }
}

#[tokio::test]
async fn times_of_work_are_those_of_what_it_made() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let (runs, estimations) = (list(market, "quality-runs").await, list(market, "estimations").await);
    let assets = list(market, "assets").await;
    let (archives, repositories): (Vec<Value>, Vec<Value>) = assets
        .into_iter()
        .filter(|asset| asset["channel"].is_string())
        .partition(|asset| asset["channel"] == "zip");
    let works = [
        ("Run the checks of a quality run", runs, "started_at", "completed_at"),
        ("Measure a repository for an estimation", estimations, "created_at", "completed_at"),
        ("Read a zip file", archives, "attached_at", "analyzed_at"),
        ("Read a repository", repositories, "attached_at", "analyzed_at"),
    ];
    for range in &RANGES {
        let found = numbers(&browser, "job-times", range.query, 1).await;
        for (work, records, begin, end) in &works {
            let ended = records.iter().filter(|record| record[end].as_str().is_some_and(|at| range.has(at)));
            let micros: Vec<i64> = ended.filter_map(|record| between(record, begin, end)).collect();
            let found = found.get(&vec![(*work).to_owned()]);
            if micros.is_empty() {
                assert_eq!(found, None, "{work} {}", range.query);
            } else {
                assert_eq!(found.unwrap()[..3], statistics(micros, 1e6), "{work} {}", range.query);
            }
        }
    }
}

#[tokio::test]
async fn active_teams_are_those_with_new_records() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let mut actions = Vec::new();
    for (side, lists) in [
        ("vendors", &["assets", "listings", "project-bids"][..]),
        ("buyers", &["offers", "purchases", "opportunities", "project-opportunities"]),
    ] {
        for path in lists {
            let records = list(market, path).await.into_iter();
            actions.extend(records.map(|mut record| {
                record["side"] = json!(side);
                record
            }));
        }
    }
    for range in &RANGES {
        let step = |action: &Value| range.step_of(text(action, "created_at"));
        let side = |action: &Value| BTreeSet::from([words(text(action, "side"))]);
        let teams = |actions: Vec<&Value>| {
            let teams: BTreeSet<&str> = actions.into_iter().map(|action| text(action, "team_id")).collect();
            vec![teams.len().to_string()]
        };
        let groups = grouped(&actions, range, "created_at", step, side);
        let expected: Numbers = groups.into_iter().map(|(keys, group)| (keys, teams(group))).collect();
        assert_eq!(numbers(&browser, "active-teams", range.query, 2).await, expected, "{}", range.query);
    }
}
