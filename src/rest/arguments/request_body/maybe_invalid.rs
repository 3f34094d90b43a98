//! Values of request bodies that can be missing or invalid while the rest of the body is checked.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{MaybeUndefined, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

use crate::{
    domain::changes::Change,
    error::{Error, Result},
    rest::arguments::schema_marks::OMITTABLE_MARK,
};

/// A required field or an element of an array: `None` if it is missing or violates its schema. Then the body
/// has a problem there. The document shows the type itself.
#[derive(Clone, Debug, Default)]
pub struct MaybeInvalid<T, const IS_REQUIRED: bool = true>(pub Option<T>);

impl<T> MaybeInvalid<T> {
    /// Returns the value of a body without problems.
    pub fn into_valid(self) -> Result<T> {
        self.0.ok_or_else(|| Error::internal("a body without problems lacks a required field"))
    }

    /// Converts the elements of an array in a body without problems.
    pub fn all<U>(elements: Vec<MaybeInvalid<T>>, convert: impl Fn(T) -> U) -> Result<Vec<U>> {
        elements.into_iter().map(|element| element.into_valid().map(&convert)).collect()
    }
}

/// A field that may be omitted but not null: `None` if it is omitted or violates its schema.
pub type Omittable<T> = MaybeInvalid<T, false>;

/// Returns the texts of an array; `None` for each that is invalid.
pub fn checked_texts<T: Into<String>>(elements: Vec<MaybeInvalid<T>>) -> Vec<Option<String>> {
    elements.into_iter().map(|element| element.0.map(T::into)).collect()
}

impl<T: Type, const IS_REQUIRED: bool> Type for MaybeInvalid<T, IS_REQUIRED> {
    const IS_REQUIRED: bool = IS_REQUIRED;
    type RawValueType = T::RawValueType;
    type RawElementValueType = T::RawElementValueType;

    fn name() -> Cow<'static, str> {
        if IS_REQUIRED { T::name() } else { format!("given_{}", T::name()).into() }
    }

    fn schema_ref() -> MetaSchemaRef {
        if IS_REQUIRED {
            return T::schema_ref();
        }
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

impl<T: ParseFromJSON, const IS_REQUIRED: bool> ParseFromJSON for MaybeInvalid<T, IS_REQUIRED> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value {
            None | Some(Value::Null) => Ok(MaybeInvalid(None)),
            value => T::parse_from_json(value)
                .map(|value| MaybeInvalid(Some(value)))
                .map_err(poem_openapi::types::ParseError::propagate),
        }
    }
}

impl<T: ToJSON, const IS_REQUIRED: bool> ToJSON for MaybeInvalid<T, IS_REQUIRED> {
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
