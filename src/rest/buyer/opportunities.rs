//! A buyer's own opportunities, and the bids on its projects.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    domain::opportunities::{Bid, Opportunity, VisibilityMode},
    operations::{access::Buyer, opportunities},
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

/// Which of a buyer's own opportunities are asked for.
#[derive(Debug, Object)]
pub struct OwnOpportunitiesQuery {
    /// Only those that stand here: `draft`, `published`, `closed` or `cancelled`. Another word matches nothing.
    status: Option<String>,
    /// The page.
    #[oai(flatten)]
    page: ShortSlice,
}

/// A listing request of the team.
#[derive(Debug, Object, Serialize)]
pub struct OwnOpportunity {
    /// What every view has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub core: OpportunityCore,
    /// Where the team's picture is; null where there is none.
    pub owner_team_avatar_url: Option<String>,
    /// Which vendors may see it.
    pub visibility_mode: Word<VisibilityMode>,
    /// Teams that may not.
    pub excluded_team_ids: Vec<Uuid>,
}

impl From<&Opportunity> for OwnOpportunity {
    fn from(opportunity: &Opportunity) -> OwnOpportunity {
        OwnOpportunity {
            core: opportunity.into(),
            owner_team_avatar_url: opportunity.owner_avatar_url.clone(),
            visibility_mode: Word(opportunity.visibility),
            excluded_team_ids: opportunity.excluded.clone(),
        }
    }
}

/// A request of the team for custom task work.
#[derive(Debug, Object, Serialize)]
pub struct OwnProjectOpportunity {
    /// What every view has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub core: OpportunityCore,
    /// When bids are evaluated; null where there is no such day.
    pub evaluation_date: Option<UtcTime>,
    /// Which vendors may see it.
    pub visibility_mode: Word<VisibilityMode>,
    /// Teams that may not.
    pub excluded_team_ids: Vec<Uuid>,
}

impl From<&Opportunity> for OwnProjectOpportunity {
    fn from(opportunity: &Opportunity) -> OwnProjectOpportunity {
        OwnProjectOpportunity {
            core: opportunity.into(),
            evaluation_date: opportunity.evaluation_date.map(UtcTime),
            visibility_mode: Word(opportunity.visibility),
            excluded_team_ids: opportunity.excluded.clone(),
        }
    }
}

/// A page of a buyer's own listing requests.
#[derive(Debug, Object, Serialize)]
pub struct OwnOpportunities {
    /// The requests, newest first.
    pub items: Vec<OwnOpportunity>,
    /// All that match.
    pub total: u64,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
}

/// A page of a buyer's own requests for custom task work.
#[derive(Debug, Object, Serialize)]
pub struct OwnProjectOpportunities {
    /// The requests, newest first.
    pub items: Vec<OwnProjectOpportunity>,
    /// All that match.
    pub total: u64,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
}

/// What happened to a bid.
#[derive(Debug, Object, Serialize)]
pub struct BidActivity {
    /// What the platform did, oldest first.
    pub platform_events: Vec<Value>,
    /// What the vendor did, oldest first.
    pub vendor_events: Vec<Value>,
}

/// A bid on a request of the team.
#[derive(Debug, Object, Serialize)]
pub struct ReceivedBid {
    /// What the vendor sees of it, too.
    #[oai(flatten)]
    #[serde(flatten)]
    pub bid: ProjectBid,
    /// What happened to it.
    pub activity: BidActivity,
}

impl From<&Bid> for ReceivedBid {
    fn from(bid: &Bid) -> ReceivedBid {
        let activity = BidActivity {
            platform_events: bid.platform_events.clone(),
            vendor_events: bid.vendor_events.clone(),
        };
        ReceivedBid { bid: bid.into(), activity }
    }
}

/// A page of the bids on a request of the team.
#[derive(Debug, Object, Serialize)]
pub struct ReceivedBids {
    /// The bids, newest first.
    pub items: Vec<ReceivedBid>,
    /// How many there are.
    pub total: u64,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
}

pub struct OpportunitiesApi;

#[OpenApi(prefix_path = "/v2/buyer", tag = "super::super::Tag::Opportunities")]
impl OpportunitiesApi {
    /// Own opportunities
    ///
    /// The team's own listing requests at every status, newest first.
    #[oai(path = "/opportunities", method = "get", operation_id = "list_own_opportunities")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Buyer>,
        query: Params<OwnOpportunitiesQuery>,
    ) -> Answer<OwnOpportunities> {
        let (found, total, limit, offset) = owned(&app, access.0, query.0, false).await?;
        let items = found.iter().map(OwnOpportunity::from).collect();
        Ok(Raw::of(&OwnOpportunities { items, total, limit, offset }))
    }

    /// Own opportunity
    ///
    /// One of the team's own listing requests.
    #[oai(path = "/opportunities/:opportunity_id", method = "get", operation_id = "get_own_opportunity")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Buyer>,
        opportunity_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<OwnOpportunity> {
        let found = app
            .market()
            .glance(move |reader| opportunities::find_owned(reader, &access.0, opportunity_id.0, false))
            .await?;
        Ok(Raw::of(&OwnOpportunity::from(&found)))
    }

    /// Own project opportunities
    ///
    /// The team's own requests for custom task work at every status, newest first.
    #[oai(path = "/project-opportunities", method = "get", operation_id = "list_own_project_opportunities")]
    async fn projects(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Buyer>,
        query: Params<OwnOpportunitiesQuery>,
    ) -> Answer<OwnProjectOpportunities> {
        let (found, total, limit, offset) = owned(&app, access.0, query.0, true).await?;
        let items = found.iter().map(OwnProjectOpportunity::from).collect();
        Ok(Raw::of(&OwnProjectOpportunities { items, total, limit, offset }))
    }

    /// Own project opportunity
    ///
    /// One of the team's own requests for custom task work.
    #[oai(
        path = "/project-opportunities/:opportunity_id",
        method = "get",
        operation_id = "get_own_project_opportunity"
    )]
    async fn project(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Buyer>,
        opportunity_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<OwnProjectOpportunity> {
        let found = app
            .market()
            .glance(move |reader| opportunities::find_owned(reader, &access.0, opportunity_id.0, true))
            .await?;
        Ok(Raw::of(&OwnProjectOpportunity::from(&found)))
    }

    /// Bids on a project
    ///
    /// Vendors' bids on one of the team's own requests for custom task work, newest first, with what happened to each.
    #[oai(
        path = "/project-opportunities/:opportunity_id/bids",
        method = "get",
        operation_id = "list_project_bids"
    )]
    async fn bids(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Buyer>,
        opportunity_id: Path<Uuid>,
        query: Params<ShortSlice>,
    ) -> Answer<ReceivedBids> {
        let ShortSlice { limit, offset } = query.0;
        let page = app.market().read(move |reader| {
            let offset = offset.cast_unsigned();
            opportunities::bids_on(reader, &access.0, opportunity_id.0, limit as usize, offset)
        });
        let (bids, total) = page.await?;
        let items = bids.iter().map(ReceivedBid::from).collect();
        Ok(Raw::of(&ReceivedBids { items, total, limit, offset }))
    }
}

/// A page of the buyer's own opportunities of a sort, how many there are, and what was asked for.
async fn owned(
    app: &App,
    buyer: Buyer,
    asked: OwnOpportunitiesQuery,
    is_project: bool,
) -> crate::error::Result<(Vec<Opportunity>, u64, u32, i64)> {
    let (ShortSlice { limit, offset }, status) = (asked.page, asked.status);
    let page = app.market().read(move |reader| {
        let (limit, offset) = (limit as usize, offset.cast_unsigned());
        opportunities::owned(reader, &buyer, is_project, status.as_deref(), limit, offset)
    });
    let (found, total) = page.await?;
    Ok((found, total, limit, offset))
}
