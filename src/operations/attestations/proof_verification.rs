//! Verification of the proof that an attestation is in the log of its market. Nothing in the proof is trusted.

use crate::{
    domain::{
        attestations::{Delivery, PublicKey, PublicKeys},
        checkpoints::{Checkpoint, PublishedLogs, SignedCheckpoint, TreeHead, key_hash},
        log_proofs::{LogProof, Place},
        merkle,
    },
    operations::signing_keys::{find_named_key, is_signed, is_signed_by},
};

/// The part that a problem is in if it is in the proof.
pub const PROOF: &str = "proof";

/// A proof to verify.
#[derive(Clone, Copy, Debug)]
pub struct GivenProof<'a> {
    /// The file.
    pub file: &'a [u8],
    /// The published logs with which its head is compared.
    pub published: Option<&'a PublishedLogs>,
}

/// What was found out about the head of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The published log has the same root.
    Same,
    /// The published log has another root, so there are two histories.
    Different,
    /// There is no published head with this name and size, or one of the two heads is not signed by a known key that was in use
    /// at the time.
    NotCompared,
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct VerifiedProof {
    /// The head that has the attestation.
    pub checkpoint: Checkpoint,
    /// Whether all checks passed; `None` if nothing differs, but signatures were not checked because there are no keys.
    pub is_valid: Option<bool>,
    /// Whether the published log has the same head.
    pub comparison: Comparison,
}

/// Verifies that the head of a log has an attestation, and that a known key has signed the head when it was in use. `delivery` is
/// what the attestation says. Returns `None` if there is no checkpoint.
pub(super) fn verify(
    given: GivenProof,
    attestation: Option<&[u8]>,
    delivery: Option<&Delivery>,
    keys: Option<&PublicKeys>,
    problems: &mut Vec<String>,
) -> Option<VerifiedProof> {
    let (signed, leaf) = read(given.file, keys, problems)?;
    if attestation.is_some_and(|attestation| attestation != leaf) {
        problems.push("It is about another attestation than that of the bundle.".to_owned());
    }
    if delivery.is_some_and(|delivery| delivery.attested_at > signed.checkpoint.signed_at) {
        problems.push("The attestation is later than the head that has it.".to_owned());
    }
    let comparison = keys
        .zip(given.published)
        .map_or(Comparison::NotCompared, |(keys, logs)| compare(&signed, logs, keys));
    if comparison == Comparison::Different {
        problems
            .push("The published log has another root at this size, so there are two histories.".to_owned());
    }
    let is_valid = keys.map(|_| problems.is_empty()).or((!problems.is_empty()).then_some(false));
    Some(VerifiedProof { checkpoint: signed.checkpoint, is_valid, comparison })
}

/// Verifies the proof by itself. Returns its checkpoint, and the leaf.
fn read(
    file: &[u8],
    keys: Option<&PublicKeys>,
    problems: &mut Vec<String>,
) -> Option<(SignedCheckpoint, Vec<u8>)> {
    let proof: LogProof = match serde_json::from_slice(file) {
        Ok(proof) => proof,
        Err(cause) => {
            problems.push(format!("It is not a proof of the market: {cause}."));
            return None;
        }
    };
    let parsed = proof.place().and_then(|place| Some((SignedCheckpoint::parse(&place.note)?, place)));
    let Some((signed, mut place)) = parsed else {
        problems.push("Its hashes or its checkpoint are malformed.".to_owned());
        return None;
    };
    if let Some(keys) = keys {
        verify_keys(&signed, &mut place, &proof, keys, problems);
    }
    let checkpoint = &signed.checkpoint;
    if !place.key_hash.starts_with(&signed.key_hint) {
        problems.push("It names another key than its checkpoint.".to_owned());
    }
    let leaf = proof.dsse_envelope.to_file().unwrap_or_default();
    if !is_included(&leaf, &place, checkpoint) {
        problems.push("Its hashes do not lead from the attestation to the root of the log.".to_owned());
    }
    // Values that the proof states twice are equal. It has only the known fields, each once.
    if LogProof::new(proof.dsse_envelope.clone(), &place, checkpoint) != proof {
        problems.push(
            "Some of its values are not those that its attestation and its checkpoint have.".to_owned(),
        );
    }
    Some((signed, leaf))
}

/// Verifies the signature of a checkpoint, and that the keys of the checkpoint and of the attestation were in use at its time.
/// Completes the hash of its key.
fn verify_keys(
    signed: &SignedCheckpoint,
    place: &mut Place,
    proof: &LogProof,
    keys: &PublicKeys,
    problems: &mut Vec<String>,
) {
    let checkpoint = &signed.checkpoint;
    let at = checkpoint.signed_at;
    match find_named_key(signed, keys) {
        None => problems.push("The key that signed its checkpoint is not among the keys.".to_owned()),
        Some((key, bytes)) => {
            place.key_hash = key_hash(&checkpoint.head.origin, &bytes).to_vec();
            if !is_signed_by(signed, &bytes) {
                problems.push("The signature of its checkpoint is not valid.".to_owned());
            } else if !key.is_valid_at(at) {
                problems.push(format!("The market did not use the key of its checkpoint at {at}."));
            }
        }
    }
    if let Some(key) = find_signer(proof, keys).filter(|key| !key.is_valid_at(at)) {
        let keyid = &key.keyid;
        problems.push(format!(
            "The market did not use the key {keyid} of the attestation at {at}, when it was logged."
        ));
    }
}

fn find_signer<'a>(proof: &LogProof, keys: &'a PublicKeys) -> Option<&'a PublicKey> {
    let signature = proof.dsse_envelope.signatures.first()?;
    keys.keys.iter().find(|key| key.keyid == signature.keyid)
}

fn is_included(leaf: &[u8], place: &Place, checkpoint: &Checkpoint) -> bool {
    let (leaf, head) = (merkle::leaf_hash(leaf), &checkpoint.head);
    merkle::is_included(&leaf, place.index, &place.hashes, head.size, &head.root)
}

/// Compares a head with the published ones of the same name and size. A head that the market has not signed proves nothing.
fn compare(own: &SignedCheckpoint, published: &PublishedLogs, keys: &PublicKeys) -> Comparison {
    if !is_signed(own, keys) {
        return Comparison::NotCompared;
    }
    let head = &own.checkpoint.head;
    let is_same_place = |other: &TreeHead| other.origin == head.origin && other.size == head.size;
    let logs = published.logs.iter().filter(|log| log.origin == head.origin);
    let notes = logs.flat_map(|log| &log.heads).filter_map(|note| SignedCheckpoint::parse(note));
    let mut others =
        notes.filter(|signed| is_same_place(&signed.checkpoint.head) && is_signed(signed, keys)).peekable();
    if others.peek().is_none() {
        Comparison::NotCompared
    } else if others.all(|other| other.checkpoint.head.root == head.root) {
        Comparison::Same
    } else {
        Comparison::Different
    }
}
