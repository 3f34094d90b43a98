//! Forms and addresses that are as large as possible.

use marketplace::console;
use poem::http::Method;
use uuid::Uuid;

use super::{super::path_of, BOTH};
use crate::harness::{self, browser::Browser};

/// What any page may weigh.
const MAX_BYTES: usize = 3 << 20;

async fn send(browser: &Browser<'_>, method: Method, path: &str, body: String) -> u16 {
    let page = browser.send(method, path, &[("sec-fetch-site", "same-origin")], body).await;
    let name: String = path.chars().take(80).collect();
    assert!(page.response.bytes.len() < MAX_BYTES, "{name}: {} bytes", page.response.bytes.len());
    assert!(page.status() < 500, "{name}: {}", page.visible());
    page.status()
}

#[tokio::test]
async fn worst_forms_are_answered() {
    let market = harness::TestMarket::demo();
    let browser = Browser::signed_in(&market, BOTH).await;
    let fields = (0..10_000).map(|number| format!("f{number}=x&")).collect::<Vec<_>>().concat();
    let bodies = [
        "&".repeat(256 << 10),
        "a&".repeat(128 << 10),
        fields.clone(),
        format!("title={}", "%E2%80%AE".repeat(25_000)),
        format!("description={}", "%5B".repeat(80_000)),
        format!("tags={}", "a%2C".repeat(60_000)),
        "assets=00000000-0000-0000-0000-000000000007&".repeat(5_900),
        "form_key=a&".repeat(23_000),
        "%".repeat(1_000),
        "%ff=%fe&%00=%00&form_key=%00".to_owned(),
        "key=".to_owned() + &"k".repeat(250_000),
    ];
    for row in console::pages().into_iter().filter(|row| row.has_form && row.path != "/sign-out") {
        for body in &bodies {
            send(&browser, Method::POST, &path_of(&row), body.clone()).await;
        }
        let status = send(&browser, Method::POST, &path_of(&row), "x".repeat((512 << 10) + 1)).await;
        // Forms with files are of another type.
        let is_of_files = ["/whole", "/rows"].iter().any(|end| row.path.ends_with(end));
        assert!([413, 403, 404].contains(&status) || is_of_files && status == 400, "{}: {status}", row.path);
    }
    for path in ["/console/opportunities/new?kind=project", "/console/opportunities/new?kind=listing_request"]
    {
        for body in &bodies {
            send(&browser, Method::POST, path, body.clone()).await;
        }
    }
    assert!(
        (400..500).contains(&send(&browser, Method::POST, "/console/sign-in", "\u{0}".repeat(1_000)).await)
    );
}

#[tokio::test]
async fn worst_addresses_are_answered() {
    let browser = Browser::signed_in(harness::demo(), BOTH).await;
    let ids = |name: &str, count: u128| -> String {
        (0..count).map(|number| format!("{name}={}&", Uuid::from_u128(number))).collect::<Vec<_>>().concat()
    };
    let values = |name: &str, count: u32| -> String {
        (0..count).map(|number| format!("{name}=v{number:04}&")).collect::<Vec<_>>().concat()
    };
    for query in [
        ids("ids", 1_300),
        ids("listing", 1_000),
        ids("compare", 1_000),
        ids("chosen", 1_000),
        ids("id", 1_300),
        values("languages", 3_500),
        values("tags", 4_000),
        values("domain_tags", 3_000),
        values("vendor_tiers", 3_000),
        values("x", 8_000),
        ids("asset", 1_300),
        ids("group", 1_000),
        values("filter", 3_500),
        "filter=name%3Ais%3Aa+&".repeat(2_500),
        format!(
            "filter={}",
            (0..4_000).map(|number| format!("name:is:{number}+")).collect::<Vec<_>>().concat()
        ),
        format!("filter={}", "%22".repeat(20_000)),
        format!("filter=name:contains:{}", "%F0%9F%92%A9".repeat(5_000)),
        "from=18446744073709551615&attached_from=18446744073709551615".to_owned(),
        "all=1&matching=18446744073709551616&action=delete".to_owned(),
        "max_budget=-1".to_owned(),
        format!("check={}", "x".repeat(60_000)),
        "languages=a&".repeat(5_000),
        format!("query={}", "a+".repeat(30_000)),
        format!("query={}", "%22".repeat(20_000)),
        format!("cursor={}", "x".repeat(60_000)),
        format!("from=o{}", "f".repeat(60_000)),
        "from=%E2%82%AC".to_owned(),
        "from=nffffffffffffffff".to_owned(),
        "from=o8000000000000000".to_owned(),
        format!("note={}", "%F0%9F%92%A9".repeat(5_000)),
        format!("next=/{}", "a".repeat(60_000)),
        "min_price=1e309&max_price=-1e309".to_owned(),
        format!("min_price={}", "9".repeat(60_000)),
        "amount=%3Cb%3E".to_owned(),
    ] {
        for path in [
            "/console/catalog",
            "/console/compare",
            "/console/purchases",
            "/console/notifications",
            "/console/sign-in",
            "/console/opportunities",
            "/console/wallet/buy-credits",
            "/console/inventory",
            "/console/inventory/changes/new",
            "/console/inventory/add/tasks",
            "/console/selling/listings",
            "/console/selling/earnings",
            "/console/selling/sales",
            "/console/requests",
            "/console/quality",
            "/console/quality/findings",
            "/console/estimations",
        ] {
            send(&browser, Method::GET, &format!("{path}?{query}"), String::new()).await;
        }
    }
}
