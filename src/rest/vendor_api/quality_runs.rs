//! Quality runs of single assets: codebases and raw data.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use super::checked_runs::AssetRun;
use crate::{
    domain::{assets::Kind, quality::RunStatus},
    operations::{
        access::Vendor,
        assets,
        quality_runs::{self, RunStart},
    },
    rest::{
        app::App,
        auth::Access,
        enum_value::EnumValue,
        idempotent::Idempotent,
        json::{Json, JsonResult},
        params::{NoParams, Params},
    },
};

/// A quality run that was just started.
#[derive(Debug, Object, Serialize)]
pub struct StartedRun {
    /// State of the run.
    pub status: EnumValue<RunStatus>,
    /// ID of the asset.
    pub asset_id: Uuid,
    /// ID of the run.
    pub run_id: Uuid,
    /// Number of the run among all runs of the asset, starting at 1.
    pub run_number: u32,
}

impl From<RunStart> for StartedRun {
    fn from(started: RunStart) -> StartedRun {
        let RunStart { subject_id: subject, run_id: run, run_number, status } = started;
        StartedRun { status: EnumValue(status), asset_id: subject, run_id: run, run_number }
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

async fn start_run(
    app: &App,
    vendor: Vendor,
    idempotent: Idempotent,
    id: Uuid,
    kind: Kind,
) -> JsonResult<StartedRun, 202> {
    idempotent
        .write_without_body(app, vendor, move |writer, vendor| {
            let asset = assets::find(writer.rows, vendor, id, Some(kind))?;
            quality_runs::start_asset_run(writer, &asset).map(StartedRun::from)
        })
        .await
}

async fn latest_run_response(app: &App, vendor: Vendor, id: Uuid, kind: Kind) -> JsonResult<AssetQuality> {
    Json::read(app, vendor.requester(), move |reader| {
        let asset = assets::find(reader.rows, &vendor, id, Some(kind))?;
        let latest = quality_runs::latest_asset_run(reader, &asset)?;
        let latest_run = latest.map(AssetRun::new);
        Ok(AssetQuality { asset_id: id, latest_run })
    })
    .await
}

pub struct QualityRunsApi;

#[OpenApi(prefix_path = "/v2")]
impl QualityRunsApi {
    /// Start a quality run of a codebase
    ///
    /// Starts a quality run of the data that is linked to a codebase. The checks begin once the data is
    /// analyzed. A run costs credits, which are refunded if the run itself fails. A codebase has at most one
    /// run in progress. If the server has no files of the data, no run is started, and nothing is charged (409
    /// `data_not_readable`).
    #[oai(
        path = "/codebases/:asset_id/qc/runs",
        method = "post",
        operation_id = "start_codebase_qc",
        tag = "crate::rest::api::Tag::Codebases"
    )]
    async fn start_for_codebase(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        idempotent: Idempotent,
    ) -> JsonResult<StartedRun, 202> {
        start_run(&app, access.0, idempotent, asset_id.0, Kind::Codebase).await
    }

    /// Get the quality of a codebase
    ///
    /// Returns the latest quality run of a codebase, with all its checks.
    #[oai(
        path = "/codebases/:asset_id/qc",
        method = "get",
        operation_id = "get_codebase_qc",
        tag = "crate::rest::api::Tag::Codebases"
    )]
    async fn get_for_codebase(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> JsonResult<AssetQuality> {
        latest_run_response(&app, access.0, asset_id.0, Kind::Codebase).await
    }

    /// Start a quality run of raw data
    ///
    /// Starts a quality run of the archive that is attached to a raw data asset. The checks begin once the
    /// archive is analyzed. A run costs credits, which are refunded if the run itself fails. An asset has at
    /// most one run in progress. If the server has no files of the data, no run is started, and nothing is charged
    /// (409 `data_not_readable`).
    #[oai(
        path = "/raw-data/:asset_id/qc/runs",
        method = "post",
        operation_id = "start_raw_data_qc",
        tag = "crate::rest::api::Tag::RawData"
    )]
    async fn start_for_raw_data(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
        idempotent: Idempotent,
    ) -> JsonResult<StartedRun, 202> {
        start_run(&app, access.0, idempotent, asset_id.0, Kind::RawData).await
    }

    /// Get the quality of raw data
    ///
    /// Returns the latest quality run of a raw data asset, with all its checks.
    #[oai(
        path = "/raw-data/:asset_id/qc",
        method = "get",
        operation_id = "get_raw_data_qc",
        tag = "crate::rest::api::Tag::RawData"
    )]
    async fn get_for_raw_data(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> JsonResult<AssetQuality> {
        latest_run_response(&app, access.0, asset_id.0, Kind::RawData).await
    }
}
