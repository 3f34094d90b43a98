//! String enums in JSON and in parameters: one adapter for all of them.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseFromParameter, ParseResult, ToJSON, Type},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::string_enum::StringEnum;

/// The items of [`Type`] that are the same for all types whose values are used as they are.
macro_rules! own_values {
    () => {
        const IS_REQUIRED: bool = true;
        type RawValueType = Self;
        type RawElementValueType = Self;

        fn as_raw_value(&self) -> Option<&Self> {
            Some(self)
        }

        fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
            Box::new(std::iter::once(self))
        }
    };
}

pub(crate) use own_values;

/// A value of a string enum, serialized as its text and documented as an enum schema of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumValue<T>(pub T);

impl<T: StringEnum> Serialize for EnumValue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de, T: StringEnum> Deserialize<'de> for EnumValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        T::parse(&text).map(EnumValue).ok_or_else(|| de::Error::custom(expected_message::<T>()))
    }
}

/// Returns the message for a text that is not in the enum.
fn expected_message<T: StringEnum>() -> String {
    let values: Vec<&str> = T::ALL.iter().map(|value| value.as_str()).collect();
    format!("expected one of {}", values.join(", "))
}

impl<T: StringEnum> Type for EnumValue<T> {
    own_values!();

    fn name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference(T::NAME.to_owned())
    }

    fn register(registry: &mut Registry) {
        registry.create_schema::<Self, _>(T::NAME.to_owned(), |_| MetaSchema {
            enum_items: T::ALL.iter().map(|value| Value::from(value.as_str())).collect(),
            ..MetaSchema::new("string")
        });
    }
}

impl<T: StringEnum> ParseFromJSON for EnumValue<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        ParseFromParameter::parse_from_parameter(value.as_ref().and_then(Value::as_str).unwrap_or_default())
    }
}

impl<T: StringEnum> ParseFromParameter for EnumValue<T> {
    fn parse_from_parameter(value: &str) -> ParseResult<Self> {
        T::parse(value).map(EnumValue).ok_or_else(|| ParseError::custom(expected_message::<T>()))
    }
}

impl<T: StringEnum> ToJSON for EnumValue<T> {
    fn to_json(&self) -> Option<Value> {
        Some(Value::from(self.0.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::teams::Role;

    #[test]
    fn value_has_one_text_in_all_formats() {
        let mut registry = Registry::new();
        EnumValue::<Role>::register(&mut registry);
        assert_eq!(json!(registry.schemas["Role"]), json!({"type": "string", "enum": ["vendor", "buyer"]}));
        let value = EnumValue(Role::Buyer);
        assert_eq!((json!(value), value.to_json()), (json!("buyer"), Some(json!("buyer"))));
        assert_eq!(serde_json::from_value::<EnumValue<Role>>(json!("buyer")).unwrap(), value);
        assert_eq!(EnumValue::parse_from_parameter("buyer").unwrap(), value);
        assert_eq!(EnumValue::parse_from_json(Some(json!("buyer"))).unwrap(), value);
    }

    #[test]
    fn unknown_text_is_rejected_with_known_values() {
        for invalid in [json!("Buyer"), json!(""), json!(null), json!(1)] {
            let message =
                EnumValue::<Role>::parse_from_json(Some(invalid.clone())).unwrap_err().into_message();
            assert!(message.contains("vendor, buyer"), "{message}");
            assert!(serde_json::from_value::<EnumValue<Role>>(invalid).is_err());
        }
    }
}
