//! Labels for the fields, comparisons, and values of the inventory.

use crate::{
    console::{
        parts::assets::{self, Domains},
        prelude::*,
    },
    domain::{
        asset_filters::{AssetCondition, FilterField, NOT_LINKED},
        assets::{Channel, Kind},
        filters::{AllowedValues, FilterOperator, FilterableField},
        stages::Stage,
    },
};

/// Returns the name of a field of conditions.
pub const fn field(field: FilterField) -> &'static str {
    match field {
        FilterField::Stage => "Stage",
        FilterField::Name => "Name",
        FilterField::Type => "Kind",
        FilterField::Domain => "Domain",
        FilterField::Channel => "Source",
        FilterField::Exclusivity => "Exclusive sale",
        FilterField::PrivateData => "Private source",
        FilterField::TaskType => "Subject",
        FilterField::HasTraces => "Has graded runs",
        FilterField::HasQaResults => "Has checks",
        FilterField::HasEnvironment => "Environment built",
        FilterField::RanOnModel => "Ran on model",
        FilterField::QaAgent => "Checked by",
        FilterField::Qc => "Latest quality run",
    }
}

/// Returns the word for a comparison.
pub const fn operator(operator: FilterOperator) -> &'static str {
    match operator {
        FilterOperator::Is => "is",
        FilterOperator::IsNot => "is not",
        FilterOperator::Contains => "contains",
    }
}

/// Returns the words for a value of a field.
pub fn value(field: FilterField, value: &str, domains: &Domains) -> String {
    let known = match field {
        FilterField::Stage => Stage::parse(value).map(|stage| assets::stage(stage).to_owned()),
        FilterField::Type => Kind::parse(value).map(assets::kind),
        FilterField::Domain => {
            domains.0.iter().find(|domain| domain.slug == value).map(|domain| domain.label.clone())
        }
        FilterField::Channel if value == NOT_LINKED => Some("No data".to_owned()),
        FilterField::Channel => Channel::parse(value).map(|channel| assets::channel(channel).to_owned()),
        field => match field.allowed_values() {
            AllowedValues::Boolean => Some(if value == "true" { "Yes" } else { "No" }.to_owned()),
            AllowedValues::OneOf(_) => Some(text::words(value)),
            AllowedValues::AnyText | AllowedValues::AnyName => None,
        },
    };
    known.unwrap_or_else(|| format!("“{value}”"))
}

/// Returns the comparison and the value of a condition in words.
pub fn comparison(condition: &AssetCondition, domains: &Domains) -> String {
    let words = value(condition.field, &condition.value, domains);
    format!("{} {words}", operator(condition.operator))
}
