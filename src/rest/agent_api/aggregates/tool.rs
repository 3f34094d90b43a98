//! The tool that selects an operation by the list that it aggregates.

use crate::rest::route::{MultiTool, ToolText, Toolset};

/// The tool for the operations that `list` selects.
pub static AGGREGATE_TOOL: MultiTool = MultiTool {
    text: ToolText::new(
        Toolset::Catalog,
        "aggregate",
        "Counts, sums and medians",
        "Count, sum, minimum, maximum and median over all records of a list, in one call.",
    )
    .with_parameters(&[
        ("group_by", "At most 2 of those that the list has."),
        ("measure", "Number to aggregate; omit it to count records."),
    ])
    .with_values(&[("group_by", GROUPS), ("measure", NUMBERS)]),
    argument: "list",
    description: "Tool that lists the records.",
    default: None,
    filters: Some(
        "Filters by name: those of that tool, or of other records `kind`, `status`, `since`, `until`.",
    ),
};

/// What records are grouped by, for any list.
const GROUPS: &[&str] = &[
    "actor",
    "asset_type",
    "budget_unit",
    "buyer",
    "category",
    "certified",
    "channel",
    "domain",
    "event_type",
    "exclusivity",
    "group",
    "has_active_bids",
    "has_environment",
    "has_qa_results",
    "has_traces",
    "inventory",
    "kind",
    "language",
    "lifecycle_stage",
    "listing",
    "month",
    "opportunity",
    "private_data",
    "qc",
    "read",
    "review_status",
    "sample_available",
    "sku",
    "stage",
    "status",
    "tag",
    "tag_slug",
    "task_type",
    "vendor",
    "vendor_tier",
];

/// The numbers of records, for any list.
const NUMBERS: &[&str] = &[
    "amount",
    "assets",
    "budget_max",
    "budget_min",
    "buyer_fee",
    "charge",
    "codebases",
    "commits",
    "contributors",
    "environments",
    "estimate",
    "high",
    "lines_of_code",
    "loc",
    "low",
    "merged_prs",
    "num_tasks",
    "platform_fee",
    "price",
    "price_per_task",
    "raw_data",
    "robotics_datasets",
    "sample_price",
    "tasks",
    "tasksets",
    "total",
    "zip_files",
    "zip_size_bytes",
];

/// Declares the route of an operation that aggregates a list.
macro_rules! aggregate_route {
    ($route:ident, $access:ty, $operation:literal, $list:literal, $budget:expr, $doc:literal) => {
        #[doc = $doc]
        pub struct $route;

        impl Route for $route {
            type Access = $access;

            const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
                $operation,
                $budget,
                Tool::Choice { tool: &AGGREGATE_TOOL, value: $list, list: Some("groups") },
                Contract::new(Target::None),
            );
        }
    };
}
pub(super) use aggregate_route;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::aggregates;

    #[test]
    fn schema_lists_the_names_of_all_lists() {
        let [groups, numbers] = aggregates::known_names();
        assert_eq!(GROUPS, groups.into_iter().collect::<Vec<_>>());
        assert_eq!(NUMBERS, numbers.into_iter().collect::<Vec<_>>());
    }
}
