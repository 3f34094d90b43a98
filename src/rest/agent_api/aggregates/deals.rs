//! Aggregates of purchases, sales, offers, earnings, requests for data, and bids.

use poem_openapi::OpenApi;

use super::{
    output::AggregatesOut,
    queries::{
        BidsAggregateQuery, DatedAggregateQuery, KindAggregateQuery, OffersAggregateQuery,
        PurchasesAggregateQuery, ReceivedBidsAggregateQuery,
    },
    responses::{of_buyer, of_vendor},
    tool::{AGGREGATE_TOOL, aggregate_route},
};
use crate::{
    domain::{
        ledger::EntryType,
        opportunities::{OpportunityKind, OpportunityStatus},
        purchases::PurchaseKind,
    },
    operations::access::{Buyer, Vendor},
    rest::{
        enum_value::EnumValue,
        json::JsonResult,
        limits::Budget,
        params::Params,
        route::{Call, Contract, DeclaredRoute, Route, RouteAttributes, Target, Tool},
    },
    store::aggregates as lists,
};

aggregate_route!(
    AggregatePurchases,
    Buyer,
    "aggregate_purchases",
    "list_purchases",
    Budget::Purchases,
    "`GET /agents/v1/aggregates/purchases`"
);
aggregate_route!(
    AggregateOffers,
    Buyer,
    "aggregate_offers",
    "list_offers",
    Budget::Purchases,
    "`GET /agents/v1/aggregates/offers`"
);
aggregate_route!(
    AggregateOwnOpportunities,
    Buyer,
    "aggregate_own_opportunities",
    "list_own_opportunities",
    Budget::Other,
    "`GET /agents/v1/aggregates/own-opportunities`"
);
aggregate_route!(
    AggregateReceivedProjectBids,
    Buyer,
    "aggregate_received_project_bids",
    "list_project_bids",
    Budget::Other,
    "`GET /agents/v1/aggregates/project-bids`"
);
aggregate_route!(
    AggregateSales,
    Vendor,
    "aggregate_sales",
    "list_sales",
    Budget::Sales,
    "`GET /agents/v1/aggregates/sales`"
);
aggregate_route!(
    AggregateEarnings,
    Vendor,
    "aggregate_earnings",
    "list_earnings",
    Budget::Other,
    "`GET /agents/v1/aggregates/earnings`"
);
aggregate_route!(
    AggregateProjectBids,
    Vendor,
    "aggregate_project_bids",
    "list_own_project_bids",
    Budget::Other,
    "`GET /agents/v1/aggregates/own-project-bids`"
);

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 7] = [
    DeclaredRoute::of::<AggregatePurchases>(),
    DeclaredRoute::of::<AggregateOffers>(),
    DeclaredRoute::of::<AggregateOwnOpportunities>(),
    DeclaredRoute::of::<AggregateReceivedProjectBids>(),
    DeclaredRoute::of::<AggregateSales>(),
    DeclaredRoute::of::<AggregateEarnings>(),
    DeclaredRoute::of::<AggregateProjectBids>(),
];

pub struct DealsAggregatesApi;

#[OpenApi(prefix_path = "/agents/v1/aggregates", tag = "crate::rest::tags::Tag::Catalog")]
impl DealsAggregatesApi {
    /// Aggregate purchases
    ///
    /// Returns statistics of the completed purchases that the filters allow.
    #[oai(path = "/purchases", method = "get", operation_id = "aggregate_purchases")]
    async fn purchases(
        &self,
        call: Call<AggregatePurchases>,
        query: Params<PurchasesAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let parts = (query.0.request.into_request(), query.0.filters.into_filter()?);
        of_buyer(&call.served, call.access, &lists::PURCHASES, parts).await
    }

    /// Aggregate offers
    ///
    /// Returns statistics of the offers of the team that the filters allow.
    #[oai(path = "/offers", method = "get", operation_id = "aggregate_offers")]
    async fn offers(
        &self,
        call: Call<AggregateOffers>,
        query: Params<OffersAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let parts = (query.0.request.into_request(), query.0.filters.into_filter()?);
        of_buyer(&call.served, call.access, &lists::OFFERS, parts).await
    }

    /// Aggregate own opportunities
    ///
    /// Returns statistics of the requests for data of the team that the filters allow.
    #[oai(path = "/own-opportunities", method = "get", operation_id = "aggregate_own_opportunities")]
    async fn own_opportunities(
        &self,
        call: Call<AggregateOwnOpportunities>,
        query: Params<DatedAggregateQuery<EnumValue<OpportunityStatus>, EnumValue<OpportunityKind>>>,
    ) -> JsonResult<AggregatesOut> {
        of_buyer(&call.served, call.access, &lists::OPPORTUNITIES, query.0.into_parts()?).await
    }

    /// Aggregate received bids on custom task work
    ///
    /// Returns statistics of vendors' bids on the team's requests for custom task work that the filters allow.
    #[oai(path = "/project-bids", method = "get", operation_id = "aggregate_received_project_bids")]
    async fn received_project_bids(
        &self,
        call: Call<AggregateReceivedProjectBids>,
        query: Params<ReceivedBidsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        of_buyer(&call.served, call.access, &lists::RECEIVED_PROJECT_BIDS, query.0.into_parts()?).await
    }

    /// Aggregate sales
    ///
    /// Returns statistics of the settled sales that the filters allow.
    #[oai(path = "/sales", method = "get", operation_id = "aggregate_sales")]
    async fn sales(
        &self,
        call: Call<AggregateSales>,
        query: Params<KindAggregateQuery<EnumValue<PurchaseKind>>>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::SALES, query.0.into_parts()?).await
    }

    /// Aggregate earnings
    ///
    /// Returns statistics of the entries of the team's earnings that the filters allow.
    #[oai(path = "/earnings", method = "get", operation_id = "aggregate_earnings")]
    async fn earnings(
        &self,
        call: Call<AggregateEarnings>,
        query: Params<KindAggregateQuery<EnumValue<EntryType>>>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::EARNINGS, query.0.into_parts()?).await
    }

    /// Aggregate bids on custom task work
    ///
    /// Returns statistics of the team's bids on requests for custom task work that the filters allow.
    #[oai(path = "/own-project-bids", method = "get", operation_id = "aggregate_project_bids")]
    async fn project_bids(
        &self,
        call: Call<AggregateProjectBids>,
        query: Params<BidsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::PROJECT_BIDS, query.0.into_parts()?).await
    }
}
