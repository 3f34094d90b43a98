//! A third API with one operation, added to the table of APIs: nothing else has to change for it to have a
//! document, a docs page, access control, a budget, and a tool for agents.

use marketplace::{
    domain::principals::PrincipalKind,
    mcp,
    operations::access::Buyer,
    rest::{
        self, Api, JsonResult, RouteGroup,
        route::{Call, Contract, Path, RouteAttributes, Target, Tool, ToolText, Toolset, routes},
    },
    web::{Budget, CorsPolicy},
};
use poem::{Endpoint, Request, endpoint::BoxEndpoint, http::Method};
use poem_openapi::Object;
use serde::Serialize;
use serde_json::{Value, json};

use super::cases::{BUYER, VENDOR};
use crate::harness::{BASE, TestMarket};

/// A sample of data.
#[derive(Debug, Object, Serialize)]
struct Sample {
    /// Number of the sample.
    number: u32,
}

#[routes(prefix = "/trial/v1", tag = Catalog)]
#[expect(clippy::unused_async, reason = "handlers are async")]
impl SamplesApi {
    /// Get a sample
    #[get(
        "/samples/{number}",
        RouteAttributes::read(
            Tool::record(ToolText::new(
                Toolset::Catalog,
                "get_sample",
                "Sample",
                "Returns a sample of data by its number.",
            )),
            Contract::new(Target::None),
        )
        .with_budget(Budget::Purchases)
    )]
    async fn get_sample(
        call: Call<Buyer>,
        /// Number of the sample.
        number: Path<u32>,
    ) -> JsonResult<Sample> {
        let _ = call.access;
        Ok(rest::Json::from_small(&Sample { number: number.0 }))
    }
}

static TRIAL_ROUTES: RouteGroup = RouteGroup::of::<SamplesApi>();

static TRIAL: Api = Api {
    name: "trial",
    prefix: "/trial/v1",
    keys: PrincipalKind::Team,
    cors: CorsPolicy::ConfiguredOrigins,
    title: "Trial API",
    version: "1.0.0",
    purpose: "For a test.",
    demo_key: "mkt_demo_buyer",
    groups: &[&TRIAL_ROUTES],
    spec: rest::spec::<SamplesApi>,
};

fn app(market: &TestMarket) -> BoxEndpoint<'static, poem::Response> {
    let apis = [&rest::VENDOR, &rest::BUYER, &TRIAL];
    let routes = rest::App::with_apis(market.market().settings(), false, &apis);
    mcp::App::new(routes).serve(market.market().clone(), BASE)
}

/// Sends a request, and returns the status and the body.
async fn send(
    app: &impl Endpoint<Output = poem::Response>,
    key: &str,
    path: &str,
    body: Value,
) -> (u16, String) {
    let method = if body.is_null() { Method::GET } else { Method::POST };
    let request = Request::builder()
        .method(method)
        .uri(path.parse().unwrap())
        .header("host", "market.test")
        .header("authorization", format!("Bearer {key}"))
        .header("accept", "application/json, text/event-stream")
        .content_type("application/json");
    let request = if body.is_null() { request.finish() } else { request.body(body.to_string()) };
    let response = app.get_response(request).await;
    (response.status().as_u16(), response.into_body().into_string().await.unwrap())
}

#[tokio::test]
async fn api_of_the_table_has_routes_documents_access_control_and_tools() {
    let market = TestMarket::demo();
    let app = app(&market);
    let get = async |key: &'static str, path: &'static str| send(&app, key, path, Value::Null).await;
    assert_eq!(get(BUYER, "/trial/v1/samples/7").await, (200, r#"{"number":7}"#.to_owned()));
    assert_eq!(get("mkt_nobody", "/trial/v1/samples/7").await.0, 401);
    assert_eq!(get(VENDOR, "/trial/v1/samples/x?y=1").await.0, 403, "access is checked first");
    let (status, problem) = get(BUYER, "/trial/v1/samples/x?y=1").await;
    assert!(status == 422 && problem.contains("number") && !problem.contains("extra_forbidden"), "{problem}");
    let (status, problem) = get(BUYER, "/trial/v1/samples/7?y=1").await;
    assert!(status == 422 && problem.contains("extra_forbidden"), "{problem}");
    assert_eq!(get(BUYER, "/v2/wallet").await.0, 200, "the other APIs are still there");

    let (_, document) = get("", "/trial/openapi.json").await;
    let document: Value = serde_json::from_str(&document).unwrap();
    let operation = &document["paths"]["/trial/v1/samples/{number}"]["get"];
    assert_eq!(
        (&document["info"]["title"], &operation["x-budget"]),
        (&json!("Trial API"), &json!("purchases"))
    );
    assert_eq!(operation["parameters"].as_array().unwrap().len(), 1, "{operation}");
    assert_eq!(document["paths"].as_object().unwrap().len(), 1);
    assert_eq!(get("", "/trial/docs").await.0, 200);
    let landing: Value = serde_json::from_str(&get("", "/").await.1).unwrap_or_default();
    assert!(landing.is_null() || landing["apis"][2]["name"] == "trial", "{landing}");

    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "get_sample", "arguments": {"number": 7}}});
    let (_, result) = send(&app, BUYER, "/v2/mcp/", call.clone()).await;
    assert!(result.contains(r#""number":7"#), "{result}");
    let (_, result) = send(&app, VENDOR, "/v2/mcp/", call).await;
    assert!(!result.contains(r#""number":7"#), "vendors do not have the tool: {result}");
}
