//! What a reviewer reads besides the texts of a listing: findings of checks, earlier rounds, and the record of the vendor.

use crate::{
    console::{
        pages::{
            listing,
            operator::{prelude::*, quality_runs},
            own_listings::reviews,
        },
        parts::{asset_prices, findings, timeline},
    },
    domain::{listings::LifecycleStage, reviews::ReviewDecision},
    operations::{review_cases::Case, review_decisions},
    store::{review_queue::VendorHistory, reviews::Review},
};

/// Whether a listing waits for a decision.
pub fn is_in_review(case: &Case) -> bool {
    case.listing.status.stage() == LifecycleStage::Review
}

/// Returns the name of the key with which a round was decided on; `None` if it is not known.
pub fn who(case: &Case, round: &Review) -> Option<String> {
    review_decisions::decider(&case.deciders, round).map(|decider| decider.key_name.clone())
}

/// Returns what was done with a listing, as the rest of a sentence.
pub const fn done(decision: ReviewDecision) -> &'static str {
    match decision {
        ReviewDecision::Approved => "approved it",
        ReviewDecision::ChangesRequested => "requested changes",
        ReviewDecision::Rejected => "rejected it",
        ReviewDecision::Withdrawn => "withdrawn it",
    }
}

/// Says what is unusual about the prices.
pub fn prices(shown: &listing::ListingPageData) -> Markup {
    let details = shown.listing.details.as_ref();
    details.map_or_else(Markup::default, |details| {
        asset_prices::dear_sample(details.sample_price, details.price)
    })
}

/// Shows the latest quality run with its findings.
pub fn findings(context: &Context, case: &Case) -> Markup {
    let Some(run) = &case.run else {
        return tables::section(
            "run",
            "Quality run",
            &html! {
                p.note { "The listing was never checked. A run starts with a submission, if the vendor has the credits for it." }
            },
        );
    };
    let path = format!("{RUNS}/{}", run.run.id);
    html! {
        (tables::section("run", "Quality run", &html! {
            (findings::summary(run))
            p { a href=(context.links.to(&path)) { "Open the run" } }
        }))
        (quality_runs::checks_of(context, run.checks.clone()))
    }
}

/// Shows the rounds of the review with their notes.
pub fn rounds(case: &Case) -> Markup {
    let words = |decision| match decision {
        ReviewDecision::Withdrawn => "Withdrawn by the vendor",
        other => reviews::decision_word(other),
    };
    tables::section(
        "rounds",
        "Rounds of the review",
        &html! {
            @if case.rounds.is_empty() { p.note { "No round of its review is stored." } }
            @else { (timeline::timeline(&reviews::entries_by(&case.rounds, words, |round| who(case, round)))) }
        },
    )
}

/// Shows the earlier reviews and sales of a vendor.
pub fn vendor(context: &Context, vendor: &VendorHistory) -> Markup {
    let number = |count: u64| html! { (text::grouped(count)) };
    html! {
        section.panel aria-labelledby="vendor" {
            h2 #vendor.long { bdi { (vendor.name) } }
            (tables::facts(&[
                ("Team since", text::day(vendor.created_at)),
                ("In the catalog", html! { (text::counted(vendor.published, "listing", "listings")) }),
                ("Approved", number(vendor.approved)),
                ("Sent back", number(vendor.sent_back)),
                ("Rejected", number(vendor.rejected)),
                ("Sales", number(vendor.sales)),
                ("Refunded", number(vendor.refunds)),
            ]))
            a href=(context.links.to(&format!("{TEAMS}/{}", vendor.id))) { "Open the vendor's record" }
        }
    }
}
