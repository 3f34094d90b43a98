//! The table of what is attached to a listing.

use super::{
    found::{self, Found},
    sample,
};
use crate::{
    console::{
        parts::{assets, kinds},
        prelude::*,
    },
    domain::{inventory::Asset, stages::Stage},
};

/// Shows the assets of the listing. They can be detached if the state of the listing allows it.
pub(super) fn section(context: &Context, found: &Found) -> Markup {
    let total = found.attached.counts.total();
    let content = html! {
        @if total == 0 {
            p { "Nothing is attached yet. A listing needs at least one asset to be submitted." }
        } @else {
            (table(context, found))
            (found::pager(context, found::ATTACHED_FROM, found.attached.items.len(), total))
        }
    };
    tables::section("attached", "Attached", &content)
}

fn table(context: &Context, found: &Found) -> Markup {
    let mut heads =
        vec![Head::text("Asset"), Head::text("Kind"), Head::text("Status"), Head::number("Price, USD")];
    if found.refusal.is_none() {
        heads.push(Head::text("Detach"));
    }
    let rows: Vec<Vec<Markup>> = found
        .attached
        .items
        .iter()
        .map(|asset| {
            let mut cells = cells(context, asset);
            if found.refusal.is_none() {
                cells.push(detach_button(context, found, asset));
            }
            cells
        })
        .collect();
    tables::table("Attached assets", &heads, &rows)
}

/// Shows the name, the kind, the state, and the price of an asset.
pub(super) fn cells(context: &Context, asset: &Asset) -> Vec<Markup> {
    vec![
        html! { a.long href=(context.links.to(&paths::asset(asset.id))) { bdi { (sample::title(asset)) } } },
        html! { (text::words(kinds::words(asset.kind).0)) },
        html! { (stage_word(asset)) },
        html! { (text::optional_money(asset.price)) },
    ]
}

/// Returns the word for the stage of an asset.
fn stage_word(asset: &Asset) -> &'static str {
    if asset.stage() == Stage::Proposed { "Without data" } else { assets::stage_text(asset) }
}

fn detach_button(context: &Context, found: &Found, asset: &Asset) -> Markup {
    let path = format!("{}/detach", paths::listing_assets(found.listing.id));
    let content = html! {
        input type="hidden" name="asset" value=(asset.id);
        button.little.quiet { "Detach" span.out { " " bdi { (sample::title(asset)) } } }
    };
    fields::form_with_class(context, &path, "row", &content)
}
