//! The taxonomy: domains, tags and asset types. Any valid key may read it.

use crate::{
    domain::{assets::Kind, taxonomy::Label},
    operations::{access::AuthenticatedTeam, taxonomy},
    rest::{prelude::*, route::MultiTool, shapes::taxonomy::DeprecationOut},
};

/// A slug with its display name.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Label")]
pub struct LabelOut {
    /// Stable identifier, used in filters and tags.
    pub slug: String,
    /// Display name.
    pub label: String,
}

/// A tag that describes a property of listings.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "InventoryTag")]
pub struct InventoryTagOut {
    /// Stable identifier, used in filters.
    pub slug: String,
    /// Display name.
    pub label: String,
    /// What the tag states about a listing.
    pub description: String,
    /// Category that the tag belongs to.
    pub category: String,
}

/// An asset type without an announced retirement.
#[derive(Debug, Object, Serialize)]
pub struct ActiveAssetType {
    /// Stable identifier, used in filters and as `sku` of assets.
    pub slug: EnumValue<Kind>,
    /// Display name.
    pub label: String,
    /// Whether vendors can choose the type.
    pub is_enabled: bool,
    /// Whether an asset of the type can be offered before its data exists.
    pub supports_proposals: bool,
    /// Always null: no retirement is announced.
    pub deprecation: Option<DeprecationOut>,
}

/// An asset type whose retirement has been announced.
#[derive(Debug, Object, Serialize)]
pub struct DeprecatedAssetType {
    /// Stable identifier, used in filters and as `sku` of assets.
    pub slug: EnumValue<Kind>,
    /// Display name.
    pub label: String,
    /// Whether vendors can still choose the type.
    pub is_enabled: bool,
    /// The announced retirement.
    pub deprecation: Option<DeprecationOut>,
    /// Former names for listings with assets of the type.
    pub listing_kinds: Vec<String>,
}

/// Domains: the business fields of listings, assets and opportunities.
#[derive(Debug, Object, Serialize)]
pub struct Domains {
    /// All domains, in display order.
    pub domains: Vec<LabelOut>,
}

/// Inventory tags: properties of listings.
#[derive(Debug, Object, Serialize)]
pub struct InventoryTags {
    /// All inventory tags, in display order.
    pub inventory_tags: Vec<InventoryTagOut>,
}

/// Content tags: labels of assets of the type `other`.
#[derive(Debug, Object, Serialize)]
pub struct ContentTags {
    /// All content tags, in display order.
    pub content_tags: Vec<LabelOut>,
}

/// Asset types, separated by whether their retirement has been announced.
#[derive(Debug, Object, Serialize)]
pub struct AssetTypes {
    /// Types without an announced retirement.
    pub asset_types: Vec<ActiveAssetType>,
    /// Types whose retirement has been announced, including retired ones.
    pub deprecated_asset_types: Vec<DeprecatedAssetType>,
}

/// The tool for the operations that `kind` selects.
pub static LIST_TAXONOMY_TOOL: MultiTool = MultiTool {
    text: ToolText::new(
        Toolset::Catalog,
        "list_taxonomy",
        "Taxonomy",
        "The slugs and values that filters take.",
    )
    .without_team_text(),
    argument: "kind",
    description: "`domains` are for `tags`, `inventory_tags` for `tag_slugs`, `asset_types` \
                 for `asset_types` and `sku`.",
    default: None,
    filters: None,
    choice_values: &[],
};

#[routes(prefix = "/v2", tag = Taxonomy)]
impl TaxonomyApi {
    /// List domains
    ///
    /// Returns the business fields that listings, assets and opportunities are tagged with.
    #[get(
        "/domains",
        RouteAttributes::read(
            Tool::Choice { tool: &LIST_TAXONOMY_TOOL, value: "domains", list: Some("domains") },
            Contract::new(Target::None),
        ),
    )]
    async fn list_domains(call: Call<AuthenticatedTeam>) -> JsonResult<Domains> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            let domains = taxonomy::domains(reader, &call.access)?;
            Ok(Domains { domains: domains.into_iter().map(LabelOut::from_label).collect() })
        })
        .await
    }

    /// List inventory tags
    ///
    /// Returns the tags that describe properties of listings, each with its category.
    #[get(
        "/inventory-tags",
        RouteAttributes::read(
            Tool::Choice { tool: &LIST_TAXONOMY_TOOL, value: "inventory_tags", list: Some("inventory_tags") },
            Contract::new(Target::None).with_misspelled("category=x", ""),
        ),
    )]
    async fn list_inventory_tags(call: Call<AuthenticatedTeam>) -> JsonResult<InventoryTags> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            let tags = taxonomy::inventory_tags(reader, &call.access)?.into_iter();
            let inventory_tags = tags.map(|tag| InventoryTagOut {
                slug: tag.slug,
                label: tag.label,
                description: tag.description,
                category: tag.category,
            });
            Ok(InventoryTags { inventory_tags: inventory_tags.collect() })
        })
        .await
    }

    /// List content tags
    ///
    /// Returns the tags that a vendor may put on an asset of the type `other`.
    #[get(
        "/content-tags",
        RouteAttributes::read(
            Tool::Choice { tool: &LIST_TAXONOMY_TOOL, value: "content_tags", list: Some("content_tags") },
            Contract::new(Target::None),
        ),
    )]
    async fn list_content_tags(call: Call<AuthenticatedTeam>) -> JsonResult<ContentTags> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            let tags = taxonomy::content_tags(reader, &call.access)?;
            Ok(ContentTags { content_tags: tags.into_iter().map(LabelOut::from_label).collect() })
        })
        .await
    }

    /// List asset types
    ///
    /// Returns the active asset types, and those whose retirement has been announced.
    #[get(
        "/asset-types",
        RouteAttributes::read(
            Tool::Choice { tool: &LIST_TAXONOMY_TOOL, value: "asset_types", list: Some("asset_types") },
            Contract::new(Target::None).with_misspelled("deprecated=true", ""),
        ),
    )]
    async fn list_asset_types(call: Call<AuthenticatedTeam>) -> JsonResult<AssetTypes> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            let (active, deprecated) = taxonomy::asset_types(reader, &call.access)?;
            let active = active.into_iter().map(|kind| ActiveAssetType {
                slug: EnumValue(kind.kind),
                is_enabled: kind.is_enabled,
                supports_proposals: kind.kind.supports_proposals(),
                deprecation: None,
                label: kind.label,
            });
            let deprecated = deprecated.into_iter().map(|(kind, retirement)| DeprecatedAssetType {
                slug: EnumValue(kind.kind),
                is_enabled: kind.is_enabled,
                deprecation: Some(DeprecationOut::new(&retirement, reader.now)),
                label: kind.label,
                listing_kinds: kind.listing_kinds,
            });
            Ok(AssetTypes { asset_types: active.collect(), deprecated_asset_types: deprecated.collect() })
        })
        .await
    }
}

impl LabelOut {
    fn from_label(label: Label) -> LabelOut {
        LabelOut { slug: label.slug, label: label.label }
    }
}
