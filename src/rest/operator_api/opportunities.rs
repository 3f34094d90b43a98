//! Opportunities: what buyers post to ask for listings. Project opportunities: what they post to ask for custom task work.

use super::{
    opportunity_bodies as bodies,
    opportunity_bodies::{
        OpportunityIn, OpportunityPatch, OpportunityQuery, ProjectOpportunityIn, ProjectOpportunityPatch,
        TeamExclusion,
    },
};
use crate::{
    domain::{
        assets::Kind,
        opportunities::{BudgetUnit, OpportunityKind, OpportunityStatus, VisibilityMode},
    },
    operations::opportunities,
    rest::operator_api::prelude::*,
    store::records::{
        Record, Records,
        opportunities::{OPPORTUNITIES, PROJECT_OPPORTUNITIES},
    },
};

/// The attributes of a change that the state of an opportunity may not permit.
const fn change(collection: &'static str, events: &'static [EventType]) -> RouteAttributes {
    routes::transition(collection, Actor::Team, events)
}

/// Declares the JSON and the routes of opportunities of a kind. The kinds differ only in names and texts, and in the date of the
/// evaluation, which only project opportunities have.
macro_rules! opportunities_of_kind {
    (
        $kind:expr, $records:expr, $collection:literal, $subject:literal, $in:ident, $patch:ident;

        #[doc = $out_doc:tt] $out:ident = $schema:tt {
            #[doc = $id_doc:tt] id,
            #[doc = $status_doc:tt] status,
            $(#[doc = $date_doc:tt] evaluation_date: $date:ty,)?
        }
        #[doc = $page_doc:tt] $page:ident;

        $api:ident at $path:literal: $one:literal, $a_one:literal, $many:literal;
        $list:ident, $create:ident titled $title:literal, $get:ident, $update:ident,
        $publish:ident, $close:ident, $cancel:ident, $exclude:ident;
    ) => {
        #[doc = $out_doc]
        #[derive(Debug, Object, Serialize, Deserialize)]
        #[oai(rename = $schema)]
        pub struct $out {
            #[doc = $id_doc]
            pub id: Uuid,
            /// ID of the buyer team that posts it.
            pub team_id: Uuid,
            /// Title.
            pub title: String,
            /// What the buyer is looking for.
            pub description: String,
            #[doc = $status_doc]
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
            $(#[doc = $date_doc] pub evaluation_date: $date,)?
            /// Time of creation.
            pub created_at: UtcTime,
            /// Time of the latest change.
            pub updated_at: UtcTime,
            /// Time at which it was closed; null unless closed.
            pub closed_at: Option<UtcTime>,
        }

        subject!($out, $subject, id, team_id);

        impl Record for $out {
            type Id = Uuid;

            const RECORDS: &'static Records = &$records;
        }

        impl Resource for $out {
            type Record = $out;

            fn new(mut found: $out, context: &CheckContext) -> $out {
                found.open = found.status.0.is_open(found.deadline.map(|deadline| deadline.0), context.now);
                found
            }
        }

        page_of! {
            #[doc = $page_doc]
            $page, $out
        }

        #[routes(prefix = "/operator/v1", tag = Opportunities)]
        impl $api {
            #[doc = concat!("List ", $many)]
            ///
            #[doc = concat!("Returns the ", $many, " of all teams, newest first.")]
            #[get(
                $path,
                routes::list(&["status=published&limit=2", "team_id=00000000-0000-0000-0000-000000000000"]),
            )]
            async fn $list(call: Call<Operator>, query: Params<OpportunityQuery>) -> JsonResult<$page> {
                pages::list(call, query).await
            }

            #[doc = concat!("Create ", $a_one)]
            ///
            /// Creates a draft. No vendor sees it until it is published. A team can have at most 200 drafts and published ones.
            #[post($path, routes::create(Actor::Team, &[EventType::OpportunityCreated]))]
            async fn $create(
                change: Change,
                #[example(json!({
                    "team_id": DEMO_BUYER,
                    "title": $title,
                    "tags": ["weather"],
                    "budget_max": "20000.00",
                    "budget_unit": "total",
                }))]
                body: Body<$in>,
            ) -> JsonResult<$out, 201> {
                changes::post_body(change, body, |writer, platform, body: $in| {
                    bodies::create(writer, platform, $kind, body.into_parts()?)
                })
                .await
            }

            #[doc = concat!("Get ", $a_one)]
            ///
            #[doc = concat!("Returns ", $a_one, ".")]
            #[get(concat!($path, "/{opportunity_id}"), routes::get($collection))]
            async fn $get(
                call: Call<Operator>,
                #[doc = $id_doc] opportunity_id: Path<Uuid>,
            ) -> JsonResult<$out> {
                resources::get(call, opportunity_id.0).await
            }

            #[doc = concat!("Update ", $a_one)]
            ///
            #[doc = concat!(
                "Changes a draft, or moves the deadline of a published ", $one,
                " to a later time. A later deadline opens it again.",
            )]
            #[patch(concat!($path, "/{opportunity_id}"), change($collection, &[EventType::OpportunityUpdated]))]
            async fn $update(
                call: Call<ActingOperator>,
                if_match: IfMatch,
                #[doc = $id_doc] opportunity_id: Path<Uuid>,
                #[example(json!({"title": "Weather records of each hour"}))] body: Body<$patch>,
            ) -> JsonResult<$out> {
                changes::patch(call, if_match, opportunity_id.0, body, |writer, platform, id, patch: $patch| {
                    bodies::update(writer, platform, (*id, $kind), |found| patch.changes_to(found))
                })
                .await
            }

            #[doc = concat!("Publish ", $a_one)]
            ///
            /// Publishes a draft, and notifies all vendors that may see it.
            #[post(
                concat!($path, "/{opportunity_id}/publish"),
                change($collection, &[EventType::OpportunityPublished]),
            )]
            async fn $publish(
                change: Change,
                #[doc = $id_doc] opportunity_id: Path<Uuid>,
            ) -> JsonResult<$out> {
                changes::transition(change, opportunity_id, |writer, platform, actor, id| {
                    bodies::publish(writer, platform, actor, (id, $kind))
                })
                .await
            }

            #[doc = concat!("Close ", $a_one)]
            ///
            #[doc = concat!(
                "Closes a draft or a published ", $one, " to responses. Its buyer can still decide about bids.",
            )]
            #[post(concat!($path, "/{opportunity_id}/close"), change($collection, &[EventType::OpportunityClosed]))]
            async fn $close(
                change: Change,
                #[doc = $id_doc] opportunity_id: Path<Uuid>,
            ) -> JsonResult<$out> {
                changes::transition(change, opportunity_id, |writer, platform, _, id| {
                    bodies::as_owner(writer, platform, (id, $kind), opportunities::close)
                })
                .await
            }

            #[doc = concat!("Cancel ", $a_one)]
            ///
            #[doc = concat!(
                "Cancels a published ", $one, ". Bids on it stay as they are, but cannot be accepted.",
            )]
            #[post(
                concat!($path, "/{opportunity_id}/cancel"),
                change($collection, &[EventType::OpportunityCancelled]),
            )]
            async fn $cancel(
                change: Change,
                #[doc = $id_doc] opportunity_id: Path<Uuid>,
            ) -> JsonResult<$out> {
                changes::transition(change, opportunity_id, |writer, platform, _, id| {
                    bodies::as_owner(writer, platform, (id, $kind), opportunities::cancel)
                })
                .await
            }

            #[doc = concat!("Exclude teams from ", $a_one)]
            ///
            #[doc = concat!(
                "Hides a draft or a published ", $one,
                " from teams, in addition to those that it excludes already. A team that was",
            )]
            /// notified of it, or has bid on it, can still read it.
            #[post(
                concat!($path, "/{opportunity_id}/exclude"),
                change($collection, &[EventType::OpportunityTeamsExcluded]),
            )]
            async fn $exclude(
                change: Change,
                #[doc = $id_doc] opportunity_id: Path<Uuid>,
                #[example(json!({"team_ids": [DEMO_TEAM]}))] body: Body<TeamExclusion>,
            ) -> JsonResult<$out> {
                let of = (opportunity_id.0, $kind);
                changes::post_body(change, body, move |writer, platform, body: TeamExclusion| {
                    bodies::as_owner(writer, platform, of, |writer, owner, actor, of| {
                        opportunities::exclude(writer, owner, actor, of, &body.into_team_ids()?)
                    })
                })
                .await
            }
        }
    };
}

opportunities_of_kind! {
    OpportunityKind::Listing, OPPORTUNITIES, "opportunities", "opportunity",
    OpportunityIn, OpportunityPatch;

    /// An opportunity: a request for listings that a buyer posts.
    OpportunityOut = "Opportunity" {
        /// ID of the opportunity.
        id,
        /// State of the opportunity.
        status,
    }
    /// A page of opportunities.
    OpportunityPage;

    OpportunitiesApi at "/opportunities": "opportunity", "an opportunity", "opportunities";
    list_opportunities, create_opportunity titled "Weather station records", get_opportunity, update_opportunity,
    publish_opportunity, close_opportunity, cancel_opportunity, exclude_from_opportunity;
}

opportunities_of_kind! {
    OpportunityKind::Project, PROJECT_OPPORTUNITIES, "project_opportunities", "project_opportunity",
    ProjectOpportunityIn, ProjectOpportunityPatch;

    /// A project opportunity: a request for custom task work that a buyer posts.
    ProjectOpportunityOut = "ProjectOpportunity" {
        /// ID of the project opportunity.
        id,
        /// State of the project opportunity.
        status,
        /// Time at which bids are evaluated; null if none is set.
        evaluation_date: Option<UtcTime>,
    }
    /// A page of project opportunities.
    ProjectOpportunityPage;

    ProjectOpportunitiesApi at "/project-opportunities":
        "project opportunity", "a project opportunity", "project opportunities";
    list_project_opportunities, create_project_opportunity titled "Tasks about weather maps",
    get_project_opportunity, update_project_opportunity,
    publish_project_opportunity, close_project_opportunity, cancel_project_opportunity,
    exclude_from_project_opportunity;
}
