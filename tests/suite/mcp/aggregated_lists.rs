//! The lists that can be aggregated, with their records over REST.

use serde_json::{Value, json};

use super::{
    call,
    rest_records::{rest_details, rest_list, rest_pages, texts, tool_list},
};
use crate::{contract::cases::VENDOR, harness::demo};

/// Name of a property or number, and where records have it.
pub type NamedPath = (&'static str, &'static str);

/// A list that is aggregated: the records over REST, and what they can be grouped by and measured in.
pub struct Aggregated {
    pub list: &'static str,
    pub records: Vec<Value>,
    pub groups: &'static [NamedPath],
    pub numbers: &'static [NamedPath],
}

const LISTING_GROUPS: &[NamedPath] = &[
    ("vendor", "/team_name"),
    ("vendor_tier", "/vendor_tier"),
    ("asset_type", "/asset_types"),
    ("tag", "/domain_tags"),
    ("tag_slug", "/tag_slugs"),
    ("certified", "/platform_quality_certified"),
    ("sample_available", "/sample_available"),
    ("has_active_bids", "/has_active_bids"),
    ("language", "/catalog_scale/languages"),
];

const OWN_LISTING_GROUPS: &[NamedPath] = &[
    ("review_status", "/review_status"),
    ("vendor_tier", "/vendor_tier"),
    ("certified", "/platform_quality_certified"),
];

const LISTING_NUMBERS: &[NamedPath] = &[
    ("price", "/price"),
    ("sample_price", "/sample_price"),
    ("price_per_task", "/price_per_task"),
    ("loc", "/catalog_scale/loc"),
    ("tasks", "/catalog_scale/task_count"),
    ("zip_files", "/catalog_scale/zip_file_count"),
    ("zip_size_bytes", "/catalog_scale/zip_size_bytes"),
    ("assets", "/asset_count"),
];

/// Adds what listings are grouped by that their details do not have.
fn listing_record(mut detail: Value) -> Value {
    detail["has_active_bids"] = json!(detail["active_bid_count"].as_u64() > Some(0));
    let counts = detail["catalog_scale"]["asset_counts"].as_object().unwrap();
    detail["asset_count"] = json!(counts.values().map(|count| count.as_u64().unwrap()).sum::<u64>());
    // A listing has no lines of code, rather than 0 of them, if it has no code.
    for amount in ["loc", "task_count", "zip_file_count", "zip_size_bytes"] {
        let amount = &mut detail["catalog_scale"][amount];
        if *amount == 0 {
            *amount = Value::Null;
        }
    }
    let month = detail["published_at"].as_str().or(detail["created_at"].as_str());
    detail["month"] = json!(month.unwrap()[..7]);
    detail
}

/// Adds the month, and the name by which its listing is known, to a record. Amounts may be decimal text.
fn dated(mut record: Value, at: &str, listing: Option<[&str; 2]>) -> Value {
    let text =
        |record: &Value, pointer: &str| record.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    record["month"] = json!(text(&record, at).map(|at| at[..7].to_owned()));
    if let Some([title, id]) = listing {
        let names = text(&record, title).zip(text(&record, id));
        record["listing_name"] = json!(names.map(|(title, id)| format!("{title} ({id})")));
    }
    record
}

fn all_dated(records: Vec<Value>, at: &str, listing: Option<[&str; 2]>) -> Vec<Value> {
    records.into_iter().map(|record| dated(record, at, listing)).collect()
}

/// Returns the catalog.
pub async fn catalog(key: &str) -> Aggregated {
    let records = rest_details(key).await.into_iter().map(listing_record).collect();
    Aggregated { list: "browse_listings", records, groups: LISTING_GROUPS, numbers: LISTING_NUMBERS }
}

/// Returns the records of each list of a team that can be aggregated, but the catalog.
pub async fn lists_of_team(key: &str) -> Vec<Aggregated> {
    let team = call(demo(), key, "get_current_team", json!({})).await.ok();
    let has_role = |role: &str| team["roles"].as_array().unwrap().contains(&json!(role));
    let mut lists = Vec::new();
    let deal = Some(["/listing/title", "/listing/id"]);
    if has_role("buyer") {
        let purchases = rest_list(key, "/v2/listings/browse/purchases", "purchases").await;
        lists.push(Aggregated {
            list: "list_purchases",
            records: all_dated(purchases, "/purchase/created_at", deal),
            groups: &[
                ("kind", "/purchase/purchase_kind"),
                ("vendor", "/listing/team_name"),
                ("listing", "/listing_name"),
                ("month", "/month"),
            ],
            numbers: &[
                ("price", "/purchase/price"),
                ("buyer_fee", "/purchase/buyer_fee"),
                ("total", "/purchase/total"),
            ],
        });
        let offers = rest_list(key, "/v2/listings/browse/offers", "offers").await;
        lists.push(Aggregated {
            list: "list_offers",
            records: all_dated(offers, "/offer/created_at", deal),
            groups: &[
                ("status", "/offer/status"),
                ("vendor", "/listing/team_name"),
                ("listing", "/listing_name"),
                ("month", "/month"),
            ],
            numbers: &[("amount", "/offer/amount")],
        });
        let mut opportunities = Vec::new();
        for path in ["/v2/buyer/opportunities", "/v2/buyer/project-opportunities"] {
            opportunities.extend(rest_pages(key, path, "items").await);
        }
        lists.push(Aggregated {
            list: "list_own_opportunities",
            records: all_dated(opportunities, "/created_at", None),
            groups: &[("status", "/status"), ("budget_unit", "/metadata/budget_unit"), ("month", "/month")],
            numbers: &[("budget_min", "/metadata/budget_min"), ("budget_max", "/metadata/budget_max")],
        });
        let mut bids = Vec::new();
        for project in rest_pages(key, "/v2/buyer/project-opportunities", "items").await {
            let path = format!("/v2/buyer/project-opportunities/{}/bids", project["id"].as_str().unwrap());
            for mut bid in rest_pages(key, &path, "items").await {
                let [title, id] = ["title", "id"].map(|name| project[name].as_str().unwrap());
                bid["opportunity_title"] = json!(format!("{title} ({id})"));
                bids.push(bid);
            }
        }
        lists.push(Aggregated {
            list: "list_project_bids",
            records: all_dated(bids, "/created_at", None),
            groups: &[("status", "/status"), ("opportunity", "/opportunity_title"), ("month", "/month")],
            numbers: &[("num_tasks", "/num_tasks")],
        });
    }
    let notifications = rest_list(key, "/v2/vendor/notifications?limit=100", "notifications").await;
    lists.push(Aggregated {
        list: "list_notifications",
        records: all_dated(notifications, "/created_at", None),
        groups: &[("kind", "/type"), ("read", "/read"), ("month", "/month")],
        numbers: &[],
    });
    lists.push(Aggregated {
        list: "list_taxonomy",
        records: taxonomy(key).await,
        groups: &[("kind", "/kind"), ("category", "/category")],
        numbers: &[],
    });
    if has_role("vendor") {
        lists.extend(lists_of_vendor(key).await);
    }
    lists
}

/// Returns the assets of a vendor, with what only other lists have.
async fn assets_with_details(key: &str) -> Vec<Value> {
    let mut assets = all_dated(rest_pages(key, "/v2/assets", "items").await, "/created_at", None);
    let codebases = rest_pages(key, "/v2/codebases", "items").await;
    let groups = rest_list(key, "/v2/asset-groups", "groups").await;
    let arguments = json!({"fields": ["id", "qc", "price_usd"], "limit": 100});
    let rows = tool_list(key, ("list_assets", "items", arguments)).await;
    for asset in &mut assets {
        let channel = asset["data"]["channel"].as_str().unwrap_or("not_linked").to_owned();
        asset["channel"] = json!(channel);
        if let Some(codebase) = codebases.iter().find(|codebase| codebase["id"] == asset["id"]) {
            asset["codebase"] = codebase.clone();
        }
        // Outcomes and prices of these rows are compared with those over REST elsewhere.
        asset["row"] = rows.iter().find(|row| row["id"] == asset["id"]).unwrap().clone();
        let group = groups.iter().find(|group| group["id"] == asset["group_id"]).unwrap();
        asset["group"] = group["name"].clone();
    }
    assets
}

/// Returns the groups of a vendor's inventory with the numbers of their assets.
async fn groups_with_assets(key: &str) -> Vec<Value> {
    let mut groups = all_dated(rest_list(key, "/v2/asset-groups", "groups").await, "/created_at", None);
    let counts = rest_list(key, "/v2/assets?limit=1", "groups").await;
    for group in &mut groups {
        let count = counts.iter().find(|count| count["group_id"] == group["id"]);
        group["assets"] = json!(count.map_or(0, |count| count["total"].as_u64().unwrap()));
    }
    groups
}

/// Returns the terms of the taxonomy, each with the part that it belongs to.
async fn taxonomy(key: &str) -> Vec<Value> {
    let mut terms = Vec::new();
    for (key, path, kind, lists) in [
        (key, "/v2/domains", "domains", &["domains"][..]),
        (key, "/v2/inventory-tags", "inventory_tags", &["inventory_tags"]),
        (key, "/v2/content-tags", "content_tags", &["content_tags"]),
        (key, "/v2/asset-types", "asset_types", &["asset_types", "deprecated_asset_types"]),
        (VENDOR, "/v2/codebases/languages", "languages", &["languages"]),
    ] {
        for list in lists {
            let named = rest_list(key, path, list).await.into_iter().map(|mut term| {
                term["kind"] = json!(kind);
                term
            });
            terms.extend(named);
        }
    }
    terms
}

/// Returns the sales of a vendor with their prices and fees, as its earnings state them.
async fn sales_with_fees(key: &str, earnings: &[Value]) -> Vec<Value> {
    let mut sales = rest_list(key, "/v2/listings/sales", "sales").await;
    for sale in &mut sales {
        let fee = earnings
            .iter()
            .find(|entry| entry["purchase_id"] == sale["id"] && entry["entry_type"] == "platform_fee");
        let fee = fee.and_then(|entry| entry["amount"].as_str()?.parse::<f64>().ok()).unwrap_or_default();
        sale["platform_fee"] = json!(-fee);
        sale["price"] = json!(sale["amount"].as_f64().unwrap() - fee);
    }
    sales
}

async fn runs_with_kinds(key: &str) -> Vec<Value> {
    let mut runs = rest_pages(key, "/v2/listings/qc-reports", "reports").await;
    for run in &mut runs {
        run["kind"] = json!(if run["listing_id"].is_null() { "asset" } else { "listing" });
    }
    runs
}

async fn estimations_in_dollars(key: &str) -> Vec<Value> {
    let mut estimations = rest_list(key, "/v2/estimations?limit=100", "estimations").await;
    for estimation in &mut estimations {
        for name in ["low", "high"] {
            let cents = estimation[format!("quote_{name}_cents")].as_f64();
            estimation[name] = json!(cents.map(|cents| cents / 100.0));
        }
        let has_asset = !estimation["inventory_asset_id"].is_null();
        estimation["inventory"] = json!(if has_asset { "added" } else { "not_added" });
    }
    estimations
}

async fn lists_of_inventory(key: &str) -> Vec<Aggregated> {
    let assets = assets_with_details(key).await;
    vec![
        Aggregated {
            list: "list_assets",
            records: assets,
            groups: &[
                ("sku", "/sku"),
                ("stage", "/stage"),
                ("channel", "/channel"),
                ("domain", "/domain_tags"),
                ("month", "/month"),
                ("qc", "/row/qc"),
                ("group", "/group"),
                ("exclusivity", "/codebase/exclusivity"),
                ("task_type", "/task/task_type"),
            ],
            numbers: &[
                ("price", "/row/price_usd"),
                ("lines_of_code", "/codebase/lines_of_code"),
                ("commits", "/codebase/commits"),
                ("contributors", "/codebase/contributors"),
                ("merged_prs", "/codebase/merged_prs"),
            ],
        },
        Aggregated {
            list: "list_codebases",
            records: all_dated(rest_pages(key, "/v2/codebases", "items").await, "/created_at", None),
            groups: &[
                ("stage", "/stage"),
                ("exclusivity", "/exclusivity"),
                ("domain", "/domain_tags"),
                ("month", "/month"),
            ],
            numbers: &[("lines_of_code", "/lines_of_code"), ("commits", "/commits")],
        },
        Aggregated {
            list: "list_raw_data",
            records: all_dated(rest_pages(key, "/v2/raw-data", "items").await, "/created_at", None),
            groups: &[("stage", "/stage"), ("domain", "/domain_tags"), ("month", "/month")],
            numbers: &[],
        },
        Aggregated {
            list: "list_tasks",
            records: all_dated(rest_pages(key, "/v2/tasks", "items").await, "/created_at", None),
            groups: &[
                ("stage", "/stage"),
                ("task_type", "/task/task_type"),
                ("has_traces", "/task/has_traces"),
                ("has_qa_results", "/task/has_qa_results"),
                ("has_environment", "/task/has_environment"),
            ],
            numbers: &[],
        },
        Aggregated {
            list: "list_asset_groups",
            records: groups_with_assets(key).await,
            groups: &[("group", "/name"), ("month", "/month")],
            numbers: &[("assets", "/assets")],
        },
    ]
}

async fn lists_of_vendor(key: &str) -> Vec<Aggregated> {
    let mut own = Vec::new();
    for id in texts(&rest_list(key, "/v2/listings?limit=100", "items").await, "/id") {
        own.push(listing_record(demo().get(key, &format!("/v2/listings/{id}")).await.ok()));
    }
    let opportunities = rest_pages(key, "/v2/opportunities", "items").await;
    let bids = rest_pages(key, "/v2/project-opportunities/bids/mine", "items").await;
    let listing = Some(["/listing_title", "/listing_id"]);
    let earnings = rest_pages(key, "/v2/wallet/earnings", "items").await;
    let sales = sales_with_fees(key, &earnings).await;
    let runs = all_dated(runs_with_kinds(key).await, "/started_at", listing);
    let estimations = estimations_in_dollars(key).await;
    let mut lists = lists_of_inventory(key).await;
    lists.extend([
        Aggregated {
            list: "list_opportunities",
            records: opportunities,
            groups: &[
                ("asset_type", "/accepted_asset_types"),
                ("tag", "/metadata/tags"),
                ("budget_unit", "/metadata/budget_unit"),
            ],
            numbers: &[("budget_min", "/metadata/budget_min"), ("budget_max", "/metadata/budget_max")],
        },
        Aggregated {
            list: "list_own_project_bids",
            records: all_dated(bids, "/created_at", None),
            groups: &[("status", "/status"), ("month", "/month")],
            numbers: &[("num_tasks", "/num_tasks")],
        },
        Aggregated {
            list: "list_own_listings",
            records: own.clone(),
            groups: LISTING_GROUPS,
            numbers: LISTING_NUMBERS,
        },
        Aggregated {
            list: "list_own_listings",
            records: own,
            groups: OWN_LISTING_GROUPS,
            numbers: &[("price", "/price")],
        },
        Aggregated {
            list: "list_sales",
            records: all_dated(sales, "/paid_at", listing),
            groups: &[("kind", "/purchase_kind"), ("listing", "/listing_name"), ("month", "/month")],
            numbers: &[("amount", "/amount"), ("price", "/price"), ("platform_fee", "/platform_fee")],
        },
        Aggregated {
            list: "list_earnings",
            records: all_dated(earnings, "/created_at", None),
            groups: &[("kind", "/entry_type"), ("month", "/month")],
            numbers: &[("amount", "/amount")],
        },
        Aggregated {
            list: "list_qc_reports",
            records: runs,
            groups: &[
                ("status", "/status"),
                ("kind", "/kind"),
                ("listing", "/listing_name"),
                ("month", "/month"),
            ],
            numbers: &[("charge", "/charge_total")],
        },
        Aggregated {
            list: "list_estimations",
            records: all_dated(estimations, "/created_at", None),
            groups: &[
                ("status", "/status"),
                ("kind", "/sku_slug"),
                ("channel", "/source/channel"),
                ("month", "/month"),
                ("inventory", "/inventory"),
            ],
            numbers: &[("low", "/low"), ("high", "/high")],
        },
    ]);
    lists
}
