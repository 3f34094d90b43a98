//! The values that filters by slug know: the terms of the taxonomy with their labels, and what listings have.

use marketplace_index::Facet;

use super::access::AuthenticatedTeam;
use crate::{
    domain::assets::Kind,
    error::Result,
    market::Reader,
    store::{self, Reader as Rows},
    string_enum::StringEnum,
};

/// A set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// Languages of code.
    Languages,
    /// Domains.
    Domains,
    /// Inventory tags.
    InventoryTags,
    /// Kinds of assets.
    Kinds,
    /// Capabilities of environments, as published listings have them.
    Capabilities,
    /// Extensions of files, as published listings have them.
    FileExtensions,
    /// Formats of robotics datasets, as published listings have them.
    RoboticsFormats,
}

/// A value, with its label for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The value that filters compare.
    pub slug: String,
    /// The label; the same as the slug if there is none.
    pub label: String,
}

/// Returns the known values.
pub fn terms(reader: &Reader, _: &AuthenticatedTeam, vocabulary: Vocabulary) -> Result<Vec<Term>> {
    let labels = |rows: &Rows| -> Result<Vec<(String, String)>> {
        Ok(match vocabulary {
            Vocabulary::Languages => {
                store::taxonomy::languages(rows)?.into_iter().map(|term| (term.slug, term.name)).collect()
            }
            Vocabulary::Domains => {
                store::taxonomy::domains(rows)?.into_iter().map(|term| (term.slug, term.label)).collect()
            }
            Vocabulary::InventoryTags => store::taxonomy::inventory_tags(rows)?
                .into_iter()
                .map(|term| (term.slug, term.label))
                .collect(),
            Vocabulary::Kinds => {
                let slug = |kind: &Kind| kind.as_str().to_owned();
                Kind::ALL.iter().map(|kind| (slug(kind), slug(kind))).collect()
            }
            Vocabulary::Capabilities => facet(reader, Facet::Capabilities),
            Vocabulary::FileExtensions => facet(reader, Facet::FileExtensions),
            Vocabulary::RoboticsFormats => facet(reader, Facet::RoboticsFormats),
        })
    };
    Ok(labels(reader.rows)?.into_iter().map(|(slug, label)| Term { slug, label }).collect())
}

fn facet(reader: &Reader, facet: Facet) -> Vec<(String, String)> {
    let facets = reader.index.market_facets();
    facets.values(facet).keys().map(|value| (value.clone(), value.clone())).collect()
}
