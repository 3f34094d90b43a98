//! Aggregates of a vendor's listings, inventory, estimations, and quality runs.

use super::{
    output::AggregatesOut,
    queries::{
        AssetsAggregateQuery, EstimationsAggregateQuery, KindAssetsAggregateQuery,
        LatestEstimationsAggregateQuery, OfListingAggregateQuery, OwnListingsAggregateQuery,
        PlainAggregateQuery, StatusAggregateQuery,
    },
    responses::{of_vendor, respond},
    tool::aggregate,
};
use crate::{
    domain::{quality_checks::CheckScope, quality_runs::RunStatus},
    operations::{
        access::Vendor,
        aggregates::{self, Request},
        assets::AssetFilter,
    },
    rest::{
        enum_value::EnumValue,
        filter_entries::{self, CodebaseFilters, FilterEntry, RawDataFilters, TaskFilters},
        json::JsonResult,
        limits::Budget,
        params::Params,
        route::{Call, routes},
        served_market::ServedMarket,
        vendor_api::listings::types::OwnListingsPage,
    },
    store::aggregates as lists,
};

#[routes(prefix = "/agents/v1/aggregates", tag = Catalog)]
impl InventoryAggregatesApi {
    /// Aggregate own listings
    ///
    /// Returns statistics of the team's own listings that the filters allow.
    #[get("/own-listings", aggregate("list_own_listings", Budget::Other))]
    async fn aggregate_own_listings(
        call: Call<Vendor>,
        query: Params<OwnListingsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let OwnListingsAggregateQuery { request, filters } = query.0;
        let request = request.into_request();
        respond(&call.served, call.access.requester(), move |reader| {
            let page = filters.into_request(reader, &call.access, &OwnListingsPage::default())?;
            aggregates::of_own_listings(reader, &call.access, page, &request)
        })
        .await
    }

    /// Aggregate the history of a listing
    ///
    /// Returns statistics of the events in the life of one of the team's own listings.
    #[get("/listing-history", aggregate("get_listing_history", Budget::History))]
    async fn aggregate_listing_history(
        call: Call<Vendor>,
        query: Params<OfListingAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, listing) = (query.0.request.into_request(), query.0.listing_id);
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_listing_history(reader, &call.access, listing, &request)
        })
        .await
    }

    /// Aggregate the assets of a listing
    ///
    /// Returns statistics of the assets of one of the team's own listings.
    #[get("/listing-assets", aggregate("list_listing_assets", Budget::Other))]
    async fn aggregate_listing_assets(
        call: Call<Vendor>,
        query: Params<OfListingAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, listing) = (query.0.request.into_request(), query.0.listing_id);
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_listing_assets(reader, &call.access, listing, &request)
        })
        .await
    }

    /// Aggregate assets
    ///
    /// Returns statistics of the team's assets that the filters allow.
    #[get("/assets", aggregate("list_assets", Budget::Other))]
    async fn aggregate_assets(
        call: Call<Vendor>,
        query: Params<AssetsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts(&call.access)?;
        of_assets(&call.served, call.access, filter, request).await
    }

    /// Aggregate codebases
    ///
    /// Returns statistics of the team's codebases that the filters allow.
    #[get("/codebases", aggregate("list_codebases", Budget::Other))]
    async fn aggregate_codebases(
        call: Call<Vendor>,
        query: Params<KindAssetsAggregateQuery<FilterEntry<CodebaseFilters>>>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts(&call.access)?;
        of_assets(&call.served, call.access, filter, request).await
    }

    /// Aggregate raw data
    ///
    /// Returns statistics of the team's raw data that the filters allow.
    #[get("/raw-data", aggregate("list_raw_data", Budget::Other))]
    async fn aggregate_raw_data(
        call: Call<Vendor>,
        query: Params<KindAssetsAggregateQuery<FilterEntry<RawDataFilters>>>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts(&call.access)?;
        of_assets(&call.served, call.access, filter, request).await
    }

    /// Aggregate tasks
    ///
    /// Returns statistics of the team's task assets that the filters allow.
    #[get("/tasks", aggregate("list_tasks", Budget::Other))]
    async fn aggregate_tasks(
        call: Call<Vendor>,
        query: Params<KindAssetsAggregateQuery<FilterEntry<TaskFilters>>>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts(&call.access)?;
        of_assets(&call.served, call.access, filter, request).await
    }

    /// Aggregate groups of assets
    ///
    /// Returns statistics of the groups of the team's inventory.
    #[get("/asset-groups", aggregate("list_asset_groups", Budget::Other))]
    async fn aggregate_asset_groups(
        call: Call<Vendor>,
        query: Params<PlainAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let request = query.0.request.into_request();
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_asset_groups(reader, &call.access, &request)
        })
        .await
    }

    /// Aggregate estimations
    ///
    /// Returns statistics of the estimations of the team that the filters allow.
    #[get("/estimations", aggregate("list_estimations", Budget::Other))]
    async fn aggregate_estimations(
        call: Call<Vendor>,
        query: Params<EstimationsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let EstimationsAggregateQuery { request, filter, period } = query.0;
        let (conditions, period) = (filter_entries::parse_query_entries(&filter)?, period.into_period()?);
        let request = request.into_request();
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_estimations(reader, &call.access, &conditions, &period, &request)
        })
        .await
    }

    /// Aggregate the latest estimations of assets
    ///
    /// Returns statistics of the latest estimations of the given assets.
    #[get("/latest-estimations", aggregate("list_latest_estimations", Budget::Other))]
    async fn aggregate_latest_estimations(
        call: Call<Vendor>,
        query: Params<LatestEstimationsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let LatestEstimationsAggregateQuery { request, asset_id } = query.0;
        let request = request.into_request();
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_latest_estimations(reader, &call.access, &asset_id, &request)
        })
        .await
    }

    /// Aggregate quality runs
    ///
    /// Returns statistics of the quality runs of the team that the filters allow.
    #[get("/qc-reports", aggregate("list_qc_reports", Budget::QualityChecks))]
    async fn aggregate_qc_reports(
        call: Call<Vendor>,
        query: Params<StatusAggregateQuery<EnumValue<RunStatus>, EnumValue<CheckScope>>>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::QUALITY_RUNS, query.0.into_parts()?).await
    }
}

/// Aggregates assets of a vendor.
async fn of_assets(
    served: &ServedMarket,
    vendor: Vendor,
    filter: AssetFilter,
    request: Request,
) -> JsonResult<AggregatesOut> {
    respond(served, vendor.requester(), move |reader| {
        aggregates::of_assets(reader, &vendor, filter, &request)
    })
    .await
}
