//! A simple model of a vendor's inventory: which filters match each asset, and how lists are sorted.

use std::{cmp::Ordering, collections::BTreeMap};

use serde_json::{Value, json};

use crate::{
    harness::{TestMarket, random::Random},
    vendor_api::seller_market::{market_with, seeded_id},
};

/// The properties of an asset that filters and sort orders depend on.
#[derive(Clone, Debug)]
pub(super) struct ModelAsset {
    pub(super) id: String,
    pub(super) kind: &'static str,
    pub(super) title: String,
    pub(super) age_days: u64,
    pub(super) group: &'static str,
    pub(super) tags: Vec<&'static str>,
    pub(super) has_description: bool,
    pub(super) price: Option<u64>,
    pub(super) exclusivity: Option<&'static str>,
    pub(super) metrics: BTreeMap<&'static str, u64>,
    pub(super) history_start: Option<String>,
    pub(super) ci_on_prs: Option<bool>,
    pub(super) channel: Option<&'static str>,
    pub(super) is_private: bool,
    pub(super) is_listed: bool,
}

pub(super) const GROUPS: [(&str, &str); 4] =
    [("default", "Default"), ("g-b", "beta"), ("g-a", "Alpha"), ("g-e", "Émile")];
/// Keys of [`GROUPS`] in list order: the default group first, then by name, ignoring case.
pub(super) const GROUP_ORDER: [&str; 4] = ["default", "g-a", "g-b", "g-e"];
pub(super) const METRICS: [&str; 4] = ["lines_of_code", "commits", "contributors", "merged_prs"];
pub(super) const TITLE_WORDS: [&str; 9] =
    ["Ledger", "ledger", "ÉTUDE", "e\u{301}tude", "etude", "zebra", "Über", "a:b", "Kiosk 2"];

/// Returns a text in lower case, with one encoding of the accents that [`TITLE_WORDS`] have.
fn equality_key(text: &str) -> String {
    text.to_lowercase().replace("e\u{301}", "é")
}

/// Returns a text in lower case without accents.
fn search_key(text: &str) -> String {
    equality_key(text).replace('é', "e").replace('ü', "u")
}

impl ModelAsset {
    pub(super) fn random(random: &mut Random, n: usize) -> ModelAsset {
        let kind = *random.pick(&["codebase", "codebase", "raw_data", "environment", "other"]);
        let is_codebase = kind == "codebase";
        let has_all_metadata = random.percent(50);
        let mut metrics = BTreeMap::new();
        for metric in METRICS {
            if is_codebase && (has_all_metadata || random.percent(60)) {
                metrics.insert(metric, random.below(4));
            }
        }
        let maybe = |random: &mut Random| is_codebase && (has_all_metadata || random.percent(60));
        let linkable = is_codebase || kind == "raw_data";
        let channels: &[&str] =
            if is_codebase { &["github", "gitlab", "bitbucket", "zip"] } else { &["zip"] };
        let channel = (linkable && random.percent(60)).then(|| *random.pick(channels));
        ModelAsset {
            id: seeded_id("assets", &format!("a{n}")),
            kind,
            title: format!("{} {}", random.pick(&TITLE_WORDS), random.below(3)),
            age_days: 10 + random.below(6),
            group: random.pick(&GROUPS[..3]).0,
            tags: if has_all_metadata {
                vec!["finance"]
            } else {
                random.sample(&["finance", "legal", "logistics"], 30)
            },
            has_description: has_all_metadata || random.percent(70),
            price: (has_all_metadata || random.percent(60)).then(|| random.below(5) * 100),
            exclusivity: is_codebase.then(|| *random.pick(&["available", "unavailable"])),
            metrics,
            history_start: maybe(random).then(|| format!("201{}-01-01", random.below(4))),
            ci_on_prs: maybe(random).then(|| random.percent(50)),
            channel,
            is_private: channel == Some("zip") || random.percent(50),
            is_listed: random.percent(20),
        }
    }

    pub(super) fn record(&self, n: usize) -> Value {
        let mut record = json!({"key": format!("a{n}"), "team": "seller", "sku": self.kind, "title": self.title,
            "domain_tags": self.tags, "created_at": format!("-P{}D", self.age_days)});
        if self.group != "default" {
            record["group"] = json!(self.group);
        }
        if self.has_description {
            record["description"] = json!("About it.");
        }
        if let Some(price) = self.price {
            record["price_usd"] = json!(price);
        }
        let data = self.channel.map(|channel| {
            let mut data = json!({"channel": channel, "archive_status": "pending", "analysis_status": "pending",
                "attached_at": "-P2D", "private": self.is_private});
            if channel != "zip" {
                data["repo_full_name"] = json!("acme/x");
            }
            data
        });
        match self.kind {
            "codebase" => {
                let mut own = json!({"exclusivity": self.exclusivity, "data": data, "ci_on_prs": self.ci_on_prs,
                    "history_start": self.history_start, "history_end": self.history_start});
                for (metric, value) in &self.metrics {
                    own[*metric] = json!(value);
                }
                record["codebase"] = own;
            }
            "raw_data" => record["raw_data"] = json!({"data": data}),
            "environment" => record["environment"] = json!({"build_version": 1, "task_count": 2}),
            _ => record["other"] = json!([]),
        }
        record
    }

    pub(super) fn stage(&self) -> &'static str {
        let common = self.has_description && !self.tags.is_empty();
        let has_metadata = match self.kind {
            "codebase" => {
                common
                    && self.price.is_some()
                    && self.metrics.len() == 4
                    && self.history_start.is_some()
                    && self.ci_on_prs.is_some()
            }
            "raw_data" => common && self.price.is_some(),
            _ => common,
        };
        let needs_data = ["codebase", "raw_data"].contains(&self.kind);
        match (has_metadata, !needs_data || self.channel.is_some()) {
            (false, _) => "incomplete",
            (true, true) => "complete",
            (true, false) => "proposed",
        }
    }

    /// Returns the value of a sort column, such that values compare in the order of the list.
    pub(super) fn sort_key(&self, column: &str) -> Option<(u64, String)> {
        let number = |number: u64| (number, String::new());
        let text = |text: &str| (0, text.to_owned());
        match column {
            "name" => Some(text(&equality_key(&self.title))),
            "type" => Some(text(self.kind)),
            "domain" => (!self.tags.is_empty()).then(|| text(&format!(",{},", self.tags.join(",")))),
            "stage" => ["incomplete", "proposed", "complete"]
                .iter()
                .position(|s| *s == self.stage())
                .map(|n| number(n as u64)),
            "channel" => self.channel.map(text),
            "created_at" => Some(number(100 - self.age_days)),
            "price" => self.price.map(number),
            // Everything has the same quote, so only assets without one move: to the end, in both directions.
            "estimate" => (self.kind == "codebase").then(|| number(1)),
            "exclusivity" => self.exclusivity.map(text),
            "private_data" => self.private_data().map(|is_private| number(u64::from(is_private))),
            "history_start" | "history_end" => self.history_start.as_deref().map(text),
            "ci_on_prs" => self.ci_on_prs.map(|ci| number(u64::from(ci))),
            metric => self.metrics.get(metric).copied().map(number),
        }
    }

    pub(super) fn matches(&self, filter: &str) -> bool {
        let (field, rest) = filter.split_once(':').unwrap();
        let (operator, value) = rest.split_once(':').unwrap();
        let is = match field {
            "stage" => self.stage() == value,
            "type" => self.kind == value,
            "name" if operator == "contains" => {
                return search_key(&self.title).contains(&search_key(value));
            }
            "name" => equality_key(&self.title) == equality_key(value),
            "domain" => self.tags.contains(&value),
            "channel" => self.channel.unwrap_or("not_linked") == value,
            "exclusivity" => self.exclusivity == Some(value),
            "private_data" => self.private_data().is_some_and(|is_private| is_private.to_string() == value),
            _ => unreachable!("{field}"),
        };
        is == (operator == "is")
    }

    /// Returns whether the data needs credentials. Empty without data, and on everything but codebases.
    fn private_data(&self) -> Option<bool> {
        (self.kind == "codebase" && self.channel.is_some()).then_some(self.is_private)
    }

    pub(super) fn is_attachable(&self, is_on_listing: bool) -> bool {
        self.kind == "codebase" && self.channel.is_some() && self.stage() != "incomplete" && !is_on_listing
    }
}

pub(super) const FILTERS: [&str; 23] = [
    "stage:is:complete",
    "stage:is_not:incomplete",
    "name:contains:LEDGER",
    "name:contains:étu",
    "name:is:étude 1",
    "name:is_not:etude 0",
    "name:contains::",
    "name:is:über 1",
    "name:is_not:zebra 0",
    "type:is:codebase",
    "type:is_not:raw_data",
    "domain:is:finance",
    "domain:is_not:legal",
    "domain:is:no-such-field",
    "domain:is:finance,legal",
    "domain:is_not:finance,legal",
    "domain:is_not:legal,finance",
    "channel:is:not_linked",
    "channel:is_not:zip",
    "exclusivity:is:available",
    "exclusivity:is_not:available",
    "private_data:is:true",
    "private_data:is_not:true",
];

pub(super) const COLUMNS: [&str; 16] = [
    "name",
    "type",
    "domain",
    "stage",
    "channel",
    "created_at",
    "price",
    "estimate",
    "exclusivity",
    "private_data",
    "lines_of_code",
    "commits",
    "contributors",
    "merged_prs",
    "history_start",
    "ci_on_prs",
];

/// Returns a market with random assets of every kind, some of them on a draft listing, and the model of each
/// asset in insertion order.
pub(super) fn random_market(count: usize) -> (TestMarket, Vec<ModelAsset>) {
    let mut random = Random::new(11);
    let assets: Vec<ModelAsset> = (0..count).map(|n| ModelAsset::random(&mut random, n)).collect();
    let records: Vec<Value> = assets.iter().enumerate().map(|(n, asset)| asset.record(n)).collect();
    let listed: Vec<String> = assets
        .iter()
        .enumerate()
        .filter(|(_, asset)| asset.is_listed)
        .map(|(n, _)| format!("a{n}"))
        .collect();
    let groups: Vec<Value> = GROUPS[1..]
        .iter()
        .map(|(key, name)| json!({"key": key, "team": "seller", "name": name, "created_at": "-P50D"}))
        .collect();
    let estimations: Vec<Value> = (0..count)
        .map(|n| {
            json!({"key": format!("e{n}"), "team": "seller", "sku": assets[n].kind, "channel": "github", "repo_full_name": "acme/x",
                "name": "X", "status": "estimated", "created_at": "-P2D", "completed_at": "-P1D", "created_by": "Ada",
                "measured": {"lines_of_code": 90_000, "commits": 400, "contributors": 3, "languages": {"rust": 9_000}},
                "asset": format!("a{n}")})
        })
        .collect();
    let market = market_with(&json!({
        "estimations": estimations,
        "groups": groups,
        "assets": records,
        "listings": [{"key": "draft", "team": "seller", "title": "Draft", "description": "D", "price_usd": 5,
            "created_at": "-P9D", "assets": listed}],
    }));
    (market, assets)
}

/// Returns the assets that the model expects in a list, in order. `sort` is the column and whether to sort in
/// descending order; without it, the newest assets come first.
pub(super) fn expected_assets<'k>(
    assets: &'k [ModelAsset],
    is_match: impl Fn(&ModelAsset) -> bool,
    sort: Option<(&str, bool)>,
) -> Vec<&'k ModelAsset> {
    let mut found: Vec<(usize, &ModelAsset)> =
        assets.iter().enumerate().filter(|(_, asset)| is_match(asset)).collect();
    found.sort_by(|(a, left), (b, right)| {
        let newest = left.age_days.cmp(&right.age_days).then(b.cmp(a));
        let Some((column, is_descending)) = sort else { return newest };
        match (left.sort_key(column), right.sort_key(column)) {
            (Some(left), Some(right)) if is_descending => right.cmp(&left).then(newest),
            (Some(left), Some(right)) => left.cmp(&right).then(newest),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => newest,
        }
    });
    found.into_iter().map(|(_, asset)| asset).collect()
}
