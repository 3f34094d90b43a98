//! The table of assets: one form, whose buttons lead to the actions on the chosen assets.

use super::{
    chosen::{self, Elsewhere},
    columns::{self, Row},
    found::Found,
    state::{ACTION, ALL, ASSET, DIRECTION, FROM, InventoryState, SORT, Selection},
};
use crate::{
    console::{csv, parts::assets, prelude::*},
    domain::{
        asset_filters::SortColumn,
        filters::SortDirection,
        sessions::{InventoryColumn, InventoryColumns},
    },
};

/// Number of assets on a page.
pub const ASSETS_PER_PAGE: u64 = 50;

/// Actions on chosen assets: values of the field, labels, and classes of the buttons.
const ACTIONS: [(&str, &str, &str); 7] = [
    ("move", "Move to…", "little"),
    ("tag", "Tag…", "little"),
    ("describe", "Describe…", "little"),
    ("price", "Set price…", "little"),
    ("attach", "Attach to a listing…", "little"),
    ("check", "Check…", "little"),
    ("delete", "Delete…", "little danger"),
];

/// Where the page is in the list, and what was chosen before.
#[derive(Clone, Debug)]
pub struct Position {
    /// Number of assets before the page.
    pub from: u64,
    /// What is chosen: all matching assets, or single ones of this page and of others.
    pub selection: Option<Selection>,
}

impl Position {
    /// Whether all matching assets are chosen.
    const fn takes_all(&self) -> bool {
        matches!(self.selection, Some(Selection::All { .. }))
    }

    /// Returns the single assets that are chosen.
    pub fn chosen(&self) -> &[Uuid] {
        match &self.selection {
            Some(Selection::Assets(assets)) => assets,
            _ => &[],
        }
    }

    /// Returns which of the chosen assets the page does not show.
    pub fn elsewhere(&self, found: &Found) -> Elsewhere {
        Elsewhere::of(self.chosen(), &found.page.items)
    }
}

/// Returns the table with its buttons and its pager.
pub fn table(
    context: &Context,
    state: &InventoryState,
    found: &Found,
    position: &Position,
    chosen: InventoryColumns,
) -> Markup {
    let total = found.total(state);
    let elsewhere = position.elsewhere(found);
    html! {
        (elsewhere.warning())
        form.stack #assets action=(context.links.to(&format!("{}/new", paths::BULK_CHANGES))) autocomplete="off" data-assets {
            (state.hidden_with_order())
            @if position.takes_all() { (Selection::All { shown: Some(total) }.hidden()) }
            (elsewhere.hidden())
            // A script sets the group that rows are dragged to.
            input type="hidden" name="to_group" value="" disabled;
            div.scroll tabindex="0" role="region" aria-label="Assets, table" {
                (bulk_bar(context, state, total, position, &elsewhere))
                table.dense {
                    thead { (heads(context, state, &elsewhere.selection(), chosen)) }
                    tbody { @for row in found.rows() { (table_row(context, &row, position, chosen)) } }
                }
            }
            p.hint.note { "Scroll sideways for more columns." }
            (pager(context, state, found, position))
        }
    }
}

fn bulk_bar(
    context: &Context,
    state: &InventoryState,
    total: u64,
    position: &Position,
    elsewhere: &Elsewhere,
) -> Markup {
    let everything = state.query().with(FROM, &from_text(position.from)).with(ALL, "1");
    html! {
        div.row.bulk role="group" aria-label="What to do with the chosen assets" {
            @if position.takes_all() {
                b { "All " (text::grouped(total)) " that match are chosen" }
            } @else {
                (elsewhere.label())
            }
            @for (value, label, class) in ACTIONS { button class=(class) name=(ACTION) value=(value) { (label) } }
            @if position.takes_all() {
                a href=(page_address(context, state, position.from)) { "Choose single assets" }
            } @else {
                @if !elsewhere.is_empty() { a href=(page_address(context, state, position.from)) { "Choose none" } }
                a href=(context.here(&everything)) { "Select all " (text::grouped(total)) " that match" }
            }
        }
    }
}

fn heads(
    context: &Context,
    state: &InventoryState,
    selection: &Selection,
    chosen: InventoryColumns,
) -> Markup {
    html! { tr {
        (chosen::all_of_page())
        (head(context, state, selection, ("Asset", false), Some(SortColumn::Name)))
        @for column in chosen.iter() {
            @let shown = columns::head(column);
            (head(context, state, selection, (shown.name, shown.is_number), columns::sort(column)))
        }
    } }
}

/// Returns the head of a column. It links the order by the column, and the opposite order if the list has this one. Another
/// order leaves the single assets chosen.
fn head(
    context: &Context,
    state: &InventoryState,
    selection: &Selection,
    (name, is_number): (&str, bool),
    sort: Option<SortColumn>,
) -> Markup {
    let Some(column) = sort else {
        return html! { th scope="col" class=[is_number.then_some("num")] { (name) } };
    };
    let (current, direction) = state.sort.unwrap_or((SortColumn::CreatedAt, SortDirection::Descending));
    let is_current = current == column;
    let next = match (is_current, direction, is_number) {
        (true, SortDirection::Ascending, _) | (false, _, true) => SortDirection::Descending,
        (true, SortDirection::Descending, _) | (false, _, false) => SortDirection::Ascending,
    };
    let (word, arrow) = match direction {
        SortDirection::Ascending => ("ascending", " ↑"),
        SortDirection::Descending => ("descending", " ↓"),
    };
    let query = selection.on(state.query().with(SORT, column.as_str()).with(DIRECTION, next.as_str()));
    html! {
        th scope="col" class=[is_number.then_some("num")] aria-sort=[is_current.then_some(word)] {
            a href=(context.here(&query)) { (name) @if is_current { (arrow) } }
        }
    }
}

fn table_row(context: &Context, row: &Row, position: &Position, chosen: InventoryColumns) -> Markup {
    let asset = row.asset;
    let name = assets::name(asset);
    let is_chosen = position.takes_all() || position.chosen().contains(&asset.id);
    html! { tr data-asset=(asset.id) {
        td { input type="checkbox" name=(ASSET) value=(asset.id) checked[is_chosen] disabled[position.takes_all()]
            aria-label={ "Select " (name) }; }
        th scope="row" { a href=(context.links.to(&paths::asset(asset.id))) { bdi { (name) } } }
        @for column in chosen.iter() { (cell(column, row)) }
    } }
}

fn cell(column: InventoryColumn, row: &Row) -> Markup {
    html! { td class=[columns::head(column).is_number.then_some("num")] { (columns::show(column, row)) } }
}

/// Returns the address of a page of the list.
fn page_address(context: &Context, state: &InventoryState, from: u64) -> String {
    context.here(&state.query().with(FROM, &from_text(from)))
}

fn from_text(from: u64) -> String {
    if from == 0 { String::new() } else { from.to_string() }
}

/// Returns the buttons that lead to other pages. They belong to the form, so that what is chosen stays chosen.
fn pager(context: &Context, state: &InventoryState, found: &Found, position: &Position) -> Markup {
    let (total, from) = (found.total(state), position.from);
    let to = from + found.page.items.len() as u64;
    let here = context.links.to(paths::INVENTORY);
    let button = |from: u64, label: &str| {
        html! { button name=(FROM) value=(from) formaction=(here) { (label) } }
    };
    let file = context.here(&csv::query(&state.query()));
    html! {
        nav.row.apart aria-label="Pages of the list" {
            span.note {
                (text::grouped(from + 1)) " to " (text::grouped(to)) " of " (text::grouped(total)) " · " (csv::link(&file))
            }
            span.row {
                @if from > 0 { (button(from.saturating_sub(ASSETS_PER_PAGE), "Back")) }
                @if to < total { (button(to, "Next")) }
            }
        }
    }
}
