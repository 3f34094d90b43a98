//! Quality evidence of a listing, as shown to buyers.

use crate::{
    domain::{
        assets::Kind,
        quality_checks::{CheckKind, CheckScope, CheckStatus},
    },
    operations::{access::ListingViewer, listing_quality},
    rest::prelude::*,
};

/// A check of a listing's latest completed quality run. It identifies no asset of the vendor.
#[derive(Debug, Object, Serialize)]
pub struct EvidenceCheck {
    /// Slug of the rule that was checked.
    pub key: String,
    /// Display name of the check.
    pub label: String,
    /// Whether a program, an environment build, a task run or a person performs the check.
    pub kind: EnumValue<CheckKind>,
    /// Whether the check covers the whole listing or one asset.
    pub scope: EnumValue<CheckScope>,
    /// Kind of the asset that was checked; null if the check covers the whole listing.
    pub asset_type: Option<EnumValue<Kind>>,
    /// Whether the run passes only if this check passes.
    pub mandatory: bool,
    /// Whether the check only provides information.
    pub informational: bool,
    /// Result of the check.
    pub status: EnumValue<CheckStatus>,
}

/// Evidence of a listing's quality, from its latest completed quality run.
#[derive(Debug, Object, Serialize)]
pub struct QualityEvidence {
    /// Whether the listing, as it is now, is certified by its latest quality run.
    pub certified: bool,
    /// Time of certification; null if the listing is not certified.
    pub certified_at: Option<UtcTime>,
    /// Checks of the latest completed quality run, without those of data that has changed since.
    pub checks: Vec<EvidenceCheck>,
    /// Number of environment checks that passed.
    pub environment_checks_passed: u64,
    /// Number of environment checks.
    pub environment_checks_total: u64,
}

#[routes(prefix = "/v2", tag = Catalog)]
impl ListingQualityApi {
    /// Get quality evidence
    ///
    /// Returns whether a listing is certified, and the checks of its latest completed quality run: what was
    /// checked, on which kind of asset, and the result.
    #[get(
        "/listings/browse/{listing_id}/quality",
        RouteAttributes::read(
            Tool::Excluded("the operation get_quality_for_agents also names the run"),
            Contract::new(Target::CatalogListing),
        )
        .with_budget(Budget::QualityChecks)
    )]
    async fn get_listing_quality(
        call: Call<ListingViewer>,
        listing_id: Path<Uuid>,
    ) -> JsonResult<QualityEvidence> {
        let id = listing_id.0;
        Json::read(&call.served, call.access.requester(), move |reader| {
            listing_quality::get_evidence(reader, &call.access, id).map(QualityEvidence::from_evidence)
        })
        .await
    }
}

impl QualityEvidence {
    /// Creates the JSON of evidence.
    pub fn from_evidence(evidence: listing_quality::Evidence) -> QualityEvidence {
        let checks = evidence.checks.into_iter().map(|check| EvidenceCheck {
            key: check.key,
            label: check.label,
            kind: EnumValue(check.kind),
            scope: EnumValue(if check.asset_kind.is_some() {
                CheckScope::Asset
            } else {
                CheckScope::Listing
            }),
            asset_type: check.asset_kind.map(EnumValue),
            mandatory: check.is_mandatory,
            informational: check.is_informational,
            status: EnumValue(check.status),
        });
        QualityEvidence {
            certified: evidence.certified_at.is_some(),
            certified_at: evidence.certified_at.map(UtcTime),
            checks: checks.collect(),
            environment_checks_passed: evidence.environments_passed as u64,
            environment_checks_total: evidence.environments as u64,
        }
    }
}
