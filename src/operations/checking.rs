//! Carrying out quality runs, in the background: every file of linked data is looked at, and every task.

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

/// What a vendor is told of a run that broke, however often it was tried.
const BROKEN: &str = "The checks could not be carried out, through no fault of the data. Start another run.";

/// Tasks of an asset that are checked one by one at most.
const MAX_TASKS: usize = 10_000;

/// What a check of an asset came to.
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

/// What looking at an asset came to.
#[derive(Default)]
struct Looked {
    checks: Vec<Checked>,
    fingerprint: Option<Vec<u8>>,
}

/// Carries out a run.
pub fn run(task: &Task) -> Done {
    let market = task.market();
    let found = market.read_blocking(|reader| store::quality_runs::open(reader.rows, task.subject()))?;
    // It may have been called off.
    let Some(run) = found else { return task.finish(|_| Ok(())) };
    if !are_settled(market, &run)? {
        // Whoever reads the data asks for the run again when it is done.
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

/// Notes that a run is not carried out.
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

/// Whether the data of every asset has been read, or never will be.
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

/// Looks at an asset: at its data, at its tasks, or at what it is built of.
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
            let message = if is_built { "It was built." } else { "It was never built. Build it." };
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

/// Why there is nothing to look at, for the vendor; nothing where there is.
fn lost(market: &Market, asset: &Asset) -> Result<Option<String>> {
    let Some(data) = &asset.data else {
        return Ok(Some("No data is linked to this asset. Attach it.".to_owned()));
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
    Ok((!is_there).then(|| "The data is not there any more. Detach it, and attach it again.".to_owned()))
}

/// Shows every file of an asset's data to the checks.
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

/// What is to be said of the tasks of an asset: of each whether it says what to do and whether it was ever graded, and of
/// all of them whether what they run in was built.
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
        let (has, lacks) = ("says what is to be done.", "has no prompt. Write its brief.");
        let label = "Every task has a prompt and a way to grade it";
        checks.push(judge(
            task,
            "prompts_complete",
            label,
            task.has_prompt,
            if task.has_prompt { has } else { lacks },
        ));
        let (has, lacks) = ("was run and graded.", "was never graded. Run it.");
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
        None if tasks.is_empty() => "There are no tasks. Add some.".to_owned(),
        None => format!("The environments of all {} tasks were built.", tasks.len()),
        Some(first) => format!(
            "The environments of {} of {} tasks were not built, {:?} first. Build them.",
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

/// What is to be said of a listing as a whole.
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
        message: if count > 0 { format!("It has {count}.") } else { "It has none. Attach some.".to_owned() },
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
