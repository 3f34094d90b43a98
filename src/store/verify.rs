//! Consistency checks of the database.

use std::collections::HashSet;

use uuid::Uuid;

use super::Reader;
use crate::{
    domain::{money::Cents, row_ids::ListingRowId, time::Timestamp},
    error::Result,
};

/// Returns messages about corruption that SQLite finds, and about violated foreign keys. Empty if there are
/// none.
pub fn find_corruption(reader: &Reader) -> Result<Vec<String>> {
    let mut found = reader.query_all("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))?;
    found.retain(|line| line != "ok");
    found.extend(reader.query_all("PRAGMA foreign_key_check", [], |row| {
        let table: String = row.get(0)?;
        let parent: String = row.get(2)?;
        Ok(format!("a row of {table} references a missing row of {parent}"))
    })?);
    Ok(found)
}

/// Returns a description of each stored number of records that differs from the records.
pub fn find_miscounted_records(reader: &Reader) -> Result<Vec<String>> {
    const SQL: &str = "SELECT kind, state FROM (
             SELECT * FROM record_counts WHERE count <> 0 EXCEPT SELECT * FROM counted_records
         )
         UNION SELECT kind, state FROM (
             SELECT * FROM counted_records EXCEPT SELECT * FROM record_counts
         )";
    reader.query_all(SQL, [], |row| {
        let (kind, state): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(format!("the stored number of records of the kind {kind} in the state {state} is wrong"))
    })
}

/// Returns the IDs of all records.
pub fn list_ids(reader: &Reader) -> Result<HashSet<Uuid>> {
    const TABLES: &str = "SELECT t.name FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
         WHERE t.schema = 'main' AND t.type = 'table' AND c.name = 'uuid'";
    let mut ids = HashSet::new();
    for table in reader.query_all(TABLES, [], |row| row.get::<_, String>(0))? {
        let sql = format!("SELECT uuid FROM {table} WHERE uuid IS NOT NULL");
        reader.for_each_row(&sql, [], |row| {
            ids.insert(row.get(0)?);
            Ok(())
        })?;
    }
    Ok(ids)
}

const UNBALANCED: &str =
    "SELECT entry, sum(cents) FROM ledger_postings GROUP BY entry HAVING sum(cents) <> 0 ORDER BY entry";

const WALLETS: &str = "SELECT t.uuid FROM teams t LEFT JOIN wallets w ON w.team = t.id
     LEFT JOIN (
         SELECT p.team, sum(p.cents) FILTER (WHERE p.account = 'credits') AS credits,
             sum(p.cents) FILTER (WHERE p.account = 'earnings') AS earnings,
             sum(p.cents) FILTER (WHERE p.account = 'earnings'
                 AND e.entry_type NOT IN ('credit_conversion', 'withdrawal')) AS earned
         FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry WHERE p.team IS NOT NULL GROUP BY p.team
     ) l ON l.team = t.id
     LEFT JOIN (SELECT team, sum(remaining_cents) AS held FROM earnings_holds GROUP BY team) h ON h.team = t.id
     WHERE w.credits_cents IS NOT coalesce(l.credits, 0) OR w.earned_cents IS NOT coalesce(l.earned, 0)
         OR w.pending_cents IS NOT coalesce(h.held, 0)
         OR w.available_cents IS NOT coalesce(l.earnings, 0) - coalesce(h.held, 0)
     ORDER BY t.id";

const PLATFORM: &str = "SELECT b.account FROM platform_balances b
     LEFT JOIN (SELECT account, sum(cents) AS cents FROM ledger_postings WHERE team IS NULL GROUP BY account) p
         ON p.account = b.account
     WHERE b.cents <> coalesce(p.cents, 0) ORDER BY b.account";

// The net earnings of a sale are the postings of its purchase, except for those of the refund.
const HOLDS: &str = "SELECT e.uuid FROM earnings_holds h JOIN ledger_entries e ON e.id = h.entry
     WHERE h.available_at <> e.available_at
         OR h.remaining_cents IS NOT (
             SELECT sum(p.cents) FROM ledger_entries s JOIN ledger_postings p ON p.entry = s.id
             WHERE s.purchase = e.purchase AND s.entry_type <> 'refund' AND p.account = 'earnings'
                 AND p.team = h.team
         ) - (SELECT coalesce(sum(u.cents), 0) FROM earnings_hold_uses u WHERE u.hold = h.entry)
         OR NOT EXISTS (SELECT 1 FROM due_steps d
             WHERE d.kind = 'hold_ends' AND d.subject = h.entry AND d.due_at = h.available_at)
     ORDER BY h.entry";

// Refunds have the release date of their hold. Entries that are available at once are not on hold. In earlier versions, one
// refund entry could take from several holds, even if the entry was available at once; it counts with the dates of these holds.
const RELEASES: &str = "WITH old_refunds AS (
         SELECT r.id FROM ledger_entries r JOIN earnings_hold_uses u ON u.refund = r.id
         GROUP BY r.id
         HAVING count(*) > 1 OR r.available_at = r.created_at OR sum(u.cents) <> (
             SELECT -sum(p.cents) FROM ledger_postings p WHERE p.entry = r.id AND p.account = 'earnings')
     ), releases (team, available_at, cents) AS (
         SELECT p.team, e.available_at, p.cents FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry
         WHERE p.account = 'earnings' AND e.available_at > e.created_at AND e.id NOT IN (SELECT id FROM old_refunds)
         UNION ALL
         SELECT p.team, s.available_at, -u.cents FROM old_refunds r JOIN earnings_hold_uses u ON u.refund = r.id
         JOIN ledger_entries s ON s.id = u.hold
         JOIN ledger_postings p ON p.entry = s.id AND p.account = 'earnings'
     )
     SELECT t.uuid, h.available_at
     FROM (SELECT team, available_at, sum(remaining_cents) AS held FROM earnings_holds GROUP BY 1, 2) h
     JOIN teams t ON t.id = h.team
     LEFT JOIN (SELECT team, available_at, sum(cents) AS cents FROM releases GROUP BY 1, 2) r
         ON r.team = h.team AND r.available_at = h.available_at
     WHERE h.held IS NOT r.cents
     ORDER BY t.id, h.available_at";

const WITHDRAWALS: &str = "SELECT w.uuid FROM withdrawals w
     WHERE NOT EXISTS (SELECT 1 FROM ledger_postings p
             WHERE p.entry = w.entry AND p.account = 'payouts' AND p.cents = w.cents)
         OR w.reversal IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ledger_postings p
             WHERE p.entry = w.reversal AND p.account = 'payouts' AND p.cents = -w.cents)
     ORDER BY w.id";

/// Returns a description of each inconsistency of the ledger: entries that do not sum to zero, and stored balances
/// and holds that differ from what the postings say.
pub fn find_ledger_inconsistencies(reader: &Reader) -> Result<Vec<String>> {
    let mut found = reader.query_all(UNBALANCED, [], |row| {
        let (entry, sum): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(format!("the postings of ledger entry {entry} add up to {}, not to zero", Cents(sum)))
    })?;
    let mut add = |sql: &str, describe: &dyn Fn(Uuid) -> String| -> Result<()> {
        found.extend(reader.query_all(sql, [], |row| row.get(0).map(describe))?);
        Ok(())
    };
    add(WALLETS, &|team| format!("the stored balances of team {team} differ from its ledger postings"))?;
    add(HOLDS, &|sale| format!("the hold of ledger entry {sale} differs from the postings of its sale"))?;
    add(WITHDRAWALS, &|id| format!("withdrawal {id} differs from its ledger entries"))?;
    found.extend(reader.query_all(RELEASES, [], |row| {
        let (team, at): (Uuid, Timestamp) = (row.get(0)?, row.get(1)?);
        Ok(format!("the earnings of team {team} on hold until {at} differ from its ledger entries"))
    })?);
    found.extend(reader.query_all(PLATFORM, [], |row| {
        let account: String = row.get(0)?;
        Ok(format!("the stored balance of the account {account} differs from its ledger postings"))
    })?);
    Ok(found)
}

/// Returns the row IDs of all listings, in ascending order.
pub fn listing_row_ids(reader: &Reader) -> Result<Vec<ListingRowId>> {
    reader.query_all("SELECT id FROM listings ORDER BY id", [], |row| row.get(0))
}

/// Returns a digest of the rows of each table, by table name. Databases with equal contents have equal
/// digests. The tables of secrets, sessions, and signatures are left out, since their contents are random.
#[cfg(test)]
pub fn table_digests(reader: &Reader) -> Result<std::collections::BTreeMap<String, u64>> {
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('secrets', 'sessions', 'signing_keys', 'signing_secrets') AND name NOT LIKE 'attestation%'";
    let tables: Vec<String> = reader.query_all(TABLES, [], |row| row.get(0))?;
    let mut digests = std::collections::BTreeMap::new();
    for table in tables {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        let rows = reader.query_all(&format!("SELECT * FROM \"{table}\""), [], |row| {
            let count = row.as_ref().column_count();
            let values = (0..count).map(|column| Ok(format!("{:?}", row.get_ref(column)?)));
            values.collect::<rusqlite::Result<Vec<String>>>()
        })?;
        for value in rows.iter().flatten() {
            hash.update(value.as_bytes());
            hash.update(b"\0");
        }
        digests.insert(table, hash.digest());
    }
    Ok(digests)
}
