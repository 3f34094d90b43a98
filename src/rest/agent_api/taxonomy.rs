//! The programming languages, which teams of all roles can filter the catalog by.

use crate::{
    operations::{access::AuthenticatedTeam, taxonomy},
    rest::{
        catalog::taxonomy::LIST_TAXONOMY_TOOL,
        json::{Json, JsonResult},
        route::{Call, Contract, RouteAttributes, Target, Tool, routes},
        vendor_api::taxonomy::{LanguageOut, Languages},
    },
};

#[routes(prefix = "/agents/v1", tag = Taxonomy)]
impl TaxonomyApi {
    /// List languages
    ///
    /// Returns the programming languages that filters of the catalog take.
    #[get(
        "/languages",
        RouteAttributes::read(
            Tool::Choice { tool: &LIST_TAXONOMY_TOOL, value: "languages", list: Some("languages") },
            Contract::new(Target::None),
        ),
    )]
    async fn list_languages_for_agents(call: Call<AuthenticatedTeam>) -> JsonResult<Languages> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let languages = taxonomy::known_languages(reader, &call.access)?;
            Ok(Languages { languages: languages.into_iter().map(LanguageOut::from).collect() })
        })
        .await
    }
}
