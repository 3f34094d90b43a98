//! A simple, slow model of the catalog that tests each listing of a fixture set against a query. It is
//! written from the interface only and works on the JSON records, without any type of the program.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use marketplace::clock::fixture_record_id;
use serde_json::{Value, json};
use uuid::Uuid;

use super::generated::VENDORS;

/// Names and values of the query parameters, in order.
pub type QueryParameters = Vec<(&'static str, String)>;

/// Properties of a listing that filters and sort orders use.
#[derive(Clone, Debug)]
pub struct ListingFacts {
    /// ID of the listing.
    pub id: Uuid,
    /// Fixture key of the team.
    pub team: String,
    /// Time of publication in seconds relative to the start of the test clock; `None` if it is not published.
    pub published: Option<i64>,
    /// Whether the listing can be published: it is approved and not archived.
    pub may_publish: bool,
    position: usize,
    featured: Option<u64>,
    certified: bool,
    has_active_bids: bool,
    price: Option<f64>,
    sample_price: Option<f64>,
    tier: u64,
    tasks: u64,
    tasksets: BTreeSet<String>,
    loc: u64,
    zip_files: u64,
    zip_bytes: u64,
    kinds: BTreeMap<String, u64>,
    language_bytes: BTreeMap<String, u64>,
    labels: BTreeMap<&'static str, BTreeSet<String>>,
    texts: [Vec<String>; 2],
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn find<'a>(set: &'a Value, collection: &str, key: &str) -> &'a Value {
    set[collection].as_array().unwrap().iter().find(|record| record["key"] == key).unwrap()
}

fn words(text: &Value) -> Vec<String> {
    let text = text.as_str().unwrap_or_default().to_lowercase();
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the properties of all listings of a fixture set.
pub fn listing_facts(set: &Value) -> Vec<ListingFacts> {
    let listings = set["listings"].as_array().unwrap().iter().enumerate();
    listings.map(|(index, listing)| ListingFacts::from_record(set, index, listing)).collect()
}

impl ListingFacts {
    fn from_record(set: &Value, index: usize, listing: &Value) -> ListingFacts {
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
        let mut facts = ListingFacts {
            id: fixture_record_id("listings", key),
            team: team.to_owned(),
            published,
            may_publish,
            position: index,
            featured: listing["featured"].as_u64(),
            certified: about("quality_runs").iter().any(|run| run["checks"][0]["status"] == "passed"),
            has_active_bids: about("offers").iter().any(|offer| offer["status"] == "submitted"),
            price: listing["price_usd"].as_f64(),
            sample_price: listing["sample_price_usd"].as_f64(),
            tier: VENDORS.iter().find(|(vendor, _)| *vendor == team).unwrap().1.into(),
            tasks: 0,
            tasksets: BTreeSet::new(),
            loc: 0,
            zip_files: 0,
            zip_bytes: 0,
            kinds: BTreeMap::new(),
            language_bytes: BTreeMap::new(),
            labels: BTreeMap::new(),
            texts: [words(&listing["title"]), words(&listing["description"])],
        };
        facts.add_labels("tags", strings(&listing["domain_tags"]));
        facts.add_labels("tag_slugs", strings(&listing["tag_slugs"]));
        for asset in strings(&listing["assets"]) {
            facts.add_asset(set, find(set, "assets", asset));
        }
        facts
    }

    fn add_labels<'a>(&mut self, facet: &'static str, values: impl Iterator<Item = &'a str>) {
        self.labels.entry(facet).or_default().extend(values.map(str::to_owned));
    }

    fn add_asset(&mut self, set: &Value, asset: &Value) {
        let kind = asset["sku"].as_str().unwrap();
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
        self.add_labels("asset_types", [kind].into_iter());
        let code = &asset["codebase"];
        self.loc += code["lines_of_code"].as_u64().unwrap_or(0);
        for (language, bytes) in code["languages"].as_object().into_iter().flatten() {
            *self.language_bytes.entry(language.clone()).or_default() += bytes.as_u64().unwrap();
            self.add_labels("languages", [language.as_str()].into_iter());
        }
        let raw = &asset["raw_data"];
        self.zip_files += raw["file_count"].as_u64().unwrap_or(0);
        self.zip_bytes += raw["data"]["archive_bytes"].as_u64().unwrap_or(0);
        self.add_labels("file_extensions", strings(&raw["file_extensions"]));
        self.add_labels("capabilities", strings(&asset["environment"]["capabilities"]));
        self.add_labels("robotics_formats", strings(&asset["robotics_dataset"]["formats"]));
        for taskset in asset["taskset"].as_str().into_iter().chain(strings(&asset["bundle"])) {
            let tasks = find(set, "tasksets", taskset)["tasks"].as_array().unwrap();
            if !self.tasksets.insert(taskset.to_owned()) {
                continue;
            }
            self.tasks += tasks.iter().filter(|task| task["deleted_at"].is_null()).count() as u64;
        }
    }

    fn count_of_kinds(&self, kinds: &[&str]) -> f64 {
        kinds.iter().filter_map(|kind| self.kinds.get(*kind)).sum::<u64>() as f64
    }

    /// Returns the value that a pair of `min_` and `max_` parameters limits; `None` if the listing has none.
    fn range_value(&self, bounded: &str) -> Option<f64> {
        Some(match bounded {
            "price" => self.price?,
            "sample_price" => self.sample_price?,
            "price_per_task" if self.tasks == 0 => return None,
            "price_per_task" => self.price? / self.tasks as f64,
            "vendor_tier" => self.tier as f64,
            "tasks" => self.tasks as f64,
            "loc" => self.loc as f64,
            "zip_files" => self.zip_files as f64,
            "zip_size_gb" => self.zip_bytes as f64 / 1e9,
            "codebases" => self.count_of_kinds(&["codebase"]),
            "tasksets" => self.count_of_kinds(&["taskset", "bundle"]),
            "environments" => self.count_of_kinds(&["environment"]),
            "robotics_datasets" => self.count_of_kinds(&["robotics_dataset"]),
            "raw_data" => self.count_of_kinds(&["raw_data"]),
            other => panic!("unknown range filter: {other}"),
        })
    }

    fn has_rare_languages(&self) -> bool {
        let total: u64 = self.language_bytes.values().sum();
        let common = ["javascript", "typescript", "python"];
        let common: u64 = common.iter().filter_map(|language| self.language_bytes.get(*language)).sum();
        total > 0 && common * 10 <= total * 4
    }

    /// Whether the listing matches one parameter, given all values that were sent of it.
    fn matches(&self, viewer: &str, name: &str, values: &[&str]) -> bool {
        let is_on = values[0] == "true";
        match name {
            "owned" => !is_on || self.team == viewer,
            "verified_only" => !is_on || self.certified,
            "has_active_bids" => !is_on || self.has_active_bids,
            "rare_languages_only" => !is_on || self.has_rare_languages(),
            "sample_available" => self.sample_price.is_some() == is_on,
            "vendor_tiers" => values.iter().any(|tier| *tier == self.tier.to_string()),
            "query" => self.matches_text(values[0]),
            _ => match (name.strip_prefix("min_"), name.strip_prefix("max_")) {
                (Some(of), _) => {
                    self.range_value(of).is_some_and(|number| number >= values[0].parse().unwrap())
                }
                (_, Some(of)) => {
                    self.range_value(of).is_some_and(|number| number <= values[0].parse().unwrap())
                }
                _ => self
                    .labels
                    .get(name)
                    .is_some_and(|labels| values.iter().any(|value| labels.contains(*value))),
            },
        }
    }

    /// Whether the title or the description contains the words. The last word may be a prefix; quoted words
    /// must be adjacent.
    fn matches_text(&self, query: &str) -> bool {
        if let Some(phrase) = query.strip_prefix('"') {
            let phrase: Vec<&str> = phrase.trim_end_matches('"').split(' ').collect();
            return self.texts.iter().any(|text| text.windows(phrase.len()).any(|words| words == phrase));
        }
        let mut query_words: Vec<&str> = query.split_whitespace().collect();
        let Some(last) = query_words.pop() else { return true };
        let all = || self.texts.iter().flatten();
        query_words.iter().all(|word| all().any(|word_of_text| word_of_text == word))
            && all().any(|word_of_text| word_of_text.starts_with(last))
    }
}

/// Whether a parameter filters at all: flags that are off and blank texts do not.
fn is_filter(name: &str, value: &str) -> bool {
    let is_flag = ["owned", "verified_only", "has_active_bids", "rare_languages_only"].contains(&name);
    let is_off = is_flag && value == "false" || name == "query" && value.trim().is_empty();
    name != "sort" && !is_off
}

/// Returns the listings that a query matches, in order.
pub fn matching_listings<'a>(
    listings: &'a [ListingFacts],
    viewer: &str,
    query: &QueryParameters,
) -> Vec<&'a ListingFacts> {
    let mut values_by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in query.iter().filter(|(name, value)| is_filter(name, value)) {
        values_by_name.entry(name).or_default().push(value);
    }
    let matching = listings.iter().filter(|listing| listing.published.is_some());
    let mut found: Vec<&ListingFacts> = matching
        .filter(|listing| values_by_name.iter().all(|(name, values)| listing.matches(viewer, name, values)))
        .collect();
    let sort = query.iter().find(|(name, _)| *name == "sort").map_or("recommended", |(_, sort)| sort);
    found.sort_by_key(|listing| {
        let cents = listing.price.map(|price| (price * 100.0).round() as i64);
        let lead = match sort {
            "recommended" if values_by_name.is_empty() => {
                (i128::from(listing.featured.unwrap_or(u64::MAX)), !listing.certified)
            }
            "recommended" => (0, !listing.certified),
            "price_low" => (cents.map_or(i128::MAX, i128::from), false),
            "price_high" => (cents.map_or(i128::MAX, |cents| -i128::from(cents)), false),
            _ => (0, false),
        };
        (lead, Reverse(listing.published), Reverse(listing.position))
    });
    found
}

/// Returns the facets of a query: of all published listings, or of those that match the search text.
pub fn facets(listings: &[ListingFacts], viewer: &str, query: &QueryParameters) -> Value {
    let text: QueryParameters = query.iter().filter(|(name, _)| *name == "query").cloned().collect();
    let mut facets = json!({
        "tags": {}, "asset_types": {}, "capabilities": {}, "file_extensions": {}, "languages": {},
        "lifecycle_stages": {}, "robotics_formats": {}, "tag_slugs": {},
    });
    let mut add = |facet: &str, value: &str| {
        let count = facets[facet][value].as_u64().unwrap_or(0);
        facets[facet][value] = json!(count + 1);
    };
    for listing in matching_listings(listings, viewer, &text) {
        add("lifecycle_stages", "active");
        for (facet, values) in &listing.labels {
            for value in values {
                add(facet, value);
            }
        }
    }
    facets
}
