//! Opportunities: what buyers post to ask for listings.

use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{
    changes,
    opportunity_bodies::{self as bodies, OpportunityIn, OpportunityPatch, OpportunityQuery, TeamExclusion},
    pages::{self, page_of},
    resources::{self, Resource, subject},
    routes::{self, DEMO_BUYER, DEMO_TEAM, routes},
};
use crate::{
    domain::{
        assets::Kind,
        events::EventType,
        listings::Actor,
        opportunities::{BudgetUnit, OpportunityKind, OpportunityStatus, VisibilityMode},
    },
    error::Code,
    market::CheckContext,
    operations::{
        access::{ActingOperator, Operator},
        opportunities,
    },
    rest::{
        enum_value::EnumValue,
        idempotent::Idempotent,
        if_match::IfMatch,
        json::JsonResult,
        params::Params,
        request_body::Body,
        route::{Call, Path},
        shapes::{Money, UtcTime},
    },
    store::records::{Record, Records, opportunities::OPPORTUNITIES},
};

const KIND: OpportunityKind = OpportunityKind::Listing;

/// An opportunity: a request for listings that a buyer posts.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Opportunity")]
pub struct OpportunityOut {
    /// ID of the opportunity.
    pub id: Uuid,
    /// ID of the buyer team that posts it.
    pub team_id: Uuid,
    /// Title.
    pub title: String,
    /// What the buyer is looking for.
    pub description: String,
    /// State of the opportunity.
    pub status: EnumValue<OpportunityStatus>,
    /// Whether vendors can respond now: it is published, and its deadline has not passed.
    #[serde(skip_deserializing)] // `Resource::new` sets it, since it depends on the time.
    pub open: bool,
    /// Asset kinds that the buyer accepts; empty if any kind is accepted.
    pub accepted_asset_types: Vec<EnumValue<Kind>>,
    /// Minimum budget; null if the buyer has not named one.
    #[serde(deserialize_with = "bodies::read_dollars")]
    pub budget_min: Option<Money>,
    /// Maximum budget; null if the buyer has not named one.
    #[serde(deserialize_with = "bodies::read_dollars")]
    pub budget_max: Option<Money>,
    /// Currency of the budget. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// Whether the budget is per task or in total; null if the buyer has not said.
    pub budget_unit: Option<EnumValue<BudgetUnit>>,
    /// Free-form tags.
    pub tags: Vec<String>,
    /// The request in one sentence; null if there is none.
    pub overview: Option<String>,
    /// Which vendors may see it: all, or all except those in `excluded_team_ids`.
    pub visibility_mode: EnumValue<VisibilityMode>,
    /// IDs of the teams that may not see it.
    pub excluded_team_ids: Vec<Uuid>,
    /// Time by which vendors must respond; null if there is no deadline.
    pub deadline: Option<UtcTime>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the latest change.
    pub updated_at: UtcTime,
    /// Time at which it was closed; null unless closed.
    pub closed_at: Option<UtcTime>,
}

subject!(OpportunityOut, "opportunity", id, team_id);

impl Record for OpportunityOut {
    type Id = Uuid;

    const RECORDS: &'static Records = &OPPORTUNITIES;
}

impl Resource for OpportunityOut {
    type Record = OpportunityOut;

    fn new(mut found: OpportunityOut, context: &CheckContext) -> OpportunityOut {
        found.open = found.status.0.is_open(found.deadline.map(|deadline| deadline.0), context.now);
        found
    }
}

page_of! {
    /// A page of opportunities.
    OpportunityPage, OpportunityOut
}

routes! {
    /// `GET /operator/v1/opportunities`
    List: Operator = routes::list("list_opportunities", &["status=published&limit=2", "team_id=00000000-0000-0000-0000-000000000000"]);
    /// `POST /operator/v1/opportunities`
    Create: ActingOperator = routes::create(
        "create_opportunity",
        || json!({"team_id": DEMO_BUYER, "title": "Weather station records", "tags": ["weather"], "budget_max": "20000.00", "budget_unit": "total"}),
        Actor::Team,
        &[EventType::OpportunityCreated],
    );
    /// `GET /operator/v1/opportunities/{opportunity_id}`
    Get: Operator = routes::get("get_opportunity", "opportunities");
    /// `PATCH /operator/v1/opportunities/{opportunity_id}`
    Update: ActingOperator = routes::patch(
        "update_opportunity",
        "opportunities",
        || json!({"title": "Weather records of each hour"}),
        Actor::Team,
        &[EventType::OpportunityUpdated],
    ).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/opportunities/{opportunity_id}/publish`
    Publish: ActingOperator =
        routes::post("publish_opportunity", "opportunities", Actor::Team, &[EventType::OpportunityPublished]).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/opportunities/{opportunity_id}/close`
    Close: ActingOperator =
        routes::post("close_opportunity", "opportunities", Actor::Team, &[EventType::OpportunityClosed]).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/opportunities/{opportunity_id}/cancel`
    Cancel: ActingOperator =
        routes::post("cancel_opportunity", "opportunities", Actor::Team, &[EventType::OpportunityCancelled]).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/opportunities/{opportunity_id}/exclude`
    Exclude: ActingOperator = routes::post_body(
        "exclude_from_opportunity",
        "opportunities",
        || json!({"team_ids": [DEMO_TEAM]}),
        Actor::Team,
        &[EventType::OpportunityTeamsExcluded],
    ).with_conflicts(&[Code::InvalidTransition]);
}

pub struct OpportunitiesApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Opportunities")]
impl OpportunitiesApi {
    /// List opportunities
    ///
    /// Returns the opportunities of all teams, newest first.
    #[oai(path = "/opportunities", method = "get", operation_id = "list_opportunities")]
    async fn list(&self, call: Call<List>, query: Params<OpportunityQuery>) -> JsonResult<OpportunityPage> {
        pages::list(call, query).await
    }

    /// Create an opportunity
    ///
    /// Creates a draft. No vendor sees it until it is published. A team can have at most 200 drafts and published ones.
    #[oai(path = "/opportunities", method = "post", operation_id = "create_opportunity")]
    async fn create(
        &self,
        call: Call<Create>,
        idempotent: Idempotent,
        body: Body<OpportunityIn>,
    ) -> JsonResult<OpportunityOut, 201> {
        changes::post_body(call, idempotent, body, |writer, platform, body: OpportunityIn| {
            body.create(writer, platform, KIND)
        })
        .await
    }

    /// Get an opportunity
    ///
    /// Returns an opportunity.
    #[oai(path = "/opportunities/:opportunity_id", method = "get", operation_id = "get_opportunity")]
    async fn get(
        &self,
        call: Call<Get>,
        /// ID of the opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<OpportunityOut> {
        resources::get(call, opportunity_id.0).await
    }

    /// Update an opportunity
    ///
    /// Changes a draft, or moves the deadline of a published opportunity to a later time. A later deadline opens it again.
    #[oai(path = "/opportunities/:opportunity_id", method = "patch", operation_id = "update_opportunity")]
    async fn update(
        &self,
        call: Call<Update>,
        if_match: IfMatch,
        /// ID of the opportunity.
        opportunity_id: Path<Uuid>,
        body: Body<OpportunityPatch>,
    ) -> JsonResult<OpportunityOut> {
        changes::patch(
            call,
            if_match,
            opportunity_id.0,
            body,
            |writer, platform, id, patch: OpportunityPatch| patch.apply(writer, platform, (*id, KIND)),
        )
        .await
    }

    /// Publish an opportunity
    ///
    /// Publishes a draft, and notifies all vendors that may see it.
    #[oai(
        path = "/opportunities/:opportunity_id/publish",
        method = "post",
        operation_id = "publish_opportunity"
    )]
    async fn publish(
        &self,
        call: Call<Publish>,
        idempotent: Idempotent,
        /// ID of the opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<OpportunityOut> {
        changes::post(call, idempotent, move |writer, platform| {
            bodies::publish(writer, platform, (opportunity_id.0, KIND))
        })
        .await
    }

    /// Close an opportunity
    ///
    /// Closes a draft or a published opportunity to responses. Its buyer can still decide about bids.
    #[oai(path = "/opportunities/:opportunity_id/close", method = "post", operation_id = "close_opportunity")]
    async fn close(
        &self,
        call: Call<Close>,
        idempotent: Idempotent,
        /// ID of the opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<OpportunityOut> {
        changes::post(call, idempotent, move |writer, platform| {
            bodies::end(writer, platform, (opportunity_id.0, KIND), opportunities::close)
        })
        .await
    }

    /// Cancel an opportunity
    ///
    /// Cancels a published opportunity. Bids on it stay as they are, but cannot be accepted.
    #[oai(
        path = "/opportunities/:opportunity_id/cancel",
        method = "post",
        operation_id = "cancel_opportunity"
    )]
    async fn cancel(
        &self,
        call: Call<Cancel>,
        idempotent: Idempotent,
        /// ID of the opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<OpportunityOut> {
        changes::post(call, idempotent, move |writer, platform| {
            bodies::end(writer, platform, (opportunity_id.0, KIND), opportunities::cancel)
        })
        .await
    }

    /// Exclude teams from an opportunity
    ///
    /// Hides a draft or a published opportunity from teams, in addition to those that it excludes already. A team that was
    /// notified of it, or has bid on it, can still read it.
    #[oai(
        path = "/opportunities/:opportunity_id/exclude",
        method = "post",
        operation_id = "exclude_from_opportunity"
    )]
    async fn exclude(
        &self,
        call: Call<Exclude>,
        idempotent: Idempotent,
        /// ID of the opportunity.
        opportunity_id: Path<Uuid>,
        body: Body<TeamExclusion>,
    ) -> JsonResult<OpportunityOut> {
        changes::post_body(call, idempotent, body, move |writer, platform, body: TeamExclusion| {
            bodies::exclude(writer, platform, (opportunity_id.0, KIND), body)
        })
        .await
    }
}
