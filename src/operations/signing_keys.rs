//! The keys by which the market signs: one at a time. The first one is created when a server first serves the market, or when a
//! copy of the market first signs. The public keys stay published.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::Serialize;

use super::{access::Platform, audit};
use crate::{
    domain::{
        attestations::{Envelope, PAYLOAD_TYPE, PublicKey, PublicKeys, Statement, sha256, signed_bytes},
        checkpoints::{Checkpoint, SignedCheckpoint},
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store,
};

/// Path at which the public keys are published.
pub const PUBLISHED_PATH: &str = "/.well-known/marketplace-keys.json";

/// The key in use, with its secret half. It has no `Debug`, so no log shows it.
pub struct SigningKey(Ed25519KeyPair);

/// A signed statement.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The envelope as a file.
    pub envelope: Vec<u8>,
    /// SHA-256 digest of the statement in hexadecimal.
    pub statement_sha256: String,
}

impl SigningKey {
    fn from_seed(seed: &[u8; 32]) -> Result<SigningKey> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed);
        pair.map(SigningKey).map_err(|_| Error::internal("the seed of the signing key was rejected"))
    }

    /// Signs a statement.
    pub fn sign<P: Serialize>(&self, statement: &Statement<P>) -> Result<Signed> {
        let statement = serde_json::to_vec(statement).map_err(Error::internal)?;
        let signature = self.0.sign(&signed_bytes(PAYLOAD_TYPE, &statement));
        let keyid = sha256(self.0.public_key().as_ref());
        let envelope = Envelope::new(&statement, &keyid, signature.as_ref());
        Ok(Signed {
            envelope: envelope.to_file().map_err(Error::internal)?,
            statement_sha256: sha256(&statement),
        })
    }

    /// Signs a checkpoint. Returns it as a signed note.
    pub fn sign_checkpoint(&self, checkpoint: &Checkpoint) -> String {
        let signature = self.0.sign(checkpoint.to_text().as_bytes());
        checkpoint.to_note(self.0.public_key().as_ref(), signature.as_ref())
    }
}

/// Returns the key in use; `None` before the first one, and in a copy of a market, which has no secrets of the original.
pub fn find(reader: &Reader) -> Result<Option<SigningKey>> {
    find_in(reader.rows)
}

/// Like [`find`], in a transaction that writes.
pub(super) fn find_in(rows: &store::Reader) -> Result<Option<SigningKey>> {
    store::signing_keys::find_seed(rows)?.map(|seed| SigningKey::from_seed(&seed)).transpose()
}

/// Returns the time of a signature that is made now: that from which the key in use is valid if the clock was set back since.
pub(super) fn signing_time(rows: &store::Reader, now: Timestamp) -> Result<Timestamp> {
    Ok(store::signing_keys::find_valid_from(rows)?.map_or(now, |from| from.max(now)))
}

/// Returns the key in use, and creates it if there is none.
pub fn find_or_create(writer: &Writer) -> Result<SigningKey> {
    if let Some(key) = find_in(writer.rows)? {
        return Ok(key);
    }
    replace(writer)
}

/// Ends the key in use, and creates another one.
fn replace(writer: &Writer) -> Result<SigningKey> {
    if find_in(writer.rows)?.is_none() {
        // If this is a copy, the log of the original is continued elsewhere.
        store::attestation_log::end(writer.rows)?;
    }
    // Includes a key whose secret this market does not have, if the market is a copy. After the clock was set back, a key is
    // used until its last signature.
    let last = store::attestation_log::find_last_time(writer.rows)?;
    store::signing_keys::end(writer.rows, last.map_or(writer.now, |last| last.max(writer.now)))?;
    create(writer)
}

fn create(writer: &Writer) -> Result<SigningKey> {
    let seed = writer.entropy.random_secret();
    let key = SigningKey::from_seed(&seed)?;
    let valid_from = valid_from(writer.now);
    store::signing_keys::insert(writer.rows, key.0.public_key().as_ref(), &seed, valid_from)?;
    Ok(key)
}

/// Returns the time from which a key that is created now is valid: the beginning of the day, since the exact time would tell
/// everybody when a copy of the market first sold something.
fn valid_from(now: Timestamp) -> Timestamp {
    now.day().start()
}

/// Replaces the key in use by a new one. The secret half of the old one is deleted. Returns the new one.
pub(super) fn rotate(writer: &mut Writer, platform: Platform) -> Result<PublicKey> {
    let key = replace(writer)?;
    audit::record_of_process(writer, platform, "rotate_signing_key", "signing_key")?;
    Ok(PublicKey::new(key.0.public_key().as_ref(), valid_from(writer.now), None))
}

/// Returns the public keys, the newest first.
pub fn list(reader: &Reader) -> Result<PublicKeys> {
    Ok(PublicKeys { keys: store::signing_keys::list(reader.rows)? })
}

/// Returns the key that the signature of a checkpoint names, with its bytes.
pub(super) fn find_named_key<'a>(
    signed: &SignedCheckpoint,
    keys: &'a PublicKeys,
) -> Option<(&'a PublicKey, Vec<u8>)> {
    let mut known = keys.keys.iter().filter_map(|key| Some((key, key.bytes()?)));
    known.find(|(_, bytes)| signed.names(bytes))
}

/// Whether a key, given by its bytes, has signed a checkpoint.
pub(super) fn is_signed_by(signed: &SignedCheckpoint, key: &[u8]) -> bool {
    let text = signed.checkpoint.to_text();
    UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), &signed.signature).is_ok()
}

/// Whether one of the keys has signed a checkpoint when it was in use.
pub(super) fn is_signed(signed: &SignedCheckpoint, keys: &PublicKeys) -> bool {
    find_named_key(signed, keys).is_some_and(|(key, bytes)| {
        key.is_valid_at(signed.checkpoint.signed_at) && is_signed_by(signed, &bytes)
    })
}
