//! The preview of a taskset's tasks, with the results of each model over all of them.

use std::collections::BTreeMap;

use crate::{
    operations::{access::ListingViewer, tasksets},
    rest::{
        catalog::tasksets::{TaskPreview, TaskStats},
        prelude::*,
    },
};

/// The results of a model.
#[derive(Debug, Object, Serialize)]
pub struct ModelResults {
    /// Name of the model; null for runs that name none.
    pub model: Option<String>,
    /// Mean reward of its graded runs, 0 to 1; null if none is graded.
    pub mean_reward: Option<f64>,
    /// Number of its graded runs.
    pub graded_runs: u64,
    /// Number of its runs.
    pub runs: u64,
}

/// The first page of a taskset's tasks, with the results of models.
#[derive(Debug, Object, Serialize)]
pub struct AgentTaskPreview {
    /// The preview of the API.
    #[oai(flatten)]
    #[serde(flatten)]
    pub preview: TaskPreview,
    /// The results of each model over the runs in `task_stats`, by name.
    pub models: Vec<ModelResults>,
}

#[routes(prefix = "/agents/v1", tag = Catalog)]
impl TaskPreviewApi {
    /// Preview the tasks of a taskset
    ///
    /// Returns the newest 20 tasks of a taskset of a listing, their runs, and the results of each model.
    #[get(
        "/listings/{listing_id}/tasksets/{taskset_id}/tasks",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Catalog,
                    "preview_taskset_tasks",
                    "Preview of tasks",
                    "The 20 newest tasks of a taskset with their versions. `models` has each model's mean reward over \
                     these, `task_stats` the single runs by `task_version_id` (`version.id`; reward null: not graded).",
                )
                .with_ids("`tasksets` of get_listing, not its `assets`"),
            ),
            Contract::new(Target::CatalogTaskset).with_misspelled("offset=20", ""),
        )
        .with_budget(Budget::Catalog),
    )]
    async fn preview_tasks_for_agents(
        call: Call<ListingViewer>,
        listing_id: Path<Uuid>,
        taskset_id: Path<Uuid>,
    ) -> JsonResult<AgentTaskPreview> {
        let (listing, taskset) = (listing_id.0, taskset_id.0);
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (taskset, tasks) = tasksets::preview(reader, &call.access, listing, taskset)?;
            let preview = TaskPreview::new(&taskset, tasks);
            Ok(AgentTaskPreview { models: results_of_models(&preview.task_stats), preview })
        })
        .await
    }
}

/// Returns the results of each model, by name. Those of runs without a model come first.
fn results_of_models(stats: &[TaskStats]) -> Vec<ModelResults> {
    let mut rewards: BTreeMap<Option<&str>, Vec<Option<f64>>> = BTreeMap::new();
    for trace in stats.iter().flat_map(|stats| &stats.traces) {
        let is_graded = trace.graded_at.is_some();
        rewards.entry(trace.model.as_deref()).or_default().push(trace.reward.filter(|_| is_graded));
    }
    let results = |(model, rewards): (Option<&str>, Vec<Option<f64>>)| {
        let graded: Vec<f64> = rewards.iter().flatten().copied().collect();
        let mean_reward = (!graded.is_empty()).then(|| graded.iter().sum::<f64>() / graded.len() as f64);
        ModelResults {
            model: model.map(str::to_owned),
            mean_reward,
            graded_runs: graded.len() as u64,
            runs: rewards.len() as u64,
        }
    };
    rewards.into_iter().map(results).collect()
}
