//! Queries for assets. All of them read complete assets, with one list of columns. Changes to assets are in
//! `assets`, which also exports these queries.

use uuid::Uuid;

use crate::{
    domain::{
        codebase_fields::CodebaseFields,
        field_locks::FieldLocks,
        inventory::{Asset, AttachedData, TaskDetails},
        row_ids::AssetRowId,
        teams::TeamRowId,
    },
    error::Result,
    store::{Reader, row},
};

/// The columns of an asset, in the order in which [`read_asset`] reads them.
pub const COLUMNS: [&str; 3] = [
    "a.id, a.uuid, a.team, a.group_id, g.uuid, a.kind, a.title, a.description, a.domain_tags,
        a.other_domain, a.price_cents, a.notes, a.extra_columns, a.created_at, a.environment, a.locked_fields",
    CodebaseFields::COLUMNS,
    ", a.task_type, v.uuid, k.uuid, k.name, v.version, r.quality, r.read_at,
        d.channel, d.is_private, d.archive_status, d.analysis_status, d.attached_at, d.analyzed_at, d.archive_bytes,
        d.commit_sha, d.manifest_url, d.archive_error, d.analysis_error",
];

/// The joins with `assets a` that [`COLUMNS`] needs.
pub const JOINS: &str = "JOIN groups g ON g.id = a.group_id
    LEFT JOIN data_objects d ON d.asset = a.id
    LEFT JOIN task_versions v ON v.id = a.task_version
    LEFT JOIN tasks k ON k.id = v.task
    LEFT JOIN task_readings r ON r.asset = a.id";

/// Returns the statement for the assets `a` that meet a condition.
pub fn select(condition: &str) -> String {
    select_from("assets a", &format!("WHERE {condition}"))
}

/// Returns the statement for the assets `a` among these tables, with the clauses that follow the joins.
pub fn select_from(tables: &str, rest: &str) -> String {
    format!("SELECT {} FROM {tables} {JOINS} {rest}", COLUMNS.concat())
}

/// Reads an asset from a row with the columns [`COLUMNS`].
pub fn read_asset(row: &rusqlite::Row) -> rusqlite::Result<Asset> {
    let mut columns = row::ColumnIndexes::default();
    // Struct fields are evaluated in source order, which must match the order of the columns.
    Ok(Asset {
        row_id: row.get(columns.next())?,
        id: row.get(columns.next())?,
        team: row.get(columns.next())?,
        group: (row.get(columns.next())?, row.get(columns.next())?),
        kind: row.get(columns.next())?,
        title: row.get(columns.next())?,
        description: row.get(columns.next())?,
        domain_tags: row::json(row, columns.next())?,
        other_domain: row.get(columns.next())?,
        price: row.get(columns.next())?,
        notes: row.get(columns.next())?,
        extra_columns: row::json(row, columns.next())?,
        created_at: row.get(columns.next())?,
        environment: row::json(row, columns.next())?,
        locks: row::json::<FieldLocks>(row, columns.next())?,
        codebase: CodebaseFields::read(row, || columns.next())?,
        task: read_task(row, &mut columns)?,
        // The last columns, since there may be fewer of them to read.
        data: read_data(row, &mut columns)?,
    })
}

fn read_task(row: &rusqlite::Row, columns: &mut row::ColumnIndexes) -> rusqlite::Result<Option<TaskDetails>> {
    let (task_type, version_id): (Option<_>, Option<_>) =
        (row.get(columns.next())?, row.get(columns.next())?);
    let (task_id, name) = (row.get(columns.next())?, row.get(columns.next())?);
    let (version, quality) = (row.get(columns.next())?, row::json::<Option<_>>(row, columns.next())?);
    let refreshed_at = row.get(columns.next())?;
    let (Some(task_type), Some(version_id), Some(task_id), Some(name), Some(version)) =
        (task_type, version_id, task_id, name, version)
    else {
        return Ok(None);
    };
    let quality = quality.unwrap_or_default();
    Ok(Some(TaskDetails { version_id, task_id, name, version, task_type, quality, refreshed_at }))
}

fn read_data(
    row: &rusqlite::Row,
    columns: &mut row::ColumnIndexes,
) -> rusqlite::Result<Option<AttachedData>> {
    let Some(channel) = row.get(columns.next())? else { return Ok(None) };
    Ok(Some(AttachedData {
        channel,
        is_private: row.get(columns.next())?,
        archive_status: row.get(columns.next())?,
        analysis_status: row.get(columns.next())?,
        attached_at: row.get(columns.next())?,
        analyzed_at: row.get(columns.next())?,
        archive_bytes: row.get(columns.next())?,
        commit_sha: row.get(columns.next())?,
        manifest_url: row.get(columns.next())?,
        archive_error: row.get(columns.next())?,
        analysis_error: row.get(columns.next())?,
    }))
}

/// Returns the row ID and the team of the asset with this ID, of any team, unless it is deleted.
pub fn find_row_id_and_team(reader: &Reader, id: Uuid) -> Result<Option<(AssetRowId, TeamRowId)>> {
    const SQL: &str = "SELECT id, team FROM assets WHERE uuid = ?1 AND deleted_at IS NULL";
    reader.query_first(SQL, [id], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the team's asset with this ID, unless it is deleted.
pub fn find_own(reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<Asset>> {
    let sql = select("a.uuid = ?1 AND a.team = ?2 AND a.deleted_at IS NULL");
    reader.query_first(&sql, (id, team), read_asset)
}

/// Returns the team's assets with these row IDs in the order of these, without those that are deleted.
pub fn list_own(reader: &Reader, team: TeamRowId, row_ids: &[AssetRowId]) -> Result<Vec<Asset>> {
    let sql = select_from(
        "json_each(?1) j CROSS JOIN assets a ON a.id = j.value",
        "WHERE a.team = ?2 AND a.deleted_at IS NULL ORDER BY j.key",
    );
    reader.query_all(&sql, (row::to_json(row_ids)?, team), read_asset)
}

/// Returns the asset with this row ID, unless it is deleted.
pub fn find_by_row_id(reader: &Reader, row_id: AssetRowId) -> Result<Option<Asset>> {
    let sql = select("a.id = ?1 AND a.deleted_at IS NULL");
    reader.query_first(&sql, [row_id], read_asset)
}

/// Calls `visit` for each asset that is not deleted and has a row ID greater than `row_id`, in order of row
/// IDs.
pub fn for_each_after(
    reader: &Reader,
    row_id: AssetRowId,
    mut visit: impl FnMut(&Asset) -> Result<()>,
) -> Result<()> {
    let sql = select("a.id > ?1 AND a.deleted_at IS NULL ORDER BY a.id");
    reader.for_each_row(&sql, [row_id], |row| visit(&read_asset(row)?))
}
