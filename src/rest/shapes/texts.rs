//! Texts and amounts of requests: each with its bounds and its form, which documents state and bodies are held against.

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

use super::scalars::{Scalar, scalar};

/// One line with something in it. Characters that control terminals or the direction of text have no place in it.
const LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$";

/// Any number of lines, or nothing. Tabs and line ends are the only control characters in them.
const LINES: &str =
    "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$";

/// `owner/name`, with groups in between where the channel has them. No name is a way upwards.
const REPOSITORY: &str = "^\\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*(/\\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$";

/// A SHA-256 digest.
const SHA256: &str = "^[0-9a-f]{64}$";

/// The name of a file, without those of its folders.
const FILE: &str = "^[^/\\\\\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]+$";

/// A content type, without parameters.
const CONTENT_TYPE: &str = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$";

/// The tag of a part, with its quotes or without.
const TAG: &str = "^\"?[!#-~]+\"?$";

/// A web address.
const ADDRESS: &str = "^https?://[!-~]+$";

/// A slug.
const SLUG: &str = "^[a-z0-9]+([_-][a-z0-9]+)*$";

/// What a text that has not its form should be, in words.
pub fn form_in_words(form: &str) -> String {
    let words = match form {
        LINE => "is one line with something in it, without control characters",
        LINES => "has no control characters besides tabs and line ends",
        REPOSITORY => "is written owner/name",
        ADDRESS => "is a web address that begins with http:// or https://",
        SHA256 => "is a SHA-256 digest: 64 hexadecimal digits in lower case",
        FILE => "is the name of a file, without folders and control characters",
        CONTENT_TYPE => "is a content type without parameters, as application/zip",
        TAG => "is the tag that the part was answered with",
        SLUG => "is a slug: lowercase letters, digits and hyphens",
        _ => return format!("does not have the form {form}"),
    };
    words.to_owned()
}

/// Declares a text with its bounds in characters and its form.
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
                value.as_str().map(|text| $name(text.to_owned())).ok_or_else(|| "this is a text".to_owned())
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
    /// A title.
    Title, 1..=200, LINE
}
text! {
    /// The name of a group.
    GroupName, 1..=120, LINE
}
text! {
    /// A field in words.
    Phrase, 1..=200, LINE
}
text! {
    /// A description or notes.
    LongText, 0..=20_000, LINES
}
text! {
    /// `owner/name` of a repository.
    Repository, 3..=200, REPOSITORY
}
text! {
    /// A web address.
    Address, 8..=2_000, ADDRESS
}
text! {
    /// A slug of the taxonomy.
    Slug, 1..=60, SLUG
}

text! {
    /// The name of a file.
    FileName, 1..=255, FILE
}
text! {
    /// A content type.
    ContentType, 3..=100, CONTENT_TYPE
}
text! {
    /// A SHA-256 digest in hexadecimal.
    Sha256Digest, 64..=64, SHA256
}
text! {
    /// The tag of a part of an upload.
    PartTag, 1..=200, TAG
}

/// An amount of US dollars in whole cents.
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
        value.as_f64().map(Dollars).ok_or_else(|| "an amount is a number".to_owned())
    }

    fn write(&self) -> Value {
        Value::from(self.0)
    }
}

scalar!(Dollars);
