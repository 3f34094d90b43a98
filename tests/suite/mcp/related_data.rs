//! Related data in one call: the tools return what several requests to the REST API return.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{
    call,
    rest_records::{
        UNKNOWN_ID, assert_checks, rest_catalog, rest_details, rest_list, texts, tool_list, values,
    },
};
use crate::{
    catalog::small_market::{published, small_market_with},
    contract::cases::{BUYER, LOCKED_VENDOR, VENDOR},
    harness::demo,
};

/// Fields of a listing's detail that are addresses of files.
const ADDRESSES: [&str; 2] = ["bundle_url", "bundle_download_url"];

/// Returns an object without some of its fields.
fn without(value: &Value, names: &[&str]) -> Value {
    let fields = value.as_object().unwrap().iter().filter(|(name, _)| !names.contains(&name.as_str()));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

/// Asserts that the quality of a row is that of the evidence over REST, and that the row's sentence names its basis.
async fn assert_quality(key: &str, row: &Value) {
    let id = row["id"].as_str().unwrap();
    let expected = demo().get(key, &format!("/v2/listings/browse/{id}/quality")).await.ok();
    let checks = expected["checks"].as_array().unwrap();
    let (quality, evidence) = (&row["quality"], row["evidence"].as_str().unwrap());
    if quality.is_null() {
        assert!(checks.is_empty() && expected["certified"] == false, "{expected}");
        assert_eq!(evidence, "No quality run has completed.");
        return;
    }
    let passed = checks.iter().filter(|check| check["status"] == "passed").count();
    assert_eq!(
        (&quality["checks"], &quality["checks_passed"]),
        (&json!(checks.len()), &json!(passed)),
        "{id}"
    );
    assert_checks(checks, quality, ["failed_checks", "errored_checks", "check_statuses"]);
    for list in ["failed_checks", "errored_checks"] {
        for key in quality[list].as_array().unwrap().iter().take(5) {
            assert!(evidence.contains(key.as_str().unwrap()), "{evidence} lacks {key}");
        }
    }
    if expected["certified"] == true {
        assert_eq!(quality["completed_at"], expected["certified_at"], "{id}");
    }
    let run = quality["run_id"].as_str().unwrap();
    let ended = quality["completed_at"].as_str().unwrap();
    let (day, counts) = (&ended[..10], format!("{passed}/{} passed", checks.len()));
    assert!(
        evidence.contains(run) && evidence.contains(day) && evidence.contains(&counts),
        "{evidence} lacks {run}, {day}, or {counts}"
    );
}

#[tokio::test]
async fn listings_by_id_are_their_details_with_quality() {
    let mut ids = texts(&rest_catalog(BUYER, "").await[40..60], "/id");
    ids.reverse();
    for key in [BUYER, VENDOR] {
        let arguments = json!({"ids": ids, "fields": ["*"], "max_bytes": 1_000_000});
        let output = call(demo(), key, "get_listings", arguments).await.ok();
        let rows = output["listings"].as_array().unwrap();
        assert_eq!((texts(rows, "/id"), &output["missing"]), (ids.clone(), &json!([])));
        for row in rows {
            let id = row["id"].as_str().unwrap();
            let expected = demo().get(key, &format!("/v2/listings/browse/{id}")).await.ok();
            let row_of_api = without(row, &["quality", "evidence"]);
            assert_eq!(without(&row_of_api, &ADDRESSES), without(&expected, &ADDRESSES), "{id}");
            assert_quality(key, row).await;
        }
    }
    // By default, a row has what is needed to compare listings.
    let output = call(demo(), BUYER, "get_listings", json!({"ids": ids})).await.ok();
    for row in output["listings"].as_array().unwrap() {
        let expected =
            demo().get(BUYER, &format!("/v2/listings/browse/{}", row["id"].as_str().unwrap())).await.ok();
        for name in
            ["price", "price_per_task", "sample_price", "platform_quality_certified", "active_bid_count"]
        {
            assert!(row.get(name).is_some_and(|value| *value == expected[name]), "{name} of {row}");
        }
    }
}

#[tokio::test]
async fn browse_counts_by_vendor_if_selected() {
    let details = rest_details(BUYER).await;
    for (arguments, is_match) in [
        (json!({}), &(|_: &Value| true) as &dyn Fn(&Value) -> bool),
        (json!({"certified": true, "asset_types": ["codebase"]}), &|one| {
            one["platform_quality_certified"] == true
                && one["asset_types"].as_array().unwrap().contains(&json!("codebase"))
        }),
    ] {
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for detail in details.iter().filter(|one| is_match(one)) {
            *expected.entry(detail["team_name"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let mut arguments = arguments;
        arguments["fields"] = json!(["id", "vendors"]);
        let page = call(demo(), BUYER, "browse_listings", arguments.clone()).await.ok();
        let vendors = page["vendors"].as_array().unwrap();
        let found = vendors
            .iter()
            .map(|one| (one["team_name"].as_str().unwrap().to_owned(), one["listings"].as_u64().unwrap()));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
        assert!(vendors.is_sorted_by_key(|one| std::cmp::Reverse(one["listings"].as_u64())));
        assert!(page["notice"].as_str().unwrap().contains("team_name"), "{page}");
        assert_eq!(page["vendor_count"], vendors.len());
        let Some(cursor) = page["next_cursor"].as_str() else { continue };
        arguments["cursor"] = json!(cursor);
        let next = call(demo(), BUYER, "browse_listings", arguments).await.ok();
        assert!(next["vendors"].is_null() && next["items"].is_array(), "{next}");
    }
    let locked = json!({"fields": ["id", "vendors"]});
    let locked = call(demo(), LOCKED_VENDOR, "browse_listings", locked).await.ok();
    assert!(locked["vendors"].is_null() && locked["locked"] == true, "{locked}");
}

#[tokio::test]
async fn listings_that_cannot_be_read_are_missing() {
    let published = texts(&rest_catalog(BUYER, "").await[..2], "/id");
    let own = rest_list(VENDOR, "/v2/listings?limit=100", "items").await;
    let hidden = texts(own.iter().filter(|listing| listing["catalog_status"] != "published"), "/id");
    assert!(hidden.len() >= 2);
    for key in [BUYER, VENDOR] {
        let mut readable = Vec::new();
        let ids =
            [&published[1], &hidden[0], UNKNOWN_ID, &published[0], &published[1], &hidden[0], &hidden[1]];
        let (mut seen, mut missing) = (BTreeSet::new(), Vec::new());
        for id in ids.into_iter().filter(|id| seen.insert(id.to_string())) {
            let response = demo().get(key, &format!("/v2/listings/browse/{id}")).await;
            if response.status == 200 { readable.push(id) } else { missing.push(id) }
        }
        for ids in [json!(ids), json!(json!(ids).to_string())] {
            let arguments = json!({"ids": ids, "fields": ["id"]});
            let output = call(demo(), key, "get_listings", arguments).await.ok();
            assert_eq!(texts(output["listings"].as_array().unwrap(), "/id"), readable, "{key}");
        }
        let output = call(demo(), key, "get_listings", json!({"ids": ids})).await.ok();
        assert_eq!(output["missing"], json!(missing), "{key}");
    }
    for refused in
        [json!([]), json!(vec![UNKNOWN_ID; 21]), json!(["x"]), json!([[UNKNOWN_ID]]), json!({"id": 1})]
    {
        let error = call(demo(), BUYER, "get_listings", json!({"ids": refused})).await.error();
        assert!(error.to_string().contains("ids"), "{refused}: {error}");
    }
}

#[tokio::test]
async fn rows_of_the_catalog_carry_selected_details() {
    let names = [
        "price",
        "price_per_task",
        "sample_price",
        "platform_quality_certified",
        "active_bid_count",
        "terms",
    ];
    let mut fields = names.to_vec();
    fields.extend(["id", "quality", "evidence"]);
    let arguments = json!({"limit": 50, "fields": fields, "max_bytes": 1_000_000});
    let rows = tool_list(BUYER, ("browse_listings", "items", arguments)).await;
    let details = rest_details(BUYER).await;
    assert_eq!(texts(&rows, "/id"), texts(&details, "/id"));
    for (row, detail) in rows.iter().zip(&details) {
        assert_eq!(row.as_object().unwrap().len(), fields.len());
        for name in names {
            assert_eq!(row[name], detail[name], "{name} of {}", detail["id"]);
        }
        assert_quality(BUYER, row).await;
    }
}

#[tokio::test]
async fn catalog_is_filtered_by_vendor_and_publication() {
    let details = rest_details(BUYER).await;
    let matches = |arguments: Value| async move {
        let mut all = json!({"limit": 100, "fields": ["id"]});
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let mut ids = texts(&tool_list(BUYER, ("browse_listings", "items", all)).await, "/id");
        ids.sort();
        ids
    };
    // Only a page without filters starts with the featured listings, so the order is not compared.
    let expected = |is_match: &dyn Fn(&Value) -> bool| {
        let mut ids = texts(details.iter().filter(|detail| is_match(detail)), "/id");
        ids.sort();
        ids
    };
    for vendor in values(&details, "/team_name") {
        let of_vendor = expected(&|detail| detail["team_name"] == vendor);
        for written in [vendor.clone(), vendor.to_uppercase(), format!(" {} ", vendor.to_lowercase())] {
            assert_eq!(matches(json!({"vendor": written})).await, of_vendor, "{written}");
        }
    }
    let mut times = texts(&details, "/published_at");
    times.sort();
    let (early, late) = (&times[times.len() / 3], &times[2 * times.len() / 3]);
    let (first_day, last_day) = (&early[..10], &late[..10]);
    for (arguments, is_match) in [
        (
            json!({"published_since": first_day}),
            &(|at: &str| &at[..10] >= first_day) as &dyn Fn(&str) -> bool,
        ),
        (json!({"published_until": last_day}), &|at: &str| &at[..10] <= last_day),
        (json!({"published_since": early, "published_until": late}), &|at: &str| {
            *at >= **early && *at <= **late
        }),
        (json!({"published_since": last_day, "published_until": first_day}), &|_: &str| false),
    ] {
        let found = matches(arguments.clone()).await;
        assert_eq!(
            found,
            expected(&|detail| is_match(detail["published_at"].as_str().unwrap())),
            "{arguments}"
        );
    }
    let vendor = details[0]["team_name"].as_str().unwrap();
    let both =
        json!({"vendor": vendor, "published_since": first_day, "asset_types": details[0]["asset_types"][0]});
    let of_both = expected(&|detail| {
        detail["team_name"] == vendor
            && detail["published_at"].as_str().unwrap()[..10] >= *first_day
            && detail["asset_types"].as_array().unwrap().contains(&details[0]["asset_types"][0])
    });
    assert_eq!(matches(both).await, of_both);
    let none = call(demo(), BUYER, "browse_listings", json!({"vendor": "No Such Vendor"})).await.ok();
    assert!(none["items"] == json!([]) && none["hint"].is_string(), "{none}");
    for name in ["published_since", "published_until"] {
        let error = call(demo(), BUYER, "browse_listings", json!({(name): "last week"})).await.error();
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    }
}

#[tokio::test]
async fn locked_vendor_reads_only_the_plain_first_page() {
    let plain = demo().get(LOCKED_VENDOR, "/v2/listings/browse?limit=5").await.ok();
    assert_eq!(plain["locked"], true);
    let arguments = json!({"limit": 5, "fields": ["*"]});
    let page = call(demo(), LOCKED_VENDOR, "browse_listings", arguments).await.ok();
    // Details, prices, and quality are behind the gate over REST too.
    assert_eq!((&page["items"], &page["locked"]), (&plain["items"], &json!(true)));
    assert!(page["next_cursor"].is_null());
    let fields = json!(["id", "price", "description", "terms", "quality", "evidence", "bundle_manifest"]);
    let arguments = json!({"limit": 100, "fields": fields});
    let page = call(demo(), LOCKED_VENDOR, "browse_listings", arguments).await.ok();
    for row in page["items"].as_array().unwrap() {
        assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), ["id"]);
    }
    let default = call(demo(), LOCKED_VENDOR, "browse_listings", json!({})).await.ok();
    assert!(!default.to_string().contains("price") && default["items"][0]["title"].is_string(), "{default}");
    let own = texts(&rest_list(LOCKED_VENDOR, "/v2/listings?limit=1", "items").await, "/id");
    for (tool, arguments) in [
        ("browse_listings", json!({"vendor": "Lumen Codeworks"})),
        ("browse_listings", json!({"published_since": "2020-01-01", "fields": ["id"]})),
        ("browse_listings", json!({"limit": 5, "sort": "price_low"})),
        ("browse_listings", json!({"cursor": "k9PYXEsZ0ZAykNsq79gYiJRV"})),
        ("get_listings", json!({"ids": texts(plain["items"].as_array().unwrap(), "/id")})),
        ("get_listings", json!({"ids": own})),
        ("aggregate", json!({"list": "browse_listings", "group_by": ["vendor"]})),
    ] {
        let code = call(demo(), LOCKED_VENDOR, tool, arguments.clone()).await.error_code();
        assert_eq!(code, "listing_browse_locked", "{tool} {arguments}");
    }
}

/// Returns the length of the longest run of one character.
fn longest_run(text: &str) -> usize {
    let bytes = text.as_bytes();
    bytes.chunk_by(|a, b| a == b).map(<[u8]>::len).max().unwrap_or_default()
}

#[tokio::test]
async fn short_cursors_read_every_listing_once() {
    for (query, filters) in [
        ("", json!({})),
        ("?sort=recent", json!({"sort": "recent"})),
        ("?sort=price_low", json!({"sort": "price_low"})),
        ("?sort=price_high&asset_types=codebase", json!({"sort": "price_high", "asset_types": ["codebase"]})),
        ("?query=history&verified_only=true", json!({"query": "history", "verified_only": true})),
        ("?tags=finance&tags=legal&min_price=500", json!({"tags": ["finance", "legal"], "min_price": 500})),
    ] {
        let expected = texts(&rest_catalog(BUYER, query).await, "/id");
        assert!(expected.len() > 8, "{query}: {}", expected.len());
        let (mut found, mut cursors) = (Vec::new(), BTreeSet::new());
        let mut arguments = json!({"limit": 4, "fields": ["id"]});
        arguments.as_object_mut().unwrap().extend(filters.as_object().unwrap().clone());
        loop {
            let page = call(demo(), BUYER, "browse_listings", arguments.clone()).await.ok();
            found.extend(texts(page["items"].as_array().unwrap(), "/id"));
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            assert!(cursor.len() <= 24 && longest_run(cursor) <= 4, "{cursor}");
            assert!(cursor.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{cursor}");
            assert!(cursors.insert(cursor.to_owned()), "{cursor} was returned twice");
            arguments["cursor"] = json!(cursor);
        }
        assert_eq!(found, expected, "{query}");
    }
}

#[tokio::test]
async fn miscopied_cursor_is_recognized() {
    let first = call(demo(), BUYER, "browse_listings", json!({"limit": 5})).await.ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    let mut wrong: Vec<(String, Value)> = (0..cursor.len())
        .map(|at| {
            let other = if &cursor[at..=at] == "k" { "m" } else { "k" };
            (format!("{}{other}{}", &cursor[..at], &cursor[at + 1..]), json!({}))
        })
        .collect();
    for text in [&cursor[1..], &cursor[..23], &format!("{cursor}A"), &cursor.to_lowercase()] {
        wrong.push((text.to_owned(), json!({})));
    }
    for other in
        [json!({"sort": "recent"}), json!({"tags": ["finance"]}), json!({"vendor": "Lumen Codeworks"})]
    {
        wrong.push((cursor.to_owned(), other));
    }
    for (cursor, other) in wrong {
        let mut arguments = json!({"limit": 5, "cursor": cursor});
        arguments.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        let error = call(demo(), BUYER, "browse_listings", arguments.clone()).await.error();
        assert_eq!(error["code"], "invalid_cursor", "{arguments}: {error}");
        assert!(error["next_step"].as_str().unwrap().contains("miscopied"), "{error}");
    }
}

#[tokio::test]
async fn vendors_are_found_in_any_case_of_any_alphabet() {
    let purchase = json!({"key": "p", "listing": "kept", "buyer": "buyer", "kind": "full", "status": "completed",
        "scope": "all", "price_usd": 50, "created_at": "-P3D", "paid_at": "-P3D"});
    let offer = json!({"key": "o", "listing": "kept", "buyer": "other", "amount_usd": 40, "status": "submitted", "created_at": "-P2D"});
    let team = json!({"key": "accented", "name": "Ångström Éditions", "roles": ["vendor"], "tier": 1,
        "nda_accepted_at": "-P99D", "created_at": "-P99D"});
    let market = small_market_with(
        &[
            published("kept", 5, &json!({"team": "accented", "accepts_bids": true})),
            published("other", 5, &json!({})),
        ],
        &json!({"teams": [team], "purchases": [purchase], "offers": [offer]}),
    );
    for vendor in ["Ångström Éditions", "ångström éditions", "ÅNGSTRÖM ÉDITIONS"] {
        for (key, tool, list) in [
            ("mkt_buyer", "browse_listings", "items"),
            ("mkt_buyer", "list_purchases", "purchases"),
            ("mkt_other", "list_offers", "offers"),
        ] {
            let found = call(&market, key, tool, json!({"vendor": vendor})).await.ok();
            assert_eq!(found[list].as_array().unwrap().len(), 1, "{tool} {vendor}");
            let arguments = json!({"list": tool, "filters": {"vendor": vendor}});
            assert_eq!(
                call(&market, key, "aggregate", arguments).await.ok()["matches"],
                1,
                "{tool} {vendor}"
            );
        }
        let spending = call(&market, "mkt_buyer", "get_spending", json!({"vendor": vendor})).await.ok();
        assert_eq!(spending["total"]["purchases"], 1, "{vendor}");
    }
}
