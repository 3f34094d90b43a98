//! Data for the start page of a vendor: waiting tasks, and sums over its listings and sales. Each statement reads records of
//! one team only, and a bounded number of runs.

use uuid::Uuid;

use super::{
    Reader,
    row::{ColumnIndexes, FromColumns, FromRow},
    wallet::Balances,
};
use crate::{
    domain::{
        assets::Kind, listings::ReviewStatus, money::Cents, quality_runs::RunStatus, stages::Stage,
        teams::TeamRowId, time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// Number of the latest runs of a team in which failures are searched.
const MAX_RUNS: u32 = 1_000;

/// A listing that the platform has reviewed, and that its vendor has not continued with.
#[derive(Clone, Debug, FromRow)]
pub struct ReviewedListing {
    /// ID of the listing.
    pub id: Uuid,
    /// Title of the listing.
    pub title: String,
    /// The decision: changes were requested, or it was approved.
    pub status: ReviewStatus,
    /// Note of the reviewer.
    pub feedback: Option<String>,
    /// Time of the last change of the listing.
    pub at: Timestamp,
}

/// Returns listings whose review was decided, and that were never published, or need changes: the approved ones before the others,
/// and the latest ones first.
pub fn list_reviewed(reader: &Reader, vendor: TeamRowId, limit: usize) -> Result<Vec<ReviewedListing>> {
    const SQL: &str = "SELECT l.uuid AS id, l.title, l.review_status AS status, l.review_feedback AS feedback, l.updated_at AS at FROM listings l
         WHERE l.team = ?1 AND l.catalog_status = 'unpublished'
         AND (l.review_status = 'changes_requested' OR l.review_status = 'approved' AND l.published_at IS NULL)
         ORDER BY l.review_status, l.updated_at DESC, l.id DESC LIMIT ?2";
    reader.query_all(SQL, (vendor, limit as i64), ReviewedListing::from_row)
}

/// Number of a team's newest codebases, and of its newest raw data archives, that are searched for failures.
const MAX_LINKED: u32 = 1_000;

/// Returns the statement for columns of the newest codebases and raw data archives of team `?1`.
fn newest(columns: &str) -> String {
    let of_kind = |kind: Kind| {
        let kind = kind.as_str();
        format!(
            "SELECT * FROM (SELECT {columns} FROM inventory WHERE team = ?1 AND kind = '{kind}'
             ORDER BY created_at DESC, asset DESC LIMIT {MAX_LINKED})"
        )
    };
    [Kind::Codebase, Kind::RawData].map(of_kind).join(" UNION ALL ")
}

/// An asset whose linked data the market could not copy or read.
#[derive(Clone, Debug, FromRow)]
pub struct FailedCopy {
    /// ID of the asset.
    pub asset: Uuid,
    /// Title of the asset, or the name of its repository.
    pub title: String,
    /// Why the data could not be copied.
    pub archive_error: Option<String>,
    /// Why the data could not be read.
    pub analysis_error: Option<String>,
    /// Time at which the data was linked.
    pub attached_at: Timestamp,
}

/// Returns the assets of the vendor whose data could not be copied or read, among its newest [`MAX_LINKED`] ones of each kind with
/// linked data. The latest links first.
pub fn list_failed_copies(reader: &Reader, vendor: TeamRowId, limit: usize) -> Result<Vec<FailedCopy>> {
    let sql = format!(
        "SELECT a.uuid AS asset, coalesce(nullif(a.title, ''), d.repo_full_name, '') AS title, d.archive_error, d.analysis_error,
             d.attached_at
         FROM ({}) n CROSS JOIN data_objects d ON d.asset = n.asset CROSS JOIN assets a ON a.id = d.asset
         WHERE d.archive_status = 'failed' OR d.analysis_status = 'failed'
         ORDER BY d.attached_at DESC, d.asset DESC LIMIT ?2",
        newest("asset")
    );
    reader.query_all(&sql, (vendor, limit as i64), FailedCopy::from_row)
}

/// A complete asset on no listing.
#[derive(Clone, Debug)]
pub struct UnlistedAsset {
    /// ID of the asset.
    pub asset: Uuid,
    /// Title of the asset.
    pub title: String,
}

/// The latest run of an asset or a listing, which has not passed.
#[derive(Clone, Debug, FromRow)]
pub struct FailedRun {
    /// ID of the run.
    pub id: Uuid,
    /// ID of the asset or the listing.
    pub subject: Uuid,
    /// Whether it is a listing.
    pub is_listing: bool,
    /// Title of the asset or the listing.
    pub title: String,
    /// Status of the run: completed, or ended by an error.
    pub status: RunStatus,
    /// Number of required checks that did not pass.
    pub failed: u64,
    /// Label of the first one of them.
    #[row(name = "label")]
    pub check: Option<String>,
    /// Time of its end.
    pub at: Option<Timestamp>,
}

/// Returns the latest runs of assets and listings of the vendor in which a required check did not pass, or that ended by an error,
/// among its latest [`MAX_RUNS`] ones. The latest ones first.
pub fn list_failed_runs(reader: &Reader, vendor: TeamRowId, limit: usize) -> Result<Vec<FailedRun>> {
    let sql = format!(
        "WITH latest AS (
             SELECT max(id) AS id FROM (
                 SELECT id, listing, asset FROM quality_runs WHERE team = ?1 ORDER BY started_at DESC LIMIT {MAX_RUNS})
             GROUP BY listing, asset),
         failed AS (
             SELECT r.id, count(c.id) AS failed, min(c.id) AS first FROM latest t JOIN quality_runs r ON r.id = t.id
             LEFT JOIN quality_checks c ON c.run = r.id AND c.is_mandatory AND c.status <> 'passed'
             WHERE r.status IN ('completed', 'error') GROUP BY r.id)
         SELECT r.uuid AS id, coalesce(l.uuid, a.uuid) AS subject, r.listing IS NOT NULL AS is_listing,
             coalesce(l.title, a.title) AS title, r.status, f.failed, c.label, r.completed_at AS at
         FROM failed f JOIN quality_runs r ON r.id = f.id LEFT JOIN quality_checks c ON c.id = f.first
         LEFT JOIN listings l ON l.id = r.listing AND l.catalog_status <> 'archived'
         LEFT JOIN assets a ON a.id = r.asset AND a.deleted_at IS NULL
         WHERE (f.failed > 0 OR r.status = 'error') AND coalesce(l.id, a.id) IS NOT NULL
         ORDER BY r.id DESC LIMIT ?2"
    );
    reader.query_all(&sql, (vendor, limit as i64), FailedRun::from_row)
}

/// An offer that waits for the vendor's decision.
#[derive(Clone, Debug, FromRow)]
pub struct WaitingOffer {
    /// ID of the offer.
    pub id: Uuid,
    /// Title of the listing.
    pub title: String,
    /// Amount offered.
    pub amount: Cents,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which it expires.
    pub expires_at: Option<Timestamp>,
}

/// Returns the offers that wait for the vendor, those that expire first before the others.
pub fn list_waiting_offers(reader: &Reader, vendor: TeamRowId, limit: usize) -> Result<Vec<WaitingOffer>> {
    const SQL: &str =
        "SELECT o.uuid AS id, l.title, o.amount_cents AS amount, o.created_at, d.due_at AS expires_at
         FROM listings l JOIN offers o ON o.listing = l.id AND +o.status = 'submitted'
         LEFT JOIN due_steps d ON d.kind = 'offer_expires' AND d.subject = o.id
         WHERE l.team = ?1 ORDER BY d.due_at, o.id LIMIT ?2";
    reader.query_all(SQL, (vendor, limit as i64), WaitingOffer::from_row)
}

/// An accepted bid on a project, whose tasks the vendor has to deliver.
#[derive(Clone, Debug, FromRow)]
pub struct DueDelivery {
    /// ID of the bid.
    pub bid: Uuid,
    /// Title of the project.
    pub title: String,
    /// Number of tasks to deliver.
    pub num_tasks: u64,
    /// Time at which the bid was accepted.
    pub accepted_at: Timestamp,
    /// Number of days that the vendor expected to need; `None` if it did not say.
    pub days: Option<u32>,
}

/// Returns the accepted bids of the vendor that it has not delivered, the oldest ones first.
pub fn list_due_deliveries(reader: &Reader, vendor: TeamRowId, limit: usize) -> Result<Vec<DueDelivery>> {
    const SQL: &str = "SELECT b.uuid AS bid, o.title, b.num_tasks, b.updated_at AS accepted_at, b.expected_timeline_days AS days
         FROM project_bids b JOIN opportunities o ON o.id = b.opportunity
         WHERE b.team = ?1 AND +b.status = 'accepted' ORDER BY b.updated_at, b.id LIMIT ?2";
    reader.query_all(SQL, (vendor, limit as i64), DueDelivery::from_row)
}

/// An upload that the team began, and did not complete.
#[derive(Clone, Debug, FromRow)]
pub struct StalledUpload {
    /// ID of the upload.
    pub id: Uuid,
    /// Name of the file.
    pub file_name: String,
    /// Time of its beginning.
    pub created_at: Timestamp,
    /// Time at which its parts are deleted.
    pub expires_at: Timestamp,
}

/// Returns the uploads that the team itself began before a time and has not completed, the oldest ones first.
pub fn list_stalled_uploads(
    reader: &Reader,
    vendor: TeamRowId,
    (before, now): (Timestamp, Timestamp),
    limit: usize,
) -> Result<Vec<StalledUpload>> {
    const SQL: &str = "SELECT u.uuid AS id, u.file_name, u.created_at, u.expires_at FROM operator_uploads u
         WHERE team = ?1 AND kind IS NOT NULL AND created_at < ?2 AND +expires_at > ?3 ORDER BY u.id LIMIT ?4";
    reader.query_all(SQL, (vendor, before.0, now.0, limit as i64), StalledUpload::from_row)
}

/// A kind of asset that retires, and of which the vendor has assets.
#[derive(Clone, Debug, FromRow)]
pub struct RetiringKind {
    /// The kind.
    pub kind: Kind,
    /// Time at which it retires.
    pub at: Timestamp,
    /// What the platform advises.
    pub message: Option<String>,
    /// Number of the vendor's assets of the kind.
    pub assets: u64,
}

/// Returns the kinds that retire, and of which the vendor has assets.
pub fn list_retiring_kinds(reader: &Reader, vendor: TeamRowId) -> Result<Vec<RetiringKind>> {
    const SQL: &str = "SELECT t.slug AS kind, t.retires_at AS at, t.message, sum(c.assets) AS assets
         FROM asset_types t JOIN inventory_counts c ON c.team = ?1 AND c.kind = t.slug
         WHERE t.retires_at IS NOT NULL AND t.retired_at IS NULL
         GROUP BY t.slug HAVING sum(c.assets) > 0 ORDER BY t.retires_at, t.slug";
    reader.query_all(SQL, [vendor], RetiringKind::from_row)
}

/// Balances and numbers of a vendor.
#[derive(Clone, Debug, FromRow)]
pub struct VendorFigures {
    /// The balances of its wallet, which are the first columns.
    #[row(flatten)]
    pub balances: Balances,
    /// Number of its published listings.
    pub listed: u64,
    /// Sum of their prices.
    pub listed_value: Cents,
    /// Number of its assets that lack a required field.
    pub incomplete: u64,
    /// Whether it has stated how it is paid.
    pub has_payout_setup: bool,
    /// Number of its codebases and raw data that are complete and on no listing, among its newest [`MAX_LINKED`] of each kind.
    pub unlisted: u64,
    /// The newest one of them.
    #[row(with = read_newest_unlisted)]
    pub newest_unlisted: Option<UnlistedAsset>,
}

/// Returns the balances and numbers of a vendor.
pub fn find_figures(reader: &Reader, vendor: TeamRowId) -> Result<VendorFigures> {
    // The ID and the title come from the row with the maximum.
    let sql = format!(
        "SELECT w.credits_cents, w.earned_cents, w.pending_cents, w.available_cents, l.listed, l.value AS listed_value,
             u.number AS unlisted, u.uuid AS unlisted_id, u.title AS unlisted_title,
             (SELECT coalesce(sum(assets), 0) FROM inventory_counts WHERE team = ?1 AND stage = ?2) AS incomplete,
             t.payout_setup IS NOT NULL AS has_payout_setup
         FROM teams t JOIN wallets w ON w.team = t.id,
             (SELECT count(*) AS listed, coalesce(sum(price_cents), 0) AS value FROM listings
              WHERE team = ?1 AND catalog_status = 'published') l,
             (SELECT count(*) AS number, max(n.asset), a.uuid, a.title FROM ({}) n
              CROSS JOIN data_objects d ON d.asset = n.asset CROSS JOIN assets a ON a.id = n.asset
              WHERE n.stage = ?3 AND d.archive_status = 'completed' AND d.analysis_status = 'completed' AND NOT EXISTS (
                  SELECT 1 FROM listing_assets la JOIN listings l ON l.id = la.listing
                  WHERE la.asset = n.asset AND l.catalog_status <> 'archived')) u
         WHERE t.id = ?1",
        newest("asset, stage")
    );
    let parameters = (vendor, Stage::Incomplete as i64, Stage::Complete as i64);
    reader.query_one(&sql, parameters, VendorFigures::from_row)
}

fn read_newest_unlisted(row: &rusqlite::Row) -> rusqlite::Result<Option<UnlistedAsset>> {
    let (asset, title): (Option<Uuid>, Option<String>) =
        (row.get("unlisted_id")?, row.get("unlisted_title")?);
    Ok(asset.zip(title).map(|(asset, title)| UnlistedAsset { asset, title }))
}

/// Sales of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct SalesSum {
    /// Number of sales with a price.
    pub sales: u64,
    /// Number of free samples.
    pub free_samples: u64,
    /// Earnings after the platform's fees.
    pub earnings: Cents,
}

/// Returns the sales since two times, without those that were refunded.
pub fn sum_sales(
    reader: &Reader,
    vendor: TeamRowId,
    since: Timestamp,
    since_longer: Timestamp,
) -> Result<(SalesSum, SalesSum)> {
    const SQL: &str =
        "SELECT count(*) FILTER (WHERE p.price_cents > 0), count(*) FILTER (WHERE p.price_cents = 0),
             coalesce(sum(p.price_cents - p.platform_fee_cents), 0),
             count(*) FILTER (WHERE p.price_cents > 0 AND p.paid_at >= ?3),
             count(*) FILTER (WHERE p.price_cents = 0 AND p.paid_at >= ?3),
             coalesce(sum(p.price_cents - p.platform_fee_cents) FILTER (WHERE p.paid_at >= ?3), 0)
         FROM listings l JOIN purchases p ON p.listing = l.id AND p.status = 'completed'
         WHERE l.team = ?1 AND p.paid_at >= ?2";
    reader.query_one(SQL, (vendor, since_longer, since), |row| {
        let longer = SalesSum::from_row(row)?;
        Ok((SalesSum::from_columns(row, &mut ColumnIndexes(3))?, longer))
    })
}
