//! Domains of the taxonomy.

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

#[routes(prefix = "/operator/v1", tag = Taxonomy)]
impl DomainsApi {
    /// List domains
    ///
    /// Returns the domains, the last one in display order first.
    #[get("/domains", routes::list(&["limit=2"]))]
    async fn list_domains(call: Call<Operator>, query: Params<PageParams>) -> JsonResult<DomainPage> {
        pages::list_all(call, query).await
    }

    /// Create a domain
    ///
    /// Creates a domain, which comes last in display order.
    #[post("/domains", routes::create(Actor::Platform, &[EventType::DomainCreated]))]
    async fn create_domain(
        change: Change,
        #[example(json!({"slug": "weather", "label": "Weather"}))] body: Body<DomainIn>,
    ) -> JsonResult<DomainOut, 201> {
        changes::post_body(change, body, |writer, platform, body: DomainIn| {
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
    #[get("/domains/{slug}", routes::get("domains"))]
    async fn get_domain(
        call: Call<Operator>,
        /// Slug of the domain.
        slug: Path<String>,
    ) -> JsonResult<DomainOut> {
        resources::get(call, slug.0).await
    }

    /// Update a domain
    ///
    /// Changes the display name.
    #[patch("/domains/{slug}", routes::change("domains", Actor::Platform, &[EventType::DomainUpdated]))]
    async fn update_domain(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        /// Slug of the domain.
        slug: Path<String>,
        #[example(json!({"label": "Weather records"}))] body: Body<DomainPatch>,
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
