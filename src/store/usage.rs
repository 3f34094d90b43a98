//! What principals use of what quotas limit. Triggers maintain the numbers.

use super::Reader;
use crate::{
    domain::{principals::Principal, quotas::Usage, row_ids::KeyRowId, teams::TeamRowId},
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
fn find_of_team(reader: &Reader, team: TeamRowId) -> Result<Usage> {
    reader.query_one(&format!("SELECT {COLUMNS} FROM team_usage WHERE team = ?1"), [team], read_usage)
}

/// Returns the usage of an operator key. Operators own nothing else that quotas limit.
fn find_of_operator(reader: &Reader, key: KeyRowId) -> Result<Usage> {
    const SQL: &str =
        "SELECT idempotency_keys, idempotency_bytes FROM operator_usage WHERE operator_key = ?1";
    let found = reader.query_first(SQL, [key], |row| {
        Ok(Usage { idempotency_keys: row.get(0)?, idempotency_bytes: row.get(1)?, ..Usage::default() })
    })?;
    // A command on the data directory has no key.
    Ok(found.unwrap_or_default())
}

/// Returns what a principal uses.
pub fn find(reader: &Reader, principal: Principal) -> Result<Usage> {
    match principal {
        Principal::Team(team) => find_of_team(reader, team),
        Principal::Operator(key) => find_of_operator(reader, key),
    }
}

/// Returns the principals whose stored counts are wrong. Reads all counted rows.
pub fn list_miscounted(reader: &Reader) -> Result<Vec<Principal>> {
    const OPERATORS: &str = "SELECT operator_key FROM
         (SELECT * FROM counted_operator_usage EXCEPT SELECT * FROM operator_usage)";
    let teams = format!(
        "SELECT team FROM (SELECT team, {COLUMNS} FROM counted_usage EXCEPT SELECT team, {COLUMNS} FROM team_usage)"
    );
    let mut miscounted = reader.query_all(&teams, [], |row| row.get(0).map(Principal::Team))?;
    miscounted.extend(reader.query_all(OPERATORS, [], |row| row.get(0).map(Principal::Operator))?);
    Ok(miscounted)
}
