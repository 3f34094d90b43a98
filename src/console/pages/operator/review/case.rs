//! The page on which a reviewer decides: the listing as buyers see it, its changes, the findings of checks, and earlier decisions.

use super::{
    decision, facts,
    filters::{filters_of, path_of, query_of},
};
use crate::{
    console::{
        pages::{listing, operator::prelude::*, own_listings::title_of},
        parts::{
            differences,
            listing_view::tier_text,
            tabs::{self, Tab},
        },
    },
    domain::reviews::ReviewDecision,
    operations::{
        review_cases::{self, Case},
        review_decisions::Revision,
        review_queue::Filters,
        reviews::{Difference, Since},
    },
};

/// Field of the query that says since when changes are shown.
const SINCE: &str = "since";

/// The page.
pub struct CasePage;

/// What the page shows.
struct CaseView {
    case: Case,
    /// How buyers see the listing.
    listing: listing::ListingPageData,
}

impl Page<Operator> for CasePage {
    const PATH: &'static str = "/operator/review/{listing}";
    const TITLE: &'static str = "Review of a listing";

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let id = visit.id(0)?;
        let filters = filters(&visit.context);
        let (since, wanted) = (since(&visit.context), filters.clone());
        let read = visit.read(move |reader, operator| {
            let platform = operator.platform();
            let mut case = review_cases::find(reader, platform, id, since, &wanted)?;
            let has_same = case.difference.as_ref().is_some_and(Difference::is_empty);
            let since = if matches!(since, Since::Round(_)) && has_same {
                // A form was refused for another reason than a change of the listing.
                case = review_cases::find(reader, platform, id, Since::Decision, &wanted)?;
                Since::Decision
            } else {
                since
            };
            let viewer = platform.viewer_of_listing(reader.rows, id)?;
            Ok((
                CaseView { case, listing: listing::ListingPageData::read(reader, &viewer, None, id)? },
                since,
            ))
        });
        let (shown, since) = read.await?;
        Ok(content(&visit.context, &filters, since, &shown).into())
    }
}

impl FormPage<Operator> for CasePage {
    async fn submit(visit: &Visit<Operator>, fields: &Fields) -> Result<Answer> {
        let signed_in =
            visit.signed_in.as_ref().ok_or_else(|| Error::internal("a form without a session"))?;
        // A key that can only read sees the page, and has no form to send.
        let access = ActingOperator::authorize(signed_in.authenticated.clone())?;
        let visit = Visit { access, context: std::sync::Arc::clone(&visit.context) };
        decision::submit(&visit, fields).await
    }
}

/// Returns the filters of the queue that the reviewer works on, also if a form was refused.
fn filters(context: &Context) -> Filters {
    filters_of(context.inputs.typed().map_or(&context.query, Fields::values))
}

/// Returns the revision that a refused form was about.
fn seen(context: &Context) -> Option<Revision> {
    context.inputs.typed()?.get(decision::REVISION).and_then(Revision::parse)
}

/// Returns since when changes are shown: since the revision that a refused form was about, or what the address asks for.
fn since(context: &Context) -> Since {
    match seen(context) {
        Some(Revision { round, .. }) if round > 0 => Since::Round(round),
        _ => match context.query.get(SINCE) {
            Some("approval") => Since::Approval,
            Some(number) => number.parse().map_or(Since::Decision, Since::Round),
            None => Since::Decision,
        },
    }
}

fn content(context: &Context, filters: &Filters, since: Since, shown: &CaseView) -> Content {
    let case = &shown.case;
    let id = case.listing.id;
    let body = html! {
        (state(context, case))
        div.decide {
            div.stack.wide {
                (changes(context, filters, since, case))
                section.stack aria-labelledby="as-buyers" {
                    h2 #as-buyers { "As buyers see it" }
                    (facts::prices(&shown.listing))
                    (listing::reading(context, &shown.listing))
                }
                (facts::findings(context, case))
                (facts::rounds(case))
            }
            aside.stack aria-label="Decision" {
                @if context.may_act() { (decision::panel(context, filters, case)) }
                @else { div.panel { p.note { "Your key can only read, so you cannot decide here." } } }
                (facts::vendor(context, &case.vendor))
            }
        }
    };
    let content = Content::new(title_of(&case.listing.title), body)
        .with_note(note(case))
        .with_actions(actions(context, filters, case))
        .with_parent("Review", query_of(filters).at(REVIEW))
        .with_script("review.js");
    content.narrow().with_request(format!("/operator/v1/listings/{id}"))
}

fn note(case: &Case) -> Markup {
    let waits = case.open_round();
    html! {
        bdi.long { (case.vendor.name) } ", " (tier_text(case.vendor.tier))
        @if let Some(round) = waits { " · round " (round.number) " · submitted " (text::moment(round.submitted_at)) }
        @if facts::is_in_review(case) && case.place.total > 0 {
            " · " (text::grouped(case.place.before + 1)) " of " (text::grouped(case.place.total)) " in the queue"
        }
    }
}

fn actions(context: &Context, filters: &Filters, case: &Case) -> Markup {
    let record = format!("{}/{}", LISTINGS, case.listing.id);
    html! {
        @if context.may_act() { a.small-only href="#decide" { "Go to the decision" } }
        a.button href=(context.links.to(&record)) { "Open the listing's record" }
        @if let Some(next) = case.place.next {
            a.button href=(context.links.to(&path_of(next, filters))) data-next data-key="n" { "Next in the queue" }
        }
    }
}

/// Says whether the listing waits for a decision, or else who has decided.
fn state(context: &Context, case: &Case) -> Markup {
    let latest = case.rounds.first();
    let decided = latest.and_then(|round| Some((round, round.decision?)));
    if facts::is_in_review(case) {
        let link = case.open_round().map(|round| {
            Query::default().with(SINCE, &round.number.to_string()).at(&context.links.to(&context.path))
        });
        return html! { @if case.has_changed_since_submission() {
            (badges::warning(html! {
                b { "It has changed since it was submitted. " }
                "Its assets can change during a review, for example when tasks are added, or get new versions. "
                @if let Some(link) = &link { a href=(link) { "See what has changed" } "." }
            }))
        } };
    }
    let Some((round, (decision, at))) = decided else {
        return badges::neutral("This listing is not in review now.");
    };
    let who = facts::who(case, round);
    badges::neutral(html! {
        b { "This listing is not in review now. " }
        @match decision {
            ReviewDecision::Withdrawn => { "Its vendor has withdrawn it" }
            _ => { bdi { (who.as_deref().unwrap_or("The market")) } " has " (facts::done(decision)) }
        }
        ", " (text::moment(at)) "."
    })
}

/// Shows what has changed since an earlier round.
fn changes(context: &Context, filters: &Filters, since: Since, case: &Case) -> Markup {
    let content = match &case.difference {
        Some(difference) => html! {
            p.note { (compared_with(difference)) }
            (differences::of_listing(difference, &format!("Round {}", difference.since.number)))
        },
        None => html! { p.note {
            @match since {
                Since::Approval => { "The market has not approved this listing yet, or did so before versions were stored." }
                Since::Decision if case.rounds.len() > 1 => {
                    "The market has not decided on an earlier round, or did so before versions were stored."
                }
                Since::Decision => { "This is the first round of its review, so there is nothing to compare with." }
                Since::Round(_) => { "Its version of that time is no longer stored." }
            }
        } },
    };
    html! {
        section.stack aria-labelledby="changed" {
            h2 #changed { "What has changed" }
            @if seen(context).is_none() { (choices(context, filters, since)) }
            (content)
        }
    }
}

/// Returns the links that choose since when changes are shown.
fn choices(context: &Context, filters: &Filters, since: Since) -> Markup {
    let tab = |label, value: &str, of: Since| Tab {
        label,
        address: query_of(filters).with(SINCE, value).at(&context.links.to(&context.path)),
        is_current: since == of,
    };
    tabs::tabs(
        "Since when",
        &[
            tab("Since the last decision", "", Since::Decision),
            tab("Since the last approval", "approval", Since::Approval),
        ],
    )
}

fn compared_with(difference: &Difference) -> Markup {
    let round = &difference.since;
    html! {
        "Compared with round " (round.number) ", submitted " (text::moment(round.submitted_at))
        @if let Some((decision, at)) = round.decision {
            @if decision == ReviewDecision::Withdrawn { ", which the vendor withdrew " }
            @else { ", on which the market decided (" (text::words(decision.as_str()).to_lowercase()) ") " }
            (text::moment(at))
        }
        "."
    }
}
