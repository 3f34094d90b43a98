//! The quality of a vendor's own listings, as the vendor sees it.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{
        assets::Kind,
        listings::LifecycleStage,
        quality::{self as rules, CheckKind, CheckScope, CheckStatus, IngestStatus, Outcome, RunStatus},
        vocabulary::vocabulary,
    },
    operations::{
        access::Vendor,
        quality::{self, View},
    },
    rest::{
        App,
        auth::Access,
        params::Params,
        raw::{Answer, Raw},
        shapes::{UtcTime, slices::Slice},
        vocabulary::Word,
    },
    store::quality::{CheckRow, Ingest, Report, RunRow},
};

vocabulary! {
    /// Which checks of tasks are shown.
    TaskRows {
        /// Those that have not passed.
        Failing = "failing",
        /// All of them.
        All = "all",
    }
}

/// Which checks are asked for.
#[derive(Debug, Object)]
pub struct QualityQuery {
    /// Which checks of tasks are shown; other checks always are.
    #[oai(default = "failing")]
    task_rows: Word<TaskRows>,
}

fn failing() -> Word<TaskRows> {
    Word(TaskRows::Failing)
}

/// One thing that a run looked at.
#[derive(Debug, Object, Serialize)]
pub struct QualityCheck {
    /// Its id.
    pub id: Uuid,
    /// What it looks at.
    pub scope: Word<CheckScope>,
    /// The kind of the asset; null where it looks at the whole listing.
    pub asset_type: Option<Word<Kind>>,
    /// The title of the asset; null where it looks at the whole listing.
    pub asset_name: Option<String>,
    /// `owner/name` of the asset's repository, or its id where it has none; null where it looks at the whole listing.
    pub asset_reference: Option<String>,
    /// The asset; null where it looks at the whole listing.
    pub listing_asset_id: Option<Uuid>,
    /// Who or what does it.
    pub kind: Word<CheckKind>,
    /// What it looks for, as a slug.
    pub key: String,
    /// The same for people.
    pub label: String,
    /// Whether the run fails with it.
    pub mandatory: bool,
    /// Whether it only informs.
    pub informational: bool,
    /// Its result.
    pub status: Word<CheckStatus>,
    /// What was found, where, and what to do; null where nothing was said. Buyers never see it.
    pub message: Option<String>,
}

impl From<&CheckRow> for QualityCheck {
    fn from(check: &CheckRow) -> QualityCheck {
        let asset = check.asset.as_ref();
        QualityCheck {
            id: check.id,
            scope: Word(if asset.is_some() { CheckScope::Asset } else { CheckScope::Listing }),
            asset_type: asset.map(|asset| Word(asset.kind)),
            asset_name: asset.map(|asset| asset.title.clone()),
            asset_reference: asset
                .map(|asset| asset.repo_full_name.clone().unwrap_or_else(|| asset.id.to_string())),
            listing_asset_id: asset.map(|asset| asset.id),
            kind: Word(check.kind),
            key: check.key.clone(),
            label: check.label.clone(),
            mandatory: check.is_mandatory,
            informational: check.is_informational,
            status: Word(check.status),
            message: check.message.clone(),
        }
    }
}

/// How one check of tasks stands on one asset.
#[derive(Debug, Object, Serialize)]
pub struct TaskSummary {
    /// What is looked for, as a slug.
    pub check_key: String,
    /// The same for people.
    pub label: String,
    /// The asset; null where the whole listing is looked at.
    pub listing_asset_id: Option<Uuid>,
    /// The title of the asset; null where the whole listing is looked at.
    pub asset_name: Option<String>,
    /// Waiting.
    pub queued: u64,
    /// Under way.
    pub running: u64,
    /// Found in order.
    pub passed: u64,
    /// Found wanting.
    pub failed: u64,
    /// Broken.
    pub error: u64,
    /// All of them.
    pub total: u64,
}

/// A quality-check run of a listing.
#[derive(Debug, Object, Serialize)]
pub struct ListingRun {
    /// Its id.
    pub id: Uuid,
    /// Its place among the runs of what it is about, from 1.
    pub run_number: u32,
    /// How far it is.
    pub status: Word<RunStatus>,
    /// Whether it is completed and every mandatory check passed.
    pub mandatory_passed: bool,
    /// What a reviewer said; null where nobody did.
    pub review_feedback: Option<String>,
    /// Why it broke; null where it did not.
    pub error: Option<String>,
    /// Who asked for it.
    pub triggered_by: String,
    /// Credits that it cost, in US dollars.
    pub charge_total: f64,
    /// When it started.
    pub started_at: UtcTime,
    /// When it ended; null before that.
    pub completed_at: Option<UtcTime>,
    /// What it looked at.
    pub checks: Vec<QualityCheck>,
    /// Its checks of tasks in sums, by asset and check.
    pub task_summaries: Vec<TaskSummary>,
}

/// A copy of a dataset into the platform's hub.
#[derive(Debug, Object, Serialize)]
pub struct HubIngest {
    /// The dataset's name in the hub.
    pub dataset_id: String,
    /// How far it is.
    pub status: Word<IngestStatus>,
    /// Bytes copied so far.
    pub bytes_copied: u64,
    /// Why it failed; null where it did not.
    pub error: Option<String>,
}

impl From<Ingest> for HubIngest {
    fn from(ingest: Ingest) -> HubIngest {
        HubIngest {
            dataset_id: ingest.dataset_id,
            status: Word(ingest.status),
            bytes_copied: ingest.bytes_copied,
            error: ingest.error,
        }
    }
}

/// What a vendor knows of the quality of one of its own listings.
#[derive(Debug, Object, Serialize)]
pub struct ListingQuality {
    /// The listing.
    pub listing_id: Uuid,
    /// Its stage.
    pub listing_status: Word<LifecycleStage>,
    /// Whether its latest run certified it as it is now.
    pub platform_quality_certified: bool,
    /// Its latest run; null before the first.
    pub latest_run: Option<ListingRun>,
    /// Copies of its datasets into the platform's hub.
    pub hub_ingest: Vec<HubIngest>,
}

impl ListingQuality {
    fn of(view: View, task_rows: TaskRows) -> ListingQuality {
        ListingQuality {
            listing_id: view.listing.id,
            listing_status: Word(view.listing.status.stage()),
            platform_quality_certified: view.listing.certified_at.is_some(),
            latest_run: view.latest_run.map(|(run, checks)| ListingRun::of(run, &checks, task_rows)),
            hub_ingest: view.ingests.into_iter().map(HubIngest::from).collect(),
        }
    }
}

/// A quality-check run of one asset.
#[derive(Debug, Object, Serialize)]
pub struct AssetRun {
    /// Its id.
    pub id: Uuid,
    /// Its place among the runs of the asset, from 1.
    pub run_number: u32,
    /// How far it is.
    pub status: Word<RunStatus>,
    /// Whether it is completed and every mandatory check passed.
    pub passed: bool,
    /// The same, as runs of listings call it.
    pub mandatory_passed: bool,
    /// What a reviewer said; null where nobody did.
    pub review_feedback: Option<String>,
    /// Why it broke; null where it did not.
    pub error: Option<String>,
    /// Who asked for it.
    pub triggered_by: String,
    /// Credits that it cost, in US dollars.
    pub charge_total: f64,
    /// When it started.
    pub started_at: UtcTime,
    /// When it ended; null before that.
    pub completed_at: Option<UtcTime>,
    /// What it looked at.
    pub checks: Vec<QualityCheck>,
}

impl AssetRun {
    /// A run with its checks.
    pub fn of(run: RunRow, checks: &[CheckRow]) -> AssetRun {
        let run = ListingRun::of(run, checks, TaskRows::All);
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
    /// A run with its checks.
    pub fn of(run: RunRow, checks: &[CheckRow], task_rows: TaskRows) -> ListingRun {
        let outcomes =
            checks.iter().map(|check| Outcome { is_mandatory: check.is_mandatory, status: check.status });
        let is_shown = |check: &&CheckRow| {
            task_rows == TaskRows::All || check.kind != CheckKind::Task || check.status != CheckStatus::Passed
        };
        ListingRun {
            id: run.id,
            run_number: run.run_number,
            status: Word(run.status),
            mandatory_passed: rules::passed(run.status, outcomes),
            review_feedback: run.review_feedback,
            error: run.error,
            triggered_by: run.triggered_by,
            charge_total: run.charge.dollars(),
            started_at: run.started_at.into(),
            completed_at: run.completed_at.map(UtcTime),
            checks: checks.iter().filter(is_shown).map(QualityCheck::from).collect(),
            task_summaries: task_summaries(checks),
        }
    }
}

/// Checks of tasks in sums, by asset and check, in the order in which they come first.
fn task_summaries(checks: &[CheckRow]) -> Vec<TaskSummary> {
    let mut summaries: Vec<TaskSummary> = Vec::new();
    for check in checks.iter().filter(|check| check.kind == CheckKind::Task) {
        let asset = check.asset.as_ref();
        let id = asset.map(|asset| asset.id);
        let is_same = |known: &TaskSummary| known.check_key == check.key && known.listing_asset_id == id;
        let place = summaries.iter().position(is_same).unwrap_or_else(|| {
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
        let summary = &mut summaries[place];
        summary.total += 1;
        match check.status {
            CheckStatus::Queued => summary.queued += 1,
            CheckStatus::Running => summary.running += 1,
            CheckStatus::Passed => summary.passed += 1,
            CheckStatus::Failed => summary.failed += 1,
            CheckStatus::Error => summary.error += 1,
        }
    }
    summaries
}

/// A run in the report over all of a team's runs.
#[derive(Debug, Object, Serialize)]
pub struct QcReport {
    /// The run.
    pub run_id: Uuid,
    /// The listing.
    pub listing_id: Uuid,
    /// The listing's title.
    pub listing_title: String,
    /// The run's place among those of the listing, from 1.
    pub run_number: u32,
    /// How far it is.
    pub status: Word<RunStatus>,
    /// Whether it is completed and every mandatory check passed.
    pub mandatory_passed: bool,
    /// Checks of environments that passed.
    pub environment_checks_passed: u32,
    /// Checks of environments.
    pub environment_checks_total: u32,
    /// Credits that it cost, in US dollars.
    pub charge_total: f64,
    /// When it started.
    pub started_at: UtcTime,
    /// When it ended; null before that.
    pub completed_at: Option<UtcTime>,
}

impl From<Report> for QcReport {
    fn from(report: Report) -> QcReport {
        QcReport {
            run_id: report.run_id,
            listing_id: report.listing_id,
            listing_title: report.listing_title,
            run_number: report.run_number,
            status: Word(report.status),
            mandatory_passed: report.status == RunStatus::Completed && report.mandatory_open == 0,
            environment_checks_passed: report.environments_passed,
            environment_checks_total: report.environments,
            charge_total: report.charge.dollars(),
            started_at: report.started_at.into(),
            completed_at: report.completed_at.map(UtcTime),
        }
    }
}

/// A page of the report over all of a team's runs.
#[derive(Debug, Object, Serialize)]
pub struct QcReports {
    /// Runs of all listings, newest first.
    pub reports: Vec<QcReport>,
    /// How many runs there are.
    pub total: u64,
}

pub struct QualityApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Listings")]
impl QualityApi {
    /// Quality of a listing
    ///
    /// Whether one of the team's own listings is certified, its latest run with everything that it looked at, and copies of
    /// its datasets into the platform's hub.
    #[oai(path = "/listings/:listing_id/qc", method = "get", operation_id = "get_listing_qc")]
    async fn view(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        listing_id: Path<Uuid>,
        query: Params<QualityQuery>,
    ) -> Answer<ListingQuality> {
        let view = app.market().glance(move |reader| quality::view(reader, &access.0, listing_id.0)).await?;
        Ok(Raw::of(&ListingQuality::of(view, query.0.task_rows.0)))
    }

    /// Quality reports
    ///
    /// Runs of all the team's listings, newest first, with what each cost.
    #[oai(path = "/listings/qc-reports", method = "get", operation_id = "list_qc_reports")]
    async fn reports(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<Slice>,
    ) -> Answer<QcReports> {
        let (limit, offset) = (query.0.limit as usize, query.0.offset.cast_unsigned());
        let (reports, total) =
            app.market().read(move |reader| quality::reports(reader, &access.0, limit, offset)).await?;
        Ok(Raw::of(&QcReports { reports: reports.into_iter().map(QcReport::from).collect(), total }))
    }
}
