//! The mutual NDA: its text, and which text each team has accepted.

use uuid::Uuid;

use super::access::AuthenticatedTeam;
use crate::{
    config::{NdaText, Settings},
    domain::{
        events::{EventData, TeamData},
        teams::{Team, TeamRowId},
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store::{self, nda_acceptances::NdaAcceptance},
};

/// Returns the text that teams accept now.
pub const fn current_text(settings: &Settings) -> &NdaText {
    &settings.console.nda_file
}

/// Returns the last acceptance of the team; `None` if it has accepted no text that is known. A team whose acceptance
/// was recorded in a fixture set has none.
pub fn last_acceptance(reader: &Reader, team: &Team) -> Result<Option<NdaAcceptance>> {
    store::nda_acceptances::find_last(reader.rows, team.row_id)
}

/// Whether the team should be asked to accept the text: it has accepted none, or the text has changed since. A
/// changed text does not revoke access.
pub fn needs_acceptance(reader: &Reader, team: &Team) -> Result<bool> {
    if team.nda_accepted_at.is_none() {
        return Ok(true);
    }
    let last = last_acceptance(reader, team)?;
    Ok(last.is_some_and(|last| last.digest != *current_text(reader.settings).digest()))
}

/// Records that the team accepts the text with this SHA-256 digest, in hexadecimal. Fails unless it is the current
/// text. Does nothing if the team has accepted it last.
pub fn accept(writer: &mut Writer, authenticated: &AuthenticatedTeam, digest: &str) -> Result<()> {
    let current = current_text(writer.settings);
    if digest != current.hex_digest() {
        let message = "The text of the NDA has changed since this page was made. Read it again.";
        return Err(Error::Conflict(message.to_owned()));
    }
    let team = store::teams::find_by_row_id(writer.rows, authenticated.team().row_id)?;
    let last = store::nda_acceptances::find_last(writer.rows, team.row_id)?;
    if team.nda_accepted_at.is_some() && last.is_some_and(|last| last.digest == *current.digest()) {
        return Ok(());
    }
    record(writer, team, Some(authenticated))
}

/// Records that a team accepts the current text: by itself, or outside the market as the platform states.
pub(super) fn record(
    writer: &Writer,
    mut team: Team,
    authenticated: Option<&AuthenticatedTeam>,
) -> Result<()> {
    record_text(writer, team.row_id, authenticated.and_then(AuthenticatedTeam::key_id))?;
    store::teams::accept_nda(writer.rows, team.row_id, writer.now)?;
    team.nda_accepted_at = team.nda_accepted_at.or(Some(writer.now));
    writer.emit(Some(team.row_id), team.id, &EventData::TeamNdaAccepted(TeamData::from(&team)))
}

/// Stores which text a team accepts, with the ID of its key if the team accepts it itself. The text of a replayed acceptance is
/// not known.
pub(super) fn record_text(writer: &Writer, team: TeamRowId, accepted_by: Option<Uuid>) -> Result<()> {
    if writer.is_replay {
        return Ok(());
    }
    let digest = *current_text(writer.settings).digest();
    store::nda_acceptances::insert(
        writer.rows,
        team,
        &NdaAcceptance { digest, accepted_by, accepted_at: writer.now },
    )
}
