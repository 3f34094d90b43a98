//! Verification of a bundle, without a market: every byte of the archive, the digests of all files, the signature, and the
//! signed statement. Nothing in the file is trusted.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read},
};

use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, de::DeserializeOwned};
use uuid::Uuid;

use super::proof_verification::{self, GivenProof, PROOF, VerifiedProof};
use crate::{
    blobs::hash_for_bundle,
    domain::{
        attestations::{
            DELIVERY_TYPE, Delivery, Envelope, PAYLOAD_TYPE, PublicKeys, STATEMENT_TYPE, Statement,
            buyer_digest, decode_base64, signed_bytes,
        },
        bundles::{ATTESTATION_PATH, CROISSANT_PATH, MANIFEST_PATH},
        zip_layout::{HEADER_BYTES, Next, Part, StoredEntry, ZipLayout, read_header, read_next},
    },
};

/// The part of a bundle that a problem is in if it is in no file.
pub const ARCHIVE: &str = "archive";

/// Paths of the documents, which are no entries of the manifest.
const DOCUMENTS: [&str; 3] = [MANIFEST_PATH, CROISSANT_PATH, ATTESTATION_PATH];

/// Maximum number of files.
pub const MAX_FILES: usize = 200_000;

/// Maximum size of a document in bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 128 << 20;

/// Maximum length of the path of a file in bytes. The paths that the market writes have about 50.
pub const MAX_PATH_BYTES: usize = 100;

/// Maximum length of the header of a file in bytes: with the path, and with sizes in ZIP64.
const MAX_HEADER_BYTES: usize = HEADER_BYTES + MAX_PATH_BYTES + 20;

/// Maximum number of mismatches that are named.
pub const MAX_MISMATCHES: usize = 1_000;

/// Maximum number of characters of a text in a mismatch.
const MAX_TEXT_CHARS: usize = 400;

/// Number of bytes that are compared at a time.
const CHUNK: usize = 1 << 16;

/// Who a bundle should be for.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedBuyer {
    /// ID of the team.
    pub team: Uuid,
    /// The salt on the receipt.
    pub salt: [u8; 32],
}

/// The input of the verification of a bundle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// The keys of the market.
    pub keys: Option<&'a PublicKeys>,
    /// Who the buyer should be.
    pub buyer: Option<ExpectedBuyer>,
    /// The proof that the attestation is in the log.
    pub proof: Option<GivenProof<'a>>,
}

/// A difference between a bundle and what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Path of the file, [`ARCHIVE`], or [`PROOF`].
    pub part: String,
    /// What is wrong, as a sentence.
    pub message: String,
}

/// What was verified about the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureState {
    /// It was made by the key with this ID, which was valid then.
    Valid(String),
    /// It was not checked, because no keys were given.
    NotChecked,
    /// It is not valid; a mismatch says why.
    Invalid,
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct Verification {
    /// Number of files.
    pub files: usize,
    /// Size of the bundle in bytes.
    pub size_bytes: u64,
    /// All mismatches, or the first [`MAX_MISMATCHES`] and one that says that there are more.
    pub mismatches: Vec<Mismatch>,
    /// The signature.
    pub signature: SignatureState,
    /// Whether the buyer was compared, and is the expected one.
    pub is_buyer_confirmed: bool,
    /// What the attestation says; `None` if it cannot be read.
    pub delivery: Option<Delivery>,
    /// What the proof says; `None` if there is none, or if it cannot be read.
    pub proof: Option<VerifiedProof>,
}

/// A file of a bundle.
struct File {
    size_bytes: u64,
    sha256: String,
}

/// Collects what is wrong.
#[derive(Default)]
struct Mismatches(Vec<Mismatch>);

impl Mismatches {
    fn add(&mut self, part: &str, message: impl AsRef<str>) {
        let (part, message) = match self.0.len() {
            ..MAX_MISMATCHES => (part, message.as_ref()),
            MAX_MISMATCHES => (ARCHIVE, "More is wrong, which is not listed."),
            _ => return,
        };
        let excerpt = |text: &str| text.chars().take(MAX_TEXT_CHARS).collect();
        self.0.push(Mismatch { part: excerpt(part), message: excerpt(message) });
    }
}

/// Reads a bundle once, from its beginning to its end.
struct Source<R> {
    bundle: R,
    /// Number of bytes that were read.
    offset: u64,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bundle.read(buffer)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// Returns the next `length` bytes, or fewer at the end.
fn read_next_bytes(source: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Verifies a bundle of this size. Memory is bounded by the limits of this module, and time by the size of the bundle, which is
/// read once.
pub fn verify(bundle: impl Read, size_bytes: u64, given: Given) -> io::Result<Verification> {
    let mut mismatches = Mismatches::default();
    let archive = read_archive(Source { bundle, offset: 0 }, size_bytes, &mut mismatches)?;
    let mut verification = Verification {
        files: archive.files.len(),
        size_bytes,
        mismatches: Vec::new(),
        signature: SignatureState::Invalid,
        is_buyer_confirmed: false,
        delivery: None,
        proof: None,
    };
    // Nobody misses files in what is not a bundle.
    let is_no_bundle = archive.files.is_empty() && !mismatches.0.is_empty();
    match archive.documents.get(ATTESTATION_PATH) {
        Some(bytes) => verify_attestation(bytes, &archive, given.keys, &mut verification, &mut mismatches),
        None if is_no_bundle => {}
        None => mismatches.add(
            ATTESTATION_PATH,
            "It is missing. Bundles that were prepared by earlier versions have none, and neither have vendors' own.",
        ),
    }
    match archive.documents.get(MANIFEST_PATH) {
        Some(bytes) => verify_manifest(bytes, &archive, verification.delivery.as_ref(), &mut mismatches),
        None if is_no_bundle => {}
        None => mismatches.add(MANIFEST_PATH, "It is missing."),
    }
    if let (Some(buyer), Some(delivery)) = (given.buyer, &verification.delivery) {
        verification.is_buyer_confirmed =
            buyer_digest(&buyer.salt, buyer.team) == delivery.buyer.salted_sha256;
        if !verification.is_buyer_confirmed {
            mismatches.add(ATTESTATION_PATH, "It is for another buyer, or the salt is another one.");
        }
    }
    if let Some(proof) = given.proof {
        let attestation = archive.documents.get(ATTESTATION_PATH).map(Vec::as_slice);
        let delivery = verification.delivery.as_ref();
        let mut problems = Vec::new();
        let verified = proof_verification::verify(proof, attestation, delivery, given.keys, &mut problems);
        for problem in problems {
            mismatches.add(PROOF, problem);
        }
        verification.proof = verified;
    }
    verification.mismatches = mismatches.0;
    Ok(verification)
}

/// What was read of an archive.
#[derive(Default)]
struct Archive {
    files: BTreeMap<String, File>,
    /// The files that describe the others, by path.
    documents: BTreeMap<String, Vec<u8>>,
}

/// Reads an archive from its beginning to its end, and compares everything that is in no file with the one form that bundles
/// have. Reading ends where the archive has another form.
fn read_archive(
    mut source: Source<impl Read>,
    size_bytes: u64,
    mismatches: &mut Mismatches,
) -> io::Result<Archive> {
    let (mut archive, mut entries) = (Archive::default(), Vec::new());
    loop {
        let begin = source.offset;
        let mut header = read_next_bytes(&mut source, HEADER_BYTES)?;
        match read_next(&header) {
            Some(Next::Directory) => {
                compare_directory(
                    (&mut header.as_slice()).chain(source),
                    begin,
                    size_bytes,
                    entries,
                    mismatches,
                )?;
                return Ok(archive);
            }
            Some(Next::Header(length)) if length <= MAX_HEADER_BYTES => {
                header.extend(read_next_bytes(&mut source, length - HEADER_BYTES)?);
            }
            Some(Next::Header(_)) | None => header.clear(),
        }
        let Some(entry) = read_header(&header).filter(|entry| entry.path.len() <= MAX_PATH_BYTES) else {
            let message = match begin {
                0 => "It is not a bundle, or its beginning is damaged.".to_owned(),
                _ => format!("There is no file of a bundle at byte {begin}, and not its end."),
            };
            mismatches.add(ARCHIVE, message);
            return Ok(archive);
        };
        if source.offset.checked_add(entry.size_bytes).is_none_or(|end| end > size_bytes) {
            mismatches.add(&entry.path, "It is cut off.");
            return Ok(archive);
        }
        if entries.len() == MAX_FILES {
            mismatches.add(ARCHIVE, format!("It has more than {MAX_FILES} files, which is the limit."));
            return Ok(archive);
        }
        read_file(&mut source, &entry, &mut archive, mismatches)?;
        entries.push(entry);
    }
}

/// Reads a file, and computes its digests. A document that is too large is not kept.
fn read_file(
    source: &mut impl Read,
    entry: &StoredEntry,
    archive: &mut Archive,
    mismatches: &mut Mismatches,
) -> io::Result<()> {
    let StoredEntry { path, size_bytes, crc32 } = entry;
    let is_document = DOCUMENTS.contains(&path.as_str());
    let is_too_large = is_document && *size_bytes > MAX_DOCUMENT_BYTES;
    if is_too_large {
        mismatches.add(path, format!("It has more than {MAX_DOCUMENT_BYTES} bytes, which is the limit."));
    }
    let hashed = if is_document && !is_too_large {
        let mut bytes = Vec::new();
        source.take(*size_bytes).read_to_end(&mut bytes)?;
        let hashed = hash_for_bundle(&mut bytes.as_slice(), || io::Result::Ok(()))?;
        archive.documents.insert(path.clone(), bytes);
        hashed
    } else {
        hash_for_bundle(&mut source.take(*size_bytes), || io::Result::Ok(()))?
    };
    if hashed.crc32 != *crc32 {
        mismatches.add(path, "Its checksum in the archive is not that of its bytes.");
    }
    let file = File { size_bytes: *size_bytes, sha256: hashed.file.sha256 };
    if archive.files.insert(path.clone(), file).is_some() {
        mismatches.add(path, "The archive has it twice.");
    }
    Ok(())
}

/// Compares the end of an archive, from its central directory at `begin` on, with that of a bundle with these files.
fn compare_directory(
    mut source: impl Read,
    begin: u64,
    size_bytes: u64,
    entries: Vec<StoredEntry>,
    mismatches: &mut Mismatches,
) -> io::Result<()> {
    let layout = ZipLayout::new(entries);
    if layout.size_bytes() != size_bytes {
        let expected = layout.size_bytes();
        mismatches.add(
            ARCHIVE,
            format!("It has {size_bytes} bytes, and with its files it should have {expected}."),
        );
        return Ok(());
    }
    let mut offset = begin;
    while let Some(Part::Bytes(expected)) = layout.part_at(offset) {
        let expected = &expected[..expected.len().min(CHUNK)];
        let found = read_next_bytes(&mut source, expected.len())?;
        if found != expected {
            let same = found.iter().zip(expected).take_while(|(found, expected)| found == expected).count();
            let at = offset + same as u64;
            mismatches.add(ARCHIVE, format!("Its directory of files differs from its files at byte {at}."));
            return Ok(());
        }
        offset += expected.len() as u64;
    }
    Ok(())
}

fn parse<T: DeserializeOwned>(
    bytes: &[u8],
    part: &str,
    what: &str,
    mismatches: &mut Mismatches,
) -> Option<T> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Some(value),
        Err(cause) => {
            mismatches.add(part, format!("It is not {what}: {cause}."));
            None
        }
    }
}

fn verify_attestation(
    bytes: &[u8],
    archive: &Archive,
    keys: Option<&PublicKeys>,
    verification: &mut Verification,
    mismatches: &mut Mismatches,
) {
    let Some(envelope) = parse::<Envelope>(bytes, ATTESTATION_PATH, "an envelope of DSSE", mismatches) else {
        return;
    };
    if envelope.to_file().ok().as_deref() != Some(bytes) {
        mismatches.add(ATTESTATION_PATH, "It is not written as the market writes it.");
    }
    let Some(payload) = decode_base64(&envelope.payload) else {
        return mismatches.add(ATTESTATION_PATH, "Its payload is not Base64.");
    };
    let statement =
        parse::<Statement<Delivery>>(&payload, ATTESTATION_PATH, "a statement about a delivery", mismatches);
    verification.signature = match keys {
        Some(keys) => verify_signature(&envelope, &payload, statement.as_ref(), keys, mismatches),
        None => SignatureState::NotChecked,
    };
    let Some(statement) = statement else { return };
    let types = [
        ("payloadType", &envelope.payload_type, PAYLOAD_TYPE),
        ("_type", &statement.kind, STATEMENT_TYPE),
        ("predicateType", &statement.predicate_type, DELIVERY_TYPE),
    ];
    for (name, found, expected) in types {
        if found != expected {
            mismatches.add(ATTESTATION_PATH, format!("Its `{name}` is {found:?}, and not {expected:?}."));
        }
    }
    verify_subjects(&statement, archive, mismatches);
    verification.delivery = Some(statement.predicate);
}

/// Verifies that a known key has signed, at a time at which it was in use.
fn verify_signature(
    envelope: &Envelope,
    payload: &[u8],
    statement: Option<&Statement<Delivery>>,
    keys: &PublicKeys,
    mismatches: &mut Mismatches,
) -> SignatureState {
    let [signature] = envelope.signatures.as_slice() else {
        let count = envelope.signatures.len();
        mismatches.add(ATTESTATION_PATH, format!("It has {count} signatures, and the market makes one."));
        return SignatureState::Invalid;
    };
    let found = keys.keys.iter().find(|key| key.keyid == signature.keyid);
    let Some((key, bytes)) = found.and_then(|key| Some((key, key.bytes()?))) else {
        mismatches.add(
            ATTESTATION_PATH,
            format!("The key {:?} that signed is not among the keys.", signature.keyid),
        );
        return SignatureState::Invalid;
    };
    let signed = signed_bytes(&envelope.payload_type, payload);
    let is_valid = decode_base64(&signature.sig)
        .is_some_and(|sig| UnparsedPublicKey::new(&ED25519, bytes).verify(&signed, &sig).is_ok());
    match statement.map(|statement| statement.predicate.attested_at) {
        _ if !is_valid => mismatches.add(ATTESTATION_PATH, "Its signature is not valid."),
        Some(at) if !key.is_valid_at(at) => mismatches.add(
            ATTESTATION_PATH,
            format!("The market did not use the key {} at {at}, the time of the attestation.", key.keyid),
        ),
        Some(_) => return SignatureState::Valid(key.keyid.clone()),
        None => {}
    }
    SignatureState::Invalid
}

/// Verifies that a statement is about all files except the attestation itself, and about nothing else.
fn verify_subjects(statement: &Statement<Delivery>, archive: &Archive, mismatches: &mut Mismatches) {
    let mut named = BTreeSet::new();
    for subject in &statement.subject {
        named.insert(subject.name.as_str());
        match archive.files.get(&subject.name) {
            None => mismatches.add(&subject.name, "It is attested, and missing."),
            Some(file) if file.sha256 != subject.digest.sha256 => mismatches.add(
                &subject.name,
                format!(
                    "Its SHA-256 digest is {}, and {:?} is attested.",
                    file.sha256, subject.digest.sha256
                ),
            ),
            Some(_) => {}
        }
    }
    let files = archive.files.keys().map(String::as_str);
    for path in files.filter(|path| *path != ATTESTATION_PATH && !named.contains(path)) {
        mismatches.add(path, "It is not attested.");
    }
}

/// What is read of a manifest.
#[derive(Deserialize)]
struct Manifest {
    listing_id: Uuid,
    entries: Vec<ManifestFile>,
}

#[derive(Deserialize)]
struct ManifestFile {
    path: String,
    size_bytes: u64,
    sha256: String,
}

/// Verifies that a manifest has the entries of the archive.
fn verify_manifest(
    bytes: &[u8],
    archive: &Archive,
    delivery: Option<&Delivery>,
    mismatches: &mut Mismatches,
) {
    let Some(manifest) = parse::<Manifest>(bytes, MANIFEST_PATH, "a manifest", mismatches) else { return };
    if delivery.is_some_and(|delivery| delivery.listing.id != manifest.listing_id) {
        mismatches.add(MANIFEST_PATH, "It is of another listing than the attestation.");
    }
    let mut named = BTreeSet::new();
    for entry in &manifest.entries {
        if !named.insert(entry.path.as_str()) {
            mismatches.add(MANIFEST_PATH, format!("It has {:?} twice.", entry.path));
        }
        let found = archive.files.get(&entry.path).filter(|_| !DOCUMENTS.contains(&entry.path.as_str()));
        if found.is_none_or(|file| file.size_bytes != entry.size_bytes || file.sha256 != entry.sha256) {
            mismatches.add(MANIFEST_PATH, format!("It has another size or digest of {:?}.", entry.path));
        }
    }
    for path in archive.files.keys().map(String::as_str) {
        if !DOCUMENTS.contains(&path) && !named.contains(path) {
            mismatches.add(MANIFEST_PATH, format!("It does not have {path:?}."));
        }
    }
}
