//! Advisory quotes.

use uuid::Uuid;

use super::{Writer, row};
use crate::{
    domain::{
        assets::{Channel, Kind},
        estimations::{EstimationStatus, Measured},
        money::Cents,
        teams::TeamNumber,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
};

/// An estimation to be.
#[derive(Debug)]
pub struct NewEstimation<'a> {
    /// Its id.
    pub id: Uuid,
    /// The vendor.
    pub team: TeamNumber,
    /// The kind that the source would be sold as.
    pub kind: Kind,
    /// Where the source is.
    pub channel: Channel,
    /// `owner/name` of the source.
    pub repo_full_name: &'a str,
    /// The estimation's name.
    pub name: &'a str,
    /// Where it stands.
    pub status: EstimationStatus,
    /// What was measured.
    pub measured: Option<&'a Measured>,
    /// The least and the most that it may be worth.
    pub quote: Option<(Cents, Cents)>,
    /// Why it failed.
    pub failure_message: Option<&'a str>,
    /// The asset made of it since, by its row number.
    pub asset: Option<i64>,
    /// Who asked.
    pub created_by: Uuid,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it was ready.
    pub completed_at: Option<Timestamp>,
}

/// Adds an estimation.
pub fn insert(writer: &Writer, estimation: &NewEstimation) -> Result<i64> {
    const SQL: &str =
        "INSERT INTO estimations (uuid, team, kind, channel, repo_full_name, name, status, measured,
             quote_low_cents, quote_high_cents, failure_message, asset, created_by, created_at, completed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    writer.insert(
        SQL,
        (
            estimation.id,
            estimation.team.0,
            estimation.kind.word(),
            estimation.channel.word(),
            estimation.repo_full_name,
            estimation.name,
            estimation.status.word(),
            estimation.measured.map(row::to_json).transpose()?,
            estimation.quote.map(|(low, _)| low.0),
            estimation.quote.map(|(_, high)| high.0),
            estimation.failure_message,
            estimation.asset,
            estimation.created_by,
            estimation.created_at.0,
            estimation.completed_at.map(|at| at.0),
        ),
    )
}
