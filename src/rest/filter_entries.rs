//! Filter entries of list requests, `field:operator:value`: their schemas and their parsing.
//!
//! The fields that a list can be filtered by are declared in `domain`. The documented pattern is generated
//! from them, so a client can tell from the document which entries are valid.

use std::marker::PhantomData;

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

use super::shapes::scalars::{Scalar, scalar};
use crate::{
    domain::{
        asset_filters::FilterField,
        assets::Kind,
        estimations::EstimationField,
        filters::{self, Condition, Fault, Field},
        vocabulary::Vocabulary,
    },
    error::{Error, Problem, Step},
};

/// The schema format that identifies a filter entry. Request bodies are not checked against the pattern,
/// since the parser reports more precisely what is wrong.
pub const FORMAT: &str = "filter";

/// The fields that the entries of a list can filter by.
pub trait Grammar: Send + Sync + 'static {
    /// A unique name, which becomes part of the schema name.
    const NAME: &'static str;

    /// The type of the fields.
    type Field: Field;

    /// Returns all fields of the list.
    fn fields() -> Vec<Self::Field>;
}

/// The filter fields of a list of assets.
pub trait AssetGrammar: Grammar<Field = FilterField> {
    /// The type of the assets in the list; none if it has assets of all types.
    const KIND: Option<Kind>;
}

/// Declares the filter grammar of a list of assets.
macro_rules! asset_grammar {
    ($(#[$meta:meta])* $name:ident, $kind:expr) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub enum $name {}

        impl Grammar for $name {
            const NAME: &'static str = stringify!($name);
            type Field = FilterField;

            fn fields() -> Vec<FilterField> {
                FilterField::of(Self::KIND)
            }
        }

        impl AssetGrammar for $name {
            const KIND: Option<Kind> = $kind;
        }
    };
}

asset_grammar! {
    /// Filters of lists with assets of all types.
    OfAssets, None
}
asset_grammar! {
    /// Filters of codebase lists.
    OfCodebases, Some(Kind::Codebase)
}
asset_grammar! {
    /// Filters of raw data lists.
    OfRawData, Some(Kind::RawData)
}
asset_grammar! {
    /// Filters of task lists.
    OfTasks, Some(Kind::Task)
}

/// Filters of estimation lists.
#[derive(Debug)]
pub enum OfEstimations {}

impl Grammar for OfEstimations {
    const NAME: &'static str = "OfEstimations";
    type Field = EstimationField;

    fn fields() -> Vec<EstimationField> {
        EstimationField::ALL.to_vec()
    }
}

/// A filter entry as sent, not yet parsed.
#[derive(Debug)]
pub struct Entry<G> {
    text: String,
    grammar: PhantomData<fn() -> G>,
}

impl<G: Grammar> Scalar for Entry<G> {
    fn schema() -> MetaSchema {
        MetaSchema {
            pattern: Some(filters::pattern(&G::fields())),
            ..MetaSchema::new_with_format("string", FORMAT)
        }
    }

    fn name() -> String {
        format!("Entry{}", G::NAME)
    }

    fn read(value: &Value) -> Result<Self, String> {
        let text = value.as_str().ok_or_else(|| "a filter must be a string".to_owned())?.to_owned();
        Ok(Entry { text, grammar: PhantomData })
    }

    fn write(&self) -> Value {
        Value::from(self.text.as_str())
    }
}

scalar!(Entry<G>, G: Grammar);

/// Parses entries, or reports everything that is wrong with them. `place` is a problem at the location of the
/// list; each reported problem adds the index of its entry.
pub fn read<G: Grammar>(entries: &[Entry<G>], place: &Problem) -> Result<Vec<Condition<G::Field>>, Error> {
    let fields = G::fields();
    let (mut conditions, mut problems) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        match filters::parse(&entry.text, &fields) {
            Ok(condition) => conditions.push(condition),
            Err(Fault { at, what }) => {
                let mut problem = place.clone();
                problem.msg = format!("Invalid filter at character {at}: {what}.");
                problem.loc.push(Step::Index(index));
                problems.push(problem);
            }
        }
    }
    if problems.is_empty() { Ok(conditions) } else { Err(Error::Invalid(problems)) }
}

/// Parses the `filter` entries of a query.
pub fn of_query<G: Grammar>(entries: &[Entry<G>]) -> Result<Vec<Condition<G::Field>>, Error> {
    read(entries, &Problem::query("filter", "value_error", ""))
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn form<G: Grammar>() -> Regex {
        Regex::new(&Entry::<G>::schema().pattern.unwrap()).unwrap()
    }

    fn agree<G: Grammar>(texts: &[&str]) {
        for text in texts {
            let is_read = filters::parse(text, &G::fields()).is_ok();
            assert_eq!(form::<G>().is_match(text), is_read, "{text:?}");
        }
    }

    #[test]
    fn the_documented_form_is_what_is_read() {
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
        agree::<OfAssets>(&texts);
        agree::<OfCodebases>(&texts);
        agree::<OfRawData>(&texts);
        agree::<OfTasks>(&texts);
        agree::<OfEstimations>(&texts);
    }

    /// Generates texts that match the documented pattern.
    fn written() -> impl proptest::strategy::Strategy<Value = String> {
        let form = filters::pattern(&OfAssets::fields());
        let form = form.trim_start_matches('^').trim_end_matches('$');
        proptest::string::string_regex(form).unwrap()
    }

    proptest::proptest! {
        /// Every text that matches the documented pattern parses.
        #[test]
        fn what_has_the_form_is_read(text in written()) {
            proptest::prop_assert!(filters::parse(&text, &OfAssets::fields()).is_ok(), "{}", text);
        }
    }
}
