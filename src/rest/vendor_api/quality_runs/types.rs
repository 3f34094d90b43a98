//! JSON types of the quality runs of a vendor's own listings and assets, and of their checks.

use std::collections::HashSet;

use crate::{
    domain::{
        assets::Kind,
        quality_checks::{CheckKind, CheckScope, CheckStatus},
        quality_runs::{RunStatus, RunTrigger},
    },
    operations::quality_runs::CheckedRun,
    rest::prelude::*,
    store::quality_checks::{CheckRow, CheckedAsset},
    string_enum::string_enum,
};

string_enum! {
    /// Which task checks to include.
    TaskRows {
        /// Only task checks that have not passed.
        Failing = "failing",
        /// All task checks.
        All = "all",
    }
}

/// A check of a quality run, as shown to the vendor.
#[derive(Debug, Object, Serialize)]
pub struct QualityCheck {
    /// ID of the check.
    pub id: Uuid,
    /// Whether the check covers the whole listing or one asset.
    pub scope: EnumValue<CheckScope>,
    /// Kind of the asset; null if the check covers the whole listing.
    pub asset_type: Option<EnumValue<Kind>>,
    /// Title of the asset; null if the check covers the whole listing.
    pub asset_name: Option<String>,
    /// Full name of the asset's repository (`owner/name`), or else the asset's ID; null if the check covers
    /// the whole listing, or the asset was deleted.
    pub asset_reference: Option<String>,
    /// ID of the asset; null if the check covers the whole listing, or the asset was deleted.
    pub listing_asset_id: Option<Uuid>,
    /// Whether a program, an environment build, a task run or a person performs the check.
    pub kind: EnumValue<CheckKind>,
    /// Slug of the rule that is checked.
    pub key: String,
    /// Display name of the check.
    pub label: String,
    /// Whether the run passes only if this check passes.
    pub mandatory: bool,
    /// Whether the check only provides information.
    pub informational: bool,
    /// Result of the check.
    pub status: EnumValue<CheckStatus>,
    /// What was found, where, and what to do about it; null if there is nothing to report. Never shown to
    /// buyers.
    pub message: Option<String>,
}

impl From<&CheckRow> for QualityCheck {
    fn from(check: &CheckRow) -> QualityCheck {
        let asset = check.asset.as_ref();
        QualityCheck {
            id: check.id,
            scope: EnumValue(if asset.is_some() { CheckScope::Asset } else { CheckScope::Listing }),
            asset_type: asset.map(|asset| EnumValue(asset.kind)),
            asset_name: asset.map(|asset| asset.title.clone()),
            asset_reference: asset.and_then(|asset| {
                asset.repo_full_name.clone().or_else(|| asset.readable_id().map(|id| id.to_string()))
            }),
            listing_asset_id: asset.and_then(CheckedAsset::readable_id),
            kind: EnumValue(check.kind),
            key: check.key.clone(),
            label: check.label.clone(),
            mandatory: check.is_mandatory,
            informational: check.is_informational,
            status: EnumValue(check.status),
            message: check.message.clone(),
        }
    }
}

/// Number of task checks by result, for one rule and one asset.
#[derive(Debug, Object, Serialize)]
pub struct TaskSummary {
    /// Slug of the rule that is checked.
    pub check_key: String,
    /// Display name of the check.
    pub label: String,
    /// ID of the asset; null if the check covers the whole listing, or the asset was deleted.
    pub listing_asset_id: Option<Uuid>,
    /// Title of the asset; null if the check covers the whole listing.
    pub asset_name: Option<String>,
    /// Number of checks that wait to run.
    pub queued: u64,
    /// Number of checks in progress.
    pub running: u64,
    /// Number of checks that passed.
    pub passed: u64,
    /// Number of checks that failed.
    pub failed: u64,
    /// Number of checks that could not be carried out.
    pub error: u64,
    /// Number of all checks.
    pub total: u64,
}

/// A quality run of a listing.
#[derive(Debug, Object, Serialize)]
pub struct ListingRun {
    /// ID of the run.
    pub id: Uuid,
    /// Number of the run among all runs of the listing, starting at 1.
    pub run_number: u32,
    /// State of the run.
    pub status: EnumValue<RunStatus>,
    /// Whether the run completed and every mandatory check passed.
    pub mandatory_passed: bool,
    /// Feedback of a reviewer; null if there is none.
    pub review_feedback: Option<String>,
    /// Reason why the run itself failed; null if it did not.
    pub error: Option<String>,
    /// Who or what started the run: `team` for runs that were started with an API key of the team.
    pub triggered_by: EnumValue<RunTrigger>,
    /// Credits charged for the run, in US dollars.
    pub charge_total: f64,
    /// Time at which the run was started.
    pub started_at: UtcTime,
    /// Time at which the run ended; null while it is in progress.
    pub completed_at: Option<UtcTime>,
    /// Checks of the run, without the task checks that `task_rows` excludes. If an asset has a newer completed run of
    /// its own, its checks are those of that run.
    pub checks: Vec<QualityCheck>,
    /// Number of task checks by result, for each asset and rule.
    pub task_summaries: Vec<TaskSummary>,
}

impl ListingRun {
    /// Creates the JSON of a listing's run with its checks.
    pub fn new(run: CheckedRun, task_rows: TaskRows) -> ListingRun {
        let CheckedRun { run, has_passed, checks } = run;
        let is_shown = |check: &&CheckRow| {
            task_rows == TaskRows::All || check.kind != CheckKind::Task || check.status != CheckStatus::Passed
        };
        ListingRun {
            id: run.id,
            run_number: run.run_number,
            status: EnumValue(run.status),
            mandatory_passed: has_passed,
            review_feedback: run.review_feedback,
            error: run.error,
            triggered_by: EnumValue(run.triggered_by),
            charge_total: run.charge.dollars(),
            started_at: run.started_at.into(),
            completed_at: run.completed_at.map(UtcTime),
            checks: checks.iter().filter(is_shown).map(QualityCheck::from).collect(),
            task_summaries: task_summaries(&checks),
        }
    }
}

/// Counts task checks by result, for each asset and rule, in the order of their first check.
fn task_summaries(checks: &[CheckRow]) -> Vec<TaskSummary> {
    let mut summaries: Vec<TaskSummary> = Vec::new();
    for check in checks.iter().filter(|check| check.kind == CheckKind::Task) {
        let asset = check.asset.as_ref();
        let id = asset.map(|asset| asset.id);
        let is_same = |other: &TaskSummary| other.check_key == check.key && other.listing_asset_id == id;
        let index = summaries.iter().position(is_same).unwrap_or_else(|| {
            summaries.push(TaskSummary {
                check_key: check.key.clone(),
                label: check.label.clone(),
                listing_asset_id: id,
                asset_name: asset.map(|asset| asset.title.clone()),
                queued: 0,
                running: 0,
                passed: 0,
                failed: 0,
                error: 0,
                total: 0,
            });
            summaries.len() - 1
        });
        let summary = &mut summaries[index];
        summary.total += 1;
        match check.status {
            CheckStatus::Queued => summary.queued += 1,
            CheckStatus::Running => summary.running += 1,
            CheckStatus::Passed => summary.passed += 1,
            CheckStatus::Failed => summary.failed += 1,
            CheckStatus::Error => summary.error += 1,
        }
    }
    let assets = checks.iter().filter_map(|check| check.asset.as_ref());
    let readable: HashSet<Uuid> = assets.filter_map(CheckedAsset::readable_id).collect();
    for summary in &mut summaries {
        summary.listing_asset_id = summary.listing_asset_id.filter(|id| readable.contains(id));
    }
    summaries
}

/// A quality run of one asset.
#[derive(Debug, Object, Serialize)]
pub struct AssetRun {
    /// ID of the run.
    pub id: Uuid,
    /// Number of the run among all runs of the asset, starting at 1.
    pub run_number: u32,
    /// State of the run.
    pub status: EnumValue<RunStatus>,
    /// Whether the run completed and every mandatory check passed.
    pub passed: bool,
    /// Same value as `passed`, under the name that runs of listings use.
    pub mandatory_passed: bool,
    /// Feedback of a reviewer; null if there is none.
    pub review_feedback: Option<String>,
    /// Reason why the run itself failed; null if it did not.
    pub error: Option<String>,
    /// Who or what started the run: `team` for runs that were started with an API key of the team.
    pub triggered_by: EnumValue<RunTrigger>,
    /// Credits charged for the run, in US dollars.
    pub charge_total: f64,
    /// Time at which the run was started.
    pub started_at: UtcTime,
    /// Time at which the run ended; null while it is in progress.
    pub completed_at: Option<UtcTime>,
    /// Checks of the run.
    pub checks: Vec<QualityCheck>,
}

impl AssetRun {
    /// Creates the JSON of an asset's run with its checks.
    pub fn new(run: CheckedRun) -> AssetRun {
        let run = ListingRun::new(run, TaskRows::All);
        AssetRun {
            id: run.id,
            run_number: run.run_number,
            status: run.status,
            passed: run.mandatory_passed,
            mandatory_passed: run.mandatory_passed,
            review_feedback: run.review_feedback,
            error: run.error,
            triggered_by: run.triggered_by,
            charge_total: run.charge_total,
            started_at: run.started_at,
            completed_at: run.completed_at,
            checks: run.checks,
        }
    }
}
