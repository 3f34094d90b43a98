//! Queries for assets. All of them read complete assets, with one list of columns.

use uuid::Uuid;

use crate::{
    domain::{
        field_locks::Locks,
        inventory::{Asset, Data, History, TaskBlock},
        teams::TeamNumber,
        time::Day,
    },
    error::Result,
    store::{Reader, row},
};

/// The columns of an asset, in the order in which [`read`] reads them.
pub const COLUMNS: &str = "a.id, a.uuid, a.team, a.group_id, g.uuid, a.kind, a.title, a.description, a.domain_tags,
    a.other_domain, a.price_cents, a.notes, a.extra_columns, a.created_at, a.exclusivity, a.lines_of_code, a.commits,
    a.contributors, a.merged_prs, a.history_start, a.history_end, a.ci_on_prs, a.environment, a.locked_fields,
    a.task_type, v.uuid, k.uuid, k.name, v.version, r.quality, r.read_at,
    d.channel, d.is_private, d.archive_status, d.analysis_status, d.attached_at, d.analyzed_at, d.archive_bytes,
    d.commit_sha, d.manifest_url, d.archive_error, d.analysis_error";

/// The joins with `assets a` that [`COLUMNS`] needs.
pub const SOURCES: &str = "JOIN groups g ON g.id = a.group_id
    LEFT JOIN data_objects d ON d.asset = a.id
    LEFT JOIN task_versions v ON v.id = a.task_version
    LEFT JOIN tasks k ON k.id = v.task
    LEFT JOIN task_readings r ON r.asset = a.id";

/// Reads an asset from a row with the columns [`COLUMNS`].
pub fn read(row: &rusqlite::Row) -> rusqlite::Result<Asset> {
    let mut place = row::Places::default();
    // Struct fields are evaluated in source order, which must match the order of the columns.
    Ok(Asset {
        number: row.get(place.next())?,
        id: row.get(place.next())?,
        team: TeamNumber(row.get(place.next())?),
        group: (row.get(place.next())?, row.get(place.next())?),
        kind: row::word(row, place.next())?,
        title: row.get(place.next())?,
        description: row.get(place.next())?,
        domain_tags: row::json(row, place.next())?,
        other_domain: row.get(place.next())?,
        price: row::optional_cents(row, place.next())?,
        notes: row.get(place.next())?,
        extra_columns: row::json(row, place.next())?,
        created_at: row::time(row, place.next())?,
        history: History {
            exclusivity: row::optional_word(row, place.next())?,
            lines_of_code: row.get(place.next())?,
            commits: row.get(place.next())?,
            contributors: row.get(place.next())?,
            merged_prs: row.get(place.next())?,
            start: day(row, place.next())?,
            end: day(row, place.next())?,
            ci_on_prs: row.get(place.next())?,
        },
        environment: row::optional_json(row, place.next())?,
        locks: row::json::<Locks>(row, place.next())?,
        task: task(row, &mut place)?,
        data: data(row, &mut place)?,
    })
}

fn day(row: &rusqlite::Row, place: usize) -> rusqlite::Result<Option<Day>> {
    Ok(row.get_ref(place)?.as_str_or_null()?.and_then(Day::parse))
}

fn task(row: &rusqlite::Row, place: &mut row::Places) -> rusqlite::Result<Option<TaskBlock>> {
    let (task_type, version_id) = (row::optional_word(row, place.next())?, row.get(place.next())?);
    let (task_id, name) = (row.get(place.next())?, row.get(place.next())?);
    let (version, quality) = (row.get(place.next())?, row::optional_json(row, place.next())?);
    let read_at = row::optional_time(row, place.next())?;
    let (Some(task_type), Some(version_id), Some(task_id), Some(name), Some(version)) =
        (task_type, version_id, task_id, name, version)
    else {
        return Ok(None);
    };
    let quality = quality.unwrap_or_default();
    Ok(Some(TaskBlock { version_id, task_id, name, version, task_type, quality, read_at }))
}

fn data(row: &rusqlite::Row, place: &mut row::Places) -> rusqlite::Result<Option<Data>> {
    let Some(channel) = row::optional_word(row, place.next())? else { return Ok(None) };
    Ok(Some(Data {
        channel,
        is_private: row.get(place.next())?,
        archive_status: row::word(row, place.next())?,
        analysis_status: row::word(row, place.next())?,
        attached_at: row::time(row, place.next())?,
        analyzed_at: row::optional_time(row, place.next())?,
        archive_bytes: row.get(place.next())?,
        commit_sha: row.get(place.next())?,
        manifest_url: row.get(place.next())?,
        archive_error: row.get(place.next())?,
        analysis_error: row.get(place.next())?,
    }))
}

/// Returns the row ID and the team of the asset with this ID, of any team, unless it is deleted.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<(i64, TeamNumber)>> {
    const SQL: &str = "SELECT id, team FROM assets WHERE uuid = ?1 AND deleted_at IS NULL";
    reader.first(SQL, [id], |row| Ok((row.get(0)?, TeamNumber(row.get(1)?))))
}

/// Returns the team's asset with this ID, unless it is deleted.
pub fn find_own(reader: &Reader, team: TeamNumber, id: Uuid) -> Result<Option<Asset>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM assets a {SOURCES} WHERE a.uuid = ?1 AND a.team = ?2 AND a.deleted_at IS NULL"
    );
    reader.first(&sql, (id, team.0), read)
}

/// Returns the asset with this row ID, unless it is deleted.
pub fn numbered(reader: &Reader, number: i64) -> Result<Option<Asset>> {
    let sql = format!("SELECT {COLUMNS} FROM assets a {SOURCES} WHERE a.id = ?1 AND a.deleted_at IS NULL");
    reader.first(&sql, [number], read)
}

/// Calls `show` for each asset that is not deleted and has a row ID greater than `number`, in order of row
/// IDs.
pub fn after(reader: &Reader, number: i64, mut show: impl FnMut(&Asset) -> Result<()>) -> Result<()> {
    let sql = format!(
        "SELECT {COLUMNS} FROM assets a {SOURCES} WHERE a.id > ?1 AND a.deleted_at IS NULL ORDER BY a.id"
    );
    reader.each(&sql, [number], |row| show(&read(row)?))
}

/// Whether the team has another asset of the same kind with the same title.
pub fn title_is_taken(reader: &Reader, asset: &Asset) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (
             SELECT 1 FROM inventory i JOIN assets a ON a.id = i.asset
             WHERE i.team = ?1 AND i.name_key = ?2 AND i.kind = ?3 AND a.title = ?4 AND a.id <> ?5)";
    let key = super::super::inventory::name_key(&asset.title);
    let kind = crate::domain::vocabulary::Vocabulary::word(asset.kind);
    reader.one(SQL, (asset.team.0, key, kind, &asset.title, asset.number), |row| row.get(0))
}

/// Returns the titles of the team's assets of the same kind that start with `beginning`.
pub fn titles_like(reader: &Reader, asset: &Asset, beginning: &str) -> Result<Vec<String>> {
    const SQL: &str = "SELECT a.title FROM inventory i JOIN assets a ON a.id = i.asset
         WHERE i.team = ?1 AND i.name_key >= ?2 AND i.name_key < ?2 || char(1114111) AND i.kind = ?3
             AND substr(a.title, 1, length(?4)) = ?4";
    let key = super::super::inventory::name_key(beginning);
    let kind = crate::domain::vocabulary::Vocabulary::word(asset.kind);
    reader.all(SQL, (asset.team.0, key, kind, beginning), |row| row.get(0))
}
