//! The assets of the inventory that can be attached: a search, and a table to choose from.

use super::{
    attached,
    found::{self, ATTACHED_FROM, FROM, Found},
};
use crate::{
    console::{
        pages::inventory::{
            chosen::{self, Elsewhere},
            state::{self, Selection},
        },
        prelude::*,
    },
    domain::{assets::Kind, inventory::Asset},
    operations::assets::accepts_new_listings,
};

/// Shows the search and what it found.
pub(super) fn section(context: &Context, found: &Found) -> Markup {
    let content = html! {
        (search_form(context, found))
        @match &found.candidates {
            Some(_) if found.has_choices() => (choices(context, found)),
            Some(_) => (nothing(context, found)),
            None => {}
        }
    };
    tables::section("attach", "Attach from your inventory", &content)
}

fn search_form(context: &Context, found: &Found) -> Markup {
    let state = &found.state;
    let refused = Error::Invalid(state.problems.clone());
    let typed = Fields::of_query(&context.query);
    let inputs = if state.problems.is_empty() { Inputs::default() } else { Inputs::refused(typed, &refused) };
    let kind_choices = text::choices(kinds::plural);
    let kind_choices = [("", "All kinds".to_owned())].into_iter().chain(kind_choices);
    let groups = found.groups.iter().map(|group| (group.id.to_string(), group.name.clone()));
    let groups = [(String::new(), "All groups".to_owned())].into_iter().chain(groups);
    let group = state.group.map(|group| group.to_string()).unwrap_or_default();
    let selection = found.chosen(context).selection();
    let form = html! {
        form.stack method="get" action={ (context.links.to(&context.path)) "#attach" } aria-label="Search your inventory" {
            (selection.hidden())
            div.two {
                (Field::text(state::TEXT, "Name contains").value(state.text.as_str()).at_most(200).show(&inputs))
                (fields::select(&inputs, state::KIND, "Kind", kind_choices, state.kind.map_or("", Kind::as_str)))
                (fields::select(&inputs, state::GROUP, "Group", groups, &group))
                (Field::text(state::FILTER, "Filter")
                    .hint(html! { "As in the inventory, for example " span.mono { "stage:is:complete domain:is:finance" } "." })
                    .value(state.filter_text.as_str())
                    .show(&inputs))
            }
            div.row { button { "Search" } a.button.quiet href=(everything(context, &selection)) { "Show all" } }
        }
    };
    html! { (badges::refusal(&inputs)) (form) }
}

/// Returns the address of the page without a search, which keeps what is chosen.
fn everything(context: &Context, selection: &Selection) -> String {
    found::address(context, &selection.on(Query::default()), FROM)
}

fn nothing(context: &Context, found: &Found) -> Markup {
    let add = context.links.to(paths::ADD_ASSETS);
    if found.state.is_everything() {
        return tables::empty(
            "Your inventory is empty",
            "Add what you want to sell first.",
            Some(("Add assets", &add)),
        );
    }
    let all = everything(context, &found.chosen(context).selection());
    tables::empty("Nothing matches", "No asset of yours has all of these values.", Some(("Show all", &all)))
}

fn choices(context: &Context, found: &Found) -> Markup {
    let Some(candidates) = &found.candidates else { return Markup::default() };
    let total = candidates.counts.total();
    let query = found.state.query();
    let elsewhere = found.chosen(context);
    let rows = candidates.items.iter().map(|asset| (asset, why_not(found, asset)));
    let rows: Vec<(&Asset, Option<String>)> = rows.collect();
    let bar = html! {
        div.row.bulk {
            (elsewhere.label())
            button.little name="scope" value="chosen" { "Attach the chosen ones" }
            @if !elsewhere.is_empty() {
                a href=(found::address(context, &context.query.without(state::ASSET, None), FROM)) { "Choose none" }
            }
            @if total > rows.len() as u64 || rows.len() > 1 {
                button.little name="scope" value="all" { "Attach all " (text::grouped(total)) " that match…" }
            }
            span.note {
                (text::counted(total, "asset matches", "assets match"))
                ". Before all are attached, you see how many can be, and why others cannot."
            }
        }
    };
    html! {
        (elsewhere.warning())
        form.stack id=(found::FORM) method="post" action=(context.links.to(&query.at(&context.path))) autocomplete="off" data-assets {
            (fields::form_key(context))
            (elsewhere.hidden())
            (bar)
            (table(context, &rows, &elsewhere))
            (found::pager(context, FROM, rows.len(), total, None))
            // After the buttons of the pages: the first value of a name counts.
            (found.state.hidden_with_order())
            @for name in [FROM, ATTACHED_FROM] {
                @if let Some(from) = context.query.get(name) { input type="hidden" name=(name) value=(from); }
            }
        }
    }
}

fn table(context: &Context, rows: &[(&Asset, Option<String>)], elsewhere: &Elsewhere) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Assets to attach, table" {
            table.dense {
                thead { tr {
                    (chosen::all_of_page())
                    th scope="col" { "Asset" } th scope="col" { "Kind" } th scope="col" { "Status" }
                    th.num scope="col" { "Price, USD" } th scope="col" { "Can be attached" }
                } }
                tbody { @for (asset, reason) in rows {
                    @let [name, kind, stage, price] = attached::cells(context, asset);
                    tr {
                        td { @if reason.is_none() {
                            input type="checkbox" name=(state::ASSET) value=(asset.id) checked[elsewhere.is_chosen(&asset.id)]
                                aria-label={ "Choose " (super::sample::title(asset)) };
                        } }
                        th scope="row" { (name) }
                        td { (kind) } td { (stage) } td.num { (price) }
                        td { @match reason { Some(reason) => span.note { (reason) }, None => "Yes" } }
                    }
                } }
            }
        }
        p.hint.note { "Scroll sideways for more columns." }
    }
}

/// Returns why an asset cannot be attached; `None` if it can.
fn why_not(found: &Found, asset: &Asset) -> Option<String> {
    if found.attached_candidates.contains(&asset.row_id) {
        return Some("Attached already".to_owned());
    }
    let deprecations = found.candidates.as_ref().map(|candidates| &candidates.deprecations)?;
    if !accepts_new_listings(deprecations, asset.kind) {
        return Some("The market stops trading this kind".to_owned());
    }
    let missing = asset.missing_fields();
    (!missing.is_empty()).then(|| format!("Lacks {}", found::field_names(&missing)))
}
