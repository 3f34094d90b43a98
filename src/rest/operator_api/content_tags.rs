//! Content tags of the taxonomy.

use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    changes::{self, Change},
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
        arguments::{
            if_match::IfMatch,
            params::Params,
            request_body::{Body, MaybeInvalid, Omittable},
        },
        json::JsonResult,
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

#[routes(prefix = "/operator/v1", tag = Taxonomy)]
impl ContentTagsApi {
    /// List content tags
    ///
    /// Returns the content tags, the last one in display order first.
    #[get("/content-tags", routes::list(&["limit=2"]))]
    async fn list_content_tags(
        call: Call<Operator>,
        query: Params<PageParams>,
    ) -> JsonResult<ContentTagPage> {
        pages::list_all(call, query).await
    }

    /// Create a content tag
    ///
    /// Creates a content tag, which comes last in display order.
    #[post("/content-tags", routes::create(Actor::Platform, &[EventType::ContentTagCreated]))]
    async fn create_content_tag(
        change: Change,
        #[example(json!({"slug": "weather-maps", "label": "Weather maps"}))] body: Body<ContentTagIn>,
    ) -> JsonResult<ContentTagOut, 201> {
        changes::post_body(change, body, |writer, platform, body: ContentTagIn| {
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
    #[get("/content-tags/{slug}", routes::get("content_tags"))]
    async fn get_content_tag(
        call: Call<Operator>,
        /// Slug of the content tag.
        slug: Path<String>,
    ) -> JsonResult<ContentTagOut> {
        resources::get(call, slug.0).await
    }

    /// Update a content tag
    ///
    /// Changes the display name.
    #[patch(
        "/content-tags/{slug}",
        routes::change("content_tags", Actor::Platform, &[EventType::ContentTagUpdated]),
    )]
    async fn update_content_tag(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        /// Slug of the content tag.
        slug: Path<String>,
        #[example(json!({"label": "Weather records"}))] body: Body<ContentTagPatch>,
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
