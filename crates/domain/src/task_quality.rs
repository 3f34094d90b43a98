//! The quality of a task version: aggregates over its graded runs and their QA checks. The runs and checks
//! themselves are not exposed.

use std::collections::BTreeMap;

use super::{
    quality_runs::RunStatus,
    tasks::{QaAgent, QaVerdict, mean_reward},
    time::Timestamp,
};

/// Maximum number of graded runs, newest first, in the `pass_at_k` mean of a model.
const MAX_PASS_AT_K_RUNS: usize = 5;

/// An agent's run on a task version, reduced to what quality aggregates need.
#[derive(Clone, Debug)]
pub struct AgentRun {
    /// Slug of the model; `None` if the trace names no model of the catalog.
    pub model: Option<String>,
    /// Reward from 0 to 1 and time of grading; `None` if the run is not graded.
    pub graded: Option<(f64, Timestamp)>,
    /// QA checks of the run, by agent.
    pub checks: BTreeMap<QaAgent, QaResult>,
}

/// The result of a QA agent's check of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct QaResult {
    /// Status of the check.
    pub status: RunStatus,
    /// Verdict of the agent; `None` if there is none yet.
    pub verdict: Option<QaVerdict>,
    /// Number of findings.
    pub findings: u32,
}

/// Aggregates over the graded runs of one model.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ModelResults {
    /// Mean reward of the `k` newest graded runs.
    pub pass_at_k: f64,
    /// Number of runs in `pass_at_k`, at most 5.
    pub k: u32,
    /// Number of all graded runs.
    pub runs: u32,
    /// Mean reward of all graded runs.
    pub avg_reward: f64,
    /// Time at which the newest run was graded, in microseconds since the Unix epoch.
    pub last_run_at: i64,
}

/// The quality of a task version.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TaskQuality {
    /// Aggregates over graded runs, by model.
    pub pass_at_k: BTreeMap<String, ModelResults>,
    /// Aggregates over graded runs whose traces do not name a model of the catalog.
    pub unattributed_runs: Option<ModelResults>,
    /// Results in effect, by agent: the completed checks of the latest trace.
    pub qa_agents: BTreeMap<QaAgent, QaResult>,
    /// Whether any check of any trace is completed.
    pub has_qa_results: bool,
    /// Whether the latest build of the version succeeded.
    pub is_built: bool,
}

impl TaskQuality {
    /// Computes the quality of a version. `runs` are ordered newest graded run first, ungraded runs last.
    pub fn from_runs(runs: &[AgentRun], is_built: bool) -> TaskQuality {
        let is_complete = |check: &QaResult| check.status == RunStatus::Completed;
        let results_of_model = |model: Option<&str>| {
            let graded = runs.iter().filter(move |run| run.model.as_deref() == model);
            ModelResults::from_graded_runs(&graded.filter_map(|run| run.graded).collect::<Vec<_>>())
        };
        let models = runs.iter().filter_map(|run| run.model.as_deref());
        let latest = runs.first().map(|run| &run.checks);
        TaskQuality {
            pass_at_k: models
                .filter_map(|model| Some((model.to_owned(), results_of_model(Some(model))?)))
                .collect(),
            unattributed_runs: results_of_model(None),
            qa_agents: latest
                .into_iter()
                .flatten()
                .filter(|(_, check)| is_complete(check))
                .map(|(agent, check)| (*agent, *check))
                .collect(),
            has_qa_results: runs.iter().flat_map(|run| run.checks.values()).any(is_complete),
            is_built,
        }
    }

    /// Whether the version has graded runs.
    pub fn has_traces(&self) -> bool {
        !self.pass_at_k.is_empty() || self.unattributed_runs.is_some()
    }
}

impl ModelResults {
    /// Aggregates rewards with their times of grading, newest first. Returns `None` if there are none.
    fn from_graded_runs(graded: &[(f64, Timestamp)]) -> Option<ModelResults> {
        let (_, last_run_at) = graded.first()?;
        let newest = &graded[..graded.len().min(MAX_PASS_AT_K_RUNS)];
        let mean = |runs: &[(f64, Timestamp)]| mean_reward(runs.iter().map(|(reward, _)| *reward));
        Some(ModelResults {
            pass_at_k: mean(newest),
            k: newest.len() as u32,
            runs: graded.len() as u32,
            avg_reward: mean(graded),
            last_run_at: last_run_at.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(model: Option<&str>, reward: Option<f64>, at: i64) -> AgentRun {
        let model = model.map(str::to_owned);
        AgentRun { model, graded: reward.map(|reward| (reward, Timestamp(at))), checks: BTreeMap::new() }
    }

    #[test]
    fn pass_at_k_averages_the_five_newest_graded_runs() {
        let mut runs: Vec<AgentRun> =
            (0..7).map(|n| run(Some("heron"), Some(if n < 5 { 0.5 } else { 1.0 }), 70 - n)).collect();
        runs.push(run(Some("atlas"), Some(0.25), 60));
        runs.push(run(None, Some(1.0), 50));
        runs.push(run(Some("wren"), None, 0));
        let quality = TaskQuality::from_runs(&runs, true);
        let heron = ModelResults { pass_at_k: 0.5, k: 5, runs: 7, avg_reward: 0.6429, last_run_at: 70 };
        assert_eq!(quality.pass_at_k["heron"], heron);
        let atlas = ModelResults { pass_at_k: 0.25, k: 1, runs: 1, avg_reward: 0.25, last_run_at: 60 };
        assert_eq!(quality.pass_at_k["atlas"], atlas);
        assert_eq!(quality.pass_at_k.len(), 2, "a model without graded runs is omitted");
        assert_eq!(
            quality.unattributed_runs.as_ref().map(|pass| (pass.runs, pass.last_run_at)),
            Some((1, 50))
        );
        assert!(quality.has_traces() && quality.is_built && !quality.has_qa_results);
        assert!(!TaskQuality::from_runs(&[run(Some("wren"), None, 0)], false).has_traces());
    }

    #[test]
    fn only_completed_checks_of_the_latest_trace_are_in_effect() {
        let check = |status, findings| QaResult { status, verdict: Some(QaVerdict::Concern), findings };
        let mut newest = run(None, Some(1.0), 9);
        newest.checks.insert(QaAgent::FalsePositive, check(RunStatus::Running, 0));
        newest.checks.insert(QaAgent::RewardHacking, check(RunStatus::Completed, 2));
        let mut older = run(None, Some(0.0), 8);
        older.checks.insert(QaAgent::FailureAnalysis, check(RunStatus::Completed, 7));
        let quality = TaskQuality::from_runs(&[newest, older.clone()], true);
        assert_eq!(
            quality.qa_agents,
            BTreeMap::from([(QaAgent::RewardHacking, check(RunStatus::Completed, 2))])
        );
        let quality = TaskQuality::from_runs(&[run(None, None, 0), older], true);
        assert!(quality.qa_agents.is_empty() && quality.has_qa_results);
    }
}
