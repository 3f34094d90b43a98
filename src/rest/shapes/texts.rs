//! Strings and amounts of requests, each with its bounds and pattern. Documents state them, and bodies are
//! validated against them.

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

use super::scalars::{Scalar, scalar};

/// One non-blank line. Control characters and bidirectional formatting characters are rejected.
const LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$";

/// Any number of lines, possibly empty. Tabs and line breaks are the only control characters allowed.
const LINES: &str =
    "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$";

/// `owner/name`, with subgroups in between where the channel has them. No segment can be `..`.
const REPOSITORY: &str = "^\\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*(/\\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$";

/// A SHA-256 digest: 64 lowercase hexadecimal digits.
const SHA256: &str = "^[0-9a-f]{64}$";

/// A file name without a directory.
const FILE: &str = "^[^/\\\\\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]+$";

/// A media type without parameters.
const CONTENT_TYPE: &str = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$";

/// The ETag of a part, with or without quotes.
const TAG: &str = "^\"?[!#-~]+\"?$";

/// An HTTP or HTTPS URL.
const ADDRESS: &str = "^https?://[!-~]+$";

/// A taxonomy slug.
const SLUG: &str = "^[a-z0-9]+([_-][a-z0-9]+)*$";

/// Describes a pattern in words, for messages about strings that do not match it.
pub fn form_in_words(form: &str) -> String {
    let words = match form {
        LINE => "must be one non-blank line without control characters",
        LINES => "must have no control characters other than tabs and line breaks",
        REPOSITORY => "must have the form owner/name",
        ADDRESS => "must be a URL that starts with http:// or https://",
        SHA256 => "must be a SHA-256 digest: 64 lowercase hexadecimal digits",
        FILE => "must be a file name without directories and control characters",
        CONTENT_TYPE => "must be a content type without parameters, such as application/zip",
        TAG => "must be the ETag that uploading the part returned",
        SLUG => "must be a slug: lowercase letters and digits, separated by hyphens or underscores",
        _ => return format!("must match the pattern {form}"),
    };
    words.to_owned()
}

/// Declares a string type with its minimum and maximum length in characters and its pattern.
macro_rules! text {
    ($(#[$meta:meta])* $name:ident, $least:literal..=$most:literal, $form:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(pub String);

        impl Scalar for $name {
            fn schema() -> MetaSchema {
                MetaSchema {
                    min_length: ($least > 0).then_some($least),
                    max_length: Some($most),
                    pattern: Some($form.to_owned()),
                    ..MetaSchema::new("string")
                }
            }

            fn read(value: &Value) -> Result<Self, String> {
                value.as_str().map(|text| $name(text.to_owned())).ok_or_else(|| "not a string".to_owned())
            }

            fn write(&self) -> Value {
                Value::from(self.0.as_str())
            }
        }

        scalar!($name);

        impl From<$name> for String {
            fn from(text: $name) -> String {
                text.0
            }
        }
    };
}

text! {
    /// Title of an asset.
    Title, 1..=200, LINE
}
text! {
    /// Name of an inventory group.
    GroupName, 1..=120, LINE
}
text! {
    /// A domain that the taxonomy does not have, in words.
    Phrase, 1..=200, LINE
}
text! {
    /// Description or notes, on any number of lines.
    LongText, 0..=20_000, LINES
}
text! {
    /// Full name of a repository, `owner/name`.
    Repository, 3..=200, REPOSITORY
}
text! {
    /// An HTTP or HTTPS URL.
    Address, 8..=2_000, ADDRESS
}
text! {
    /// A taxonomy slug.
    Slug, 1..=60, SLUG
}

text! {
    /// A file name without a directory.
    FileName, 1..=255, FILE
}
text! {
    /// A media type without parameters.
    ContentType, 3..=100, CONTENT_TYPE
}
text! {
    /// A SHA-256 digest: 64 lowercase hexadecimal digits.
    Sha256Digest, 64..=64, SHA256
}
text! {
    /// The ETag of a part of an upload.
    PartTag, 1..=200, TAG
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

    fn read(value: &Value) -> Result<Self, String> {
        value.as_f64().map(Dollars).ok_or_else(|| "expected a number".to_owned())
    }

    fn write(&self) -> Value {
        Value::from(self.0)
    }
}

scalar!(Dollars);
