//! The queue of listings in review, and the earlier reviews and sales of a vendor. The rounds of a review are in `reviews`.

use uuid::Uuid;

use super::{
    Reader,
    records::pages::{Start, TeamPage, TeamPageRequest},
    row::{self, FromRow},
};
use crate::{
    domain::{
        assets::Kind, listings::ListingRowId, money::Cents, reviews::ReviewDecision, teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// Which listings of the queue are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueFilter {
    /// Only those of this vendor.
    pub vendor: Option<TeamRowId>,
    /// Only those with an asset of this kind.
    pub kind: Option<Kind>,
    /// Only listings in a later round than the first, or only listings in the first round.
    pub was_reviewed: Option<bool>,
}

impl QueueFilter {
    fn parameters(self) -> (Option<TeamRowId>, Option<&'static str>, Option<bool>) {
        (self.vendor, self.kind.map(StringEnum::as_str), self.was_reviewed)
    }
}

/// A listing in review.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct WaitingListing {
    /// Row ID of the listing.
    pub row_id: ListingRowId,
    /// ID of the listing.
    pub id: Uuid,
    /// Title of the listing.
    pub title: String,
    /// ID of the vendor.
    pub vendor: Uuid,
    /// Name of the vendor.
    pub vendor_name: String,
    /// Kinds of its assets.
    #[row(json)]
    pub kinds: Vec<Kind>,
    /// Number of its assets.
    pub asset_count: u64,
    /// Price; `None` without one.
    pub price: Option<Cents>,
    /// Time of the submission.
    pub submitted_at: Timestamp,
    /// Number of the round, from 1.
    pub round: u32,
}

/// The position of a listing in the queue: when it was submitted, and its row ID.
pub type Position = (Timestamp, ListingRowId);

/// The time at which a listing `l` was submitted last. Listings that were submitted before rounds were stored have none.
const SUBMITTED_AT: &str = "coalesce(
         (SELECT r.submitted_at FROM reviews r WHERE r.listing = l.id ORDER BY r.number DESC LIMIT 1),
         (SELECT max(h.occurred_at) FROM listing_history h WHERE h.listing = l.id AND h.event = 'submitted'),
         l.updated_at)";

/// The times at which the listings in review were submitted, as `at`.
pub(super) fn submission_times() -> String {
    format!("SELECT {SUBMITTED_AT} AS at FROM listings l WHERE l.review_status = 'in_review'")
}

/// The listings in review that the filter in the first three parameters allows.
fn queue() -> String {
    format!(
        "SELECT * FROM (
             SELECT l.id, l.uuid, l.title, l.team, l.price_cents, {SUBMITTED_AT} AS submitted_at,
                 coalesce((SELECT max(r.number) FROM reviews r WHERE r.listing = l.id), 1) AS round
             FROM listings l WHERE l.review_status = 'in_review' AND (?1 IS NULL OR l.team = ?1)) w
         WHERE (?2 IS NULL OR EXISTS (
                 SELECT 1 FROM listing_assets la JOIN assets a ON a.id = la.asset
                 WHERE la.listing = w.id AND a.kind = ?2))
             AND (?3 IS NULL OR (round > 1) = ?3)"
    )
}

/// Returns a page of the queue. The listing that has waited longest comes first.
pub fn list_page(
    reader: &Reader,
    filter: QueueFilter,
    request: TeamPageRequest,
) -> Result<TeamPage<WaitingListing>> {
    let start = match request.start {
        Start::Newest => (None, false),
        Start::Below(id) => (find_position(reader, ListingRowId(id))?, false),
        Start::Above(id) => (find_position(reader, ListingRowId(id))?, true),
    };
    let found = list_from(reader, filter, start, request.limit as usize + 1)?;
    let total = if request.counts { Some(count(reader, filter, None)?.0) } else { None };
    let found = found.into_iter().map(|listing| (listing.row_id.0, listing)).collect();
    Ok(TeamPage::new(found, request, total))
}

/// Returns the listings of the queue after a position in their order, or those before it in reverse order.
pub fn list_from(
    reader: &Reader,
    filter: QueueFilter,
    (start, is_backward): (Option<Position>, bool),
    limit: usize,
) -> Result<Vec<WaitingListing>> {
    let (order, comparison) = if is_backward { ("DESC", "<") } else { ("ASC", ">") };
    let sql = format!(
        "SELECT q.id AS row_id, q.uuid AS id, q.title, q.price_cents AS price, q.submitted_at, q.round, t.uuid AS vendor, t.name AS vendor_name,
             (SELECT count(*) FROM listing_assets la WHERE la.listing = q.id) AS asset_count,
             (SELECT json_group_array(kind) FROM (
                 SELECT DISTINCT a.kind FROM listing_assets la JOIN assets a ON a.id = la.asset
                 WHERE la.listing = q.id ORDER BY a.kind)) AS kinds
         FROM ({}) q JOIN teams t ON t.id = q.team
         WHERE ?4 IS NULL OR (q.submitted_at, q.id) {comparison} (?4, ?5)
         ORDER BY q.submitted_at {order}, q.id {order} LIMIT ?6",
        queue()
    );
    let ((vendor, kind, was_reviewed), (at, listing)) = (filter.parameters(), parts(start));
    let parameters = (vendor, kind, was_reviewed, at, listing, limit as i64);
    reader.query_all(&sql, parameters, WaitingListing::from_row)
}

fn parts(position: Option<Position>) -> (Option<i64>, Option<ListingRowId>) {
    (position.map(|(at, _)| at.0), position.map(|(_, listing)| listing))
}

/// Returns the position that a listing has in the queue, or had when it was submitted last; `None` if there is no such listing.
pub fn find_position(reader: &Reader, listing: ListingRowId) -> Result<Option<Position>> {
    let sql = format!("SELECT {SUBMITTED_AT} AS submitted_at FROM listings l WHERE l.id = ?1");
    reader.query_first(&sql, [listing], |row| Ok((row.get("submitted_at")?, listing)))
}

/// Returns the number of listings in the queue, and of those before a position.
pub fn count(reader: &Reader, filter: QueueFilter, position: Option<Position>) -> Result<(u64, u64)> {
    let sql = format!(
        "SELECT count(*), count(*) FILTER (WHERE (q.submitted_at, q.id) < (?4, ?5)) FROM ({}) q",
        queue()
    );
    let ((vendor, kind, was_reviewed), (at, listing)) = (filter.parameters(), parts(position));
    reader.query_one(&sql, (vendor, kind, was_reviewed, at, listing), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The earlier reviews and sales of a vendor.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct VendorHistory {
    /// ID of the vendor.
    pub id: Uuid,
    /// Name of the vendor.
    pub name: String,
    /// Tier of the vendor.
    pub tier: u8,
    /// Time at which the team was created.
    pub created_at: Timestamp,
    /// Number of its listings in the catalog.
    pub published: u64,
    /// How often a listing was approved.
    pub approved: u64,
    /// How often changes of a listing were requested.
    pub sent_back: u64,
    /// How often a listing was rejected.
    pub rejected: u64,
    /// Number of its sales that were paid, also those that were refunded later.
    pub sales: u64,
    /// Number of its sales that were refunded.
    pub refunds: u64,
}

/// Returns the earlier reviews and sales of a vendor.
pub fn find_vendor(reader: &Reader, team: TeamRowId) -> Result<VendorHistory> {
    const SQL: &str = "WITH decided AS (
             SELECT h.event, count(*) AS times
             FROM listings l CROSS JOIN listing_history h ON h.listing = l.id
             WHERE l.team = ?1 AND h.event IN ('approved', 'changes_requested', 'rejected') GROUP BY h.event),
         sold AS (
             SELECT p.status, count(*) AS times
             FROM listings l CROSS JOIN purchases p ON p.listing = l.id AND p.status IN ('completed', 'refunded')
             WHERE l.team = ?1 GROUP BY p.status)
         SELECT t.uuid AS id, t.name, t.tier, t.created_at,
             (SELECT count(*) FROM listings WHERE team = ?1 AND catalog_status = 'published') AS published,
             coalesce((SELECT times FROM decided WHERE event = 'approved'), 0) AS approved,
             coalesce((SELECT times FROM decided WHERE event = 'changes_requested'), 0) AS sent_back,
             coalesce((SELECT times FROM decided WHERE event = 'rejected'), 0) AS rejected,
             coalesce((SELECT sum(times) FROM sold), 0) AS sales,
             coalesce((SELECT times FROM sold WHERE status = 'refunded'), 0) AS refunds
         FROM teams t WHERE t.id = ?1";
    reader.query_one(SQL, [team], VendorHistory::from_row)
}

/// A decision of an operator about a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decider {
    /// The decision.
    pub decision: ReviewDecision,
    /// Time of the decision.
    pub at: Timestamp,
    /// Name of the key with which it was made.
    pub key_name: String,
}

/// Names of the operations that decide on a review, as the audit has them.
const OPERATIONS: [(&str, ReviewDecision); 3] = [
    ("approve_listing", ReviewDecision::Approved),
    ("request_listing_changes", ReviewDecision::ChangesRequested),
    ("reject_listing", ReviewDecision::Rejected),
];

/// Returns which keys decided on a listing, as the audit has it, newest first.
pub fn list_deciders(reader: &Reader, listing: Uuid, limit: u32) -> Result<Vec<Decider>> {
    const SQL: &str = "SELECT a.operation, a.occurred_at, k.name FROM audit a JOIN keys k ON k.id = a.key
         WHERE a.subject_id = ?1 AND a.subject_kind = 'listing'
             AND +a.operation IN (SELECT value FROM json_each(?2)) ORDER BY a.id DESC LIMIT ?3";
    let names = OPERATIONS.map(|(name, _)| name);
    let found = reader.query_all(SQL, (listing.to_string(), row::to_json(&names)?, limit), |row| {
        let operation: String = row.get("operation")?;
        let decision = OPERATIONS.iter().find(|(name, _)| *name == operation).map(|(_, decision)| *decision);
        Ok((decision, row.get("occurred_at")?, row.get("name")?))
    })?;
    let decider = |(decision, at, key_name)| Some(Decider { decision: decision?, at, key_name });
    Ok(found.into_iter().filter_map(decider).collect())
}
