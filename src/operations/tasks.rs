//! Task assets: import of task versions, and editing by the vendor.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    access::{BrowseGate, Vendor},
    asset_changes::{self, ChangedAsset},
    asset_events,
    assets::{self, Deprecations},
    references::Groups,
};
use crate::{
    domain::{
        assets::{Kind, TaskType},
        collections::Collection,
        field_locks,
        inventory::Asset,
        problems::Problems,
        row_ids::{GroupRowId, TaskVersionRowId, TasksetRowId},
        tasks::{BuildStatus, SkipReason},
    },
    error::{Error, Problem, Result},
    market::{CheckContext, Reader, Writer},
    request_problems::ProblemsExt,
    store::{
        self,
        assets::{KindFields, NewAsset},
        task_imports::ImportCandidate,
        tasksets::{Taskset, TasksetSummary},
    },
    string_enum::StringEnum,
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

/// A valid import.
#[derive(Debug)]
pub struct CheckedImport {
    task_type: TaskType,
    /// The group for the assets, if the request names one.
    group: Option<(GroupRowId, Uuid)>,
    candidates: Vec<ImportCandidate>,
}

/// Returns the import that a request describes. Fails with all problems, and if the team may not see one of
/// the tasks. `problems` has those with the body so far; `selection` is `None` if one of them is with it.
pub fn check_import(
    context: &CheckContext,
    vendor: &Vendor,
    (task_type, selection): (Option<TaskType>, Option<&TaskSelection>),
    group: Option<Uuid>,
    mut problems: Problems,
) -> Result<CheckedImport> {
    let group = match group {
        Some(id) => Groups::read(context, vendor, iter::once(id))?
            .find(id)
            .map(|group| (group.row_id, group.id))
            .map_err(|problem| problems.push(problem))
            .ok(),
        None => None,
    };
    let taskset = match selection {
        Some(TaskSelection::Taskset(id)) => problems.if_available(find_taskset(context, vendor, *id))?,
        _ => None,
    };
    if let Some(taskset) = &taskset {
        check_import_size(context, vendor, taskset, &mut problems)?;
    }
    // Nothing else is wrong with a request, except that it may select a task that the team cannot see.
    let task_type = problems.into_result_of(task_type)?;
    let team = vendor.team_row_id();
    let candidates = match (taskset, selection) {
        (Some(taskset), _) => store::task_imports::list_candidates(context.rows, team, taskset.row_id)?,
        (None, Some(TaskSelection::Tasks(ids))) => find_candidates(context, vendor, ids)?,
        _ => return Err(Error::internal("a selection of tasks is missing without a problem")),
    };
    Ok(CheckedImport { task_type, group, candidates })
}

/// Imports the latest versions of tasks as assets.
pub fn import(writer: &mut Writer, vendor: &Vendor, import: &CheckedImport) -> Result<ImportResult> {
    let mut result =
        ImportResult { deprecations: store::taxonomy::deprecations(writer.rows)?, ..ImportResult::default() };
    let (mut existing, mut new_tasks) = (Vec::new(), Vec::new());
    for candidate in &import.candidates {
        let version = match latest_version(vendor, candidate) {
            Ok(version) => version,
            Err(reason) => {
                result.skipped.push((candidate.id, reason));
                continue;
            }
        };
        // The build matters only for new assets: imported assets stay when a later build fails.
        match (candidate.asset, version.check_build()) {
            (Some(asset), _) => existing.push(asset),
            (None, Ok(())) => new_tasks.push((candidate, version)),
            (None, Err(reason)) => result.skipped.push((candidate.id, reason)),
        }
    }
    if !new_tasks.is_empty() {
        let group = match import.group {
            Some(group) => group,
            None => group_for_import(writer, vendor, &import.candidates)?,
        };
        for (candidate, version) in new_tasks {
            let id = insert_asset(writer, vendor, import.task_type, candidate, version, group)?;
            result.imported.push(assets::find(writer.rows, vendor, id, None)?);
        }
        let ids: Vec<Uuid> = result.imported.iter().map(|asset| asset.id).collect();
        asset_events::created(writer, vendor.team_row_id(), Kind::Task, &ids)?;
    }
    for id in existing {
        result.existing.push(assets::find(writer.rows, vendor, id, None)?);
    }
    Ok(result)
}

/// What an import of whole tasksets did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ImportSummary {
    /// Number of new assets.
    pub imported: u64,
    /// Number of assets that were there already.
    pub existing: u64,
    /// The tasks that were skipped: their IDs, names, and the names of the reasons.
    pub skipped: Vec<(Uuid, String, String)>,
}

/// Returns the team's newest tasksets whose names contain a text, newest first.
pub fn list_tasksets(
    reader: &Reader,
    vendor: &Vendor,
    text: &str,
    limit: usize,
) -> Result<Vec<TasksetSummary>> {
    store::tasksets::list_own(reader.rows, vendor.team_row_id(), text, limit)
}

/// Imports the tasks of several tasksets, as [`import`] does for one. Creates at most as many assets as one import.
pub fn import_tasksets(
    writer: &mut Writer,
    vendor: &Vendor,
    tasksets: &[Uuid],
    task_type: TaskType,
    group: Option<Uuid>,
) -> Result<ImportSummary> {
    let mut summary = ImportSummary::default();
    for taskset in tasksets {
        let selection = (Some(task_type), Some(&TaskSelection::Taskset(*taskset)));
        let checked = check_import(&writer.check_context(), vendor, selection, group, Problems::default())?;
        let result = import(writer, vendor, &checked)?;
        let names: BTreeMap<Uuid, &str> =
            checked.candidates.iter().map(|task| (task.id, task.name.as_str())).collect();
        summary.imported += result.imported.len() as u64;
        summary.existing += result.existing.len() as u64;
        summary.skipped.extend(result.skipped.iter().map(|(task, reason)| {
            let name = names.get(task).copied().unwrap_or_default();
            (*task, name.to_owned(), reason.as_str().to_owned())
        }));
        if summary.imported > MAX_IMPORT as u64 {
            let msg =
                format!("The import would create more than {MAX_IMPORT} assets. Choose fewer tasksets.");
            return Err(Error::invalid(Problem::body(&["taskset_id"], "too_long", msg)));
        }
    }
    Ok(summary)
}

/// Returns those of the tasksets that the team can see on listings.
fn visible_tasksets(
    context: &CheckContext,
    vendor: &Vendor,
    tasksets: &BTreeSet<TasksetRowId>,
) -> Result<BTreeSet<TasksetRowId>> {
    let team = vendor.team_row_id();
    let published = store::listings::count_published(context.rows, team)?;
    let required = context.settings.browse_gate.required_published;
    let sees_catalog = BrowseGate::new(vendor.team(), published, required).is_open;
    store::task_imports::list_visible_to(context.rows, tasksets, team, sees_catalog)
}

/// Returns a taskset. Fails if the team may not see it.
fn find_taskset(context: &CheckContext, vendor: &Vendor, id: Uuid) -> Result<Taskset> {
    let absent = || Error::not_found("taskset");
    let taskset = store::tasksets::find(context.rows, id)?.ok_or_else(absent)?;
    let is_visible = taskset.team == vendor.team_row_id()
        || !visible_tasksets(context, vendor, &BTreeSet::from([taskset.row_id]))?.is_empty();
    if is_visible { Ok(taskset) } else { Err(absent()) }
}

/// Returns the tasks with these IDs without duplicates. Fails if the team may not see one of them.
fn find_candidates(context: &CheckContext, vendor: &Vendor, ids: &[Uuid]) -> Result<Vec<ImportCandidate>> {
    let team = vendor.team_row_id();
    let found = store::task_imports::find_candidates(context.rows, team, ids)?;
    let foreign = found.iter().filter(|task| task.team != team).map(|task| task.taskset).collect();
    let visible = visible_tasksets(context, vendor, &foreign)?;
    // Deleted tasks of other teams count as not found.
    let can_see =
        |task: &ImportCandidate| task.team == team || (!task.is_deleted && visible.contains(&task.taskset));
    let mut by_id: BTreeMap<Uuid, ImportCandidate> =
        found.into_iter().filter(can_see).map(|task| (task.id, task)).collect();
    if let Some(absent) = ids.iter().find(|id| !by_id.contains_key(*id)) {
        return Err(Error::not_found(format!("task {absent}")));
    }
    // In the order of the request.
    Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
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

/// Reports a taskset of which an import would create too many assets. Its tasks are counted only as far as
/// necessary, and not read. Tasks that are selected by ID cannot be too many.
fn check_import_size(
    context: &CheckContext,
    vendor: &Vendor,
    taskset: &Taskset,
    problems: &mut Problems,
) -> Result<()> {
    let team = vendor.team_row_id();
    // Tasks of other teams are skipped.
    if taskset.team == team
        && store::task_imports::count_new(context.rows, team, taskset.row_id, MAX_IMPORT + 1)? > MAX_IMPORT
    {
        let msg = format!(
            "The import would create more than {MAX_IMPORT} assets. Select up to {MAX_IMPORT} tasks at a time \
             with `task_ids`."
        );
        problems.push(Problem::body(&["taskset_id"], "too_long", msg));
    }
    Ok(())
}

/// Returns the group for an import that does not name one: a group with the name of the taskset, or the
/// default group if the selected tasks belong to several tasksets, whether they are imported or not.
fn group_for_import(
    writer: &Writer,
    vendor: &Vendor,
    selected: &[ImportCandidate],
) -> Result<(GroupRowId, Uuid)> {
    let team = vendor.team_row_id();
    let mut tasksets = selected.iter().map(|task| (task.taskset, &task.taskset_name));
    let first = tasksets.next();
    let Some((_, name)) = first.filter(|first| tasksets.all(|other| other.0 == first.0)) else {
        let group = store::groups::find_default(writer.rows, team)?;
        return Ok((group.row_id, group.id));
    };
    let name: String = name.chars().take(MAX_GROUP_NAME).collect();
    if let Some(group) = store::groups::find_by_name(writer.rows, team, &name)? {
        return Ok((group.row_id, group.id));
    }
    let id = writer.new_id(Collection::Groups);
    Ok((store::groups::insert(writer.rows, id, team, &name, false, writer.now)?, id))
}

/// Creates the asset of a task's latest version. If the team has an asset of another version of the task, the
/// title gets the version number as a suffix.
fn insert_asset(
    writer: &Writer,
    vendor: &Vendor,
    task_type: TaskType,
    candidate: &ImportCandidate,
    version: LatestVersion,
    group: (GroupRowId, Uuid),
) -> Result<Uuid> {
    let LatestVersion { row_id: version, number, .. } = version;
    let mut asset = assets::new_asset(&writer.check_context(), vendor, Kind::Task, group);
    let is_another = store::task_imports::has_asset_of_task(writer.rows, vendor.team_row_id(), version)?;
    let suffix = if is_another { format!(" (v{number})") } else { String::new() };
    let name: String = candidate.name.chars().take(MAX_TITLE - suffix.len()).collect();
    asset.title = name + &suffix;
    asset.description.clone_from(&candidate.description);
    asset.extra_columns =
        candidate.column_values.iter().take(MAX_COLUMNS).map(|(k, v)| (k.clone(), v.clone())).collect();
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

/// Stores a changed task asset.
pub fn update(writer: &mut Writer, changed: ChangedAsset) -> Result<(Asset, Deprecations)> {
    let asset = asset_changes::update(writer, changed)?;
    Ok((asset, store::taxonomy::deprecations(writer.rows)?))
}

/// Returns the models and agents that occur in the team's tasks, as values for filters.
pub fn list_filter_values(reader: &Reader, vendor: &Vendor) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    store::inventory::list_task_facets(reader.rows, vendor.team_row_id())
}
