//! Task assets: imports, metadata that vendors add, and quality evidence.

use std::collections::BTreeMap;

use marketplace::{
    domain::{
        row_ids::{TaskRowId, TaskVersionRowId},
        tasks::{BuildStatus, VersionStage, VersionState},
        time::Timestamp,
    },
    market::Writer,
    store::{self, tasks::Version},
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::seller_market::{
    OTHER, SELLER, empty_market, market_with, seeded_id, seller_call, seller_get, seller_patch, seller_post,
    task_id, taskset_record, titles,
};
use crate::harness::{NOW, TestMarket, TestResponse, elements};

fn market() -> TestMarket {
    market_with(
        &json!({"tasksets": [taskset_record("s", "seller"), taskset_record("t", "seller"), taskset_record("foreign", "both")]}),
    )
}

async fn import_tasks(market: &TestMarket, body: &Value) -> TestResponse {
    let mut complete = json!({"task_type": "coding"});
    complete.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    seller_call(market, "POST", "tasks/import", complete).await
}

fn task_ids_body(names: &[&str]) -> Value {
    json!({"task_ids": names.iter().map(|name| {
        let (set, task) = name.split_once('/').unwrap();
        task_id(set, task)
    }).collect::<Vec<_>>()})
}

fn asset_titles(assets: &Value) -> Vec<&str> {
    assets.as_array().unwrap().iter().map(|asset| asset["title"].as_str().unwrap()).collect()
}

/// Import rules 1 and 3.
#[tokio::test]
async fn taskset_import_takes_the_latest_built_versions() {
    let market = market();
    let done = import_tasks(&market, &json!({"taskset_id": seeded_id("tasksets", "s")})).await.ok();
    assert_eq!(asset_titles(&done["imported"]), ["Task built", "Task two", "Task raw"]);
    assert_eq!(done["imported"][1]["task"]["version"], 2);
    assert_eq!(done["existing"], json!([]));
    let skipped: Vec<(Value, Value)> =
        elements(&done["skipped"]).map(|skip| (skip["task_id"].clone(), skip["reason"].clone())).collect();
    // The import of a taskset ignores deleted tasks, so `gone` is not even skipped.
    assert_eq!(
        skipped,
        [("bare", "no_version"), ("waiting", "no_build"), ("broken", "build_not_succeeded")]
            .map(|(task, reason)| (json!(task_id("s", task)), json!(reason)))
    );
    let done = import_tasks(&market, &task_ids_body(&["s/gone"])).await.ok();
    assert_eq!(done["skipped"], json!([{"task_id": task_id("s", "gone"), "reason": "deleted"}]));
}

/// Asset stage rules 2 and 3.
#[tokio::test]
async fn imported_tasks_start_incomplete_and_are_never_proposed() {
    let market = market();
    let done = import_tasks(&market, &task_ids_body(&["s/built", "s/raw"])).await.ok();
    let [built, raw] = [&done["imported"][0], &done["imported"][1]];
    assert_eq!(
        (&built["stage"], &built["missing"]),
        (&json!("incomplete"), &json!(["domain_tags", "price_usd"]))
    );
    assert_eq!(built["description"], "About built.");
    assert_eq!(raw["missing"], json!(["description", "domain_tags", "price_usd"]));
    assert_eq!((&built["data"], &built["listable"]), (&Value::Null, &json!(false)));
    let path = format!("tasks/{}", built["id"].as_str().unwrap());
    let row = seller_patch(&market, &path, json!({"domain_tags": ["finance"], "task_type": "legal"})).await;
    assert_eq!((&row["stage"], &row["task"]["task_type"]), (&json!("incomplete"), &json!("legal")));
    let row =
        seller_patch(&market, &path, json!({"price_usd": 12.34, "notes": "N", "other_domain": "O"})).await;
    assert_eq!(
        (&row["stage"], &row["missing"], &row["listable"]),
        (&json!("complete"), &json!([]), &json!(true))
    );
    assert_eq!(
        (&row["price_usd"], &row["notes"], &row["other_domain"]),
        (&json!(12.34), &json!("N"), &json!("O"))
    );
    let row = seller_patch(&market, &path, json!({"description": null})).await;
    assert_eq!((&row["stage"], &row["missing"]), (&json!("incomplete"), &json!(["description"])));
    for (body, problem) in [
        (json!({"task_type": null}), "body.task_type enum"),
        (json!({"title": "x"}), "body.title extra_forbidden"),
        (json!({"data": {}}), "body.data extra_forbidden"),
    ] {
        assert_eq!(seller_call(&market, "PATCH", &path, body).await.problems(), [problem]);
    }
    let response = seller_call(&market, "GET", "tasks?stage=proposed", Value::Null).await;
    assert_eq!(response.problems(), ["query.stage enum"]);
    assert_eq!(seller_get(&market, "tasks?stage=incomplete").await["total"], 2);
}

/// Import rule 4.
#[tokio::test]
async fn each_version_is_imported_once_and_later_ones_are_titled_with_it() {
    let market = market();
    let first = import_tasks(&market, &task_ids_body(&["s/built"])).await.ok();
    let again = import_tasks(&market, &task_ids_body(&["s/built", "s/built", "s/two"])).await.ok();
    assert_eq!(again["existing"], first["imported"]);
    assert_eq!(asset_titles(&again["imported"]), ["Task two"]);
    add_built_version(&market, "built");
    let edited = import_tasks(&market, &task_ids_body(&["s/built"])).await.ok();
    assert_eq!(asset_titles(&edited["imported"]), ["Task built (v2)"]);
    assert_ne!(edited["imported"][0]["id"], first["imported"][0]["id"]);
    let all = seller_get(&market, "tasks?sort=name").await;
    assert_eq!(titles(&all), ["Task built", "Task built (v2)", "Task two"]);
    assert_eq!(all["items"][0]["task"]["task_id"], all["items"][1]["task"]["task_id"]);
}

/// Adds a version with a successful build to a task, as the platform does.
fn add_built_version(market: &TestMarket, task: &str) {
    let version = Version {
        id: Uuid::from_u128(0xed17),
        version: 2,
        current_state: VersionState::Live,
        lifecycle_stage: VersionStage::Accepted,
        brief: BTreeMap::default(),
        agent_config: BTreeMap::default(),
        environment: BTreeMap::default(),
        internally_reviewed_at: None,
        internally_reviewed_by: None,
        created_at: Timestamp::parse(NOW).unwrap(),
    };
    let task = marketplace::clock::fixture_record_id("tasks", &format!("s/{task}"));
    let rows = rusqlite::Connection::open(market.market().data_dir().join("market.sqlite")).unwrap();
    let find = "SELECT id FROM tasks WHERE uuid = ?1";
    let task_row_id = TaskRowId(rows.query_row(find, [task], |row| row.get(0)).unwrap());
    market
        .write(|writer| {
            let version_row_id = store::tasks::insert_version(writer.rows, task_row_id, &version)?;
            let id = writer.new_id(marketplace::domain::collections::Collection::Tasks);
            store::tasks::insert_build(
                writer.rows,
                version_row_id,
                id,
                1,
                BuildStatus::Succeeded,
                writer.now,
            )?;
            Ok(())
        })
        .unwrap();
}

/// Import rule 4: what was imported stays so.
#[tokio::test]
async fn imported_task_is_existing_even_if_a_later_build_failed() {
    let market = market();
    let first = import_tasks(&market, &task_ids_body(&["s/built"])).await.ok();
    let version = first["imported"][0]["task"]["task_version_id"].as_str().unwrap().parse::<Uuid>().unwrap();
    let rows = rusqlite::Connection::open(market.market().data_dir().join("market.sqlite")).unwrap();
    let find = "SELECT id FROM task_versions WHERE uuid = ?1";
    let version = TaskVersionRowId(rows.query_row(find, [version], |row| row.get(0)).unwrap());
    let fail_build = |writer: &mut Writer| {
        let id = writer.new_id(marketplace::domain::collections::Collection::Tasks);
        store::tasks::insert_build(writer.rows, version, id, 2, BuildStatus::Failed, writer.now)
    };
    market.write(fail_build).unwrap();
    let again = import_tasks(&market, &task_ids_body(&["s/built", "s/broken"])).await.ok();
    let ids = |assets: &Value| {
        assets.as_array().unwrap().iter().map(|asset| asset["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&again["existing"]), ids(&first["imported"]));
    let skipped = json!([{"task_id": task_id("s", "broken"), "reason": "build_not_succeeded"}]);
    assert_eq!((&again["imported"], &again["skipped"]), (&json!([]), &skipped));
}

/// Import rule 5.
#[tokio::test]
async fn imported_tasks_are_grouped_by_taskset() {
    let market = market();
    let group_of = |asset: &Value| asset["group_id"].as_str().unwrap().to_owned();
    let one = import_tasks(&market, &task_ids_body(&["s/built"])).await.ok();
    let group = seller_get(&market, &format!("asset-groups/{}", group_of(&one["imported"][0]))).await;
    assert_eq!((&group["name"], &group["is_default"]), (&json!("Set s"), &json!(false)));
    // The next import from the same taskset uses the same group.
    let next = import_tasks(&market, &task_ids_body(&["s/two"])).await.ok();
    assert_eq!(group_of(&next["imported"][0]), group["id"].as_str().unwrap());
    // Tasks of several tasksets go to the default group.
    let many = import_tasks(&market, &task_ids_body(&["s/raw", "t/built"])).await.ok();
    for asset in many["imported"].as_array().unwrap() {
        assert_eq!(
            seller_get(&market, &format!("asset-groups/{}", group_of(asset))).await["is_default"],
            true
        );
    }
    // What counts is the selection: a task that exists already or is skipped counts, too.
    add_built_version(&market, "built");
    for selected in [["s/two", "t/raw"], ["s/built", "t/broken"]] {
        let imported = import_tasks(&market, &task_ids_body(&selected)).await.ok()["imported"].clone();
        assert_eq!(imported.as_array().unwrap().len(), 1, "{selected:?}");
        let group = seller_get(&market, &format!("asset-groups/{}", group_of(&imported[0]))).await;
        assert_eq!(group["is_default"], true, "{selected:?}");
    }
    // An explicit group takes precedence. A group of another team is rejected.
    let own = seller_post(&market, "asset-groups", json!({"name": "Mine"})).await;
    let mut body = task_ids_body(&["t/two"]);
    body["group_id"] = own["id"].clone();
    assert_eq!(
        group_of(&import_tasks(&market, &body).await.ok()["imported"][0]),
        own["id"].as_str().unwrap()
    );
    body["group_id"] = json!(Uuid::nil());
    assert_eq!(import_tasks(&market, &body).await.problems(), ["body.group_id unknown_reference"]);
    // An import that creates no assets creates no group.
    import_tasks(&market, &task_ids_body(&["t/broken"])).await.ok();
    assert_eq!(seller_get(&market, "asset-groups").await["groups"].as_array().unwrap().len(), 3);
}

/// Import rule 2, and the skip reason `foreign`.
#[tokio::test]
async fn tasks_hidden_from_the_team_are_not_found() {
    let market = market_with(&json!({
        "tasksets": [taskset_record("s", "seller"), taskset_record("hidden", "both"), taskset_record("shown", "both")],
        "assets": [{"key": "shown", "team": "both", "sku": "taskset", "title": "Shown", "taskset": "shown", "created_at": "-P20D"}],
        "listings": [{"key": "l", "team": "both", "title": "L", "description": "D", "price_usd": 5, "created_at": "-P19D", "assets": ["shown"],
            "history": [{"event": "submitted", "at": "-P18D"}, {"event": "approved", "at": "-P17D"}, {"event": "published", "at": "-P16D"}]}],
    }));
    for body in [
        task_ids_body(&["s/built", "hidden/built"]),
        json!({"task_ids": [task_id("s", "built"), Uuid::nil()]}),
        json!({"taskset_id": seeded_id("tasksets", "hidden")}),
        json!({"taskset_id": Uuid::nil()}),
        task_ids_body(&["shown/gone"]),
    ] {
        assert_eq!(import_tasks(&market, &body).await.expect_error(404), "not_found", "{body}");
    }
    assert_eq!(seller_get(&market, "tasks").await["total"], 0, "one unknown task must stop the whole import");
    let done = import_tasks(&market, &task_ids_body(&["s/built", "shown/built"])).await.ok();
    assert_eq!(asset_titles(&done["imported"]), ["Task built"]);
    assert_eq!(done["skipped"], json!([{"task_id": task_id("shown", "built"), "reason": "foreign"}]));
    let done = import_tasks(&market, &json!({"taskset_id": seeded_id("tasksets", "shown")})).await.ok();
    assert!(elements(&done["skipped"]).all(|skip| skip["reason"] == "foreign"));
    assert_eq!(done["skipped"].as_array().unwrap().len(), 6);
}

/// Returns a market with a taskset of `count` tasks, all of which can be imported.
fn market_with_tasks(count: usize) -> TestMarket {
    let task = |n: usize| {
        json!({"key": format!("t{n:03}"), "name": format!("T{n}"), "tags": [], "created_at": "-P60D",
        "versions": [{"created_at": "-P50D", "current_state": "live", "lifecycle_stage": "accepted",
            "builds": [{"status": "succeeded", "created_at": "-P49D"}]}]})
    };
    let set = json!({"key": "big", "team": "seller", "name": "Big", "created_at": "-P70D", "columns": [],
        "tasks": (0..count).map(task).collect::<Vec<_>>()});
    market_with(&json!({"tasksets": [set]}))
}

/// Import rule 6.
#[tokio::test]
async fn import_creates_at_most_500_assets() {
    let market = market_with_tasks(501);
    let taskset_import = json!({"taskset_id": seeded_id("tasksets", "big")});
    let before = market.market().statement_count();
    assert_eq!(import_tasks(&market, &taskset_import).await.problems(), ["body.taskset_id too_long"]);
    let statements = market.market().statement_count() - before;
    assert!(statements < 20, "{statements} statements: the tasks must be counted, not read");
    let ids: Vec<String> = (0..501).map(|n| task_id("big", &format!("t{n:03}"))).collect();
    assert_eq!(import_tasks(&market, &json!({"task_ids": ids})).await.problems(), ["body.task_ids too_long"]);
    let done = import_tasks(&market, &json!({"task_ids": ids[..500]})).await.ok();
    assert_eq!(done["imported"].as_array().unwrap().len(), 500);
    // Assets that exist already do not count toward the limit.
    let rest = import_tasks(&market, &taskset_import).await.ok();
    assert_eq!(
        (rest["imported"].as_array().unwrap().len(), rest["existing"].as_array().unwrap().len()),
        (1, 500)
    );
}

#[tokio::test]
async fn import_requires_a_task_type_and_exactly_one_source() {
    let market = empty_market();
    let set = Uuid::nil();
    for (body, problem) in [
        (json!({"taskset_id": set}), "body.task_type missing"),
        (json!({"taskset_id": set, "task_type": null}), "body.task_type enum"),
        (json!({"taskset_id": set, "task_type": "poetry"}), "body.task_type enum"),
        (json!({"task_type": "coding"}), "body.taskset_id missing"),
        (json!({"task_type": "coding", "taskset_id": set, "task_ids": [set]}), "body.taskset_id value_error"),
        (json!({"task_type": "coding", "task_ids": []}), "body.task_ids too_short"),
        (json!({"task_type": "coding", "task_ids": ["x"]}), "body.task_ids.0 uuid_parsing"),
    ] {
        assert_eq!(
            seller_call(&market, "POST", "tasks/import", body.clone()).await.problems(),
            [problem],
            "{body}"
        );
    }
}

/// The `qc` object contains only aggregates: of the newest five graded runs, and of the checks in effect on
/// the latest trace.
#[tokio::test]
async fn task_qc_contains_only_aggregates() {
    let market = market();
    let done = import_tasks(&market, &task_ids_body(&["s/built", "s/raw"])).await.ok();
    let task = &done["imported"][0]["task"];
    let now = Timestamp::parse(NOW).unwrap();
    assert_eq!(
        task["qc"],
        json!({
            "pass_at_k": {"heron": {"pass_at_k": 0.5, "k": 2, "runs": 2, "avg_reward": 0.5,
                "last_run_at": now.plus_days(-8).to_string()}},
            "unattributed_runs": {"pass_at_k": 0.5, "k": 1, "runs": 1, "avg_reward": 0.5,
                "last_run_at": now.plus_days(-7).to_string()},
            "qa_agents": {"reward_hacking": {"status": "completed", "verdict": "concern", "findings": 2}},
            "environment": {"built": true},
        })
    );
    assert_eq!(
        (&task["has_traces"], &task["has_qa_results"], &task["has_environment"]),
        (&json!(true), &json!(true), &json!(true))
    );
    assert_eq!(task["qc_refreshed_at"], now.to_string());
    assert_eq!(
        (&task["task_id"], &task["extra_columns"]),
        (&json!(task_id("s", "built")), &json!({"minutes": 12}))
    );
    let bare = &done["imported"][1]["task"];
    assert_eq!((&bare["has_traces"], &bare["has_qa_results"]), (&json!(false), &json!(false)));
    assert_eq!(bare["qc"]["unattributed_runs"], Value::Null);
    for (filter, expected) in [
        ("has_traces:is:true", 1),
        ("has_traces:is:false", 1),
        ("has_qa_results:is_not:true", 1),
        ("has_environment:is:true", 2),
        ("task_type:is:coding", 2),
        ("task_type:is:legal", 0),
        ("ran_on_model:is:heron", 1),
        ("ran_on_model:is_not:heron", 1),
        ("ran_on_model:is:wren", 0),
        ("qa_agent:is:reward_hacking", 1),
        ("qa_agent:is:failure_analysis", 0),
    ] {
        for list in ["tasks", "assets"] {
            let found = seller_get(&market, &format!("{list}?filter={filter}")).await;
            assert_eq!(found["total"], expected, "{list} {filter}");
            assert_eq!(found["items"].as_array().unwrap().len(), expected, "{list} {filter}");
        }
    }
    let facets = seller_get(&market, "tasks/qc-facets").await;
    assert_eq!(facets, json!({"models": ["heron"], "qa_agents": ["reward_hacking"]}));
    let other_team = market.call(OTHER, "GET", "/v2/tasks/qc-facets", &Value::Null).await.ok();
    assert_eq!(other_team, json!({"models": [], "qa_agents": []}));
}

/// Import rule 7, and "at most one refresh per team runs at a time".
#[tokio::test]
async fn refresh_updates_the_quality_of_every_task() {
    let market = market();
    let nothing = seller_get(&market, "tasks/refresh-qc").await;
    assert_eq!(nothing, json!({"refresh": null, "qc_refreshed_at": null}));
    let done = import_tasks(&market, &task_ids_body(&["s/built", "s/raw"])).await.ok();
    market.clock().advance(60_000_000);
    // Meanwhile the platform grades another run.
    let trace = store::tasks::Trace {
        id: Uuid::from_u128(0x7ace),
        model: Some("wren".to_owned()),
        reward: Some(1.0),
        graded_at: Some(Timestamp::parse(NOW).unwrap()),
        build: 1,
        qa: BTreeMap::default(),
    };
    let raw = marketplace::clock::fixture_record_id("tasks", "s/raw");
    market
        .write(|writer| {
            let version = store::tasks::find_version_row_id(writer.rows, raw, 1)?.unwrap();
            store::tasks::insert_trace(writer.rows, version, &trace)
        })
        .unwrap();
    let path = format!("tasks/{}", done["imported"][1]["id"].as_str().unwrap());
    assert_eq!(
        seller_get(&market, &path).await["task"]["has_traces"],
        false,
        "the stored values must be shown"
    );

    let first = seller_call(&market, "POST", "tasks/refresh-qc", Value::Null).await.expect_status(202);
    assert_eq!((&first["refresh"]["status"], &first["refresh"]["total"]), (&json!("queued"), &json!(2)));
    let second = seller_call(&market, "POST", "tasks/refresh-qc", Value::Null).await.expect_status(202);
    assert_eq!(second, first, "a request during a refresh must return the running refresh");
    let other_team =
        market.call(OTHER, "POST", "/v2/tasks/refresh-qc", &Value::Null).await.expect_status(202);
    assert_ne!(other_team["refresh"]["id"], first["refresh"]["id"], "each team must have its own refresh");
    market.run_background();
    let state = seller_get(&market, "tasks/refresh-qc").await;
    let now = market.clock().now().to_string();
    assert_eq!(
        (&state["refresh"]["status"], &state["refresh"]["refreshed"]),
        (&json!("completed"), &json!(2))
    );
    assert_eq!((&state["refresh"]["finished_at"], &state["qc_refreshed_at"]), (&json!(now), &json!(now)));
    let task = seller_get(&market, &path).await["task"].clone();
    assert_eq!((&task["has_traces"], &task["qc"]["pass_at_k"]["wren"]["k"]), (&json!(true), &json!(1)));
    assert_eq!(seller_get(&market, "tasks/qc-facets").await["models"], json!(["heron", "wren"]));
    let third = seller_call(&market, "POST", "tasks/refresh-qc", Value::Null).await.expect_status(202);
    assert_ne!(third["refresh"]["id"], first["refresh"]["id"], "a later request must start a new refresh");
    assert_eq!(market.call(SELLER, "GET", "/v2/tasks/refresh-qc", &Value::Null).await.ok(), third);
}

/// A refresh that was interrupted by a kill of the server restarts from the beginning.
#[tokio::test]
async fn interrupted_refresh_restarts() {
    let market = market_with_tasks(250);
    import_tasks(&market, &json!({"taskset_id": seeded_id("tasksets", "big")})).await.ok();
    seller_call(&market, "POST", "tasks/refresh-qc", Value::Null).await.expect_status(202);
    // The callback stops the refresh after two batches of 100 tasks, as if the server had been killed.
    let calls = std::cell::Cell::new(0);
    let keep_running = || calls.replace(calls.get() + 1) < 3;
    marketplace::operations::background::run_pending(market.market(), &keep_running).unwrap();
    let state = seller_get(&market, "tasks/refresh-qc").await["refresh"].clone();
    assert_eq!(
        (&state["status"], &state["refreshed"], &state["finished_at"]),
        (&json!("running"), &json!(200), &Value::Null)
    );
    let running =
        seller_call(&market, "POST", "tasks/refresh-qc", Value::Null).await.expect_status(202)["refresh"]
            .clone();
    assert_eq!(running, state, "an interrupted refresh must count as running");
    market.run_background();
    let state = seller_get(&market, "tasks/refresh-qc").await["refresh"].clone();
    assert_eq!(
        (&state["status"], &state["total"], &state["refreshed"]),
        (&json!("completed"), &json!(250), &json!(250))
    );
    assert_eq!(state["id"], running["id"]);
}
