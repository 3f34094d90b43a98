//! Requests to a world of every kind, for tests of its journal.

use marketplace::domain::principals::KeyScope;
use poem::http::Method;
use serde_json::{Value, json};

use crate::harness::{BASE, TestMarket, TestResponse, archives::zip_of};

pub const OPERATOR: &str = "mkt_demo_operator";
pub const VENDOR: &str = "mkt_demo_vendor";
pub const BUYER: &str = "mkt_demo_buyer";

/// A bundle of a repository.
const EXAMPLE_BUNDLE: &[u8] = include_bytes!("../../../fixtures/bundles/tideclock/harbour.bundle");

/// A world of a market.
pub struct WorldCaller {
    pub market: TestMarket,
    pub name: String,
}

impl WorldCaller {
    /// Creates a world of the demo market.
    pub async fn new(name: &str, new: Value) -> WorldCaller {
        let caller = WorldCaller { market: TestMarket::empty(), name: name.to_owned() };
        let key = caller.server_key();
        let mut body = new;
        body["name"] = json!(name);
        caller.market.call(&key, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
        caller
    }

    /// Returns an operator key of the server, which is not one of the world.
    pub fn server_key(&self) -> String {
        self.market.operator_key("Tests", KeyScope::All)
    }

    /// Sends a request to the world.
    pub async fn call(&self, key: &str, method: &str, path: &str, body: &Value) -> TestResponse {
        self.market.call(key, method, &format!("/w/{}{path}", self.name), body).await
    }

    /// Sends a request to the part of the sandbox API for the world, with an operator key of the world.
    pub async fn sandbox(&self, method: &str, path: &str, body: &Value) -> TestResponse {
        let path = format!("/sandbox/v1/worlds/{}{path}", self.name);
        self.market.call(OPERATOR, method, &path, body).await
    }

    /// Returns the entries of the journal that a query selects.
    pub async fn journal(&self, query: &str) -> Vec<Value> {
        let page = self.sandbox("GET", &format!("/journal?{query}"), &Value::Null).await.ok();
        page["items"].as_array().unwrap().clone()
    }

    /// Creates a team, and returns its ID and a key of it.
    pub async fn create_team(&self, name: &str) -> (String, String) {
        let team = json!({"name": name, "roles": ["vendor"], "tier": 1, "nda_accepted": true});
        let team = self.call(OPERATOR, "POST", "/operator/v1/teams", &team).await.expect_status(201);
        let id = team["id"].as_str().unwrap().to_owned();
        let key = json!({"team_id": id, "name": "CI"});
        let key = self.call(OPERATOR, "POST", "/operator/v1/keys", &key).await.expect_status(201);
        (id, key["secret"].as_str().unwrap().to_owned())
    }

    /// Uploads an archive of this many random bytes through a signed address. Returns the signed address, the token of the
    /// grant, and the ID of the codebase.
    pub async fn upload(&self, team: &str, key: &str, bytes: usize) -> (String, String, Value) {
        let grant = json!({"team_id": team, "title": "Harbor ledger"});
        let grant = self.call(OPERATOR, "POST", "/operator/v1/grants", &grant).await.expect_status(201);
        let token = grant["token"].as_str().unwrap().to_owned();
        let mut state = 1_u64;
        let noise: String = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'!' + ((state >> 33) % 90) as u8)
        })
        .take(bytes)
        .collect();
        let zip = zip_of(&[("src/main.rs", "fn main() {}\n"), ("noise.txt", &noise)]);
        let grants = format!("/v2/vendor/uploads/grants/{token}");
        let file =
            json!({"file_name": "ledger.zip", "size_bytes": zip.len(), "content_type": "application/zip"});
        let plan = self.call(key, "POST", &grants, &file).await.expect_status(200);
        let url = plan["url"].as_str().unwrap().to_owned();
        let (path, length) = (url.strip_prefix(BASE).unwrap(), zip.len().to_string());
        let sent = self.market.send_body(Method::PUT, path, &[("content-length", &length)], zip).await;
        assert_eq!(sent.status, 200);
        let part = json!({"part_number": 1, "etag": sent.header("etag")});
        let complete = json!({"upload_id": plan["upload_id"], "parts": [part]});
        let created =
            self.call(key, "POST", &format!("{grants}/complete"), &complete).await.expect_status(200);
        (url, token, created["id"].clone())
    }

    /// Signs in to the web app of the world as a vendor. Returns the cookie.
    pub async fn sign_in(&self) -> String {
        let headers =
            [("sec-fetch-site", "same-origin"), ("content-type", "application/x-www-form-urlencoded")];
        let (path, body) = (format!("/w/{}/console/sign-in", self.name), format!("key={VENDOR}"));
        let answer = self.market.send_body(Method::POST, &path, &headers, body).await;
        assert_eq!(answer.status, 303, "{}", String::from_utf8_lossy(&answer.bytes));
        answer.header("set-cookie").split(';').next().unwrap().to_owned()
    }

    /// Adds a repository.
    pub async fn put_repository(&self) {
        let path = format!("/sandbox/v1/worlds/{}/repositories/acme/billing", self.name);
        let key = format!("Bearer {OPERATOR}");
        let headers = [("authorization", key.as_str()), ("content-type", "application/octet-stream")];
        self.market.send_body(Method::PUT, &path, &headers, EXAMPLE_BUNDLE).await.expect_status(200);
    }
}
