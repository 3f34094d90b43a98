//! Quality evidence of a listing, as shown to buyers.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{
        assets::Kind,
        quality::{CheckKind, CheckScope, CheckStatus},
    },
    operations::{access::ListingBrowser, quality},
    rest::{
        App,
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::UtcTime,
        vocabulary::Word,
    },
};

/// A check of a listing's latest completed quality run. It identifies no asset of the vendor.
#[derive(Debug, Object, Serialize)]
pub struct EvidenceCheck {
    /// Slug of the rule that was checked.
    pub key: String,
    /// Display name of the check.
    pub label: String,
    /// Whether a program, an environment build, a task run or a person performs the check.
    pub kind: Word<CheckKind>,
    /// Whether the check covers the whole listing or one asset.
    pub scope: Word<CheckScope>,
    /// Kind of the asset that was checked; null if the check covers the whole listing.
    pub asset_type: Option<Word<Kind>>,
    /// Whether the run passes only if this check passes.
    pub mandatory: bool,
    /// Whether the check only provides information.
    pub informational: bool,
    /// Result of the check.
    pub status: Word<CheckStatus>,
}

/// Evidence of a listing's quality, from its latest completed quality run.
#[derive(Debug, Object, Serialize)]
pub struct QualityEvidence {
    /// Whether the listing, as it is now, is certified by its latest quality run.
    pub certified: bool,
    /// Time of certification; null if the listing is not certified.
    pub certified_at: Option<UtcTime>,
    /// Checks of the latest completed quality run; empty if no run has completed.
    pub checks: Vec<EvidenceCheck>,
    /// Number of environment checks that passed.
    pub environment_checks_passed: u64,
    /// Number of environment checks.
    pub environment_checks_total: u64,
}

pub struct QualityApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Catalog")]
impl QualityApi {
    /// Get quality evidence
    ///
    /// Returns whether a listing is certified, and the checks of its latest completed quality run: what was
    /// checked, on which kind of asset, and the result.
    #[oai(
        path = "/listings/browse/:listing_id/quality",
        method = "get",
        operation_id = "get_listing_quality"
    )]
    async fn evidence(
        &self,
        app: Data<&Arc<App>>,
        access: Access<ListingBrowser>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<QualityEvidence> {
        let id = listing_id.0;
        let evidence = app.market().glance(move |reader| quality::evidence(reader, &access.0, id)).await?;
        Ok(Raw::of(&QualityEvidence::of(evidence)))
    }
}

impl QualityEvidence {
    fn of(evidence: quality::Evidence) -> QualityEvidence {
        let checks = evidence.checks.into_iter().map(|check| EvidenceCheck {
            key: check.key,
            label: check.label,
            kind: Word(check.kind),
            scope: Word(if check.asset_kind.is_some() { CheckScope::Asset } else { CheckScope::Listing }),
            asset_type: check.asset_kind.map(Word),
            mandatory: check.is_mandatory,
            informational: check.is_informational,
            status: Word(check.status),
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
