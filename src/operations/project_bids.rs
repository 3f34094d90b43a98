//! Vendors' bids on project opportunities: one operation for each change. Bids move no money: what a buyer pays
//! for accepted work is agreed outside the marketplace.

use uuid::Uuid;

use super::{
    access::{Buyer, Platform, Vendor},
    notifications::{self, Notice},
    opportunities,
};
use crate::{
    domain::{
        events::{EventData, ProjectBidData},
        listings::Actor,
        notifications::NotificationType,
        opportunities::{Bid, BidEvent, BidStatus, Opportunity, OpportunityKind, OpportunityStatus},
        problems::Problems,
        project_bids::{BidFields, BidOperation, MAX_DELIVERY_TASKSETS},
        row_ids::TasksetRowId,
        state_machine::StateMachine,
        teams::TeamRowId,
        time::Timestamp,
        written,
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    request_problems::ProblemsExt,
    store::{
        self,
        opportunities::{BidProgress, NewBid},
    },
};

/// Who did something, in the activity of a bid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Party {
    Platform,
    Vendor,
}

/// Submits a bid with this ID on a project opportunity that is open and that the vendor can see. A team has at
/// most one bid on it that was neither declined nor withdrawn.
pub fn submit(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    id: Uuid,
    opportunity_id: Uuid,
    fields: &BidFields,
) -> Result<Bid> {
    let kind = OpportunityKind::Project;
    let opportunity = opportunities::find(writer.rows, vendor, opportunity_id, kind)?;
    let team = vendor.team_row_id();
    check_open(writer, &opportunity, vendor)?;
    let mut problems = Problems::default();
    fields.check(&mut problems);
    problems.into_result()?;
    if let Some(bid) = store::opportunities::find_bid_in_effect(writer.rows, opportunity.row_id, team)? {
        return Err(Error::Conflict(format!(
            "Your team has the bid {bid} on this project opportunity. Withdraw it before you submit another one."
        )));
    }
    let event = |text: &str| BidEvent { at: writer.now, event: text.to_owned() };
    let new = NewBid {
        id,
        opportunity: opportunity.row_id,
        team,
        num_tasks: fields.num_tasks,
        attachments: fields.attachments.clone(),
        platform_events: vec![event("Bid received")],
        vendor_events: vec![event("Bid submitted")],
        expected_timeline_days: fields.expected_timeline_days,
        created_at: writer.now,
    };
    store::opportunities::insert_bid(writer.rows, &new)?;
    let bid = reload(writer, id)?;
    emit(writer, &bid, &opportunity, actor, EventData::ProjectBidSubmitted)?;
    Ok(bid)
}

/// Fails if the vendor cannot respond to an opportunity that it can see.
fn check_open(writer: &Writer, opportunity: &Opportunity, vendor: &Vendor) -> Result<()> {
    match reason_against_bids(opportunity, vendor, writer.now) {
        Some(message) => Err(Error::Conflict(message.to_owned())),
        None => Ok(()),
    }
}

fn reason_against_bids(opportunity: &Opportunity, vendor: &Vendor, now: Timestamp) -> Option<&'static str> {
    if opportunity.owner_row_id == vendor.team_row_id() {
        Some("A team cannot bid on its own project opportunity.")
    } else if !opportunity.allows_team(vendor.team().id) {
        Some("The project opportunity takes no bids from your team.")
    } else if !opportunity.is_open(now) {
        Some("The project opportunity takes no more bids: it is not published, or its deadline has passed.")
    } else {
        None
    }
}

/// Withdraws a submitted bid.
pub fn withdraw(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<Bid> {
    let found = find_own(writer.rows, vendor.team_row_id(), id)?;
    advance(writer, &found, BidOperation::Withdraw, actor, None)
}

/// Withdraws all submitted bids of a team that closes. Returns their number.
pub fn withdraw_all(writer: &mut Writer, _: Platform, actor: Actor, team: TeamRowId) -> Result<u64> {
    let submitted = store::opportunities::list_submitted_bids(writer.rows, team)?;
    for id in &submitted {
        let found = find_own(writer.rows, team, *id)?;
        advance(writer, &found, BidOperation::Withdraw, actor, None)?;
    }
    Ok(submitted.len() as u64)
}

/// Returns one of the vendor's own bids, and the project opportunity, which the vendor can see as long as it has the bid.
pub fn find_made(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<(Bid, Opportunity)> {
    find_own(rows, vendor.team_row_id(), id)
}

/// Returns the vendor's bid on an opportunity that was neither declined nor withdrawn.
pub fn find_in_effect(reader: &Reader, vendor: &Vendor, opportunity: &Opportunity) -> Result<Option<Uuid>> {
    store::opportunities::find_bid_in_effect(reader.rows, opportunity.row_id, vendor.team_row_id())
}

/// Returns why the vendor cannot bid on an opportunity that it can see; `None` if it can.
pub fn why_not_open(reader: &Reader, vendor: &Vendor, opportunity: &Opportunity) -> Option<&'static str> {
    reason_against_bids(opportunity, vendor, reader.now)
}

/// Returns a bid on one of the buyer's project opportunities, the opportunity, and the name of the vendor.
pub fn find_on_own(
    rows: &store::Reader,
    buyer: &Buyer,
    id: Uuid,
) -> Result<(Bid, Opportunity, Option<String>)> {
    let (bid, opportunity) = find_received(rows, buyer, id)?;
    let mut names = store::opportunities::vendor_names(rows, opportunity.row_id, &[bid.row_id])?;
    let name = names.remove(&bid.team_id);
    Ok((bid, opportunity, name))
}

/// Whether a bid that waits for a decision can no longer be accepted, because its opportunity was canceled.
pub fn is_obsolete(bid: &Bid, opportunity: &Opportunity) -> bool {
    bid.status == BidStatus::Submitted && opportunity.status == OpportunityStatus::Cancelled
}

/// Accepts a submitted bid, unless the opportunity was canceled. Other bids stay as they are.
pub fn accept(writer: &mut Writer, buyer: &Buyer, actor: Actor, id: Uuid) -> Result<Bid> {
    let found = find_received(writer.rows, buyer, id)?;
    if is_obsolete(&found.0, &found.1) {
        let message = "The project opportunity is canceled, so its bids cannot be accepted. Decline the bid.";
        return Err(Error::Conflict(message.to_owned()));
    }
    advance(writer, &found, BidOperation::Accept, actor, None)
}

/// Declines a submitted bid.
pub fn decline(writer: &mut Writer, buyer: &Buyer, actor: Actor, id: Uuid) -> Result<Bid> {
    let found = find_received(writer.rows, buyer, id)?;
    advance(writer, &found, BidOperation::Decline, actor, None)
}

/// Declines all submitted bids on the project opportunities of a team that closes. Returns their number.
pub fn decline_all(writer: &mut Writer, _: Platform, actor: Actor, owner: TeamRowId) -> Result<u64> {
    let undecided = store::opportunities::list_undecided_bids(writer.rows, owner)?;
    for id in &undecided {
        let found = find_with_opportunity(writer.rows, *id)?;
        advance(writer, &found, BidOperation::Decline, actor, None)?;
    }
    Ok(undecided.len() as u64)
}

/// Delivers the work of an accepted bid: one or more tasksets of the vendor, at most [`MAX_DELIVERY_TASKSETS`].
pub fn deliver(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    id: Uuid,
    delivery_taskset_ids: &[Uuid],
) -> Result<Bid> {
    let found = find_own(writer.rows, vendor.team_row_id(), id)?;
    found.0.status.check(BidOperation::Deliver)?;
    let tasksets = resolve_tasksets(writer, vendor.team_row_id(), delivery_taskset_ids)?;
    advance(writer, &found, BidOperation::Deliver, actor, Some(&tasksets))
}

/// Accepts the delivery of a bid. No money moves.
pub fn complete(writer: &mut Writer, buyer: &Buyer, actor: Actor, id: Uuid) -> Result<Bid> {
    let found = find_received(writer.rows, buyer, id)?;
    advance(writer, &found, BidOperation::Complete, actor, None)
}

/// Returns what an operation adds to the activity of a bid, and its event.
const fn traces(operation: BidOperation) -> (Party, &'static str, fn(ProjectBidData) -> EventData) {
    match operation {
        BidOperation::Withdraw => (Party::Vendor, "Bid withdrawn", EventData::ProjectBidWithdrawn),
        BidOperation::Accept => (Party::Platform, "Accepted by the buyer", EventData::ProjectBidAccepted),
        BidOperation::Decline => (Party::Platform, "Declined by the buyer", EventData::ProjectBidDeclined),
        BidOperation::Deliver => (Party::Vendor, "Delivered", EventData::ProjectBidDelivered),
        BidOperation::Complete => {
            (Party::Platform, "Delivery accepted by the buyer", EventData::ProjectBidCompleted)
        }
    }
}

/// Carries out an operation: stores the status, adds to the activity of the bid, writes the event, and notifies the vendor.
fn advance(
    writer: &Writer,
    (bid, opportunity): &(Bid, Opportunity),
    operation: BidOperation,
    actor: Actor,
    delivery_tasksets: Option<&[TasksetRowId]>,
) -> Result<Bid> {
    let status = bid.status.check(operation)?;
    let (party, text, event) = traces(operation);
    let (mut platform_events, mut vendor_events) = (bid.platform_events.clone(), bid.vendor_events.clone());
    let activity = if party == Party::Platform { &mut platform_events } else { &mut vendor_events };
    activity.push(BidEvent { at: writer.now, event: text.to_owned() });
    let progress = BidProgress {
        status,
        platform_events: &platform_events,
        vendor_events: &vendor_events,
        delivery_tasksets,
        completed_at: (status == BidStatus::Completed).then_some(writer.now),
    };
    store::opportunities::update_bid(writer.rows, bid, &progress, writer.now)?;
    let changed = reload(writer, bid.id)?;
    emit(writer, &changed, opportunity, actor, event)?;
    notify_vendor(writer, &changed, opportunity, operation)?;
    Ok(changed)
}

/// Returns the team's own bid, and its opportunity.
fn find_own(rows: &store::Reader, team: TeamRowId, id: Uuid) -> Result<(Bid, Opportunity)> {
    let (bid, opportunity) = find_with_opportunity(rows, id)?;
    if bid.team_row_id == team { Ok((bid, opportunity)) } else { Err(not_found()) }
}

/// Returns a bid of any team, and its opportunity.
fn find_with_opportunity(rows: &store::Reader, id: Uuid) -> Result<(Bid, Opportunity)> {
    let bid = store::opportunities::find_bid(rows, id)?.ok_or_else(not_found)?;
    let opportunity = store::opportunities::find(rows, bid.opportunity_id, OpportunityKind::Project)?;
    Ok((bid, opportunity.ok_or_else(not_found)?))
}

/// Returns a bid on one of the buyer's project opportunities, and the opportunity.
fn find_received(rows: &store::Reader, buyer: &Buyer, id: Uuid) -> Result<(Bid, Opportunity)> {
    let bid = store::opportunities::find_bid(rows, id)?.ok_or_else(not_found)?;
    let kind = OpportunityKind::Project;
    match opportunities::find_own(rows, buyer, bid.opportunity_id, kind) {
        Err(Error::NotFound(_)) => Err(not_found()),
        found => Ok((bid, found?)),
    }
}

fn not_found() -> Error {
    Error::not_found("project bid")
}

fn reload(writer: &Writer, id: Uuid) -> Result<Bid> {
    let found = store::opportunities::find_bid(writer.rows, id)?;
    found.ok_or_else(|| Error::internal("a project bid disappeared in its own transaction"))
}

/// Returns the row IDs of the tasksets of a delivery. Fails with everything that is wrong with them.
fn resolve_tasksets(writer: &Writer, team: TeamRowId, ids: &[Uuid]) -> Result<Vec<TasksetRowId>> {
    const FIELD: &str = "delivery_taskset_ids";
    if ids.is_empty() || ids.len() > MAX_DELIVERY_TASKSETS {
        let message = format!("A delivery must have 1 to {MAX_DELIVERY_TASKSETS} tasksets.");
        let kind = if ids.is_empty() { "too_short" } else { "too_long" };
        return Err(Error::invalid(Problem::body(&[FIELD], kind, message)));
    }
    let (mut problems, mut tasksets) = (Problems::default(), Vec::new());
    for (index, id) in ids.iter().enumerate() {
        let path = [FIELD, &index.to_string()];
        if ids[..index].contains(id) {
            problems.push(Problem::body(
                &path,
                "duplicate",
                format!("The taskset {id} is named more than once."),
            ));
            continue;
        }
        match store::tasksets::find(writer.rows, *id)?.filter(|taskset| taskset.team == team) {
            Some(taskset) => tasksets.push(taskset.row_id),
            None => problems.push(Problem::body(
                &path,
                "unknown_reference",
                format!("Your team has no taskset {id}."),
            )),
        }
    }
    problems.into_result()?;
    Ok(tasksets)
}

/// Writes the event of a change, in the view of the vendor and in that of the owner of the opportunity.
fn emit(
    writer: &Writer,
    bid: &Bid,
    opportunity: &Opportunity,
    actor: Actor,
    event: fn(ProjectBidData) -> EventData,
) -> Result<()> {
    let data = event(ProjectBidData {
        project_bid_id: bid.id,
        opportunity_id: bid.opportunity_id,
        vendor_id: bid.team_id,
        actor,
        status: bid.status,
        num_tasks: bid.num_tasks,
        expected_timeline_days: bid.expected_timeline_days,
        delivery_taskset_ids: bid.delivery_tasksets.iter().map(|(id, _)| *id).collect(),
        completed_at: bid.completed_at,
    });
    writer.emit(Some(bid.team_row_id), bid.id, &data)?;
    writer.emit(Some(opportunity.owner_row_id), bid.id, &data)
}

/// Notifies the vendor of a decision about its bid.
fn notify_vendor(
    writer: &Writer,
    bid: &Bid,
    opportunity: &Opportunity,
    operation: BidOperation,
) -> Result<()> {
    let (kind, title, outcome) = match operation {
        BidOperation::Accept => (
            NotificationType::ProjectBidAccepted,
            "Your project bid was accepted",
            "accepted. Deliver its tasksets when they are done.",
        ),
        BidOperation::Decline => {
            (NotificationType::ProjectBidDeclined, "Your project bid was declined", "declined.")
        }
        BidOperation::Withdraw | BidOperation::Deliver | BidOperation::Complete => return Ok(()),
    };
    let (tasks, name) = (written::counted(bid.num_tasks.into(), "task", "tasks"), &opportunity.title);
    let message = format!("Your bid of {tasks} on \u{201c}{name}\u{201d} was {outcome}");
    let notice = Notice {
        link: Some(&format!("/project-opportunities/{}", opportunity.id)),
        project_opportunity: Some(opportunity.row_id),
        project_bid: Some(bid.row_id),
        ..Notice::new(kind, title, &message)
    };
    notifications::send_notice(writer, bid.team_row_id, &notice)
}
