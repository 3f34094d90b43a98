//! The lists that can be aggregated.

use super::{
    filters::{
        AllAssetsFilters, AssetsOfKindFilters, EstimationsFilters, LatestEstimationsFilters, NoFilters,
        OfListing, TaxonomyFilters,
    },
    list::{Assets, List, Other, Source, choice_values},
};
use crate::{
    market::Requester,
    operations::{
        access::{AuthenticatedTeam, Buyer, FullCatalogViewer, Member, Vendor},
        aggregates::{self, ASSET_GROUPS, ESTIMATIONS, HISTORY_EVENTS, OPPORTUNITIES, TERMS},
    },
    rest::{
        agent_api::{
            filters::{
                AgentCatalogFilters, BidFilters, EarningFilters, NotificationFilters, OfferFilters,
                OwnOpportunityFilters, PurchaseFilters, ReceivedBidFilters, RunFilters, SaleFilters,
            },
            own_listings::AgentOwnListingFilters,
        },
        arguments::filter_entries::{self, CodebaseFilters, FilterEntry, RawDataFilters, TaskFilters},
        route::ChoiceValues,
        vendor_api::{listings::types::OwnListingsPage, opportunities::OpportunityFilters},
    },
    store::aggregates as records,
    web::limits::Budget,
};

/// What is done with each list.
pub trait Visitor {
    /// Visits a list.
    fn visit<L: List>(&mut self);
}

/// Declares lists: the proof of access and the filters of each, the tool that returns its records, the budget, and the source of
/// the records.
macro_rules! lists {
    ($($name:ident: $access:ty, $filters:ty = ($tool:literal, $budget:expr, $source:expr);)+) => {
        $(
            pub struct $name;

            impl List for $name {
                type Access = $access;
                type Filters = $filters;

                const TOOL: &'static str = $tool;
                const OPERATION: &'static str = concat!("aggregate_", $tool);
                const BUDGET: Budget = $budget;
                const SOURCE: &'static dyn Source<$access, $filters> = &$source;

                fn requester(access: &$access) -> Requester {
                    access.requester()
                }
            }
        )+

        /// Visits the lists in the order in which agents see them.
        pub fn visit_all(visitor: &mut impl Visitor) {
            $(visitor.visit::<$name>();)+
        }

        /// For each list, the names of groups and numbers.
        pub const VALUES: &[fn() -> ChoiceValues] = &[$(choice_values::<$name>),+];
    };
}

lists! {
    BrowseListings: FullCatalogViewer, AgentCatalogFilters = ("browse_listings", Budget::Catalog, Other::<Self> {
        names: aggregates::catalog_names,
        aggregate: |reader, viewer, filters, request| {
            aggregates::of_catalog(reader, viewer.viewer(), filters.into_request(reader)?, request)
        },
    });
    ListOpportunities: Vendor, OpportunityFilters = ("list_opportunities", Budget::Other, Other::<Self> {
        names: || OPPORTUNITIES.names(),
        aggregate: |reader, vendor, filters, request| {
            aggregates::of_opportunities(reader, vendor, &filters.into(), request)
        },
    });
    ListNotifications: Member, NotificationFilters =
        ("list_notifications", Budget::Other, records::NOTIFICATIONS);
    ListTaxonomy: AuthenticatedTeam, TaxonomyFilters = ("list_taxonomy", Budget::Other, Other::<Self> {
        names: || TERMS.names(),
        aggregate: |reader, team, filters, request| {
            let kinds: Vec<_> = filters.kind.into_iter().map(|kind| kind.0).collect();
            aggregates::of_taxonomy(reader, team, &kinds, request)
        },
    });
    ListPurchases: Buyer, PurchaseFilters = ("list_purchases", Budget::Purchases, records::PURCHASES);
    ListOffers: Buyer, OfferFilters = ("list_offers", Budget::Purchases, records::OFFERS);
    ListOwnOpportunities: Buyer, OwnOpportunityFilters =
        ("list_own_opportunities", Budget::Other, records::OPPORTUNITIES);
    ListReceivedBids: Buyer, ReceivedBidFilters =
        ("list_project_bids", Budget::Other, records::RECEIVED_PROJECT_BIDS);
    ListSales: Vendor, SaleFilters = ("list_sales", Budget::Sales, records::SALES);
    ListEarnings: Vendor, EarningFilters = ("list_earnings", Budget::Other, records::EARNINGS);
    ListOwnBids: Vendor, BidFilters = ("list_own_project_bids", Budget::Other, records::PROJECT_BIDS);
    ListOwnListings: Vendor, AgentOwnListingFilters = ("list_own_listings", Budget::Other, Other::<Self> {
        names: aggregates::own_listing_names,
        aggregate: |reader, vendor, filters, request| {
            let page = filters.into_request(reader, vendor, &OwnListingsPage::default())?;
            aggregates::of_own_listings(reader, vendor, page, request)
        },
    });
    ListHistory: Vendor, OfListing = ("get_listing_history", Budget::History, Other::<Self> {
        names: || HISTORY_EVENTS.names(),
        aggregate: |reader, vendor, filters, request| {
            aggregates::of_listing_history(reader, vendor, filters.listing_id, request)
        },
    });
    ListListingAssets: Vendor, OfListing = ("list_listing_assets", Budget::Other, Other::<Self> {
        names: records::asset_names,
        aggregate: |reader, vendor, filters, request| {
            aggregates::of_listing_assets(reader, vendor, filters.listing_id, request)
        },
    });
    ListAssets: Vendor, AllAssetsFilters = ("list_assets", Budget::Other, Assets);
    ListCodebases: Vendor, AssetsOfKindFilters<FilterEntry<CodebaseFilters>> =
        ("list_codebases", Budget::Other, Assets);
    ListRawData: Vendor, AssetsOfKindFilters<FilterEntry<RawDataFilters>> =
        ("list_raw_data", Budget::Other, Assets);
    ListTasks: Vendor, AssetsOfKindFilters<FilterEntry<TaskFilters>> =
        ("list_tasks", Budget::Other, Assets);
    ListAssetGroups: Vendor, NoFilters = ("list_asset_groups", Budget::Other, Other::<Self> {
        names: || ASSET_GROUPS.names(),
        aggregate: |reader, vendor, _, request| aggregates::of_asset_groups(reader, vendor, request),
    });
    ListEstimations: Vendor, EstimationsFilters = ("list_estimations", Budget::Other, Other::<Self> {
        names: || ESTIMATIONS.names(),
        aggregate: |reader, vendor, filters, request| {
            let conditions = filter_entries::parse_query_entries(&filters.filter)?;
            let period = filters.period.into_period()?;
            aggregates::of_estimations(reader, vendor, &conditions, &period, request)
        },
    });
    ListLatestEstimations: Vendor, LatestEstimationsFilters =
        ("list_latest_estimations", Budget::Other, Other::<Self> {
            names: || ESTIMATIONS.names(),
            aggregate: |reader, vendor, filters, request| {
                aggregates::of_latest_estimations(reader, vendor, &filters.asset_id, request)
            },
        });
    ListQualityRuns: Vendor, RunFilters = ("list_qc_reports", Budget::QualityChecks, records::QUALITY_RUNS);
}
