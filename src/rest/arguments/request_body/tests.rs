mod several_problems;

use std::collections::BTreeMap;

use poem_openapi::{Object, types::MaybeUndefined};
use proptest::prelude::*;
use serde_json::json;

use serde_json::Value;

use super::*;
use crate::{
    domain::{assets::Exclusivity, changes::Change},
    error::MAX_PROBLEMS,
    request_problems::ProblemsExt,
    rest::{
        arguments::request_body::receive::is_json,
        shapes::{
            CalendarDay, RequestTime,
            strings::{Dollars, Title},
        },
    },
    web::enum_value::EnumValue,
};

#[derive(Debug, Object)]
struct Part {
    id: MaybeInvalid<uuid::Uuid>,
    note: Option<Title>,
}

#[derive(Debug, Object)]
struct Columns {
    #[oai(default, validator(max_properties = 3))]
    columns: BTreeMap<String, Value>,
}

#[derive(Debug, Object)]
struct Sample {
    title: MaybeInvalid<Title>,
    exclusivity: MaybeInvalid<EnumValue<Exclusivity>>,
    #[oai(validator(minimum(value = "0"), maximum(value = "9")))]
    count: MaybeUndefined<i64>,
    price: MaybeUndefined<Dollars>,
    day: MaybeUndefined<CalendarDay>,
    at: MaybeUndefined<RequestTime>,
    is_new: Option<bool>,
    #[oai(validator(max_items = 2))]
    tags: Omittable<Vec<MaybeInvalid<Title>>>,
    #[oai(default)]
    parts: Vec<MaybeInvalid<Part>>,
}

fn problems_of(body: &Value) -> Vec<String> {
    problems_of_text(&body.to_string())
}

/// Parses a body without an operation. Also returns the memory that values of any shape take.
fn parse<T: Type + ParseFromJSON + 'static>(text: &[u8]) -> Result<(T, usize)> {
    let rule = cached_rule::<T>();
    let (Body { value, source }, memory) = parse_body::<T>(Bytes::copy_from_slice(text), &rule.rule)?;
    let mut problems = source.problems;
    order::sort_problems(&source.bytes, &mut problems);
    Problems::from(problems).into_result().map(|()| (value, memory))
}

fn parse_sample(text: &[u8]) -> Result<Sample> {
    parse(text).map(|(sample, _)| sample)
}

fn problems_of_text(text: &str) -> Vec<String> {
    let Err(Error::Invalid(problems)) = parse_sample(text.as_bytes()) else { return Vec::new() };
    let reported = problems.iter().map(|problem| {
        assert!(problem.msg.ends_with(['.', '?']), "{}", problem.msg);
        format!("{} {}", json!(problem.loc), problem.kind)
    });
    reported.collect()
}

#[test]
fn all_problems_are_reported_with_location_in_the_order_of_the_body() {
    let body = r#"{
        "titel": 1, "tags": ["a", "b", "c"], "exclusivity": "perhaps", "count": 10, "price": 0.001,
        "day": "2026-02-30", "is_new": "yes",
        "parts": [{"note": "line\nbreak", "id": "x"}, 7, {"x": 1, "note": null}]
    }"#;
    assert_eq!(
        problems_of_text(body),
        [
            r#"["body","title"] missing"#,
            r#"["body","titel"] extra_forbidden"#,
            r#"["body","tags"] too_long"#,
            r#"["body","exclusivity"] enum"#,
            r#"["body","count"] less_than_equal"#,
            r#"["body","price"] multiple_of"#,
            r#"["body","day"] date_parsing"#,
            r#"["body","is_new"] bool_type"#,
            r#"["body","parts",0,"note"] string_pattern_mismatch"#,
            r#"["body","parts",0,"id"] uuid_parsing"#,
            r#"["body","parts",1] dict_type"#,
            r#"["body","parts",2,"id"] missing"#,
            r#"["body","parts",2,"x"] extra_forbidden"#,
        ]
    );
    assert_eq!(problems_of(&json!([])), [r#"["body"] dict_type"#]);
    assert_eq!(
        problems_of(&json!({"title": "a", "exclusivity": "available", "tags": null, "parts": null})).len(),
        2
    );
}

#[test]
fn times_are_checked_beyond_their_pattern() {
    let problems = |at: &str| problems_of(&json!({"title": "a", "exclusivity": "available", "at": at}));
    for at in ["2026-02-28T23:59:59Z", "2026-02-28t23:59:59.123456789+05:30", "0001-01-01T00:00:00z"] {
        assert!(problems(at).is_empty(), "{at}");
    }
    for at in [
        "0000-00-00T00:00:00Z",
        "0000-12-31T23:59:59Z",
        "2026-02-30T00:00:00Z",
        "2026-02-28T24:00:00Z",
        "2026-02-28T00:00:00",
        "2026-02-28T00:00:00.1234567890Z",
        "9999-12-31T23:59:59-01:00",
        "2026-02-28",
    ] {
        assert_eq!(problems(at), [r#"["body","at"] datetime_parsing"#], "{at}");
    }
    let number = json!({"title": "a", "exclusivity": "available", "at": 7});
    assert_eq!(problems_of(&number), [r#"["body","at"] string_type"#]);
}

#[test]
fn valid_parts_of_an_invalid_body_are_kept() {
    let rule = cached_rule::<Sample>();
    let id = uuid::Uuid::from_u128(7);
    let text = format!(
        r#"{{"title": "a", "x": 1, "count": "7", "is_new": true, "tags": ["a", 7],
            "parts": [{{"id": 7}}, 7, {{"id": "{id}", "note": ""}}]}}"#
    );
    let (body, _) = parse_body::<Sample>(text.into(), &rule.rule).unwrap();
    let Body { value, source } = body;
    assert_eq!(source.problems().len(), 7);
    assert_eq!((value.title.0.unwrap().0.as_str(), value.is_new), ("a", Some(true)));
    assert!(value.exclusivity.0.is_none() && value.count.is_undefined());
    let tags: Vec<Option<String>> = checked_texts(value.tags.0.unwrap());
    assert_eq!(tags, [Some("a".to_owned()), None]);
    let ids: Vec<_> = value.parts.into_iter().map(|part| part.0.map(|part| part.id.0)).collect();
    assert_eq!(ids, [Some(None), None, Some(Some(id))]);
}

#[test]
fn omitted_null_and_value_are_distinguished() {
    let read = |count: Value| {
        let mut body = json!({"title": "a", "exclusivity": "available"});
        if count != json!("absent") {
            body["count"] = count;
        }
        into_change(parse_sample(body.to_string().as_bytes()).unwrap().count)
    };
    assert_eq!(read(json!("absent")), Change::Unchanged);
    assert_eq!(read(json!(null)), Change::Clear);
    assert_eq!(read(json!(7)), Change::Set(7));
    // In JSON Schema, a number without a fraction is an integer.
    assert_eq!(read(json!(7.0)), Change::Set(7));
}

#[test]
fn length_is_counted_in_characters() {
    for (title, is_valid) in [
        ("ä".repeat(200), true),
        ("ä".repeat(201), false),
        (String::new(), false),
        (" \u{2003}".to_owned(), false),
        ("tab\there".to_owned(), false),
        ("bell\u{7}".to_owned(), false),
        ("c1 \u{85}".to_owned(), false),
        ("right\u{202e}left".to_owned(), false),
        (" ok".to_owned(), true),
    ] {
        let body = json!({"title": title, "exclusivity": "available"});
        assert_eq!(problems_of(&body).is_empty(), is_valid, "{title:?}");
    }
}

#[test]
fn invalid_json_is_malformed() {
    for bytes in [&b""[..], b"{", b"{\"title\": \xff}", b"nul", b"{} {}"] {
        assert!(matches!(parse_sample(bytes), Err(Error::Malformed(_))), "{bytes:?}");
    }
    assert!(is_json("application/json") && is_json("Application/JSON; charset=utf-8"));
    assert!(!is_json("") && !is_json("text/json") && !is_json("application/jsonx"));
}

#[test]
fn name_that_is_sent_twice_is_reported() {
    let fields = r#""title": "a", "exclusivity": "available""#;
    assert_eq!(
        problems_of_text(&format!(r#"{{{fields}, "parts": [{{"id": 1, "\u0069d": 2}}], "title": "b"}}"#)),
        [
            r#"["body","title"] duplicate_key"#,
            r#"["body","parts",0,"id"] string_type"#,
            r#"["body","parts",0,"id"] duplicate_key"#
        ]
    );
    for (columns, expected) in [
        (r#"{"a": 1, "a": 1}"#, r#"["body","columns","a"]"#),
        (r#"{"a": [1, {"b": 1, "c": 2, "b": null}]}"#, r#"["body","columns","a",1,"b"]"#),
    ] {
        let problems = parse_columns(&format!(r#"{{"columns": {columns}}}"#)).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(
            (json!(problems[0].loc).to_string().as_str(), problems[0].kind),
            (expected, "duplicate_key")
        );
    }
}

fn parse_columns(text: &str) -> std::result::Result<BTreeMap<String, Value>, Vec<Problem>> {
    match parse::<Columns>(text.as_bytes()) {
        Ok((body, _)) => Ok(body.columns),
        Err(Error::Invalid(problems)) => Err(problems),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn first_hundred_problems_of_the_body_are_reported() {
    let names: Vec<String> = (0..1_000_000).map(|number| format!("\"{}\":0,", number % 10)).collect();
    let names = names.concat();
    let problems = problems_of_text(&format!(r#"{{{names}"title":7}}"#));
    assert_eq!(problems.len(), MAX_PROBLEMS);
    assert_eq!(problems[0], r#"["body","exclusivity"] missing"#);
    assert_eq!(problems[99], r#"["body","9"] extra_forbidden"#);
    // The syntax is checked to the end.
    assert!(matches!(parse_sample(format!("{{{names}").as_bytes()), Err(Error::Malformed(_))));
    let parts = format!(r#"{{"parts":[{}{{}}]}}"#, "{},".repeat(1_000_000));
    let problems = problems_of_text(&parts);
    assert_eq!(problems[1], r#"["body","exclusivity"] missing"#);
    assert_eq!((problems.len(), problems[99].as_str()), (100, r#"["body","parts",97,"id"] missing"#));
}

#[test]
fn long_names_are_not_repeated() {
    let name = "x".repeat(1 << 20);
    for text in [
        format!(r#"{{"{name}": 1}}"#),
        format!(r#"{{"title": "a", "exclusivity": "{name}", "parts": [{{"{name}": 1}}]}}"#),
    ] {
        let Err(error) = parse_sample(text.as_bytes()) else { panic!("the name is unknown") };
        let response = crate::web::problem::error_body(&error, "r");
        assert!(response.len() < 2_000, "{}", response.len());
    }
    let problems = parse_columns(&format!(r#"{{"columns": {{"{name}": {{"{name}": 1, "{name}": 2}}}}}}"#));
    assert!(json!(problems.unwrap_err()).to_string().len() < 2_000);
}

#[test]
fn values_of_any_shape_are_limited_by_their_memory() {
    for (columns, is_valid) in [
        (r#""a": [1, 2, {"b": null}]"#.to_owned(), true),
        (format!(r#""a": [{}0]"#, "0,".repeat(20_000)), true),
        (format!(r#""a": [{}0]"#, "0,".repeat(1_000_000)), false),
        (format!(r#""a": [{}0]"#, "{},".repeat(1_000_000)), false),
        (
            format!(
                r#""a": {{{}"z": 0}}"#,
                (0..500_000).map(|n| format!("\"{n}\":0,")).collect::<Vec<_>>().concat()
            ),
            false,
        ),
        (format!(r#""a": 1, "b": 2, "c": [{}0], "c": [{{"a": 1}}]"#, "[[]],".repeat(500_000)), false),
        (format!(r#""a": 0, "b": 0, "c": 0, "d": [{}0], "e": 0"#, "0,".repeat(500_000)), false),
    ] {
        let found = parse_columns(&format!(r#"{{"columns": {{{columns}}}}}"#));
        assert_eq!(found.is_ok(), is_valid, "{columns:.60}");
        let problems = found.err().unwrap_or_default();
        assert!(problems.len() <= 2 && problems.iter().all(|problem| problem.loc.len() <= 5), "{problems:?}");
    }
}

#[test]
fn memory_of_values_of_any_shape_is_known() {
    let memory = |text: String| parse::<Columns>(text.as_bytes()).unwrap().1;
    assert_eq!(memory(r#"{"columns": {}}"#.to_owned()), 0);
    let numbers = format!(r#"{{"columns": {{"a": [{}0]}}}}"#, "0,".repeat(20_000));
    assert!(memory(numbers) > 20_000 * size_of::<Value>());
}

#[test]
fn deep_nesting_is_malformed_everywhere() {
    for opening in ["[", "{\"a\":", "{\"columns\":{\"a\":", "{\"title\":[", "{\"parts\":[{\"x\":"] {
        let text = opening.repeat(200_000 / opening.len());
        assert!(matches!(parse_sample(text.as_bytes()), Err(Error::Malformed(_))), "{opening}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "title",
        "exclusivity",
        "count",
        "tags",
        "parts",
        "id",
        "note",
        "x",
        "columns",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-20_i64..20).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec!["a", "available", "", "\u{1}", "é"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..6)
                .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn accepted_values_are_kept_unchanged(value in any_json()) {
        let text = json!({"columns": {"a": value}}).to_string();
        prop_assert_eq!(parse_columns(&text).unwrap().remove("a"), Some(value));
    }

    #[test]
    fn any_json_is_parsed_or_rejected_with_problems(value in any_json()) {
        match parse_sample(value.to_string().as_bytes()) {
            Ok(_) => {}
            Err(Error::Invalid(problems)) => prop_assert!(!problems.is_empty() && problems.len() <= 100),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn any_bytes_are_handled(bytes in prop::collection::vec(prop::sample::select(br#"{}[]":,0-.e\u"#.to_vec()), 0..80)) {
        let _ = parse_sample(&bytes);
    }
}
