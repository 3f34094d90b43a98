//! Analysis of attached archives, including hostile archives and servers that die during the analysis.

use std::cell::Cell;

use marketplace::{domain::jobs, operations, store};
use serde_json::{Value, json};

use super::seller_market::{
    empty_market, market_with, seller_call, seller_get, seller_patch, seller_post, upload_zip,
};
use crate::harness::{TestMarket, archives::zip_of, elements};

const TEAM: &str = "Seller house";

fn letters_zip() -> Vec<u8> {
    zip_of(&[
        ("README.md", "# Letters\n\nCourt letters of 1890."),
        ("scans/2.tiff", "x"),
        ("scans/1.TIFF", "x"),
        ("index.csv", "a,b"),
    ])
}

/// Creates raw data with these bytes attached and returns its path.
async fn create_with_archive(market: &TestMarket, bytes: &[u8], body: &Value) -> String {
    let mut body = body.clone();
    body["data"] = json!({"channel": "zip", "url": upload_zip(market, TEAM, bytes)});
    format!("raw-data/{}", seller_post(market, "raw-data", body).await["id"].as_str().unwrap())
}

async fn get_structure(market: &TestMarket, path: &str) -> Value {
    seller_get(market, &format!("{path}/data/structure")).await
}

#[tokio::test]
async fn attached_archive_is_analyzed_in_the_background() {
    let market = empty_market();
    let path = create_with_archive(&market, &letters_zip(), &json!({"title": "Letters"})).await;
    let nothing = json!({"analysis_status": "pending", "max_depth": 0, "roots": []});
    assert_eq!(get_structure(&market, &path).await, nothing);
    market.run_background();
    let row = seller_get(&market, &path).await;
    let data = &row["data"];
    assert_eq!(
        (&data["archive_status"], &data["analysis_status"]),
        (&json!("completed"), &json!("completed"))
    );
    assert_eq!(
        (&data["analyzed_at"], &data["analysis_error"]),
        (&json!("2026-03-01T09:00:00.000Z"), &Value::Null)
    );
    let file = |name: &str| json!({"name": name, "kind": "file", "children": []});
    let scans = json!({"name": "scans", "kind": "folder", "children": [file("1.TIFF"), file("2.tiff")]});
    assert_eq!(
        get_structure(&market, &path).await,
        json!({"analysis_status": "completed", "max_depth": 2, "roots": [scans, file("README.md"), file("index.csv")]})
    );
}

/// "Once the upload is read, a blank description is filled from the archive root README."
#[tokio::test]
async fn only_blank_description_is_filled_from_the_readme() {
    let market = empty_market();
    let blank = create_with_archive(&market, &letters_zip(), &json!({"title": "Blank"})).await;
    let written =
        create_with_archive(&market, &letters_zip(), &json!({"title": "Written", "description": "Mine."}))
            .await;
    market.run_background();
    assert_eq!(seller_get(&market, &blank).await["description"], "Court letters of 1890.");
    assert_eq!(seller_get(&market, &written).await["description"], "Mine.");
    // A description from the archive is locked until detaching. One from the caller is not locked.
    let mine = json!({"description": "Changed."});
    assert_eq!(
        seller_call(&market, "PATCH", &blank, mine.clone()).await.problems(),
        ["body.description field_locked"]
    );
    assert_eq!(seller_patch(&market, &written, mine.clone()).await["description"], "Changed.");
    seller_call(&market, "DELETE", &format!("{blank}/data"), Value::Null).await.expect_status(204);
    assert_eq!(seller_get(&market, &blank).await["description"], Value::Null, "detaching must clear it");
    assert_eq!(seller_patch(&market, &blank, mine).await["description"], "Changed.");
    assert_eq!(
        seller_call(&market, "GET", &format!("{blank}/data/structure"), Value::Null).await.expect_error(404),
        "not_found"
    );
}

#[tokio::test]
async fn failed_analysis_has_an_error_message() {
    let market = empty_market();
    for (title, bytes, message) in [
        ("Cut", letters_zip()[..90].to_vec(), "damaged"),
        ("Out", zip_of(&[("../secret", "x")]), "points outside the archive"),
    ] {
        let path = create_with_archive(&market, &bytes, &json!({"title": title})).await;
        market.run_background();
        let data = seller_get(&market, &path).await["data"].clone();
        assert_eq!(
            (&data["archive_status"], &data["analysis_status"]),
            (&json!("completed"), &json!("failed"))
        );
        assert!(data["analysis_error"].as_str().unwrap().contains(message), "{data}");
        let nothing = json!({"analysis_status": "failed", "max_depth": 0, "roots": []});
        assert_eq!(get_structure(&market, &path).await, nothing);
        // A new upload is analyzed independently of the failed one.
        seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
        let url = upload_zip(&market, TEAM, &letters_zip());
        seller_post(&market, &format!("{path}/data"), json!({"channel": "zip", "url": url})).await;
        market.run_background();
        assert_eq!(get_structure(&market, &path).await["analysis_status"], "completed");
    }
}

/// Every hostile archive ends in an error message, and the server still analyzes the next archive.
#[tokio::test]
async fn hostile_archive_ends_in_an_error_message() {
    let market = empty_market();
    let plain = zip_of(&[("aa/secret", "x"), ("ab/secret", "y")]);
    let zeros = "0".repeat(101_000_000);
    let list = |bytes: &[u8]| bytes.windows(4).position(|part| part == b"PK\x01\x02").unwrap();
    let at_list = |offset: usize, value: u8| {
        let mut bytes = plain.clone();
        let at = list(&bytes) + offset;
        bytes[at] = value;
        bytes
    };
    for (title, bytes, message) in [
        ("upwards", replace_bytes(&plain, b"aa/secret", b"../secret"), "points outside the archive"),
        ("absolute", replace_bytes(&plain, b"aa/secret", b"/a/secret"), "points outside the archive"),
        ("drive", replace_bytes(&plain, b"aa/secret", b"C:\\secret"), "points outside the archive"),
        ("NUL", replace_bytes(&plain, b"aa/secret", b"aa/s\0cret"), "has the character NUL"),
        ("link", at_list(41, 0o240), "is a link"),
        ("password", at_list(8, 1), "needs a password"),
        ("twice", replace_bytes(&plain, b"ab/secret", b"aa/secret"), "Two files have the path \"aa/secret\""),
        ("astray", at_list(42, 40), "damaged"),
        ("bomb", zip_of(&[("zeros", &zeros)]), "times its size"),
        ("one long name", zip_of(&[(&"n".repeat(300), "")]), "255 bytes"),
        ("cut", plain[..plain.len() - 30].to_vec(), "damaged"),
        ("no zip", b"PK\x03\x04".repeat(2_500), "damaged"),
    ] {
        let path = create_with_archive(&market, &bytes, &json!({"title": title})).await;
        market.run_background();
        let data = seller_get(&market, &path).await["data"].clone();
        assert_eq!(data["analysis_status"], "failed", "{title}: {data}");
        assert!(data["analysis_error"].as_str().unwrap().contains(message), "{title}: {data}");
    }
    let path = create_with_archive(&market, &letters_zip(), &json!({"title": "Letters"})).await;
    market.run_background();
    assert_eq!(get_structure(&market, &path).await["analysis_status"], "completed");
}

/// Replaces every occurrence of a byte string by another one of the same length.
fn replace_bytes(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    let positions: Vec<usize> =
        (0..=bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    for at in positions {
        forged[at..at + to.len()].copy_from_slice(to);
    }
    forged
}

#[tokio::test]
async fn lost_upload_is_reported() {
    let market = empty_market();
    let path = create_with_archive(&market, &letters_zip(), &json!({"title": "Lost"})).await;
    let uploads = market.market().data_dir().join("blobs/uploads");
    let stored_files: Vec<_> =
        std::fs::read_dir(&uploads).unwrap().map(|file| file.unwrap().path()).collect();
    let moved = uploads.join("away");
    std::fs::rename(&stored_files[0], &moved).unwrap();
    market.run_background();
    let data = seller_get(&market, &path).await["data"].clone();
    assert_eq!((&data["archive_status"], &data["analysis_status"]), (&json!("failed"), &json!("skipped")));
    assert!(data["archive_error"].as_str().unwrap().contains("no longer exists"));
    std::fs::rename(&moved, &stored_files[0]).unwrap();
}

#[tokio::test]
async fn detaching_cancels_the_analysis() {
    let market = empty_market();
    let path = create_with_archive(&market, &letters_zip(), &json!({"title": "Letters"})).await;
    seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
    market.run_background();
    let row = seller_get(&market, &path).await;
    assert_eq!((&row["data"], &row["description"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn stopped_analysis_is_resumed() {
    let market = empty_market();
    let path = create_with_archive(&market, &letters_zip(), &json!({"title": "Letters"})).await;
    // Each round lets the callback allow one more step than the previous round.
    for allowed_calls in 0..4 {
        let remaining_calls = Cell::new(allowed_calls);
        let keep_running = || remaining_calls.replace(remaining_calls.get().max(1) - 1) > 0;
        operations::background::run_pending(market.market(), &keep_running).unwrap();
        let status = get_structure(&market, &path).await["analysis_status"].clone();
        if status == "completed" {
            break;
        }
        assert!(["pending", "running"].contains(&status.as_str().unwrap()), "{status}");
    }
    market.run_background();
    assert_eq!(get_structure(&market, &path).await["analysis_status"], "completed");
}

/// The archive is replaced by another one while it is being analyzed. Nothing of its analysis must be stored.
#[tokio::test(flavor = "multi_thread")]
async fn archive_detached_during_analysis_leaves_no_results() {
    let market = empty_market();
    let path = create_with_archive(&market, &letters_zip(), &json!({"title": "Letters"})).await;
    let other = upload_zip(&market, TEAM, &zip_of(&[("readme", "Other words."), ("only.txt", "x")]));
    let (is_swapped, runtime_handle) = (Cell::new(false), tokio::runtime::Handle::current());
    let keep_running = || {
        tokio::task::block_in_place(|| {
            runtime_handle.block_on(async {
                let status = get_structure(&market, &path).await["analysis_status"].clone();
                if status == "running" && !is_swapped.replace(true) {
                    seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null)
                        .await
                        .expect_status(204);
                    seller_post(&market, &format!("{path}/data"), json!({"channel": "zip", "url": other}))
                        .await;
                }
            });
        });
        true
    };
    operations::background::run_pending(market.market(), &keep_running).unwrap();
    assert!(is_swapped.get(), "the analysis must call the callback while its status is running");
    assert_eq!(seller_get(&market, &path).await["description"], "Other words.");
    let structure = get_structure(&market, &path).await;
    let names: Vec<&Value> = elements(&structure["roots"]).map(|node| &node["name"]).collect();
    assert_eq!(names, ["only.txt", "readme"]);
}

/// An archive during whose analysis the server is killed is read once more, and then marked as failed.
#[tokio::test]
async fn archive_that_kills_the_server_fails_after_two_starts() {
    let market = empty_market();
    let path = create_with_archive(&market, &letters_zip(), &json!({"title": "Letters"})).await;
    for _ in 0..jobs::MAX_INTERRUPTED_STARTS {
        // A server claims the job and dies without reporting a result. The next server releases the job.
        let claimed = market.write(|writer| {
            let job = store::jobs::claim(writer.rows, jobs::Queue::Analyses, 1, writer.now)?;
            assert!(store::jobs::begin(writer.rows, job.as_ref().unwrap())?);
            store::jobs::release_all(writer.rows)?;
            Ok(job)
        });
        assert!(claimed.unwrap().is_some());
    }
    market.run_background();
    let data = seller_get(&market, &path).await["data"].clone();
    assert_eq!(data["analysis_status"], "failed");
    assert!(data["analysis_error"].as_str().unwrap().contains("could not be read"), "{data}");
}

#[tokio::test]
async fn listings_show_analysis_results() {
    let market = market_with(&json!({
        "assets": [{"key": "raw", "team": "seller", "sku": "raw_data", "title": "Raw", "created_at": "-P9D", "raw_data": {}}],
        "listings": [{"key": "l", "team": "seller", "title": "Letters", "description": "D", "price_usd": 5,
            "created_at": "-P9D", "assets": ["raw"]}],
    }));
    let url = upload_zip(&market, TEAM, &letters_zip());
    let row = format!("raw-data/{}", super::seller_market::seeded_id("assets", "raw"));
    seller_post(&market, &format!("{row}/data"), json!({"channel": "zip", "url": url})).await;
    market.run_background();
    let listings = seller_get(&market, "listings?min_zip_files=4&max_zip_files=4").await;
    assert_eq!(listings["items"].as_array().unwrap().len(), 1);
    assert_eq!(listings["items"][0]["catalog_scale"]["zip_file_count"], 4);
    assert_eq!(listings["facets"]["file_extensions"], json!({"csv": 1, "md": 1, "tiff": 1}));
}
