//! Queries for opportunities and project bids.

use std::collections::HashMap;

use rusqlite::ToSql;
use uuid::Uuid;

use crate::{
    domain::{
        opportunities::{Bid, BidStatus, Opportunity, OpportunityKind, OpportunityStatus},
        row_ids::{OpportunityRowId, ProjectBidRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{NameList, Result, name_of},
    store::{
        Reader,
        row::{self, FromRow},
    },
};

/// Columns of an opportunity, of [`SOURCES`]. [`read_opportunity`] reads them.
const COLUMNS: &str = "o.id, o.uuid, o.kind, o.owner, t.uuid, t.name, t.avatar_url, o.title, o.description,
    o.status, o.accepted_asset_types, o.metadata, o.visibility_mode, o.created_at, o.updated_at, o.deadline, o.closed_at,
    o.evaluation_date,
    (SELECT json_group_array(lower(hex(x.uuid))) FROM opportunity_exclusions e JOIN teams x ON x.id = e.team
     WHERE e.opportunity = o.id)";

/// The tables of opportunities, with their owners.
pub(in crate::store) const SOURCES: &str = "opportunities o JOIN teams t ON t.id = o.owner";

/// Reads an opportunity from the first columns of a row.
fn read_opportunity(row: &rusqlite::Row) -> rusqlite::Result<Opportunity> {
    let mut columns = row::ColumnIndexes::default();
    // Struct fields are evaluated in source order, which must match the order of the columns.
    Ok(Opportunity {
        row_id: row.get(columns.next())?,
        id: row.get(columns.next())?,
        kind: row.get(columns.next())?,
        owner_row_id: row.get(columns.next())?,
        owner_id: row.get(columns.next())?,
        owner_name: row.get(columns.next())?,
        owner_avatar_url: row.get(columns.next())?,
        title: row.get(columns.next())?,
        description: row.get(columns.next())?,
        status: row.get(columns.next())?,
        accepted_asset_types: row::json(row, columns.next())?,
        metadata: row::json(row, columns.next())?,
        visibility: row.get(columns.next())?,
        created_at: row.get(columns.next())?,
        updated_at: row.get(columns.next())?,
        deadline: row.get(columns.next())?,
        closed_at: row.get(columns.next())?,
        evaluation_date: row.get(columns.next())?,
        excluded: row::json::<Vec<Uuid>>(row, columns.next())?,
    })
}

/// Returns the opportunities for listings that are open at `now`, newest first. Does not check visibility.
pub fn list_open(reader: &Reader, now: Timestamp) -> Result<Vec<Opportunity>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {SOURCES}
         WHERE o.kind = ?1 AND o.status = ?2 AND (o.deadline IS NULL OR o.deadline > ?3)
         ORDER BY o.created_at DESC, o.id DESC"
    );
    let (kind, status) = (OpportunityKind::Listing, OpportunityStatus::Published);
    reader.query_all(&sql, (kind, status, now), read_opportunity)
}

/// Returns the opportunity with this ID, if it is of this kind.
pub fn find(reader: &Reader, id: Uuid, kind: OpportunityKind) -> Result<Option<Opportunity>> {
    let sql = format!("SELECT {COLUMNS} FROM {SOURCES} WHERE o.uuid = ?1 AND o.kind = ?2");
    reader.query_first(&sql, (id, kind), read_opportunity)
}

/// Returns the opportunity with this row ID.
pub fn find_by_row_id(reader: &Reader, row_id: OpportunityRowId) -> Result<Option<Opportunity>> {
    let sql = format!("SELECT {COLUMNS} FROM {SOURCES} WHERE o.id = ?1");
    reader.query_first(&sql, [row_id], read_opportunity)
}

/// Returns the number of a team's opportunities of both kinds that are drafts or published.
pub fn count_unfinished(reader: &Reader, owner: TeamRowId) -> Result<u64> {
    const SQL: &str =
        "SELECT count(*) FROM opportunities WHERE owner = ?1 AND status IN ('draft', 'published')";
    reader.query_one(SQL, [owner], |row| row.get(0))
}

/// Returns a team's opportunities of both kinds that are drafts or published, oldest first.
pub fn list_unfinished(reader: &Reader, owner: TeamRowId) -> Result<Vec<Opportunity>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {SOURCES}
         WHERE o.owner = ?1 AND o.status IN ('draft', 'published') ORDER BY o.id"
    );
    reader.query_all(&sql, [owner], read_opportunity)
}

/// Whether the team has a bid on the opportunity or a notification of it.
pub fn concerns_team(reader: &Reader, opportunity: OpportunityRowId, team: TeamRowId) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM project_bids WHERE opportunity = ?1 AND team = ?2)
         OR EXISTS (SELECT 1 FROM notifications WHERE opportunity = ?1 AND team = ?2)
         OR EXISTS (SELECT 1 FROM notifications WHERE project_opportunity = ?1 AND team = ?2)";
    reader.query_one(SQL, (opportunity, team), |row| row.get(0))
}

/// Returns a page of a buyer's opportunities of one kind, newest first, and their total number. An unknown
/// status matches nothing.
pub fn list_by_owner(
    reader: &Reader,
    owner: TeamRowId,
    kind: OpportunityKind,
    status: Option<&str>,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Opportunity>, u64)> {
    const WHERE: &str = "o.owner = ?1 AND o.kind = ?2 AND (?3 IS NULL OR o.status = ?3)";
    let page = format!(
        "SELECT {COLUMNS} FROM {SOURCES} WHERE {WHERE}
         ORDER BY o.created_at DESC, o.id DESC LIMIT ?4 OFFSET ?5"
    );
    let count = format!("SELECT count(*) FROM opportunities o WHERE {WHERE}");
    let items =
        reader.query_all(&page, (owner, kind, status, limit as i64, offset as i64), read_opportunity)?;
    Ok((items, reader.query_one(&count, (owner, kind, status), |row| row.get(0))?))
}

/// Columns of a bid, of [`BID_SOURCES`]. [`read_bid`] reads them.
const BID_COLUMNS: &str =
    "b.id, b.uuid, o.uuid, b.team, t.uuid, b.num_tasks, b.status, b.created_at, b.updated_at, b.attachments,
    b.completed_at, b.expected_timeline_days, b.platform_events, b.vendor_events,
    (SELECT json_group_array(json_array(lower(hex(s.uuid)), s.name))
     FROM json_each(b.delivery_tasksets) j JOIN tasksets s ON s.id = j.value)";

/// The tables of bids, with their opportunities and vendors.
pub(in crate::store) const BID_SOURCES: &str =
    "project_bids b JOIN opportunities o ON o.id = b.opportunity JOIN teams t ON t.id = b.team";

/// Reads a bid from the first columns of a row.
fn read_bid(row: &rusqlite::Row) -> rusqlite::Result<Bid> {
    let mut columns = row::ColumnIndexes::default();
    // Struct fields are evaluated in source order, which must match the order of the columns.
    Ok(Bid {
        row_id: row.get(columns.next())?,
        id: row.get(columns.next())?,
        opportunity_id: row.get(columns.next())?,
        team_row_id: row.get(columns.next())?,
        team_id: row.get(columns.next())?,
        num_tasks: row.get(columns.next())?,
        status: row.get::<_, BidStatus>(columns.next())?,
        created_at: row.get(columns.next())?,
        updated_at: row.get(columns.next())?,
        attachments: row::json(row, columns.next())?,
        completed_at: row.get(columns.next())?,
        expected_timeline_days: row.get(columns.next())?,
        platform_events: row::json(row, columns.next())?,
        vendor_events: row::json(row, columns.next())?,
        delivery_tasksets: row::json::<Vec<(Uuid, String)>>(row, columns.next())?,
    })
}

/// Returns the bid with this ID.
pub fn find_bid(reader: &Reader, id: Uuid) -> Result<Option<Bid>> {
    let sql = format!("SELECT {BID_COLUMNS} FROM {BID_SOURCES} WHERE b.uuid = ?1");
    reader.query_first(&sql, [id], read_bid)
}

/// Returns the IDs and names of the vendors that an opportunity excludes, and of those that made these bids on it.
pub fn vendor_names(
    reader: &Reader,
    opportunity: OpportunityRowId,
    bids: &[ProjectBidRowId],
) -> Result<HashMap<Uuid, String>> {
    const SQL: &str = "SELECT uuid, name FROM teams
         WHERE id IN (SELECT team FROM project_bids
                      WHERE opportunity = ?1 AND id IN (SELECT value FROM json_each(?2)))
             OR (is_vendor AND id IN (SELECT team FROM opportunity_exclusions WHERE opportunity = ?1))";
    let found =
        reader.query_all(SQL, (opportunity, row::to_json(bids)?), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.into_iter().collect())
}

/// Returns the ID of the team's bid on the opportunity that was neither declined nor withdrawn.
pub fn find_bid_in_effect(
    reader: &Reader,
    opportunity: OpportunityRowId,
    team: TeamRowId,
) -> Result<Option<Uuid>> {
    const SQL: &str = "SELECT uuid FROM project_bids
         WHERE opportunity = ?1 AND team = ?2 AND status NOT IN ('declined', 'withdrawn') LIMIT 1";
    reader.query_first(SQL, (opportunity, team), |row| row.get(0))
}

/// Names the bids of a team that were accepted and not delivered yet, oldest first: the titles of the
/// opportunities, and the IDs of the bids.
pub fn name_owed_bids(reader: &Reader, team: TeamRowId) -> Result<NameList> {
    const SQL: &str =
        "SELECT o.title, b.uuid FROM project_bids b JOIN opportunities o ON o.id = b.opportunity
         WHERE b.team = ?1 AND b.status = 'accepted' ORDER BY b.id";
    name_bids(reader, SQL, team)
}

/// Names the bids on the project opportunities of a team whose deliveries it has not accepted yet, oldest first.
pub fn name_delivered_bids(reader: &Reader, owner: TeamRowId) -> Result<NameList> {
    const SQL: &str =
        "SELECT o.title, b.uuid FROM opportunities o JOIN project_bids b ON b.opportunity = o.id
         WHERE o.owner = ?1 AND b.status = 'delivered' ORDER BY b.id";
    name_bids(reader, SQL, owner)
}

/// A bid that prevents closing a team.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct BlockingBid {
    /// ID of the bid.
    pub id: Uuid,
    /// Title of the project.
    pub title: String,
    /// Whether the team owes the delivery. Otherwise, it has not yet accepted another team's delivery.
    pub is_owed: bool,
}

/// Returns the bids that [`name_owed_bids`] and [`name_delivered_bids`] name, in this order.
pub fn list_blocking_bids(reader: &Reader, team: TeamRowId, limit: u32) -> Result<Vec<BlockingBid>> {
    const SQL: &str = "SELECT uuid, title, is_owed FROM (
             SELECT b.id, b.uuid, o.title, 1 AS is_owed FROM project_bids b JOIN opportunities o ON o.id = b.opportunity
             WHERE b.team = ?1 AND b.status = 'accepted'
             UNION ALL
             SELECT b.id, b.uuid, o.title, 0 AS is_owed FROM opportunities o JOIN project_bids b ON b.opportunity = o.id
             WHERE o.owner = ?1 AND b.status = 'delivered')
         ORDER BY is_owed DESC, id LIMIT ?2";
    reader.query_all(SQL, (team, limit), BlockingBid::from_row)
}

fn name_bids(reader: &Reader, sql: &str, team: TeamRowId) -> Result<NameList> {
    let mut named = NameList::default();
    reader.for_each_row(sql, [team], |row| {
        let (title, id): (String, Uuid) = (row.get(0)?, row.get(1)?);
        named.add(|| name_of(&title, id));
        Ok(())
    })?;
    Ok(named)
}

/// Returns the IDs of a team's bids that are submitted, oldest first.
pub fn list_submitted_bids(reader: &Reader, team: TeamRowId) -> Result<Vec<Uuid>> {
    const SQL: &str = "SELECT uuid FROM project_bids WHERE team = ?1 AND status = 'submitted' ORDER BY id";
    reader.query_all(SQL, [team], |row| row.get(0))
}

/// Returns the IDs of the submitted bids on the project opportunities of a team, oldest first.
pub fn list_undecided_bids(reader: &Reader, owner: TeamRowId) -> Result<Vec<Uuid>> {
    const SQL: &str = "SELECT b.uuid FROM opportunities o JOIN project_bids b ON b.opportunity = o.id
         WHERE o.owner = ?1 AND b.status = 'submitted' ORDER BY b.id";
    reader.query_all(SQL, [owner], |row| row.get(0))
}

/// Returns a page of a vendor's project bids, newest first, and their total number.
pub fn list_bids_by_team(
    reader: &Reader,
    team: TeamRowId,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Bid>, u64)> {
    list_bids(reader, "b.team = ?1", team, limit, offset)
}

/// Returns a page of the bids on a project opportunity, newest first, and their total number.
pub fn list_bids_on_opportunity(
    reader: &Reader,
    opportunity: OpportunityRowId,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Bid>, u64)> {
    list_bids(reader, "b.opportunity = ?1", opportunity, limit, offset)
}

fn list_bids(
    reader: &Reader,
    condition: &str,
    row_id: impl ToSql + Copy,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Bid>, u64)> {
    let page = format!(
        "SELECT {BID_COLUMNS} FROM {BID_SOURCES} WHERE {condition}
         ORDER BY b.created_at DESC, b.id DESC LIMIT ?2 OFFSET ?3"
    );
    let count = format!("SELECT count(*) FROM project_bids b WHERE {condition}");
    let items = reader.query_all(&page, (row_id, limit as i64, offset as i64), read_bid)?;
    Ok((items, reader.query_one(&count, [row_id], |row| row.get(0))?))
}
