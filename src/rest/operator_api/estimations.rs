//! Estimations: advisory quotes for vendors' sources.

use crate::{
    domain::{
        assets::{Channel, Kind, RepositoryChannel},
        collections::Collection,
        estimation_requests::EstimationRequest,
        estimations::EstimationStatus,
    },
    operations::estimations,
    rest::{operator_api::prelude::*, shapes::strings::RepositoryFullName},
    store::records::estimations::ESTIMATIONS,
};

/// A dated quote for one source as one kind of asset. Quotes are advisory and not binding.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Estimation")]
pub struct EstimationOut {
    /// ID of the estimation.
    pub id: Uuid,
    /// ID of the vendor.
    pub team_id: Uuid,
    /// Kind of asset that the source would be sold as.
    pub sku: EnumValue<Kind>,
    /// Host of the source.
    pub channel: EnumValue<Channel>,
    /// Full name of the repository, `owner/name`.
    pub repo_full_name: String,
    /// Name of the estimation.
    pub name: String,
    /// State of the estimation.
    pub status: EnumValue<EstimationStatus>,
    /// Lower end of the quote; null without a quote.
    pub quote_low: Option<Money>,
    /// Upper end of the quote; null without a quote.
    pub quote_high: Option<Money>,
    /// Currency of the quote.
    pub currency: EnumValue<Currency>,
    /// Reason of the failure; null unless failed.
    pub failure_message: Option<String>,
    /// ID of the asset that the source belongs to; null if there is none.
    pub inventory_asset_id: Option<Uuid>,
    /// ID of the person who requested the estimation.
    pub created_by: Uuid,
    /// Time of the request.
    pub created_at: UtcTime,
    /// Time of completion; null while pending.
    pub completed_at: Option<UtcTime>,
}

resource!(EstimationOut: Uuid, ESTIMATIONS, "estimation", id, team_id);

page_of! {
    /// A page of estimations.
    EstimationPage, EstimationOut
}

/// What the list of estimations can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct EstimationFilters {
    /// ID of the vendor.
    team_id: Option<Uuid>,
    /// State of the estimation.
    status: Option<EnumValue<EstimationStatus>>,
}

/// An estimation to request in the name of a vendor.
#[derive(Debug, Object)]
pub struct EstimationIn {
    /// ID of the vendor.
    team_id: MaybeInvalid<Uuid>,
    /// Kind of asset that the source would be sold as.
    sku: MaybeInvalid<EnumValue<Kind>>,
    /// Host of the source.
    channel: MaybeInvalid<EnumValue<RepositoryChannel>>,
    /// Full name of the repository, `owner/name`.
    repo_full_name: MaybeInvalid<RepositoryFullName>,
    /// ID of an asset of the vendor, of the kind `sku`, that the source belongs to; null or absent if there is none.
    inventory_asset_id: Option<Uuid>,
    /// ID of the person who requests it; the ID of the team if null or absent.
    created_by: Option<Uuid>,
}

#[routes(prefix = "/operator/v1", tag = Estimations)]
impl EstimationsApi {
    /// List estimations
    ///
    /// Returns the estimations of all vendors, newest first.
    #[get(
        "/estimations",
        routes::list(&["status=failed&limit=2", "team_id=d16976a0-9c51-5248-afa1-7e0552589e1a"]),
    )]
    async fn list_estimations(
        call: Call<Operator>,
        query: Params<ListQuery<EstimationFilters>>,
    ) -> JsonResult<EstimationPage> {
        pages::list(call, query).await
    }

    /// Request an estimation
    ///
    /// Requests an estimation in the name of a vendor. The server measures the source in the background, and then
    /// notifies the vendor. A vendor can have 20 pending estimations.
    #[post("/estimations", routes::create(Actor::Team, &[EventType::EstimationRequested]))]
    async fn create_estimation(
        change: Change,
        #[example(json!({
                    "team_id": DEMO_TEAM,
                    "sku": "codebase",
                    "channel": "github",
                    "repo_full_name": "lumen-codeworks/tide-tables",
                }))]
        body: Body<EstimationIn>,
    ) -> JsonResult<EstimationOut, 201> {
        changes::post_body(change, body, |writer, platform, body: EstimationIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
            let ids = (writer.new_id(Collection::Estimations), body.created_by.unwrap_or(team.id));
            let request = EstimationRequest {
                sku: body.sku.into_valid()?.0,
                channel: body.channel.into_valid()?.0,
                repo_full_name: body.repo_full_name.into_valid()?.into(),
                inventory_asset_id: body.inventory_asset_id,
            };
            estimations::request(writer, &platform.vendor(team)?, Actor::Team, ids, &request)
                .map(|requested| requested.id)
        })
        .await
    }

    /// Get an estimation
    ///
    /// Returns an estimation.
    #[get("/estimations/{estimation_id}", routes::get("estimations"))]
    async fn get_estimation(call: Call<Operator>, estimation_id: Path<Uuid>) -> JsonResult<EstimationOut> {
        resources::get(call, estimation_id.0).await
    }
}
