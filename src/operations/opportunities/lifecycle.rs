//! The lifecycle of opportunities and project opportunities: one operation for each change. The API has no
//! routes for them.

use uuid::Uuid;

use super::announcements::{emit_to_all, emit_to_owner, notify};
use crate::{
    domain::{
        changes::Change,
        due_steps::{StepKind, StepSubject},
        events::{AffectedTeams, EventData, OpportunityData, OpportunityExclusionData},
        listings::Actor,
        notifications::NotificationType,
        opportunities::{Opportunity, OpportunityKind, OpportunityStatus},
        opportunity_fields::{MAX_EXCLUDED_TEAMS, OpportunityChange, OpportunityFields},
        opportunity_lifecycle::OpportunityOperation,
        problems::Problems,
        row_ids::OpportunityRowId,
        state_machine::StateMachine,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Problem, Result},
    market::Writer,
    operations::{
        access::{Buyer, Platform},
        quotas,
    },
    request_problems::ProblemsExt,
    store::{
        self,
        opportunities::{Audience, NewOpportunity},
    },
};

/// Maximum number of opportunities of a team, of both kinds, that are drafts or published.
pub const MAX_UNFINISHED: u64 = 200;

/// Creates a draft with this ID.
pub fn create(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
    fields: &OpportunityFields,
) -> Result<Opportunity> {
    buyer.check_is_current()?;
    let owner = buyer.team_row_id();
    let excluded = check_fields(writer, kind, fields)?;
    let used = store::opportunities::count_unfinished(writer.rows, owner)?;
    quotas::check_one_more("team", ("unfinished_opportunities", MAX_UNFINISHED), used)?;
    let new = NewOpportunity { id, kind, owner, fields, excluded_teams: &excluded, created_at: writer.now };
    let row_id = store::opportunities::insert(writer.rows, &new)?;
    let created = reload(writer, row_id)?;
    emit_to_owner(writer, &created, actor, EventData::OpportunityCreated)?;
    Ok(created)
}

/// Changes any fields of a draft, or sets a later deadline of a published opportunity. A later deadline reopens an opportunity
/// whose deadline has passed. A change without an effect writes nothing.
pub fn update(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
    change: OpportunityChange,
) -> Result<Opportunity> {
    let found = find_own(writer.rows, buyer, id, kind)?;
    if found.status == OpportunityStatus::Published && change.is_only_deadline() {
        extend_deadline(writer, &found, &change.deadline)?;
    } else {
        found.status.check(OpportunityOperation::Update)?;
        let before = OpportunityFields::from(&found);
        let fields = change.apply(before.clone());
        if fields == before {
            return Ok(found);
        }
        let excluded = check_fields(writer, kind, &fields)?;
        store::opportunities::update(writer.rows, found.row_id, &fields, &excluded, writer.now)?;
    }
    let updated = reload(writer, found.row_id)?;
    emit_to_owner(writer, &updated, actor, EventData::OpportunityUpdated)?;
    Ok(updated)
}

/// Records a change of an opportunity whose earlier fields are not known.
pub fn record_update(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
) -> Result<Opportunity> {
    let found = find_own(writer.rows, buyer, id, kind)?;
    if found.status != OpportunityStatus::Published {
        found.status.check(OpportunityOperation::Update)?;
    }
    store::opportunities::touch(writer.rows, found.row_id, writer.now)?;
    let updated = reload(writer, found.row_id)?;
    emit_to_owner(writer, &updated, actor, EventData::OpportunityUpdated)?;
    Ok(updated)
}

/// Moves the deadline of a published opportunity to a later time, which opens it again if its deadline has passed.
pub fn extend(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
    deadline: Timestamp,
) -> Result<Opportunity> {
    let found = find_own(writer.rows, buyer, id, kind)?;
    found.status.check(OpportunityOperation::ExtendDeadline)?;
    let change = OpportunityChange { deadline: Change::Set(deadline), ..OpportunityChange::default() };
    update(writer, buyer, actor, (id, kind), change)
}

fn extend_deadline(writer: &mut Writer, found: &Opportunity, deadline: &Change<Timestamp>) -> Result<()> {
    found.status.check(OpportunityOperation::ExtendDeadline)?;
    let is_later = |deadline: Timestamp| found.deadline.is_some_and(|earlier| deadline > earlier);
    let refused = |message: &str| Error::invalid(Problem::body(&["deadline"], "value_error", message));
    let only_later = "The opportunity is published, so its deadline can only be moved to a later time.";
    let Change::Set(deadline) = *deadline else { return Err(refused(only_later)) };
    if !is_later(deadline) {
        return Err(refused(only_later));
    }
    // Otherwise, the problem would be at a field that the request does not have, and that nobody can change any more.
    if let Some(evaluation) = found.evaluation_date.filter(|evaluation| *evaluation < deadline) {
        let message = format!(
            "The bids are evaluated at {evaluation}, which can no longer be changed. Choose a deadline that is not later."
        );
        return Err(refused(&message));
    }
    let fields = OpportunityFields { deadline: Some(deadline), ..found.into() };
    let mut problems = fields.find_problems(found.kind);
    // The date of the evaluation may have passed already.
    OpportunityFields { evaluation_date: None, ..fields }.check_times(writer.now, &mut problems);
    problems.into_result()?;
    store::opportunities::set_deadline(writer.rows, found.row_id, deadline, writer.now)?;
    writer.schedule(StepKind::DeadlinePasses, found.row_id, deadline)
}

/// Publishes a draft, and notifies all vendors that may see it.
pub fn publish(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
) -> Result<Opportunity> {
    buyer.check_is_current()?;
    let found = find_own(writer.rows, buyer, id, kind)?;
    let status = found.status.check(OpportunityOperation::Publish)?;
    let mut problems = Problems::default();
    // Time may have passed since the draft was written.
    OpportunityFields::from(&found).check_times(writer.now, &mut problems);
    problems.into_result()?;
    store::opportunities::set_status(writer.rows, found.row_id, status, None, writer.now)?;
    if let Some(deadline) = found.deadline {
        writer.schedule(StepKind::DeadlinePasses, found.row_id, deadline)?;
    }
    let published = reload(writer, found.row_id)?;
    emit_to_all(writer, &published, actor, Audience::Vendors, EventData::OpportunityPublished)?;
    notify(writer, &published, NotificationType::OpportunityPublished)?;
    Ok(published)
}

/// Closes an opportunity to responses. Its owner can still decide about bids. A draft is closed without notifying
/// anybody.
pub fn close(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
) -> Result<Opportunity> {
    let found = find_own(writer.rows, buyer, id, kind)?;
    end(writer, &found, actor, FinalState::Closed)
}

/// Cancels a published opportunity. Bids on it stay as they are, but can no longer be accepted.
pub fn cancel(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
) -> Result<Opportunity> {
    let found = find_own(writer.rows, buyer, id, kind)?;
    end(writer, &found, actor, FinalState::Canceled)
}

/// Ends all opportunities of a team that closes: cancels the published ones, and closes the drafts. Returns their
/// number.
pub fn end_all(writer: &mut Writer, _: Platform, actor: Actor, team: TeamRowId) -> Result<u64> {
    let unfinished = store::opportunities::list_unfinished(writer.rows, team)?;
    for found in &unfinished {
        let is_draft = found.status == OpportunityStatus::Draft;
        end(writer, found, actor, if is_draft { FinalState::Closed } else { FinalState::Canceled })?;
    }
    Ok(unfinished.len() as u64)
}

/// How an opportunity ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FinalState {
    Closed,
    Canceled,
}

/// Ends an opportunity. Only a closed opportunity has an end time. The end of a draft is announced to nobody but its owner.
fn end(
    writer: &mut Writer,
    found: &Opportunity,
    actor: Actor,
    final_state: FinalState,
) -> Result<Opportunity> {
    let (operation, event, kind): (_, fn(OpportunityData) -> EventData, _) = match final_state {
        FinalState::Closed => {
            (OpportunityOperation::Close, EventData::OpportunityClosed, NotificationType::OpportunityClosed)
        }
        FinalState::Canceled => (
            OpportunityOperation::Cancel,
            EventData::OpportunityCancelled,
            NotificationType::OpportunityCancelled,
        ),
    };
    let status = found.status.check(operation)?;
    let closed_at = (final_state == FinalState::Closed).then_some(writer.now);
    store::opportunities::set_status(writer.rows, found.row_id, status, closed_at, writer.now)?;
    writer.unschedule(StepKind::DeadlinePasses, found.row_id)?;
    let ended = reload(writer, found.row_id)?;
    if found.status == OpportunityStatus::Draft {
        emit_to_owner(writer, &ended, actor, event)?;
    } else {
        emit_to_all(writer, &ended, actor, Audience::Concerned, event)?;
        notify(writer, &ended, kind)?;
    }
    Ok(ended)
}

/// Excludes teams from a draft or a published opportunity, in addition to those that it excludes already, at most
/// [`MAX_EXCLUDED_TEAMS`] in all. A team that was notified of it before can still read it.
pub fn exclude(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    (id, kind): (Uuid, OpportunityKind),
    team_ids: &[Uuid],
) -> Result<Opportunity> {
    let found = find_own(writer.rows, buyer, id, kind)?;
    found.status.check(OpportunityOperation::Exclude)?;
    let mut added = Vec::new();
    for team in team_ids.iter().take(MAX_EXCLUDED_TEAMS + 1) {
        if !found.excluded.contains(team) && !added.contains(team) {
            added.push(*team);
        }
    }
    let count = found.excluded.len() + added.len();
    if count > MAX_EXCLUDED_TEAMS || team_ids.len() > MAX_EXCLUDED_TEAMS {
        let message = format!("An opportunity can exclude at most {MAX_EXCLUDED_TEAMS} teams.");
        return Err(Error::invalid(Problem::body(&["team_ids"], "too_long", message)));
    }
    let mut problems = Problems::default();
    let teams = resolve_teams(writer, "team_ids", &added, &mut problems)?;
    problems.into_result()?;
    if added.is_empty() {
        return Ok(found);
    }
    store::opportunities::exclude(writer.rows, found.row_id, &teams, writer.now)?;
    let data = OpportunityExclusionData {
        opportunity_id: found.id,
        kind,
        actor,
        excluded: AffectedTeams { count: added.len() as u64, team_ids: added },
    };
    writer.emit(Some(found.owner_row_id), found.id, &EventData::OpportunityTeamsExcluded(data))?;
    reload(writer, found.row_id)
}

/// Records that the deadline of an opportunity passed. Its status stays published.
pub fn pass_deadline(writer: &mut Writer, subject: StepSubject) -> Result<()> {
    let found = store::opportunities::find_by_row_id(writer.rows, OpportunityRowId(subject.0))?;
    match found {
        Some(found) if found.status == OpportunityStatus::Published => {
            let event = EventData::OpportunityDeadlinePassed;
            emit_to_all(writer, &found, Actor::System, Audience::Concerned, event)
        }
        _ => Ok(()),
    }
}

/// Returns the opportunity of this kind and with this ID, if it belongs to the buyer.
pub fn find_own(rows: &store::Reader, buyer: &Buyer, id: Uuid, kind: OpportunityKind) -> Result<Opportunity> {
    let found = store::opportunities::find(rows, id, kind)?;
    let own = found.filter(|found| found.owner_row_id == buyer.team_row_id());
    own.ok_or_else(|| Error::not_found("opportunity"))
}

fn reload(writer: &Writer, row_id: OpportunityRowId) -> Result<Opportunity> {
    let found = store::opportunities::find_by_row_id(writer.rows, row_id)?;
    found.ok_or_else(|| Error::internal("an opportunity disappeared in its own transaction"))
}

/// Fails with everything that is wrong with the fields. Returns the row IDs of the excluded teams.
fn check_fields(
    writer: &Writer,
    kind: OpportunityKind,
    fields: &OpportunityFields,
) -> Result<Vec<TeamRowId>> {
    let mut problems = fields.find_problems(kind);
    fields.check_times(writer.now, &mut problems);
    let checked = &fields.excluded_team_ids[..fields.excluded_team_ids.len().min(MAX_EXCLUDED_TEAMS)];
    let excluded = resolve_teams(writer, "excluded_team_ids", checked, &mut problems)?;
    problems.into_result()?;
    Ok(excluded)
}

/// Returns the row IDs of teams. Adds those that do not exist to `problems`.
fn resolve_teams(
    writer: &Writer,
    field: &str,
    ids: &[Uuid],
    problems: &mut Problems,
) -> Result<Vec<TeamRowId>> {
    let mut teams = Vec::new();
    for (index, id) in ids.iter().enumerate() {
        match store::teams::find(writer.rows, *id)? {
            Some(team) => teams.push(team.row_id),
            None => {
                let message = format!("There is no team with the ID {id}.");
                let path = [field, &index.to_string()];
                problems.push(Problem::body(&path, "unknown_reference", message));
            }
        }
    }
    Ok(teams)
}
