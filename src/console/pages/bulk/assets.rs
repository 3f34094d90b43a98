//! The first assets of a change, before and after it.

use crate::{
    console::{
        pages::own_listings,
        parts::{assets::Domains, listing_states},
        prelude::*,
    },
    domain::{bulk_changes::BulkActionKind, inventory::Asset},
    operations::bulk_changes::forecast::Forecast,
};

/// Number of assets that are shown.
pub const SHOWN: usize = 10;

/// Shows the first assets of a change, and how many there are.
pub fn table(
    context: &Context,
    action: BulkActionKind,
    first: &[Asset],
    (count, domains): (u64, &Domains),
) -> Markup {
    let row = |asset: &Asset| {
        [
            Head::text("Asset").cell(name(context, asset)),
            Head::text("Kind").cell(kind(asset)),
            field_head(action, ("Price, USD", "Tags")).cell(value(action, asset, domains)),
        ]
    };
    let others = count.saturating_sub(first.len() as u64);
    shown("The assets", &tables::of("The assets", first, row), others)
}

/// Shows the first assets that a change edits, before and after it. For a change of prices, also shows their listings.
pub fn changes(context: &Context, action: BulkActionKind, found: &Forecast, domains: &Domains) -> Markup {
    let is_price = action == BulkActionKind::Price;
    let row = |(before, after): &(Asset, Asset)| {
        let cells = [
            Head::text("Asset").cell(name(context, before)),
            field_head(action, ("Price now, USD", "Tags now")).cell(value(action, before, domains)),
            field_head(action, ("Then, USD", "Then")).cell(value(action, after, domains)),
        ];
        let listings = || Head::text("On listings").cell(listings(context, found, before));
        cells.into_iter().chain(is_price.then(listings))
    };
    let others = found.changed.saturating_sub(found.first.len() as u64);
    shown("What changes", &tables::of("What changes", &found.first, row), others)
}

/// Shows the listings with an asset, with their states.
fn listings(context: &Context, found: &Forecast, asset: &Asset) -> Markup {
    let mut listings = found.listings.iter().filter(|listing| listing.asset == asset.row_id).peekable();
    html! {
        @if listings.peek().is_none() { span.note { "None" } }
        @for listing in listings { p.row {
            a.long href=(context.links.to(&paths::own_listing(listing.listing))) {
                bdi { (own_listings::title_of(&listing.title)) }
            }
            (badges::of(listing_states::state(listing.status)))
        } }
    }
}

fn shown(title: &str, table: &Markup, others: u64) -> Markup {
    tables::section(
        "first-assets",
        title,
        &html! {
            (table)
            @if others > 0 { p.note { "And " (text::counted(others, "more asset", "more assets")) "." } }
        },
    )
}

/// Returns the head of the column with the field that an action edits: the first one for prices, the second one for tags.
const fn field_head(action: BulkActionKind, (price, tags): (&'static str, &'static str)) -> Head {
    match action {
        BulkActionKind::Price => Head::number(price),
        BulkActionKind::Describe => Head::text("Description"),
        _ => Head::text(tags),
    }
}

fn name(context: &Context, asset: &Asset) -> Markup {
    link(context, asset.id, &asset.title)
}

fn link(context: &Context, id: Uuid, title: &str) -> Markup {
    let title = if is_blank(title) { "Untitled" } else { title };
    html! { a.long href=(context.links.to(&paths::asset(id))) { bdi { (title) } } }
}

/// Names the first of some assets, and says how many more there are; nothing if none is named.
pub fn titles<'t>(context: &Context, first: impl IntoIterator<Item = (Uuid, &'t str)>, count: u64) -> Markup {
    let first: Vec<_> = first.into_iter().collect();
    let others = count.saturating_sub(first.len() as u64);
    html! { @if !first.is_empty() {
        ul.stack.tight {
            @for (id, title) in first { li { (link(context, id, title)) } }
            @if others > 0 { li.note { "And " (text::grouped(others)) " more" } }
        }
    } }
}

fn kind(asset: &Asset) -> Markup {
    html! { (text::words(kinds::words(asset.kind).0)) }
}

/// Shows the field that an action edits.
fn value(action: BulkActionKind, asset: &Asset, domains: &Domains) -> Markup {
    match action {
        BulkActionKind::Price => html! { (text::optional_money(asset.price)) },
        BulkActionKind::Describe => {
            let text: String =
                asset.description.iter().flat_map(|text| text.chars()).take(MAX_TEXT).collect();
            html! { @if is_blank(&text) { (text::MISSING) } @else { span.long { bdi { (text) } } } }
        }
        _ if asset.domain_tags.is_empty() => html! { (text::MISSING) },
        _ => html! { (domains.labels(&asset.domain_tags)) },
    }
}

/// Number of characters of a description that are shown.
const MAX_TEXT: usize = 120;
