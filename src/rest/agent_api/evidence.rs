//! The basis of the statements in the record of a listing or an asset about quality and measurements. Tools that return such a
//! record call these operations after the operation for the record.

use super::rows::{EvidenceForm, listing_evidence};
use crate::{
    domain::{assets::ArtifactStatus, inventory::Asset},
    operations::{access::ListingViewer, assets, listing_quality},
    rest::prelude::*,
};

/// Why the operations have no tools of their own.
const PART_OF_RECORDS: Tool = Tool::Excluded("the tools that return the record have it in `evidence`");

/// The basis of a record.
#[derive(Debug, Object, Serialize)]
pub struct EvidenceOut {
    /// The basis, as sentences to cite.
    pub evidence: String,
}

#[routes(prefix = "/agents/v1", tag = Catalog)]
impl EvidenceApi {
    /// Get the evidence of a listing
    ///
    /// Returns the basis of what a listing of the catalog says about its quality.
    #[get(
        "/listings/{listing_id}/evidence",
        RouteAttributes::read(PART_OF_RECORDS, Contract::new(Target::CatalogListing))
    )]
    async fn get_listing_evidence(
        call: Call<ListingViewer>,
        listing_id: Path<Uuid>,
    ) -> JsonResult<EvidenceOut> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let certificate = listing_quality::certificate(reader, &call.access, listing_id.0)?;
            Ok(EvidenceOut { evidence: listing_evidence(&certificate, EvidenceForm::Full) })
        })
        .await
    }

    /// Get the evidence of an own listing
    ///
    /// Returns the basis of what one of the team's own listings says about its quality.
    #[get(
        "/own-listings/{listing_id}/evidence",
        RouteAttributes::read(PART_OF_RECORDS, Contract::new(Target::OwnListing))
    )]
    async fn get_own_listing_evidence(call: Call<Vendor>, listing_id: Path<Uuid>) -> JsonResult<EvidenceOut> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let certificate = listing_quality::certificate_of_own(reader, &call.access, listing_id.0)?;
            Ok(EvidenceOut { evidence: listing_evidence(&certificate, EvidenceForm::Full) })
        })
        .await
    }

    /// Get the evidence of an asset
    ///
    /// Returns what the measurements of one of the team's assets were read from, and when.
    #[get(
        "/assets/{asset_id}/evidence",
        RouteAttributes::read(PART_OF_RECORDS, Contract::new(Target::OwnAsset))
    )]
    async fn get_asset_evidence(call: Call<Vendor>, asset_id: Path<Uuid>) -> JsonResult<EvidenceOut> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let asset = assets::find(reader.rows, &call.access, asset_id.0, None)?;
            let archive = assets::archive_digest(reader, &call.access, &asset)?;
            Ok(EvidenceOut { evidence: measurement_evidence(&asset, archive.as_deref()) })
        })
        .await
    }
}

/// Returns a sentence on what the measurements of an asset were read from. `archive` is the SHA-256 digest of its upload.
fn measurement_evidence(asset: &Asset, archive: Option<&str>) -> String {
    if let Some(task) = &asset.task {
        let at = task.refreshed_at.map_or_else(|| "not read yet".to_owned(), |at| format!("read {at}"));
        return format!("Runs and checks of task version {}, {at}.", task.version_id);
    }
    let Some(data) = &asset.data else {
        return "Stated by the vendor; no data is linked.".to_owned();
    };
    let source = match (&data.commit_sha, archive) {
        (Some(commit), _) => format!("commit {commit}"),
        (None, Some(digest)) => format!("the uploaded archive with SHA-256 {digest}"),
        (None, None) => "the linked data".to_owned(),
    };
    match (data.analyzed_at, data.analysis_status) {
        (Some(at), _) => format!("Measured from {source}, analyzed {at}."),
        (None, ArtifactStatus::Failed) => format!("Stated by the vendor; the analysis of {source} failed."),
        (None, ArtifactStatus::Skipped) => {
            format!("Stated by the vendor; the analysis of {source} was skipped.")
        }
        (None, _) => format!("Stated by the vendor; {source} is not analyzed yet."),
    }
}
