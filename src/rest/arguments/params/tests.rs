//! Parsing of valid and invalid queries, with a struct that has a field of each type.

use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::{domain::teams::Role, web::enum_value::EnumValue};

#[derive(Debug, Object)]
struct Sample {
    #[oai(default, validator(max_length = 5))]
    tags: Vec<String>,
    #[oai(default, validator(max_items = 2))]
    ids: Vec<Uuid>,
    owned: Option<bool>,
    /// Page size.
    #[oai(default = "default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    offset: Option<i32>,
    count: Option<i64>,
    #[oai(validator(minimum(value = "0")))]
    price: Option<f64>,
    #[oai(default = "buyer")]
    role: EnumValue<Role>,
    #[oai(default)]
    roles: Vec<EnumValue<Role>>,
    #[oai(validator(pattern = "^[a-z]+$", min_length = 2))]
    slug: Option<String>,
}

#[derive(Debug, Object)]
struct RequiredFields {
    asset_id: Vec<Uuid>,
    channel: String,
}

fn default_limit() -> u32 {
    24
}

fn buyer() -> EnumValue<Role> {
    EnumValue(Role::Buyer)
}

const ID: &str = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";

#[test]
fn values_are_parsed_by_their_schema() {
    let query = format!(
        "tags=a&tags=b%20c&tags=&owned=1&limit=100&offset=-2147483648&count=9223372036854775807&price=0.5\
         &role=vendor&ids={ID}&roles=buyer&roles=vendor&slug=ab"
    );
    let sample: Sample = parse_query(&query).unwrap();
    assert_eq!(sample.tags, ["a", "b c", ""]);
    assert_eq!((sample.owned, sample.limit), (Some(true), 100));
    assert_eq!((sample.offset, sample.count), (Some(i32::MIN), Some(i64::MAX)));
    assert_eq!(sample.price, Some(0.5));
    assert_eq!((sample.role, sample.roles.len()), (EnumValue(Role::Vendor), 2));
    assert_eq!(sample.ids[0].to_string(), ID);
    let defaults: Sample = parse_query("").unwrap();
    assert_eq!((defaults.limit, defaults.role), (24, EnumValue(Role::Buyer)));
    assert!(defaults.tags.is_empty() && defaults.owned.is_none() && defaults.slug.is_none());
}

#[test]
fn invalid_values_are_reported_with_type_and_message() {
    for (query, expected) in [
        ("limit=0", "greater_than_equal `limit` must be at least 1."),
        ("limit=101", "less_than_equal `limit` must be at most 100."),
        ("limit=-1", "greater_than_equal `limit` must be at least 1."),
        ("limit=99999999999999999999999999999999999999999", "less_than_equal `limit` must be at most 100."),
        ("limit=1.0", "int_parsing `limit` must be an integer."),
        ("limit=", "int_parsing `limit` must be an integer."),
        ("limit=-", "int_parsing `limit` must be an integer."),
        ("limit=%2B1", "int_parsing `limit` must be an integer."),
        ("limit=1e1", "int_parsing `limit` must be an integer."),
        ("limit=%D9%A1", "int_parsing `limit` must be an integer."),
        ("offset=2147483648", "less_than_equal `offset` must be at most 2147483647."),
        ("count=9223372036854775808", "less_than_equal `count` must be at most 9223372036854775807."),
        ("count=-9223372036854775809", "greater_than_equal `count` must be at least -9223372036854775808."),
        ("price=NaN", "float_parsing `price` must be a number."),
        ("price=inf", "float_parsing `price` must be a number."),
        ("price=1e999", "float_parsing `price` must be a number."),
        ("price=", "float_parsing `price` must be a number."),
        ("price=-0.01", "greater_than_equal `price` must be at least 0."),
        ("owned=yes", "bool_parsing `owned` must be true or false."),
        ("owned=", "bool_parsing `owned` must be true or false."),
        ("ids=12", "uuid_parsing `ids` must be a UUID."),
        ("role=seller", "enum `role` must be one of vendor, buyer."),
        ("role=", "enum `role` must be one of vendor, buyer."),
        ("roles=Vendor", "enum `roles` must be one of vendor, buyer."),
        ("limit=3&limit=4", "repeated `limit` must be sent only once."),
        ("limit=3&limit=x&limit=5", "repeated `limit` must be sent only once."),
        ("tags=abcdef", "string_too_long `tags` must have at most 5 characters."),
        ("slug=a", "string_too_short `slug` must have a length of at least 2."),
        ("limt=3&limt=4", "extra_forbidden Unknown parameter `limt`; did you mean `limit`?"),
    ] {
        let problems = parse_query::<Sample>(query).unwrap_err();
        let reported: Vec<String> =
            problems.iter().map(|problem| format!("{} {}", problem.kind, problem.msg)).collect();
        assert_eq!(reported, [expected], "{query}");
    }
    assert_eq!(parse_query::<Sample>("slug=A1").unwrap_err()[0].kind, "string_pattern_mismatch");
    let ids = format!("ids={ID}&ids={ID}&ids={ID}");
    assert_eq!(parse_query::<Sample>(&ids).unwrap_err()[0].kind, "too_long");
}

#[test]
fn truth_values_are_accepted_in_any_case() {
    for (text, value) in
        [("true", true), ("True", true), ("TRUE", true), ("1", true), ("False", false), ("fAlSe", false)]
    {
        let sample = parse_query::<Sample>(&format!("owned={text}")).unwrap();
        assert_eq!(sample.owned, Some(value), "{text}");
    }
}

#[test]
fn all_problems_are_reported_with_location() {
    let problems = parse_query::<Sample>(&format!("limit=0&ids={ID}&price=x&ids=1&zzz=1")).unwrap_err();
    let locations: Vec<Value> = problems.iter().map(|problem| json!(problem.loc)).collect();
    let expected = [
        json!(["query", "limit"]),
        json!(["query", "price"]),
        json!(["query", "ids", 1]),
        json!(["query", "zzz"]),
    ];
    assert_eq!(locations, expected);
    let missing = parse_query::<RequiredFields>("").unwrap_err();
    assert!(missing.len() == 2 && missing.iter().all(|problem| problem.kind == "missing"));
    assert!(parse_query::<RequiredFields>(&format!("asset_id={ID}&channel=")).is_ok());
}

#[test]
fn problems_of_a_long_invalid_query_are_capped() {
    let nonsense: Vec<String> = (0..10_000).map(|number| number.to_string() + &"x".repeat(1000)).collect();
    let problems = parse_query::<Sample>(&nonsense.join("=&")).unwrap_err();
    assert_eq!(problems.len(), MAX_PROBLEMS);
    assert!(problems[0].msg.len() < 300);
    let problems_of_empty = parse_query::<NoParams>("a=1").unwrap_err();
    assert_eq!(problems_of_empty[0].msg, "Unknown parameter `a`. No parameters are accepted here.");
}

proptest! {
    #[test]
    fn arbitrary_query_does_not_panic(query in "[ -~]{0,80}", value in "[%0-9a-fA-F+.-]{0,12}") {
        let _ = parse_query::<Sample>(&query);
        for name in ["tags", "ids", "owned", "limit", "offset", "count", "price", "role", "slug"] {
            let _ = parse_query::<Sample>(&format!("{name}={value}"));
        }
    }

    #[test]
    fn integers_are_parsed_as_in_rust(number: i128) {
        for number in [number, number >> 64, number >> 96] {
            let read = parse_query::<Sample>(&format!("count={number}&offset={number}"));
            let fits = i64::try_from(number).is_ok() && i32::try_from(number).is_ok();
            prop_assert_eq!(read.is_ok(), fits);
        }
    }
}
