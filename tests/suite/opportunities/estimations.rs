//! Estimations: requests, the job that measures a repository, and how it ends.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        assets::{Kind, RepositoryChannel},
        estimation_requests::{EstimationRequest, MAX_PENDING},
        estimations::Estimation,
        jobs::Queue,
        listings::Actor,
    },
    error::Result,
    operations::{self, estimations},
    store,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{SELLER, event_views, events_of, notifications_of, refusal, vendor};
use crate::{
    catalog::small_market,
    harness::{TestMarket, git::Repositories},
};

fn market(repositories: &Repositories) -> TestMarket {
    let url = repositories.url();
    let market = TestMarket::with_settings(|settings| settings.repositories.github_url.clone_from(&url));
    let code = json!({"key": "code", "team": "seller", "sku": "codebase", "title": "Code", "created_at": "-P30D",
        "codebase": {"exclusivity": "available"}});
    let theirs = json!({"key": "theirs", "team": "both", "sku": "codebase", "title": "Code", "created_at": "-P30D",
        "codebase": {"exclusivity": "available"}});
    small_market::seed_market(&market, &[], &json!({"assets": [code, theirs]}));
    market
}

pub fn source(name: &str) -> EstimationRequest {
    EstimationRequest {
        sku: Kind::Codebase,
        channel: RepositoryChannel::Github,
        repo_full_name: name.to_owned(),
        inventory_asset_id: None,
    }
}

pub fn request(market: &TestMarket, id: u128, request: &EstimationRequest) -> Result<Estimation> {
    request_as(market, "seller", id, request)
}

fn request_as(market: &TestMarket, team: &str, id: u128, request: &EstimationRequest) -> Result<Estimation> {
    market.write(|writer| {
        let seller = vendor(writer.rows, team);
        let ids = (Uuid::from_u128(id), Uuid::from_u128(77));
        estimations::request(writer, &seller, Actor::Team, ids, request)
    })
}

async fn estimation(market: &TestMarket, id: u128) -> Value {
    market.get(SELLER, &format!("/v2/estimations/{}", Uuid::from_u128(id))).await.ok()
}

#[tokio::test]
async fn repository_is_measured_and_quoted() {
    let repositories = Repositories::new();
    repositories.create_with_files("acme/ledger", &[("src/main.rs", "fn main() {\n    run();\n}\n")]);
    let market = market(&repositories);
    let code = fixture_record_id("assets", "code");
    request(&market, 1, &EstimationRequest { inventory_asset_id: Some(code), ..source("acme/ledger") })
        .unwrap();
    let pending = estimation(&market, 1).await;
    assert_eq!((&pending["status"], &pending["name"]), (&json!("pending"), &json!("ledger")));
    market.run_background_on_a_thread().await;
    let ended = estimation(&market, 1).await;
    // 3 lines, 1 commit, and 1 contributor at the rates of marketplace.toml, with the surcharge for code that is
    // not in the common languages, less and plus 25 %.
    let value = (3 * 4_000 / 1_000 + 35 + 2_500) * 130 / 100;
    assert_eq!(
        (&ended["status"], &ended["quote_low_cents"]),
        (&json!("estimated"), &json!(value * 75 / 100))
    );
    assert_eq!(ended["quote_high_cents"], json!(value * 125 / 100));
    let latest = market.get(SELLER, &format!("/v2/estimations/latest?asset_id={code}")).await.ok();
    assert_eq!(latest["estimations"][0]["estimation"]["id"], ended["id"]);
    let all = notifications_of(&market, SELLER).await;
    assert_eq!(
        (all.len(), &all[0]["type"], &all[0]["title"]),
        (1, &json!("estimation_completed"), &json!("Quote ready: ledger"))
    );
    assert_eq!(
        event_views(&market, "estimation"),
        ["estimation.requested seller", "estimation.completed seller"]
    );
    let (_, _, data) = events_of(&market, "estimation").pop().unwrap();
    assert_eq!(
        (&data["quote_low_cents"], &data["inventory_asset_id"]),
        (&ended["quote_low_cents"], &json!(code))
    );
}

/// Only codebases have rates.
#[tokio::test]
async fn source_of_another_kind_is_unpriced() {
    let market = market(&Repositories::new());
    request(&market, 1, &EstimationRequest { sku: Kind::Environment, ..source("acme/world") }).unwrap();
    market.run_background_on_a_thread().await;
    let ended = estimation(&market, 1).await;
    assert_eq!((&ended["status"], &ended["failure_message"]), (&json!("unpriced"), &json!(null)));
    assert_eq!(notifications_of(&market, SELLER).await[0]["title"], "world could not be priced");
}

#[tokio::test]
async fn failed_estimation_says_why_and_nothing_about_the_server() {
    let repositories = Repositories::new();
    let market = market(&repositories);
    request(&market, 1, &source("acme/gone")).unwrap();
    market.run_background_on_a_thread().await;
    let ended = estimation(&market, 1).await;
    assert_eq!(ended["status"], "failed");
    let message = ended["failure_message"].as_str().unwrap();
    let path = repositories.url();
    assert!(!message.is_empty() && !message.contains(path.trim_start_matches("file://")), "{message}");
    assert_eq!(
        event_views(&market, "estimation"),
        ["estimation.requested seller", "estimation.failed seller"]
    );
    assert_eq!(notifications_of(&market, SELLER).await[0]["type"], "estimation_completed");
}

/// A job that stops is started again, and the estimation ends once.
#[tokio::test]
async fn stopped_estimation_is_resumed_and_ends_once() {
    let repositories = Repositories::new();
    repositories.create_with_files("acme/ledger", &[("src/main.rs", "fn main() {}\n")]);
    let market = market(&repositories);
    request(&market, 1, &source("acme/ledger")).unwrap();
    let stopping = market.market().clone();
    tokio::task::spawn_blocking(move || {
        // The job is claimed, and stops as soon as it asks whether to continue.
        let questions = std::cell::Cell::new(0);
        let keep_running = || questions.replace(questions.get() + 1) < 1;
        operations::background::run_pending(&stopping, &keep_running).unwrap();
    })
    .await
    .unwrap();
    assert_eq!(estimation(&market, 1).await["status"], "pending");
    market.run_background_on_a_thread().await;
    market.run_background_on_a_thread().await;
    assert_eq!(estimation(&market, 1).await["status"], "estimated");
    assert_eq!(notifications_of(&market, SELLER).await.len(), 1);
}

#[tokio::test]
async fn teams_take_turns_with_their_estimations() {
    let market = market(&Repositories::new());
    for id in 1..4 {
        request(&market, id, &source("acme/gone")).unwrap();
    }
    request_as(&market, "both", 4, &source("acme/gone")).unwrap();
    let claim = || market.write(|writer| store::jobs::claim(writer.rows, Queue::Copies, 9, writer.now));
    let teams: Vec<_> = (0..3).map(|_| claim().unwrap().unwrap().team).collect();
    assert!(teams[0] != teams[1] && teams[0] == teams[2] && teams[1].is_some(), "{teams:?}");
    market.write(|writer| store::jobs::release_all(writer.rows)).unwrap();
}

#[tokio::test]
async fn pending_estimations_of_a_team_are_limited() {
    let market = market(&Repositories::new());
    for number in 0..MAX_PENDING {
        request(&market, 1 + u128::from(number), &source("acme/gone")).unwrap();
    }
    assert_eq!(refusal(request(&market, 0, &source("acme/gone"))), "quota_exceeded");
    market.run_background_on_a_thread().await;
    request(&market, 0, &source("acme/gone")).unwrap();
}

#[tokio::test]
async fn request_names_a_repository_and_an_own_asset() {
    let market = market(&Repositories::new());
    let asset = |key: &str, request: EstimationRequest| EstimationRequest {
        inventory_asset_id: Some(fixture_record_id("assets", key)),
        ..request
    };
    for (invalid, problems) in [
        (source("acme"), "repo_full_name string_pattern_mismatch"),
        (source("../secret"), "repo_full_name string_pattern_mismatch"),
        (source("acme/led/ger"), "repo_full_name value_error"),
        (asset("theirs", source("acme/x")), "inventory_asset_id unknown_reference"),
        (
            asset("code", EstimationRequest { sku: Kind::RawData, ..source("acme/x") }),
            "inventory_asset_id unknown_reference",
        ),
    ] {
        assert_eq!(refusal(request(&market, 1, &invalid)), problems);
    }
}
