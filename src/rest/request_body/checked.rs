//! Values of request bodies that can be invalid while the rest of the body is checked.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchemaRef, Registry},
    types::{ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

/// A required field or an element of an array: `None` if it is missing or violates its schema. Then the body
/// has a problem there. The document shows the type itself.
#[derive(Clone, Debug, Default)]
pub struct Checked<T>(pub Option<T>);

/// Returns the texts of an array; `None` for each that is invalid.
pub fn checked_texts<T: Into<String>>(elements: Vec<Checked<T>>) -> Vec<Option<String>> {
    elements.into_iter().map(|element| element.0.map(T::into)).collect()
}

impl<T: Type> Type for Checked<T> {
    const IS_REQUIRED: bool = true;
    type RawValueType = T::RawValueType;
    type RawElementValueType = T::RawElementValueType;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
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

impl<T: ParseFromJSON> ParseFromJSON for Checked<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value {
            None | Some(Value::Null) => Ok(Checked(None)),
            value => T::parse_from_json(value)
                .map(|value| Checked(Some(value)))
                .map_err(poem_openapi::types::ParseError::propagate),
        }
    }
}

impl<T: ToJSON> ToJSON for Checked<T> {
    fn to_json(&self) -> Option<Value> {
        self.0.as_ref()?.to_json()
    }
}
