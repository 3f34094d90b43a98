//! The results: chosen filters, and the listings as cards or as a table.

use super::{
    facets,
    found::Found,
    state::{CURSOR, Chip, State},
};
use crate::{
    console::{
        csv,
        parts::{
            bars,
            cards::{self, COMPARE_FIELD, COMPARE_FORM, MAX_COMPARED},
            listing_view::{ListingView, bids_text, tier_text},
            tabs,
        },
        prelude::*,
    },
    domain::sessions::ListView,
    operations::access::BrowseGate,
};

/// Path of the form that chooses between cards and a table.
pub const VIEW_PATH: &str = "/catalog/view";

/// Returns the part of the page that a script replaces while the search text is typed.
pub fn results(context: &Context, state: &State, found: &Found, view: ListView) -> Markup {
    let chips = state.chips(&found.names);
    html! {
        div.stack #results {
            (facets::unreadable(state))
            div.row.apart {
                (chosen_filters(context, state, &chips))
                @if found.total > 0 { (view_switch(context, state, view)) }
            }
            @if found.total == 0 {
                (empty(context, state, found, &chips))
            } @else {
                @match view {
                    ListView::Cards => (card_list(context, state, found)),
                    ListView::Table => (table(context, state, found)),
                }
                (tray(context, state, found))
                (pager(context, state, found))
            }
        }
    }
}

fn chosen_filters(context: &Context, state: &State, chips: &[Chip]) -> Markup {
    if chips.is_empty() {
        return html! { span {} };
    }
    let address = |query: &Query| state.address(context, query);
    let chosen = chips.iter().map(|chip| (chip.name, chip.value.as_str(), address(&chip.without)));
    tabs::chosen_filters(&chosen.collect::<Vec<_>>(), &address(&Query::default()))
}

/// Returns the buttons that choose between cards and a table.
fn view_switch(context: &Context, state: &State, view: ListView) -> Markup {
    let here =
        state.cursor.as_ref().map_or_else(|| state.query.clone(), |cursor| state.query.with(CURSOR, cursor));
    html! {
        form.row method="post" action=(context.links.to(VIEW_PATH)) aria-label="View" {
            (fields::opened_by(context))
            input type="hidden" name="next" value=(state.keep(&here).at(paths::CATALOG));
            @for (choice, label) in [(ListView::Cards, "Cards"), (ListView::Table, "Table")] {
                button.little.quiet[choice != view] name="view" value=(choice.as_str()) aria-pressed=(choice == view) { (label) }
            }
        }
    }
}

fn card_list(context: &Context, state: &State, found: &Found) -> Markup {
    html! {
        h2.out { "Results" }
        ul.cards { @for listing in &found.listings {
            (cards::card(context, listing, found.certificates.get(&listing.row_id), Some(is_compared(state, listing))))
        } }
    }
}

fn is_compared(state: &State, listing: &ListingView) -> bool {
    state.compared.contains(&listing.summary.id)
}

fn table(context: &Context, state: &State, found: &Found) -> Markup {
    tables::of("Listings", &found.listings, |listing| row(context, state, found, listing))
}

fn row(context: &Context, state: &State, found: &Found, listing: &ListingView) -> [Cell; 7] {
    let summary = &listing.summary;
    let (details, shares) = (listing.details.as_ref(), listing.shares());
    let title = html! {
        (cards::title(context, listing)) br;
        span.note { bdi { (summary.team_name) } @if let Some(details) = details { ", " (tier_text(details.vendor_tier)) } }
    };
    let lines =
        if summary.scale.loc > 0 { text::grouped(summary.scale.loc) } else { text::MISSING.to_owned() };
    let languages = html! {
        @if shares.is_empty() { (text::MISSING) }
        @else { span.nowrap { (listing.main_languages(1)) } (bars::bar(&shares, "bar thin")) }
    };
    let price = html! { @if let Some(details) = details {
        b { (cards::price_text(details)) } br; span.note { (bids_text(details.accepts_bids)) }
    } };
    let compare = html! {
        input type="checkbox" name=(COMPARE_FIELD) value=(summary.id) form=(COMPARE_FORM)
            checked[is_compared(state, listing)] aria-label={ "Compare " (summary.title) };
    };
    [
        Head::text("Listing").cell(title),
        Head::text("Contents").cell(summary.scale.contents()),
        Head::number("Lines").cell(lines),
        Head::text("Languages").cell(languages),
        Head::text("Evidence").cell(cards::evidence(found.certificates.get(&listing.row_id))),
        Head::number("Price, USD").cell(price),
        Head::text("Compare").cell(compare),
    ]
}

/// Returns the form that compares the chosen listings. A style shows it once one is chosen.
fn tray(context: &Context, state: &State, found: &Found) -> Markup {
    let is_here = |id| found.listings.iter().any(|listing| listing.summary.id == id);
    let elsewhere: Vec<_> = state.compared.iter().filter(|id| !is_here(**id)).collect();
    html! {
        form.row.apart.tray id=(COMPARE_FORM) action=(context.links.to(paths::COMPARE)) autocomplete="off" data-most=(MAX_COMPARED) {
            @for id in &elsewhere { input type="hidden" name=(COMPARE_FIELD) value=(id); }
            span.note role="status" {
                @if !elsewhere.is_empty() { (text::counted(elsewhere.len() as u64, "listing", "listings")) " of other pages. " }
                span data-compared { "Choose up to four listings." }
            }
            button.primary { "Compare" }
        }
    }
}

fn pager(context: &Context, state: &State, found: &Found) -> Markup {
    let shown = found.listings.len() as u64;
    let note = match &state.cursor {
        None if shown < found.total => format!("1 to {shown} of {}", text::grouped(found.total)),
        None if shown == 1 => "The only listing".to_owned(),
        None => format!("All {}", text::counted(shown, "listing", "listings")),
        Some(_) => format!("{shown} more of {}", text::grouped(found.total)),
    };
    let first = state.cursor.as_ref().map(|_| state.address(context, &state.query));
    let next =
        found.next_cursor.as_ref().map(|cursor| state.address(context, &state.query.with(CURSOR, cursor)));
    let file = context.here(&csv::query(&state.without_invalid_filters(&state.query)));
    let note = html! { (note) " · " (csv::link(&file)) };
    tables::pager(&note, first.as_deref(), next.as_deref())
}

/// Returns the content for an empty result: which filters to drop, and the number of matches without them.
fn empty(context: &Context, state: &State, found: &Found, chips: &[Chip]) -> Markup {
    if chips.is_empty() {
        return tables::empty("The catalog is empty", "No vendor has published a listing yet.", None);
    }
    html! {
        div.empty {
            h2 { "No listing has all of this" }
            @if !found.drops.is_empty() {
                p { "Drop one of these to see more:" }
                ul.todo { @for (chip, count) in chips.iter().zip(&found.drops) { li {
                    (icons::icon("x"))
                    span {
                        a href=(state.address(context, &chip.without)) { "Without " (chip.name) " " bdi.long { (chip.value) } }
                    }
                    @if *count > 0 { b { (text::counted(*count, "listing", "listings")) } }
                    @else { span.note { "still none" } }
                } } }
            }
            @if context.team().is_some_and(|team| team.is_buyer) {
                p.note {
                    "Nothing fits? " a href=(context.links.to(paths::OPPORTUNITIES)) { "Ask vendors for it" }
                    ": publish an opportunity with your budget and deadline."
                }
            }
        }
    }
}

/// Returns the message for a team whose catalog is locked: the reason, and how to unlock it. `is_searched` says whether the team
/// asked for more than this page.
pub fn locked(context: &Context, listings: &[ListingView], gate: BrowseGate, is_searched: bool) -> Markup {
    let BrowseGate { published_count: published, required_count: required, .. } = gate;
    html! {
        (badges::message(if is_searched { Tone::Warning } else { Tone::Waiting }, &html! {
            @if is_searched { p { b { "Your team cannot search the catalog yet, so nothing was searched. " } } }
            @else { p { b { "The catalog is still locked for your team. " } } }
            p {
                "Vendors can search it, and see prices, details, and evidence, once they have published "
                (text::counted(required, "listing", "listings")) ". Your team has published "
                b { (text::grouped(published)) " of " (text::counted(required, "listing", "listings")) }
                ". Until then, you see the titles and contents on this first page only."
            }
            p.row {
                a href=(context.links.to(paths::OWN_LISTINGS)) { "Publish your listings" }
                a href=(context.links.to(paths::NEW_LISTING)) { "Write a listing" }
            }
        }))
        h2.out { "Listings" }
        ul.cards { @for listing in listings { (cards::card(context, listing, None, None)) } }
    }
}
