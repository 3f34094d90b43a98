//! The words of the catalog's filters, and of their values.

use std::collections::BTreeMap;

use marketplace_index::{Facet, Facets};

use crate::{
    console::prelude::*,
    domain::{assets::Kind, browse::SortOrder},
    operations::{
        access::AuthenticatedTeam,
        browse_filters::{self as filters, BrowseFilter, Flag},
        taxonomy,
    },
};

/// Names of the values of facets, by slug.
#[derive(Clone, Debug, Default)]
pub struct Names {
    domains: BTreeMap<String, String>,
    inventory_tags: BTreeMap<String, String>,
    languages: BTreeMap<String, String>,
}

impl Names {
    /// Reads the names of languages, and of the domains and inventory tags that listings have or that are chosen.
    pub fn read(
        reader: &Reader,
        team: &AuthenticatedTeam,
        member: &Member,
        (facets, chosen): (&Facets, &Query),
    ) -> Result<Names> {
        let slugs = |facet: Facet| -> Vec<&str> {
            let of_listings = facets.values(facet).keys().map(String::as_str);
            of_listings.chain(chosen.all(facet.name())).collect()
        };
        let languages = taxonomy::known_languages(reader, team)?;
        Ok(Names {
            domains: taxonomy::domain_labels(reader, member, &slugs(Facet::Tags))?,
            inventory_tags: taxonomy::inventory_tag_labels(reader, member, &slugs(Facet::TagSlugs))?,
            languages: languages.into_iter().map(|language| (language.slug, language.name)).collect(),
        })
    }

    /// Returns the name of a value; the value itself if it is not known.
    pub fn label(&self, facet: Facet, value: &str) -> String {
        let known = match facet {
            Facet::Tags => self.domains.get(value).cloned(),
            Facet::TagSlugs => self.inventory_tags.get(value).cloned(),
            Facet::Languages => self.languages.get(value).cloned(),
            Facet::AssetTypes => Kind::parse(value).map(kinds::plural),
            Facet::RoboticsFormats => kinds::robotics_format(value).map(str::to_owned),
            Facet::FileExtensions => Some(format!(".{value}")),
            Facet::Capabilities | Facet::LifecycleStages => Some(text::words(value)),
        };
        known.unwrap_or_else(|| value.to_owned())
    }
}

/// Returns the name of a filter.
pub fn filter(filter: BrowseFilter) -> &'static str {
    match filter {
        BrowseFilter::Labels(facet) => match facet {
            Facet::Tags => "Domain",
            Facet::AssetTypes => "Kind",
            Facet::Capabilities => "Capability",
            Facet::FileExtensions => "File type",
            Facet::Languages => "Language",
            Facet::LifecycleStages => "Stage",
            Facet::RoboticsFormats => "Robotics format",
            Facet::TagSlugs => "Content",
        },
        BrowseFilter::Flag(flag) => match flag {
            Flag::Certified => "Certified",
            Flag::ActiveBids => "With waiting bids",
            Flag::RareLanguages => "Mainly rare languages",
            Flag::Owned => "From my team",
        },
        BrowseFilter::Sample => "Sample",
        BrowseFilter::VendorTiers => "Vendor tier",
        BrowseFilter::Range(range) => match range {
            filters::VENDOR_TIER => "Lowest vendor tier",
            filters::PRICE => "Price",
            filters::SAMPLE_PRICE => "Price of the sample",
            filters::PRICE_PER_TASK => "Price for each task",
            filters::TASKS => "Tasks",
            filters::LOC => "Lines of code",
            filters::ZIP_FILES => "Files in raw data",
            filters::ZIP_SIZE => "Size of raw data",
            filters::CODEBASES => "Codebases",
            filters::TASKSETS => "Tasksets and bundles",
            filters::ENVIRONMENTS => "Environments",
            filters::ROBOTICS_DATASETS => "Robotics datasets",
            filters::RAW_DATA => "Raw data archives",
            other => other.min,
        },
    }
}

/// Returns the name of an order.
pub const fn sort(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Recommended => "Recommended first",
        SortOrder::Recent => "Newest first",
        SortOrder::PriceLow => "Lowest price first",
        SortOrder::PriceHigh => "Highest price first",
    }
}
