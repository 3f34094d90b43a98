//! Filter entries of list requests, `field:operator:value`: their schemas and their parsing.
//!
//! The fields that a list can be filtered by are declared in `domain`. The documented pattern is generated
//! from them, so a client can tell from the document which entries are valid.

use std::marker::PhantomData;

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

use crate::{
    domain::{
        asset_filters::FilterField,
        assets::Kind,
        estimations::EstimationField,
        filters::{self, Condition, FilterError, FilterableField},
    },
    error::{Error, LocSegment, Problem},
    rest::{
        arguments::schema_marks::FILTER_FORMAT,
        shapes::scalars::{Scalar, impl_scalar},
    },
    string_enum::StringEnum,
};

/// The fields that the entries of a list can filter by.
pub trait FilterGrammar: Send + Sync + 'static {
    /// A unique name, which becomes part of the schema name.
    const NAME: &'static str;

    /// The type of the fields.
    type Field: FilterableField;

    /// Returns all fields of the list.
    fn fields() -> Vec<Self::Field>;
}

/// The filter fields of a list of assets.
pub trait AssetFilterGrammar: FilterGrammar<Field = FilterField> {
    /// The type of the assets in the list; none if it has assets of all types.
    const KIND: Option<Kind>;
}

/// Declares the filter grammars of lists of assets, each with the type of the assets.
macro_rules! asset_grammars {
    ($($(#[$meta:meta])* $name:ident($kind:expr))+) => {
        $(
            $(#[$meta])*
            #[derive(Debug)]
            pub enum $name {}

            impl FilterGrammar for $name {
                const NAME: &'static str = stringify!($name);
                type Field = FilterField;

                fn fields() -> Vec<FilterField> {
                    FilterField::for_kind(Self::KIND)
                }
            }

            impl AssetFilterGrammar for $name {
                const KIND: Option<Kind> = $kind;
            }
        )+
    };
}

asset_grammars! {
    /// Filters of lists with assets of all types.
    AssetFilters(None)
    /// Filters of codebase lists.
    CodebaseFilters(Some(Kind::Codebase))
    /// Filters of raw data lists.
    RawDataFilters(Some(Kind::RawData))
    /// Filters of task lists.
    TaskFilters(Some(Kind::Task))
}

/// Filters of estimation lists.
#[derive(Debug)]
pub enum EstimationFilters {}

impl FilterGrammar for EstimationFilters {
    const NAME: &'static str = "OfEstimations";
    type Field = EstimationField;

    fn fields() -> Vec<EstimationField> {
        EstimationField::ALL.to_vec()
    }
}

/// A filter entry as sent, not yet parsed.
#[derive(Debug)]
pub struct FilterEntry<G> {
    text: String,
    grammar: PhantomData<fn() -> G>,
}

impl<G: FilterGrammar> Scalar for FilterEntry<G> {
    fn schema() -> MetaSchema {
        MetaSchema {
            pattern: Some(filters::filter_pattern(&G::fields())),
            ..MetaSchema::new_with_format("string", FILTER_FORMAT)
        }
    }

    fn name() -> String {
        format!("Entry{}", G::NAME)
    }

    fn parse_value(value: &Value) -> Result<Self, String> {
        let text = value.as_str().ok_or_else(|| "a filter must be a string".to_owned())?.to_owned();
        Ok(FilterEntry { text, grammar: PhantomData })
    }

    fn to_value(&self) -> Value {
        Value::from(self.text.as_str())
    }
}

impl_scalar!(FilterEntry<G>, G: FilterGrammar);

/// Parses entries, or reports everything that is wrong with them. `location` is a problem at the location of
/// the list; each reported problem adds the index of its entry. Entries that are `None` were already reported.
pub fn parse_entries<'a, G: FilterGrammar>(
    entries: impl Iterator<Item = Option<&'a FilterEntry<G>>>,
    location: &Problem,
) -> Result<Vec<Condition<G::Field>>, Error> {
    let fields = G::fields();
    let (mut conditions, mut problems) = (Vec::new(), Vec::new());
    for (index, entry) in entries.enumerate() {
        let Some(entry) = entry else { continue };
        match filters::parse_filter(&entry.text, &fields) {
            Ok(condition) => conditions.push(condition),
            Err(FilterError { position, message }) => {
                let mut problem = location.clone();
                problem.msg = format!("Invalid filter at character {position}: {message}.");
                problem.loc.push(LocSegment::Index(index));
                problems.push(problem);
            }
        }
    }
    if problems.is_empty() { Ok(conditions) } else { Err(Error::Invalid(problems)) }
}

/// Parses the `filter` entries of a query.
pub fn parse_query_entries<G: FilterGrammar>(
    entries: &[FilterEntry<G>],
) -> Result<Vec<Condition<G::Field>>, Error> {
    parse_entries(entries.iter().map(Some), &Problem::query("filter", "value_error", ""))
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn pattern_regex<G: FilterGrammar>() -> Regex {
        Regex::new(&FilterEntry::<G>::schema().pattern.unwrap()).unwrap()
    }

    fn assert_pattern_agrees<G: FilterGrammar>(texts: &[&str]) {
        for text in texts {
            let is_accepted = filters::parse_filter(text, &G::fields()).is_ok();
            assert_eq!(pattern_regex::<G>().is_match(text), is_accepted, "{text:?}");
        }
    }

    #[test]
    fn documented_pattern_agrees_with_parser() {
        let texts = [
            "stage:is:complete",
            "stage:is:done",
            "stage:contains:complete",
            "name:contains:a:b",
            "name:is:",
            "name:is_not:a\nb",
            "type:is:task",
            "channel:is:not_linked",
            "has_traces:is:true",
            "status:is:failed",
            "exclusivity:is_not:available",
            "inventory:is:added",
            "domain:is:no such",
            "",
            "::",
            "name",
            " name:is:a",
        ];
        assert_pattern_agrees::<AssetFilters>(&texts);
        assert_pattern_agrees::<CodebaseFilters>(&texts);
        assert_pattern_agrees::<RawDataFilters>(&texts);
        assert_pattern_agrees::<TaskFilters>(&texts);
        assert_pattern_agrees::<EstimationFilters>(&texts);
    }

    /// Generates texts that match the documented pattern.
    fn matching_text() -> impl proptest::strategy::Strategy<Value = String> {
        let pattern = filters::filter_pattern(&AssetFilters::fields());
        let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
        proptest::string::string_regex(pattern).unwrap()
    }

    proptest::proptest! {
        /// Every text that matches the documented pattern parses.
        #[test]
        fn matching_text_parses(text in matching_text()) {
            proptest::prop_assert!(filters::parse_filter(&text, &AssetFilters::fields()).is_ok(), "{}", text);
        }
    }
}
