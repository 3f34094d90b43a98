//! Bids of vendors on a project, and the decisions of the buyer. Decisions cannot be undone, so each needs a confirmation.

use std::collections::HashMap;

use super::{below, vendors};
use crate::{
    console::{
        csv,
        parts::timeline::{self, Entry},
        prelude::*,
        questions::step_pages,
    },
    domain::{
        opportunities::{Bid, BidStatus, Opportunity},
        project_bids::BidOperation,
        state_machine::StateMachine,
    },
    operations::project_bids,
};

/// A decision about a bid.
struct Decision {
    operation: BidOperation,
    /// Name of the operation in the audit.
    audited: &'static str,
    /// Last segment of the path.
    segment: &'static str,
    title: &'static str,
    /// Class of the button.
    button_class: &'static str,
    /// What happens.
    question: &'static [&'static str],
    notice: Notice,
    make: fn(&mut Writer, &Buyer, Actor, Uuid) -> Result<Bid>,
}

const ACCEPT: Decision = Decision {
    operation: BidOperation::Accept,
    audited: "accept_project_bid",
    segment: "accept",
    title: "Accept the bid",
    button_class: "primary",
    question: &[
        "The vendor is notified, and starts to work. Other bids stay as they are: you can accept several.",
        "The market moves no money for projects. You and the vendor agree about the payment outside it. An accepted bid cannot be \
         declined later.",
    ],
    notice: Notice::BidAccepted,
    make: project_bids::accept,
};

const DECLINE: Decision = Decision {
    operation: BidOperation::Decline,
    audited: "decline_project_bid",
    segment: "decline",
    title: "Decline the bid",
    button_class: "danger",
    question: &[
        "The vendor is notified, and can make another bid while the project takes bids. A declined bid cannot be accepted \
                 later.",
    ],
    notice: Notice::BidDeclined,
    make: project_bids::decline,
};

const COMPLETE: Decision = Decision {
    operation: BidOperation::Complete,
    audited: "complete_project_bid",
    segment: "accept-delivery",
    title: "Accept the delivery",
    button_class: "primary",
    question: &[
        "You confirm that the vendor delivered what was agreed. The work on this bid is complete then.",
        "The market moves no money for projects. This cannot be taken back.",
    ],
    notice: Notice::DeliveryAccepted,
    make: project_bids::complete,
};

/// Returns why a decision cannot be made; `None` if it can.
fn why_not(opportunity: &Opportunity, bid: &Bid, operation: BidOperation) -> Option<&'static str> {
    if operation == BidOperation::Accept && project_bids::is_obsolete(bid, opportunity) {
        return Some("The project is canceled, so its bids cannot be accepted. Decline the bid.");
    }
    if bid.status.allows(operation) {
        return None;
    }
    Some(match (operation, bid.status) {
        (BidOperation::Complete, BidStatus::Submitted) => "You have not accepted the bid.",
        (BidOperation::Complete, BidStatus::Accepted) => "The vendor has not delivered yet.",
        (_, BidStatus::Withdrawn) => "The vendor has withdrawn the bid.",
        (_, BidStatus::Declined) => "You have declined the bid.",
        (_, BidStatus::Completed) => "The delivery is accepted, and the work is complete.",
        _ => "You have accepted the bid.",
    })
}

const fn status_words(status: BidStatus) -> (Tone, &'static str) {
    match status {
        BidStatus::Submitted => (Tone::Waiting, "Waits for you"),
        BidStatus::Accepted => (Tone::Good, "Accepted"),
        BidStatus::Declined => (Tone::Neutral, "Declined"),
        BidStatus::Withdrawn => (Tone::Neutral, "Withdrawn"),
        BidStatus::Delivered => (Tone::Warning, "Delivered, waits for you"),
        BidStatus::Completed => (Tone::Good, "Complete"),
    }
}

/// Returns the heads of the columns of a file with bids.
pub fn heads() -> csv::Row {
    let heads = [
        "Vendor",
        "Status",
        "Tasks",
        "Expected days",
        "Made",
        "Attached files",
        "Delivered tasksets",
        "Complete since",
        "ID",
    ];
    heads.map(str::to_owned).to_vec()
}

/// Returns the row of a bid in a file.
pub fn cells(bid: &Bid, names: &HashMap<Uuid, String>) -> csv::Row {
    let files: Vec<&str> = bid.attachments.iter().map(|file| file.file_name.as_str()).collect();
    let tasksets: Vec<&str> = bid.delivery_tasksets.iter().map(|(_, name)| name.as_str()).collect();
    vec![
        vendors::name(names, bid.team_id),
        status_words(bid.status).1.to_owned(),
        bid.num_tasks.to_string(),
        bid.expected_timeline_days.map(|days| days.to_string()).unwrap_or_default(),
        bid.created_at.to_string(),
        files.join("\n"),
        tasksets.join("\n"),
        bid.completed_at.map(|at| at.to_string()).unwrap_or_default(),
        bid.id.to_string(),
    ]
}

/// Shows a bid with the decisions about it.
pub fn bid(context: &Context, opportunity: &Opportunity, bid: &Bid, names: &HashMap<Uuid, String>) -> Markup {
    let name = vendors::name(names, bid.team_id);
    let path =
        |decision: &Decision| context.links.to(&decision_path(opportunity.id, bid.id, decision.segment));
    let decisions: &[&Decision] = match bid.status {
        BidStatus::Submitted => &[&DECLINE, &ACCEPT],
        BidStatus::Accepted | BidStatus::Delivered => &[&COMPLETE],
        BidStatus::Declined | BidStatus::Withdrawn | BidStatus::Completed => &[],
    };
    html! {
        li.panel {
            div.row.apart { h3.long { bdi { (name) } } (badges::of(status_words(bid.status))) }
            (facts(bid))
            @if !decisions.is_empty() {
                div.row { @for decision in decisions {
                    @match why_not(opportunity, bid, decision.operation) {
                        None => a.button.primary[decision.button_class == "primary"] href=(path(decision)) {
                            (decision.title) span.out { " of " bdi { (name) } }
                        },
                        Some(reason) => {
                            button type="button" aria-disabled="true" { (decision.title) }
                            span.note { (reason) }
                        }
                    }
                } }
            }
            details { summary { "What happened" } (activity(bid)) }
        }
    }
}

/// Shows what a bid offers, and what was delivered.
pub fn facts(bid: &Bid) -> Markup {
    let days = bid
        .expected_timeline_days
        .map_or_else(|| "not stated".to_owned(), |days| text::counted(days.into(), "day", "days"));
    let mut facts = vec![
        ("Tasks", html! { (text::grouped(bid.num_tasks.into())) }),
        ("Expected time", html! { (days) }),
        ("Made", text::moment(bid.created_at)),
    ];
    if !bid.attachments.is_empty() {
        facts.push((
            "Attached",
            html! { ul { @for file in &bid.attachments {
                li.long { bdi { (file.file_name) } span.note { " " (text::size(file.size_bytes)) } }
            } } p.note { "The market stores names and sizes only. Vendor and buyer exchange the files outside it." } },
        ));
    }
    if !bid.delivery_tasksets.is_empty() {
        facts.push((
            "Delivered",
            html! { ul { @for (id, name) in &bid.delivery_tasksets {
                li.long { bdi { (name) } br; span.note.mono { (id) } }
            } } },
        ));
    }
    facts.extend(bid.completed_at.map(|at| ("Complete since", text::moment(at))));
    tables::facts(&facts)
}

/// Shows what both sides did, newest first.
pub fn activity(bid: &Bid) -> Markup {
    let sides = [("Market", &bid.platform_events), ("Vendor", &bid.vendor_events)];
    let mut events: Vec<_> =
        sides.into_iter().flat_map(|(side, events)| events.iter().map(move |event| (event, side))).collect();
    events.sort_by_key(|(event, _)| std::cmp::Reverse(event.at));
    let entry = |(event, side): &(&crate::domain::opportunities::BidEvent, &str)| Entry {
        what: html! { bdi.long { (event.event) } },
        at: event.at,
        note: Some(html! { (side) }),
    };
    timeline::timeline(&events.iter().map(entry).collect::<Vec<_>>())
}

fn decision_path(opportunity: Uuid, bid: Uuid, segment: &str) -> String {
    format!("{}/bids/{bid}/{segment}", paths::opportunity(opportunity))
}

/// Returns the bid that a page is about. A bid on another opportunity is not below this one.
async fn find(visit: &Visit<Buyer>) -> Result<(Bid, Opportunity, String)> {
    let (opportunity_id, id) = (visit.id(0)?, visit.id(1)?);
    let found = visit.read(move |reader, buyer| project_bids::find_on_own(reader.rows, buyer, id)).await?;
    let (bid, opportunity, name) = found;
    if opportunity.id != opportunity_id {
        return Err(Error::not_found("project bid"));
    }
    let name = name_of(&bid, name);
    Ok((bid, opportunity, name))
}

/// Returns the name of the vendor of a bid; if it is not known, the word that other pages show instead.
fn name_of(bid: &Bid, name: Option<String>) -> String {
    name.unwrap_or_else(|| vendors::name(&HashMap::new(), bid.team_id))
}

async fn show(visit: &Visit<Buyer>, decision: &Decision) -> Result<Answer> {
    let (bid, opportunity, name) = find(visit).await?;
    let path = paths::opportunity(opportunity.id);
    let decide = match why_not(&opportunity, &bid, decision.operation) {
        Some(reason) => html! {
            (badges::warning(reason))
            div.row { a.button.quiet href=(visit.links.to(&path)) { "Back to the opportunity" } }
        },
        None => {
            let question =
                html! { (seen(&bid, &name).asked()) @for sentence in decision.question { p { (sentence) } } };
            fields::question(&visit.context, &question, (decision.button_class, decision.title), &path)
        }
    };
    let body = html! {
        (tables::section("bid", "The bid", &html! { p { bdi { (name) } " " (badges::of(status_words(bid.status))) } (facts(&bid)) }))
        (decide)
    };
    Ok(below(&opportunity, Content::new(format!("{} of {name}", decision.title), body)).into())
}

/// Identifies the content of the page of a decision: the bidder, the bid, and the delivery.
fn seen(bid: &Bid, name: &str) -> Seen {
    Seen::of(&(name, bid.num_tasks, bid.expected_timeline_days, &bid.attachments, &bid.delivery_tasksets))
}

async fn submit(visit: &Visit<Buyer>, fields: &Fields, decision: &'static Decision) -> Result<Answer> {
    let (bid, opportunity, _) = find(visit).await?;
    let (id, sent) = (bid.id, fields.clone());
    let change = Change::new(decision.audited, "project_bid", id);
    let work = move |writer: &mut Writer, buyer: &Buyer| {
        let (bid, _, name) = project_bids::find_on_own(writer.rows, buyer, id)?;
        seen(&bid, &name_of(&bid, name)).check(&sent)?;
        (decision.make)(writer, buyer, Actor::Team, id).map(drop)
    };
    changes::perform(visit, fields, change, work).await?;
    Ok(Answer::done(&paths::opportunity(opportunity.id), decision.notice))
}

step_pages! {
    Buyer:
    /// The page on which a bid is accepted.
    AcceptBid, "/opportunities/{id}/bids/{bid}/accept", "Accept a bid", ACCEPT;
    /// The page on which a bid is declined.
    DeclineBid, "/opportunities/{id}/bids/{bid}/decline", "Decline a bid", DECLINE;
    /// The page on which a delivery is accepted.
    AcceptDelivery, "/opportunities/{id}/bids/{bid}/accept-delivery", "Accept a delivery", COMPLETE;
}
