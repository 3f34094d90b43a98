//! The quality of a vendor's own listings, as shown to the vendor.

use std::{collections::HashSet, sync::Arc};

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{
        assets::Kind,
        listings::LifecycleStage,
        quality::{CheckKind, CheckScope, CheckStatus, IngestStatus, RunStatus, RunTrigger},
    },
    operations::{
        access::Vendor,
        checked_runs::CheckedRun,
        quality::{self, QualityView},
    },
    rest::{
        app::App,
        auth::Access,
        enum_value::EnumValue,
        json::{Json, JsonResult},
        params::Params,
        shapes::{UtcTime, limit_offset::LimitOffset},
    },
    store::{
        quality::{CheckRow, CheckedAsset, HubIngestStatus},
        quality_reports::RunReport,
    },
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

/// Query parameters of a listing's quality.
#[derive(Debug, Object)]
pub struct QualityQuery {
    /// Task checks to include: those that have not passed, or all. Checks of other kinds are always included.
    #[oai(default = "default_task_rows")]
    task_rows: EnumValue<TaskRows>,
}

fn default_task_rows() -> EnumValue<TaskRows> {
    EnumValue(TaskRows::Failing)
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

/// A copy of a dataset in the platform's hub.
#[derive(Debug, Object, Serialize)]
pub struct HubIngest {
    /// Name of the dataset in the hub.
    pub dataset_id: String,
    /// State of the copy.
    pub status: EnumValue<IngestStatus>,
    /// Number of bytes copied so far.
    pub bytes_copied: u64,
    /// Reason why the copy failed; null if it has not failed.
    pub error: Option<String>,
}

impl From<HubIngestStatus> for HubIngest {
    fn from(ingest: HubIngestStatus) -> HubIngest {
        HubIngest {
            dataset_id: ingest.dataset_id,
            status: EnumValue(ingest.status),
            bytes_copied: ingest.bytes_copied,
            error: ingest.error,
        }
    }
}

/// Quality of one of a vendor's own listings.
#[derive(Debug, Object, Serialize)]
pub struct ListingQuality {
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Lifecycle stage of the listing.
    pub listing_status: EnumValue<LifecycleStage>,
    /// Whether the listing, as it is now, is certified by its latest quality run.
    pub platform_quality_certified: bool,
    /// Latest quality run; null if the listing was never checked.
    pub latest_run: Option<ListingRun>,
    /// Copies of the listing's datasets in the platform's hub.
    pub hub_ingest: Vec<HubIngest>,
}

impl ListingQuality {
    fn new(view: QualityView, task_rows: TaskRows) -> ListingQuality {
        ListingQuality {
            listing_id: view.listing.id,
            listing_status: EnumValue(view.listing.status.stage()),
            platform_quality_certified: view.listing.certified_at.is_some(),
            latest_run: view.latest_run.map(|run| ListingRun::new(run, task_rows)),
            hub_ingest: view.ingests.into_iter().map(HubIngest::from).collect(),
        }
    }
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

/// A quality run in the report on all runs of a team.
#[derive(Debug, Object, Serialize)]
pub struct QcReport {
    /// ID of the run.
    pub run_id: Uuid,
    /// ID of the listing; null if the run checks an asset.
    pub listing_id: Option<Uuid>,
    /// Title of the listing; null if the run checks an asset.
    pub listing_title: Option<String>,
    /// Number of the run among all runs of the listing or asset, starting at 1.
    pub run_number: u32,
    /// State of the run.
    pub status: EnumValue<RunStatus>,
    /// Whether the run completed and every mandatory check passed.
    pub mandatory_passed: bool,
    /// Number of environment checks that passed.
    pub environment_checks_passed: u32,
    /// Number of environment checks.
    pub environment_checks_total: u32,
    /// Credits charged for the run, in US dollars.
    pub charge_total: f64,
    /// Time at which the run was started.
    pub started_at: UtcTime,
    /// Time at which the run ended; null while it is in progress.
    pub completed_at: Option<UtcTime>,
}

impl From<RunReport> for QcReport {
    fn from(report: RunReport) -> QcReport {
        QcReport {
            run_id: report.run_id,
            listing_id: report.listing_id,
            listing_title: report.listing_title,
            run_number: report.run_number,
            status: EnumValue(report.status),
            mandatory_passed: report.status == RunStatus::Completed && report.mandatory_not_passed == 0,
            environment_checks_passed: report.environment_checks_passed,
            environment_checks_total: report.environment_checks,
            charge_total: report.charge.dollars(),
            started_at: report.started_at.into(),
            completed_at: report.completed_at.map(UtcTime),
        }
    }
}

/// A page of the report on all runs of a team.
#[derive(Debug, Object, Serialize)]
pub struct QcReports {
    /// Runs of all listings and assets, newest first.
    pub reports: Vec<QcReport>,
    /// Number of runs, on all pages.
    pub total: u64,
}

pub struct QualityApi;

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::api::Tag::Listings")]
impl QualityApi {
    /// Get the quality of a listing
    ///
    /// Returns whether one of the team's own listings is certified, its latest quality run with the checks,
    /// and the copies of its datasets in the platform's hub.
    #[oai(path = "/listings/:listing_id/qc", method = "get", operation_id = "get_listing_qc")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        query: Params<QualityQuery>,
    ) -> JsonResult<ListingQuality> {
        Json::read(&app, access.0.requester(), move |reader| {
            let view = quality::get_listing_quality(reader, &access.0, listing_id.0)?;
            Ok(ListingQuality::new(view, query.0.task_rows.0))
        })
        .await
    }

    /// List quality reports
    ///
    /// Returns a page of the quality runs of all the team's listings and assets, newest first, with the credits
    /// charged.
    #[oai(path = "/listings/qc-reports", method = "get", operation_id = "list_qc_reports")]
    async fn list_reports(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<LimitOffset>,
    ) -> JsonResult<QcReports> {
        let (limit, offset) = (query.0.limit as usize, query.0.offset.cast_unsigned());
        Json::read(&app, access.0.requester(), move |reader| {
            let (reports, total) = quality::list_reports(reader, &access.0, limit, offset)?;
            Ok(QcReports { reports: reports.into_iter().map(QcReport::from).collect(), total })
        })
        .await
    }
}
