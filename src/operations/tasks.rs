//! Task assets: importing versions of tasks, and what vendors say of them.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{
    access::{Gate, Vendor},
    assets::{self, Deprecations},
    groups,
};
use crate::{
    domain::{
        assets::{Kind, TaskType},
        field_locks,
        inventory::{Asset, AssetChange},
        tasks::{BuildStatus, SkipReason},
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{
        self,
        assets::{NewAsset, Own},
        task_imports::Candidate,
    },
};

/// Assets that one import makes at most.
pub const MAX_IMPORT: usize = 500;

/// Characters of a group's name and of a title at most.
const MAX_GROUP_NAME: usize = 120;
const MAX_TITLE: usize = 200;

/// Columns of an asset at most.
const MAX_COLUMNS: usize = 50;

/// The tasks to import.
#[derive(Clone, Debug)]
pub enum Picked {
    /// Every live task of a taskset.
    Taskset(Uuid),
    /// These.
    Tasks(Vec<Uuid>),
}

/// What an import did.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Assets that it made.
    pub imported: Vec<Asset>,
    /// Assets that stood for the tasks' latest versions already.
    pub existing: Vec<Asset>,
    /// Tasks that it passed over.
    pub skipped: Vec<(Uuid, SkipReason)>,
    /// Retirements, for what is shown of assets.
    pub deprecations: Deprecations,
}

/// Imports the latest versions of tasks. Where any of them is not there for the team, nothing is imported.
pub fn import(
    writer: &mut Writer,
    vendor: &Vendor,
    task_type: TaskType,
    picked: &Picked,
    group: Option<Uuid>,
) -> Result<Imported> {
    let group = group.map(|id| own_group(writer, vendor, id)).transpose()?;
    let candidates = candidates(writer, vendor, picked)?;
    let mut done =
        Imported { deprecations: store::taxonomy::deprecations(writer.rows)?, ..Imported::default() };
    let (mut existing, mut fresh) = (Vec::new(), Vec::new());
    for candidate in candidates {
        match version(vendor, &candidate) {
            Err(reason) => done.skipped.push((candidate.id, reason)),
            Ok((number, _)) => {
                match store::task_imports::asset_of_version(writer.rows, vendor.number(), number)? {
                    Some(asset) => existing.push(asset),
                    None => fresh.push(candidate),
                }
            }
        }
    }
    check_count(picked, fresh.len())?;
    let group = match group {
        Some(group) => Some(group),
        None => group_of(writer, vendor, &fresh)?,
    };
    for candidate in &fresh {
        let id = insert(writer, vendor, task_type, candidate, group)?;
        done.imported.push(assets::find(writer.rows, vendor, id, None)?);
    }
    for id in existing {
        done.existing.push(assets::find(writer.rows, vendor, id, None)?);
    }
    Ok(done)
}

fn own_group(writer: &Writer, vendor: &Vendor, id: Uuid) -> Result<(i64, Uuid)> {
    let group = groups::referred(writer.rows, vendor.number(), id)?.map_err(Error::invalid)?;
    Ok((group.number, group.id))
}

/// The tasks that are meant, each once; all of them are there for the team.
fn candidates(writer: &Writer, vendor: &Vendor, picked: &Picked) -> Result<Vec<Candidate>> {
    let rows = writer.rows;
    let published = store::listings::published_by(rows, vendor.number())?;
    let required = writer.settings.browse_gate.required_published;
    let sees_catalog = Gate::of(vendor.team(), published, required).is_open;
    let sees = |team, taskset| {
        Ok::<bool, Error>(
            team == vendor.number()
                || store::task_imports::is_seen_by(rows, taskset, vendor.number(), sees_catalog)?,
        )
    };
    match picked {
        Picked::Taskset(id) => match store::tasks::find_taskset(rows, *id)? {
            Some(taskset) if sees(taskset.team, taskset.number)? => {
                store::task_imports::candidates_of(rows, taskset.number)
            }
            _ => Err(Error::not_found("taskset")),
        },
        Picked::Tasks(ids) => {
            let mut candidates = Vec::new();
            for id in ids.iter().copied().collect::<BTreeSet<Uuid>>() {
                match store::task_imports::candidate(rows, id)? {
                    // What others deleted is not there.
                    Some(task)
                        if (task.team == vendor.number() || !task.is_deleted)
                            && sees(task.team, task.taskset)? =>
                    {
                        candidates.push(task);
                    }
                    _ => return Err(Error::not_found(format!("task {id}"))),
                }
            }
            // In the order in which they were named.
            candidates.sort_by_key(|task| ids.iter().position(|id| *id == task.id));
            Ok(candidates)
        }
    }
}

/// The version that an import takes: its row number and its number; or why it takes none.
fn version(vendor: &Vendor, candidate: &Candidate) -> std::result::Result<(i64, u32), SkipReason> {
    if candidate.team != vendor.number() {
        return Err(SkipReason::Foreign);
    }
    if candidate.is_deleted {
        return Err(SkipReason::Deleted);
    }
    match candidate.version {
        None => Err(SkipReason::NoVersion),
        Some((_, _, None)) => Err(SkipReason::NoBuild),
        Some((number, version, Some(BuildStatus::Succeeded))) => Ok((number, version)),
        Some(_) => Err(SkipReason::BuildNotSucceeded),
    }
}

fn check_count(picked: &Picked, count: usize) -> Result<()> {
    if count <= MAX_IMPORT {
        return Ok(());
    }
    let field = match picked {
        Picked::Taskset(_) => "taskset_id",
        Picked::Tasks(_) => "task_ids",
    };
    let msg = format!(
        "{count} assets would be made, and one import makes at most {MAX_IMPORT}. Name the tasks in `task_ids`, \
         {MAX_IMPORT} at a time."
    );
    Err(Error::invalid(Problem::body(&[field], "too_long", msg)))
}

/// The group for tasks whose import named none: one that is called as their taskset, or the default one where they are of
/// several.
fn group_of(writer: &Writer, vendor: &Vendor, fresh: &[Candidate]) -> Result<Option<(i64, Uuid)>> {
    let Some(first) = fresh.first() else { return Ok(None) };
    let team = vendor.number();
    if fresh.iter().any(|task| task.taskset != first.taskset) {
        let group = store::groups::default_group(writer.rows, team)?;
        return Ok(Some((group.number, group.id)));
    }
    let name: String = first.taskset_name.chars().take(MAX_GROUP_NAME).collect();
    if let Some(group) = store::groups::named(writer.rows, team, &name)? {
        return Ok(Some((group.number, group.id)));
    }
    let id = writer.clock.id();
    Ok(Some((store::groups::insert(writer.rows, id, team, &name, false, writer.now)?, id)))
}

/// Makes the asset of a task's latest version. Where the team has another version of the task, the title tells which this
/// one is.
fn insert(
    writer: &Writer,
    vendor: &Vendor,
    task_type: TaskType,
    candidate: &Candidate,
    group: Option<(i64, Uuid)>,
) -> Result<Uuid> {
    let Ok((version, number)) = version(vendor, candidate) else {
        return Err(Error::internal("a task without a version that can be imported is not imported"));
    };
    let mut asset = assets::blank(writer, vendor, Kind::Task)?;
    let is_another = store::task_imports::has_asset_of_task(writer.rows, vendor.number(), version)?;
    let suffix = if is_another { format!(" (v{number})") } else { String::new() };
    let name: String = candidate.name.chars().take(MAX_TITLE - suffix.len()).collect();
    asset.title = name + &suffix;
    asset.description.clone_from(&candidate.description);
    asset.extra_columns =
        candidate.column_values.iter().take(MAX_COLUMNS).map(|(k, v)| (k.clone(), v.clone())).collect();
    asset.group = group.unwrap_or(asset.group);
    field_locks::sent(&mut asset.locks, [("task_type", true)]);
    let number = store::assets::insert(writer.rows, &NewAsset::of(&asset, Own::Task { version, task_type }))?;
    store::task_readings::refresh(writer.rows, number, writer.now)?;
    Ok(asset.id)
}

/// One of the team's task assets.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<(Asset, Deprecations)> {
    let asset = assets::find(reader.rows, vendor, id, Some(Kind::Task))?;
    Ok((asset, store::taxonomy::deprecations(reader.rows)?))
}

/// Changes what a vendor says of a task asset.
pub fn update(
    writer: &mut Writer,
    vendor: &Vendor,
    id: Uuid,
    change: AssetChange,
) -> Result<(Asset, Deprecations)> {
    let asset = assets::update(writer, vendor, id, Kind::Task, change)?;
    Ok((asset, store::taxonomy::deprecations(writer.rows)?))
}

/// The models and agents that filters of the team's tasks can ask for.
pub fn facets(reader: &Reader, vendor: &Vendor) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    store::inventory::facets(reader.rows, vendor.number())
}
