//! The part of the taxonomy that only vendors need: the programming languages of codebases and filters.

use poem_openapi::{Object, OpenApi};
use serde::Serialize;

use crate::{
    operations::{access::Vendor, taxonomy},
    rest::{
        catalog::taxonomy::LIST_TAXONOMY_TOOL,
        json::{Json, JsonResult},
        limits::Budget,
        route::{Call, Contract, DeclaredRoute, Route, RouteAttributes, Target, Tool},
    },
};

/// A programming language.
#[derive(Debug, Object, Serialize)]
pub struct Language {
    /// Stable identifier, used in filters and responses.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Other common names of the language.
    pub aliases: Vec<String>,
}

/// Programming languages.
#[derive(Debug, Object, Serialize)]
pub struct Languages {
    /// All languages, in display order.
    pub languages: Vec<Language>,
}

pub struct TaxonomyApi;

/// `GET /v2/codebases/languages`
pub struct ListLanguages;

impl Route for ListLanguages {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_languages",
        Budget::Other,
        Tool::Choice { tool: &LIST_TAXONOMY_TOOL, value: "languages", list: Some("languages") },
        Contract::new(Target::None),
    );
}

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 1] = [DeclaredRoute::of::<ListLanguages>()];

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::tags::Tag::Taxonomy")]
impl TaxonomyApi {
    /// List languages
    ///
    /// Returns the programming languages that codebases are measured in.
    #[oai(path = "/codebases/languages", method = "get", operation_id = "list_languages")]
    async fn list(&self, call: Call<ListLanguages>) -> JsonResult<Languages> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let languages = taxonomy::languages(reader, &call.access)?;
            let items = languages.into_iter().map(|language| Language {
                slug: language.slug,
                name: language.name,
                aliases: language.aliases,
            });
            Ok(Languages { languages: items.collect() })
        })
        .await
    }
}
