//! Stored quality of the task versions of task assets, as of the last refresh.

use std::collections::BTreeSet;

use marketplace_text::equality_key;

use super::{Reader, Writer, inventory, row};
use crate::{
    domain::{
        row_ids::AssetRowId,
        task_quality::{AgentRun, TaskQuality},
        tasks::BuildStatus,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// Computes and stores the quality of the task version of an asset, and updates the asset's row in
/// `inventory`.
pub fn refresh(writer: &Writer, asset: AssetRowId, at: Timestamp) -> Result<()> {
    upsert_quality(writer, asset, at)?;
    inventory::upsert_row(writer, asset)
}

/// Computes and stores the quality of the task version of an asset that has no row in `inventory` yet.
pub fn upsert_quality(writer: &Writer, asset: AssetRowId, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO task_readings (asset, read_at, quality) VALUES (?1, ?2, ?3)
         ON CONFLICT (asset) DO UPDATE SET read_at = excluded.read_at, quality = excluded.quality";
    const INSERT_FILTER_VALUE: &str =
        "INSERT INTO task_reading_words (asset, field, word, word_key) VALUES (?1, ?2, ?3, ?4)";
    let quality = compute_quality(writer, asset)?;
    writer.execute(SQL, (asset, at, row::to_json(&quality)?))?;
    writer.execute("DELETE FROM task_reading_words WHERE asset = ?1", [asset])?;
    // Filters count the words of an asset, so spellings of the same model are one word.
    let mut keys = BTreeSet::new();
    for model in quality.pass_at_k.keys() {
        let key = equality_key(model);
        if !keys.contains(&key) {
            writer.execute(INSERT_FILTER_VALUE, (asset, "ran_on_model", model, &key))?;
            keys.insert(key);
        }
    }
    for agent in quality.qa_agents.keys() {
        writer.execute(INSERT_FILTER_VALUE, (asset, "qa_agent", agent.as_str(), agent.as_str()))?;
    }
    Ok(())
}

/// Computes and stores the quality of all task assets that have none, as of their creation.
pub fn insert_missing_quality(writer: &Writer) -> Result<()> {
    const SQL: &str = "SELECT id, created_at FROM assets
         WHERE kind = 'task' AND deleted_at IS NULL AND id NOT IN (SELECT asset FROM task_readings)";
    for (asset, at) in writer.query_all(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))? {
        upsert_quality(writer, asset, at)?;
    }
    Ok(())
}

/// Computes the current quality of the task version of an asset, from its runs and its latest build.
fn compute_quality(reader: &Reader, asset: AssetRowId) -> Result<TaskQuality> {
    const RUNS: &str = "SELECT r.model, r.reward, r.graded_at, r.qa
         FROM assets a JOIN task_traces r ON r.task_version = a.task_version
         WHERE a.id = ?1 ORDER BY r.graded_at DESC, r.id DESC";
    const BUILD: &str = "SELECT b.status FROM assets a JOIN task_builds b ON b.task_version = a.task_version
         WHERE a.id = ?1 ORDER BY b.build DESC LIMIT 1";
    let runs = reader.query_all(RUNS, [asset], |row| {
        let (reward, at): (Option<f64>, _) = (row.get(1)?, row.get(2)?);
        Ok(AgentRun { model: row.get(0)?, graded: reward.zip(at), checks: row::json(row, 3)? })
    })?;
    let build = reader.query_first(BUILD, [asset], |row| row.get::<_, BuildStatus>(0))?;
    Ok(TaskQuality::from_runs(&runs, build == Some(BuildStatus::Succeeded)))
}

/// Returns up to `limit` row IDs of a team's task assets that are greater than `row_id`, in ascending order.
pub fn list_task_assets_after(
    reader: &Reader,
    team: TeamRowId,
    row_id: AssetRowId,
    limit: usize,
) -> Result<Vec<AssetRowId>> {
    const SQL: &str = "SELECT asset FROM inventory WHERE team = ?1 AND kind = 'task' AND asset > ?2
         ORDER BY asset LIMIT ?3";
    reader.query_all(SQL, (team, row_id, limit as i64), |row| row.get(0))
}

/// Returns the number of a team's task assets.
pub fn count_task_assets(reader: &Reader, team: TeamRowId) -> Result<u64> {
    const SQL: &str =
        "SELECT coalesce(sum(assets), 0) FROM inventory_counts WHERE team = ?1 AND kind = 'task'";
    reader.query_one(SQL, [team], |row| row.get(0))
}

/// Returns the time of the last refresh of any of a team's task assets.
pub fn last_refreshed_at(reader: &Reader, team: TeamRowId) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT max(r.read_at) FROM inventory i JOIN task_readings r ON r.asset = i.asset
         WHERE i.team = ?1 AND i.kind = 'task'";
    reader.query_one(SQL, [team], |row| row.get(0))
}
