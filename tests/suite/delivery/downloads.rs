//! Contents of bundles, and the requests that download them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use marketplace::{
    domain::purchases::{PayWith, PurchaseKind},
    market::Reader,
    operations, store,
};
use serde_json::json;

use super::{DATA, FILES, delivered, lines, names, sha256, shop, unzip};
use crate::{
    harness::archives::zip_of,
    sales::{DAY, buy, listing_id},
};

#[tokio::test]
async fn bundle_has_an_entry_for_each_asset_and_matches_its_manifest() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let [code, data, tasks, environment] = &shop.assets;
    let files = unzip(&shop.download("buyer").await);
    let manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    assert_eq!(manifest["listing_id"], json!(listing_id("all")));
    let listed = shop.detail("buyer").await["bundle_manifest"].clone();
    let entries = manifest["entries"].as_array().unwrap();
    assert_eq!((entries.len(), listed.as_object().unwrap().len(), files.len()), (4, 4, 7));
    for entry in entries {
        let bytes = &files[entry["path"].as_str().unwrap()];
        let (size, digest) = (json!(bytes.len()), json!(sha256(bytes)));
        assert_eq!((&entry["size_bytes"], &entry["sha256"]), (&size, &digest));
        assert_eq!(listed[entry["path"].as_str().unwrap()], json!({"size_bytes": size, "sha256": digest}));
        assert!(entry["path"].as_str().unwrap().starts_with(entry["asset_id"].as_str().unwrap()));
        assert!(entry.get("problem").is_none(), "{entry}");
    }
    let mut commit = names(&files[&format!("{code}/repository.zip")]);
    let mut expected: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
    commit.sort();
    expected.sort_unstable();
    assert_eq!(commit, expected);
    assert_eq!(unzip(&files[&format!("{code}/repository.zip")])["LICENSE"], b"MIT");
    assert!(files[&format!("{data}/upload.zip")] == zip_of(&DATA), "an upload is delivered as it is");
    let lines = lines(&files[&format!("{tasks}/tasks.jsonl")]);
    let versions: Vec<_> =
        lines.iter().map(|line| (line["name"].as_str().unwrap(), &line["version"])).collect();
    assert_eq!(versions, [("one", &json!(1)), ("one", &json!(2)), ("two", &json!(1))]);
    assert_eq!((&lines[1]["brief"]["prompt"], &lines[1]["builds"][0]["build"]), (&json!("Do 2."), &json!(1)));
    let asset: serde_json::Value =
        serde_json::from_slice(&files[&format!("{environment}/asset.json")]).unwrap();
    assert_eq!((&asset["asset_id"], &asset["kind"]), (&json!(environment), &json!("environment")));
    assert_eq!(asset["environment"]["capabilities"], json!(["filesystem"]));
    let all = String::from_utf8_lossy(&files.into_values().flatten().collect::<Vec<u8>>()).into_owned();
    for private in ["private", "hidden", "reward", "traces", "Buyer house"] {
        assert!(!all.contains(private), "{private} is not delivered");
    }
}

#[tokio::test]
async fn two_ranges_are_the_whole() {
    let shop = shop().await;
    shop.buy("buyer", PurchaseKind::Full).await;
    let link = shop.link("buyer").await;
    let whole = shop.fetch(&link, &[]).await;
    let (tag, size) = (whole.header("etag").to_owned(), whole.bytes.len());
    assert_eq!((whole.status, whole.header("accept-ranges")), (200, "bytes"));
    assert_eq!((whole.header("content-type"), tag.len()), ("application/zip", 66));
    for middle in [1, size / 3, size / 2, size - 1] {
        let mut joined = Vec::new();
        for (range, content_range) in [
            (format!("bytes=0-{}", middle - 1), format!("bytes 0-{}/{size}", middle - 1)),
            (format!("bytes={middle}-"), format!("bytes {middle}-{}/{size}", size - 1)),
        ] {
            let part = shop.fetch(&link, &[("range", &range), ("if-range", &tag)]).await;
            assert_eq!((part.status, part.header("content-range")), (206, content_range.as_str()));
            assert_eq!(part.header("content-length"), part.bytes.len().to_string());
            joined.extend(part.bytes);
        }
        assert!(joined == whole.bytes, "{middle}");
    }
    let changed = shop.fetch(&link, &[("range", "bytes=5-"), ("if-range", "\"other\"")]).await;
    assert!(changed.status == 200 && changed.bytes == whole.bytes);
    let behind = shop.fetch(&link, &[("range", &format!("bytes={size}-"))]).await;
    assert_eq!((behind.status, behind.header("content-range")), (416, format!("bytes */{size}").as_str()));
    let known = shop.fetch(&link, &[("if-none-match", &tag)]).await;
    assert_eq!((known.status, known.bytes.len(), known.header("etag")), (304, 0, tag.as_str()));
    for tags in [tag.as_str(), "*", &format!("\"other\", {tag}")] {
        assert_eq!(shop.fetch(&link, &[("if-match", tags)]).await.bytes, whole.bytes, "{tags}");
    }
    for headers in [&[("if-match", "\"other\"")][..], &[("if-match", "\"other\""), ("range", "bytes=0-4")]] {
        assert_eq!(shop.fetch(&link, headers).await.expect_error(412), "precondition_failed");
    }
    // Only GET has ranges.
    for headers in [&[][..], &[("range", "bytes=0-4")]] {
        let head = shop.market.send(poem::http::Method::HEAD, &link, headers).await;
        assert_eq!((head.status, head.bytes.len()), (200, 0));
        assert_eq!(
            (head.header("content-length"), head.header("etag")),
            (size.to_string().as_str(), tag.as_str())
        );
    }
    assert_eq!(shop.market.send(poem::http::Method::PUT, &link, &[]).await.status, 405);
}

#[tokio::test]
async fn bundle_that_is_being_prepared_is_to_be_requested_again() {
    let shop = shop().await;
    let listing = listing_id("all");
    buy(&shop.market, "buyer", listing, PurchaseKind::Full, PayWith::Credits).unwrap();
    let link = shop.link("buyer").await;
    assert_eq!(shop.detail("buyer").await["bundle_manifest"], json!({}));
    let early = shop.fetch(&link, &[]).await;
    assert_eq!((early.expect_error(503).as_str(), early.header("retry-after")), ("at_capacity", "2"));
    shop.market.run_background_on_a_thread().await;
    assert_eq!(shop.fetch(&link, &[]).await.status, 200);
}

/// The job is stopped after more and more checks, as if the server was, and continues each time.
#[tokio::test]
async fn interrupted_preparation_continues() {
    let shop = shop().await;
    shop.buy("other", PurchaseKind::Full).await;
    let expected = delivered(&shop.download("other").await);
    buy(&shop.market, "buyer", listing_id("all"), PurchaseKind::Full, PayWith::Credits).unwrap();
    for checks in 1..6 {
        let market = shop.market.market().clone();
        let remaining = AtomicU32::new(checks);
        let keep_running = move || {
            remaining.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
        };
        let run = move || operations::background::run_pending(&market, &keep_running).unwrap();
        tokio::task::spawn_blocking(run).await.unwrap();
    }
    shop.market.run_background_on_a_thread().await;
    assert!(delivered(&shop.download("buyer").await) == expected, "both purchases have the same bytes");
}

/// A worker that panics fails the attempt of its job, and nothing else.
#[tokio::test]
async fn preparation_that_panics_is_tried_again() {
    let shop = shop().await;
    buy(&shop.market, "buyer", listing_id("all"), PurchaseKind::Full, PayWith::Credits).unwrap();
    let (market, observed) = (shop.market.market().clone(), shop.market.market().clone());
    let has_panicked = AtomicBool::new(false);
    let keep_running = move || {
        let is_any_leased = |reader: &Reader| store::jobs::is_any_leased(reader.rows);
        let is_in_a_job = observed.read_blocking(is_any_leased).unwrap();
        assert!(!is_in_a_job || has_panicked.swap(true, Ordering::SeqCst), "as a fault of the program would");
        true
    };
    let run = move || operations::background::run_pending(&market, &keep_running).unwrap();
    tokio::task::spawn_blocking(run).await.unwrap();
    assert_eq!(shop.fetch(&shop.link("buyer").await, &[]).await.status, 503);
    shop.market.clock().advance(DAY);
    shop.market.run_background_on_a_thread().await;
    assert_eq!(shop.fetch(&shop.link("buyer").await, &[]).await.status, 200);
}
