//! The demo fixture set as its JSON files have it, so that tests know the market without asking the program.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use marketplace::clock::fixture_record_id;
use serde_json::Value;
use uuid::Uuid;

/// Records as written in the files, by collection.
pub struct Records(BTreeMap<String, Vec<Value>>);

/// Returns the records of the demo set.
pub fn demo_records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/demo");
        let mut collections: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let Value::Object(file) = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
            else {
                panic!("{} is not a JSON object", path.display());
            };
            for (collection, records) in file {
                if let Value::Array(records) = records {
                    collections.entry(collection).or_default().extend(records);
                }
            }
        }
        Records(collections)
    })
}

impl Records {
    /// Returns the records of a collection; empty if there is no such collection.
    pub fn collection(&self, collection: &str) -> &[Value] {
        self.0.get(collection).map_or(&[], Vec::as_slice)
    }

    /// Returns the record with this key.
    pub fn find(&self, collection: &str, key: &str) -> &Value {
        self.collection(collection)
            .iter()
            .find(|record| record["key"] == key)
            .expect("a record with this key")
    }

    /// Returns the key of the team that an API key belongs to.
    pub fn team_of(&self, secret: &str) -> &str {
        let key = self
            .collection("keys")
            .iter()
            .find(|key| key["secret"] == secret)
            .expect("a key with this secret");
        key["team"].as_str().unwrap()
    }

    /// Whether a team is only a vendor and has too few published listings to browse the catalog.
    pub fn is_locked(&self, team: &str) -> bool {
        let roles = &self.find("teams", team)["roles"];
        let published = self
            .collection("listings")
            .iter()
            .filter(|listing| listing["team"] == team && is_published(listing));
        *roles == serde_json::json!(["vendor"]) && published.count() < 3
    }

    /// Returns the kinds of a team's completed purchases of a listing; empty if it has not bought it.
    pub fn purchase_kinds(&self, team: &str, listing: &str) -> BTreeSet<&str> {
        let purchases = self.collection("purchases").iter().filter(|purchase| {
            purchase["buyer"] == team && purchase["listing"] == listing && purchase["status"] == "completed"
        });
        purchases.map(|purchase| purchase["kind"].as_str().unwrap()).collect()
    }

    /// Returns the kinds of a listing's assets, in order.
    pub fn asset_kinds(&self, listing: &Value) -> Vec<&str> {
        texts(&listing["assets"]).map(|key| self.find("assets", key)["sku"].as_str().unwrap()).collect()
    }

    /// Returns the keys of the tasksets on a listing, including those in bundles, without duplicates.
    pub fn taskset_keys(&self, listing: &Value) -> Vec<&str> {
        let mut found = Vec::new();
        for key in texts(&listing["assets"]) {
            let asset = self.find("assets", key);
            for taskset in asset["taskset"].as_str().into_iter().chain(texts(&asset["bundle"])) {
                if !found.contains(&taskset) {
                    found.push(taskset);
                }
            }
        }
        found
    }
}

/// Returns the key of a record.
pub fn key(record: &Value) -> &str {
    record["key"].as_str().unwrap()
}

/// Returns the ID of a record.
pub fn id(collection: &str, record: &Value) -> Uuid {
    record["id"].as_str().map_or_else(|| fixture_record_id(collection, key(record)), |id| id.parse().unwrap())
}

/// Returns the strings in an array; none if the value is not an array.
pub fn texts(array: &Value) -> impl Iterator<Item = &str> {
    array.as_array().into_iter().flatten().map(|text| text.as_str().unwrap())
}

/// Whether a listing is published after the last event of its history.
pub fn is_published(listing: &Value) -> bool {
    stage(listing) == "active"
}

/// Returns the lifecycle stage of a listing after the last event of its history.
pub fn stage(listing: &Value) -> &'static str {
    let (mut review, mut catalog) = ("draft", "unpublished");
    for entry in listing["history"].as_array().into_iter().flatten() {
        match entry["event"].as_str().unwrap() {
            "submitted" => review = "review",
            "approved" => review = "ready",
            "withdrawn" | "changes_requested" | "rejected" => review = "draft",
            "published" => catalog = "active",
            "archived" => catalog = "archived",
            "unpublished" | "restored" => catalog = "unpublished",
            _ => {}
        }
    }
    if catalog == "unpublished" { review } else { catalog }
}

/// Returns the facts about a market without the free bytes of the disk, which other programs change.
pub fn without_free_space(mut market: Value) -> Value {
    market.as_object_mut().unwrap().remove("disk_free_bytes").unwrap();
    market
}
