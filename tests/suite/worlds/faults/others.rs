//! Faults of jobs, hosts of repositories, and webhooks.

use serde_json::{Value, json};

use super::{OPERATOR, VENDOR, add, advance, create_world, list, market_with_world, sandbox};
use crate::harness::{TestMarket, browser::Browser};

/// Links a repository to a new codebase of the world `one`. Returns the path of the codebase.
async fn link(market: &TestMarket) -> String {
    let codebase = json!({
        "title": "Linked",
        "exclusivity": "available",
        "data": {"channel": "github", "repo_full_name": "lumen-codeworks/quoin-ledger"},
    });
    let path = "/w/one/v2/codebases";
    let created = market.call(VENDOR, "POST", path, &codebase).await.expect_status(201);
    format!("{path}/{}", created["id"].as_str().unwrap())
}

/// Returns the status and the error of the copy of a codebase's repository.
async fn copy(market: &TestMarket, path: &str) -> (String, String) {
    let data = market.get(VENDOR, path).await.ok()["data"].clone();
    let text = |field: &str| data[field].as_str().unwrap_or_default().to_owned();
    (text("archive_status"), text("archive_error"))
}

/// Returns the outcomes of the jobs of a kind.
fn outcomes<'a>(done: &'a [(String, String)], kind: &str) -> Vec<&'a str> {
    done.iter().filter(|(other, _)| other == kind).map(|(_, outcome)| outcome.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn job_fails_and_is_retried_like_any_other() {
    let market = market_with_world().await;
    add(&market, json!({"job": "copy_repository", "next": 1}), json!({"fail": true})).await;
    let path = link(&market).await;
    assert_ne!(copy(&market, &path).await.0, "completed");
    let done = advance(&market, "1d").await;
    assert_eq!(outcomes(&done, "copy_repository"), ["completed"]);
    assert_eq!(copy(&market, &path).await.0, "completed");
    assert_eq!(list(&market).await[0]["used"], 1);
    // One that fails at each attempt is given up. Its owner learns that this was not because of the host.
    add(&market, json!({"job": "copy_repository"}), json!({"fail": true})).await;
    let path = link(&market).await;
    let done = advance(&market, "10d").await;
    let attempts = outcomes(&done, "copy_repository");
    assert_eq!(attempts.last(), Some(&"failed"), "{done:?}");
    assert!(attempts.len() > 1 && attempts[..attempts.len() - 1].iter().all(|outcome| *outcome == "retried"));
    let (status, error) = copy(&market, &path).await;
    assert_eq!(status, "failed");
    assert!(error.starts_with("The server could not copy the repository."), "{error}");
    let jobs = market.get(OPERATOR, "/w/one/operator/v1/jobs?state=failed").await.ok();
    assert!(jobs["items"].as_array().unwrap().iter().any(|job| job["kind"] == "copy_repository"), "{jobs}");
}

#[tokio::test(flavor = "multi_thread")]
async fn repositories_of_an_unreachable_host_cannot_be_copied() {
    let market = market_with_world().await;
    add(&market, json!({"host": "github.com"}), json!({"unreachable": true})).await;
    add(&market, json!({"host": "api.github.com"}), json!({"unreachable": true})).await;
    let path = link(&market).await;
    let (status, error) = copy(&market, &path).await;
    assert_eq!(status, "failed");
    assert!(error.starts_with("The host github.com could not be reached."), "{error}");
    let faults = list(&market).await;
    assert_eq!((&faults[0]["used"], &faults[1]["seen"]), (&json!(1), &json!(0)));
    sandbox(&market, "DELETE", "one/faults/fault-1", Value::Null).await.expect_status(204);
    let path = link(&market).await;
    assert_eq!(copy(&market, &path).await.0, "completed");
    assert_eq!(list(&market).await[0]["used"], 1);
}

/// A market with a world `one` whose operator has a webhook.
struct Hooked {
    market: TestMarket,
    key: String,
}

impl Hooked {
    async fn create() -> Hooked {
        let market = TestMarket::demo();
        let world = create_world(&market, json!({"name": "one", "from": "empty"})).await;
        let key = world["keys"][0]["key"].as_str().unwrap().to_owned();
        let body = json!({"url": "http://127.0.0.1:9/hook", "event_types": ["team.created"]});
        market.call(&key, "POST", "/w/one/operator/v1/webhooks", &body).await.expect_status(201);
        Hooked { market, key }
    }

    /// Creates a team, of which the webhook gets a message.
    async fn create_team(&self, name: &str) {
        let team = json!({"name": name, "roles": ["buyer"], "tier": 1});
        self.market.call(&self.key, "POST", "/w/one/operator/v1/teams", &team).await.expect_status(201);
    }

    /// Returns the ID and the attempt of each message in the inbox.
    async fn inbox(&self) -> Vec<(String, u64)> {
        let page = sandbox(&self.market, "GET", "one/webhooks?wait=1ms", Value::Null).await.ok();
        let message = |message: &Value| {
            let id = message["headers"]["webhook-id"].as_str().unwrap().to_owned();
            (id, message["attempt"].as_u64().unwrap())
        };
        page["items"].as_array().unwrap().iter().map(message).collect()
    }
}

fn attempts(inbox: &[(String, u64)]) -> Vec<u64> {
    inbox.iter().map(|(_, attempt)| *attempt).collect()
}

/// The page puts new messages above others while it is read. What is open stays with its ID.
#[tokio::test(flavor = "multi_thread")]
async fn messages_have_ids_on_their_page() {
    let hooked = Hooked::create().await;
    hooked.create_team("First").await;
    assert_eq!(hooked.inbox().await.len(), 1);
    let operator = Browser::signed_in(&hooked.market, OPERATOR).await;
    let page = "/console/operator/worlds/one/inbox";
    operator.get(page).await.expect(200, "<details id=\"message-1\">");
    hooked.create_team("Second").await;
    assert_eq!(hooked.inbox().await.len(), 2);
    let both = operator.get(page).await;
    let at = |number: u64| both.text.find(&format!("<details id=\"message-{number}\">")).expect("a message");
    assert!(at(2) < at(1), "{}", both.visible());
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_refused_lost_and_duplicated() {
    let hooked = Hooked::create().await;
    let market = &hooked.market;
    let of_team = |nth: u64| json!({"event_type": "team.created", "nth": nth});
    add(market, of_team(1), json!({"status": 500})).await;
    add(market, json!({"webhook": "http://127.0.0.1:9/*", "nth": 2}), json!({"lost": true})).await;
    add(market, json!({"webhook": "*", "nth": 4}), json!({"duplicate": true})).await;
    add(market, json!({"webhook": "https://example.com/hook"}), json!({"lost": true})).await;
    hooked.create_team("First").await;
    assert_eq!(attempts(&hooked.inbox().await), [1], "the webhook got it, but has not accepted it");
    assert_eq!(outcomes(&advance(market, "5s").await, "team.created"), ["retried"]);
    assert_eq!(attempts(&hooked.inbox().await), [1], "the second attempt is lost");
    assert_eq!(outcomes(&advance(market, "5m").await, "team.created"), ["completed"]);
    assert_eq!(attempts(&hooked.inbox().await), [1, 3]);
    hooked.create_team("Second").await;
    let inbox = hooked.inbox().await;
    assert_eq!(attempts(&inbox), [1, 3, 1, 1]);
    assert_eq!(
        (inbox[0].0 == inbox[1].0, inbox[2].0 == inbox[3].0, inbox[1].0 == inbox[2].0),
        (true, true, false)
    );
    let used: Vec<_> = list(market).await.iter().map(|fault| fault["used"].as_u64().unwrap()).collect();
    assert_eq!(used, [1, 1, 1, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_that_is_gone_is_disabled() {
    let hooked = Hooked::create().await;
    add(&hooked.market, json!({"webhook": "*"}), json!({"status": 410})).await;
    hooked.create_team("First").await;
    hooked.inbox().await;
    let webhooks = hooked.market.get(&hooked.key, "/w/one/operator/v1/webhooks").await.ok();
    let webhook = &webhooks["items"][0];
    assert_eq!(
        (&webhook["status"], &webhook["disabled_reason"]),
        (&json!("disabled"), &json!("gone")),
        "{webhook}"
    );
}
