//! Attestations of deliveries: made when the bundle of a purchase is prepared, and afterwards only read. They are part of the
//! bundle and of the receipt. Their state is for the buyer alone.

pub mod verification;

use uuid::Uuid;

use super::{access::Buyer, croissant, signing_keys};
use crate::{
    domain::{
        agreements,
        attestations::{
            AgreementReference, AttestationStatus, BuyerDigest, DELIVERY_TYPE, Delivery, STATUS_TYPE,
            Statement, buyer_digest, sha256,
        },
        bundles::{Document, ManifestEntry},
        events::{AttestationChange, AttestationData, EventData},
        listings::ListingRowId,
        row_ids::PurchaseRowId,
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store::{
        self,
        attestations::{Attestation, CertifiedPurchase},
        bundles::Bundle,
        purchases::PurchaseRow,
    },
    string_enum::StringEnum,
};

/// JSON Schema of the predicate of a delivery, as it is published.
pub const DELIVERY_SCHEMA: &str = include_str!("delivery.schema.json");

/// Maximum number of checks that an attestation has.
const MAX_CHECKS: u64 = 10_000;

/// Name of the subject of a status.
const ATTESTATION: &str = "attestation";

/// What is attested of a delivery, except for what is known only when it is signed.
#[derive(Clone, Debug)]
pub struct Facts {
    purchase: PurchaseRowId,
    buyer: Uuid,
    delivery: Delivery,
}

/// Reads what is attested of a bundle whose entries are prepared; `None` for the vendor's own.
pub fn read_facts(reader: &Reader, bundle: &Bundle) -> Result<Option<Facts>> {
    let Some(purchase) = bundle.purchase else { return Ok(None) };
    let found = store::attestations::find_facts(reader.rows, purchase)?;
    let (quality_runs, omitted_checks) =
        store::attestations::list_runs(reader.rows, bundle.listing, bundle.row_id, MAX_CHECKS)?;
    let (document, text) = found.agreement;
    let public_url = &reader.settings.server.public_url;
    let delivery = Delivery {
        market: (!public_url.is_empty()).then(|| public_url.clone()),
        attested_at: reader.now,
        listing: found.listing,
        scope: found.scope.mode.as_str().to_owned(),
        exclusive: found.is_exclusive,
        buyer: BuyerDigest { salted_sha256: String::new() },
        agreement: text.map(|text| AgreementReference {
            id: document,
            terms_sha256: sha256(agreements::vendor_terms(&text).as_bytes()),
        }),
        licenses: croissant::licenses(reader.rows, bundle.listing)?,
        assets: store::attestations::list_assets(reader.rows, bundle.row_id)?,
        quality_runs,
        omitted_checks,
    };
    Ok(Some(Facts { purchase, buyer: found.buyer, delivery }))
}

/// Signs what is attested of a bundle with these documents and entries, and records it.
pub fn sign(writer: &Writer, facts: Facts, documents: &[Document], entries: &[ManifestEntry]) -> Result<()> {
    let Facts { purchase, buyer, mut delivery } = facts;
    let salt = writer.entropy.random_secret();
    delivery.attested_at = writer.now;
    delivery.buyer.salted_sha256 = buyer_digest(&salt, buyer);
    let is_certified = delivery.listing.certified_at.is_some();
    let documents = documents.iter().map(|document| (document.path.to_owned(), sha256(&document.bytes)));
    let entries = entries.iter().map(|entry| (entry.path.clone(), entry.sha256.clone()));
    let statement = Statement::new(DELIVERY_TYPE, documents.chain(entries), delivery);
    let signed = signing_keys::find_or_create(writer)?.sign(&statement)?;
    let attestation = Attestation {
        envelope: signed.envelope,
        statement_sha256: signed.statement_sha256,
        salt,
        is_certified,
        created_at: writer.now,
    };
    store::attestations::insert(writer.rows, purchase, &attestation)
}

/// Returns the envelope of the state of a buyer's attestation, by the digest of its statement; `None` if the market has no key yet.
pub fn status(reader: &Reader, buyer: &Buyer, statement_sha256: &str) -> Result<Option<Vec<u8>>> {
    let found = store::attestations::find_state(reader.rows, buyer.team_row_id(), statement_sha256)?;
    let found = found.ok_or_else(|| Error::not_found("attestation"))?;
    let Some(key) = signing_keys::find(reader)? else { return Ok(None) };
    let status = AttestationStatus {
        stated_at: reader.now,
        refunded_at: found.refunded_at,
        certification_revoked_at: found.revoked_at.filter(|_| found.attestation.is_certified),
    };
    let subject = (ATTESTATION.to_owned(), found.attestation.statement_sha256);
    Ok(Some(key.sign(&Statement::new(STATUS_TYPE, [subject], status))?.envelope))
}

/// Tells the buyer of a purchase that was refunded that the attestation has another state.
pub fn report_refund(writer: &Writer, purchase: &PurchaseRow) -> Result<()> {
    let Some(found) = store::attestations::find(writer.rows, purchase.row_id)? else { return Ok(()) };
    let data = AttestationData {
        purchase_id: purchase.id,
        listing_id: purchase.listing_id,
        statement_sha256: found.statement_sha256,
        change: AttestationChange::Refunded,
    };
    writer.emit(Some(purchase.buyer), purchase.id, &EventData::AttestationStatusChanged(data))
}

/// Returns the purchases of a listing whose attestations state its present certification.
pub fn certified(writer: &Writer, listing: ListingRowId) -> Result<Vec<CertifiedPurchase>> {
    store::attestations::list_certified(writer.rows, listing)
}

/// Tells the buyers of these purchases of a listing that its certification has ended.
pub fn report_revocation(writer: &Writer, listing: Uuid, purchases: Vec<CertifiedPurchase>) -> Result<()> {
    for CertifiedPurchase { buyer, purchase, statement_sha256 } in purchases {
        let change = AttestationChange::CertificationRevoked;
        let data = AttestationData { purchase_id: purchase, listing_id: listing, statement_sha256, change };
        writer.emit(Some(buyer), purchase, &EventData::AttestationStatusChanged(data))?;
    }
    Ok(())
}
