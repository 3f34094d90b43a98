//! Random fixture sets: small markets with few distinct values, so that ties, sums and bounds matter.

use serde_json::{Map, Value, json};

use crate::harness::random::Random;

/// Words to search for. They have no English stems, are not labels, and none is a prefix of another.
pub const WORDS: [&str; 6] = ["zorb", "vimp", "kuxo", "hajt", "qolm", "wyxe"];
/// Domain tags of listings.
pub const DOMAINS: [&str; 4] = ["finance", "legal", "robotics", "gaming"];
/// Inventory tags of listings.
pub const TAGS: [&str; 4] = ["full-history", "tabular", "images", "sample-ready"];
/// Languages of codebases; the first three are common ones.
pub const LANGUAGES: [&str; 6] = ["python", "javascript", "typescript", "rust", "cobol", "ada"];
/// File extensions in raw data.
pub const EXTENSIONS: [&str; 4] = ["csv", "parquet", "pdf", "7z"];
/// Capabilities of environments.
pub const CAPABILITIES: [&str; 3] = ["browser", "terminal", "network"];
/// Formats of robotics datasets.
pub const FORMATS: [&str; 4] = ["lerobot_v3", "lerobot_v2", "ego_exo", "other"];
/// Kinds of assets.
pub const KINDS: [&str; 8] =
    ["codebase", "raw_data", "task", "taskset", "bundle", "environment", "robotics_dataset", "other"];
/// Vendor teams with their tiers; team `two` is a buyer, too.
pub const VENDORS: [(&str, u8); 4] = [("one", 1), ("two", 2), ("three", 3), ("four", 2)];

/// Number of listings in a generated market.
const LISTINGS: usize = 60;

/// Returns the market of a seed as one fixture file. Every event in it is in the past of the test clock.
pub fn generate_market(seed: u64) -> Value {
    let mut random = Random::new(seed);
    let mut set = Map::new();
    let mut add = |collection: &str, record: Value| {
        let records = set.entry(collection).or_insert_with(|| json!([]));
        records.as_array_mut().unwrap().push(record);
    };
    for (team, tier) in VENDORS {
        let roles = if team == "two" { json!(["vendor", "buyer"]) } else { json!(["vendor"]) };
        add("teams", team_record(team, &roles, tier));
        add("keys", key_record(team));
        let credits = json!({"key": team, "team": team, "entry_type": "adjustment", "amount_usd": 9000,
            "description": "Credits to run checks with.", "created_at": "-P300D"});
        add("ledger_entries", credits);
        for number in 0..3 {
            add("tasksets", taskset(&mut random, team, number));
        }
    }
    add("teams", team_record("shopper", &json!(["buyer"]), 1));
    add("keys", key_record("shopper"));
    for number in 0..LISTINGS {
        let (team, _) = *random.pick(&VENDORS);
        let key = format!("listing-{number}");
        let mut assets = Vec::new();
        for index in 0..random.below(5) {
            let asset = asset(&mut random, team, &format!("{key}-{index}"));
            assets.push(asset["key"].clone());
            // A task version can be imported only once, so each task asset gets its own task.
            if asset["sku"] == "task" {
                let task =
                    json!({"key": "t", "name": "Task", "created_at": "-P200D", "versions": [version()]});
                let name = &asset["key"];
                add(
                    "tasksets",
                    json!({"key": name, "team": team, "name": name, "created_at": "-P200D", "tasks": [task]}),
                );
            }
            add("assets", asset);
        }
        let listing = listing(&mut random, team, &key, number, &assets);
        if random.percent(40) && !listing["assets"].as_array().unwrap().is_empty() {
            add("quality_runs", quality_run(&mut random, &key));
        }
        for offer in offers(&mut random, &key, &listing["history"]) {
            add("offers", offer);
        }
        add("listings", listing);
    }
    Value::Object(set)
}

fn team_record(team: &str, roles: &Value, tier: u8) -> Value {
    json!({"key": team, "name": format!("Team {team}"), "roles": roles, "tier": tier, "nda_accepted_at": "-P300D",
        "created_at": "-P300D"})
}

fn key_record(team: &str) -> Value {
    json!({"key": team, "team": team, "name": "tests", "secret": format!("mkt_test_{team}"), "created_at": "-P300D"})
}

fn taskset(random: &mut Random, team: &str, number: usize) -> Value {
    let tasks = (0..random.below(5)).map(|task| {
        let mut record = json!({"key": format!("t{task}"), "name": format!("Task {task}"), "created_at": "-P200D",
            "versions": [version()]});
        if random.percent(25) {
            record["deleted_at"] = json!("-P50D");
        }
        record
    });
    let tasks: Vec<Value> = tasks.collect();
    json!({"key": format!("{team}-{number}"), "team": team, "name": format!("Set {number}"), "created_at": "-P200D",
        "tasks": tasks})
}

fn version() -> Value {
    json!({"created_at": "-P200D", "current_state": "draft", "lifecycle_stage": "accepted"})
}

fn asset(random: &mut Random, team: &str, key: &str) -> Value {
    // More codebases than other kinds: only several of them show whether languages are rare.
    let kind = if random.percent(25) { "codebase" } else { *random.pick(&KINDS) };
    let block = match kind {
        "codebase" => {
            let languages = random.sample(&LANGUAGES, 35);
            let bytes: Map<String, Value> = languages
                .into_iter()
                .map(|language| (language.to_owned(), json!(10 * (1 + random.below(6)))))
                .collect();
            json!({"exclusivity": "available", "lines_of_code": 1000 * random.below(6), "languages": bytes})
        }
        "raw_data" => {
            let mut raw =
                json!({"file_count": random.below(5), "file_extensions": random.sample(&EXTENSIONS, 40)});
            if random.percent(70) {
                raw["data"] = json!({"channel": "zip", "archive_status": "completed", "analysis_status": "completed",
                    "attached_at": "-P30D", "archive_bytes": 100_000_000 * random.below(12)});
            }
            raw
        }
        "task" => json!({"task": format!("{key}/t"), "version": 1, "task_type": "coding"}),
        "taskset" => json!(format!("{team}-{}", random.below(3))),
        "bundle" => {
            let mut sets = random.sample(&["0", "1", "2"], 60);
            if sets.is_empty() {
                sets.push("1");
            }
            sets.into_iter().map(|number| json!(format!("{team}-{number}"))).collect()
        }
        "environment" => {
            json!({"build_version": 1, "capabilities": random.sample(&CAPABILITIES, 50), "task_count": 3})
        }
        "robotics_dataset" => {
            json!({"formats": random.sample(&FORMATS, 40), "episodes": 5, "size_bytes": 5000})
        }
        _ => json!(["maps"]),
    };
    json!({"key": key, "team": team, "sku": kind, "title": format!("Asset {key}"), "created_at": "-P200D", kind: block})
}

fn listing(random: &mut Random, team: &str, key: &str, number: usize, assets: &[Value]) -> Value {
    let words = |random: &mut Random, count: u64| {
        let words: Vec<&str> = (0..random.below(count)).map(|_| *random.pick(&WORDS)).collect();
        words.join(" ")
    };
    let may_publish = !assets.is_empty() && random.percent(90);
    let is_priced = may_publish || random.percent(50);
    let mut record = json!({
        "key": key, "team": team, "title": format!("Listing {number} {}", words(random, 4)),
        "description": format!("About {}.", words(random, 4)), "domain_tags": random.sample(&DOMAINS, 40),
        "tag_slugs": random.sample(&TAGS, 40), "accepts_bids": true, "created_at": "-P150D", "assets": assets,
    });
    if is_priced {
        record["price_usd"] = json!(*random.pick(&[0, 6, 12, 12, 60, 60, 100]));
    }
    if random.percent(50) {
        record["sample_price_usd"] = json!(*random.pick(&[0.0, 0.0, 2.5, 5.0]));
    }
    if random.percent(12) {
        record["featured"] = json!(LISTINGS - number);
    }
    if may_publish {
        // Few different times, so that many listings are published at the same time.
        let (published, early) = (20 + random.below(6), 50 + random.below(9));
        let mut history = vec![
            json!({"event": "submitted", "at": format!("-P{}D", early + 2)}),
            json!({"event": "approved", "at": format!("-P{}D", early + 1)}),
        ];
        if random.percent(80) {
            if random.percent(20) {
                history.push(json!({"event": "published", "at": format!("-P{early}D")}));
                history.push(json!({"event": "unpublished", "at": format!("-P{}D", early - 1)}));
            }
            history.push(json!({"event": "published", "at": format!("-P{published}D")}));
            if random.percent(15) {
                let end = *random.pick(&["unpublished", "archived"]);
                history.push(json!({"event": end, "at": "-P5D"}));
            }
        }
        record["history"] = json!(history);
    }
    record
}

/// Returns the offers on a listing. A buyer has at most one submitted offer on it, and it is in the catalog when the
/// buyer bids.
fn offers(random: &mut Random, listing: &str, history: &Value) -> Vec<Value> {
    let was_published = |event: &Value| event["event"] == "published";
    let Some(history) = history.as_array().filter(|history| history.iter().any(was_published)) else {
        return Vec::new();
    };
    let count = random.below(3);
    let mut offers = Vec::new();
    for bid in 0..count {
        let statuses = ["declined", "withdrawn", "submitted"];
        let is_last = bid + 1 == count && was_published(history.last().unwrap());
        let status = *random.pick(if is_last { &statuses } else { &statuses[..2] });
        let days = 12 - 2 * bid;
        let mut offer = json!({"key": format!("{listing}-{bid}"), "listing": listing, "buyer": "shopper",
            "amount_usd": 7, "status": status, "created_at": format!("-P{days}D")});
        if status != "submitted" {
            offer["decided_at"] = json!(format!("-P{}D", days - 1));
        }
        offers.push(offer);
    }
    offers
}

fn quality_run(random: &mut Random, listing: &str) -> Value {
    let result = *random.pick(&["passed", "passed", "failed"]);
    json!({"key": listing, "listing": listing, "status": "completed", "triggered_by": "platform",
        "started_at": "-P15D", "completed_at": "-P14D",
        "checks": [{"check": "archive_intact", "label": "Archive intact", "kind": "automated", "mandatory": true,
            "status": result}]})
}
