//! Counts, sums, and medians over lists, by up to two properties.

mod output;
mod queries;

use poem_openapi::OpenApi;

use self::{
    output::AggregatesOut,
    queries::{
        AssetsAggregateQuery, BidsAggregateQuery, DatedAggregateQuery, KindAggregateQuery,
        ListingsAggregateQuery, NotificationsAggregateQuery, OffersAggregateQuery,
        OpportunitiesAggregateQuery, OwnListingsAggregateQuery, PurchasesAggregateQuery,
        StatusAggregateQuery,
    },
};
use crate::{
    domain::{
        assets::Kind,
        browse::SortOrder,
        estimations::EstimationStatus,
        ledger::EntryType,
        opportunities::{OpportunityKind, OpportunityStatus},
        purchases::PurchaseKind,
        quality_checks::CheckScope,
        quality_runs::RunStatus,
        record_filters::RecordFilter,
    },
    operations::{
        access::{Buyer, FullCatalogViewer, Member, Vendor},
        aggregates::{self, Request},
        browse::{CursorForm, PageRequest},
    },
    rest::{
        enum_value::EnumValue,
        json::{Json, JsonResult},
        limits::Budget,
        params::Params,
        route::{
            Call, Contract, DeclaredRoute, MultiTool, Route, RouteAttributes, Target, Tool, ToolText, Toolset,
        },
        served_market::ServedMarket,
        vendor_api::listings::types::OwnListingsPage,
    },
    store::aggregates::{self as lists, RecordList},
};

/// The tool for the operations that `list` selects.
pub static AGGREGATE_TOOL: MultiTool = MultiTool {
    text: ToolText::new(
        Toolset::Catalog,
        "aggregate",
        "Counts, sums and medians",
        "Count, sum, minimum, maximum and median over all records of a list, in one call.",
    )
    .with_parameters(&[
        ("group_by", "At most 2 of those that the list has."),
        ("measure", "Number to aggregate; omit it to count records."),
    ])
    .with_values(&[("group_by", GROUPS), ("measure", NUMBERS)]),
    argument: "list",
    description: "Tool that lists the records.",
    default: None,
    filters: Some(
        "Filters by name: those of that tool, or of other records `kind`, `status`, `since`, `until`.",
    ),
};

/// What records are grouped by, for any list.
const GROUPS: &[&str] = &[
    "asset_type",
    "budget_unit",
    "buyer",
    "certified",
    "channel",
    "domain",
    "exclusivity",
    "group",
    "has_active_bids",
    "kind",
    "language",
    "lifecycle_stage",
    "listing",
    "month",
    "opportunity",
    "qc",
    "read",
    "review_status",
    "sample_available",
    "sku",
    "stage",
    "status",
    "tag",
    "tag_slug",
    "task_type",
    "vendor",
    "vendor_tier",
];

/// The numbers of records, for any list.
const NUMBERS: &[&str] = &[
    "amount",
    "assets",
    "budget_max",
    "budget_min",
    "buyer_fee",
    "charge",
    "codebases",
    "commits",
    "contributors",
    "environments",
    "estimate",
    "high",
    "lines_of_code",
    "loc",
    "low",
    "merged_prs",
    "num_tasks",
    "platform_fee",
    "price",
    "price_per_task",
    "raw_data",
    "robotics_datasets",
    "sample_price",
    "tasks",
    "tasksets",
    "total",
    "zip_files",
    "zip_size_bytes",
];

/// Declares the operations of lists: their routes, and how each is read.
macro_rules! aggregate_route {
    ($route:ident, $access:ty, $operation:literal, $list:literal, $budget:expr, $doc:literal) => {
        #[doc = $doc]
        pub struct $route;

        impl Route for $route {
            type Access = $access;

            const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
                $operation,
                $budget,
                Tool::Choice { tool: &AGGREGATE_TOOL, value: $list, list: Some("groups") },
                Contract::new(Target::None),
            );
        }
    };
}

aggregate_route!(
    AggregateListings,
    FullCatalogViewer,
    "aggregate_listings",
    "browse_listings",
    Budget::Catalog,
    "`GET /agents/v1/aggregates/listings`"
);
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
    AggregateOpportunities,
    Vendor,
    "aggregate_opportunities",
    "list_opportunities",
    Budget::Other,
    "`GET /agents/v1/aggregates/opportunities`"
);
aggregate_route!(
    AggregateProjectBids,
    Vendor,
    "aggregate_project_bids",
    "list_own_project_bids",
    Budget::Other,
    "`GET /agents/v1/aggregates/own-project-bids`"
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
    AggregateNotifications,
    Member,
    "aggregate_notifications",
    "list_notifications",
    Budget::Other,
    "`GET /agents/v1/aggregates/notifications`"
);

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 14] = [
    DeclaredRoute::of::<AggregateListings>(),
    DeclaredRoute::of::<AggregatePurchases>(),
    DeclaredRoute::of::<AggregateOffers>(),
    DeclaredRoute::of::<AggregateOwnOpportunities>(),
    DeclaredRoute::of::<AggregateOwnListings>(),
    DeclaredRoute::of::<AggregateAssets>(),
    DeclaredRoute::of::<AggregateSales>(),
    DeclaredRoute::of::<AggregateEarnings>(),
    DeclaredRoute::of::<AggregateQcReports>(),
    DeclaredRoute::of::<AggregateEstimations>(),
    DeclaredRoute::of::<AggregateOpportunities>(),
    DeclaredRoute::of::<AggregateProjectBids>(),
    DeclaredRoute::of::<AggregateReceivedProjectBids>(),
    DeclaredRoute::of::<AggregateNotifications>(),
];

/// Aggregates records of a buyer.
async fn of_buyer(
    served: &ServedMarket,
    buyer: Buyer,
    list: &'static RecordList,
    (request, filter): (Request, RecordFilter),
) -> JsonResult<AggregatesOut> {
    Json::read(served, buyer.requester(), move |reader| {
        let aggregates = aggregates::of_buyer(reader, &buyer, list, &filter, &request)?;
        Ok(AggregatesOut::new(aggregates, reader.now))
    })
    .await
}

/// Aggregates records of a vendor.
async fn of_vendor(
    served: &ServedMarket,
    vendor: Vendor,
    list: &'static RecordList,
    (request, filter): (Request, RecordFilter),
) -> JsonResult<AggregatesOut> {
    Json::read(served, vendor.requester(), move |reader| {
        let aggregates = aggregates::of_vendor(reader, &vendor, list, &filter, &request)?;
        Ok(AggregatesOut::new(aggregates, reader.now))
    })
    .await
}

pub struct AggregatesApi;

#[OpenApi(prefix_path = "/agents/v1/aggregates", tag = "crate::rest::tags::Tag::Catalog")]
impl AggregatesApi {
    /// Aggregate listings of the catalog
    ///
    /// Returns statistics of the published listings that the filters allow.
    #[oai(path = "/listings", method = "get", operation_id = "aggregate_listings")]
    async fn listings(
        &self,
        call: Call<AggregateListings>,
        query: Params<ListingsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let ListingsAggregateQuery { what, filters } = query.0;
        let (request, mut condition) = (what.into_request(), filters.into_condition()?);
        Json::read(&call.served, call.access.requester(), move |reader| {
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
            let aggregates = aggregates::of_catalog(reader, call.access.viewer(), page, &request)?;
            Ok(AggregatesOut::new(aggregates, reader.now))
        })
        .await
    }

    /// Aggregate purchases
    ///
    /// Returns statistics of the completed purchases that the filters allow.
    #[oai(path = "/purchases", method = "get", operation_id = "aggregate_purchases")]
    async fn purchases(
        &self,
        call: Call<AggregatePurchases>,
        query: Params<PurchasesAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let parts = (query.0.what.into_request(), query.0.filters.into_filter()?);
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
        let parts = (query.0.what.into_request(), query.0.filters.into_filter()?);
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

    /// Aggregate own listings
    ///
    /// Returns statistics of the team's own listings that the filters allow.
    #[oai(path = "/own-listings", method = "get", operation_id = "aggregate_own_listings")]
    async fn own_listings(
        &self,
        call: Call<AggregateOwnListings>,
        query: Params<OwnListingsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let OwnListingsAggregateQuery { what, filters } = query.0;
        let request = what.into_request();
        Json::read(&call.served, call.access.requester(), move |reader| {
            let page = filters.into_request(reader, &call.access, &OwnListingsPage::default())?;
            let aggregates = aggregates::of_own_listings(reader, &call.access, page, &request)?;
            Ok(AggregatesOut::new(aggregates, reader.now))
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
        let AssetsAggregateQuery { what, scope, ids, selection } = query.0;
        let request = what.into_request();
        let mut filter = scope.into_filter(&call.access, selection)?;
        ids.apply_to(&mut filter.query);
        Json::read(&call.served, call.access.requester(), move |reader| {
            let aggregates = aggregates::of_assets(reader, &call.access, filter, &request)?;
            Ok(AggregatesOut::new(aggregates, reader.now))
        })
        .await
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

    /// Aggregate opportunities
    ///
    /// Returns statistics of the open requests for listings that the team may see and the filters allow.
    #[oai(path = "/opportunities", method = "get", operation_id = "aggregate_opportunities")]
    async fn opportunities(
        &self,
        call: Call<AggregateOpportunities>,
        query: Params<OpportunitiesAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        let (request, filter) = (query.0.what.into_request(), query.0.filters.into());
        Json::read(&call.served, call.access.requester(), move |reader| {
            let aggregates = aggregates::of_opportunities(reader, &call.access, &filter, &request)?;
            Ok(AggregatesOut::new(aggregates, reader.now))
        })
        .await
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

    /// Aggregate received bids on custom task work
    ///
    /// Returns statistics of vendors' bids on the team's requests for custom task work that the filters allow.
    #[oai(path = "/project-bids", method = "get", operation_id = "aggregate_received_project_bids")]
    async fn received_project_bids(
        &self,
        call: Call<AggregateReceivedProjectBids>,
        query: Params<BidsAggregateQuery>,
    ) -> JsonResult<AggregatesOut> {
        of_buyer(&call.served, call.access, &lists::RECEIVED_PROJECT_BIDS, query.0.into_parts()?).await
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
        Json::read(&call.served, call.access.requester(), move |reader| {
            let list = &lists::NOTIFICATIONS;
            let aggregates = aggregates::of_member(reader, &call.access, list, &filter, &request)?;
            Ok(AggregatesOut::new(aggregates, reader.now))
        })
        .await
    }

    /// Aggregate estimations
    ///
    /// Returns statistics of the estimations of the team that the filters allow.
    #[oai(path = "/estimations", method = "get", operation_id = "aggregate_estimations")]
    async fn estimations(
        &self,
        call: Call<AggregateEstimations>,
        query: Params<DatedAggregateQuery<EnumValue<EstimationStatus>, EnumValue<Kind>>>,
    ) -> JsonResult<AggregatesOut> {
        of_vendor(&call.served, call.access, &lists::ESTIMATIONS, query.0.into_parts()?).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_lists_the_names_of_all_lists() {
        let [groups, numbers] = aggregates::known_names();
        assert_eq!(GROUPS, groups.into_iter().collect::<Vec<_>>());
        assert_eq!(NUMBERS, numbers.into_iter().collect::<Vec<_>>());
    }
}
