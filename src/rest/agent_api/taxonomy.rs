//! The programming languages, which teams of all roles can filter the catalog by.

use poem_openapi::OpenApi;

use crate::{
    operations::{access::AuthenticatedTeam, taxonomy},
    rest::{
        catalog::taxonomy::LIST_TAXONOMY_TOOL,
        json::{Json, JsonResult},
        limits::Budget,
        route::{Call, Contract, DeclaredRoute, Route, RouteAttributes, Target, Tool},
        vendor_api::taxonomy::{LanguageOut, Languages},
    },
};

pub struct TaxonomyApi;

/// `GET /agents/v1/languages`
pub struct ListLanguagesForAgents;

impl Route for ListLanguagesForAgents {
    type Access = AuthenticatedTeam;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_languages_for_agents",
        Budget::Other,
        Tool::Choice { tool: &LIST_TAXONOMY_TOOL, value: "languages", list: Some("languages") },
        Contract::new(Target::None),
    );
}

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 1] = [DeclaredRoute::of::<ListLanguagesForAgents>()];

#[OpenApi(prefix_path = "/agents/v1", tag = "crate::rest::tags::Tag::Taxonomy")]
impl TaxonomyApi {
    /// List languages
    ///
    /// Returns the programming languages that filters of the catalog take.
    #[oai(path = "/languages", method = "get", operation_id = "list_languages_for_agents")]
    async fn list(&self, call: Call<ListLanguagesForAgents>) -> JsonResult<Languages> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let languages = taxonomy::known_languages(reader, &call.access)?;
            Ok(Languages { languages: languages.into_iter().map(LanguageOut::from).collect() })
        })
        .await
    }
}
