//! The first assets of a change, before and after it.

use crate::{
    console::{
        pages::own_listings,
        parts::{assets::Domains, kinds, listing_states},
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
    let heads = [Head::text("Asset"), Head::text("Kind"), field_head(action, ("Price, USD", "Tags"))];
    let row = |asset: &Asset| vec![name(context, asset), kind(asset), value(action, asset, domains)];
    let rows: Vec<Vec<Markup>> = first.iter().map(row).collect();
    shown("The assets", &heads, &rows, count)
}

/// Shows the first assets that a change edits, before and after it. For a change of prices, also shows their listings.
pub fn changes(context: &Context, action: BulkActionKind, found: &Forecast, domains: &Domains) -> Markup {
    let mut heads = vec![
        Head::text("Asset"),
        field_head(action, ("Price now, USD", "Tags now")),
        field_head(action, ("Then, USD", "Then")),
    ];
    let is_price = action == BulkActionKind::Price;
    if is_price {
        heads.push(Head::text("On listings"));
    }
    let row = |(before, after): &(Asset, Asset)| {
        let mut cells =
            vec![name(context, before), value(action, before, domains), value(action, after, domains)];
        if is_price {
            cells.push(listings(context, found, before));
        }
        cells
    };
    let rows: Vec<Vec<Markup>> = found.first.iter().map(row).collect();
    shown("What changes", &heads, &rows, found.changed)
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
            (listing_states::badge(listing.status))
        } }
    }
}

fn shown(title: &str, heads: &[Head], rows: &[Vec<Markup>], count: u64) -> Markup {
    let others = count.saturating_sub(rows.len() as u64);
    tables::section(
        "first-assets",
        title,
        &html! {
            (tables::table(title, heads, rows))
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
    let title = if title.trim().is_empty() { "Untitled" } else { title };
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
            html! { @if text.is_empty() { (text::MISSING) } @else { span.long { bdi { (text) } } } }
        }
        _ if asset.domain_tags.is_empty() => html! { (text::MISSING) },
        _ => html! { (domains.labels(&asset.domain_tags)) },
    }
}

/// Number of characters of a description that are shown.
const MAX_TEXT: usize = 120;
