//! The state of the list of own listings: all of it is in the address.

use marketplace_index::Filters;

use crate::{
    console::{
        pages::catalog::{
            names::Names,
            state::{Chip, SORT, State as CatalogState},
        },
        parts::listing_states,
        prelude::*,
    },
    domain::{
        browse::SortOrder,
        listings::{LifecycleStage, ReviewStatus, WorkspaceView},
    },
    operations::listings::PageRequest,
};

/// Number of listings on a page.
pub const LISTINGS_PER_PAGE: usize = 50;

/// Field of the query with the view.
pub const VIEW: &str = "workspace_view";

/// Field of the query with stages.
pub const STAGES: &str = "lifecycle_stages";

/// Field of the query with states of the review.
pub const REVIEWS: &str = "review";

/// Field of the query that selects listings without assets.
pub const NO_ASSETS: &str = "no_assets";

/// Field of the query with the number of listings on earlier pages.
pub const SKIPPED: &str = "offset";

/// The order without a choice.
const DEFAULT_SORT: SortOrder = SortOrder::Recent;

/// What the address asks for.
#[derive(Clone, Debug)]
pub struct ListState {
    /// The filters that the catalog has, too, for the components of its page.
    pub catalog: CatalogState,
    /// The query, without the position.
    pub query: Query,
    /// The view.
    pub view: WorkspaceView,
    /// Stages of which any may match.
    pub stages: Vec<LifecycleStage>,
    /// States of the review of which any may match.
    pub reviews: Vec<ReviewStatus>,
    /// Whether only listings without assets match.
    pub no_assets: bool,
    /// The order.
    pub sort: SortOrder,
    /// Number of listings on earlier pages.
    pub skipped: u64,
}

impl ListState {
    /// Reads the state from the query of an address. Other fields of the query are left out.
    pub fn of(query: &Query) -> ListState {
        let mut catalog = CatalogState::of(&query.without(SORT, None));
        catalog.unreadable.extend(unreadable(query));
        let view = query.get(VIEW).and_then(WorkspaceView::parse).unwrap_or(WorkspaceView::All);
        let stages = chosen::<LifecycleStage>(query, STAGES);
        let reviews = chosen::<ReviewStatus>(query, REVIEWS);
        let no_assets = query.get(NO_ASSETS) == Some("true");
        let sort = query.get(SORT).and_then(SortOrder::parse).unwrap_or(DEFAULT_SORT);
        let mut kept = catalog.query.clone();
        if view != WorkspaceView::All {
            kept = kept.with(VIEW, view.as_str());
        }
        kept = stages.iter().fold(kept, |kept, stage| kept.and(STAGES, stage.as_str()));
        kept = reviews.iter().fold(kept, |kept, review| kept.and(REVIEWS, review.as_str()));
        if no_assets {
            kept = kept.with(NO_ASSETS, "true");
        }
        if sort != DEFAULT_SORT {
            kept = kept.with(SORT, sort.as_str());
        }
        let skipped = query.get(SKIPPED).and_then(|text| text.parse().ok()).unwrap_or(0);
        ListState {
            catalog,
            query: kept,
            view,
            stages,
            reviews,
            no_assets,
            sort,
            skipped: skipped.min(1_000_000),
        }
    }

    /// Returns the request for a number of listings after some others.
    pub fn request(&self, limit: usize, offset: u64) -> PageRequest {
        let selection = self.catalog.selection.clone();
        PageRequest {
            text: selection.text,
            filters: Filters { no_assets: self.no_assets, ..selection.filters },
            view: self.view,
            stages: self.stages.clone(),
            sort: self.sort,
            limit,
            offset,
        }
    }

    /// Returns the chosen filters, each with the query without it.
    pub fn chips(&self, names: &Names) -> Vec<Chip> {
        let of_catalog = self.catalog.chips(names).into_iter().map(|chip| {
            // The catalog's chips know its part of the query only.
            let own = self
                .query
                .pairs()
                .filter(|(name, _)| [VIEW, STAGES, REVIEWS, NO_ASSETS, SORT].contains(name));
            let without = own.fold(chip.without, |kept, (name, value)| kept.and(name, value));
            Chip { without, ..chip }
        });
        let mut chips: Vec<Chip> = of_catalog.collect();
        for stage in &self.stages {
            let without = self.query.without(STAGES, Some(stage.as_str()));
            chips.push(Chip { name: "Stage", value: listing_states::stage_word(*stage).to_owned(), without });
        }
        for review in &self.reviews {
            let without = self.query.without(REVIEWS, Some(review.as_str()));
            chips.push(Chip {
                name: "Review",
                value: listing_states::review_word(*review).to_owned(),
                without,
            });
        }
        if self.no_assets {
            let without = self.query.without(NO_ASSETS, None);
            chips.push(Chip { name: "Assets", value: "none".to_owned(), without });
        }
        chips
    }
}

/// A field, and whether it knows a value.
type KnownField = (&'static str, fn(&str) -> bool);

/// Returns the fields with a value that cannot be read, of those that the catalog does not have.
fn unreadable(query: &Query) -> impl Iterator<Item = &'static str> {
    let fields: [KnownField; 4] = [
        (VIEW, |value| WorkspaceView::parse(value).is_some()),
        (STAGES, |value| LifecycleStage::parse(value).is_some()),
        (REVIEWS, |value| ReviewStatus::parse(value).is_some()),
        (NO_ASSETS, |value| ["true", "false"].contains(&value)),
    ];
    let is_unreadable = move |(name, is_known): &KnownField| !query.all(name).all(is_known);
    fields.into_iter().filter(is_unreadable).map(|(name, _)| name)
}

/// Returns the known values of a field, each once.
fn chosen<T: StringEnum + PartialEq + Copy>(query: &Query, name: &str) -> Vec<T> {
    let mut values: Vec<T> = Vec::new();
    for value in query.all(name).filter_map(T::parse) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_keeps_what_the_list_knows() {
        let query = "notice=saved&query=+ledger&lifecycle_stages=draft&lifecycle_stages=x&lifecycle_stages=draft&review=rejected\
             &workspace_view=all&sort=recent&no_assets=true&offset=50";
        let state = ListState::of(&Query::parse(query));
        let expected = "/l?query=ledger&lifecycle_stages=draft&review=rejected&no_assets=true";
        assert_eq!(state.query.at("/l"), expected);
        assert_eq!(state.catalog.unreadable, [STAGES]);
        assert_eq!((state.sort, state.skipped), (SortOrder::Recent, 50));
        let chips: Vec<String> = state
            .chips(&Names::default())
            .iter()
            .map(|chip| format!("{} {}", chip.name, chip.without.at("")))
            .collect();
        assert_eq!(
            chips,
            [
                "Search ?lifecycle_stages=draft&review=rejected&no_assets=true",
                "Stage ?query=ledger&review=rejected&no_assets=true",
                "Review ?query=ledger&lifecycle_stages=draft&no_assets=true",
                "Assets ?query=ledger&lifecycle_stages=draft&review=rejected",
            ]
        );
    }
}
