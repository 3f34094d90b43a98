//! Aggregates of purchases, sales, offers, earnings, requests for data, and bids.

use super::{
    output::AggregatesOut,
    queries::{
        BidsAggregateQuery, DatedAggregateQuery, KindAggregateQuery, OffersAggregateQuery,
        PurchasesAggregateQuery, ReceivedBidsAggregateQuery,
    },
    responses::{of_buyer, of_vendor},
    tool::aggregate,
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
        route::{Call, routes},
    },
    store::aggregates as lists,
};

#[routes(prefix = "/agents/v1/aggregates", tag = Catalog)]
impl DealsAggregatesApi {
    /// Aggregate purchases
    ///
    /// Returns statistics of the completed purchases that the filters allow.
    #[get("/purchases", aggregate("list_purchases", Budget::Purchases))]
    async fn aggregate_purchases(
        call: Call<Buyer>,
        query: Params<PurchasesAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let parts = (query.0.request.into_request(), query.0.filters.into_filter()?);
        of_buyer(&call.served, call.access, &lists::PURCHASES, parts).await
    }

    /// Aggregate offers
    ///
    /// Returns statistics of the offers of the team that the filters allow.
    #[get("/offers", aggregate("list_offers", Budget::Purchases))]
    async fn aggregate_offers(
        call: Call<Buyer>,
        query: Params<OffersAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let parts = (query.0.request.into_request(), query.0.filters.into_filter()?);
        of_buyer(&call.served, call.access, &lists::OFFERS, parts).await
    }

    /// Aggregate own opportunities
    ///
    /// Returns statistics of the requests for data of the team that the filters allow.
    #[get("/own-opportunities", aggregate("list_own_opportunities", Budget::Other))]
    async fn aggregate_own_opportunities(
        call: Call<Buyer>,
        query: Params<DatedAggregateQuery<EnumValue<OpportunityStatus>, EnumValue<OpportunityKind>>>,
    ) -> JsonResult<AggregatesOut> {
        of_buyer(&call.served, call.access, &lists::OPPORTUNITIES, query.0.into_parts()?).await
    }

    /// Aggregate received bids on custom task work
    ///
    /// Returns statistics of vendors' bids on the team's requests for custom task work that the filters allow.
    #[get("/project-bids", aggregate("list_project_bids", Budget::Other))]
    async fn aggregate_received_project_bids(
        call: Call<Buyer>,
        query: Params<ReceivedBidsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        of_buyer(&call.served, call.access, &lists::RECEIVED_PROJECT_BIDS, query.0.into_parts()?).await
    }

    /// Aggregate sales
    ///
    /// Returns statistics of the settled sales that the filters allow.
    #[get("/sales", aggregate("list_sales", Budget::Sales))]
    async fn aggregate_sales(
        call: Call<Vendor>,
        query: Params<KindAggregateQuery<EnumValue<PurchaseKind>>>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::SALES, query.0.into_parts()?).await
    }

    /// Aggregate earnings
    ///
    /// Returns statistics of the entries of the team's earnings that the filters allow.
    #[get("/earnings", aggregate("list_earnings", Budget::Other))]
    async fn aggregate_earnings(
        call: Call<Vendor>,
        query: Params<KindAggregateQuery<EnumValue<EntryType>>>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::EARNINGS, query.0.into_parts()?).await
    }

    /// Aggregate bids on custom task work
    ///
    /// Returns statistics of the team's bids on requests for custom task work that the filters allow.
    #[get("/own-project-bids", aggregate("list_own_project_bids", Budget::Other))]
    async fn aggregate_project_bids(
        call: Call<Vendor>,
        query: Params<BidsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::PROJECT_BIDS, query.0.into_parts()?).await
    }
}
