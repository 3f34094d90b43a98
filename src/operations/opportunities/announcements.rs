//! Notifications and events about an opportunity.

use crate::{
    domain::{
        collections::Collection,
        events::{AffectedTeams, EventData, MAX_LISTED_IDS, OpportunityData},
        listings::Actor,
        notifications::NotificationType,
        opportunities::{Opportunity, OpportunityKind},
        written,
    },
    error::{Error, Result},
    market::Writer,
    operations::notifications,
    store::{
        self,
        opportunities::{Announcement, Audience},
    },
};

/// Writes the event of a change of an opportunity in the view of its owner.
pub fn emit_to_owner(
    writer: &Writer,
    opportunity: &Opportunity,
    actor: Actor,
    event: fn(OpportunityData) -> EventData,
) -> Result<()> {
    writer.emit(Some(opportunity.owner_row_id), opportunity.id, &event(event_data(opportunity, actor)))
}

/// Writes the events of a change that affects vendors: one in the view of the owner, and one for all vendors of
/// the audience, with their number and the first [`MAX_LISTED_IDS`] of them.
pub fn emit_to_all(
    writer: &Writer,
    opportunity: &Opportunity,
    actor: Actor,
    audience: Audience,
    event: fn(OpportunityData) -> EventData,
) -> Result<()> {
    emit_to_owner(writer, opportunity, actor, event)?;
    let (count, team_ids) =
        store::opportunities::find_recipients(writer.rows, opportunity, audience, MAX_LISTED_IDS)?;
    if count == 0 {
        return Ok(());
    }
    let vendors = Some(AffectedTeams { count, team_ids });
    let data = OpportunityData { vendors, ..event_data(opportunity, actor) };
    writer.emit(None, opportunity.id, &event(data))
}

fn event_data(opportunity: &Opportunity, actor: Actor) -> OpportunityData {
    OpportunityData {
        opportunity_id: opportunity.id,
        kind: opportunity.kind,
        owner_id: opportunity.owner_id,
        actor,
        title: opportunity.title.clone(),
        status: opportunity.status,
        deadline: opportunity.deadline,
        evaluation_date: opportunity.evaluation_date,
        closed_at: opportunity.closed_at,
        vendors: None,
    }
}

/// Notifies the owner and the vendors that a published opportunity concerns of its new status, with one
/// statement for any number of teams.
pub fn notify(writer: &Writer, opportunity: &Opportunity, kind: NotificationType) -> Result<()> {
    if !notifications::are_sent(writer) {
        return Ok(());
    }
    let (owner, name) = (&opportunity.owner_name, &opportunity.title);
    let (noun, path) = match opportunity.kind {
        OpportunityKind::Listing => ("request", "opportunities"),
        OpportunityKind::Project => ("project request", "project-opportunities"),
    };
    let name = format!("\u{201c}{name}\u{201d}");
    let (audience, titles, messages) = match kind {
        NotificationType::OpportunityPublished => {
            let until =
                opportunity.deadline.map_or(String::new(), |at| format!(" until {}", written::day_text(at)));
            (
                Audience::Vendors,
                (format!("New {noun}: {}", opportunity.title), format!("Your {noun} is published")),
                (
                    format!("{owner} published {name}. Vendors can respond{until}."),
                    format!("{name} is visible to vendors."),
                ),
            )
        }
        NotificationType::OpportunityClosed => (
            Audience::Concerned,
            (format!("A {noun} was closed"), format!("Your {noun} was closed")),
            (
                format!("{owner} closed {name}. It takes no more responses."),
                format!("{name} takes no more responses."),
            ),
        ),
        NotificationType::OpportunityCancelled => (
            Audience::Concerned,
            (format!("A {noun} was canceled"), format!("Your {noun} was canceled")),
            (
                format!("{owner} canceled {name}. It takes no more responses."),
                format!("{name} is canceled. The vendors concerned were notified."),
            ),
        ),
        other => return Err(Error::internal(format!("{other:?} is not about an opportunity"))),
    };
    let announcement = Announcement {
        kind,
        for_teams: (&titles.0, &messages.0),
        for_owner: (&titles.1, &messages.1),
        link: &format!("/{path}/{}", opportunity.id),
        seed: writer.new_id(Collection::Notifications),
        at: writer.now,
    };
    store::opportunities::announce(writer.rows, opportunity, audience, &announcement)
}
