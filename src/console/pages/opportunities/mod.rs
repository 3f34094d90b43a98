//! Opportunities of a buyer: requests for listings, and projects with the bids of vendors on them.

pub mod bids;
pub mod compose;
pub mod detail;
pub mod list;
pub mod steps;
pub mod vendors;

use crate::{
    console::{parts::markdown, prelude::*},
    domain::{
        opportunities::{BudgetUnit, Opportunity, OpportunityKind, OpportunityMetadata, OpportunityStatus},
        opportunity_lifecycle::OpportunityOperation,
        state_machine::StateMachine,
    },
    operations::opportunities::{self, OwnedOpportunity},
};

/// Returns the opportunity of the buyer that a page is about, with its newest bids.
async fn find_own(visit: &Visit<Buyer>, bids: usize) -> Result<OwnedOpportunity> {
    let id = visit.id(0)?;
    let find =
        move |reader: &Reader, buyer: &Buyer| opportunities::find_owned_with_bids(reader, buyer, id, bids, 0);
    visit.read(find).await
}

/// Puts a page below that of an opportunity.
fn below(opportunity: &Opportunity, content: Content) -> Content {
    content
        .with_parent("Opportunities", paths::OPPORTUNITIES)
        .with_parent(&opportunity.title, paths::opportunity(opportunity.id))
        .narrow()
}

/// Returns the word for a kind of opportunity.
pub(super) const fn kind_word(kind: OpportunityKind) -> &'static str {
    match kind {
        OpportunityKind::Listing => "Listing request",
        OpportunityKind::Project => "Project",
    }
}

/// Returns the word for a state, which depends on the time: nobody can respond after the deadline.
fn status_word(status: OpportunityStatus, deadline: Option<Timestamp>, now: Timestamp) -> &'static str {
    match status {
        OpportunityStatus::Draft => "Draft",
        OpportunityStatus::Published if status.is_open(deadline, now) => "Published",
        OpportunityStatus::Published => "Deadline passed",
        OpportunityStatus::Closed => "Closed",
        OpportunityStatus::Cancelled => "Canceled",
    }
}

/// Returns how a state looks, and its word.
fn status_words(
    status: OpportunityStatus,
    deadline: Option<Timestamp>,
    now: Timestamp,
) -> (Tone, &'static str) {
    let tone = match status {
        OpportunityStatus::Published if status.is_open(deadline, now) => Tone::Good,
        OpportunityStatus::Published => Tone::Warning,
        OpportunityStatus::Draft => Tone::Waiting,
        OpportunityStatus::Closed | OpportunityStatus::Cancelled => Tone::Neutral,
    };
    (tone, status_word(status, deadline, now))
}

/// Shows the state.
pub(super) fn status_badge(status: OpportunityStatus, deadline: Option<Timestamp>, now: Timestamp) -> Markup {
    badges::of(status_words(status, deadline, now))
}

/// Returns why the state of an opportunity, or its times, forbid a step now; `None` if they do not.
fn why_not(
    opportunity: &Opportunity,
    operation: OpportunityOperation,
    now: Timestamp,
) -> Option<&'static str> {
    use {OpportunityOperation as O, OpportunityStatus as S};
    let Opportunity { deadline, evaluation_date, .. } = *opportunity;
    let is_past = |time: Option<Timestamp>| time.is_some_and(|time| time <= now);
    if opportunity.status.allows(operation) {
        return match operation {
            O::Publish if is_past(deadline) || is_past(evaluation_date) => {
                Some("Its deadline, or the day of the evaluation, has passed. Edit it first.")
            }
            O::ExtendDeadline if deadline.is_none() => {
                Some("It has no deadline: vendors can respond until you close it.")
            }
            O::ExtendDeadline if evaluation_date.is_some_and(|at| Some(at) <= deadline.max(Some(now))) => {
                Some("Its deadline cannot be after the day of the evaluation, which cannot be moved.")
            }
            _ => None,
        };
    }
    Some(match (operation, opportunity.status) {
        (O::ExtendDeadline, S::Draft) => "It is a draft. Edit it to set its deadline.",
        (O::Update, S::Published) => "It is published, so only its deadline can be moved.",
        (O::Publish, S::Published) => "It is published already.",
        (O::Cancel, S::Draft) => "Nobody has seen this draft. Close it instead.",
        (_, S::Closed) => "It is closed.",
        (_, S::Cancelled) => "It is canceled.",
        _ => "It is not in the right state.",
    })
}

/// Returns the budget in words, such as `$150 to $320 per task`.
pub(super) fn budget(metadata: &OpportunityMetadata) -> String {
    let amount = |dollars: Option<f64>| dollars.and_then(Cents::from_dollars).map(text::short_money);
    let range = match (amount(metadata.budget_min), amount(metadata.budget_max)) {
        (None, None) => return text::MISSING.to_owned(),
        (Some(min), Some(max)) if min == max => min,
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("from {min}"),
        (None, Some(max)) => format!("up to {max}"),
    };
    match metadata.budget_unit {
        Some(BudgetUnit::PerTask) => format!("{range} per task"),
        Some(BudgetUnit::Total) => format!("{range} in total"),
        None => range,
    }
}

/// Shows what an opportunity asks for.
pub(super) fn facts(opportunity: &Opportunity) -> Markup {
    let metadata = &opportunity.metadata;
    let accepted: Vec<&str> =
        opportunity.accepted_asset_types.iter().map(|kind| kinds::words(*kind).1).collect();
    let accepted = if accepted.is_empty() { "any kind of data".to_owned() } else { accepted.join(", ") };
    let deadline = match opportunity.deadline {
        Some(deadline) => text::deadline(deadline),
        None => html! { "none" },
    };
    let mut facts = vec![
        ("Accepted", html! { (accepted) }),
        ("Budget, USD", html! { (budget(metadata)) }),
        ("Deadline", deadline),
    ];
    facts.extend(opportunity.evaluation_date.map(|at| ("Bids are evaluated", text::deadline(at))));
    if !metadata.tags.is_empty() {
        facts.push(("Tags", html! { bdi.long { (metadata.tags.join(", ")) } }));
    }
    facts.push(("Written", text::moment(opportunity.created_at)));
    facts.extend(opportunity.closed_at.map(|at| ("Closed", text::moment(at))));
    tables::facts(&facts)
}

/// Shows the words of the buyer about what is wanted.
pub(super) fn words_of_buyer(opportunity: &Opportunity) -> Markup {
    html! {
        @if let Some(overview) = &opportunity.metadata.overview { p.long { bdi { (overview) } } }
        @if is_blank(&opportunity.description) { p.note { "There is no description." } }
        @else { div.prose.long { (markdown::render(&opportunity.description)) } }
    }
}

/// Returns the end of the path of the request that reads an opportunity through the API.
pub(super) fn api_path(opportunity: &Opportunity) -> String {
    let collection = match opportunity.kind {
        OpportunityKind::Listing => "opportunities",
        OpportunityKind::Project => "project-opportunities",
    };
    format!("{collection}/{}", opportunity.id)
}
