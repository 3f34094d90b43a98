//! The basis of what a tool says about quality and measurements, in one sentence that an agent can cite: the run, its checks,
//! the commit, and the time. Tools whose operations return such a sentence themselves need none.

use serde_json::Value;

/// Name of the field with the sentence.
pub const EVIDENCE: &str = "evidence";

/// The tools whose outputs this module gives such a sentence.
const TOOLS: [&str; 14] = [
    "browse_listings",
    "get_asset",
    "get_asset_qc",
    "get_codebase_structure",
    "get_listing",
    "get_listing_qc",
    "get_own_listing",
    "get_raw_data_structure",
    "list_assets",
    "list_estimations",
    "list_latest_estimations",
    "list_own_listings",
    "list_qc_reports",
    "list_tasks",
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
        "get_listing_qc" | "get_asset_qc" => Some(of_run(output.get("latest_run")?)),
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
            format!("The listing as it is now{changed}; get_listing_quality names its quality run.")
        }
        _ => return None,
    };
    Some(sentence)
}

/// Returns the sentence for a quality run, as its vendor sees it.
fn of_run(run: &Value) -> String {
    let Some(id) = run["run_id"].as_str().or_else(|| run["id"].as_str()) else {
        return "There was no quality run.".to_owned();
    };
    match run["status"].as_str() {
        Some("queued" | "running") => return format!("Quality run {id} is in progress."),
        Some("error") => return format!("Quality run {id} failed itself, so there is no verdict."),
        Some("cancelled") => return format!("Quality run {id} was canceled."),
        _ => {}
    }
    let checks = run["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let passed = checks.iter().filter(|check| check["status"] == "passed").count();
    let ended = match run["completed_at"].as_str() {
        Some(at) => format!(", ended {at}"),
        None => ", not ended".to_owned(),
    };
    format!("Quality run {id}{ended}: {passed} of {} checks passed.", checks.len())
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
        let run = json!({"run_id": "r", "completed_at": "2026-01-02", "checks": [
            {"status": "passed"}, {"status": "failed"},
        ]});
        let sentence = of("get_asset_qc", &json!({"latest_run": run})).unwrap();
        assert_eq!(sentence, "Quality run r, ended 2026-01-02: 1 of 2 checks passed.");
        let sentence = of("get_asset_qc", &json!({"latest_run": null})).unwrap();
        assert_eq!(sentence, "There was no quality run.");
        let asset = json!({"data": {"commit_sha": "c0ffee", "analyzed_at": "2026-01-02"}});
        assert_eq!(of("get_asset", &asset).unwrap(), "Measured from commit c0ffee, analyzed 2026-01-02.");
        assert!(of("get_asset", &json!({"data": null})).unwrap().starts_with("Stated by the vendor"));
        assert_eq!(of("list_offers", &json!({"offers": [{}]})), None);
        assert_eq!(of("get_asset", &json!({"data": null, "evidence": "x"})), None);
    }
}
