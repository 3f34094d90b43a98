//! The taxonomy of the catalog. Reading it requires only a valid API key.

use std::collections::BTreeMap;

use serde::Serialize;

use super::access::{AuthenticatedTeam, Member, Platform, Vendor};
use crate::{
    domain::{
        events::EventData,
        problems::Problems,
        taxonomy::{AssetType, InventoryTag, Label, Language, Retirement},
        texts,
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    request_problems::ProblemsExt,
    store::{
        self,
        records::{
            Records,
            labels::{CONTENT_TAGS, DOMAINS, INVENTORY_TAGS},
        },
    },
};

/// Maximum number of characters of a slug.
const MAX_SLUG: usize = 64;

/// An asset type whose retirement was announced.
pub type DeprecatedType = (AssetType, Retirement);

/// Returns all business domains.
pub fn domains(reader: &Reader, _: &AuthenticatedTeam) -> Result<Vec<Label>> {
    store::taxonomy::domains(reader.rows)
}

/// Returns all business domains, which a vendor's assets are tagged with.
pub fn domains_of_assets(reader: &Reader, _: &Vendor) -> Result<Vec<Label>> {
    store::taxonomy::domains(reader.rows)
}

/// Returns all inventory tags, which classify listings in more detail than domains.
pub fn inventory_tags(reader: &Reader, _: &AuthenticatedTeam) -> Result<Vec<InventoryTag>> {
    store::taxonomy::inventory_tags(reader.rows)
}

/// Returns all content tags, which classify assets of the kind `other`.
pub fn content_tags(reader: &Reader, _: &AuthenticatedTeam) -> Result<Vec<Label>> {
    store::taxonomy::content_tags(reader.rows)
}

/// Returns the asset types: those that are not deprecated, and those whose retirement was announced.
pub fn asset_types(reader: &Reader, _: &AuthenticatedTeam) -> Result<(Vec<AssetType>, Vec<DeprecatedType>)> {
    let mut deprecations = store::taxonomy::deprecations(reader.rows)?;
    let (mut active, mut deprecated) = (Vec::new(), Vec::new());
    for kind in store::taxonomy::asset_types(reader.rows)? {
        match deprecations.remove(&kind.kind) {
            None => active.push(kind),
            Some(retirement) => deprecated.push((kind, retirement)),
        }
    }
    Ok((active, deprecated))
}

/// Returns all programming languages that codebases can be measured in.
pub fn languages(reader: &Reader, _: &Vendor) -> Result<Vec<Language>> {
    store::taxonomy::languages(reader.rows)
}

/// Returns all programming languages that filters of the catalog can name.
pub fn known_languages(reader: &Reader, _: &AuthenticatedTeam) -> Result<Vec<Language>> {
    store::taxonomy::languages(reader.rows)
}

/// Returns the labels of these domains, by slug.
pub fn domain_labels(
    reader: &Reader,
    _: &Member,
    slugs: &[impl Serialize],
) -> Result<BTreeMap<String, String>> {
    store::taxonomy::find_domain_labels(reader.rows, slugs)
}

/// Returns the labels of these inventory tags, by slug.
pub fn inventory_tag_labels(
    reader: &Reader,
    _: &Member,
    slugs: &[impl Serialize],
) -> Result<BTreeMap<String, String>> {
    store::taxonomy::find_inventory_tag_labels(reader.rows, slugs)
}

/// Creates a domain, which comes last.
pub fn create_domain(writer: &mut Writer, _: Platform, domain: &Label) -> Result<()> {
    check_label(&domain.slug, &domain.label)?;
    check_is_new(writer, &DOMAINS, &domain.slug)?;
    store::taxonomy::upsert_domain(writer.rows, domain)?;
    writer.emit(None, domain.slug.as_str(), &EventData::DomainCreated(domain.clone()))
}

/// Renames a domain. Its slug stays.
pub fn update_domain(writer: &mut Writer, _: Platform, domain: &Label) -> Result<()> {
    check_label(&domain.slug, &domain.label)?;
    check_exists(writer, &DOMAINS, &domain.slug)?;
    store::taxonomy::upsert_domain(writer.rows, domain)?;
    // Listings are found by the labels of their domains and tags.
    store::taxonomy::queue_listings_with_slug(writer.rows, &domain.slug)?;
    writer.emit(None, domain.slug.as_str(), &EventData::DomainUpdated(domain.clone()))
}

/// Creates a domain, or updates the domain with its slug. Only an update has an event.
pub fn set_domain(writer: &mut Writer, platform: Platform, domain: &Label) -> Result<()> {
    match store::taxonomy::find_domain(writer.rows, &domain.slug)? {
        Some(known) if known == *domain => Ok(()),
        Some(_) => update_domain(writer, platform, domain),
        None => {
            check_label(&domain.slug, &domain.label)?;
            store::taxonomy::upsert_domain(writer.rows, domain)
        }
    }
}

/// Creates a content tag, which comes last.
pub fn create_content_tag(writer: &mut Writer, _: Platform, tag: &Label) -> Result<()> {
    check_label(&tag.slug, &tag.label)?;
    check_is_new(writer, &CONTENT_TAGS, &tag.slug)?;
    store::taxonomy::upsert_content_tag(writer.rows, tag)?;
    writer.emit(None, tag.slug.as_str(), &EventData::ContentTagCreated(tag.clone()))
}

/// Renames a content tag. Its slug stays.
pub fn update_content_tag(writer: &mut Writer, _: Platform, tag: &Label) -> Result<()> {
    check_label(&tag.slug, &tag.label)?;
    check_exists(writer, &CONTENT_TAGS, &tag.slug)?;
    store::taxonomy::upsert_content_tag(writer.rows, tag)?;
    writer.emit(None, tag.slug.as_str(), &EventData::ContentTagUpdated(tag.clone()))
}

/// Creates a content tag, or updates the content tag with its slug. Only an update has an event.
pub fn set_content_tag(writer: &mut Writer, platform: Platform, tag: &Label) -> Result<()> {
    match store::taxonomy::find_content_tag(writer.rows, &tag.slug)? {
        Some(known) if known == *tag => Ok(()),
        Some(_) => update_content_tag(writer, platform, tag),
        None => {
            check_label(&tag.slug, &tag.label)?;
            store::taxonomy::upsert_content_tag(writer.rows, tag)
        }
    }
}

/// Creates an inventory tag, which comes last.
pub fn create_inventory_tag(writer: &mut Writer, _: Platform, tag: &InventoryTag) -> Result<()> {
    check_inventory_tag(tag)?;
    check_is_new(writer, &INVENTORY_TAGS, &tag.slug)?;
    store::taxonomy::upsert_inventory_tag(writer.rows, tag)?;
    writer.emit(None, tag.slug.as_str(), &EventData::InventoryTagCreated(tag.clone()))
}

/// Changes the label, the description, and the category of an inventory tag. Its slug stays.
pub fn update_inventory_tag(writer: &mut Writer, _: Platform, tag: &InventoryTag) -> Result<()> {
    check_inventory_tag(tag)?;
    check_exists(writer, &INVENTORY_TAGS, &tag.slug)?;
    store::taxonomy::upsert_inventory_tag(writer.rows, tag)?;
    store::taxonomy::queue_listings_with_slug(writer.rows, &tag.slug)?;
    writer.emit(None, tag.slug.as_str(), &EventData::InventoryTagUpdated(tag.clone()))
}

/// Creates an inventory tag, or updates the inventory tag with its slug. Only an update has an event.
pub fn set_inventory_tag(writer: &mut Writer, platform: Platform, tag: &InventoryTag) -> Result<()> {
    match store::taxonomy::find_inventory_tag(writer.rows, &tag.slug)? {
        Some(known) if known == *tag => Ok(()),
        Some(_) => update_inventory_tag(writer, platform, tag),
        None => {
            check_inventory_tag(tag)?;
            store::taxonomy::upsert_inventory_tag(writer.rows, tag)
        }
    }
}

/// Creates languages, or updates those with the same slugs.
pub fn set_languages(writer: &mut Writer, _: Platform, languages: &[Language]) -> Result<()> {
    let mut renamed = Vec::new();
    for language in languages {
        let known = store::taxonomy::find_language(writer.rows, &language.slug)?;
        if known.is_some_and(|known| known.name != language.name) {
            renamed.push(language.slug.clone());
        }
        store::taxonomy::upsert_language(writer.rows, language)?;
    }
    // Listings show the names of the languages of their codebases.
    if renamed.is_empty() {
        return Ok(());
    }
    store::taxonomy::queue_listings_with_languages(writer.rows, &renamed)
}

/// Checks the slug and the label of a domain or a tag.
fn check_label(slug: &str, label: &str) -> Result<()> {
    let mut problems = Problems::default();
    let is_slug = slug
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-');
    if slug.is_empty() || slug.len() > MAX_SLUG || !is_slug {
        let rule =
            format!("A slug must have 1 to {MAX_SLUG} lowercase letters, digits, hyphens, and underscores.");
        problems.push(Problem::body(&["slug"], "string_pattern_mismatch", rule));
    }
    problems.check_text(&["label"], label, texts::LABEL);
    problems.into_result()
}

/// Checks the texts of an inventory tag.
fn check_inventory_tag(tag: &InventoryTag) -> Result<()> {
    let mut problems = Problems::default();
    problems.collect(check_label(&tag.slug, &tag.label))?;
    problems.check_text(&["description"], &tag.description, texts::SENTENCE);
    problems.check_text(&["category"], &tag.category, texts::LABEL);
    problems.into_result()
}

fn check_is_new(writer: &Writer, terms: &Records, slug: &str) -> Result<()> {
    let name = terms.name;
    let message = || format!("There is already a {name} {slug:?}. Update it, or choose another slug.");
    if terms.contains(writer.rows, &slug.to_owned())? { Err(Error::Conflict(message())) } else { Ok(()) }
}

fn check_exists(writer: &Writer, terms: &Records, slug: &str) -> Result<()> {
    let message = || format!("{} {slug:?}", terms.name);
    if terms.contains(writer.rows, &slug.to_owned())? { Ok(()) } else { Err(Error::not_found(message())) }
}
