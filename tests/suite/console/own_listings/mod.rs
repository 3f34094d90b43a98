//! A vendor's own listings in the web app: composing, attaching, the steps of the lifecycle, and the review.

mod attaching;
mod composing;
mod prices;
mod random;
mod refusals;
mod review;
mod samples;
mod story;

use marketplace::{
    domain::{listing_lifecycle::Operation, listings::Actor},
    store::{self, listings::ListingFields, listings::ListingRow},
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    catalog::small_market::{console_key, published, small_market_with},
    harness::{
        TestMarket,
        browser::{Browser, Page, open},
        listing_lifecycle, markup,
    },
    sales::{asset_id, codebase, give_credits, listing_id},
};

const SELLER: &str = "mkt_seller_console";
const BUYER: &str = "mkt_buyer_console";

/// A vendor of another team.
const OTHER: &str = "mkt_both_console";

const LISTINGS: &str = "/console/selling/listings";

/// Microseconds of a minute, which is the time of a budget.
const MINUTE: i64 = 60_000_000;

/// A market in which the seller has the codebases `c1` to `c4` (`c1` with data), the raw data `notes` and `plain-files`, and the
/// codebase `lacking`, of which the number of commits is missing. Its listing `plain` is in the catalog, `draft` is a complete draft.
fn market() -> TestMarket {
    market_of(&json!({}), &[])
}

/// The same market with other values for the listing `draft`.
fn market_with(draft: &Value) -> TestMarket {
    market_of(draft, &[])
}

/// The same market with further assets.
fn market_and(assets: &[Value]) -> TestMarket {
    market_of(&json!({}), assets)
}

fn market_of(draft: &Value, further: &[Value]) -> TestMarket {
    let code = |key: &str| codebase(key, &json!(20));
    let mut with_data = code("c1");
    with_data["codebase"]["data"] = json!({
        "channel": "github", "repo_full_name": "acme/x", "archive_status": "completed", "analysis_status": "completed",
        "attached_at": "-P5D", "commit_sha": "c0ffee".repeat(6) + "c0ff",
    });
    let mut lacking = code("lacking");
    lacking["codebase"].as_object_mut().unwrap().remove("commits");
    let notes = json!({"key": "notes", "team": "seller", "sku": "raw_data", "title": "Notes", "description": "D", "price_usd": 5,
        "domain_tags": ["finance"], "created_at": "-P95D", "raw_data": {}});
    let mut values = json!({"assets": ["c1", "c2"], "accepts_bids": true});
    for (name, value) in draft.as_object().unwrap() {
        values[name] = value.clone();
    }
    let mut assets = vec![with_data, code("c2"), code("c3"), code("c4"), lacking, notes];
    assets.extend_from_slice(further);
    let market = small_market_with(
        &[
            published("plain", 30, &json!({"accepts_bids": true})),
            crate::catalog::small_market::listing("draft", &values),
        ],
        &json!({
            "assets": assets,
            "keys": [console_key("buyer"), console_key("seller"), console_key("both")],
        }),
    );
    for team in ["seller", "buyer"] {
        give_credits(&market, team, 100_000);
    }
    market
}

/// Returns the path of the page of a listing.
fn path_of(listing: Uuid) -> String {
    format!("{LISTINGS}/{listing}")
}

fn draft() -> String {
    path_of(listing_id("draft"))
}

/// Carries out a decision of the platform, with a note to the vendor.
fn decide(market: &TestMarket, listing: Uuid, operation: Operation, note: Option<&str>) {
    let decided = market
        .write(|writer| listing_lifecycle::perform_as(writer, listing, operation, Actor::Platform, note));
    decided.unwrap();
}

fn row(market: &TestMarket, listing: Uuid) -> ListingRow {
    market.read(|reader| Ok(store::listings::find(reader.rows, listing)?.unwrap())).unwrap()
}

fn fields(market: &TestMarket, listing: Uuid) -> ListingFields {
    let row = row(market, listing).row_id;
    market.read(|reader| store::listings::find_fields(reader.rows, row)).unwrap()
}

/// Opens the page of a step, and sends its form.
async fn step(browser: &Browser<'_>, listing: &str, step: &str) -> Page {
    let path = format!("{listing}/{step}");
    let page = open(browser, &path).await;
    browser.submit(&page, &path, &[]).await
}

/// Fails if a page is not correct markup.
#[track_caller]
fn check_markup(page: &Page) {
    if page.status() != 303 {
        markup::parse(&page.text).unwrap_or_else(|fault| panic!("{fault}: {}", page.visible()));
    }
}

/// Carries out a step, and returns the page of the listing after it.
async fn done(browser: &Browser<'_>, listing: &str, name: &str, notice: &str) -> Page {
    let answer = step(browser, listing, name).await;
    assert_eq!(answer.location(), format!("{listing}?notice={notice}"), "{}", answer.visible());
    browser.get(answer.location()).await
}

/// Edits a listing: opens the form, and sends it with these values.
async fn edit(browser: &Browser<'_>, listing: &str, changes: &[(&str, &str)]) -> Page {
    let path = format!("{listing}/edit");
    let page = open(browser, &path).await;
    let answer = browser.submit(&page, &path, changes).await;
    check_markup(&answer);
    answer
}

/// Edits a listing, which has to succeed.
async fn edited(browser: &Browser<'_>, listing: &str, changes: &[(&str, &str)]) {
    let answer = edit(browser, listing, changes).await;
    assert_eq!(answer.location(), format!("{listing}?notice=saved"), "{}", answer.visible());
}

/// Content of the menu of a listing: the segments of the offered steps, and the titles of the others with the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Menu {
    offered: Vec<String>,
    refused: Vec<(String, String)>,
}

impl Menu {
    /// Reads the menu on the page of a listing.
    fn of(page: &Page, listing: &str) -> Menu {
        let (_, rest) = page.text.split_once("<h2>What you can do</h2>").expect("a menu");
        let menu = rest.split("More about this listing").next().unwrap();
        let links = menu.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let steps = links.filter_map(|path| path.strip_prefix(listing)?.strip_prefix('/'));
        let texts = |tag: &str| -> Vec<String> {
            let start = format!("<{tag}");
            let parts = menu.split(start.as_str()).skip(1);
            let inner = parts.map(|part| part.split_once('>').unwrap().1);
            inner.map(|part| part.split("</d").next().unwrap().to_owned()).collect()
        };
        Menu {
            offered: steps.map(str::to_owned).collect(),
            refused: texts("dt").into_iter().zip(texts("dd")).collect(),
        }
    }

    /// Returns the reason why the menu does not offer what has this title.
    #[track_caller]
    fn reason(&self, title: &str) -> &str {
        let found = self.refused.iter().find(|(name, _)| name == title);
        &found.unwrap_or_else(|| panic!("{title} is offered: {self:?}")).1
    }
}

/// Returns the number of commits of a request.
async fn commits_of<T>(market: &TestMarket, request: impl Future<Output = T>) -> (u64, T) {
    let before = market.market().commit_count();
    let answer = request.await;
    (market.market().commit_count() - before, answer)
}

/// Returns the credits of the seller, in cents.
fn credits(market: &TestMarket) -> i64 {
    let team = |reader: &store::Reader| crate::harness::teams::team(reader, "seller").row_id;
    let balances = market.read(|reader| store::wallet::balances(reader.rows, team(reader.rows)));
    balances.unwrap().credits.0
}
