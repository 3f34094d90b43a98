//! What each page of the table shows to whom. A new page is covered by its line in the table.

use marketplace::{
    console::{PREFIX, PageRow},
    domain::principals::KeyScope,
    web::{Audience, RequiredAccess},
};
use poem::http::Method;
use uuid::Uuid;

use super::{BOTH, BUYER, NO_NDA, NO_ROLE, OPERATOR, VENDOR, is_for_operators, path_of, rows};
use crate::harness::{self, TestMarket, browser::Browser, patterns::pattern};

const LOCKED: &str = "mkt_demo_locked";

/// The end of the address that says that a form was not carried out.
const UNSAVED: &str = "notice=session_ended_unsaved";

/// Whether a row receives bytes by PUT, and is no page and no form.
fn receives_bytes(row: &PageRow) -> bool {
    !row.is_shown && !row.has_form
}

fn has_parameters(row: &PageRow) -> bool {
    row.path.contains('{')
}

#[tokio::test]
async fn strangers_are_led_to_the_page_for_signing_in() {
    let market = harness::demo();
    let browser = Browser::new(market);
    for row in rows().filter(|row| row.access.is_some()) {
        let path = path_of(&row);
        if row.is_shown {
            let page = browser.get(&path).await;
            assert_eq!(page.status(), 303, "{path}");
            assert!(page.location().starts_with("/console/sign-in"), "{path}: {}", page.location());
            assert!(path == PREFIX || page.location().contains("next="), "{path}: {}", page.location());
        }
        if row.has_form {
            let page = browser.post(&path, &[]).await;
            assert_eq!(page.status(), 303, "{path}");
            assert!(page.location().starts_with("/console/sign-in?"), "{path}: {}", page.location());
            assert!(page.location().ends_with(UNSAVED), "{path}: {}", page.location());
            assert!(!row.is_shown || page.location().contains("next="), "{path}: {}", page.location());
        }
        if receives_bytes(&row) {
            let page = browser.send(Method::PUT, &path, &[("sec-fetch-site", "same-origin")], "x").await;
            assert_eq!(page.status(), 303, "{path}");
            assert!(page.location().starts_with("/console/sign-in?"), "{path}: {}", page.location());
            assert!(page.location().ends_with(UNSAVED), "{path}: {}", page.location());
        }
    }
}

#[tokio::test]
async fn forms_of_other_sites_change_nothing() {
    let browser = Browser::signed_in(harness::demo(), BOTH).await;
    for row in rows().filter(|row| row.has_form || receives_bytes(row)) {
        let method = if row.has_form { Method::POST } else { Method::PUT };
        for headers in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "null")],
            &[("origin", "https://evil.example"), ("host", "market.test")],
        ] {
            let page = browser.send(method.clone(), &path_of(&row), headers, String::new()).await;
            page.expect(403, "of");
            // Before anything else, a demo market refuses requests of pages of hosts that it does not know.
            let is_known = !headers.iter().any(|(name, _)| *name == "origin");
            assert!(!is_known || page.text.contains("sent by a page of another site"), "{}", page.text);
        }
    }
}

#[tokio::test]
async fn pages_say_what_access_lacks_and_what_to_do() {
    let market = harness::demo();
    let open = async |key| Browser::signed_in(market, key).await;
    let (buyer, vendor, no_role) = (open(BUYER).await, open(VENDOR).await, open(NO_ROLE).await);
    let (no_nda, operator, locked) = (open(NO_NDA).await, open(OPERATOR).await, open(LOCKED).await);
    for row in rows().filter(|row| row.is_shown) {
        let Some(access) = row.access else { continue };
        let path = path_of(&row);
        let needs_nda = !matches!(access, RequiredAccess::AnyKey | RequiredAccess::ValidKey)
            && access.audience() != Audience::Operators;
        match access.audience() {
            Audience::Buyers => {
                vendor.get(&path).await.expect(403, "which your team does not have");
            }
            Audience::Vendors => {
                buyer.get(&path).await.expect(403, "which your team does not have");
            }
            Audience::TeamsWithRole => {
                no_role.get(&path).await.expect(403, "which your team does not have");
            }
            Audience::Operators => {
                buyer.get(&path).await.expect(403, "This page is for operators");
            }
            Audience::AllTeams | Audience::Everyone => {}
        }
        if needs_nda && access.audience() != Audience::Vendors {
            let page = no_nda.get(&path).await;
            page.expect(
                403,
                if access.audience() == Audience::Buyers { "your team" } else { "Accept the NDA first" },
            );
        }
        if !matches!(access.audience(), Audience::Everyone | Audience::Operators) {
            operator.get(&path).await.expect(403, "signed in as an operator");
        }
        if access == RequiredAccess::CatalogAccess {
            locked.get(&path).await.expect(403, "still locked");
        }
    }
}

/// The navigation, the bar above pages, and the tabs of settings.
#[tokio::test]
async fn links_around_pages_lead_to_pages_that_the_team_may_open() {
    let market = harness::demo();
    let link = pattern(r#"<a [^>]*href="(/console[^"]*)""#);
    for key in [BUYER, VENDOR, BOTH, NO_ROLE, OPERATOR] {
        let browser = Browser::signed_in(market, key).await;
        let page = browser.get("/console/settings/sessions").await;
        page.expect(200, "This session");
        for found in link.captures_iter(&page.text) {
            let target = browser.get(&found[1]).await;
            assert!(target.status() < 400, "{key}: {}: {}", &found[1], target.visible());
        }
    }
}

/// Operators have no team, and no catalog that they could search.
#[tokio::test]
async fn what_operators_do_not_find_leads_to_no_page_of_teams() {
    let operator = Browser::signed_in(harness::demo(), OPERATOR).await;
    let page = operator.get("/console/operator/teams/00000000-0000-7000-8000-000000000000").await;
    page.expect(404, "There is no team with this address. It may");
    assert!(!page.text.contains("Search the catalog"), "{}", page.visible());
}

/// Forms, files, and parts of files are refused before they are read.
#[tokio::test]
async fn forms_of_teams_without_access_are_refused() {
    let market = harness::demo();
    let open = async |key| Browser::signed_in(market, key).await;
    let (buyer, vendor, no_role) = (open(BUYER).await, open(VENDOR).await, open(NO_ROLE).await);
    let (no_nda, operator) = (open(NO_NDA).await, open(OPERATOR).await);
    let mut refused = 0;
    for row in rows().filter(|row| !row.is_shown || row.has_form) {
        let Some(access) = row.access else { continue };
        let method = if row.has_form { Method::POST } else { Method::PUT };
        let send = async |browser: &Browser<'_>| {
            let headers = [("sec-fetch-site", "same-origin")];
            browser.send(method.clone(), &path_of(&row), &headers, "form_key=x").await
        };
        let other = match access.audience() {
            Audience::Buyers => &vendor,
            Audience::Vendors => &buyer,
            Audience::TeamsWithRole => &no_role,
            Audience::Operators => {
                send(&vendor).await.expect(403, "This page is for operators");
                refused += 1;
                continue;
            }
            Audience::AllTeams | Audience::Everyone => continue,
        };
        send(other).await.expect(403, "which your team does not have");
        send(&operator).await.expect(403, "signed in as an operator");
        if access.audience() == Audience::Buyers {
            send(&no_nda).await.expect(403, "your team");
        }
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
}

#[tokio::test]
async fn records_of_others_are_nowhere() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, BOTH).await;
    let operator = Browser::signed_in(market, OPERATOR).await;
    for row in rows().filter(|row| row.is_shown && row.access.is_some() && has_parameters(row)) {
        let browser = if is_for_operators(&row) { &operator } else { &browser };
        let page = browser.get(&path_of(&row)).await;
        assert_eq!(page.status(), 404, "{}: {}", row.path, page.visible());
        let malformed = path_of(&row).replace(&Uuid::from_u128(7).to_string(), "x%00y");
        let page = browser.get(&malformed).await;
        assert_eq!(page.status(), 404, "{malformed}");
    }
    for row in rows().filter(receives_bytes) {
        for path in [path_of(&row), path_of(&row).replace(&Uuid::from_u128(7).to_string(), "x%00y")] {
            let page = browser.send(Method::PUT, &path, &[("sec-fetch-site", "same-origin")], "x").await;
            assert_eq!(page.status(), 404, "{path}: {}", page.visible());
        }
    }
    for path in ["/console/nowhere", "/console/listings", "/console/%ff"] {
        browser.get(path).await.expect(404, "There is no such page");
        let stranger = Browser::new(market).get(path).await;
        stranger.expect(404, "There is no such page");
    }
    assert_eq!(browser.get("/console/").await.location(), "/console");
}

#[tokio::test]
async fn pages_execute_few_statements() {
    const MAX: u64 = 20;
    let market = TestMarket::demo();
    let team = Browser::signed_in(&market, BOTH).await;
    let operator = Browser::signed_in(&market, OPERATOR).await;
    for row in rows().filter(|row| row.is_shown && !has_parameters(row) && row.path != "/world-clock") {
        let browser = if is_for_operators(&row) { &operator } else { &team };
        let count = browser.count_statements(&path_of(&row)).await;
        assert!(count <= MAX, "{} executes {count} statements", row.path);
    }
}

/// Returns the number of rows or cards of a page.
async fn count_rows(browser: &Browser<'_>, path: &str) -> usize {
    let text = browser.get(path).await.text;
    text.matches("<th scope=\"row\"").count() + text.matches("<li class=\"card\"").count()
}

/// The same pages of teams, and of searches, with few rows and with many.
#[tokio::test]
async fn statements_do_not_depend_on_the_number_of_rows() {
    let market = TestMarket::demo();
    let mut browsers = Vec::new();
    for key in [BUYER, BOTH, VENDOR] {
        browsers.push(Browser::signed_in(&market, key).await);
    }
    let paths =
        ["/console/catalog?query=cobol", "/console/catalog?query=data", "/console/catalog?query=codebase"];
    let mut groups: Vec<Vec<(&Browser, &str)>> =
        vec![paths.iter().map(|path| (&browsers[0], *path)).collect()];
    let lists = ["purchases", "notifications", "wallet/entries", "settings/keys"];
    let lists = lists.map(|list| format!("/console/{list}"));
    let of_vendors =
        ["inventory", "selling/listings", "selling/sales", "selling/bids", "estimations", "quality"];
    let of_vendors = of_vendors.map(|list| format!("/console/{list}"));
    let of = |browsers: &'static [usize]| browsers.iter();
    groups.extend(lists.iter().map(|path| of(&[0, 1]).map(|at| (&browsers[*at], path.as_str())).collect()));
    groups.extend(
        of_vendors.iter().map(|path| of(&[1, 2]).map(|at| (&browsers[*at], path.as_str())).collect()),
    );
    for group in groups {
        let mut counted = Vec::new();
        for (browser, path) in group {
            counted.push((count_rows(browser, path).await, browser.count_statements(path).await));
        }
        counted.retain(|(rows, _)| *rows > 0);
        let fewest = counted.iter().min_by_key(|(rows, _)| *rows).unwrap();
        let most = counted.iter().max_by_key(|(rows, _)| *rows).unwrap();
        assert!(most.0 > fewest.0, "{counted:?} has no different numbers of rows");
        assert!(most.1 <= fewest.1, "{counted:?}: rows and statements");
    }
}

#[tokio::test]
async fn each_page_has_a_frame_and_strict_headers() {
    let market = harness::demo();
    let team = Browser::signed_in(market, BOTH).await;
    let operator = Browser::signed_in(market, OPERATOR).await;
    // A template to download is a file.
    let is_file = |row: &PageRow| row.path.ends_with("/template");
    let pages = rows().filter(|row| row.is_shown && !has_parameters(row) && !is_file(row));
    for row in pages.filter(|row| row.path != "/world-clock") {
        let browser = if is_for_operators(&row) { &operator } else { &team };
        let page = browser.open(&path_of(&row)).await;
        page.expect(200, "<!DOCTYPE html>");
        assert_eq!(page.text.matches("<h1").count(), 1, "{}", row.path);
        assert_eq!(page.response.header("cache-control"), "no-store", "{}", row.path);
        assert_eq!(page.response.header("x-content-type-options"), "nosniff", "{}", row.path);
        let policy = page.response.header("content-security-policy");
        for part in
            ["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "form-action 'self'"]
        {
            assert!(policy.contains(part), "{}: {policy}", row.path);
        }
        for forbidden in [" style=\"", "hx-on", "javascript:", " onclick", "<script>"] {
            assert!(!page.text.contains(forbidden), "{} contains {forbidden}", row.path);
        }
    }
}

#[tokio::test]
async fn market_without_operators_has_no_pages_for_them() {
    for is_enabled in [true, false] {
        let market = TestMarket::with_settings(|settings| settings.operator.enabled = is_enabled);
        let key = market.operator_key("Ada", KeyScope::All);
        let browser = Browser::signed_in(&market, &key).await;
        let status = if is_enabled { 200 } else { 404 };
        assert_eq!(browser.get("/console/operator/teams").await.status(), status, "{is_enabled}");
        let start = browser.open(PREFIX).await;
        start.expect(200, "Operator");
        assert_eq!(start.text.contains("/console/operator/"), is_enabled, "{}", start.visible());
    }
}
