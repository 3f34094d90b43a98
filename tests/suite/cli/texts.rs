//! Every text has one rule for all sources: the APIs, fixture sets, and the command line.

use marketplace::{
    clock::fixture_record_id,
    domain::texts::{self, Lines, TextRule},
    fixtures::{self, FixtureSet},
};
use serde_json::{Value, json};

use super::{run, temp_dir};
use crate::{catalog::small_market::small_market_with, harness::TestMarket};

/// A value, whether one line may be it, and whether several lines may. Lengths are checked besides.
type Sample = (String, bool, bool);

fn samples() -> Vec<Sample> {
    let valid = [
        "plain",
        "é",
        "e\u{301}",
        "日本語",
        "🦀",
        "👨\u{200d}👩\u{200d}👧",
        "\u{200b}x",
        "\u{200e}x",
        "\u{feff}x",
        "a\u{ad}b",
        "a\u{2028}b",
        "<script>alert(1)</script>",
        "'; DROP TABLE teams; --",
        "{{7*7}}",
        "%00",
        "\\u0000",
        "--help",
    ];
    let only_lines = ["a\nb", "a\r\nb", "a\rb", "a\tb"];
    let invalid = [
        "a\u{0}b",
        "a\u{7}b",
        "a\u{b}b",
        "a\u{c}b",
        "a\u{1b}[31mb",
        "a\u{7f}b",
        "a\u{85}b",
        "a\u{9b}b",
        "a\u{202a}b",
        "a\u{202b}b",
        "a\u{202d}b",
        "a\u{202e}b",
        "a\u{2066}b",
        "a\u{2067}b",
        "a\u{2069}b",
    ];
    let blank = ["", " ", "\u{3000}"];
    let numbered = |texts: &[&str], one, many| -> Vec<Sample> {
        // Names are unique.
        texts.iter().enumerate().map(|(index, text)| (format!("{text} {index}"), one, many)).collect()
    };
    let long = [120, 121, 200, 201, 500, 501, 2_001, 20_001].map(|length| ("x".repeat(length), true, true));
    let mut all = numbered(&valid, true, true);
    all.extend(numbered(&only_lines, false, true));
    all.extend(numbered(&invalid, false, false));
    all.extend(blank.map(|text| (text.to_owned(), false, true)));
    all.extend(long);
    assert!(all.len() >= 40);
    all
}

/// A field that an API and fixture sets have.
struct Field {
    /// The collection of its records, and its name in them.
    name: (&'static str, &'static str),
    rule: TextRule,
    /// The key, the path, and the body of the request that sets it.
    request: fn(&str, usize) -> (&'static str, &'static str, Value),
    /// The record that has it.
    record: fn(&str, usize) -> Value,
}

fn team_id(key: &str) -> String {
    fixture_record_id("teams", key).to_string()
}

/// Adds the fields that all records have.
fn record(index: usize, fields: Value) -> Value {
    let mut record = fields;
    record["key"] = json!(format!("record-{index}"));
    record["created_at"] = json!("-P1D");
    record
}

fn opportunity_record(index: usize, field: &str, value: Value) -> Value {
    let mut fields = json!({"owner": "buyer", "title": "T", "description": "", "status": "draft",
        "visibility_mode": "all_vendors", "metadata": {}});
    match field {
        "title" | "description" => fields[field] = value,
        _ => fields["metadata"][field] = value,
    }
    record(index, fields)
}

fn listing_record(index: usize, field: &str, value: &str) -> Value {
    let mut fields = json!({"team": "seller", "title": "T"});
    fields[field] = json!(value);
    record(index, fields)
}

fn raw_data_record(index: usize, field: &str, value: &str) -> Value {
    let mut fields = json!({"team": "seller", "sku": "raw_data", "title": "T", "raw_data": {}});
    fields[field] = json!(value);
    record(index, fields)
}

#[allow(clippy::too_many_lines)] // The function is a table.
fn fields() -> Vec<Field> {
    const OP: &str = "mkt_test_operator";
    const LISTINGS: &str = "/operator/v1/listings";
    const OPPORTUNITIES: &str = "/operator/v1/opportunities";
    const RAW_DATA: &str = "/v2/raw-data";
    vec![
        Field {
            name: ("teams", "name"),
            rule: texts::TEAM_NAME,
            request: |text, _| (OP, "/operator/v1/teams", json!({"name": text, "roles": []})),
            record: |text, index| record(index, json!({"name": text, "tier": 1})),
        },
        Field {
            name: ("keys", "name"),
            rule: texts::KEY_NAME,
            request: |text, _| (OP, "/operator/v1/keys", json!({"team_id": team_id("seller"), "name": text})),
            record: |text, index| {
                let secret = format!("mkt_secret_{index}");
                record(index, json!({"team": "seller", "name": text, "secret": secret}))
            },
        },
        Field {
            name: ("groups", "name"),
            rule: texts::GROUP_NAME,
            request: |text, _| ("mkt_seller", "/v2/asset-groups", json!({"name": text})),
            record: |text, index| record(index, json!({"team": "seller", "name": text})),
        },
        Field {
            name: ("tasksets", "name"),
            rule: texts::NAME,
            request: |text, _| {
                (OP, "/operator/v1/tasksets", json!({"team_id": team_id("seller"), "name": text}))
            },
            record: |text, index| record(index, json!({"team": "seller", "name": text})),
        },
        Field {
            name: ("domains", "label"),
            rule: texts::LABEL,
            request: |text, index| {
                (OP, "/operator/v1/domains", json!({"slug": format!("domain-{index}"), "label": text}))
            },
            record: |text, index| json!({"slug": format!("domain-{index}"), "label": text}),
        },
        Field {
            name: ("assets", "title"),
            rule: texts::TITLE,
            request: |text, _| {
                let body =
                    json!({"title": text, "description": "D", "domain_tags": ["finance"], "price_usd": 1});
                ("mkt_seller", RAW_DATA, body)
            },
            record: |text, index| raw_data_record(index, "title", text),
        },
        Field {
            name: ("assets", "notes"),
            rule: texts::DESCRIPTION,
            request: |text, index| {
                let body = json!({"title": format!("T {index}"), "description": "D", "domain_tags": ["finance"], "price_usd": 1,
                    "notes": text});
                ("mkt_seller", RAW_DATA, body)
            },
            record: |text, index| raw_data_record(index, "notes", text),
        },
        Field {
            name: ("listings", "title"),
            rule: texts::TITLE,
            request: |text, _| (OP, LISTINGS, json!({"team_id": team_id("seller"), "title": text})),
            record: |text, index| listing_record(index, "title", text),
        },
        Field {
            name: ("listings", "description"),
            rule: texts::DESCRIPTION,
            request: |text, _| {
                (OP, LISTINGS, json!({"team_id": team_id("seller"), "title": "T", "description": text}))
            },
            record: |text, index| listing_record(index, "description", text),
        },
        Field {
            name: ("listings", "terms"),
            rule: texts::DESCRIPTION,
            request: |text, _| {
                (OP, LISTINGS, json!({"team_id": team_id("seller"), "title": "T", "terms": text}))
            },
            record: |text, index| listing_record(index, "terms", text),
        },
        Field {
            name: ("opportunities", "title"),
            rule: texts::TITLE,
            request: |text, _| (OP, OPPORTUNITIES, json!({"team_id": team_id("buyer"), "title": text})),
            record: |text, index| opportunity_record(index, "title", json!(text)),
        },
        Field {
            name: ("opportunities", "description"),
            rule: texts::DESCRIPTION,
            request: |text, _| {
                (OP, OPPORTUNITIES, json!({"team_id": team_id("buyer"), "title": "T", "description": text}))
            },
            record: |text, index| opportunity_record(index, "description", json!(text)),
        },
        Field {
            name: ("opportunities", "metadata.overview"),
            rule: texts::OVERVIEW,
            request: |text, _| {
                (OP, OPPORTUNITIES, json!({"team_id": team_id("buyer"), "title": "T", "overview": text}))
            },
            record: |text, index| opportunity_record(index, "overview", json!(text)),
        },
        Field {
            name: ("opportunities", "metadata.tags[0]"),
            rule: texts::FREE_TAG,
            request: |text, _| {
                (OP, OPPORTUNITIES, json!({"team_id": team_id("buyer"), "title": "T", "tags": [text]}))
            },
            record: |text, index| opportunity_record(index, "tags", json!([text])),
        },
        Field {
            name: ("ledger_entries", "description"),
            rule: texts::NOTE,
            request: |text, _| {
                let body = json!({"team_id": team_id("buyer"), "amount": "1.00", "currency": "USD",
                    "description": text});
                (OP, "/operator/v1/adjustments", body)
            },
            record: |text, index| {
                record(
                    index,
                    json!({"team": "buyer", "entry_type": "adjustment", "amount_usd": 1, "description": text}),
                )
            },
        },
    ]
}

fn is_valid(rule: TextRule, (text, is_line, is_text): &Sample) -> bool {
    let is_allowed = if rule.lines == Lines::One { *is_line } else { *is_text };
    let is_visible = !rule.has_visible_ends || !text.starts_with(['\u{200b}', '\u{200e}', '\u{feff}']);
    text.chars().count() <= rule.max && is_allowed && is_visible && (rule.min == 0 || !text.trim().is_empty())
}

/// Seeds one record. Returns the error.
fn seed(market: &TestMarket, collection: &str, record: &Value) -> Result<(), String> {
    let contents = json!({collection: [record]}).to_string();
    let set =
        FixtureSet::parse("set", &[("set.json".to_owned(), contents)]).map_err(|error| error.to_string())?;
    fixtures::seed(market.market(), &set).map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
async fn texts_have_one_rule_whatever_the_way_in() {
    let operator = json!({"operator_keys":
        [{"key": "op", "name": "tests", "secret": "mkt_test_operator", "created_at": "-P99D"}]});
    for field in fields() {
        let (by_api, by_set) = (small_market_with(&[], &operator), small_market_with(&[], &operator));
        let (collection, name) = field.name;
        for (index, sample) in samples().iter().enumerate() {
            let (text, expected) = (&sample.0, is_valid(field.rule, sample));
            let excerpt: String = text.chars().take(40).collect();
            let (key, path, body) = (field.request)(text, index);
            let response = by_api.call(key, "POST", path, &body).await;
            let status = response.status;
            assert_eq!(status < 300, expected, "{collection}.{name} = {excerpt:?}: {status}");
            assert!(expected || status == 422, "{collection}.{name} = {excerpt:?}: {status}");
            let seeded = seed(&by_set, collection, &(field.record)(text, index));
            assert_eq!(seeded.is_ok(), expected, "{collection}.{name} = {excerpt:?}: {seeded:?}");
            if let Err(error) = seeded {
                assert!(error.contains(&format!(": {name}: ")), "{collection}.{name} = {excerpt:?}: {error}");
            }
        }
    }
}

/// Commands are clients of the operator API, so they share its rules.
#[test]
fn commands_refuse_the_same_texts() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    assert!(run(&["team", "create", "Acme"], directory).status.success());
    for sample in samples() {
        // An argument has no null character.
        if sample.0.contains('\0') {
            continue;
        }
        let name = &*sample.0;
        let excerpt: String = name.chars().take(40).collect();
        let created = run(&["team", "create", "--", name], directory);
        assert_eq!(created.status.success(), is_valid(texts::TEAM_NAME, &sample), "team {excerpt:?}");
        let created = run(&["key", "create", "Acme", &format!("--name={name}")], directory);
        assert_eq!(created.status.success(), is_valid(texts::KEY_NAME, &sample), "key {excerpt:?}");
    }
}
