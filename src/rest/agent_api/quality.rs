//! The quality evidence of a listing, with the run that it is from.

use super::rows::{EvidenceForm, listing_evidence};
use crate::{
    operations::{access::ListingViewer, listing_quality},
    rest::{catalog::listing_quality::QualityEvidence, prelude::*},
};

/// Evidence of a listing's quality.
#[derive(Debug, Object, Serialize)]
pub struct AgentQualityEvidence {
    /// The evidence of the API.
    #[oai(flatten)]
    #[serde(flatten)]
    pub evidence_of_run: QualityEvidence,
    /// ID of the latest completed quality run; null if there is none.
    pub run_id: Option<Uuid>,
    /// Time at which the run ended.
    pub completed_at: Option<UtcTime>,
    /// The basis of what is said, as a sentence to cite.
    pub evidence: String,
}

#[routes(prefix = "/agents/v1", tag = Catalog)]
impl QualityApi {
    /// Get quality evidence
    ///
    /// Returns whether a listing is certified, and the checks of its latest completed quality run.
    #[get(
        "/listings/{listing_id}/quality",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Catalog,
                    "get_listing_quality",
                    "Quality evidence",
                    "Whether a catalog listing is certified, and which checks it passed or failed.",
                )
                .with_ids("browse_listings"),
            ),
            Contract::new(Target::CatalogListing),
        )
        .with_budget(Budget::QualityChecks),
    )]
    async fn get_quality_for_agents(
        call: Call<ListingViewer>,
        listing_id: Path<Uuid>,
    ) -> JsonResult<AgentQualityEvidence> {
        let id = listing_id.0;
        Json::read(&call.served, call.access.requester(), move |reader| {
            let evidence = listing_quality::get_evidence(reader, &call.access, id)?;
            let certificate = listing_quality::certificates(reader, &[evidence.listing])?
                .remove(&evidence.listing)
                .unwrap_or_default();
            let run = certificate.latest_run.as_ref();
            Ok(AgentQualityEvidence {
                run_id: run.map(|run| run.id),
                completed_at: run.and_then(|run| run.completed_at).map(UtcTime),
                evidence: listing_evidence(&certificate, EvidenceForm::Full),
                evidence_of_run: QualityEvidence::from_evidence(evidence),
            })
        })
        .await
    }
}
