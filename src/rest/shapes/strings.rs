//! Strings and amounts of requests, each with its bounds and pattern. Documents state them, and bodies are
//! validated against them.

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

use super::scalars::{Scalar, impl_scalar};
use crate::domain::patterns::{
    CONTENT_TYPE_PATTERN, DURATION_PATTERN, ETAG_PATTERN, FILE_NAME_PATTERN, HOST_PATTERN,
    IDENTIFIER_PATTERN, LINE_PATTERN, MULTILINE_PATTERN, PATH_PATTERN, REPOSITORY_PATTERN, SHA256_PATTERN,
    SLUG_PATTERN, URL_PATTERN, VISIBLE_PATTERN, WORLD_NAME_PATTERN,
};
use crate::domain::{inventory::MAX_PRICE, texts};

/// Declares string types, each with the rule of a text, or with its minimum and maximum length in characters and its
/// pattern.
macro_rules! string_types {
    ($($(#[$meta:meta])* $name:ident $rule:tt)+) => {
        $(string_types! { @ $(#[$meta])* $name $rule })+
    };
    (@ $(#[$meta:meta])* $name:ident ($rule:path)) => {
        string_types! { @ $(#[$meta])* $name, $rule.min, $rule.max, $rule.pattern() }
    };
    (@ $(#[$meta:meta])* $name:ident ($min:literal..=$max:literal, $pattern:ident)) => {
        string_types! { @ $(#[$meta])* $name, $min, $max, $pattern }
    };
    (@ $(#[$meta:meta])* $name:ident, $min:expr, $max:expr, $pattern:expr) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(pub String);

        impl Scalar for $name {
            fn schema() -> MetaSchema {
                MetaSchema {
                    min_length: ($min > 0).then_some($min),
                    max_length: Some($max),
                    pattern: Some($pattern.to_owned()),
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

string_types! {
    /// Title of an asset.
    Title(texts::TITLE)
    /// Name of an inventory group.
    GroupName(texts::GROUP_NAME)
    /// Name of a team.
    TeamName(texts::TEAM_NAME)
    /// Name of an API key, for instance its purpose.
    KeyName(texts::KEY_NAME)
    /// Name of a world or of a snapshot.
    WorldName(1..=40, WORLD_NAME_PATTERN)
    /// A duration: numbers with units, such as `90d` or `1h30m`.
    DurationText(2..=50, DURATION_PATTERN)
    /// What a part of a request to a world is compared with.
    MatchText(1..=2_000, LINE_PATTERN)
    /// The ID of an operation in the documents.
    OperationId(1..=100, IDENTIFIER_PATTERN)
    /// An error code.
    ErrorCode(1..=60, IDENTIFIER_PATTERN)
    /// A path, with `*` at the end for all that begin so.
    PathMatch(1..=2_048, PATH_PATTERN)
    /// The name of a host.
    HostName(1..=253, HOST_PATTERN)
    /// A text without spaces, with `*` at the end for all that begin so.
    TextMatch(1..=2_048, VISIBLE_PATTERN)
    /// What is announced on pages of the web app.
    AnnouncementText(texts::ANNOUNCEMENT)
    /// An explanation for a team.
    Note(texts::NOTE)
    /// How a team is paid, in words.
    PayoutSetup(0..=2_000, MULTILINE_PATTERN)
    /// An HTTPS URL of an image.
    AvatarUrl(9..=2_000, URL_PATTERN)
    /// A domain that the taxonomy does not have, in words.
    OtherDomain(texts::OTHER_DOMAIN)
    /// Description or notes, on any number of lines.
    MultilineText(texts::DESCRIPTION)
    /// Full name of a repository, `owner/name`.
    RepositoryFullName(3..=200, REPOSITORY_PATTERN)
    /// Path of a file or directory in a repository or archive.
    DataPath(1..=4_096, LINE_PATTERN)
    /// An HTTP or HTTPS URL.
    Url(8..=2_000, URL_PATTERN)
    /// The URL of a webhook: https, or http for private addresses.
    WebhookUrl(8..=2_048, URL_PATTERN)
    /// What the owner of a webhook says about it.
    WebhookDescription(texts::WEBHOOK_DESCRIPTION)
    /// A taxonomy slug.
    Slug(1..=60, SLUG_PATTERN)
    /// Display name of a domain or tag.
    Label(texts::LABEL)
    /// One or more sentences on one line.
    Sentence(texts::SENTENCE)
    /// A request of a buyer in one sentence.
    Overview(texts::OVERVIEW)
    /// A free-form tag.
    FreeTag(texts::FREE_TAG)
    /// A name on one line, such as that of a taskset.
    Name(texts::NAME)
    /// A file name without a directory.
    FileName(1..=255, FILE_NAME_PATTERN)
    /// A media type without parameters.
    ContentType(3..=100, CONTENT_TYPE_PATTERN)
    /// A SHA-256 digest: 64 lowercase hexadecimal digits.
    Sha256Digest(64..=64, SHA256_PATTERN)
    /// The ETag of a part of an upload.
    PartETag(1..=200, ETAG_PATTERN)
}

/// An amount in US dollars with at most two decimals, up to one billion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dollars(pub f64);

impl Scalar for Dollars {
    fn schema() -> MetaSchema {
        MetaSchema {
            minimum: Some(0.0),
            maximum: Some(MAX_PRICE.dollars()),
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
