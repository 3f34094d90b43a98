//! Domains of the taxonomy.

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
    store::records::labels::DOMAINS,
};

/// A business domain of listings, assets, and opportunities.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Domain")]
pub struct DomainOut {
    /// Identifier, as used in filters. It stays the same.
    pub slug: String,
    /// Display name.
    pub label: String,
}

resource!(DomainOut: String, DOMAINS, "domain", slug);

page_of! {
    /// A page of domains.
    DomainPage, DomainOut
}

/// A business domain of listings, assets, and opportunities to create.
#[derive(Debug, Object)]
pub struct DomainIn {
    /// Identifier: lowercase letters, digits, hyphens, and underscores. It cannot be changed later.
    slug: MaybeInvalid<Slug>,
    /// Display name.
    label: MaybeInvalid<Label>,
}

/// Changes to a domain. Fields that are absent stay as they are.
#[derive(Debug, Object)]
pub struct DomainPatch {
    /// New display name.
    label: Omittable<Label>,
}

routes! {
    /// `GET /operator/v1/domains`
    List: Operator = routes::list("list_domains", &["limit=2"]);
    /// `POST /operator/v1/domains`
    Create: ActingOperator = routes::create(
        "create_domain",
        || json!({"slug": "weather", "label": "Weather"}),
        Actor::Platform,
        &[EventType::DomainCreated],
    );
    /// `GET /operator/v1/domains/{slug}`
    Get: Operator = routes::get("get_domain", "domains");
    /// `PATCH /operator/v1/domains/{slug}`
    Update: ActingOperator = routes::patch(
        "update_domain",
        "domains",
        || json!({"label": "Weather records"}),
        Actor::Platform,
        &[EventType::DomainUpdated],
    );
}

pub struct DomainsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Taxonomy")]
impl DomainsApi {
    /// List domains
    ///
    /// Returns the domains, the last one in display order first.
    #[oai(path = "/domains", method = "get", operation_id = "list_domains")]
    async fn list(&self, call: Call<List>, query: Params<PageParams>) -> JsonResult<DomainPage> {
        pages::list_all(call, query).await
    }

    /// Create a domain
    ///
    /// Creates a domain, which comes last in display order.
    #[oai(path = "/domains", method = "post", operation_id = "create_domain")]
    async fn create(
        &self,
        call: Call<Create>,
        idempotent: Idempotent,
        body: Body<DomainIn>,
    ) -> JsonResult<DomainOut, 201> {
        changes::post_body(call, idempotent, body, |writer, platform, body: DomainIn| {
            let new = taxonomy::Label {
                slug: body.slug.into_valid()?.into(),
                label: body.label.into_valid()?.into(),
            };
            operations::create_domain(writer, platform, &new).map(|()| new.slug)
        })
        .await
    }

    /// Get a domain
    ///
    /// Returns a domain.
    #[oai(path = "/domains/:slug", method = "get", operation_id = "get_domain")]
    async fn get(
        &self,
        call: Call<Get>,
        /// Slug of the domain.
        slug: Path<String>,
    ) -> JsonResult<DomainOut> {
        resources::get(call, slug.0).await
    }

    /// Update a domain
    ///
    /// Changes the display name.
    #[oai(path = "/domains/:slug", method = "patch", operation_id = "update_domain")]
    async fn update(
        &self,
        call: Call<Update>,
        if_match: IfMatch,
        /// Slug of the domain.
        slug: Path<String>,
        body: Body<DomainPatch>,
    ) -> JsonResult<DomainOut> {
        changes::patch(call, if_match, slug.0, body, |writer, platform, slug: &String, patch: DomainPatch| {
            let found: DomainOut = records::find(writer.rows, platform, slug)?;
            match patch.label.0.map(String::from) {
                Some(label) if label != found.label => {
                    operations::update_domain(writer, platform, &taxonomy::Label { slug: found.slug, label })
                }
                _ => Ok(()),
            }
        })
        .await
    }
}
