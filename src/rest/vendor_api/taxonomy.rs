//! The part of the taxonomy that only vendors need: the programming languages of codebases and filters.

use crate::{domain::taxonomy::Language, operations::taxonomy, rest::prelude::*};

/// A programming language.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Language")]
pub struct LanguageOut {
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
    pub languages: Vec<LanguageOut>,
}

impl From<Language> for LanguageOut {
    fn from(language: Language) -> LanguageOut {
        LanguageOut { slug: language.slug, name: language.name, aliases: language.aliases }
    }
}

#[routes(prefix = "/v2", tag = Taxonomy)]
impl TaxonomyApi {
    /// List languages
    ///
    /// Returns the programming languages that codebases are measured in.
    #[get(
        "/codebases/languages",
        RouteAttributes::read(
            Tool::Excluded("the operation list_languages_for_agents has them for buyers, too"),
            Contract::new(Target::None),
        )
    )]
    async fn list_languages(call: Call<Vendor>) -> JsonResult<Languages> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let languages = taxonomy::languages(reader, &call.access)?;
            Ok(Languages { languages: languages.into_iter().map(LanguageOut::from).collect() })
        })
        .await
    }
}
