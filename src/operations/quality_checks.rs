//! The background job of a quality run: inspects every file of the linked data, and every task.

use super::{
    archive_analysis,
    child_processes::TimeLimit,
    data_files::{self, DATA_GONE},
    quality_runs, repository_analysis,
    running_job::{self, JobError, JobResult, RunningJob},
    upload_reading::read_upload,
};
use crate::{
    artifacts::{
        ReadError, Rejection,
        child::{Input, Task},
        quality_checks::{Finding, Outcome, Share, Subject as DataSubject, duplicates},
    },
    domain::{
        assets::Kind,
        collections::Collection,
        inventory::Asset,
        jobs::JobKind,
        quality_checks::{CheckKind, CheckStatus},
        quality_runs::RunStatus,
        row_ids::AssetRowId,
        tasks::BuildStatus,
    },
    error::{Error, NameList, Result, excerpt, quoted},
    market::{Market, Writer},
    store::{
        self,
        quality_checks::NewCheck,
        quality_runs::{Subject, TaskFacts, UnfinishedRun},
    },
};

/// Error message for the vendor if a run fails on every attempt.
const RUN_FAILED: &str =
    "The checks failed because of an internal error, not because of your data. Start another run.";

/// Maximum number of tasks of an asset whose results are stored.
const MAX_TASKS: usize = 10_000;

/// Result of one check of an asset or a listing.
struct CheckResult {
    asset: Option<AssetRowId>,
    kind: CheckKind,
    key: &'static str,
    label: &'static str,
    is_mandatory: bool,
    is_informational: bool,
    status: CheckStatus,
    message: String,
}

/// Result of all checks of an asset.
#[derive(Default)]
struct AssetChecks {
    checks: Vec<CheckResult>,
    fingerprint: Option<Vec<u8>>,
}

/// Executes a quality run.
pub fn run(job: &RunningJob) -> JobResult {
    let market = job.market();
    let found =
        market.read_blocking(|reader| store::quality_runs::find_unfinished(reader.rows, job.run_row_id()))?;
    // The run may have been canceled.
    let Some(run) = found else { return job.finish(|_| Ok(())) };
    if !market.read_blocking(|reader| are_analyses_finished(reader.rows, &run))? {
        // The job that analyzes the data enqueues the run again when it finishes.
        return job.finish(|writer| {
            if are_analyses_finished(writer.rows, &run)? {
                writer.enqueue(JobKind::RunChecks, run.run.row_id)?;
            }
            Ok(())
        });
    }
    job.wait_and_begin()?;
    job.write_progress(|writer| store::quality_runs::mark_running(writer.rows, run.run.row_id))?;
    let (mut checks, mut fingerprints) = (Vec::new(), Vec::new());
    for row_id in run.assets.iter().map(|asset| &asset.asset) {
        let Some(asset) =
            market.read_blocking(|reader| store::assets::find_by_row_id(reader.rows, *row_id))?
        else {
            continue;
        };
        if let (Subject::Asset(_), Some(reason)) = (run.subject, missing_data_reason(market, &asset)?) {
            return job.finish(|writer| {
                quality_runs::end_without_result(writer, &run, RunStatus::Error, Some(&reason))
            });
        }
        let result = check_asset(job, &asset)?;
        checks.extend(result.checks);
        fingerprints.extend(result.fingerprint.map(|fingerprint| (*row_id, fingerprint)));
    }
    if let Subject::Listing(_) = run.subject {
        checks.push(check_listing(&run));
    }
    job.finish(|writer| {
        for (asset, fingerprint) in &fingerprints {
            store::quality_runs::upsert_fingerprint(writer.rows, *asset, fingerprint)?;
        }
        for check in &checks {
            insert_check(writer, &run, check)?;
        }
        quality_runs::complete(writer, &run)
    })
}

/// Ends a run with an error, after its last attempt failed.
pub fn give_up(job: &RunningJob) -> JobResult {
    job.finish(|writer| match store::quality_runs::find_unfinished(writer.rows, job.run_row_id())? {
        Some(run) => quality_runs::end_without_result(writer, &run, RunStatus::Error, Some(RUN_FAILED)),
        None => Ok(()),
    })
}

/// Whether the data of all assets has been analyzed, or never will be.
fn are_analyses_finished(rows: &store::Reader, run: &UnfinishedRun) -> Result<bool> {
    for row_id in run.assets.iter().map(|asset| &asset.asset) {
        let asset = store::assets::find_by_row_id(rows, *row_id)?;
        let data = asset.as_ref().and_then(|asset| asset.data.as_ref());
        if let Some(data) = data
            && data_files::is_in_progress(rows, *row_id, data)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks an asset: its data, its tasks, or its environment, depending on the kind.
fn check_asset(job: &RunningJob, asset: &Asset) -> std::result::Result<AssetChecks, JobError> {
    let subject = match asset.kind {
        Kind::Codebase => DataSubject::Codebase,
        Kind::RawData => DataSubject::RawData,
        Kind::Task | Kind::Taskset | Kind::Bundle => {
            let tasks = job
                .market()
                .read_blocking(|reader| store::quality_runs::list_tasks(reader.rows, asset.row_id))?;
            return Ok(AssetChecks { checks: check_tasks(asset.row_id, &tasks), fingerprint: None });
        }
        Kind::Environment => {
            let is_built =
                asset.environment.as_ref().is_some_and(|environment| environment.built_at.is_some());
            let message = if is_built {
                "The environment was built."
            } else {
                "The environment was not built. Build it."
            };
            return Ok(AssetChecks {
                checks: vec![environment_check(asset.row_id, is_built, message.to_owned())],
                fingerprint: None,
            });
        }
        Kind::RoboticsDataset | Kind::Other => return Ok(AssetChecks::default()),
    };
    let outcome = match check_files(job, asset, subject) {
        Ok(outcome) => outcome,
        Err(error) => {
            let Rejection(message) = running_job::rejection(error)?;
            let finding = Finding::unreadable(message);
            return Ok(AssetChecks {
                checks: vec![automated_check(asset.row_id, finding)],
                fingerprint: None,
            });
        }
    };
    // A listing may have many assets, whose results are all stored.
    if !job.renew_and_continue() {
        return Err(JobError::Stopped);
    }
    let Outcome { mut findings, fingerprint } = outcome;
    if !fingerprint.is_empty() {
        let shares = shares_in_other_assets(job.market(), asset, &fingerprint)?;
        findings.push(duplicates::finding_for_other_assets(&shares));
    }
    let checks = findings.into_iter().map(|finding| automated_check(asset.row_id, finding)).collect();
    Ok(AssetChecks { checks, fingerprint: Some(fingerprint.to_bytes()) })
}

/// Returns the titles of the team's other assets, each with the share of the files that it contains, too.
fn shares_in_other_assets(
    market: &Market,
    asset: &Asset,
    fingerprint: &duplicates::Fingerprint,
) -> Result<Vec<(String, Share)>> {
    let mut shares = Vec::new();
    market.read_blocking(|reader| {
        store::quality_runs::for_each_fingerprint(reader.rows, asset.team, asset.row_id, |title, bytes| {
            if let Some(other) = duplicates::Fingerprint::from_bytes(bytes) {
                shares.push((title.to_owned(), fingerprint.share_contained_in(&other)));
            }
        })
    })?;
    Ok(shares)
}

/// Returns the reason why there is no data to inspect, as a message for the vendor; `None` if there is data.
fn missing_data_reason(market: &Market, asset: &Asset) -> Result<Option<String>> {
    let Some(data) = &asset.data else {
        return Ok(Some("The asset has no linked data. Attach data first.".to_owned()));
    };
    let found = market.read_blocking(|reader| {
        let reason = data_files::unreadable_reason(reader.rows, market.blobs(), asset, data)?;
        Ok((reason, store::assets::find_upload(reader.rows, asset.row_id)?))
    })?;
    match found {
        (Some(reason), _) => Ok(Some(reason)),
        (None, Some(upload)) => {
            let exists = market.blobs().has_upload(upload.id).map_err(Error::internal)?;
            Ok((!exists).then(|| DATA_GONE.to_owned()))
        }
        (None, None) => Ok(None),
    }
}

/// Runs the checks over all files of an asset's data, in a child process.
fn check_files(
    job: &RunningJob,
    asset: &Asset,
    subject: DataSubject,
) -> std::result::Result<Outcome, ReadError> {
    let market = job.market();
    let missing = |reason: String| Err(Rejection(reason).into());
    if let Some(reason) = missing_data_reason(market, asset)? {
        return missing(reason);
    }
    let limit = TimeLimit { seconds: market.settings().archives.max_seconds, what: "The data" };
    let upload = market.read_blocking(|reader| store::assets::find_upload(reader.rows, asset.row_id))?;
    if let Some(upload) = upload {
        let staging_dir = market.blobs().staging_dir().map_err(ReadError::Io)?;
        let task = Task::CheckArchive {
            subject,
            is_detailed: false,
            limits: archive_analysis::limits(market.settings()),
        };
        let outcome = read_upload(job, &upload, &task, staging_dir.path(), limit)?;
        return outcome.map_or_else(|| missing(DATA_GONE.to_owned()), Ok);
    }
    let limits = repository_analysis::limits(&market.settings().repositories);
    let attached_at = asset.data.as_ref().map(|data| data.attached_at).unwrap_or_default();
    let directory = market.blobs().repository_path(asset.id, attached_at);
    let now_secs = market.clock().now().seconds();
    let task = Task::CheckRepository { subject, is_detailed: false, limits, now_secs };
    let (outcome, _) = job.run_child(&task, Input::Directory(&directory), limit)?;
    Ok(outcome)
}

fn automated_check(asset: AssetRowId, finding: Finding) -> CheckResult {
    let Finding { rule, status, message, .. } = finding;
    CheckResult {
        asset: Some(asset),
        kind: CheckKind::Automated,
        key: rule.key,
        label: rule.label,
        is_mandatory: rule.is_mandatory,
        is_informational: rule.is_informational,
        status,
        message,
    }
}

/// Returns the result of a mandatory check with this key and label.
fn mandatory_check(
    asset: Option<AssetRowId>,
    kind: CheckKind,
    (key, label): (&'static str, &'static str),
    has_passed: bool,
    message: String,
) -> CheckResult {
    let status = if has_passed { CheckStatus::Passed } else { CheckStatus::Failed };
    CheckResult { asset, kind, key, label, is_mandatory: true, is_informational: false, status, message }
}

/// Checks the tasks of an asset: whether each task has a prompt and has been graded, and whether the
/// environments of all tasks were built.
fn check_tasks(asset: AssetRowId, tasks: &[TaskFacts]) -> Vec<CheckResult> {
    let check = |rule, has_passed: bool, message: String| {
        mandatory_check(Some(asset), CheckKind::Task, rule, has_passed, message)
    };
    let mut checks = Vec::new();
    for task in stored_tasks(tasks) {
        let name = quoted(&task.name.chars().take(100).collect::<String>());
        let prompt = if task.has_prompt { "has a prompt." } else { "has no prompt. Write a prompt." };
        let rule = ("prompts_complete", "Every task has a prompt and a way to grade it");
        checks.push(check(rule, task.has_prompt, format!("{name} {prompt}")));
        let grade = if task.is_graded { "was run and graded." } else { "was never graded. Run the task." };
        let rule = ("tasks_graded", "Tasks ran and were graded");
        checks.push(check(rule, task.is_graded, format!("{name} {grade}")));
    }
    let unbuilt = tasks.iter().filter(|task| task.build != Some(BuildStatus::Succeeded));
    let unbuilt: NameList = unbuilt.map(|task| quoted(&excerpt(&task.name))).collect();
    let message = if tasks.is_empty() {
        "The asset has no tasks. Add tasks.".to_owned()
    } else if unbuilt.is_empty() {
        match tasks.len() {
            1 => "The environment of the task was built.".to_owned(),
            count => format!("The environments of all {count} tasks were built."),
        }
    } else if tasks.len() == 1 {
        format!("The environment of the task {unbuilt} was not built. Build it.")
    } else {
        format!(
            "The environments of {} of {} tasks were not built: {unbuilt}. Build them.",
            unbuilt.count(),
            tasks.len()
        )
    };
    checks.push(environment_check(asset, unbuilt.is_empty() && !tasks.is_empty(), message));
    checks
}

/// Returns the tasks whose results are stored. If there are too many, those that lack something come first, so that the verdict is
/// that of all tasks.
fn stored_tasks(tasks: &[TaskFacts]) -> Vec<&TaskFacts> {
    let mut stored: Vec<&TaskFacts> = tasks.iter().collect();
    if stored.len() > MAX_TASKS {
        stored.sort_by_key(|task| task.has_prompt && task.is_graded);
        stored.truncate(MAX_TASKS);
    }
    stored
}

fn environment_check(asset: AssetRowId, is_built: bool, message: String) -> CheckResult {
    let rule = ("environment_builds", "The environment builds from a clean state and starts");
    mandatory_check(Some(asset), CheckKind::Environment, rule, is_built, message)
}

/// Checks that a listing has assets.
fn check_listing(run: &UnfinishedRun) -> CheckResult {
    let count = run.assets.len();
    let message = if count > 0 {
        format!("Number of assets: {count}.")
    } else {
        "The listing has no assets. Attach some.".to_owned()
    };
    let rule = ("assets_present", "The listing has assets");
    mandatory_check(None, CheckKind::Automated, rule, count > 0, message)
}

fn insert_check(writer: &Writer, run: &UnfinishedRun, check: &CheckResult) -> Result<()> {
    let new = NewCheck {
        id: writer.new_id(Collection::QualityChecks),
        asset: check.asset,
        kind: check.kind,
        key: check.key,
        label: check.label,
        is_mandatory: check.is_mandatory,
        is_informational: check.is_informational,
        status: check.status,
        message: Some(&check.message),
    };
    store::quality_checks::insert(writer.rows, run.run.row_id, &new)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_task_fails_its_checks_however_many_there_are() {
        let complete = TaskFacts {
            name: "Sort".to_owned(),
            has_prompt: true,
            build: Some(BuildStatus::Succeeded),
            is_graded: true,
        };
        let mut tasks = vec![complete; MAX_TASKS + 1];
        tasks[MAX_TASKS].has_prompt = false;
        for tasks in [&tasks[MAX_TASKS - 1..], &tasks] {
            let checks = check_tasks(AssetRowId(1), tasks);
            assert_eq!(checks.len(), 2 * tasks.len().min(MAX_TASKS) + 1);
            let failed = checks.iter().filter(|check| check.status == CheckStatus::Failed);
            assert_eq!(failed.map(|check| check.key).collect::<Vec<_>>(), ["prompts_complete"]);
        }
    }

    #[test]
    fn environments_of_one_task_and_of_several_are_counted() {
        let task = |build| TaskFacts { name: "Sort".to_owned(), has_prompt: true, build, is_graded: true };
        let (built, unbuilt) = (|| task(Some(BuildStatus::Succeeded)), || task(None));
        for (tasks, message) in [
            (vec![built()], "The environment of the task was built."),
            (vec![built(), built()], "The environments of all 2 tasks were built."),
            (vec![unbuilt()], "The environment of the task \"Sort\" was not built. Build it."),
            (
                vec![built(), unbuilt()],
                "The environments of 1 of 2 tasks were not built: \"Sort\". Build them.",
            ),
        ] {
            assert_eq!(check_tasks(AssetRowId(1), &tasks).last().unwrap().message, message);
        }
    }
}
