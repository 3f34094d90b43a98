//! The panel of a listing: its price, the team's purchases and bids, and the possible actions.

use super::page_data::ListingPageData;
use crate::{
    console::{
        pages::{bids, deals},
        parts::listing_view::{Details, sample_price_text},
        prelude::*,
    },
    domain::purchases::{PurchaseKind, PurchaseStatus},
    operations::{
        listing_deals::{ListingDeals, Offered},
        proposed_sales,
    },
    store::purchases::ListingPurchase,
};

/// Maximum number of purchases that are shown.
const MAX_PURCHASES: usize = 5;

/// Shows the panel.
pub(super) fn panel(context: &Context, shown: &ListingPageData, details: &Details) -> Markup {
    let id = shown.listing.summary.id;
    html! {
        div.panel {
            @match &shown.deals {
                Some(deals) => {
                    (price(context, details))
                    (owned(context, deals))
                    (actions(context, id, deals))
                    (open_bid(context, id, details, deals))
                    (facts(context, id, details, deals))
                }
                None => {
                    (offer(context, details))
                    p.note {
                        @if shown.is_own { "Here buyers find the buttons to buy this, its sample, or some of its assets"
                            @if details.accepts_bids { ", and to bid" } "." }
                        @else { "Your team has the role of a vendor only, so it cannot buy. The market gives teams their roles." }
                    }
                }
            }
        }
    }
}

/// Shows the prices of a listing, and whether one can bid on it.
pub(super) fn offer(context: &Context, details: &Details) -> Markup {
    html! {
        (price(context, details))
        (tables::facts(&[
            ("Sample", html! { (sample_price_text(details.sample_price)) }),
            ("Bids", html! { (bids_received(details)) }),
        ]))
    }
}

fn price(context: &Context, details: &Details) -> Markup {
    let settings = context.market().settings();
    let percent = settings.fees.buyer_percent;
    html! {
        div { @match details.price {
            Some(price) => {
                p.price.large { (text::short_money(price)) " " small { "USD" } }
                p.note {
                    @if percent > 0.0 {
                        (text::money(proposed_sales::charges(settings, price).total())) " with the " (text::fee(percent)) " buyer fee"
                    } @else { "No fee for buyers" }
                }
                @if let Some(price) = details.price_per_task { p.note { (text::money(price)) " for each task" } }
            }
            None => {
                p.price.large { "No set price" }
                p.note { @if details.accepts_bids { "The vendor waits for bids." } @else { "It cannot be bought until the vendor sets one." } }
            }
        } }
    }
}

/// Shows what the team has of the listing.
fn owned(context: &Context, deals: &ListingDeals) -> Markup {
    let hidden = deals.purchases.len().saturating_sub(MAX_PURCHASES);
    html! {
        @if !deals.purchases.is_empty() {
            div.stack.tight {
                h2 { "What your team has of it" }
                ul.stack.tight { @for purchase in deals.purchases.iter().take(MAX_PURCHASES) { li {
                    a href=(context.links.to(&paths::purchase(purchase.id))) { (deals::kind(purchase.kind, purchase.scope)) }
                    span.note { " · " (state(purchase)) }
                } } }
                @if hidden > 0 { p.note { "And " (text::counted(hidden as u64, "earlier purchase", "earlier purchases")) "." } }
            }
        }
    }
}

fn state(purchase: &ListingPurchase) -> Markup {
    html! { @match purchase.status {
        PurchaseStatus::Pending => { "ordered " (text::day(purchase.created_at)) ", waits for payment" }
        PurchaseStatus::Completed => { "paid " (text::optional_day(purchase.paid_at)) }
        PurchaseStatus::Cancelled => { "canceled" }
        PurchaseStatus::Refunded => { "refunded, paid " (text::optional_day(purchase.paid_at)) }
    } }
}

/// Shows the buttons. The first thing that is possible is the next step.
fn actions(context: &Context, id: Uuid, deals: &ListingDeals) -> Markup {
    let bid_class = if deals.whole.is_possible() { "button big full" } else { "button primary big full" };
    let bought = deals::has_bought(deals);
    let reason = |offered: &Offered| match offered {
        Offered::Now(_) => None,
        Offered::Refused(reason) => Some(bought.map_or_else(|| deals::for_team(reason), str::to_owned)),
    };
    let (whole, bid) = (reason(&deals.whole), reason(&deals.bid_possible));
    let has_bid_button = deals.bid.is_none() && deals.accepts_bids;
    html! {
        div.stack.tight {
            (action(&deals.whole, "Buy", &context.links.to(&paths::buy(id)), "button primary big full"))
            // One reason for both buttons stands below both.
            @if !has_bid_button || whole != bid { @if let Some(reason) = &whole { p.note { (reason) } } }
            @if let Some(bid) = &deals.bid {
                a.button.big.full href=(context.links.to(&paths::bid(bid.id))) { "See your bid" }
            }
            @if has_bid_button {
                (action(&deals.bid_possible, "Make a bid", &context.links.to(&paths::make_bid(id)), bid_class))
                @if let Some(reason) = &bid { p.note { (reason) } }
            }
        }
    }
}

/// Shows a link that looks like a button. It leads nowhere if it is not offered now.
fn action(offered: &Offered, label: &str, address: &str, class: &str) -> Markup {
    html! { @match offered {
        Offered::Now(_) => { a class=(class) href=(address) { (label) } }
        Offered::Refused(_) => { a.button.big.full role="link" aria-disabled="true" { (label) } }
    } }
}

/// Shows the team's open bid, or whether it can bid.
fn open_bid(context: &Context, id: Uuid, details: &Details, deals: &ListingDeals) -> Markup {
    let days = context.market().settings().offers.expire_days;
    html! { @match &deals.bid {
        Some(bid) => {
            p.note {
                "Your bid of " (text::money(bid.amount))
                @match deals.obstacle {
                    Some(obstacle) => {
                        " is open. " (bids::why_not_acceptable(context, id, (bid.amount, bid.pay_with), obstacle))
                    }
                    None => {
                        " waits for the vendor"
                        @if let Some(at) = bid.expires_at { " until " (text::day(at)) }
                        ". You can change or withdraw it until then."
                    }
                }
            }
        }
        None if deals.accepts_bids => {
            p.note {
                (bids_received(details)) "."
                @if deals.bid_possible.is_possible() {
                    " The vendor has " (text::counted(u64::from(days), "day", "days")) " to answer yours; you can withdraw it until then."
                }
            }
        }
        None => { p.note { "This listing does not accept bids." } }
    } }
}

fn bids_received(details: &Details) -> String {
    match details.active_bid_count {
        _ if !details.accepts_bids => "Not accepted".to_owned(),
        0 => "Open to bids, none yet".to_owned(),
        number => format!("Open to bids, {} waiting", text::grouped(number)),
    }
}

/// Whether the team has bought, or ordered, the sample.
fn has_sample(deals: &ListingDeals) -> bool {
    let mut standing = deals.purchases.iter().filter(|purchase| purchase.status.is_in_effect());
    standing.any(|purchase| purchase.kind == PurchaseKind::Sample)
}

fn facts(context: &Context, id: Uuid, details: &Details, deals: &ListingDeals) -> Markup {
    let part = |scope: &str| Query::default().with("scope", scope).at(&context.links.to(&paths::buy(id)));
    let sample = html! {
        (sample_price_text(details.sample_price))
        @match &deals.sample {
            Offered::Now(_) => { " · " a href=(part("sample")) { @if details.sample_price == Some(Cents(0)) { "Get the sample" } @else { "Buy the sample" } } }
            Offered::Refused(_) if has_sample(deals) => { span.note { " · Your team has this sample." } }
            Offered::Refused(reason) if details.sample_price.is_some() => { span.note { " · " (deals::for_team(reason)) } }
            Offered::Refused(_) => {}
        }
    };
    let selection = html! {
        @if deals.is_exclusive { "All assets, sold once to one team" }
        @else if deals.selection.is_possible() && deals.has_choice { "All assets, or " a href=(part("selection")) { "choose some" } }
        @else { "All assets" }
    };
    tables::facts(&[("Sample", sample), ("Scope", selection), ("Payment", html! { "Credits or invoice" })])
}
