//! The page of a request: what the buyer wants, the vendor's assets and listings that fit, and how to answer.

use crate::{
    console::{
        pages::opportunities::{api_path, facts, kind_word, status_badge, words_of_buyer},
        prelude::*,
    },
    domain::opportunities::{Opportunity, OpportunityKind},
    operations::{
        opportunities::{self, Fitting, FittingSupply},
        project_bids,
    },
    store::notifications::Notification,
};

/// The page.
pub struct RequestPage;

/// What the page shows.
struct Found {
    opportunity: Opportunity,
    fitting: FittingSupply,
    /// The bid that the vendor made, if it stands.
    bid: Option<Uuid>,
    /// Why the vendor cannot answer.
    refusal: Option<&'static str>,
    notifications: Vec<Notification>,
}

impl Page<Vendor> for RequestPage {
    const PATH: &'static str = "/requests/{id}";
    const TITLE: &'static str = "Request";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let found = visit.read(move |reader, vendor| find(reader, vendor, id)).await?;
        Ok(content(&visit.context, &found).into())
    }
}

/// Reads what the page shows: at most ten statements.
fn find(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Found> {
    let opportunity = opportunities::find_of_any_kind(reader, vendor, id)?;
    let is_project = opportunity.kind == OpportunityKind::Project;
    Ok(Found {
        fitting: opportunities::find_fitting(reader, vendor, &opportunity)?,
        bid: if is_project { project_bids::find_in_effect(reader, vendor, &opportunity)? } else { None },
        refusal: project_bids::why_not_open(reader, vendor, &opportunity),
        notifications: notifications::list_about(reader, vendor, &[id], about::LIMIT)?,
        opportunity,
    })
}

fn content(context: &Context, found: &Found) -> Content {
    let opportunity = &found.opportunity;
    let answer = match opportunity.kind {
        OpportunityKind::Listing => with_listing(context, found),
        OpportunityKind::Project => with_bid(context, found),
    };
    let body = html! {
        div.decide {
            div.stack.wide {
                (tables::section("wanted", "In the buyer's words", &words_of_buyer(opportunity)))
                (tables::section("facts", "Facts", &facts(opportunity)))
                (tables::section("fitting", "What you have that fits", &fitting(context, &found.fitting)))
                (about::section(context, &found.notifications))
            }
            aside.panel.first aria-label="How you can answer" { h2 { "How you can answer" } (answer) }
        }
    };
    let badge = status_badge(opportunity.status, opportunity.deadline, context.now());
    Content::new(&opportunity.title, body)
        .with_parent("Requests", paths::DATA_REQUESTS)
        .narrow()
        .with_note(
            html! { (kind_word(opportunity.kind)) " of " bdi { (opportunity.owner_name) } " " (badge) },
        )
        .with_request(format!("/v2/{}", api_path(opportunity)))
}

/// Returns why the vendor cannot answer, in the words of the pages.
fn refusal(found: &Found, context: &Context) -> Option<&'static str> {
    found.refusal?;
    let opportunity = &found.opportunity;
    Some(if context.team().is_some_and(|team| team.id == opportunity.owner_id) {
        "This is your own request."
    } else if !opportunity.is_open(context.now()) {
        "It takes no more answers: it has ended, or its deadline has passed."
    } else {
        "It takes no answers from your team."
    })
}

/// Says how one answers to a request for listings: the market stores no answers.
fn with_listing(context: &Context, found: &Found) -> Markup {
    let new = context.links.to(&format!("{}/new", paths::OWN_LISTINGS));
    html! {
        @if let Some(reason) = refusal(found, context) { p { (reason) } }
        @else {
            p { "Publish a listing that fits. The buyer looks for answers in the catalog, where it can bid or buy." }
            p.note { "Words of the request in the title and the tags of your listing help the buyer to find it." }
            a.button.primary.full href=(new) { "Write a listing" }
        }
    }
}

fn with_bid(context: &Context, found: &Found) -> Markup {
    let opportunity = &found.opportunity;
    html! {
        @if let Some(bid) = found.bid {
            p { "Your team has a bid on this project." }
            a.button.primary.full href=(context.links.to(&paths::project_bid(bid))) { "Open your bid" }
        } @else if let Some(reason) = refusal(found, context) {
            button.full type="button" aria-disabled="true" aria-describedby="bid-reason" { "Bid on the project" }
            p.note #bid-reason { (reason) }
        } @else {
            p { "Offer a number of tasks. If the buyer accepts, you make them, and deliver them as tasksets." }
            @if let Some(deadline) = opportunity.deadline { p.note { "Bids are taken until " (text::deadline(deadline)) "." } }
            a.button.primary.full href=(context.links.to(&super::bid_form::path(opportunity.id))) { "Bid on the project" }
            p.note { "The market moves no money for projects: you and the buyer agree about the payment outside it." }
        }
    }
}

fn fitting(context: &Context, supply: &FittingSupply) -> Markup {
    let FittingSupply { listings, assets } = supply;
    html! {
        @if listings.is_empty() && assets.is_empty() {
            p.note { "Your team has no listings and no assets of the kinds that the request accepts." }
            p { a href=(context.links.to(paths::ADD_ASSETS)) { "Add assets" } }
        }
        @if !listings.is_empty() {
            (table(context, ("Listings that fit", "Listing"), listings, paths::own_listing))
        }
        @if !assets.is_empty() {
            h3 { "Assets that are on no listing" }
            (table(context, ("Assets that fit", "Asset"), assets, paths::asset))
        }
        @if !(listings.is_empty() && assets.is_empty()) {
            p.note { "Compared are your newest listings and assets, by kind and tags." }
        }
    }
}

/// Returns a table of the fitting records. `kind` is the head of the column with their names.
fn table(
    context: &Context,
    (title, kind): (&str, &'static str),
    fitting: &[Fitting],
    path: fn(Uuid) -> String,
) -> Markup {
    tables::of(title, fitting, |fitting| row(context, kind, &path(fitting.candidate.id), fitting))
}

fn row(context: &Context, kind: &'static str, path: &str, fitting: &Fitting) -> [Cell; 4] {
    let candidate = &fitting.candidate;
    let kinds: Vec<&str> = candidate.kinds.iter().map(|kind| kinds::words(*kind).1).collect();
    let title = if is_blank(&candidate.title) { "Without a title" } else { &candidate.title };
    let state =
        candidate.catalog_status.map_or("On no listing".to_owned(), |status| text::words(status.as_str()));
    let shared = fitting.shared_tags.join(", ");
    [
        Head::text(kind).cell(html! { a.long href=(context.links.to(path)) { bdi { (title) } } }),
        Head::text("Kind").cell(text::words(&kinds.join(", "))),
        Head::text("Status").cell(state),
        Head::text("Same tags")
            .cell(html! { @if shared.is_empty() { (text::MISSING) } @else { bdi { (shared) } } }),
    ]
}
