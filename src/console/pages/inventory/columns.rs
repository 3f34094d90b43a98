//! The columns of the inventory's table, and of its file.

use crate::{
    console::{
        parts::assets::{self, Domains},
        prelude::*,
    },
    domain::{asset_filters::SortColumn, inventory::Asset, sessions::InventoryColumn},
};

/// A row: an asset, and what it is named by.
#[derive(Clone, Copy)]
pub struct Row<'r> {
    /// The asset.
    pub asset: &'r Asset,
    /// The name of its group.
    pub group: &'r str,
    /// The domain tags of the market.
    pub domains: &'r Domains,
}

/// Returns the head of a column.
pub const fn head(column: InventoryColumn) -> Head {
    about(column).0
}

/// Returns the order that the head of a column leads to; `None` if the inventory cannot be sorted by it.
pub const fn sort(column: InventoryColumn) -> Option<SortColumn> {
    about(column).1
}

/// Returns the name of an order: that of the column without its unit.
pub fn order_name(order: SortColumn) -> &'static str {
    let column = InventoryColumn::ALL.iter().find(|column| sort(**column) == Some(order));
    match column {
        Some(column) => head(*column).name.trim_end_matches(", USD"),
        None if order == SortColumn::Estimate => "Estimated price",
        None => "Name",
    }
}

const fn about(column: InventoryColumn) -> (Head, Option<SortColumn>) {
    use {InventoryColumn as C, SortColumn as S};
    match column {
        C::Kind => (Head::text("Kind"), Some(S::Type)),
        C::Group => (Head::text("Group"), None),
        C::Stage => (Head::text("Stage"), Some(S::Stage)),
        C::Missing => (Head::text("What is missing"), None),
        C::Data => (Head::text("Data"), None),
        C::Source => (Head::text("Source"), Some(S::Channel)),
        C::Tags => (Head::text("Domains"), Some(S::Domain)),
        C::Price => (Head::number("Price, USD"), Some(S::Price)),
        C::Lines => (Head::number("Lines"), Some(S::LinesOfCode)),
        C::Commits => (Head::number("Commits"), Some(S::Commits)),
        C::Contributors => (Head::number("Contributors"), Some(S::Contributors)),
        C::MergedPrs => (Head::number("Merged pull requests"), Some(S::MergedPrs)),
        C::HistoryStart => (Head::number("First commit"), Some(S::HistoryStart)),
        C::HistoryEnd => (Head::number("Last commit"), Some(S::HistoryEnd)),
        C::CiOnPrs => (Head::text("CI on pull requests"), Some(S::CiOnPrs)),
        C::Exclusivity => (Head::text("Exclusive sale"), Some(S::Exclusivity)),
        C::PrivateData => (Head::text("Private source"), Some(S::PrivateData)),
        C::TaskType => (Head::text("Subject"), Some(S::TaskType)),
        C::Traces => (Head::text("Graded runs"), Some(S::HasTraces)),
        C::QaResults => (Head::text("Checks"), Some(S::HasQaResults)),
        C::Environment => (Head::text("Environment built"), Some(S::HasEnvironment)),
        C::Locked => (Head::text("Locked fields"), None),
        C::Notes => (Head::text("Notes"), None),
        C::Added => (Head::number("Added"), Some(S::CreatedAt)),
    }
}

/// Shows the value of a column in a row of the table.
pub fn show(column: InventoryColumn, row: &Row) -> Markup {
    use InventoryColumn as C;
    let asset = row.asset;
    match column {
        C::Stage => assets::stage_badge(asset),
        C::Data => assets::data_badge(asset),
        C::Added => text::day(asset.created_at),
        C::Price => html! { (text::optional_money(asset.price)) },
        C::Group => html! { bdi { (row.group) } },
        C::Notes => or_missing(&excerpt(asset.notes.as_deref().unwrap_or_default())),
        C::Lines | C::Commits | C::Contributors | C::MergedPrs => {
            html! { @match count(column, asset) {
                Some(count) => (text::grouped(count)),
                None => (text::MISSING),
            } }
        }
        column => or_missing(&value(column, row)),
    }
}

fn or_missing(text: &str) -> Markup {
    html! { @if text.is_empty() { (text::MISSING) } @else { bdi { (text) } } }
}

/// Returns the value of a column as text for a file; empty if there is none.
pub fn value(column: InventoryColumn, row: &Row) -> String {
    use InventoryColumn as C;
    let asset = row.asset;
    let (fields, task) = (&asset.codebase, asset.task.as_ref());
    match column {
        C::Kind => assets::kind(asset.kind),
        C::Group => row.group.to_owned(),
        C::Stage => assets::stage_text(asset).to_owned(),
        C::Missing => assets::missing(asset),
        C::Data => assets::data_state(asset).map(|(_, word)| word).unwrap_or_default().to_owned(),
        C::Source => asset.data.as_ref().map_or("", |data| assets::channel(data.channel)).to_owned(),
        C::Tags => row.domains.labels(&asset.domain_tags),
        C::Price => asset.price.map(|price| price.to_string()).unwrap_or_default(),
        C::Lines | C::Commits | C::Contributors | C::MergedPrs => {
            count(column, asset).map(|count| count.to_string()).unwrap_or_default()
        }
        C::HistoryStart => fields.history_start.map(|day| day.to_string()).unwrap_or_default(),
        C::HistoryEnd => fields.history_end.map(|day| day.to_string()).unwrap_or_default(),
        C::CiOnPrs => yes_or_no(fields.ci_on_prs),
        C::Exclusivity => fields.exclusivity.map(assets::variant).unwrap_or_default(),
        C::PrivateData => yes_or_no(asset.data.as_ref().map(|data| data.is_private)),
        C::TaskType => task.map(|task| assets::variant(task.task_type)).unwrap_or_default(),
        C::Traces => yes_or_no(task.map(|task| task.quality.has_traces())),
        C::QaResults => yes_or_no(task.map(|task| task.quality.has_qa_results)),
        C::Environment => yes_or_no(task.map(|task| task.quality.is_built)),
        C::Locked => assets::locked(&asset.locks),
        C::Notes => asset.notes.clone().unwrap_or_default(),
        C::Added => asset.created_at.to_string(),
    }
}

/// Returns the number in a column; `None` if it is not known.
fn count(column: InventoryColumn, asset: &Asset) -> Option<u64> {
    let fields = &asset.codebase;
    let count = match column {
        InventoryColumn::Lines => fields.lines_of_code,
        InventoryColumn::Commits => fields.commits,
        InventoryColumn::Contributors => fields.contributors,
        InventoryColumn::MergedPrs => fields.merged_prs,
        _ => None,
    };
    count.and_then(|count| u64::try_from(count).ok())
}

fn yes_or_no(value: Option<bool>) -> String {
    value.map_or("", |value| if value { "Yes" } else { "No" }).to_owned()
}

/// Returns the beginning of a text, since the notes of an asset can be long.
fn excerpt(text: &str) -> String {
    const MAX: usize = 120;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
