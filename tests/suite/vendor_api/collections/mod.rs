//! Compares lists of assets with a simple model: filters, sort orders, pages, counts, and windows.

mod model;

use std::collections::BTreeMap;

use marketplace::{
    operations,
    store::{
        self,
        assets::{KindFields, NewAsset},
    },
};
use serde_json::{Value, json};

use self::model::{COLUMNS, FILTERS, GROUP_ORDER, GROUPS, ModelAsset, expected_assets, random_market};
use super::seller_market::{OTHER, SELLER, market_with, seeded_id, seller_call, seller_get};
use crate::harness::{TestMarket, elements, random::Random};

async fn group_ids(market: &TestMarket) -> BTreeMap<&'static str, String> {
    let groups = seller_get(market, "asset-groups").await["groups"].clone();
    GROUPS
        .iter()
        .map(|(key, name)| {
            let found = groups.as_array().unwrap().iter().find(|group| group["name"] == *name).unwrap();
            (*key, found["id"].as_str().unwrap().to_owned())
        })
        .collect()
}

fn item_ids(list: &Value) -> Vec<&str> {
    elements(&list["items"]).map(|item| item["id"].as_str().unwrap()).collect()
}

/// Names are found in any case and without their marks, and are equal in any case and encoding.
#[tokio::test]
async fn names_are_compared_in_all_scripts() {
    let asset = |number: usize, title: &str| {
        json!({"key": format!("t{number}"), "team": "seller", "sku": "raw_data", "title": title,
            "created_at": format!("-P{}D", 90 - number), "raw_data": {}})
    };
    let titles =
        ["كِتَاب", "χάρτης", "Ёлки", "İstanbul", "Cafe\u{301}", "Straße", "हिन्दी", "ﾃﾞｰﾀ", "ﬁle", "Cafe"];
    let assets: Vec<Value> = titles.iter().enumerate().map(|(number, title)| asset(number, title)).collect();
    let market = market_with(&json!({"assets": assets}));
    for (filter, expected) in [
        ("name:contains:كتاب", &["كِتَاب"][..]),
        ("name:contains:ΧΑΡΤΗΣ", &["χάρτης"]),
        ("name:contains:елк", &["Ёлки"]),
        ("name:contains:istanbul", &["İstanbul"]),
        ("name:contains:cafe", &["Cafe", "Cafe\u{301}"]),
        ("name:contains:CAFÉ", &["Cafe", "Cafe\u{301}"]),
        ("name:contains:rasse", &["Straße"]),
        ("name:contains:हिन्दी", &["हिन्दी"]),
        ("name:contains:हनद", &[]),
        ("name:contains:デ", &["ﾃﾞｰﾀ"]),
        ("name:contains:テ", &[]),
        ("name:contains:file", &["ﬁle"]),
        ("name:is:كتاب", &[]),
        ("name:is:ΧΆΡΤΗΣ", &["χάρτης"]),
        ("name:is:ёлки", &["Ёлки"]),
        ("name:is:елки", &[]),
        ("name:is:i\u{307}stanbul", &["İstanbul"]),
        ("name:is:istanbul", &[]),
        ("name:is:CAFÉ", &["Cafe\u{301}"]),
        ("name:is:cafe", &["Cafe"]),
        ("name:is:STRASSE", &["Straße"]),
        ("name:is_not:strasse&filter=name:contains:str", &[]),
        ("name:is:データ", &["ﾃﾞｰﾀ"]),
    ] {
        let list = seller_get(&market, &format!("raw-data?filter={filter}")).await;
        let found: Vec<&str> = elements(&list["items"]).map(|item| item["title"].as_str().unwrap()).collect();
        assert_eq!(found, expected, "{filter}");
    }
}

#[tokio::test]
async fn asset_lists_match_the_model() {
    let (market, assets) = random_market(150);
    let groups = group_ids(&market).await;
    let listing = seeded_id("listings", "draft");
    let mut random = Random::new(5);
    for round in 0..400 {
        let (path, kind) = *random.pick(&[
            ("assets", None),
            ("assets", None),
            ("codebases", Some("codebase")),
            ("raw-data", Some("raw_data")),
        ]);
        let mut query = Vec::new();
        let mut filters = random.sample(&FILTERS, 12);
        if kind == Some("raw_data") {
            filters
                .retain(|filter| !filter.starts_with("exclusivity") && !filter.starts_with("private_data"));
        }
        query.extend(filters.iter().map(|filter| format!("filter={filter}")));
        let stage = random.percent(25).then(|| *random.pick(&["incomplete", "proposed", "complete"]));
        query.extend(stage.map(|stage| format!("stage={stage}")));
        let group = random.percent(25).then(|| random.pick(&GROUPS).0);
        query.extend(group.map(|group| format!("group_id={}", groups[group])));
        let on_listing = random.percent(15);
        query.extend(on_listing.then(|| format!("listing_id={listing}")));
        let selected: Vec<&ModelAsset> = assets.iter().filter(|_| random.percent(30)).collect();
        let by_id = random.percent(15);
        query.extend(selected.iter().filter(|_| by_id).map(|asset| format!("id={}", asset.id)));
        let sku = (path == "assets" && random.percent(25))
            .then(|| *random.pick(&["codebase", "other", "nonsense"]));
        query.extend(sku.map(|sku| format!("sku={sku}")));
        let attach_to = path == "assets" && random.percent(40);
        query.extend(attach_to.then(|| format!("attach_to={listing}")));
        let sort = random.percent(75).then(|| (*random.pick(&COLUMNS), random.percent(50)));
        query.extend(sort.map(|(column, is_descending)| {
            format!("sort={column}&sort_direction={}", if is_descending { "desc" } else { "asc" })
        }));
        let is_match = |asset: &ModelAsset| {
            kind.is_none_or(|kind| asset.kind == kind)
                && sku.is_none_or(|sku| asset.kind == sku)
                && stage.is_none_or(|stage| asset.stage() == stage)
                && group.is_none_or(|group| asset.group == group)
                && (!on_listing || asset.is_listed)
                && (!by_id || selected.iter().any(|selected| selected.id == asset.id))
                && filters.iter().all(|filter| asset.matches(filter))
        };
        let expected = expected_assets(&assets, is_match, sort);
        let (limit, offset) = (1 + random.below(60) as usize, random.below(30) as usize);
        let request_path = format!("{path}?{}&limit={limit}&offset={offset}", query.join("&"));
        let list = seller_get(&market, &request_path).await;
        let page: Vec<&str> =
            expected.iter().skip(offset).take(limit).map(|asset| asset.id.as_str()).collect();
        assert_eq!(item_ids(&list), page, "round {round}: {request_path}");
        assert_eq!(list["total"], expected.len(), "{request_path}");
        assert_eq!((&list["limit"], &list["offset"]), (&json!(limit), &json!(offset)));
        if path != "assets" {
            continue;
        }
        let counts: Vec<Value> = GROUP_ORDER
            .iter()
            .filter_map(|group| {
                let in_group: Vec<_> = expected.iter().filter(|asset| asset.group == *group).collect();
                let attachable =
                    in_group.iter().filter(|asset| asset.is_attachable(attach_to && asset.is_listed));
                (!in_group.is_empty()).then(|| {
                    json!({"group_id": groups[group], "total": in_group.len(), "attachable": attachable.count()})
                })
            })
            .collect();
        assert_eq!(list["groups"], json!(counts), "{request_path}");
        let mut skus: BTreeMap<&str, u64> = BTreeMap::new();
        for asset in &expected {
            *skus.entry(asset.kind).or_default() += 1;
        }
        for count in list["skus"].as_array().unwrap() {
            assert_eq!(
                skus.remove(count["sku"].as_str().unwrap()),
                count["total"].as_u64(),
                "{request_path}"
            );
        }
        assert!(skus.is_empty(), "{request_path}");
    }
}

#[tokio::test]
async fn windows_list_assets_in_group_order() {
    let (market, assets) = random_market(80);
    let groups = group_ids(&market).await;
    let mut random = Random::new(9);
    for _ in 0..40 {
        let (leaves, headers) = (1 + random.below(50) as usize, 1 + random.below(4) as usize);
        let include_empty = random.percent(50);
        let filters = random.sample(&FILTERS, 10);
        let sort = random.percent(60).then(|| (*random.pick(&COLUMNS), random.percent(50)));
        let mut query =
            format!("leaf_budget={leaves}&header_budget={headers}&include_empty_groups={include_empty}");
        for filter in &filters {
            query.extend(["&filter=", *filter]);
        }
        if let Some((column, is_descending)) = sort {
            query.extend(["&sort=", column, "&sort_direction=", if is_descending { "desc" } else { "asc" }]);
        }
        let expected =
            expected_assets(&assets, |asset| filters.iter().all(|filter| asset.matches(filter)), sort);
        let ids_in_group = |group: &str| -> Vec<&str> {
            expected.iter().filter(|asset| asset.group == group).map(|asset| asset.id.as_str()).collect()
        };
        let visible_groups: Vec<&str> = GROUP_ORDER
            .iter()
            .copied()
            .filter(|group| include_empty || !ids_in_group(group).is_empty())
            .collect();
        let (mut after, mut seen) = (String::new(), 0);
        loop {
            let window = seller_get(&market, &format!("assets/window?{query}{after}")).await;
            let page_groups: Vec<&str> = visible_groups.iter().copied().skip(seen).take(headers).collect();
            seen += page_groups.len();
            let names: Vec<Value> = page_groups
                .iter()
                .map(|group| {
                    let name = GROUPS.iter().find(|(key, _)| key == group).unwrap().1;
                    let attachable = expected
                        .iter()
                        .filter(|asset| asset.group == *group && asset.is_attachable(false))
                        .count();
                    json!({"group_id": groups[group], "name": name, "is_default": *group == "default",
                        "total": ids_in_group(group).len(), "attachable": attachable})
                })
                .collect();
            assert_eq!(window["window"], json!(names), "{query}{after}");
            let expected_ids: Vec<&str> =
                page_groups.iter().flat_map(|group| ids_in_group(group)).take(leaves).collect();
            assert_eq!(item_ids(&window), expected_ids, "{query}{after}");
            let remaining = visible_groups.len() - seen;
            assert_eq!(
                (&window["remaining_groups"], &window["has_more_groups"]),
                (&json!(remaining), &json!(remaining > 0))
            );
            assert_eq!(
                (&window["limit"], &window["offset"], &window["total"]),
                (&json!(leaves), &json!(0), &json!(expected.len()))
            );
            if remaining == 0 {
                break;
            }
            after = format!("&after_group_id={}", groups[page_groups.last().unwrap()]);
        }
    }
    // Nothing follows an unknown group.
    let window =
        seller_get(&market, "assets/window?after_group_id=6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11").await;
    assert_eq!((&window["window"], &window["items"]), (&json!([]), &json!([])));
}

/// With `attach_to`, `attachable` counts the assets that attaching would add to the listing. It is 0 if the
/// listing accepts no assets.
#[tokio::test]
async fn attachable_counts_what_the_listing_accepts() {
    let codebase = |key: &str, data: bool| {
        json!({"key": key, "team": "seller", "sku": "codebase", "title": key, "description": "D", "domain_tags": ["finance"],
            "price_usd": 4, "created_at": "-P9D", "codebase": {"exclusivity": "available", "lines_of_code": 1, "commits": 1,
                "contributors": 1, "merged_prs": 1, "history_start": "2020-01-01", "history_end": "2021-01-01", "ci_on_prs": true,
                "data": data.then(|| json!({"channel": "zip", "archive_status": "pending", "analysis_status": "pending", "attached_at": "-P2D"}))}})
    };
    let listing = |key: &str, team: &str, assets: Value, history: Value| {
        json!({"key": key, "team": team, "title": key, "description": "D", "price_usd": 5, "created_at": "-P9D",
            "assets": assets, "history": history})
    };
    let live = json!([{"event": "submitted", "at": "-P8D"}, {"event": "approved", "at": "-P7D"}, {"event": "published", "at": "-P6D"}]);
    let market = market_with(&json!({
        "assets": [codebase("one", true), codebase("two", true), codebase("proposal", false)],
        "listings": [
            listing("draft", "seller", json!(["one"]), json!([])),
            listing("live", "seller", json!(["one"]), live),
            listing("foreign", "both", json!([]), json!([])),
        ],
    }));
    for (query, attachable) in [
        (String::new(), 2),
        (format!("?attach_to={}", seeded_id("listings", "draft")), 1),
        (format!("?attach_to={}", seeded_id("listings", "live")), 0),
        (format!("?attach_to={}", seeded_id("listings", "foreign")), 0),
        (format!("?attach_to={}", seeded_id("listings", "nobody's")), 0),
        (format!("?attach_to={}&filter=name:is:two", seeded_id("listings", "draft")), 1),
        ("?deprecated=true".to_owned(), 0),
        ("?deprecated=false&stage=complete".to_owned(), 2),
    ] {
        let list = seller_get(&market, &format!("assets{query}")).await;
        let counted: u64 = elements(&list["groups"]).map(|group| group["attachable"].as_u64().unwrap()).sum();
        assert_eq!(counted, attachable, "{query}");
    }
}

#[tokio::test]
async fn invalid_query_parameters_are_rejected() {
    let (market, _) = random_market(3);
    for (query, problem) in [
        ("limit=0", "query.limit greater_than_equal"),
        ("limit=201", "query.limit less_than_equal"),
        ("offset=-1", "query.offset greater_than_equal"),
        ("offset=2147483648", "query.offset less_than_equal"),
        ("stage=done", "query.stage enum"),
        ("sort=title", "query.sort enum"),
        ("sort_direction=down", "query.sort_direction enum"),
        ("group_id=x", "query.group_id uuid_parsing"),
        ("id=x", "query.id.0 uuid_parsing"),
        ("filter=stage", "query.filter.0 value_error"),
        ("filter=stage:is:complete&filter=has_traces:is:true", "query.filter.1 value_error"),
        ("filter=name:has:x", "query.filter.0 value_error"),
    ] {
        let response = seller_call(&market, "GET", &format!("codebases?{query}"), Value::Null).await;
        assert_eq!(response.problems(), [problem], "{query}");
    }
    let response = seller_call(&market, "GET", "assets?filter=stage:is:done", Value::Null).await;
    let msg = response.json()["detail"][0]["msg"].as_str().unwrap().to_owned();
    assert!(msg.contains("character 9") && msg.contains("incomplete, proposed, complete"), "{msg}");
    for (query, problem) in [
        ("leaf_budget=0", "query.leaf_budget greater_than_equal"),
        ("header_budget=101", "query.header_budget less_than_equal"),
        ("limit=5", "query.limit extra_forbidden"),
    ] {
        let response = market.call(SELLER, "GET", &format!("/v2/assets/window?{query}"), &Value::Null).await;
        assert_eq!(response.problems(), [problem]);
    }
    assert_eq!(seller_get(&market, "assets").await["limit"], 50);
    assert_eq!(market.call(OTHER, "GET", "/v2/assets", &Value::Null).await.ok()["total"], 0);
}

/// If the process is killed after a bulk insert of assets and before their `inventory` rows are inserted, the
/// next open of the market inserts these rows.
#[tokio::test]
async fn postponed_inventory_rows_are_inserted_on_open() {
    let (market, assets) = random_market(5);
    let team = market.read(|reader| operations::teams::resolve(reader.rows, "Seller house")).unwrap();
    let own = KindFields::Other(&[]);
    market
        .write(|writer| {
            store::inventory::postpone(writer.rows, store::inventory::last_asset_row_id(writer.rows)?)?;
            let asset = NewAsset {
                id: uuid::Uuid::from_u128(0xa55e7),
                team: team.row_id,
                group: store::groups::find_default_row_id(writer.rows, team.row_id)?,
                title: "Late",
                description: None,
                domain_tags: &[],
                other_domain: None,
                price: None,
                notes: None,
                extra_columns: &BTreeMap::new(),
                created_at: writer.now,
                locks: &BTreeMap::new(),
                kind_fields: own,
            };
            store::assets::insert(writer.rows, &asset)
        })
        .unwrap();
    assert_eq!(seller_get(&market, "assets").await["total"], assets.len());
    let inconsistencies = operations::verify::find_inconsistencies(market.market()).unwrap();
    assert!(
        inconsistencies.iter().any(|inconsistency| inconsistency.contains("inventory row of asset")),
        "{inconsistencies:?}"
    );
    let path = market.market().data_dir().join("market.sqlite");
    store::Store::open(&path, 1, store::Durability::None).unwrap();
    let list = seller_get(&market, "assets").await;
    assert_eq!((&list["total"], &list["items"][0]["title"]), (&json!(assets.len() + 1), &json!("Late")));
}
