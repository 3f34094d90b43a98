//! Uploads under a grant that are on their way when the server is killed.

use std::io::{Cursor, Write};

use marketplace::{
    domain::assets::Exclusivity,
    operations::{self, grants::GrantIn},
};
use serde_json::{Value, json};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{Site, TEAM};
use crate::harness::server::{Server, answer};

/// Bytes of the zip: more than the system keeps of a connection, so that the server has some and lacks some.
const FILLING: usize = 12 << 20;

fn zipped() -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    writer.start_file("src/main.rs", options).unwrap();
    writer.write_all(b"fn main() {}\n").unwrap();
    writer.start_file("filling.bin", options).unwrap();
    writer.write_all(&(0..FILLING).map(|at| (at % 251) as u8).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap().into_inner()
}

/// An upload under a grant.
struct Upload {
    grant: String,
    id: Value,
    url: Value,
}

impl Upload {
    fn planned(server: &Server, token: &str, bytes: &[u8]) -> Upload {
        let grant = format!("/v2/vendor/uploads/grants/{token}");
        let file =
            json!({"file_name": "ledger.zip", "size_bytes": bytes.len(), "content_type": "application/zip"});
        let (status, plan) = server.call("POST", &grant, &file);
        assert_eq!((status, &plan["mode"]), (200, &json!("single")), "{plan}");
        Upload { grant, id: plan["upload_id"].clone(), url: plan["url"].clone() }
    }

    /// The sizes of the parts that were received, and a fresh address of the only one.
    fn received(&self, server: &Server) -> (Vec<u64>, Value) {
        let body = json!({"upload_id": self.id, "part_numbers": [1]});
        let (status, parts) = server.call("POST", &format!("{}/parts", self.grant), &body);
        assert_eq!(status, 200, "{parts}");
        let received = parts["received"].as_array().unwrap().iter();
        (
            received.map(|part| part["size_bytes"].as_u64().unwrap()).collect(),
            parts["parts"][0]["url"].clone(),
        )
    }

    fn completing(&self) -> (String, Value) {
        (format!("{}/complete", self.grant), json!({"upload_id": self.id}))
    }
}

/// An address without its server, which is another one after each kill.
fn path(url: &Value) -> &str {
    let url = url.as_str().unwrap();
    &url[url.match_indices('/').nth(2).unwrap().0..]
}

#[test]
fn uploads_go_on_however_often_the_server_dies() {
    let site = Site::new("file:///nowhere");
    let grant = GrantIn {
        team: TEAM,
        title: "Ledger",
        exclusivity: Exclusivity::Available,
        group: None,
        max_bytes: None,
    };
    let granted = site.market().write_blocking(|writer| operations::grants::create(writer, &grant)).unwrap();
    let bytes = zipped();
    let mut server = site.server();
    let mut upload = Upload::planned(&server, &granted.1, &bytes);
    // Cut after no byte, after some, and after all of them but one.
    for sent in [0, 1_000, bytes.len() / 2, bytes.len() - 1] {
        let unheard = server.begin("PUT", path(&upload.url), bytes.len(), &bytes[..sent]);
        server.kill();
        drop(unheard);
        server = site.server();
        let (received, url) = upload.received(&server);
        assert_eq!(received, Vec::<u64>::new(), "cut after {sent} bytes");
        upload.url = url;
    }
    // All of it was sent, and nobody heard whether it came: it did or it did not, but not in parts.
    let unheard = server.begin("PUT", path(&upload.url), bytes.len(), &bytes);
    server.kill();
    drop(unheard);
    server = site.server();
    let (received, url) = upload.received(&server);
    assert!(received.is_empty() || received == [bytes.len() as u64], "{received:?}");
    assert!(answer(server.begin("PUT", path(&url), bytes.len(), &bytes)).starts_with("HTTP/1.1 200"));
    server.kill();
    server = site.server();
    assert_eq!(upload.received(&server).0, [bytes.len() as u64], "what was acknowledged is there");
    completed_once(&site, server, &upload);
}

/// Completes an upload, and kills the server at it until it says that it is done.
fn completed_once(site: &Site, mut server: Server, upload: &Upload) {
    let (path, body) = upload.completing();
    for wait in [0, 5, 20] {
        let text = body.to_string();
        let unheard = server.begin("POST", &path, text.len(), text.as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(wait));
        server.kill();
        drop(unheard);
        server = site.server();
    }
    let (status, row) = server.call("POST", &path, &body);
    // It may have been completed by a server that did not live to say so.
    assert!(status == 200 || row["error"]["code"] == "grant_consumed", "{status} {row}");
    let (status, row) = server.call("POST", &path, &body);
    assert_eq!((status, &row["error"]["code"]), (410, &json!("grant_consumed")));
    let codebases = server.call("GET", "/v2/codebases", &Value::Null).1;
    assert_eq!(codebases["total"], 1, "{codebases}");
    server.kill();
    drop(site.settled());
    assert_eq!((site.files("staged"), site.files("uploads").len()), (Vec::new(), 1));
    let codebases = site.server().call("GET", "/v2/codebases", &Value::Null).1;
    assert_eq!(codebases["items"][0]["data"]["analysis_status"], "completed");
}
