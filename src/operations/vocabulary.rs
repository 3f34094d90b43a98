//! The values for filters by slug: the terms of the taxonomy with their labels, and the values of listings.

use std::{collections::BTreeSet, sync::Arc};

use marketplace_index::{Facet, Facets};

use super::access::AuthenticatedTeam;
use crate::{
    domain::opportunities::Opportunity, error::Result, market::Reader, store, string_enum::StringEnum,
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
    /// Tags of open requests for listings that the team may see.
    OpportunityTags,
    /// Models that ran on the team's tasks.
    Models,
}

/// A value, with its label for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The value that filters compare.
    pub slug: String,
    /// A label; the same as the slug if there is none. Several terms with the same slug have its other names.
    pub label: String,
}

/// The known values of a set.
#[derive(Clone, Debug)]
pub enum Terms {
    /// Values with labels.
    Labeled(Vec<Term>),
    /// The values that published listings have.
    OfListings(Arc<Facets>, Facet),
}

impl Terms {
    /// Returns whether a slug is one of the values.
    pub fn contains(&self, slug: &str) -> bool {
        match self {
            Terms::Labeled(terms) => terms.iter().any(|term| term.slug == slug),
            Terms::OfListings(facets, facet) => facets.values(*facet).contains_key(slug),
        }
    }

    /// Returns the slugs with their labels.
    pub fn slugs_and_labels(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        match self {
            Terms::Labeled(terms) => {
                Box::new(terms.iter().map(|term| (term.slug.as_str(), term.label.as_str())))
            }
            Terms::OfListings(facets, facet) => {
                Box::new(facets.values(*facet).keys().map(|slug| (slug.as_str(), slug.as_str())))
            }
        }
    }
}

/// Returns the known values.
pub fn terms(reader: &Reader, team: &AuthenticatedTeam, vocabulary: Vocabulary) -> Result<Terms> {
    let of_listings = |facet| reader.index.market_facets().map(|facets| Terms::OfListings(facets, facet));
    let rows = reader.rows;
    let labeled = |terms: Vec<(String, String)>| {
        Terms::Labeled(terms.into_iter().map(|(slug, label)| Term { slug, label }).collect())
    };
    Ok(match vocabulary {
        Vocabulary::Languages => {
            let terms = store::taxonomy::languages(rows)?.into_iter().flat_map(|term| {
                let slug = term.slug.clone();
                let aliases = term.aliases.into_iter().map(move |alias| (slug.clone(), alias));
                std::iter::once((term.slug, term.name)).chain(aliases)
            });
            labeled(terms.collect())
        }
        Vocabulary::Domains => {
            labeled(store::taxonomy::domains(rows)?.into_iter().map(|term| (term.slug, term.label)).collect())
        }
        Vocabulary::InventoryTags => labeled(
            store::taxonomy::inventory_tags(rows)?.into_iter().map(|term| (term.slug, term.label)).collect(),
        ),
        Vocabulary::Kinds => {
            let types = store::taxonomy::asset_types(rows)?;
            labeled(types.into_iter().map(|kind| (kind.kind.as_str().to_owned(), kind.label)).collect())
        }
        Vocabulary::OpportunityTags => {
            let open = store::opportunities::list_open(rows, reader.now)?;
            let visible = open.iter().filter(|opportunity| opportunity.allows_team(team.team().id));
            let tags: BTreeSet<&str> = visible.flat_map(Opportunity::tags).collect();
            labeled(tags.into_iter().map(|tag| (tag.to_owned(), tag.to_owned())).collect())
        }
        Vocabulary::Models => {
            let (models, _) = store::inventory::list_task_facets(rows, team.team().row_id)?;
            labeled(models.into_iter().map(|model| (model.clone(), model)).collect())
        }
        Vocabulary::Capabilities => of_listings(Facet::Capabilities)?,
        Vocabulary::FileExtensions => of_listings(Facet::FileExtensions)?,
        Vocabulary::RoboticsFormats => of_listings(Facet::RoboticsFormats)?,
    })
}
