//! Changes of many assets at once: what they change, what they skip and why, and what they refuse.

use marketplace::clock::fixture_record_id;
use serde_json::{Value, json};

use super::BOTH;
use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
    records::demo_records,
};

pub const VENDOR: &str = "mkt_demo_vendor";
pub const OPERATOR: &str = "mkt_demo_operator";
pub const NEW: &str = "/console/inventory/changes/new";

/// Creates codebases of a team with these fields, which are locked by the API. Returns their IDs.
pub async fn create_for(
    market: &TestMarket,
    key: &str,
    title: &str,
    count: usize,
    fields: &Value,
) -> Vec<String> {
    let mut ids = Vec::new();
    for first in (0..count).step_by(500) {
        let row = |number| {
            let mut row = fields.clone();
            row["title"] = json!(format!("{title} {number}"));
            row["exclusivity"] = json!("available");
            row
        };
        let rows: Vec<Value> = (first..count.min(first + 500)).map(row).collect();
        let body = json!({"items": rows});
        let created = market.call(key, "POST", "/v2/codebases/batch", &body).await.expect_status(201);
        let items = created["items"].as_array().unwrap();
        ids.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
    }
    ids
}

/// Creates codebases of the vendor that have a title only.
pub async fn create(market: &TestMarket, title: &str, count: usize) -> Vec<String> {
    create_for(market, VENDOR, title, count, &json!({})).await
}

/// Creates codebases of the vendor that lack nothing but data.
pub async fn create_proposed(market: &TestMarket, title: &str, count: usize) -> Vec<String> {
    let fields = json!({
        "description": "D", "domain_tags": ["finance"], "price_usd": 5, "lines_of_code": 9, "commits": 2,
        "contributors": 1, "merged_prs": 0, "history_start": "2020-01-01", "history_end": "2021-01-01",
        "ci_on_prs": false,
    });
    create_for(market, VENDOR, title, count, &fields).await
}

/// Creates a draft of the vendor. Returns its ID.
pub async fn create_draft(market: &TestMarket) -> String {
    let team = fixture_record_id("teams", demo_records().team_of(VENDOR));
    let body = json!({"team_id": team, "title": "All of it"});
    let created = market.call(OPERATOR, "POST", "/operator/v1/listings", &body).await.expect_status(201);
    created["id"].as_str().unwrap().to_owned()
}

/// Returns an asset of a team, as the API has it.
async fn asset(market: &TestMarket, id: &str) -> Value {
    market.get(VENDOR, &format!("/v2/codebases/{id}")).await.ok()
}

/// Returns the data of the events of a type, oldest first.
pub async fn events(market: &TestMarket, kind: &str) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/operator/v1/events?types={kind}&limit=100{cursor}");
        let page = market.call(OPERATOR, "GET", &path, &Value::Null).await.ok();
        found.extend(page["items"].as_array().unwrap().iter().map(|event| event["data"].clone()));
        match page["next_cursor"].as_str().filter(|_| !page["items"].as_array().unwrap().is_empty()) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

/// Returns the address of the form for an action on these assets.
fn address(action: &str, ids: &[String]) -> String {
    let assets: Vec<String> = ids.iter().map(|id| format!("&asset={id}")).collect();
    format!("{NEW}?action={action}{}", assets.concat())
}

/// Sends a form, and opens the page of the change.
pub async fn start(browser: &Browser<'_>, page: &Page, changes: &[(&str, &str)]) -> Page {
    let answer = browser.submit(page, NEW, changes).await;
    assert_eq!(answer.status(), 303, "{}", answer.visible());
    browser.get(answer.location()).await
}

/// Changes these assets, and returns the page of the change.
async fn change(browser: &Browser<'_>, action: &str, ids: &[String], fields: &[(&str, &str)]) -> Page {
    start(browser, &browser.get(&address(action, ids)).await, fields).await
}

#[tokio::test]
async fn locked_values_are_skipped_and_named() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let free = create(&market, "Tide gauge", 4).await;
    let locked = create_for(&market, VENDOR, "Priced gauge", 2, &json!({"price_usd": 100})).await;
    let all = [free.clone(), locked.clone()].concat();
    let page = browser.get(&address("price", &all)).await;
    page.expect(200, "Set the price of 6 assets");
    page.expect(200, "Tide gauge 0").expect(200, "Review the change");
    // The review says what would change, and changes nothing.
    let review = browser.submit(&page, NEW, &[("price", "$1,450.50"), ("review", "yes")]).await;
    review.expect(200, "4 assets change").expect(200, "2 assets stay as they are: Locked");
    review.expect(200, "Set the price of 4 assets").expect(200, "Tide gauge 0").expect(200, "$1,450.50");
    assert!(!review.text.contains("Priced gauge"), "{}", review.visible());
    assert!(asset(&market, &free[0]).await["price_usd"].is_null());
    // Back in the form, nothing has to be typed again.
    let again = browser.submit(&review, NEW, &[("again", "yes")]).await;
    again.expect(200, "value=\"$1,450.50\"");
    let result = start(&browser, &review, &[]).await;
    result.expect(200, "4 changed, 2 skipped").expect(200, "Locked").expect(200, "Priced gauge 1");
    assert_eq!(asset(&market, &free[0]).await["price_usd"].as_f64(), Some(1450.5));
    assert_eq!(asset(&market, &locked[0]).await["price_usd"].as_f64(), Some(100.0));
    // The console creates no locks of the API, so it can change the price again.
    change(&browser, "price", &free, &[("price", "$1,450.50")]).await.expect(200, "0 changed, already so: 4");
    change(&browser, "price", &free, &[("clear", "yes")]).await.expect(200, "4 changed");
    assert!(asset(&market, &free[0]).await["price_usd"].is_null());
    browser.get("/console/inventory/changes").await.expect(200, "Set the price of 6 assets");
}

#[tokio::test]
async fn values_have_the_limits_of_single_assets() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Tide gauge", 1).await;
    let page = browser.get(&address("price", &ids)).await;
    for (price, problem) in [
        ("x", "Enter an amount"),
        ("-5", "Enter an amount"),
        ("", "Enter an amount"),
        ("1000000000.01", "The price must be from 0 to $1,000,000,000.00."),
    ] {
        browser.submit(&page, NEW, &[("price", price)]).await.expect(422, problem);
    }
    start(&browser, &page, &[("price", "1000000000")]).await.expect(200, "1 changed");

    let slugs = market.get(VENDOR, "/v2/domains").await.ok();
    let slugs: Vec<&str> =
        slugs["domains"].as_array().unwrap().iter().map(|domain| domain["slug"].as_str().unwrap()).collect();
    let add = |count: usize| slugs[..count].iter().map(|slug| ("add_tags", *slug)).collect::<Vec<_>>();
    let page = browser.get(&address("tag", &ids)).await;
    browser.submit(&page, NEW, &[]).await.expect(422, "Choose at least one tag");
    browser.submit(&page, NEW, &add(21)).await.expect(422, "at most 20 tags");
    browser.submit(&page, NEW, &[("add_tags", "no-such-tag")]).await.expect(422, "tags that the market has");
    let both = [("add_tags", "finance"), ("remove_tags", "finance")];
    browser.submit(&page, NEW, &both).await.expect(422, "cannot be added and removed");
    start(&browser, &page, &add(20)).await.expect(200, "1 changed");
    let more = change(&browser, "tag", &ids, &[("add_tags", slugs[20])]).await;
    more.expect(200, "0 changed, 1 skipped").expect(200, "It would have too many tags");
    let swap = [("add_tags", slugs[20]), ("remove_tags", slugs[0])];
    change(&browser, "tag", &ids, &swap)
        .await
        .expect(200, "1 changed")
        .expect(200, "Tags removed")
        .expect(200, "Software engineering");
    let tags = asset(&market, &ids[0]).await["domain_tags"].clone();
    assert_eq!(tags.as_array().unwrap().len(), 20);
    assert!(tags.as_array().unwrap().contains(&json!(slugs[20])), "{tags}");

    let page = browser.get(&address("describe", &ids)).await;
    browser.submit(&page, NEW, &[("description", "")]).await.expect(422, "Enter a description");
    let long = "x".repeat(20_001);
    assert_eq!(browser.submit(&page, NEW, &[("description", &long)]).await.status(), 422);
}

#[tokio::test]
async fn pressing_twice_changes_once() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Buoy", 2).await;
    let page = browser.get(&address("tag", &ids)).await;
    let tags = [("add_tags", "finance")];
    let first = browser.submit(&page, NEW, &tags).await;
    let second = browser.submit(&page, NEW, &tags).await;
    assert_eq!((first.status(), first.location()), (second.status(), second.location()));
    browser.get(first.location()).await.expect(200, "2 changed");
    assert_eq!(events(&market, "asset.bulk_changed").await.len(), 1);
}

/// A change has one event, which takes the place of those of its assets.
#[tokio::test]
async fn change_has_one_event() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Buoy", 150).await;
    let count = async |kind: &str| events(&market, kind).await.len();
    let single = ["asset.updated", "asset.stage_changed", "asset.deleted", "asset.data_detached"];
    let mut before = Vec::new();
    for kind in single {
        before.push(count(kind).await);
    }
    for (action, fields) in [("describe", vec![("description", "A buoy.")]), ("delete", Vec::new())] {
        let page = browser.get(&format!("{NEW}?action={action}&all=1&query=buoy")).await;
        start(&browser, &page, &fields).await.expect(200, "150 ");
        let all = events(&market, "asset.bulk_changed").await;
        let event = all.last().unwrap();
        assert_eq!((&event["action"], &event["count"]), (&json!(action), &json!(150)));
        let named = event["asset_ids"].as_array().unwrap();
        assert_eq!(named.len(), 100);
        assert!(named.iter().all(|id| ids.iter().any(|own| *id == json!(own))));
    }
    // What changes nothing has none.
    let untouched = create(&market, "Raft", 1).await;
    change(&browser, "price", &untouched, &[("clear", "yes")]).await.expect(200, "0 changed");
    assert_eq!(count("asset.bulk_changed").await, 2);
    let mut after = Vec::new();
    for kind in single {
        after.push(count(kind).await);
    }
    assert_eq!(before, after, "{single:?}");
}

#[tokio::test]
async fn kinds_are_changed_as_single_assets_are() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let of_market = format!("{NEW}?all=1&filter=type:is:environment&action=");
    for action in ["price", "delete", "check"] {
        let page = browser.get(&format!("{of_market}{action}")).await;
        start(&browser, &page, &[("price", "5")]).await.expect(200, "This kind of asset does not allow it");
    }
    let page = browser.get(&format!("{NEW}?all=1&kind=task&action=price")).await;
    start(&browser, &page, &[("price", "5")]).await.expect(200, "1 changed");
    let page = browser.get(&format!("{NEW}?all=1&kind=task&action=check")).await;
    start(&browser, &page, &[]).await.expect(200, "This kind of asset does not allow it");
}

#[tokio::test]
async fn checks_cost_what_was_shown_and_stop_without_credits() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let team = fixture_record_id("teams", demo_records().team_of(VENDOR));
    let credits = async || {
        let wallet = market.get(OPERATOR, &format!("/operator/v1/wallets/{team}")).await.ok();
        wallet["credits_usd"].as_str().or(wallet["credits"].as_str()).unwrap().parse::<f64>().unwrap()
    };
    let before = credits().await;
    let adjust = async |amount: f64| {
        let body = json!({"team_id": team, "amount": format!("{amount:.2}"), "description": "Test"});
        market.call(OPERATOR, "POST", "/operator/v1/adjustments", &body).await.expect_status(201);
    };
    adjust(7.0 - before).await;
    let page = browser.get(&format!("{NEW}?all=1&action=check&query=tide")).await;
    page.expect(200, "Price of a check").expect(200, "$5.00").expect(200, "do not suffice for all of them");
    let result = start(&browser, &page, &[]).await;
    result.expect(200, "1 being checked").expect(200, "Not enough credits");
    assert!((credits().await - 2.0).abs() < 0.001);
    let page = browser.get(&format!("{NEW}?all=1&action=check&query=tide")).await;
    page.expect(200, "Buy credits first");
    adjust(20.0).await;
    let page = browser.get(&format!("{NEW}?all=1&action=check&query=tide")).await;
    start(&browser, &page, &[]).await.expect(200, "A check is in progress already");
    let bare = create(&market, "Bare", 1).await;
    change(&browser, "check", &bare, &[]).await.expect(200, "No linked data to check");
}

#[tokio::test]
async fn assets_are_attached_as_far_as_the_listing_takes_them() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let draft = create_draft(&market).await;
    let ready = create_proposed(&market, "Lock gate", 3).await;
    let bare = create(&market, "Bare", 2).await;
    let page = browser.get(&address("attach", &[ready.clone(), bare].concat())).await;
    page.expect(200, "All of it").expect(200, "Attach 5 assets to a listing");
    let result = start(&browser, &page, &[("to_listing", &draft)]).await;
    result.expect(200, "3 attached, 2 skipped").expect(200, "Not complete").expect(200, "Bare 0");
    let again = change(&browser, "attach", &ready, &[("to_listing", &draft)]).await;
    again.expect(200, "On the listing already");
    let page = browser.get(&format!("{NEW}?action=attach&all=1&listing={draft}")).await;
    page.expect(200, "Attach 3 assets");
    // The listing of another team does not exist for the team.
    let foreign = market.get(BOTH, "/v2/listings").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    browser.submit(&page, NEW, &[("to_listing", &foreign)]).await.expect(422, "listings of your team");
}

#[tokio::test]
async fn assets_in_the_catalog_are_not_deleted() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let count = async || market.get(VENDOR, "/v2/codebases?limit=1").await.ok()["total"].as_u64().unwrap();
    let before = count().await;
    let page = browser.get(&format!("{NEW}?action=delete&all=1")).await;
    page.expect(200, "cannot be undone").expect(200, "Kept, and why");
    page.expect(200, "take it out of the catalog first").expect(200, " data, which is deleted, too.");
    let result = start(&browser, &page, &[]).await;
    result.expect(200, "take it out of the catalog first");
    // What the form has said happens.
    let announced = page.text.split("<h1").nth(1).unwrap().split("Delete ").nth(1).unwrap();
    let announced = announced.split(' ').next().unwrap();
    result.expect(200, &format!("{announced} deleted"));
    let after = count().await;
    assert!(0 < after && after < before, "{before} {after}");
}

#[tokio::test]
async fn assets_are_named_before_they_are_deleted() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Buoy", 12).await;
    let page = browser.get(&address("delete", &ids)).await;
    page.expect(200, "Delete 12 assets").expect(200, "Buoy 9").expect(200, "And 2 more");
    assert!(!page.text.contains("Buoy 10"), "{}", page.visible());
    assert!(!page.text.contains("which is deleted, too"), "{}", page.visible());
    assert!(!page.text.contains("Kept, and why"), "{}", page.visible());
    start(&browser, &page, &[]).await.expect(200, "12 deleted");
    let environments = browser.get(&format!("{NEW}?all=1&filter=type:is:environment&action=delete")).await;
    environments.expect(200, "None of these assets can be deleted");
    environments.expect(200, "This kind of asset does not allow it");
}

#[tokio::test]
async fn assets_of_other_teams_are_never_changed() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let own = create(&market, "Buoy", 1).await;
    let foreign = create_for(&market, BOTH, "Buoy", 2, &json!({})).await;
    let mixed = [own.clone(), foreign.clone()].concat();
    for (action, field) in [("price", ("price", "5")), ("describe", ("description", "Mine"))] {
        let page = browser.get(&address(action, &mixed)).await;
        page.expect(200, "1 asset");
        start(&browser, &page, &[field]).await.expect(200, "1 changed");
    }
    let group = browser.get("/console/inventory").await;
    let group = group.text.split("data-group=\"").nth(2).unwrap()[..36].to_owned();
    let other = Browser::signed_in(&market, BOTH).await;
    let theirs = other.get(&address("move", &foreign)).await;
    other.submit(&theirs, NEW, &[("to_group", &group)]).await.expect(422, "groups of your team");
    let page = browser.get(&format!("{NEW}?action=delete&all=1&query=buoy")).await;
    start(&browser, &page, &[]).await.expect(200, "1 deleted");
    for id in &foreign {
        let found = market.get(BOTH, &format!("/v2/codebases/{id}")).await.ok();
        assert_eq!((&found["price_usd"], &found["description"]), (&Value::Null, &Value::Null));
    }
    assert_eq!(market.get(VENDOR, &format!("/v2/codebases/{}", own[0])).await.status, 404);
}

#[tokio::test]
async fn another_team_sees_no_change() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Buoy", 1).await;
    let page = browser.get(&address("price", &ids)).await;
    let answer = browser.submit(&page, NEW, &[("price", "5")]).await;
    let other = Browser::signed_in(&market, BOTH).await;
    assert_eq!(other.get(answer.location()).await.status(), 404);
    let cancel = format!("{}/cancel", answer.location());
    assert_eq!(other.post(&cancel, &[]).await.status(), 404);
    other.get(&address("price", &ids)).await.expect(200, "No assets are chosen");
    other
        .post(NEW, &[("action", "price"), ("asset", &ids[0]), ("price", "5")])
        .await
        .expect(409, "None of these assets exists");
}

/// The forecast of a change of a field equals the result of the change, for any selection.
#[tokio::test]
async fn review_says_what_the_change_will_do() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let own = create(&market, "Buoy", 12).await;
    change(&browser, "tag", &own[..3], &[("add_tags", "finance")]).await;
    let tagged = create_for(&market, VENDOR, "Buoy of the API", 2, &json!({"domain_tags": ["legal"]})).await;
    let all = [own, tagged].concat();
    for (form, fields) in [
        (address("tag", &all), vec![("add_tags", "finance")]),
        (format!("{NEW}?action=price&all=1&query=buoy"), vec![("price", "7")]),
        (format!("{NEW}?action=tag&all=1"), vec![("add_tags", "finance"), ("remove_tags", "legal")]),
        (format!("{NEW}?action=price&all=1"), vec![("price", "7")]),
        (format!("{NEW}?action=describe&all=1&query=buoy"), vec![("description", "A buoy.")]),
    ] {
        let page = browser.get(&form).await;
        let review = browser.submit(&page, NEW, &[&fields[..], &[("review", "yes")]].concat()).await;
        assert_eq!(review.status(), 200, "{}", review.visible());
        let (before, _) =
            review.text.split_once(" change</b>").or(review.text.split_once(" changes</b>")).unwrap();
        let number = before.rsplit("<b>").next().unwrap().split(' ').next().unwrap();
        let changed: u64 = number.replace(',', "").parse().unwrap();
        let shown = review.text.split("id=\"first-assets\"").nth(1).unwrap();
        assert_eq!(shown.matches("<th scope=\"row\"").count() as u64, changed.min(10), "{form}");
        let already = review.text.split("Already so: ").nth(1).map(|rest| rest.split('<').next().unwrap());
        let result = start(&browser, &review, &[]).await;
        result.expect(200, &format!("{changed} changed"));
        if let Some(already) = already {
            result
                .expect(200, &format!("already so: {already}"))
                .expect(200, &format!("Already so: {already}"));
        }
    }
    // The second time, nothing is left to change, and there is no button for it.
    let page = browser.get(&format!("{NEW}?action=price&all=1&query=buoy")).await;
    let review = browser.submit(&page, NEW, &[("price", "7"), ("review", "yes")]).await;
    review.expect(200, "Nothing changes").expect(200, "Already so: 14");
    assert!(!review.text.contains("class=\"primary\""), "{}", review.visible());
}
