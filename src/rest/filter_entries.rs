//! Entries of lists' filters, `field:operator:value`: their forms in documents, and what they say.
//!
//! A list's fields are stated in `domain`; the form is made of them, so that a client knows from the document what will be
//! read.

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

/// The format by which documents tell an entry from other texts. Bodies are not held against its form, since reading it
/// says more exactly what is wrong.
pub const FORMAT: &str = "filter";

/// What the entries of a sort of list can look at.
pub trait Grammar: Send + Sync + 'static {
    /// What tells it from others.
    const NAME: &'static str;

    /// What they look at.
    type Field: Field;

    /// All of it.
    fn fields() -> Vec<Self::Field>;
}

/// What the entries of a list of assets can look at.
pub trait AssetGrammar: Grammar<Field = FilterField> {
    /// The kind of the list's assets; none where it has all of them.
    const KIND: Option<Kind>;
}

/// Declares the grammar of a list of assets.
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
    /// Assets of all kinds.
    OfAssets, None
}
asset_grammar! {
    /// Codebases.
    OfCodebases, Some(Kind::Codebase)
}
asset_grammar! {
    /// Raw data.
    OfRawData, Some(Kind::RawData)
}
asset_grammar! {
    /// Tasks.
    OfTasks, Some(Kind::Task)
}

/// Estimations.
#[derive(Debug)]
pub enum OfEstimations {}

impl Grammar for OfEstimations {
    const NAME: &'static str = "OfEstimations";
    type Field = EstimationField;

    fn fields() -> Vec<EstimationField> {
        EstimationField::ALL.to_vec()
    }
}

/// An entry as it was sent.
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
        let text = value.as_str().ok_or_else(|| "a filter is a text".to_owned())?.to_owned();
        Ok(Entry { text, grammar: PhantomData })
    }

    fn write(&self) -> Value {
        Value::from(self.text.as_str())
    }
}

scalar!(Entry<G>, G: Grammar);

/// What entries say, or everything that is wrong with them; `place` is where they were sent, and each problem adds which
/// of them it is.
pub fn read<G: Grammar>(entries: &[Entry<G>], place: &Problem) -> Result<Vec<Condition<G::Field>>, Error> {
    let fields = G::fields();
    let (mut conditions, mut problems) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        match filters::parse(&entry.text, &fields) {
            Ok(condition) => conditions.push(condition),
            Err(Fault { at, what }) => {
                let mut problem = place.clone();
                problem.msg = format!("At character {at} of this filter, {what}.");
                problem.loc.push(Step::Index(index));
                problems.push(problem);
            }
        }
    }
    if problems.is_empty() { Ok(conditions) } else { Err(Error::Invalid(problems)) }
}

/// What the entries of a query say.
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

    /// Any text that has the form.
    fn written() -> impl proptest::strategy::Strategy<Value = String> {
        let form = filters::pattern(&OfAssets::fields());
        let form = form.trim_start_matches('^').trim_end_matches('$');
        proptest::string::string_regex(form).unwrap()
    }

    proptest::proptest! {
        /// Whatever is written in the documented form is read.
        #[test]
        fn what_has_the_form_is_read(text in written()) {
            proptest::prop_assert!(filters::parse(&text, &OfAssets::fields()).is_ok(), "{}", text);
        }
    }
}
