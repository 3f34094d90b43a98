//! Coverage: which outcomes of operations clients have met, and which not.

use poem_openapi::Object;

use super::{
    access::WorldReader, coverage_page::coverage_page, coverage_report::CoverageOut, worlds::read_with,
};
use crate::{
    operations::access::Operator,
    rest::{
        arguments::params::Params,
        json::{Json, JsonResult},
        page_parts,
        route::{Call, Contract, Path, Target, routes},
        sandbox_api::page_or_file::{FileFormats, PageOrFile},
    },
    string_enum::string_enum,
    web::{enum_value::EnumValue, problem::ApiError, served_market::ServedMarket},
};

/// Content type of the page for people.
const HTML: &str = "text/html; charset=utf-8";

string_enum! {
    /// The format of a coverage report.
    CoverageFormat {
        /// All operations and outcomes.
        Json = "json",
        /// A page for people.
        Html = "html",
    }
}

/// The other formats of a coverage report.
pub struct CoverageFormats;

impl FileFormats for CoverageFormats {
    const FORMATS: &'static [(&'static str, &'static str)] = &[("text/html", "A page for people.")];
}

/// Which outcomes are returned, and how.
#[derive(Debug, Object)]
pub struct CoverageQuery {
    /// Returns only outcomes that were met (`true`), or that were not (`false`), with their operations.
    met: Option<bool>,
    /// Format of the response; `json` if absent.
    format: Option<EnumValue<CoverageFormat>>,
}

type CoverageResponse = std::result::Result<PageOrFile<CoverageOut, CoverageFormats>, ApiError>;

/// Returns the report on what was met, as the query says. `subject` says where, for the heading of a page.
async fn report(
    served: &ServedMarket,
    query: CoverageQuery,
    subject: String,
    make: impl FnOnce() -> CoverageOut + Send + 'static,
) -> CoverageResponse {
    let make = move || {
        let mut coverage = make();
        if let Some(is_met) = query.met {
            coverage.retain(is_met);
        }
        coverage
    };
    if query.format.is_some_and(|format| format.0 == CoverageFormat::Html) {
        let page = served.market().spawn_blocking(move |_| Ok(coverage_page(&subject, &make()))).await?;
        return Ok(PageOrFile::html(HTML, page_parts::POLICY, page));
    }
    let page: JsonResult<CoverageOut> = Json::of_blocking(served, move || Ok(make())).await;
    page.map(PageOrFile::Page)
}

const QUERIES: &[&str] = &["met=true", "met=false&format=json"];

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl CoverageApi {
    /// Get the coverage of a world
    ///
    /// Returns which outcomes of operations, by status and error code, the clients of the world have met, and which of those
    /// that the documents name they have not. The counts are exact, also if the journal has dropped requests, and a reset does
    /// not change them.
    #[get(
        "/worlds/{world}/coverage",
        read_with(Contract::new(Target::World).with_queries(QUERIES).with_misspelled("mat=true", "met")),
    )]
    async fn get_world_coverage(
        call: Call<WorldReader>,
        /// Name of the world.
        world: Path<String>,
        query: Params<CoverageQuery>,
    ) -> CoverageResponse {
        let sandbox = call.served.require_sandbox()?;
        let world = sandbox.worlds().require(&world.0)?;
        let subject = format!("World {}", world.name());
        let make = move || CoverageOut::new(sandbox.operations(), world.journal().coverage());
        report(&call.served, query.0, subject, make).await
    }

    /// Get the coverage of all worlds
    ///
    /// Returns which outcomes of operations the clients of all worlds have met since the server was started, also of worlds
    /// that have ended.
    #[get(
        "/coverage",
        read_with(Contract::new(Target::None).with_queries(QUERIES).with_misspelled("mat=true", "met")),
    )]
    async fn get_coverage(call: Call<Operator>, query: Params<CoverageQuery>) -> CoverageResponse {
        let sandbox = call.served.require_sandbox()?;
        let make = move || CoverageOut::new(sandbox.operations(), sandbox.worlds().coverage());
        report(&call.served, query.0, "All worlds".to_owned(), make).await
    }
}
