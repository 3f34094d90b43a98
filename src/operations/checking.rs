//! The background job of a quality run: inspects every file of the linked data, and every task.

use std::io;

use super::{
    archives,
    jobs::{self, Done, Task, Unfinished},
    quality_runs, repositories,
};
use crate::{
    artifacts::{
        Refusal, Unread, archive,
        checks::{
            Checks, Finding, Outcome, Source, Subject as Offered, duplicates, integrity::ARCHIVE_INTACT,
        },
        git,
    },
    domain::{
        assets::{Channel, Kind},
        inventory::Asset,
        quality::{CheckKind, CheckStatus, RunStatus},
        tasks::BuildStatus,
    },
    error::{Error, Result},
    market::{Market, Writer},
    store::{
        self,
        quality::{NewCheck, Subject},
        quality_runs::{OpenRun, TaskFacts},
    },
};

/// Error message for the vendor if a run fails on every attempt.
const BROKEN: &str =
    "The checks failed because of an internal error, not because of your data. Start another run.";

/// Maximum number of tasks of an asset that are checked.
const MAX_TASKS: usize = 10_000;

/// Result of one check of an asset or a listing.
struct Checked {
    asset: Option<i64>,
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
struct Looked {
    checks: Vec<Checked>,
    fingerprint: Option<Vec<u8>>,
}

/// Executes a quality run.
pub fn run(task: &Task) -> Done {
    let market = task.market();
    let found = market.read_blocking(|reader| store::quality_runs::open(reader.rows, task.subject()))?;
    // The run may have been canceled.
    let Some(run) = found else { return task.finish(|_| Ok(())) };
    if !are_settled(market, &run)? {
        // The job that analyzes the data enqueues the run again when it finishes.
        return task
            .finish(|writer| if are_settled_now(writer, &run)? { again(writer, &run) } else { Ok(()) });
    }
    task.report(|writer| store::quality_runs::begin(writer.rows, run.row.number))?;
    let (mut checks, mut fingerprints) = (Vec::new(), Vec::new());
    for number in run.assets.iter().map(|looked| &looked.asset) {
        let Some(asset) = market.read_blocking(|reader| store::assets::numbered(reader.rows, *number))?
        else {
            continue;
        };
        if let (Subject::Asset(_), Some(why)) = (run.subject, lost(market, &asset)?) {
            return task.finish(|writer| quality_runs::end(writer, &run, RunStatus::Error, Some(&why)));
        }
        let looked = look(task, &asset)?;
        checks.extend(looked.checks);
        fingerprints.extend(looked.fingerprint.map(|fingerprint| (*number, fingerprint)));
    }
    if let Subject::Listing(_) = run.subject {
        checks.push(of_listing(&run));
    }
    task.finish(|writer| {
        for (asset, fingerprint) in &fingerprints {
            store::quality_runs::put_fingerprint(writer.rows, *asset, fingerprint)?;
        }
        for check in &checks {
            insert(writer, &run, check)?;
        }
        quality_runs::complete(writer, &run)
    })
}

/// Ends a run with an error, after its last attempt failed.
pub fn give_up(task: &Task) -> Done {
    task.finish(|writer| match store::quality_runs::open(writer.rows, task.subject())? {
        Some(run) => quality_runs::end(writer, &run, RunStatus::Error, Some(BROKEN)),
        None => Ok(()),
    })
}

fn again(writer: &Writer, run: &OpenRun) -> Result<()> {
    writer.enqueue(crate::domain::jobs::JobKind::RunChecks, run.row.number)
}

fn are_settled(market: &Market, run: &OpenRun) -> Result<bool> {
    market.read_blocking(|reader| settled(reader.rows, run))
}

fn are_settled_now(writer: &Writer, run: &OpenRun) -> Result<bool> {
    settled(writer.rows, run)
}

/// Whether the data of all assets has been analyzed, or never will be.
fn settled(rows: &store::Reader, run: &OpenRun) -> Result<bool> {
    for number in run.assets.iter().map(|looked| &looked.asset) {
        let asset = store::assets::numbered(rows, *number)?;
        let data = asset.as_ref().and_then(|asset| asset.data.as_ref());
        if data.is_some_and(|data| !quality_runs::is_settled(data.archive_status, data.analysis_status)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks an asset: its data, its tasks, or its environment, depending on the kind.
fn look(task: &Task, asset: &Asset) -> std::result::Result<Looked, Unfinished> {
    let offered = match asset.kind {
        Kind::Codebase => Offered::Codebase,
        Kind::RawData => Offered::RawData,
        Kind::Task | Kind::Taskset | Kind::Bundle => {
            let tasks = task
                .market()
                .read_blocking(|reader| store::quality_runs::tasks_of(reader.rows, asset.number))?;
            return Ok(Looked { checks: of_tasks(asset.number, &tasks), fingerprint: None });
        }
        Kind::Environment => {
            let is_built =
                asset.environment.as_ref().is_some_and(|environment| environment.built_at.is_some());
            let message = if is_built {
                "The environment was built."
            } else {
                "The environment was not built. Build it."
            };
            return Ok(Looked { checks: vec![builds(asset.number, is_built, message)], fingerprint: None });
        }
        Kind::RoboticsDataset | Kind::Other => return Ok(Looked::default()),
    };
    let seconds = task.market().settings().archives.max_seconds;
    let outcome = match task.within(seconds, "The data", |go_on| outcome(task, asset, offered, go_on)) {
        Ok(outcome) => outcome,
        Err(unread) => {
            let Refusal(why) = jobs::refusal(unread)?;
            let finding = Finding { rule: &ARCHIVE_INTACT, status: CheckStatus::Failed, message: why };
            return Ok(Looked { checks: vec![checked(asset.number, finding)], fingerprint: None });
        }
    };
    let Outcome { mut findings, fingerprint } = outcome;
    let mut shares = Vec::new();
    task.market().read_blocking(|reader| {
        store::quality_runs::each_fingerprint(reader.rows, asset.team, asset.number, |title, bytes| {
            if let Some(other) = duplicates::Fingerprint::from_bytes(bytes) {
                shares.push((title.to_owned(), fingerprint.shared(&other)));
            }
        })
    })?;
    findings.push(duplicates::against(&shares));
    let checks = findings.into_iter().map(|finding| checked(asset.number, finding)).collect();
    Ok(Looked { checks, fingerprint: Some(fingerprint.to_bytes()) })
}

/// Returns why there is no data to inspect, as a message for the vendor. Returns `None` if there is data.
fn lost(market: &Market, asset: &Asset) -> Result<Option<String>> {
    let Some(data) = &asset.data else {
        return Ok(Some("The asset has no linked data. Attach data first.".to_owned()));
    };
    if let Some(why) = &data.archive_error {
        return Ok(Some(why.clone()));
    }
    let is_there = if data.channel == Channel::Zip {
        let upload = market.read_blocking(|reader| store::assets::upload_of(reader.rows, asset.number))?;
        upload
            .map(|upload| market.blobs().has_upload(upload.id))
            .transpose()
            .map_err(Error::internal)?
            .unwrap_or(false)
    } else {
        market.blobs().repository(asset.id, data.attached_at).is_dir()
    };
    Ok((!is_there).then(|| "The linked data no longer exists. Detach it, then attach it again.".to_owned()))
}

/// Runs the checks over all files of an asset's data.
fn outcome(
    task: &Task,
    asset: &Asset,
    offered: Offered,
    go_on: &dyn Fn() -> bool,
) -> std::result::Result<Outcome, Unread> {
    let market = task.market();
    let broken = |error: Error| Unread::Broken(io::Error::other(error.to_string()));
    let workshop = market.blobs().workshop().map_err(Unread::Broken)?;
    if let Some(why) = lost(market, asset).map_err(broken)? {
        return Err(Refusal(why).into());
    }
    let upload = market.read_blocking(|reader| store::assets::upload_of(reader.rows, asset.number));
    if let Some(upload) = upload.map_err(broken)? {
        let file = market.blobs().fetch(upload.id).map_err(Unread::Broken)?;
        let mut checks = Checks::aside_in(workshop.path(), offered, Source::Zip);
        archive::visit(file.path(), archives::limits(market.settings()), &mut checks, go_on)?;
        return Ok(checks.conclude());
    }
    let limits = repositories::limits(&market.settings().repositories);
    let attached_at = asset.data.as_ref().map(|data| data.attached_at).unwrap_or_default();
    let folder = market.blobs().repository(asset.id, attached_at);
    let repository = git::Repository::open(&folder, limits)?;
    let mut checks = Checks::aside_in(workshop.path(), offered, Source::Repository);
    git::visit(&repository, limits, go_on, &mut checks)?;
    Ok(checks.conclude())
}

fn checked(asset: i64, finding: Finding) -> Checked {
    let Finding { rule, status, message } = finding;
    Checked {
        asset: Some(asset),
        kind: CheckKind::Automated,
        key: rule.key,
        label: rule.label,
        is_mandatory: rule.mandatory,
        is_informational: rule.informational,
        status,
        message,
    }
}

/// Checks the tasks of an asset: whether each task has a prompt and has been graded, and whether the
/// environments of all tasks were built.
fn of_tasks(asset: i64, tasks: &[TaskFacts]) -> Vec<Checked> {
    let judge = |task: &TaskFacts, key, label, is_good: bool, what: &str| Checked {
        asset: Some(asset),
        kind: CheckKind::Task,
        key,
        label,
        is_mandatory: true,
        is_informational: false,
        status: if is_good { CheckStatus::Passed } else { CheckStatus::Failed },
        message: format!("{:?} {what}", task.name.chars().take(100).collect::<String>()),
    };
    let mut checks = Vec::new();
    for task in tasks.iter().take(MAX_TASKS) {
        let (has, lacks) = ("has a prompt.", "has no prompt. Write a prompt.");
        let label = "Every task has a prompt and a way to grade it";
        checks.push(judge(
            task,
            "prompts_complete",
            label,
            task.has_prompt,
            if task.has_prompt { has } else { lacks },
        ));
        let (has, lacks) = ("was run and graded.", "was never graded. Run the task.");
        let label = "Tasks ran and were graded";
        checks.push(judge(
            task,
            "tasks_graded",
            label,
            task.is_graded,
            if task.is_graded { has } else { lacks },
        ));
    }
    let unbuilt: Vec<&TaskFacts> =
        tasks.iter().filter(|task| task.build != Some(BuildStatus::Succeeded)).collect();
    let message = match unbuilt.first() {
        None if tasks.is_empty() => "The asset has no tasks. Add tasks.".to_owned(),
        None => format!("The environments of all {} tasks were built.", tasks.len()),
        Some(first) => format!(
            "The environments of {} of {} tasks were not built (the first is {:?}). Build them.",
            unbuilt.len(),
            tasks.len(),
            first.name.chars().take(100).collect::<String>()
        ),
    };
    checks.push(builds(asset, unbuilt.is_empty() && !tasks.is_empty(), &message));
    checks
}

fn builds(asset: i64, is_built: bool, message: &str) -> Checked {
    Checked {
        asset: Some(asset),
        kind: CheckKind::Environment,
        key: "environment_builds",
        label: "The environment builds from a clean state and starts",
        is_mandatory: true,
        is_informational: false,
        status: if is_built { CheckStatus::Passed } else { CheckStatus::Failed },
        message: message.to_owned(),
    }
}

/// Checks that a listing has assets.
fn of_listing(run: &OpenRun) -> Checked {
    let count = run.assets.len();
    Checked {
        asset: None,
        kind: CheckKind::Automated,
        key: "assets_present",
        label: "The listing has assets",
        is_mandatory: true,
        is_informational: false,
        status: if count > 0 { CheckStatus::Passed } else { CheckStatus::Failed },
        message: if count > 0 {
            format!("Number of assets: {count}.")
        } else {
            "The listing has no assets. Attach some.".to_owned()
        },
    }
}

fn insert(writer: &Writer, run: &OpenRun, check: &Checked) -> Result<()> {
    let new = NewCheck {
        id: writer.clock.id(),
        asset: check.asset,
        kind: check.kind,
        key: check.key,
        label: check.label,
        is_mandatory: check.is_mandatory,
        is_informational: check.is_informational,
        status: check.status,
        message: Some(&check.message),
    };
    store::quality::insert_check(writer.rows, run.row.number, &new)?;
    Ok(())
}
