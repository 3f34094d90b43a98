//! Programming languages of codebases and filters.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;

use crate::{
    operations::{access::Vendor, codebases},
    rest::{
        app::App,
        auth::Access,
        json::{Json, JsonResult},
        params::{NoParams, Params},
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

pub struct LanguagesApi;

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::api::Tag::Taxonomy")]
impl LanguagesApi {
    /// List languages
    ///
    /// Returns the programming languages that codebases are measured in.
    #[oai(path = "/codebases/languages", method = "get", operation_id = "list_languages")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        _query: Params<NoParams>,
    ) -> JsonResult<Languages> {
        Json::read(&app, access.0.requester(), move |reader| {
            let languages = codebases::languages(reader, &access.0)?;
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
