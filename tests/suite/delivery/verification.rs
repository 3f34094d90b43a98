//! Verification of bundles without a market: a changed byte is found wherever it is, and named.

use std::{io::Cursor, sync::OnceLock};

use marketplace::{
    domain::{
        attestations::{Envelope, PublicKeys, buyer_digest},
        bundles::EntryDigest,
        checkpoints::PublishedLogs,
        purchases::PurchaseKind,
    },
    market::Reader,
    operations::{
        attestation_log,
        attestations::{
            proof_verification::{GivenProof, PROOF},
            verification::{
                ARCHIVE, ExpectedBuyer, Given, MAX_MISMATCHES, MAX_PATH_BYTES, SignatureState, Verification,
                verify,
            },
        },
        signing_keys,
    },
};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;
use zip::ZipArchive;

use super::shop;
use crate::harness::archives::bundle_of;

/// Files of a bundle: their paths and bytes.
type Files = Vec<(String, Vec<u8>)>;

/// A bundle, the proof that its attestation is in the log, the keys and the log of its market, and the paths of its files with the
/// ranges of their bytes.
struct Sold {
    bundle: Vec<u8>,
    proof: Vec<u8>,
    keys: PublicKeys,
    logs: PublishedLogs,
    files: Vec<(String, std::ops::Range<usize>)>,
}

/// Returns a bundle that is bought once for all tests.
fn sold() -> &'static Sold {
    static SOLD: OnceLock<Sold> = OnceLock::new();
    SOLD.get_or_init(|| {
        let buy = async {
            let shop = shop().await;
            shop.buy("buyer", PurchaseKind::Full).await;
            let bundle = shop.download("buyer").await;
            shop.market.clock().advance(3_600_000_000);
            shop.market.run_background_on_a_thread().await;
            let proof = shop.fetch(&shop.link("buyer").await.replace('?', "/proof?"), &[]).await;
            let read = |reader: &Reader| {
                Ok((signing_keys::list(reader)?, attestation_log::list(reader, None, None)?))
            };
            (bundle, proof.bytes, shop.market.read(read).unwrap())
        };
        // A test may run in a runtime of its own.
        let run =
            || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(buy);
        let (bundle, proof, (keys, logs)) = std::thread::scope(|scope| scope.spawn(run).join().unwrap());
        let mut archive = ZipArchive::new(Cursor::new(&bundle)).unwrap();
        let count = archive.len();
        let range = |index| {
            let file = archive.by_index(index).unwrap();
            let begin = file.data_start().unwrap() as usize;
            (file.name().unwrap().into_owned(), begin..begin + file.size() as usize)
        };
        let files = (0..count).map(range).collect();
        Sold { bundle, proof, keys, logs, files }
    })
}

fn verified(bundle: &[u8], keys: Option<&PublicKeys>) -> Verification {
    verify(bundle, bundle.len() as u64, Given { keys, ..Given::default() }).unwrap()
}

/// Verifies the bundle with a proof.
fn verified_with(file: &[u8]) -> Verification {
    let Sold { bundle, keys, logs, .. } = sold();
    let proof = Some(GivenProof { file, published: Some(logs) });
    verify(bundle.as_slice(), bundle.len() as u64, Given { keys: Some(keys), buyer: None, proof }).unwrap()
}

fn parts(verification: &Verification) -> Vec<&str> {
    verification.mismatches.iter().map(|found| found.part.as_str()).collect()
}

#[test]
fn bundle_is_as_it_was_signed() {
    let Sold { bundle, keys, files, .. } = sold();
    let whole = verified(bundle, Some(keys));
    assert!(whole.mismatches.is_empty(), "{:?}", whole.mismatches);
    assert_eq!(whole.signature, SignatureState::Valid(keys.keys[0].keyid.clone()));
    assert_eq!((whole.files, whole.size_bytes), (files.len(), bundle.len() as u64));
    assert_eq!(verified(bundle, None).signature, SignatureState::NotChecked);
    let other = ExpectedBuyer { team: Uuid::nil(), salt: [0; 32] };
    let given = Given { keys: Some(keys), buyer: Some(other), proof: None };
    let refused = verify(bundle.as_slice(), bundle.len() as u64, given).unwrap();
    assert!(!refused.is_buyer_confirmed && parts(&refused) == ["attestation.json"]);
    assert_ne!(buyer_digest(&other.salt, other.team), whole.delivery.unwrap().buyer.salted_sha256);
}

#[test]
fn keys_must_be_known_and_in_use_at_that_time() {
    let Sold { bundle, keys, .. } = sold();
    let none = PublicKeys { keys: Vec::new() };
    let mut ended = keys.clone();
    ended.keys[0].valid_from.0 += 86_400_000_000;
    for keys in [none, ended] {
        let found = verified(bundle, Some(&keys));
        assert_eq!((parts(&found), &found.signature), (vec!["attestation.json"], &SignatureState::Invalid));
    }
}

#[test]
fn truncated_and_longer_bundles_are_refused() {
    let Sold { bundle, keys, .. } = sold();
    for length in [0, 1, 29, 30, 100, bundle.len() / 2, bundle.len() - 1] {
        assert!(!verified(&bundle[..length], Some(keys)).mismatches.is_empty(), "{length}");
    }
    let longer = [bundle.as_slice(), b"\0"].concat();
    assert_eq!(parts(&verified(&longer, Some(keys))), [ARCHIVE]);
}

/// Returns the files of the bundle.
fn files() -> Files {
    let Sold { bundle, files, .. } = sold();
    files.iter().map(|(path, range)| (path.clone(), bundle[range.clone()].to_vec())).collect()
}

#[test]
fn files_must_be_those_of_the_statement_and_each_once() {
    let Sold { bundle, keys, .. } = sold();
    assert!(bundle_of(&files()) == *bundle, "the archive is the same");
    let entry = files().iter().position(|(path, _)| path.contains('/')).unwrap();
    let (path, bytes) = files()[entry].clone();
    let damage = |change: &dyn Fn(&mut Files)| {
        let mut files = files();
        change(&mut files);
        let found = verified(&bundle_of(&files), Some(keys));
        parts(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let added = damage(&|files| files.push(("extra.txt".to_owned(), b"x".to_vec())));
    assert!(added.contains(&"extra.txt".to_owned()), "{added:?}");
    for (twice, at) in [(bytes.clone(), entry), (bytes, entry + 1), (b"x".to_vec(), entry)] {
        let found = damage(&|files| files.insert(at, (path.clone(), twice.clone())));
        assert!(found.contains(&path), "{found:?}");
    }
    let missing = damage(&|files| drop(files.remove(entry)));
    assert!(missing.contains(&path), "{missing:?}");
    for length in [MAX_PATH_BYTES + 1, 65_535] {
        let found = damage(&|files| files.push(("a".repeat(length), Vec::new())));
        assert!(found.contains(&ARCHIVE.to_owned()), "{length}: {found:?}");
    }
    let longest = damage(&|files| files.push(("a".repeat(MAX_PATH_BYTES), Vec::new())));
    assert!(longest.contains(&"a".repeat(MAX_PATH_BYTES)), "{longest:?}");
}

#[test]
fn manifest_has_each_entry_once_and_no_document() {
    let files = files();
    let at = files.iter().position(|(path, _)| path == "manifest.json").unwrap();
    let manifest: Value = serde_json::from_slice(&files[at].1).unwrap();
    let entries = manifest["entries"].as_array().unwrap();
    assert!(entries.len() > 1, "{manifest}");
    let (first, rest) = (&entries[0], &entries[1..]);
    let (path, bytes) = files.iter().find(|(path, _)| path == "croissant.json").unwrap();
    let sha256 = EntryDigest::of(bytes).sha256;
    let document = json!({"path": path, "size_bytes": bytes.len(), "sha256": sha256});
    let instead = |entry: &Value| [rest, std::slice::from_ref(entry)].concat();
    for (changed, expected) in [
        (entries.clone(), None),
        (instead(first), None),
        (instead(&rest[0]), Some("twice")),
        (instead(&document), Some("croissant.json")),
        (rest.to_vec(), first["path"].as_str()),
    ] {
        let (mut files, mut manifest) = (files.clone(), manifest.clone());
        manifest["entries"] = changed.into();
        files[at].1 = serde_json::to_vec(&manifest).unwrap();
        let found = verified(&bundle_of(&files), None).mismatches;
        let mut of_manifest = found.iter().filter(|found| found.message.starts_with("It "));
        match expected {
            None => assert!(of_manifest.next().is_none(), "{found:?}"),
            Some(text) => assert!(of_manifest.any(|found| found.message.contains(text)), "{text}: {found:?}"),
        }
    }
}

#[test]
fn one_signature_is_required() {
    let Sold { keys, .. } = sold();
    let mut files = files();
    let at = files.iter().position(|(path, _)| path == "attestation.json").unwrap();
    let envelope: Envelope = serde_json::from_slice(&files[at].1).unwrap();
    for count in [0, 2] {
        let signatures = envelope.signatures.iter().cycle().take(count).cloned().collect();
        files[at].1 = Envelope { signatures, ..envelope.clone() }.to_file().unwrap();
        let found = verified(&bundle_of(&files), Some(keys));
        assert_eq!((parts(&found), &found.signature), (vec!["attestation.json"], &SignatureState::Invalid));
    }
}

#[test]
fn mismatches_are_named_up_to_a_limit() {
    let Sold { keys, .. } = sold();
    let mut files = files();
    files.extend((0..2 * MAX_MISMATCHES).map(|number| (format!("{number}"), Vec::new())));
    assert_eq!(verified(&bundle_of(&files), Some(keys)).mismatches.len(), MAX_MISMATCHES + 1);
}

#[test]
fn proof_has_the_values_of_the_market_and_no_others() {
    let Sold { proof, .. } = sold();
    let text = std::str::from_utf8(proof).unwrap();
    let value: Value = serde_json::from_slice(proof).unwrap();
    // Programs that process JSON may write it in another way.
    let compact = serde_json::to_vec(&value).unwrap();
    let reordered = {
        let Value::Object(fields) = value else { panic!("{text}") };
        let fields = fields.iter().rev().map(|(name, value)| format!("{}: {value}", json!(name)));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    };
    for same in [proof.as_slice(), &compact, reordered.as_bytes(), text.trim_end().as_bytes()] {
        assert_eq!(parts(&verified_with(same)), [""; 0]);
    }
    let added = |after: &str, field: &str| {
        let changed = text.replacen(after, &format!("{after}{field}"), 1);
        assert_ne!(changed, text);
        changed
    };
    for other in [
        String::new(),
        text[..text.trim_end().len() - 1].to_owned(),
        format!("{text}{{}}"),
        added("{", "\"more\": 1,"),
        added("\"dsseEnvelope\": {", "\"more\": 1,"),
        added("\"signatures\": [\n      {", "\"more\": 1,"),
        added("{", "\"mediaType\": \"other\","),
        added("\"dsseEnvelope\": {", "\"payload\": \"\","),
    ] {
        let found = verified_with(other.as_bytes());
        assert!(!found.mismatches.is_empty() && parts(&found).iter().all(|part| *part == PROOF), "{other}");
    }
}

proptest! {
    /// Every line of the proof is drawn equally often, so that all its values are. A byte between values may become another one
    /// that has no meaning there, either.
    #[test]
    fn a_changed_byte_of_the_proof_is_found_and_named(line in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), by in 1u8..) {
        let Sold { proof, .. } = sold();
        let lines: Vec<&[u8]> = proof.split_inclusive(|byte| *byte == b'\n').collect();
        let line = line.index(lines.len());
        let position = lines[..line].iter().map(|line| line.len()).sum::<usize>() + at.index(lines[line].len());
        let mut changed = proof.clone();
        changed[position] ^= by;
        let found = verified_with(&changed);
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        if json(&changed) == json(proof) {
            prop_assert!(proof[position].is_ascii_whitespace() && changed[position].is_ascii_whitespace());
            prop_assert!(found.mismatches.is_empty(), "byte {position}: {:?}", found.mismatches);
        } else {
            prop_assert!(!found.mismatches.is_empty(), "byte {position}");
            prop_assert!(parts(&found).iter().all(|part| *part == PROOF), "byte {position}: {:?}", found.mismatches);
            prop_assert!(found.proof.is_none_or(|proof| proof.is_valid == Some(false)));
        }
    }

    /// Every class of bytes is drawn equally often: those of each file, and those between the files.
    #[test]
    fn a_changed_byte_is_found_and_named(class in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), by in 1u8..) {
        let Sold { bundle, keys, files, .. } = sold();
        let class = class.index(files.len() + 1);
        let (part, position) = match files.get(class) {
            Some((path, range)) => (path.as_str(), range.start + at.index(range.len())),
            None => {
                let is_outside = |byte: &usize| files.iter().all(|(_, range)| !range.contains(byte));
                let outside: Vec<usize> = (0..bundle.len()).filter(is_outside).collect();
                (ARCHIVE, outside[at.index(outside.len())])
            }
        };
        let mut changed = bundle.clone();
        changed[position] ^= by;
        let found = verified(&changed, Some(keys));
        // A changed header of a file can make it another file.
        prop_assert!(!found.mismatches.is_empty(), "byte {position} of {part}");
        prop_assert!(part == ARCHIVE || parts(&found).contains(&part), "byte {position} of {part}: {:?}", found.mismatches);
    }
}

/// The number of kept hashes is limited by the depth of a tree, for a file of any size.
#[test]
fn proof_with_too_many_hashes_is_not_read() {
    let mut proof: serde_json::Value = serde_json::from_slice(&sold().proof).unwrap();
    proof["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]["hashes"] = vec![""; 65].into();
    let found = verified_with(&serde_json::to_vec(&proof).unwrap());
    assert!(found.proof.is_none() && parts(&found) == [PROOF]);
    assert!(
        found.mismatches[0].message.starts_with("It is not a proof of the market"),
        "{:?}",
        found.mismatches
    );
}
