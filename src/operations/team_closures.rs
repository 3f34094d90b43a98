//! The closing of a team. It ends what the team has begun, and what others have begun with it; the earnings of
//! the team stay payable.

use super::{
    access::Platform, bulk_changes, credit_purchases, grants, keys, listing_lifecycle, offer_changes,
    opportunities, project_bids, purchase_changes, teams, webhooks,
};
use crate::{
    domain::{
        events::{EventData, TeamClosedData},
        listings::Actor,
        teams::{Team, TeamRowId},
    },
    error::{Error, Result, quoted},
    market::Writer,
    store,
};

/// Closes a team. Its name stays reserved. Fails if the team owes a delivery, that is, if a project bid of it was
/// accepted and is not delivered yet, or if it has not accepted a delivery of another team yet.
pub fn close(writer: &mut Writer, platform: Platform, actor: Actor, team: &str) -> Result<Team> {
    let mut team = teams::resolve_open(writer.rows, team)?;
    if let Some(obstacle) = find_obstacle(writer.rows, &team)? {
        return Err(Error::Conflict(obstacle));
    }
    bulk_changes::cancel_all(writer, team.row_id)?;
    // Fields are evaluated in this order: first ends everything that other teams wait for.
    let data = TeamClosedData {
        team_id: team.id,
        cancelled_purchases: purchase_changes::cancel_all(writer, team.row_id, actor)? as u64,
        cancelled_credit_purchases: credit_purchases::cancel_all(writer, platform, actor, team.row_id)?,
        withdrawn_offers: offer_changes::withdraw_all(writer, team.row_id, actor)? as u64,
        withdrawn_bids: project_bids::withdraw_all(writer, platform, actor, team.row_id)?,
        declined_bids: project_bids::decline_all(writer, platform, actor, team.row_id)?,
        ended_opportunities: opportunities::end_all(writer, platform, actor, team.row_id)?,
        archived_listings: archive_listings(writer, team.row_id, actor)?,
        revoked_keys: keys::revoke_all(writer, team.row_id)?,
        revoked_grants: grants::revoke_all(writer, team.row_id)?,
        disabled_webhooks: webhooks::disable_all(writer, team.row_id)?,
    };
    store::teams::close(writer.rows, team.row_id, writer.now)?;
    team.closed_at = Some(writer.now);
    writer.emit(Some(team.row_id), team.id, &EventData::TeamClosed(data))?;
    Ok(team)
}

/// Returns why a team cannot be closed, because it owes something; `None` if it owes nothing.
pub(super) fn find_obstacle(rows: &store::Reader, team: &Team) -> Result<Option<String>> {
    let owed = store::opportunities::name_owed_bids(rows, team.row_id)?;
    if !owed.is_empty() {
        return Ok(Some(format!(
            "The team {} owes the deliveries of these project bids, which were accepted: {owed}. Record the \
             deliveries first.",
            quoted(&team.name)
        )));
    }
    let undecided = store::opportunities::name_delivered_bids(rows, team.row_id)?;
    if !undecided.is_empty() {
        return Ok(Some(format!(
            "The team {} has not accepted the deliveries of these project bids: {undecided}. Complete the bids \
             first.",
            quoted(&team.name)
        )));
    }
    Ok(None)
}

/// Archives all listings of a team, which declines their offers. Returns the number of listings.
fn archive_listings(writer: &mut Writer, team: TeamRowId, actor: Actor) -> Result<u64> {
    let listings = store::listings::list_unarchived(writer.rows, team)?;
    let count = listings.len() as u64;
    for listing in listings {
        listing_lifecycle::archive_in_any_stage(writer, listing, actor)?;
    }
    Ok(count)
}
