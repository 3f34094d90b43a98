//! Inventory tags of the taxonomy.

use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    changes,
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
        idempotent::Idempotent,
        if_match::IfMatch,
        json::JsonResult,
        params::Params,
        request_body::{Body, MaybeInvalid, Omittable},
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

routes! {
    /// `GET /operator/v1/inventory-tags`
    List: Operator = routes::list("list_inventory_tags", &["category=nothing&limit=2"]);
    /// `POST /operator/v1/inventory-tags`
    Create: ActingOperator = routes::create(
        "create_inventory_tag",
        || json!({"slug": "hourly", "label": "Hourly", "description": "Has a value for each hour.", "category": "Resolution"}),
        Actor::Platform,
        &[EventType::InventoryTagCreated],
    );
    /// `GET /operator/v1/inventory-tags/{slug}`
    Get: Operator = routes::get("get_inventory_tag", "inventory_tags");
    /// `PATCH /operator/v1/inventory-tags/{slug}`
    Update: ActingOperator = routes::patch(
        "update_inventory_tag",
        "inventory_tags",
        || json!({"label": "Weather records"}),
        Actor::Platform,
        &[EventType::InventoryTagUpdated],
    );
}

pub struct InventoryTagsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Taxonomy")]
impl InventoryTagsApi {
    /// List inventory tags
    ///
    /// Returns the inventory tags, the last one in display order first.
    #[oai(path = "/inventory-tags", method = "get", operation_id = "list_inventory_tags")]
    async fn list(
        &self,
        call: Call<List>,
        query: Params<ListQuery<InventoryTagFilters>>,
    ) -> JsonResult<InventoryTagPage> {
        pages::list(call, query).await
    }

    /// Create an inventory tag
    ///
    /// Creates an inventory tag, which comes last in display order.
    #[oai(path = "/inventory-tags", method = "post", operation_id = "create_inventory_tag")]
    async fn create(
        &self,
        call: Call<Create>,
        idempotent: Idempotent,
        body: Body<InventoryTagIn>,
    ) -> JsonResult<InventoryTagOut, 201> {
        changes::post_body(call, idempotent, body, |writer, platform, body: InventoryTagIn| {
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
    #[oai(path = "/inventory-tags/:slug", method = "get", operation_id = "get_inventory_tag")]
    async fn get(
        &self,
        call: Call<Get>,
        /// Slug of the inventory tag.
        slug: Path<String>,
    ) -> JsonResult<InventoryTagOut> {
        resources::get(call, slug.0).await
    }

    /// Update an inventory tag
    ///
    /// Changes the display name, the description, and the category.
    #[oai(path = "/inventory-tags/:slug", method = "patch", operation_id = "update_inventory_tag")]
    async fn update(
        &self,
        call: Call<Update>,
        if_match: IfMatch,
        /// Slug of the inventory tag.
        slug: Path<String>,
        body: Body<InventoryTagPatch>,
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
