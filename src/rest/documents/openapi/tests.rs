//! Generates and checks a small document that has one of everything.

use std::collections::BTreeMap;

use poem_openapi::{Object, payload};
use uuid::Uuid;

use super::*;
use crate::{
    domain::{principals::PrincipalKind, teams::Role},
    operations::access::AuthenticatedTeam,
    rest::{
        api::{RouteGroup, spec},
        arguments::params::Params,
        json::{Json, JsonResult},
        route::{Call, Contract, Path, RouteAttributes, Target, Tool, routes},
    },
    web::{cors::CorsPolicy, enum_value::EnumValue},
};

/// A part.
#[derive(Debug, Object, serde::Serialize)]
struct Part {
    /// Position of the part.
    number: u32,
}

/// A thing.
#[derive(Debug, Object, serde::Serialize)]
struct Thing {
    id: Uuid,
    /// The first part.
    first: Option<Part>,
    parts: Vec<Part>,
    role: Option<EnumValue<Role>>,
    note: Option<String>,
    #[oai(default)]
    is_old: bool,
    counts: BTreeMap<String, u64>,
}

/// A change to a thing.
#[derive(Debug, Object)]
struct ThingPatch {
    note: Option<String>,
    #[oai(validator(max_length = 3))]
    tags: Option<Vec<String>>,
}

/// Query parameters of the list of things.
#[derive(Debug, Object)]
struct ThingsQuery {
    /// Roles; any may match.
    #[oai(default)]
    roles: Vec<EnumValue<Role>>,
    /// Sort order.
    #[oai(default = "vendor")]
    role: EnumValue<Role>,
    /// Page size.
    #[oai(default = "ten", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
    /// Minimum number of parts.
    #[oai(validator(minimum(value = "0")))]
    min_parts: Option<i64>,
    /// Vendor tiers.
    #[oai(default, validator(maximum(value = "3")))]
    tiers: Vec<i32>,
    /// Name of the channel.
    channel: String,
}

fn vendor() -> EnumValue<Role> {
    EnumValue(Role::Vendor)
}

fn ten() -> u32 {
    10
}

static THINGS: RouteGroup = RouteGroup::of::<Things>();

static API: Api = Api {
    name: "things",
    prefix: "/v2",
    keys: PrincipalKind::Team,
    cors: CorsPolicy::ConfiguredOrigins,
    title: "Things",
    version: "1.0.0",
    purpose: "For tests.",
    demo_key: "",
    groups: &[&THINGS],
    spec: spec::<Things>,
};

#[routes(prefix = "/v2", tag = Catalog)]
#[expect(clippy::unused_async)]
impl Things {
    /// List things
    #[get("/things", RouteAttributes::read(Tool::Excluded("this is a test"), Contract::new(Target::None)))]
    async fn list_things(
        _call: Call<AuthenticatedTeam>,
        _query: Params<ThingsQuery>,
    ) -> JsonResult<Vec<Thing>> {
        Ok(Json::from_bytes("[]"))
    }

    /// Change a thing
    #[patch("/things/{thing_id}", RouteAttributes::change(Contract::new(Target::None)))]
    async fn update_thing(
        _call: Call<AuthenticatedTeam>,
        thing_id: Path<Uuid>,
        patch: payload::Json<ThingPatch>,
    ) -> JsonResult<Thing> {
        Ok(Json::from_bytes(format!("{}{:?}", thing_id.0, patch.0)))
    }
}

fn test_document() -> Value {
    generate_document(&API, "http://market.test")
}

#[test]
fn struct_becomes_parameters_in_field_order() {
    let document = test_document();
    let parameters = document["paths"]["/v2/things"]["get"]["parameters"].as_array().unwrap();
    let names: Vec<&Value> = parameters.iter().map(|parameter| &parameter["name"]).collect();
    assert_eq!(names, ["roles", "role", "limit", "min_parts", "tiers", "channel"]);
    let role = json!({"$ref": "#/components/schemas/Role"});
    assert_eq!(parameters[0]["schema"], json!({"type": "array", "items": role}));
    assert_eq!((&parameters[0]["style"], &parameters[0]["explode"]), (&json!("form"), &json!(true)));
    assert_eq!(parameters[1]["schema"], json!({"allOf": [role], "default": "vendor"}));
    assert_eq!(
        parameters[2]["schema"],
        json!({"type": "integer", "format": "int64", "default": 10, "minimum": 1.0, "maximum": 50.0})
    );
    assert_eq!(
        parameters[3]["schema"],
        json!({"type": "integer", "format": "int64", "minimum": 0.0, "maximum": i64::MAX})
    );
    assert_eq!(parameters[4]["schema"]["items"]["maximum"], 3.0);
    assert_eq!(parameters[2]["description"], "Page size.");
    let required: Vec<&Value> = parameters.iter().map(|parameter| &parameter["required"]).collect();
    assert_eq!(required, [false, false, false, false, false, true]);
    let patch_parameters = &document["paths"]["/v2/things/{thing_id}"]["patch"]["parameters"];
    assert_eq!(patch_parameters.as_array().unwrap().len(), 1);
    for name in ["ThingsQuery", "NoParams"] {
        assert!(document["components"]["schemas"].get(name).is_none(), "{name}");
    }
}

#[test]
fn responses_have_all_fields_and_requests_may_omit_some() {
    let document = test_document();
    let thing = &document["components"]["schemas"]["Thing"];
    assert_eq!(thing["required"], json!(["counts", "first", "id", "is_old", "note", "parts", "role"]));
    assert_eq!(thing["additionalProperties"], false);
    let properties = &thing["properties"];
    assert_eq!(properties["note"], json!({"type": "string", "nullable": true}));
    let role =
        json!({"title": "Role", "type": "string", "enum": ["vendor", "buyer", null], "nullable": true});
    assert_eq!(properties["role"], role);
    let alternatives = ["Part", "Null"].map(|name| json!({"$ref": format!("#/components/schemas/{name}")}));
    assert_eq!(properties["first"], json!({"anyOf": alternatives, "description": "The first part."}));
    assert_eq!(properties["is_old"].get("nullable"), None);
    assert_eq!(properties["counts"]["additionalProperties"]["minimum"], 0);
    let patch = &document["components"]["schemas"]["ThingPatch"];
    assert_eq!(patch.get("required"), None);
    assert_eq!(patch["additionalProperties"], false);
    assert_eq!(patch["properties"]["tags"]["items"]["maxLength"], 3);
}

#[test]
fn operations_have_error_responses_and_headers() {
    let document = test_document();
    let statuses = |path: &str, method: &str| -> Vec<String> {
        document["paths"][path][method]["responses"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(
        statuses("/v2/things", "get"),
        ["200", "400", "401", "403", "404", "409", "422", "429", "500", "503"]
    );
    let patch_statuses = statuses("/v2/things/{thing_id}", "patch");
    assert_eq!(
        patch_statuses,
        ["200", "400", "401", "403", "404", "408", "409", "413", "415", "422", "429", "500", "503"]
    );
    let responses = document["components"]["responses"].as_object().unwrap();
    assert!(responses["RateLimited"]["headers"].get("Retry-After").is_some());
    for response in responses.values() {
        assert!(response["headers"].get("X-Request-Id").is_some());
    }
    let response = &document["paths"]["/v2/things"]["get"]["responses"]["200"];
    assert_eq!(response["content"].as_object().unwrap().keys().collect::<Vec<_>>(), ["application/json"]);
    assert!(response["headers"].get("ETag").is_some());
}

/// Compiles a named schema of the document as JSON Schema.
fn json_schema(document: &Value, name: &str) -> jsonschema::Validator {
    validator(document, &json!({"$ref": format!("#/components/schemas/{name}")}))
}

/// Compiles a schema of the document as JSON Schema, after converting `nullable`, which JSON Schema does not
/// have.
fn validator(document: &Value, schema: &Value) -> jsonschema::Validator {
    fn expand_nullable(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.values_mut().for_each(expand_nullable);
                if fields.remove("nullable") == Some(json!(true)) {
                    fields["type"] = json!([fields["type"], "null"]);
                }
            }
            Value::Array(elements) => elements.iter_mut().for_each(expand_nullable),
            _ => {}
        }
    }
    let mut schema = json!({"components": document["components"], "allOf": [schema]});
    expand_nullable(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn error_examples_match_their_schemas() {
    let document = test_document();
    for (name, response) in document["components"]["responses"].as_object().unwrap() {
        let content = &response["content"]["application/json"];
        let schema = content["schema"]["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        let errors = json_schema(&document, schema)
            .iter_errors(&content["example"])
            .map(|error| error.to_string())
            .collect::<Vec<_>>();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    let thing = Thing {
        id: Uuid::nil(),
        first: None,
        parts: vec![Part { number: 1 }],
        role: Some(EnumValue(Role::Buyer)),
        note: None,
        is_old: false,
        counts: BTreeMap::from([("a".to_owned(), 1)]),
    };
    let mut value = json!(thing);
    let schema = json_schema(&document, "Thing");
    assert!(schema.is_valid(&value));
    value["more"] = json!(1);
    assert!(!schema.is_valid(&value));
}

#[test]
fn request_examples_match_their_schemas() {
    for api in crate::rest::APIS {
        let mut document = crate::rest::documents::openapi_document(
            api,
            "http://market.test",
            &crate::config::ContactSettings::default(),
        );
        let full_document = document.clone();
        for operation in operations(&mut document) {
            let parameters = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
            let body = operation.get("requestBody").map(|body| &body["content"]["application/json"]);
            for input in parameters.chain(body) {
                let Some(example) = input.get("example") else { continue };
                let schema = validator(&full_document, &input["schema"]);
                let errors: Vec<String> =
                    schema.iter_errors(example).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{} {}: {errors:?}", operation["operationId"], input["name"]);
            }
        }
    }
}

#[test]
fn contact_is_what_the_settings_say() {
    let mut document = test_document();
    set_contact(&mut document, &ContactSettings::default());
    assert_eq!(document["info"].get("contact"), None, "a contact that nobody stated");
    let contact = ContactSettings {
        name: "Market desk".to_owned(),
        url: "https://market.example/help".to_owned(),
        email: String::new(),
    };
    set_contact(&mut document, &contact);
    let expected = json!({"name": "Market desk", "url": "https://market.example/help"});
    assert_eq!(document["info"]["contact"], expected);
}
