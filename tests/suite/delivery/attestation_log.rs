//! The log of attestations: its heads, the proofs for buyers, and where a log ends and another one begins.

use std::path::Path;

use marketplace::{
    domain::{
        attestations::{Envelope, decode_base64},
        checkpoints::{Checkpoint, PublishedConsistency, PublishedLogs, SignedCheckpoint, TreeHead},
        merkle::is_consistent,
        purchases::PurchaseKind,
        time::Timestamp,
    },
    market::{DATABASE_FILE, Market, Reader, Writer},
    operations::{
        access::Platform,
        attestation_log,
        attestations::{
            proof_verification::{Comparison, GivenProof, PROOF},
            verification::{Given, Verification, verify},
        },
        signing_keys, verify as market_checks,
    },
};
use serde_json::json;

use super::{Shop, sha256, shop, unzip};
use crate::harness::{
    TestResponse,
    backups::{back_up, open_restored, temp_dir},
};

/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

const LOG: &str = "/.well-known/marketplace-log.json";

/// Makes the next head.
async fn pass_hour(shop: &Shop) {
    shop.market.clock().advance(HOUR);
    shop.market.run_background_on_a_thread().await;
}

async fn published(shop: &Shop, query: &str) -> PublishedLogs {
    serde_json::from_slice(&shop.fetch(&format!("{LOG}{query}"), &[]).await.bytes).unwrap()
}

fn listed(market: &Market) -> PublishedLogs {
    market.read_blocking(|reader| attestation_log::list(reader, None, None)).unwrap()
}

/// Returns the checkpoints of a log, the newest first.
fn checkpoints(logs: &PublishedLogs, log: usize) -> Vec<Checkpoint> {
    let parse = |note: &String| SignedCheckpoint::parse(note).unwrap().checkpoint;
    logs.logs[log].heads.iter().map(parse).collect()
}

fn sizes(logs: &PublishedLogs) -> Vec<u64> {
    checkpoints(logs, 0).iter().map(|checkpoint| checkpoint.head.size).collect()
}

async fn proof(shop: &Shop, team: &str) -> TestResponse {
    shop.fetch(&shop.link(team).await.replace('?', "/proof?"), &[]).await
}

/// Verifies the bundle of a team with this proof.
async fn verified(shop: &Shop, team: &str, proof: &[u8]) -> Verification {
    let bundle = shop.download(team).await;
    let keys = shop.market.read(signing_keys::list).unwrap();
    let logs = listed(shop.market.market());
    let proof = Some(GivenProof { file: proof, published: Some(&logs) });
    let given = Given { keys: Some(&keys), buyer: None, proof };
    verify(bundle.as_slice(), bundle.len() as u64, given).unwrap()
}

#[tokio::test]
async fn a_head_is_made_every_hour_and_its_size_tells_nothing() {
    let shop = shop().await;
    assert_eq!(
        published(&shop, "").await.logs,
        [],
        "a market that was not served has no log before its first sale"
    );
    shop.buy("buyer", PurchaseKind::Full).await;
    pass_hour(&shop).await;
    for team in ["other", "both"] {
        shop.buy(team, PurchaseKind::Full).await;
    }
    pass_hour(&shop).await;
    pass_hour(&shop).await;
    let logs = published(&shop, "").await;
    assert_eq!(sizes(&logs), [192, 128, 64]);
    assert_eq!(sizes(&published(&shop, "?before=128").await), [64]);
    assert_eq!(
        sizes(&published(&shop, &format!("?before=129&origin={}", logs.logs[0].origin)).await),
        [128, 64]
    );
    // One head, however far the clock jumps.
    shop.market.clock().advance(100 * HOUR);
    shop.market.run_background_on_a_thread().await;
    assert_eq!(sizes(&published(&shop, "").await), [256, 192, 128, 64]);
    for (invalid, status) in [("?before=0", 422), ("?size=1", 422), ("?before=x", 422), ("?origin=x", 422)] {
        assert_eq!(shop.fetch(&format!("{LOG}{invalid}"), &[]).await.status, status, "{invalid}");
    }
}

#[tokio::test]
async fn proof_comes_with_the_next_head_and_stays_the_same() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let early = proof(&shop, "buyer").await;
    assert_eq!((early.status, &early.json()["error"]["details"]["reason"]), (503, &json!("being_prepared")));
    let seconds: u64 = early.header("retry-after").parse().unwrap();
    assert!((1..=3_600).contains(&seconds), "{seconds}");
    pass_hour(&shop).await;
    let first = proof(&shop, "buyer").await;
    assert_eq!(
        (first.status, first.header("content-type")),
        (200, "application/vnd.dev.sigstore.bundle.v0.3+json")
    );
    let found = verified(&shop, "buyer", &first.bytes).await;
    assert!(found.mismatches.is_empty(), "{:?}", found.mismatches);
    let verified_proof = found.proof.unwrap();
    assert_eq!((verified_proof.is_valid, verified_proof.comparison), (Some(true), Comparison::Same));
    assert_eq!(verified_proof.checkpoint.head.size, 64);
    assert!(verified_proof.checkpoint.signed_at >= found.delivery.unwrap().attested_at);
    pass_hour(&shop).await;
    assert_eq!(proof(&shop, "buyer").await.bytes, first.bytes);

    // By its digest, the same; and for the buyer alone.
    let envelope: Envelope =
        serde_json::from_slice(&unzip(&shop.download("buyer").await)["attestation.json"]).unwrap();
    let path = format!("/v2/attestations/{}/proof", sha256(&decode_base64(&envelope.payload).unwrap()));
    assert_eq!(shop.market.get("mkt_buyer", &path).await.bytes, first.bytes);
    for team in ["other", "seller"] {
        let status = shop.market.get(&format!("mkt_{team}"), &path).await.status;
        assert!([403, 404].contains(&status), "{team}: {status}");
    }
    shop.fetch(&shop.link("seller").await, &[]).await.expect_error(503);
    shop.market.run_background_on_a_thread().await;
    assert_eq!(proof(&shop, "seller").await.expect_error(404), "not_found");
}

#[tokio::test]
async fn heads_continue_each_other() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    for _ in 0..5 {
        pass_hour(&shop).await;
    }
    let logs = published(&shop, "").await;
    let heads: Vec<TreeHead> = checkpoints(&logs, 0).into_iter().map(|checkpoint| checkpoint.head).collect();
    let path = |from: u64, to: u64| format!("/.well-known/marketplace-log/consistency?from={from}&to={to}");
    for (newer, to) in heads.iter().enumerate() {
        for from in &heads[newer..] {
            let found = shop.fetch(&path(from.size, to.size), &[]).await;
            let found: PublishedConsistency = serde_json::from_slice(&found.bytes).unwrap();
            let hashes = found.hashes.iter().map(|hash| decode_base64(hash).unwrap().try_into().unwrap());
            let hashes: Vec<[u8; 32]> = hashes.collect();
            assert!(is_consistent((from.size, &from.root), (to.size, &to.root), &hashes), "{from} {to}");
        }
    }
    for (from, to) in [(128, 64), (0, 64), (63, 64), (64, 64_000)] {
        assert_eq!(shop.fetch(&path(from, to), &[]).await.status, 422, "{from} {to}");
    }
}

#[tokio::test]
async fn other_proofs_and_other_histories_are_named() {
    let shop = shop().await;
    for team in ["buyer", "other"] {
        shop.buy(team, PurchaseKind::Full).await;
    }
    pass_hour(&shop).await;
    let of_other = verified(&shop, "buyer", &proof(&shop, "other").await.bytes).await;
    assert!(of_other.mismatches.iter().all(|found| found.part == PROOF) && !of_other.mismatches.is_empty());
    let own = proof(&shop, "buyer").await.bytes;
    let (bundle, mut logs) = (shop.download("buyer").await, listed(shop.market.market()));
    let keys = shop.market.read(signing_keys::list).unwrap();
    let compare = |logs: &PublishedLogs, keys| {
        let proof = Some(GivenProof { file: &own, published: Some(logs) });
        verify(bundle.as_slice(), bundle.len() as u64, Given { keys, buyer: None, proof }).unwrap()
    };
    let unchecked = compare(&logs, None);
    assert!(unchecked.mismatches.is_empty() && unchecked.proof.unwrap().is_valid.is_none());
    // The same head with another root.
    let mut other = checkpoints(&logs, 0).remove(0);
    other.head.root[0] ^= 1;
    logs.logs[0].heads[0] = other.to_note(&[0; 32], &[0; 64]);
    let forged = compare(&logs, Some(&keys));
    assert_eq!(forged.proof.unwrap().comparison, Comparison::NotCompared, "the market has not signed it");
    assert!(forged.mismatches.is_empty());
    let key = shop.market.read(signing_keys::find).unwrap().unwrap();
    // Another head, also beside the right one.
    let right = listed(shop.market.market()).logs[0].heads[0].clone();
    for heads in [vec![key.sign_checkpoint(&other)], vec![right, key.sign_checkpoint(&other)]] {
        logs.logs[0].heads = heads;
        let differing = compare(&logs, Some(&keys));
        assert_eq!(differing.proof.unwrap().comparison, Comparison::Different);
        assert_eq!(differing.mismatches.len(), 1);
    }
    // A head that a key has signed before it was in use.
    let early = Checkpoint { signed_at: Timestamp(0), ..other };
    logs.logs[0].heads = vec![key.sign_checkpoint(&early)];
    assert_eq!(compare(&logs, Some(&keys)).proof.unwrap().comparison, Comparison::NotCompared);
    logs.logs.clear();
    let not_compared = compare(&logs, Some(&keys));
    assert_eq!(not_compared.proof.unwrap().comparison, Comparison::NotCompared);
    assert!(not_compared.mismatches.is_empty());
    // A key that was replaced before the attestation was logged does not count any more.
    let mut ended = keys.clone();
    ended.keys[0].valid_until = Some(not_compared.delivery.unwrap().attested_at);
    let late = compare(&logs, Some(&ended));
    assert!(late.mismatches.iter().all(|found| found.part == PROOF) && !late.mismatches.is_empty());
}

#[tokio::test]
async fn what_a_key_has_signed_is_logged_before_it_is_replaced() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    shop.market.clock().advance(1_000_000);
    let rotate = |writer: &mut Writer| attestation_log::rotate_key(writer, Platform::of_process());
    shop.market.write(rotate).unwrap();
    shop.buy("other", PurchaseKind::Full).await;
    pass_hour(&shop).await;
    for team in ["buyer", "other"] {
        let proof = proof(&shop, team).await.bytes;
        let found = verified(&shop, team, &proof).await;
        assert!(found.mismatches.is_empty(), "{team}: {:?}", found.mismatches);
    }
    assert_eq!(published(&shop, "").await.logs.len(), 1, "another key continues the log");
}

/// After the clock was set back, the market signs nothing at a time at which its key was not in use.
#[tokio::test]
async fn signatures_hold_after_the_clock_was_set_back() {
    let shop = shop().await;
    let rotate = |writer: &mut Writer| attestation_log::rotate_key(writer, Platform::of_process());
    for (team, before_sale, after_sale) in
        [("buyer", 0, HOUR), ("other", 0, 48 * HOUR), ("both", 48 * HOUR, 0)]
    {
        let clock = shop.market.clock();
        clock.advance(-before_sale);
        shop.buy(team, PurchaseKind::Full).await;
        clock.advance(-after_sale);
        shop.market.write(|writer| attestation_log::sign_head(writer)).unwrap();
        shop.market.write(rotate).unwrap();
        clock.advance(before_sale + after_sale);
        let found = verified(&shop, team, &proof(&shop, team).await.bytes).await;
        assert!(found.mismatches.is_empty(), "{team}: {:?}", found.mismatches);
    }
    // Also if another log begins then.
    let seal = |writer: &mut Writer| attestation_log::sign_head(writer);
    shop.market.write(seal).unwrap();
    shop.market.clock().advance(-48 * HOUR);
    shop.market.write(|writer| attestation_log::end(writer, Platform::of_process())).unwrap();
    shop.market.write(rotate).unwrap();
    let problems = shop.market.read(market_checks::find_contradictions).unwrap();
    assert_eq!(problems, [""; 0]);
    shop.market.clock().advance(48 * HOUR);
}

#[tokio::test]
async fn restored_market_begins_a_log_that_names_the_last_head() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    pass_hour(&shop).await;
    let original = listed(shop.market.market());
    assert_eq!(original.logs[0].predecessor, None);
    let backup = temp_dir();
    back_up(shop.market.market(), backup.path()).unwrap();
    pass_hour(&shop).await;
    let restored = open_restored(backup.path());
    for _ in 0..2 {
        restored.market().write_blocking(|writer| attestation_log::sign_head(writer)).unwrap();
    }
    let logs = listed(restored.market());
    assert_eq!(logs.logs[1], original.logs[0]);
    let last = checkpoints(&original, 0).remove(0).head;
    assert_eq!(logs.logs[0].predecessor, Some(last.to_string()));
    assert_ne!(logs.logs[0].origin, last.origin);
    for checkpoint in checkpoints(&logs, 0) {
        assert_eq!(checkpoint.predecessor.as_ref(), Some(&last));
    }
    // The heads of the former log, and the proofs that they continue each other, stay.
    let former = Some(last.origin.as_str());
    let read = |reader: &Reader| {
        Ok((
            attestation_log::list(reader, former, None)?,
            attestation_log::consistency(reader, former, 64, 64)?,
        ))
    };
    let (found, proof) = restored.market().read_blocking(read).unwrap();
    assert_eq!((found.logs, proof.origin.as_str()), (original.logs, last.origin.as_str()));
    assert_eq!(sizes(&logs), [128, 64]);
}

/// The heads that are published after a copy was made before an upgrade would contradict those that follow on it.
#[tokio::test]
async fn log_ends_in_a_copy_of_the_database() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    pass_hour(&shop).await;
    let directory = temp_dir();
    let (database, copy) =
        (shop.market.market().data_dir().join(DATABASE_FILE), directory.path().join("copy.sqlite"));
    marketplace::market::copy_database(&database, &copy).unwrap();
    let is_ended = |path: &Path| -> bool {
        let rows = rusqlite::Connection::open(path).unwrap();
        rows.query_row("SELECT is_ended FROM attestation_logs", [], |row| row.get(0)).unwrap()
    };
    assert_eq!((is_ended(&database), is_ended(&copy)), (false, true));
}

#[tokio::test]
async fn log_is_append_only_and_checked() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    pass_hour(&shop).await;
    pass_hour(&shop).await;
    let problems = || shop.market.read(market_checks::find_contradictions).unwrap();
    assert_eq!(problems(), [""; 0]);
    let path = shop.market.market().data_dir().join(DATABASE_FILE);
    let rows = rusqlite::Connection::open(path).unwrap();
    let changes = [
        ("leaves", "hashes", "zeroblob(1024)", "block = 0"),
        ("nodes", "hash", "zeroblob(32)", "level = 6 AND position = 0"),
        ("heads", "note", "replace(note, char(10) || '64', char(10) || '63')", "size = 64"),
        ("heads", "note", "replace(note, 'time 2', 'time 1')", "size = 128"),
    ];
    for (table, column, value, place) in changes {
        let set =
            |value: &str| format!("UPDATE attestation_log_{table} SET {column} = {value} WHERE {place}");
        assert!(rows.execute(&set(value), []).is_err(), "{table}");
        assert!(rows.execute(&format!("DELETE FROM attestation_log_{table}"), []).is_err(), "{table}");
        let trigger = format!("attestation_log_{table}_stay");
        let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        let created: String = rows.query_row(sql, [&trigger], |row| row.get(0)).unwrap();
        rows.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
        let select = format!("SELECT {column} FROM attestation_log_{table} WHERE {place}");
        let before: rusqlite::types::Value = rows.query_row(&select, [], |row| row.get(0)).unwrap();
        rows.execute(&set(value), []).unwrap();
        assert_ne!(problems(), [""; 0], "{table}");
        rows.execute(&set("?1"), [before]).unwrap();
        rows.execute_batch(&created).unwrap();
        assert_eq!(problems(), [""; 0], "{table}");
    }
    let set = |bytes: &str| format!("UPDATE attestations SET leaf_hash = {bytes}");
    let before: Vec<u8> = rows.query_row("SELECT leaf_hash FROM attestations", [], |row| row.get(0)).unwrap();
    rows.execute(&set("zeroblob(32)"), []).unwrap();
    assert_ne!(problems(), [""; 0]);
    rows.execute(&set("?1"), [before]).unwrap();
    // A lost head, after which no other one can be made.
    let lose = "CREATE TABLE lost AS SELECT * FROM attestation_log_heads WHERE size = 128;
        DROP TRIGGER attestation_log_heads_are_kept; DELETE FROM attestation_log_heads WHERE size = 128";
    rows.execute_batch(lose).unwrap();
    assert!(problems()[0].ends_with("has leaves after its last head"), "{:?}", problems());
    rows.execute_batch("INSERT INTO attestation_log_heads SELECT * FROM lost").unwrap();
}
