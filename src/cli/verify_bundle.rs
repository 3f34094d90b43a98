//! The `marketplace verify-bundle` command.

use std::{
    io::{BufReader, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{CommandError, CommandResult, lists::print_json, print_line};
use crate::{
    domain::{
        attestations::{Delivery, PublicKeys},
        written::counted,
    },
    error::ErrorChain,
    http_client,
    operations::attestations::verification::{self, ExpectedBuyer, SignatureState, Verification},
    regular_files,
};

/// Maximum number of bytes of a file of keys. A key has some hundred.
const MAX_KEY_BYTES: u64 = 1 << 20;

/// Maximum time for the answer of a server with keys.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Number of bytes that are read from the disk at a time.
const BUFFER: usize = 1 << 20;

/// Verify a bundle that was bought: every byte of it, its signature, and what the market says about it.
///
/// Needs no market, and no network unless --keys is a URL. Get the keys from the market that sold the bundle, once, and keep them:
/// they are at /.well-known/marketplace-keys.json.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace verify-bundle bundle.zip --keys keys.json\n  marketplace verify-bundle bundle.zip --keys keys.json --json\n\nExits with 0 if everything is as the market signed it, with 1 if something differs, of which each is named, and with 2 if that is not known: nothing differs, but there were no keys to check the signature; the bundle or the keys could not be read; or the server with the keys did not respond."
)]
pub struct VerifyBundle {
    /// The bundle.
    #[arg(value_name = "FILE")]
    bundle: PathBuf,
    /// Public keys of the market that sold the bundle: a file, or a URL.
    #[arg(long, value_name = "FILE|URL")]
    keys: Option<String>,
    /// ID of the team that should be the buyer.
    #[arg(long, value_name = "TEAM", requires = "salt")]
    buyer: Option<Uuid>,
    /// The salt on the receipt, in hexadecimal, which proves who the buyer is.
    #[arg(long, value_name = "HEX", requires = "buyer", value_parser = parse_salt)]
    salt: Option<[u8; 32]>,
    /// Print JSON.
    #[arg(long = "json")]
    is_json: bool,
}

fn parse_salt(text: &str) -> Result<[u8; 32], String> {
    let digit = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(digit).collect();
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| "a salt has 64 hexadecimal digits".to_owned())
}

impl VerifyBundle {
    pub(super) fn run(&self) -> CommandResult {
        let keys = self.keys.as_deref().map(read_keys).transpose()?;
        let file = regular_files::open(&self.bundle, u64::MAX).map_err(|cause| {
            CommandError::Usage(format!("cannot read {}: {cause}", self.bundle.display()))
        })?;
        // The file is read to its end, and a disk may fail.
        let unread =
            |cause| CommandError::Incomplete(format!("cannot read {}: {cause}", self.bundle.display()));
        let size_bytes = file.metadata().map_err(unread)?.len();
        let bundle = BufReader::with_capacity(BUFFER, file);
        let buyer = self.buyer.zip(self.salt).map(|(team, salt)| ExpectedBuyer { team, salt });
        let verified = verification::verify(bundle, size_bytes, keys.as_ref(), buyer).map_err(unread)?;
        if self.is_json {
            print_json(&to_json(&verified));
        } else {
            print_text(&verified, buyer.is_some());
        }
        match verified.mismatches.len() as u64 {
            0 if verified.signature == SignatureState::NotChecked => Err(CommandError::Incomplete(
                "nothing differs, but the signature was not checked; name the keys of the market by --keys"
                    .to_owned(),
            )),
            0 => Ok(()),
            count => Err(CommandError::Other(format!("{} found", counted(count, "mismatch", "mismatches")))),
        }
    }
}

/// Reads keys from a file or from a server.
fn read_keys(from: &str) -> Result<PublicKeys, CommandError> {
    let bytes = if from.starts_with("https://") || from.starts_with("http://") {
        fetch(from)?
    } else {
        let read = regular_files::read(Path::new(from), MAX_KEY_BYTES);
        read.map_err(|cause| CommandError::Usage(format!("cannot read {from}: {cause}")))?
    };
    serde_json::from_slice(&bytes)
        .map_err(|cause| CommandError::Usage(format!("{from} has no keys: {cause}")))
}

fn read_limited(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_KEY_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn fetch(url: &str) -> Result<Vec<u8>, CommandError> {
    let builder = http_client::blocking().map_err(|cause| CommandError::Incomplete(cause.to_string()))?;
    let no_response = |cause: reqwest::Error| {
        CommandError::Incomplete(format!("no response from {url}: {}", ErrorChain(&cause.without_url())))
    };
    let client = builder.timeout(TIMEOUT).build().map_err(no_response)?;
    let response = client.get(url).send().and_then(reqwest::blocking::Response::error_for_status);
    let read = read_limited(response.map_err(no_response)?);
    read.map_err(|cause| CommandError::Incomplete(format!("no response from {url}: {cause}")))
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
    })
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
        &keyid.map_or_else(|| signature.to_owned(), |keyid| format!("{signature}, key {keyid}")),
    );
    if has_buyer {
        row("buyer", if verified.is_buyer_confirmed { "confirmed" } else { "not confirmed" });
    }
    if let Some(delivery) = &verified.delivery {
        print_delivery(delivery, row);
    }
    for found in &verified.mismatches {
        print_line(format_args!("MISMATCH      {:?}: {}", found.part, found.message));
    }
}

/// Prints what the market says. What others wrote is quoted, so it cannot imitate a line.
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
