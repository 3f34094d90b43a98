//! Aggregates of the catalog, of requests for listings, of the taxonomy, and of notifications.

use poem_openapi::OpenApi;

use super::{
    output::AggregatesOut,
    queries::{
        ListingsAggregateQuery, NotificationsAggregateQuery, OpportunitiesAggregateQuery,
        TaxonomyAggregateQuery,
    },
    responses::respond,
    tool::{AGGREGATE_TOOL, aggregate_route},
};
use crate::{
    domain::browse::SortOrder,
    operations::{
        access::{AuthenticatedTeam, FullCatalogViewer, Member, Vendor},
        aggregates,
        browse::{CursorForm, PageRequest},
    },
    rest::{
        json::JsonResult,
        limits::Budget,
        params::Params,
        route::{Call, Contract, DeclaredRoute, Route, RouteAttributes, Target, Tool},
    },
    store::aggregates as lists,
};

aggregate_route!(
    AggregateListings,
    FullCatalogViewer,
    "aggregate_listings",
    "browse_listings",
    Budget::Catalog,
    "`GET /agents/v1/aggregates/listings`"
);
aggregate_route!(
    AggregateOpportunities,
    Vendor,
    "aggregate_opportunities",
    "list_opportunities",
    Budget::Other,
    "`GET /agents/v1/aggregates/opportunities`"
);
aggregate_route!(
    AggregateNotifications,
    Member,
    "aggregate_notifications",
    "list_notifications",
    Budget::Other,
    "`GET /agents/v1/aggregates/notifications`"
);

aggregate_route!(
    AggregateTaxonomy,
    AuthenticatedTeam,
    "aggregate_taxonomy",
    "list_taxonomy",
    Budget::Other,
    "`GET /agents/v1/aggregates/taxonomy`"
);

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 4] = [
    DeclaredRoute::of::<AggregateListings>(),
    DeclaredRoute::of::<AggregateOpportunities>(),
    DeclaredRoute::of::<AggregateNotifications>(),
    DeclaredRoute::of::<AggregateTaxonomy>(),
];

pub struct CatalogAggregatesApi;

#[OpenApi(prefix_path = "/agents/v1/aggregates", tag = "crate::rest::tags::Tag::Catalog")]
impl CatalogAggregatesApi {
    /// Aggregate listings of the catalog
    ///
    /// Returns statistics of the published listings that the filters allow.
    #[oai(path = "/listings", method = "get", operation_id = "aggregate_listings")]
    async fn listings(
        &self,
        call: Call<AggregateListings>,
        query: Params<ListingsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let ListingsAggregateQuery { request, filters } = query.0;
        let (request, mut condition) = (request.into_request(), filters.into_condition()?);
        respond(&call.served, call.access.requester(), move |reader| {
            condition.resolve(reader)?;
            let page = PageRequest {
                text: condition.text,
                filters: condition.filters,
                owned: condition.owned,
                sort: SortOrder::Recent,
                limit: 1,
                cursor: None,
                cursor_form: CursorForm::Short,
                skip: 0,
            };
            aggregates::of_catalog(reader, call.access.viewer(), page, &request)
        })
        .await
    }

    /// Aggregate opportunities
    ///
    /// Returns statistics of the open requests for listings that the team may see and the filters allow.
    #[oai(path = "/opportunities", method = "get", operation_id = "aggregate_opportunities")]
    async fn opportunities(
        &self,
        call: Call<AggregateOpportunities>,
        query: Params<OpportunitiesAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = (query.0.request.into_request(), query.0.filters.into());
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_opportunities(reader, &call.access, &filter, &request)
        })
        .await
    }

    /// Aggregate notifications
    ///
    /// Returns statistics of the team's notifications that the filters allow.
    #[oai(path = "/notifications", method = "get", operation_id = "aggregate_notifications")]
    async fn notifications(
        &self,
        call: Call<AggregateNotifications>,
        query: Params<NotificationsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts()?;
        respond(&call.served, call.access.requester(), move |reader| {
            let list = &lists::NOTIFICATIONS;
            aggregates::of_member(reader, &call.access, list, &filter, &request)
        })
        .await
    }

    /// Aggregate the taxonomy
    ///
    /// Returns statistics of the terms that filters take.
    #[oai(path = "/taxonomy", method = "get", operation_id = "aggregate_taxonomy")]
    async fn taxonomy(
        &self,
        call: Call<AggregateTaxonomy>,
        query: Params<TaxonomyAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let TaxonomyAggregateQuery { request, kind } = query.0;
        let request = request.into_request();
        respond(&call.served, call.access.requester(), move |reader| {
            let kinds: Vec<_> = kind.into_iter().map(|kind| kind.0).collect();
            aggregates::of_taxonomy(reader, &call.access, &kinds, &request)
        })
        .await
    }
}
