//! Attestations: what the market signs about a delivery. A statement of in-toto names the files by their digests, and an envelope
//! (DSSE) has it with its signatures. Nothing here signs or verifies.

use arrayvec::ArrayVec;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::time::Timestamp;

/// Type of every statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// Type of what a statement says about a delivery.
pub const DELIVERY_TYPE: &str = "urn:x-marketplace:delivery:v1";

/// Type of what a statement says about the state of an attestation.
pub const STATUS_TYPE: &str = "urn:x-marketplace:attestation-status:v1";

/// Media type of a statement in an envelope.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// The algorithm of all keys, as in-toto names it.
pub const ALGORITHM: &str = "ed25519";

/// A statement about files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement<P> {
    /// [`STATEMENT_TYPE`].
    #[serde(rename = "_type")]
    pub kind: String,
    /// The files.
    pub subject: Vec<Subject>,
    /// The type of `predicate`.
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// What it says about them.
    pub predicate: P,
}

/// A file that a statement is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Path in the bundle.
    pub name: String,
    /// Its digests.
    pub digest: DigestSet,
}

/// Digests of a file by algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestSet {
    /// SHA-256 digest in hexadecimal.
    pub sha256: String,
}

impl<P> Statement<P> {
    /// Returns a statement of a type about files with these names and SHA-256 digests.
    pub fn new(
        predicate_type: &str,
        files: impl IntoIterator<Item = (String, String)>,
        predicate: P,
    ) -> Statement<P> {
        let subject = |(name, sha256)| Subject { name, digest: DigestSet { sha256 } };
        Statement {
            kind: STATEMENT_TYPE.to_owned(),
            subject: files.into_iter().map(subject).collect(),
            predicate_type: predicate_type.to_owned(),
            predicate,
        }
    }
}

/// Maximum number of signatures of an envelope that is read. The market makes one.
const MAX_SIGNATURES: usize = 8;

/// A signed statement, as DSSE has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// The statement in Base64.
    pub payload: String,
    /// [`PAYLOAD_TYPE`].
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    /// The signatures.
    pub signatures: ArrayVec<Signature, MAX_SIGNATURES>,
}

/// A signature of an envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// ID of the key.
    pub keyid: String,
    /// The signature of [`signed_bytes`] in Base64.
    pub sig: String,
}

impl Envelope {
    /// Returns the envelope of a statement with a signature of its [`signed_bytes`].
    pub fn new(statement: &[u8], keyid: &str, signature: &[u8]) -> Envelope {
        let signature = Signature { keyid: keyid.to_owned(), sig: STANDARD.encode(signature) };
        Envelope {
            payload: STANDARD.encode(statement),
            payload_type: PAYLOAD_TYPE.to_owned(),
            signatures: ArrayVec::from_iter([signature]),
        }
    }

    /// Returns the envelope as the file that is delivered.
    pub fn to_file(&self) -> serde_json::Result<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        Ok(json)
    }
}

/// Returns the bytes that a signature of a statement covers: its pre-authentication encoding by DSSE.
pub fn signed_bytes(payload_type: &str, statement: &[u8]) -> Vec<u8> {
    let (type_length, length) = (payload_type.len(), statement.len());
    [format!("DSSEv1 {type_length} {payload_type} {length} ").as_bytes(), statement].concat()
}

/// Encodes bytes as Base64.
pub fn encode_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes Base64; `None` if it is not valid.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Returns the SHA-256 digest of bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Returns the digest by which an attestation names a buyer: SHA-256 of a salt and of the ID of the team as text.
pub fn buyer_digest(salt: &[u8; 32], team: Uuid) -> String {
    HEXLOWER.encode(&Sha256::new().chain_update(salt).chain_update(team.to_string()).finalize())
}

/// What the market says about a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// Base URL of the market, as its settings have it; null if they have none.
    pub market: Option<String>,
    /// Time of the attestation, in the time of the market.
    #[schemars(with = "String")]
    pub attested_at: Timestamp,
    /// The listing that was bought.
    pub listing: DeliveredListing,
    /// What was bought of it: `all`, `selection`, or `sample`.
    pub scope: String,
    /// Whether the sale was exclusive.
    pub exclusive: bool,
    /// The buyer, whom only those can recognize who know the salt. It is on the receipt of the purchase.
    pub buyer: BuyerDigest,
    /// The agreement; null if the purchase has none.
    pub agreement: Option<AgreementReference>,
    /// SPDX expressions of the licenses that the quality run has found in the delivered data.
    pub licenses: Vec<String>,
    /// The assets, in the order of their entries in the bundle.
    pub assets: Vec<DeliveredAsset>,
    /// The latest quality run of the listing that was completed before the purchase; null unless it has checked something of what
    /// is delivered.
    pub quality_run: Option<AttestedRun>,
    /// Number of checks that are left out because there are too many.
    pub omitted_checks: u64,
}

/// Returns the JSON Schema of [`Delivery`].
pub fn delivery_schema() -> String {
    let mut schema = schemars::schema_for!(Delivery);
    schema.insert("$id".to_owned(), DELIVERY_TYPE.into());
    format!("{:#}\n", schema.to_value())
}

/// A listing as it was bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveredListing {
    /// ID of the listing.
    pub id: Uuid,
    /// Title of the listing.
    pub title: String,
    /// Name of the vendor.
    pub vendor: String,
    /// Time at which the market certified the listing; null if it was not certified at the purchase, or if the certification had
    /// ended before the attestation.
    #[schemars(with = "Option<String>")]
    pub certified_at: Option<Timestamp>,
}

/// Names a buyer to those who know the salt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuyerDigest {
    /// SHA-256 digest, in hexadecimal, of 32 random bytes followed by the ID of the team as text.
    pub salted_sha256: String,
}

/// The agreement of a purchase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementReference {
    /// ID of the document; null if it has none.
    pub id: Option<Uuid>,
    /// SHA-256 digest, in hexadecimal, of the vendor's terms in it: of all that follows the heading `Terms of the vendor:` and an
    /// empty line. The digest of the whole text would name the buyer to those who guess it. Null if the text is not stored.
    pub terms_sha256: Option<String>,
}

/// An asset as it was delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveredAsset {
    /// ID of the asset.
    pub id: Uuid,
    /// Slug of its kind.
    pub kind: String,
    /// Path of its entry, which is a subject of the statement.
    pub path: String,
    /// ID of the commit whose files the entry has; null unless it has files of a repository.
    pub commit: Option<String>,
    /// SHA-256 digest of the upload that the entry is or was taken from; null unless there is one.
    pub upload_sha256: Option<String>,
    /// Why the entry is only a description; null unless the data could not be delivered.
    pub problem: Option<String>,
}

/// A quality run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttestedRun {
    /// ID of the run.
    pub id: Uuid,
    /// Time at which it was completed.
    #[schemars(with = "String")]
    pub completed_at: Timestamp,
    /// The checks, in their order: those of the delivered assets whose data is what the run has checked; and if all are such, those
    /// of the whole listing.
    pub checks: Vec<AttestedCheck>,
}

/// A check of a quality run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttestedCheck {
    /// Slug of the check.
    pub key: String,
    /// Name of the check for people.
    pub label: String,
    /// How it was performed: `automated`, `environment`, `task`, or `review`.
    pub kind: String,
    /// ID of the asset; null if the check is about the whole listing.
    pub asset_id: Option<Uuid>,
    /// Whether the run fails if the check fails.
    pub mandatory: bool,
    /// Whether the check is only informational.
    pub informational: bool,
    /// The verdict: `passed`, `failed`, or `error`.
    pub status: String,
}

/// The state of an attestation, whose subject is the statement by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttestationStatus {
    /// Time for which this is said.
    #[schemars(with = "String")]
    pub stated_at: Timestamp,
    /// Time of the refund, which ended the right to use the data; null unless the purchase was refunded.
    #[schemars(with = "Option<String>")]
    pub refunded_at: Option<Timestamp>,
    /// Time at which the certification that the attestation states ended; null if it has not, or if there was none.
    #[schemars(with = "Option<String>")]
    pub certification_revoked_at: Option<Timestamp>,
}

/// The public keys of a market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicKeys {
    /// The keys, the newest first.
    pub keys: Vec<PublicKey>,
}

/// A public key, in the form of in-toto and TUF, and when the market signed with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicKey {
    /// ID of the key: the SHA-256 digest of its bytes in hexadecimal.
    pub keyid: String,
    /// [`ALGORITHM`].
    pub keytype: String,
    /// [`ALGORITHM`].
    pub scheme: String,
    /// The key.
    pub keyval: KeyValue,
    /// Time from which the market signed with it.
    pub valid_from: Timestamp,
    /// Time until which it did; null while it does.
    pub valid_until: Option<Timestamp>,
}

/// The bytes of a public key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyValue {
    /// The 32 bytes in hexadecimal.
    pub public: String,
}

impl PublicKey {
    /// Returns a key with these bytes.
    pub fn new(bytes: &[u8], valid_from: Timestamp, valid_until: Option<Timestamp>) -> PublicKey {
        PublicKey {
            keyid: sha256(bytes),
            keytype: ALGORITHM.to_owned(),
            scheme: ALGORITHM.to_owned(),
            keyval: KeyValue { public: HEXLOWER.encode(bytes) },
            valid_from,
            valid_until,
        }
    }

    /// Returns the bytes of the key; `None` if it is of another algorithm, or malformed.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let bytes = HEXLOWER_PERMISSIVE.decode(self.keyval.public.as_bytes()).ok();
        bytes.filter(|_| self.scheme == ALGORITHM)
    }

    /// Whether the market signed with the key at a time.
    pub fn is_valid_at(&self, at: Timestamp) -> bool {
        self.valid_from <= at && self.valid_until.is_none_or(|until| at <= until)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The example of DSSE's specification.
    #[test]
    fn signed_bytes_are_those_of_the_specification() {
        let bytes = signed_bytes("http://example.com/HelloWorld", b"hello world");
        assert_eq!(bytes, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn few_signatures_are_read() {
        let envelope = Envelope::new(b"{}", "key", b"signature");
        let read = |count: usize| {
            let signatures = vec![&envelope.signatures[0]; count];
            let file =
                json!({"payload": envelope.payload, "payloadType": PAYLOAD_TYPE, "signatures": signatures});
            serde_json::from_value::<Envelope>(file)
        };
        assert_eq!(read(1).unwrap(), envelope);
        assert_eq!(read(MAX_SIGNATURES).unwrap().signatures.len(), MAX_SIGNATURES);
        assert!(read(MAX_SIGNATURES + 1).is_err());
    }

    #[test]
    fn buyer_is_hidden_by_the_salt() {
        let team = Uuid::from_u128(7);
        assert_eq!(
            buyer_digest(&[1; 32], team),
            sha256(&[&[1; 32][..], b"00000000-0000-0000-0000-000000000007"].concat())
        );
        assert_ne!(buyer_digest(&[1; 32], team), buyer_digest(&[2; 32], team));
    }

    #[test]
    fn keys_have_bytes_and_a_validity() {
        let key = PublicKey::new(&[0xab; 32], Timestamp(5), Some(Timestamp(9)));
        assert_eq!(key.bytes(), Some(vec![0xab; 32]));
        let valid: Vec<bool> = [4, 5, 9, 10].iter().map(|at| key.is_valid_at(Timestamp(*at))).collect();
        assert_eq!(valid, [false, true, true, false]);
        let with = |public: &str, scheme: &str| PublicKey {
            keyval: KeyValue { public: public.to_owned() },
            scheme: scheme.to_owned(),
            ..key.clone()
        };
        for (public, scheme) in [("abc", ALGORITHM), ("zz", ALGORITHM), ("ab", "rsa")] {
            assert_eq!(with(public, scheme).bytes(), None, "{public} {scheme}");
        }
    }
}
