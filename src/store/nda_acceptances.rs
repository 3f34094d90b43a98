//! The texts of the mutual NDA that teams have accepted.

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// The acceptance of a text by a team.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct NdaAcceptance {
    /// SHA-256 digest of the text.
    pub digest: [u8; 32],
    /// ID of the team's key; `None` if the platform recorded the acceptance.
    pub accepted_by: Option<Uuid>,
    /// Time of the acceptance.
    pub accepted_at: Timestamp,
}

/// Inserts an acceptance.
pub fn insert(writer: &Writer, team: TeamRowId, acceptance: &NdaAcceptance) -> Result<()> {
    const SQL: &str = "INSERT INTO nda_acceptances (team, digest, accepted_by, accepted_at)
         VALUES (?1, ?2, ?3, ?4)";
    let NdaAcceptance { digest, accepted_by, accepted_at } = acceptance;
    writer.run(SQL, (team, digest, accepted_by, accepted_at.0))
}

/// Returns the last acceptance of a team; `None` if it has accepted no text that is known.
pub fn find_last(reader: &Reader, team: TeamRowId) -> Result<Option<NdaAcceptance>> {
    const SQL: &str = "SELECT digest, accepted_by, accepted_at FROM nda_acceptances
         WHERE team = ?1 ORDER BY id DESC LIMIT 1";
    reader.query_first(SQL, [team], NdaAcceptance::from_row)
}
