//! Listings, as operators see them.

use super::{
    Filter::{Equals, HasValue, RefersTo},
    Records,
};

/// Listings. Their first 100 assets are shown, in the order in which they were attached; a list of assets with a filter has all.
pub const LISTINGS: Records = Records {
    name: "listing",
    columns: &[
        "l.uuid AS id, (SELECT t.uuid FROM teams t WHERE t.id = l.team) AS team_id, l.title, l.description,
         l.domain_tags, l.tag_slugs, l.price_cents AS price, l.sample_price_cents AS sample_price,
         coalesce(l.sample, '[]') AS sample, 'USD' AS currency, l.accepts_bids, l.exclusive, l.terms,
         iif(l.delivery_days IS NULL, NULL, l.delivery_method) AS delivery_method,
          iif(l.delivery_method IS NULL, NULL, l.delivery_days) AS delivery_days, l.available_from, l.review_status, l.catalog_status,",
        STAGE,
        "AS stage, l.featured, l.certified_at, l.review_feedback,
         (SELECT r.uuid FROM quality_runs r WHERE r.listing = l.id ORDER BY r.run_number DESC LIMIT 1)
             AS latest_quality_run_id,
         (SELECT count(*) FROM listing_assets la WHERE la.listing = l.id) AS asset_count,
         (SELECT json_group_array(hex(uuid)) FROM (
             SELECT a.uuid FROM listing_assets la JOIN assets a ON a.id = la.asset
             WHERE la.listing = l.id ORDER BY la.position LIMIT 100)) AS asset_ids,
         (SELECT count(*) FROM offers o WHERE o.listing = l.id AND o.status = 'submitted') AS submitted_offer_count,
         l.created_at, l.updated_at, l.published_at, l.archived_at",
    ],
    tables: &["listings l"],
    row_id: "l.id",
    id: "l.uuid",
    condition: None,
    filters: &[
        ("team_id", RefersTo("l.team", "teams")),
        ("title", Equals("l.title")),
        ("exclusive", Equals("l.exclusive")),
        ("featured", HasValue("l.featured")),
        ("certified", Equals("(l.certified_at IS NOT NULL)")),
        ("review_status", Equals("l.review_status")),
        ("catalog_status", Equals("l.catalog_status")),
        ("stage", Equals(STAGE)),
    ],
};

/// The stage of a listing, as [`ListingStatus::stage`] derives it. The expression has an index.
///
/// [`ListingStatus::stage`]: crate::domain::listings::ListingStatus::stage
const STAGE: &str = "CASE WHEN l.catalog_status = 'published' THEN 'active'
    WHEN l.catalog_status = 'archived' THEN 'archived' WHEN l.review_status = 'in_review' THEN 'review'
    WHEN l.review_status = 'approved' THEN 'ready' ELSE 'draft' END";

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::{
        domain::listings::{CatalogStatus, ListingStatus, ReviewStatus},
        string_enum::StringEnum,
    };

    #[test]
    fn stage_of_a_listing_is_that_of_the_domain() {
        let connection = Connection::open_in_memory().unwrap();
        for review in ReviewStatus::ALL.iter().copied() {
            for catalog in CatalogStatus::ALL.iter().copied() {
                let status = ListingStatus { review, catalog };
                let sql = format!("SELECT {STAGE} FROM (SELECT ?1 AS review_status, ?2 AS catalog_status) l");
                let statuses = (review.as_str(), catalog.as_str());
                let stage: String = connection.query_row(&sql, statuses, |row| row.get(0)).unwrap();
                assert_eq!(stage, status.stage().as_str(), "{status:?}");
            }
        }
    }
}
