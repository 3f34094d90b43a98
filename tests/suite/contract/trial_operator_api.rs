//! An API for operators, added to the table of APIs under its own prefix: it takes operator keys, the others
//! do not, and what operators use is separate from what teams use.

use marketplace::{
    config::Settings,
    domain::{
        principals::{KeyScope, Principal, PrincipalKind},
        row_ids::KeyRowId,
        teams::TeamRowId,
    },
    error::{self, Error},
    market::{Reader, Requester, Writer},
    mcp,
    operations::{
        access::{ActingOperator, Authenticated, Operator, Platform},
        idempotency, keys, records,
        teams::{self, TeamInput},
    },
    request_problems::ProblemsExt,
    rest::{
        self, Api, Body, Idempotent, Json, JsonResult, MaybeInvalid, RouteGroup,
        route::{Call, Contract, RouteAttributes, Target, Tool, routes},
    },
    store::{
        self,
        records::{Filters, keys::OperatorKeyRecord, pages::PageRequest},
    },
    web::CorsPolicy,
};
use poem::{Endpoint, Request, Response, endpoint::BoxEndpoint, http::Method};
use poem_openapi::Object;
use serde::Serialize;
use serde_json::{Value, json};

use super::cases::cases;
use crate::harness::{BASE, TestMarket};

/// Path of the operations.
const TEAMS: &str = "/trial-operator/v1/teams";

/// The teams of the market.
#[derive(Debug, Object, Serialize)]
struct Teams {
    /// Number of teams.
    total: u32,
    /// Number of operator keys.
    operator_keys: u32,
}

/// A team.
#[derive(Debug, Object, Serialize)]
struct TeamOut {
    /// ID of the team.
    id: String,
}

/// A team to create.
#[derive(Debug, Object)]
struct TeamIn {
    /// Name of the team.
    name: MaybeInvalid<String>,
}

/// Returns the keys of operators, newest first.
fn operator_keys(reader: &Reader, platform: Platform) -> error::Result<Vec<OperatorKeyRecord>> {
    let request = PageRequest { before: None, limit: 100 };
    let filters = Filters::new(json!({"name": null, "scope": null}));
    Ok(records::page(reader.rows, platform, reader.now, &filters, request)?.rows)
}

#[routes(prefix = "/trial-operator/v1", tag = Teams)]
impl TeamsApi {
    /// Count the teams
    #[get(
        "/teams",
        RouteAttributes::read(Tool::Excluded("agents act for teams"), Contract::new(Target::None))
    )]
    async fn count_teams(call: Call<Operator>) -> JsonResult<Teams> {
        let (requester, platform) = (call.access.requester(), call.access.platform());
        let count = move |reader: &Reader| {
            let (teams, keys) = (teams::list(reader)?, operator_keys(reader, platform)?);
            Ok(Teams { total: teams.len() as u32, operator_keys: keys.len() as u32 })
        };
        Json::read(&call.served, requester, count).await
    }

    /// Create a team
    #[post("/teams", RouteAttributes::change(Contract::new(Target::None)))]
    async fn create_team(
        call: Call<ActingOperator>,
        idempotent: Idempotent,
        #[example(json!({"name": "Tideclock"}))] body: Body<TeamIn>,
    ) -> JsonResult<TeamOut, 201> {
        let name = body.value.name.0;
        idempotent
            .write(
                &call.served,
                call.access,
                body.source,
                move |_, _, problems| problems.into_result_of(name),
                move |writer, _, name: String| {
                    let id = teams::create(writer, &team(&name))?;
                    Ok(TeamOut { id: id.to_string() })
                },
            )
            .await
    }
}

fn team(name: &str) -> TeamInput<'_> {
    TeamInput { name, is_vendor: true, is_buyer: true, tier: 1, has_accepted_nda: true }
}

static TEAM_ROUTES: RouteGroup = RouteGroup::of::<TeamsApi>();

static TRIAL_OPERATOR: Api = Api {
    name: "trial-operator",
    prefix: "/trial-operator/v1",
    keys: PrincipalKind::Operator,
    cors: CorsPolicy::SameOrigin,
    title: "Trial API for operators",
    version: "1.0.0",
    purpose: "For a test.",
    demo_key: "",
    groups: &[&TEAM_ROUTES],
    spec: rest::spec::<TeamsApi>,
};

/// A market with one operator and one team, whose row IDs are the same, served with the trial API.
struct Trial {
    market: TestMarket,
    server: BoxEndpoint<'static, Response>,
    operator: String,
    team: String,
}

impl Trial {
    async fn start(change: impl FnOnce(&mut Settings)) -> Trial {
        let market = TestMarket::with_settings(change);
        let routes = rest::App::with_apis(
            market.market().settings(),
            false,
            &[&rest::VENDOR, &rest::BUYER, &TRIAL_OPERATOR],
        );
        let server = mcp::App::new(routes).serve(market.market().clone(), BASE);
        let (_, operator) = create_operator_key(&market);
        let (_, team) = market
            .write(|writer| {
                teams::create(writer, &team("Oakfile"))?;
                keys::create(writer, "Oakfile", "test", None)
            })
            .unwrap();
        let trial = Trial { market, server, operator, team };
        assert_eq!(trial.principal(&trial.operator).await, Principal::Operator(KeyRowId(1)));
        assert_eq!(trial.principal(&trial.team).await, Principal::Team(TeamRowId(1)));
        trial
    }

    async fn principal(&self, key: &str) -> Principal {
        Authenticated::authenticate(self.market.market(), Requester::process(), key)
            .await
            .unwrap()
            .principal()
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &Value) -> (u16, Value) {
        let request =
            Request::builder().method(method).uri(path.parse().unwrap()).header("host", "market.test");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request = if body.is_null() {
            request.finish()
        } else {
            request.content_type("application/json").body(body.to_string())
        };
        let response = self.server.get_response(request).await;
        let status = response.status().as_u16();
        let bytes = response.into_body().into_vec().await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn get(&self, key: &str, path: &str) -> (u16, Value) {
        self.send(Method::GET, path, &[("x-api-key", key)], &Value::Null).await
    }

    async fn create(&self, key: &str, repeat: &str, name: &str) -> (u16, Value) {
        let headers = [("x-api-key", key), ("idempotency-key", repeat)];
        self.send(Method::POST, TEAMS, &headers, &json!({"name": name})).await
    }
}

fn create_operator_key(market: &TestMarket) -> (uuid::Uuid, String) {
    let create = |writer: &mut Writer| {
        keys::create_for_operator(writer, Platform::of_process(), "test", KeyScope::All, None)
    };
    market.write(create).unwrap()
}

#[tokio::test]
async fn api_takes_the_kind_of_keys_of_its_row() {
    let trial = Trial::start(|_| {}).await;
    assert!(trial.operator.starts_with("mkt_op_") && trial.operator.len() == "mkt_op_".len() + 40);
    assert_eq!(trial.get(&trial.operator, TEAMS).await, (200, json!({"total": 1, "operator_keys": 1})));
    for path in [TEAMS.to_owned(), format!("{TEAMS}?zzz=1")] {
        let (status, body) = trial.get(&trial.team, &path).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!("operator_required")), "{body}");
    }
    for path in
        ["/v2/domains", "/v2/wallet?zzz=1", "/v2/listings/browse", "/v2/listings", "/v2/buyer/opportunities"]
    {
        let (status, body) = trial.get(&trial.operator, path).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!("marketplace_role_required")), "{path}");
        assert_eq!(trial.get(&trial.team, path.split('?').next().unwrap()).await.0, 200, "{path}");
    }
    let (status, _) = trial.get("mkt_op_nobody_has_this_key", TEAMS).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn document_of_the_api_describes_operator_keys() {
    let trial = Trial::start(|_| {}).await;
    let (_, document) = trial.get("", "/trial-operator/openapi.json").await;
    let text = document.to_string();
    assert!(!text.contains("team's API key") && !text.contains("key of your team"), "{text}");
    assert!(text.contains("unique within the operator key"), "{text}");
    let components = &document["components"];
    for scheme in components["securitySchemes"].as_object().unwrap().values() {
        assert!(scheme["description"].as_str().unwrap().starts_with("An operator key"), "{scheme}");
    }
    let code =
        &components["responses"]["Forbidden"]["content"]["application/json"]["example"]["error"]["code"];
    assert_eq!(code, "operator_required");
    assert!(components["schemas"]["Code"]["enum"].as_array().unwrap().contains(&json!("operator_required")));
    let (_, vendor) = trial.get("", "/vendor/openapi.json").await;
    assert!(!vendor.to_string().contains("operator_required"));
    let (_, unknown) = trial.get("", "/nowhere").await;
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(message.contains("/vendor/docs, /buyer/docs, and /trial-operator/docs"), "{message}");
}

#[tokio::test]
async fn operator_key_has_budgets_of_its_own() {
    let trial = Trial::start(|settings| settings.limits.other = 2).await;
    let (_, other) = create_operator_key(&trial.market);
    for status in [200, 200, 429] {
        assert_eq!(trial.get(&trial.operator, TEAMS).await.0, status);
    }
    for status in [200, 200, 429] {
        assert_eq!(trial.get(&trial.team, "/v2/wallet").await.0, status, "a team with the same row ID");
    }
    for status in [200, 403, 429] {
        // A refused request counts, too.
        let path = if status == 403 { "/v2/wallet" } else { TEAMS };
        assert_eq!(trial.get(&other, path).await.0, status, "another operator key");
    }
}

#[tokio::test]
async fn repeated_request_of_an_operator_returns_the_stored_response() {
    let trial = Trial::start(|settings| settings.quotas.idempotency_keys = 2).await;
    let first = trial.create(&trial.operator, "k", "Tideclock").await;
    assert_eq!(first.0, 201, "{}", first.1);
    assert_eq!(trial.create(&trial.operator, "k", "Tideclock").await, first);
    assert_eq!(trial.get(&trial.operator, TEAMS).await.1["total"], 2, "it was executed once");
    let (status, body) = trial.create(&trial.operator, "k", "Saltmarsh").await;
    assert_eq!((status, &body["detail"][0]["type"]), (422, &json!("idempotency_key_reused")));
    // With another operator key it is another request, and teams are refused before it is looked up.
    let (_, other) = create_operator_key(&trial.market);
    assert_eq!(trial.create(&other, "k", "Tideclock").await.0, 409, "the name is taken");
    assert_eq!(trial.create(&trial.team, "k", "Tideclock").await.0, 403);
    // What is stored counts for the operator key.
    assert_eq!(trial.create(&trial.operator, "l", "Brinework").await.0, 201);
    let (status, body) = trial.create(&trial.operator, "m", "Meterfall").await;
    assert_eq!((status, &body["error"]["code"]), (409, &json!("quota_exceeded")));
    assert!(body["error"]["message"].as_str().unwrap().contains("your operator key"), "{body}");
    assert_eq!(trial.create(&other, "m", "Meterfall").await.0, 201);
}

#[tokio::test]
async fn stored_responses_of_an_operator_and_a_team_with_equal_row_ids_are_separate() {
    let trial = Trial::start(|_| {}).await;
    let execute = |principal, response: &'static str| {
        let request = idempotency::Request { principal, key: "k".to_owned(), route: "POST /same".to_owned() };
        trial.market.write(|writer| {
            idempotency::execute(writer, principal, Some(&request), [0; 32], |_| {
                Ok(response.as_bytes().to_vec())
            })
        })
    };
    let (operator, team) = (Principal::Operator(KeyRowId(1)), Principal::Team(TeamRowId(1)));
    assert_eq!(execute(operator, "of the operator").unwrap(), b"of the operator");
    assert_eq!(execute(team, "of the team").unwrap(), b"of the team");
    for (principal, stored) in [(operator, "of the operator"), (team, "of the team")] {
        assert_eq!(execute(principal, "executed again").unwrap(), stored.as_bytes());
    }
}

#[tokio::test]
async fn revoked_and_expired_operator_keys_are_refused() {
    let trial = Trial::start(|_| {}).await;
    let market = trial.market.market();
    let (id, key) = create_operator_key(&trial.market);
    let listed = market.read_blocking(|reader| operator_keys(reader, Platform::of_process())).unwrap();
    assert_eq!((listed.len(), listed[0].key.id), (2, id));
    let of_team = |reader: &Reader| store::keys::list_times(reader.rows, TeamRowId(1), 10);
    assert_eq!(market.read_blocking(of_team).unwrap().len(), 1);
    assert_eq!(trial.get(&key, TEAMS).await.0, 200);
    market.write_blocking(|writer| keys::revoke(writer, id)).unwrap();
    let (status, body) = trial.get(&key, TEAMS).await;
    assert_eq!(
        (status, &body["error"]["message"]),
        (401, &json!("This API key was revoked. Use another operator key."))
    );
    let expires_at = market.clock().now().plus_days(1);
    let create = |writer: &mut Writer| {
        keys::create_for_operator(writer, Platform::of_process(), "short", KeyScope::All, Some(expires_at))
    };
    let (_, key) = market.write_blocking(create).unwrap();
    assert_eq!(trial.get(&key, TEAMS).await.0, 200);
    trial.market.clock().advance(24 * 3_600_000_000);
    assert_eq!(trial.get(&key, TEAMS).await.0, 401);
    assert!(matches!(market.write_blocking(create), Err(Error::Invalid(_))));
}

#[tokio::test]
async fn pages_of_other_origins_can_use_an_api_only_if_its_row_allows_it() {
    let trial = Trial::start(|settings| settings.server.cors_origins = vec!["*".to_owned()]).await;
    for (path, is_allowed) in [
        ("/v2/domains", true),
        ("/v2", true),
        ("/nowhere", true),
        ("/vendor/openapi.json", true),
        (TEAMS, false),
        ("/trial-operator/v1/nowhere", false),
        ("/trial-operator/openapi.json", false),
        ("/trial-operator/docs", false),
    ] {
        for method in [Method::GET, Method::OPTIONS] {
            let request = Request::builder()
                .method(method)
                .uri(path.parse().unwrap())
                .header("origin", "https://app.example")
                .header("access-control-request-method", "GET");
            let response = trial.server.get_response(request.finish()).await;
            assert_eq!(response.headers().contains_key("access-control-allow-origin"), is_allowed, "{path}");
        }
    }
}

/// Every operation of the APIs for teams refuses operator keys, before it looks at anything else.
#[tokio::test]
async fn operations_for_teams_refuse_operator_keys() {
    let trial = Trial::start(|_| {}).await;
    for case in cases().filter(|case| case.access.key_kind() == PrincipalKind::Team) {
        let operation = case.documented();
        let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
        let path = format!("{}?zzz=1", operation.path.replace(['{', '}'], ""));
        let headers = [("x-api-key", trial.operator.as_str())];
        let (status, body) = trial.send(method, &path, &headers, &case.body()).await;
        let code = &body["error"]["code"];
        assert_eq!((status, code), (403, &json!("marketplace_role_required")), "{}", case.operation);
    }
}

#[tokio::test]
async fn agent_server_refuses_operator_keys() {
    let trial = Trial::start(|_| {}).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let send = async |key: &str| {
        let headers = [("x-api-key", key), ("accept", "application/json, text/event-stream")];
        trial.send(Method::POST, mcp::PATHS[0], &headers, &call).await
    };
    let (status, body) = send(&trial.operator).await;
    assert_eq!((status, &body["error"]["code"]), (403, &json!("marketplace_role_required")), "{body}");
    let (status, body) = send(&trial.team).await;
    assert!(status == 200 && body["result"]["tools"].is_array(), "{body}");
    assert!(!body.to_string().contains("count_teams"));
}
