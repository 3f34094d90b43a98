//! The tool that selects an operation by the list that it aggregates.

use crate::rest::{
    limits::Budget,
    route::{ChoiceValues, Contract, MultiTool, RouteAttributes, Target, Tool, ToolText, Toolset},
};

/// The tool for the operations that `list` selects.
pub static AGGREGATE_TOOL: MultiTool = MultiTool {
    text: ToolText::new(
        Toolset::Catalog,
        "aggregate",
        "Counts, sums and medians",
        "Count, sum, minimum, maximum and median over all records of a list, in one call.",
    )
    .with_parameters(&[
        (GROUP_BY, "At most 2, of those of the list."),
        (MEASURE, "Number; omit it to count records."),
    ])
    .with_team_text_for(GROUP_BY, GROUPS_OF_TEAM_TEXT),
    argument: "list",
    description: "Tool that lists the records.",
    default: None,
    filters: Some("Filters by name: those of that tool, or `kind`, `status`, `since`, `until`."),
    choice_values: NAMES_BY_LIST,
};

/// What records are grouped by whose values teams write, or can write.
const GROUPS_OF_TEAM_TEXT: &[&str] = &["buyer", "group", "listing", "opportunity", "tag", "vendor"];

/// What the records of each list can be grouped by, and their numbers.
const NAMES_BY_LIST: &[ChoiceValues] = &[
    names("browse_listings", CATALOG_GROUPS, LISTING_NUMBERS),
    names("list_own_listings", OWN_LISTING_GROUPS, LISTING_NUMBERS),
    names(
        "list_opportunities",
        &["asset_type", "tag", "budget_unit", "buyer"],
        &["budget_min", "budget_max"],
    ),
    names("list_notifications", &["kind", "read", "month"], &[]),
    names("list_taxonomy", &["kind", "category"], &[]),
    names(
        "list_purchases",
        &["status", "kind", "vendor", "listing", "month"],
        &["price", "buyer_fee", "total"],
    ),
    names("list_offers", &["status", "vendor", "listing", "month"], &["amount"]),
    names(
        "list_own_opportunities",
        &["status", "kind", "budget_unit", "month"],
        &["budget_min", "budget_max"],
    ),
    names("list_project_bids", BID_GROUPS, BID_NUMBERS),
    names("list_own_project_bids", BID_GROUPS, BID_NUMBERS),
    names("list_sales", &["kind", "listing", "month"], &["price", "platform_fee", "amount"]),
    names("list_earnings", &["kind", "listing", "month"], &["amount"]),
    names("list_qc_reports", &["status", "kind", "listing", "month"], &["charge"]),
    names("get_listing_history", &["event_type", "actor", "month"], &[]),
    names("list_asset_groups", &["group", "month"], &["assets"]),
    names("list_estimations", ESTIMATION_GROUPS, ESTIMATION_NUMBERS),
    names("list_latest_estimations", ESTIMATION_GROUPS, ESTIMATION_NUMBERS),
    names("list_assets", ASSET_GROUPS, ASSET_NUMBERS),
    names("list_codebases", ASSET_GROUPS, ASSET_NUMBERS),
    names("list_raw_data", ASSET_GROUPS, ASSET_NUMBERS),
    names("list_tasks", ASSET_GROUPS, ASSET_NUMBERS),
    names("list_listing_assets", ASSET_GROUPS, ASSET_NUMBERS),
];

const fn names(
    list: &'static str,
    groups: &'static [&'static str],
    numbers: &'static [&'static str],
) -> ChoiceValues {
    ChoiceValues { choice: list, values: [(GROUP_BY, groups), (MEASURE, numbers)] }
}

const GROUP_BY: &str = "group_by";
const MEASURE: &str = "measure";

/// The groups of own listings, but the last one.
const CATALOG_GROUPS: &[&str] = OWN_LISTING_GROUPS.split_last().unwrap().1;

const OWN_LISTING_GROUPS: &[&str] = &[
    "vendor",
    "vendor_tier",
    "asset_type",
    "language",
    "tag",
    "tag_slug",
    "lifecycle_stage",
    "certified",
    "sample_available",
    "has_active_bids",
    "month",
    "review_status",
];

const LISTING_NUMBERS: &[&str] = &[
    "price",
    "sample_price",
    "price_per_task",
    "tasks",
    "loc",
    "zip_files",
    "zip_size_bytes",
    "assets",
    "codebases",
    "tasksets",
    "environments",
    "robotics_datasets",
    "raw_data",
];

const BID_GROUPS: &[&str] = &["status", "opportunity", "month"];
const BID_NUMBERS: &[&str] = &["num_tasks"];

const ESTIMATION_GROUPS: &[&str] = &["status", "kind", "channel", "inventory", "month"];
const ESTIMATION_NUMBERS: &[&str] = &["low", "high"];

const ASSET_GROUPS: &[&str] = &[
    "sku",
    "stage",
    "channel",
    "qc",
    "exclusivity",
    "private_data",
    "task_type",
    "has_traces",
    "has_qa_results",
    "has_environment",
    "group",
    "domain",
    "month",
];

const ASSET_NUMBERS: &[&str] =
    &["price", "estimate", "lines_of_code", "commits", "contributors", "merged_prs"];

/// The attributes of the operation that aggregates a list.
pub const fn aggregate(list: &'static str, budget: Budget) -> RouteAttributes {
    let tool = Tool::Choice { tool: &AGGREGATE_TOOL, value: list, list: Some("groups") };
    RouteAttributes::read(budget, tool, Contract::new(Target::None))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        operations::aggregates::known_names,
        store::aggregates::{self as lists, ASSET_NUMBERS, ASSET_PROPERTIES, RecordList},
    };

    #[test]
    fn names_are_those_of_the_lists() {
        let mut expected: BTreeMap<&str, [Vec<&str>; 2]> = known_names().into_iter().collect();
        let of_records = |list: &RecordList| {
            [
                list.properties.iter().map(|property| property.name).collect(),
                list.numbers.iter().map(|number| number.name).collect(),
            ]
        };
        for (name, list) in [
            ("list_purchases", &lists::PURCHASES),
            ("list_offers", &lists::OFFERS),
            ("list_own_opportunities", &lists::OPPORTUNITIES),
            ("list_project_bids", &lists::RECEIVED_PROJECT_BIDS),
            ("list_own_project_bids", &lists::PROJECT_BIDS),
            ("list_sales", &lists::SALES),
            ("list_earnings", &lists::EARNINGS),
            ("list_qc_reports", &lists::QUALITY_RUNS),
            ("list_notifications", &lists::NOTIFICATIONS),
        ] {
            expected.insert(name, of_records(list));
        }
        for name in ["list_assets", "list_codebases", "list_raw_data", "list_tasks", "list_listing_assets"] {
            let properties = ASSET_PROPERTIES.iter().map(|property| property.name).collect();
            let numbers = ASSET_NUMBERS.iter().map(|number| number.name).collect();
            expected.insert(name, [properties, numbers]);
        }
        let stated: BTreeMap<&str, [Vec<&str>; 2]> = NAMES_BY_LIST
            .iter()
            .map(|list| (list.choice, list.values.map(|(_, values)| values.to_vec())))
            .collect();
        assert_eq!(stated, expected);
        for name in GROUPS_OF_TEAM_TEXT {
            assert!(stated.values().any(|[groups, _]| groups.contains(name)), "{name}");
        }
    }
}
