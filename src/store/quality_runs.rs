//! Quality runs: their subjects, how they start, and how they finish. Their checks are in `quality_checks`.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{
    Reader, Writer,
    changed_data::{CHANGED_ASSETS, IS_OF_PRESENT_DATA},
    row::{self, FromRow},
};
use crate::{
    domain::{
        listings::ListingRowId,
        money::Cents,
        quality_checks::CheckStatus,
        quality_runs::{RunOutcome, RunStatus, RunTrigger},
        row_ids::{AssetRowId, QualityRunRowId},
        tasks::BuildStatus,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// The columns of a run, of a table with the alias `r`.
const COLUMNS: &str =
    "r.id AS row_id, r.uuid AS id, r.run_number, r.status, r.triggered_by, r.review_feedback, r.error,
    r.charge_cents AS charge, r.started_at, r.completed_at, r.listing, r.asset, r.assets";

/// The listing or the asset that a run checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A listing with all of its assets.
    Listing(ListingRowId),
    /// One asset, by its row ID.
    Asset(AssetRowId),
}

/// The fields of a quality run to insert.
#[derive(Debug)]
pub struct NewRun<'a> {
    /// ID of the run.
    pub id: Uuid,
    /// The listing or the asset that the run checks.
    pub subject: Subject,
    /// Row ID of the team that owns the subject and pays for the run.
    pub team: TeamRowId,
    /// State of the run.
    pub status: RunStatus,
    /// Who or what started the run.
    pub triggered_by: RunTrigger,
    /// Feedback of a human reviewer.
    pub review_feedback: Option<&'a str>,
    /// Reason why the run itself failed.
    pub error: Option<&'a str>,
    /// Amount charged for the run.
    pub charge: Cents,
    /// Time at which the run was started.
    pub started_at: Timestamp,
    /// Time at which the run finished; `None` until then.
    pub completed_at: Option<Timestamp>,
}

/// Inserts a run with the next run number of its subject, and returns its row ID.
pub fn insert(writer: &Writer, run: &NewRun) -> Result<QualityRunRowId> {
    const SQL: &str =
        "INSERT INTO quality_runs (uuid, listing, asset, run_number, status, triggered_by, review_feedback,
             error, charge_cents, started_at, completed_at, team)
         VALUES (?1, ?2, ?3,
             (SELECT count(*) + 1 FROM quality_runs WHERE listing IS ?2 AND asset IS ?3),
             ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let (listing, asset) = match run.subject {
        Subject::Listing(listing) => (Some(listing), None),
        Subject::Asset(asset) => (None, Some(asset)),
    };
    let row_id = writer.insert(
        SQL,
        (
            run.id,
            listing,
            asset,
            run.status,
            run.triggered_by,
            run.review_feedback,
            run.error,
            run.charge,
            run.started_at,
            run.completed_at,
            run.team,
        ),
    )?;
    Ok(QualityRunRowId(row_id))
}

/// A run as its vendor sees it, without its checks.
#[derive(Clone, Debug, FromRow)]
pub struct RunRow {
    /// Row ID of the run.
    pub row_id: QualityRunRowId,
    /// ID of the run.
    pub id: Uuid,
    /// Sequence number among the runs of its subject, from 1.
    pub run_number: u32,
    /// State of the run.
    pub status: RunStatus,
    /// Who or what started the run.
    #[row(with = read_trigger)]
    pub triggered_by: RunTrigger,
    /// Feedback of a human reviewer.
    pub review_feedback: Option<String>,
    /// Reason why the run itself failed.
    pub error: Option<String>,
    /// Amount charged for the run.
    pub charge: Cents,
    /// Time at which the run was started.
    pub started_at: Timestamp,
    /// Time at which the run finished; `None` until then.
    pub completed_at: Option<Timestamp>,
}

/// Reads who or what started a run. Runs that earlier versions started for a team have another text.
pub(super) fn read_trigger(row: &rusqlite::Row) -> rusqlite::Result<RunTrigger> {
    Ok(RunTrigger::parse(row.get_ref("triggered_by")?.as_str()?).unwrap_or(RunTrigger::Team))
}

/// Returns a listing's latest run.
pub fn find_latest_of_listing(reader: &Reader, listing: ListingRowId) -> Result<Option<RunRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM quality_runs r WHERE r.listing = ?1 ORDER BY r.run_number DESC LIMIT 1"
    );
    reader.query_first(&sql, [listing], RunRow::from_row)
}

/// An unfinished run, its subject, and the assets that it checks.
#[derive(Clone, Debug)]
pub struct UnfinishedRun {
    /// The stored fields of the run.
    pub run: RunRow,
    /// The listing or the asset that the run checks.
    pub subject: Subject,
    /// The assets that the subject had when the run started.
    pub assets: Vec<RunAsset>,
}

/// An asset that a run checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RunAsset {
    /// Row ID of the asset.
    pub asset: AssetRowId,
    /// Time at which its data was linked, in microseconds since 1970; `None` if it had no data.
    pub attached_at: Option<i64>,
}

fn read_unfinished_run(row: &rusqlite::Row) -> rusqlite::Result<UnfinishedRun> {
    let (listing, asset): (Option<ListingRowId>, Option<AssetRowId>) =
        (row.get("listing")?, row.get("asset")?);
    let subject = match (listing, asset) {
        (Some(listing), _) => Subject::Listing(listing),
        (None, asset) => Subject::Asset(asset.unwrap_or(AssetRowId(0))),
    };
    let assets: Option<Vec<RunAsset>> = row::json(row, "assets")?;
    let own_asset = || asset.map(|asset| RunAsset { asset, attached_at: None }).into_iter().collect();
    let assets = assets.unwrap_or_else(own_asset);
    Ok(UnfinishedRun { run: RunRow::from_row(row)?, subject, assets })
}

/// Returns the run with this row ID, unless it has finished.
pub fn find_unfinished(reader: &Reader, row_id: QualityRunRowId) -> Result<Option<UnfinishedRun>> {
    let sql =
        format!("SELECT {COLUMNS} FROM quality_runs r WHERE r.id = ?1 AND r.status IN ('queued', 'running')");
    reader.query_first(&sql, [row_id], read_unfinished_run)
}

/// Returns the run with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<RunRow>> {
    let sql = format!("SELECT {COLUMNS} FROM quality_runs r WHERE r.uuid = ?1");
    reader.query_first(&sql, [id], RunRow::from_row)
}

/// Returns the row ID and the state of the run with this ID.
pub fn find_status(reader: &Reader, id: Uuid) -> Result<Option<(QualityRunRowId, RunStatus)>> {
    const SQL: &str = "SELECT id, status FROM quality_runs WHERE uuid = ?1";
    reader.query_first(SQL, [id], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the unfinished runs of a subject.
pub fn list_unfinished(reader: &Reader, subject: Subject) -> Result<Vec<UnfinishedRun>> {
    let (column, row_id) = match subject {
        Subject::Listing(listing) => ("listing", listing.0),
        Subject::Asset(asset) => ("asset", asset.0),
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM quality_runs r
         WHERE r.{column} = ?1 AND r.status IN ('queued', 'running') ORDER BY r.id"
    );
    reader.query_all(&sql, [row_id], read_unfinished_run)
}

/// Stores the feedback of a review with the latest run of the listing, if there is one.
pub fn set_review_feedback(writer: &Writer, listing: ListingRowId, feedback: &str) -> Result<()> {
    const SQL: &str = "UPDATE quality_runs SET review_feedback = ?2 WHERE listing = ?1
         AND run_number = (SELECT max(run_number) FROM quality_runs WHERE listing = ?1)";
    writer.run(SQL, (listing, feedback))
}

/// Returns the latest run of an asset.
pub fn find_latest_of_asset(reader: &Reader, asset: AssetRowId) -> Result<Option<RunRow>> {
    let sql =
        format!("SELECT {COLUMNS} FROM quality_runs r WHERE r.asset = ?1 ORDER BY r.run_number DESC LIMIT 1");
    reader.query_first(&sql, [asset], RunRow::from_row)
}

/// Returns the latest runs of an asset, newest first, each with the number of its mandatory checks that have not passed.
pub fn list_of_asset(reader: &Reader, asset: AssetRowId, limit: u32) -> Result<Vec<(RunRow, u64)>> {
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT count(*) FROM quality_checks c
             WHERE c.run = r.id AND c.is_mandatory AND c.status <> 'passed') AS not_passed
         FROM quality_runs r WHERE r.asset = ?1 ORDER BY r.run_number DESC LIMIT ?2"
    );
    reader.query_all(&sql, (asset, limit), |row| Ok((RunRow::from_row(row)?, row.get("not_passed")?)))
}

/// Returns the IDs of the latest runs of a listing, newest first.
pub fn ids_of_listing(reader: &Reader, listing: ListingRowId, limit: u32) -> Result<Vec<Uuid>> {
    const SQL: &str = "SELECT uuid FROM quality_runs WHERE listing = ?1 ORDER BY run_number DESC LIMIT ?2";
    reader.query_all(SQL, (listing, limit), |row| row.get(0))
}

/// Returns the run of an asset with this ID.
pub fn find_of_asset(reader: &Reader, asset: AssetRowId, id: Uuid) -> Result<Option<RunRow>> {
    let sql = format!("SELECT {COLUMNS} FROM quality_runs r WHERE r.uuid = ?2 AND r.asset = ?1");
    reader.query_first(&sql, (asset, id), RunRow::from_row)
}

/// The latest quality run of an asset or a listing, in brief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// ID of the run.
    pub id: Uuid,
    /// Outcome of the run.
    pub outcome: RunOutcome,
    /// Time at which the run ended; `None` while it is in progress.
    pub completed_at: Option<Timestamp>,
    /// Number of checks that passed.
    pub passed: u64,
    /// Number of checks.
    pub checks: u64,
    /// Number of mandatory checks that passed.
    pub mandatory_passed: u64,
    /// Number of mandatory checks.
    pub mandatory: u64,
    /// The different statuses that each check has for its subjects, by key.
    pub statuses: BTreeMap<String, Vec<CheckStatus>>,
}

impl RunSummary {
    /// Returns the keys of the checks that have this status for any subject.
    pub fn keys_with(&self, status: CheckStatus) -> Vec<&str> {
        let with_status = self.statuses.iter().filter(|(_, statuses)| statuses.contains(&status));
        with_status.map(|(key, _)| key.as_str()).collect()
    }
}

/// Returns the latest run of each of these assets that has one. Completed runs of other data than the asset has now are left out.
pub fn summaries_of_assets(
    reader: &Reader,
    assets: &[AssetRowId],
) -> Result<BTreeMap<AssetRowId, RunSummary>> {
    read_summaries(reader, "asset", "", assets)
}

/// Returns the latest completed run of each of these listings, with its checks of assets and data that have not changed since.
/// Runs without such checks are left out.
pub fn summaries_of_listings(
    reader: &Reader,
    listings: &[ListingRowId],
) -> Result<BTreeMap<ListingRowId, RunSummary>> {
    read_summaries(reader, "listing", "AND status = 'completed'", listings)
}

/// Returns the latest run of each subject, by its row ID. `subject` is the column of the subjects.
fn read_summaries<Id: serde::Serialize + rusqlite::types::FromSql + Ord>(
    reader: &Reader,
    subject: &str,
    condition: &str,
    ids: &[Id],
) -> Result<BTreeMap<Id, RunSummary>> {
    let sql = format!(
        "WITH run (subject, id, assets) AS MATERIALIZED (
             SELECT j.value, r.id, r.assets FROM json_each(?1) j JOIN quality_runs r ON r.id = (
                 SELECT id FROM quality_runs WHERE {subject} = j.value {condition} ORDER BY run_number DESC LIMIT 1)),
             {CHANGED_ASSETS}
         SELECT run.subject, r.uuid, r.status, r.completed_at, count(c.id),
             count(c.id) FILTER (WHERE c.status = 'passed'),
             count(c.id) FILTER (WHERE c.is_mandatory) AS mandatory,
             count(c.id) FILTER (WHERE c.is_mandatory AND c.status = 'passed') AS mandatory_passed,
             (SELECT json_group_object(s.key, json(s.statuses)) FROM (
                 SELECT c.key, json_group_array(DISTINCT c.status) AS statuses FROM quality_checks c
                 WHERE c.run = r.id AND {IS_OF_PRESENT_DATA} GROUP BY c.key) s) AS statuses,
             r.id IN (SELECT run FROM changed) AS is_outdated
         FROM run JOIN quality_runs r ON r.id = run.id
         LEFT JOIN quality_checks c ON c.run = r.id AND {IS_OF_PRESENT_DATA}
         GROUP BY r.id HAVING count(c.id) > 0 OR r.id NOT IN (SELECT run FROM changed)"
    );
    let runs = reader.query_all(&sql, [row::to_json(ids)?], |row| {
        let (mandatory, mandatory_passed): (u64, u64) = (row.get("mandatory")?, row.get("mandatory_passed")?);
        let outcome = match row.get(2)? {
            RunStatus::Queued | RunStatus::Running => RunOutcome::InProgress,
            // How the run ended says nothing about other data.
            RunStatus::Completed if row.get("is_outdated")? => RunOutcome::None,
            RunStatus::Completed if mandatory_passed == mandatory => RunOutcome::Passed,
            RunStatus::Completed => RunOutcome::Failed,
            RunStatus::Error => RunOutcome::Error,
            RunStatus::Cancelled => RunOutcome::Cancelled,
        };
        let summary = RunSummary {
            id: row.get(1)?,
            outcome,
            completed_at: row.get(3)?,
            passed: row.get(5)?,
            checks: row.get(4)?,
            mandatory_passed,
            mandatory,
            statuses: row::json(row, "statuses")?,
        };
        Ok((row.get(0)?, summary))
    })?;
    Ok(runs.into_iter().collect())
}

/// Records the assets that a run of a listing checks.
pub fn set_assets(writer: &Writer, run: QualityRunRowId, assets: &[RunAsset]) -> Result<()> {
    writer.run("UPDATE quality_runs SET assets = ?2 WHERE id = ?1", (run, row::to_json(assets)?))
}

/// Marks a run as running.
pub fn mark_running(writer: &Writer, run: QualityRunRowId) -> Result<()> {
    writer.run("UPDATE quality_runs SET status = 'running' WHERE id = ?1", [run])
}

/// Finishes a run with a status. Sets its charge to 0 unless `keeps_charge`.
pub fn finish(
    writer: &Writer,
    run: QualityRunRowId,
    status: RunStatus,
    error: Option<&str>,
    keeps_charge: bool,
    at: Timestamp,
) -> Result<()> {
    const SQL: &str = "UPDATE quality_runs SET status = ?2, error = ?3, completed_at = ?4,
             charge_cents = CASE WHEN ?5 THEN charge_cents ELSE 0 END
         WHERE id = ?1";
    writer.run(SQL, (run, status, error, at, keeps_charge))
}

/// Returns the current assets of a listing, in the order in which they were attached.
pub fn list_listing_assets(reader: &Reader, listing: ListingRowId) -> Result<Vec<RunAsset>> {
    const SQL: &str = "SELECT la.asset, d.attached_at FROM listing_assets la
         LEFT JOIN data_objects d ON d.asset = la.asset WHERE la.listing = ?1 ORDER BY la.position";
    reader.query_all(SQL, [listing], |row| Ok(RunAsset { asset: row.get(0)?, attached_at: row.get(1)? }))
}

/// Returns the unfinished runs of listings that check an asset.
pub fn list_unfinished_with_asset(reader: &Reader, asset: AssetRowId) -> Result<Vec<UnfinishedRun>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM quality_runs r
         WHERE r.status IN ('queued', 'running') AND r.assets IS NOT NULL
             AND EXISTS (SELECT 1 FROM json_each(r.assets) j WHERE json_extract(j.value, '$.asset') = ?1)
         ORDER BY r.id"
    );
    reader.query_all(&sql, [asset], read_unfinished_run)
}

/// The properties of a task that quality checks use, from the version that is checked.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct TaskFacts {
    /// Name of the task.
    pub name: String,
    /// Whether the version has a nonempty brief.
    #[row(default)]
    pub has_prompt: bool,
    /// Status of its latest build; `None` if there is none.
    pub build: Option<BuildStatus>,
    /// Whether any of its traces has a reward.
    pub is_graded: bool,
}

/// Returns the tasks of an asset. A taskset has its tasks, and a bundle those of all its tasksets: the latest versions, without
/// deleted tasks. A task asset has one version of its task.
pub fn list_tasks(reader: &Reader, asset: AssetRowId) -> Result<Vec<TaskFacts>> {
    // A union of three queries, each with its own index: one condition over all three would scan every task.
    const SQL: &str = "WITH of_tasksets (task) AS (
             SELECT k.id FROM assets a JOIN tasks k ON k.taskset = a.taskset WHERE a.id = ?1 AND k.deleted_at IS NULL
             UNION
             SELECT k.id FROM bundle_tasksets b JOIN tasks k ON k.taskset = b.taskset
             WHERE b.asset = ?1 AND k.deleted_at IS NULL),
         wanted (task, version) AS (
             SELECT task, (SELECT v.id FROM task_versions v WHERE v.task = of_tasksets.task ORDER BY v.version DESC LIMIT 1)
             FROM of_tasksets
             UNION ALL
             SELECT v.task, v.id FROM assets a JOIN task_versions v ON v.id = a.task_version WHERE a.id = ?1)
         SELECT k.name, v.brief NOT IN ('{}', 'null') AS has_prompt,
             (SELECT b.status FROM task_builds b WHERE b.task_version = v.id ORDER BY b.build DESC LIMIT 1) AS build,
             EXISTS (SELECT 1 FROM task_traces r WHERE r.task_version = v.id AND r.reward IS NOT NULL) AS is_graded
         FROM wanted JOIN tasks k ON k.id = wanted.task LEFT JOIN task_versions v ON v.id = wanted.version
         ORDER BY k.created_at, k.id";
    reader.query_all(SQL, [asset], TaskFacts::from_row)
}

/// Inserts or replaces the fingerprint of the files in an asset's linked data. Does nothing if no data is
/// linked.
pub fn upsert_fingerprint(writer: &Writer, asset: AssetRowId, fingerprint: &[u8]) -> Result<()> {
    const SQL: &str = "INSERT INTO data_fingerprints (asset, fingerprint)
         SELECT asset, ?2 FROM data_objects WHERE asset = ?1
         ON CONFLICT (asset) DO UPDATE SET fingerprint = excluded.fingerprint";
    writer.run(SQL, (asset, fingerprint))
}

/// Maximum number of fingerprints that the one of an asset is compared with.
const MAX_COMPARED: u32 = 10_000;

/// Calls `visit` with the title and the fingerprint of each of a team's assets, except `excluded_asset`: the
/// newest ones, if there are too many.
pub fn for_each_fingerprint(
    reader: &Reader,
    team: TeamRowId,
    excluded_asset: AssetRowId,
    mut visit: impl FnMut(&str, &[u8]),
) -> Result<()> {
    const SQL: &str = "SELECT a.title, f.fingerprint FROM data_fingerprints f JOIN assets a ON a.id = f.asset
         WHERE a.team = ?1 AND a.id <> ?2 AND a.deleted_at IS NULL
         ORDER BY a.id DESC LIMIT ?3";
    reader.for_each_row(SQL, (team, excluded_asset, MAX_COMPARED), |row| {
        let (title, fingerprint): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        visit(&title, &fingerprint);
        Ok(())
    })
}
