//! Uploads: the parts of all, and the zips of operators.

use marketplace::{
    market::Market,
    operations::{
        access::Platform,
        grant_uploads::FileInput,
        operator_uploads::{self, UploadPurpose},
        team_uploads, teams,
    },
};
use poem::{Body, http::Method};
use serde_json::Value;

use super::{BASE, TestMarket, TestResponse};

impl TestMarket {
    /// Sends the bytes of a part of an upload to the URL that its record has.
    pub async fn send_part(&self, part: &Value, bytes: impl Into<Body>) -> TestResponse {
        let path = part["url"].as_str().unwrap().strip_prefix(BASE).expect("a URL of this server");
        self.send_body(Method::PUT, path, &[], bytes).await
    }
}

/// Uploads a zip for a team, given by ID or name. Returns the URL of the upload.
pub fn import_zip(market: &Market, team: &str, bytes: &[u8]) -> String {
    let platform = Platform::of_process();
    let team = market.read_blocking(|reader| teams::resolve(reader.rows, team)).unwrap();
    let purpose = UploadPurpose::Zip(team.id);
    let file = FileInput { file_name: "upload.zip".to_owned(), size_bytes: bytes.len() as u64, sha256: None };
    let upload = operator_uploads::prepare(market, platform, purpose, &file).unwrap();
    let plan =
        market.write_blocking(|writer| operator_uploads::plan(writer, platform, purpose, &file, &upload));
    plan.unwrap();
    market.blobs().put_upload(upload.id, &mut &*bytes).unwrap();
    let joined = team_uploads::join(market, platform, upload.id).unwrap();
    let completed = market
        .write_blocking(|writer| team_uploads::complete(writer, platform, BASE, upload.id, joined.as_ref()));
    completed.unwrap().url
}
