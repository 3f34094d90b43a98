//! The log of attestations, a hash tree by RFC 6962: each envelope is a leaf. A head is signed every hour, even without sales.
//! Random leaves are added, so that the number of leaves does not reveal the number of sales.

use uuid::Builder;

use super::{
    access::Platform,
    running_job::{JobResult, RunningJob},
    signing_keys::{self, SigningKey},
};
use crate::{
    domain::{
        attestations::{Envelope, PublicKey, encode_base64},
        checkpoints::{
            self, Checkpoint, PublishedConsistency, PublishedLog, PublishedLogs, SignedCheckpoint, TreeHead,
        },
        jobs::{JobKind, JobSubject, LOG_INTERVAL_MICROS},
        log_proofs::{LogProof, Place},
        merkle::{self, Hash, Subtree},
        row_ids::{LogRowId, PurchaseRowId},
        time::Timestamp,
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{
        self,
        attestation_log::{BLOCK, Head, Log, Unlogged},
    },
};

/// Path at which the logs are published.
pub const PUBLISHED_PATH: &str = "/.well-known/marketplace-log.json";

/// Path of the proofs that a published head continues another one.
pub const CONSISTENCY_PATH: &str = "/.well-known/marketplace-log/consistency";

/// Maximum number of attestations in one head.
pub const MAX_BATCH: u32 = 4_096;

/// Maximum number of heads of a log in one response.
pub const MAX_HEADS: u32 = 100;

/// Maximum number of published logs.
pub const MAX_LOGS: u32 = 10;

/// Minimum number of leaves that a head adds.
const MIN_LEAVES: usize = 64;

/// Two random numbers below this one are added to the number of attestations before it is rounded up to a power of two.
/// Otherwise, a team with as many attestations as a head has leaves could detect attestations of other teams by the size.
const NOISE: u8 = 16;

/// Begins the name of every log.
const ORIGIN: &str = "urn:x-marketplace:log:";

/// Schedules a head for the next full hour, unless one is already scheduled.
pub fn enqueue(writer: &Writer) -> Result<()> {
    writer.enqueue_at(JobKind::SealLog, JobSubject::NONE, next_hour(writer.now))
}

/// Returns the first full hour after a time.
const fn next_hour(at: Timestamp) -> Timestamp {
    Timestamp((at.0.div_euclid(LOG_INTERVAL_MICROS) + 1) * LOG_INTERVAL_MICROS)
}

/// Like [`enqueue`], if the market signs.
pub fn enqueue_if_signing(writer: &Writer) -> Result<()> {
    if signing_keys::find_in(writer.rows)?.is_some() { enqueue(writer) } else { Ok(()) }
}

/// Makes a head, and schedules the next one an hour later. In a world, whose clock may jump by years, the next attestation
/// schedules it instead.
pub fn run(job: &RunningJob) -> JobResult {
    let is_repeated = !job.market().clock().is_of_world();
    job.finish(|writer| {
        let is_made = sign_head(writer)?;
        if is_made && is_repeated { enqueue(writer) } else { Ok(()) }
    })
}

/// Ends a job that failed too often. The next head is made an hour later.
pub fn give_up(job: &RunningJob) -> JobResult {
    job.finish(|writer| enqueue_if_signing(writer))
}

/// Makes the next head begin a new log. Otherwise, after a return to an earlier state of the database, the log would contradict
/// its published history.
pub fn end(writer: &mut Writer, _: Platform) -> Result<()> {
    store::attestation_log::end(writer.rows)
}

/// Replaces the key in use by a new one. First makes a head with all attestations that the old key has signed, since later
/// heads could not contain them. The head is made even if there are no such attestations, so that it does not reveal whether
/// there were any. Returns the new key.
pub fn rotate_key(writer: &mut Writer, platform: Platform) -> Result<PublicKey> {
    while sign_head(writer)? && !store::attestation_log::list_unlogged(writer.rows, 1)?.is_empty() {}
    signing_keys::rotate(writer, platform)
}

/// Appends at most [`MAX_BATCH`] attestations that are in no head yet, and signs a head. Returns whether the market has a key;
/// without one, as in a copy, it does nothing.
pub fn sign_head(writer: &Writer) -> Result<bool> {
    let rows = writer.rows;
    let Some(key) = signing_keys::find_in(rows)? else { return Ok(false) };
    let log = find_or_begin(writer)?;
    let unlogged = store::attestation_log::list_unlogged(rows, MAX_BATCH)?;
    // After the clock was set back, an attestation would be later than its head. Only the hour may tell when something was sold.
    let newest = unlogged.iter().map(|found| found.created_at).max();
    let now = signing_keys::signing_time(rows, writer.now)?;
    let signed_at = newest.filter(|at| *at > now).map_or(now, next_hour);
    let last = store::attestation_log::find_newest_head(rows, log.row_id)?;
    let signed_at = last.as_ref().map_or(signed_at, |head| signed_at.max(head.signed_at));
    let begin = last.map_or(0, |head| head.size);
    let leaves = in_random_order(writer, unlogged);
    for (index, (purchase, _)) in leaves.iter().enumerate() {
        if let Some(purchase) = purchase {
            store::attestation_log::set_leaf(rows, *purchase, log.row_id, begin + index as u64)?;
        }
    }
    let hashes: Vec<Hash> = leaves.into_iter().map(|(_, hash)| hash).collect();
    let (blocks, _) = hashes.as_chunks::<BLOCK>();
    for (block, leaves) in (begin / BLOCK as u64..).zip(blocks) {
        store::attestation_log::append(rows, log.row_id, block, leaves)?;
    }
    let size = begin + hashes.len() as u64;
    let root = merkle::root(size, |subtree| store::attestation_log::hash_at(rows, log.row_id, subtree))?;
    let note = sign(&key, &log, size, root, signed_at)?;
    store::attestation_log::insert_head(rows, log.row_id, &Head { size, note, signed_at })?;
    Ok(true)
}

fn sign(key: &SigningKey, log: &Log, size: u64, root: Hash, signed_at: Timestamp) -> Result<String> {
    let head = TreeHead { origin: log.origin.clone(), size, root };
    let parse = |head: &String| TreeHead::parse(head).ok_or_else(malformed);
    let predecessor = log.predecessor.as_ref().map(parse).transpose()?;
    Ok(key.sign_checkpoint(&Checkpoint { head, signed_at, predecessor }))
}

fn parse(head: &Head) -> Result<SignedCheckpoint> {
    SignedCheckpoint::parse(&head.note).ok_or_else(malformed)
}

fn malformed() -> Error {
    Error::internal("the head of a log cannot be parsed")
}

/// Returns the log in use. If it has ended, begins another one, which names the last head.
fn find_or_begin(writer: &Writer) -> Result<Log> {
    let newest = store::attestation_log::list(writer.rows, 1)?.pop();
    let Some(last) = newest else { return begin(writer, None) };
    if !last.is_ended {
        return Ok(last);
    }
    let head = store::attestation_log::find_newest_head(writer.rows, last.row_id)?;
    let head = head.as_ref().map(parse).transpose()?;
    // A log without a head was not published.
    begin(writer, head.map(|head| head.checkpoint.head.to_string()).or(last.predecessor))
}

fn begin(writer: &Writer, predecessor: Option<String>) -> Result<Log> {
    let secret = writer.entropy.random_secret();
    let id = Builder::from_random_bytes(*secret.first_chunk().unwrap_or(&[0; 16])).into_uuid();
    store::attestation_log::insert(writer.rows, &format!("{ORIGIN}{id}"), predecessor)
}

/// Returns the next leaves: attestations and random leaves.
fn in_random_order(writer: &Writer, unlogged: Vec<Unlogged>) -> Vec<(Option<PurchaseRowId>, Hash)> {
    let [one, other, ..] = writer.entropy.random_secret();
    let count = number_of_leaves(unlogged.len(), [one, other]);
    let others = (unlogged.len()..count).map(|_| (None, writer.entropy.random_secret()));
    let leaves = unlogged.into_iter().map(|found| (Some(found.purchase), found.leaf)).chain(others);
    let mut placed: Vec<_> = leaves.map(|leaf| (writer.entropy.random_secret(), leaf)).collect();
    placed.sort_unstable_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, leaf)| leaf).collect()
}

/// Returns how many leaves a head with this number of attestations adds: a power of two, which two random bytes influence.
fn number_of_leaves(attestations: usize, random: [u8; 2]) -> usize {
    let noise: u8 = random.iter().map(|byte| byte % NOISE).sum();
    (attestations + usize::from(noise)).next_power_of_two().max(MIN_LEAVES)
}

/// Returns the proof that the attestation of a purchase is in the log, as a file. The proof is always the same: it uses the
/// first head that contains the attestation, since the time of that head counts.
pub fn proof(reader: &Reader, purchase: PurchaseRowId) -> Result<Vec<u8>> {
    let rows = reader.rows;
    let found = store::attestation_log::find_entry(rows, purchase)?;
    let entry = found.ok_or_else(|| Error::not_found("attestation"))?;
    let Some((log, index)) = entry.place else {
        // The log of this market does not contain attestations that the key of another copy of it has signed.
        return Err(if entry.is_awaited { not_logged(reader)? } else { Error::not_found("proof") });
    };
    let missing = || Error::internal("an attestation is in no head of its log");
    let head = store::attestation_log::find_first_head(rows, log, index)?.ok_or_else(missing)?;
    let signed = parse(&head)?;
    let envelope: Envelope = serde_json::from_slice(&entry.envelope).map_err(Error::internal)?;
    let hashes = merkle::inclusion_proof(index, head.size, hashes_of(reader, log))?;
    let keys = store::signing_keys::list(rows)?;
    let key = keys.iter().filter_map(PublicKey::bytes).find(|key| signed.names(key)).unwrap_or_default();
    let key_hash = checkpoints::key_hash(&signed.checkpoint.head.origin, &key).to_vec();
    let place = Place { index, hashes, note: head.note, key_hash };
    LogProof::new(envelope, &place, &signed.checkpoint).to_file().map_err(Error::internal)
}

fn hashes_of(reader: &Reader, log: LogRowId) -> impl FnMut(Subtree) -> Result<Hash> {
    move |subtree| store::attestation_log::hash_at(reader.rows, log, subtree)
}

/// The error of a proof that the next head will have.
fn not_logged(reader: &Reader) -> Result<Error> {
    let next = store::jobs::find_due_at(reader.rows, JobKind::SealLog, JobSubject::NONE)?;
    let max = LOG_INTERVAL_MICROS / 1_000_000;
    let seconds = next.map_or(max, |at| (at.0 - reader.now.0) / 1_000_000 + 1).clamp(1, max);
    Ok(Error::BeingPrepared { what: "proof", retry_seconds: seconds.unsigned_abs() })
}

/// Returns the newest logs, or only that with the name `origin`, each with its newest heads of fewer than `before` leaves.
pub fn list(reader: &Reader, origin: Option<&str>, before: Option<u64>) -> Result<PublishedLogs> {
    let before = before.unwrap_or(i64::MAX as u64);
    let publish = |log: Log| {
        let heads = store::attestation_log::list_heads(reader.rows, log.row_id, before, MAX_HEADS)?;
        let heads = heads.into_iter().map(|head| head.note).collect();
        Ok(PublishedLog { origin: log.origin, predecessor: log.predecessor, heads })
    };
    let logs = match origin {
        Some(origin) => vec![find_log(reader, origin)?],
        None => store::attestation_log::list(reader.rows, MAX_LOGS)?,
    };
    Ok(PublishedLogs { logs: logs.into_iter().map(publish).collect::<Result<_>>()? })
}

/// Returns a description of each head that no key of the market has signed while it was in use.
pub fn find_unsigned_heads(reader: &Reader) -> Result<Vec<String>> {
    let keys = signing_keys::list(reader)?;
    let mut found = Vec::new();
    for Log { row_id, origin, .. } in store::attestation_log::list(reader.rows, u32::MAX)? {
        for Head { size, note, .. } in
            store::attestation_log::list_heads(reader.rows, row_id, i64::MAX as u64, u32::MAX)?
        {
            if !SignedCheckpoint::parse(&note).is_some_and(|signed| signing_keys::is_signed(&signed, &keys)) {
                found.push(format!(
                    "the log of attestations {origin} has a head with {size} leaves without a valid signature"
                ));
            }
        }
    }
    Ok(found)
}

fn find_log(reader: &Reader, origin: &str) -> Result<Log> {
    let log = store::attestation_log::find(reader.rows, origin)?;
    log.ok_or_else(|| invalid("origin", "There is no log with this name."))
}

/// Returns the proof that one head of a log continues another. Both are given by their numbers of leaves. If `origin` names no
/// log, uses the newest one.
pub fn consistency(
    reader: &Reader,
    origin: Option<&str>,
    from: u64,
    to: u64,
) -> Result<PublishedConsistency> {
    let log = match origin {
        Some(origin) => find_log(reader, origin)?,
        None => {
            let newest = store::attestation_log::list(reader.rows, 1)?.pop();
            newest.ok_or_else(|| Error::not_found("log"))?
        }
    };
    for (name, size) in [("from", from), ("to", to)] {
        if !store::attestation_log::has_head(reader.rows, log.row_id, size)? {
            return Err(invalid(name, "The log has no head with this number of leaves."));
        }
    }
    if from > to {
        return Err(invalid("from", "It must not be larger than `to`."));
    }
    let hashes = merkle::consistency_proof(from, to, hashes_of(reader, log.row_id))?;
    let hashes = hashes.iter().map(|hash| encode_base64(hash)).collect();
    Ok(PublishedConsistency { origin: log.origin, from, to, hashes })
}

fn invalid(name: &str, message: &str) -> Error {
    Error::invalid(Problem::query(name, "value_error", message))
}

/// Returns the newest head of the log in use, and the time of its signature; `None` before the first.
pub fn newest_head(reader: &Reader) -> Result<Option<(TreeHead, Timestamp)>> {
    let Some(log) = store::attestation_log::list(reader.rows, 1)?.pop() else { return Ok(None) };
    let head = store::attestation_log::find_newest_head(reader.rows, log.row_id)?;
    let signed = head.as_ref().map(parse).transpose()?;
    Ok(signed.map(|signed| (signed.checkpoint.head, signed.checkpoint.signed_at)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// How likely each number of leaves is, of 256 draws.
    fn likelihoods(attestations: usize) -> HashMap<usize, i32> {
        let mut found = HashMap::new();
        for random in (0..NOISE).flat_map(|one| (0..NOISE).map(move |other| [one, other])) {
            *found.entry(number_of_leaves(attestations, random)).or_default() += 1;
        }
        found
    }

    #[test]
    fn size_does_not_tell_one_attestation_more() {
        for attestations in 0..2_000 {
            let (less, more) = (likelihoods(attestations), likelihoods(attestations + 1));
            let difference =
                |size: &usize| (less.get(size).unwrap_or(&0) - more.get(size).unwrap_or(&0)).abs();
            let most = less.keys().chain(more.keys()).map(difference).max();
            assert!(most <= Some(16), "one of 16 heads at most differs: {attestations}");
            assert!(less.keys().all(|size| *size >= attestations && size % BLOCK == 0));
        }
        assert_eq!(likelihoods(34), HashMap::from([(64, 256)]));
    }
}
