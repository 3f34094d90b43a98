//! Receipts of purchases: what was bought from whom, on which terms, and what was delivered. They exist for the
//! buyer; a vendor gets a statement of its sale, which names no buyer.

use uuid::Uuid;

use super::{
    access::Buyer,
    agreements, attestation_log,
    bundles::{self, LinkHolder},
    purchases, team_records,
};
use crate::{
    domain::{
        agreements::names,
        bundles::{Document, EntryDigest},
        purchases::PurchaseStatus,
        row_ids::AssetRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    market::{CheckContext, Reader, Writer},
    store::{
        self, agreements::Agreement, attestations::AttestationSummary, bundle_entries::PreparationProgress,
        purchases::PurchaseRow, receipts::ReceiptLine, records::team_lists::purchases::TeamPurchase,
    },
};

/// Number of assets on a receipt. The others are on pages of the manifest.
pub const MAX_LINES: u32 = 200;

/// Maximum number of assets on a page of a manifest.
pub const MAX_PAGE_LINES: u32 = 1_000;

/// The receipt of a purchase.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// The purchase. Names and title are those of the agreement, if there is one: a receipt does not change with them.
    pub purchase: TeamPurchase,
    /// ID of the buyer.
    pub buyer_id: Uuid,
    /// Name of the buyer.
    pub buyer_name: String,
    /// The agreement; `None` unless the purchase was completed since agreements are stored.
    pub agreement: Option<Agreement>,
    /// The terms that the buyer agreed to, from which the agreement is made at the completion; `None` unless the purchase is
    /// pending.
    pub ordered_terms: Option<String>,
    /// Why a pending purchase cannot be completed now; `None` if it can, or if it is not pending.
    pub obstacle: Option<String>,
    /// What is delivered.
    pub delivery: DeliveryState,
    /// The attestation of the delivery; `None` before it exists. A refund does not delete it.
    pub attestation: Option<AttestationSummary>,
    /// The first assets.
    pub manifest: ManifestPage,
    /// Time until which the platform can refund it; `None` unless it is completed.
    pub refundable_until: Option<Timestamp>,
}

/// Assets of a purchase, with their delivered files.
#[derive(Clone, Debug)]
pub struct ManifestPage {
    /// The assets.
    pub lines: Vec<ReceiptLine>,
    /// Number of all assets.
    pub total: u64,
    /// The asset after which the next page begins; `None` if this is the last page.
    pub next: Option<AssetRowId>,
}

/// The delivered files of a purchase, and the progress of their preparation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// Nothing yet: the purchase is pending.
    Unpaid,
    /// Nothing: the purchase was canceled.
    Cancelled,
    /// Nothing any more: the purchase was refunded.
    Refunded,
    /// The bundle is being prepared, or waits for its preparation. Unless it is queued, the first download requests it.
    Preparing(PreparationProgress),
    /// The bundle can be downloaded.
    Ready(Archive),
}

/// A bundle that can be downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Size of the archive in bytes.
    pub size_bytes: u64,
    /// Number of files, with the documents.
    pub file_count: u64,
    /// The entity tag of its download, without quotes.
    pub entity_tag: String,
    /// Paths, sizes, and digests of the documents. The first one is the manifest, which has the digests of all entries.
    pub documents: Vec<(&'static str, EntryDigest)>,
}

/// Returns the receipt of a purchase of the team. A fixed number of statements.
pub fn receipt(reader: &Reader, buyer: &Buyer, purchase: Uuid) -> Result<Receipt> {
    let rows = reader.rows;
    let row = &purchases::find_own(rows, buyer, purchase)?;
    let mut purchase: TeamPurchase = team_records::find(rows, buyer, row.id)?;
    let buyer = buyer.team();
    let mut buyer_name = buyer.name.clone();
    let bundle = store::bundles::find_for_purchase(rows, row.row_id)?;
    let is_pending = row.status == PurchaseStatus::Pending;
    let agreement = store::agreements::find(rows, row.row_id)?;
    let ordered_terms = is_pending.then(|| agreements::ordered_terms(rows, row)).transpose()?;
    let text = agreement.as_ref().map(|agreement| &agreement.text).or(ordered_terms.as_ref());
    if let Some(names) = text.and_then(|text| names(text)) {
        names.buyer.clone_into(&mut buyer_name);
        names.vendor.clone_into(&mut purchase.vendor_name);
    }
    Ok(Receipt {
        purchase,
        buyer_id: buyer.id,
        buyer_name,
        agreement,
        ordered_terms,
        obstacle: purchases::why_not_completable(rows, row)?,
        delivery: delivery(reader, row, bundle.as_ref())?,
        attestation: store::attestations::find_summary(rows, row.row_id)?,
        manifest: page(rows, row, bundle.as_ref(), AssetRowId(0), MAX_LINES)?,
        refundable_until: refundable_until(&reader.check_context(), row),
    })
}

/// Returns the attestation of a purchase of the team as it is delivered; `None` if there is none. A refund does not delete it.
pub fn attestation(reader: &Reader, buyer: &Buyer, purchase: Uuid) -> Result<Option<Vec<u8>>> {
    let row = purchases::find_own(reader.rows, buyer, purchase)?;
    store::attestations::find_envelope(reader.rows, row.row_id)
}

/// Returns the proof that the attestation of a purchase of the team is in the log.
pub fn proof(reader: &Reader, buyer: &Buyer, purchase: Uuid) -> Result<Vec<u8>> {
    attestation_log::proof(reader, purchases::find_own(reader.rows, buyer, purchase)?.row_id)
}

/// Returns a page of the assets of a purchase of the team: at most `limit` and [`MAX_PAGE_LINES`] of them.
pub fn manifest(
    reader: &Reader,
    buyer: &Buyer,
    purchase: Uuid,
    after: Option<AssetRowId>,
    limit: u32,
) -> Result<ManifestPage> {
    let row = purchases::find_own(reader.rows, buyer, purchase)?;
    let bundle = store::bundles::find_for_purchase(reader.rows, row.row_id)?;
    page(reader.rows, &row, bundle.as_ref(), after.unwrap_or(AssetRowId(0)), limit.min(MAX_PAGE_LINES))
}

/// Starts the preparation of the bundle of a completed purchase of the team, unless it is already prepared. Fails if the
/// purchase was refunded.
pub fn request_preparation(writer: &mut Writer, buyer: &Buyer, purchase: Uuid) -> Result<()> {
    let row = purchases::find_own(writer.rows, buyer, purchase)?;
    bundles::request_preparation(writer, row.listing_id, LinkHolder::Purchase(row.id))
}

fn refundable_until(context: &CheckContext, row: &PurchaseRow) -> Option<Timestamp> {
    let days = i64::from(context.settings.purchases.refund_days);
    row.paid_at.filter(|_| row.status == PurchaseStatus::Completed).map(|at| at.plus_days(days))
}

fn delivery(
    reader: &Reader,
    row: &PurchaseRow,
    bundle: Option<&store::bundles::Bundle>,
) -> Result<DeliveryState> {
    match row.status {
        PurchaseStatus::Pending => return Ok(DeliveryState::Unpaid),
        PurchaseStatus::Cancelled => return Ok(DeliveryState::Cancelled),
        PurchaseStatus::Refunded => return Ok(DeliveryState::Refunded),
        PurchaseStatus::Completed => (),
    }
    let bundle = bundle.ok_or_else(|| Error::internal("a completed purchase has no bundle"))?;
    let Some(prepared) = bundles::prepared(reader.rows, bundle.clone())? else {
        return Ok(DeliveryState::Preparing(store::bundle_entries::find_progress(
            reader.rows,
            bundle.row_id,
        )?));
    };
    let delivered = bundles::deliver(reader, prepared)?;
    let digest = |document: &Document| (document.path, EntryDigest::of(&document.bytes));
    Ok(DeliveryState::Ready(Archive {
        size_bytes: delivered.layout.size_bytes(),
        file_count: (delivered.files.len() + delivered.documents.len()) as u64,
        entity_tag: delivered.entity_tag,
        documents: delivered.documents.iter().map(digest).collect(),
    }))
}

fn page(
    rows: &store::Reader,
    row: &PurchaseRow,
    bundle: Option<&store::bundles::Bundle>,
    after: AssetRowId,
    limit: u32,
) -> Result<ManifestPage> {
    let (mut lines, total) = match bundle {
        Some(bundle) => (
            store::receipts::list_of_bundle(rows, bundle.row_id, after, limit + 1)?,
            store::bundle_entries::count_entries(rows, bundle.row_id)?,
        ),
        None => (
            store::receipts::list_of_purchase(rows, row.row_id, after, limit + 1)?,
            store::receipts::count_assets(rows, row.row_id)?,
        ),
    };
    let has_more = lines.len() > limit as usize;
    lines.truncate(limit as usize);
    let next = lines.last().map(|line| line.row_id).filter(|_| has_more);
    Ok(ManifestPage { lines, total, next })
}
