//! Deletes data whose retention period has ended: the oldest events, and rows of other tables. Each function changes a bounded
//! number of rows.

use rusqlite::types::FromSql;

use super::{Reader, Writer, events::SKIPPED_ID_UNIT, row::FromRow};
use crate::{
    domain::{
        events::{EventRowId, EventType, RecordCounts},
        time::Timestamp,
    },
    error::{NameList, Result},
};

/// The place, type, and time of an event.
#[derive(Clone, Copy, Debug, FromRow)]
#[row(by_position)]
pub struct EventPlace {
    /// Row ID of the event.
    pub row_id: EventRowId,
    /// Type of the event.
    pub event_type: EventType,
    /// Time of the event.
    pub occurred_at: Timestamp,
}

/// Returns the first event that has not been removed.
pub fn first_kept(reader: &Reader) -> Result<Option<EventPlace>> {
    const SQL: &str = "SELECT id, type, occurred_at FROM events
         WHERE id > (SELECT through FROM trimmed_events) ORDER BY id LIMIT 1";
    reader.query_first(SQL, [], EventPlace::from_row)
}

/// Returns the first event that has not been removed, and the last one up to a place; both without reports of clock advances.
/// These reports do not cause a removal, so the result does not depend on the number of steps in which the clock of a world is
/// advanced.
pub fn find_removable(reader: &Reader, through: EventRowId) -> Result<Option<(EventPlace, EventPlace)>> {
    let sql = |order: &str| {
        format!(
            "SELECT id, type, occurred_at FROM events WHERE id > (SELECT through FROM trimmed_events) AND id <= ?1
                 AND type <> ?2 ORDER BY id {order} LIMIT 1"
        )
    };
    let reports = EventType::ClockAdvanced;
    let first = reader.query_first(&sql("ASC"), (through, reports), EventPlace::from_row)?;
    let last = reader.query_first(&sql("DESC"), (through, reports), EventPlace::from_row)?;
    Ok(first.zip(last))
}

/// Returns the time of the next event that causes a removal once it is old; `None` if there is none. Reports of clock advances
/// never cause a removal, and neither does the report of the last removal while it is the oldest event.
pub fn next_reason(reader: &Reader) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT id, type, occurred_at FROM events
         WHERE id > (SELECT through FROM trimmed_events) AND type <> ?1 ORDER BY id LIMIT 2";
    let first = reader.query_all(SQL, [EventType::ClockAdvanced], EventPlace::from_row)?;
    let reason = first
        .iter()
        .enumerate()
        .find(|(index, event)| *index > 0 || event.event_type != EventType::OutboxTrimmed);
    Ok(reason.map(|(_, event)| event.occurred_at))
}

/// Returns an event that exists.
pub fn find(reader: &Reader, row_id: EventRowId) -> Result<Option<EventPlace>> {
    reader.query_first(
        "SELECT id, type, occurred_at FROM events WHERE id = ?1",
        [row_id],
        EventPlace::from_row,
    )
}

/// What [`find_newer`] found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The first event that is not older.
    Newer(EventRowId),
    /// All events up to this one are older, and there are more.
    OlderThrough(EventRowId),
    /// All events are older. This is the last one.
    AllOlder(EventRowId),
}

/// Looks for the first event after a place whose time is not before `since`, among `limit` events.
pub fn find_newer(reader: &Reader, after: EventRowId, since: Timestamp, limit: u32) -> Result<Found> {
    const SQL: &str =
        "SELECT id FROM events WHERE id > ?1 AND id <= ?2 AND occurred_at >= ?3 ORDER BY id LIMIT 1";
    let newest = super::events::find_bounds(reader)?.newest;
    let Some(next) = super::events::find_next(reader, after)? else { return Ok(Found::AllOlder(newest)) };
    let end = EventRowId(next.0 - 1 + i64::from(limit));
    Ok(match reader.query_first(SQL, (after, end, since), |row| row.get(0))? {
        Some(newer) => Found::Newer(newer),
        None if end < newest => Found::OlderThrough(end),
        None => Found::AllOlder(newest),
    })
}

/// Counts the events after `after` and up to `through`, at most `limit`. Returns their number and the ID of the last one.
pub fn count_after(
    reader: &Reader,
    after: EventRowId,
    through: EventRowId,
    limit: u32,
) -> Result<(u32, Option<EventRowId>)> {
    const SQL: &str = "SELECT count(*), max(id)
         FROM (SELECT id FROM events WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3)";
    reader.query_one(SQL, (after, through, limit), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Removes all events up to one. [`delete_trimmed`] deletes their rows.
pub fn set_trimmed_through(writer: &Writer, through: EventRowId) -> Result<()> {
    writer.run("UPDATE trimmed_events SET through = ?1", [through])
}

/// Deletes rows of events that have been removed: at most `limit`, the oldest first. Returns their number.
pub fn delete_trimmed(writer: &Writer, limit: u32) -> Result<usize> {
    const SQL: &str = "DELETE FROM events WHERE id IN (
             SELECT id FROM events WHERE id <= (SELECT through FROM trimmed_events) ORDER BY id LIMIT ?1)";
    writer.execute(SQL, [limit])
}

/// Returns how many records the market has. Counts by indexes, except for bids on projects, of which there are few.
pub fn count_records(reader: &Reader) -> Result<RecordCounts> {
    let count = |sql: &str| reader.query_one(sql, [], |row| row.get::<_, u64>(0));
    Ok(RecordCounts {
        teams: count("SELECT count(*) FROM teams WHERE closed_at IS NULL")?,
        assets: count("SELECT coalesce(sum(assets), 0) FROM inventory_counts")?,
        listings: count_by(reader, "SELECT catalog_status, count(*) FROM listings GROUP BY catalog_status")?,
        offers: count_by(reader, "SELECT status, count(*) FROM offers GROUP BY status")?,
        purchases: count_by(reader, "SELECT status, count(*) FROM purchases GROUP BY status")?,
        opportunities: count_by(reader, "SELECT status, count(*) FROM opportunities GROUP BY status")?,
        project_bids: count_by(reader, "SELECT status, count(*) FROM project_bids GROUP BY status")?,
    })
}

fn count_by<T: FromSql + Ord>(reader: &Reader, sql: &str) -> Result<std::collections::BTreeMap<T, u64>> {
    let counts = reader.query_all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(counts.into_iter().collect())
}

/// A table whose rows are kept for a number of days. Its rows have increasing row IDs, `id`, and are inserted about
/// in the order of their times.
#[derive(Clone, Copy, Debug)]
pub struct DatedTable {
    /// Name of the table.
    pub name: &'static str,
    /// Name of the column with the time.
    pub time: &'static str,
}

/// The tables, besides that of the events.
pub const DATED_TABLES: &[DatedTable] = &[DatedTable { name: "audit", time: "occurred_at" }];

/// Deletes the rows of a table that are older than `since` among its oldest `limit` rows. Returns their number; 0 if
/// there are none.
pub fn delete_older(writer: &Writer, table: DatedTable, since: Timestamp, limit: u32) -> Result<usize> {
    let DatedTable { name, time } = table;
    let sql = format!(
        "DELETE FROM {name} WHERE id IN (
             SELECT id FROM (SELECT id, {time} AS time FROM {name} ORDER BY id LIMIT ?2) WHERE time < ?1)"
    );
    writer.execute(&sql, (since, limit))
}

/// Returns the earliest time in a table.
pub fn first_time(reader: &Reader, DatedTable { name, time }: DatedTable) -> Result<Option<Timestamp>> {
    reader.query_one(&format!("SELECT min({time}) FROM {name}"), [], |row| row.get(0))
}

/// Returns a description of each inconsistency of the outbox. After the removed events, IDs must have no gaps, except those that a
/// copy of the database has skipped.
pub fn find_inconsistencies(reader: &Reader) -> Result<Vec<String>> {
    const MISSING: &str = "SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'events') - t.through
             - (SELECT count(*) FROM events WHERE id > t.through)
         FROM trimmed_events t";
    const GAPS: &str = "SELECT id + 1, next - id - 1 FROM (
             SELECT id, coalesce(
                 lead(id) OVER (ORDER BY id),
                 (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'events')
             ) AS next
             FROM (
                 SELECT through AS id FROM trimmed_events
                 UNION ALL SELECT id FROM events WHERE id > (SELECT through FROM trimmed_events)
             )
         )
         WHERE next > id + 1 AND (next - 1) % ?1 <> 0 ORDER BY id";
    // Counting is faster, and suffices if no IDs were skipped.
    if reader.query_one(MISSING, [], |row| row.get::<_, Option<i64>>(0))?.unwrap_or(0) == 0 {
        return Ok(Vec::new());
    }
    let mut missing = 0;
    let mut gaps: NameList = NameList::default();
    reader.for_each_row(GAPS, [SKIPPED_ID_UNIT], |row| {
        let first: i64 = row.get(0)?;
        missing += row.get::<_, i64>(1)?;
        gaps.add(|| first.to_string());
        Ok(())
    })?;
    if missing == 0 {
        return Ok(Vec::new());
    }
    Ok(vec![format!(
        "events are missing that are not among the oldest ones: {missing}, beginning with these IDs: {gaps}"
    )])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    const NOTES: DatedTable = DatedTable { name: "notes", time: "written_at" };

    #[test]
    fn old_rows_are_deleted_in_batches() {
        let (_directory, store) = Store::temporary();
        let delete = |since, limit| {
            store.write(|writer| delete_older(writer, NOTES, Timestamp(since), limit)).unwrap().0
        };
        let left = || {
            let list = |reader: &Reader| {
                reader.query_all("SELECT written_at FROM notes ORDER BY id", [], |row| row.get::<_, i64>(0))
            };
            store.read(list).unwrap()
        };
        store
            .write(|writer| {
                writer.execute(
                    "CREATE TABLE notes (id INTEGER PRIMARY KEY, written_at INTEGER NOT NULL)",
                    [],
                )?;
                writer.execute("INSERT INTO notes (written_at) VALUES (1), (2), (9), (3), (4), (5)", [])
            })
            .unwrap();
        assert_eq!(delete(1, 2), 0);
        assert_eq!([delete(5, 3), delete(5, 3), delete(5, 3)], [2, 2, 0]);
        assert_eq!(left(), [9, 5]);
        assert_eq!(delete(100, 10), 2);
    }
}
