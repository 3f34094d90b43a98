//! The statement of a sale, which can be printed. It names the market as the other party, and never the buyer.

use super::{REFUND_SOURCE, bids, refundable_until, sales};
use crate::{
    console::{pages::deals, prelude::*},
    domain::purchases::{PaidStatus, PurchaseKind},
    operations::{self, sales::Statement},
    store::records::team_lists::sales::TeamSale,
};

/// The page.
pub struct SaleStatement;

impl Page<Vendor> for SaleStatement {
    const PATH: &'static str = "/selling/sales/{sale_id}";
    const TITLE: &'static str = "Statement of a sale";
    const BUDGET: Budget = Budget::Sales;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = move |reader: &Reader, vendor: &Vendor| {
            let statement = operations::sales::statement(reader, vendor, id)?;
            Ok((statement, notifications::list_about(reader, vendor, &[id], about::LIMIT)?))
        };
        let (Statement { sale, vendor_name }, notifications) = visit.read(read).await?;
        let context = &visit.context;
        let body = html! {
            (state(&sale))
            (refundable(context, &sale))
            article.paper {
                div.row.apart {
                    div {
                        p.note { "Statement of a sale on marketplace" }
                        p.long { b { bdi { (sale.listing_title) } } }
                        p.mono.note.long { (sale.id) }
                    }
                    (sales::badge(&sale))
                }
                div.two { (parties(context, &sale, &vendor_name)) (sums(&sale)) }
                p.note.no-print { a href=(context.links.to(paths::EARNINGS)) { "See it in your earnings" } }
            }
            div.no-print { (about::section(context, &notifications)) }
        };
        let content = Content::new(Self::TITLE, body)
            .with_parent("Sales", paths::SALES)
            .with_actions(html! { button type="button" hidden data-print { "Print" } })
            .narrow()
            .with_request("/v2/listings/sales");
        Ok(content.into())
    }
}

fn state(sale: &TeamSale) -> Markup {
    match (sale.status, sale.available_at.filter(|_| sale.held.is_some()), sale.held) {
        _ if sale.is_used_up() => badges::neutral(
            "The earnings of this sale were used for the refund of another one before they became available.",
        ),
        (PaidStatus::Refunded, ..) => badges::warning(html! {
            "The market refunded this sale"
            @if let Some(at) = sale.refunded_at { " on " (text::day(at)) }
            ". Its earnings were taken back."
        }),
        (PaidStatus::Completed, Some(at), Some(held)) => {
            badges::pending(html! { (text::money(held)) " is on hold until " (text::moment(at)) "." })
        }
        _ => html! {},
    }
}

/// Says how long the market can refund the sale, and what a refund takes back.
fn refundable(context: &Context, sale: &TeamSale) -> Markup {
    let until = refundable_until(context, sale.paid_at);
    html! { @if sale.status == PaidStatus::Completed && until >= context.now() && until > sale.paid_at {
        (badges::neutral(html! {
            b { "The market can refund this sale until " (text::day(until)) ". " } (REFUND_SOURCE)
        }))
    } }
}

fn parties(context: &Context, sale: &TeamSale, vendor: &str) -> Markup {
    let kind = deals::kind(sale.kind, sale.scope);
    let mut facts = vec![
        ("Vendor", html! { b.long { bdi { (vendor) } } }),
        ("Sold through", html! { b { "marketplace" } }),
        ("Kind", html! { (kind) @if sale.is_exclusive { ", exclusive sale" } }),
        ("Assets", html! { (text::grouped(sale.assets)) }),
        (
            "Listing",
            html! { a.long href=(context.links.to(&paths::own_listing(sale.listing))) { bdi { (sale.listing_title) } } },
        ),
        ("Paid", text::moment(sale.paid_at)),
    ];
    let name = if sale.held.is_some() { "On hold until" } else { "Available since" };
    facts.extend(sale.available_from().map(|at| (name, text::moment(at))));
    let until = refundable_until(context, sale.paid_at);
    if sale.status == PaidStatus::Completed && until > sale.paid_at {
        facts.push(("Refund possible until", text::day(until)));
    }
    facts.extend(sale.refunded_at.map(|at| ("Refunded", text::moment(at))));
    facts.extend(
        sale.offer
            .map(|bid| ("Bid", html! { a.mono.long href=(context.links.to(&bids::path(bid))) { (bid) } })),
    );
    tables::facts(&facts)
}

fn sums(sale: &TeamSale) -> Markup {
    let price = if sale.kind == PurchaseKind::AcceptedBid { "Price, the accepted bid" } else { "Price" };
    let total = match sale.status {
        PaidStatus::Completed => "Earnings, USD",
        PaidStatus::Refunded => "Taken back, USD",
    };
    tables::sum(&[
        (price, text::money(sale.price)),
        ("Fee of the market", format!("−{}", text::money(sale.platform_fee))),
        (total, text::money(sale.share())),
    ])
}
