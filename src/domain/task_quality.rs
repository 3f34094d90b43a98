//! What is known of the quality of a task version: aggregates of its graded runs and of the checks on them, and never the
//! runs or the checks themselves.

use std::collections::BTreeMap;

use super::{
    quality::RunStatus,
    tasks::{QaAgent, QaVerdict},
    time::Timestamp,
};

/// The newest graded runs that a model's mean is taken over.
const WINDOW: usize = 5;

/// A run of an agent on a version, as far as its quality goes.
#[derive(Clone, Debug)]
pub struct Run {
    /// The model that ran, where the catalog knows it.
    pub model: Option<String>,
    /// Its reward, 0 to 1, and when it was graded; nothing where it was not.
    pub graded: Option<(f64, Timestamp)>,
    /// Checks of the platform's agents on it.
    pub checks: BTreeMap<QaAgent, QaResult>,
}

/// The check of one of the platform's agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct QaResult {
    /// How far it is.
    pub status: RunStatus,
    /// What it found, in a word.
    pub verdict: Option<QaVerdict>,
    /// How many things it found.
    pub findings: u32,
}

/// Graded runs of one model.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pass {
    /// Mean reward of the newest runs, at most five of them.
    pub pass_at_k: f64,
    /// How many those are.
    pub k: u32,
    /// How many runs were graded in all.
    pub runs: u32,
    /// Their mean reward.
    pub avg_reward: f64,
    /// When the newest was graded, in microseconds since 1970.
    pub last_run_at: i64,
}

/// The quality of a task version.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TaskQuality {
    /// Graded runs by model.
    pub pass_at_k: BTreeMap<String, Pass>,
    /// Graded runs whose trace names no model of the catalog.
    pub unattributed_runs: Option<Pass>,
    /// Results in effect: the completed checks of the version's latest trace, by agent.
    pub qa_agents: BTreeMap<QaAgent, QaResult>,
    /// Whether any check of any trace was completed.
    pub has_qa_results: bool,
    /// Whether the version's latest build succeeded.
    pub is_built: bool,
}

impl TaskQuality {
    /// The quality of a version with these runs, the newest first and those that were not graded behind them.
    pub fn of(runs: &[Run], is_built: bool) -> TaskQuality {
        let is_complete = |check: &QaResult| check.status == RunStatus::Completed;
        let of_model = |model: Option<&str>| {
            let graded = runs.iter().filter(move |run| run.model.as_deref() == model);
            Pass::of(&graded.filter_map(|run| run.graded).collect::<Vec<_>>())
        };
        let models = runs.iter().filter_map(|run| run.model.as_deref());
        let latest = runs.first().map(|run| &run.checks);
        TaskQuality {
            pass_at_k: models.filter_map(|model| Some((model.to_owned(), of_model(Some(model))?))).collect(),
            unattributed_runs: of_model(None),
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

    /// Whether any run was graded.
    pub fn has_traces(&self) -> bool {
        !self.pass_at_k.is_empty() || self.unattributed_runs.is_some()
    }
}

impl Pass {
    /// The sum over rewards with their times, the newest first; nothing where there are none.
    fn of(graded: &[(f64, Timestamp)]) -> Option<Pass> {
        let (_, last_run_at) = graded.first()?;
        let newest = &graded[..graded.len().min(WINDOW)];
        // Four decimals say enough, and hide the noise of adding decimals in binary.
        let mean = |runs: &[(f64, Timestamp)]| {
            let sum: f64 = runs.iter().map(|(reward, _)| reward).sum();
            (sum / runs.len() as f64 * 1e4).round() / 1e4
        };
        Some(Pass {
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

    fn run(model: Option<&str>, reward: Option<f64>, at: i64) -> Run {
        let model = model.map(str::to_owned);
        Run { model, graded: reward.map(|reward| (reward, Timestamp(at))), checks: BTreeMap::new() }
    }

    #[test]
    fn a_models_mean_is_over_its_newest_five_graded_runs() {
        let mut runs: Vec<Run> =
            (0..7).map(|n| run(Some("heron"), Some(if n < 5 { 0.5 } else { 1.0 }), 70 - n)).collect();
        runs.push(run(Some("atlas"), Some(0.25), 60));
        runs.push(run(None, Some(1.0), 50));
        runs.push(run(Some("wren"), None, 0));
        let quality = TaskQuality::of(&runs, true);
        let heron = Pass { pass_at_k: 0.5, k: 5, runs: 7, avg_reward: 0.6429, last_run_at: 70 };
        assert_eq!(quality.pass_at_k["heron"], heron);
        let atlas = Pass { pass_at_k: 0.25, k: 1, runs: 1, avg_reward: 0.25, last_run_at: 60 };
        assert_eq!(quality.pass_at_k["atlas"], atlas);
        assert_eq!(quality.pass_at_k.len(), 2, "a model without a graded run is none");
        assert_eq!(
            quality.unattributed_runs.as_ref().map(|pass| (pass.runs, pass.last_run_at)),
            Some((1, 50))
        );
        assert!(quality.has_traces() && quality.is_built && !quality.has_qa_results);
        assert!(!TaskQuality::of(&[run(Some("wren"), None, 0)], false).has_traces());
    }

    #[test]
    fn only_completed_checks_of_the_latest_trace_are_in_effect() {
        let check = |status, findings| QaResult { status, verdict: Some(QaVerdict::Concern), findings };
        let mut newest = run(None, Some(1.0), 9);
        newest.checks.insert(QaAgent::FalsePositive, check(RunStatus::Running, 0));
        newest.checks.insert(QaAgent::RewardHacking, check(RunStatus::Completed, 2));
        let mut older = run(None, Some(0.0), 8);
        older.checks.insert(QaAgent::FailureAnalysis, check(RunStatus::Completed, 7));
        let quality = TaskQuality::of(&[newest, older.clone()], true);
        assert_eq!(
            quality.qa_agents,
            BTreeMap::from([(QaAgent::RewardHacking, check(RunStatus::Completed, 2))])
        );
        let quality = TaskQuality::of(&[run(None, None, 0), older], true);
        assert!(quality.qa_agents.is_empty() && quality.has_qa_results);
    }
}
