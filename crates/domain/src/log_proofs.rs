//! The proof that an attestation is in the log of its market, as a bundle of Sigstore (version 0.3): the JSON form of its
//! Protocol Buffers, in which bytes are Base64, and large numbers are texts.

use arrayvec::ArrayVec;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use crate::{attestations::Envelope, checkpoints::Checkpoint, merkle::Hash};

/// The media type of a proof.
pub const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// Kind of the leaves of a log: a DSSE envelope.
const LEAF_KIND: &str = "dsse";

/// The version of [`LEAF_KIND`].
const LEAF_VERSION: &str = "0.0.1";

/// Maximum number of hashes: a tree has fewer than 2^64 leaves.
const MAX_HASHES: usize = 64;

/// The proof. Values that it states twice are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogProof {
    media_type: String,
    verification_material: VerificationMaterial,
    /// The attestation.
    pub dsse_envelope: Envelope,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VerificationMaterial {
    public_key: PublicKeyHint,
    tlog_entries: [LogEntry; 1],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicKeyHint {
    /// ID of the key that has signed the attestation.
    hint: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LogEntry {
    log_index: String,
    log_id: LogId,
    kind_version: KindVersion,
    /// Seconds since 1970 of the time of the checkpoint.
    integrated_time: String,
    inclusion_proof: InclusionProof,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LogId {
    /// The hash of the key that has signed the checkpoint.
    key_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindVersion {
    kind: String,
    version: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InclusionProof {
    log_index: String,
    root_hash: String,
    tree_size: String,
    hashes: ArrayVec<String, MAX_HASHES>,
    checkpoint: Note,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    envelope: String,
}

/// Where an attestation is in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of leaves before it.
    pub index: u64,
    /// The hashes that lead from its leaf to the root, from the leaf up.
    pub hashes: Vec<Hash>,
    /// The signed checkpoint of the tree.
    pub note: String,
    /// The hash of the key that has signed the checkpoint.
    pub key_hash: Vec<u8>,
}

impl LogProof {
    /// Returns the proof that an attestation is at a place of a log. `checkpoint` is that in the note.
    pub fn new(attestation: Envelope, place: &Place, checkpoint: &Checkpoint) -> LogProof {
        let Place { index, hashes, note, key_hash } = place;
        let hint = attestation.signatures.first().map(|signature| signature.keyid.clone());
        let inclusion_proof = InclusionProof {
            log_index: index.to_string(),
            root_hash: STANDARD.encode(checkpoint.head.root),
            tree_size: checkpoint.head.size.to_string(),
            hashes: hashes.iter().take(MAX_HASHES).map(|hash| STANDARD.encode(hash)).collect(),
            checkpoint: Note { envelope: note.clone() },
        };
        let entry = LogEntry {
            log_index: index.to_string(),
            log_id: LogId { key_id: STANDARD.encode(key_hash) },
            kind_version: KindVersion { kind: LEAF_KIND.to_owned(), version: LEAF_VERSION.to_owned() },
            integrated_time: checkpoint.signed_at.seconds().to_string(),
            inclusion_proof,
        };
        LogProof {
            media_type: MEDIA_TYPE.to_owned(),
            verification_material: VerificationMaterial {
                public_key: PublicKeyHint { hint: hint.unwrap_or_default() },
                tlog_entries: [entry],
            },
            dsse_envelope: attestation,
        }
    }

    /// Returns the place that the proof states; `None` if it is malformed.
    pub fn place(&self) -> Option<Place> {
        let [LogEntry { log_id, inclusion_proof, .. }] = &self.verification_material.tlog_entries;
        let hash = |text: &String| STANDARD.decode(text).ok()?.try_into().ok();
        Some(Place {
            index: inclusion_proof.log_index.parse().ok()?,
            hashes: inclusion_proof.hashes.iter().map(hash).collect::<Option<_>>()?,
            note: inclusion_proof.checkpoint.envelope.clone(),
            key_hash: STANDARD.decode(&log_id.key_id).ok()?,
        })
    }

    /// Returns the proof as the file that is delivered.
    pub fn to_file(&self) -> serde_json::Result<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        Ok(json)
    }
}
