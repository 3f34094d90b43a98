//! Content tags of the taxonomy.

use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    changes,
    pages::{self, PageParams, page_of},
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
        shapes::strings::{Label, Slug},
    },
    store::records::labels::CONTENT_TAGS,
};

/// A tag of assets of the kind `other`.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "ContentTag")]
pub struct ContentTagOut {
    /// Identifier, as used in filters. It stays the same.
    pub slug: String,
    /// Display name.
    pub label: String,
}

resource!(ContentTagOut: String, CONTENT_TAGS, "content_tag", slug);

page_of! {
    /// A page of content tags.
    ContentTagPage, ContentTagOut
}

/// A tag of assets of the kind `other` to create.
#[derive(Debug, Object)]
pub struct ContentTagIn {
    /// Identifier: lowercase letters, digits, hyphens, and underscores. It cannot be changed later.
    slug: MaybeInvalid<Slug>,
    /// Display name.
    label: MaybeInvalid<Label>,
}

/// Changes to a content tag. Fields that are absent stay as they are.
#[derive(Debug, Object)]
pub struct ContentTagPatch {
    /// New display name.
    label: Omittable<Label>,
}

routes! {
    /// `GET /operator/v1/content-tags`
    List: Operator = routes::list("list_content_tags", &["limit=2"]);
    /// `POST /operator/v1/content-tags`
    Create: ActingOperator = routes::create(
        "create_content_tag",
        || json!({"slug": "weather-maps", "label": "Weather maps"}),
        Actor::Platform,
        &[EventType::ContentTagCreated],
    );
    /// `GET /operator/v1/content-tags/{slug}`
    Get: Operator = routes::get("get_content_tag", "content_tags");
    /// `PATCH /operator/v1/content-tags/{slug}`
    Update: ActingOperator = routes::patch(
        "update_content_tag",
        "content_tags",
        || json!({"label": "Weather records"}),
        Actor::Platform,
        &[EventType::ContentTagUpdated],
    );
}

pub struct ContentTagsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Taxonomy")]
impl ContentTagsApi {
    /// List content tags
    ///
    /// Returns the content tags, the last one in display order first.
    #[oai(path = "/content-tags", method = "get", operation_id = "list_content_tags")]
    async fn list(&self, call: Call<List>, query: Params<PageParams>) -> JsonResult<ContentTagPage> {
        pages::list_all(call, query).await
    }

    /// Create a content tag
    ///
    /// Creates a content tag, which comes last in display order.
    #[oai(path = "/content-tags", method = "post", operation_id = "create_content_tag")]
    async fn create(
        &self,
        call: Call<Create>,
        idempotent: Idempotent,
        body: Body<ContentTagIn>,
    ) -> JsonResult<ContentTagOut, 201> {
        changes::post_body(call, idempotent, body, |writer, platform, body: ContentTagIn| {
            let new = taxonomy::Label {
                slug: body.slug.into_valid()?.into(),
                label: body.label.into_valid()?.into(),
            };
            operations::create_content_tag(writer, platform, &new).map(|()| new.slug)
        })
        .await
    }

    /// Get a content tag
    ///
    /// Returns a content tag.
    #[oai(path = "/content-tags/:slug", method = "get", operation_id = "get_content_tag")]
    async fn get(
        &self,
        call: Call<Get>,
        /// Slug of the content tag.
        slug: Path<String>,
    ) -> JsonResult<ContentTagOut> {
        resources::get(call, slug.0).await
    }

    /// Update a content tag
    ///
    /// Changes the display name.
    #[oai(path = "/content-tags/:slug", method = "patch", operation_id = "update_content_tag")]
    async fn update(
        &self,
        call: Call<Update>,
        if_match: IfMatch,
        /// Slug of the content tag.
        slug: Path<String>,
        body: Body<ContentTagPatch>,
    ) -> JsonResult<ContentTagOut> {
        changes::patch(
            call,
            if_match,
            slug.0,
            body,
            |writer, platform, slug: &String, patch: ContentTagPatch| {
                let found: ContentTagOut = records::find(writer.rows, platform, slug)?;
                match patch.label.0.map(String::from) {
                    Some(label) if label != found.label => operations::update_content_tag(
                        writer,
                        platform,
                        &taxonomy::Label { slug: found.slug, label },
                    ),
                    _ => Ok(()),
                }
            },
        )
        .await
    }
}
