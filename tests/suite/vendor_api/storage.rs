//! A full disk, and quotas of teams: rejected operations, operations that still work, and operations that free space.

use marketplace::{
    config::Settings,
    domain::assets::RepositoryChannel,
    market::{Requester, Writer},
    operations::{self, cleanup, codebases::LinkRequest, grant_uploads, idempotency},
};
use poem::http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::seller_market::{SELLER, complete_codebase, create_grant, seeded_id};
use crate::{
    catalog::small_market,
    harness::{BASE, TestMarket, TestResponse, git::Repositories},
};

/// A market of a seller with three files of raw data.
fn market_with(change: impl FnOnce(&mut Settings)) -> TestMarket {
    let market = TestMarket::with_settings(change);
    let assets = ["a", "b", "c"].map(|key| {
        json!({"key": key, "team": "seller", "sku": "raw_data", "title": key, "created_at": "-P30D", "raw_data": {}})
    });
    small_market::seed_market(&market, &[], &json!({"assets": assets}));
    market
}

async fn call(market: &TestMarket, method: &str, path: &str, body: Value) -> TestResponse {
    market.call(SELLER, method, &format!("/v2/{path}"), &body).await
}

/// No disk has a petabyte free.
fn fill_disk(settings: &mut Settings) {
    settings.data.reserve_mb = 1_000_000_000;
}

#[tokio::test]
async fn full_disk_rejects_writes_and_allows_reading_and_deleting() {
    let market = market_with(fill_disk);
    let [first, second] = ["a", "b"].map(|key| format!("raw-data/{}", seeded_id("assets", key)));
    let group = json!({"name": "Ledgers"});
    for (method, path, body) in [
        ("POST", "codebases", complete_codebase()),
        ("POST", "asset-groups", group),
        ("PATCH", first.as_str(), json!({"title": "Renamed"})),
    ] {
        let response = call(&market, method, path, body).await;
        assert_eq!(response.expect_error(503), "storage_full", "{method} {path}");
        assert_eq!(response.header("retry-after"), "60");
        let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("free space"), "{message}");
    }
    assert_eq!(call(&market, "GET", &first, Value::Null).await.ok()["title"], "a");
    call(&market, "DELETE", &second, Value::Null).await.expect_status(204);
    call(&market, "GET", &second, Value::Null).await.expect_error(404);
    assert_eq!(call(&market, "GET", "raw-data", Value::Null).await.ok()["total"], 2);
}

/// A request that was executed before needs no space, so its response is the stored one, also on a full disk.
#[tokio::test]
async fn full_disk_allows_repeating_requests() {
    let market = market_with(fill_disk);
    let path = "/v2/asset-groups";
    let (body, response) = (json!({"name": "Ledgers"}), br#"{"stored":true}"#);
    let authenticated =
        operations::access::AuthenticatedTeam::authenticate(market.market(), Requester::process(), SELLER);
    let request = idempotency::Request {
        principal: authenticated.await.unwrap().team().row_id.into(),
        key: "k1".to_owned(),
        route: format!("POST {:x}", Sha256::digest(path)),
    };
    let digest = Sha256::digest(body.to_string()).into();
    let executed = market.write(|writer| {
        let work = |_: &mut Writer| Ok(response.to_vec());
        idempotency::execute(writer, request.principal, Some(&request), digest, work)
    });
    executed.unwrap();
    let authorization = format!("Bearer {SELLER}");
    let post = async |key: &str, body: &Value| {
        let headers = [
            ("authorization", authorization.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        market.send_body(Method::POST, path, &headers, body.to_string().into_bytes()).await
    };
    let repeated = post("k1", &body).await;
    assert_eq!((repeated.status, repeated.bytes.as_slice()), (201, &response[..]));
    let other = post("k1", &json!({"name": "Other"})).await;
    assert_eq!(other.problems(), ["header.Idempotency-Key idempotency_key_reused"]);
    assert_eq!(post("k2", &body).await.expect_error(503), "storage_full");
}

/// No repository is copied to a full disk. The server tries again later.
#[tokio::test]
async fn full_disk_postpones_copies() {
    let repositories = Repositories::new();
    repositories.create_with_files("acme/ledger", &[("a.rs", "fn a() {}\n")]);
    let market = TestMarket::with_settings(|settings| {
        fill_disk(settings);
        settings.repositories.github_url = repositories.url();
    });
    let codebase = json!({"key": "code", "team": "seller", "sku": "codebase", "title": "Code", "created_at": "-P30D", "codebase": {"exclusivity": "available"}});
    small_market::seed_market(&market, &[], &json!({"assets": [codebase]}));
    let authenticated =
        operations::access::AuthenticatedTeam::authenticate(market.market(), Requester::process(), SELLER);
    let vendor = operations::access::Vendor::authorize(authenticated.await.unwrap()).unwrap();
    let id = seeded_id("assets", "code");
    let attached = market.write(|writer| {
        let id = id.parse().unwrap();
        let link =
            LinkRequest { channel: RepositoryChannel::Github, repo_full_name: "acme/ledger".to_owned() };
        operations::codebases::attach_repository(writer, &vendor, id, &link)
    });
    attached.unwrap();
    market.run_background();
    let data = call(&market, "GET", &format!("codebases/{id}"), Value::Null).await.ok()["data"].clone();
    assert_eq!((&data["archive_status"], &data["analysis_status"]), (&json!("pending"), &json!("pending")));
    assert!(data["archive_error"].as_str().unwrap().contains("no space"), "{data}");
}

#[tokio::test]
async fn full_disk_rejects_parts_and_allows_revoking_grants() {
    // The reserve is checked when a part starts, so the plan is made with the same market, by an operation
    // that does not check it.
    let market = market_with(fill_disk);
    let (row_id, token) = create_grant(market.market(), None);
    let authenticated =
        operations::access::AuthenticatedTeam::authenticate(market.market(), Requester::process(), SELLER)
            .await
            .unwrap();
    let vendor = operations::access::Vendor::authorize(authenticated).unwrap();
    let file = || grant_uploads::FileInput { file_name: "a.zip".to_owned(), size_bytes: 30, sha256: None };
    let prepared = grant_uploads::prepare(market.market(), &vendor, &token, &file()).unwrap();
    let upload = market
        .write(|writer| grant_uploads::plan(market.market(), writer, &vendor, &token, file(), &prepared))
        .unwrap();
    let urls = grant_uploads::part_urls(market.market(), BASE, &upload, [1]).unwrap();
    let path = urls[0].1.url.strip_prefix(BASE).unwrap();
    let sent = market.send_body(Method::PUT, path, &[("content-length", "30")], vec![0; 30]).await;
    assert_eq!(sent.expect_error(503), "storage_full");
    let plan = json!({"file_name": "a.zip", "size_bytes": 30, "content_type": "application/zip"});
    let planned = call(&market, "POST", &format!("vendor/uploads/grants/{token}"), plan).await;
    assert_eq!(planned.expect_error(503), "storage_full");
    operations::grants::revoke_and_delete(market.market(), row_id).unwrap();
    // The grants have expired, and so have the events of that time.
    let swept = cleanup::sweep(market.market()).unwrap();
    assert_eq!(swept, cleanup::Swept { old_records: swept.old_records, ..cleanup::Swept::default() });
    assert_eq!(market.send_body(Method::PUT, path, &[], vec![0; 30]).await.expect_error(404), "not_found");
}

/// Asserts that a response says that a quota is used up, and returns the numbers in its details.
fn excess(response: &TestResponse) -> Value {
    assert_eq!(response.expect_error(409), "quota_exceeded");
    response.json()["error"]["details"].clone()
}

#[tokio::test]
async fn quotas_of_assets_and_groups_reject_whole_requests() {
    let market = market_with(|settings| (settings.quotas.assets, settings.quotas.groups) = (5, 2));
    let titled = |title: &str| {
        let mut codebase = complete_codebase();
        codebase["title"] = json!(title);
        codebase
    };
    call(&market, "POST", "codebases", titled("d")).await.expect_status(201);
    let batch = json!({"items": [titled("e"), titled("f")]});
    let rejected = call(&market, "POST", "codebases/batch", batch).await;
    assert_eq!(excess(&rejected), json!({"quota": "assets", "limit": 5, "used": 4, "requested": 2}));
    assert_eq!(call(&market, "GET", "codebases", Value::Null).await.ok()["total"], 1);
    call(&market, "POST", "codebases", titled("e")).await.expect_status(201);
    // Deleting makes room, and other changes need none.
    assert_eq!(excess(&call(&market, "POST", "codebases", titled("f")).await)["used"], 5);
    let first = format!("raw-data/{}", seeded_id("assets", "a"));
    call(&market, "PATCH", &first, json!({"title": "Renamed"})).await.ok();
    call(&market, "DELETE", &first, Value::Null).await.expect_status(204);
    call(&market, "POST", "codebases", titled("f")).await.expect_status(201);
    call(&market, "POST", "asset-groups", json!({"name": "One"})).await.expect_status(201);
    let rejected = call(&market, "POST", "asset-groups", json!({"name": "Two"})).await;
    assert_eq!(excess(&rejected), json!({"quota": "groups", "limit": 2, "used": 2, "requested": 1}));
}

#[tokio::test]
async fn planned_uploads_count_until_their_grant_is_revoked() {
    let market = market_with(|settings| settings.quotas.upload_gb = 1);
    let plan = |token: &str, size: u64| {
        let path = format!("vendor/uploads/grants/{token}");
        let file = json!({"file_name": "a.zip", "size_bytes": size, "content_type": "application/zip"});
        let market = &market;
        async move { call(market, "POST", &path, file).await }
    };
    let (first_row_id, first) = create_grant(market.market(), None);
    let (_, second) = create_grant(market.market(), None);
    plan(&first, 700_000_000).await.ok();
    // The same upload again adds nothing.
    plan(&first, 700_000_000).await.ok();
    let rejected = plan(&second, 300_000_001).await;
    assert_eq!(
        excess(&rejected),
        json!({"quota": "upload_bytes", "limit": 1_000_000_000, "used": 700_000_000, "requested": 300_000_001})
    );
    plan(&second, 300_000_000).await.ok();
    operations::grants::revoke_and_delete(market.market(), first_row_id).unwrap();
    plan(&second, 1_000_000_000).await.ok();
}

#[tokio::test]
async fn idempotency_keys_are_limited_and_expire() {
    let market = market_with(|settings| settings.quotas.idempotency_keys = 50);
    let create = |number: usize| {
        let body = json!({"name": format!("Group {number}")});
        let market = &market;
        async move {
            let key = format!("key-{number}");
            market.call_with(SELLER, "POST", "/v2/asset-groups", &body, &[("idempotency-key", &key)]).await
        }
    };
    for number in 0..50 {
        create(number).await.expect_status(201);
    }
    assert_eq!(excess(&create(50).await)["quota"], "idempotency_keys");
    // A stored response is returned, and a request without a key is executed.
    create(0).await.expect_status(201);
    call(&market, "POST", "asset-groups", json!({"name": "Without a key"})).await.expect_status(201);
    market.clock().advance(24 * 3_600_000_000);
    create(50).await.expect_status(201);
    // One request deletes only some of the expired responses, a cleanup all of them.
    assert_eq!(cleanup::sweep(market.market()).unwrap().responses, 10);
}

#[tokio::test]
async fn response_that_is_too_large_is_not_stored_and_not_executed_again() {
    let market = market_with(|_| {});
    let team = market.read(|reader| operations::teams::resolve(reader.rows, "Seller house"));
    let principal = team.unwrap().row_id.into();
    let request =
        operations::idempotency::Request { principal, key: "k".to_owned(), route: "POST".to_owned() };
    let size = operations::idempotency::MAX_STORED_BYTES + 1;
    let execute = |size: usize| {
        market.write(|writer| {
            operations::idempotency::execute(writer, principal, Some(&request), [0; 32], |_| {
                Ok(vec![b'x'; size])
            })
        })
    };
    assert_eq!(execute(size).unwrap().len(), size);
    let error = execute(3).unwrap_err();
    assert!(error.message().contains("too large to store"), "{error}");
}
