//! The attestations of deliveries that the market has signed, and the facts that it signs.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        attestations::{AttestedCheck, AttestedRun, DeliveredAsset},
        listings::ListingRowId,
        merkle::leaf_hash,
        purchases::AssetScope,
        row_ids::{BundleRowId, PurchaseRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// An attestation.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
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

/// Inserts the attestation of a purchase, which the key in use has signed.
pub fn insert(writer: &Writer, purchase: PurchaseRowId, attestation: &Attestation) -> Result<()> {
    const ATTESTATION: &str =
        "INSERT INTO attestations (purchase, leaf_hash, statement_sha256, salt, is_certified, created_at, key)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT key FROM signing_secrets))";
    const ENVELOPE: &str = "INSERT INTO attestation_envelopes (purchase, envelope) VALUES (?1, ?2)";
    let Attestation { envelope, statement_sha256, salt, is_certified, created_at } = attestation;
    let leaf = leaf_hash(envelope);
    writer.execute(ATTESTATION, (purchase, leaf, statement_sha256, salt, is_certified, created_at.0))?;
    writer.run(ENVELOPE, (purchase, envelope))
}

/// Returns the attestation of a purchase; `None` if there is none.
pub fn find(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<Attestation>> {
    const SQL: &str = "SELECT envelope, statement_sha256, salt, is_certified, created_at
         FROM attestations JOIN attestation_envelopes USING (purchase) WHERE purchase = ?1";
    reader.query_first(SQL, [purchase], Attestation::from_row)
}

/// Returns the envelope of a purchase's attestation; `None` if there is none.
pub fn find_envelope(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<Vec<u8>>> {
    const SQL: &str = "SELECT envelope FROM attestation_envelopes WHERE purchase = ?1";
    reader.query_first(SQL, [purchase], |row| row.get(0))
}

/// What a receipt shows of an attestation.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct AttestationSummary {
    /// SHA-256 digest of the statement in hexadecimal.
    pub statement_sha256: String,
    /// The salt of the buyer's digest.
    pub salt: [u8; 32],
    /// Time at which it was made.
    pub created_at: Timestamp,
    /// Whether the log has it.
    pub is_logged: bool,
}

/// Returns the summary of a purchase's attestation; `None` if there is none.
pub fn find_summary(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<AttestationSummary>> {
    const SQL: &str =
        "SELECT statement_sha256, salt, created_at, log IS NOT NULL FROM attestations WHERE purchase = ?1";
    reader.query_first(SQL, [purchase], AttestationSummary::from_row)
}

/// Returns the purchase of a buyer whose attestation has this digest of its statement.
pub fn find_purchase(
    reader: &Reader,
    buyer: TeamRowId,
    statement_sha256: &str,
) -> Result<Option<PurchaseRowId>> {
    const SQL: &str = "SELECT p.id FROM attestations t JOIN purchases p ON p.id = t.purchase
         WHERE t.statement_sha256 = ?1 AND p.buyer = ?2";
    reader.query_first(SQL, (statement_sha256, buyer), |row| row.get(0))
}

/// What has happened since an attestation.
#[derive(Clone, Copy, Debug, FromRow)]
#[row(by_position)]
pub struct AttestationState {
    /// Time of the refund of the purchase; `None` unless it was refunded.
    pub refunded_at: Option<Timestamp>,
    /// Time at which the certification that the attestation states ended; `None` if it has not, or if there is none.
    pub revoked_at: Option<Timestamp>,
}

/// Returns the state of the attestation of a buyer with this digest of its statement.
pub fn find_state(
    reader: &Reader,
    buyer: TeamRowId,
    statement_sha256: &str,
) -> Result<Option<AttestationState>> {
    const SQL: &str = "SELECT p.refunded_at, iif(t.is_certified, (SELECT min(h.occurred_at) FROM listing_history h
             WHERE h.listing = p.listing AND h.event = 'certification_revoked' AND h.occurred_at >= t.created_at), NULL)
         FROM attestations t JOIN purchases p ON p.id = t.purchase
         WHERE t.statement_sha256 = ?1 AND p.buyer = ?2";
    reader.query_first(SQL, (statement_sha256, buyer), AttestationState::from_row)
}

/// A purchase whose attestation states a certification.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct CertifiedPurchase {
    /// Row ID of the purchase.
    pub row_id: PurchaseRowId,
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// ID of the purchase.
    pub id: Uuid,
    /// SHA-256 digest of the statement in hexadecimal.
    pub statement_sha256: String,
}

/// Returns at most `limit` completed purchases of a listing after this one whose attestations state a certification that has
/// ended, and whose buyers were not notified of the end.
pub fn list_unreported(
    reader: &Reader,
    listing: ListingRowId,
    after: PurchaseRowId,
    limit: u32,
) -> Result<Vec<CertifiedPurchase>> {
    const SQL: &str =
        "SELECT p.id, p.buyer, p.uuid, t.statement_sha256 FROM purchases p JOIN attestations t ON t.purchase = p.id
         WHERE p.listing = ?1 AND p.id > ?2 AND p.status = 'completed' AND t.is_certified = 1
             AND t.is_end_reported = 0 AND t.created_at <= (
             SELECT max(h.occurred_at) FROM listing_history h
             WHERE h.listing = ?1 AND h.event = 'certification_revoked')
         ORDER BY p.id LIMIT ?3";
    reader.query_all(SQL, (listing, after, limit), CertifiedPurchase::from_row)
}

/// Records that the buyer of a purchase was notified that the certification has ended.
pub fn set_end_reported(writer: &Writer, purchase: PurchaseRowId) -> Result<()> {
    writer.run("UPDATE attestations SET is_end_reported = 1 WHERE purchase = ?1", [purchase])
}

/// What is attested of a purchase besides its listing and its assets.
#[derive(Clone, Debug)]
pub struct PurchaseFacts {
    /// ID of the listing.
    pub listing: Uuid,
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
    const SQL: &str = "SELECT l.uuid, p.scope, p.exclusive, b.uuid, p.agreement_document, a.text
         FROM purchases p JOIN listings l ON l.id = p.listing
         JOIN teams b ON b.id = p.buyer LEFT JOIN agreements a ON a.purchase = p.id WHERE p.id = ?1";
    reader.query_one(SQL, [purchase], |row| {
        Ok(PurchaseFacts {
            listing: row.get(0)?,
            scope: row::json(row, 1)?,
            is_exclusive: row.get(2)?,
            buyer: row.get(3)?,
            agreement: (row.get(4)?, row.get(5)?),
        })
    })
}

/// Returns the assets of a prepared bundle, in the order of its entries. The commit and the upload are those whose bytes are
/// delivered.
pub fn list_assets(reader: &Reader, bundle: BundleRowId) -> Result<Vec<DeliveredAsset>> {
    const SQL: &str = "SELECT a.uuid, a.kind, e.path, iif(e.source = 'description', NULL, e.commit_sha),
             iif(e.source = 'description', NULL, u.sha256), e.problem
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

/// Findings of the quality run of a bundle in the delivered data.
#[derive(Clone, Debug, Default)]
pub struct DeliveredChecks {
    /// The run; `None` if it has checked none of the delivered data.
    pub run: Option<AttestedRun>,
    /// Number of checks that are left out of it.
    pub omitted: u64,
    /// The messages of the checks with the requested key that passed.
    pub messages: Vec<String>,
}

/// The checks of the quality run of the bundle ?1, with the messages of checks with the key ?2. Includes only assets whose
/// delivered data is the data that the run has read. If one entry has other data, the checks of the whole listing are left out,
/// too.
const CHECKS: &str = "WITH run (id, started_at) AS (
         SELECT r.id, r.started_at FROM bundles b JOIN quality_runs r ON r.id = b.quality_run WHERE b.id = ?1),
     with_tasks (asset, taskset) AS (
         SELECT e.asset, a.taskset FROM bundle_entries e JOIN assets a ON a.id = e.asset
         WHERE e.bundle = ?1 AND e.content = 'tasks' AND a.taskset IS NOT NULL
         UNION SELECT e.asset, t.taskset FROM bundle_entries e JOIN bundle_tasksets t ON t.asset = e.asset
         WHERE e.bundle = ?1
         UNION SELECT e.asset, k.taskset FROM bundle_entries e JOIN assets a ON a.id = e.asset
         JOIN task_versions v ON v.id = a.task_version JOIN tasks k ON k.id = v.task WHERE e.bundle = ?1),
     changed (asset) AS MATERIALIZED (
         SELECT w.asset FROM bundles b JOIN run JOIN with_tasks w JOIN tasks k ON k.taskset = w.taskset
         LEFT JOIN task_versions v ON v.task = k.id AND v.id <= b.last_version
         LEFT JOIN task_builds u ON u.task_version = v.id AND u.id <= b.last_build
         LEFT JOIN task_deletions x ON x.task = k.id AND x.id <= b.last_deletion
         WHERE b.id = ?1 AND (v.created_at > run.started_at OR u.created_at > run.started_at
             OR x.id IS NOT NULL AND k.deleted_at > run.started_at)),
     covered (asset) AS MATERIALIZED (
         SELECT e.asset FROM bundle_entries e WHERE e.bundle = ?1 AND e.is_checked = 1
             AND (e.source <> 'description' OR e.content IN ('tasks', 'description'))
             AND e.asset NOT IN (SELECT asset FROM changed))
     SELECT r.uuid, r.completed_at, c.key, c.label, c.kind, a.uuid, c.is_mandatory, c.is_informational, c.status,
         iif(c.key = ?2 AND c.status = 'passed', c.message, NULL)
     FROM run JOIN quality_runs r ON r.id = run.id JOIN quality_checks c ON c.run = r.id
     LEFT JOIN assets a ON a.id = c.asset
     WHERE iif(c.asset IS NULL,
         NOT EXISTS (SELECT 1 FROM bundle_entries e WHERE e.bundle = ?1 AND e.asset NOT IN (SELECT asset FROM covered)),
         c.asset IN (SELECT asset FROM covered))
     ORDER BY c.id";

/// Returns the findings of the quality run of a prepared bundle in the delivered data, with at most `max_checks` checks, and
/// the messages of passed checks with this key.
pub fn list_checks(
    reader: &Reader,
    bundle: BundleRowId,
    key: &str,
    max_checks: usize,
) -> Result<DeliveredChecks> {
    let mut found = DeliveredChecks::default();
    reader.for_each_row(CHECKS, (bundle, key), |row| {
        found.messages.extend(row.get::<_, Option<String>>(9)?);
        let run = match &mut found.run {
            Some(run) => run,
            run @ None => {
                run.insert(AttestedRun { id: row.get(0)?, completed_at: row.get(1)?, checks: Vec::new() })
            }
        };
        if run.checks.len() == max_checks {
            found.omitted += 1;
            return Ok(());
        }
        run.checks.push(AttestedCheck {
            key: row.get(2)?,
            label: row.get(3)?,
            kind: row.get(4)?,
            asset_id: row.get(5)?,
            mandatory: row.get(6)?,
            informational: row.get(7)?,
            status: row.get(8)?,
        });
        Ok(())
    })?;
    Ok(found)
}
