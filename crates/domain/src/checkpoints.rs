//! The signed heads of a log: a checkpoint (C2SP tlog-checkpoint) in a signed note (C2SP signed-note), whose key has the name of
//! the log. Nothing here signs or verifies.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{merkle::Hash, time::Timestamp};

/// Begins the line of a checkpoint with its time.
const TIME: &str = "time ";

/// Begins the line of a checkpoint with the last head of the log before.
const PREDECESSOR: &str = "predecessor ";

/// Begins the line of a signature.
const SIGNATURE: &str = "\u{2014} ";

/// The type of Ed25519 in the hash of a key.
const ED25519: u8 = 1;

/// Length of the part of a key's hash that is in a signature.
const HINT: usize = 4;

/// The state of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeHead {
    /// The name of the log.
    pub origin: String,
    /// Number of leaves.
    pub size: u64,
    /// The root of the tree.
    pub root: Hash,
}

/// Formats the head in one line: the name, the size, and the root in Base64.
impl fmt::Display for TreeHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.origin, self.size, STANDARD.encode(self.root))
    }
}

impl TreeHead {
    /// Parses a head that was formatted.
    pub fn parse(line: &str) -> Option<TreeHead> {
        let mut words = line.split(' ');
        let head = TreeHead::of_parts(words.next()?, words.next()?, words.next()?)?;
        (head.to_string() == line).then_some(head)
    }

    fn of_parts(origin: &str, size: &str, root: &str) -> Option<TreeHead> {
        let root = STANDARD.decode(root).ok()?.try_into().ok()?;
        Some(TreeHead { origin: origin.to_owned(), size: size.parse().ok()?, root })
    }
}

/// What is signed of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The state.
    pub head: TreeHead,
    /// Time of the signature, with milliseconds.
    pub signed_at: Timestamp,
    /// The last head of the log that this one replaces, as far as the market knows; `None` for the first log.
    pub predecessor: Option<TreeHead>,
}

impl Checkpoint {
    /// Returns the text that is signed.
    pub fn to_text(&self) -> String {
        let TreeHead { origin, size, root } = &self.head;
        let predecessor = self.predecessor.iter().map(|head| format!("{PREDECESSOR}{head}\n"));
        let root = STANDARD.encode(root);
        format!("{origin}\n{size}\n{root}\n{TIME}{}\n{}", self.signed_at, predecessor.collect::<String>())
    }

    /// Parses the text of a checkpoint, which must be as the market writes it.
    pub fn parse(text: &str) -> Option<Checkpoint> {
        let mut lines = text.lines();
        let head = TreeHead::of_parts(lines.next()?, lines.next()?, lines.next()?)?;
        let signed_at = Timestamp::parse(lines.next()?.strip_prefix(TIME)?)?;
        let predecessor = match lines.next() {
            Some(line) => Some(TreeHead::parse(line.strip_prefix(PREDECESSOR)?)?),
            None => None,
        };
        let checkpoint = Checkpoint { head, signed_at, predecessor };
        (checkpoint.to_text() == text).then_some(checkpoint)
    }

    /// Returns the signed note of the checkpoint, with the signature of its text by a key.
    pub fn to_note(&self, public_key: &[u8], signature: &[u8]) -> String {
        let (text, name) = (self.to_text(), &self.head.origin);
        let hint = &key_hash(name, public_key)[..HINT];
        format!("{text}\n{SIGNATURE}{name} {}\n", STANDARD.encode([hint, signature].concat()))
    }
}

/// Returns the hash of a public key for the log with this name.
pub fn key_hash(origin: &str, public_key: &[u8]) -> Hash {
    let name = Sha256::new().chain_update(origin).chain_update([b'\n', ED25519]);
    name.chain_update(public_key).finalize().into()
}

/// A checkpoint with its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The beginning of the [`key_hash`] of the key.
    pub key_hint: [u8; HINT],
    /// The signature of the checkpoint's text.
    pub signature: Vec<u8>,
}

impl SignedCheckpoint {
    /// Parses a signed note with one signature, which must be as the market writes it.
    pub fn parse(note: &str) -> Option<SignedCheckpoint> {
        let (before, line) = note.rsplit_once(&format!("\n{SIGNATURE}"))?;
        let checkpoint = Checkpoint::parse(before)?;
        let encoded = line.strip_suffix('\n')?.strip_prefix(&checkpoint.head.origin)?.strip_prefix(' ')?;
        let bytes = STANDARD.decode(encoded).ok()?;
        let (key_hint, signature) = bytes.split_first_chunk()?;
        Some(SignedCheckpoint { checkpoint, key_hint: *key_hint, signature: signature.to_vec() })
    }

    /// Whether the signature claims to be made by a key. This does not verify the claim.
    pub fn names(&self, public_key: &[u8]) -> bool {
        key_hash(&self.checkpoint.head.origin, public_key)[..HINT] == self.key_hint
    }
}

/// The logs of a market as they are published, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedLogs {
    /// The logs.
    pub logs: Vec<PublishedLog>,
}

/// A published log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedLog {
    /// The name of the log.
    pub origin: String,
    /// The last head of the log that it replaces, in one line; null for the first log.
    pub predecessor: Option<String>,
    /// Its signed checkpoints, the newest first.
    pub heads: Vec<String>,
}

/// A proof that a tree continues an earlier one of the same log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedConsistency {
    /// The name of the log.
    pub origin: String,
    /// Number of leaves of the earlier tree.
    pub from: u64,
    /// Number of leaves of the later tree.
    pub to: u64,
    /// The hashes of the proof in Base64, in the order of RFC 6962.
    pub hashes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        let head = |name: &str, size| TreeHead { origin: name.to_owned(), size, root: [7; 32] };
        Checkpoint { head: head("urn:b", 64), signed_at: Timestamp(0), predecessor: Some(head("urn:a", 32)) }
    }

    #[test]
    fn checkpoints_are_notes() {
        let root = STANDARD.encode([7; 32]);
        let text = format!("urn:b\n64\n{root}\ntime 1970-01-01T00:00:00.000Z\npredecessor urn:a 32 {root}\n");
        assert_eq!(checkpoint().to_text(), text);
        let note = checkpoint().to_note(&[1; 32], &[2; 64]);
        let hash = Sha256::new().chain_update(b"urn:b\n\x01").chain_update([1; 32]).finalize();
        let signature = STANDARD.encode([&hash[..4], &[2; 64]].concat());
        assert_eq!(note, format!("{text}\n— urn:b {signature}\n"));
        let parsed = SignedCheckpoint::parse(&note).unwrap();
        assert_eq!((&parsed.checkpoint, parsed.signature.as_slice()), (&checkpoint(), &[2; 64][..]));
        assert!(parsed.names(&[1; 32]) && !parsed.names(&[2; 32]));
        let first = Checkpoint { predecessor: None, ..checkpoint() };
        assert_eq!(Checkpoint::parse(&first.to_text()), Some(first));
    }

    #[test]
    fn other_texts_are_no_notes() {
        let note = checkpoint().to_note(&[1; 32], &[2; 64]);
        let changes: [(&str, &str); 7] = [
            ("urn:b\n64", "urn:b\n064"),
            ("urn:b\n64", "urn:c\n64"),
            ("\n\n", "\n"),
            ("\n\n", "\nmore\n\n"),
            ("time ", "at "),
            ("000Z", "0000Z"),
            ("predecessor urn:a 32", "predecessor urn:a  32"),
        ];
        for (from, to) in changes {
            assert!(note.contains(from), "{from}");
            assert_eq!(SignedCheckpoint::parse(&note.replacen(from, to, 1)), None, "{from} {to}");
        }
        assert_eq!(SignedCheckpoint::parse(&format!("{note}\n")), None);
    }
}
