//! Opportunities that a vendor can answer, and its bids on projects.

use std::{collections::BTreeMap, sync::Arc};

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::opportunities::{BudgetUnit, Opportunity, OpportunityOrder, Wanted},
    operations::{access::Vendor, opportunities},
    rest::{
        App,
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::{
            UtcTime,
            opportunities::{OpportunityCore, ProjectBid},
            slices::ShortSlice,
        },
        vocabulary::Word,
    },
};

/// Which opportunities are asked for.
#[derive(Debug, Object)]
pub struct OpportunitiesQuery {
    /// Words that must all be somewhere in the title, the overview, the tags or the buyer's name.
    #[oai(validator(max_length = 10000))]
    query: Option<String>,
    /// Tags, any of them.
    #[oai(default)]
    tags: Vec<String>,
    /// Slugs of asset kinds that would do, any of them.
    #[oai(default)]
    asset_types: Vec<String>,
    /// The most that the lowest budget may be, in US dollars; opportunities without a budget never match.
    #[oai(validator(minimum(value = "0")))]
    max_budget: Option<f64>,
    /// What the budget is for.
    budget_unit: Option<Word<BudgetUnit>>,
    /// The order.
    #[oai(default = "by_deadline")]
    sort: Word<OpportunityOrder>,
    /// The page.
    #[oai(flatten)]
    page: ShortSlice,
}

fn by_deadline() -> Word<OpportunityOrder> {
    Word(OpportunityOrder::Deadline)
}

/// A listing request that a vendor can answer.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Opportunity")]
pub struct OpportunityOut {
    /// What every view has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub core: OpportunityCore,
    /// Where the buyer's picture is; null where there is none.
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

/// A request for custom task work.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "ProjectOpportunity")]
pub struct ProjectOpportunityOut {
    /// What every view has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub core: OpportunityCore,
    /// When bids are evaluated; null where there is no such day.
    pub evaluation_date: Option<UtcTime>,
}

/// How many opportunities match.
#[derive(Debug, Object, Serialize)]
pub struct OpportunityCounts {
    /// All of them.
    pub all: u64,
}

/// Values to filter by: of all open opportunities that the team can see, or of those that match the words, whatever the
/// filters.
#[derive(Debug, Object, Serialize)]
pub struct OpportunityFacets {
    /// Tags.
    pub tags: BTreeMap<String, u64>,
}

/// A page of open opportunities.
#[derive(Debug, Object, Serialize)]
pub struct Opportunities {
    /// The opportunities, in order.
    pub items: Vec<OpportunityOut>,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
    /// How many match.
    pub counts: OpportunityCounts,
    /// Values to filter by.
    pub facets: OpportunityFacets,
}

/// A page of a vendor's bids.
#[derive(Debug, Object, Serialize)]
pub struct ProjectBids {
    /// The bids, newest first.
    pub items: Vec<ProjectBid>,
    /// How many there are.
    pub total: u64,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
}

pub struct OpportunitiesApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Opportunities")]
impl OpportunitiesApi {
    /// Opportunities
    ///
    /// A page of the listing requests that are open and do not exclude the team.
    #[oai(path = "/opportunities", method = "get", operation_id = "list_opportunities")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<OpportunitiesQuery>,
    ) -> Answer<Opportunities> {
        let asked = query.0;
        let (limit, offset, sort) = (asked.page.limit, asked.page.offset, asked.sort.0);
        let wanted = Wanted {
            text: asked.query.unwrap_or_default(),
            tags: asked.tags,
            asset_types: asked.asset_types,
            max_budget: asked.max_budget,
            budget_unit: asked.budget_unit.map(|unit| unit.0),
        };
        let page = app.market().read(move |reader| {
            opportunities::page(reader, &access.0, &wanted, sort, limit as usize, offset.cast_unsigned())
        });
        let page = page.await?;
        Ok(Raw::of(&Opportunities {
            items: page.items.iter().map(OpportunityOut::from).collect(),
            limit,
            offset,
            counts: OpportunityCounts { all: page.all },
            facets: OpportunityFacets { tags: page.tags },
        }))
    }

    /// Opportunity
    ///
    /// A listing request, published or cancelled, that does not exclude the team.
    #[oai(path = "/opportunities/:opportunity_id", method = "get", operation_id = "get_opportunity")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        opportunity_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<OpportunityOut> {
        let found = app
            .market()
            .glance(move |reader| opportunities::find(reader, &access.0, opportunity_id.0, false))
            .await?;
        Ok(Raw::of(&OpportunityOut::from(&found)))
    }

    /// Project opportunity
    ///
    /// A request for custom task work, published or cancelled, that does not exclude the team.
    #[oai(
        path = "/project-opportunities/:opportunity_id",
        method = "get",
        operation_id = "get_project_opportunity"
    )]
    async fn project(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        opportunity_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<ProjectOpportunityOut> {
        let found = app
            .market()
            .glance(move |reader| opportunities::find(reader, &access.0, opportunity_id.0, true))
            .await?;
        let evaluation_date = found.evaluation_date.map(UtcTime);
        Ok(Raw::of(&ProjectOpportunityOut { core: (&found).into(), evaluation_date }))
    }

    /// Own project bids
    ///
    /// The team's bids on requests for custom task work, newest first.
    #[oai(path = "/project-opportunities/bids/mine", method = "get", operation_id = "list_own_project_bids")]
    async fn own_bids(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<ShortSlice>,
    ) -> Answer<ProjectBids> {
        let ShortSlice { limit, offset } = query.0;
        let page = app.market().read(move |reader| {
            opportunities::own_bids(reader, &access.0, limit as usize, offset.cast_unsigned())
        });
        let (bids, total) = page.await?;
        Ok(Raw::of(&ProjectBids { items: bids.iter().map(ProjectBid::from).collect(), total, limit, offset }))
    }
}
