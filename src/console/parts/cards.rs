//! Cards of listings, and the evidence of their quality in one line.

use maud::{Markup, html};

use super::{
    badges::{self, Tone},
    bars,
    evidence::{not_passed_text, required_text},
    listing_view::{Details, ListingView, bids_text, sample_text, tier_text},
    text,
};
use crate::{
    console::{paths, visit::Context},
    domain::quality_runs::RunOutcome,
    operations::listing_quality::Certificate,
    store::quality_runs::RunSummary,
};

/// ID of the form that compares the chosen listings of a page.
pub const COMPARE_FORM: &str = "compare";

/// Field of the form with the IDs of the chosen listings.
pub const COMPARE_FIELD: &str = "id";

/// Maximum number of listings that are compared.
pub const MAX_COMPARED: usize = 4;

/// Field of the catalog's address with the listings that are already chosen.
pub const CHOSEN_FIELD: &str = "compare";

/// Returns a card of a listing: an item of a `ul.cards`. `is_chosen` is whether its checkbox of the form [`COMPARE_FORM`] is
/// checked; `None` on pages without that form. A listing without details is not linked, since the reader may not open it.
pub fn card(
    context: &Context,
    listing: &ListingView,
    certificate: Option<&Certificate>,
    is_chosen: Option<bool>,
) -> Markup {
    let summary = &listing.summary;
    let languages = listing.main_languages(3);
    let content: Vec<_> =
        [summary.scale.amounts(), languages].into_iter().filter(|part| !part.is_empty()).collect();
    html! {
        li.card {
            p.row.apart.note {
                span { (summary.scale.contents()) }
                span.long { bdi { (summary.team_name) } @if let Some(details) = &listing.details { " · " (tier_text(details.vendor_tier)) } }
            }
            h2.long { (title(context, listing)) }
            @if !content.is_empty() { p.note { (content.join(". ")) } }
            @if listing.details.as_ref().is_some_and(|details| !details.languages.is_empty()) {
                (bars::bar(&listing.shares(), "bar thin"))
            }
            @if listing.details.is_some() { p.row { (evidence(certificate)) } }
            @match &listing.details {
                Some(details) => div.row.apart {
                    (price(details))
                    @if let Some(is_chosen) = is_chosen { (compare_box(listing, is_chosen)) }
                },
                None => p.note { "Price and details are behind the lock" },
            }
        }
    }
}

/// Returns the title, which leads to the page of the listing if the reader may open it.
pub fn title(context: &Context, listing: &ListingView) -> Markup {
    let summary = &listing.summary;
    html! {
        @if listing.details.is_some() {
            a href=(context.links.to(&paths::listing(summary.id))) { bdi { (summary.title) } }
        } @else { bdi { (summary.title) } }
    }
}

fn price(details: &Details) -> Markup {
    let sample = sample_text(details.sample_price);
    html! {
        div {
            p.price { (price_text(details)) }
            p.note {
                @if let Some(price) = details.price_per_task { (text::short_money(price)) " for each task" br; }
                (sample) " · " (bids_text(details.accepts_bids))
            }
        }
    }
}

/// Returns the price of a listing in words.
pub fn price_text(details: &Details) -> String {
    details.price.map_or_else(|| "No set price".to_owned(), text::short_money)
}

/// Returns the checkbox that chooses a listing for the comparison.
fn compare_box(listing: &ListingView, is_chosen: bool) -> Markup {
    let summary = &listing.summary;
    html! {
        label.note {
            input type="checkbox" name=(COMPARE_FIELD) value=(summary.id) form=(COMPARE_FORM) checked[is_chosen];
            span { "Compare" span.out { " " bdi { (summary.title) } } }
        }
    }
}

/// Returns what the market says about the quality of a listing, in one line of a row.
pub fn evidence(certificate: Option<&Certificate>) -> Markup {
    let run = certificate.and_then(|certificate| certificate.latest_run.as_ref());
    let is_certified = certificate.is_some_and(|certificate| certificate.certified_at.is_some());
    let passed = |run: &RunSummary| {
        html! { @if run.mandatory > 0 { " " span.note { (required_text(run.mandatory_passed, run.mandatory)) } } }
    };
    html! {
        @match run {
            Some(run) if is_certified => { (badges::certified("Certified")) (passed(run)) },
            None if is_certified => { (badges::certified("Certified")) },
            Some(run) if run.outcome == RunOutcome::Failed => {
                (badges::badge(Tone::Warning, &not_passed_text(run.mandatory_passed, run.mandatory)))
            },
            Some(run) => { (badges::badge(Tone::Neutral, "Not certified")) (passed(run)) },
            None => { (badges::badge(Tone::Neutral, "Not checked")) },
        }
    }
}
