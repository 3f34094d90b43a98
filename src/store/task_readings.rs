//! Stored quality of the task versions of task assets, as of the last refresh.

use super::{Reader, Writer, inventory, row};
use crate::{
    domain::{
        task_quality::{Run, TaskQuality},
        tasks::BuildStatus,
        teams::TeamNumber,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
};

/// Computes and stores the quality of the task version of an asset, and updates the asset's row in
/// `inventory`.
pub fn refresh(writer: &Writer, asset: i64, at: Timestamp) -> Result<()> {
    read(writer, asset, at)?;
    inventory::keep(writer, asset)
}

/// Computes and stores the quality of the task version of an asset that has no row in `inventory` yet.
pub fn read(writer: &Writer, asset: i64, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO task_readings (asset, read_at, quality) VALUES (?1, ?2, ?3)
         ON CONFLICT (asset) DO UPDATE SET read_at = excluded.read_at, quality = excluded.quality";
    const WORD: &str = "INSERT INTO task_reading_words (asset, field, word) VALUES (?1, ?2, ?3)";
    let quality = quality(writer, asset)?;
    writer.execute(SQL, (asset, at.0, row::to_json(&quality)?))?;
    writer.execute("DELETE FROM task_reading_words WHERE asset = ?1", [asset])?;
    for model in quality.pass_at_k.keys() {
        writer.execute(WORD, (asset, "ran_on_model", model))?;
    }
    for agent in quality.qa_agents.keys() {
        writer.execute(WORD, (asset, "qa_agent", agent.word()))?;
    }
    Ok(())
}

/// Computes and stores the quality of all task assets that have none, as of their creation.
pub fn read_missing(writer: &Writer) -> Result<()> {
    const SQL: &str = "SELECT id, created_at FROM assets
         WHERE kind = 'task' AND deleted_at IS NULL AND id NOT IN (SELECT asset FROM task_readings)";
    for (asset, at) in writer.all(SQL, [], |row| Ok((row.get(0)?, row::time(row, 1)?)))? {
        read(writer, asset, at)?;
    }
    Ok(())
}

/// Computes the current quality of the task version of an asset, from its runs and its latest build.
fn quality(reader: &Reader, asset: i64) -> Result<TaskQuality> {
    const RUNS: &str = "SELECT r.model, r.reward, r.graded_at, r.qa
         FROM assets a JOIN task_traces r ON r.task_version = a.task_version
         WHERE a.id = ?1 ORDER BY r.graded_at DESC, r.id DESC";
    const BUILD: &str = "SELECT b.status FROM assets a JOIN task_builds b ON b.task_version = a.task_version
         WHERE a.id = ?1 ORDER BY b.build DESC LIMIT 1";
    let runs = reader.all(RUNS, [asset], |row| {
        let (reward, at): (Option<f64>, _) = (row.get(1)?, row::optional_time(row, 2)?);
        Ok(Run { model: row.get(0)?, graded: reward.zip(at), checks: row::json(row, 3)? })
    })?;
    let build = reader.first(BUILD, [asset], |row| row::word::<BuildStatus>(row, 0))?;
    Ok(TaskQuality::of(&runs, build == Some(BuildStatus::Succeeded)))
}

/// Returns up to `limit` row IDs of a team's task assets that are greater than `number`, in ascending order.
pub fn assets_after(reader: &Reader, team: TeamNumber, number: i64, limit: usize) -> Result<Vec<i64>> {
    const SQL: &str = "SELECT asset FROM inventory WHERE team = ?1 AND kind = 'task' AND asset > ?2
         ORDER BY asset LIMIT ?3";
    reader.all(SQL, (team.0, number, limit as i64), |row| row.get(0))
}

/// Returns the number of a team's task assets.
pub fn count(reader: &Reader, team: TeamNumber) -> Result<u64> {
    const SQL: &str =
        "SELECT coalesce(sum(assets), 0) FROM inventory_counts WHERE team = ?1 AND kind = 'task'";
    reader.one(SQL, [team.0], |row| row.get(0))
}

/// Returns the time of the last refresh of any of a team's task assets.
pub fn last_read_at(reader: &Reader, team: TeamNumber) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT max(r.read_at) FROM inventory i JOIN task_readings r ON r.asset = i.asset
         WHERE i.team = ?1 AND i.kind = 'task'";
    reader.one(SQL, [team.0], |row| row::optional_time(row, 0))
}
