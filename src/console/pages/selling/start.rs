//! The start page of a vendor: waiting tasks, and business figures.

use super::{asked, earnings_chart, needs, release_text, withdraw};
use crate::{
    console::prelude::*,
    operations::{
        access::BrowseGate,
        opportunities,
        vendor_attention::{self, Business},
    },
    store::vendor_attention::SalesSum,
};

/// The page.
pub struct VendorStart;

impl Page<Vendor> for VendorStart {
    const PATH: &'static str = paths::SELLING;
    const TITLE: &'static str = "Start";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Start"));

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let read = visit.read(|reader, vendor| {
            Ok((
                vendor_attention::attention(reader, vendor)?,
                vendor_attention::business(reader, vendor)?,
                opportunities::list_asked_for(reader, vendor, asked::LIMIT)?,
            ))
        });
        let (attention, business, requests) = read.await?;
        let context = &visit.context;
        let (needs, oldest) = needs::of(context, &attention, &business);
        let is_new = needs.is_empty() && business.figures.listed == 0;
        let body = html! {
            (figures(context, &business))
            div.two {
                section.stack aria-labelledby="needs" {
                    h2 #needs { @if is_new { "Your first step" } @else { "Needs you" } }
                    @if needs.is_empty() { (nothing(context, &business)) } @else { (needs::list(context, &needs)) }
                }
                div.stack.wide {
                    @if !business.gate.is_open { (gate(context, business.gate)) }
                    (earnings_chart(&business.by_month))
                    p { a href=(context.links.to(paths::EARNINGS)) { "All about your earnings" } }
                    (asked::section(context, &requests))
                }
            }
        };
        let link = |path: &str| context.links.to(path);
        let actions = html! {
            @if is_new {
                a.button href=(link(paths::NEW_LISTING)) { "New listing" }
                a.button.primary href=(link(paths::ADD_ASSETS)) { "Add assets" }
            } @else {
                a.button href=(link(paths::ADD_ASSETS)) { "Add assets" }
                a.button.primary href=(link(paths::NEW_LISTING)) { "New listing" }
            }
        };
        let note = match needs.len() as u64 {
            0 if is_new => html! { "Your team sells nothing yet." },
            0 => html! { "Nothing needs you now." },
            count => html! {
                (text::counted(count, "thing needs", "things need")) " you."
                @if let Some(at) = oldest { " The oldest has waited since " (text::day(at)) "." }
            },
        };
        let name = context.team().map_or(Self::TITLE, |team| team.name.as_str());
        Ok(Content::new(name, body).with_note(note).with_actions(actions).into())
    }
}

fn figures(context: &Context, business: &Business) -> Markup {
    let link = |path: &str, label: &str| html! { a href=(context.links.to(path)) { (label) } };
    let pending = match &business.next_release {
        Some(release) => release_text(release),
        None => html! { "on hold for some days after each sale" },
    };
    tables::figures(&[
        (
            "Available",
            html! { (text::money(business.figures.balances.available)) },
            link(withdraw::Withdraw::PATH, "Withdraw"),
        ),
        ("Pending", html! { (text::money(business.figures.balances.pending)) }, pending),
        (
            "Earned, 30 days",
            html! { (text::money(business.last_30_days.earnings)) },
            html! { (sales_text(&business.last_30_days)) },
        ),
        (
            "Earned, 365 days",
            html! { (text::money(business.last_365_days.earnings)) },
            html! { (sales_text(&business.last_365_days)) },
        ),
        (
            "Listed value",
            html! { (text::money(business.figures.listed_value)) },
            html! { (text::counted(business.figures.listed, "live listing", "live listings")) },
        ),
    ])
}

fn sales_text(sum: &SalesSum) -> String {
    let sales = text::counted(sum.sales, "sale", "sales");
    match sum.free_samples {
        0 => sales,
        samples => format!("{sales}, {}", text::counted(samples, "free sample", "free samples")),
    }
}

/// Says that there are no waiting tasks, and how a team that sells nothing yet can begin.
fn nothing(context: &Context, business: &Business) -> Markup {
    if business.figures.listed > 0 {
        return tables::empty("All is well", "Bids, reviews, and checks that need you appear here.", None);
    }
    let advice = "Add codebases and data to your inventory, put them into a listing, and submit it for review. What you have to do \
                  next appears here.";
    tables::empty(
        "Start with your first assets",
        advice,
        Some(("Add assets", &context.links.to(paths::ADD_ASSETS))),
    )
}

/// Shows how far the team is on the way to the whole catalog.
fn gate(context: &Context, gate: BrowseGate) -> Markup {
    let BrowseGate { published_count: published, required_count: required, .. } = gate;
    let content = html! {
        p {
            (text::grouped(published)) " of " (text::counted(required, "listing", "listings"))
            @if published == 1 { " is" } @else { " are" } " published. After that, your \
            team sees the whole catalog; until then, its first page."
        }
        progress aria-label="Published listings" value=(published.min(required)) max=(required.max(1)) {}
        p { a href=(context.links.to(paths::CATALOG)) { "See the first page of the catalog" } }
    };
    tables::section("gate", "The way to the whole catalog", &content)
}
