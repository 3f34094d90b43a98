//! Bundles: the deliveries of purchases. The entries of a bundle are `{asset-id}/…`, one for each asset, after the manifest.

use data_encoding::HEXLOWER;
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::string_enum::string_enum;

/// Path of the manifest in a bundle.
pub const MANIFEST_PATH: &str = "manifest.json";

/// Path of the description in Croissant in a bundle.
pub const CROISSANT_PATH: &str = "croissant.json";

/// Path of the attestation in a bundle.
pub const ATTESTATION_PATH: &str = "attestation.json";

/// Hashed together with the manifest of a bundle that has no other document. It identifies the format of the archive: the bytes
/// of the archive depend only on the format and the manifest.
const FORMAT: &str = "marketplace bundle 1";

/// What is hashed with the documents of other bundles.
const FORMAT_WITH_DOCUMENTS: &str = "marketplace bundle 2";

string_enum! {
    /// What an entry is made of.
    EntryContent {
        /// The files of a commit.
        Repository = "repository",
        /// An uploaded archive.
        Upload = "upload",
        /// Versions and builds of tasks.
        Tasks = "tasks",
        /// The description of an asset without bytes.
        Description = "description",
    }
}

string_enum! {
    /// Where the bytes of a prepared entry are.
    EntrySource {
        /// In the file of an upload.
        Upload = "upload",
        /// In a file that was made for bundles.
        File = "file",
        /// In the database.
        Description = "description",
    }
}

impl EntryContent {
    /// Returns the path of an entry in a bundle.
    pub fn path(self, asset: Uuid, is_sample: bool) -> String {
        let name = match self {
            EntryContent::Repository | EntryContent::Upload if is_sample => "sample.zip",
            EntryContent::Repository => "repository.zip",
            EntryContent::Upload => "upload.zip",
            EntryContent::Tasks => "tasks.jsonl",
            EntryContent::Description => "asset.json",
        };
        format!("{asset}/{name}")
    }
}

/// Size and digests of the bytes of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryDigest {
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal.
    pub sha256: String,
    /// CRC-32 checksum.
    pub crc32: u32,
}

impl EntryDigest {
    /// Computes the digests of bytes in memory.
    pub fn of(bytes: &[u8]) -> EntryDigest {
        let sha256 = HEXLOWER.encode(&Sha256::digest(bytes));
        EntryDigest { size_bytes: bytes.len() as u64, sha256, crc32: crc32fast::hash(bytes) }
    }
}

/// An entry in the manifest of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ManifestEntry {
    /// Path in the bundle.
    pub path: String,
    /// ID of the asset.
    pub asset_id: Uuid,
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal.
    pub sha256: String,
    /// Why the entry is only the description of the asset; absent unless its data cannot be delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Returns the manifest of a bundle as it is delivered.
pub fn manifest(listing: Uuid, entries: &[ManifestEntry]) -> serde_json::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Manifest<'a> {
        listing_id: Uuid,
        entries: &'a [ManifestEntry],
    }
    let mut json = serde_json::to_vec_pretty(&Manifest { listing_id: listing, entries })?;
    json.push(b'\n');
    Ok(json)
}

/// A file of a bundle that describes it, and is before the entries. The first one is the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Path in the bundle.
    pub path: &'static str,
    /// The file as it is delivered.
    pub bytes: Vec<u8>,
}

/// Returns the entity tag of a bundle with these documents, without quotes: it determines all bytes, since the manifest has the
/// digests of the entries.
pub fn entity_tag(documents: &[Document]) -> String {
    if let [manifest] = documents {
        return HEXLOWER.encode(&Sha256::new().chain_update(FORMAT).chain_update(&manifest.bytes).finalize());
    }
    let digest =
        documents.iter().fold(Sha256::new().chain_update(FORMAT_WITH_DOCUMENTS), |digest, document| {
            digest.chain_update(document.path).chain_update([0]).chain_update(Sha256::digest(&document.bytes))
        });
    HEXLOWER.encode(&digest.finalize())
}

/// Returns the name of the file that is downloaded of a listing.
pub fn archive_name(listing: Uuid) -> String {
    format!("{listing}.zip")
}

/// Returns the bytes of a description, given its fields as a JSON object.
pub fn description(asset: Uuid, fields: &str) -> Vec<u8> {
    let rest = fields.strip_prefix('{').unwrap_or(fields);
    let separator = if rest.starts_with('}') { "" } else { "," };
    format!("{{\"asset_id\":\"{asset}\"{separator}{rest}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_begins_with_the_id() {
        let id = Uuid::from_u128(7);
        for (fields, expected) in [
            ("{}", serde_json::json!({"asset_id": id})),
            ("{\"a\":1}", serde_json::json!({"asset_id": id, "a": 1})),
        ] {
            let bytes = description(id, fields);
            assert_eq!(serde_json::from_slice::<serde_json::Value>(&bytes).unwrap(), expected);
        }
    }

    #[test]
    fn entity_tag_depends_on_all_documents() {
        let document = |path, bytes: &[u8]| Document { path, bytes: bytes.to_vec() };
        let manifest = || document(MANIFEST_PATH, b"a");
        let tag = entity_tag(&[manifest()]);
        assert_eq!(
            tag,
            HEXLOWER.encode(&Sha256::digest("marketplace bundle 1a")),
            "earlier bundles keep their tag"
        );
        let others = [
            entity_tag(&[document(MANIFEST_PATH, b"b")]),
            entity_tag(&[manifest(), document(CROISSANT_PATH, b"b")]),
            entity_tag(&[manifest(), document(CROISSANT_PATH, b"c")]),
        ];
        let tags: std::collections::BTreeSet<&String> = others.iter().chain([&tag]).collect();
        assert_eq!(tags.len(), 4);
        assert_eq!(EntryDigest::of(b"abc").crc32, 0x3524_41c2);
        assert!(EntryDigest::of(b"abc").sha256.starts_with("ba7816bf"));
    }
}
