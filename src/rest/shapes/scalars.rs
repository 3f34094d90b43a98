//! Scalar values of requests and responses, adapted once to the traits of the framework.

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

/// A value that is a single JSON string or number.
pub trait Scalar: Sized + Send + Sync {
    /// Returns the schema for the documents.
    fn schema() -> MetaSchema;

    /// Returns the type name for the framework. It must differ for each type argument of a generic type.
    fn name() -> String {
        let schema = Self::schema();
        schema.format.unwrap_or(schema.ty).to_owned()
    }

    /// Parses the value; the error says what was expected.
    fn parse_value(value: &Value) -> Result<Self, String>;

    /// Returns the value as JSON.
    fn to_value(&self) -> Value;
}

/// Implements the framework's traits for a [`Scalar`].
macro_rules! impl_scalar {
    ($name:ty $(, $grammar:ident: $bound:path)?) => {
        impl $(<$grammar: $bound>)? poem_openapi::types::Type for $name {
            $crate::web::enum_value::own_values!();

            fn name() -> std::borrow::Cow<'static, str> {
                <Self as $crate::rest::shapes::scalars::Scalar>::name().into()
            }

            fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
                let schema = <Self as $crate::rest::shapes::scalars::Scalar>::schema();
                poem_openapi::registry::MetaSchemaRef::Inline(Box::new(schema))
            }
        }

        impl $(<$grammar: $bound>)? poem_openapi::types::ParseFromJSON for $name {
            fn parse_from_json(value: Option<serde_json::Value>) -> poem_openapi::types::ParseResult<Self> {
                let value = value.unwrap_or_default();
                <Self as $crate::rest::shapes::scalars::Scalar>::parse_value(&value)
                    .map_err(poem_openapi::types::ParseError::custom)
            }
        }

        impl $(<$grammar: $bound>)? poem_openapi::types::ToJSON for $name {
            fn to_json(&self) -> Option<serde_json::Value> {
                Some(<Self as $crate::rest::shapes::scalars::Scalar>::to_value(self))
            }
        }
    };
}

/// Implements [`Scalar`] for a type around a value whose text is a JSON string. The parser of the text returns an `Option`.
macro_rules! impl_text_scalar {
    ($name:ident, $schema:expr, $parse:expr, $expected:expr) => {
        impl $crate::rest::shapes::scalars::Scalar for $name {
            fn schema() -> poem_openapi::registry::MetaSchema {
                $schema
            }

            fn parse_value(value: &serde_json::Value) -> Result<Self, String> {
                value.as_str().and_then($parse).map($name).ok_or_else(|| $expected.to_owned())
            }

            fn to_value(&self) -> serde_json::Value {
                serde_json::Value::String(self.0.to_string())
            }
        }

        $crate::rest::shapes::scalars::impl_scalar!($name);
    };
}

pub(crate) use impl_scalar;
pub(crate) use impl_text_scalar;
