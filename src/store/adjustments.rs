//! Adjustments: corrections of credits by the platform.

use super::Writer;
use crate::{
    domain::{money::Cents, row_ids::LedgerEntryRowId, teams::TeamRowId},
    error::Result,
};

/// Records that a ledger entry is an adjustment of a team's credits by this amount.
pub fn insert(writer: &Writer, entry: LedgerEntryRowId, team: TeamRowId, amount: Cents) -> Result<()> {
    const SQL: &str = "INSERT INTO adjustments (entry, team, cents) VALUES (?1, ?2, ?3)";
    writer.run(SQL, (entry, team, amount))
}
