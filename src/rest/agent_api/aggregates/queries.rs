//! Query parameters of aggregations.

use poem_openapi::{
    Object,
    types::{ParseFromJSON, ToJSON, Type},
};
use uuid::Uuid;

use crate::{
    domain::{
        notifications::NotificationType, opportunities::BidStatus, record_filters::RecordFilter,
        stages::Stage,
    },
    error::Result,
    operations::{
        access::Vendor,
        aggregates::{Request, TaxonomyKind},
        assets::AssetFilter,
    },
    rest::{
        agent_api::{
            deals::OfferFilters,
            filters::{AgentCatalogFilters, PeriodFilters, PurchaseFilters, QualityGrammar, SubjectFilters},
            own_listings::AgentOwnListingFilters,
        },
        enum_value::EnumValue,
        filter_entries::{AssetFilterGrammar, EstimationFilters, FilterEntry},
        vendor_api::{
            asset_queries::{AssetFilterParams, FilterAndSort, IdFilter},
            assets::AssetConditions,
            opportunities::OpportunityFilters,
        },
    },
};

/// What to aggregate.
#[derive(Debug, Object)]
pub struct AggregateQuery {
    /// Properties to group by, at most 2. A record with several values of a property is in several groups.
    #[oai(default, validator(max_items = 2))]
    pub group_by: Vec<String>,
    /// The number to aggregate; omit it to count records.
    #[oai(validator(max_length = 100))]
    pub measure: Option<String>,
}

impl AggregateQuery {
    pub fn into_request(self) -> Request {
        Request { group_by: self.group_by, measure: self.measure }
    }
}

/// Query parameters for listings of the catalog.
#[derive(Debug, Object)]
pub struct ListingsAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Conditions that listings meet.
    #[oai(flatten)]
    pub filters: AgentCatalogFilters,
}

/// Query parameters for own listings.
#[derive(Debug, Object)]
pub struct OwnListingsAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Conditions that listings meet.
    #[oai(flatten)]
    pub filters: AgentOwnListingFilters,
}

/// Query parameters for assets.
#[derive(Debug, Object)]
pub struct AssetsAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Properties of the assets.
    #[oai(flatten)]
    pub scope: AssetConditions,
    /// IDs and group.
    #[oai(flatten)]
    pub ids: IdFilter,
    /// Filters.
    #[oai(flatten)]
    pub conditions: AssetFilterParams<FilterEntry<QualityGrammar>>,
}

impl AssetsAggregateQuery {
    pub fn into_parts(self, vendor: &Vendor) -> Result<(Request, AssetFilter)> {
        let mut filter = self.scope.into_filter(vendor, FilterAndSort::unsorted(self.conditions))?;
        self.ids.apply_to(&mut filter.query);
        Ok((self.request.into_request(), filter))
    }
}

/// Query parameters for assets of one kind. `E` is the type of the filter entries.
#[derive(Debug, Object)]
pub struct KindAssetsAggregateQuery<E: Type + ParseFromJSON + ToJSON> {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Only assets in this stage.
    pub stage: Option<EnumValue<Stage>>,
    /// IDs and group.
    #[oai(flatten)]
    pub ids: IdFilter,
    /// Filters.
    #[oai(flatten)]
    pub conditions: AssetFilterParams<E>,
}

impl<G: AssetFilterGrammar> KindAssetsAggregateQuery<FilterEntry<G>> {
    pub fn into_parts(self, vendor: &Vendor) -> Result<(Request, AssetFilter)> {
        let stage = self.stage.map(|stage| stage.0);
        let mut query = self.conditions.into_query(vendor.team_row_id(), stage)?;
        self.ids.apply_to(&mut query);
        let filter = AssetFilter { query, deprecated: None, attachable_to: None };
        Ok((self.request.into_request(), filter))
    }
}

/// Query parameters of a list without filters.
#[derive(Debug, Object)]
pub struct PlainAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
}

/// Query parameters of a list that belongs to a listing.
#[derive(Debug, Object)]
pub struct OfListingAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// ID of the listing.
    pub listing_id: Uuid,
}

/// Query parameters for the taxonomy.
#[derive(Debug, Object)]
pub struct TaxonomyAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Parts of the taxonomy; all of them unless stated.
    #[oai(default)]
    pub kind: Vec<EnumValue<TaxonomyKind>>,
}

/// Query parameters for estimations.
#[derive(Debug, Object)]
pub struct EstimationsAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Conditions, all of which must hold, as in the list of estimations.
    #[oai(default, validator(max_items = 20))]
    pub filter: Vec<FilterEntry<EstimationFilters>>,
    /// The period.
    #[oai(flatten)]
    pub period: PeriodFilters,
}

/// Query parameters for the latest estimations of assets.
#[derive(Debug, Object)]
pub struct LatestEstimationsAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// IDs of assets, 1 to 200. Assets without an estimation of the team match nothing.
    #[oai(validator(min_items = 1, max_items = 200))]
    pub asset_id: Vec<Uuid>,
}

/// Query parameters for purchases.
#[derive(Debug, Object)]
pub struct PurchasesAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Conditions that purchases meet.
    #[oai(flatten)]
    pub filters: PurchaseFilters,
}

/// Query parameters for offers.
#[derive(Debug, Object)]
pub struct OffersAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Conditions that offers meet.
    #[oai(flatten)]
    pub filters: OfferFilters,
}

/// Query parameters for opportunities.
#[derive(Debug, Object)]
pub struct OpportunitiesAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Conditions that opportunities meet.
    #[oai(flatten)]
    pub filters: OpportunityFilters,
}

/// Query parameters for bids on custom task work.
#[derive(Debug, Object)]
pub struct BidsAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// States; any may match.
    #[oai(default)]
    pub status: Vec<EnumValue<BidStatus>>,
    /// The period.
    #[oai(flatten)]
    pub period: PeriodFilters,
}

impl BidsAggregateQuery {
    pub fn into_parts(self) -> Result<(Request, RecordFilter)> {
        let (statuses, period) = (texts(&self.status), self.period.into_period()?);
        Ok((self.request.into_request(), RecordFilter { statuses, period, ..RecordFilter::default() }))
    }
}

/// Query parameters for bids that vendors made on a team's requests for custom task work.
#[derive(Debug, Object)]
pub struct ReceivedBidsAggregateQuery {
    /// Only bids on this request.
    pub opportunity_id: Option<Uuid>,
    /// The other parameters.
    #[oai(flatten)]
    pub bids: BidsAggregateQuery,
}

impl ReceivedBidsAggregateQuery {
    pub fn into_parts(self) -> Result<(Request, RecordFilter)> {
        let (request, filter) = self.bids.into_parts()?;
        Ok((request, RecordFilter { opportunity: self.opportunity_id, ..filter }))
    }
}

/// Query parameters for notifications.
#[derive(Debug, Object)]
pub struct NotificationsAggregateQuery {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Types; any may match.
    #[oai(default)]
    pub kind: Vec<EnumValue<NotificationType>>,
    /// The period.
    #[oai(flatten)]
    pub period: PeriodFilters,
}

impl NotificationsAggregateQuery {
    pub fn into_parts(self) -> Result<(Request, RecordFilter)> {
        let (kinds, period) = (texts(&self.kind), self.period.into_period()?);
        Ok((self.request.into_request(), RecordFilter { kinds, period, ..RecordFilter::default() }))
    }
}

/// Query parameters of a list of records with a state of type `S` and a kind of type `K`, which belong to no listing.
#[derive(Debug, Object)]
pub struct DatedAggregateQuery<S: Type + ParseFromJSON + ToJSON, K: Type + ParseFromJSON + ToJSON> {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// States; any may match.
    #[oai(default)]
    pub status: Vec<S>,
    /// Kinds; any may match.
    #[oai(default)]
    pub kind: Vec<K>,
    /// The period.
    #[oai(flatten)]
    pub period: PeriodFilters,
}

impl<S: Type + ParseFromJSON + ToJSON, K: Type + ParseFromJSON + ToJSON> DatedAggregateQuery<S, K> {
    pub fn into_parts(self) -> Result<(Request, RecordFilter)> {
        let (statuses, kinds) = (texts(&self.status), texts(&self.kind));
        let filter =
            RecordFilter { statuses, kinds, period: self.period.into_period()?, ..RecordFilter::default() };
        Ok((self.request.into_request(), filter))
    }
}

/// Query parameters of a list of records with a state of type `S` and a kind of type `K`.
#[derive(Debug, Object)]
pub struct StatusAggregateQuery<S: Type + ParseFromJSON + ToJSON, K: Type + ParseFromJSON + ToJSON> {
    /// States; any may match.
    #[oai(default)]
    pub status: Vec<S>,
    /// The other parameters.
    #[oai(flatten)]
    pub of_kind: KindAggregateQuery<K>,
}

/// Query parameters of a list of records with a kind of type `K`.
#[derive(Debug, Object)]
pub struct KindAggregateQuery<K: Type + ParseFromJSON + ToJSON> {
    /// What to aggregate.
    #[oai(flatten)]
    pub request: AggregateQuery,
    /// Kinds; any may match.
    #[oai(default)]
    pub kind: Vec<K>,
    /// Listing and period.
    #[oai(flatten)]
    pub subject: SubjectFilters,
}

impl<S: Type + ParseFromJSON + ToJSON, K: Type + ParseFromJSON + ToJSON> StatusAggregateQuery<S, K> {
    pub fn into_parts(self) -> Result<(Request, RecordFilter)> {
        let (request, filter) = self.of_kind.into_parts()?;
        Ok((request, RecordFilter { statuses: texts(&self.status), ..filter }))
    }
}

impl<K: Type + ParseFromJSON + ToJSON> KindAggregateQuery<K> {
    pub fn into_parts(self) -> Result<(Request, RecordFilter)> {
        let filter = RecordFilter { kinds: texts(&self.kind), ..self.subject.into_filter()? };
        Ok((self.request.into_request(), filter))
    }
}

/// Returns the string forms of values of a string enum.
fn texts<T: ToJSON>(values: &[T]) -> Vec<String> {
    let text = |value: &T| value.to_json()?.as_str().map(str::to_owned);
    values.iter().filter_map(text).collect()
}
