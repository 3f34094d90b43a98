//! The inventory: one table of the vendor's assets, and the groups that they are in.

pub mod chosen;
mod columns;
mod filter_text;
mod filters;
mod found;
pub mod groups;
pub mod state;
mod table;
mod words;

use self::{
    found::Found,
    state::{FROM, InventoryState, Selection},
    table::{ASSETS_PER_PAGE, Position},
};
use crate::{
    console::{address::next_page, csv, prelude::*},
    domain::sessions::{InventoryColumn, InventoryColumns, SessionPreferences},
};

/// Field with a chosen column, repeated.
const COLUMNS: &str = "columns";

/// The page.
pub struct Inventory;

/// The form that chooses the columns of the table. The choice is kept for the session.
pub struct ChooseColumns;

impl Page<Vendor> for Inventory {
    const PATH: &'static str = paths::INVENTORY;
    const TITLE: &'static str = "Inventory";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Inventory"));

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let state = InventoryState::of(&visit.query);
        if let Some(built) = filters::built(&visit.query, &state) {
            let query = match Selection::of(&visit.query) {
                Some(selection) => selection.on(built.query()),
                None => built.query(),
            };
            return Ok(Answer::Redirect(query.at(paths::INVENTORY)));
        }
        let chosen = chosen_columns(visit);
        if csv::is_asked(&visit.query) {
            return found::file(visit, &state, chosen).await;
        }
        let from = visit.query.get(FROM).and_then(|from| from.parse().ok()).unwrap_or(0);
        let is_readable = state.problems.is_empty();
        // A filter that cannot be read selects nothing. The groups are shown with all of their assets.
        let shown = if is_readable { state.clone() } else { InventoryState::default() };
        let (filter, limit) = (shown.filter(&visit.access)?, if is_readable { ASSETS_PER_PAGE } else { 0 });
        let page =
            visit.read(move |reader, vendor| Found::read(reader, vendor, filter, limit as usize, from));
        let found = page.await?;
        let position = Position { from, selection: Selection::of(&visit.query) };
        let selection = position.elsewhere(&found).selection();
        let body = if found.page.counts.total() == 0 && state.is_everything() {
            empty(&visit.context, &found)
        } else {
            html! {
                div.stack {
                    (filters::groups(&visit.context, &shown, &selection, &found.page.counts))
                    (results(&visit.context, &state, &found, &position, chosen))
                }
            }
        };
        let content = Content::new(Self::TITLE, body)
            .with_note(note(&state, &found))
            .with_actions(html! {
                a.button href=(visit.links.to(paths::BULK_CHANGES)) { "Changes of many assets" }
                a.button.primary href=(visit.links.to(paths::ADD_ASSETS)) { (icons::icon("plus")) "Add assets" }
            })
            .with_request(request(&state, from));
        Ok(content.into())
    }
}

/// Returns the request for the assets of a page.
fn request(state: &InventoryState, from: u64) -> String {
    let query = state.api_query().with("limit", "50");
    let query = if from > 0 { query.with("offset", &from.to_string()) } else { query };
    query.at("/v2/assets")
}

/// Returns the columns that were chosen for the session.
fn chosen_columns(context: &Context) -> InventoryColumns {
    let signed_in = context.signed_in.as_ref();
    signed_in.and_then(|signed_in| signed_in.session.preferences.inventory_columns).unwrap_or_default()
}

/// Returns how many assets there are, or match.
fn note(state: &InventoryState, found: &Found) -> Markup {
    let groups = text::counted(found.page.counts.groups.len() as u64, "group", "groups");
    let total = found.total(state);
    html! {
        @if !state.problems.is_empty() { "The filter cannot be read" }
        @else if state.is_everything() { (text::counted(total, "asset", "assets")) " in " (groups) }
        @else if total == 1 { "1 asset matches" }
        @else { (text::grouped(total)) " assets match" }
    }
}

/// Returns the main part of the page, next to the list of groups: filters, columns, and the table.
fn results(
    context: &Context,
    state: &InventoryState,
    found: &Found,
    position: &Position,
    chosen: InventoryColumns,
) -> Markup {
    let inputs = filters::inputs(&context.query, state);
    let selection = &position.elsewhere(found).selection();
    html! {
        div.stack {
            (filters::form(context, state, selection, &inputs))
            div.row {
                (filters::builder(context, state, selection, &found.names.domains))
                (columns_form(context, state, selection, chosen))
            }
            (filters::chips(context, state, selection, found))
            @if !state.problems.is_empty() {
                (problems(state))
            } @else if found.page.items.is_empty() {
                (nothing(context, state, selection, found))
            } @else {
                (table::table(context, state, found, position, chosen))
            }
        }
    }
}

/// Returns what cannot be read in the filters.
fn problems(state: &InventoryState) -> Markup {
    badges::failure(html! {
        b { "No assets are shown, because the filter cannot be read." }
        ul { @for problem in &state.problems { li.long { (problem.msg) } } }
    })
}

/// Returns the content if no asset matches, or if the page is after the last one.
fn nothing(context: &Context, state: &InventoryState, selection: &Selection, found: &Found) -> Markup {
    if found.total(state) > 0 {
        let first = filters::address(context, state, selection);
        return tables::empty(
            "This page is behind the last asset",
            "",
            Some(("Show the first page", &first)),
        );
    }
    let advice = "Drop one of the filters above, or show all assets.";
    let all = filters::address(context, &InventoryState::default(), selection);
    tables::empty("No asset has all of this", advice, Some(("Show all assets", &all)))
}

/// Returns what a team without assets can do.
fn empty(context: &Context, found: &Found) -> Markup {
    html! {
        (tables::empty(
            "You have no assets yet",
            "An asset is what you sell: a codebase, an archive of data, or a task. Link a repository, upload an archive, or import a \
             table. Once an asset is complete, you can offer it in a listing.",
            Some(("Add assets", &context.links.to(paths::ADD_ASSETS))),
        ))
        @if found.page.counts.groups.len() > 1 {
            (filters::groups(context, &InventoryState::default(), &Selection::Assets(Vec::new()), &found.page.counts))
        }
    }
}

/// Returns the form that chooses the columns.
fn columns_form(
    context: &Context,
    state: &InventoryState,
    selection: &Selection,
    chosen: InventoryColumns,
) -> Markup {
    let names = InventoryColumn::ALL.iter();
    let names = names.map(|column| (column.as_str(), columns::head(*column).name.to_owned()));
    let is_chosen = |name: &str| InventoryColumn::parse(name).is_some_and(|column| chosen.has(column));
    html! {
        details {
            summary { "Columns" }
            form.stack.tight method="post" action=(context.links.to(ChooseColumns::PATH)) {
                (fields::opened_by(context))
                input type="hidden" name="next" value=(selection.on(state.query()).at(paths::INVENTORY));
                (fields::checkboxes(&Inputs::default(), COLUMNS, "Shown beside the name", names, is_chosen))
                div.row {
                    button { "Show these columns" }
                    button.quiet name="default" value="1" { "Show the usual ones" }
                }
            }
        }
    }
}

impl Action<Vendor> for ChooseColumns {
    const PATH: &'static str = "/inventory/columns";
    const TITLE: &'static str = "Choose the columns of the inventory";

    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let columns: InventoryColumns = fields.all(COLUMNS).filter_map(InventoryColumn::parse).collect();
        let inventory_columns = (!fields.is_checked("default")).then_some(columns);
        visit.set_preferences(|others| SessionPreferences { inventory_columns, ..others }).await?;
        Ok(Answer::Redirect(return_path(fields).to_owned()))
    }
}

/// Returns the page of the inventory on which the choice was made.
fn return_path(fields: &Fields) -> &str {
    let is_inventory =
        |path: &&str| path.strip_prefix(paths::INVENTORY).is_some_and(|rest| rest.starts_with('?'));
    fields.get("next").and_then(next_page).filter(is_inventory).unwrap_or(paths::INVENTORY)
}
