//! The quality of a vendor's own listings, as shown to the vendor.

use super::quality_runs::types::{ListingRun, TaskRows};
use crate::{
    domain::listings::{IngestStatus, LifecycleStage},
    operations::listing_quality::{self, QualityView},
    rest::prelude::*,
    store::listing_bundles::HubIngestStatus,
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

#[routes(prefix = "/v2", tag = Listings)]
impl ListingQualityApi {
    /// Get the quality of a listing
    ///
    /// Returns whether one of the team's own listings is certified, its latest quality run with the checks,
    /// and the copies of its datasets in the platform's hub.
    #[get(
        "/listings/{listing_id}/qc",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Quality,
                    "get_listing_qc",
                    "Listing quality checks",
                    "The latest quality run of one of the team's own listings: each check's \
                     status. Failure reasons are in the check's `message`, or in the run's \
                     `review_feedback` or `error`.",
                )
                .with_evidence("get_own_listing_evidence")
                .with_ids("list_own_listings")
                .with_parameters(&[("task_rows", "`failing` omits checks of tasks that passed.")]),
            ),
            Contract::new(Target::OwnListing)
                .with_queries(&["task_rows=all"])
                .with_misspelled("task_row=all", "task_rows"),
        )
        .with_budget(Budget::QualityChecks),
    )]
    async fn get_listing_qc(
        call: Call<Vendor>,
        listing_id: Path<Uuid>,
        query: Params<QualityQuery>,
    ) -> JsonResult<ListingQuality> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let view = listing_quality::get(reader, &call.access, listing_id.0)?;
            Ok(ListingQuality::new(view, query.0.task_rows.0))
        })
        .await
    }
}
