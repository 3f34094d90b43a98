//! The table of what is attached to a listing.

use super::{
    found::{self, Found},
    sample,
};
use crate::{
    console::{parts::assets, prelude::*},
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
            (found::pager(context, found::ATTACHED_FROM, found.attached.items.len(), total, Some(&found.query(context))))
        }
    };
    tables::section("attached", "Attached", &content)
}

fn table(context: &Context, found: &Found) -> Markup {
    let row = |asset: &Asset| {
        let detach = || Head::text("Detach").cell(detach_button(context, found, asset));
        cells(context, asset).into_iter().chain(found.refusal.is_none().then(detach))
    };
    tables::of("Attached assets", &found.attached.items, row)
}

/// Shows the name, the kind, the state, and the price of an asset.
pub(super) fn cells(context: &Context, asset: &Asset) -> [Cell; 4] {
    let address = context.links.to(&paths::asset(asset.id));
    [
        Head::text("Asset").cell(html! { a.long href=(address) { bdi { (sample::title(asset)) } } }),
        Head::text("Kind").cell(text::words(kinds::words(asset.kind).0)),
        Head::text("Status").cell(stage_word(asset)),
        Head::number("Price, USD").cell(text::optional_money(asset.price)),
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
        // The page that is shown again.
        input type="hidden" name=(found::NEXT) value=(found.query(context).at(&context.path));
        button.little.quiet { "Detach" span.out { " " bdi { (sample::title(asset)) } } }
    };
    fields::form_with_class(context, &path, "row", &content)
}
