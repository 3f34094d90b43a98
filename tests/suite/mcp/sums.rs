//! Sums that the server computes: they are those of the records over REST.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    aggregated_lists::{Aggregated, NamedPath, catalog, lists_of_team},
    call, post,
    rest_records::{LISTS_OF_A_RECORD, UNKNOWN_ID, rest_details, rest_list, rest_pages, texts, tool_list},
    tools,
};
use crate::{
    contract::cases::{BOTH, BUYER, LOCKED_VENDOR, VENDOR},
    harness::{TestMarket, demo},
};

/// Returns the values of a property of a record, none if it has no value.
fn keys(record: &Value, pointer: &str) -> Vec<Option<String>> {
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    };
    match record.pointer(pointer) {
        Some(Value::Array(values)) if !values.is_empty() => {
            values.iter().map(text).collect::<BTreeSet<_>>().into_iter().collect()
        }
        None | Some(Value::Array(_)) => vec![None],
        Some(value) => vec![text(value)],
    }
}

/// Returns a number in hundredths, in which amounts are exact.
fn hundredths(record: &Value, pointer: &str) -> Option<i64> {
    let value = record.pointer(pointer)?;
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
    Some((number * 100.0).round() as i64)
}

/// Statistics of a group: records, those with a number, and in hundredths sum, minimum, maximum, and twice the median.
type GroupSums = (u64, Option<(usize, i64, i64, i64, i64)>);

/// Computes the groups of records.
fn expected_groups(
    records: &[Value],
    groups: &[NamedPath],
    number: Option<NamedPath>,
) -> BTreeMap<Vec<Option<String>>, GroupSums> {
    let mut members: BTreeMap<Vec<Option<String>>, Vec<&Value>> = BTreeMap::new();
    for record in records {
        let mut all = vec![Vec::new()];
        for (_, pointer) in groups {
            let one = keys(record, pointer);
            let extend = |start: &Vec<_>| {
                one.iter().map(|key| [start.as_slice(), std::slice::from_ref(key)].concat()).collect()
            };
            all =
                all.iter().flat_map(|start: &Vec<Option<String>>| -> Vec<Vec<_>> { extend(start) }).collect();
        }
        for keys in all {
            members.entry(keys).or_default().push(record);
        }
    }
    let sums = |records: &[&Value]| {
        let (_, pointer) = number?;
        let mut numbers: Vec<i64> = records.iter().filter_map(|record| hundredths(record, pointer)).collect();
        numbers.sort_unstable();
        let count = numbers.len();
        if count == 0 {
            return None;
        }
        let twice_median = numbers[(count - 1) / 2] + numbers[count / 2];
        Some((count, numbers.iter().sum(), numbers[0], numbers[count - 1], twice_median))
    };
    members.into_iter().map(|(keys, records)| (keys, (records.len() as u64, sums(&records)))).collect()
}

/// Calls the tool, on all pages of groups.
async fn aggregated(key: &str, arguments: Value) -> BTreeMap<Vec<Option<String>>, GroupSums> {
    let mut arguments = arguments;
    arguments["limit"] = json!(100);
    let has_measure = !arguments["measure"].is_null();
    let groups = tool_list(key, ("aggregate", "groups", arguments.clone())).await;
    let read = |group: &Value| {
        let names: Vec<Option<String>> = serde_json::from_value(group["group"].clone()).unwrap();
        let in_hundredths = |name: &str, factor: f64| Some((group[name].as_f64()? * factor).round() as i64);
        let count = group["with_value"].as_u64().unwrap_or_default() as usize;
        let sums = in_hundredths("sum", 100.0).zip(in_hundredths("median", 200.0)).map(|(sum, median)| {
            let [min, max] = ["min", "max"].map(|name| in_hundredths(name, 100.0).unwrap());
            (count, sum, min, max, median)
        });
        assert_eq!(group["with_value"].is_null(), !has_measure, "{arguments}: {group}");
        (names, (group["records"].as_u64().unwrap(), sums))
    };
    let found: Vec<_> = groups.iter().map(read).collect();
    assert!(found.is_sorted_by_key(|(_, (records, _))| std::cmp::Reverse(*records)), "{arguments}");
    let count = found.len();
    let found: BTreeMap<_, _> = found.into_iter().collect();
    assert_eq!(found.len(), count, "a group was returned twice: {arguments}");
    found
}

/// Asserts that the tool's groups are those of the records: by each property, in each number, and by pairs.
async fn assert_aggregates(key: &str, Aggregated { list, records, groups, numbers }: &Aggregated) {
    let numbers: Vec<Option<NamedPath>> = numbers.iter().copied().map(Some).chain([None]).collect();
    let mut cases: Vec<(Vec<NamedPath>, Option<NamedPath>)> =
        numbers.iter().map(|number| (Vec::new(), *number)).collect();
    for (index, group) in groups.iter().enumerate() {
        cases.push((vec![*group], numbers[index % numbers.len()]));
        let other = groups[(index + 1) % groups.len()];
        cases.push((vec![*group, other], numbers[(index + 1) % numbers.len()]));
    }
    for (by, number) in cases {
        let names: Vec<&str> = by.iter().map(|(name, _)| *name).collect();
        let mut arguments = json!({"list": list, "group_by": names});
        if let Some((name, _)) = number {
            arguments["measure"] = json!(name);
        }
        let found = aggregated(key, arguments.clone()).await;
        let expected = expected_groups(records, &by, number);
        if records.is_empty() {
            assert!(found.values().all(|(count, _)| *count == 0), "{key} {arguments}: {found:?}");
            continue;
        }
        assert_eq!(found, expected, "{key} {arguments}");
    }
}

#[tokio::test]
async fn sums_of_the_catalog_are_those_of_its_details() {
    let catalog = catalog(BUYER).await;
    assert_aggregates(BUYER, &catalog).await;
    let month = Aggregated { groups: &[("month", "/month"), ("vendor", "/team_name")], ..catalog };
    assert_aggregates(BUYER, &month).await;
    let total = call(demo(), BUYER, "aggregate", json!({"list": "browse_listings"})).await.ok();
    assert_eq!(total["matches"], json!(month.records.len()));
    assert!(total["evidence"].as_str().unwrap().contains(&month.records.len().to_string()), "{total}");
}

#[tokio::test]
async fn sums_of_a_list_that_belongs_to_a_record_are_those_of_the_list() {
    let listings = rest_list(VENDOR, "/v2/listings?limit=100", "items").await;
    let mut with_events = 0;
    for id in texts(&listings[..8], "/id") {
        let assets = rest_list(VENDOR, &format!("/v2/listings/{id}/assets"), "assets").await;
        let events = rest_list(VENDOR, &format!("/v2/listings/{id}/history"), "events").await;
        with_events += usize::from(events.len() > 1);
        for (list, records, groups) in [
            ("list_listing_assets", assets, &[("sku", "/sku"), ("stage", "/stage")][..]),
            ("get_listing_history", events, &[("event_type", "/event_type"), ("actor", "/actor")]),
        ] {
            let names: Vec<&str> = groups.iter().map(|(name, _)| *name).collect();
            let arguments = json!({"list": list, "group_by": names, "filters": {"listing_id": id}});
            let found = aggregated(VENDOR, arguments).await;
            let expected = expected_groups(&records, groups, None);
            assert!(found == expected || records.is_empty(), "{list} of {id}: {found:?}, not {expected:?}");
        }
    }
    assert!(with_events > 0);
    let codebases = texts(&rest_pages(VENDOR, "/v2/codebases", "items").await, "/id");
    let query: Vec<String> = codebases.iter().map(|id| format!("asset_id={id}")).collect();
    let path = format!("/v2/estimations/latest?{}", query.join("&"));
    let latest = rest_list(VENDOR, &path, "estimations").await;
    let filters = json!({"asset_id": codebases});
    let arguments = json!({"list": "list_latest_estimations", "group_by": ["status"], "filters": filters});
    let by_status: &[NamedPath] = &[("status", "/estimation/status")];
    assert_eq!(aggregated(VENDOR, arguments).await, expected_groups(&latest, by_status, None));
    for list in LISTS_OF_A_RECORD {
        let refused = call(demo(), VENDOR, "aggregate", json!({"list": list})).await;
        assert_eq!(refused.error_code(), "missing_argument", "{list}");
    }
    let foreign = texts(&rest_details(BUYER).await[..1], "/id");
    let foreign = if texts(&listings, "/id").contains(&foreign[0]) { UNKNOWN_ID } else { &foreign[0] };
    for list in ["get_listing_history", "list_listing_assets"] {
        let arguments = json!({"list": list, "filters": {"listing_id": foreign}});
        assert_eq!(call(demo(), VENDOR, "aggregate", arguments).await.error_code(), "not_found", "{list}");
    }
}

#[tokio::test]
async fn sums_of_a_team_are_those_of_its_lists() {
    for key in [BUYER, VENDOR, BOTH, LOCKED_VENDOR, "mkt_demo_both_two"] {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for aggregated in lists_of_team(key).await {
            assert_aggregates(key, &aggregated).await;
            names.insert(aggregated.list);
        }
        names.insert("browse_listings");
        if names.contains("list_assets") {
            names.extend(LISTS_OF_A_RECORD);
        }
        let tool = tools(demo(), key).await.into_iter().find(|tool| tool["name"] == "aggregate").unwrap();
        let listed = tool["inputSchema"]["properties"]["list"]["enum"].as_array().unwrap();
        assert_eq!(listed.iter().map(|name| name.as_str().unwrap()).collect::<BTreeSet<_>>(), names, "{key}");
    }
}

#[tokio::test]
async fn filters_of_sums_are_those_of_the_list() {
    let catalog = catalog(BUYER).await;
    let by_tier: &[NamedPath] = &[("vendor_tier", "/vendor_tier")];
    let of_java: Vec<Value> = catalog
        .records
        .into_iter()
        .filter(|detail| {
            let languages = detail["catalog_scale"]["languages"].as_array().unwrap();
            languages.contains(&json!("java"))
                && detail["platform_quality_certified"] == true
                && detail["asset_types"].as_array().unwrap().contains(&json!("codebase"))
        })
        .collect();
    assert!(!of_java.is_empty());
    let expected = expected_groups(&of_java, by_tier, Some(("price", "/price")));
    let filters = json!({"languages": ["java"], "verified_only": true, "asset_types": ["codebase"]});
    let with = |filters: Value| json!({"list": "browse_listings", "group_by": ["vendor_tier"], "measure": "price", "filters": filters});
    let mut beside = with(Value::Null);
    beside.as_object_mut().unwrap().extend(filters.as_object().unwrap().clone());
    let labels = json!({"languages": "Java", "certified": "true", "asset_types": ["Codebase"]});
    for arguments in [with(filters.clone()), with(json!(filters.to_string())), beside, with(labels)] {
        assert_eq!(aggregated(BUYER, arguments.clone()).await, expected, "{arguments}");
    }
    let team = lists_of_team(BOTH).await;
    for (list, filters, is_match) in [
        (
            "list_purchases",
            json!({"kind": ["full", "accepted_bid"]}),
            &(|one: &Value| one["purchase"]["purchase_kind"] != "sample") as &dyn Fn(&Value) -> bool,
        ),
        ("list_purchases", json!({"since": "2026-01-01"}), &|one| {
            one["purchase"]["created_at"].as_str() >= Some("2026-01-01")
        }),
        ("list_offers", json!({"status": ["submitted"]}), &|one| one["offer"]["status"] == "submitted"),
        ("list_own_opportunities", json!({"status": ["published"]}), &|one| one["status"] == "published"),
        ("list_own_listings", json!({"review_status": ["approved"]}), &|one| {
            one["review_status"] == "approved"
        }),
        ("list_assets", json!({"filter": ["stage:is:complete"]}), &|one| one["stage"] == "complete"),
        ("list_assets", json!({"sku": "codebase"}), &|one| one["sku"] == "codebase"),
        ("list_sales", json!({"until": "2025-12-31", "kind": "full"}), &|one| {
            one["purchase_kind"] == "full" && one["paid_at"].as_str() < Some("2026-01-01")
        }),
        ("list_earnings", json!({"kind": ["platform_fee"]}), &|one| one["entry_type"] == "platform_fee"),
        ("list_qc_reports", json!({"kind": ["asset"]}), &|one| one["listing_id"].is_null()),
        ("list_estimations", json!({"filter": ["status:is:Estimated"]}), &|one| one["status"] == "estimated"),
        ("list_codebases", json!({"filter": ["stage:is:complete"]}), &|one| one["stage"] == "complete"),
        ("list_tasks", json!({"filter": ["has_traces:is:false"]}), &|one| one["task"]["has_traces"] == false),
        ("list_taxonomy", json!({"kind": ["domains", "languages"]}), &|one| {
            one["kind"] == "domains" || one["kind"] == "languages"
        }),
        ("list_assets", json!({"filter": ["qc:is:failed"]}), &|one| one["row"]["qc"] == "failed"),
    ] {
        let of_list = team.iter().find(|one| one.list == list).unwrap();
        let records: Vec<Value> = of_list.records.iter().filter(|one| is_match(one)).cloned().collect();
        assert!(
            records.len() < of_list.records.len() || of_list.records.len() < 3 || list == "list_estimations",
            "{list} {filters}"
        );
        let group = of_list.groups[0];
        let number = of_list.numbers.first().copied();
        let mut arguments = json!({"list": list, "group_by": [group.0], "filters": filters});
        if let Some((name, _)) = number {
            arguments["measure"] = json!(name);
        }
        assert_eq!(
            aggregated(BOTH, arguments).await,
            expected_groups(&records, &[group], number),
            "{list} {filters}"
        );
    }
}

#[tokio::test]
async fn opportunities_are_counted_by_the_names_of_buyers() {
    let opportunities = rest_pages(VENDOR, "/v2/opportunities", "items").await;
    let mut by_owner: BTreeMap<String, u64> = BTreeMap::new();
    for owner in texts(&opportunities, "/owner_id") {
        *by_owner.entry(owner).or_default() += 1;
    }
    let arguments = json!({"list": "list_opportunities", "group_by": ["buyer"]});
    let found = aggregated(VENDOR, arguments).await;
    let sorted = |counts: Vec<u64>| counts.into_iter().collect::<BTreeSet<u64>>();
    let counts = found.values().map(|(count, _)| *count).collect();
    assert_eq!(sorted(counts), sorted(by_owner.values().copied().collect()));
    assert_eq!(found.len(), by_owner.len());
    for (names, (count, _)) in &found {
        let name = names[0].as_ref().unwrap();
        // The search text of the API covers the name of the buyer.
        let query = form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>();
        let matching = rest_list(VENDOR, &format!("/v2/opportunities?limit=50&query={query}"), "items").await;
        assert!(matching.len() as u64 >= *count, "{name}: {count}");
    }
}

#[tokio::test]
async fn many_expensive_calls_at_once_are_answered_alike_or_refused() {
    // A market of its own, since other tests would be refused as well.
    let market = TestMarket::demo();
    let arguments = json!({"list": "browse_listings", "group_by": ["vendor", "tag"], "measure": "price"});
    let alone = call(&market, BUYER, "aggregate", arguments.clone()).await.ok();
    let params = json!({"name": "aggregate", "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let calls = (0..200).map(|number| post(&market, [BUYER, BOTH, VENDOR][number % 3], &body));
    let answers = futures_util::future::join_all(calls).await;
    let mut answered = 0;
    for answer in answers {
        let message: Value = serde_json::from_slice(&answer.bytes).unwrap();
        let result = &message["result"];
        if answer.status == 200 && result["isError"] != true {
            assert_eq!(result["structuredContent"]["groups"], alone["groups"]);
            answered += 1;
        } else {
            let refused = message.to_string();
            assert!(refused.contains("rate_limited") || refused.contains("at_capacity"), "{refused}");
        }
    }
    assert!(answered > 0, "all were refused");
}

#[tokio::test]
async fn errors_name_only_the_filters_of_the_chosen_list() {
    for (key, list, others) in [
        (VENDOR, "list_sales", &["languages", "sku", "sort", "query"][..]),
        (VENDOR, "List_Assets", &["languages", "review_status", "sort", "vendor_tiers"]),
        (BUYER, "list_offers", &["languages", "kind", "sort"]),
        (BUYER, "list_taxonomy", &["languages", "status", "vendor"]),
    ] {
        for filters in [json!({"no_such_filter": 1}), json!({"owned": true})] {
            let arguments = json!({"list": list, "filters": filters});
            let error = call(demo(), key, "aggregate", arguments).await.error();
            let next = error["next_step"].as_str().unwrap();
            let known = next.split("`filters` of ").nth(1).unwrap_or_else(|| panic!("{list}: {next}"));
            for other in others {
                assert!(!known.split([' ', ',', '.', ':']).any(|word| word == *other), "{list}: {next}");
            }
        }
    }
}

#[tokio::test]
async fn bids_are_summed_for_one_request() {
    let projects = rest_pages(BUYER, "/v2/buyer/project-opportunities", "items").await;
    let mut found = 0;
    for id in texts(&projects, "/id") {
        let bids = rest_pages(BUYER, &format!("/v2/buyer/project-opportunities/{id}/bids"), "items").await;
        let arguments = json!({"list": "list_project_bids", "filters": {"opportunity_id": id}});
        let summed = call(demo(), BUYER, "aggregate", arguments).await.ok();
        assert_eq!(summed["matches"], bids.len(), "{id}");
        found += bids.len();
    }
    assert!(found > 0);
}

#[tokio::test]
async fn sums_refuse_what_a_list_does_not_have() {
    for (key, arguments, named) in [
        (
            BUYER,
            json!({"list": "browse_listings", "group_by": ["team"]}),
            &["vendor_tier", "asset_type", "month"][..],
        ),
        (
            BUYER,
            json!({"list": "browse_listings", "measure": "cost"}),
            &["price_per_task", "sample_price", "loc"],
        ),
        (
            BUYER,
            json!({"list": "list_purchases", "group_by": ["team"]}),
            &["kind", "vendor", "listing", "month"],
        ),
        (BUYER, json!({"list": "list_purchases", "measure": "amount"}), &["price", "buyer_fee", "total"]),
        (
            VENDOR,
            json!({"list": "list_assets", "group_by": ["kind"]}),
            &["sku", "stage", "channel", "domain"],
        ),
        (VENDOR, json!({"list": "list_sales", "measure": "total"}), &["platform_fee", "amount"]),
        (BUYER, json!({"list": "list_own_opportunities", "measure": "price"}), &["budget_min", "budget_max"]),
        (BUYER, json!({"list": "browse_listings", "group_by": ["vendor", "tag", "month"]}), &["group_by"]),
        (BUYER, json!({"list": "browse_listings", "filters": {"colour": "red"}}), &["colour", "languages"]),
        (BUYER, json!({"list": "list_offers", "filters": {"stauts": ["submitted"]}}), &["status", "vendor"]),
        (BUYER, json!({"list": "list_purchases", "filters": {"languages": ["java"]}}), &["languages"]),
        (BUYER, json!({"list": "browse_listings", "filters": [1]}), &["filters", "object"]),
        (
            BUYER,
            json!({"list": "browse_listings", "filters": {"query": "a"}, "query": "b"}),
            &["query", "twice"],
        ),
        (BUYER, json!({"group_by": ["vendor"]}), &["list", "browse_listings", "list_offers"]),
        (VENDOR, json!({"list": "list_purchases"}), &["list_sales", "list_assets"]),
        (VENDOR, json!({"list": "list_offers"}), &["list_sales", "list_assets"]),
        (BUYER, json!({"list": "list_sales"}), &["list_purchases"]),
    ] {
        let error = call(demo(), key, "aggregate", arguments.clone()).await.error();
        for name in named {
            assert!(error.to_string().contains(name), "{key} {arguments} lacks {name}: {error}");
        }
    }
}
