//! Announcements above each page, and what the web app does during maintenance.

use marketplace::{
    console::{PREFIX, PageRow},
    domain::announcements::{Announcement, AnnouncementLevel},
    market::{Market, Writer},
    store,
};
use poem::http::Method;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use super::{BOTH, BUYER, NO_NDA, NO_ROLE, OPERATOR, VENDOR, is_for_operators, path_of, rows};
use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
    database,
    records::{self, demo_records},
};

const READING: &str = "mkt_demo_operator_read";

/// Path of the operators' page.
const PATH: &str = "/console/operator/announcements";

/// The message to teams during maintenance.
const TEXT: &str = "Back at 09:00 UTC & not <i>later</i>.";

/// The same on a page.
const SHOWN: &str = "Back at 09:00 UTC &amp; not &lt;i&gt;later&lt;/i&gt;.";

/// Forms that change only the session, which is not data of the market.
const SERVED: [&str; 5] = [
    "/side",
    "/catalog/view",
    "/inventory/columns",
    "/settings/sessions/{session}/end",
    "/settings/sessions/end-others",
];

async fn switch_on(market: &TestMarket) {
    let path = "/operator/v1/maintenance";
    market.call(OPERATOR, "PUT", path, &json!({"text": TEXT})).await.ok();
}

async fn announce(market: &TestMarket, announcement: &Value) {
    market.call(OPERATOR, "PUT", "/operator/v1/announcement", announcement).await.ok();
}

/// Returns the rows of all tables, except those that signing in changes.
fn all_rows(market: &Market) -> Vec<String> {
    let copy = database::connect_to_copy(market);
    let names =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND name NOT IN ('sessions', 'keys') ORDER BY name";
    let mut names = copy.prepare(names).unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut found = Vec::new();
    for name in names {
        let mut table = copy.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = table.column_count();
        let mut rows = table.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells = (0..columns).map(|column| row.get::<_, Cell>(column).unwrap()).collect::<Vec<_>>();
            found.push(format!("{name} {cells:?}"));
        }
    }
    found.sort();
    found
}

#[track_caller]
fn assert_refused(page: &Page, path: &str) {
    assert_eq!(page.status(), 503, "{path}: {}", page.visible());
    assert!(page.text.contains(SHOWN), "{path}: {}", page.visible());
    assert_eq!(page.response.header("retry-after"), "60", "{path}");
}

#[tokio::test]
async fn announcement_is_above_each_page_and_has_no_markup_but_links() {
    const SHOWN: &str = "&lt;script&gt;x&lt;/script&gt; <a href=\"https://status.example/a?b&amp;c\" \
                         rel=\"noopener\">the &amp; plan</a><br>**two** [x](javascript:y)";
    let market = TestMarket::demo();
    let text = "<script>x</script> [the & plan](https://status.example/a?b&c)\n**two** [x](javascript:y)";
    announce(&market, &json!({"text": text, "level": "warning"})).await;
    let stranger = Browser::new(&market);
    let mut pages = Vec::new();
    for path in ["/console/sign-in", "/console/nowhere"] {
        pages.push((path, stranger.get(path).await));
    }
    pages.push(("a wrong key", stranger.post("/console/sign-in", &[("key", "mkt_x")]).await));
    for (key, path) in [
        (NO_ROLE, "/console/catalog"),
        (NO_NDA, "/console/catalog"),
        (VENDOR, "/console/wallet/buy"),
        (BUYER, "/console/nowhere"),
        (BUYER, "/console/operator/teams"),
        (READING, PATH),
    ] {
        pages.push((path, Browser::signed_in(&market, key).await.open(path).await));
    }
    let (team, operator) =
        (Browser::signed_in(&market, BOTH).await, Browser::signed_in(&market, OPERATOR).await);
    let is_page = |row: &PageRow| {
        row.is_shown
            && row.access.is_some()
            && !row.path.contains('{')
            && row.path != "/world-clock"
            && !row.path.ends_with("/template")
    };
    for row in rows().filter(is_page) {
        let browser = if is_for_operators(&row) { &operator } else { &team };
        pages.push((row.path, browser.open(&path_of(&row)).await));
    }
    for (path, page) in &pages {
        assert!(page.text.contains(SHOWN), "{path}: {}", page.text);
        assert!(!page.text.contains("<script>x"), "{path}");
    }
    market.call(OPERATOR, "DELETE", "/operator/v1/announcement", &Value::Null).await.expect_status(204);
    assert!(!stranger.get("/console/sign-in").await.text.contains("status.example"));
    assert!(!team.open("/console").await.text.contains("status.example"));
}

#[tokio::test]
async fn announcement_is_shown_in_its_time_in_place_of_the_setting() {
    let of_settings = "Of the settings.";
    let market = TestMarket::with_settings(|settings| settings.console.banner = of_settings.to_owned());
    let stranger = Browser::new(&market);
    let expect = async |shown: &str, hidden: &str| {
        let page = stranger.get("/console/sign-in").await;
        page.expect(200, shown);
        assert!(!page.text.contains(hidden), "{}", page.visible());
    };
    expect(of_settings, "Of operators.").await;
    let announcement = Announcement {
        text: "Of operators.".to_owned(),
        level: AnnouncementLevel::Information,
        starts_at: Some(market.clock().now().plus_seconds(60)),
        ends_at: Some(market.clock().now().plus_seconds(120)),
    };
    let now = market.clock().now();
    let set = |writer: &mut Writer| store::announcements::set(writer.rows, &announcement, now);
    market.write(set).unwrap();
    expect(of_settings, "Of operators.").await;
    market.clock().advance(60_000_000);
    expect("Of operators.", of_settings).await;
    market.clock().advance(60_000_000);
    expect(of_settings, "Of operators.").await;
}

/// The form does not show seconds. They stay unless somebody enters another time.
#[tokio::test]
async fn announcement_with_another_text_keeps_its_times() {
    let market = TestMarket::demo();
    let (from, until) = ("2026-03-01T10:00:20.000Z", "2026-03-02T23:59:59.000Z");
    announce(&market, &json!({"text": "Soon.", "level": "warning", "starts_at": from, "ends_at": until}))
        .await;
    let operator = Browser::signed_in(&market, OPERATOR).await;
    let form = format!("{PATH}/change");
    for (change, until) in [
        (("text", "Later."), until),
        (("ends_at", "2026-03-02T23:58"), "2026-03-02T23:58:00.000Z"),
        // Seconds that somebody types are a change.
        (("ends_at", "2026-03-02 23:58:10"), "2026-03-02T23:58:10.000Z"),
        (("ends_at", "2026-03-02 23:58:00"), "2026-03-02T23:58:00.000Z"),
    ] {
        let page = operator.get(&form).await;
        assert_eq!(operator.submit(&page, &form, &[change]).await.status(), 303);
        let stored = market.get(OPERATOR, "/operator/v1/announcement").await.ok();
        assert_eq!((stored["starts_at"].as_str(), stored["ends_at"].as_str()), (Some(from), Some(until)));
    }
}

#[tokio::test]
async fn operators_announce_and_maintain_by_pages() {
    let market = TestMarket::demo();
    let operator = Browser::signed_in(&market, OPERATOR).await;
    operator.get(PATH).await.expect(200, "Nothing is announced now.").expect(200, "It is off");
    let form = format!("{PATH}/change");
    let page = operator.get(&form).await;
    let fields = [("text", "Soon."), ("level", "warning"), ("ends_at", "2026-02-28 09:00")];
    let refused = operator.submit(&page, &form, &fields).await;
    refused.expect(422, "The end must be later than now.").expect(422, "Soon.");
    let page = operator.get(&form).await;
    let fields = [("text", "Soon."), ("level", "warning"), ("ends_at", "2026-03-02 09:00")];
    assert_eq!(operator.submit(&page, &form, &fields).await.status(), 303);
    operator.get(PATH).await.expect(200, "Shown now").expect(200, "2 March 2026, 09:00 UTC");
    operator.get(&form).await.expect(200, "2026-03-02T09:00");
    let reading = Browser::signed_in(&market, READING).await;
    let page = reading.get(PATH).await;
    page.expect(200, "Shown now");
    assert!(!page.text.contains("Switch it on") && !page.text.contains("/delete"), "{}", page.visible());
    let page = operator.get(&form).await;
    assert_eq!(operator.submit(&page, &form, &[("ends_at", "")]).await.status(), 303);
    let page = operator.get(PATH).await;
    page.expect(200, "An operator deletes it");
    let delete = format!("{PATH}/delete");
    assert_eq!(operator.submit(&page, &delete, &[]).await.status(), 303);
    operator.get(PATH).await.expect(200, "Nothing is announced now.");
    let start = format!("{PATH}/maintenance");
    let page = operator.get(&start).await;
    page.expect(200, &market.market().settings().maintenance.text);
    // A line end is one character, as browsers count it, though they send two.
    let longest = format!("{}\r\n{}", "a".repeat(499), "b".repeat(500));
    assert_eq!(operator.submit(&page, &start, &[("text", &longest)]).await.status(), 303);
    let page = operator.get(&start).await;
    assert_eq!(operator.submit(&page, &start, &[("text", TEXT)]).await.status(), 303);
    operator.get(PATH).await.expect(200, "Since").expect(200, SHOWN);
    Browser::new(&market).get("/console/sign-in").await.expect(200, SHOWN);
    let page = operator.get(PATH).await;
    let end = format!("{PATH}/end-maintenance");
    assert_eq!(operator.submit(&page, &end, &[]).await.status(), 303);
    operator.get(PATH).await.expect(200, "It is off");
    let audit = market.get(OPERATOR, "/operator/v1/audit?limit=5").await.ok()["items"].clone();
    let entries = audit.as_array().unwrap().iter();
    let operations: Vec<&str> = entries.map(|entry| entry["operation"].as_str().unwrap()).collect();
    let expected = [
        "end_maintenance",
        "start_maintenance",
        "start_maintenance",
        "delete_announcement",
        "set_announcement",
    ];
    assert_eq!(operations, expected);
}

#[tokio::test]
async fn teams_change_nothing_by_any_form() {
    let market = TestMarket::demo();
    let mut browsers = Vec::new();
    for key in [BOTH, NO_NDA] {
        browsers.push(Browser::signed_in(&market, key).await);
    }
    switch_on(&market).await;
    let before = all_rows(market.market());
    let (mut forms, mut refused) = (0, 0);
    let is_form = |row: &PageRow| !row.is_shown || row.has_form;
    let is_of_team = |row: &PageRow| row.access.is_some() && !is_for_operators(row);
    for row in rows().filter(is_form).filter(is_of_team).filter(|row| !SERVED.contains(&row.path)) {
        for browser in &browsers {
            let path = path_of(&row);
            let is_shown = row.is_shown && !row.path.contains('{');
            let opened = if is_shown { Some(browser.get(&path).await) } else { None };
            let answer = match opened
                .filter(|page| page.text.contains(&format!("method=\"post\" action=\"{path}\"")))
            {
                Some(page) => browser.submit(&page, &path, &[]).await,
                None if row.has_form => browser.post(&path, &[("form_key", "x"), ("name", "x")]).await,
                None => {
                    let headers = [("sec-fetch-site", "same-origin")];
                    browser.send(Method::PUT, &path, &headers, "x").await
                }
            };
            assert_ne!(answer.status(), 303, "{path}");
            forms += 1;
            refused += u32::from(answer.status() == 503);
            let receives = !row.is_shown && !row.has_form;
            assert!(!receives || [503, 403].contains(&answer.status()), "{path}: {}", answer.status());
        }
    }
    assert!(forms > 60 && refused > 8, "{refused} of {forms}");
    assert_eq!(all_rows(market.market()), before);
}

#[tokio::test]
async fn form_is_kept_and_sent_again_after_maintenance() {
    let market = TestMarket::demo();
    let buyer = Browser::signed_in(&market, BUYER).await;
    let path = "/console/settings/keys/new";
    let page = buyer.get(path).await;
    switch_on(&market).await;
    let refused = buyer.submit(&page, path, &[("name", "Night jobs"), ("scope", "api")]).await;
    assert_refused(&refused, path);
    refused.expect(503, "Night jobs");
    market.call(OPERATOR, "DELETE", "/operator/v1/maintenance", &Value::Null).await.expect_status(204);
    buyer.submit(&refused, path, &[]).await.expect(200, "Copy it now");
}

#[tokio::test]
async fn people_sign_in_and_out_choose_a_side_and_read() {
    let market = TestMarket::demo();
    switch_on(&market).await;
    let both = Browser::signed_in(&market, BOTH).await;
    both.open("/console").await.expect(200, SHOWN);
    both.get("/console/catalog?query=data").await.expect(200, "Nothing can be changed now");
    for side in ["vendor", "buyer"] {
        assert_eq!(both.post("/console/side", &[("side", side)]).await.status(), 303);
    }
    let other = Browser::signed_in(&market, BOTH).await;
    let ended = both.post("/console/settings/sessions/end-others", &[]).await;
    assert_eq!(ended.status(), 303);
    assert_eq!(other.get("/console/catalog").await.status(), 303, "it was signed out");
    let listing = "/console/selling/listings/new";
    let page = both.get(listing).await;
    let preview =
        both.submit(&page, listing, &[("description", "It has **nine**."), ("preview", "yes")]).await;
    preview.expect(200, "<strong>nine</strong>");
    assert_eq!(both.post("/console/sign-out", &[]).await.status(), 303);
    assert_eq!(both.get("/console/catalog").await.status(), 303);
}

#[tokio::test]
async fn operators_carry_on_by_pages() {
    let market = TestMarket::demo();
    switch_on(&market).await;
    let operator = Browser::signed_in(&market, OPERATOR).await;
    let team = demo_records().find("teams", demo_records().team_of(BUYER));
    let path = format!("{PREFIX}/operator/teams/{}", records::id("teams", team));
    let page = operator.get(&path).await;
    page.expect(200, SHOWN);
    let pending = market.get(OPERATOR, "/operator/v1/purchases?status=pending&limit=1").await.ok();
    let purchase = pending["items"][0]["id"].as_str().unwrap();
    let complete = format!("{PREFIX}/operator/purchases/{purchase}/complete");
    let page = operator.get(&complete).await;
    assert_eq!(operator.submit(&page, &complete, &[]).await.status(), 303);
    let completed = market.get(OPERATOR, &format!("/operator/v1/purchases/{purchase}")).await.ok();
    assert_eq!(completed["status"], "completed");
}
