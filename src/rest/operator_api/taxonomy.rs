//! Domains, content tags, and inventory tags of the taxonomy.

use super::pages::PageParams;
use crate::{
    domain::taxonomy,
    operations::taxonomy as operations,
    rest::{
        operator_api::prelude::*,
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
/// `$out`, `$in`, and `$patch` are additional. `$changed` names what a PATCH request changes.
macro_rules! vocabulary {
    (
        $records:expr, $collection:literal, $subject:literal, $type:ident;

        #[doc = $out_doc:tt] $out:ident = $schema:tt { $(#[doc = $out_field_doc:tt] $out_field:ident),* }
        #[doc = $page_doc:tt] $page:ident;
        #[doc = $in_doc:tt] $in:ident { $(#[doc = $in_field_doc:tt] $in_field:ident: $in_type:ty),* }
        #[doc = $patch_doc:tt] $patch:ident { $(#[doc = $field_doc:tt] $field:ident: $field_type:ty),* }

        $api:ident at $path:literal: $term:literal, $a_term:literal, $terms:literal, $changed:literal;
        $list:ident, $query:ty, $list_pages:expr, $queries:expr;
        $create:ident, $created:ident, $example:expr;
        $get:ident;
        $update:ident, $updated:ident;
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
            #[doc = concat!("List ", $terms)]
            ///
            #[doc = concat!("Returns the ", $terms, ", the last one in display order first.")]
            #[get($path, routes::list($queries))]
            async fn $list(call: Call<Operator>, query: Params<$query>) -> JsonResult<$page> {
                $list_pages(call, query).await
            }

            #[doc = concat!("Create ", $a_term)]
            ///
            #[doc = concat!("Creates ", $a_term, ", which comes last in display order.")]
            #[post($path, routes::create(Actor::Platform, &[EventType::$created]))]
            async fn $create(change: Change, #[example($example)] body: Body<$in>) -> JsonResult<$out, 201> {
                changes::post_body(change, body, |writer, platform, body: $in| {
                    let new = taxonomy::$type {
                        slug: body.slug.into_valid()?.into(),
                        label: body.label.into_valid()?.into(),
                        $($in_field: body.$in_field.into_valid()?.into(),)*
                    };
                    operations::$create(writer, platform, &new).map(|()| new.slug)
                })
                .await
            }

            #[doc = concat!("Get ", $a_term)]
            ///
            #[doc = concat!("Returns ", $a_term, ".")]
            #[get(concat!($path, "/{slug}"), routes::get($collection))]
            async fn $get(
                call: Call<Operator>,
                #[doc = concat!("Slug of the ", $term, ".")] slug: Path<String>,
            ) -> JsonResult<$out> {
                resources::get(call, slug.0).await
            }

            #[doc = concat!("Update ", $a_term)]
            ///
            #[doc = concat!("Changes ", $changed, ".")]
            #[patch(
                concat!($path, "/{slug}"),
                routes::change($collection, Actor::Platform, &[EventType::$updated]),
            )]
            async fn $update(
                call: Call<ActingOperator>,
                if_match: IfMatch,
                #[doc = concat!("Slug of the ", $term, ".")] slug: Path<String>,
                #[example(json!({"label": "Weather records"}))] body: Body<$patch>,
            ) -> JsonResult<$out> {
                changes::patch(call, if_match, slug.0, body, |writer, platform, slug: &String, patch: $patch| {
                    let $out { slug, label, $($field),* } = records::find(writer.rows, platform, slug)?;
                    let before = taxonomy::$type { slug, label, $($field),* };
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

    DomainsApi at "/domains": "domain", "a domain", "domains", "the display name";
    list_domains, PageParams, pages::list_all, &["limit=2"];
    create_domain, DomainCreated, json!({"slug": "weather", "label": "Weather"});
    get_domain;
    update_domain, DomainUpdated;
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

    ContentTagsApi at "/content-tags": "content tag", "a content tag", "content tags", "the display name";
    list_content_tags, PageParams, pages::list_all, &["limit=2"];
    create_content_tag, ContentTagCreated, json!({"slug": "weather-maps", "label": "Weather maps"});
    get_content_tag;
    update_content_tag, ContentTagUpdated;
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

    InventoryTagsApi at "/inventory-tags":
        "inventory tag", "an inventory tag", "inventory tags", "the display name, the description, and the category";
    list_inventory_tags, ListQuery<InventoryTagFilters>, pages::list, &["category=nothing&limit=2"];
    create_inventory_tag, InventoryTagCreated, json!({
        "slug": "hourly",
        "label": "Hourly",
        "description": "Has a value for each hour.",
        "category": "Resolution",
    });
    get_inventory_tag;
    update_inventory_tag, InventoryTagUpdated;
}
