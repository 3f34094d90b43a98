//! The quality evidence on the page of a vendor's own listing: the results, and whether the next submission runs checks.

use crate::{
    console::{
        parts::{cards, evidence},
        prelude::*,
    },
    domain::{listing_lifecycle::Operation, quality_runs::RunStatus},
    operations::own_listings::OwnListingPage,
    store::quality_runs::RunRow,
};

/// Shows the checks of the latest completed run, and the run of the last or the next submission.
pub(super) fn section(context: &Context, page: &OwnListingPage) -> Markup {
    let run = page.certificate.latest_run.as_ref();
    html! {
        p.row {
            (cards::evidence(Some(&page.certificate)))
            @if let Some(at) = page.certificate.certified_at { span.note { "certified " (text::day(at)) } }
        }
        @if page.checks.is_empty() {
            p.note { "No checks of the present data of this listing have been completed." }
        } @else {
            (evidence::checks(&evidence::of_listing(&page.checks, run.and_then(|run| run.completed_at))))
            p.note { "Buyers see these checks, without the names of your assets." }
        }
        (past(page))
        @if page.listing.state().after(Operation::Submit).is_ok() { (next(context, page)) }
        @if let Some(run) = page.latest_run.as_ref() {
            p { a href=(context.links.to(&format!("{}/runs/{}", paths::QUALITY, run.id))) { "Open the latest run with its findings" } }
        }
    }
}

/// Shows the result of the run of the last submission.
fn past(page: &OwnListingPage) -> Markup {
    let submitted = page.reviews.first().map(|round| round.submitted_at);
    let ran = |run: &&RunRow| submitted.is_none_or(|submitted| run.started_at >= submitted);
    let run = page.latest_run.as_ref().filter(ran);
    html! {
        @match (submitted, run.map(|run| run.status)) {
            (_, Some(RunStatus::Completed)) | (None, None) => {},
            (_, Some(RunStatus::Error)) => p.note { "The latest run failed with an error, so it has no result. Its cost was refunded." },
            (_, Some(RunStatus::Cancelled)) => p.note { "The latest run was canceled before it ended." },
            (_, Some(RunStatus::Queued | RunStatus::Running)) => p { "Its checks are waiting or running." },
            (Some(submitted), None) => p {
                "No checks were run with the last submission, on " (text::day(submitted)) ". A submission starts them only if your \
                 team has enough credits for them; the market can review the listing without."
            },
        }
    }
}

/// Says whether the next submission starts a run.
fn next(context: &Context, page: &OwnListingPage) -> Markup {
    let (price, credits) = (page.run_price, page.credits);
    html! { p.note {
        @if price.0 == 0 { "Checks are run when you submit it. They cost nothing." }
        @else if price <= credits {
            "Checks are run when you submit it. They cost " (text::money(price)) "; your team has " (text::money(credits))
            " of credits."
        } @else {
            "Submitting it now starts no checks: they cost " (text::money(price)) ", and your team has " (text::money(credits))
            " of credits. The market then reviews it without them. "
            a href=(context.links.to(paths::BUY_CREDITS)) { "Buy credits" }
        }
    } }
}
