//! Inventory tags of the taxonomy.

use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    changes::{self, Change},
    pages::{self, ListQuery, page_of},
    resources::{self, resource},
    routes::{self, routes},
};
use crate::{
    domain::{events::EventType, listings::Actor, taxonomy},
    operations::{
        access::{ActingOperator, Operator},
        records, taxonomy as operations,
    },
    rest::{
        arguments::{
            if_match::IfMatch,
            params::Params,
            request_body::{Body, MaybeInvalid, Omittable},
        },
        json::JsonResult,
        route::{Call, Path},
        shapes::strings::{Label, Sentence, Slug},
    },
    store::records::labels::INVENTORY_TAGS,
};

/// A tag that describes listings in more detail than a domain.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "InventoryTag")]
pub struct InventoryTagOut {
    /// Identifier, as used in filters. It stays the same.
    pub slug: String,
    /// Display name.
    pub label: String,
    /// What the tag says about a listing.
    pub description: String,
    /// Category of the tag.
    pub category: String,
}

resource!(InventoryTagOut: String, INVENTORY_TAGS, "inventory_tag", slug);

page_of! {
    /// A page of inventory tags.
    InventoryTagPage, InventoryTagOut
}

/// What the list of inventory tags can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct InventoryTagFilters {
    /// Category of the tag.
    category: Option<String>,
}

/// A tag that describes listings in more detail than a domain to create.
#[derive(Debug, Object)]
pub struct InventoryTagIn {
    /// Identifier: lowercase letters, digits, hyphens, and underscores. It cannot be changed later.
    slug: MaybeInvalid<Slug>,
    /// Display name.
    label: MaybeInvalid<Label>,
    /// What the tag says about a listing, in one or more sentences.
    description: MaybeInvalid<Sentence>,
    /// Category of the tag.
    category: MaybeInvalid<Label>,
}

/// Changes to an inventory tag. Fields that are absent stay as they are.
#[derive(Debug, Object)]
pub struct InventoryTagPatch {
    /// New display name.
    label: Omittable<Label>,
    /// New description of what the tag says about a listing.
    description: Omittable<Sentence>,
    /// New category of the tag.
    category: Omittable<Label>,
}

#[routes(prefix = "/operator/v1", tag = Taxonomy)]
impl InventoryTagsApi {
    /// List inventory tags
    ///
    /// Returns the inventory tags, the last one in display order first.
    #[get("/inventory-tags", routes::list(&["category=nothing&limit=2"]))]
    async fn list_inventory_tags(
        call: Call<Operator>,
        query: Params<ListQuery<InventoryTagFilters>>,
    ) -> JsonResult<InventoryTagPage> {
        pages::list(call, query).await
    }

    /// Create an inventory tag
    ///
    /// Creates an inventory tag, which comes last in display order.
    #[post("/inventory-tags", routes::create(Actor::Platform, &[EventType::InventoryTagCreated]))]
    async fn create_inventory_tag(
        change: Change,
        #[example(json!({
            "slug": "hourly",
            "label": "Hourly",
            "description": "Has a value for each hour.",
            "category": "Resolution",
        }))]
        body: Body<InventoryTagIn>,
    ) -> JsonResult<InventoryTagOut, 201> {
        changes::post_body(change, body, |writer, platform, body: InventoryTagIn| {
            let new = taxonomy::InventoryTag {
                slug: body.slug.into_valid()?.into(),
                label: body.label.into_valid()?.into(),
                description: body.description.into_valid()?.into(),
                category: body.category.into_valid()?.into(),
            };
            operations::create_inventory_tag(writer, platform, &new).map(|()| new.slug)
        })
        .await
    }

    /// Get an inventory tag
    ///
    /// Returns an inventory tag.
    #[get("/inventory-tags/{slug}", routes::get("inventory_tags"))]
    async fn get_inventory_tag(
        call: Call<Operator>,
        /// Slug of the inventory tag.
        slug: Path<String>,
    ) -> JsonResult<InventoryTagOut> {
        resources::get(call, slug.0).await
    }

    /// Update an inventory tag
    ///
    /// Changes the display name, the description, and the category.
    #[patch(
        "/inventory-tags/{slug}",
        routes::change("inventory_tags", Actor::Platform, &[EventType::InventoryTagUpdated]),
    )]
    async fn update_inventory_tag(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        /// Slug of the inventory tag.
        slug: Path<String>,
        #[example(json!({"label": "Weather records"}))] body: Body<InventoryTagPatch>,
    ) -> JsonResult<InventoryTagOut> {
        changes::patch(
            call,
            if_match,
            slug.0,
            body,
            |writer, platform, slug: &String, patch: InventoryTagPatch| {
                let InventoryTagOut { slug, label, description, category } =
                    records::find(writer.rows, platform, slug)?;
                let before = taxonomy::InventoryTag { slug, label, description, category };
                let mut found = before.clone();
                if let Some(label) = patch.label.0 {
                    found.label = label.into();
                }
                if let Some(description) = patch.description.0 {
                    found.description = description.into();
                }
                if let Some(category) = patch.category.0 {
                    found.category = category.into();
                }
                if found == before {
                    return Ok(());
                }
                operations::update_inventory_tag(writer, platform, &found)
            },
        )
        .await
    }
}
