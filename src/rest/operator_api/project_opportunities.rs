//! Project opportunities: what buyers post to ask for custom task work.

use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{
    changes::{self, Change},
    opportunity_bodies as bodies,
    opportunity_bodies::{OpportunityQuery, ProjectOpportunityIn, ProjectOpportunityPatch, TeamExclusion},
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
        arguments::{if_match::IfMatch, params::Params, request_body::Body},
        json::JsonResult,
        route::{Call, Path},
        shapes::{Money, UtcTime},
    },
    store::records::{Record, Records, opportunities::PROJECT_OPPORTUNITIES},
    web::enum_value::EnumValue,
};

const KIND: OpportunityKind = OpportunityKind::Project;

/// A project opportunity: a request for custom task work that a buyer posts.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "ProjectOpportunity")]
pub struct ProjectOpportunityOut {
    /// ID of the project opportunity.
    pub id: Uuid,
    /// ID of the buyer team that posts it.
    pub team_id: Uuid,
    /// Title.
    pub title: String,
    /// What the buyer is looking for.
    pub description: String,
    /// State of the project opportunity.
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
    /// Time at which bids are evaluated; null if none is set.
    pub evaluation_date: Option<UtcTime>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the latest change.
    pub updated_at: UtcTime,
    /// Time at which it was closed; null unless closed.
    pub closed_at: Option<UtcTime>,
}

subject!(ProjectOpportunityOut, "project_opportunity", id, team_id);

impl Record for ProjectOpportunityOut {
    type Id = Uuid;

    const RECORDS: &'static Records = &PROJECT_OPPORTUNITIES;
}

impl Resource for ProjectOpportunityOut {
    type Record = ProjectOpportunityOut;

    fn new(mut found: ProjectOpportunityOut, context: &CheckContext) -> ProjectOpportunityOut {
        found.open = found.status.0.is_open(found.deadline.map(|deadline| deadline.0), context.now);
        found
    }
}

page_of! {
    /// A page of project opportunities.
    ProjectOpportunityPage, ProjectOpportunityOut
}

#[routes(prefix = "/operator/v1", tag = Opportunities)]
impl ProjectOpportunitiesApi {
    /// List project opportunities
    ///
    /// Returns the project opportunities of all teams, newest first.
    #[get(
        "/project-opportunities",
        routes::list(&["status=published&limit=2", "team_id=00000000-0000-0000-0000-000000000000"]),
    )]
    async fn list_project_opportunities(
        call: Call<Operator>,
        query: Params<OpportunityQuery>,
    ) -> JsonResult<ProjectOpportunityPage> {
        pages::list(call, query).await
    }

    /// Create a project opportunity
    ///
    /// Creates a draft. No vendor sees it until it is published. A team can have at most 200 drafts and published ones.
    #[post("/project-opportunities", routes::create(Actor::Team, &[EventType::OpportunityCreated]))]
    async fn create_project_opportunity(
        change: Change,
        #[example(json!({
            "team_id": DEMO_BUYER,
            "title": "Tasks about weather maps",
            "tags": ["weather"],
            "budget_max": "20000.00",
            "budget_unit": "total",
        }))]
        body: Body<ProjectOpportunityIn>,
    ) -> JsonResult<ProjectOpportunityOut, 201> {
        changes::post_body(change, body, |writer, platform, body: ProjectOpportunityIn| {
            body.create(writer, platform, KIND)
        })
        .await
    }

    /// Get a project opportunity
    ///
    /// Returns a project opportunity.
    #[get("/project-opportunities/{opportunity_id}", routes::get("project_opportunities"))]
    async fn get_project_opportunity(
        call: Call<Operator>,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<ProjectOpportunityOut> {
        resources::get(call, opportunity_id.0).await
    }

    /// Update a project opportunity
    ///
    /// Changes a draft, or moves the deadline of a published project opportunity to a later time. A later deadline opens it again.
    #[patch(
        "/project-opportunities/{opportunity_id}",
        routes::change("project_opportunities", Actor::Team, &[EventType::OpportunityUpdated])
            .with_conflicts(&[Code::InvalidTransition]),
    )]
    async fn update_project_opportunity(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
        #[example(json!({"title": "Weather records of each hour"}))] body: Body<ProjectOpportunityPatch>,
    ) -> JsonResult<ProjectOpportunityOut> {
        changes::patch(
            call,
            if_match,
            opportunity_id.0,
            body,
            |writer, platform, id, patch: ProjectOpportunityPatch| patch.apply(writer, platform, (*id, KIND)),
        )
        .await
    }

    /// Publish a project opportunity
    ///
    /// Publishes a draft, and notifies all vendors that may see it.
    #[post(
        "/project-opportunities/{opportunity_id}/publish",
        routes::change("project_opportunities", Actor::Team, &[EventType::OpportunityPublished])
            .with_conflicts(&[Code::InvalidTransition]),
    )]
    async fn publish_project_opportunity(
        change: Change,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<ProjectOpportunityOut> {
        changes::post(change, move |writer, platform| {
            bodies::publish(writer, platform, (opportunity_id.0, KIND))
        })
        .await
    }

    /// Close a project opportunity
    ///
    /// Closes a draft or a published project opportunity to responses. Its buyer can still decide about bids.
    #[post(
        "/project-opportunities/{opportunity_id}/close",
        routes::change("project_opportunities", Actor::Team, &[EventType::OpportunityClosed])
            .with_conflicts(&[Code::InvalidTransition]),
    )]
    async fn close_project_opportunity(
        change: Change,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<ProjectOpportunityOut> {
        changes::post(change, move |writer, platform| {
            bodies::end(writer, platform, (opportunity_id.0, KIND), opportunities::close)
        })
        .await
    }

    /// Cancel a project opportunity
    ///
    /// Cancels a published project opportunity. Bids on it stay as they are, but cannot be accepted.
    #[post(
        "/project-opportunities/{opportunity_id}/cancel",
        routes::change("project_opportunities", Actor::Team, &[EventType::OpportunityCancelled])
            .with_conflicts(&[Code::InvalidTransition]),
    )]
    async fn cancel_project_opportunity(
        change: Change,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<ProjectOpportunityOut> {
        changes::post(change, move |writer, platform| {
            bodies::end(writer, platform, (opportunity_id.0, KIND), opportunities::cancel)
        })
        .await
    }

    /// Exclude teams from a project opportunity
    ///
    /// Hides a draft or a published project opportunity from teams, in addition to those that it excludes already. A team that was
    /// notified of it, or has bid on it, can still read it.
    #[post(
        "/project-opportunities/{opportunity_id}/exclude",
        routes::change("project_opportunities", Actor::Team, &[EventType::OpportunityTeamsExcluded])
            .with_conflicts(&[Code::InvalidTransition]),
    )]
    async fn exclude_from_project_opportunity(
        change: Change,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
        #[example(json!({"team_ids": [DEMO_TEAM]}))] body: Body<TeamExclusion>,
    ) -> JsonResult<ProjectOpportunityOut> {
        changes::post_body(change, body, move |writer, platform, body: TeamExclusion| {
            bodies::exclude(writer, platform, (opportunity_id.0, KIND), body)
        })
        .await
    }
}
