//! Attacks: own texts on the pages of others, requests from elsewhere, addresses of other teams, sign-ins without end, and
//! forms that are too large.

mod requests;
mod sizes;
mod stored;
mod strangers;
mod teams;
mod vendors;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use marketplace::console::{self, PREFIX};
use serde_json::json;

use super::{BOTH, BUYER, OPERATOR, VENDOR};
use crate::harness::{
    TestMarket,
    browser::{Browser, Page, row_of},
    patterns::pattern,
};

/// Pages of the same path in the table, but with other IDs or queries, that are opened.
const PER_PAGE: usize = 6;

/// All pages that can be reached by links from a page.
#[derive(Default)]
pub struct Crawl {
    /// The pages by their addresses.
    pub pages: BTreeMap<String, Page>,
    /// The addresses that their forms are sent to, with the fields.
    actions: BTreeMap<String, Vec<(String, String)>>,
    /// All addresses that pages lead to, whether they were opened or not.
    addresses: BTreeSet<String>,
}

/// Opens the pages that lead from the first one, at most a few of each path in the table.
pub async fn crawl(browser: &Browser<'_>) -> Crawl {
    let attribute = pattern(r#" (href|action)="(/console[^"]*)""#);
    let mut crawl = Crawl::default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let shown = console::pages().into_iter().filter(|row| row.is_shown && !row.path.contains('{'));
    let mut pending: VecDeque<String> = shown.map(|row| format!("{PREFIX}{}", row.path)).collect();
    while let Some(address) = pending.pop_front() {
        if address.starts_with("/console/assets/") || crawl.pages.contains_key(&address) {
            continue;
        }
        let count = counts.entry(pattern_of(&address)).or_default();
        *count += 1;
        if *count > PER_PAGE {
            continue;
        }
        let page = browser.get(&address).await;
        assert!(page.status() < 500, "{address}: {}", page.visible());
        if page.status() == 303 {
            pending.push_back(page.location().to_owned());
        }
        for found in attribute.captures_iter(&page.text) {
            let target = found[2].replace("&amp;", "&");
            let is_sent = || page.text.contains(&format!("method=\"post\" action=\"{}\"", &found[2]));
            if &found[1] == "action" && is_sent() {
                let mut fields = page.form(&found[2]);
                let says_who = fields.iter().any(|(name, _)| name == "opened_by");
                let is_of_anyone = ["/console/sign-in", "/console/sign-out"].contains(&&*target);
                assert!(says_who || is_of_anyone, "{address}: who opened {target}?");
                // Whoever sends the form of another team on purpose does not say so.
                fields.retain(|(name, _)| name != "opened_by");
                crawl.actions.insert(target, fields);
            } else if crawl.addresses.insert(target.clone()) {
                pending.push_back(target);
            }
        }
        crawl.pages.insert(address, page);
    }
    crawl
}

/// Creates a key of a team that opens the web app.
async fn console_key(market: &TestMarket, team: &str) -> String {
    let list = market.get(OPERATOR, "/operator/v1/teams?limit=100").await.ok();
    let teams =
        list["data"].as_array().or_else(|| list["items"].as_array()).unwrap_or_else(|| panic!("{list}"));
    let team = teams.iter().find(|known| known["name"] == team).unwrap_or_else(|| panic!("no {team}"));
    let body = json!({"team_id": team["id"], "name": "Test", "scope": "all"});
    let key = market.call(OPERATOR, "POST", "/operator/v1/keys", &body).await.expect_status(201);
    key["secret"].as_str().unwrap().to_owned()
}

/// Returns the path in the table that an address has, and the names of its query.
fn pattern_of(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let names: BTreeSet<&str> = query.split('&').filter_map(|pair| pair.split('=').next()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    format!("{}?{}", row_of(path).map_or("", |row| row.path), names.join("&"))
}
