//! The state of the catalog's page: all of it is in the address.

use marketplace_index::Facet;

use super::names::{self, Names};
use crate::{
    console::{parts::cards::CHOSEN_FIELD, prelude::*},
    domain::{browse::SortOrder, typed_numbers::plain_number},
    operations::{
        browse::{CursorForm, PageRequest},
        browse_filters::{BrowseFilter, CatalogSelection, Range, TEXT_PARAMETER, Unit},
    },
};

/// Number of listings on a page.
pub const LISTINGS_PER_PAGE: usize = 24;

/// Field of the query with the order.
pub const SORT: &str = "sort";

/// Field of the query with the position of a later page.
pub const CURSOR: &str = "cursor";

/// Maximum number of characters of the search text.
const MAX_TEXT: usize = 1_000;

/// Maximum number of chosen values. Each is shown with an address that contains all others, so further values are left out.
const MAX_VALUES: usize = 100;

/// Maximum number of listings in the selection for the comparison. The comparison itself refuses too many.
const MAX_CHOSEN: usize = 8;

/// What the address asks for.
#[derive(Clone, Debug)]
pub struct State {
    /// The part of the query that is about the catalog, in the form of the API.
    pub query: Query,
    /// What it selects.
    pub selection: CatalogSelection,
    /// Names of the parameters whose values cannot be read, which select nothing.
    pub unreadable: Vec<&'static str>,
    /// The order.
    pub sort: SortOrder,
    /// The position of a later page.
    pub cursor: Option<String>,
    /// Listings that are already chosen for the comparison.
    pub compared: Vec<Uuid>,
}

impl State {
    /// Reads the state from the query of an address. Other fields of the query are left out.
    pub fn of(query: &Query) -> State {
        let known =
            BrowseFilter::ALL.into_iter().fold(text_of(query), |kept, filter| add(kept, query, filter));
        let (selection, unreadable) = CatalogSelection::read(|name| {
            known.pairs().filter(|(known, _)| *known == name).map(|(_, value)| value).collect()
        });
        let sort = query.get(SORT).and_then(SortOrder::parse).unwrap_or(SortOrder::Recommended);
        let query_with_sort =
            if sort == SortOrder::Recommended { known } else { known.with(SORT, sort.as_str()) };
        State {
            query: query_with_sort,
            selection,
            unreadable,
            sort,
            cursor: query.get(CURSOR).map(str::to_owned),
            compared: query
                .all(CHOSEN_FIELD)
                .filter_map(|id| Uuid::try_parse(id).ok())
                .take(MAX_CHOSEN)
                .collect(),
        }
    }

    /// Returns the request for the page that the address names.
    pub fn request(&self) -> PageRequest {
        PageRequest { cursor: self.cursor.clone(), limit: LISTINGS_PER_PAGE, ..self.count_request() }
    }

    /// Returns the request that only counts.
    pub fn count_request(&self) -> PageRequest {
        let CatalogSelection { text, filters, owned } = self.selection.clone();
        PageRequest {
            text,
            filters,
            owned,
            sort: self.sort,
            limit: 1,
            cursor: None,
            cursor_form: CursorForm::Full,
            skip: 0,
        }
    }

    /// Whether a filter selects nothing because one of its values is invalid.
    fn is_unreadable(&self, filter: BrowseFilter) -> bool {
        let (first, second) = filter.parameters();
        self.unreadable.contains(&first) || second.is_some_and(|second| self.unreadable.contains(&second))
    }

    /// Fails if a filter has an invalid value. Pages say that they leave it out; a file has no place for that.
    pub fn check_filters(&self) -> Result<()> {
        match self.unreadable.first().copied() {
            Some(name) => {
                Err(invalid(name, "A value of the filter cannot be read. Numbers look like 27000."))
            }
            None => Ok(()),
        }
    }

    /// Removes filters with invalid values, which the API refuses, from a query of this state.
    pub fn without_invalid_filters(&self, query: &Query) -> Query {
        let unreadable = BrowseFilter::ALL.into_iter().filter(|filter| self.is_unreadable(*filter));
        unreadable.fold(query.clone(), |kept, filter| {
            let (first, second) = filter.parameters();
            kept.without(first, None).without(second.unwrap_or(first), None)
        })
    }

    /// Adds the parameters of the page that the API does not have to a query of this state.
    pub fn keep(&self, query: &Query) -> Query {
        self.compared.iter().fold(query.clone(), |kept, id| kept.and(CHOSEN_FIELD, &id.to_string()))
    }

    /// Returns the address of a page of the catalog with a query of this state.
    pub fn address(&self, context: &Context, query: &Query) -> String {
        self.keep(query).at(&context.links.to(paths::CATALOG))
    }

    /// Returns the chosen filters.
    pub fn chips(&self, names: &Names) -> Vec<Chip> {
        let mut chips = Vec::new();
        if let Some(words) = self.query.get(TEXT_PARAMETER) {
            let value = format!("“{words}”");
            chips.push(Chip { name: "Search", value, without: self.query.without(TEXT_PARAMETER, None) });
        }
        for filter in BrowseFilter::ALL {
            self.add_chips(filter, names, &mut chips);
        }
        chips
    }

    fn add_chips(&self, filter: BrowseFilter, names: &Names, chips: &mut Vec<Chip>) {
        let (parameter, second) = filter.parameters();
        let name = names::filter(filter);
        if let BrowseFilter::Range(range) = filter {
            if let Some(value) = self.range_text(range) {
                let without = self.query.without(parameter, None).without(second.unwrap_or(parameter), None);
                chips.push(Chip { name, value, without });
            }
            return;
        }
        for value in self.query.all(parameter) {
            let Some(text) = self.value_text(filter, value, names) else { continue };
            chips.push(Chip { name, value: text, without: self.query.without(parameter, Some(value)) });
        }
    }

    /// Returns a chosen value in words; `None` if it selects nothing.
    fn value_text(&self, filter: BrowseFilter, value: &str, names: &Names) -> Option<String> {
        let is_set = !self.is_unreadable(filter);
        match filter {
            BrowseFilter::Labels(facet) => Some(names.label(facet, value)),
            BrowseFilter::Flag(_) => (is_set && value == "true").then(|| "only".to_owned()),
            BrowseFilter::Sample => {
                is_set.then(|| if value == "true" { "offered" } else { "not offered" }.to_owned())
            }
            BrowseFilter::VendorTiers => is_set.then(|| format!("tier {value}")),
            BrowseFilter::Range(_) => None,
        }
    }

    /// Returns the bounds of a number in words; `None` if there are none.
    fn range_text(&self, range: Range) -> Option<String> {
        if self.is_unreadable(BrowseFilter::Range(range)) {
            return None;
        }
        let bound = |name: &str| self.query.get(name).map(|text| bound_text(range.unit, text));
        match (bound(range.min), range.max.and_then(bound)) {
            (Some(min), Some(max)) if min == max => Some(min),
            (Some(min), Some(max)) => Some(format!("{min} to {max}")),
            (Some(min), None) => Some(format!("at least {min}")),
            (None, Some(max)) => Some(format!("up to {max}")),
            (None, None) => None,
        }
    }
}

/// A chosen filter.
#[derive(Clone, Debug)]
pub struct Chip {
    /// What is filtered.
    pub name: &'static str,
    /// The chosen value.
    pub value: String,
    /// The query without it.
    pub without: Query,
}

/// Returns the query with the search text only.
fn text_of(query: &Query) -> Query {
    let text: String = query.get(TEXT_PARAMETER).unwrap_or_default().chars().take(MAX_TEXT).collect();
    Query::default().with(TEXT_PARAMETER, &text)
}

/// Adds the values of a filter to a query, numbers without what people write in them: `$50,000` is `50000`.
fn add(kept: Query, query: &Query, filter: BrowseFilter) -> Query {
    let (first, second) = filter.parameters();
    if let BrowseFilter::Range(_) = filter {
        let number = |name: &str| -> String {
            let typed = query.get(name).unwrap_or_default().chars();
            let typed: String = typed.filter(|letter| !letter.is_whitespace() && *letter != '_').collect();
            plain_number(&typed).unwrap_or(typed)
        };
        let with_first = kept.with(first, &number(first));
        return second.map_or_else(|| with_first.clone(), |second| with_first.with(second, &number(second)));
    }
    let mut values: Vec<&str> = query.all(first).collect();
    values.sort_unstable();
    values.dedup();
    // A condition that is not set is none.
    let is_flag = matches!(filter, BrowseFilter::Flag(_));
    let free = MAX_VALUES.saturating_sub(kept.pairs().count());
    values
        .into_iter()
        .take(free)
        .filter(|value| !is_flag || *value != "false")
        .fold(kept, |kept, value| kept.and(first, value))
}

fn bound_text(unit: Unit, text: &str) -> String {
    match unit {
        Unit::Dollars => text
            .parse()
            .ok()
            .and_then(Cents::from_dollars)
            .map_or_else(|| format!("${text}"), text::short_money),
        Unit::Gigabytes => format!("{text} GB"),
        Unit::Count => text.parse().map_or_else(|_| text.to_owned(), text::grouped),
    }
}

/// Returns the slugs that a state chooses of a facet.
pub fn chosen(state: &State, facet: Facet) -> Vec<&str> {
    state.query.all(facet.name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(query: &str) -> State {
        State::of(&Query::parse(query))
    }

    #[test]
    fn state_keeps_what_the_catalog_knows() {
        let state = state(
            "notice=bought&query=+ledger&min_price=%2450%2C000&languages=java&languages=cobol&sort=recommended\
             &verified_only=true&owned=false&cursor=x&max_loc=",
        );
        let expected = "/c?query=ledger&languages=cobol&languages=java&verified_only=true&min_price=50000";
        assert_eq!(state.query.at("/c"), expected);
        assert_eq!((state.cursor.as_deref(), state.sort), (Some("x"), SortOrder::Recommended));
        assert!(state.unreadable.is_empty() && state.selection.filters.certified && !state.selection.owned);
    }

    #[test]
    fn commas_separate_thousands_only() {
        assert_eq!(state("min_loc=1,500").query.get("min_loc"), Some("1500"));
        assert!(
            !state("min_loc=1,5").unreadable.is_empty() && !state("max_price=27,50").unreadable.is_empty()
        );
    }

    #[test]
    fn chips_say_what_is_chosen_and_drop_it() {
        let state = state(
            "query=x&languages=cobol&min_price=10&max_price=50000.5&verified_only=true&min_loc=x&sort=recent",
        );
        let chips: Vec<_> = state
            .chips(&Names::default())
            .into_iter()
            .map(|chip| format!("{}: {} | {}", chip.name, chip.value, chip.without.at("")))
            .collect();
        assert_eq!(chips.len(), 4, "{chips:?}");
        assert!(chips[0].starts_with("Search: “x” | ?languages=cobol"), "{chips:?}");
        assert!(chips[3].starts_with("Price: $10 to $50,000.50 | "), "{chips:?}");
        assert!(!chips[3].contains("price=") && chips[3].contains("sort=recent"), "{chips:?}");
        assert_eq!(state.unreadable, ["min_loc"]);
    }

    #[test]
    fn request_leaves_out_filters_that_the_api_refuses() {
        for (query, expected) in [
            ("min_price=x&max_price=5000&query=x", "/v2?query=x"),
            ("min_price=5&max_price=5000", "/v2?min_price=5&max_price=5000"),
            ("min_price=5&max_price=-1&min_loc=9", "/v2?min_loc=9"),
            ("vendor_tiers=x&vendor_tiers=2", "/v2"),
            ("vendor_tiers=2", "/v2?vendor_tiers=2"),
            ("sample_available=maybe&verified_only=1&owned=yes", "/v2"),
            ("min_vendor_tier=0", "/v2"),
            ("min_vendor_tier=7", "/v2"),
            ("min_vendor_tier=3", "/v2?min_vendor_tier=3"),
        ] {
            let state = state(query);
            assert_eq!(state.without_invalid_filters(&state.query).at("/v2"), expected, "{query}");
        }
    }
}
