//! Aggregates of a vendor's listings, inventory, estimations, and quality runs.

use poem_openapi::OpenApi;

use super::{
    output::AggregatesOut,
    queries::{
        AssetsAggregateQuery, EstimationsAggregateQuery, KindAssetsAggregateQuery,
        LatestEstimationsAggregateQuery, OfListingAggregateQuery, OwnListingsAggregateQuery,
        PlainAggregateQuery, StatusAggregateQuery,
    },
    responses::{of_vendor, respond},
    tool::{AGGREGATE_TOOL, aggregate_route},
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
        route::{Call, Contract, DeclaredRoute, Route, RouteAttributes, Target, Tool},
        served_market::ServedMarket,
        vendor_api::listings::types::OwnListingsPage,
    },
    store::aggregates as lists,
};

aggregate_route!(
    AggregateOwnListings,
    Vendor,
    "aggregate_own_listings",
    "list_own_listings",
    Budget::Other,
    "`GET /agents/v1/aggregates/own-listings`"
);
aggregate_route!(
    AggregateAssets,
    Vendor,
    "aggregate_assets",
    "list_assets",
    Budget::Other,
    "`GET /agents/v1/aggregates/assets`"
);
aggregate_route!(
    AggregateQcReports,
    Vendor,
    "aggregate_qc_reports",
    "list_qc_reports",
    Budget::QualityChecks,
    "`GET /agents/v1/aggregates/qc-reports`"
);
aggregate_route!(
    AggregateEstimations,
    Vendor,
    "aggregate_estimations",
    "list_estimations",
    Budget::Other,
    "`GET /agents/v1/aggregates/estimations`"
);
aggregate_route!(
    AggregateCodebases,
    Vendor,
    "aggregate_codebases",
    "list_codebases",
    Budget::Other,
    "`GET /agents/v1/aggregates/codebases`"
);
aggregate_route!(
    AggregateRawData,
    Vendor,
    "aggregate_raw_data",
    "list_raw_data",
    Budget::Other,
    "`GET /agents/v1/aggregates/raw-data`"
);
aggregate_route!(
    AggregateTasks,
    Vendor,
    "aggregate_tasks",
    "list_tasks",
    Budget::Other,
    "`GET /agents/v1/aggregates/tasks`"
);
aggregate_route!(
    AggregateAssetGroups,
    Vendor,
    "aggregate_asset_groups",
    "list_asset_groups",
    Budget::Other,
    "`GET /agents/v1/aggregates/asset-groups`"
);
aggregate_route!(
    AggregateLatestEstimations,
    Vendor,
    "aggregate_latest_estimations",
    "list_latest_estimations",
    Budget::Other,
    "`GET /agents/v1/aggregates/latest-estimations`"
);
aggregate_route!(
    AggregateListingAssets,
    Vendor,
    "aggregate_listing_assets",
    "list_listing_assets",
    Budget::Other,
    "`GET /agents/v1/aggregates/listing-assets`"
);
aggregate_route!(
    AggregateListingHistory,
    Vendor,
    "aggregate_listing_history",
    "get_listing_history",
    Budget::History,
    "`GET /agents/v1/aggregates/listing-history`"
);

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 11] = [
    DeclaredRoute::of::<AggregateOwnListings>(),
    DeclaredRoute::of::<AggregateListingHistory>(),
    DeclaredRoute::of::<AggregateListingAssets>(),
    DeclaredRoute::of::<AggregateAssets>(),
    DeclaredRoute::of::<AggregateCodebases>(),
    DeclaredRoute::of::<AggregateRawData>(),
    DeclaredRoute::of::<AggregateTasks>(),
    DeclaredRoute::of::<AggregateAssetGroups>(),
    DeclaredRoute::of::<AggregateEstimations>(),
    DeclaredRoute::of::<AggregateLatestEstimations>(),
    DeclaredRoute::of::<AggregateQcReports>(),
];

pub struct InventoryAggregatesApi;

#[OpenApi(prefix_path = "/agents/v1/aggregates", tag = "crate::rest::tags::Tag::Catalog")]
impl InventoryAggregatesApi {
    /// Aggregate own listings
    ///
    /// Returns statistics of the team's own listings that the filters allow.
    #[oai(path = "/own-listings", method = "get", operation_id = "aggregate_own_listings")]
    async fn own_listings(
        &self,
        call: Call<AggregateOwnListings>,
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

    /// Aggregate assets
    ///
    /// Returns statistics of the team's assets that the filters allow.
    #[oai(path = "/assets", method = "get", operation_id = "aggregate_assets")]
    async fn assets(
        &self,
        call: Call<AggregateAssets>,
        query: Params<AssetsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts(&call.access)?;
        of_assets(&call.served, call.access, filter, request).await
    }

    /// Aggregate quality runs
    ///
    /// Returns statistics of the quality runs of the team that the filters allow.
    #[oai(path = "/qc-reports", method = "get", operation_id = "aggregate_qc_reports")]
    async fn qc_reports(
        &self,
        call: Call<AggregateQcReports>,
        query: Params<StatusAggregateQuery<EnumValue<RunStatus>, EnumValue<CheckScope>>>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::QUALITY_RUNS, query.0.into_parts()?).await
    }

    /// Aggregate estimations
    ///
    /// Returns statistics of the estimations of the team that the filters allow.
    #[oai(path = "/estimations", method = "get", operation_id = "aggregate_estimations")]
    async fn estimations(
        &self,
        call: Call<AggregateEstimations>,
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
    #[oai(path = "/latest-estimations", method = "get", operation_id = "aggregate_latest_estimations")]
    async fn latest_estimations(
        &self,
        call: Call<AggregateLatestEstimations>,
        query: Params<LatestEstimationsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let LatestEstimationsAggregateQuery { request, asset_id } = query.0;
        let request = request.into_request();
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_latest_estimations(reader, &call.access, &asset_id, &request)
        })
        .await
    }

    /// Aggregate codebases
    ///
    /// Returns statistics of the team's codebases that the filters allow.
    #[oai(path = "/codebases", method = "get", operation_id = "aggregate_codebases")]
    async fn codebases(
        &self,
        call: Call<AggregateCodebases>,
        query: Params<KindAssetsAggregateQuery<FilterEntry<CodebaseFilters>>>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts(&call.access)?;
        of_assets(&call.served, call.access, filter, request).await
    }

    /// Aggregate raw data
    ///
    /// Returns statistics of the team's raw data that the filters allow.
    #[oai(path = "/raw-data", method = "get", operation_id = "aggregate_raw_data")]
    async fn raw_data(
        &self,
        call: Call<AggregateRawData>,
        query: Params<KindAssetsAggregateQuery<FilterEntry<RawDataFilters>>>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts(&call.access)?;
        of_assets(&call.served, call.access, filter, request).await
    }

    /// Aggregate tasks
    ///
    /// Returns statistics of the team's task assets that the filters allow.
    #[oai(path = "/tasks", method = "get", operation_id = "aggregate_tasks")]
    async fn tasks(
        &self,
        call: Call<AggregateTasks>,
        query: Params<KindAssetsAggregateQuery<FilterEntry<TaskFilters>>>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = query.0.into_parts(&call.access)?;
        of_assets(&call.served, call.access, filter, request).await
    }

    /// Aggregate groups of assets
    ///
    /// Returns statistics of the groups of the team's inventory.
    #[oai(path = "/asset-groups", method = "get", operation_id = "aggregate_asset_groups")]
    async fn asset_groups(
        &self,
        call: Call<AggregateAssetGroups>,
        query: Params<PlainAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let request = query.0.request.into_request();
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_asset_groups(reader, &call.access, &request)
        })
        .await
    }

    /// Aggregate the assets of a listing
    ///
    /// Returns statistics of the assets of one of the team's own listings.
    #[oai(path = "/listing-assets", method = "get", operation_id = "aggregate_listing_assets")]
    async fn listing_assets(
        &self,
        call: Call<AggregateListingAssets>,
        query: Params<OfListingAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, listing) = (query.0.request.into_request(), query.0.listing_id);
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_listing_assets(reader, &call.access, listing, &request)
        })
        .await
    }

    /// Aggregate the history of a listing
    ///
    /// Returns statistics of the events in the life of one of the team's own listings.
    #[oai(path = "/listing-history", method = "get", operation_id = "aggregate_listing_history")]
    async fn listing_history(
        &self,
        call: Call<AggregateListingHistory>,
        query: Params<OfListingAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, listing) = (query.0.request.into_request(), query.0.listing_id);
        respond(&call.served, call.access.requester(), move |reader| {
            aggregates::of_listing_history(reader, &call.access, listing, &request)
        })
        .await
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
