//! Uploads with a grant: plans, presigned URLs, parts in any order, resuming, completing, and every error on
//! the way, both with the built-in object store and with an S3-compatible one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc,
};

use marketplace::{market::Requester, operations};
use poem::http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::seller_market::{SELLER, create_grant, empty_market, seller_call, seller_get};
use crate::{
    catalog::small_market,
    harness::{BASE, TestMarket, TestResponse, archives::zip_with_filling, elements, s3},
};

pub(super) const GRANTS: &str = "vendor/uploads/grants";

/// Size in bytes of each part except the last.
pub(super) const PART: usize = 16 << 20;

pub(super) fn create_grant_token(market: &TestMarket) -> String {
    create_grant(market.market(), None).1
}

pub(super) fn plan_body(bytes: &[u8]) -> Value {
    json!({"file_name": "ledger.zip", "size_bytes": bytes.len(), "content_type": "application/zip"})
}

pub(super) async fn plan_upload(market: &TestMarket, token: &str, file: Value) -> TestResponse {
    seller_call(market, "POST", &format!("{GRANTS}/{token}"), file).await
}

/// Sends the bytes of a part to its presigned URL.
pub(super) async fn send_part(market: &TestMarket, address: &Value, bytes: &[u8]) -> TestResponse {
    let path = address["url"].as_str().unwrap().strip_prefix(BASE).expect("a URL of this server");
    let length = bytes.len().to_string();
    market.send_body(Method::PUT, path, &[("content-length", &length)], bytes.to_vec()).await
}

/// Sends a part and returns its entry for the request that completes the upload.
pub(super) async fn send_part_ok(market: &TestMarket, address: &Value, bytes: &[u8]) -> Value {
    let response = send_part(market, address, bytes).await;
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.bytes));
    let number = address.get("part_number").cloned().unwrap_or(json!(1));
    json!({"part_number": number, "etag": response.headers["etag"].to_str().unwrap()})
}

pub(super) async fn complete_upload(
    market: &TestMarket,
    token: &str,
    plan: &Value,
    parts: Vec<Value>,
) -> TestResponse {
    let body = json!({"upload_id": plan["upload_id"], "parts": parts});
    seller_call(market, "POST", &format!("{GRANTS}/{token}/complete"), body).await
}

pub(super) async fn get_received_parts(
    market: &TestMarket,
    token: &str,
    plan: &Value,
    numbers: &[u32],
) -> Value {
    let body = json!({"upload_id": plan["upload_id"], "part_numbers": numbers});
    seller_call(market, "POST", &format!("{GRANTS}/{token}/parts"), body).await.ok()
}

/// "Signs the PUT for the grant"; "publishes the zip, creates the codebase and consumes the grant".
#[tokio::test]
async fn small_zip_is_uploaded_in_one_request() {
    let market = empty_market();
    let token = create_grant_token(&market);
    assert_eq!(token.len(), 32);
    let bytes = zip_with_filling(100);
    let digest = format!("{:x}", Sha256::digest(&bytes));
    let mut plan_request = plan_body(&bytes);
    plan_request["sha256"] = json!(digest);
    let single = plan_upload(&market, &token, plan_request.clone()).await.ok();
    assert_eq!((&single["mode"], &single["method"]), (&json!("single"), &json!("PUT")));
    assert_eq!(single["headers"], json!({"Content-Length": bytes.len().to_string()}));
    assert_eq!(single["expires_at"], "2026-03-01T10:00:00.000Z", "a URL must be valid for one hour");
    // "The same size returns the same plan."
    assert_eq!(plan_upload(&market, &token, plan_request).await.ok(), single);
    let part = send_part_ok(&market, &single, &bytes).await;
    let row = complete_upload(&market, &token, &single, vec![part]).await.ok();
    assert_eq!((&row["title"], &row["exclusivity"]), (&json!("Ledger"), &json!("available")));
    assert_eq!(
        (&row["data"]["channel"], &row["data"]["archive_bytes"]),
        (&json!("zip"), &json!(bytes.len()))
    );
    let repeated = complete_upload(&market, &token, &single, vec![]).await;
    assert_eq!(repeated.expect_error(410), "grant_consumed");
    market.run_background();
    let path = format!("codebases/{}", row["id"].as_str().unwrap());
    let row = seller_get(&market, &path).await;
    assert_eq!(
        (&row["data"]["analysis_status"], &row["description"]),
        (&json!("completed"), &json!("Keeps accounts."))
    );
    assert_eq!((&row["lines_of_code"], &row["locked_fields"]["lines_of_code"]), (&json!(1), &json!("zip")));
    let page = seller_get(&market, "codebases?filter=private_data:is:true").await;
    assert_eq!(page["total"], 1, "data from a zip must be private");
    assert!(operations::verify::find_inconsistencies(market.market()).unwrap().is_empty());
}

/// Files above 100 MB are uploaded in parts. Parts arrive in any order, and missing ones can be sent later.
#[tokio::test]
async fn large_zip_is_uploaded_in_parts_and_resumed() {
    let market = empty_market();
    let token = create_grant_token(&market);
    let bytes = zip_with_filling(100_000_000);
    let parts: Vec<&[u8]> = bytes.chunks(PART).collect();
    let multipart = plan_upload(&market, &token, plan_body(&bytes)).await.ok();
    assert_eq!((&multipart["mode"], &multipart["part_size_bytes"]), (&json!("multipart"), &json!(PART)));
    assert_eq!((&multipart["part_count"], parts.len()), (&json!(6), 6));
    let addresses = multipart["parts"].as_array().unwrap();
    let mut sent_parts = vec![Value::Null; parts.len()];
    for index in [5, 0, 3, 2] {
        sent_parts[index] = send_part_ok(&market, &addresses[index], parts[index]).await;
    }
    let mut incomplete: Vec<Value> = sent_parts.iter().filter(|part| !part.is_null()).cloned().collect();
    let rejection = complete_upload(&market, &token, &multipart, incomplete.clone()).await;
    assert_eq!(rejection.expect_error(409), "parts_missing");
    assert_eq!(rejection.json()["error"]["details"]["missing"], json!([2, 5]));
    // A plan for another size conflicts, while a plan for the same size resumes the upload.
    let mut other = plan_body(&bytes);
    other["size_bytes"] = json!(bytes.len() + 1);
    assert_eq!(plan_upload(&market, &token, other).await.expect_error(409), "conflict");
    assert_eq!(
        plan_upload(&market, &token, plan_body(&bytes)).await.ok()["upload_id"],
        multipart["upload_id"]
    );
    market.clock().advance(7_200_000_000);
    let late = send_part(&market, &addresses[1], parts[1]).await;
    assert_eq!(late.expect_error(403), "forbidden", "a URL must expire after one hour");
    let received = get_received_parts(&market, &token, &multipart, &[2, 5]).await;
    let numbers: Vec<u64> =
        elements(&received["received"]).map(|part| part["part_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 3, 4, 6]);
    assert_eq!(received["received"][3]["size_bytes"], bytes.len() - 5 * PART);
    for (address, index) in elements(&received["parts"]).zip([1, 4]) {
        sent_parts[index] = send_part_ok(&market, address, parts[index]).await;
    }
    // All parts have been received, but a request lists none or not all of them.
    let all = get_received_parts(&market, &token, &multipart, &[]).await["received"].clone();
    let path = format!("{GRANTS}/{token}/complete");
    for (listed, expected) in [
        (json!({}), json!([1, 2, 3, 4, 5, 6])),
        (json!({"parts": []}), json!([1, 2, 3, 4, 5, 6])),
        (json!({"parts": sent_parts[..4]}), json!([5, 6])),
    ] {
        let mut body = listed.clone();
        body["upload_id"] = multipart["upload_id"].clone();
        let rejection = seller_call(&market, "POST", &path, body).await;
        assert_eq!(rejection.expect_error(409), "parts_missing", "{listed}");
        assert_eq!(rejection.json()["error"]["details"]["missing"], expected, "{listed}");
    }
    let mut listed_twice = sent_parts.clone();
    listed_twice.extend([sent_parts[0].clone(), json!({"part_number": 7, "etag": "x"})]);
    assert_eq!(
        complete_upload(&market, &token, &multipart, listed_twice).await.problems(),
        ["body.parts.6.part_number duplicate", "body.parts.7.part_number less_than_equal"]
    );
    // ETags are in quotes wherever the server states them. A request may leave them out.
    for (part, sent_part) in all.as_array().unwrap().iter().zip(&mut sent_parts) {
        assert_eq!(part["etag"], sent_part["etag"]);
        let etag = part["etag"].as_str().unwrap();
        let unquoted = etag.strip_prefix('"').and_then(|etag| etag.strip_suffix('"')).unwrap();
        assert_eq!(unquoted.len(), 32);
        if part["part_number"].as_u64().unwrap() % 2 == 0 {
            sent_part["etag"] = json!(unquoted);
        }
    }
    incomplete[0]["etag"] = json!("0123");
    incomplete.extend([sent_parts[1].clone(), sent_parts[4].clone()]);
    assert_eq!(
        complete_upload(&market, &token, &multipart, incomplete).await.expect_error(409),
        "parts_missing"
    );
    let row = complete_upload(&market, &token, &multipart, sent_parts).await.ok();
    assert_eq!(row["data"]["archive_bytes"], bytes.len());
    assert!(operations::verify::find_inconsistencies(market.market()).unwrap().is_empty());
}

#[tokio::test]
async fn forged_or_expired_urls_and_wrong_sizes_are_rejected() {
    let market = empty_market();
    let token = create_grant_token(&market);
    let bytes = zip_with_filling(10);
    let single = plan_upload(&market, &token, plan_body(&bytes)).await.ok();
    let url = single["url"].as_str().unwrap();
    let (path, _) = url.split_once('?').unwrap();
    let forged = [
        url.replace("size=", "size=1"),
        url.replace("expires=", "expires=9"),
        url.replace("/1?", "/2?"),
        path.to_owned(),
        format!("{url}0"),
    ];
    for forged in forged {
        let response = send_part(&market, &json!({"url": forged}), &bytes).await;
        assert_eq!(response.expect_error(403), "forbidden", "{forged}");
    }
    for wrong in [&bytes[1..], &[&bytes[..], b"x"].concat()] {
        assert_eq!(send_part(&market, &single, wrong).await.expect_error(400), "bad_request");
        let path = url.strip_prefix(BASE).unwrap();
        let response = market.send_body(Method::PUT, path, &[], wrong.to_vec()).await;
        assert_eq!(response.expect_error(400), "bad_request", "without a content length too");
    }
    let path_and_query = url.strip_prefix(BASE).unwrap();
    for range in [format!("bytes 0-{}/{}", bytes.len() - 1, bytes.len()), "x".to_owned()] {
        let headers = [("content-range", range.as_str())];
        let response = market.send_body(Method::PUT, path_and_query, &headers, bytes.clone()).await;
        assert_eq!(response.expect_error(400), "bad_request", "{range}");
    }
    assert_eq!(get_received_parts(&market, &token, &single, &[]).await["received"], json!([]));
    let get = market.send(Method::GET, path.strip_prefix(BASE).unwrap(), &[]).await;
    assert_eq!(get.expect_error(405), "method_not_allowed");
    // A URL expires exactly when the plan says.
    market.clock().advance(1_000);
    let single = plan_upload(&market, &token, plan_body(&bytes)).await.ok();
    assert_eq!(single["expires_at"], "2026-03-01T10:00:01.000Z");
    market.clock().advance(3_600_998_999);
    send_part_ok(&market, &single, &bytes).await;
    market.clock().advance(1);
    assert_eq!(send_part(&market, &single, &bytes).await.expect_error(403), "forbidden");
}

#[tokio::test]
async fn zip_with_wrong_checksum_is_rejected() {
    let market = empty_market();
    let token = create_grant_token(&market);
    let bytes = zip_with_filling(10);
    let mut plan_request = plan_body(&bytes);
    plan_request["sha256"] = json!("0".repeat(64));
    let single = plan_upload(&market, &token, plan_request).await.ok();
    let part = send_part_ok(&market, &single, &bytes).await;
    let rejection = complete_upload(&market, &token, &single, vec![part]).await;
    assert_eq!(rejection.expect_error(409), "conflict");
    assert!(rejection.json()["error"]["message"].as_str().unwrap().contains("was announced"));
    let repeated = plan_upload(&market, &token, plan_body(&bytes)).await.ok();
    assert_ne!(repeated["upload_id"], single["upload_id"]);
    let part = send_part_ok(&market, &repeated, &bytes).await;
    complete_upload(&market, &token, &repeated, vec![part]).await.ok();
}

#[tokio::test]
async fn grant_is_limited_to_its_team_size_and_lifetime() {
    let market = empty_market();
    let (row_id, token) = create_grant(market.market(), Some(1_000));
    let bytes = zip_with_filling(10);
    let path = format!("/v2/{GRANTS}/{token}");
    assert_eq!(
        market.call("mkt_both", "POST", &path, &plan_body(&bytes)).await.expect_error(404),
        "not_found"
    );
    assert_eq!(plan_upload(&market, &"x".repeat(32), plan_body(&bytes)).await.expect_error(404), "not_found");
    let mut large = plan_body(&bytes);
    large["size_bytes"] = json!(1_001);
    assert_eq!(plan_upload(&market, &token, large).await.problems(), ["body.size_bytes less_than_equal"]);
    let single = plan_upload(&market, &token, plan_body(&bytes)).await.ok();
    let unknown_upload = json!({"upload_id": "00000000-0000-0000-0000-000000000000", "parts": []});
    let rejection = seller_call(&market, "POST", &format!("{GRANTS}/{token}/complete"), unknown_upload).await;
    assert_eq!(rejection.problems(), ["body.upload_id unknown_reference"]);
    let unknown_part = json!({"upload_id": single["upload_id"], "part_numbers": [2]});
    let rejection = seller_call(&market, "POST", &format!("{GRANTS}/{token}/parts"), unknown_part).await;
    assert_eq!(rejection.problems(), ["body.part_numbers.0 less_than_equal"]);
    // Revoking a grant deletes the parts that were received.
    send_part_ok(&market, &single, &bytes).await;
    let staged = market.market().data_dir().join("blobs/staged");
    assert_eq!(std::fs::read_dir(&staged).unwrap().count(), 1);
    market.write(|writer| operations::grants::revoke(writer, row_id)).unwrap();
    assert_eq!(plan_upload(&market, &token, plan_body(&bytes)).await.expect_error(410), "grant_expired");
    assert_eq!(send_part(&market, &single, &bytes).await.expect_error(404), "not_found");
    market.run_background();
    assert_eq!(std::fs::read_dir(&staged).unwrap().count(), 0);
    // A grant that expires after 24 hours loses its parts too.
    let (_, token) = create_grant(market.market(), None);
    let single = plan_upload(&market, &token, plan_body(&bytes)).await.ok();
    send_part_ok(&market, &single, &bytes).await;
    market.clock().advance(24 * 3_600_000_000);
    assert_eq!(complete_upload(&market, &token, &single, vec![]).await.expect_error(410), "grant_expired");
    market.run_background();
    assert_eq!(std::fs::read_dir(&staged).unwrap().count(), 0);
}

/// Completing an upload twice with one idempotency key creates one codebase.
#[tokio::test]
async fn completing_twice_with_one_key_creates_one_codebase() {
    let market = empty_market();
    let token = create_grant_token(&market);
    let bytes = zip_with_filling(10);
    let single = plan_upload(&market, &token, plan_body(&bytes)).await.ok();
    send_part_ok(&market, &single, &bytes).await;
    let path = format!("/v2/{GRANTS}/{token}/complete");
    let body = json!({"upload_id": single["upload_id"]});
    let mut rows = Vec::new();
    for _ in 0..2 {
        let key = [("idempotency-key", "k")];
        rows.push(market.call_with(SELLER, "POST", &path, &body, &key).await.ok());
    }
    assert_eq!(rows[0], rows[1]);
    assert_eq!(seller_get(&market, "codebases").await["total"], 1);
    // A repeated plan request returns the stored response too, although the grant is consumed by then.
    let token = create_grant_token(&market);
    let path = format!("/v2/{GRANTS}/{token}");
    let key = [("idempotency-key", "p")];
    let planned = market.call_with(SELLER, "POST", &path, &plan_body(&bytes), &key).await.ok();
    send_part_ok(&market, &planned, &bytes).await;
    complete_upload(&market, &token, &planned, vec![]).await.ok();
    assert_eq!(market.call_with(SELLER, "POST", &path, &plan_body(&bytes), &key).await.ok(), planned);
}

/// Returns the URL with one character of its signature changed.
fn with_forged_signature(url: &str) -> String {
    let at = url.find("X-Amz-Signature=").expect("a signed URL") + "X-Amz-Signature=".len();
    let other = if url[at..].starts_with('0') { "1" } else { "0" };
    format!("{}{other}{}", &url[..at], &url[at + 1..])
}

/// With an S3-compatible store, clients send the parts to the store itself, which checks the signed URLs.
#[tokio::test]
async fn s3_store_receives_the_parts_directly() {
    let store = s3::S3Server::start();
    let market = TestMarket::with_settings(|settings| store.configure(settings));
    small_market::seed_market(&market, &[], &json!({}));
    for filling in [100, 100_000_000] {
        let token = create_grant_token(&market);
        let bytes = zip_with_filling(filling);
        let mut plan_request = plan_body(&bytes);
        plan_request["sha256"] = json!(format!("{:x}", Sha256::digest(&bytes)));
        let plan = plan_upload(&market, &token, plan_request).await.ok();
        let addresses = match plan["mode"].as_str().unwrap() {
            "single" => vec![plan.clone()],
            _ => plan["parts"].as_array().unwrap().clone(),
        };
        let mut sent_parts = Vec::new();
        for (index, (address, part)) in addresses.iter().zip(bytes.chunks(PART)).enumerate() {
            let url = address["url"].as_str().unwrap();
            assert!(url.starts_with(&store.endpoint), "{url}");
            let (status, _) = s3::put(&with_forged_signature(url), Vec::new()).await;
            assert_eq!(status, 403, "the store must check signatures");
            if index == addresses.len() - 1 {
                let rejection = complete_upload(&market, &token, &plan, sent_parts.clone()).await;
                assert_eq!(rejection.json()["error"]["details"]["missing"], json!([index + 1]));
                let status_of_parts = get_received_parts(&market, &token, &plan, &[]).await;
                assert_eq!(status_of_parts["received"].as_array().unwrap().len(), index);
            }
            let (status, etag) = s3::put(url, part.to_vec()).await;
            assert_eq!(status, 200);
            sent_parts.push(json!({"part_number": index + 1, "etag": etag}));
        }
        let row = complete_upload(&market, &token, &plan, sent_parts).await.ok();
        let work = market.market().clone();
        let run = move || operations::background::run_pending(&work, &|| true).unwrap();
        tokio::task::spawn_blocking(run).await.unwrap();
        let row = seller_get(&market, &format!("codebases/{}", row["id"].as_str().unwrap())).await;
        assert_eq!(row["data"]["analysis_status"], "completed", "{row}");
        assert_eq!(row["description"], "Keeps accounts.");
    }
    assert_eq!(store.object_names().len(), 2);
    assert!(operations::verify::find_inconsistencies(market.market()).unwrap().is_empty());
    // Revoking a grant deletes what was uploaded and not completed.
    let (row_id, token) = create_grant(market.market(), None);
    let single = plan_upload(&market, &token, plan_body(&zip_with_filling(10))).await.ok();
    s3::put(single["url"].as_str().unwrap(), zip_with_filling(10)).await;
    assert_eq!(store.object_names().len(), 3);
    market.write(|writer| operations::grants::revoke(writer, row_id)).unwrap();
    market.run_background();
    assert_eq!(store.object_names().len(), 2);
}

/// A byte that is sent as one chunk, and counts the chunks that are in memory.
struct Chunk(Arc<AtomicUsize>);

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        b"x"
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Each chunk takes many times its length in memory.
#[tokio::test]
async fn short_chunks_of_a_part_are_not_kept() {
    let market = empty_market();
    let token = create_grant_token(&market);
    let plan = plan_upload(&market, &token, plan_body(&vec![0; 20_000])).await.expect_status(200);
    let path = plan["url"].as_str().unwrap().strip_prefix(BASE).unwrap();
    let (in_memory, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let chunks = futures_util::stream::iter((0..20_000).map({
        let most = Arc::clone(&most);
        move |_| {
            most.fetch_max(in_memory.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(bytes::Bytes::from_owner(Chunk(Arc::clone(&in_memory))))
        }
    }));
    let response = market.send_body(Method::PUT, path, &[], poem::Body::from_bytes_stream(chunks)).await;
    assert_eq!(response.status, 200);
    assert!(most.load(Ordering::Relaxed) <= 2, "{most:?} chunks");
}

/// A part that was received needs no slot, so it is not lost if all slots are taken meanwhile.
#[tokio::test]
async fn received_part_is_accepted_although_all_slots_are_taken() {
    use tokio::io::AsyncWriteExt;
    let market = TestMarket::with_settings(|settings| {
        (settings.limits.in_flight, settings.limits.queue, settings.data.readers) = (1, 0, 1);
    });
    small_market::seed_market(&market, &[], &json!({}));
    let token = create_grant_token(&market);
    let bytes = zip_with_filling(1_000);
    let plan = plan_upload(&market, &token, plan_body(&bytes)).await.expect_status(200);
    let path = plan["url"].as_str().unwrap().strip_prefix(BASE).unwrap();
    let (mut sender, receiver) = tokio::io::duplex(64);
    let body = poem::Body::from_async_read(receiver);
    let mut part = std::pin::pin!(market.send_body(Method::PUT, path, &[], body));
    tokio::select! {
        _ = &mut part => unreachable!("the part is incomplete"),
        // Fits into the pipe only while the part is being received.
        written = sender.write_all(&bytes[..200]) => written.unwrap(),
    }
    let (release, released) = mpsc::channel::<()>();
    let mut reading = std::pin::pin!(market.market().read(Requester::process(), move |_| {
        released.recv().ok();
        Ok(())
    }));
    assert!(futures_util::poll!(&mut reading).is_pending());
    let mut other = std::pin::pin!(seller_get(&market, "raw-data"));
    assert!(futures_util::poll!(&mut other).is_pending(), "it waits for the reader in the only slot");
    let send_rest = async {
        sender.write_all(&bytes[200..]).await.unwrap();
        drop(sender);
    };
    assert_eq!(tokio::join!(part, send_rest).0.status, 200);
    assert!(futures_util::poll!(&mut other).is_pending(), "it still waits");
    release.send(()).unwrap();
    other.await;
    reading.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn slow_part_is_rejected_and_can_be_sent_again() {
    use tokio::io::AsyncWriteExt;
    let market = empty_market();
    let token = create_grant_token(&market);
    let bytes = zip_with_filling(1_000);
    let plan = plan_upload(&market, &token, plan_body(&bytes)).await.expect_status(200);
    let path = plan["url"].as_str().unwrap().strip_prefix(BASE).unwrap();
    let (mut sender, receiver) = tokio::io::duplex(64);
    sender.write_all(&bytes[..60]).await.unwrap();
    let start = tokio::time::Instant::now();
    let body = poem::Body::from_async_read(receiver);
    let response = market.send_body(Method::PUT, path, &[], body).await;
    assert_eq!(response.expect_error(408), "request_timeout");
    assert_eq!(start.elapsed().as_secs(), 10);
    send_part_ok(&market, &plan, &bytes).await;
}

/// Another process revokes the grant and deletes the upload while a part is received.
#[tokio::test]
async fn part_of_an_upload_that_ends_meanwhile_is_not_found() {
    use tokio::io::AsyncWriteExt;
    let market = empty_market();
    let (row_id, token) = create_grant(market.market(), None);
    let bytes = zip_with_filling(1_000);
    let plan = plan_upload(&market, &token, plan_body(&bytes)).await.expect_status(200);
    let path = plan["url"].as_str().unwrap().strip_prefix(BASE).unwrap();
    let (mut sender, receiver) = tokio::io::duplex(64);
    let sent = market.send_body(Method::PUT, path, &[], poem::Body::from_async_read(receiver));
    let revoke = async {
        // The buffer takes more bytes only when the part is being received.
        sender.write_all(&bytes[..200]).await.unwrap();
        market.write(|writer| operations::grants::revoke(writer, row_id)).unwrap();
        let id = plan["upload_id"].as_str().unwrap();
        std::fs::remove_dir_all(find_directory(market.market().data_dir(), id).unwrap()).unwrap();
        sender.write_all(&bytes[200..]).await.unwrap();
        drop(sender);
    };
    let (response, ()) = tokio::join!(sent, revoke);
    assert_eq!(response.expect_error(404), "not_found");
    let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("upload in progress"), "{message}");
}

/// Returns the directory of this name below another one.
fn find_directory(below: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let mut children = std::fs::read_dir(below).ok()?.map(|entry| entry.unwrap().path());
    children.find_map(|path| if path.ends_with(name) { Some(path) } else { find_directory(&path, name) })
}
