//! A buyer's own opportunities, and the bids on its project opportunities.

use crate::{
    domain::opportunities::{Bid, BidEvent, Opportunity, OpportunityKind, VisibilityMode},
    operations::{access::Buyer, opportunities},
    rest::{
        prelude::*,
        route::MultiTool,
        shapes::{
            limit_offset::{OffsetPage, SmallLimitOffset, offset_page},
            opportunities::{OpportunityCore, ProjectBid},
        },
    },
};

/// Query parameters of the lists of a buyer's own opportunities.
#[derive(Debug, Object)]
pub struct OwnOpportunitiesQuery {
    /// Only opportunities with this status: `draft`, `published`, `closed` or `cancelled`. Other values match
    /// nothing.
    status: Option<String>,
    /// Limit and offset.
    #[oai(flatten)]
    page: SmallLimitOffset,
}

/// The vendors that may see an opportunity.
#[derive(Debug, Object, Serialize)]
pub struct OpportunityVisibility {
    /// Which vendors may see the opportunity: all, or all except those in `excluded_team_ids`.
    pub visibility_mode: EnumValue<VisibilityMode>,
    /// IDs of the vendor teams that may not see the opportunity. Applies if `visibility_mode` is
    /// `all_except`.
    pub excluded_team_ids: Vec<Uuid>,
}

impl From<&Opportunity> for OpportunityVisibility {
    fn from(opportunity: &Opportunity) -> OpportunityVisibility {
        OpportunityVisibility {
            visibility_mode: EnumValue(opportunity.visibility),
            excluded_team_ids: opportunity.excluded.clone(),
        }
    }
}

/// An opportunity (a request for listings) that the team posted.
#[derive(Debug, Object, Serialize)]
pub struct OwnOpportunity {
    /// The fields that every view of an opportunity has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub core: OpportunityCore,
    /// URL of the team's avatar; null if it has none.
    pub owner_team_avatar_url: Option<String>,
    /// Visibility of the opportunity.
    #[oai(flatten)]
    #[serde(flatten)]
    pub visibility: OpportunityVisibility,
}

impl From<&Opportunity> for OwnOpportunity {
    fn from(opportunity: &Opportunity) -> OwnOpportunity {
        OwnOpportunity {
            core: opportunity.into(),
            owner_team_avatar_url: opportunity.owner_avatar_url.clone(),
            visibility: opportunity.into(),
        }
    }
}

/// A project opportunity (a request for custom task work) that the team posted.
#[derive(Debug, Object, Serialize)]
pub struct OwnProjectOpportunity {
    /// The fields that every view of an opportunity has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub core: OpportunityCore,
    /// Time at which bids are evaluated; null if no time is set.
    pub evaluation_date: Option<UtcTime>,
    /// Visibility of the opportunity.
    #[oai(flatten)]
    #[serde(flatten)]
    pub visibility: OpportunityVisibility,
}

impl From<&Opportunity> for OwnProjectOpportunity {
    fn from(opportunity: &Opportunity) -> OwnProjectOpportunity {
        OwnProjectOpportunity {
            core: opportunity.into(),
            evaluation_date: opportunity.evaluation_date.map(UtcTime),
            visibility: opportunity.into(),
        }
    }
}

offset_page! {
    /// A page of a buyer's own opportunities.
    OwnOpportunities of OwnOpportunity: "The opportunities, newest first.",
        "Number of opportunities that match, on all pages."
}

offset_page! {
    /// A page of a buyer's own project opportunities.
    OwnProjectOpportunities of OwnProjectOpportunity: "The project opportunities, newest first.",
        "Number of project opportunities that match, on all pages."
}

/// An event in the life of a bid.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "BidEvent")]
pub struct BidEventOut {
    /// Time of the event.
    pub at: UtcTime,
    /// Description of the event, as free text.
    pub event: String,
}

impl From<&BidEvent> for BidEventOut {
    fn from(event: &BidEvent) -> BidEventOut {
        BidEventOut { at: event.at.into(), event: event.event.clone() }
    }
}

/// Events in the life of a bid.
#[derive(Debug, Object, Serialize)]
pub struct BidActivity {
    /// Events caused by the platform, oldest first.
    pub platform_events: Vec<BidEventOut>,
    /// Events caused by the vendor, oldest first.
    pub vendor_events: Vec<BidEventOut>,
}

/// A bid on a project opportunity of the team.
#[derive(Debug, Object, Serialize)]
pub struct ReceivedBid {
    /// The fields that the vendor sees, too.
    #[oai(flatten)]
    #[serde(flatten)]
    pub bid: ProjectBid,
    /// Events in the life of the bid.
    pub activity: BidActivity,
}

impl From<&Bid> for ReceivedBid {
    fn from(bid: &Bid) -> ReceivedBid {
        let activity = BidActivity {
            platform_events: bid.platform_events.iter().map(BidEventOut::from).collect(),
            vendor_events: bid.vendor_events.iter().map(BidEventOut::from).collect(),
        };
        ReceivedBid { bid: bid.into(), activity }
    }
}

offset_page! {
    /// A page of the bids on a project opportunity of the team.
    ReceivedBids of ReceivedBid: "The bids, newest first.", "Number of bids on the opportunity, on all pages."
}

/// Description of the argument that selects the kind of request.
const REQUEST_KIND_DESCRIPTION: &str = "Listings, or custom task work.";

/// The tool for the operations that `kind` selects.
pub static LIST_OWN_OPPORTUNITIES_TOOL: MultiTool = MultiTool {
    text: ToolText::new(
        Toolset::Requests,
        "list_own_opportunities",
        "Own opportunities",
        "Requests that the team posted, newest first, in any status. Those of other buyers are never shown.",
    )
    .with_parameters(&[("status", "Status of the requests.")])
    .with_values(&[("status", &["draft", "published", "closed", "cancelled"])])
    .with_row(&[
        "id",
        "title",
        "status",
        "accepted_asset_types",
        "deadline",
        "metadata.budget_min",
        "metadata.budget_max",
        "metadata.budget_unit",
        "created_at",
    ]),
    argument: "kind",
    description: REQUEST_KIND_DESCRIPTION,
    default: Some("listing"),
    filters: None,
    choice_values: &[],
};

/// The tool for the operations that `kind` selects.
pub static GET_OWN_OPPORTUNITY_TOOL: MultiTool = MultiTool {
    text: ToolText::new(
        Toolset::Requests,
        "get_own_opportunity",
        "Own opportunity",
        "One request that the team posted.",
    )
    .with_ids("list_own_opportunities"),
    argument: "kind",
    description: REQUEST_KIND_DESCRIPTION,
    default: Some("listing"),
    filters: None,
    choice_values: &[],
};

/// The attributes of the list of a kind. `kind` is the argument of its tool.
const fn list_of_kind(kind: &'static str) -> RouteAttributes {
    RouteAttributes::read(
        Tool::Choice { tool: &LIST_OWN_OPPORTUNITIES_TOOL, value: kind, list: Some("items") },
        Contract::new(Target::None)
            .with_queries(&["limit=100", "limit=1&offset=1", "status=published", "status=nonsense"])
            .with_misspelled("staus=draft", "status")
            .with_pages("limit=1", "limit=100", 4),
    )
}

#[routes(prefix = "/v2/buyer", tag = Opportunities)]
impl OpportunitiesApi {
    /// List own opportunities
    ///
    /// Returns a page of the opportunities (requests for listings) that the team posted, in every status,
    /// newest first.
    #[get("/opportunities", list_of_kind("listing"))]
    async fn list_own_opportunities(
        call: Call<Buyer>,
        query: Params<OwnOpportunitiesQuery>,
    ) -> JsonResult<OwnOpportunities> {
        read_own_page(call, query.0, OpportunityKind::Listing).await
    }

    /// Get an own opportunity
    ///
    /// Returns an opportunity (a request for listings) that the team posted, in any status.
    #[get(
        "/opportunities/{opportunity_id}",
        RouteAttributes::read(
            Tool::Choice { tool: &GET_OWN_OPPORTUNITY_TOOL, value: "listing", list: None },
            Contract::new(Target::OwnOpportunity),
        ),
    )]
    async fn get_own_opportunity(
        call: Call<Buyer>,
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<OwnOpportunity> {
        get_own_opportunity(call, opportunity_id.0, OpportunityKind::Listing).await
    }

    /// List own project opportunities
    ///
    /// Returns a page of the project opportunities (requests for custom task work) that the team posted, in
    /// every status, newest first.
    #[get("/project-opportunities", list_of_kind("project"))]
    async fn list_own_project_opportunities(
        call: Call<Buyer>,
        query: Params<OwnOpportunitiesQuery>,
    ) -> JsonResult<OwnProjectOpportunities> {
        read_own_page(call, query.0, OpportunityKind::Project).await
    }

    /// Get an own project opportunity
    ///
    /// Returns a project opportunity (a request for custom task work) that the team posted, in any status.
    #[get(
        "/project-opportunities/{opportunity_id}",
        RouteAttributes::read(
            Tool::Choice { tool: &GET_OWN_OPPORTUNITY_TOOL, value: "project", list: None },
            Contract::new(Target::OwnProjectOpportunity),
        ),
    )]
    async fn get_own_project_opportunity(
        call: Call<Buyer>,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
    ) -> JsonResult<OwnProjectOpportunity> {
        get_own_opportunity(call, opportunity_id.0, OpportunityKind::Project).await
    }

    /// List bids on a project opportunity
    ///
    /// Returns a page of the vendors' bids on a project opportunity that the team posted, newest first, each
    /// with its activity.
    #[get(
        "/project-opportunities/{opportunity_id}/bids",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Requests,
                    "list_project_bids",
                    "Bids on a project",
                    "Vendors' bids on one of the team's requests for custom task work.",
                )
                .with_ids("list_own_opportunities with `kind` project"),
                "items",
            ),
            Contract::new(Target::OwnProjectOpportunity).with_misspelled("limt=1", "limit"),
        ),
    )]
    async fn list_project_bids(
        call: Call<Buyer>,
        /// ID of the project opportunity.
        opportunity_id: Path<Uuid>,
        query: Params<SmallLimitOffset>,
    ) -> JsonResult<ReceivedBids> {
        let SmallLimitOffset { limit, offset } = query.0;
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (count, skipped) = (limit as usize, offset.cast_unsigned());
            let (bids, total) =
                opportunities::list_bids_on(reader, &call.access, opportunity_id.0, count, skipped)?;
            let items = bids.iter().map(ReceivedBid::from).collect();
            Ok(ReceivedBids { items, total, limit, offset })
        })
        .await
    }
}

/// Returns a page of the buyer's own opportunities of this kind.
async fn read_own_page<P>(
    call: Call<Buyer>,
    query: OwnOpportunitiesQuery,
    kind: OpportunityKind,
) -> JsonResult<P>
where
    P: OffsetPage<Item: for<'a> From<&'a Opportunity>>,
{
    let (SmallLimitOffset { limit, offset }, status) = (query.page, query.status);
    Json::read(&call.served, call.access.requester(), move |reader| {
        let (count, skipped) = (limit as usize, offset.cast_unsigned());
        let (found, total) =
            opportunities::list_owned(reader, &call.access, kind, status.as_deref(), count, skipped)?;
        Ok(P::new(found.iter().map(P::Item::from).collect(), total, limit, offset))
    })
    .await
}

/// Returns one of the buyer's own opportunities of this kind.
async fn get_own_opportunity<T>(call: Call<Buyer>, id: Uuid, kind: OpportunityKind) -> JsonResult<T>
where
    T: for<'a> From<&'a Opportunity> + Serialize,
{
    Json::read(&call.served, call.access.requester(), move |reader| {
        opportunities::find_own(reader.rows, &call.access, id, kind).map(|found| T::from(&found))
    })
    .await
}
