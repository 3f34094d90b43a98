//! Verification of bundles without a market: a changed byte is found wherever it is, and named.

use std::{io::Cursor, sync::OnceLock};

use marketplace::{
    domain::{
        attestations::{PublicKeys, buyer_digest},
        purchases::PurchaseKind,
    },
    operations::{
        attestations::verification::{ARCHIVE, ExpectedBuyer, SignatureState, Verification, verify},
        signing_keys,
    },
};
use proptest::prelude::*;
use uuid::Uuid;
use zip::ZipArchive;

use super::shop;

/// A bundle, the keys of its market, and the paths of its files with the ranges of their bytes.
struct Sold {
    bundle: Vec<u8>,
    keys: PublicKeys,
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
            let keys = shop.market.market().read_blocking(signing_keys::list).unwrap();
            (bundle, keys)
        };
        // A test may run in a runtime of its own.
        let run =
            || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(buy);
        let (bundle, keys) = std::thread::scope(|scope| scope.spawn(run).join().unwrap());
        let mut archive = ZipArchive::new(Cursor::new(&bundle)).unwrap();
        let count = archive.len();
        let range = |index| {
            let file = archive.by_index(index).unwrap();
            let begin = file.data_start().unwrap() as usize;
            (file.name().unwrap().into_owned(), begin..begin + file.size() as usize)
        };
        let files = (0..count).map(range).collect();
        Sold { bundle, keys, files }
    })
}

fn verified(bundle: &[u8], keys: Option<&PublicKeys>) -> Verification {
    verify(&mut Cursor::new(bundle), keys, None).unwrap()
}

fn parts(verification: &Verification) -> Vec<&str> {
    verification.mismatches.iter().map(|found| found.part.as_str()).collect()
}

#[test]
fn bundle_is_as_it_was_signed() {
    let Sold { bundle, keys, files } = sold();
    let whole = verified(bundle, Some(keys));
    assert!(whole.mismatches.is_empty(), "{:?}", whole.mismatches);
    assert_eq!(whole.signature, SignatureState::Valid(keys.keys[0].keyid.clone()));
    assert_eq!((whole.files, whole.size_bytes), (files.len(), bundle.len() as u64));
    assert_eq!(verified(bundle, None).signature, SignatureState::NotChecked);
    let other = ExpectedBuyer { team: Uuid::nil(), salt: [0; 32] };
    let refused = verify(&mut Cursor::new(bundle), Some(keys), Some(other)).unwrap();
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

proptest! {
    /// Every class of bytes is drawn equally often: those of each file, and those between the files.
    #[test]
    fn a_changed_byte_is_found_and_named(class in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), by in 1u8..) {
        let Sold { bundle, keys, files } = sold();
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
