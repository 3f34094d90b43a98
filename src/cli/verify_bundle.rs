//! The `marketplace verify-bundle` command.

use std::{
    io::{BufReader, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use data_encoding::HEXLOWER_PERMISSIVE;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    CommandError, CommandResult, escapes::escaped, lists::print_json, operator::parse_id, print_line,
    require_none_found, require_output,
};
use crate::{
    domain::{
        attestations::{Delivery, PublicKeys},
        checkpoints::{PublishedLogs, SignedCheckpoint, TreeHead},
        log_proofs::LogProof,
    },
    error::ErrorChain,
    http_client,
    operations::{
        attestation_log,
        attestations::{
            proof_verification::{Comparison, GivenProof, VerifiedProof},
            verification::{self, ExpectedBuyer, Given, MAX_DOCUMENT_BYTES, SignatureState, Verification},
        },
        signing_keys,
    },
    regular_files,
};

/// Maximum number of bytes of a file of keys, or of published logs. A key has some hundred, as a head has.
const MAX_PUBLISHED_BYTES: u64 = 4 << 20;

/// Maximum number of bytes of a proof: of an attestation, and of its place in the log.
const MAX_PROOF_BYTES: u64 = MAX_DOCUMENT_BYTES + (1 << 20);

/// Maximum time for the answer of a server with keys or logs.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Number of bytes that are read from the disk at a time.
const BUFFER: usize = 1 << 20;

/// Verify a bundle that was bought: every byte of it, its signature, and what the market says about it.
///
/// Needs no market, and no network unless --keys or --log is a URL. Get the keys from the market that sold the bundle, once, and
/// keep them: they are at /.well-known/marketplace-keys.json.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace verify-bundle bundle.zip --keys keys.json\n  marketplace verify-bundle bundle.zip --keys keys.json --json\n  marketplace verify-bundle bundle.zip --keys keys.json --proof proof.json --log log.json\n\nExits with 0 if everything is as the market signed it, with 1 if something differs, of which each is named, and with 2 if that is not known: nothing differs, but there were no keys to check the signature, or no published head to compare the proof with; a file could not be read; or a server did not respond."
)]
pub struct VerifyBundle {
    /// The bundle.
    #[arg(value_name = "FILE")]
    bundle: PathBuf,
    /// Public keys of the market that sold the bundle: a file, or a URL.
    #[arg(long, value_name = "FILE|URL")]
    keys: Option<String>,
    /// ID of the team that should be the buyer.
    #[arg(long, value_name = "TEAM", value_parser = parse_id, requires = "salt")]
    buyer: Option<Uuid>,
    /// The salt on the receipt, in hexadecimal, which proves who the buyer is.
    #[arg(long, value_name = "HEX", requires = "buyer", value_parser = parse_salt)]
    salt: Option<[u8; 32]>,
    /// The proof that the attestation is in the log of the market, from beside the bundle or from the receipt.
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,
    /// The published logs of the market, to compare the head of the proof with: a file, or a URL.
    #[arg(long, value_name = "FILE|URL", requires = "proof")]
    log: Option<String>,
    /// Print JSON.
    #[arg(long = "json")]
    is_json: bool,
}

fn parse_salt(text: &str) -> Result<[u8; 32], String> {
    let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| "a salt has 64 hexadecimal digits".to_owned())
}

impl VerifyBundle {
    pub(super) fn run(&self) -> CommandResult {
        let keys: Option<PublicKeys> = self
            .keys
            .as_deref()
            .map(|from| read_published(from, "keys", signing_keys::PUBLISHED_PATH))
            .transpose()?;
        let proof = self.proof.as_ref().map(|path| read_file(path, MAX_PROOF_BYTES)).transpose()?;
        let logs = self.log.as_deref().map(|from| read_logs(from, proof.as_deref())).transpose()?;
        let proof = proof.as_deref().map(|file| GivenProof { file, published: logs.as_ref() });
        let file =
            regular_files::open(&self.bundle, u64::MAX).map_err(|cause| unreadable(&self.bundle, &cause))?;
        // The file is read to its end, and a disk may fail.
        let unread =
            |cause| CommandError::Incomplete(format!("cannot read {}: {cause}", self.bundle.display()));
        let size_bytes = file.metadata().map_err(unread)?.len();
        let bundle = BufReader::with_capacity(BUFFER, file);
        let buyer = self.buyer.zip(self.salt).map(|(team, salt)| ExpectedBuyer { team, salt });
        let given = Given { keys: keys.as_ref(), buyer, proof };
        let verified = verification::verify(bundle, size_bytes, given).map_err(unread)?;
        if self.is_json {
            print_json(&to_json(&verified));
        } else {
            print_text(&verified, buyer.is_some());
        }
        require_output()?;
        let is_uncompared =
            verified.proof.as_ref().is_some_and(|proof| proof.comparison == Comparison::NotCompared);
        let unknown = if verified.signature == SignatureState::NotChecked {
            Some("the signature was not checked; name the keys of the market by --keys")
        } else if self.log.is_some() && is_uncompared {
            Some("the published log has no head of this size to compare the proof with")
        } else {
            None
        };
        match (verified.mismatches.len(), unknown) {
            (0, Some(unknown)) => Err(CommandError::Incomplete(format!("nothing differs, but {unknown}"))),
            (count, _) => require_none_found(count, "mismatch", "mismatches"),
        }
    }
}

fn read_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, CommandError> {
    regular_files::read(path, max_bytes).map_err(|cause| unreadable(path, &cause))
}

fn unreadable(path: &Path, cause: &std::io::Error) -> CommandError {
    CommandError::Usage(format!("cannot read {}: {cause}", path.display()))
}

fn is_url(from: &str) -> bool {
    from.starts_with("https://") || from.starts_with("http://")
}

/// Reads what a market publishes at a path, from a file or from a server.
fn read_published<T: DeserializeOwned>(
    from: &str,
    what: &str,
    path_at_market: &str,
) -> Result<T, CommandError> {
    let bytes = if is_url(from) {
        fetch(from)?
    } else {
        let path = Path::new(from);
        let text = regular_files::read_to_string(path, MAX_PUBLISHED_BYTES);
        text.map_err(|cause| unreadable(path, &cause))?.into_bytes()
    };
    serde_json::from_slice(&bytes).map_err(|cause| {
        CommandError::Usage(format!("{from} has no {what}, which a market has at {path_at_market}: {cause}"))
    })
}

/// Reads published logs. From a server, requests only heads up to the head of the proof.
fn read_logs(from: &str, proof: Option<&[u8]>) -> Result<PublishedLogs, CommandError> {
    let is_complete = !is_url(from) || from.contains('?');
    let proof =
        proof.filter(|_| !is_complete).and_then(|proof| serde_json::from_slice::<LogProof>(proof).ok());
    let signed = proof.and_then(|proof| SignedCheckpoint::parse(&proof.place()?.note));
    let Some(TreeHead { origin, size, .. }) = signed.map(|signed| signed.checkpoint.head) else {
        return read_published(from, "log", attestation_log::PUBLISHED_PATH);
    };
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("origin", &origin)
        .append_pair("before", &size.saturating_add(1).to_string())
        .finish();
    read_published(&format!("{from}?{query}"), "log", attestation_log::PUBLISHED_PATH)
}

fn read_limited(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_PUBLISHED_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PUBLISHED_BYTES {
        return Err(std::io::Error::other(format!("it has more than {MAX_PUBLISHED_BYTES} bytes")));
    }
    Ok(bytes)
}

fn fetch(url: &str) -> Result<Vec<u8>, CommandError> {
    let builder = http_client::blocking().map_err(|cause| CommandError::Incomplete(cause.to_string()))?;
    let no_response = |cause: reqwest::Error| {
        CommandError::Incomplete(format!("no response from {url}: {}", ErrorChain(&cause.without_url())))
    };
    let client = builder.timeout(TIMEOUT).build().map_err(no_response)?;
    let response = client.get(url).send().and_then(reqwest::blocking::Response::error_for_status);
    let response = response.map_err(no_response)?;
    if let Some(problem) = http_client::redirection(response.status().as_u16(), response.headers(), url) {
        return Err(CommandError::Incomplete(problem));
    }
    let read = read_limited(response);
    read.map_err(|cause| CommandError::Incomplete(format!("the response from {url} cannot be read: {cause}")))
}

fn to_json(verified: &Verification) -> Value {
    let mismatches = verified.mismatches.iter();
    let (signature, keyid) = signature_words(&verified.signature);
    json!({
        "files": verified.files,
        "size_bytes": verified.size_bytes,
        "mismatches": mismatches.map(|found| json!({"part": found.part, "message": found.message})).collect::<Vec<_>>(),
        "signature": signature,
        "keyid": keyid,
        "buyer_confirmed": verified.is_buyer_confirmed,
        "delivery": verified.delivery,
        "proof": verified.proof.as_ref().map(proof_to_json),
    })
}

fn proof_to_json(proof: &VerifiedProof) -> Value {
    let head = &proof.checkpoint.head;
    json!({
        "valid": proof.is_valid,
        "log": head.origin,
        "size": head.size,
        "logged_at": proof.checkpoint.signed_at,
        "published": comparison_words(proof.comparison),
    })
}

const fn comparison_words(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Same => "same head",
        Comparison::Different => "different head",
        Comparison::NotCompared => "not compared",
    }
}

fn signature_words(state: &SignatureState) -> (&'static str, Option<&str>) {
    match state {
        SignatureState::Valid(keyid) => ("valid", Some(keyid)),
        SignatureState::NotChecked => ("not checked", None),
        SignatureState::Invalid => ("invalid", None),
    }
}

fn print_text(verified: &Verification, has_buyer: bool) {
    let row = |name: &str, value: &str| print_line(format_args!("{name:<12}  {value}"));
    row("files", &format!("{}, {} bytes", verified.files, verified.size_bytes));
    let (signature, keyid) = signature_words(&verified.signature);
    row(
        "signature",
        &keyid.map_or_else(|| signature.to_owned(), |keyid| format!("{signature}, key {}", escaped(keyid))),
    );
    if has_buyer {
        row("buyer", if verified.is_buyer_confirmed { "confirmed" } else { "not confirmed" });
    }
    if let Some(delivery) = &verified.delivery {
        print_delivery(delivery, row);
    }
    if let Some(VerifiedProof { checkpoint, is_valid, comparison }) = &verified.proof {
        let validity = match is_valid {
            Some(true) => "valid",
            Some(false) => "invalid",
            None => "not checked",
        };
        let published = comparison_words(*comparison);
        row("proof", &format!("{validity}, logged by {}, published log: {published}", checkpoint.signed_at));
        row("log", &format!("{:?}, {} leaves", checkpoint.head.origin, checkpoint.head.size));
    }
    for found in &verified.mismatches {
        print_line(format_args!("MISMATCH      {:?}: {}", found.part, escaped(&found.message)));
    }
}

/// Prints the statement of the market. Texts of others are quoted or escaped, so they cannot imitate a line.
fn print_delivery(delivery: &Delivery, row: impl Fn(&str, &str)) {
    let Delivery { attested_at, listing, scope, licenses, assets, quality_run, .. } = delivery;
    row("attested", &attested_at.to_string());
    row(
        "market",
        &delivery.market.as_ref().map_or_else(|| "no address".to_owned(), |url| format!("{url:?}")),
    );
    row("listing", &format!("{:?} of {:?}, {}", listing.title, listing.vendor, listing.id));
    let certified = listing.certified_at.map_or_else(|| "no".to_owned(), |at| at.to_string());
    row("certified", &certified);
    row("scope", &format!("{scope:?}, {}", if delivery.exclusive { "exclusive" } else { "not exclusive" }));
    row("licenses", &format!("{licenses:?}"));
    if let Some(agreement) = &delivery.agreement {
        let id = agreement.id.map_or_else(|| "without ID".to_owned(), |id| id.to_string());
        let terms = agreement.terms_sha256.as_ref().map(|digest| format!(", terms {digest:?}"));
        row("agreement", &format!("{id}{}", terms.unwrap_or_default()));
    }
    for asset in assets {
        let commit = asset.commit.as_ref().map(|commit| format!(", commit {commit:?}"));
        row("asset", &format!("{:?}{}", asset.path, commit.unwrap_or_default()));
    }
    if let Some(run) = quality_run {
        let passed = run.checks.iter().filter(|check| check.status == "passed").count();
        row(
            "checks",
            &format!("{passed} of {} passed, run {} of {}", run.checks.len(), run.id, run.completed_at),
        );
        for check in run.checks.iter().filter(|check| check.status != "passed") {
            row("", &format!("{:?}: {:?}", check.label, check.status));
        }
    }
}
