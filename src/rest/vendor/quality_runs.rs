//! Quality runs of single assets: codebases and raw data.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::quality::AssetRun;
use crate::{
    domain::{assets::Kind, quality::RunStatus},
    operations::{
        access::Vendor,
        quality_runs::{self, Started},
    },
    rest::{
        App,
        auth::Access,
        once::Once,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        vocabulary::Word,
    },
};

/// A quality run that was just started.
#[derive(Debug, Object, Serialize)]
pub struct StartedRun {
    /// State of the run.
    pub status: Word<RunStatus>,
    /// ID of the asset.
    pub asset_id: Uuid,
    /// ID of the run.
    pub run_id: Uuid,
    /// Number of the run among all runs of the asset, starting at 1.
    pub run_number: u32,
}

impl From<Started> for StartedRun {
    fn from(started: Started) -> StartedRun {
        let Started { subject, run, run_number, status } = started;
        StartedRun { status: Word(status), asset_id: subject, run_id: run, run_number }
    }
}

/// Latest quality run of one asset.
#[derive(Debug, Object, Serialize)]
pub struct AssetQuality {
    /// ID of the asset.
    pub asset_id: Uuid,
    /// The latest run; null if the asset was never checked.
    pub latest_run: Option<AssetRun>,
}

async fn start(app: &App, vendor: Vendor, once: Once, id: Uuid, kind: Kind) -> Answer<StartedRun, 202> {
    let nothing = Sha256::digest(b"").into();
    once.write(app, vendor, nothing, move |writer, vendor| {
        quality_runs::start(writer, vendor, id, kind).map(StartedRun::from)
    })
    .await
}

async fn latest(app: &App, vendor: Vendor, id: Uuid, kind: Kind) -> Answer<AssetQuality> {
    let latest = app.market().glance(move |reader| quality_runs::latest(reader, &vendor, id, kind)).await?;
    let latest_run = latest.map(|(run, checks)| AssetRun::of(run, &checks));
    Ok(Raw::of(&AssetQuality { asset_id: id, latest_run }))
}

pub struct QualityRunsApi;

#[OpenApi(prefix_path = "/v2")]
impl QualityRunsApi {
    /// Start a quality run of a codebase
    ///
    /// Starts a quality run of the data that is linked to a codebase. The checks begin once the data is
    /// analyzed. A run costs credits, which are refunded if the run itself fails. A codebase has at most one
    /// run in progress.
    #[oai(
        path = "/codebases/:asset_id/qc/runs",
        method = "post",
        operation_id = "start_codebase_qc",
        tag = "super::super::Tag::Codebases"
    )]
    async fn start_codebase(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        once: Once,
    ) -> Answer<StartedRun, 202> {
        start(&app, access.0, once, asset_id.0, Kind::Codebase).await
    }

    /// Get the quality of a codebase
    ///
    /// Returns the latest quality run of a codebase, with all its checks.
    #[oai(
        path = "/codebases/:asset_id/qc",
        method = "get",
        operation_id = "get_codebase_qc",
        tag = "super::super::Tag::Codebases"
    )]
    async fn codebase(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<AssetQuality> {
        latest(&app, access.0, asset_id.0, Kind::Codebase).await
    }

    /// Start a quality run of raw data
    ///
    /// Starts a quality run of the archive that is attached to a raw data asset. The checks begin once the
    /// archive is analyzed. A run costs credits, which are refunded if the run itself fails. An asset has at
    /// most one run in progress.
    #[oai(
        path = "/raw-data/:asset_id/qc/runs",
        method = "post",
        operation_id = "start_raw_data_qc",
        tag = "super::super::Tag::RawData"
    )]
    async fn start_raw_data(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        once: Once,
    ) -> Answer<StartedRun, 202> {
        start(&app, access.0, once, asset_id.0, Kind::RawData).await
    }

    /// Get the quality of raw data
    ///
    /// Returns the latest quality run of a raw data asset, with all its checks.
    #[oai(
        path = "/raw-data/:asset_id/qc",
        method = "get",
        operation_id = "get_raw_data_qc",
        tag = "super::super::Tag::RawData"
    )]
    async fn raw_data(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<AssetQuality> {
        latest(&app, access.0, asset_id.0, Kind::RawData).await
    }
}
