//! The parts of the page that select assets: the groups, the form with the filters, the builder of conditions, and the chosen
//! filters.

use super::{
    columns,
    found::Found,
    state::{DIRECTION, FILTER, GROUP, InventoryState, KIND, LISTING, SORT, STAGE, Selection, TEXT, hidden},
    words,
};
use crate::{
    console::{
        parts::{
            assets::{self, Domains},
            tabs,
        },
        prelude::*,
    },
    domain::{
        asset_filters::{AssetCondition, FilterField},
        filters::{self, AllowedValues, FilterOperator, FilterableField, SortDirection},
    },
    operations::assets::GroupCounts,
};

/// Field with the property that the builder asks about.
const BUILD: &str = "build";

/// Field with the comparison of the builder.
const COMPARISON: &str = "comparison";

/// Field with the value of the builder.
const VALUE: &str = "value";

/// Returns the address of the inventory in a state, in which the selection stays chosen.
pub fn address(context: &Context, state: &InventoryState, selection: &Selection) -> String {
    selection.on(state.query()).at(&context.links.to(paths::INVENTORY))
}

/// Returns the state with the condition that the builder adds; `None` if it adds none. A value that does not fit becomes part of
/// the filter's text, where the problem is shown.
pub fn built(query: &Query, state: &InventoryState) -> Option<InventoryState> {
    let field = query.get(BUILD).and_then(FilterField::parse)?;
    let operator = query.get(COMPARISON).and_then(FilterOperator::parse)?;
    let value = query.get(VALUE)?.to_owned();
    let text = super::filter_text::write(&[AssetCondition { field, operator, value }]);
    let filter = format!("{} {text}", state.filter_text);
    Some(InventoryState::of(&state.query().with(FILTER, &filter)))
}

/// Returns the groups with the numbers of their assets that match, as links that choose one, and the actions on groups.
pub fn groups(
    context: &Context,
    state: &InventoryState,
    selection: &Selection,
    counts: &GroupCounts,
) -> Markup {
    let at = |group| address(context, &InventoryState { group, ..state.clone() }, selection);
    let chosen = counts.groups.iter().find(|(group, _)| Some(group.id) == state.group);
    html! {
        nav.row aria-label="Groups" {
            ul.row {
                li { a.chip href=(at(None)) aria-current=[state.group.is_none().then_some("true")] {
                    "All groups " span { (text::grouped(counts.total())) }
                } }
                @for (group, count) in &counts.groups { li {
                    a.chip href=(at(Some(group.id))) data-group=(group.id)
                        aria-current=[(state.group == Some(group.id)).then_some("true")] {
                        bdi.long { (group.name) } " " span { (text::grouped(count.total)) }
                    }
                } }
            }
            span.row {
                a.button.quiet.little href=(context.links.to(paths::NEW_GROUP)) { (icons::icon("plus")) "New group" }
                @if let Some((group, _)) = chosen {
                    a.button.quiet.little href=(context.links.to(&paths::group(group.id))) { "Rename" }
                    @if !group.is_default {
                        a.button.quiet.little href=(context.links.to(&super::groups::delete_path(group.id))) { "Delete…" }
                    }
                }
            }
        }
    }
}

/// Returns the values of the filter fields: if a value cannot be read, the typed values with their problems.
pub fn inputs(query: &Query, state: &InventoryState) -> Inputs {
    if state.problems.is_empty() {
        return Inputs::default();
    }
    Inputs::refused(Fields::of_query(query), &Error::Invalid(state.problems.clone()))
}

/// Returns the form with the search text, the filters, and the order.
pub fn form(context: &Context, state: &InventoryState, selection: &Selection, inputs: &Inputs) -> Markup {
    let directions = [(SortDirection::Ascending, "Ascending"), (SortDirection::Descending, "Descending")];
    let directions = directions.map(|(direction, text)| (direction.as_str(), text.to_owned()));
    // The order without a column has one direction.
    let no_direction = state.sort.is_none().then(|| ("", text::MISSING.to_owned()));
    let directions = no_direction.into_iter().chain(directions);
    let all = |values: Vec<(&'static str, String)>, first: &str| {
        [("", first.to_owned())].into_iter().chain(values).collect::<Vec<_>>()
    };
    let (column, direction) =
        state.sort.map_or(("", ""), |(column, direction)| (column.as_str(), direction.as_str()));
    let hint = html! {
        "Conditions with spaces between them, for example " span.mono { "stage:is:complete name:contains:\"sync server\"" } "."
    };
    html! {
        form.stack.tight action=(context.links.to(paths::INVENTORY)) aria-label="Filters" {
            (kept(state, &[GROUP, LISTING]))
            (selection.hidden())
            div.row {
                (Field::text(TEXT, "Name contains").value(&state.text).at_most(200).show(inputs))
                (fields::select(inputs, KIND, "Kind", all(text::choices(assets::kind), "All kinds"), state.kind.map_or("", StringEnum::as_str)))
                (fields::select(inputs, STAGE, "Stage", all(text::choices(assets::stage), "All stages"), state.stage.map_or("", StringEnum::as_str)))
                (fields::select(inputs, SORT, "Order by", all(text::choices(columns::order_name), "Newest first"), column))
                (fields::select(inputs, DIRECTION, "Direction", directions, direction))
                button { "Apply" }
            }
            details open[!state.filter_text.is_empty()] {
                summary { "Filter as text" }
                (Field::text(FILTER, "Conditions").hint(hint).value(&state.filter_text).at_most(4_000).show(inputs))
            }
        }
    }
}

/// Returns hidden fields with the part of a state that a form has no fields for. `names` are those to keep.
fn kept(state: &InventoryState, names: &[&str]) -> Markup {
    let fields: Vec<(&str, String)> =
        state.fields().into_iter().filter(|(name, _)| names.contains(name)).collect();
    hidden(&fields)
}

/// Returns the builder: one form chooses the property, the other one its comparison and its value.
pub fn builder(
    context: &Context,
    state: &InventoryState,
    selection: &Selection,
    domains: &Domains,
) -> Markup {
    let chosen = context.query.get(BUILD).and_then(FilterField::parse);
    let fields_of_assets = FilterField::for_kind(None);
    let field = chosen.filter(|field| fields_of_assets.contains(field)).unwrap_or(FilterField::Stage);
    let inputs = Inputs::default();
    let properties = fields_of_assets.iter().map(|field| (field.as_str(), words::field(*field).to_owned()));
    let allowed = field.allowed_values();
    let operators = filters::supported_operators(&allowed);
    let operators =
        operators.iter().map(|operator| (operator.as_str(), words::operator(*operator).to_owned()));
    let values = match &allowed {
        _ if field == FilterField::Domain => domains.0.iter().map(|domain| domain.slug.as_str()).collect(),
        AllowedValues::OneOf(values) => values.clone(),
        AllowedValues::Boolean => vec!["true", "false"],
        AllowedValues::AnyText | AllowedValues::AnyName => Vec::new(),
    };
    let values: Vec<(&str, String)> =
        values.into_iter().map(|value| (value, words::value(field, value, domains))).collect();
    let state_fields = html! { (state.hidden_with_order()) (selection.hidden()) };
    html! {
        details #builder open[chosen.is_some()] {
            summary { "Build a filter" }
            div.row {
                form.row action=(context.links.to(paths::INVENTORY)) aria-label="Property" {
                    (state_fields)
                    div.field {
                        label for=(BUILD) { "Property" }
                        select id=(BUILD) name=(BUILD) data-apply {
                            @for (value, text) in properties { option value=(value) selected[value == field.as_str()] { (text) } }
                        }
                    }
                    button.quiet { "Choose" }
                }
                form.row action=(context.links.to(paths::INVENTORY)) aria-label="Condition" {
                    (state_fields)
                    (hidden(&[(BUILD, field.as_str().to_owned())]))
                    (fields::select(&inputs, COMPARISON, "Comparison", operators, ""))
                    @if values.is_empty() { (Field::text(VALUE, "Value").required().at_most(200).show(&inputs)) }
                    @else { (fields::select(&inputs, VALUE, "Value", values, "")) }
                    button { "Add to the filter" }
                }
            }
        }
    }
}

/// Returns the chosen filters, each as a link that drops it.
pub fn chips(context: &Context, state: &InventoryState, selection: &Selection, found: &Found) -> Markup {
    let chips = chosen(state, found);
    let chosen = chips
        .iter()
        .map(|(name, value, without)| (*name, value.as_str(), address(context, without, selection)));
    let none = InventoryState { sort: state.sort, ..InventoryState::default() };
    tabs::chosen_filters(&chosen.collect::<Vec<_>>(), &address(context, &none, selection))
}

/// Returns the chosen filters: names, values, and the states without them.
fn chosen(state: &InventoryState, found: &Found) -> Vec<(&'static str, String, InventoryState)> {
    let mut chips = Vec::new();
    if let Some(id) = state.group {
        let group = found.page.counts.groups.iter().find(|(group, _)| group.id == id);
        let name = group.map_or_else(|| "unknown".to_owned(), |(group, _)| group.name.clone());
        chips.push(("Group", name, InventoryState { group: None, ..state.clone() }));
    }
    if let Some(kind) = state.kind {
        chips.push(("Kind", assets::kind(kind), InventoryState { kind: None, ..state.clone() }));
    }
    if let Some(stage) = state.stage {
        let name = assets::stage(stage).to_owned();
        chips.push(("Stage", name, InventoryState { stage: None, ..state.clone() }));
    }
    if state.listing.is_some() {
        let value = "the chosen one".to_owned();
        chips.push(("Listing", value, InventoryState { listing: None, ..state.clone() }));
    }
    if !state.text.is_empty() {
        let value = format!("contains “{}”", state.text);
        chips.push(("Name", value, InventoryState { text: String::new(), ..state.clone() }));
    }
    for condition in &state.conditions {
        let others = state.conditions.iter().filter(|other| *other != condition).cloned().collect();
        let value = words::comparison(condition, &found.names.domains);
        chips.push((words::field(condition.field), value, state.with_conditions(others)));
    }
    chips
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{asset_filters, assets::Kind};

    fn example(field: FilterField) -> String {
        let value = match field.allowed_values() {
            AllowedValues::OneOf(values) => values[0],
            AllowedValues::Boolean => "true",
            AllowedValues::AnyText | AllowedValues::AnyName => "a b",
        };
        value.to_owned()
    }

    #[test]
    fn builder_adds_each_condition() {
        for field in FilterField::for_kind(None) {
            let value = example(field);
            let query =
                Query::parse(&format!("kind=task&build={}&comparison=is&value={value}", field.as_str()));
            let built = built(&query, &InventoryState::of(&query)).unwrap();
            assert!(built.problems.is_empty(), "{:?}", built.problems);
            let expected =
                asset_filters::parse_filter(&format!("{}:is:{value}", field.as_str()), None).unwrap();
            assert_eq!((built.conditions, built.kind), (vec![expected], Some(Kind::Task)));
        }
        let query = Query::parse("build=stage&value=x&filter=name:is:a");
        assert!(built(&query, &InventoryState::of(&query)).is_none(), "no comparison");
    }
}
