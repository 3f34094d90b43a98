//! An opportunity as a vendor reads it: a request.

use maud::html;

use super::{facts, kind_word, status_badge, words_of_buyer};
use crate::{
    console::{answer::Content, parts::tables, visit::Context},
    domain::opportunities::{Opportunity, OpportunityKind},
};

/// Returns the page.
pub fn content(context: &Context, opportunity: &Opportunity) -> Content {
    let is_open = opportunity.is_open(context.now())
        && context.team().is_some_and(|team| opportunity.allows_team(team.id));
    let (noun, collection) = match opportunity.kind {
        OpportunityKind::Listing => ("listings that fit", "opportunities"),
        OpportunityKind::Project => ("tasks that are made for it", "project-opportunities"),
    };
    let body = html! {
        (tables::section("wanted", "In the buyer's words", &words_of_buyer(opportunity)))
        (tables::section("facts", "Facts", &facts(opportunity)))
        @if is_open { p.note { "The request is open for answers." } }
        @else { p.note { "The request takes no answers from your team any more." } }
    };
    let badge = status_badge(opportunity.status, opportunity.deadline, context.now());
    Content::new(&opportunity.title, body)
        .narrow()
        .with_note(html! {
            (kind_word(opportunity.kind)) " of " bdi { (opportunity.owner_name) } ": " (noun) ". " (badge)
        })
        .with_request(format!("/v2/{collection}/{}", opportunity.id))
}
