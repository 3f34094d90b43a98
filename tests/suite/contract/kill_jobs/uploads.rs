//! Uploads under a grant that are in progress when the server is killed.

use marketplace::operations;
use serde_json::{Value, json};

use super::{KilledMarket, TEAM};
use crate::harness::{
    archives::zip_with_filling,
    grant_input,
    server::{Server, read_response},
};

/// Bytes of padding in the zip: more than the socket buffers hold, so that the server has received only a
/// part.
const PADDING_BYTES: usize = 12 << 20;

/// An upload under a grant.
struct Upload {
    grant: String,
    id: Value,
    url: Value,
}

impl Upload {
    fn plan(server: &Server, token: &str, bytes: &[u8]) -> Upload {
        let grant = format!("/v2/vendor/uploads/grants/{token}");
        let file =
            json!({"file_name": "ledger.zip", "size_bytes": bytes.len(), "content_type": "application/zip"});
        let (status, plan) = server.call("POST", &grant, &file);
        assert_eq!((status, &plan["mode"]), (200, &json!("single")), "{plan}");
        Upload { grant, id: plan["upload_id"].clone(), url: plan["url"].clone() }
    }

    /// Returns the sizes of the received parts, and a fresh upload URL for the only part.
    fn received_parts(&self, server: &Server) -> (Vec<u64>, Value) {
        let body = json!({"upload_id": self.id, "part_numbers": [1]});
        let (status, parts) = server.call("POST", &format!("{}/parts", self.grant), &body);
        assert_eq!(status, 200, "{parts}");
        let received = parts["received"].as_array().unwrap().iter();
        (
            received.map(|part| part["size_bytes"].as_u64().unwrap()).collect(),
            parts["parts"][0]["url"].clone(),
        )
    }

    fn completion_request(&self) -> (String, Value) {
        (format!("{}/complete", self.grant), json!({"upload_id": self.id}))
    }
}

/// Returns a URL without its host and port, since the port changes with each server.
fn path_of_url(url: &Value) -> &str {
    let url = url.as_str().unwrap();
    &url[url.match_indices('/').nth(2).unwrap().0..]
}

#[test]
fn upload_completes_once_despite_server_kills() {
    let killed_market = KilledMarket::new("file:///nowhere");
    let grant = grant_input(TEAM, "Ledger");
    let granted =
        killed_market.market().write_blocking(|writer| operations::grants::create(writer, &grant)).unwrap();
    let bytes = zip_with_filling(PADDING_BYTES);
    let mut server = killed_market.server();
    let mut upload = Upload::plan(&server, &granted.1, &bytes);
    // The upload is interrupted before the first byte, after some, and before the last one.
    for sent_bytes in [0, 1_000, bytes.len() / 2, bytes.len() - 1] {
        let unread_response =
            server.start_request("PUT", path_of_url(&upload.url), bytes.len(), &bytes[..sent_bytes]);
        server.kill();
        drop(unread_response);
        server = killed_market.server();
        let (received, url) = upload.received_parts(&server);
        assert_eq!(received, Vec::<u64>::new(), "interrupted after {sent_bytes} bytes");
        upload.url = url;
    }
    // All bytes were sent but not acknowledged: the server has either the whole part or nothing of it.
    let unread_response = server.start_request("PUT", path_of_url(&upload.url), bytes.len(), &bytes);
    server.kill();
    drop(unread_response);
    server = killed_market.server();
    let (received, url) = upload.received_parts(&server);
    assert!(received.is_empty() || received == [bytes.len() as u64], "{received:?}");
    assert!(
        read_response(server.start_request("PUT", path_of_url(&url), bytes.len(), &bytes))
            .starts_with("HTTP/1.1 200")
    );
    server.kill();
    server = killed_market.server();
    assert_eq!(upload.received_parts(&server).0, [bytes.len() as u64], "an acknowledged part is stored");
    assert_completed_once(&killed_market, server, &upload);
}

/// Completes an upload, killing the server during several attempts, and asserts that one codebase was
/// created.
fn assert_completed_once(killed_market: &KilledMarket, mut server: Server, upload: &Upload) {
    let (path, body) = upload.completion_request();
    for wait in [0, 5, 20] {
        let text = body.to_string();
        let unread_response = server.start_request("POST", &path, text.len(), text.as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(wait));
        server.kill();
        drop(unread_response);
        // An analysis that is interrupted twice is given up.
        drop(killed_market.finish_jobs());
        server = killed_market.server();
    }
    let (status, row) = server.call("POST", &path, &body);
    // A killed server may have completed the upload without sending the response.
    assert!(status == 200 || row["error"]["code"] == "grant_consumed", "{status} {row}");
    let (status, row) = server.call("POST", &path, &body);
    assert_eq!((status, &row["error"]["code"]), (410, &json!("grant_consumed")));
    let codebases = server.call("GET", "/v2/codebases", &Value::Null).1;
    assert_eq!(codebases["total"], 1, "{codebases}");
    server.kill();
    drop(killed_market.finish_jobs());
    assert_eq!(
        (killed_market.blob_names("staged"), killed_market.blob_names("uploads").len()),
        (Vec::new(), 1)
    );
    let codebases = killed_market.server().call("GET", "/v2/codebases", &Value::Null).1;
    assert_eq!(codebases["items"][0]["data"]["analysis_status"], "completed");
}
