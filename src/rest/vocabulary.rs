//! String enums in JSON and in parameters: one adapter for all of them.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseFromParameter, ParseResult, ToJSON, Type},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::domain::vocabulary::Vocabulary;

/// A value of a string enum, serialized as its text and documented as an enum schema of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<T>(pub T);

impl<T: Vocabulary> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word())
    }
}

impl<'de, T: Vocabulary> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<str>::deserialize(deserializer)?;
        T::parse(&word).map(Word).ok_or_else(|| de::Error::custom(expected::<T>()))
    }
}

/// Returns the message for a text that is not in the enum.
fn expected<T: Vocabulary>() -> String {
    let words: Vec<&str> = T::ALL.iter().map(|word| word.word()).collect();
    format!("expected one of {}", words.join(", "))
}

impl<T: Vocabulary> Type for Word<T> {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference(T::NAME.to_owned())
    }

    fn register(registry: &mut Registry) {
        registry.create_schema::<Self, _>(T::NAME.to_owned(), |_| MetaSchema {
            enum_items: T::ALL.iter().map(|word| Value::from(word.word())).collect(),
            ..MetaSchema::new("string")
        });
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

impl<T: Vocabulary> ParseFromJSON for Word<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        ParseFromParameter::parse_from_parameter(value.as_ref().and_then(Value::as_str).unwrap_or_default())
    }
}

impl<T: Vocabulary> ParseFromParameter for Word<T> {
    fn parse_from_parameter(value: &str) -> ParseResult<Self> {
        T::parse(value).map(Word).ok_or_else(|| ParseError::custom(expected::<T>()))
    }
}

impl<T: Vocabulary> ToJSON for Word<T> {
    fn to_json(&self) -> Option<Value> {
        Some(Value::from(self.0.word()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::teams::Role;

    #[test]
    fn words_are_spelled_one_way_everywhere() {
        let mut registry = Registry::new();
        Word::<Role>::register(&mut registry);
        assert_eq!(json!(registry.schemas["Role"]), json!({"type": "string", "enum": ["vendor", "buyer"]}));
        let word = Word(Role::Buyer);
        assert_eq!((json!(word), word.to_json()), (json!("buyer"), Some(json!("buyer"))));
        assert_eq!(serde_json::from_value::<Word<Role>>(json!("buyer")).unwrap(), word);
        assert_eq!(Word::parse_from_parameter("buyer").unwrap(), word);
        assert_eq!(Word::parse_from_json(Some(json!("buyer"))).unwrap(), word);
    }

    #[test]
    fn other_words_are_told_the_right_ones() {
        for wrong in [json!("Buyer"), json!(""), json!(null), json!(1)] {
            let refusal = Word::<Role>::parse_from_json(Some(wrong.clone())).unwrap_err().into_message();
            assert!(refusal.contains("vendor, buyer"), "{refusal}");
            assert!(serde_json::from_value::<Word<Role>>(wrong).is_err());
        }
    }
}
