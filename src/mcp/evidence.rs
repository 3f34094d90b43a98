//! The basis of what a tool says about quality and measurements, in one sentence that an agent can cite: the run, its checks,
//! the commit, and the time. Tools whose operations return such a sentence themselves need none.

use serde_json::Value;

/// Name of the field with the sentence.
pub const EVIDENCE: &str = "evidence";

/// The tools whose outputs this module gives such a sentence.
const TOOLS: [&str; 17] = [
    "browse_listings",
    "get_asset",
    "get_asset_qc",
    "get_codebase_structure",
    "get_listing",
    "get_listing_qc",
    "get_own_listing",
    "get_raw_data_structure",
    "list_assets",
    "list_codebases",
    "list_estimations",
    "list_latest_estimations",
    "list_own_listings",
    "list_qc_reports",
    "list_raw_data",
    "list_tasks",
    "preview_taskset_tasks",
];

/// Whether outputs of a tool can have such a sentence besides those of its operations.
pub fn can_be_in(tool: &str) -> bool {
    TOOLS.contains(&tool)
}

/// Returns the sentence for the output of a tool, before fields are selected, so that what is not selected does not count as
/// missing. `None` if the output states nothing that needs it, or has it already.
pub fn of_output(tool: &str, output: &Value) -> Option<String> {
    if !can_be_in(tool) || !output[EVIDENCE].is_null() {
        return None;
    }
    match tool {
        "get_listing_qc" | "get_asset_qc" => {
            let run = of_run(output.get("latest_run")?);
            let is_certified = output["platform_quality_certified"] == true;
            // Several runs can be behind the checks, so this does not say which cause it was.
            Some(if is_certified && output["latest_run"]["mandatory_passed"] != true {
                format!("{run} The listing is certified nevertheless, by the operator or by an earlier run.")
            } else {
                run
            })
        }
        "list_qc_reports" => {
            output["reports"].get(0)?;
            Some(
                "Each report is a quality run, with its `run_id` and the time it ended, `completed_at`."
                    .to_owned(),
            )
        }
        "get_asset" => of_measurement(output),
        "get_codebase_structure" | "get_raw_data_structure" => {
            let status = output["analysis_status"].as_str()?;
            Some(format!("The analysis of the linked data, which is {status}."))
        }
        "list_tasks" => {
            output["items"].get(0)?["task"].get("qc")?;
            Some("Rewards and findings of graded runs, as of `task.qc_refreshed_at`.".to_owned())
        }
        "preview_taskset_tasks" => {
            output["task_stats"].get(0)?;
            Some("Rewards of the graded runs of each task's latest version, `version.id`.".to_owned())
        }
        "list_codebases" | "list_raw_data" => {
            output["items"].get(0)?;
            Some(
                "Sizes and counts of linked data are measured, as of `data.analyzed_at`; without it, the vendor \
                 states them."
                    .to_owned(),
            )
        }
        "list_estimations" | "list_latest_estimations" => {
            output["estimations"].get(0)?;
            Some("Quotes by the platform, each as of its `completed_at`; they bind nobody.".to_owned())
        }
        _ => None,
    }
}

/// Returns the sentence for the rows of a tool, after fields were selected; `None` if they state nothing that needs it.
pub fn of_rows(tool: &str, output: &Value) -> Option<String> {
    let states = |row: &Value, field: &str| row.get(field).is_some() && row.get(EVIDENCE).is_none();
    let row = output["items"].get(0);
    let sentence = match tool {
        "browse_listings" | "list_own_listings" if states(row?, "platform_quality_certified") => {
            "With `evidence` in `fields`, each row names the latest completed quality run of its listing."
                .to_owned()
        }
        "list_assets" if states(row?, "qc") => {
            "`qc` is the outcome of each asset's latest quality run; `evidence` in `fields` names it."
                .to_owned()
        }
        "get_listing" | "get_own_listing" if states(output, "platform_quality_certified") => {
            let changed =
                output["updated_at"].as_str().map(|at| format!(", changed at {at}")).unwrap_or_default();
            let source = if tool == "get_listing" { "get_listing_quality" } else { "get_listing_qc" };
            format!("The listing as it is now{changed}; {source} names its quality run.")
        }
        _ => return None,
    };
    Some(sentence)
}

/// Returns the sentence for a quality run, as its vendor sees it.
fn of_run(run: &Value) -> String {
    let Some(id) = run["id"].as_str() else {
        return "There was no quality run.".to_owned();
    };
    match run["status"].as_str() {
        Some("queued" | "running") => return format!("Quality run {id} is in progress."),
        Some("error") => return format!("Quality run {id} failed itself, so there is no verdict."),
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

/// Returns the sentence for the numbers of an asset.
fn of_measurement(asset: &Value) -> Option<String> {
    let data = asset.get("data")?;
    let Some(at) = data["analyzed_at"].as_str() else {
        return Some("Stated by the vendor; no linked data was analyzed.".to_owned());
    };
    let source = match data["commit_sha"].as_str() {
        Some(commit) => format!("commit {commit}"),
        None => "the uploaded archive".to_owned(),
    };
    Some(format!("Measured from {source}, analyzed {at}."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sentence_names_the_basis() {
        let of = of_output;
        let run = json!({"id": "r", "completed_at": "2026-01-02", "mandatory_passed": true, "checks": [
            {"kind": "platform", "status": "passed"}, {"kind": "platform", "status": "failed"},
        ]});
        let sentence = of("get_asset_qc", &json!({"latest_run": run})).unwrap();
        assert_eq!(
            sentence,
            "Quality run r, ended 2026-01-02: 1 of 2 checks passed, with all mandatory ones."
        );
        let run = json!({"id": "r", "completed_at": "2026-01-02", "mandatory_passed": false,
            "checks": [{"kind": "platform", "status": "passed"}, {"kind": "task", "status": "failed"}],
            "task_summaries": [{"passed": 8, "failed": 1, "total": 9}],
        });
        let quality = json!({"platform_quality_certified": true, "latest_run": run});
        let sentence = of("get_listing_qc", &quality).unwrap();
        let counts = "Quality run r, ended 2026-01-02: 9 of 10 checks passed, not all mandatory ones.";
        let certified = "The listing is certified nevertheless, by the operator or by an earlier run.";
        assert_eq!(sentence, format!("{counts} {certified}"));
        let sentence = of("get_asset_qc", &json!({"latest_run": null})).unwrap();
        assert_eq!(sentence, "There was no quality run.");
        let asset = json!({"data": {"commit_sha": "c0ffee", "analyzed_at": "2026-01-02"}});
        assert_eq!(of("get_asset", &asset).unwrap(), "Measured from commit c0ffee, analyzed 2026-01-02.");
        assert!(of("get_asset", &json!({"data": null})).unwrap().starts_with("Stated by the vendor"));
        assert_eq!(of("list_offers", &json!({"offers": [{}]})), None);
        assert_eq!(of("get_asset", &json!({"data": null, "evidence": "x"})), None);
    }
}
