//! Descriptions of listings in Croissant, the format for datasets of machine learning: for the catalog, and for bundles.

mod document;
mod file_patterns;

use uuid::Uuid;

use self::document::{Archive, Entry, Listing};
use super::{access::ListingViewer, browse, bundles};
use crate::{
    artifacts::{
        datasets::{Dataset, Format, Table},
        quality_checks::license::{LICENSE_FOUND, licenses_in},
    },
    domain::{
        bundles::{EntryContent, ManifestEntry, archive_name},
        listings::ListingRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    market::Reader,
    store::{self, bundles::Bundle, croissant::ListingFacts},
};

/// Maximum number of entries that a description has.
const MAX_ENTRIES: u32 = 1_000;

/// Maximum size of the stored description of a dataset in bytes. Tables of data with a longer one are left out.
const MAX_DATASET_BYTES: u64 = 4_000_000;

/// Maximum size of all stored descriptions that are read for a document. Tables of the data after that are left out.
const MAX_BYTES: u64 = 16_000_000;

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
    let (found, attached) = store::croissant::find(reader.rows, listing.row_id)?;
    let messages = store::croissant::list_messages(reader.rows, listing.row_id, LICENSE_FOUND.key)?;
    let described = described(found, addresses.listing, licenses_of(&messages));
    let archive = Archive { name: archive_name(id), url: addresses.bundle, entries: all.unwrap_or(attached) };
    document::render(&described, Some(&archive), &entries).map_err(Error::internal)
}

/// Returns the description for a bundle with these entries. It describes the listing at the time when the bundle was fixed,
/// with the paths in the unpacked bundle.
pub fn describe_bundle(
    rows: &store::Reader,
    bundle: &Bundle,
    listing: &ListingFacts,
    licenses: Vec<String>,
    public_url: &str,
    manifest: &[ManifestEntry],
) -> Result<Vec<u8>> {
    let id = bundle.listing_id;
    let url = if public_url.is_empty() { id.urn().to_string() } else { listing_url(public_url, id) };
    let mut entries = delivered_entries(rows, manifest)?;
    for (entry, title) in entries.iter_mut().zip(store::croissant::list_fixed_titles(rows, bundle.row_id)?) {
        entry.title = Some(title);
    }
    document::render(&described(listing.clone(), url, licenses), None, &entries).map_err(Error::internal)
}

/// Returns the address of a listing, at a server with this base URL.
pub fn listing_url(base_url: &str, id: Uuid) -> String {
    format!("{base_url}/v2/listings/browse/{id}")
}

/// Returns SPDX expressions of the licenses that these messages of passed checks name.
pub(super) fn licenses_of(messages: &[String]) -> Vec<String> {
    let mut licenses: Vec<String> = messages.iter().flat_map(|message| licenses_in(message)).collect();
    licenses.sort();
    licenses.dedup();
    licenses
}

/// Returns what is said about a listing.
fn described(found: ListingFacts, url: String, licenses: Vec<String>) -> Listing {
    Listing {
        url,
        title: found.title,
        description: found.description,
        publisher: found.vendor,
        created_at: Timestamp(found.created_at).to_string(),
        updated_at: Timestamp(found.updated_at).to_string(),
        published_at: found.published_at.map(|at| Timestamp(at).to_string()),
        licenses,
        keywords: [found.domain_tags, found.tag_slugs].concat(),
    }
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

/// Returns the titles of assets, and the tables in their data, until there are as many columns as a document can have, or as many
/// bytes as may be read.
fn titles_and_tables(
    rows: &store::Reader,
    assets: &[(Uuid, Option<&str>)],
) -> Result<Vec<(Option<String>, Vec<Table>)>> {
    let mut described = vec![<(Option<String>, Vec<Table>)>::default(); assets.len()];
    let found = store::croissant::list_described(rows, assets)?;
    let is_read = are_read(found.iter().map(|asset| asset.dataset_bytes));
    let (mut places, mut wanted) = (Vec::new(), Vec::new());
    for (asset, is_read) in found.into_iter().zip(is_read) {
        if is_read {
            places.push(asset.place);
            wanted.push(asset.row_id);
        }
        if let Some(described) = described.get_mut(asset.place) {
            described.0 = Some(asset.title);
        }
    }
    let mut columns = 0;
    store::croissant::for_each_dataset(rows, &wanted, |index, json| {
        let asset = places.get(index).and_then(|place| described.get_mut(*place));
        let Some((_, tables)) = asset.filter(|_| columns < document::MAX_COLUMNS) else { return Ok(()) };
        let dataset: Dataset = serde_json::from_str(&json).map_err(Error::internal)?;
        // In this format, data without columns is not a table.
        for mut table in dataset.tables.into_iter().filter(|table| !table.columns.is_empty()) {
            if columns >= document::MAX_COLUMNS {
                break;
            }
            // Only that of JSON Lines says more about the columns.
            if table.format != Format::JsonLines {
                table.sample = Vec::new();
            }
            columns += table.columns.len();
            tables.push(table);
        }
        Ok(())
    })?;
    Ok(described)
}

/// Decides for each stored description of a dataset whether to read it, given the sizes of all: it must not be too large, alone
/// or together with those before it.
fn are_read(sizes: impl Iterator<Item = Option<u64>>) -> Vec<bool> {
    let mut remaining = MAX_BYTES;
    let mut is_read = |size: u64| {
        let rest = remaining.checked_sub(size).filter(|_| size <= MAX_DATASET_BYTES);
        remaining = rest.unwrap_or(remaining);
        rest.is_some()
    };
    sizes.map(|size| size.is_some_and(&mut is_read)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_of_datasets_are_read_up_to_a_limit() {
        let sizes = [Some(MAX_DATASET_BYTES), None, Some(MAX_DATASET_BYTES + 1), Some(0)];
        assert_eq!(are_read(sizes.into_iter()), [true, false, false, true]);
        let many = are_read(std::iter::repeat_n(Some(MAX_DATASET_BYTES), 1_000));
        let count = many.iter().filter(|is_read| **is_read).count() as u64;
        assert_eq!(count, MAX_BYTES / MAX_DATASET_BYTES);
    }
}
