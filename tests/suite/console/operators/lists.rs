//! Lists of resources: their filters select what the operator API selects, and their files have what their tables show.

use marketplace::{
    console::ResourceInfo,
    domain::jobs::{JobKind, JobSubject},
    market::Writer,
    store,
};

use super::{
    records::{Found, OPERATOR, key_of, list, parameter, rows},
    resources,
};
use crate::harness::{
    self, TestMarket,
    browser::{Browser, text_of},
    csv,
    documents::operator_document,
    random::Random,
};

/// Returns a value for a filter: one of its choices, the value of a record, or the ID of a record that the filter names.
fn value(
    info: &ResourceInfo,
    found: &Found,
    random: &mut Random,
    filter: &(&str, Vec<&str>),
) -> Option<String> {
    let (name, choices) = filter;
    if !choices.is_empty() {
        return Some((*random.pick(choices)).to_owned());
    }
    let mut values: Vec<String> =
        found.of(info).iter().filter_map(|record| record[*name].as_str().map(str::to_owned)).collect();
    if values.is_empty() || random.percent(20) {
        values.extend(found.named(name).unwrap_or_default());
    }
    (!values.is_empty()).then(|| random.pick(&values).clone())
}

/// Returns some filters with values, those of the path first.
fn chosen(info: &ResourceInfo, found: &Found, random: &mut Random) -> Option<Vec<(String, String)>> {
    let operation =
        operator_document().operations().iter().find(|row| row.method == "GET" && row.path == info.list_api);
    let known = &operation.unwrap().query;
    let mut chosen = Vec::new();
    for filter in &info.filters {
        let is_needed = filter.0 == parameter(info);
        let is_known = known.iter().any(|name| name == filter.0);
        if is_needed || (is_known && random.percent(40)) {
            match value(info, found, random, filter) {
                Some(value) => chosen.push((filter.0.to_owned(), value)),
                None if is_needed => return None,
                None => {}
            }
        }
    }
    Some(chosen)
}

/// Returns the keys of the records that the operator API lists.
async fn listed(market: &TestMarket, info: &ResourceInfo, chosen: &[(String, String)]) -> Vec<String> {
    let (mut path, mut query) = (info.list_api.to_owned(), Vec::new());
    for (name, value) in chosen {
        if *name == parameter(info) {
            path = path.replace(&format!("{{{name}}}"), value);
        } else {
            query.push((name.clone(), value.clone()));
        }
    }
    list(market, &path, &query).await.iter().map(key_of).collect()
}

#[tokio::test]
async fn filters_select_what_the_api_selects() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let resources = resources();
    let found = Found::all(market, &resources).await;
    let mut random = Random::new(42);
    let (mut compared, mut selective) = (0, 0);
    for info in &resources {
        for _ in 0..6 {
            let Some(chosen) = chosen(info, &found, &mut random) else { break };
            let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&chosen).finish();
            let shown: Vec<String> =
                rows(&browser, info.list, &query).await.into_iter().map(|(key, _)| key).collect();
            assert_eq!(shown, listed(market, info, &chosen).await, "{} with {query}", info.list);
            compared += 1;
            selective += usize::from(!chosen.is_empty() && !shown.is_empty());
        }
    }
    assert!(compared > 150 && selective > 40, "{compared} {selective}");
}

/// Returns the letters and digits of a text. A title can have others between them.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a cell of a table shows the value in a file: as it is, as a link to the record with this ID, as the same moment, as the
/// same number with separators or its unit, or as a sign that there is none.
fn agrees(cell: &str, value: &str) -> bool {
    let text = text_of(cell);
    let text = text.trim();
    let value = value.strip_prefix('\'').unwrap_or(value);
    let number = |text: &str| -> String {
        let text = text.replace('−', "-");
        text.chars().filter(|letter| letter.is_ascii_digit() || ".-".contains(*letter)).collect()
    };
    let is_size =
        ["B", "KB", "MB", "GB", "TB", "byte", "bytes"].iter().any(|unit| text.ends_with(&format!(" {unit}")));
    let is_number = value.parse::<f64>().is_ok();
    text == value.trim()
        || (value.is_empty() && ["–", "—", ""].contains(&text))
        || cell.contains(&format!("datetime=\"{value}\""))
        || cell.contains(&format!("/{value}\""))
        || text.eq_ignore_ascii_case(value)
        || (is_number && (is_size || number(text) == value))
        // Each of several IDs is a link.
        || (!value.is_empty() && value.split(", ").all(|id| cell.contains(&format!("/{id}\""))))
}

#[tokio::test]
async fn files_have_what_tables_show() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let (mut cells, mut files) = (0, 0);
    for info in resources() {
        let shown = rows(&browser, info.list, "").await;
        let file = browser.get(&format!("/console{}?format=csv", info.list)).await;
        assert_eq!(file.status(), 200, "{}", info.list);
        let written = csv::rows(&file.text);
        assert_eq!(written.len(), shown.len() + 1, "{}", info.list);
        for ((key, row), values) in shown.iter().zip(&written[1..]) {
            // The table links to the record.
            let (values, id) = values.split_at(row.len().min(values.len()));
            assert_eq!(row.len(), values.len(), "{}", info.list);
            assert!(
                id.is_empty() || (id == [key.as_str()] && written[0].last().unwrap() == "ID"),
                "{}",
                info.list
            );
            for (index, (cell, value)) in row.iter().zip(values).enumerate() {
                let head = &written[0][index];
                let is_name = index == 0 && letters(&text_of(cell)).contains(&letters(value));
                assert!(
                    is_name || agrees(cell, value),
                    "{}/{key}, {head}: {value:?} is not {cell}",
                    info.list
                );
                cells += 1;
            }
        }
        files += usize::from(!shown.is_empty());
    }
    assert!(files > 20 && cells > 2_000, "{files} {cells}");
}

/// Two listings can have the same title.
#[tokio::test]
async fn files_tell_records_apart() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    for resource in ["listings", "teams", "opportunities", "notifications"] {
        let file = csv::rows(&browser.get(&format!("/console/operator/{resource}?format=csv")).await.text);
        assert_eq!(file[0].last().unwrap(), "ID", "{resource}");
        let written: Vec<&str> = file[1..].iter().map(|row| row.last().unwrap().as_str()).collect();
        let known: Vec<String> =
            list(market, &format!("/operator/v1/{resource}"), &[]).await.iter().map(key_of).collect();
        assert_eq!(written, known, "{resource}");
    }
}

#[tokio::test]
async fn job_that_starts_later_has_no_time_at_which_it_was_queued() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let enqueue = |writer: &mut Writer| {
        let at = writer.now.plus_seconds(3_600);
        store::jobs::enqueue(writer.rows, JobKind::SealLog, JobSubject::NONE, at)
    };
    market.write(enqueue).unwrap();
    let found = rows(&browser, "/operator/jobs", "kind=seal_log").await;
    let [(_, cells)] = &found[..] else { panic!("{found:?}") };
    let [_, kind, _, _, _, queued, starts, _] = &cells[..] else { panic!("{cells:?}") };
    assert_eq!((text_of(kind).trim(), text_of(queued).trim()), ("Sign a head of the attestation log", "–"));
    assert!(starts.contains("datetime="), "{starts}");
}

#[tokio::test]
async fn operators_read_the_words_of_teams() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    for (path, words) in [
        ("/console/operator/purchases", "Waits for payment"),
        ("/console/operator/credit-purchases", "Waits for payment"),
        ("/console/operator/credit-purchases", "Requests for credits"),
        ("/console/operator/asset-types", "Bundles of tasksets"),
    ] {
        let page = browser.get(path).await;
        page.expect(200, words);
        assert!(!page.text.contains(">Pending<") && !page.text.contains(">State<"), "{path}");
    }
    let purchase = rows(&browser, "/operator/purchases", "kind=full").await.remove(0).0;
    let page = browser.get(&format!("/console/operator/purchases/{purchase}")).await;
    page.expect(200, "<dt>Kind</dt><dd>Purchase</dd>").expect(200, "<dt>Covers</dt>");
    assert!(page.text.contains("<dd>All assets</dd>") || page.text.contains("<dd>Selected assets</dd>"));
}

/// A filter that names a team or a listing takes a part of its name as well as its ID.
#[tokio::test]
async fn filters_take_names_and_ids() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let purchases = list(market, "/operator/v1/purchases", &[]).await;
    let teams = list(market, "/operator/v1/teams", &[]).await;
    let listings = list(market, "/operator/v1/listings", &[]).await;
    let mut count = 0;
    for (field, records, name) in
        [("team_id", &teams, "name"), ("vendor_team_id", &teams, "name"), ("listing_id", &listings, "title")]
    {
        for purchase in purchases.iter().take(5) {
            let id = purchase[field].as_str().unwrap();
            let name = records.iter().find(|record| key_of(record) == id).unwrap()[name].as_str().unwrap();
            let query = |value: &str| {
                form_urlencoded::Serializer::new(String::new()).append_pair(field, value).finish()
            };
            let keys = async |value: &str| -> Vec<String> {
                let rows = rows(&browser, "/operator/purchases", &query(value)).await;
                rows.into_iter().map(|(key, _)| key).collect()
            };
            let by_id = keys(id).await;
            assert!(by_id.contains(&key_of(purchase)), "{name}");
            for text in [name.to_lowercase(), name.chars().take(7).collect()] {
                let by_name = keys(&text).await;
                assert!(by_id.iter().all(|key| by_name.contains(key)), "{text}");
            }
            let page = browser.get(&format!("/console/operator/purchases?{}", query(name))).await;
            assert!(!page.text.contains("/operator/v1/purchases?"), "the API knows no names: {name}");
            count += 1;
        }
    }
    assert!(count > 5, "{count}");
    let nothing = rows(&browser, "/operator/purchases", "team_id=nobody%20has%20this%20name").await;
    assert!(nothing.is_empty(), "{nothing:?}");
    let page = browser.get("/console/operator/purchases?team_id=a").await;
    assert!(!page.text.contains("of them are considered"), "{}", page.visible());
    for (path, query) in [("ledger", "team_id=a"), ("audit", "team_id=a"), ("withdrawals", "team_id=a")] {
        browser.get(&format!("/console/operator/{path}?{query}")).await.expect(200, "<h1");
    }
}

/// Of many teams with such a name, only the newest are considered, which the list says. One with exactly the name is found always.
#[tokio::test]
async fn filters_say_that_names_are_many() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    for number in 0..202 {
        let name = if number == 0 { "Quince".to_owned() } else { format!("Quince {number}") };
        let body = serde_json::json!({"name": name, "roles": ["buyer"]});
        market.call(OPERATOR, "POST", "/operator/v1/teams", &body).await.expect_status(201);
    }
    let page = browser.get("/console/operator/purchases?team_id=quinc").await;
    page.expect(200, "only the newest 200 of them are considered");
    let page = browser.get("/console/operator/purchases?team_id=quince").await;
    assert!(!page.text.contains("of them are considered"), "{}", page.visible());
}

/// Days select what happened on them, in UTC, with both ends.
#[tokio::test]
async fn filters_of_days_include_both_ends() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let purchases = list(market, "/operator/v1/purchases", &[]).await;
    let day_of = |purchase: &serde_json::Value| purchase["paid_at"].as_str().map(|at| at[..10].to_owned());
    let mut days: Vec<String> = purchases.iter().filter_map(day_of).collect();
    days.sort_unstable();
    let (first, last) = (&days[days.len() / 3], &days[days.len() / 2]);
    let query = format!("paid_from={first}&paid_until={last}");
    let shown = rows(&browser, "/operator/purchases", &query).await;
    let is_within =
        |purchase: &&serde_json::Value| day_of(purchase).is_some_and(|day| (first..=last).contains(&&day));
    let expected: Vec<String> = purchases.iter().filter(is_within).map(key_of).collect();
    let found: Vec<String> = shown.into_iter().map(|(key, _)| key).collect();
    assert!(!expected.is_empty() && found == expected, "{query}: {found:?} {expected:?}");
    let refused = browser.get("/console/operator/purchases?paid_from=yesterday").await;
    refused.expect(422, "There is no day “yesterday”").expect(422, "id=\"paid_from-p\"");
}

/// Budgets per task and in total are told apart. What is asked for as listings takes no bids.
#[tokio::test]
async fn opportunities_say_the_unit_of_their_budget_and_whether_they_take_answers() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let list = browser.get("/console/operator/opportunities").await;
    list.expect(200, "$90 to $240 per task").expect(200, "$40,000 to $180,000 in total");
    list.expect(200, "Takes answers");
    let file = browser.get("/console/operator/opportunities?format=csv").await;
    file.expect(200, "$90 to $240 per task");
}

/// Each entry of the ledger says how much has moved, and from where to where.
#[tokio::test]
async fn entries_say_what_they_move() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let file = csv::rows(&browser.get("/console/operator/ledger?format=csv").await.text);
    let column = |name: &str| file[0].iter().position(|head| head == name).unwrap();
    let (id, amount, from, to) = (column("ID"), column("Amount, USD"), column("From"), column("To"));
    let mut count = 0;
    for entry in list(market, "/operator/v1/ledger-entries", &[]).await {
        let row = file.iter().find(|row| row[id] == key_of(&entry)).expect("a row");
        let cents = |posting: &serde_json::Value| {
            posting["amount"].as_str().unwrap().replace('.', "").parse::<i64>().unwrap()
        };
        let moved: i64 =
            entry["postings"].as_array().unwrap().iter().map(cents).filter(|cents| *cents > 0).sum();
        assert_eq!(row[amount].replace('.', "").parse::<i64>().unwrap(), moved, "{entry}");
        assert!(!row[from].is_empty() && !row[to].is_empty(), "{row:?}");
        count += 1;
    }
    assert!(count > 10, "{count}");
}
