//! Uploads whose completion was refused after their parts were joined, and uploads that an S3-compatible store no longer has.

use std::io::{self, Read};

use marketplace::{
    error::{Code, Error},
    operations::{
        self,
        access::Platform,
        grant_uploads::FileInput,
        operator_uploads::{self, UploadPurpose},
        team_uploads, teams,
    },
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    seller_market::{empty_market_with, seller_call},
    uploads::{
        GRANTS, PART, complete_upload, create_grant_token, get_received_parts, plan_body, plan_upload,
        send_part, send_part_ok,
    },
};
use crate::{
    catalog::small_market,
    harness::{TestMarket, archives::zip_with_filling, s3},
};

/// A grant of a team that cannot have another asset, and the plan of an upload for the grant.
struct RefusedUpload {
    market: TestMarket,
    token: String,
    plan: Value,
    /// Path of the only asset that the team can have.
    asset: String,
}

impl RefusedUpload {
    /// Plans the upload of these bytes.
    async fn plan(market: TestMarket, bytes: &[u8]) -> RefusedUpload {
        let new = json!({"title": "The only one", "exclusivity": "available"});
        let asset = seller_call(&market, "POST", "codebases", new).await.expect_status(201);
        let asset = format!("codebases/{}", asset["id"].as_str().unwrap());
        let token = create_grant_token(&market);
        let plan = plan_upload(&market, &token, plan_body(bytes)).await.ok();
        RefusedUpload { market, token, plan, asset }
    }

    /// Tries to complete the upload with these parts, which is refused, and returns the received parts. Also checks that a plan for
    /// another size is refused.
    async fn complete_refused(&self, parts: &[Value]) -> Value {
        let refused = complete_upload(&self.market, &self.token, &self.plan, parts.to_vec()).await;
        assert_eq!(refused.expect_error(409), "quota_exceeded");
        assert_eq!(refused.json()["error"]["details"]["quota"], "assets");
        let mut other = plan_body(b"");
        other["size_bytes"] = json!(999);
        assert_eq!(plan_upload(&self.market, &self.token, other).await.expect_error(409), "conflict");
        let mut received = get_received_parts(&self.market, &self.token, &self.plan, &[]).await;
        received["received"].take()
    }

    /// Deletes the other asset, and completes the upload. Asserts that the upload has these bytes.
    async fn complete(&self, parts: &[Value], bytes: &[u8]) {
        seller_call(&self.market, "DELETE", &self.asset, Value::Null).await.expect_status(204);
        let row = complete_upload(&self.market, &self.token, &self.plan, parts.to_vec()).await.ok();
        assert_eq!(row["data"]["archive_bytes"], bytes.len());
        let id: Uuid = self.plan["upload_id"].as_str().unwrap().parse().unwrap();
        let stored = self.market.market().blobs().hash_upload(id).unwrap();
        assert_eq!(stored.sha256, format!("{:x}", Sha256::digest(bytes)));
        let work = self.market.market().clone();
        let run = move || operations::background::run_pending(&work, &|| true).unwrap();
        tokio::task::spawn_blocking(run).await.unwrap();
    }
}

/// "Another size after bytes have arrived is 409 `conflict`", and `received` lists what has arrived, also if the parts were joined
/// before the completion was refused.
#[tokio::test]
async fn refused_completion_keeps_what_has_arrived() {
    let market = empty_market_with(|settings| settings.quotas.assets = 1);
    let bytes = zip_with_filling(100);
    let upload = RefusedUpload::plan(market, &bytes).await;
    let part = send_part_ok(&upload.market, &upload.plan, &bytes).await;
    let expected = json!([{"part_number": 1, "etag": part["etag"], "size_bytes": bytes.len()}]);
    for _ in 0..2 {
        assert_eq!(upload.complete_refused(std::slice::from_ref(&part)).await, expected);
        let again = plan_upload(&upload.market, &upload.token, plan_body(&bytes)).await.ok();
        assert_eq!(again["upload_id"], upload.plan["upload_id"]);
        // Bytes that would not become part of the file are refused.
        let other = send_part(&upload.market, &again, &vec![0; bytes.len()]).await;
        assert_eq!(other.expect_error(409), "conflict");
    }
    upload.complete(&[part], &bytes).await;
}

/// Returns a market whose teams can have one asset, and whose store is in S3.
fn market_in_s3(store: &s3::S3Server) -> TestMarket {
    let market = TestMarket::with_settings(|settings| {
        store.configure(settings);
        settings.quotas.assets = 1;
    });
    small_market::seed_market(&market, &[], &json!({}));
    market
}

/// The store accepts other bytes as long as the signed URL is valid. They are newer than the joined bytes.
#[tokio::test]
async fn refused_completion_in_s3_takes_the_bytes_that_were_sent_last() {
    let store = s3::S3Server::start();
    let first = zip_with_filling(100);
    let second: Vec<u8> = first.iter().rev().copied().collect();
    let upload = RefusedUpload::plan(market_in_s3(&store), &first).await;
    let url = upload.plan["url"].as_str().unwrap();
    let mut parts = Vec::new();
    for bytes in [&first, &second] {
        let (status, etag) = s3::put(url, bytes.clone()).await;
        assert_eq!(status, 200);
        parts.push(json!({"part_number": 1, "etag": etag}));
        let received = upload.complete_refused(&parts[parts.len() - 1..]).await;
        assert_eq!(received, json!([{"part_number": 1, "etag": etag, "size_bytes": bytes.len()}]));
    }
    let old = complete_upload(&upload.market, &upload.token, &upload.plan, vec![parts[0].clone()]).await;
    assert_eq!(old.expect_error(409), "parts_missing");
    upload.complete(&parts[1..], &second).await;
}

#[tokio::test]
async fn refused_completion_in_s3_keeps_all_parts() {
    let store = s3::S3Server::start();
    let bytes = zip_with_filling(100_000_000);
    let upload = RefusedUpload::plan(market_in_s3(&store), &bytes).await;
    let mut parts = Vec::new();
    for (address, part) in upload.plan["parts"].as_array().unwrap().iter().zip(bytes.chunks(PART)) {
        let (status, etag) = s3::put(address["url"].as_str().unwrap(), part.to_vec()).await;
        assert_eq!(status, 200);
        parts.push(json!({"part_number": address["part_number"], "etag": etag}));
    }
    let received = upload.complete_refused(&parts).await;
    let sizes = received.as_array().unwrap().iter().map(|part| part["size_bytes"].as_u64().unwrap());
    assert_eq!(sizes.clone().count(), parts.len());
    assert_eq!(sizes.sum::<u64>(), bytes.len() as u64);
    upload.complete(&parts, &bytes).await;
}

/// Returns a plan request for a file of two parts or more.
fn large_plan_body() -> Value {
    let mut body = plan_body(b"");
    body["size_bytes"] = json!(100_000_001);
    body
}

/// Buckets often have a rule that deletes uploads that are not complete after some days.
#[tokio::test]
async fn upload_that_the_store_no_longer_has_is_planned_again() {
    let store = s3::S3Server::start();
    let market = market_in_s3(&store);
    let token = create_grant_token(&market);
    let dropped = plan_upload(&market, &token, large_plan_body()).await.ok();
    let url = dropped["parts"][0]["url"].as_str().unwrap();
    assert_eq!(s3::put(url, vec![0; PART]).await.0, 200);
    let same = plan_upload(&market, &token, large_plan_body()).await.ok();
    assert_eq!(same["upload_id"], dropped["upload_id"]);

    store.abort_uploads();
    assert_eq!(s3::put(url, vec![0; PART]).await.0, 404);
    for action in ["parts", "complete"] {
        let mut body = json!({"upload_id": dropped["upload_id"]});
        if action == "parts" {
            body["part_numbers"] = json!([1]);
        }
        let refused = seller_call(&market, "POST", &format!("{GRANTS}/{token}/{action}"), body).await;
        assert_eq!(refused.expect_error(409), "conflict", "{action}");
        let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("Plan it again"), "{message}");
    }
    let planned = plan_upload(&market, &token, large_plan_body()).await.ok();
    assert_ne!(planned["upload_id"], dropped["upload_id"]);
    let url = planned["parts"][0]["url"].as_str().unwrap();
    assert_eq!(s3::put(url, vec![0; PART]).await.0, 200);
    let again = plan_upload(&market, &token, large_plan_body()).await.ok();
    assert_eq!(again["upload_id"], planned["upload_id"]);
    let received = get_received_parts(&market, &token, &planned, &[]).await;
    assert_eq!(received["received"][0]["size_bytes"], PART);
}

#[test]
fn operators_learn_that_the_store_no_longer_has_an_upload() {
    let store = s3::S3Server::start();
    let market = market_in_s3(&store);
    let (market, platform) = (market.market(), Platform::of_process());
    let team = market.read_blocking(|reader| teams::resolve(reader.rows, "Seller house")).unwrap();
    let purpose = UploadPurpose::Zip(team.id);
    let file = FileInput { file_name: "a.zip".to_owned(), size_bytes: 100_000_001, sha256: None };
    let upload = operator_uploads::prepare(market, platform, purpose, &file).unwrap();
    market
        .write_blocking(|writer| operator_uploads::plan(writer, platform, purpose, &file, &upload))
        .unwrap();
    let (_, received) = team_uploads::find_with_parts(market, platform, upload.id).unwrap();
    assert_eq!(received, []);
    store.abort_uploads();
    let is_conflict = |error: Error| {
        assert_eq!(error.code(), Some(Code::Conflict));
        assert!(error.to_string().contains("Cancel it"), "{error}");
    };
    is_conflict(team_uploads::find_with_parts(market, platform, upload.id).unwrap_err());
    is_conflict(team_uploads::join(market, platform, upload.id).unwrap_err());
}

/// The library repeats the request, for which there is no upload any more.
#[test]
fn upload_is_stored_if_the_response_to_its_completion_is_lost() {
    let store = s3::S3Server::start();
    let market = market_in_s3(&store);
    let (blobs, id) = (market.market().blobs(), Uuid::from_u128(7));
    store.lose_completion();
    let written = blobs.put_upload(id, &mut &b"abc"[..]).unwrap();
    assert_eq!((written.size_bytes, &blobs.hash_upload(id).unwrap()), (3, &written));
}

/// A bucket keeps the parts of an upload that is not complete, and they cost as much as objects.
#[test]
fn parts_of_an_upload_whose_source_fails_are_deleted() {
    let store = s3::S3Server::start();
    let market = market_in_s3(&store);
    let mut source = (&b"abc"[..]).chain(FailingSource);
    let failed = market.market().blobs().put_upload(Uuid::from_u128(7), &mut source);
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!((store.abort_uploads(), store.object_names()), (0, vec![]));
}

struct FailingSource;

impl Read for FailingSource {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }
}
