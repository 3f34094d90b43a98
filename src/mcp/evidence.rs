//! The basis of statements of a tool about quality and measurements, in one sentence that an agent can cite: the run, its
//! checks, the digest, and the time. Tools whose operations return such a sentence do not need another one.

use serde_json::Value;

use super::field_paths::FieldPath;
use crate::domain::{codebase_fields::CodebaseFields, time::Timestamp, written::counted};

/// Name of the field with the sentence.
pub const EVIDENCE: &str = "evidence";

/// The tools whose outputs this module gives such a sentence.
const TOOLS: [&str; 12] = [
    "get_asset_qc",
    "get_estimation_summary",
    "list_codebases",
    "list_estimations",
    "list_latest_estimations",
    "list_listing_assets",
    "list_offers",
    "list_purchases",
    "list_qc_reports",
    "list_raw_data",
    "list_tasks",
    "preview_taskset_tasks",
];

/// Fields of records that state quality or measurements, besides those of codebases, and the sentence itself.
const MEASURED_FIELDS: [&str; 21] = [
    "analysis_status",
    "bundle_manifest",
    "catalog_scale",
    "data",
    "environment",
    EVIDENCE,
    "languages",
    "latest_run",
    "max_depth",
    "platform_quality_certified",
    "price_per_task",
    "qc",
    "qc_check_statuses",
    "qc_completed_at",
    "qc_errored_checks",
    "qc_failed_checks",
    "qc_run_id",
    "quality",
    "roots",
    "task",
    "tasksets",
];

/// Whether outputs of a tool can have such a sentence besides those of its operations.
pub fn can_be_in(tool: &str) -> bool {
    TOOLS.contains(&tool)
}

/// Whether one of the selected fields states quality or measurements. No paths select all fields.
pub fn is_needed(fields: &[FieldPath]) -> bool {
    let names = || MEASURED_FIELDS.into_iter().chain(CodebaseFields::measurable());
    let is_measured = |path: &FieldPath| names().any(|name| path.has_name(name));
    fields.is_empty() || fields.iter().any(is_measured)
}

/// Returns the sentence for the output of a tool at `now`, before `fields` are selected, so that unselected fields do not count
/// as missing. `None` if the output does not need it, or already has it. `of_record` is the result of the separate operation
/// for it.
pub fn of_output(
    tool: &str,
    fields: &[FieldPath],
    output: &Value,
    now: Timestamp,
    of_record: Option<String>,
) -> Option<String> {
    if let Some(sentence) = of_record {
        let more = output.get("latest_run").and_then(|run| of_other_runs(run, &sentence));
        return Some(more.map_or_else(|| sentence.clone(), |more| format!("{sentence} {more}")));
    }
    if !can_be_in(tool) || !output[EVIDENCE].is_null() {
        return None;
    }
    let has_rows = |list: &str| output[list].get(0).is_some();
    let sentence = match tool {
        "get_asset_qc" => of_run(output.get("latest_run")?),
        "list_qc_reports" if has_rows("reports") => {
            "Each report is a quality run, with its `run_id` and the time it ended, `completed_at`."
                .to_owned()
        }
        "list_tasks" if has_rows("items") && is_needed(fields) => {
            "Runs and checks of `task.task_version_id`, read at `task.qc_refreshed_at`.".to_owned()
        }
        "preview_taskset_tasks" => of_traces(output["task_stats"].as_array()?),
        "list_codebases" | "list_raw_data" if has_rows("items") && is_needed(fields) => {
            MEASURED_DATA.to_owned()
        }
        "list_listing_assets" if has_rows("assets") && is_needed(fields) => MEASURED_DATA.to_owned(),
        "list_estimations" | "list_latest_estimations" if has_rows("estimations") => {
            "Quotes by the platform, each as of its `completed_at`; they are not binding.".to_owned()
        }
        "get_estimation_summary" => {
            let counts = output["status_counts"].as_object()?.values().filter_map(Value::as_u64);
            let all = counted(counts.sum(), "matching estimation", "matching estimations");
            format!("Computed over all {all} at {now}.")
        }
        "list_purchases" | "list_offers" => {
            let list = if tool == "list_offers" { "offers" } else { "purchases" };
            let states_scale = fields.is_empty() || fields.iter().any(|path| path.has_name("catalog_scale"));
            if !states_scale || !has_rows(list) {
                return None;
            }
            format!(
                "`catalog_scale` is computed from the assets that each listing has at {now}; get_listings names the \
                 quality run."
            )
        }
        _ => return None,
    };
    Some(sentence)
}

/// Sentence for lists of assets with linked data.
const MEASURED_DATA: &str = "Linked data is measured, from `data.commit_sha` or an upload, as of `data.analyzed_at`; get_asset \
                             names the digest. Without it, the vendor states sizes and counts.";

/// Returns the sentence for the results of models in the statistics of tasks.
fn of_traces(task_stats: &[Value]) -> String {
    let traces = task_stats.iter().filter_map(|stats| stats["traces"].as_array()).flatten();
    let graded: Vec<&str> = traces.filter_map(|trace| trace["graded_at"].as_str()).collect();
    match graded.iter().max() {
        Some(last) => format!(
            "{} of the latest version of each task, `version.id`; the last was graded {last}.",
            counted(graded.len() as u64, "graded run", "graded runs")
        ),
        None => "No run of these tasks is graded.".to_owned(),
    }
}

/// Returns the other runs behind the checks of a listing: the latest run if it has not completed, which the sentence does not
/// name, and newer runs of single assets, whose checks replace those of the listing's run.
fn of_other_runs(run: &Value, sentence: &str) -> Option<String> {
    let id = run["id"].as_str()?;
    if run["status"] != "completed" {
        return Some(of_run(run));
    }
    let (passed, total) = count_checks(run);
    let is_of_run = sentence.contains(id) && sentence.contains(&format!("{passed} of {total} checks"));
    (!is_of_run).then(|| format!("With newer runs of single assets, {passed} of {total} checks passed."))
}

/// Returns the sentence for a quality run, as its vendor sees it.
fn of_run(run: &Value) -> String {
    let Some(id) = run["id"].as_str() else {
        return "There was no quality run.".to_owned();
    };
    match run["status"].as_str() {
        Some("queued" | "running") => return format!("Quality run {id} is in progress."),
        Some("error") => return format!("Quality run {id} itself failed, so there is no verdict."),
        Some("cancelled") => return format!("Quality run {id} was canceled."),
        _ => {}
    }
    let (passed, total) = count_checks(run);
    let ended = match run["completed_at"].as_str() {
        Some(at) => format!(", ended {at}"),
        None => ", not ended".to_owned(),
    };
    let mandatory = match run["mandatory_passed"].as_bool() {
        Some(true) if passed < total => ", with all mandatory ones",
        Some(false) => ", not all mandatory ones",
        _ => "",
    };
    format!("Quality run {id}{ended}: {passed} of {total} checks passed{mandatory}.")
}

/// Returns how many checks of a run passed, and how many there are. A run that leaves out task checks has their counts in
/// summaries.
fn count_checks(run: &Value) -> (u64, u64) {
    let list = |name: &str| run[name].as_array().map(Vec::as_slice);
    let summaries = list("task_summaries");
    let checks = list("checks").unwrap_or_default().iter();
    let counted = checks.filter(|check| summaries.is_none() || check["kind"] != "task");
    let add = |(passed, total): (u64, u64), more: (u64, u64)| (passed + more.0, total + more.1);
    let of_checks = counted.map(|check| (u64::from(check["status"] == "passed"), 1));
    let number = |summary: &Value, name: &str| summary[name].as_u64().unwrap_or_default();
    let of_tasks = summaries
        .unwrap_or_default()
        .iter()
        .map(|summary| (number(summary, "passed"), number(summary, "total")));
    of_checks.chain(of_tasks).fold((0, 0), add)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sentence_names_the_run() {
        let checks =
            json!([{"kind": "platform", "status": "passed"}, {"kind": "platform", "status": "failed"}]);
        let run =
            json!({"id": "r", "completed_at": "2026-01-02", "mandatory_passed": true, "checks": checks});
        assert_eq!(
            of_run(&run),
            "Quality run r, ended 2026-01-02: 1 of 2 checks passed, with all mandatory ones."
        );
        let checks = json!([{"kind": "platform", "status": "passed"}, {"kind": "task", "status": "failed"}]);
        let run = json!({"id": "r", "completed_at": "2026-01-02", "mandatory_passed": false, "checks": checks,
            "task_summaries": [{"passed": 8, "failed": 1, "total": 9}],
        });
        assert_eq!(
            of_run(&run),
            "Quality run r, ended 2026-01-02: 9 of 10 checks passed, not all mandatory ones."
        );
        assert_eq!(of_run(&Value::Null), "There was no quality run.");
    }

    #[test]
    fn newer_runs_of_assets_are_named() {
        let run =
            json!({"id": "r", "status": "completed", "checks": [{"status": "passed"}, {"status": "failed"}]});
        assert_eq!(of_other_runs(&run, "Quality run r, ended 2026-01-02: 1 of 2 checks passed."), None);
        let other = of_other_runs(&run, "Quality run r, ended 2026-01-02: 2 of 2 checks passed.");
        assert_eq!(other.unwrap(), "With newer runs of single assets, 1 of 2 checks passed.");
        let run = json!({"id": "q", "status": "running"});
        assert_eq!(of_other_runs(&run, "Quality run r.").unwrap(), "Quality run q is in progress.");
        assert_eq!(of_other_runs(&Value::Null, "No quality run has completed."), None);
    }

    #[test]
    fn sentence_counts_graded_runs() {
        let traces = json!([{"traces": [{"graded_at": "2026-01-02"}, {"graded_at": null}]},
            {"traces": [{"graded_at": "2026-01-03"}]}]);
        let sentence = of_traces(traces.as_array().unwrap());
        assert!(
            sentence.starts_with("2 graded runs") && sentence.ends_with("graded 2026-01-03."),
            "{sentence}"
        );
        assert_eq!(of_traces(&[]), "No run of these tasks is graded.");
    }
}
