//! Links have a host by which the client reaches the server: the one of its request if that is trusted.

use marketplace::operations;
use serde_json::json;

use super::seller_market::{SELLER, empty_market_with};
use crate::harness::{BASE, grant_input};

#[tokio::test]
async fn upload_addresses_have_the_host_of_the_request_if_it_is_trusted() {
    let market = empty_market_with(|settings| settings.server.trusted_hosts = vec!["shop".to_owned()]);
    let grant = grant_input("Seller house", "Ledger");
    let created = market.write(|writer| operations::grants::create(writer, &grant));
    let path = format!("/v2/vendor/uploads/grants/{}", created.unwrap().1);
    let file = json!({"file_name": "a.zip", "size_bytes": 100, "content_type": "application/zip"});
    for (host, base) in [
        ("localhost:9000", "http://localhost:9000"),
        ("127.0.0.1:49153", "http://127.0.0.1:49153"),
        ("[::1]", "http://[::1]"),
        ("market.test", BASE),
        ("shop:8080", "http://shop:8080"),
    ] {
        let plan = market.call_with(SELLER, "POST", &path, &file, &[("host", host)]).await.ok();
        let body = json!({"upload_id": plan["upload_id"], "part_numbers": [1]});
        let parts_path = format!("{path}/parts");
        let parts = market.call_with(SELLER, "POST", &parts_path, &body, &[("host", host)]).await.ok();
        for url in [&plan["url"], &parts["parts"][0]["url"]] {
            let url = url.as_str().unwrap();
            assert!(url.starts_with(&format!("{base}/v2/blobs/")), "{host}: {url}");
        }
    }
}
