//! Attestations of deliveries: made when the bundle of a purchase is prepared, and afterwards only read. They are part of the
//! bundle and of the receipt. Their state is for the buyer alone.

pub mod proof_verification;
pub mod verification;

use uuid::Uuid;

use super::{
    access::Buyer,
    attestation_log,
    running_job::{JobError, JobResult, RunningJob},
    signing_keys,
};
use crate::{
    domain::{
        agreements,
        attestations::{
            AgreementReference, AttestationStatus, BuyerDigest, DELIVERY_TYPE, DeliveredListing, Delivery,
            STATUS_TYPE, Statement, buyer_digest, sha256,
        },
        bundles::{Document, ManifestEntry},
        events::{AttestationChange, AttestationData, EventData},
        jobs::JobKind,
        listings::ListingRowId,
        row_ids::PurchaseRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store::{
        self,
        attestations::{Attestation, AttestationSummary, CertifiedPurchase, DeliveredChecks},
        bundles::Bundle,
        croissant::ListingFacts,
        purchases::PurchaseRow,
    },
    string_enum::StringEnum,
};

/// JSON Schema of the predicate of a delivery, as it is published.
pub const DELIVERY_SCHEMA: &str = include_str!("delivery.schema.json");

/// Maximum number of checks that an attestation has.
pub const MAX_CHECKS: usize = 10_000;

/// Number of buyers that are notified in one transaction.
const BATCH: u32 = 100;

/// Name of the subject of a status.
const ATTESTATION: &str = "attestation";

/// The attested facts of a delivery, without those that are known only at the time of signing.
#[derive(Clone, Debug)]
pub struct Facts {
    purchase: PurchaseRowId,
    listing: ListingRowId,
    buyer: Uuid,
    delivery: Delivery,
}

/// Reads the attested facts of a bundle whose entries are prepared; `None` for the vendor's own bundle. `listing` is the
/// listing at the time when the bundle was fixed. `checks` and `licenses` are findings in the delivered data.
pub fn read_facts(
    reader: &Reader,
    bundle: &Bundle,
    listing: &ListingFacts,
    checks: DeliveredChecks,
    licenses: Vec<String>,
) -> Result<Option<Facts>> {
    let Some(purchase) = bundle.purchase else { return Ok(None) };
    let found = store::attestations::find_facts(reader.rows, purchase)?;
    let (id, text) = found.agreement;
    let terms = text.as_deref().and_then(agreements::vendor_terms);
    let terms_sha256 = terms.map(|terms| sha256(terms.as_bytes()));
    let public_url = &reader.settings.server.public_url;
    let delivery = Delivery {
        market: (!public_url.is_empty()).then(|| public_url.clone()),
        attested_at: reader.now,
        listing: DeliveredListing {
            id: found.listing,
            title: listing.title.clone(),
            vendor: listing.vendor.clone(),
            certified_at: listing.certified_at.map(Timestamp),
        },
        scope: found.scope.mode.as_str().to_owned(),
        exclusive: found.is_exclusive,
        buyer: BuyerDigest { salted_sha256: String::new() },
        agreement: (id.is_some() || terms_sha256.is_some())
            .then_some(AgreementReference { id, terms_sha256 }),
        licenses,
        assets: store::attestations::list_assets(reader.rows, bundle.row_id)?,
        quality_run: checks.run,
        omitted_checks: checks.omitted,
    };
    Ok(Some(Facts { purchase, listing: bundle.listing, buyer: found.buyer, delivery }))
}

/// Signs and records the attestation of a bundle with these documents and entries. A certification that has ended since the
/// purchase is not attested.
pub fn sign(writer: &Writer, facts: Facts, documents: &[Document], entries: &[ManifestEntry]) -> Result<()> {
    let Facts { purchase, listing, buyer, mut delivery } = facts;
    let certified = store::listings::certification_times(writer.rows, &[listing])?;
    let is_current = |at: &Timestamp| certified.contains(&(listing, Some(*at)));
    delivery.listing.certified_at = delivery.listing.certified_at.filter(is_current);
    let salt = writer.entropy.random_secret();
    let key = signing_keys::find_or_create(writer)?;
    let created_at = signing_keys::signing_time(writer.rows, writer.now)?;
    delivery.attested_at = created_at;
    delivery.buyer.salted_sha256 = buyer_digest(&salt, buyer);
    let is_certified = delivery.listing.certified_at.is_some();
    let documents = documents.iter().map(|document| (document.path.to_owned(), sha256(&document.bytes)));
    let entries = entries.iter().map(|entry| (entry.path.clone(), entry.sha256.clone()));
    let statement = Statement::new(DELIVERY_TYPE, documents.chain(entries), delivery);
    let signed = key.sign(&statement)?;
    let attestation = Attestation {
        envelope: signed.envelope,
        statement_sha256: signed.statement_sha256,
        salt,
        is_certified,
        created_at,
    };
    store::attestations::insert(writer.rows, purchase, &attestation)?;
    attestation_log::enqueue(writer)
}

/// Returns the envelope of the state of a buyer's attestation, by the digest of its statement; `None` if the market has no key
/// yet.
pub fn status(reader: &Reader, buyer: &Buyer, statement_sha256: &str) -> Result<Option<Vec<u8>>> {
    let found = store::attestations::find_state(reader.rows, buyer.team_row_id(), statement_sha256)?;
    let found = found.ok_or_else(|| Error::not_found("attestation"))?;
    let Some(key) = signing_keys::find(reader)? else { return Ok(None) };
    let status = AttestationStatus {
        stated_at: signing_keys::signing_time(reader.rows, reader.now)?,
        refunded_at: found.refunded_at,
        certification_revoked_at: found.revoked_at,
    };
    let subject = (ATTESTATION.to_owned(), statement_sha256.to_owned());
    Ok(Some(key.sign(&Statement::new(STATUS_TYPE, [subject], status))?.envelope))
}

/// Returns the proof that a buyer's attestation is in the log, by the digest of its statement.
pub fn proof(reader: &Reader, buyer: &Buyer, statement_sha256: &str) -> Result<Vec<u8>> {
    let found = store::attestations::find_purchase(reader.rows, buyer.team_row_id(), statement_sha256)?;
    attestation_log::proof(reader, found.ok_or_else(|| Error::not_found("attestation"))?)
}

/// Tells the buyer of a purchase that was refunded that the attestation has another state.
pub fn report_refund(writer: &Writer, purchase: &PurchaseRow) -> Result<()> {
    let found = store::attestations::find_summary(writer.rows, purchase.row_id)?;
    let Some(AttestationSummary { statement_sha256, .. }) = found else { return Ok(()) };
    let data = AttestationData {
        purchase_id: purchase.id,
        listing_id: purchase.listing_id,
        statement_sha256,
        change: AttestationChange::Refunded,
    };
    writer.emit(Some(purchase.buyer), purchase.id, &EventData::AttestationStatusChanged(data))
}

/// Enqueues the notification of the buyers of a listing whose certification has ended, if their attestations state it. There may be
/// many, so a job sends it.
pub fn enqueue_revocation_notices(writer: &Writer, listing: ListingRowId) -> Result<()> {
    let is_due = !store::attestations::list_unreported(writer.rows, listing, PurchaseRowId(0), 1)?.is_empty();
    if is_due { writer.enqueue(JobKind::ReportRevocation, listing) } else { Ok(()) }
}

/// Notifies the buyers of a listing whose certification has ended, a few per transaction. A job that was interrupted continues with
/// the next one.
pub fn send_revocation_notices(job: &RunningJob) -> JobResult {
    let listing = job.listing_row_id();
    let mut after = PurchaseRowId(0);
    while job.renew_and_continue() {
        let is_complete = job.advance(|writer| {
            let purchases = store::attestations::list_unreported(writer.rows, listing, after, BATCH)?;
            report_revocation(writer, listing, &purchases)?;
            after = purchases.last().map_or(after, |purchase| purchase.row_id);
            Ok(purchases.len() < BATCH as usize)
        })?;
        if is_complete {
            return Ok(());
        }
    }
    Err(JobError::Stopped)
}

/// Ends a job that failed too often. Buyers can still read the status of the attestations, which contains the facts of the
/// missing events.
pub fn give_up_revocation_notices(job: &RunningJob) -> JobResult {
    job.finish(|_| Ok(()))
}

fn report_revocation(writer: &Writer, listing: ListingRowId, purchases: &[CertifiedPurchase]) -> Result<()> {
    let Some(listing) = store::listings::find_by_row_id(writer.rows, listing)? else { return Ok(()) };
    for CertifiedPurchase { row_id, buyer, id, statement_sha256 } in purchases {
        let data = AttestationData {
            purchase_id: *id,
            listing_id: listing.id,
            statement_sha256: statement_sha256.clone(),
            change: AttestationChange::CertificationRevoked,
        };
        writer.emit(Some(*buyer), *id, &EventData::AttestationStatusChanged(data))?;
        store::attestations::set_end_reported(writer.rows, *row_id)?;
    }
    Ok(())
}
