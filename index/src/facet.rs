//! The kinds of labels, and how labels are stored.
//!
//! Labels are prefixed with the letter of their facet, so that one sorted dictionary holds all eight facets
//! and each is a contiguous range of it.

use std::ops::Range;

/// A kind of label whose values are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facet {
    /// Domain tag slugs.
    Tags,
    /// Asset kinds.
    AssetTypes,
    /// Environment capabilities.
    Capabilities,
    /// File extensions in raw data.
    FileExtensions,
    /// Language slugs of codebases.
    Languages,
    /// Stage names; see [`Stage::name`](crate::document::Stage::name).
    LifecycleStages,
    /// Robotics dataset formats.
    RoboticsFormats,
    /// Inventory tag slugs.
    TagSlugs,
}

impl Facet {
    /// All facets, in the order of the variants.
    pub const ALL: [Facet; 8] = [
        Facet::Tags,
        Facet::AssetTypes,
        Facet::Capabilities,
        Facet::FileExtensions,
        Facet::Languages,
        Facet::LifecycleStages,
        Facet::RoboticsFormats,
        Facet::TagSlugs,
    ];

    /// Returns the name of the facet.
    pub const fn name(self) -> &'static str {
        match self {
            Facet::Tags => "tags",
            Facet::AssetTypes => "asset_types",
            Facet::Capabilities => "capabilities",
            Facet::FileExtensions => "file_extensions",
            Facet::Languages => "languages",
            Facet::LifecycleStages => "lifecycle_stages",
            Facet::RoboticsFormats => "robotics_formats",
            Facet::TagSlugs => "tag_slugs",
        }
    }

    /// Returns the first letter of the labels of this facet.
    pub(crate) const fn prefix(self) -> char {
        (b'a' + self as u8) as char
    }

    /// Returns the label that represents a value in the index.
    pub(crate) fn label(self, value: &str) -> String {
        let mut label = String::with_capacity(value.len() + 1);
        label.push(self.prefix());
        label.push_str(value);
        label
    }

    /// Returns the value that a label of this facet represents.
    pub(crate) fn value(self, label: &str) -> &str {
        label.strip_prefix(self.prefix()).unwrap_or(label)
    }

    /// Returns the ordinals of the labels of this facet among sorted ones.
    pub(crate) fn range(self, sorted: &[String]) -> Range<u32> {
        let end = |prefix: char| sorted.partition_point(|label| label.chars().next() < Some(prefix)) as u32;
        end(self.prefix())..end((self.prefix() as u8 + 1) as char)
    }
}
