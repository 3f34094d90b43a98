//! Requests of buyers that a vendor can answer: open opportunities of both kinds. They do not belong to the vendor, so this
//! list is limited by visibility instead of by team.

use uuid::Uuid;

use super::{Filter, FromRow, PageQuery, Reader};
use crate::{
    domain::{
        assets::Kind,
        opportunities::{BidStatus, OpportunityKind, OpportunityMetadata},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    store::records::{
        Filters,
        pages::{TeamPage, TeamPageRequest},
    },
};

/// An open request, as a vendor sees it in a list.
#[derive(Clone, Debug, FromRow)]
pub struct OpenRequest {
    /// ID of the opportunity.
    pub id: Uuid,
    /// Whether listings or a project are wanted.
    pub kind: OpportunityKind,
    /// Title.
    pub title: String,
    /// Name of the team that published it.
    pub owner_name: String,
    /// Kinds of assets that are accepted; empty if all are.
    #[row(json)]
    pub accepted_asset_types: Vec<Kind>,
    /// Budget, tags, and overview.
    #[row(json)]
    pub metadata: OpportunityMetadata,
    /// Time of publication.
    pub published_at: Timestamp,
    /// Until when vendors can answer; `None` if there is no end.
    pub deadline: Option<Timestamp>,
    /// Status of the team's latest bid on it; `None` if there is none.
    pub own_bid: Option<BidStatus>,
}

/// When a request was published. Rows of earlier versions may lack this time.
const PUBLISHED_AT: &str = "coalesce(o.published_at, o.created_at)";

/// The columns, after those with the parameter ?1, which is the row ID of the team.
const COLUMNS: &str = "o.uuid AS id, o.kind, o.title, t.name AS owner_name, o.accepted_asset_types, o.metadata, o.deadline,
    (SELECT b.status FROM project_bids b WHERE b.opportunity = o.id AND b.team = ?1 ORDER BY b.id DESC LIMIT 1) AS own_bid";

/// The filters of a list: a part of the texts that the API searches, an accepted kind, an amount in US cents that the budget
/// begins at or below, and whether the budget is for each task or in total.
const FILTERS: &[(&str, Filter)] = &[
    ("kind", Filter::Equals("o.kind")),
    (
        "text",
        Filter::Contains(
            "o.title || ' ' || coalesce(json_extract(o.metadata, '$.overview'), '') || ' '
                 || coalesce((SELECT group_concat(value, ' ') FROM json_each(o.metadata, '$.tags')), '') || ' ' || t.name",
        ),
    ),
    (
        "asset_type",
        Filter::Matches("EXISTS (SELECT 1 FROM json_each(o.accepted_asset_types) j WHERE j.value = ?)"),
    ),
    ("max_budget", Filter::Matches("round(json_extract(o.metadata, '$.budget_min') * 100) <= ?")),
    ("budget_unit", Filter::Equals("json_extract(o.metadata, '$.budget_unit')")),
];

/// Returns a page of the requests that are open now and do not exclude the team, newest first.
pub fn page(
    reader: &Reader,
    team: TeamRowId,
    now: Timestamp,
    filters: &Filters,
    request: TeamPageRequest,
) -> Result<TeamPage<OpenRequest>> {
    filters.check_known(FILTERS)?;
    let tables = "opportunities o JOIN teams t ON t.id = o.owner";
    // The first condition has the row ID of the team, which the columns use, too, as parameter ?1.
    let is_visible = "(o.visibility_mode = 'all_vendors' OR NOT EXISTS (
         SELECT 1 FROM opportunity_exclusions x WHERE x.opportunity = o.id AND x.team = ?))";
    let columns = [COLUMNS, ",", PUBLISHED_AT, "AS published_at"];
    let query = PageQuery::new((&columns, &[tables]), "o.id", None, now)
        .sorted_by(Some(PUBLISHED_AT))
        .filter(is_visible, team)
        .when("o.kind IN ('listing', 'project') AND o.status = 'published'")
        .filter("(o.deadline IS NULL OR o.deadline > ?)", now.0);
    filters.apply(reader, query, FILTERS)?.fetch_from(reader, request)
}
