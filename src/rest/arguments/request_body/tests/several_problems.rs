//! Tests that no problem with a body hides another.

use super::*;
use crate::{
    domain::teams::TeamRowId,
    market::CostMeter,
    web::shares::transfer_limits::{RequestTransfers, tests::with_memory},
};

#[derive(Debug, Object)]
struct Batch {
    #[oai(validator(min_items = 1, max_items = 150))]
    rows: MaybeInvalid<Vec<MaybeInvalid<Title>>>,
}

fn problems_in<T: Type + ParseFromJSON + 'static>(body: &str) -> Vec<String> {
    let Err(Error::Invalid(problems)) = parse::<T>(body.as_bytes()) else { panic!("{body:.60} is valid") };
    problems.iter().map(|problem| format!("{} {}", json!(problem.loc), problem.kind)).collect()
}

#[test]
fn array_that_is_too_long_is_reported_with_the_problems_of_its_elements() {
    let tags = r#"{"title": "a", "exclusivity": "available", "tags": [7, "", "c", 8]}"#;
    assert_eq!(
        problems_of_text(tags),
        [
            r#"["body","tags"] too_long"#,
            r#"["body","tags",0] string_type"#,
            r#"["body","tags",1] string_too_short"#
        ]
    );
    // The operation checks the elements within the limit.
    let rows = |row: &str, count| format!(r#"{{"rows": [{}]}}"#, vec![row; count].join(","));
    let rule = cached_rule::<Batch>();
    let (body, _) = parse_body::<Batch>(rows("\"a\"", 151).into(), &rule.rule).unwrap();
    assert_eq!((body.value.rows.0.unwrap().len(), body.source.problems().len()), (150, 1));
    // The problem of the array comes first, however many there are with its elements.
    for count in [151, 10_000] {
        let problems = problems_in::<Batch>(&rows("7", count));
        assert_eq!((problems.len(), problems[0].as_str()), (100, r#"["body","rows"] too_long"#), "{count}");
        assert_eq!(problems[99], r#"["body","rows",98] string_type"#);
    }
    assert_eq!(problems_in::<Batch>(&rows("7", 150))[0], r#"["body","rows",0] string_type"#);
    assert_eq!(problems_in::<Batch>(r#"{"rows": []}"#), [r#"["body","rows"] too_short"#]);
}

#[test]
fn everything_that_is_wrong_with_a_value_is_reported() {
    let long = "x".repeat(200);
    for (field, value, kinds) in [
        ("title", json!(format!("{long}\n")), &["string_too_long", "string_pattern_mismatch"][..]),
        ("title", json!(format!("{long}x")), &["string_too_long"]),
        ("title", json!(""), &["string_too_short"]),
        ("price", json!(-0.001), &["greater_than_equal", "multiple_of"]),
        ("price", json!(-0.01), &["greater_than_equal"]),
        ("price", json!(1e300), &["less_than_equal"]),
        ("price", json!(0.001), &["multiple_of"]),
    ] {
        let mut body = json!({"title": "a", "exclusivity": "available"});
        body[field] = value;
        let expected: Vec<String> =
            kinds.iter().map(|kind| format!(r#"["body","{field}"] {kind}"#)).collect();
        assert_eq!(problems_of(&body), expected, "{body}");
    }
}

#[test]
fn object_with_too_many_entries_is_reported_with_the_problems_of_its_entries() {
    let first = r#""a": {"x": 1, "x": 2}"#;
    assert_eq!(
        problems_in::<Columns>(&format!(
            r#"{{"columns": {{{first}, "b": 1, "c": 1, "d": {{"x": 1, "x": 2}}}}}}"#
        )),
        [r#"["body","columns"] too_long"#, r#"["body","columns","a","x"] duplicate_key"#]
    );
    let many = format!(
        r#"{{"columns": {{"a": {{"x": 1{}}}, "b": 1, "a": 1, "c": 1, "d": 1}}}}"#,
        r#", "x": 1"#.repeat(200)
    );
    let problems = problems_in::<Columns>(&many);
    assert_eq!((problems.len(), problems[0].as_str()), (100, r#"["body","columns"] too_long"#));
}

#[tokio::test(start_paused = true)]
async fn large_bodies_are_read_again_in_turns() {
    let (_clock, transfers) = with_memory(1);
    let of_team = RequestTransfers::for_team(&transfers, TeamRowId(1), CostMeter::default());
    let source = |bytes: usize| BodySource {
        bytes: vec![b' '; bytes].into(),
        digest: [0; 32],
        problems: Vec::new(),
        transfers: Some(of_team.clone()),
    };
    let (large, small) = (source(BLOCKING_BYTES), source(BLOCKING_BYTES - 1));
    let taken = [transfers.take_heavy_permit(), transfers.take_heavy_permit()];
    assert!(small.heavy_work().await.unwrap().is_none());
    let waited = tokio::time::timeout(std::time::Duration::from_secs(1), large.heavy_work()).await;
    assert!(waited.is_err(), "all permits are taken");
    drop(taken);
    assert!(large.heavy_work().await.unwrap().is_some());
}
