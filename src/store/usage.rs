//! What teams use of what quotas limit. Triggers maintain the numbers.

use super::Reader;
use crate::{
    domain::{quotas::Usage, teams::TeamRowId},
    error::Result,
};

const COLUMNS: &str = "assets, groups, upload_bytes, idempotency_keys, idempotency_bytes";

fn read_usage(row: &rusqlite::Row) -> rusqlite::Result<Usage> {
    Ok(Usage {
        assets: row.get("assets")?,
        groups: row.get("groups")?,
        upload_bytes: row.get("upload_bytes")?,
        idempotency_keys: row.get("idempotency_keys")?,
        idempotency_bytes: row.get("idempotency_bytes")?,
    })
}

/// Returns what a team uses.
pub fn find(reader: &Reader, team: TeamRowId) -> Result<Usage> {
    reader.query_one(&format!("SELECT {COLUMNS} FROM team_usage WHERE team = ?1"), [team], read_usage)
}

/// Returns the row IDs of teams whose numbers differ from what they count. Reads all counted rows.
pub fn list_miscounted(reader: &Reader) -> Result<Vec<TeamRowId>> {
    let sql = format!(
        "SELECT team FROM (SELECT team, {COLUMNS} FROM counted_usage EXCEPT SELECT team, {COLUMNS} FROM team_usage)"
    );
    reader.query_all(&sql, [], |row| row.get(0))
}
