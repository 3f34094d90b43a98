//! The words of the catalog. A valid key is all that reading them takes.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;

use crate::{
    domain::{
        assets::Kind,
        taxonomy::{AssetType, Label},
    },
    operations::{access::KeyHolder, taxonomy},
    rest::{
        App,
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::taxonomy::DeprecationOut,
        vocabulary::Word,
    },
};

/// A slug with its name.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Label")]
pub struct LabelOut {
    /// As filters and tags use it.
    pub slug: String,
    /// As people read it.
    pub label: String,
}

/// A finer label of listings.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "InventoryTag")]
pub struct InventoryTagOut {
    /// As filters use it.
    pub slug: String,
    /// As people read it.
    pub label: String,
    /// What it says of a listing.
    pub description: String,
    /// What it stands under.
    pub category: String,
}

/// An asset kind that is here to stay.
#[derive(Debug, Object, Serialize)]
pub struct ActiveAssetType {
    /// As filters use it.
    pub slug: Word<Kind>,
    /// As people read it.
    pub label: String,
    /// Whether vendors can choose it.
    pub is_enabled: bool,
    /// Whether an asset of the kind can be offered before its data is there.
    pub supports_proposals: bool,
    /// Null, since no retirement is announced.
    pub deprecation: Option<DeprecationOut>,
}

/// An asset kind whose retirement was announced.
#[derive(Debug, Object, Serialize)]
pub struct DeprecatedAssetType {
    /// As filters use it.
    pub slug: Word<Kind>,
    /// As people read it.
    pub label: String,
    /// Whether vendors can still choose it.
    pub is_enabled: bool,
    /// Its retirement.
    pub deprecation: Option<DeprecationOut>,
    /// What listings of the kind were called.
    pub listing_kinds: Vec<String>,
}

/// The business fields.
#[derive(Debug, Object, Serialize)]
pub struct Domains {
    /// In their order.
    pub domains: Vec<LabelOut>,
}

/// The finer labels of listings.
#[derive(Debug, Object, Serialize)]
pub struct InventoryTags {
    /// In their order.
    pub inventory_tags: Vec<InventoryTagOut>,
}

/// The labels of assets of the kind `other`.
#[derive(Debug, Object, Serialize)]
pub struct ContentTags {
    /// In their order.
    pub content_tags: Vec<LabelOut>,
}

/// The asset kinds.
#[derive(Debug, Object, Serialize)]
pub struct AssetTypes {
    /// Those that are here to stay.
    pub asset_types: Vec<ActiveAssetType>,
    /// Those whose retirement was announced.
    pub deprecated_asset_types: Vec<DeprecatedAssetType>,
}

pub struct TaxonomyApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Taxonomy")]
impl TaxonomyApi {
    /// Domains
    ///
    /// The business fields that listings, assets and opportunities are tagged with.
    #[oai(path = "/domains", method = "get", operation_id = "list_domains")]
    async fn domains(
        &self,
        app: Data<&Arc<App>>,
        access: Access<KeyHolder>,
        _query: Params<NoParams>,
    ) -> Answer<Domains> {
        let domains = app.market().glance(move |reader| taxonomy::domains(reader, &access.0)).await?;
        Ok(Raw::of(&Domains { domains: domains.into_iter().map(LabelOut::of).collect() }))
    }

    /// Inventory tags
    ///
    /// The finer labels of listings, each under a category.
    #[oai(path = "/inventory-tags", method = "get", operation_id = "list_inventory_tags")]
    async fn inventory_tags(
        &self,
        app: Data<&Arc<App>>,
        access: Access<KeyHolder>,
        _query: Params<NoParams>,
    ) -> Answer<InventoryTags> {
        let tags = app.market().glance(move |reader| taxonomy::inventory_tags(reader, &access.0)).await?;
        let inventory_tags = tags.into_iter().map(|tag| InventoryTagOut {
            slug: tag.slug,
            label: tag.label,
            description: tag.description,
            category: tag.category,
        });
        Ok(Raw::of(&InventoryTags { inventory_tags: inventory_tags.collect() }))
    }

    /// Content tags
    ///
    /// The labels that a vendor may put on an asset that is of no other kind.
    #[oai(path = "/content-tags", method = "get", operation_id = "list_content_tags")]
    async fn content_tags(
        &self,
        app: Data<&Arc<App>>,
        access: Access<KeyHolder>,
        _query: Params<NoParams>,
    ) -> Answer<ContentTags> {
        let tags = app.market().glance(move |reader| taxonomy::content_tags(reader, &access.0)).await?;
        Ok(Raw::of(&ContentTags { content_tags: tags.into_iter().map(LabelOut::of).collect() }))
    }

    /// Asset types
    ///
    /// The kinds of assets: those that are here to stay, and those whose retirement was announced.
    #[oai(path = "/asset-types", method = "get", operation_id = "list_asset_types")]
    async fn asset_types(
        &self,
        app: Data<&Arc<App>>,
        access: Access<KeyHolder>,
        _query: Params<NoParams>,
    ) -> Answer<AssetTypes> {
        let (active, deprecated) =
            app.market().glance(move |reader| taxonomy::asset_types(reader, &access.0)).await?;
        let now = app.market().clock().now();
        let retirement = |kind: &AssetType| {
            kind.deprecation.as_ref().map(|deprecation| DeprecationOut::of(deprecation, now))
        };
        let active = active.into_iter().map(|kind| ActiveAssetType {
            slug: Word(kind.kind),
            is_enabled: kind.is_enabled,
            supports_proposals: kind.kind.supports_proposals(),
            deprecation: retirement(&kind),
            label: kind.label,
        });
        let deprecated = deprecated.into_iter().map(|kind| DeprecatedAssetType {
            slug: Word(kind.kind),
            is_enabled: kind.is_enabled,
            deprecation: retirement(&kind),
            label: kind.label,
            listing_kinds: kind.listing_kinds,
        });
        Ok(Raw::of(&AssetTypes {
            asset_types: active.collect(),
            deprecated_asset_types: deprecated.collect(),
        }))
    }
}

impl LabelOut {
    fn of(label: Label) -> LabelOut {
        LabelOut { slug: label.slug, label: label.label }
    }
}
