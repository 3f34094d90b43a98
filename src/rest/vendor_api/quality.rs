//! The quality of a vendor's own listings, as shown to the vendor.

use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use uuid::Uuid;

use super::checked_runs::{ListingRun, TaskRows};
use crate::{
    domain::{
        listings::{IngestStatus, LifecycleStage},
        quality_runs::RunStatus,
    },
    operations::{
        access::Vendor,
        quality::{self, QualityView},
    },
    rest::{
        enum_value::EnumValue,
        json::{Json, JsonResult},
        limits::Budget,
        params::Params,
        route::{Call, Contract, DeclaredRoute, Link, Path, Route, RouteAttributes, Target, Tool, ToolText},
        shapes::{UtcTime, limit_offset::LimitOffset},
    },
    store::{listing_bundles::HubIngestStatus, quality_reports::QualityReport},
};

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

impl From<QualityReport> for QcReport {
    fn from(report: QualityReport) -> QcReport {
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

/// `GET /v2/listings/{listing_id}/qc`
pub struct GetListingQc;

impl Route for GetListingQc {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "get_listing_qc",
        Budget::QualityChecks,
        Tool::record(
            ToolText::new(
                "get_listing_qc",
                "Listing quality checks",
                "The latest quality run of one of the team's own listings: each check's \
                 status. Failure reasons are in the check's `message`, or in the run's \
                 `review_feedback` or `error`.",
            )
            .with_ids("list_own_listings")
            .with_parameters(&[("task_rows", "`failing` omits checks of tasks that passed.")]),
        ),
        Contract::new(Target::OwnListing)
            .with_queries(&["task_rows=all"])
            .with_misspelled("task_row=all", "task_rows"),
    );
}

/// `GET /v2/listings/qc-reports`
pub struct ListQcReports;

impl Route for ListQcReports {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_qc_reports",
        Budget::QualityChecks,
        Tool::list(
            ToolText::new(
                "list_qc_reports",
                "Quality reports",
                "All quality runs of the team, newest first, with credits charged; \
                 `listing_id` is null if the run checks an asset. `mandatory_passed` is \
                 valid once `status` is completed; failed checks are in get_listing_qc.",
            ),
            "reports",
        ),
        Contract::new(Target::None)
            .with_queries(&["limit=200", "limit=1&offset=1", "offset=2147483647"])
            .with_misspelled("limt=1", "limit")
            .with_pages("limit=1", "limit=200", 4),
    )
    .with_links(&[Link::new("/reports/0/listing_id", "get_listing_qc", "listing_id")]);
}

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 2] =
    [DeclaredRoute::of::<GetListingQc>(), DeclaredRoute::of::<ListQcReports>()];

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::tags::Tag::Listings")]
impl QualityApi {
    /// Get the quality of a listing
    ///
    /// Returns whether one of the team's own listings is certified, its latest quality run with the checks,
    /// and the copies of its datasets in the platform's hub.
    #[oai(path = "/listings/:listing_id/qc", method = "get", operation_id = "get_listing_qc")]
    async fn get(
        &self,
        call: Call<GetListingQc>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        query: Params<QualityQuery>,
    ) -> JsonResult<ListingQuality> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let view = quality::get_listing_quality(reader, &call.access, listing_id.0)?;
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
        call: Call<ListQcReports>,
        query: Params<LimitOffset>,
    ) -> JsonResult<QcReports> {
        let (limit, offset) = (query.0.limit as usize, query.0.offset.cast_unsigned());
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (reports, total) = quality::list_reports(reader, &call.access, limit, offset)?;
            Ok(QcReports { reports: reports.into_iter().map(QcReport::from).collect(), total })
        })
        .await
    }
}
