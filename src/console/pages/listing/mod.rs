//! A listing: its content, the evidence of the market, and the actions of the team.

mod contents;
mod croissant;
mod decision;
mod page_data;
mod share;
mod taskset;

use crate::{
    console::{
        parts::{
            cards, evidence,
            listing_view::{self, Details},
            markdown,
            timeline::{self, Entry},
        },
        prelude::*,
    },
    domain::listings::CatalogStatus,
    operations::{
        access::{AuthenticatedTeam, ListingViewer},
        listing_quality::Evidence,
    },
};

pub(super) use self::page_data::ListingPageData;
pub(super) use self::taskset::{stage as version_stage, state as version_state, values as written_values};
pub use croissant::Croissant;
pub use taskset::TasksetPage;

/// Maximum number of figures beside each other.
const MAX_FIGURES: usize = 5;

/// The page.
pub struct ListingPage;

impl Page<ListingViewer> for ListingPage {
    const PATH: &'static str = "/listings/{listing_id}";
    const TITLE: &'static str = "Listing";
    const BUDGET: Budget = Budget::Catalog;

    async fn show(visit: &Visit<ListingViewer>) -> Result<Answer> {
        let id = visit.id(0)?;
        let buyer = buyer(&visit.context);
        let shown = visit
            .read(move |reader, viewer| ListingPageData::read(reader, viewer, buyer.as_ref(), id))
            .await?;
        let content = Content::new(shown.listing.summary.title.clone(), body(&visit.context, &shown));
        let content = content.with_parent("Catalog", paths::CATALOG).narrow();
        Ok(content.with_request(format!("/v2/listings/browse/{id}")).into())
    }
}

/// Returns the proof that the team may buy; `None` if it may not.
fn buyer(context: &Context) -> Option<Buyer> {
    let authenticated = context.signed_in.as_ref()?.authenticated.clone();
    Buyer::authorize(AuthenticatedTeam::authorize(authenticated).ok()?).ok()
}

/// Shows a listing as buyers see it.
pub(super) fn body(context: &Context, shown: &ListingPageData) -> Markup {
    let Some(details) = &shown.listing.details else { return Markup::default() };
    html! {
        @if let Some(note) = share::note_of_colleague(context) { (note) }
        @if shown.is_own { (own_note(shown.listing.summary.catalog_status)) }
        (byline(shown, details))
        div.decide {
            div.stack.wide {
                (particulars(context, shown, details))
                @if !shown.related.is_empty() {
                    (tables::section("related", "Related listings", &html! {
                        ul.cards { @for listing in &shown.related {
                            (cards::card(context, listing, shown.certificates.get(&listing.row_id), None))
                        } }
                    }))
                }
            }
            aside.stack.first aria-label="What you can do" {
                (decision::panel(context, shown, details))
                (share::links(context, shown))
            }
        }
    }
}

/// Shows a listing as buyers read it, without the actions of buyers, and without the evidence: reviewers see each check of the run.
pub(super) fn reading(context: &Context, shown: &ListingPageData) -> Markup {
    let Some(details) = &shown.listing.details else { return Markup::default() };
    html! {
        (byline(shown, details))
        (decision::offer(context, details))
        (words(context, shown, details))
        (conditions(shown, details))
    }
}

/// Shows the vendor's description, and the market's evidence.
fn particulars(context: &Context, shown: &ListingPageData, details: &Details) -> Markup {
    html! {
        (words(context, shown, details))
        (evidence_section(shown))
        (conditions(shown, details))
    }
}

/// Shows the vendor's description, and what the listing contains.
fn words(context: &Context, shown: &ListingPageData, details: &Details) -> Markup {
    let contrast = "the evidence below is the market's.";
    html! {
        (figures(shown, details))
        (words_of_vendor(&shown.listing.summary.team_name, &details.description, contrast))
        (tables::section("contains", "What it contains", &contents::contents(context, shown, details)))
    }
}

/// Shows the terms, and the history.
fn conditions(shown: &ListingPageData, details: &Details) -> Markup {
    html! {
        (tables::section("terms", "Terms", &terms(shown, details)))
        (history(shown))
    }
}

fn own_note(status: CatalogStatus) -> Markup {
    badges::neutral(html! {
        b { "This is your own listing. " }
        @if status == CatalogStatus::Published { "Buyers see this page as it is here, with buttons to buy it." }
        @else { "It is not in the catalog now: only your team sees it, and teams that bought it or its sample." }
    })
}

fn byline(shown: &ListingPageData, details: &Details) -> Markup {
    html! {
        p.row {
            b.long { bdi { (shown.listing.summary.team_name) } }
            span.note { "vendor of " (listing_view::tier_text(details.vendor_tier)) ", where 3 is the highest" }
            @match shown.evidence.certified_at {
                Some(at) => span.badge.ok { (icons::icon("seal")) "Certified " (text::day(at)) },
                None => (badges::badge(Tone::Neutral, "Not certified")),
            }
            @if shown.listing.summary.catalog_status != CatalogStatus::Published {
                (badges::badge(Tone::Neutral, "Not in the catalog"))
            } @else if let Some(at) = details.published_at { span.note { "published " (text::day(at)) } }
        }
    }
}

fn figures(shown: &ListingPageData, details: &Details) -> Markup {
    let scale = &shown.listing.summary.scale;
    let mut figures: Vec<(&str, Markup, Markup)> = Vec::new();
    if scale.loc > 0 {
        let shares = shown.listing.shares();
        let note = html! { @if let Some((language, share)) = shares.first() { (text::percent(*share)) " " (language) } };
        figures.push(("Lines of code", html! { (text::grouped(scale.loc)) }, note));
    }
    if scale.task_count > 0 {
        let note = text::counted(details.tasksets.len() as u64, "taskset", "tasksets");
        figures.push(("Tasks", html! { (text::grouped(scale.task_count)) }, html! { "in " (note) }));
    }
    if scale.zip_size_bytes > 0 {
        let note = text::counted(scale.zip_file_count, "file", "files");
        figures.push(("Raw data", html! { (text::size(scale.zip_size_bytes)) }, html! { "zipped, " (note) }));
    }
    let (passed, all) = evidence::required(&shown.evidence.checks);
    if all > 0 {
        let at = shown.run().and_then(|run| run.completed_at);
        let note = html! { @if let Some(at) = at { "run of " (text::day(at)) } };
        figures.push(("Required checks", html! { (passed) " " small { "of " (all) " passed" } }, note));
    }
    if let Some(delivery) = details.delivery {
        let days = delivery.expected_days;
        let value = html! {
            @if days == 0 { "At once" } @else { (days) " " small { @if days == 1 { "day" } @else { "days" } } }
        };
        figures.push(("Delivery", value, html! { (listing_view::delivery_method(delivery.method)) }));
    }
    figures.truncate(MAX_FIGURES);
    if figures.is_empty() { Markup::default() } else { tables::figures(&figures) }
}

/// Shows a text of the vendor, and says that it is one.
fn words_of_vendor(vendor: &str, words: &str, contrast: &str) -> Markup {
    html! {
        div.prose.long {
            @if is_blank(words) { p.note { "The vendor wrote nothing here." } }
            @else {
                (markdown::render(words))
                p.note { "Written by the vendor. " bdi { (vendor) } " answers for these statements; " (contrast) }
            }
        }
    }
}

fn evidence_section(shown: &ListingPageData) -> Markup {
    let Evidence { checks, environments, environments_passed, .. } = &shown.evidence;
    let (passed, all) = evidence::required(checks);
    let completed_at = shown.run().and_then(|run| run.completed_at);
    html! {
        section.section aria-labelledby="evidence" {
            div.row.apart {
                h2 #evidence { "Quality evidence" }
                @if all > 0 { span.note { (evidence::required_text(passed, all)) } }
            }
            @if checks.is_empty() {
                p { "No checks of this listing have been completed, so nobody but the vendor says anything about its quality yet." }
            } @else {
                (evidence::checks(&evidence::of_listing(checks, completed_at)))
                @if *environments > 0 {
                    p.note { (environments_passed) " of " (text::counted(*environments as u64, "environment", "environments")) " built and started." }
                }
                @if let Some(run) = shown.run() {
                    p.note.long { "The market ran these checks"
                        @if let Some(at) = run.completed_at { " and completed them on " (text::moment(at)) } "." }
                }
            }
        }
    }
}

fn terms(shown: &ListingPageData, details: &Details) -> Markup {
    let terms = "your agreement states them when you buy.";
    html! {
        (words_of_vendor(&shown.listing.summary.team_name, &details.terms, terms))
        (tables::facts(&[
            ("Delivery", html! { (details.delivery.map_or_else(|| "The vendor has not said how".to_owned(), listing_view::Delivery::text)) }),
            ("Available", html! { @match details.available_from { Some(at) => { "From " (text::entered_day(at)) }, None => "Now" } }),
            ("Payment", html! { "With credits or by invoice" }),
        ]))
    }
}

fn history(shown: &ListingPageData) -> Markup {
    let publications = shown.publications.iter().map(|at| Entry::new("Published", *at));
    let certified = shown.evidence.certified_at.map(|at| Entry::new("Certified by the market", at));
    let mut entries: Vec<Entry> = publications.chain(certified).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    html! { @if !entries.is_empty() { (tables::section("history", "History", &timeline::timeline(&entries))) } }
}
