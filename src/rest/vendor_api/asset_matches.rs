//! Selections of assets in the bodies of requests.

use poem_openapi::Object;
use uuid::Uuid;

use super::asset_queries::parse_kinds;
use crate::{
    domain::problems::Problems,
    error::{Error, LocSegment, Problem},
    operations::listing_assets::AssetSelector,
    request_problems::ProblemsExt,
    rest::arguments::{
        filter_entries::{self, AssetFilters, FilterEntry},
        request_body::MaybeInvalid,
    },
};

/// Selects assets by their properties. An asset must satisfy every field that is set.
#[derive(Debug, Object)]
pub struct AssetMatch {
    /// `true` selects only assets of deprecated or retired kinds, `false` only assets of other kinds.
    deprecated: Option<bool>,
    /// IDs of assets that are not selected.
    #[oai(default, validator(max_items = 1000))]
    exclude_ids: Vec<MaybeInvalid<Uuid>>,
    /// Conditions, all of which must hold, of the form `field:operator:value`, as in the parameter
    /// `filter` of `GET /v2/assets`.
    #[oai(default, validator(max_items = 20))]
    filters: Vec<MaybeInvalid<FilterEntry<AssetFilters>>>,
    /// ID of the group that the assets are in.
    group_id: Option<Uuid>,
    /// Kind of the assets. Unknown kinds match nothing.
    sku: Option<String>,
}

impl AssetMatch {
    /// Returns the selector, and reports the problems with the filters. `index` is the place in `matches`.
    fn into_selector(self, index: usize, problems: &mut Problems) -> Result<AssetSelector, Error> {
        let mut location = Problem::body(&["matches"], "value_error", "");
        location.loc.extend([LocSegment::Index(index), LocSegment::Name("filters".to_owned())]);
        let filters = self.filters.iter().map(|filter| filter.0.as_ref());
        let conditions = problems.collect(filter_entries::parse_entries(filters, &location))?;
        Ok(AssetSelector {
            deprecated: self.deprecated,
            exclude_ids: valid_ids(self.exclude_ids),
            conditions: conditions.unwrap_or_default(),
            group_id: self.group_id,
            kinds: parse_kinds(self.sku.as_deref()),
        })
    }
}

/// Parses the `matches` of a body, and reports all problems with their filters. A selector has the valid parts.
pub fn parse_matches(
    matches: Vec<MaybeInvalid<AssetMatch>>,
    problems: &mut Problems,
) -> Result<Vec<AssetSelector>, Error> {
    let selectors = matches.into_iter().enumerate().map(|(index, asset_match)| match asset_match.0 {
        Some(asset_match) => asset_match.into_selector(index, problems),
        None => Ok(AssetSelector::default()),
    });
    selectors.collect()
}

/// Returns the IDs that are valid.
pub fn valid_ids(ids: Vec<MaybeInvalid<Uuid>>) -> Vec<Uuid> {
    ids.into_iter().filter_map(|id| id.0).collect()
}
