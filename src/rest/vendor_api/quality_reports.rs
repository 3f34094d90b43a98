//! The report on all quality runs of a vendor.

use crate::{
    domain::quality_runs::RunStatus,
    operations::quality_reports,
    rest::{prelude::*, route::Link, shapes::limit_offset::LimitOffset},
    store::quality_reports::QualityReport,
};

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

#[routes(prefix = "/v2", tag = Listings)]
impl QualityReportsApi {
    /// List quality reports
    ///
    /// Returns a page of the quality runs of all the team's listings and assets, newest first, with the credits
    /// charged.
    #[get(
        "/listings/qc-reports",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Quality,
                    "list_qc_reports",
                    "Quality reports",
                    "All quality runs of the team, newest first, with credits charged; \
                     `listing_id` is null if the run checks an asset. `mandatory_passed` is \
                     valid once `status` is completed; failed checks: get_listing_qc, get_asset_qc.",
                ),
                "reports",
            ),
            Contract::new(Target::None)
                .with_queries(&["limit=200", "limit=1&offset=1", "offset=2147483647"])
                .with_misspelled("limt=1", "limit")
                .with_pages("limit=1", "limit=200", 4),
        )
        .with_budget(Budget::QualityChecks)
        .with_links(&[Link::new("/reports/0/listing_id", "get_listing_qc", "listing_id")]),
    )]
    async fn list_qc_reports(call: Call<Vendor>, query: Params<LimitOffset>) -> JsonResult<QcReports> {
        let (limit, offset) = (query.0.limit as usize, query.0.offset.cast_unsigned());
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (reports, total) = quality_reports::list(reader, &call.access, limit, offset)?;
            Ok(QcReports { reports: reports.into_iter().map(QcReport::from).collect(), total })
        })
        .await
    }
}
