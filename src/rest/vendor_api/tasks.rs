//! Task assets: task versions, imported from tasksets on the platform.

use poem_openapi::types::MaybeUndefined;

use super::{
    asset_queries::{AssetListQuery, FilterAndSort, PageFilter, TaskStage},
    data_assets,
};
use crate::{
    domain::{
        assets::{Kind, TaskType},
        inventory::{Asset, AssetChange},
        problems::Problems,
        stages::RequiredField,
        tasks::SkipReason,
        time::Timestamp,
    },
    error::Problem,
    operations::{
        assets::Deprecations,
        tasks::{self, ImportResult, TaskSelection},
    },
    rest::{
        arguments::{
            filter_entries::{FilterEntry, TaskFilters},
            request_body::{Omittable, checked_texts, into_change},
        },
        catalog::taxonomy::LIST_TAXONOMY_TOOL,
        prelude::*,
        route::Link,
        shapes::{
            assets::{AssetSummary, missing_pieces, price_usd},
            limit_offset::offset_page,
            strings::{Dollars, MultilineText, OtherDomain, Slug},
        },
        vendor_api::{asset_queries::ASSET_LIST_QUERIES, assets::GET_ASSET_TOOL},
    },
};

/// A task asset: one version of a task, imported from the platform.
#[derive(Debug, Object, Serialize)]
pub struct TaskAsset {
    /// The fields that assets of all kinds have.
    #[oai(flatten)]
    #[serde(flatten)]
    pub summary: AssetSummary,
    /// Required pieces that are missing, in the order in which a form would ask for them.
    pub missing: Vec<EnumValue<RequiredField>>,
    /// Internal notes of the vendor; null if there are none.
    pub notes: Option<String>,
    /// Domain in words, if `domain_tags` contains `other`; null if not specified.
    pub other_domain: Option<String>,
    /// Asking price in US dollars; null if not specified.
    pub price_usd: Option<f64>,
}

impl TaskAsset {
    fn new(asset: &Asset, deprecations: &Deprecations, now: Timestamp) -> TaskAsset {
        TaskAsset {
            summary: AssetSummary::new(asset, deprecations, now),
            missing: missing_pieces(asset),
            notes: asset.notes.clone(),
            other_domain: asset.other_domain.clone(),
            price_usd: price_usd(asset),
        }
    }
}

/// Query parameters of the list of task assets.
#[derive(Debug, Object)]
pub struct TasksQuery {
    /// Only task assets in this stage.
    stage: Option<EnumValue<TaskStage>>,
    /// IDs, group, limit and offset.
    #[oai(flatten)]
    paging: PageFilter,
    /// Filters and order.
    #[oai(flatten)]
    selection: FilterAndSort<FilterEntry<TaskFilters>>,
}

offset_page! {
    /// A page of a team's task assets.
    TaskAssets of TaskAsset: "The task assets, in the requested order.",
        "Number of task assets that match, on all pages."
}

/// The tasks to import: set exactly one of `taskset_id` and `task_ids`.
#[derive(Debug, Object)]
pub struct TaskImport {
    /// Subject area of the tasks.
    task_type: MaybeInvalid<EnumValue<TaskType>>,
    /// ID of the taskset to import all live tasks of.
    taskset_id: Option<Uuid>,
    /// IDs of the tasks to import, at most 500.
    #[oai(validator(min_items = 1, max_items = 500))]
    task_ids: Option<Vec<MaybeInvalid<Uuid>>>,
    /// ID of the group to put the assets in. Defaults to a group with the name of the taskset, or to the
    /// team's default group for tasks of several tasksets.
    group_id: Option<Uuid>,
}

/// A task that was not imported.
#[derive(Debug, Object, Serialize)]
pub struct SkippedTask {
    /// ID of the task.
    pub task_id: Uuid,
    /// Reason for not importing the task.
    pub reason: EnumValue<SkipReason>,
}

/// Result of an import.
#[derive(Debug, Object, Serialize)]
pub struct TaskImportOut {
    /// Assets that the import created.
    pub imported: Vec<TaskAsset>,
    /// Assets that already existed for the latest versions of tasks.
    pub existing: Vec<TaskAsset>,
    /// Tasks that were not imported, with the reason.
    pub skipped: Vec<SkippedTask>,
}

impl TaskImportOut {
    fn new(result: &ImportResult, now: Timestamp) -> TaskImportOut {
        let to_json = |assets: &[Asset]| {
            assets.iter().map(|asset| TaskAsset::new(asset, &result.deprecations, now)).collect()
        };
        let skipped = result.skipped.iter();
        TaskImportOut {
            imported: to_json(&result.imported),
            existing: to_json(&result.existing),
            skipped: skipped
                .map(|(task, reason)| SkippedTask { task_id: *task, reason: EnumValue(*reason) })
                .collect(),
        }
    }
}

/// Changes to a task asset; omitted fields keep their values. Null clears a field, and `[]` the tags.
#[derive(Debug, Object)]
pub struct TaskPatch {
    /// Description of the task.
    description: MaybeUndefined<MultilineText>,
    /// Slugs of the asset's domains, from `GET /v2/domains`. Replaces all of them.
    #[oai(validator(max_items = 20))]
    domain_tags: Omittable<Vec<MaybeInvalid<Slug>>>,
    /// ID of the group to move the asset to; null for the team's default group.
    group_id: MaybeUndefined<Uuid>,
    /// Internal notes of the vendor.
    notes: MaybeUndefined<MultilineText>,
    /// Domain in words, if `domain_tags` contains `other`.
    other_domain: MaybeUndefined<OtherDomain>,
    /// Asking price in US dollars, with at most two decimals.
    price_usd: MaybeUndefined<Dollars>,
    /// Subject area of the task. It does not affect the stage.
    task_type: Omittable<EnumValue<TaskType>>,
}

impl From<TaskPatch> for AssetChange {
    fn from(patch: TaskPatch) -> AssetChange {
        AssetChange {
            description: into_change(patch.description).map(String::from),
            domain_tags: patch.domain_tags.0.map(checked_texts),
            other_domain: into_change(patch.other_domain).map(String::from),
            price_usd: into_change(patch.price_usd).map(|price| price.0),
            notes: into_change(patch.notes).map(String::from),
            group_id: into_change(patch.group_id),
            task_type: patch.task_type.0.map(|task_type| task_type.0),
            ..AssetChange::default()
        }
    }
}

/// Values for two filters of the list of task assets.
#[derive(Debug, Object, Serialize)]
pub struct QcFacets {
    /// Names of models with graded runs on the team's tasks, for the filter `ran_on_model`.
    pub models: Vec<String>,
    /// Keys of QA agents with a result in effect on the team's tasks, for the filter `qa_agent`.
    pub qa_agents: Vec<String>,
}

/// Returns the tasks to import, or `None` and a problem: exactly one of the two arguments must be set.
fn tasks_to_import(
    taskset: Option<Uuid>,
    tasks: Option<Vec<MaybeInvalid<Uuid>>>,
    problems: &mut Problems,
) -> Option<TaskSelection> {
    let is_sent = |field, is_valid| is_valid || problems.has_field(&[], field);
    let (has_taskset, has_tasks) =
        (is_sent("taskset_id", taskset.is_some()), is_sent("task_ids", tasks.is_some()));
    if has_taskset == has_tasks {
        let (kind, msg) = if has_taskset {
            ("value_error", "Send either `taskset_id` or `task_ids`, not both.")
        } else {
            ("missing", "Send `taskset_id` or `task_ids`.")
        };
        problems.push(Problem::body(&["taskset_id"], kind, msg));
        return None;
    }
    let tasks = tasks.map(|tasks| tasks.into_iter().filter_map(|task| task.0).collect());
    taskset.map(TaskSelection::Taskset).or_else(|| tasks.map(TaskSelection::Tasks))
}

#[routes(prefix = "/v2", tag = Tasks)]
impl TasksApi {
    /// List tasks
    ///
    /// Returns a page of the team's task assets, newest first unless sorted.
    #[get(
        "/tasks",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Assets,
                    "list_tasks",
                    "Tasks",
                    "The team's imported tasks, with model pass rates and agent findings in \
                     `task.qc`.",
                )
                .with_parameters(&[(
                    "filter",
                    "All must hold: `field:is:value`, `is_not`, `name:contains:text`. Fields: `stage` \
                     (incomplete, proposed, complete), `name`, `domain`, `has_traces`, `has_qa_results`, `has_environment` \
                     (true, false), and with values from list_taxonomy `task_filters`: `task_type`, `ran_on_model`, \
                     `qa_agent`.",
                )])
                .with_values(&[(
                    "sort",
                    &[
                        "name",
                        "domain",
                        "stage",
                        "created_at",
                        "price",
                        "task_type",
                        "has_traces",
                        "has_qa_results",
                        "has_environment",
                    ],
                )])
                .with_row(&[
                    "id",
                    "title",
                    "stage",
                    "price_usd",
                    "missing",
                    "task.task_type",
                    "task.qc.pass_at_k",
                    "task.qc.qa_agents",
                    "task.qc_refreshed_at",
                ]),
                "items",
            ),
            Contract::new(Target::None)
                .with_queries(ASSET_LIST_QUERIES)
                .with_misspelled("stge=complete", "stage")
                .with_pages("limit=1", "limit=200", 6),
        ),
    )]
    async fn list_tasks(call: Call<Vendor>, query: Params<TasksQuery>) -> JsonResult<TaskAssets> {
        let TasksQuery { stage, paging, selection } = query.0;
        let stage = stage.map(|stage| EnumValue(stage.0.into()));
        let query = AssetListQuery { stage, paging, selection };
        query.read_page(call, TaskAsset::new).await
    }

    /// Import tasks
    ///
    /// Creates an asset for the latest version of each task, if the version's build succeeded. Each version
    /// is imported once; versions imported earlier are returned under `existing`. One import creates at most
    /// 500 assets.
    #[post(
        "/tasks/import",
        RouteAttributes::change(Contract::new(Target::TasksetInBody))
            .with_links(&[Link::new("/imported/0/id", "get_task", "asset_id")]),
    )]
    async fn import_tasks(
        call: Call<Vendor>,
        idempotent: Idempotent,
        #[example(json!({
            "task_type": "coding",
            "taskset_id": "6c2a93fc-8543-5749-9d8b-0acda0590c66",
        }))]
        body: Body<TaskImport>,
    ) -> JsonResult<TaskImportOut> {
        let TaskImport { task_type, taskset_id, task_ids, group_id } = body.value;
        idempotent
            .write(
                &call.served,
                call.access,
                body.source,
                move |context, vendor, mut problems| {
                    let selection = tasks_to_import(taskset_id, task_ids, &mut problems);
                    let task_type = task_type.0.map(|task_type| task_type.0);
                    tasks::check_import(context, vendor, (task_type, selection.as_ref()), group_id, problems)
                },
                move |writer, vendor, import| {
                    tasks::import(writer, vendor, &import)
                        .map(|result| TaskImportOut::new(&result, writer.now))
                },
            )
            .await
    }

    /// List QC facets
    ///
    /// Returns the values that the filters `ran_on_model` and `qa_agent` of the list of tasks can take.
    #[get(
        "/tasks/qc-facets",
        RouteAttributes::read(
            Tool::Choice { tool: &LIST_TAXONOMY_TOOL, value: "task_filters", list: None },
            Contract::new(Target::None),
        ),
    )]
    async fn get_task_qc_facets(call: Call<Vendor>) -> JsonResult<QcFacets> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (models, agents) = tasks::list_filter_values(reader, &call.access)?;
            Ok(QcFacets { models: models.into_iter().collect(), qa_agents: agents.into_iter().collect() })
        })
        .await
    }

    /// Get a task
    ///
    /// Returns one of the team's task assets.
    #[get(
        "/tasks/{asset_id}",
        RouteAttributes::read(
            Tool::Choice { tool: &GET_ASSET_TOOL, value: "task", list: None },
            Contract::new(Target::OwnTask),
        ),
    )]
    async fn get_task(
        call: Call<Vendor>,
        /// ID of the task asset.
        asset_id: Path<Uuid>,
    ) -> JsonResult<TaskAsset> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            let (asset, deprecations) = tasks::get(reader, &call.access, asset_id.0)?;
            Ok(TaskAsset::new(&asset, &deprecations, reader.now))
        })
        .await
    }

    /// Update a task
    ///
    /// Changes only the fields in the body. The stage is recomputed. What comes from the platform cannot be
    /// changed.
    #[patch("/tasks/{asset_id}", RouteAttributes::change(Contract::new(Target::OwnTask)))]
    async fn update_task(
        call: Call<Vendor>,
        /// ID of the task asset.
        asset_id: Path<Uuid>,
        #[example(json!({"domain_tags": ["software-engineering"], "price_usd": 40}))] body: Body<TaskPatch>,
    ) -> JsonResult<TaskAsset> {
        data_assets::update(call, (asset_id.0, Kind::Task), body, |writer, changed| {
            let (asset, deprecations) = tasks::update(writer, changed)?;
            Ok(TaskAsset::new(&asset, &deprecations, writer.now))
        })
        .await
    }
}
