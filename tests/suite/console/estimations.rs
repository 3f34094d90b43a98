//! A vendor has repositories estimated: the request, the quote among the others, and the inventory.

use regex::Regex;

use super::VENDOR;
use super::requests::{send, target};
use crate::{
    catalog::small_market,
    harness::{TestMarket, browser::Browser, git::Repositories},
};

const NEW_ESTIMATION: &str = "/console/estimations/new";

#[tokio::test]
async fn repository_is_estimated_and_added_once() {
    let market = TestMarket::demo();
    let vendor = Browser::signed_in(&market, VENDOR).await;
    let page = vendor.get(NEW_ESTIMATION).await;
    let refused =
        vendor.submit(&page, NEW_ESTIMATION, &[("repo_full_name", "https://evil.example/a/b")]).await;
    refused.expect(422, "Enter the address of a repository");
    let address = [("repo_full_name", "https://github.com/tideclock/harbour")];
    let estimation = target(&send(&vendor, NEW_ESTIMATION, &address).await);
    vendor.get(&estimation).await.expect(200, "tideclock/harbour");
    let add = format!("{estimation}/add");
    let question = vendor.get(&add).await;
    question.expect(200, "A codebase with the title");
    let asset = target(&vendor.submit(&question, &add, &[]).await);
    assert!(asset.starts_with("/console/inventory/"), "{asset}");
    vendor.get(&add).await.expect(200, "The repository is in your inventory already.");
    vendor.get("/console/estimations?inventory=added").await.expect(200, &asset);
    vendor.get("/console/estimations/quotes").await.expect(200, "All estimations");
}

/// Returns a market with the repository `acme/ledger`, and a key of the seller for the console.
fn market(repositories: &Repositories) -> TestMarket {
    repositories.create_with_files("acme/ledger", &[("src/main.rs", "fn main() {\n    run();\n}\n")]);
    let url = repositories.url();
    let market = TestMarket::with_settings(|settings| settings.repositories.github_url.clone_from(&url));
    small_market::seed_market(
        &market,
        &[],
        &serde_json::json!({"keys": [small_market::console_key("seller")]}),
    );
    market
}

async fn request(browser: &Browser<'_>, name: &str) -> String {
    let address = format!("https://github.com/{name}");
    target(&send(browser, NEW_ESTIMATION, &[("repo_full_name", &address)]).await)
}

#[tokio::test]
async fn repository_is_measured_quoted_and_added() {
    let repositories = Repositories::new();
    let market = market(&repositories);
    let browser = Browser::signed_in(&market, "mkt_seller_console").await;
    browser.get("/console/estimations").await.expect(200, "Nothing was estimated yet");
    let path = request(&browser, "acme/ledger").await;
    let pending = browser.get(&path).await;
    pending
        .expect(200, "The repository is being measured.")
        .expect(200, "hx-trigger=\"every 3s\"")
        .expect(200, "outerMorph");
    market.run_background_on_a_thread().await;
    let quoted = browser.get(&path).await;
    // 3 lines, 1 commit, and 1 contributor at the rates of marketplace.toml, with the surcharge for code that is not in the
    // common languages, less and plus 25 %.
    let value = (3 * 4_000 / 1_000 + 35 + 2_500) * 130 / 100;
    let dollars = |cents: i32| {
        let text = format!("{}.{:02}", cents / 100, cents % 100);
        format!("${}", text.strip_suffix(".00").unwrap_or(&text))
    };
    let quote = format!("{} to {}", dollars(value * 75 / 100), dollars(value * 125 / 100));
    quoted.expect(200, &quote).expect(200, "Notifications about this").expect(200, "Quote ready: ledger");
    assert!(!quoted.text.contains("every 3s"), "it is not followed any longer");
    assert_eq!(browser.open_notification("Quote ready").await, path);
    let sent = market.get("mkt_seller", "/v2/vendor/notifications").await.ok();
    assert_eq!(sent["notifications"][0]["link"], "/estimations", "the API says what it always said");
    let file = browser.get("/console/estimations?format=csv").await;
    let [low, high] = [75, 125].map(|share| value * share / 100);
    let amounts = [low, high].map(|cents| format!("{}.{:02}", cents / 100, cents % 100)).join(",");
    assert!(file.text.contains(&format!("acme/ledger,GitHub,Quote ready,{amounts},No,")), "{}", file.text);
    assert!(file.text.contains(&format!(",{}\r\n", path.rsplit('/').next().unwrap())), "{}", file.text);

    let add = format!("{path}/add");
    let question = browser.get(&add).await;
    let asset = target(&browser.submit(&question, &add, &[]).await);
    browser.get(&asset).await.expect(200, "acme/ledger").expect(200, "ledger");
    browser.get(&path).await.expect(200, &asset);
    assert_eq!(target(&browser.submit(&question, &add, &[]).await), asset, "pressed twice, added once");
    market.run_background_on_a_thread().await;
    browser.get(&asset).await.expect(200, "Read from the linked GitHub repository");
}

#[tokio::test]
async fn repository_that_cannot_be_read_says_why() {
    let repositories = Repositories::new();
    let market = market(&repositories);
    let browser = Browser::signed_in(&market, "mkt_seller_console").await;
    let path = request(&browser, "acme/nothing").await;
    market.run_background_on_a_thread().await;
    let page = browser.get(&path).await;
    page.expect(200, "Not readable").expect(200, "could not be read").expect(200, "Estimate it again");
    assert!(!page.text.contains("file://"), "nothing about the server: {}", page.visible());
    let again =
        page.text.split("href=\"/console/estimations/new?").nth(1).unwrap().split('"').next().unwrap();
    let form = browser.get(&format!("/console/estimations/new?{}", again.replace("&amp;", "&"))).await;
    form.expect(200, "https://github.com/acme/nothing");
    browser.get("/console/estimations?status=failed").await.expect(200, &path);
    browser.get("/console/estimations?status=estimated").await.expect(200, "Nothing matches");
}

#[tokio::test]
async fn bins_of_the_chart_have_all_quotes() {
    let browser = Browser::signed_in(crate::harness::demo(), VENDOR).await;
    let page = browser.get("/console/estimations/quotes").await;
    let bin = Regex::new(r#"<th scope="row">[^<]* to [^<]*</th><td class="num">([0-9,]+)</td>"#).unwrap();
    let shown: u64 =
        bin.captures_iter(&page.text).map(|bin| bin[1].replace(',', "").parse::<u64>().unwrap()).sum();
    let file = browser.get("/console/estimations?format=csv&status=estimated").await;
    assert_eq!(shown, file.text.trim_end().lines().count() as u64 - 1, "{}", page.visible());
    assert!(shown > 3);
    // A spreadsheet would take a dash for a text.
    let file = browser.get("/console/estimations?format=csv&status=unpriced").await;
    file.expect(200, "lumen-codeworks/handbook,GitHub,No price,,,No,");
    browser.get("/console/estimations?status=unpriced").await.expect(200, "<td class=\"num\">–</td>");
}
