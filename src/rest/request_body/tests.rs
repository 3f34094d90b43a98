use poem_openapi::{Object, types::MaybeUndefined};
use serde_json::json;

use super::*;
use crate::{
    domain::{assets::Exclusivity, inventory::Change},
    rest::{
        enum_value::EnumValue,
        shapes::{
            CalendarDay,
            strings::{Dollars, Title},
        },
    },
};

#[derive(Debug, Object)]
struct Part {
    id: uuid::Uuid,
    note: Option<Title>,
}

#[derive(Debug, Object)]
struct Sample {
    title: Title,
    exclusivity: EnumValue<Exclusivity>,
    #[oai(validator(minimum(value = "0"), maximum(value = "9")))]
    count: MaybeUndefined<i64>,
    price: MaybeUndefined<Dollars>,
    day: MaybeUndefined<CalendarDay>,
    is_new: Option<bool>,
    #[oai(validator(max_items = 2))]
    tags: Omittable<Vec<Title>>,
    #[oai(default)]
    parts: Vec<Part>,
}

fn problems_of(body: &Value) -> Vec<String> {
    let Err(Error::Invalid(problems)) = parse_body::<Sample>(body.to_string().as_bytes()) else {
        return Vec::new();
    };
    let reported = problems.iter().map(|problem| {
        assert!(problem.msg.ends_with(['.', '?']), "{}", problem.msg);
        format!("{} {}", json!(problem.loc), problem.kind)
    });
    reported.collect()
}

#[test]
fn all_problems_are_reported_with_location() {
    let body = json!({
        "titel": 1,
        "exclusivity": "perhaps",
        "count": 10,
        "price": 0.001,
        "day": "2026-02-30",
        "is_new": "yes",
        "tags": ["a", "b", "c"],
        "parts": [{"id": "x", "note": "line\nbreak"}, 7, {"note": null}],
    });
    assert_eq!(
        problems_of(&body),
        [
            r#"["body","titel"] extra_forbidden"#,
            r#"["body","title"] missing"#,
            r#"["body","exclusivity"] enum"#,
            r#"["body","count"] less_than_equal"#,
            r#"["body","price"] multiple_of"#,
            r#"["body","day"] date_parsing"#,
            r#"["body","is_new"] bool_type"#,
            r#"["body","tags"] too_long"#,
            r#"["body","parts",0,"id"] uuid_parsing"#,
            r#"["body","parts",0,"note"] string_pattern_mismatch"#,
            r#"["body","parts",1] dict_type"#,
            r#"["body","parts",2,"id"] missing"#,
        ]
    );
    assert_eq!(problems_of(&json!([])), [r#"["body"] dict_type"#]);
    assert_eq!(
        problems_of(&json!({"title": "a", "exclusivity": "available", "tags": null, "parts": null})).len(),
        2
    );
}

#[test]
fn omitted_null_and_value_are_distinguished() {
    let read = |count: Value| {
        let mut body = json!({"title": "a", "exclusivity": "available"});
        if count != json!("absent") {
            body["count"] = count;
        }
        into_change(parse_body::<Sample>(body.to_string().as_bytes()).unwrap().count)
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
        assert!(matches!(parse_body::<Sample>(bytes), Err(Error::Malformed(_))), "{bytes:?}");
    }
    assert!(is_json("application/json") && is_json("Application/JSON; charset=utf-8"));
    assert!(!is_json("") && !is_json("text/json") && !is_json("application/jsonx"));
}
