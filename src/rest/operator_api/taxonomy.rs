//! Domains, content tags, and inventory tags of the taxonomy.

use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    changes::{self, Change},
    pages::{self, ListQuery, PageParams, page_of},
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
    store::records::labels::{CONTENT_TAGS, DOMAINS, INVENTORY_TAGS},
};

/// What the list of inventory tags can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct InventoryTagFilters {
    /// Category of the tag.
    category: Option<String>,
}

/// Declares the JSON and the routes of one vocabulary of the taxonomy. All have slugs and labels; the fields of
/// `$out`, `$in`, and `$patch` are those that the vocabulary has besides.
macro_rules! vocabulary {
    (
        $records:expr, $collection:literal, $subject:literal, $term:ident;

        #[doc = $out_doc:tt] $out:ident = $schema:tt { $(#[doc = $out_field_doc:tt] $out_field:ident),* }
        #[doc = $page_doc:tt] $page:ident;
        #[doc = $in_doc:tt] $in:ident { $(#[doc = $in_field_doc:tt] $in_field:ident: $in_type:ty),* }
        #[doc = $patch_doc:tt] $patch:ident { $(#[doc = $field_doc:tt] $field:ident: $field_type:ty),* }

        $api:ident, $slug_doc:tt:
        $(#[doc = $list_doc:tt])* $list_path:literal $list:ident, $query:ty, $list_pages:expr, $queries:expr;
        $(#[doc = $create_doc:tt])* $create_path:literal $create:ident, $created:ident, $example:expr;
        $(#[doc = $get_doc:tt])* $get_path:literal $get:ident;
        $(#[doc = $update_doc:tt])* $update_path:literal $update:ident, $updated:ident;
    ) => {
        #[doc = $out_doc]
        #[derive(Debug, Object, Serialize, Deserialize)]
        #[oai(rename = $schema)]
        pub struct $out {
            /// Identifier, as used in filters. It stays the same.
            pub slug: String,
            /// Display name.
            pub label: String,
            $(#[doc = $out_field_doc] pub $out_field: String,)*
        }

        resource!($out: String, $records, $subject, slug);

        page_of! {
            #[doc = $page_doc]
            $page, $out
        }

        #[doc = $in_doc]
        #[derive(Debug, Object)]
        pub struct $in {
            /// Identifier: lowercase letters, digits, hyphens, and underscores. It cannot be changed later.
            slug: MaybeInvalid<Slug>,
            /// Display name.
            label: MaybeInvalid<Label>,
            $(#[doc = $in_field_doc] $in_field: MaybeInvalid<$in_type>,)*
        }

        #[doc = $patch_doc]
        #[derive(Debug, Object)]
        pub struct $patch {
            /// New display name.
            label: Omittable<Label>,
            $(#[doc = $field_doc] $field: Omittable<$field_type>,)*
        }

        #[routes(prefix = "/operator/v1", tag = Taxonomy)]
        impl $api {
            $(#[doc = $list_doc])*
            #[get($list_path, routes::list($queries))]
            async fn $list(call: Call<Operator>, query: Params<$query>) -> JsonResult<$page> {
                $list_pages(call, query).await
            }

            $(#[doc = $create_doc])*
            #[post($create_path, routes::create(Actor::Platform, &[EventType::$created]))]
            async fn $create(change: Change, #[example($example)] body: Body<$in>) -> JsonResult<$out, 201> {
                changes::post_body(change, body, |writer, platform, body: $in| {
                    let new = taxonomy::$term {
                        slug: body.slug.into_valid()?.into(),
                        label: body.label.into_valid()?.into(),
                        $($in_field: body.$in_field.into_valid()?.into(),)*
                    };
                    operations::$create(writer, platform, &new).map(|()| new.slug)
                })
                .await
            }

            $(#[doc = $get_doc])*
            #[get($get_path, routes::get($collection))]
            async fn $get(
                call: Call<Operator>,
                #[doc = $slug_doc] slug: Path<String>,
            ) -> JsonResult<$out> {
                resources::get(call, slug.0).await
            }

            $(#[doc = $update_doc])*
            #[patch($update_path, routes::change($collection, Actor::Platform, &[EventType::$updated]))]
            async fn $update(
                call: Call<ActingOperator>,
                if_match: IfMatch,
                #[doc = $slug_doc] slug: Path<String>,
                #[example(json!({"label": "Weather records"}))] body: Body<$patch>,
            ) -> JsonResult<$out> {
                changes::patch(call, if_match, slug.0, body, |writer, platform, slug: &String, patch: $patch| {
                    let $out { slug, label, $($field),* } = records::find(writer.rows, platform, slug)?;
                    let before = taxonomy::$term { slug, label, $($field),* };
                    let mut after = before.clone();
                    if let Some(label) = patch.label.0 {
                        after.label = label.into();
                    }
                    $(if let Some($field) = patch.$field.0 {
                        after.$field = $field.into();
                    })*
                    if after == before { Ok(()) } else { operations::$update(writer, platform, &after) }
                })
                .await
            }
        }
    };
}

vocabulary! {
    DOMAINS, "domains", "domain", Label;

    /// A business domain of listings, assets, and opportunities.
    DomainOut = "Domain" {}
    /// A page of domains.
    DomainPage;
    /// A business domain of listings, assets, and opportunities to create.
    DomainIn {}
    /// Changes to a domain. Fields that are absent stay as they are.
    DomainPatch {}

    DomainsApi, "Slug of the domain.":
    /// List domains
    ///
    /// Returns the domains, the last one in display order first.
    "/domains" list_domains, PageParams, pages::list_all, &["limit=2"];
    /// Create a domain
    ///
    /// Creates a domain, which comes last in display order.
    "/domains" create_domain, DomainCreated, json!({"slug": "weather", "label": "Weather"});
    /// Get a domain
    ///
    /// Returns a domain.
    "/domains/{slug}" get_domain;
    /// Update a domain
    ///
    /// Changes the display name.
    "/domains/{slug}" update_domain, DomainUpdated;
}

vocabulary! {
    CONTENT_TAGS, "content_tags", "content_tag", Label;

    /// A tag of assets of the kind `other`.
    ContentTagOut = "ContentTag" {}
    /// A page of content tags.
    ContentTagPage;
    /// A tag of assets of the kind `other` to create.
    ContentTagIn {}
    /// Changes to a content tag. Fields that are absent stay as they are.
    ContentTagPatch {}

    ContentTagsApi, "Slug of the content tag.":
    /// List content tags
    ///
    /// Returns the content tags, the last one in display order first.
    "/content-tags" list_content_tags, PageParams, pages::list_all, &["limit=2"];
    /// Create a content tag
    ///
    /// Creates a content tag, which comes last in display order.
    "/content-tags" create_content_tag, ContentTagCreated, json!({"slug": "weather-maps", "label": "Weather maps"});
    /// Get a content tag
    ///
    /// Returns a content tag.
    "/content-tags/{slug}" get_content_tag;
    /// Update a content tag
    ///
    /// Changes the display name.
    "/content-tags/{slug}" update_content_tag, ContentTagUpdated;
}

vocabulary! {
    INVENTORY_TAGS, "inventory_tags", "inventory_tag", InventoryTag;

    /// A tag that describes listings in more detail than a domain.
    InventoryTagOut = "InventoryTag" {
        /// What the tag says about a listing.
        description,
        /// Category of the tag.
        category
    }
    /// A page of inventory tags.
    InventoryTagPage;
    /// A tag that describes listings in more detail than a domain to create.
    InventoryTagIn {
        /// What the tag says about a listing, in one or more sentences.
        description: Sentence,
        /// Category of the tag.
        category: Label
    }
    /// Changes to an inventory tag. Fields that are absent stay as they are.
    InventoryTagPatch {
        /// New description of what the tag says about a listing.
        description: Sentence,
        /// New category of the tag.
        category: Label
    }

    InventoryTagsApi, "Slug of the inventory tag.":
    /// List inventory tags
    ///
    /// Returns the inventory tags, the last one in display order first.
    "/inventory-tags" list_inventory_tags, ListQuery<InventoryTagFilters>, pages::list,
        &["category=nothing&limit=2"];
    /// Create an inventory tag
    ///
    /// Creates an inventory tag, which comes last in display order.
    "/inventory-tags" create_inventory_tag, InventoryTagCreated, json!({
        "slug": "hourly",
        "label": "Hourly",
        "description": "Has a value for each hour.",
        "category": "Resolution",
    });
    /// Get an inventory tag
    ///
    /// Returns an inventory tag.
    "/inventory-tags/{slug}" get_inventory_tag;
    /// Update an inventory tag
    ///
    /// Changes the display name, the description, and the category.
    "/inventory-tags/{slug}" update_inventory_tag, InventoryTagUpdated;
}
