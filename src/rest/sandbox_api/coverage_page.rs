//! Coverage as a page for people, which loads nothing and has no scripts.

use std::fmt::Write as _;

use super::coverage_report::{CoverageOut, CoveredOperation, CoveredOutcome};
use crate::{
    rest::page_parts::{PAGE_STYLE, escape_html, icon},
    string_enum::StringEnum,
};

const TEMPLATE: &str = include_str!("../pages/coverage.html");

/// Returns the page. `subject` says whose coverage it is.
pub fn coverage_page(subject: &str, coverage: &CoverageOut) -> String {
    let mut tables = String::new();
    let mut api = "";
    for item in &coverage.items {
        if item.api != api {
            if !api.is_empty() {
                tables.push_str("</table>\n");
            }
            api = &item.api;
            // Writing to a `String` does not fail.
            let _ = writeln!(tables, "<h2>{} API</h2>", escape_html(&title(api)));
            tables.push_str("<table>\n<tr><th>Operation</th><th>Requests</th><th>Outcomes</th></tr>\n");
        }
        add_row(&mut tables, item);
    }
    if !api.is_empty() {
        tables.push_str("</table>\n");
    }
    TEMPLATE
        .replace("{icon}", &icon())
        .replace("{page_style}", PAGE_STYLE)
        .replace("{subject}", &escape_html(subject))
        .replace("{operations}", &coverage.operations.to_string())
        .replace("{met_operations}", &coverage.met_operations.to_string())
        .replace("{outcomes}", &coverage.outcomes.to_string())
        .replace("{met_outcomes}", &coverage.met_outcomes.to_string())
        .replace("{tables}", &tables)
}

/// Returns the name of an API with a capital letter.
fn title(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|character| character.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

fn add_row(table: &mut String, item: &CoveredOperation) {
    let class = if item.count == 0 { " class=\"unmet\"" } else { "" };
    let _ = write!(
        table,
        "<tr{class}><td><code>{}</code><small>{} {}</small></td><td class=\"count\">{}</td><td><div class=\"chips\">",
        escape_html(&item.operation),
        escape_html(&item.method),
        escape_html(&item.path),
        item.count
    );
    for outcome in &item.outcomes {
        add_chip(table, outcome);
    }
    table.push_str("</div></td></tr>\n");
}

fn add_chip(table: &mut String, outcome: &CoveredOutcome) {
    let class = match (outcome.count, outcome.is_documented) {
        (0, _) => "chip",
        (_, true) => "chip met",
        (_, false) => "chip other",
    };
    let code = outcome.code.as_ref().map(|code| format!(" {}", code.0.as_str())).unwrap_or_default();
    let count = if outcome.count > 0 { format!(" ×{}", outcome.count) } else { String::new() };
    let _ = write!(table, "<span class=\"{class}\">{}{}{count}</span>", outcome.status, escape_html(&code));
}
