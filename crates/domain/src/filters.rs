//! The filter grammar of collections: `field:operator:value`.

use crate::{
    excerpt::excerpt,
    string_enum::{StringEnum, string_enum},
};

string_enum! {
    /// The comparison operator of a filter.
    FilterOperator {
        /// The field equals the value.
        Is = "is",
        /// The field differs from the value or is empty.
        IsNot = "is_not",
        /// The field contains the value as a substring.
        Contains = "contains",
    }
}

string_enum! {
    /// The direction of a sort.
    SortDirection {
        /// Smallest value first.
        Ascending = "asc",
        /// Largest value first.
        Descending = "desc",
    }
}

/// The fields that filters of a collection can test.
pub trait FilterableField: StringEnum {
    /// Returns the values that the field can be compared with.
    fn allowed_values(self) -> AllowedValues;
}

/// The truth values.
const BOOLEANS: [&str; 2] = ["true", "false"];

/// The values that a field can be compared with.
#[derive(Debug, PartialEq, Eq)]
pub enum AllowedValues {
    /// One of these strings. Any other value is an error.
    OneOf(Vec<&'static str>),
    /// `true` or `false`, in any case.
    Boolean,
    /// Any text. The only field type that supports `contains`.
    AnyText,
    /// A slug or a name. An unknown value is not an error; it matches nothing.
    AnyName,
}

/// Returns the string forms of all variants of a string enum.
pub fn variant_strings<T: StringEnum>() -> Vec<&'static str> {
    T::ALL.iter().map(|variant| variant.as_str()).collect()
}

/// A parsed filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition<F> {
    /// The field to test.
    pub field: F,
    /// The comparison operator.
    pub operator: FilterOperator,
    /// The value to compare with: a valid variant string if the field is a string enum, in lower case if it is a
    /// truth value, never empty.
    pub value: String,
}

/// Why a filter entry is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// Position of the error in characters, from 0.
    pub position: usize,
    /// What is wrong at this position and what is expected. A phrase without a capital letter and a period.
    pub message: String,
}

/// Returns the operators that a field with these values supports.
pub fn supported_operators(values: &AllowedValues) -> &'static [FilterOperator] {
    match values {
        AllowedValues::AnyText => FilterOperator::ALL,
        AllowedValues::OneOf(_) | AllowedValues::Boolean | AllowedValues::AnyName => {
            &[FilterOperator::Is, FilterOperator::IsNot]
        }
    }
}

/// Returns a regular expression that matches exactly the entries that [`parse_filter`] accepts for these
/// fields, with truth values in lower case.
pub fn filter_pattern<F: FilterableField>(fields: &[F]) -> String {
    let of_field = |field: &F| {
        let values = field.allowed_values();
        let operators: Vec<&str> =
            supported_operators(&values).iter().map(|operator| operator.as_str()).collect();
        let value = match &values {
            AllowedValues::OneOf(allowed) => format!("({})", allowed.join("|")),
            AllowedValues::Boolean => format!("({})", BOOLEANS.join("|")),
            AllowedValues::AnyText | AllowedValues::AnyName => r"[\s\S]+".to_owned(),
        };
        format!("{}:({}):{value}", field.as_str(), operators.join("|"))
    };
    format!("^({})$", fields.iter().map(of_field).collect::<Vec<_>>().join("|"))
}

/// Parses a filter entry. Only the first two colons are separators, so the value can contain colons.
pub fn parse_filter<F: FilterableField>(text: &str, fields: &[F]) -> Result<Condition<F>, FilterError> {
    let (field_text, rest) = split_at_colon(text, 0, "field")?;
    let field = fields.iter().copied().find(|field| field.as_str() == field_text).ok_or_else(|| {
        let names: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
        FilterError {
            position: 0,
            message: format!("unknown field {:?}; expected one of {}", excerpt(field_text), names.join(", ")),
        }
    })?;
    let at = field_text.chars().count() + 1;
    let (operator_text, value) = split_at_colon(rest, at, "operator")?;
    let values = field.allowed_values();
    let operators = supported_operators(&values);
    let operator =
        operators.iter().copied().find(|operator| operator.as_str() == operator_text).ok_or_else(|| {
            let names: Vec<&str> = operators.iter().map(|operator| operator.as_str()).collect();
            let field = field.as_str();
            FilterError {
                position: at,
                message: format!(
                    "`{field}` does not support the operator {:?}; expected one of {}",
                    excerpt(operator_text),
                    names.join(", ")
                ),
            }
        })?;
    let at = at + operator_text.chars().count() + 1;
    if value.is_empty() {
        return Err(FilterError {
            position: at,
            message: format!("expected a value for `{}`", field.as_str()),
        });
    }
    let lowercase = value.to_ascii_lowercase();
    let (value, allowed) = match &values {
        AllowedValues::OneOf(allowed) => (value, Some(allowed.as_slice())),
        AllowedValues::Boolean => (lowercase.as_str(), Some(BOOLEANS.as_slice())),
        AllowedValues::AnyText | AllowedValues::AnyName => (value, None),
    };
    match allowed {
        Some(allowed) if !allowed.contains(&value) => Err(FilterError {
            position: at,
            message: format!("`{}` must be one of {}", field.as_str(), allowed.join(", ")),
        }),
        _ => Ok(Condition { field, operator, value: value.to_owned() }),
    }
}

/// Splits `text` at its first colon. `at` is the position of `text` in the entry; `part` names the text before
/// the colon.
fn split_at_colon<'a>(text: &'a str, at: usize, part: &str) -> Result<(&'a str, &'a str), FilterError> {
    text.split_once(':').ok_or_else(|| FilterError {
        position: at + text.chars().count(),
        message: format!("expected `:` after the {part}; write a filter as `field:operator:value`"),
    })
}
