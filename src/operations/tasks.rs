//! Task assets: import of task versions, and editing by the vendor.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{
    access::{BrowseGate, Vendor},
    asset_changes,
    assets::{self, Deprecations},
    groups,
};
use crate::{
    domain::{
        assets::{Kind, TaskType},
        field_locks,
        inventory::{Asset, AssetChange},
        problems::Problems,
        row_ids::{GroupRowId, TaskVersionRowId},
        tasks::{BuildStatus, SkipReason},
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{
        self,
        assets::{KindFields, NewAsset},
        task_imports::ImportCandidate,
    },
};

/// Maximum number of assets that one import creates.
const MAX_IMPORT: usize = 500;

/// Maximum length of a group name and of an asset title, in characters.
const MAX_GROUP_NAME: usize = 120;
const MAX_TITLE: usize = 200;

/// Maximum number of column values that are copied to an asset.
const MAX_COLUMNS: usize = 50;

/// Selection of the tasks to import.
#[derive(Clone, Debug)]
pub enum TaskSelection {
    /// All tasks of this taskset that are not deleted.
    Taskset(Uuid),
    /// The tasks with these IDs.
    Tasks(Vec<Uuid>),
}

/// Result of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportResult {
    /// Assets created by this import.
    pub imported: Vec<Asset>,
    /// Assets of the tasks' latest versions that already existed.
    pub existing: Vec<Asset>,
    /// IDs of the tasks that were skipped, with the reason.
    pub skipped: Vec<(Uuid, SkipReason)>,
    /// Deprecations of asset kinds, which responses about assets include.
    pub deprecations: Deprecations,
}

/// Imports the latest versions of tasks as assets. If the team may not see one of the tasks, nothing is
/// imported. `problems` has those with the body so far; `selection` is `None` if one of them is with it.
pub fn import(
    writer: &mut Writer,
    vendor: &Vendor,
    (task_type, selection): (Option<TaskType>, Option<&TaskSelection>),
    group: Option<Uuid>,
    mut problems: Problems,
) -> Result<ImportResult> {
    let group = match group {
        Some(id) => problems.collect(groups::find_referenced(writer.rows, vendor.team_row_id(), id))?,
        None => None,
    };
    let candidates = match selection {
        Some(selection) => problems.if_available(find_candidates(writer, vendor, selection))?,
        None => None,
    };
    let mut result =
        ImportResult { deprecations: store::taxonomy::deprecations(writer.rows)?, ..ImportResult::default() };
    let (mut existing, mut new_tasks) = (Vec::new(), Vec::new());
    let candidates = candidates.unwrap_or_default();
    for candidate in &candidates {
        let version = match latest_version(vendor, candidate) {
            Ok(version) => version,
            Err(reason) => {
                result.skipped.push((candidate.id, reason));
                continue;
            }
        };
        // The build matters only to new assets: what was imported stays imported when a later build fails.
        let team = vendor.team_row_id();
        match store::task_imports::find_asset_of_version(writer.rows, team, version.row_id)? {
            Some(asset) => existing.push(asset),
            None => match version.check_build() {
                Ok(()) => new_tasks.push((candidate, version)),
                Err(reason) => result.skipped.push((candidate.id, reason)),
            },
        }
    }
    if let Some(selection) = selection {
        problems.collect(check_import_size(selection, new_tasks.len()))?;
    }
    let task_type = problems.into_result_of(task_type)?;
    let group = match group {
        Some(group) => Some((group.row_id, group.id)),
        None if !new_tasks.is_empty() => group_for_import(writer, vendor, &candidates)?,
        None => None,
    };
    for (candidate, version) in new_tasks {
        let id = insert_asset(writer, vendor, task_type, candidate, version, group)?;
        result.imported.push(assets::find(writer.rows, vendor, id, None)?);
    }
    for id in existing {
        result.existing.push(assets::find(writer.rows, vendor, id, None)?);
    }
    Ok(result)
}

/// Returns the selected tasks without duplicates. Fails if the team may not see one of them.
fn find_candidates(
    writer: &Writer,
    vendor: &Vendor,
    selection: &TaskSelection,
) -> Result<Vec<ImportCandidate>> {
    let rows = writer.rows;
    let published = store::listings::count_published(rows, vendor.team_row_id())?;
    let required = writer.settings.browse_gate.required_published;
    let sees_catalog = BrowseGate::new(vendor.team(), published, required).is_open;
    let can_see = |team, taskset| {
        Ok::<bool, Error>(
            team == vendor.team_row_id()
                || store::task_imports::is_visible_to(rows, taskset, vendor.team_row_id(), sees_catalog)?,
        )
    };
    match selection {
        TaskSelection::Taskset(id) => match store::tasks::find_taskset(rows, *id)? {
            Some(taskset) if can_see(taskset.team, taskset.row_id)? => {
                store::task_imports::list_candidates(rows, taskset.row_id)
            }
            _ => Err(Error::not_found("taskset")),
        },
        TaskSelection::Tasks(ids) => {
            let mut candidates = Vec::new();
            for id in ids.iter().copied().collect::<BTreeSet<Uuid>>() {
                match store::task_imports::find_candidate(rows, id)? {
                    // Deleted tasks of other teams count as not found.
                    Some(task)
                        if (task.team == vendor.team_row_id() || !task.is_deleted)
                            && can_see(task.team, task.taskset)? =>
                    {
                        candidates.push(task);
                    }
                    _ => return Err(Error::not_found(format!("task {id}"))),
                }
            }
            // Restores the order of the request.
            candidates.sort_by_key(|task| ids.iter().position(|id| *id == task.id));
            Ok(candidates)
        }
    }
}

/// The latest version of a task.
#[derive(Clone, Copy, Debug)]
struct LatestVersion {
    row_id: TaskVersionRowId,
    number: u32,
    build: Option<BuildStatus>,
}

impl LatestVersion {
    /// Returns why a version that is not imported yet is skipped.
    fn check_build(self) -> std::result::Result<(), SkipReason> {
        match self.build {
            None => Err(SkipReason::NoBuild),
            Some(BuildStatus::Succeeded) => Ok(()),
            Some(_) => Err(SkipReason::BuildNotSucceeded),
        }
    }
}

/// Returns the version to import, or why the task is skipped.
fn latest_version(
    vendor: &Vendor,
    candidate: &ImportCandidate,
) -> std::result::Result<LatestVersion, SkipReason> {
    if candidate.team != vendor.team_row_id() {
        return Err(SkipReason::Foreign);
    }
    if candidate.is_deleted {
        return Err(SkipReason::Deleted);
    }
    let (row_id, number, build) = candidate.version.ok_or(SkipReason::NoVersion)?;
    Ok(LatestVersion { row_id, number, build })
}

fn check_import_size(selection: &TaskSelection, count: usize) -> Result<()> {
    if count <= MAX_IMPORT {
        return Ok(());
    }
    let field = match selection {
        TaskSelection::Taskset(_) => "taskset_id",
        TaskSelection::Tasks(_) => "task_ids",
    };
    let msg = format!(
        "The import would create {count} assets, but the maximum is {MAX_IMPORT}. Select up to {MAX_IMPORT} \
         tasks at a time with `task_ids`."
    );
    Err(Error::invalid(Problem::body(&[field], "too_long", msg)))
}

/// Returns the group for an import that does not name one: a group with the name of the taskset, or the
/// default group if the selected tasks belong to several tasksets, whether they are imported or not.
fn group_for_import(
    writer: &Writer,
    vendor: &Vendor,
    selected: &[ImportCandidate],
) -> Result<Option<(GroupRowId, Uuid)>> {
    let Some(first) = selected.first() else { return Ok(None) };
    let team = vendor.team_row_id();
    if selected.iter().any(|task| task.taskset != first.taskset) {
        let group = store::groups::find_default(writer.rows, team)?;
        return Ok(Some((group.row_id, group.id)));
    }
    let name: String = first.taskset_name.chars().take(MAX_GROUP_NAME).collect();
    if let Some(group) = store::groups::find_by_name(writer.rows, team, &name)? {
        return Ok(Some((group.row_id, group.id)));
    }
    let id = writer.clock.new_id();
    Ok(Some((store::groups::insert(writer.rows, id, team, &name, false, writer.now)?, id)))
}

/// Creates the asset of a task's latest version. If the team has an asset of another version of the task, the
/// title gets the version number as a suffix.
fn insert_asset(
    writer: &Writer,
    vendor: &Vendor,
    task_type: TaskType,
    candidate: &ImportCandidate,
    version: LatestVersion,
    group: Option<(GroupRowId, Uuid)>,
) -> Result<Uuid> {
    let LatestVersion { row_id: version, number, .. } = version;
    let mut asset = assets::new_asset(writer, vendor, Kind::Task)?;
    let is_another = store::task_imports::has_asset_of_task(writer.rows, vendor.team_row_id(), version)?;
    let suffix = if is_another { format!(" (v{number})") } else { String::new() };
    let name: String = candidate.name.chars().take(MAX_TITLE - suffix.len()).collect();
    asset.title = name + &suffix;
    asset.description.clone_from(&candidate.description);
    asset.extra_columns =
        candidate.column_values.iter().take(MAX_COLUMNS).map(|(k, v)| (k.clone(), v.clone())).collect();
    asset.group = group.unwrap_or(asset.group);
    field_locks::update_api_locks(&mut asset.locks, [("task_type", true)]);
    let row_id = store::assets::insert(
        writer.rows,
        &NewAsset::from_asset(&asset, KindFields::Task { version, task_type }),
    )?;
    store::task_quality::refresh(writer.rows, row_id, writer.now)?;
    Ok(asset.id)
}

/// Returns one of the team's task assets.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<(Asset, Deprecations)> {
    let asset = assets::find(reader.rows, vendor, id, Some(Kind::Task))?;
    Ok((asset, store::taxonomy::deprecations(reader.rows)?))
}

/// Updates one of the team's task assets. `problems` has those with the body so far.
pub fn update(
    writer: &mut Writer,
    vendor: &Vendor,
    id: Uuid,
    change: AssetChange,
    problems: Problems,
) -> Result<(Asset, Deprecations)> {
    let asset = asset_changes::update(writer, vendor, id, Kind::Task, change, problems)?;
    Ok((asset, store::taxonomy::deprecations(writer.rows)?))
}

/// Returns the models and agents that occur in the team's tasks, as values for filters.
pub fn list_filter_values(reader: &Reader, vendor: &Vendor) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    store::inventory::list_task_facets(reader.rows, vendor.team_row_id())
}
