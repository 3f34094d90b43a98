//! The questions about the demo market.

use std::collections::BTreeSet;

use marketplace::gym::{Kind, Question};
use serde_json::{Value, json};

use super::{demo_gym, usual_gym};

/// Returns an answer that differs from a right one in one place.
fn wrong(answer: &Value) -> Value {
    match answer {
        Value::Bool(is_so) => json!(!is_so),
        Value::Number(number) => json!(number.as_f64().unwrap() + 1.0),
        Value::String(text) if text == "unknown" => json!("42"),
        Value::String(text) if text == "yes" => json!("no"),
        Value::String(text) if text == "no" => json!("yes"),
        Value::String(text) => match text.char_indices().find(|(_, c)| c.is_ascii_digit()) {
            Some((at, digit)) => {
                let other = if digit == '7' { '3' } else { '7' };
                json!(format!("{}{other}{}", &text[..at], &text[at + 1..]))
            }
            None => json!(format!("x{}", &text[1..])),
        },
        Value::Array(items) if items.is_empty() => json!(["3e2d79e2-8302-51d1-83d5-f1aba5d6d91d"]),
        Value::Array(items) => Value::Array(items[1..].to_vec()),
        Value::Object(fields) => {
            let mut fields = fields.clone();
            let last = fields.keys().next_back().unwrap().clone();
            let value = wrong(&fields[&last]);
            fields.insert(last, value);
            Value::Object(fields)
        }
        Value::Null => json!(0),
    }
}

fn lines(questions: &[Question]) -> Vec<Value> {
    questions.iter().map(|question| question.to_json(true)).collect()
}

#[test]
fn demo_has_enough_questions_of_each_kind() {
    let opened = usual_gym();
    let questions = opened.gym.questions();
    assert!(questions.len() >= 40, "{} questions", questions.len());
    assert!(opened.gym.omitted().is_empty(), "{:?}", opened.gym.omitted());
    for (kind, least) in [
        (Kind::Buyer, 11),
        (Kind::Vendor, 9),
        (Kind::Both, 4),
        (Kind::Unanswerable, 5),
        (Kind::Injection, 5),
        (Kind::Hidden, 4),
        (Kind::Long, 4),
        (Kind::Money, 6),
    ] {
        let count = questions.iter().filter(|question| question.kind == kind).count();
        assert!(count >= least, "{count} of {kind:?}");
    }
    assert_eq!(questions.iter().filter(|question| question.core).count(), 20);
    let ids: BTreeSet<&str> = questions.iter().map(|question| question.id.as_str()).collect();
    assert_eq!(ids.len(), questions.len());
    let asked: BTreeSet<(&str, &str)> =
        questions.iter().map(|question| (question.team.as_str(), question.text.as_str())).collect();
    assert_eq!(asked.len(), questions.len());
}

#[test]
fn right_answers_are_accepted_and_wrong_ones_refused() {
    for question in usual_gym().gym.questions() {
        let right = question.expected.to_json();
        assert!(question.accepts(&right), "{} {right}", question.name);
        let wrong = wrong(&right);
        assert!(!question.accepts(&wrong), "{} {wrong}", question.name);
        let is_unanswerable = question.kind == Kind::Unanswerable;
        assert_eq!(question.accepts(&json!("unknown")), is_unanswerable, "{}", question.name);
        assert!(question.expected.format().contains("unknown"), "no format tells what is unanswerable");
    }
}

#[test]
fn same_seed_asks_the_same() {
    let first = lines(usual_gym().gym.questions());
    assert_eq!(first, lines(usual_gym().gym.questions()));
    let other = lines(demo_gym(2).gym.questions());
    let differing = first.iter().zip(&other).filter(|(first, other)| first != other).count();
    assert!(differing >= 10, "{differing} differ");
}

#[test]
fn agents_learn_neither_answers_nor_kinds() {
    let opened = usual_gym();
    for question in opened.gym.questions() {
        let line = opened.gym.line_for_agents(question);
        let names: BTreeSet<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = ["answer_format", "endpoint", "id", "key", "question", "role", "team"];
        assert_eq!(names, expected.into());
        assert!(question.to_json(false).get("expected").is_none());
        for canary in &opened.gym.planted().canaries {
            assert!(!line.to_string().contains(&canary.token), "{}", question.name);
        }
    }
}
