//! Query parameters of aggregates that the lists themselves do not have.

use poem_openapi::types::{ParseFromJSON, ToJSON, Type};

use crate::{
    domain::stages::Stage,
    error::Result,
    operations::{aggregates::TaxonomyKind, assets::AssetFilter},
    rest::{
        agent_api::filters::{PeriodFilters, QualityGrammar},
        arguments::filter_entries::{AssetFilterGrammar, EstimationFilters, FilterEntry},
        prelude::*,
        vendor_api::{
            asset_queries::{AssetFilterParams, FilterAndSort, IdFilter},
            assets::AssetConditions as AssetScope,
        },
    },
};

/// Filters of a list of assets.
pub trait AssetConditions {
    /// Converts the parameters.
    fn into_filter(self, vendor: &Vendor) -> Result<AssetFilter>;
}

/// Filters of assets of all kinds.
#[derive(Debug, Object)]
pub struct AllAssetsFilters {
    /// Properties of the assets.
    #[oai(flatten)]
    scope: AssetScope,
    /// IDs and group.
    #[oai(flatten)]
    ids: IdFilter,
    /// Filters.
    #[oai(flatten)]
    conditions: AssetFilterParams<FilterEntry<QualityGrammar>>,
}

impl AssetConditions for AllAssetsFilters {
    fn into_filter(self, vendor: &Vendor) -> Result<AssetFilter> {
        let mut filter = self.scope.into_filter(vendor, FilterAndSort::unsorted(self.conditions))?;
        self.ids.apply_to(&mut filter.query);
        Ok(filter)
    }
}

/// Filters of assets of one kind. `E` is the type of the filter entries.
#[derive(Debug, Object)]
pub struct AssetsOfKindFilters<E: Type + ParseFromJSON + ToJSON> {
    /// Only assets in this stage.
    stage: Option<EnumValue<Stage>>,
    /// IDs and group.
    #[oai(flatten)]
    ids: IdFilter,
    /// Filters.
    #[oai(flatten)]
    conditions: AssetFilterParams<E>,
}

impl<G: AssetFilterGrammar> AssetConditions for AssetsOfKindFilters<FilterEntry<G>> {
    fn into_filter(self, vendor: &Vendor) -> Result<AssetFilter> {
        let stage = self.stage.map(|stage| stage.0);
        let mut query = self.conditions.into_query(vendor.team_row_id(), stage)?;
        self.ids.apply_to(&mut query);
        Ok(AssetFilter { query, deprecated: None, attachable_to: None })
    }
}

/// Filters of the taxonomy.
#[derive(Debug, Object)]
pub struct TaxonomyFilters {
    /// Parts of the taxonomy; all of them unless stated.
    #[oai(default)]
    pub kind: Vec<EnumValue<TaxonomyKind>>,
}

/// Filters of estimations.
#[derive(Debug, Object)]
pub struct EstimationsFilters {
    /// Conditions, all of which must hold, as in the list of estimations.
    #[oai(default, validator(max_items = 20))]
    pub filter: Vec<FilterEntry<EstimationFilters>>,
    /// The period.
    #[oai(flatten)]
    pub period: PeriodFilters,
}

/// Filters of the latest estimations of assets.
#[derive(Debug, Object)]
pub struct LatestEstimationsFilters {
    /// IDs of assets, 1 to 200. Assets without an estimation of the team match nothing.
    #[oai(validator(min_items = 1, max_items = 200))]
    pub asset_id: Vec<Uuid>,
}

/// The listing that a list belongs to.
#[derive(Debug, Object)]
pub struct OfListing {
    /// ID of the listing.
    pub listing_id: Uuid,
}

/// No filters.
#[derive(Debug, Object)]
pub struct NoFilters {}
