//! Conversion of listings to index documents.

use std::collections::BTreeMap;

use marketplace_index::{Measure, PerMeasure, document as index};

use crate::{
    domain::{
        assets::Kind,
        catalog::CatalogEntry,
        listings::{LifecycleStage, ListingRowId},
        money::Cents,
        scale::Scale,
        taxonomy::Retirement,
    },
    error::Result,
    store::{self, Reader},
    string_enum::StringEnum,
};

/// The parts of the taxonomy that documents and renderings need: either everything, loaded once for many
/// listings, or the parts for one listing.
#[derive(Debug, Default)]
pub struct Taxonomy {
    /// Labels of domains, by slug. People search for labels.
    pub domains: BTreeMap<String, String>,
    /// Labels of inventory tags, by slug.
    pub inventory_tags: BTreeMap<String, String>,
    /// Names of languages, by slug.
    pub languages: BTreeMap<String, String>,
    /// Announced retirements of asset kinds.
    pub deprecations: BTreeMap<Kind, Retirement>,
}

impl Taxonomy {
    /// Loads the current taxonomy.
    pub fn load(reader: &Reader) -> Result<Taxonomy> {
        let domains = store::taxonomy::domains(reader)?.into_iter();
        let inventory_tags = store::taxonomy::inventory_tags(reader)?.into_iter();
        let languages = store::taxonomy::languages(reader)?.into_iter();
        Ok(Taxonomy {
            domains: domains.map(|domain| (domain.slug, domain.label)).collect(),
            inventory_tags: inventory_tags.map(|tag| (tag.slug, tag.label)).collect(),
            languages: languages.map(|language| (language.slug, language.name)).collect(),
            deprecations: store::taxonomy::deprecations(reader)?,
        })
    }
}

impl Taxonomy {
    /// Loads what one listing needs from the current taxonomy.
    pub fn load_for(reader: &Reader, entry: &CatalogEntry) -> Result<Taxonomy> {
        let scale = entry.scale();
        let languages: Vec<&String> = scale.languages.keys().collect();
        let has_assets = !entry.assets.is_empty();
        Ok(Taxonomy {
            domains: store::taxonomy::find_domain_labels(reader, &entry.domain_tags)?,
            inventory_tags: store::taxonomy::find_inventory_tag_labels(reader, &entry.tag_slugs)?,
            languages: store::taxonomy::find_language_names(reader, &languages)?,
            deprecations: if has_assets { store::taxonomy::deprecations(reader)? } else { BTreeMap::new() },
        })
    }
}

/// Returns the row ID of a listing from its number in the index.
pub const fn listing_row_id(listing: u64) -> ListingRowId {
    ListingRowId(listing as i64)
}

/// Creates the index document of a listing.
pub fn build_document(entry: &CatalogEntry, taxonomy: &Taxonomy) -> index::ListingDocument {
    let scale = entry.scale();
    let stage = index_stage(entry.status.stage());
    let label = |labels: &BTreeMap<String, String>, slug: &String| labels.get(slug).unwrap_or(slug).clone();
    let domains = entry.domain_tags.iter().map(|slug| label(&taxonomy.domains, slug));
    let inventory_tags = entry.tag_slugs.iter().map(|slug| label(&taxonomy.inventory_tags, slug));
    index::ListingDocument {
        listing: entry.row_id.0 as u64,
        team: entry.vendor.row_id.0 as u64,
        stage,
        text: index::Text {
            title: entry.title.clone(),
            description: entry.description.clone(),
            tag_labels: domains.chain(inventory_tags).collect(),
            team_name: entry.vendor.name.clone(),
        },
        labels: index::Labels {
            tags: entry.domain_tags.clone(),
            tag_slugs: entry.tag_slugs.clone(),
            asset_types: entry.asset_types().into_iter().map(|kind| kind.as_str().to_owned()).collect(),
            languages: scale.languages.keys().cloned().collect(),
            file_extensions: entry.distinct_values(|asset| &asset.file_extensions),
            robotics_formats: entry.distinct_values(|asset| &asset.robotics_formats),
            capabilities: entry.distinct_values(|asset| &asset.capabilities),
        },
        measures: PerMeasure::from_fn(|measure| measure_value(measure, entry, &scale)),
        flags: index::Flags {
            certified: entry.certified_at.is_some(),
            active_bids: entry.active_bids > 0,
            sample_available: entry.sample_price.is_some(),
            rare_languages: scale.has_rare_languages(),
        },
        featured: entry.featured,
        published_at: entry.published_at.filter(|_| stage == index::Stage::Active).map(|at| at.0),
        created_at: entry.created_at.0,
    }
}

/// Returns the value of a measure; `None` if the listing has none.
fn measure_value(measure: Measure, entry: &CatalogEntry, scale: &Scale) -> Option<u64> {
    let amount = |cents: Option<Cents>| cents.and_then(|cents| u64::try_from(cents.0).ok());
    let count = |kind| scale.count_of_kind(kind);
    match measure {
        Measure::Price => amount(entry.price),
        Measure::SamplePrice => amount(entry.sample_price),
        Measure::PricePerTask => amount(scale.price_per_task(entry.price)),
        Measure::VendorTier => Some(u64::from(entry.vendor.tier)),
        Measure::Tasks => Some(scale.task_count()),
        Measure::Loc => Some(scale.loc),
        Measure::ZipFiles => Some(scale.zip_files),
        Measure::ZipBytes => Some(scale.zip_bytes),
        Measure::Codebases => Some(count(Kind::Codebase)),
        Measure::Tasksets => Some(count(Kind::Taskset) + count(Kind::Bundle)),
        Measure::Environments => Some(count(Kind::Environment)),
        Measure::RoboticsDatasets => Some(count(Kind::RoboticsDataset)),
        Measure::RawData => Some(count(Kind::RawData)),
        Measure::Assets => Some(scale.asset_count()),
    }
}

/// Converts a stage to the enum of the index crate, which does not depend on this crate.
pub fn index_stage(stage: LifecycleStage) -> index::Stage {
    match stage {
        LifecycleStage::Draft => index::Stage::Draft,
        LifecycleStage::Review => index::Stage::Review,
        LifecycleStage::Ready => index::Stage::Ready,
        LifecycleStage::Active => index::Stage::Active,
        LifecycleStage::Archived => index::Stage::Archived,
    }
}
