//! Numbers of what a team has and waits for, with one statement.

use uuid::Uuid;

use super::{Reader, row::FromRow};
use crate::{domain::time::Timestamp, error::Result};

/// Numbers about a team.
#[derive(Clone, Copy, Debug, Default, FromRow)]
pub struct TeamOverview {
    /// Listings that are not in the archive.
    pub listings: u64,
    /// Those of them that are in the catalog.
    pub published_listings: u64,
    /// Listings that are in the archive.
    pub archived_listings: u64,
    /// Assets.
    pub assets: u64,
    /// Purchases that it made.
    pub purchases: u64,
    /// Purchases by it, and of its listings, that wait for a payment.
    pub pending_purchases: u64,
    /// Purchases of credits that wait for a payment.
    pub pending_credit_purchases: u64,
    /// Withdrawals that wait to be paid.
    pub requested_withdrawals: u64,
    /// Offers that it made, and that wait for a decision.
    pub made_offers: u64,
    /// Offers on its listings that wait for its decision.
    pub received_offers: u64,
    /// Bids on project opportunities of others that wait for a decision.
    pub made_bids: u64,
    /// Bids on its project opportunities that wait for its decision.
    pub received_bids: u64,
    /// Opportunities, also for projects, that are drafts or published.
    pub opportunities: u64,
    /// Keys that are valid.
    pub keys: u64,
    /// Upload grants that can be used.
    pub grants: u64,
    /// Webhooks that are not disabled.
    pub webhooks: u64,
}

/// Returns the numbers of the team with this ID. All are 0 if the team does not exist.
pub fn find(reader: &Reader, team: Uuid, now: Timestamp) -> Result<TeamOverview> {
    const SQL: &str = "SELECT
         (SELECT count(*) FROM listings WHERE team = t.id AND catalog_status <> 'archived') AS listings,
         (SELECT count(*) FROM listings WHERE team = t.id AND catalog_status = 'published') AS published_listings,
         (SELECT count(*) FROM listings WHERE team = t.id AND catalog_status = 'archived') AS archived_listings,
         coalesce((SELECT assets FROM team_usage WHERE team = t.id), 0) AS assets,
         (SELECT count(*) FROM purchases WHERE buyer = t.id) AS purchases,
         (SELECT count(*) FROM (
             SELECT id FROM purchases WHERE buyer = t.id AND status = 'pending'
             UNION SELECT p.id FROM listings l JOIN purchases p ON p.listing = l.id AND p.status = 'pending'
             WHERE l.team = t.id)) AS pending_purchases,
         (SELECT count(*) FROM credit_purchases WHERE team = t.id AND status = 'pending')
             AS pending_credit_purchases,
         (SELECT count(*) FROM withdrawals WHERE team = t.id AND status = 'requested') AS requested_withdrawals,
         (SELECT count(*) FROM offers WHERE buyer = t.id AND status = 'submitted') AS made_offers,
         (SELECT count(*) FROM listings l JOIN offers o ON o.listing = l.id AND o.status = 'submitted'
             WHERE l.team = t.id) AS received_offers,
         (SELECT count(*) FROM project_bids WHERE team = t.id AND status = 'submitted') AS made_bids,
         (SELECT count(*) FROM opportunities o JOIN project_bids b ON b.opportunity = o.id AND b.status = 'submitted'
             WHERE o.owner = t.id) AS received_bids,
         (SELECT count(*) FROM opportunities WHERE owner = t.id AND status IN ('draft', 'published'))
             AS opportunities,
         (SELECT count(*) FROM keys WHERE team = t.id AND revoked_at IS NULL AND expired_at IS NULL
             AND (expires_at IS NULL OR expires_at > ?2)) AS keys,
         (SELECT count(*) FROM upload_grants WHERE team = t.id AND revoked_at IS NULL AND consumed_at IS NULL
             AND expired_at IS NULL AND expires_at > ?2) AS grants,
         (SELECT count(*) FROM webhooks WHERE team = t.id AND deleted_at IS NULL AND disabled_at IS NULL) AS webhooks
     FROM teams t WHERE t.uuid = ?1";
    let found = reader.query_first(SQL, (team, now), TeamOverview::from_row)?;
    Ok(found.unwrap_or_default())
}
