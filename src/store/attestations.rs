//! What the market has signed about deliveries, and the facts that it signs.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        attestations::{AttestedCheck, AttestedRun, DeliveredAsset, DeliveredListing},
        listings::ListingRowId,
        purchases::AssetScope,
        row_ids::{BundleRowId, PurchaseRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// An attestation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attestation {
    /// The envelope as it is delivered.
    pub envelope: Vec<u8>,
    /// SHA-256 digest of the statement in hexadecimal.
    pub statement_sha256: String,
    /// The salt of the buyer's digest.
    pub salt: [u8; 32],
    /// Whether the statement says that the listing was certified.
    pub is_certified: bool,
    /// Time at which it was made.
    pub created_at: Timestamp,
}

const COLUMNS: &str = "t.envelope, t.statement_sha256, t.salt, t.is_certified, t.created_at";

fn read(row: &rusqlite::Row) -> rusqlite::Result<Attestation> {
    Ok(Attestation {
        envelope: row.get(0)?,
        statement_sha256: row.get(1)?,
        salt: row.get(2)?,
        is_certified: row.get(3)?,
        created_at: row::time(row, 4)?,
    })
}

/// Inserts the attestation of a purchase.
pub fn insert(writer: &Writer, purchase: PurchaseRowId, attestation: &Attestation) -> Result<()> {
    const SQL: &str =
        "INSERT INTO attestations (purchase, envelope, statement_sha256, salt, is_certified, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let Attestation { envelope, statement_sha256, salt, is_certified, created_at } = attestation;
    writer.execute(SQL, (purchase, envelope, statement_sha256, salt, is_certified, created_at.0))?;
    Ok(())
}

/// Returns the attestation of a purchase; `None` if there is none.
pub fn find(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<Attestation>> {
    let sql = format!("SELECT {COLUMNS} FROM attestations t WHERE t.purchase = ?1");
    reader.query_first(&sql, [purchase], read)
}

/// An attestation with what has happened since.
#[derive(Clone, Debug)]
pub struct AttestationState {
    /// The attestation.
    pub attestation: Attestation,
    /// Time of the refund of the purchase; `None` unless it was refunded.
    pub refunded_at: Option<Timestamp>,
    /// Time of the first end of a certification of the listing since the attestation.
    pub revoked_at: Option<Timestamp>,
}

/// Returns the attestation of a buyer with this digest of its statement.
pub fn find_state(
    reader: &Reader,
    buyer: TeamRowId,
    statement_sha256: &str,
) -> Result<Option<AttestationState>> {
    let sql = format!(
        "SELECT {COLUMNS}, p.refunded_at,
             (SELECT min(h.occurred_at) FROM listing_history h WHERE h.listing = p.listing
                  AND h.event = 'certification_revoked' AND h.occurred_at >= t.created_at)
         FROM attestations t JOIN purchases p ON p.id = t.purchase
         WHERE t.statement_sha256 = ?1 AND p.buyer = ?2"
    );
    reader.query_first(&sql, (statement_sha256, buyer), |row| {
        Ok(AttestationState {
            attestation: read(row)?,
            refunded_at: row::optional_time(row, 5)?,
            revoked_at: row::optional_time(row, 6)?,
        })
    })
}

/// A purchase whose attestation states a certification.
#[derive(Clone, Debug)]
pub struct CertifiedPurchase {
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// ID of the purchase.
    pub purchase: Uuid,
    /// SHA-256 digest of the statement in hexadecimal.
    pub statement_sha256: String,
}

/// Returns the completed purchases of a listing whose attestations state a certification that had not ended before.
pub fn list_certified(reader: &Reader, listing: ListingRowId) -> Result<Vec<CertifiedPurchase>> {
    const SQL: &str =
        "SELECT p.buyer, p.uuid, t.statement_sha256 FROM purchases p JOIN attestations t ON t.purchase = p.id
         WHERE p.listing = ?1 AND p.status = 'completed' AND t.is_certified = 1 AND t.created_at >= (
             SELECT coalesce(max(h.occurred_at), 0) FROM listing_history h
             WHERE h.listing = ?1 AND h.event = 'certification_revoked')
         ORDER BY p.id";
    reader.query_all(SQL, [listing], |row| {
        Ok(CertifiedPurchase { buyer: row.get(0)?, purchase: row.get(1)?, statement_sha256: row.get(2)? })
    })
}

/// What is attested of a purchase besides its assets.
#[derive(Clone, Debug)]
pub struct PurchaseFacts {
    /// The listing.
    pub listing: DeliveredListing,
    /// What was bought of it.
    pub scope: AssetScope,
    /// Whether the sale was exclusive.
    pub is_exclusive: bool,
    /// ID of the buyer.
    pub buyer: Uuid,
    /// ID and text of the agreement; the text is `None` if it is not stored.
    pub agreement: (Option<Uuid>, Option<String>),
}

/// Returns the facts of a purchase.
pub fn find_facts(reader: &Reader, purchase: PurchaseRowId) -> Result<PurchaseFacts> {
    const SQL: &str = "SELECT l.uuid, l.title, v.name, l.certified_at, p.scope, p.exclusive, b.uuid, p.agreement_document, a.text
         FROM purchases p JOIN listings l ON l.id = p.listing JOIN teams v ON v.id = l.team
         JOIN teams b ON b.id = p.buyer LEFT JOIN agreements a ON a.purchase = p.id WHERE p.id = ?1";
    reader.query_one(SQL, [purchase], |row| {
        Ok(PurchaseFacts {
            listing: DeliveredListing {
                id: row.get(0)?,
                title: row.get(1)?,
                vendor: row.get(2)?,
                certified_at: row::optional_time(row, 3)?,
            },
            scope: row::json(row, 4)?,
            is_exclusive: row.get(5)?,
            buyer: row.get(6)?,
            agreement: (row.get(7)?, row.get(8)?),
        })
    })
}

/// Returns the assets of a prepared bundle, in the order of its entries.
pub fn list_assets(reader: &Reader, bundle: BundleRowId) -> Result<Vec<DeliveredAsset>> {
    const SQL: &str = "SELECT a.uuid, a.kind, e.path, e.commit_sha, u.sha256, e.problem
         FROM bundle_entries e JOIN assets a ON a.id = e.asset LEFT JOIN uploads u ON u.id = e.upload
         WHERE e.bundle = ?1 AND e.source IS NOT NULL ORDER BY e.asset";
    reader.query_all(SQL, [bundle], |row| {
        Ok(DeliveredAsset {
            id: row.get(0)?,
            kind: row.get(1)?,
            path: row.get(2)?,
            commit: row.get(3)?,
            upload_sha256: row.get(4)?,
            problem: row.get(5)?,
        })
    })
}

/// Returns the latest completed run of the listing of a bundle, and the later ones of its assets, with at most `max_checks` checks
/// of what it contains, and the number of checks that are left out.
pub fn list_runs(
    reader: &Reader,
    listing: ListingRowId,
    bundle: BundleRowId,
    max_checks: u64,
) -> Result<(Vec<AttestedRun>, u64)> {
    const SQL: &str = "WITH of_listing AS (
             SELECT id, completed_at FROM quality_runs WHERE listing = ?1 AND status = 'completed'
             ORDER BY run_number DESC LIMIT 1),
         of_assets AS (
             SELECT (SELECT q.id FROM quality_runs q WHERE q.asset = e.asset AND q.status = 'completed'
                     AND q.completed_at > (SELECT coalesce(max(completed_at), 0) FROM of_listing)
                     ORDER BY q.run_number DESC LIMIT 1) AS id
             FROM bundle_entries e WHERE e.bundle = ?2)
         SELECT r.uuid, s.uuid, r.completed_at, c.key, c.label, c.kind, a.uuid, c.is_mandatory, c.is_informational, c.status
         FROM (SELECT id FROM of_listing UNION ALL SELECT id FROM of_assets WHERE id IS NOT NULL) w
         JOIN quality_runs r ON r.id = w.id LEFT JOIN assets s ON s.id = r.asset
         JOIN quality_checks c ON c.run = r.id LEFT JOIN assets a ON a.id = c.asset
         WHERE c.asset IS NULL OR EXISTS (SELECT 1 FROM bundle_entries e WHERE e.bundle = ?2 AND e.asset = c.asset)
         ORDER BY r.asset IS NOT NULL, r.asset, c.id";
    let (mut runs, mut left_out, mut count) = (Vec::<AttestedRun>::new(), 0, 0);
    reader.for_each_row(SQL, (listing, bundle), |row| {
        if count == max_checks {
            left_out += 1;
            return Ok(());
        }
        count += 1;
        let id: Uuid = row.get(0)?;
        if runs.last().is_none_or(|run| run.id != id) {
            let (asset_id, completed_at) = (row.get(1)?, row::time(row, 2)?);
            runs.push(AttestedRun { id, asset_id, completed_at, checks: Vec::new() });
        }
        let check = AttestedCheck {
            key: row.get(3)?,
            label: row.get(4)?,
            kind: row.get(5)?,
            asset_id: row.get(6)?,
            mandatory: row.get(7)?,
            informational: row.get(8)?,
            status: row.get(9)?,
        };
        if let Some(run) = runs.last_mut() {
            run.checks.push(check);
        }
        Ok(())
    })?;
    Ok((runs, left_out))
}
