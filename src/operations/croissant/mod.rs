//! Descriptions of listings in Croissant, the format for datasets of machine learning: for the catalog, and for bundles.

mod document;

use uuid::Uuid;

use self::document::{Archive, Entry, Listing};
use super::{access::ListingViewer, browse, bundles};
use crate::{
    artifacts::{
        datasets::{Dataset, Table},
        quality_checks::license::{LICENSE_FOUND, licenses_in},
    },
    domain::{
        bundles::{EntryContent, ManifestEntry, archive_name},
        listings::ListingRowId,
    },
    error::{Error, Result},
    market::Reader,
    store,
};

/// Maximum number of entries that a description has.
const MAX_ENTRIES: u32 = 1_000;

/// Maximum size of the stored description of a dataset in bytes. Tables of data with a longer one are left out.
const MAX_DATASET_BYTES: u64 = 4_000_000;

/// Addresses that a description has.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// Address of the listing.
    pub listing: String,
    /// The stable address of its bundle.
    pub bundle: String,
}

/// Returns the description of a listing that the team may see. Only those who can download its bundle learn sizes and digests of
/// its entries.
pub fn describe(reader: &Reader, viewer: &ListingViewer, id: Uuid, addresses: Addresses) -> Result<Vec<u8>> {
    let listing = browse::find_visible(reader, viewer, id)?;
    let team = viewer.for_listing(id)?.member().team();
    let manifest = bundles::find_for_team(reader, team, listing.row_id, listing.team)?
        .and_then(|bundle| bundle.manifest);
    let (entries, all) = match manifest {
        Some(manifest) => (delivered_entries(reader.rows, &manifest)?, Some(manifest.len() as u64)),
        None => (attached_entries(reader.rows, listing.row_id)?, None),
    };
    let (described, attached) = describe_listing(reader.rows, listing.row_id, addresses.listing)?;
    let archive = Archive { name: archive_name(id), url: addresses.bundle, entries: all.unwrap_or(attached) };
    document::render(&described, Some(&archive), &entries).map_err(Error::internal)
}

/// Returns the description that a bundle with these entries contains. Its paths are those in the unpacked bundle.
pub fn describe_bundle(
    rows: &store::Reader,
    listing: ListingRowId,
    id: Uuid,
    public_url: &str,
    manifest: &[ManifestEntry],
) -> Result<Vec<u8>> {
    let url = if public_url.is_empty() { id.urn().to_string() } else { listing_url(public_url, id) };
    let (described, _) = describe_listing(rows, listing, url)?;
    let entries = delivered_entries(rows, manifest)?;
    document::render(&described, None, &entries).map_err(Error::internal)
}

/// Returns the address of a listing, at a server with this base URL.
pub fn listing_url(base_url: &str, id: Uuid) -> String {
    format!("{base_url}/v2/listings/browse/{id}")
}

/// Returns SPDX expressions of the licenses that the latest quality run of a listing has found in its data.
pub(super) fn licenses(rows: &store::Reader, listing: ListingRowId) -> Result<Vec<String>> {
    let messages = store::croissant::list_messages(rows, listing, LICENSE_FOUND.key)?;
    let mut licenses: Vec<String> = messages.iter().flat_map(|message| licenses_in(message)).collect();
    licenses.sort();
    licenses.dedup();
    Ok(licenses)
}

/// Returns what is said about a listing, and the number of its assets.
fn describe_listing(rows: &store::Reader, listing: ListingRowId, url: String) -> Result<(Listing, u64)> {
    let found = store::croissant::find(rows, listing)?;
    let described = Listing {
        url,
        title: found.title,
        description: found.description,
        publisher: found.vendor,
        created_at: found.created_at.to_string(),
        updated_at: found.updated_at.to_string(),
        published_at: found.published_at.map(|at| at.to_string()),
        licenses: licenses(rows, listing)?,
        keywords: [found.domain_tags, found.tag_slugs].concat(),
    };
    Ok((described, found.assets))
}

/// Returns the entries of a prepared bundle. Tables are those of uploads that are delivered as they were read.
fn delivered_entries(rows: &store::Reader, manifest: &[ManifestEntry]) -> Result<Vec<Entry>> {
    let manifest = &manifest[..manifest.len().min(MAX_ENTRIES as usize)];
    let assets: Vec<_> = manifest.iter().map(|entry| (entry.asset_id, Some(entry.sha256.as_str()))).collect();
    let mut described = titles_and_tables(rows, &assets)?.into_iter();
    let entry = |entry: &ManifestEntry| {
        let (title, tables) = described.next().unwrap_or_default();
        Entry {
            path: entry.path.clone(),
            title,
            digest: Some((entry.size_bytes, entry.sha256.clone())),
            tables,
        }
    };
    Ok(manifest.iter().map(entry).collect())
}

/// Returns what the entries of a listing's bundle would be now.
fn attached_entries(rows: &store::Reader, listing: ListingRowId) -> Result<Vec<Entry>> {
    let assets = store::croissant::list_assets(rows, listing, MAX_ENTRIES)?;
    let wanted: Vec<_> = assets.iter().map(|(id, _)| (*id, None)).collect();
    let described = titles_and_tables(rows, &wanted)?.into_iter().zip(assets);
    let entry = |((title, tables), (id, content)): ((Option<String>, Vec<Table>), (Uuid, EntryContent))| {
        let tables = if content == EntryContent::Upload { tables } else { Vec::new() };
        Entry { path: content.path(id, false), title, digest: None, tables }
    };
    Ok(described.map(entry).collect())
}

/// Returns the titles of assets, and the tables in their data, until there are as many columns as a document can have.
fn titles_and_tables(
    rows: &store::Reader,
    assets: &[(Uuid, Option<&str>)],
) -> Result<Vec<(Option<String>, Vec<Table>)>> {
    let mut described = vec![<(Option<String>, Vec<Table>)>::default(); assets.len()];
    let mut columns = 0;
    store::croissant::for_each_asset(rows, assets, MAX_DATASET_BYTES, |place, title, read_dataset| {
        let Some(found) = described.get_mut(place) else { return Ok(()) };
        found.0 = Some(title);
        if columns >= document::MAX_COLUMNS {
            return Ok(());
        }
        let Some(json) = read_dataset()? else { return Ok(()) };
        let dataset: Dataset = serde_json::from_str(&json).map_err(Error::internal)?;
        for mut table in dataset.tables {
            if columns >= document::MAX_COLUMNS {
                break;
            }
            table.sample = Vec::new();
            columns += table.columns.len();
            found.1.push(table);
        }
        Ok(())
    })?;
    Ok(described)
}
