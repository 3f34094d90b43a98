//! The demo set as its files have it: what tests may know of the market without asking the program.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use marketplace::clock::record_id;
use serde_json::Value;
use uuid::Uuid;

/// Collections of records, as they are typed.
pub struct Records(BTreeMap<String, Vec<Value>>);

/// The records of the demo set.
pub fn demo_records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/demo");
        let mut collections: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let Value::Object(file) = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
            else {
                panic!("{} holds no object", path.display());
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
    /// The records of a collection.
    pub fn of(&self, collection: &str) -> &[Value] {
        self.0.get(collection).map_or(&[], Vec::as_slice)
    }

    /// The record of this key.
    pub fn find(&self, collection: &str, key: &str) -> &Value {
        self.of(collection).iter().find(|record| record["key"] == key).expect("the record is there")
    }

    /// The team that a key speaks for.
    pub fn team_of(&self, secret: &str) -> &str {
        let key = self.of("keys").iter().find(|key| key["secret"] == secret).expect("the key is there");
        key["team"].as_str().unwrap()
    }

    /// Whether a team only sells and has too few published listings to browse.
    pub fn is_locked(&self, team: &str) -> bool {
        let roles = &self.find("teams", team)["roles"];
        let published =
            self.of("listings").iter().filter(|listing| listing["team"] == team && is_published(listing));
        *roles == serde_json::json!(["vendor"]) && published.count() < 3
    }

    /// Whether a team has a completed purchase of a listing, and of which kinds.
    pub fn bought(&self, team: &str, listing: &str) -> BTreeSet<&str> {
        let purchases = self.of("purchases").iter().filter(|purchase| {
            purchase["buyer"] == team && purchase["listing"] == listing && purchase["status"] == "completed"
        });
        purchases.map(|purchase| purchase["kind"].as_str().unwrap()).collect()
    }

    /// The kinds of a listing's assets, in order.
    pub fn kinds(&self, listing: &Value) -> Vec<&str> {
        texts(&listing["assets"]).map(|key| self.find("assets", key)["sku"].as_str().unwrap()).collect()
    }

    /// The keys of the tasksets on a listing, those in bundles included, each once.
    pub fn tasksets(&self, listing: &Value) -> Vec<&str> {
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

/// The record's key.
pub fn key(record: &Value) -> &str {
    record["key"].as_str().unwrap()
}

/// The id of a record.
pub fn id(collection: &str, record: &Value) -> Uuid {
    record["id"].as_str().map_or_else(|| record_id(collection, key(record)), |id| id.parse().unwrap())
}

/// The texts of an array; none where there is no array.
pub fn texts(array: &Value) -> impl Iterator<Item = &str> {
    array.as_array().into_iter().flatten().map(|text| text.as_str().unwrap())
}

/// Whether a listing's history ends in the catalog.
pub fn is_published(listing: &Value) -> bool {
    stage(listing) == "active"
}

/// The stage of life that a listing's history ends in.
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
