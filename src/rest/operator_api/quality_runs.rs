//! Quality runs of listings and assets.

use crate::{
    domain::{
        assets::Kind,
        quality_checks::{CheckKind, CheckStatus},
        quality_runs::{RunStatus, RunTrigger},
    },
    error::Problem,
    operations::{assets, listing_lifecycle, quality_runs},
    rest::operator_api::prelude::*,
    store::{
        self,
        quality_checks::CheckRow,
        records::{assets::AssetRecord, quality_runs::QUALITY_RUNS},
    },
};

/// A quality run without its checks.
#[derive(Debug, Object, Serialize, Deserialize)]
pub struct QualityRunSummary {
    /// ID of the run.
    pub id: Uuid,
    /// ID of the team that owns what is checked, and pays for the run.
    pub team_id: Uuid,
    /// ID of the listing that is checked, with all its assets; null if the run checks an asset.
    pub listing_id: Option<Uuid>,
    /// ID of the asset that is checked; null if the run checks a listing.
    pub asset_id: Option<Uuid>,
    /// Number of the run among those of the listing or asset, from 1.
    pub run_number: u32,
    /// State of the run.
    pub status: EnumValue<RunStatus>,
    /// Whether every mandatory check passed; null until the run is completed.
    pub passed: Option<bool>,
    /// Who or what started the run.
    pub triggered_by: EnumValue<RunTrigger>,
    /// Charge for the run; 0 if it was returned.
    pub charge: Money,
    /// Currency of the charge.
    pub currency: EnumValue<Currency>,
    /// What the platform told the vendor when it decided on the listing; null if nothing.
    pub review_feedback: Option<String>,
    /// Why the run itself failed; null if it did not.
    pub error: Option<String>,
    /// Time at which the run was started.
    pub started_at: UtcTime,
    /// Time at which the run ended; null until then.
    pub completed_at: Option<UtcTime>,
}

/// A check of a quality run.
#[derive(Debug, Object, Serialize)]
pub struct QualityRunCheck {
    /// ID of the check.
    pub id: Uuid,
    /// ID of the asset that is checked; null if the check is about the whole listing.
    pub asset_id: Option<Uuid>,
    /// Kind of the asset; null if the check is about the whole listing.
    pub asset_kind: Option<EnumValue<Kind>>,
    /// Who or what performs the check.
    pub kind: EnumValue<CheckKind>,
    /// Slug of the rule that is checked.
    pub key: String,
    /// Name of the check for people.
    pub label: String,
    /// Whether the run passes only if this check passes.
    pub mandatory: bool,
    /// Whether the check only informs.
    pub informational: bool,
    /// Result of the check.
    pub status: EnumValue<CheckStatus>,
    /// What was found, as a message for the vendor; null if there is nothing to report.
    pub message: Option<String>,
}

/// A quality run with its checks.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "QualityRun")]
pub struct QualityRunOut {
    #[oai(flatten)]
    #[serde(flatten)]
    pub run: QualityRunSummary,
    /// The checks, in order. There are none until the run is completed.
    pub checks: Vec<QualityRunCheck>,
}

impl From<CheckRow> for QualityRunCheck {
    fn from(check: CheckRow) -> QualityRunCheck {
        QualityRunCheck {
            id: check.id,
            asset_id: check.asset.as_ref().map(|asset| asset.id),
            asset_kind: check.asset.as_ref().map(|asset| EnumValue(asset.kind)),
            kind: EnumValue(check.kind),
            key: check.key,
            label: check.label,
            mandatory: check.is_mandatory,
            informational: check.is_informational,
            status: EnumValue(check.status),
            message: check.message,
        }
    }
}

resource!(QualityRunSummary: Uuid, QUALITY_RUNS, "quality_run", id, team_id);

subject!(QualityRunOut, QualityRunSummary::KIND, run.id, run.team_id);

impl Resource for QualityRunOut {
    type Record = QualityRunSummary;

    /// Runs of a page have no checks, since there can be very many.
    fn new(run: QualityRunSummary, _: &CheckContext) -> QualityRunOut {
        QualityRunOut { run, checks: Vec::new() }
    }

    fn find(context: &CheckContext, platform: Platform, id: &Uuid) -> Result<QualityRunOut> {
        let run = records::find(context.rows, platform, id)?;
        let checks = store::quality_checks::list_of_run(context.rows, *id)?;
        Ok(QualityRunOut { run, checks: checks.into_iter().map(QualityRunCheck::from).collect() })
    }
}

page_of! {
    /// A page of quality runs.
    QualityRunPage, QualityRunSummary
}

/// What the list of quality runs can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct QualityRunFilters {
    /// ID of the team.
    team_id: Option<Uuid>,
    /// ID of the listing that is checked.
    listing_id: Option<Uuid>,
    /// ID of the asset that is checked by itself. Runs of its listings are not found.
    asset_id: Option<Uuid>,
    /// State of the run.
    status: Option<EnumValue<RunStatus>>,
}

/// What to check: either a listing or an asset.
#[derive(Clone, Copy, Debug, Object)]
pub struct QualityRunIn {
    /// ID of the listing to check, with all its assets.
    listing_id: Option<Uuid>,
    /// ID of the asset to check, whose data must be linked.
    asset_id: Option<Uuid>,
}

#[routes(prefix = "/operator/v1", tag = Quality)]
impl QualityRunsApi {
    /// List quality runs
    ///
    /// Returns the quality runs of all teams, newest first, without their checks.
    #[get(
        "/quality-runs",
        routes::list(&["status=completed&limit=2", "listing_id=34f2c447-0d0a-5b97-aa77-8245b1d085a3"]),
    )]
    async fn list_quality_runs(
        call: Call<Operator>,
        query: Params<ListQuery<QualityRunFilters>>,
    ) -> JsonResult<QualityRunPage> {
        pages::list(call, query).await
    }

    /// Start a quality run
    ///
    /// Starts a quality run of a listing or of an asset. Its team pays for it (409 `insufficient_credits`). A listing
    /// or an asset has at most one run in progress (409 `run_in_progress`). The run of an asset waits until its data
    /// is analyzed.
    #[post(
        "/quality-runs",
        routes::create(Actor::Platform, &[EventType::QualityRunStarted, EventType::WalletDebited])
            .with_conflicts(&[
                Code::DataNotAttached,
                Code::DataNotReadable,
                Code::RunInProgress,
                Code::InsufficientCredits,
            ]),
    )]
    async fn create_quality_run(
        change: Change,
        #[example(json!({"listing_id": "34f2c447-0d0a-5b97-aa77-8245b1d085a3"}))] body: Body<QualityRunIn>,
    ) -> JsonResult<QualityRunOut, 201> {
        changes::post_body(change, body, start).await
    }

    /// Get a quality run
    ///
    /// Returns a quality run with its checks.
    #[get("/quality-runs/{quality_run_id}", routes::get("quality_runs"))]
    async fn get_quality_run(call: Call<Operator>, quality_run_id: Path<Uuid>) -> JsonResult<QualityRunOut> {
        resources::get(call, quality_run_id.0).await
    }

    /// Cancel a quality run
    ///
    /// Cancels a quality run that has not ended. The charge is returned unless the checks have begun.
    #[post(
        "/quality-runs/{quality_run_id}/cancel",
        routes::transition(
            "quality_runs",
            Actor::Platform,
            &[EventType::QualityRunCancelled, EventType::WalletCredited],
        ),
    )]
    async fn cancel_quality_run(change: Change, quality_run_id: Path<Uuid>) -> JsonResult<QualityRunOut> {
        changes::transition(change, quality_run_id, |writer, platform, _, id| {
            quality_runs::cancel_run(writer, platform, id)
        })
        .await
    }
}

/// Starts a run of what a body identifies. Returns its ID.
fn start(writer: &mut Writer, platform: Platform, body: QualityRunIn) -> Result<Uuid> {
    match (body.listing_id, body.asset_id) {
        (Some(listing), None) => {
            references::listing(writer.rows, "listing_id", listing)?;
            // Fails if the team was closed.
            platform.vendor_of_listing(writer.rows, listing)?;
            Ok(listing_lifecycle::start_run(writer, platform, listing)?.run_id)
        }
        (None, Some(asset)) => {
            let found: Result<AssetRecord> = records::find(writer.rows, platform, &asset);
            let found = found.map_err(|error| match error {
                Error::NotFound(_) => references::unknown("asset_id", "asset"),
                other => other,
            })?;
            let vendor = platform.vendor(references::team(writer.rows, "asset_id", found.team)?)?;
            let asset = assets::find(writer.rows, &vendor, asset, None)?;
            Ok(quality_runs::start_asset_run(writer, &asset, RunTrigger::Platform)?.run_id)
        }
        _ => {
            let message = "State either `listing_id` or `asset_id`.";
            Err(Error::invalid(Problem::body(&["listing_id"], "value_error", message)))
        }
    }
}
