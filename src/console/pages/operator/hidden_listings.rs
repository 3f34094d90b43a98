//! Says why buyers do not see a listing, and what has to happen next.

use super::prelude::*;
use crate::operations::listing_visibility::{Hidden, Reason};

/// Shows the reason, with a link to the next step if the visitor can take it.
pub fn message(context: &Context, id: Uuid, hidden: Hidden) -> Markup {
    let Hidden { reason, since, lacks_assets } = hidden;
    let step = match reason {
        Reason::InReview => Some((format!("{REVIEW}/{id}"), "Review it")),
        Reason::NotPublished | Reason::Unpublished | Reason::Restored if !lacks_assets => {
            Some((format!("{LISTINGS}/{id}/publish"), "Publish it"))
        }
        Reason::Archived => Some((format!("{LISTINGS}/{id}/restore"), "Restore it")),
        _ => None,
    };
    let (before, after) = what_happened(reason);
    let message = html! {
        p {
            b { "Buyers do not see it: " } (before)
            @if let Some(since) = since { " on " (text::day(since)) } (after) ". "
            (next_step(reason))
            @if lacks_assets && needs_assets(reason) { " It has no assets, which it needs for that." }
        }
        @if let Some((path, label)) = step.filter(|_| context.may_act()) {
            p { a href=(context.links.to(&path)) { (label) } }
        }
    };
    badges::neutral(&message)
}

/// Returns the words before and after the day on which it happened.
const fn what_happened(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::Draft => ("it is a draft", ""),
        Reason::InReview => ("it was submitted", ", and is in review"),
        Reason::ChangesRequested => ("the market requested changes", ""),
        Reason::Rejected => ("the market rejected it", ""),
        Reason::NotPublished => ("the market approved it", ", and the vendor has not published it"),
        Reason::Unpublished => ("it was taken out of the catalog", ""),
        Reason::Restored => ("it was restored from the archive", ", and is not published"),
        Reason::TeamClosed => ("it was archived", ", and its team is closed"),
        Reason::SoldExclusively => ("it was archived", ", and its code was sold exclusively"),
        Reason::Archived => ("it was archived", ""),
    }
}

const fn next_step(reason: Reason) -> &'static str {
    match reason {
        Reason::Draft => "The vendor has to submit it for review.",
        Reason::InReview => "A reviewer has to decide.",
        Reason::ChangesRequested => "The vendor has to change it, and submit it again.",
        Reason::Rejected => "It cannot be submitted again. The vendor has to make a new listing.",
        Reason::NotPublished | Reason::Restored => {
            "The vendor can publish it, or you can do so for the vendor."
        }
        Reason::Unpublished => "The vendor can publish it again, or you can do so for the vendor.",
        Reason::TeamClosed => "A closed team cannot be opened again, so the listing cannot be restored.",
        Reason::SoldExclusively => "It can be restored only if that sale is refunded.",
        Reason::Archived => "It has to be restored first.",
    }
}

/// Whether the next step needs assets.
const fn needs_assets(reason: Reason) -> bool {
    use Reason::{ChangesRequested, Draft, NotPublished, Restored, Unpublished};
    matches!(reason, Draft | ChangesRequested | NotPublished | Unpublished | Restored)
}
