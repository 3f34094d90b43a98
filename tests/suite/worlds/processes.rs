//! Two processes respond alike, byte for byte: to the README's story, and to GET requests of all operations.

use std::{collections::BTreeMap, thread};

use serde_json::json;

use crate::{
    contract::cases::{Case, CaseRequest, OPERATOR, cases},
    harness::server::Server,
    tour,
};

/// Name of the world in each process.
const WORLD: &str = "story";

/// A request, and the response: the status, the headers without the time of the machine, and the body. The base address of
/// the process is replaced.
type Exchange = (String, u16, BTreeMap<String, String>, String);

/// Maximum number of requests to an operation that succeed, out of all that are possible in the demo market.
const MAX_REQUESTS: usize = 8;

/// Returns requests to an operation. The last one fails, if the operation has such a request.
fn requests(row: &'static Case) -> impl Iterator<Item = CaseRequest> {
    let ok = row.ok_requests();
    let step = ok.len().div_ceil(MAX_REQUESTS).max(1);
    ok.into_iter().step_by(step).chain(row.not_found_requests().pop())
}

/// Plays the story in a world of a new process, and reads what every operation returns.
fn play() -> Vec<Exchange> {
    let server = Server::start_demo(OPERATOR);
    let created = server.call("POST", "/sandbox/v1/worlds", &json!({"name": WORLD}));
    assert_eq!(created.0, 201, "{}", created.1);
    let story = tour::readme_story()
        .into_iter()
        .map(|request| (request.key, request.method, request.path, request.body));
    let is_read = |row: &&Case| !row.is_of_sandbox() && row.documented().method == "GET";
    let requests = cases().filter(is_read).flat_map(requests);
    let reads = requests.map(|(key, path)| (key.to_owned(), "GET", path, json!(null)));
    let mut exchanges = Vec::new();
    for (key, method, path, body) in story.chain(reads) {
        let response = server.send(&key, method, &format!("/w/{WORLD}{path}"), &body);
        let mut headers: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in response.headers() {
            headers.insert(name.to_string(), value.to_str().unwrap().replace(server.url(), ""));
        }
        headers.remove("date").expect("every response has the time of the machine");
        let status = response.status().as_u16();
        let body = response.text().unwrap().replace(server.url(), "");
        // Addresses differ in the number of digits of the port.
        if body.contains("\"http") || body.contains(WORLD) {
            headers.remove("content-length");
        }
        exchanges.push((format!("{method} {path}"), status, headers, body));
    }
    exchanges
}

#[test]
fn processes_respond_alike() {
    let other = thread::spawn(play);
    let (one, other) = (play(), other.join().unwrap());
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other);
    }
    let story: Vec<u16> = one[..tour::readme_story().len()].iter().map(|(_, status, ..)| *status).collect();
    assert!(story.iter().all(|status| (200..300).contains(status)), "{story:?}");
    let succeeded = one.iter().filter(|(_, status, ..)| *status == 200).count();
    assert!(succeeded > 300, "{succeeded} of {} requests succeeded", one.len());
}
