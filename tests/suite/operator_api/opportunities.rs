//! Opportunities, project opportunities, and project bids, by operators.

use serde_json::{Value, json};

use super::calls::{Calls, each, id};

#[tokio::test]
async fn an_opportunity_is_drafted_changed_published_and_ended() {
    let calls = Calls::new();
    let buyer = id("teams", "aurora-frontier");
    let body = json!({
        "team_id": buyer, "title": "Tide tables", "budget_min": "100.50", "budget_max": "200.00",
        "budget_unit": "total", "tags": ["tides"], "deadline": "2026-04-01T00:00:00Z",
    });
    let draft = calls.create("opportunities", body).await;
    let path = format!("opportunities/{}", draft["id"].as_str().unwrap());
    assert_eq!(
        (&draft["status"], &draft["open"], &draft["team_id"]),
        (&json!("draft"), &json!(false), &json!(buyer))
    );
    assert_eq!((&draft["budget_min"], &draft["currency"]), (&json!("100.50"), &json!("USD")));
    calls.assert_audited("create_opportunity", "opportunity", &draft["id"]).await;
    assert_eq!(calls.last_event(), "opportunity.created");

    let patch = json!({"budget_min": null, "overview": "Of the North Sea.", "tags": []});
    let changed = calls.call("PATCH", &path, patch).await.ok();
    assert_eq!((&changed["budget_min"], &changed["budget_max"]), (&Value::Null, &json!("200.00")));
    assert_eq!((&changed["overview"], &changed["tags"]), (&json!("Of the North Sea."), &json!([])));
    let refused = calls.call("PATCH", &path, json!({"budget_min": "300.00"})).await;
    assert_eq!(refused.problems(), ["body.budget_max value_error"], "the body has no `metadata`");

    let published = calls.post(&format!("{path}/publish"), Value::Null).await.ok();
    assert_eq!((&published["status"], &published["open"]), (&json!("published"), &json!(true)));
    calls.assert_audited("publish_opportunity", "opportunity", &draft["id"]).await;
    let later = calls.call("PATCH", &path, json!({"deadline": "2026-05-01T00:00:00Z"})).await.ok();
    assert_eq!(later["deadline"], "2026-05-01T00:00:00.000Z");
    assert_eq!(
        calls.call("PATCH", &path, json!({"title": "X"})).await.expect_error(409),
        "invalid_transition"
    );
    let refusal = calls.refusal(&format!("{path}/publish")).await;
    assert_eq!(refusal["from"], "published");
    assert!(refusal["allowed"].as_array().unwrap().contains(&json!("close")), "{refusal}");

    let excluded = id("teams", "lumen-codeworks");
    let hidden = calls.post(&format!("{path}/exclude"), json!({"team_ids": [excluded]})).await.ok();
    assert_eq!(hidden["excluded_team_ids"], json!([excluded]));
    assert_eq!(calls.last_event(), "opportunity.teams_excluded");
    let twice = calls.post(&format!("{path}/exclude"), json!({"team_ids": [excluded, excluded]})).await;
    assert_eq!(twice.problems(), ["body.team_ids.1 duplicate"]);
    let unknown = calls.post(&format!("{path}/exclude"), json!({"team_ids": [uuid::Uuid::nil()]})).await;
    assert_eq!(unknown.json()["detail"][0]["loc"], json!(["body", "team_ids", 0]));
    assert_eq!(unknown.problems(), ["body.team_ids.0 unknown_reference"]);
    let closed = calls.post(&format!("{path}/close"), Value::Null).await.ok();
    assert_eq!((&closed["status"], &closed["open"]), (&json!("closed"), &json!(false)));
    assert_eq!(calls.refusal(&format!("{path}/cancel")).await["from"], "closed");
    // An opportunity is no project opportunity.
    let other = format!("project-{path}");
    assert_eq!(calls.call("GET", &other, Value::Null).await.expect_error(404), "not_found");
}

#[tokio::test]
async fn lists_of_opportunities_are_filtered() {
    let calls = Calls::new();
    let buyer = id("teams", "copperline-ai");
    let page = calls.get(&format!("opportunities?team_id={buyer}&status=published")).await;
    assert_eq!(page["total"], 3);
    assert!(each(&page, "team_id").iter().all(|team| **team == json!(buyer)));
    let projects = calls.get("project-opportunities?status=draft").await;
    assert_eq!(each(&projects, "id"), [&json!(id("project_opportunities", "aurora-p-draft-audio"))]);
    let bids = calls
        .get(&format!("project-bids?opportunity_id={}", id("project_opportunities", "aurora-p-terminal")))
        .await;
    assert_eq!(bids["total"], 4);
    let bids = calls.get(&format!("project-bids?buyer_id={buyer}&status=submitted")).await;
    assert_eq!(bids["total"], 2);
    assert!(each(&bids, "buyer_id").iter().all(|team| **team == json!(buyer)));
    let own =
        calls.get(&format!("project-bids?team_id={}&status=completed", id("teams", "lumen-codeworks"))).await;
    assert_eq!(each(&own, "id"), [&json!(id("project_bids", "bid-migrate-lumen"))]);
}

#[tokio::test]
async fn what_a_new_opportunity_refers_to_must_exist() {
    let calls = Calls::new();
    let unknown = calls.post("opportunities", json!({"team_id": uuid::Uuid::nil(), "title": "T"})).await;
    assert_eq!(unknown.problems(), ["body.team_id not_found"]);
    // A team without the buyer role.
    let vendor = json!({"team_id": id("teams", "lumen-codeworks"), "title": "T"});
    assert_eq!(calls.post("opportunities", vendor).await.expect_error(409), "conflict");
    let bid = json!({"team_id": id("teams", "lumen-codeworks"), "opportunity_id": uuid::Uuid::nil(), "num_tasks": 1});
    assert_eq!(calls.post("project-bids", bid).await.problems(), ["body.opportunity_id not_found"]);
    let draft = id("project_opportunities", "aurora-p-draft-audio");
    let bid = json!({"team_id": id("teams", "lumen-codeworks"), "opportunity_id": draft, "num_tasks": 1});
    assert_eq!(calls.post("project-bids", bid).await.expect_error(409), "conflict");
}

#[tokio::test]
async fn a_project_bid_is_accepted_delivered_and_completed() {
    let calls = Calls::new();
    let vendor = id("teams", "lumen-codeworks");
    let body = json!({
        "team_id": vendor, "opportunity_id": id("project_opportunities", "saltmarsh-p-hydrology"), "num_tasks": 40,
        "attachments": [{"file_name": "plan.pdf", "size_bytes": 1_000}],
    });
    let bid = calls.create("project-bids", body).await;
    assert_eq!(
        (&bid["status"], &bid["buyer_id"]),
        (&json!("submitted"), &json!(id("teams", "saltmarsh-research")))
    );
    assert_eq!(bid["vendor_events"][0]["event"], "Bid submitted");
    let path = format!("project-bids/{}", bid["id"].as_str().unwrap());
    assert_eq!(calls.post(&format!("{path}/accept"), Value::Null).await.ok()["status"], "accepted");
    calls.assert_audited("accept_project_bid", "project_bid", &bid["id"]).await;
    assert_eq!(
        calls.refusal(&format!("{path}/withdraw")).await,
        json!({"from": "accepted", "allowed": ["deliver"]})
    );
    let foreign = json!({"delivery_taskset_ids": [id("tasksets", "boreal-triage-notes")]});
    let refused = calls.post(&format!("{path}/deliver"), foreign).await;
    assert_eq!(refused.problems(), ["body.delivery_taskset_ids.0 unknown_reference"]);
    let taskset = id("tasksets", "lumen-issue-to-patch");
    let delivered =
        calls.post(&format!("{path}/deliver"), json!({"delivery_taskset_ids": [taskset]})).await.ok();
    assert_eq!(
        (&delivered["status"], &delivered["delivered_tasksets"][0]["id"]),
        (&json!("delivered"), &json!(taskset))
    );
    let completed = calls.post(&format!("{path}/complete"), Value::Null).await.ok();
    assert_eq!(completed["status"], "completed");
    assert_eq!(completed["platform_events"].as_array().unwrap().len(), 3);
    assert_eq!(calls.last_event(), "project_bid.completed");
    for (key, verb, status) in
        [("bid-tools-lumen", "withdraw", "withdrawn"), ("bid-tools-tessera", "decline", "declined")]
    {
        let path = format!("project-bids/{}/{verb}", id("project_bids", key));
        assert_eq!(calls.post(&path, Value::Null).await.ok()["status"], status);
    }
}
