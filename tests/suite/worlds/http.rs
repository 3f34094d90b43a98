//! Worlds over HTTP: their addresses, keys, clocks, snapshots, and ends.

use marketplace::domain::principals::KeyScope;
use serde_json::{Value, json};

use crate::harness::{BASE, TestMarket, TestResponse};

const OPERATOR: &str = "mkt_demo_operator";
const BUYER: &str = "mkt_demo_buyer";

/// Creates a world with a name.
async fn create(market: &TestMarket, body: Value) -> Value {
    market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201)
}

/// Sends a request to the part of the sandbox API for a world.
async fn sandbox(market: &TestMarket, method: &str, path: &str, body: Value) -> TestResponse {
    market.call(OPERATOR, method, &format!("/sandbox/v1/worlds/{path}"), &body).await
}

async fn create_team(market: &TestMarket, world: &str, key: &str, name: &str) -> TestResponse {
    let team = json!({"name": name, "roles": ["buyer"], "tier": 1});
    market.call(key, "POST", &format!("/w/{world}/operator/v1/teams"), &team).await
}

async fn team_names(market: &TestMarket, path: &str, key: &str) -> Vec<String> {
    let page = market.get(key, &format!("{path}/operator/v1/teams?limit=100")).await.ok();
    page["items"].as_array().unwrap().iter().map(|team| team["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn world_has_everything_below_its_base_address() {
    let market = TestMarket::demo();
    let world = create(&market, json!({"name": "one"})).await;
    assert_eq!(world["base_url"], format!("{BASE}/w/one"));
    assert_eq!((&world["now"], &world["clock"]), (&json!("2026-03-01T09:00:00.000Z"), &json!("frozen")));
    for path in ["/", "/vendor/docs", "/buyer/openapi.json", "/operator/docs"] {
        let response = market.get("", &format!("/w/one{path}")).await;
        assert_eq!(response.status, 200, "{path}");
    }
    let document = market.get("", "/w/one/vendor/openapi.json").await.ok();
    assert_eq!(document["servers"][0]["url"], "..", "relative to the address of the document");
    let landing =
        market.send(poem::http::Method::GET, "/w/one/", &[("accept", "application/json")]).await.ok();
    assert_eq!(landing["agent_server"], format!("{BASE}/w/one/v2/mcp/"));
    assert_eq!(landing["apis"].as_array().unwrap().len(), 3, "worlds have no sandbox");
    let purchases = market.get(BUYER, "/w/one/v2/listings/browse/purchases").await.ok().to_string();
    assert!(!purchases.contains(&format!("{BASE}/v2")), "links begin with the base address of the world");
    let tools = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let headers = [
        ("host", "market.test"),
        ("authorization", "Bearer mkt_demo_buyer"),
        ("content-type", "application/json"),
    ];
    let path = "/w/one/v2/mcp/";
    let response = market.send_body(poem::http::Method::POST, path, &headers, tools.to_string()).await;
    assert!(response.expect_status(200)["result"]["tools"].as_array().unwrap().len() > 10);
    for path in ["sandbox/v1/worlds", "sandbox/docs", "sandbox/openapi.json", "w/one/v2/wallet", "nothing"] {
        let response = market.get(OPERATOR, &format!("/w/one/{path}")).await;
        assert_eq!(response.expect_error(404), "not_found", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_in_a_world_is_seen_only_there() {
    let market = TestMarket::demo();
    for name in ["one", "two"] {
        create(&market, json!({"name": name})).await;
    }
    let (root, before) =
        (team_names(&market, "", OPERATOR).await, team_names(&market, "/w/two", OPERATOR).await);
    create_team(&market, "one", OPERATOR, "Only here").await.expect_status(201);
    assert!(team_names(&market, "/w/one", OPERATOR).await.contains(&"Only here".to_owned()));
    assert_eq!(team_names(&market, "/w/two", OPERATOR).await, before);
    assert_eq!(team_names(&market, "", OPERATOR).await, root);
    // A fork of a world has what happened there; a fork of the market of the server has nothing of it.
    create(&market, json!({"name": "fork", "from": "one"})).await;
    create(&market, json!({"name": "root", "from": "market"})).await;
    assert!(team_names(&market, "/w/fork", OPERATOR).await.contains(&"Only here".to_owned()));
    assert_eq!(team_names(&market, "/w/root", OPERATOR).await, root);
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_and_unknown_worlds_are_not_found() {
    let market = TestMarket::empty();
    let key = market.operator_key("test", KeyScope::All);
    let body = json!({"name": "one", "from": "empty"});
    market.call(&key, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
    market.call(&key, "DELETE", "/sandbox/v1/worlds/one", &Value::Null).await.expect_status(204);
    for name in ["one", "two", "", "%2e%2e", "ONE"] {
        let response = market.get(&key, &format!("/w/{name}/v2/wallet")).await;
        assert_eq!(response.expect_error(404), "world_not_found", "{name}");
    }
    for (method, path) in
        [("GET", ""), ("DELETE", ""), ("POST", "/reset"), ("GET", "/clock"), ("GET", "/snapshots")]
    {
        let path = format!("/sandbox/v1/worlds/one{path}");
        let response = market.call(&key, method, &path, &Value::Null).await;
        assert_eq!(response.expect_error(404), "world_not_found", "{method} {path}");
    }
    // The name is free again, and another world has another ID.
    let other = market.call(&key, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
    let found = market.get(&key, "/sandbox/v1/worlds/one").await.ok();
    assert_eq!(found, other);
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_of_a_world_use_this_world_and_no_other() {
    let market = TestMarket::demo();
    let own = create(&market, json!({"name": "own", "from": "empty", "seed": 5})).await;
    create(&market, json!({"name": "other"})).await;
    let key = own["keys"][0]["key"].as_str().unwrap();
    assert_eq!(own["keys"].as_array().unwrap().len(), 1);
    create_team(&market, "own", key, "Mine").await.expect_status(201);
    let advance = json!({"advance": "1d"});
    market.call(key, "POST", "/sandbox/v1/worlds/own/clock", &advance).await.expect_status(200);
    market.get(key, "/sandbox/v1/worlds/own").await.ok();
    for (method, path) in [
        ("GET", "/sandbox/v1/worlds/other"),
        ("POST", "/sandbox/v1/worlds/other/reset"),
        ("GET", "/sandbox/v1/worlds"),
        ("GET", "/sandbox/v1/snapshots"),
        ("GET", "/w/other/operator/v1/teams"),
        ("GET", "/operator/v1/teams"),
    ] {
        let response = market.call(key, method, path, &Value::Null).await;
        assert_eq!(response.expect_error(401), "unauthorized", "{method} {path}");
    }
    let response = market.call(BUYER, "GET", "/sandbox/v1/worlds/own", &Value::Null).await;
    assert_eq!(response.expect_error(403), "operator_required");
    let response =
        market.call("mkt_demo_operator_read", "POST", "/sandbox/v1/worlds/own/reset", &Value::Null).await;
    assert_eq!(response.expect_error(403), "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn idempotency_key_belongs_to_one_operator_and_one_world() {
    let market = TestMarket::empty();
    let created = market.operator_key("test", KeyScope::All);
    let key = created.as_str();
    let create = async || {
        market.call(key, "POST", "/sandbox/v1/worlds", &json!({"name": "one"})).await.expect_status(201)
    };
    let advance = async |key: &str| {
        let (path, body) = ("/sandbox/v1/worlds/one/clock", json!({"advance": "1d"}));
        let response = market.call_with(key, "POST", path, &body, &[("idempotency-key", "k1")]).await;
        response.ok()["now"].as_str().unwrap()[..10].to_owned()
    };
    create().await;
    // The server has no key with the row ID of the first one, which is a key of the world.
    for (key, now) in [(OPERATOR, "2026-03-02"), (OPERATOR, "2026-03-02"), (key, "2026-03-03")] {
        assert_eq!(advance(key).await, now);
    }
    market.call(key, "DELETE", "/sandbox/v1/worlds/one", &Value::Null).await.expect_status(204);
    create().await;
    for (key, now) in [(key, "2026-03-02"), (OPERATOR, "2026-03-03"), (key, "2026-03-02")] {
        assert_eq!(advance(key).await, now, "in a later world with the same name");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_accepts_no_link_that_a_copy_of_its_market_has_signed() {
    let market = TestMarket::demo();
    for name in ["one", "two"] {
        create(&market, json!({"name": name, "from": "market"})).await;
    }
    let listings = market.get("mkt_demo_vendor", "/v2/listings").await.ok();
    let id = listings["items"][0]["id"].as_str().unwrap();
    let link = async |base: &str| {
        let detail = market.get("mkt_demo_vendor", &format!("{base}/v2/listings/{id}")).await.ok();
        let link = detail["bundle_download_url"].as_str().unwrap();
        link.strip_prefix(BASE).and_then(|link| link.strip_prefix(base)).unwrap().to_owned()
    };
    let (own, [one, two]) = (link("").await, [link("/w/one").await, link("/w/two").await]);
    assert_eq!(one, two, "copies that were made alike sign alike");
    let send = async |link: &str| market.send(poem::http::Method::GET, link, &[]).await;
    assert_eq!(send(&one).await.expect_error(403), "forbidden");
    for accepted in [own, format!("/w/one{one}")] {
        assert_ne!(send(&accepted).await.status, 403, "{accepted}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_a_copy_of_a_market_cannot_be_computed_from_its_seed() {
    // Everybody can compute this key from the seed 1.
    const FIRST: &str = "mkt_op_7Yso8FbsA2rNUyFL_Jv07TeHxfshtl4NbboK-wKf";
    let market = TestMarket::demo();
    let body = json!({"name": "tester", "scope": "all"});
    let mut keys = Vec::new();
    for name in ["one", "two"] {
        create(&market, json!({"name": name, "from": "market"})).await;
        let path = format!("/w/{name}/operator/v1/operator-keys");
        let created = market.call(OPERATOR, "POST", &path, &body).await.expect_status(201);
        keys.push(created["secret"].as_str().unwrap().to_owned());
    }
    assert_ne!(keys[0], FIRST);
    assert_eq!(keys[0], keys[1], "copies that were made alike");
    create(&market, json!({"name": "three", "from": "demo"})).await;
    let mut computed = Vec::new();
    for _ in 0..4 {
        let created = market.call(OPERATOR, "POST", "/w/three/operator/v1/operator-keys", &body).await;
        computed.push(created.expect_status(201)["secret"].as_str().unwrap().to_owned());
    }
    assert!(computed.iter().any(|key| key == FIRST), "the secrets of any other world: {computed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_worlds_are_refused_with_every_problem_of_their_body() {
    let market = TestMarket::with_settings(|settings| settings.sandbox.max_worlds = 2);
    let key = market.operator_key("test", KeyScope::All);
    let post = async |body: Value| market.call(&key, "POST", "/sandbox/v1/worlds", &body).await;
    for (body, expected) in [
        (json!({"name": "One"}), vec!["body.name string_pattern_mismatch"]),
        (
            json!({"name": "a".repeat(41), "ttl_seconds": 0}),
            vec!["body.name string_too_long", "body.ttl_seconds greater_than_equal"],
        ),
        (json!({"from": "nothing"}), vec!["body.from value_error"]),
        (json!({"from": "empty", "now": "2026-02-28T00:00:00Z"}), vec!["body.now greater_than_equal"]),
        (
            json!({"from": "empty", "settings": {"server.listen": "x", "fees.buyer": 1}}),
            vec!["body.settings.fees.buyer value_error", "body.settings.server.listen value_error"],
        ),
        (
            json!({"from": "empty", "settings": {"fees.buyer_percent": 101}}),
            vec!["body.settings.fees.buyer_percent value_error"],
        ),
        (
            json!({"from": "empty", "settings": {"fees.buyer_percent": [1]}}),
            vec!["body.settings.fees.buyer_percent value_error"],
        ),
        (json!({"clock": "stopped", "color": 1}), vec!["body.clock enum", "body.color extra_forbidden"]),
    ] {
        assert_eq!(post(body.clone()).await.problems(), expected, "{body}");
    }
    let misspelled = post(json!({"from": "empty", "settings": {"fees.buyer_percnt": 4.0}})).await;
    let message = misspelled.expect_status(422)["detail"][0]["msg"].clone();
    assert!(message.as_str().unwrap().ends_with("did you mean \"buyer_percent\"?"), "{message}");
    for name in ["demo", "empty", "market"] {
        assert_eq!(post(json!({"name": name, "from": "empty"})).await.expect_error(409), "conflict");
    }
    post(json!({"name": "one", "from": "empty"})).await.expect_status(201);
    assert_eq!(post(json!({"name": "one", "from": "empty"})).await.expect_error(409), "conflict");
    post(json!({"from": "empty"})).await.expect_status(201);
    assert_eq!(post(json!({"from": "empty"})).await.expect_error(409), "too_many_worlds");
}

#[tokio::test(flavor = "multi_thread")]
async fn clock_is_set_advanced_and_never_goes_back() {
    let market = TestMarket::demo();
    create(&market, json!({"name": "one", "from": "empty", "now": "2026-03-02T00:00:00Z"})).await;
    let change = async |body: Value| sandbox(&market, "POST", "one/clock", body).await;
    let at = |response: &Value| response["now"].as_str().unwrap().to_owned();
    assert_eq!(at(&change(json!({"advance": "1d12h"})).await.ok()), "2026-03-03T12:00:00.000Z");
    assert_eq!(at(&change(json!({"set": "2026-04-01T00:00:00Z"})).await.ok()), "2026-04-01T00:00:00.000Z");
    assert_eq!(
        change(json!({"set": "2026-03-31T00:00:00Z"})).await.problems(),
        ["body.set greater_than_equal"]
    );
    for set in ["9001-01-01T00:00:00Z", "2126-03-10T00:00:00Z"] {
        assert_eq!(change(json!({"set": set})).await.problems(), ["body.set less_than_equal"], "{set}");
    }
    let late = json!({"from": "empty", "now": "2126-03-01T00:00:00Z"});
    let refused = market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &late).await;
    assert_eq!(refused.problems(), ["body.now less_than_equal"]);
    for body in [json!({}), json!({"advance": "1d", "mode": "running"})] {
        assert_eq!(change(body).await.problems(), ["body value_error"]);
    }
    for duration in ["1y", "", "1", "-1d", "36501d", "1d1d"] {
        let response = change(json!({"advance": duration})).await;
        assert_eq!(response.status, 422, "{duration}");
    }
    let clock = sandbox(&market, "GET", "one/clock", Value::Null).await.ok();
    assert_eq!((at(&clock).as_str(), &clock["mode"]), ("2026-04-01T00:00:00.000Z", &json!("frozen")));
    assert_eq!(change(json!({"mode": "running"})).await.ok()["mode"], "running");
    assert_eq!(change(json!({"mode": "frozen"})).await.ok()["mode"], "frozen");
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_count_for_their_world_and_its_key_deletes_them() {
    let market = TestMarket::with_settings(|settings| settings.sandbox.max_snapshots_per_world = 2);
    let server_key = market.operator_key("test", KeyScope::All);
    // Keys are derived from the seed, so that those of two worlds differ.
    let new = async |name: &str, seed: u32| {
        let body = json!({"name": name, "from": "empty", "seed": seed});
        let world = market.call(&server_key, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
        let first = world["keys"][0]["key"].as_str().unwrap();
        let (path, key) =
            (format!("/w/{name}/operator/v1/operator-keys"), json!({"name": "A", "scope": "all"}));
        let created = market.call(first, "POST", &path, &key).await.expect_status(201);
        created["secret"].as_str().unwrap().to_owned()
    };
    let (mut one, other) = (new("one", 2).await, new("other", 3).await);
    let make = async |key: &str, world: &str, name: &str| {
        let path = format!("/sandbox/v1/worlds/{world}/snapshots");
        market.call(key, "POST", &path, &json!({"name": name})).await
    };
    let delete = async |key: &str, name: &str| {
        market.call(key, "DELETE", &format!("/sandbox/v1/snapshots/{name}"), &Value::Null).await.status
    };
    // Whose key, world, and whether there is still space.
    for (key, world, name, expected) in [
        (&one, "one", "a", 201),
        (&server_key, "one", "b", 201),
        (&one, "one", "c", 409),
        (&server_key, "one", "c", 409),
        (&other, "other", "c", 201),
    ] {
        assert_eq!(make(key, world, name).await.status, expected, "{world} {name}");
    }
    assert_eq!(make(&one, "one", "d").await.expect_error(409), "too_many_worlds");
    for (key, name, expected) in [
        (&other, "a", 401),
        (&one, "c", 401),
        (&one, "nothing", 401),
        (&one, "a", 204),
        (&one, "a", 401),
        (&server_key, "b", 204),
        (&server_key, "b", 404),
    ] {
        assert_eq!(delete(key, name).await, expected, "{name}");
    }
    assert_eq!(make(&one, "one", "d").await.status, 201, "there is space again");
    // Another world with the same name is not the one that made it.
    market.call(&server_key, "DELETE", "/sandbox/v1/worlds/one", &Value::Null).await.expect_status(204);
    assert_eq!(delete(&one, "d").await, 401);
    one = new("one", 4).await;
    assert_eq!(delete(&one, "d").await, 401);
    assert_eq!((make(&one, "one", "e").await.status, make(&one, "one", "f").await.status), (201, 201));
    assert_eq!(delete(&server_key, "d").await, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshot_is_forked_after_its_world_has_ended() {
    let market = TestMarket::demo();
    create(&market, json!({"name": "one", "settings": {"fees.buyer_percent": 2.5}})).await;
    create_team(&market, "one", OPERATOR, "Kept").await.expect_status(201);
    let snapshot =
        sandbox(&market, "POST", "one/snapshots", json!({"name": "kept"})).await.expect_status(201);
    create_team(&market, "one", OPERATOR, "Later").await.expect_status(201);
    assert_eq!(sandbox(&market, "GET", "one/snapshots", Value::Null).await.ok()["items"], json!([snapshot]));
    for name in ["one", "kept", "demo"] {
        let response = sandbox(&market, "POST", "one/snapshots", json!({"name": name})).await;
        assert_eq!(response.expect_error(409), "conflict", "{name}");
    }
    sandbox(&market, "DELETE", "one", Value::Null).await.expect_status(204);
    let world =
        create(&market, json!({"name": "two", "from": "kept", "settings": {"offers.expire_days": 3}})).await;
    assert_eq!(world["settings"], json!({"fees.buyer_percent": 2.5, "offers.expire_days": 3}));
    let names = team_names(&market, "/w/two", OPERATOR).await;
    assert!(names.contains(&"Kept".to_owned()) && !names.contains(&"Later".to_owned()), "{names:?}");
    market.call(OPERATOR, "DELETE", "/sandbox/v1/snapshots/kept", &Value::Null).await.expect_status(204);
    assert_eq!(
        market.call(OPERATOR, "DELETE", "/sandbox/v1/snapshots/kept", &Value::Null).await.expect_error(404),
        "not_found"
    );
    // The world that was forked from it stays, and returns to it.
    create_team(&market, "two", OPERATOR, "Later").await.expect_status(201);
    sandbox(&market, "POST", "two/reset", Value::Null).await.ok();
    assert_eq!(team_names(&market, "/w/two", OPERATOR).await, names);
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_request_creates_one_world() {
    let market = TestMarket::demo();
    let headers = [("idempotency-key", "k1")];
    let send =
        async |body: Value| market.call_with(OPERATOR, "POST", "/sandbox/v1/worlds", &body, &headers).await;
    let first = send(json!({"from": "empty"})).await.expect_status(201);
    assert_eq!(send(json!({"from": "empty"})).await.expect_status(201), first);
    assert_eq!(send(json!({"from": "demo"})).await.status, 422, "the key was used for another request");
    let worlds = market.get(OPERATOR, "/sandbox/v1/worlds").await.ok();
    assert_eq!(worlds["items"], json!([first]));
}

#[tokio::test(flavor = "multi_thread")]
async fn inbox_has_what_webhooks_would_get() {
    use marketplace::domain::webhook_messages::{SigningSecret, signature_header};

    let market = TestMarket::demo();
    create(&market, json!({"name": "one", "from": "empty"})).await;
    let key =
        sandbox(&market, "GET", "one", Value::Null).await.ok()["keys"][0]["key"].as_str().unwrap().to_owned();
    let body = json!({"url": "http://127.0.0.1:9/hook", "event_types": ["team.created"]});
    let webhook = market.call(&key, "POST", "/w/one/operator/v1/webhooks", &body).await.expect_status(201);
    let secret = SigningSecret::parse(webhook["secret"].as_str().unwrap()).unwrap();
    assert_eq!(
        sandbox(&market, "GET", "one/webhooks", Value::Null).await.ok(),
        json!({"items": [], "last": 0})
    );
    create_team(&market, "one", &key, "First").await.expect_status(201);
    let page = sandbox(&market, "GET", "one/webhooks?wait=5s", Value::Null).await.ok();
    let message = &page["items"][0];
    assert_eq!((&message["number"], &message["attempt"], &page["last"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!((&message["event_type"], &message["url"]), (&json!("team.created"), &body["url"]));
    let headers = &message["headers"];
    let (id, timestamp) =
        (headers["webhook-id"].as_str().unwrap(), headers["webhook-timestamp"].as_str().unwrap());
    let expected =
        signature_header(&[secret], id, timestamp.parse().unwrap(), message["body"].as_str().unwrap());
    assert_eq!(headers["webhook-signature"], expected);
    assert_eq!(
        sandbox(&market, "GET", "one/webhooks?after=1&wait=1ms", Value::Null).await.ok()["items"],
        json!([])
    );
    let other = sandbox(&market, "GET", "one/webhooks?event_type=key.created", Value::Null).await.ok();
    assert_eq!(other["items"], json!([]));
    for (wait, kind) in [
        ("61s", "value_error"),
        ("1s1s", "string_pattern_mismatch"),
        ("xs", "string_pattern_mismatch"),
        ("10", "string_pattern_mismatch"),
        ("5", "string_too_short"),
        ("", "string_too_short"),
    ] {
        let response = sandbox(&market, "GET", &format!("one/webhooks?wait={wait}"), Value::Null).await;
        assert_eq!(response.problems(), [format!("query.wait {kind}")], "{wait}");
    }
    // A request that waits is answered when there is a message.
    let (waited, created) = tokio::join!(
        sandbox(&market, "GET", "one/webhooks?after=1&wait=60s", Value::Null),
        create_team(&market, "one", &key, "Second"),
    );
    created.expect_status(201);
    assert_eq!(waited.ok()["items"][0]["number"], 2);
    sandbox(&market, "POST", "one/reset", Value::Null).await.ok();
    assert_eq!(sandbox(&market, "GET", "one/webhooks", Value::Null).await.ok()["last"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn disk_of_all_worlds_is_limited() {
    let market = TestMarket::with_settings(|settings| settings.sandbox.max_mb = 2);
    let key = market.operator_key("test", KeyScope::All);
    let body = json!({"from": "empty"});
    market.call(&key, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
    let refused = market.call(&key, "POST", "/sandbox/v1/worlds", &body).await;
    assert_eq!(refused.expect_error(409), "quota_exceeded");
    assert_eq!(refused.json()["error"]["details"]["quota"], "sandbox.max_mb");
    market.call(&key, "DELETE", "/sandbox/v1/worlds/world-1", &Value::Null).await.expect_status(204);
    market.call(&key, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_worlds_are_refused_when_the_disk_is_used_up() {
    let market = TestMarket::with_settings(|settings| settings.sandbox.max_mb = 2);
    let key = market.operator_key("test", KeyScope::All);
    let body = json!({"from": "empty", "name": "one"});
    let world = market.call(&key, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
    let own_key = world["keys"][0]["key"].as_str().unwrap();
    let domain = json!({"slug": "a", "label": "A"});
    let path = "/w/one/operator/v1/domains";
    let refused = market.call_with(own_key, "POST", path, &domain, &[("content-length", "2000000")]).await;
    assert_eq!(refused.expect_error(409), "quota_exceeded");
    assert_eq!(refused.json()["error"]["details"]["quota"], "sandbox.max_mb");
    assert_eq!(refused.header("x-request-id").len(), 36);
    market.call(own_key, "POST", path, &domain).await.expect_status(201);
    market.get(own_key, path).await.expect_status(200);
}
