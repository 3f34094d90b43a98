//! Quality runs of single assets: codebases and raw data.

pub mod types;

use self::types::AssetRun;
use crate::{
    domain::{
        assets::Kind,
        quality_runs::{RunStatus, RunTrigger},
    },
    operations::{
        assets,
        quality_runs::{self, RunStart},
    },
    rest::{prelude::*, route::MultiTool},
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
    call: Call<Vendor>,
    idempotent: Idempotent,
    id: Uuid,
    kind: Kind,
) -> JsonResult<StartedRun, 202> {
    idempotent
        .write_without_body(&call.served, call.access, move |writer, vendor| {
            let asset = assets::find(writer.rows, vendor, id, Some(kind))?;
            quality_runs::start_asset_run(writer, &asset, RunTrigger::Team).map(StartedRun::from)
        })
        .await
}

async fn latest_run_response(call: Call<Vendor>, id: Uuid, kind: Kind) -> JsonResult<AssetQuality> {
    Json::read(&call.served, call.access.requester(), move |reader| {
        let asset = assets::find(reader.rows, &call.access, id, Some(kind))?;
        let latest = quality_runs::latest_asset_run(reader, &asset)?;
        let latest_run = latest.map(AssetRun::new);
        Ok(AssetQuality { asset_id: id, latest_run })
    })
    .await
}

/// The tool for the operations that `kind` selects.
pub static GET_ASSET_QC_TOOL: MultiTool = MultiTool {
    text: ToolText::new(
        Toolset::Quality,
        "get_asset_qc",
        "Quality checks of an asset",
        "The latest quality run of a codebase or raw data asset: what each check \
                 found, and where.",
    )
    .with_parameters(&[("asset_id", "ID of the codebase or raw data.")])
    .with_ids("list_assets"),
    argument: "kind",
    description: "The asset's kind.",
    default: None,
    filters: None,
    choice_values: &[],
};

/// The attributes of an operation that starts a run of an asset.
const fn start_of_run(asset: Target) -> RouteAttributes {
    RouteAttributes::change(Contract::new(asset)).with_budget(Budget::QualityChecks).with_conflicts(&[
        Code::DataNotAttached,
        Code::DataNotReadable,
        Code::RunInProgress,
        Code::InsufficientCredits,
    ])
}

/// The attributes of an operation that returns the latest run of an asset. `kind` is the argument of its tool.
const fn latest_run(asset: Target, kind: &'static str) -> RouteAttributes {
    let tool = Tool::Choice { tool: &GET_ASSET_QC_TOOL, value: kind, list: None };
    RouteAttributes::read(tool, Contract::new(asset)).with_budget(Budget::QualityChecks)
}

#[routes(prefix = "/v2", tag = Codebases)]
impl CodebaseQualityRunsApi {
    /// Start a quality run of a codebase
    ///
    /// Starts a quality run of the data that is linked to a codebase. The checks begin once the data is
    /// analyzed. A run costs credits, which are refunded if the run itself fails. A codebase has at most one
    /// run in progress. If the server has no files of the data, no run is started, and nothing is charged (409
    /// `data_not_readable`).
    #[post("/codebases/{asset_id}/qc/runs", start_of_run(Target::OwnCodebase))]
    async fn start_codebase_qc(
        call: Call<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        idempotent: Idempotent,
    ) -> JsonResult<StartedRun, 202> {
        start_run(call, idempotent, asset_id.0, Kind::Codebase).await
    }

    /// Get the quality of a codebase
    ///
    /// Returns the latest quality run of a codebase, with all its checks.
    #[get("/codebases/{asset_id}/qc", latest_run(Target::OwnCodebase, "codebase"))]
    async fn get_codebase_qc(
        call: Call<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
    ) -> JsonResult<AssetQuality> {
        latest_run_response(call, asset_id.0, Kind::Codebase).await
    }
}

#[routes(prefix = "/v2", tag = RawData)]
impl RawDataQualityRunsApi {
    /// Start a quality run of raw data
    ///
    /// Starts a quality run of the archive that is attached to a raw data asset. The checks begin once the
    /// archive is analyzed. A run costs credits, which are refunded if the run itself fails. An asset has at
    /// most one run in progress. If the server has no files of the data, no run is started, and nothing is charged
    /// (409 `data_not_readable`).
    #[post("/raw-data/{asset_id}/qc/runs", start_of_run(Target::OwnRawData))]
    async fn start_raw_data_qc(
        call: Call<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        idempotent: Idempotent,
    ) -> JsonResult<StartedRun, 202> {
        start_run(call, idempotent, asset_id.0, Kind::RawData).await
    }

    /// Get the quality of raw data
    ///
    /// Returns the latest quality run of a raw data asset, with all its checks.
    #[get("/raw-data/{asset_id}/qc", latest_run(Target::OwnRawData, "raw_data"))]
    async fn get_raw_data_qc(
        call: Call<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
    ) -> JsonResult<AssetQuality> {
        latest_run_response(call, asset_id.0, Kind::RawData).await
    }
}
