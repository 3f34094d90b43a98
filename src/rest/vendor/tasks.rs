//! Task assets: versions of tasks, imported from the team's tasksets.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path, types::MaybeUndefined};
use serde::Serialize;
use uuid::Uuid;

use super::collections::{Paging, Selection, TaskStage};
use crate::{
    domain::{
        assets::TaskType,
        inventory::{Asset, AssetChange},
        stages::{Piece, Stage},
        tasks::SkipReason,
        time::Timestamp,
    },
    error::{Error, Problem},
    operations::{
        access::Vendor,
        assets::{self, Deprecations, Wanted},
        tasks::{self, Picked},
    },
    rest::{
        App,
        auth::Access,
        bodies::{Body, Given, change},
        filter_entries::{Entry, OfTasks},
        once::Once,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::{
            assets::{AssetSummary, missing, price_usd},
            texts::{Dollars, LongText, Phrase, Slug},
        },
        vocabulary::Word,
    },
};

/// A task asset.
#[derive(Debug, Object, Serialize)]
pub struct TaskAsset {
    /// What every asset has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub summary: AssetSummary,
    /// What it must have and has not, in the order in which a form would ask for it.
    pub missing: Vec<Word<Piece>>,
    /// The vendor's own notes; null where there are none.
    pub notes: Option<String>,
    /// The business field in words, where the tags hold `other`; null where nobody has said.
    pub other_domain: Option<String>,
    /// Asking price in US dollars; null where nobody has said.
    pub price_usd: Option<f64>,
}

impl TaskAsset {
    fn of(asset: &Asset, deprecations: &Deprecations, now: Timestamp) -> TaskAsset {
        TaskAsset {
            summary: AssetSummary::of(asset, deprecations, now),
            missing: missing(asset),
            notes: asset.notes.clone(),
            other_domain: asset.other_domain.clone(),
            price_usd: price_usd(asset),
        }
    }
}

/// Which tasks are asked for.
#[derive(Debug, Object)]
pub struct TasksQuery {
    /// Only tasks at this stage.
    stage: Option<Word<TaskStage>>,
    /// The page.
    #[oai(flatten)]
    paging: Paging,
    /// Filters and order.
    #[oai(flatten)]
    selection: Selection<Entry<OfTasks>>,
}

/// A page of a team's task assets.
#[derive(Debug, Object, Serialize)]
pub struct TaskAssets {
    /// The task assets.
    pub items: Vec<TaskAsset>,
    /// All that match.
    pub total: u64,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
}

/// The tasks to import: a whole taskset, or tasks by their ids; exactly one of the two.
#[derive(Debug, Object)]
pub struct TaskImport {
    /// What the tasks are about.
    task_type: Word<TaskType>,
    /// The taskset whose live tasks are imported.
    taskset_id: Option<Uuid>,
    /// The tasks, at most 500.
    #[oai(validator(min_items = 1, max_items = 500))]
    task_ids: Option<Vec<Uuid>>,
    /// The group to put them into; where none is named, one that is called as the taskset, or the team's default one for
    /// tasks of several tasksets.
    group_id: Option<Uuid>,
}

/// A task that an import passed over.
#[derive(Debug, Object, Serialize)]
pub struct SkippedTask {
    /// The task.
    pub task_id: Uuid,
    /// Why.
    pub reason: Word<SkipReason>,
}

/// What an import did.
#[derive(Debug, Object, Serialize)]
pub struct TaskImportOut {
    /// Assets that it made.
    pub imported: Vec<TaskAsset>,
    /// Assets that stood for the latest versions already.
    pub existing: Vec<TaskAsset>,
    /// Tasks that it passed over.
    pub skipped: Vec<SkippedTask>,
}

/// What changes of a task asset: only what is sent. Null clears a field, and `[]` the tags.
#[derive(Debug, Object)]
pub struct TaskPatch {
    /// What it is.
    description: MaybeUndefined<LongText>,
    /// Slugs of its business fields, as `GET /v2/domains` lists them.
    #[oai(validator(max_items = 20))]
    domain_tags: Given<Vec<Slug>>,
    /// The group to put it into; null for the team's default one.
    group_id: MaybeUndefined<Uuid>,
    /// The vendor's own notes.
    notes: MaybeUndefined<LongText>,
    /// The business field in words, where the tags hold `other`.
    other_domain: MaybeUndefined<Phrase>,
    /// Asking price in US dollars.
    price_usd: MaybeUndefined<Dollars>,
    /// What it is about.
    task_type: Given<Word<TaskType>>,
}

impl From<TaskPatch> for AssetChange {
    fn from(patch: TaskPatch) -> AssetChange {
        AssetChange {
            description: change(patch.description).map(String::from),
            domain_tags: patch.domain_tags.0.map(|tags| tags.into_iter().map(String::from).collect()),
            other_domain: change(patch.other_domain).map(String::from),
            price_usd: change(patch.price_usd).map(|price| price.0),
            notes: change(patch.notes).map(String::from),
            group_id: change(patch.group_id),
            task_type: patch.task_type.0.map(|word| word.0),
            ..AssetChange::default()
        }
    }
}

/// What filters of tasks can ask for.
#[derive(Debug, Object, Serialize)]
pub struct QcFacets {
    /// Models with graded runs on the team's tasks, for `ran_on_model`.
    pub models: Vec<String>,
    /// Agents with a result in effect on the team's tasks, for `qa_agent`.
    pub qa_agents: Vec<String>,
}

/// The tasks that an import means.
fn picked(taskset: Option<Uuid>, tasks: Option<Vec<Uuid>>) -> Result<Picked, Error> {
    let refuse = |kind, msg| Err(Error::invalid(Problem::body(&["taskset_id"], kind, msg)));
    match (taskset, tasks) {
        (Some(taskset), None) => Ok(Picked::Taskset(taskset)),
        (None, Some(tasks)) => Ok(Picked::Tasks(tasks)),
        (None, None) => refuse("missing", "Send `taskset_id` or `task_ids`."),
        (Some(_), Some(_)) => refuse("value_error", "Send `taskset_id` or `task_ids`, and not both."),
    }
}

pub struct TasksApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Tasks")]
impl TasksApi {
    /// Tasks
    ///
    /// A page of the team's task assets, newest first unless sorted.
    #[oai(path = "/tasks", method = "get", operation_id = "list_tasks")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<TasksQuery>,
    ) -> Answer<TaskAssets> {
        let TasksQuery { stage, paging, selection } = query.0;
        let stage = stage.map(|stage| Stage::from(stage.0));
        let mut query = selection.query(access.0.number(), stage)?;
        paging.narrow(&mut query);
        let wanted = Wanted { query, deprecated: None, attach_to: None };
        let (limit, offset) = (paging.slice.limit, paging.slice.offset);
        let answer = app.market().read(move |reader| {
            let page = assets::page(reader, &access.0, wanted, limit as usize, offset.cast_unsigned())?;
            let items = page.items.iter().map(|asset| TaskAsset::of(asset, &page.deprecations, reader.now));
            Ok(TaskAssets { items: items.collect(), total: page.counted.total(), limit, offset })
        });
        Ok(Raw::of(&answer.await?))
    }

    /// Import tasks
    ///
    /// Makes an asset of the latest version of each task whose build succeeded. A version is imported once; one that was
    /// imported before is answered under `existing`. One import makes at most 500 assets.
    #[oai(path = "/tasks/import", method = "post", operation_id = "import_tasks")]
    async fn import(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<TaskImport>,
    ) -> Answer<TaskImportOut> {
        let TaskImport { task_type, taskset_id, task_ids, group_id } = body.value;
        let picked = picked(taskset_id, task_ids)?;
        once.write(&app, access.0, body.digest, move |writer, vendor| {
            let done = tasks::import(writer, vendor, task_type.0, &picked, group_id)?;
            let shown = |assets: &[Asset]| {
                assets.iter().map(|asset| TaskAsset::of(asset, &done.deprecations, writer.now)).collect()
            };
            Ok(TaskImportOut {
                imported: shown(&done.imported),
                existing: shown(&done.existing),
                skipped: done
                    .skipped
                    .iter()
                    .map(|(task, reason)| SkippedTask { task_id: *task, reason: Word(*reason) })
                    .collect(),
            })
        })
        .await
    }

    /// Models and agents
    ///
    /// What the filters `ran_on_model` and `qa_agent` can ask for.
    #[oai(path = "/tasks/qc-facets", method = "get", operation_id = "get_task_qc_facets")]
    async fn facets(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
    ) -> Answer<QcFacets> {
        let (models, agents) = app.market().read(move |reader| tasks::facets(reader, &access.0)).await?;
        Ok(Raw::of(&QcFacets {
            models: models.into_iter().collect(),
            qa_agents: agents.into_iter().collect(),
        }))
    }

    /// Task
    ///
    /// One of the team's task assets.
    #[oai(path = "/tasks/:asset_id", method = "get", operation_id = "get_task")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<TaskAsset> {
        let answer = app.market().glance(move |reader| {
            let (asset, deprecations) = tasks::get(reader, &access.0, asset_id.0)?;
            Ok(TaskAsset::of(&asset, &deprecations, reader.now))
        });
        Ok(Raw::of(&answer.await?))
    }

    /// Change a task
    ///
    /// Changes what is sent and nothing else. What the platform knows of the task cannot be changed here.
    #[oai(path = "/tasks/:asset_id", method = "patch", operation_id = "update_task")]
    async fn update(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        body: Body<TaskPatch>,
    ) -> Answer<TaskAsset> {
        let change = body.value.into();
        let answer = app.market().write(move |writer| {
            let (asset, deprecations) = tasks::update(writer, &access.0, asset_id.0, change)?;
            Ok(TaskAsset::of(&asset, &deprecations, writer.now))
        });
        Ok(Raw::of(&answer.await?))
    }
}
