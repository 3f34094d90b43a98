//! Quality evidence, as buyers may see it.

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

/// A check of a listing's latest completed quality run. It names no record of the vendor.
#[derive(Debug, Object, Serialize)]
pub struct EvidenceCheck {
    /// What it looks for, as a slug.
    pub key: String,
    /// The same for people.
    pub label: String,
    /// Who or what does it.
    pub kind: Word<CheckKind>,
    /// What it looks at.
    pub scope: Word<CheckScope>,
    /// The kind of the asset that it looks at; null where it looks at the whole listing.
    pub asset_type: Option<Word<Kind>>,
    /// Whether the run fails with it.
    pub mandatory: bool,
    /// Whether it only informs.
    pub informational: bool,
    /// Its result.
    pub status: Word<CheckStatus>,
}

/// What is known of a listing's quality.
#[derive(Debug, Object, Serialize)]
pub struct QualityEvidence {
    /// Whether its latest quality run certified it as it is now.
    pub certified: bool,
    /// Since when; null while it is not.
    pub certified_at: Option<UtcTime>,
    /// The checks of its latest completed run; empty before there is one.
    pub checks: Vec<EvidenceCheck>,
    /// Checks of environments that passed.
    pub environment_checks_passed: u64,
    /// Checks of environments.
    pub environment_checks_total: u64,
}

pub struct QualityApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Catalog")]
impl QualityApi {
    /// Quality evidence
    ///
    /// Whether the listing is certified, and the checks that speak for or against it: what was looked for, at what kind of
    /// asset, and with which result.
    #[oai(
        path = "/listings/browse/:listing_id/quality",
        method = "get",
        operation_id = "get_listing_quality"
    )]
    async fn evidence(
        &self,
        app: Data<&Arc<App>>,
        access: Access<ListingBrowser>,
        /// The listing's id.
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
