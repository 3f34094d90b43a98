//! The filter grammar of collections: `field:operator:value`.

use super::vocabulary::{Vocabulary, vocabulary};

vocabulary! {
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

vocabulary! {
    /// The direction of a sort.
    SortDirection {
        /// Smallest value first.
        Ascending = "asc",
        /// Largest value first.
        Descending = "desc",
    }
}

/// The fields that filters of a collection can test.
pub trait Field: Vocabulary {
    /// Returns the values that the field can be compared with.
    fn values(self) -> Values;
}

/// The values that a field can be compared with.
#[derive(Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these strings. Any other value is an error.
    Words(Vec<&'static str>),
    /// Any text. The only field type that supports `contains`.
    Text,
    /// A slug or a name. An unknown value is not an error; it matches nothing.
    Name,
}

/// Returns the string forms of all variants of a string enum.
pub fn words<T: Vocabulary>() -> Vec<&'static str> {
    T::ALL.iter().map(|word| word.word()).collect()
}

/// A parsed filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition<F> {
    /// The field to test.
    pub field: F,
    /// The comparison operator.
    pub operator: FilterOperator,
    /// The value to compare with: a valid variant string if the field is a string enum, never empty.
    pub value: String,
}

/// Why a filter entry is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Position of the error in characters, from 0.
    pub at: usize,
    /// What is wrong at this position and what is expected. A phrase without a capital letter and a period.
    pub what: String,
}

/// Returns the operators that a field with these values supports.
fn operators(values: &Values) -> &'static [FilterOperator] {
    match values {
        Values::Text => FilterOperator::ALL,
        Values::Words(_) | Values::Name => &[FilterOperator::Is, FilterOperator::IsNot],
    }
}

/// Returns a regular expression that matches exactly the entries that [`parse`] accepts for these fields.
pub fn pattern<F: Field>(fields: &[F]) -> String {
    let of_field = |field: &F| {
        let values = field.values();
        let operators: Vec<&str> = operators(&values).iter().map(|operator| operator.word()).collect();
        let value = match &values {
            Values::Words(words) => format!("({})", words.join("|")),
            Values::Text | Values::Name => r"[\s\S]+".to_owned(),
        };
        format!("{}:({}):{value}", field.word(), operators.join("|"))
    };
    format!("^({})$", fields.iter().map(of_field).collect::<Vec<_>>().join("|"))
}

/// Parses a filter entry. Only the first two colons are separators, so the value can contain colons.
pub fn parse<F: Field>(text: &str, fields: &[F]) -> Result<Condition<F>, Fault> {
    let (field_text, rest) = divide(text, 0, "field")?;
    let field = fields.iter().copied().find(|field| field.word() == field_text).ok_or_else(|| {
        let known: Vec<&str> = fields.iter().map(|field| field.word()).collect();
        Fault { at: 0, what: format!("unknown field {field_text:?}; expected one of {}", known.join(", ")) }
    })?;
    let at = field_text.chars().count() + 1;
    let (operator_text, value) = divide(rest, at, "operator")?;
    let values = field.values();
    let operators = operators(&values);
    let operator =
        operators.iter().copied().find(|known| known.word() == operator_text).ok_or_else(|| {
            let known: Vec<&str> = operators.iter().map(|operator| operator.word()).collect();
            let field = field.word();
            Fault {
                at,
                what: format!(
                    "`{field}` does not support the operator {operator_text:?}; expected one of {}",
                    known.join(", ")
                ),
            }
        })?;
    let at = at + operator_text.chars().count() + 1;
    if value.is_empty() {
        return Err(Fault { at, what: format!("expected a value for `{}`", field.word()) });
    }
    match values {
        Values::Words(words) if !words.contains(&value) => {
            Err(Fault { at, what: format!("`{}` must be one of {}", field.word(), words.join(", ")) })
        }
        _ => Ok(Condition { field, operator, value: value.to_owned() }),
    }
}

/// Splits `text` at its first colon. `at` is the position of `text` in the entry; `part` names what precedes
/// the colon.
fn divide<'a>(text: &'a str, at: usize, part: &str) -> Result<(&'a str, &'a str), Fault> {
    text.split_once(':').ok_or_else(|| Fault {
        at: at + text.chars().count(),
        what: format!("expected `:` after the {part}; write a filter as `field:operator:value`"),
    })
}
