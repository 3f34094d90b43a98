//! Aggregates of the catalog, of requests for listings, of the taxonomy, and of notifications.

use super::{
    output::AggregatesOut,
    queries::{
        ListingsAggregateQuery, NotificationsAggregateQuery, OpportunitiesAggregateQuery,
        TaxonomyAggregateQuery,
    },
    responses::respond,
    tool::aggregate,
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
        route::{Call, routes},
    },
    store::aggregates as lists,
};

#[routes(prefix = "/agents/v1/aggregates", tag = Catalog)]
impl CatalogAggregatesApi {
    /// Aggregate listings of the catalog
    ///
    /// Returns statistics of the published listings that the filters allow.
    #[get("/listings", aggregate("browse_listings", Budget::Catalog))]
    async fn aggregate_listings(
        call: Call<FullCatalogViewer>,
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
    #[get("/opportunities", aggregate("list_opportunities", Budget::Other))]
    async fn aggregate_opportunities(
        call: Call<Vendor>,
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
    #[get("/notifications", aggregate("list_notifications", Budget::Other))]
    async fn aggregate_notifications(
        call: Call<Member>,
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
    #[get("/taxonomy", aggregate("list_taxonomy", Budget::Other))]
    async fn aggregate_taxonomy(
        call: Call<AuthenticatedTeam>,
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
