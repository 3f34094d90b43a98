//! Strings and amounts of requests, each with its bounds and pattern. Documents state them, and bodies are
//! validated against them.

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

use super::scalars::{Scalar, impl_scalar};

/// One non-blank line. Control characters and bidirectional formatting characters are rejected.
const LINE_PATTERN: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$";

/// Any number of lines, possibly empty. Tabs and line breaks are the only control characters allowed.
const MULTILINE_PATTERN: &str =
    "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$";

/// `owner/name`, with subgroups in between where the channel has them. No segment can be `..`.
const REPOSITORY_PATTERN: &str = "^\\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*(/\\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$";

/// A SHA-256 digest: 64 lowercase hexadecimal digits.
const SHA256_PATTERN: &str = "^[0-9a-f]{64}$";

/// A file name without a directory.
const FILE_NAME_PATTERN: &str = "^[^/\\\\\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]+$";

/// A media type without parameters.
const CONTENT_TYPE_PATTERN: &str = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$";

/// The ETag of a part, with or without quotes.
const ETAG_PATTERN: &str = "^\"?[!#-~]+\"?$";

/// An HTTP or HTTPS URL.
const URL_PATTERN: &str = "^https?://[!-~]+$";

/// A taxonomy slug.
const SLUG_PATTERN: &str = "^[a-z0-9]+([_-][a-z0-9]+)*$";

/// Describes a pattern in words, for messages about strings that do not match it.
pub fn describe_pattern(pattern: &str) -> String {
    let description = match pattern {
        LINE_PATTERN => "must be one non-blank line without control characters",
        MULTILINE_PATTERN => "must have no control characters other than tabs and line breaks",
        REPOSITORY_PATTERN => "must have the pattern owner/name",
        URL_PATTERN => "must be a URL that starts with http:// or https://",
        SHA256_PATTERN => "must be a SHA-256 digest: 64 lowercase hexadecimal digits",
        FILE_NAME_PATTERN => "must be a file name without directories and control characters",
        CONTENT_TYPE_PATTERN => "must be a content type without parameters, such as application/zip",
        ETAG_PATTERN => "must be the ETag that uploading the part returned",
        SLUG_PATTERN => "must be a slug: lowercase letters and digits, separated by hyphens or underscores",
        _ => return format!("must match the pattern {pattern}"),
    };
    description.to_owned()
}

/// Declares a string type with its minimum and maximum length in characters and its pattern.
macro_rules! string_type {
    ($(#[$meta:meta])* $name:ident, $min:literal..=$max:literal, $pattern_name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(pub String);

        impl Scalar for $name {
            fn schema() -> MetaSchema {
                MetaSchema {
                    min_length: ($min > 0).then_some($min),
                    max_length: Some($max),
                    pattern: Some($pattern_name.to_owned()),
                    ..MetaSchema::new("string")
                }
            }

            fn parse_value(value: &Value) -> Result<Self, String> {
                value.as_str().map(|text| $name(text.to_owned())).ok_or_else(|| "not a string".to_owned())
            }

            fn to_value(&self) -> Value {
                Value::from(self.0.as_str())
            }
        }

        impl_scalar!($name);

        impl From<$name> for String {
            fn from(text: $name) -> String {
                text.0
            }
        }
    };
}

string_type! {
    /// Title of an asset.
    Title, 1..=200, LINE_PATTERN
}
string_type! {
    /// Name of an inventory group.
    GroupName, 1..=120, LINE_PATTERN
}
string_type! {
    /// A domain that the taxonomy does not have, in words.
    OtherDomain, 1..=200, LINE_PATTERN
}
string_type! {
    /// Description or notes, on any number of lines.
    MultilineText, 0..=20_000, MULTILINE_PATTERN
}
string_type! {
    /// Full name of a repository, `owner/name`.
    RepositoryFullName, 3..=200, REPOSITORY_PATTERN
}
string_type! {
    /// An HTTP or HTTPS URL.
    Url, 8..=2_000, URL_PATTERN
}
string_type! {
    /// A taxonomy slug.
    Slug, 1..=60, SLUG_PATTERN
}

string_type! {
    /// A file name without a directory.
    FileName, 1..=255, FILE_NAME_PATTERN
}
string_type! {
    /// A media type without parameters.
    ContentType, 3..=100, CONTENT_TYPE_PATTERN
}
string_type! {
    /// A SHA-256 digest: 64 lowercase hexadecimal digits.
    Sha256Digest, 64..=64, SHA256_PATTERN
}
string_type! {
    /// The ETag of a part of an upload.
    PartETag, 1..=200, ETAG_PATTERN
}

/// An amount in US dollars with at most two decimals, up to one billion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dollars(pub f64);

impl Scalar for Dollars {
    fn schema() -> MetaSchema {
        MetaSchema {
            minimum: Some(0.0),
            maximum: Some(1e9),
            multiple_of: Some(0.01),
            ..MetaSchema::new_with_format("number", "double")
        }
    }

    fn parse_value(value: &Value) -> Result<Self, String> {
        value.as_f64().map(Dollars).ok_or_else(|| "expected a number".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::from(self.0)
    }
}

impl_scalar!(Dollars);
