//! Bundles: what is delivered of a purchase. It is fixed when the purchase completes, so nothing that the vendor does
//! later changes it; `bundle_preparation` then makes its files. The vendor of a listing gets what would be delivered of
//! it now.

use uuid::Uuid;

use super::{attestation_log, cleanup};
use crate::{
    blobs,
    domain::{
        bundles::{
            ATTESTATION_PATH, CROISSANT_PATH, Document, MANIFEST_PATH, ManifestEntry, description, entity_tag,
        },
        jobs::JobKind,
        listings::ListingRowId,
        purchases::PurchaseStatus,
        row_ids::{AssetRowId, BundleRowId, PurchaseRowId},
        teams::{Team, TeamRowId},
        zip_layout::{StoredEntry, ZipLayout},
    },
    error::{Error, GoneCode, Result},
    market::{Reader, Writer},
    store::{self, bundle_entries::Location, bundles::Bundle, purchases::PurchaseRow},
};

/// Message of a link to the bundle of a refunded purchase.
pub const REFUNDED: &str =
    "The purchase was refunded, so its bundle is no longer delivered. Buy the listing again.";

/// Seconds until a bundle that is being prepared should be requested again.
const RETRY_SECONDS: u64 = 2;

/// Fixes what is delivered of a purchase that completes now, and enqueues the preparation. The bundle of a recorded
/// purchase is prepared when it is first requested.
pub fn fix(writer: &Writer, purchase: &PurchaseRow) -> Result<()> {
    let bundle = store::bundles::insert_for_purchase(writer.rows, purchase.listing, purchase.row_id)?;
    if writer.is_replay { Ok(()) } else { writer.enqueue(JobKind::PrepareBundle, bundle) }
}

/// Deletes the bundle of a purchase that was refunded. Its files are deleted by a cleanup.
pub fn release(writer: &Writer, purchase: &PurchaseRow) -> Result<()> {
    store::bundles::delete_for_purchase(writer.rows, purchase.row_id)?;
    if writer.is_replay { Ok(()) } else { cleanup::enqueue(writer) }
}

/// Whose bundle a link is for. The link has the ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkHolder {
    /// The buyer of the purchase with this ID.
    Purchase(Uuid),
    /// The team with this ID, which sells the listing.
    Owner(Uuid),
}

/// The bundle of a listing that a team can download.
#[derive(Clone, Debug)]
pub struct TeamBundle {
    /// Whose bundle it is.
    pub holder: LinkHolder,
    /// Its entries; `None` until they are prepared.
    pub manifest: Option<Vec<ManifestEntry>>,
}

/// Returns the bundle of a listing that a team can download: its own, or that of its widest purchase.
pub fn find_for_team(
    reader: &Reader,
    team: &Team,
    listing: ListingRowId,
    vendor: TeamRowId,
) -> Result<Option<TeamBundle>> {
    let (holder, prepared) = if team.row_id == vendor {
        let bundle = find_current(reader.rows, listing)?.filter(|bundle| bundle.manifest.is_some());
        (LinkHolder::Owner(team.id), bundle.map(|bundle| bundle.row_id))
    } else {
        match store::bundles::find_widest(reader.rows, team.row_id, listing)? {
            Some((purchase, prepared)) => (LinkHolder::Purchase(purchase), prepared),
            None => return Ok(None),
        }
    };
    let manifest =
        prepared.map(|bundle| store::bundle_entries::list_manifest(reader.rows, bundle)).transpose()?;
    Ok(Some(TeamBundle { holder, manifest }))
}

/// What a valid link is for: a bundle, or a part of it.
#[derive(Clone, Debug)]
pub struct Linked<T> {
    /// The team that downloads it.
    pub team: Team,
    /// The content of the download, if the bundle is prepared.
    pub prepared: Option<T>,
}

/// A prepared bundle.
#[derive(Clone, Debug)]
pub struct PreparedBundle {
    /// Row ID of the bundle.
    pub row_id: BundleRowId,
    /// The documents, of which the first one is the manifest.
    pub documents: Vec<Document>,
    /// Number of entries.
    pub entries: u64,
}

impl PreparedBundle {
    /// Returns the size of all documents in bytes.
    pub fn document_bytes(&self) -> u64 {
        self.documents.iter().map(|document| document.bytes.len() as u64).sum()
    }
}

/// Returns the bundle that a link to a listing is for. Fails if the purchase was refunded. The caller has checked the
/// signature of the link.
pub fn find_linked(reader: &Reader, listing: Uuid, holder: LinkHolder) -> Result<Linked<PreparedBundle>> {
    let (team, bundle) = find(reader.rows, listing, holder)?;
    let prepared = bundle.map(|bundle| prepared(reader.rows, bundle)).transpose()?.flatten();
    Ok(Linked { team, prepared })
}

/// Like [`find_linked`], for the attestation of the bundle. Bundles that earlier versions prepared have no attestation.
/// Vendors' own bundles have none either.
pub fn find_linked_attestation(
    reader: &Reader,
    listing: Uuid,
    holder: LinkHolder,
) -> Result<Linked<Option<Vec<u8>>>> {
    let (team, bundle) = find(reader.rows, listing, holder)?;
    let prepared = bundle.filter(|bundle| bundle.manifest.is_some());
    let prepared = prepared.map(|bundle| envelope(reader.rows, bundle.purchase)).transpose()?;
    Ok(Linked { team, prepared })
}

/// Like [`find_linked_attestation`], for the proof that the attestation is in the log.
pub fn find_linked_proof(reader: &Reader, listing: Uuid, holder: LinkHolder) -> Result<Linked<Vec<u8>>> {
    let (team, bundle) = find(reader.rows, listing, holder)?;
    let prepared = bundle.filter(|bundle| bundle.manifest.is_some()).map(|bundle| {
        let purchase = bundle.purchase.ok_or_else(|| Error::not_found("attestation"))?;
        attestation_log::proof(reader, purchase)
    });
    Ok(Linked { team, prepared: prepared.transpose()? })
}

fn envelope(rows: &store::Reader, purchase: Option<PurchaseRowId>) -> Result<Option<Vec<u8>>> {
    let found = purchase.map(|purchase| store::attestations::find_envelope(rows, purchase));
    Ok(found.transpose()?.flatten())
}

/// Returns a bundle with its documents; `None` if it is not prepared.
pub(super) fn prepared(rows: &store::Reader, bundle: Bundle) -> Result<Option<PreparedBundle>> {
    let Bundle { row_id, purchase, manifest: Some(manifest), .. } = bundle else {
        return Ok(None);
    };
    let documents = [
        (MANIFEST_PATH, Some(manifest)),
        (CROISSANT_PATH, store::bundles::find_croissant(rows, row_id)?),
        (ATTESTATION_PATH, envelope(rows, purchase)?),
    ];
    let documents = documents.into_iter().filter_map(|(path, bytes)| Some(Document { path, bytes: bytes? }));
    let entries = store::bundle_entries::count_entries(rows, row_id)?;
    Ok(Some(PreparedBundle { row_id, documents: documents.collect(), entries }))
}

/// Returns the team that a link is for, and its bundle, unless none is fixed.
fn find(rows: &store::Reader, listing: Uuid, holder: LinkHolder) -> Result<(Team, Option<Bundle>)> {
    match holder {
        LinkHolder::Purchase(id) => {
            let found = store::bundles::find_purchase(rows, id)?.filter(|found| found.listing_id == listing);
            let purchase = found.ok_or_else(|| Error::not_found("purchase"))?;
            match purchase.status {
                PurchaseStatus::Completed => {
                    let bundle = store::bundles::find_for_purchase(rows, purchase.row_id)?;
                    Ok((store::teams::find_by_row_id(rows, purchase.buyer)?, bundle))
                }
                PurchaseStatus::Refunded => Err(Error::Gone(GoneCode::PurchaseRefunded, REFUNDED.to_owned())),
                PurchaseStatus::Pending | PurchaseStatus::Cancelled => Err(Error::not_found("purchase")),
            }
        }
        LinkHolder::Owner(id) => {
            let row = store::listings::find(rows, listing)?.ok_or_else(|| Error::not_found("listing"))?;
            let team = store::teams::find(rows, id)?.filter(|team| team.row_id == row.team);
            let team = team.ok_or_else(|| Error::not_found("listing"))?;
            Ok((team, find_current(rows, row.row_id)?))
        }
    }
}

/// Returns the vendor's bundle of a listing, if it is of the listing as it is now.
fn find_current(rows: &store::Reader, listing: ListingRowId) -> Result<Option<Bundle>> {
    let Some(bundle) = store::bundles::find_for_vendor(rows, listing)? else { return Ok(None) };
    Ok(store::bundles::is_current(rows, &bundle)?.then_some(bundle))
}

/// Enqueues the preparation of the bundle that a link is for, and fixes it first if it is the vendor's and not
/// current.
pub fn request_preparation(writer: &mut Writer, listing: Uuid, holder: LinkHolder) -> Result<()> {
    let (_, bundle) = find(writer.rows, listing, holder)?;
    let row_id = match bundle {
        Some(bundle) if bundle.manifest.is_some() => return Ok(()),
        Some(bundle) => bundle.row_id,
        None => fix_missing(writer, listing, holder)?,
    };
    writer.enqueue(JobKind::PrepareBundle, row_id)
}

fn fix_missing(writer: &Writer, listing: Uuid, holder: LinkHolder) -> Result<BundleRowId> {
    let row = store::listings::find(writer.rows, listing)?.ok_or_else(|| Error::not_found("listing"))?;
    match holder {
        LinkHolder::Owner(_) => store::bundles::insert_for_vendor(writer.rows, row.row_id),
        LinkHolder::Purchase(_) => Err(Error::internal("a completed purchase has no bundle")),
    }
}

/// Returns the error for a bundle that is not prepared yet.
pub const fn not_prepared() -> Error {
    Error::BeingPrepared { what: "bundle", retry_seconds: RETRY_SECONDS }
}

/// The downloaded archive, and where the bytes of its files are.
#[derive(Debug)]
pub struct Delivery {
    /// Row ID of the bundle.
    pub bundle: BundleRowId,
    /// The entity tag, without quotes.
    pub entity_tag: String,
    /// The archive. Its first files are the documents; the others are `files`.
    pub layout: ZipLayout,
    /// The documents.
    pub documents: Vec<Document>,
    /// The files after the documents: the asset, and where the bytes are.
    pub files: Vec<(AssetRowId, Location)>,
}

/// Returns what is downloaded of a prepared bundle.
pub fn deliver(reader: &Reader, bundle: PreparedBundle) -> Result<Delivery> {
    let PreparedBundle { row_id, documents, .. } = bundle;
    let delivered = store::bundle_entries::list_delivered(reader.rows, row_id)?;
    let mut entries = Vec::with_capacity(delivered.len() + documents.len());
    entries.extend(documents.iter().map(|document| StoredEntry {
        path: document.path.to_owned(),
        size_bytes: document.bytes.len() as u64,
        crc32: blobs::crc32(&document.bytes),
    }));
    let mut files = Vec::with_capacity(delivered.len());
    for entry in delivered {
        entries.push(StoredEntry { path: entry.path, size_bytes: entry.size_bytes, crc32: entry.crc32 });
        files.push((entry.asset, entry.location));
    }
    let (entity_tag, layout) = (entity_tag(&documents), ZipLayout::new(entries));
    Ok(Delivery { bundle: row_id, entity_tag, layout, documents, files })
}

/// Returns the bytes of an entry that is only a description. Fails if the purchase was refunded meanwhile.
pub fn read_description(reader: &Reader, bundle: BundleRowId, asset: AssetRowId) -> Result<Vec<u8>> {
    let found = store::bundle_entries::find_description(reader.rows, bundle, asset)?;
    let (id, fields) = found.ok_or_else(|| Error::not_found("entry"))?;
    Ok(description(id, &fields))
}
