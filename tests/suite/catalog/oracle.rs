//! The catalog worked out the slow way: every listing of a fixture set is asked whether it matches. Written from the
//! interface alone, on the records, without a type of the program.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use marketplace::clock::record_id;
use serde_json::{Value, json};
use uuid::Uuid;

use super::generated::VENDORS;

/// What a query has: names and values, as they stand behind the question mark.
pub type Pairs = Vec<(&'static str, String)>;

/// What a listing has that filters and sorts ask for.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Its id.
    pub id: Uuid,
    /// Its team's key.
    pub team: String,
    /// The second of its publication, seen from the seed's clock; nothing while it is not published.
    pub published: Option<i64>,
    /// Whether it can be published: it was approved and is not archived.
    pub may_publish: bool,
    place: usize,
    featured: Option<u64>,
    certified: bool,
    bids: bool,
    price: Option<f64>,
    sample: Option<f64>,
    tier: u64,
    tasks: u64,
    loc: u64,
    zip_files: u64,
    zip_bytes: u64,
    kinds: BTreeMap<String, u64>,
    language_bytes: BTreeMap<String, u64>,
    labels: BTreeMap<&'static str, BTreeSet<String>>,
    texts: [Vec<String>; 2],
}

fn list(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn find<'a>(set: &'a Value, collection: &str, key: &str) -> &'a Value {
    set[collection].as_array().unwrap().iter().find(|record| record["key"] == key).unwrap()
}

fn words(text: &Value) -> Vec<String> {
    let text = text.as_str().unwrap_or_default().to_lowercase();
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Everything that the listings of a set have.
pub fn facts(set: &Value) -> Vec<Facts> {
    let listings = set["listings"].as_array().unwrap().iter().enumerate();
    listings.map(|(place, listing)| Facts::of(set, place, listing)).collect()
}

impl Facts {
    fn of(set: &Value, place: usize, listing: &Value) -> Facts {
        let team = listing["team"].as_str().unwrap();
        let key = listing["key"].as_str().unwrap();
        let none = Vec::new();
        let about = |collection: &str| {
            let records = set[collection].as_array().unwrap_or(&none).iter();
            records.filter(|record| record["listing"] == key).collect::<Vec<_>>()
        };
        let (mut published, mut may_publish) = (None, false);
        for entry in listing["history"].as_array().into_iter().flatten() {
            let days: i64 = entry["at"].as_str().unwrap().trim_matches(['-', 'P', 'D']).parse().unwrap();
            match entry["event"].as_str().unwrap() {
                "approved" => may_publish = true,
                "published" => published = Some(-days * 86_400),
                "archived" => (published, may_publish) = (None, false),
                "unpublished" => published = None,
                _ => {}
            }
        }
        let mut facts = Facts {
            id: record_id("listings", key),
            team: team.to_owned(),
            published,
            may_publish,
            place,
            featured: listing["featured"].as_u64(),
            certified: about("quality_runs").iter().any(|run| run["checks"][0]["status"] == "passed"),
            bids: about("offers").iter().any(|offer| offer["status"] == "submitted"),
            price: listing["price_usd"].as_f64(),
            sample: listing["sample_price_usd"].as_f64(),
            tier: VENDORS.iter().find(|(vendor, _)| *vendor == team).unwrap().1.into(),
            tasks: 0,
            loc: 0,
            zip_files: 0,
            zip_bytes: 0,
            kinds: BTreeMap::new(),
            language_bytes: BTreeMap::new(),
            labels: BTreeMap::new(),
            texts: [words(&listing["title"]), words(&listing["description"])],
        };
        facts.label("tags", list(&listing["domain_tags"]));
        facts.label("tag_slugs", list(&listing["tag_slugs"]));
        for asset in list(&listing["assets"]) {
            facts.attach(set, find(set, "assets", asset));
        }
        facts
    }

    fn label<'a>(&mut self, facet: &'static str, values: impl Iterator<Item = &'a str>) {
        self.labels.entry(facet).or_default().extend(values.map(str::to_owned));
    }

    fn attach(&mut self, set: &Value, asset: &Value) {
        let kind = asset["sku"].as_str().unwrap();
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
        self.label("asset_types", [kind].into_iter());
        let code = &asset["codebase"];
        self.loc += code["lines_of_code"].as_u64().unwrap_or(0);
        for (language, bytes) in code["languages"].as_object().into_iter().flatten() {
            *self.language_bytes.entry(language.clone()).or_default() += bytes.as_u64().unwrap();
            self.label("languages", [language.as_str()].into_iter());
        }
        let raw = &asset["raw_data"];
        self.zip_files += raw["file_count"].as_u64().unwrap_or(0);
        self.zip_bytes += raw["data"]["archive_bytes"].as_u64().unwrap_or(0);
        self.label("file_extensions", list(&raw["file_extensions"]));
        self.label("capabilities", list(&asset["environment"]["capabilities"]));
        self.label("robotics_formats", list(&asset["robotics_dataset"]["formats"]));
        for taskset in asset["taskset"].as_str().into_iter().chain(list(&asset["bundle"])) {
            let tasks = find(set, "tasksets", taskset)["tasks"].as_array().unwrap();
            self.tasks += tasks.iter().filter(|task| task["deleted_at"].is_null()).count() as u64;
        }
    }

    fn count(&self, kinds: &[&str]) -> f64 {
        kinds.iter().filter_map(|kind| self.kinds.get(*kind)).sum::<u64>() as f64
    }

    /// The number that a pair of bounds is about; nothing where the listing has none.
    fn number(&self, bounded: &str) -> Option<f64> {
        Some(match bounded {
            "price" => self.price?,
            "sample_price" => self.sample?,
            "price_per_task" if self.tasks == 0 => return None,
            "price_per_task" => self.price? / self.tasks as f64,
            "vendor_tier" => self.tier as f64,
            "tasks" => self.tasks as f64,
            "loc" => self.loc as f64,
            "zip_files" => self.zip_files as f64,
            "zip_size_gb" => self.zip_bytes as f64 / 1e9,
            "codebases" => self.count(&["codebase"]),
            "tasksets" => self.count(&["taskset", "bundle"]),
            "environments" => self.count(&["environment"]),
            "robotics_datasets" => self.count(&["robotics_dataset"]),
            "raw_data" => self.count(&["raw_data"]),
            other => panic!("no bounds of {other} are known"),
        })
    }

    fn is_rare(&self) -> bool {
        let total: u64 = self.language_bytes.values().sum();
        let common = ["javascript", "typescript", "python"];
        let common: u64 = common.iter().filter_map(|language| self.language_bytes.get(*language)).sum();
        total > 0 && common * 10 <= total * 4
    }

    /// Whether the listing has what one parameter asks for, given all values that were sent of it.
    fn has(&self, viewer: &str, name: &str, values: &[&str]) -> bool {
        let is_on = values[0] == "true";
        match name {
            "owned" => !is_on || self.team == viewer,
            "verified_only" => !is_on || self.certified,
            "has_active_bids" => !is_on || self.bids,
            "rare_languages_only" => !is_on || self.is_rare(),
            "sample_available" => self.sample.is_some() == is_on,
            "vendor_tiers" => values.iter().any(|tier| *tier == self.tier.to_string()),
            "query" => self.says(values[0]),
            _ => match (name.strip_prefix("min_"), name.strip_prefix("max_")) {
                (Some(of), _) => self.number(of).is_some_and(|number| number >= values[0].parse().unwrap()),
                (_, Some(of)) => self.number(of).is_some_and(|number| number <= values[0].parse().unwrap()),
                _ => {
                    self.labels.get(name).is_some_and(|have| values.iter().any(|value| have.contains(*value)))
                }
            },
        }
    }

    /// Whether title or description have the words; the last one may be the beginning of a word, and words in quotes stand
    /// side by side.
    fn says(&self, query: &str) -> bool {
        if let Some(phrase) = query.strip_prefix('"') {
            let phrase: Vec<&str> = phrase.trim_end_matches('"').split(' ').collect();
            return self.texts.iter().any(|text| text.windows(phrase.len()).any(|words| words == phrase));
        }
        let mut asked: Vec<&str> = query.split_whitespace().collect();
        let Some(last) = asked.pop() else { return true };
        let all = || self.texts.iter().flatten();
        asked.iter().all(|word| all().any(|had| had == word)) && all().any(|had| had.starts_with(last))
    }
}

/// Whether a parameter narrows anything: flags that are off do not.
fn narrows(name: &str, value: &str) -> bool {
    let is_flag = ["owned", "verified_only", "has_active_bids", "rare_languages_only"].contains(&name);
    let is_off = is_flag && value == "false" || name == "query" && value.trim().is_empty();
    name != "sort" && !is_off
}

/// What a query finds, in order.
pub fn answer<'a>(listings: &'a [Facts], viewer: &str, query: &Pairs) -> Vec<&'a Facts> {
    let mut asked: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in query.iter().filter(|(name, value)| narrows(name, value)) {
        asked.entry(name).or_default().push(value);
    }
    let matching = listings.iter().filter(|listing| listing.published.is_some());
    let mut found: Vec<&Facts> = matching
        .filter(|listing| asked.iter().all(|(name, values)| listing.has(viewer, name, values)))
        .collect();
    let sort = query.iter().find(|(name, _)| *name == "sort").map_or("recommended", |(_, sort)| sort);
    found.sort_by_key(|listing| {
        let cents = listing.price.map(|price| (price * 100.0).round() as i64);
        let lead = match sort {
            "recommended" if asked.is_empty() => {
                (i128::from(listing.featured.unwrap_or(u64::MAX)), !listing.certified)
            }
            "recommended" => (0, !listing.certified),
            "price_low" => (cents.map_or(i128::MAX, i128::from), false),
            "price_high" => (cents.map_or(i128::MAX, |cents| -i128::from(cents)), false),
            _ => (0, false),
        };
        (lead, Reverse(listing.published), Reverse(listing.place))
    });
    found
}

/// The facets of a query: of every published listing, or of those that match the text.
pub fn facets(listings: &[Facts], viewer: &str, query: &Pairs) -> Value {
    let text: Pairs = query.iter().filter(|(name, _)| *name == "query").cloned().collect();
    let mut facets = json!({
        "tags": {}, "asset_types": {}, "capabilities": {}, "file_extensions": {}, "languages": {},
        "lifecycle_stages": {}, "robotics_formats": {}, "tag_slugs": {},
    });
    let mut add = |facet: &str, value: &str| {
        let count = facets[facet][value].as_u64().unwrap_or(0);
        facets[facet][value] = json!(count + 1);
    };
    for listing in answer(listings, viewer, &text) {
        add("lifecycle_stages", "active");
        for (facet, values) in &listing.labels {
            for value in values {
                add(facet, value);
            }
        }
    }
    facets
}
