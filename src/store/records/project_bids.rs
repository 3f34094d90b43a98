//! Vendors' bids on project opportunities, with their buyers.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::opportunities::{Bid, BidStatus},
    error::Result,
    store::opportunities::{BID_COLUMNS, BID_SOURCES, read_bid},
    string_enum::StringEnum,
};

/// A bid on a project opportunity.
#[derive(Clone, Debug)]
pub struct ProjectBidRecord {
    /// The bid.
    pub bid: Bid,
    /// ID of the team that owns the project opportunity.
    pub buyer: Uuid,
}

/// What the list of bids can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct ProjectBidFilter {
    /// ID of the vendor team.
    pub team: Option<Uuid>,
    /// ID of the team that owns the project opportunity.
    pub buyer: Option<Uuid>,
    /// ID of the project opportunity.
    pub opportunity: Option<Uuid>,
    /// State of the bid.
    pub status: Option<BidStatus>,
}

/// The ID of the buyer comes last, since the columns of the bid are read by their positions.
fn columns() -> String {
    format!("{BID_COLUMNS}, (SELECT y.uuid FROM teams y WHERE y.id = o.owner) AS buyer")
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<ProjectBidRecord> {
    Ok(ProjectBidRecord { bid: read_bid(row)?, buyer: row.get("buyer")? })
}

impl Record for ProjectBidRecord {
    type Id = Uuid;
    type Filter = ProjectBidFilter;

    const NAME: &'static str = "project bid";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<ProjectBidRecord>> {
        let sql = format!("SELECT {} FROM {BID_SOURCES} WHERE b.uuid = ?1", columns());
        reader.query_first(&sql, [id], read)
    }

    fn page(
        reader: &Reader,
        filter: &ProjectBidFilter,
        request: PageRequest,
    ) -> Result<RowPage<ProjectBidRecord>> {
        PageQuery::new(&columns(), BID_SOURCES, "b.id")
            .refers_to("b.team", "teams", filter.team)
            .refers_to("o.owner", "teams", filter.buyer)
            .refers_to("b.opportunity", "opportunities", filter.opportunity)
            .filter("b.status = ?", filter.status.map(StringEnum::as_str))
            .fetch(reader, request, read)
    }
}
