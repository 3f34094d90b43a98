//! The page of one of a vendor's own listings.

use super::{checklist, checks, note, reviews, steps, title_of, why_not};
use crate::{
    console::{
        pages::deals,
        parts::{
            asset_prices, fees, listing_states,
            listing_view::{self, bids_text, sample_price_text},
            markdown, samples,
            timeline::{self, Entry},
        },
        prelude::*,
    },
    domain::{
        inventory::Asset,
        listing_lifecycle::Operation,
        listings::{CatalogStatus, Event, LifecycleStage, ReviewStatus},
    },
    operations::{
        own_listings::{self, OwnListingPage},
        samples::SampleContent,
    },
    store::listing_history::HistoryEvent,
};

/// Maximum number of events of the history that are shown.
const MAX_EVENTS: usize = 50;

/// The page.
pub struct OwnListing;

impl Page<Vendor> for OwnListing {
    const PATH: &'static str = "/selling/listings/{id}";
    const TITLE: &'static str = "Own listing";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let page = visit.read(move |reader, vendor| own_listings::get(reader, vendor, id)).await?;
        let content = Content::new(title_of(&page.listing.title), body(&visit.context, &page))
            .with_note(badges::of(listing_states::state(page.listing.status)))
            .with_parent("Listings", paths::OWN_LISTINGS)
            .narrow()
            .with_request(format!("/v2/listings/{id}"));
        Ok(content.into())
    }
}

fn body(context: &Context, page: &OwnListingPage) -> Markup {
    html! {
        (next(context, page))
        div.decide {
            div.stack.wide {
                @if is_submittable(page) {
                    (tables::section("checklist", "Checklist for the review", &html! {
                        (checklist::checklist(context, page))
                        (asset_prices::remarks(page.price_of_all, page.listing.sample_price, page.listing.price))
                    }))
                } @else if page.listing.status.stage() != LifecycleStage::Archived {
                    (asset_prices::remarks(page.price_of_all, page.listing.sample_price, page.listing.price))
                }
                (tables::section("facts", "Facts", &facts(context, page)))
                (tables::section("words", "Description", &description(page)))
                (tables::section("assets", "Assets", &assets(context, page)))
                (tables::section("sample", "Sample", &sample(context, page)))
                (tables::section("evidence", "Quality evidence", &checks::section(context, page)))
                (tables::section("review", "Review", &review(context, page)))
                (about::section(context, &page.notifications))
                (tables::section("history", "History", &history(&page.history)))
            }
            aside.stack.first aria-label="What you can do" {
                (menu(context, page))
                (links(context, page))
            }
        }
    }
}

/// Whether submitting is what comes next.
fn is_submittable(page: &OwnListingPage) -> bool {
    page.listing.state().after(Operation::Submit).is_ok()
}

/// Explains the state of the listing and the next step.
fn next(context: &Context, page: &OwnListingPage) -> Markup {
    let status = page.listing.status;
    let lacks = page.obstacles.fields.len() + usize::from(page.obstacles.assets.is_some());
    let feedback = page.facts.review_feedback.as_deref();
    let (tone, words) = match (status.stage(), status.review) {
        (LifecycleStage::Archived, _) => {
            (Tone::Neutral, html! { "It is put away. Restore it to work on it or to publish it again." })
        }
        (LifecycleStage::Active, _) if page.obstacles.assets.is_some() => (
            Tone::Warning,
            html! {
                b { "Buyers find it in the catalog, but can neither buy it nor bid on it. " }
                @if let Some(reason) = &page.obstacles.assets { (deals::for_team(reason)) }
            },
        ),
        (LifecycleStage::Active, _) => (
            Tone::Good,
            html! {
                "Buyers find it in the catalog. "
                @if page.obstacles.waiting_offers > 0 {
                    a href=(context.links.to(paths::OFFERS)) {
                        (text::counted(page.obstacles.waiting_offers, "bid waits", "bids wait")) " for your decision"
                    }
                }
            },
        ),
        (LifecycleStage::Ready, _) => {
            (Tone::Good, html! { "The market approved it. Publish it, so that buyers find it." })
        }
        (LifecycleStage::Review, _) => (
            Tone::Waiting,
            html! {
                "The market reviews it. Your team is notified of the decision. Until then, it cannot be changed."
            },
        ),
        (LifecycleStage::Draft, ReviewStatus::Rejected) => (
            Tone::Bad,
            html! {
                "The market rejected it. It cannot be submitted again." (note(feedback))
            },
        ),
        (LifecycleStage::Draft, ReviewStatus::ChangesRequested) => (
            Tone::Warning,
            html! {
                "The market asks for changes. Make them, then submit it again." (note(feedback))
            },
        ),
        (LifecycleStage::Draft, _) if lacks > 0 => (
            Tone::Neutral,
            html! {
                "It is a draft, which only your team sees. Complete what is missing, then submit it for review."
            },
        ),
        (LifecycleStage::Draft, _) => (
            Tone::Neutral,
            html! {
                "It is a draft, which only your team sees. It has all that it needs: submit it for review."
            },
        ),
    };
    badges::message(tone, &words)
}

/// Shows the menu: all that the state allows, and why the rest is not.
fn menu(context: &Context, page: &OwnListingPage) -> Markup {
    let listing = &page.listing;
    let path = paths::own_listing(listing.id);
    let edits = [
        (Operation::UpdateTerms, "edit", "Edit the listing"),
        (Operation::Attach, "assets", "Attach or detach assets"),
    ];
    let all = edits
        .into_iter()
        .map(|(operation, segment, title)| (operation, segment, title, None))
        .chain(steps::ALL.iter().map(|step| (step.operation, step.segment, step.title, step.next_in)));
    // If it is submitted again without the changes, the market sends it back.
    let is_sent_back = listing.status.stage() == LifecycleStage::Draft
        && listing.status.review == ReviewStatus::ChangesRequested;
    let (mut possible, mut others) = (Vec::new(), Vec::new());
    for (operation, segment, title, next_in) in all {
        match why_not(listing, &page.obstacles, operation) {
            None => {
                let is_next =
                    if is_sent_back { segment == "edit" } else { next_in == Some(listing.status.stage()) };
                possible.push((segment, title, is_next));
            }
            Some(reason) => others.push((title, reason)),
        }
    }
    // The next step stands first.
    possible.sort_by_key(|(_, _, is_next)| !is_next);
    html! {
        div.panel {
            h2 { "What you can do" }
            @if possible.is_empty() { p.note { "Nothing can be done with it now." } }
            ul.stack.tight { @for (segment, title, is_next) in &possible { li {
                a.button.full.primary[*is_next] href=(context.links.to(&format!("{path}/{segment}"))) { (title) }
            } } }
            @if !others.is_empty() {
                details {
                    summary { "Not possible now" }
                    dl.facts { @for (title, reason) in &others { dt { (title) } dd.long { (reason) } } }
                }
            }
        }
    }
}

/// Shows where else the listing can be looked at.
fn links(context: &Context, page: &OwnListingPage) -> Markup {
    let path = paths::own_listing(page.listing.id);
    let link = |segment: &str, label: &str| {
        html! { li { a href=(context.links.to(&format!("{path}/{segment}"))) { (label) } } }
    };
    html! {
        nav aria-label="More about this listing" { ul.stack.tight {
            (link("preview", "See it as buyers see it"))
            @if page.listing.status.catalog == CatalogStatus::Published {
                li { a href=(context.links.to(&paths::listing(page.listing.id))) { "Open it in the catalog" } }
            }
            @if page.has_approval { (link("changes", "What changed since the last approval")) }
            @if !page.reviews.is_empty() { (link("reviews", "Rounds of its review")) }
        } }
    }
}

fn facts(context: &Context, page: &OwnListingPage) -> Markup {
    let (fields, facts) = (&page.facts.fields, &page.facts);
    let words = |values: &[String]| html! { @if values.is_empty() { (text::MISSING) } @else { span.long { (values.join(", ")) } } };
    let delivery =
        fields.delivery.map(|(method, expected_days)| listing_view::Delivery { method, expected_days });
    let mut rows = vec![
        (
            "Price, USD",
            html! { @match fields.price {
                Some(price) if price.0 > 0 => { (text::money(price)) br; span.note { (fees::sentence(context, price)) } },
                Some(price) => (text::money(price)),
                None => "None yet",
            } },
        ),
        ("Sample", html! { (sample_price_text(fields.sample_price)) }),
        ("Bids", html! { (text::words(bids_text(fields.accepts_bids))) }),
        ("Exclusive sale", html! { @if fields.is_exclusive { "Yes: it is sold once" } @else { "No" } }),
        (
            "Delivery",
            html! { (delivery.map_or_else(|| "Not stated".to_owned(), listing_view::Delivery::text)) },
        ),
        (
            "Available",
            html! { @match fields.available_from { Some(at) => { "From " (text::entered_day(at)) }, None => "Now" } },
        ),
        ("Domains", words(&page.domains)),
        ("Tags", words(&page.tags)),
        (
            "Sales",
            html! {
                @if facts.sale_count == 0 { "None yet" }
                @else {
                    a href=(context.links.to(paths::SALES)) { (text::counted(facts.sale_count, "sale", "sales")) }
                    ", " (text::money(facts.earned)) " after the market's fee"
                }
            },
        ),
        ("Created", text::moment(facts.created_at)),
    ];
    if let Some(at) = facts.published_at {
        rows.push(("Published", text::moment(at)));
    }
    rows.push(("ID", html! { span.mono.long { (page.listing.id) } }));
    tables::facts(&rows)
}

fn description(page: &OwnListingPage) -> Markup {
    let fields = &page.facts.fields;
    html! {
        div.prose.long {
            @if is_blank(&fields.description) { p.note { "There is no description yet." } }
            @else { (markdown::render(&fields.description)) }
        }
        h3 { "Terms" }
        div.prose.long {
            @if is_blank(&fields.terms) { p.note { "There are no terms of your own. The market's apply." } }
            @else { (markdown::render(&fields.terms)) }
        }
    }
}

fn assets(context: &Context, page: &OwnListingPage) -> Markup {
    // On a narrow screen, the price is still visible.
    let row = |asset: &Asset| {
        let title = samples::title_or_default(&asset.title);
        [
            Head::text("Asset")
                .cell(html! { a.long href=(context.links.to(&paths::asset(asset.id))) { bdi { (title) } } }),
            Head::number("Asking price, USD").cell(text::optional_money(asset.price)),
            Head::text("Kind").cell(text::words(kinds::words(asset.kind).0)),
        ]
    };
    let left_out = page.asset_count.saturating_sub(page.assets.len() as u64);
    let all = context.links.to(&format!("{}/assets", paths::own_listing(page.listing.id)));
    html! {
        @if page.assets.is_empty() { p.note { "It has no assets yet." } }
        @else { (tables::of("Assets", &page.assets, row)) }
        @if left_out > 0 { p.note { "And " (text::counted(left_out, "more asset", "more assets")) "." } }
        p { a href=(all) { "All assets of the listing" } }
    }
}

/// Shows the content of the sample by asset.
fn sample(context: &Context, page: &OwnListingPage) -> Markup {
    let fields = &page.facts.fields;
    let edit = context.links.to(&format!("{}#sample", paths::edit_listing(page.listing.id)));
    let row = |content: &SampleContent| {
        let asset = context.links.to(&paths::asset(content.asset));
        [
            Head::text("Asset").cell(html! { a.long href=(asset) { bdi { (samples::title(content)) } } }),
            Head::text("The sample has").cell(samples::part(&content.part)),
        ]
    };
    html! {
        @match (fields.sample_price, page.sample.is_empty()) {
            (None, true) => p.note { "No sample is offered." },
            (None, false) => p.note { "No sample is offered, since it has no price. 0 makes it free." },
            (Some(_), true) if is_submittable(page) => p.note { "Choose what the sample has before you submit the listing." },
            (Some(_), true) => p.note { "You have not chosen the content of the sample, so it has the first files and tasks of each asset." },
            (Some(price), false) => p { "Price of the sample: " (if price.0 == 0 { "free".to_owned() } else { text::money(price) }) "." },
        }
        (samples::summary(&page.sample, fields.sample_price.is_some()))
        @if !page.sample.is_empty() { (tables::of("Sample", &page.sample, row)) }
        @if page.listing.state().after(Operation::UpdateTerms).is_ok() { p { a href=(edit) { "Change the sample" } } }
    }
}

fn review(context: &Context, page: &OwnListingPage) -> Markup {
    let all = context.links.to(&format!("{}/reviews", paths::own_listing(page.listing.id)));
    html! {
        @match page.reviews.first() {
            Some(latest) => {
                (timeline::timeline(&reviews::entries(std::slice::from_ref(latest))))
                @if page.reviews.len() > 1 { p { a href=(all) { "All " (page.reviews.len()) " rounds, with the notes" } } }
            }
            None => p.note { "No round of its review is stored." },
        }
    }
}

fn history(events: &[HistoryEvent]) -> Markup {
    let entry = |event: &HistoryEvent| {
        let by = match event.actor {
            Actor::Team => "by your team",
            Actor::Platform => "by the market",
            Actor::System => "automatically",
        };
        Entry { note: Some(html! { (by) }), ..Entry::new(event_word(event.event), event.occurred_at) }
    };
    let entries: Vec<Entry> = events.iter().take(MAX_EVENTS).map(entry).collect();
    let left_out = events.len() - entries.len();
    html! {
        (timeline::timeline(&entries))
        @if left_out > 0 { p.note { "And " (text::counted(left_out as u64, "earlier event", "earlier events")) "." } }
    }
}

/// Returns the words for an event.
const fn event_word(event: Event) -> &'static str {
    match event {
        Event::Created => "Created",
        Event::Updated => "Changed",
        Event::AssetAttached => "Assets attached",
        Event::AssetDetached => "Assets detached",
        Event::Submitted => "Submitted for review",
        Event::Withdrawn => "Withdrawn from review",
        Event::ChangesRequested => "Changes requested",
        Event::Approved => "Approved",
        Event::Rejected => "Rejected",
        Event::Published => "Published",
        Event::Unpublished => "Taken out of the catalog",
        Event::Archived => "Archived",
        Event::Restored => "Restored",
        Event::Certified => "Certified",
        Event::CertificationRevoked => "Certification ended",
    }
}
