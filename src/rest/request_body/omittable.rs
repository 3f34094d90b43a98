//! Optional fields in request bodies.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{MaybeUndefined, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

use crate::{domain::inventory::Change, rest::schema_marks::OMITTABLE_MARK};

/// A field that may be omitted but not null.
#[derive(Clone, Debug, Default)]
pub struct Omittable<T>(pub Option<T>);

impl<T: Type> Type for Omittable<T> {
    const IS_REQUIRED: bool = false;
    type RawValueType = T::RawValueType;
    type RawElementValueType = T::RawElementValueType;

    fn name() -> Cow<'static, str> {
        format!("given_{}", T::name()).into()
    }

    fn schema_ref() -> MetaSchemaRef {
        let marked = MetaSchema {
            title: Some(OMITTABLE_MARK.to_owned()),
            all_of: vec![T::schema_ref()],
            ..MetaSchema::ANY
        };
        MetaSchemaRef::Inline(Box::new(marked))
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        self.0.as_raw_value()
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        self.0.raw_element_iter()
    }
}

impl<T: ParseFromJSON> ParseFromJSON for Omittable<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value {
            Some(value) => T::parse_from_json(Some(value))
                .map(|value| Omittable(Some(value)))
                .map_err(poem_openapi::types::ParseError::propagate),
            None => Ok(Omittable(None)),
        }
    }
}

impl<T: ToJSON> ToJSON for Omittable<T> {
    fn to_json(&self) -> Option<Value> {
        self.0.as_ref()?.to_json()
    }
}

/// Converts a field of a PATCH body to a change: omitted keeps the value, null clears it, and anything else
/// sets it.
pub fn into_change<T>(field: MaybeUndefined<T>) -> Change<T> {
    match field {
        MaybeUndefined::Undefined => Change::Unchanged,
        MaybeUndefined::Null => Change::Clear,
        MaybeUndefined::Value(value) => Change::Set(value),
    }
}
