//! The statements of the operators' search: records of all teams by ID, by the beginning of the name, by number, and by the request
//! that made them. Each part of a statement reads a range of an index, and no more rows than its limit, or compares the newest records of
//! a kind with words.

use rusqlite::types::ValueRef;
use uuid::Uuid;

use super::{Reader, records::any_record::MAX_COMPARED, row};
use crate::{
    domain::{listings::ListingRowId, row_ids::EventRowId},
    error::Result,
};

/// A record that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Kind of the record, as in the audit.
    pub kind: String,
    /// What identifies it in its kind: its ID, its slug, or its number.
    pub key: String,
    /// Its name, or what it is about.
    pub name: String,
    /// Name of the team that it belongs to; `None` if it belongs to none.
    pub team: Option<String>,
}

/// Records whose IDs are within two bounds, `?1` and `?2`. A record without a page is replaced by the record that it belongs to.
const BY_ID: &[&str] = &[
    "SELECT 'team', uuid, name, NULL FROM teams WHERE uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT iif(k.kind = 'team', 'key', 'operator_key'), k.uuid, k.name, t.name
     FROM keys k LEFT JOIN teams t ON t.id = k.team WHERE k.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT iif(k.kind = 'team', 'key', 'operator_key'), k.uuid, k.name, t.name
     FROM sessions s JOIN keys k ON k.id = s.key LEFT JOIN teams t ON t.id = k.team
     WHERE s.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'upload_grant', g.uuid, g.title, t.name FROM upload_grants g JOIN teams t ON t.id = g.team
     WHERE g.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'listing', l.uuid, l.title, t.name FROM listings l JOIN teams t ON t.id = l.team
     WHERE l.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'asset', a.uuid, a.title, t.name FROM assets a JOIN teams t ON t.id = a.team
     WHERE a.uuid BETWEEN ?1 AND ?2 AND a.deleted_at IS NULL LIMIT ?3",
    "SELECT 'quality_run', r.uuid, coalesce(l.title, a.title), t.name FROM quality_runs r
     LEFT JOIN listings l ON l.id = r.listing LEFT JOIN assets a ON a.id = r.asset
     LEFT JOIN teams t ON t.id = coalesce(l.team, a.team) WHERE r.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'quality_run', r.uuid, c.label, t.name FROM quality_checks c JOIN quality_runs r ON r.id = c.run
     LEFT JOIN listings l ON l.id = r.listing LEFT JOIN assets a ON a.id = r.asset
     LEFT JOIN teams t ON t.id = coalesce(l.team, a.team) WHERE c.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'estimation', e.uuid, e.name, t.name FROM estimations e JOIN teams t ON t.id = e.team
     WHERE e.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'taskset', s.uuid, s.name, t.name FROM tasksets s JOIN teams t ON t.id = s.team
     WHERE s.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'task', k.uuid, k.name, t.name FROM tasks k JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team
     WHERE k.uuid BETWEEN ?1 AND ?2 AND k.deleted_at IS NULL LIMIT ?3",
    "SELECT 'task_version', v.uuid, k.name, t.name FROM task_versions v JOIN tasks k ON k.id = v.task
     JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team
     WHERE v.uuid BETWEEN ?1 AND ?2 AND k.deleted_at IS NULL LIMIT ?3",
    "SELECT 'task_version', v.uuid, k.name, t.name FROM task_traces r JOIN task_versions v ON v.id = r.task_version
     JOIN tasks k ON k.id = v.task JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team
     WHERE r.uuid BETWEEN ?1 AND ?2 AND k.deleted_at IS NULL LIMIT ?3",
    "SELECT 'task_build', b.uuid, k.name, t.name FROM task_builds b JOIN task_versions v ON v.id = b.task_version
     JOIN tasks k ON k.id = v.task JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team
     WHERE b.uuid BETWEEN ?1 AND ?2 AND k.deleted_at IS NULL LIMIT ?3",
    "SELECT 'trace_import', i.uuid, s.name, t.name FROM trace_imports i JOIN tasksets s ON s.id = i.taskset
     JOIN teams t ON t.id = s.team WHERE i.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT iif(o.kind = 'listing', 'opportunity', 'project_opportunity'), o.uuid, o.title, t.name
     FROM opportunities o JOIN teams t ON t.id = o.owner WHERE o.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'project_bid', b.uuid, o.title, t.name FROM project_bids b JOIN opportunities o ON o.id = b.opportunity
     JOIN teams t ON t.id = b.team WHERE b.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'offer', o.uuid, l.title, t.name FROM offers o JOIN listings l ON l.id = o.listing
     JOIN teams t ON t.id = o.buyer WHERE o.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'purchase', p.uuid, l.title, t.name FROM purchases p JOIN listings l ON l.id = p.listing
     JOIN teams t ON t.id = p.buyer WHERE p.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'credit_purchase', c.uuid, 'Request for credits', t.name FROM credit_purchases c JOIN teams t ON t.id = c.team
     WHERE c.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'withdrawal', w.uuid, 'Withdrawal of earnings', t.name FROM withdrawals w JOIN teams t ON t.id = w.team
     WHERE w.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'ledger_entry', uuid, description, NULL FROM ledger_entries WHERE uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'notification', n.uuid, n.title, t.name FROM notifications n JOIN teams t ON t.id = n.team
     WHERE n.uuid BETWEEN ?1 AND ?2 LIMIT ?3",
    "SELECT 'webhook', w.uuid, w.url, t.name FROM webhooks w LEFT JOIN teams t ON t.id = w.team
     WHERE w.uuid BETWEEN ?1 AND ?2 AND w.deleted_at IS NULL LIMIT ?3",
    "SELECT 'webhook_delivery', d.uuid, d.event_type, t.name FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook
     LEFT JOIN teams t ON t.id = w.team WHERE d.uuid BETWEEN ?1 AND ?2 AND w.deleted_at IS NULL LIMIT ?3",
];

/// Records whose names begin with a text: `?1` is the text as a key of names, `?2` the text as typed. The case of ASCII letters does
/// not matter.
const BY_NAME: &[&str] = &[
    "SELECT 'team', uuid, name, NULL FROM teams
     WHERE name_key >= ?1 AND name_key < ?1 || char(1114111) ORDER BY name_key LIMIT ?3",
    "SELECT iif(k.kind = 'team', 'key', 'operator_key'), k.uuid, k.name, t.name
     FROM keys k LEFT JOIN teams t ON t.id = k.team
     WHERE k.name COLLATE NOCASE >= ?2 AND k.name COLLATE NOCASE < ?2 || char(1114111)
     ORDER BY k.name COLLATE NOCASE LIMIT ?3",
    "SELECT 'upload_grant', g.uuid, g.title, t.name FROM upload_grants g JOIN teams t ON t.id = g.team
     WHERE g.title COLLATE NOCASE >= ?2 AND g.title COLLATE NOCASE < ?2 || char(1114111)
     ORDER BY g.title COLLATE NOCASE LIMIT ?3",
    "SELECT 'listing', l.uuid, l.title, t.name FROM listings l JOIN teams t ON t.id = l.team
     WHERE l.title COLLATE NOCASE >= ?2 AND l.title COLLATE NOCASE < ?2 || char(1114111)
     ORDER BY l.title COLLATE NOCASE LIMIT ?3",
    "SELECT 'asset', a.uuid, a.title, t.name FROM inventory i JOIN assets a ON a.id = i.asset JOIN teams t ON t.id = a.team
     WHERE i.name_key >= ?1 AND i.name_key < ?1 || char(1114111) ORDER BY i.name_key LIMIT ?3",
    "SELECT 'taskset', s.uuid, s.name, t.name FROM tasksets s JOIN teams t ON t.id = s.team
     WHERE s.name COLLATE NOCASE >= ?2 AND s.name COLLATE NOCASE < ?2 || char(1114111)
     ORDER BY s.name COLLATE NOCASE LIMIT ?3",
    "SELECT 'task', k.uuid, k.name, t.name FROM tasks k JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team
     WHERE k.name COLLATE NOCASE >= ?2 AND k.name COLLATE NOCASE < ?2 || char(1114111) AND k.deleted_at IS NULL
     ORDER BY k.name COLLATE NOCASE LIMIT ?3",
    "SELECT iif(o.kind = 'listing', 'opportunity', 'project_opportunity'), o.uuid, o.title, t.name
     FROM opportunities o JOIN teams t ON t.id = o.owner
     WHERE o.title COLLATE NOCASE >= ?2 AND o.title COLLATE NOCASE < ?2 || char(1114111)
     ORDER BY o.title COLLATE NOCASE LIMIT ?3",
    "SELECT 'webhook', w.uuid, w.url, t.name FROM webhooks w LEFT JOIN teams t ON t.id = w.team
     WHERE w.url COLLATE NOCASE >= ?2 AND w.url COLLATE NOCASE < ?2 || char(1114111) AND w.deleted_at IS NULL
     ORDER BY w.url COLLATE NOCASE LIMIT ?3",
    // The taxonomy is small.
    "SELECT 'asset_type', slug, label, NULL FROM asset_types
     WHERE ?2 COLLATE NOCASE IN (substr(slug, 1, length(?2)), substr(label, 1, length(?2))) LIMIT ?3",
    "SELECT 'domain', slug, label, NULL FROM domains
     WHERE ?2 COLLATE NOCASE IN (substr(slug, 1, length(?2)), substr(label, 1, length(?2))) LIMIT ?3",
    "SELECT 'content_tag', slug, label, NULL FROM content_tags
     WHERE ?2 COLLATE NOCASE IN (substr(slug, 1, length(?2)), substr(label, 1, length(?2))) LIMIT ?3",
    "SELECT 'inventory_tag', slug, label, NULL FROM inventory_tags
     WHERE ?2 COLLATE NOCASE IN (substr(slug, 1, length(?2)), substr(label, 1, length(?2))) LIMIT ?3",
];

/// Records whose names contain all words of a text, `?1`. Each part compares the newest [`MAX_COMPARED`] records of a kind.
const BY_WORDS: &[(&str, &str)] = &[
    ("teams", "SELECT 'team', r.uuid, r.name, NULL FROM r WHERE contains_words(r.name, ?1)"),
    (
        "keys",
        "SELECT iif(r.kind = 'team', 'key', 'operator_key'), r.uuid, r.name, t.name
         FROM r LEFT JOIN teams t ON t.id = r.team WHERE contains_words(r.name, ?1)",
    ),
    (
        "listings",
        "SELECT 'listing', r.uuid, r.title, t.name FROM r JOIN teams t ON t.id = r.team WHERE contains_words(r.title, ?1)",
    ),
    (
        "assets",
        "SELECT 'asset', r.uuid, r.title, t.name FROM r JOIN teams t ON t.id = r.team
         WHERE r.deleted_at IS NULL AND contains_words(r.title, ?1)",
    ),
    (
        "tasksets",
        "SELECT 'taskset', r.uuid, r.name, t.name FROM r JOIN teams t ON t.id = r.team WHERE contains_words(r.name, ?1)",
    ),
    (
        "opportunities",
        "SELECT iif(r.kind = 'listing', 'opportunity', 'project_opportunity'), r.uuid, r.title, t.name
         FROM r JOIN teams t ON t.id = r.owner WHERE contains_words(r.title, ?1)",
    ),
    (
        "upload_grants",
        "SELECT 'upload_grant', r.uuid, r.title, t.name FROM r JOIN teams t ON t.id = r.team WHERE contains_words(r.title, ?1)",
    ),
    (
        "webhooks",
        "SELECT 'webhook', r.uuid, r.url, t.name FROM r LEFT JOIN teams t ON t.id = r.team
         WHERE r.deleted_at IS NULL AND contains_words(r.url, ?1)",
    ),
];

/// Records that have this number.
const BY_NUMBER: &[&str] = &[
    "SELECT 'job', id, kind, NULL FROM jobs WHERE id = ?1",
    "SELECT 'job', id, kind, NULL FROM ended_jobs WHERE id = ?1",
    "SELECT 'audit_entry', id, operation, NULL FROM audit WHERE id = ?1",
];

/// What a request has done.
const BY_REQUEST: &[&str] = &[
    "SELECT 'audit_entry', a.id, a.operation, t.name FROM audit a LEFT JOIN teams t ON t.id = a.team
     WHERE a.request_id = ?1 ORDER BY a.id LIMIT ?2",
    "SELECT 'event', e.id, e.type, t.name FROM events e LEFT JOIN teams t ON t.id = e.team
     WHERE e.request_id = ?1 ORDER BY e.id LIMIT ?2",
];

/// Returns a statement with all parts.
fn union(parts: &[&str]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| format!("SELECT * FROM ({part})")).collect();
    parts.join("\nUNION ALL ")
}

/// Returns records whose IDs are within bounds: of each kind, at most `limit`.
pub fn by_id(reader: &Reader, (first, last): (Uuid, Uuid), limit: u32) -> Result<Vec<Found>> {
    reader.query_all(&union(BY_ID), (first, last, limit), read)
}

/// Returns records whose names begin with a text: of each kind, at most `limit`.
pub fn by_name(reader: &Reader, text: &str, limit: u32) -> Result<Vec<Found>> {
    reader.query_all(&union(BY_NAME), (marketplace_text::equality_key(text), text, limit), read)
}

/// Returns records whose names, titles, or addresses contain all words of a text: of each kind, at most `limit` among the newest
/// [`MAX_COMPARED`]. Listings of all stages are searched.
pub fn by_words(reader: &Reader, text: &str, limit: u32) -> Result<Vec<Found>> {
    let part = |(table, select): &(&str, &str)| {
        let select = select.replacen("FROM r", &format!("FROM newest_{table} r"), 1);
        format!("SELECT * FROM ({select} LIMIT ?2)")
    };
    let newest = |(table, _): &(&str, &str)| {
        format!("newest_{table} AS (SELECT * FROM {table} ORDER BY id DESC LIMIT {MAX_COMPARED})")
    };
    let newest: Vec<String> = BY_WORDS.iter().map(newest).collect();
    let parts: Vec<String> = BY_WORDS.iter().map(part).collect();
    let sql = format!("WITH {}\n{}", newest.join(", "), parts.join("\nUNION ALL "));
    reader.query_all(&sql, (text, limit), read)
}

/// Returns the records that have this number.
pub fn by_number(reader: &Reader, number: i64) -> Result<Vec<Found>> {
    reader.query_all(&union(BY_NUMBER), [number], read)
}

/// Returns the first entries of the audit and the first events that a request made: of both, at most `limit`.
pub fn by_request(reader: &Reader, request_id: &str, limit: u32) -> Result<Vec<Found>> {
    reader.query_all(&union(BY_REQUEST), (request_id, limit), read)
}

/// Returns an event.
pub fn event(reader: &Reader, id: EventRowId) -> Result<Option<Found>> {
    const SQL: &str = "SELECT 'event', e.id, e.type, t.name FROM events e LEFT JOIN teams t ON t.id = e.team WHERE e.id = ?1";
    reader.query_first(SQL, [id], read)
}

/// Returns listings, in this order.
pub fn listings(reader: &Reader, ids: &[ListingRowId]) -> Result<Vec<Found>> {
    const SQL: &str = "SELECT 'listing', l.uuid, l.title, t.name FROM json_each(?1) w
         JOIN listings l ON l.id = w.value JOIN teams t ON t.id = l.team ORDER BY w.key";
    reader.query_all(SQL, [row::to_json(ids)?], read)
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<Found> {
    let key = match row.get_ref(1)? {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Blob(bytes) => Uuid::from_slice(bytes).unwrap_or_default().to_string(),
        _ => row.get(1)?,
    };
    Ok(Found { kind: row.get(0)?, key, name: row.get(2)?, team: row.get(3)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    /// Tables of the taxonomy, which are small.
    const SMALL: &[&str] = &["asset_types", "domains", "content_tags", "inventory_tags"];

    /// No part reads a whole table, or sorts what it has found.
    #[test]
    fn each_part_reads_a_range_of_an_index() {
        let (_directory, store) = Store::temporary();
        let check = |part: &str| {
            let steps = store.read(|reader| Ok(reader.plan_of(part))).unwrap();
            let is_small = |step: &str| SMALL.iter().any(|table| step.ends_with(&format!("SCAN {table}")));
            for step in &steps {
                let is_bounded =
                    step.starts_with("SEARCH") || is_small(step) || step.starts_with("LIST SUBQUERY");
                assert!(is_bounded, "{part}\n{steps:#?}");
            }
        };
        [BY_ID, BY_NAME, BY_NUMBER, BY_REQUEST].into_iter().flatten().for_each(|part| check(part));
    }
}
