//! The state of the inventory's page: all of it is in the address. Changes of many assets use the same fields to select the
//! assets.

use super::filter_text;
use crate::{
    console::prelude::*,
    domain::{
        asset_filters::{AssetCondition, FilterField, SortColumn},
        assets::Kind,
        filters::{FilterOperator, SortDirection},
        stages::Stage,
    },
    error::Problem,
    operations::assets::AssetFilter,
    store::inventory,
};

/// Field with the ID of the group.
pub const GROUP: &str = "group";

/// Field with the kind.
pub const KIND: &str = "kind";

/// Field with the stage.
pub const STAGE: &str = "stage";

/// Field with the ID of a listing of the team.
pub const LISTING: &str = "listing";

/// Field with the search text.
pub const TEXT: &str = "query";

/// Field with the conditions as text.
pub const FILTER: &str = "filter";

/// Field with the column to sort by.
pub const SORT: &str = "sort";

/// Field with the direction of the order.
pub const DIRECTION: &str = "direction";

/// Field with the number of assets before the page.
pub const FROM: &str = "from";

/// Field with the ID of a chosen asset, repeated.
pub const ASSET: &str = "asset";

/// Field that chooses all assets that match.
pub const ALL: &str = "all";

/// Field with the number of assets that matched when all of them were chosen.
pub const MATCHING: &str = "matching";

/// Field with what is done with the chosen assets.
pub const ACTION: &str = "action";

/// Maximum number of characters of the search text.
const MAX_TEXT: usize = 200;

/// Maximum number of conditions, with the search text: as many as the API takes.
const MAX_CONDITIONS: usize = 20;

/// Which assets the page shows, and in which order.
#[derive(Clone, Debug, Default)]
pub struct InventoryState {
    /// Only assets in this group.
    pub group: Option<Uuid>,
    /// Only assets of this kind.
    pub kind: Option<Kind>,
    /// Only assets at this stage.
    pub stage: Option<Stage>,
    /// Only assets on this listing of the team.
    pub listing: Option<Uuid>,
    /// Only assets whose name contains this text; empty for all.
    pub text: String,
    /// Further conditions.
    pub conditions: Vec<AssetCondition>,
    /// The conditions as text, as they were typed.
    pub filter_text: String,
    /// The order; `None` for newest first.
    pub sort: Option<(SortColumn, SortDirection)>,
    /// Values that cannot be read, by field. Nothing matches a state with problems.
    pub problems: Vec<Problem>,
}

impl InventoryState {
    /// Reads the state from the query of an address. Fields that are not about the inventory are left out.
    pub fn of(query: &Query) -> InventoryState {
        let mut problems = Vec::new();
        let group = read(query, GROUP, "Choose one of the groups.", &mut problems, parse_id);
        let kind = read(query, KIND, "Choose one of the kinds.", &mut problems, Kind::parse);
        let stage = read(query, STAGE, "Choose one of the stages.", &mut problems, Stage::parse);
        let listing = read(query, LISTING, "This is not a listing.", &mut problems, parse_id);
        let column = read(query, SORT, "The inventory has no such order.", &mut problems, SortColumn::parse);
        let direction = query.get(DIRECTION).and_then(SortDirection::parse);
        let text: String = query.get(TEXT).unwrap_or_default().chars().take(MAX_TEXT).collect();
        let filter_text = query.all(FILTER).collect::<Vec<&str>>().join(" ");
        let (conditions, filter_problems) = filter_text::parse(&filter_text);
        problems.extend(filter_problems.iter().map(|message| problem(FILTER, message)));
        if conditions.len() + usize::from(!text.is_empty()) > MAX_CONDITIONS {
            let message =
                format!("There are too many conditions. Use at most {MAX_CONDITIONS}, with the search text.");
            problems.push(problem(FILTER, &message));
        }
        let sort = column.map(|column| (column, direction.unwrap_or(SortDirection::Ascending)));
        InventoryState { group, kind, stage, listing, text, conditions, filter_text, sort, problems }
    }

    /// Returns the filter of the operations. Fails if a value cannot be read, so that a mistake never selects more assets than
    /// intended.
    pub fn filter(&self, vendor: &Vendor) -> Result<AssetFilter> {
        if !self.problems.is_empty() {
            return Err(Error::Invalid(self.problems.clone()));
        }
        let mut conditions = self.conditions.clone();
        if !self.text.is_empty() {
            conditions.push(search(&self.text));
        }
        let query = inventory::Query {
            kinds: self.kind.map(|kind| vec![kind]),
            stage: self.stage,
            group: self.group,
            listing: self.listing,
            conditions,
            sort: self.sort,
            ..inventory::Query::new(vendor.team_row_id())
        };
        Ok(AssetFilter { query, deprecated: None, attachable_to: None })
    }

    /// Returns the fields that select assets, for hidden fields of a form and for addresses.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let id = |id: Option<Uuid>| id.map(|id| id.to_string()).unwrap_or_default();
        let fields = [
            (GROUP, id(self.group)),
            (KIND, self.kind.map_or("", StringEnum::as_str).to_owned()),
            (STAGE, self.stage.map_or("", StringEnum::as_str).to_owned()),
            (LISTING, id(self.listing)),
            (TEXT, self.text.clone()),
            (FILTER, self.filter_text.clone()),
        ];
        fields.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Returns the fields that select assets as hidden fields of a form.
    pub fn hidden(&self) -> Markup {
        hidden(&self.fields())
    }

    /// Returns the fields that select and sort assets as hidden fields of a form.
    pub fn hidden_with_order(&self) -> Markup {
        let order = self.sort.map(|(column, direction)| {
            [(SORT, column.as_str().to_owned()), (DIRECTION, direction.as_str().to_owned())]
        });
        hidden(&self.fields().into_iter().chain(order.into_iter().flatten()).collect::<Vec<_>>())
    }

    /// Returns the query of an address with this state, without a page.
    pub fn query(&self) -> Query {
        let query =
            self.fields().iter().fold(Query::default(), |query, (name, value)| query.with(name, value));
        match self.sort {
            Some((column, direction)) => {
                query.with(SORT, column.as_str()).with(DIRECTION, direction.as_str())
            }
            None => query,
        }
    }

    /// Returns the query of the API's list that has the same assets.
    pub fn api_query(&self) -> Query {
        let names = [(GROUP, "group_id"), (KIND, "sku"), (STAGE, "stage"), (LISTING, "listing_id")];
        let fields = self.fields();
        let query = fields.iter().fold(Query::default(), |query, (name, value)| {
            match names.iter().find(|(own, _)| own == name) {
                Some((_, name)) => query.with(name, value),
                None => query,
            }
        });
        let search = (!self.text.is_empty()).then(|| search(&self.text));
        let query = search
            .iter()
            .chain(&self.conditions)
            .fold(query, |query, condition| query.and("filter", &filter_text::entry(condition)));
        match self.sort {
            Some((column, direction)) => {
                query.with("sort", column.as_str()).with("sort_direction", direction.as_str())
            }
            None => query,
        }
    }

    /// Whether every asset of the team is shown.
    pub fn is_everything(&self) -> bool {
        self.fields().is_empty()
    }

    /// Returns the state with other conditions.
    #[must_use]
    pub fn with_conditions(&self, conditions: Vec<AssetCondition>) -> InventoryState {
        let filter_text = filter_text::write(&conditions);
        InventoryState { conditions, filter_text, ..self.clone() }
    }
}

/// Which of the assets of the page a form is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// These assets.
    Assets(Vec<Uuid>),
    /// All assets that match the state; with the number that the page showed, if it did.
    All {
        /// The number that the page showed.
        shown: Option<u64>,
    },
}

impl Selection {
    /// Reads the selection from the query of an address. `None` if nothing is chosen, or if an ID is invalid.
    pub fn of(query: &Query) -> Option<Selection> {
        if query.get(ALL).is_some() {
            let shown = query.get(MATCHING).and_then(|number| number.parse().ok());
            return Some(Selection::All { shown });
        }
        let assets: Option<Vec<Uuid>> = query.all(ASSET).map(parse_id).collect();
        assets.filter(|assets| !assets.is_empty()).map(Selection::Assets)
    }

    /// Returns the fields of the selection.
    fn fields(&self) -> Vec<(&'static str, String)> {
        match self {
            Selection::Assets(assets) => assets.iter().map(|id| (ASSET, id.to_string())).collect(),
            Selection::All { shown } => {
                let number = shown.map(|number| (MATCHING, number.to_string()));
                [(ALL, "1".to_owned())].into_iter().chain(number).collect()
            }
        }
    }

    /// Returns the selection as hidden fields of a form.
    pub fn hidden(&self) -> Markup {
        hidden(&self.fields())
    }

    /// Returns the query of a page with the selection.
    pub fn on(&self, query: Query) -> Query {
        self.fields().iter().fold(query, |query, (name, value)| query.and(name, value))
    }
}

/// Returns hidden fields of a form.
pub fn hidden(fields: &[(&str, String)]) -> Markup {
    html! { @for (name, value) in fields { input type="hidden" name=(name) value=(value); } }
}

/// Returns the condition of the search text.
fn search(text: &str) -> AssetCondition {
    AssetCondition { field: FilterField::Name, operator: FilterOperator::Contains, value: text.to_owned() }
}

fn parse_id(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text).ok()
}

/// Reads a field, or adds a problem if it cannot be read.
fn read<T>(
    query: &Query,
    name: &'static str,
    message: &str,
    problems: &mut Vec<Problem>,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let parsed = parse(query.get(name)?);
    if parsed.is_none() {
        problems.push(problem(name, message));
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(query: &str) -> InventoryState {
        InventoryState::of(&Query::parse(query))
    }

    #[test]
    fn state_keeps_what_the_inventory_knows() {
        let query = "notice=saved&kind=codebase&query=+ledger&filter=channel%3Ais%3Azip&filter=name:is_not:%22a+b%22&sort=name&from=50";
        let state = state(query);
        assert!(state.problems.is_empty(), "{:?}", state.problems);
        assert_eq!(
            state.query().at("/i"),
            "/i?kind=codebase&query=ledger&filter=channel%3Ais%3Azip+name%3Ais_not%3A%22a+b%22&sort=name&direction=asc"
        );
        assert_eq!(
            state.api_query().at("/v2/assets"),
            "/v2/assets?sku=codebase&filter=name%3Acontains%3Aledger&filter=channel%3Ais%3Azip&filter=name%3Ais_not%3Aa+b&sort=name\
             &sort_direction=asc"
        );
        let removed = state.with_conditions(state.conditions[1..].to_vec());
        assert_eq!(removed.filter_text, "name:is_not:\"a b\"");
    }

    #[test]
    fn what_cannot_be_read_is_a_problem() {
        for query in ["group=x", "kind=x", "stage=x", "listing=1", "sort=x", "filter=stage:is:done"] {
            assert_eq!(state(query).problems.len(), 1, "{query}");
        }
        let names: Vec<String> = (0..20).map(|number| format!("name:is:{number}")).collect();
        let many = format!("query=a&filter={}", names.join("+"));
        assert_eq!(state(&many).problems.len(), 1);
    }

    #[test]
    fn selection_is_of_ids_or_of_everything() {
        let selection = |query: &str| Selection::of(&Query::parse(query));
        let id = Uuid::from_u128(7);
        assert_eq!(selection(&format!("asset={id}")), Some(Selection::Assets(vec![id])));
        assert_eq!(selection("all=1&matching=26&asset=x"), Some(Selection::All { shown: Some(26) }));
        assert_eq!(selection("all=1"), Some(Selection::All { shown: None }));
        assert_eq!((selection(""), selection("asset=x")), (None, None));
    }
}
