//! Opportunities that a vendor can respond to, and its bids on project opportunities.

use std::collections::BTreeMap;

use crate::{
    domain::opportunities::{BudgetUnit, Opportunity, OpportunityFilter, OpportunityKind, OpportunityOrder},
    operations::opportunities,
    rest::{
        prelude::*,
        route::Link,
        shapes::{
            assets::ASSET_KINDS,
            limit_offset::{SmallLimitOffset, offset_page},
            opportunities::{OpportunityCore, ProjectBid},
        },
    },
};

/// Query parameters that filter opportunities.
#[derive(Debug, Object)]
pub struct OpportunityFilters {
    /// Search text. Every word must occur in the title, the overview, the tags or the buyer's name; case is
    /// ignored. A query without letters and digits filters nothing.
    #[oai(validator(max_length = 10000))]
    query: Option<String>,
    /// Tags. An opportunity matches if it has any of them.
    #[oai(default)]
    tags: Vec<String>,
    /// Slugs of asset kinds. An opportunity matches if it accepts any of them.
    #[oai(default)]
    asset_types: Vec<String>,
    /// Maximum of `metadata.budget_min`, in US dollars. Opportunities without a budget never match.
    #[oai(validator(minimum(value = "0")))]
    max_budget: Option<f64>,
    /// Only opportunities whose budget is per task, or in total.
    budget_unit: Option<EnumValue<BudgetUnit>>,
}

impl From<OpportunityFilters> for OpportunityFilter {
    fn from(filters: OpportunityFilters) -> OpportunityFilter {
        OpportunityFilter {
            text: filters.query.unwrap_or_default(),
            tags: filters.tags,
            asset_types: filters.asset_types,
            max_budget: filters.max_budget,
            budget_unit: filters.budget_unit.map(|unit| unit.0),
        }
    }
}

/// Query parameters of the list of opportunities.
#[derive(Debug, Object)]
pub struct OpportunitiesQuery {
    /// Conditions that opportunities meet.
    #[oai(flatten)]
    filters: OpportunityFilters,
    /// Order of the opportunities.
    #[oai(default = "default_sort")]
    sort: EnumValue<OpportunityOrder>,
    /// Limit and offset.
    #[oai(flatten)]
    page: SmallLimitOffset,
}

fn default_sort() -> EnumValue<OpportunityOrder> {
    EnumValue(OpportunityOrder::Deadline)
}

/// An opportunity: a buyer's request for listings that a vendor can respond to.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Opportunity")]
pub struct OpportunityOut {
    /// The fields that every view of an opportunity has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub core: OpportunityCore,
    /// URL of the buyer team's avatar; null if it has none.
    pub owner_team_avatar_url: Option<String>,
}

impl From<&Opportunity> for OpportunityOut {
    fn from(opportunity: &Opportunity) -> OpportunityOut {
        OpportunityOut {
            core: opportunity.into(),
            owner_team_avatar_url: opportunity.owner_avatar_url.clone(),
        }
    }
}

/// A project opportunity: a buyer's request for custom task work.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "ProjectOpportunity")]
pub struct ProjectOpportunityOut {
    /// The fields that every view of an opportunity has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub core: OpportunityCore,
    /// Time at which bids are evaluated; null if no time is set.
    pub evaluation_date: Option<UtcTime>,
}

impl From<&Opportunity> for ProjectOpportunityOut {
    fn from(opportunity: &Opportunity) -> ProjectOpportunityOut {
        ProjectOpportunityOut {
            core: opportunity.into(),
            evaluation_date: opportunity.evaluation_date.map(UtcTime),
        }
    }
}

/// Number of opportunities that match.
#[derive(Debug, Object, Serialize)]
pub struct OpportunityCounts {
    /// Number of opportunities that match, on all pages.
    pub all: u64,
}

/// Values to filter by, each with the number of opportunities that have it. Counts cover all open
/// opportunities that the team can see, or the matches of `query` if it is set; the other filters do not
/// affect them.
#[derive(Debug, Object, Serialize)]
pub struct OpportunityFacets {
    /// Tags of opportunities.
    pub tags: BTreeMap<String, u64>,
}

/// A page of open opportunities.
#[derive(Debug, Object, Serialize)]
pub struct Opportunities {
    /// The opportunities, in the requested order.
    pub items: Vec<OpportunityOut>,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
    /// Number of opportunities that match.
    pub counts: OpportunityCounts,
    /// Values to filter by, with counts.
    pub facets: OpportunityFacets,
}

offset_page! {
    /// A page of a vendor's project bids.
    ProjectBids of ProjectBid: "The bids, newest first.", "Number of the team's project bids, on all pages."
}

#[routes(prefix = "/v2", tag = Opportunities)]
impl OpportunitiesApi {
    /// List opportunities
    ///
    /// Returns a page of the published, still open opportunities (requests for listings) that the team can
    /// see.
    #[get(
        "/opportunities",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Opportunities,
                    "list_opportunities",
                    "Opportunities",
                    "Open requests for listings that buyers published, nearest deadline first.",
                )
                .with_parameters(&[
                    ("query", "Words in title, overview, tags and buyer name."),
                    ("tags", "Tags, any of which may match."),
                    ("asset_types", "Asset kinds."),
                ])
                .with_values(&[("asset_types", ASSET_KINDS)])
                .with_row(&[
                    "id",
                    "title",
                    "accepted_asset_types",
                    "deadline",
                    "metadata.overview",
                    "metadata.budget_min",
                    "metadata.budget_max",
                    "metadata.budget_unit",
                    "metadata.tags",
                    "counts",
                ]),
                "items",
            ),
            Contract::new(Target::None)
                .with_queries(&[
                    "limit=100",
                    "limit=1&offset=1",
                    "offset=2147483647",
                    "sort=deadline&asset_types=codebase&max_budget=1e6",
                    "sort=recent&asset_types=codebase&max_budget=1e6",
                    "sort=title&asset_types=codebase&max_budget=1e6",
                    "sort=budget_low&asset_types=codebase&max_budget=1e6",
                    "sort=budget_high&asset_types=codebase&max_budget=1e6",
                ])
                .with_misspelled("max_buget=3", "max_budget")
                .with_pages("limit=1", "limit=100", 3),
        )
        .with_parameter_examples(&[
            ("query", r#""cobol""#),
            ("tags", r#"["legacy"]"#),
            ("asset_types", r#"["codebase"]"#),
        ]),
    )]
    async fn list_opportunities(
        call: Call<Vendor>,
        query: Params<OpportunitiesQuery>,
    ) -> JsonResult<Opportunities> {
        let params = query.0;
        let (limit, offset, sort) = (params.page.limit, params.page.offset, params.sort.0);
        let filters = params.filters.into();
        Json::read(&call.served, call.access.requester(), move |reader| {
            let skipped = offset.cast_unsigned();
            let page = opportunities::page(reader, &call.access, &filters, sort, limit as usize, skipped)?;
            Ok(Opportunities {
                items: page.items.iter().map(OpportunityOut::from).collect(),
                limit,
                offset,
                counts: OpportunityCounts { all: page.total },
                facets: OpportunityFacets { tags: page.tags },
            })
        })
        .await
    }

    /// Get an opportunity
    ///
    /// Returns a published or cancelled opportunity (a request for listings) that the team can see. A team that
    /// was notified of an opportunity can get it in every status.
    #[get(
        "/opportunities/{opportunity_id}",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Opportunities,
                    "get_opportunity",
                    "Opportunity",
                    "One request for listings, published or cancelled. `metadata` has its budget \
                     and tags.",
                )
                .with_ids("list_opportunities"),
            ),
            Contract::new(Target::Opportunity),
        ),
    )]
    async fn get_opportunity(call: Call<Vendor>, opportunity_id: Path<Uuid>) -> JsonResult<OpportunityOut> {
        get_opportunity(call, opportunity_id.0, OpportunityKind::Listing).await
    }

    /// Get a project opportunity
    ///
    /// Returns a published or cancelled project opportunity (a request for custom task work) that the team
    /// can see. A team that has a bid on a project opportunity, or was notified of it, can get it in every
    /// status.
    #[get(
        "/project-opportunities/{opportunity_id}",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Opportunities,
                    "get_project_opportunity",
                    "Project opportunity",
                    "One request for custom task work, published or cancelled.",
                )
                .unlisted()
                .with_ids("list_own_project_bids and list_notifications"),
            ),
            Contract::new(Target::ProjectOpportunity),
        ),
    )]
    async fn get_project_opportunity(
        call: Call<Vendor>,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<ProjectOpportunityOut> {
        get_opportunity(call, opportunity_id.0, OpportunityKind::Project).await
    }

    /// List own project bids
    ///
    /// Returns a page of the team's bids on project opportunities, newest first.
    #[get(
        "/project-opportunities/bids/mine",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Opportunities,
                    "list_own_project_bids",
                    "Own project bids",
                    "The team's own bids on custom task work, newest first.",
                )
                .unlisted(),
                "items",
            ),
            Contract::new(Target::None)
                .with_queries(&["limit=100", "limit=1&offset=1", "offset=2147483647"])
                .with_misspelled("limt=1", "limit")
                .with_pages("limit=1", "limit=100", 4),
        )
        .with_links(&[Link::new(
            "/items/0/opportunity_id",
            "get_project_opportunity",
            "opportunity_id",
        )]),
    )]
    async fn list_own_project_bids(
        call: Call<Vendor>,
        query: Params<SmallLimitOffset>,
    ) -> JsonResult<ProjectBids> {
        let SmallLimitOffset { limit, offset } = query.0;
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (bids, total) =
                opportunities::list_own_bids(reader, &call.access, limit as usize, offset.cast_unsigned())?;
            Ok(ProjectBids { items: bids.iter().map(ProjectBid::from).collect(), total, limit, offset })
        })
        .await
    }
}

/// Returns an opportunity of this kind that the team can see.
async fn get_opportunity<T>(call: Call<Vendor>, id: Uuid, kind: OpportunityKind) -> JsonResult<T>
where
    T: for<'a> From<&'a Opportunity> + Serialize,
{
    Json::read(&call.served, call.access.requester(), move |reader| {
        opportunities::find(reader.rows, &call.access, id, kind).map(|found| T::from(&found))
    })
    .await
}
