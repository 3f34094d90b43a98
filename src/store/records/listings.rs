//! Listings, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{
        listings::{CatalogStatus, LifecycleStage, ReviewStatus},
        time::Timestamp,
    },
    error::Result,
    store::{
        listings::{self, ListingFields, ListingRow},
        row,
    },
    string_enum::StringEnum,
};

/// Maximum number of asset IDs with a listing. A list of assets with a filter has all of them.
pub const MAX_ASSET_IDS: usize = 100;

/// A listing of any team.
#[derive(Clone, Debug)]
pub struct ListingRecord {
    /// What decides what can be done with the listing.
    pub row: ListingRow,
    /// What its vendor edits.
    pub fields: ListingFields,
    /// ID of the vendor.
    pub team: Uuid,
    /// What the platform told the vendor when it last decided; `None` if nothing, or once the listing is approved.
    pub review_feedback: Option<String>,
    /// IDs of the first assets, in the order in which they were attached.
    pub asset_ids: Vec<Uuid>,
    /// Number of assets.
    pub asset_count: u64,
    /// ID of the latest quality run of the listing; `None` if it has had none.
    pub latest_quality_run: Option<Uuid>,
    /// Number of offers that wait for the vendor.
    pub submitted_offers: u64,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the latest change.
    pub updated_at: Timestamp,
    /// Time at which the listing was last published; `None` if it never was.
    pub published_at: Option<Timestamp>,
    /// Time at which the listing was archived; `None` unless archived.
    pub archived_at: Option<Timestamp>,
}

/// What the list of listings can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct ListingFilter {
    /// ID of the vendor.
    pub team: Option<Uuid>,
    /// Title, as it is.
    pub title: Option<String>,
    /// Review status.
    pub review_status: Option<ReviewStatus>,
    /// Catalog status.
    pub catalog_status: Option<CatalogStatus>,
    /// Lifecycle stage.
    pub stage: Option<LifecycleStage>,
    /// Whether the listing is sold once, exclusively.
    pub is_exclusive: Option<bool>,
    /// Whether the listing has a place among the featured listings.
    pub is_featured: Option<bool>,
    /// Whether the listing is certified.
    pub is_certified: Option<bool>,
}

fn columns() -> String {
    format!(
        "{}, l.domain_tags, l.tag_slugs, l.terms, l.delivery_method, l.delivery_days, l.available_from, l.sample,
         l.review_feedback, l.created_at, l.updated_at, l.published_at, l.archived_at,
         (SELECT t.uuid FROM teams t WHERE t.id = l.team) AS team_uuid,
         (SELECT count(*) FROM listing_assets la WHERE la.listing = l.id) AS asset_count,
         (SELECT json_group_array(hex(uuid)) FROM (
             SELECT a.uuid FROM listing_assets la JOIN assets a ON a.id = la.asset
             WHERE la.listing = l.id ORDER BY la.position LIMIT {MAX_ASSET_IDS})) AS asset_ids,
         (SELECT r.uuid FROM quality_runs r WHERE r.listing = l.id ORDER BY r.run_number DESC LIMIT 1) AS latest_run,
         (SELECT count(*) FROM offers o WHERE o.listing = l.id AND o.status = 'submitted') AS submitted_offers",
        listings::COLUMNS
    )
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<ListingRecord> {
    Ok(ListingRecord {
        row: listings::read_row(row)?,
        fields: listings::read_fields(row)?,
        team: row.get("team_uuid")?,
        review_feedback: row.get("review_feedback")?,
        asset_ids: row::json(row, "asset_ids")?,
        asset_count: row.get("asset_count")?,
        latest_quality_run: row.get("latest_run")?,
        submitted_offers: row.get("submitted_offers")?,
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
        published_at: row::optional_time(row, "published_at")?,
        archived_at: row::optional_time(row, "archived_at")?,
    })
}

impl Record for ListingRecord {
    type Id = Uuid;
    type Filter = ListingFilter;

    const NAME: &'static str = "listing";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<ListingRecord>> {
        reader.query_first(&format!("SELECT {} FROM listings l WHERE l.uuid = ?1", columns()), [id], read)
    }

    fn page(reader: &Reader, filter: &ListingFilter, request: PageRequest) -> Result<RowPage<ListingRecord>> {
        let columns = columns();
        PageQuery::new(&columns, "listings l", "l.id")
            .refers_to("l.team", "teams", filter.team)
            .filter("l.title = ?", filter.title.as_deref())
            .filter("l.exclusive = ?", filter.is_exclusive)
            .when(filter.is_featured == Some(true), "l.featured IS NOT NULL")
            .when(filter.is_featured == Some(false), "l.featured IS NULL")
            .filter("(l.certified_at IS NOT NULL) = ?", filter.is_certified)
            .filter("l.review_status = ?", filter.review_status.map(StringEnum::as_str))
            .filter("l.catalog_status = ?", filter.catalog_status.map(StringEnum::as_str))
            .filter(&format!("{STAGE} = ?"), filter.stage.map(StringEnum::as_str))
            .fetch(reader, request, read)
    }
}

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
    use crate::domain::listings::ListingStatus;

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
