//! The grammar of filters in lists: `field:operator:value`.

use super::vocabulary::{Vocabulary, vocabulary};

vocabulary! {
    /// How a filter compares.
    FilterOperator {
        /// It is that.
        Is = "is",
        /// It is anything else, or nothing at all.
        IsNot = "is_not",
        /// The text is somewhere in it.
        Contains = "contains",
    }
}

vocabulary! {
    /// The way in which a column is sorted.
    SortDirection {
        /// The least first.
        Ascending = "asc",
        /// The most first.
        Descending = "desc",
    }
}

/// What filters of a sort of list look at.
pub trait Field: Vocabulary {
    /// What a field is compared with.
    fn values(self) -> Values;
}

/// What a field is compared with.
#[derive(Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these.
    Words(Vec<&'static str>),
    /// Any text; `contains` compares with a part of it.
    Text,
    /// A slug or a name: what is unknown matches nothing.
    Name,
}

/// The words of a closed set, to compare with.
pub fn words<T: Vocabulary>() -> Vec<&'static str> {
    T::ALL.iter().map(|word| word.word()).collect()
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition<F> {
    /// What it looks at.
    pub field: F,
    /// How it compares.
    pub operator: FilterOperator,
    /// With what. A word of the field's own set, where it has one.
    pub value: String,
}

/// Why an entry cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The character at which it goes wrong, from 0.
    pub at: usize,
    /// What is wrong there, and what would be right.
    pub what: String,
}

/// How a field may be compared.
fn operators(values: &Values) -> &'static [FilterOperator] {
    match values {
        Values::Text => FilterOperator::ALL,
        Values::Words(_) | Values::Name => &[FilterOperator::Is, FilterOperator::IsNot],
    }
}

/// The form of entries over these fields, as a regular expression: what has it is what [`parse`] reads.
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

/// Reads an entry over these fields. Only the first two colons divide it, so that values may hold colons.
pub fn parse<F: Field>(text: &str, fields: &[F]) -> Result<Condition<F>, Fault> {
    let (field_text, rest) = divide(text, 0, "field")?;
    let field = fields.iter().copied().find(|field| field.word() == field_text).ok_or_else(|| {
        let known: Vec<&str> = fields.iter().map(|field| field.word()).collect();
        Fault {
            at: 0,
            what: format!("there is no field {field_text:?} here; there are {}", known.join(", ")),
        }
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
                what: format!("`{field}` takes no operator {operator_text:?}; it takes {}", known.join(", ")),
            }
        })?;
    let at = at + operator_text.chars().count() + 1;
    if value.is_empty() {
        return Err(Fault { at, what: format!("a value of `{}` is expected", field.word()) });
    }
    match values {
        Values::Words(words) if !words.contains(&value) => {
            Err(Fault { at, what: format!("`{}` is one of {}", field.word(), words.join(", ")) })
        }
        _ => Ok(Condition { field, operator, value: value.to_owned() }),
    }
}

/// A part in front of a colon, which stands at a character of the whole entry, and what is behind the colon.
fn divide<'a>(text: &'a str, at: usize, part: &str) -> Result<(&'a str, &'a str), Fault> {
    text.split_once(':').ok_or_else(|| Fault {
        at: at + text.chars().count(),
        what: format!("a colon is expected behind the {part}; a filter is written field:operator:value"),
    })
}
