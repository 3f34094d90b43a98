//! Filters of lists: what their fields take, and what they offer.

use maud::Markup;

use super::{
    forms::Inputs,
    parts::{fields, text},
    typed_values::amount_problem,
    visit::Context,
};
use crate::{
    domain::{money::MAX_AMOUNT, time::Day, typed_numbers::parse_amount},
    error::Problem,
};

/// A filter of a list.
pub struct ListFilter {
    /// Name of the field of the query.
    pub name: &'static str,
    /// Label of the field.
    pub label: &'static str,
    kind: FilterKind,
}

/// What a filter takes.
enum FilterKind {
    Text,
    Day,
    Amount,
    Choice(fn() -> Vec<(&'static str, String)>),
    Operation,
}

impl ListFilter {
    const fn new(name: &'static str, label: &'static str, kind: FilterKind) -> ListFilter {
        ListFilter { name, label, kind }
    }

    /// Returns a filter that takes any text.
    pub const fn text(name: &'static str, label: &'static str) -> ListFilter {
        ListFilter::new(name, label, FilterKind::Text)
    }

    /// Returns a filter that takes one of some values, which are offered with their texts.
    pub const fn choice(
        name: &'static str,
        label: &'static str,
        values: fn() -> Vec<(&'static str, String)>,
    ) -> ListFilter {
        ListFilter::new(name, label, FilterKind::Choice(values))
    }

    /// Returns a filter that takes a calendar day.
    pub const fn day(name: &'static str, label: &'static str) -> ListFilter {
        ListFilter::new(name, label, FilterKind::Day)
    }

    /// Returns a filter that takes an amount in US dollars.
    pub const fn amount(name: &'static str, label: &'static str) -> ListFilter {
        ListFilter::new(name, label, FilterKind::Amount)
    }

    /// Returns a filter that takes an operation with which pages change something. Operations that only programs carry
    /// out can be stated in the address.
    pub const fn operation(label: &'static str) -> ListFilter {
        ListFilter::new("operation", label, FilterKind::Operation)
    }

    /// Whether it takes a calendar day.
    pub const fn is_day(&self) -> bool {
        matches!(self.kind, FilterKind::Day)
    }

    /// Returns the problem with a value that the filter does not take.
    pub fn problem(&self, value: &str) -> Option<Problem> {
        let message = match self.kind {
            FilterKind::Day if Day::parse(value).is_none() => {
                format!("There is no day “{value}”. Enter it as year-month-day, for example 2026-02-27.")
            }
            FilterKind::Amount if parse_amount(value).is_none() => amount_problem(Some(value), MAX_AMOUNT),
            _ => return None,
        };
        Some(Problem::query(self.name, "value_error", message))
    }

    /// Returns the values that the declaration offers.
    pub fn values(&self) -> Vec<(&'static str, String)> {
        if let FilterKind::Choice(values) = self.kind { values() } else { Vec::new() }
    }

    /// Returns the values that are offered.
    fn offered(&self, context: &Context) -> Vec<(&'static str, String)> {
        if !matches!(self.kind, FilterKind::Operation) {
            return self.values();
        }
        let changes = context.pages.changes().into_iter();
        let mut named: Vec<_> = changes.map(|name| (name, text::words(name))).collect();
        named.sort_by(|(_, one), (_, other)| one.cmp(other));
        named
    }

    /// Shows the field with a value.
    pub fn show(&self, context: &Context, inputs: &Inputs, value: &str) -> Markup {
        let values = self.offered(context);
        if values.is_empty() {
            let (name, label) = (self.name, self.label);
            let field = if self.is_day() {
                fields::Field::day(name, label)
            } else {
                fields::Field::text(name, label)
            };
            return field.value(value).at_most(200).show(inputs);
        }
        // A link can state a value that is not among those that are offered.
        let is_other = !value.is_empty() && values.iter().all(|(known, _)| *known != value);
        let other = is_other.then(|| (value, text::words(value)));
        let all = [("", "All".to_owned())].into_iter().chain(values).chain(other);
        fields::select(inputs, self.name, self.label, all, value)
    }
}
