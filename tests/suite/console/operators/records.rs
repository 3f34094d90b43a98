//! Records of resources as the operator API has them, and as the lists of the web app show them.

use std::collections::BTreeMap;

use marketplace::console::ResourceInfo;
use serde_json::Value;

use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
    patterns::pattern,
};

/// Key of an operator.
pub const OPERATOR: &str = "mkt_demo_operator";

/// Returns what identifies a record of the operator API in addresses.
pub fn key_of(item: &Value) -> String {
    let found = ["id", "slug", "number", "team_id"].into_iter().find_map(|name| item.get(name));
    match found {
        Some(Value::String(text)) => text.clone(),
        Some(number) => number.to_string(),
        None => panic!("{item} has no identity"),
    }
}

/// Returns all records that the operator API lists at a path with a query.
pub async fn list(market: &TestMarket, path: &str, query: &[(String, String)]) -> Vec<Value> {
    let query: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    let separator = if query.is_empty() { "" } else { "?" };
    market.list_all(OPERATOR, &format!("{path}{separator}{query}")).await
}

/// Records by the path of their list.
#[derive(Debug, Default)]
pub struct Found(BTreeMap<&'static str, Vec<Value>>);

impl Found {
    /// Lists the records of all resources. Those that the API lists only by the record that they belong to come after these.
    pub async fn all(market: &TestMarket, resources: &[ResourceInfo]) -> Found {
        let mut found = Found::default();
        for info in resources.iter().filter(|info| !info.list_api.contains('{')) {
            found.0.insert(info.list, list(market, info.list_api, &[]).await);
        }
        let mut waiting: Vec<&ResourceInfo> =
            resources.iter().filter(|info| info.list_api.contains('{')).collect();
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut later = Vec::new();
            for info in waiting {
                let parents = found.parents(info);
                if parents.is_none() {
                    later.push(info);
                    continue;
                }
                let mut records = Vec::new();
                for parent in parents.into_iter().flatten() {
                    let path = info.list_api.replace(&format!("{{{}}}", parameter(info)), &parent);
                    records.extend(list(market, &path, &[]).await);
                }
                found.0.insert(info.list, records);
            }
            assert!(later.len() < before, "lists belong to lists that do not exist");
            waiting = later;
        }
        found
    }

    /// Returns the records of a resource.
    pub fn of(&self, info: &ResourceInfo) -> &[Value] {
        self.0.get(info.list).map_or(&[], Vec::as_slice)
    }

    /// Returns the IDs of the records that the records of a resource belong to; `None` if these were not listed yet.
    pub fn parents(&self, info: &ResourceInfo) -> Option<Vec<String>> {
        self.named(parameter(info))
    }

    /// Returns the IDs that a field with this name can have.
    pub fn named(&self, field: &str) -> Option<Vec<String>> {
        let kind = match field.strip_suffix("_id")? {
            "vendor_team" | "buyer" => "team",
            "opportunity" => "project-opportunitie",
            kind => kind,
        };
        let list = format!("/operator/{}s", kind.replace('_', "-"));
        Some(self.0.get(list.as_str())?.iter().map(key_of).collect())
    }
}

/// Returns the parameter of the path of the API that lists the records of a resource.
pub fn parameter(info: &ResourceInfo) -> &'static str {
    info.list_api.split_once('{').map_or("", |(_, rest)| rest.split('}').next().unwrap())
}

/// A table of a page: for each row the key of its record, and its cells as markup.
#[derive(Debug)]
pub struct Table(pub Vec<(String, Vec<String>)>);

impl Table {
    /// Reads the table of a list.
    pub fn of(page: &Page, list: &str) -> Table {
        let body = page.text.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next());
        let cells = pattern(r"(?s)<t[hd][^>]*>(.*?)</t[hd]>");
        let link = format!("href=\"/console{list}/");
        let row = |row: &str| {
            let cells: Vec<String> = cells.captures_iter(row).map(|cell| cell[1].to_owned()).collect();
            let key = cells[0].split(&link).nth(1).map_or("", |rest| rest.split('"').next().unwrap());
            (key.to_owned(), cells)
        };
        Table(body.unwrap_or_default().split("<tr").skip(1).map(row).collect())
    }
}

/// Returns all rows of a list with a query, page by page.
pub async fn rows(browser: &Browser<'_>, list: &str, query: &str) -> Vec<(String, Vec<String>)> {
    let next = pattern(r#"href="([^"]*)" rel="next""#);
    let mut path = format!("/console{list}?{query}");
    let mut rows = Vec::new();
    loop {
        let page = browser.get(&path).await;
        assert_eq!(page.status(), 200, "{path}: {}", page.visible());
        rows.extend(Table::of(&page, list).0);
        match next.captures(&page.text) {
            Some(found) => path = found[1].replace("&amp;", "&"),
            None => return rows,
        }
    }
}
