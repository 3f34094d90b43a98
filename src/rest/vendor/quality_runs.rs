//! Quality runs of single assets: of repositories and of archives.

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

/// A quality run that was started.
#[derive(Debug, Object, Serialize)]
pub struct StartedRun {
    /// How far it is.
    pub status: Word<RunStatus>,
    /// The asset.
    pub asset_id: Uuid,
    /// The run.
    pub run_id: Uuid,
    /// Its place among the runs of the asset, from 1.
    pub run_number: u32,
}

impl From<Started> for StartedRun {
    fn from(started: Started) -> StartedRun {
        let Started { subject, run, run_number, status } = started;
        StartedRun { status: Word(status), asset_id: subject, run_id: run, run_number }
    }
}

/// The quality of one asset.
#[derive(Debug, Object, Serialize)]
pub struct AssetQuality {
    /// The asset.
    pub asset_id: Uuid,
    /// Its latest run; null before the first.
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
    /// Check a repository
    ///
    /// Starts a quality run of the repository or archive that is linked to a codebase, once it is read. It costs credits,
    /// which come back if the run itself breaks; one goes on at a time.
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
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        once: Once,
    ) -> Answer<StartedRun, 202> {
        start(&app, access.0, once, asset_id.0, Kind::Codebase).await
    }

    /// Quality of a repository
    ///
    /// The latest quality run of a codebase, with everything that it found.
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
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<AssetQuality> {
        latest(&app, access.0, asset_id.0, Kind::Codebase).await
    }

    /// Check an archive
    ///
    /// Starts a quality run of the archive that is attached to a row of raw data, once it is read. It costs credits, which
    /// come back if the run itself breaks; one goes on at a time.
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
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        once: Once,
    ) -> Answer<StartedRun, 202> {
        start(&app, access.0, once, asset_id.0, Kind::RawData).await
    }

    /// Quality of an archive
    ///
    /// The latest quality run of a row of raw data, with everything that it found.
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
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<AssetQuality> {
        latest(&app, access.0, asset_id.0, Kind::RawData).await
    }
}
