//! The tool that selects an operation by the list that it aggregates.

use super::{list::GROUP_BY, lists::VALUES};
use crate::rest::route::{MultiTool, ToolText, Toolset};

/// The tool for the operations that `list` selects.
pub static AGGREGATE_TOOL: MultiTool = MultiTool {
    text: ToolText::new(
        Toolset::Catalog,
        "aggregate",
        "Counts, sums and medians",
        "Count, sum, minimum, maximum and median over all records of a list, in one call.",
    )
    .with_team_text_for(GROUP_BY, GROUPS_OF_TEAM_TEXT),
    argument: "list",
    description: "Tool that lists the records.",
    default: None,
    filters: Some("Filters by name: those of that tool, or `kind`, `status`, `since`, `until`."),
    choice_values: VALUES,
};

/// What records are grouped by whose values teams write, or can write.
const GROUPS_OF_TEAM_TEXT: &[&str] = &["buyer", "group", "listing", "opportunity", "tag", "vendor"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_team_text_exist() {
        let groups: Vec<&str> = VALUES.iter().flat_map(|values| values().values[0].1.clone()).collect();
        for name in GROUPS_OF_TEAM_TEXT {
            assert!(groups.contains(name), "{name}");
        }
    }
}
