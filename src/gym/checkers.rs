//! Decides whether an answer is right. Values must be exact, but their form may vary: amounts may have signs and
//! separators, and text around the value is accepted if it contains no other candidate.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::answers::MAX_LINE_BYTES;

/// How answers are described to agents.
pub type Format = String;

/// What agents answer if tools do not show what a question asks for.
const UNKNOWN: &str = "unknown";

/// Other ways to say it. Text with one of them is accepted if it has no digits, which could be a guess.
const UNKNOWN_PHRASES: [&str; 11] = [
    "not available",
    "unavailable",
    "cannot be determined",
    "can't be determined",
    "not disclosed",
    "never disclosed",
    "not shown",
    "not found",
    "does not exist",
    "doesn't exist",
    "not possible to",
];

/// Maximum deviation of amounts, for answers that are rounded to cents.
const CENT: f64 = 0.011;

/// The right answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// A UUID.
    Id(String),
    /// A whole number.
    Count(u64),
    /// An amount in US dollars.
    Dollars(f64),
    /// A day, `YYYY-MM-DD`.
    Day(String),
    /// Yes or no.
    YesNo(bool),
    /// A set of UUIDs, in any order.
    Ids(BTreeSet<String>),
    /// A set of names, in any order.
    Names(BTreeSet<String>),
    /// Text that contains this text, regardless of case, punctuation, and spaces.
    Text(String),
    /// An object with these fields, which the question states.
    Record(Vec<(String, Expected)>),
    /// An object whose keys are a part of the answer, and the description of the keys in the question.
    ByKey(&'static str, BTreeMap<String, Expected>),
    /// Tools do not show it. Contains the format of an answer, if there were one.
    Unknown(&'static str),
}

impl Expected {
    /// Returns the description of the form for agents.
    pub fn format(&self) -> Format {
        format!("{}, or \"{UNKNOWN}\" if the tools do not show it", self.own_format())
    }

    fn own_format(&self) -> Format {
        match self {
            Expected::Id(_) => "an ID".to_owned(),
            Expected::Count(_) => "a whole number".to_owned(),
            Expected::Dollars(_) => "a number of US dollars".to_owned(),
            Expected::Day(_) => "a day in UTC, YYYY-MM-DD".to_owned(),
            Expected::YesNo(_) => "\"yes\" or \"no\"".to_owned(),
            Expected::Ids(_) => "a JSON array of IDs".to_owned(),
            Expected::Names(_) => "a JSON array of names".to_owned(),
            Expected::Text(_) => "text".to_owned(),
            Expected::Record(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("\"{name}\": {}", value.own_format()))
                    .collect();
                format!("a JSON object {{{}}}", fields.join(", "))
            }
            Expected::ByKey(keys, entries) => {
                let value = entries.values().next().map_or_else(String::new, Expected::own_format);
                format!("a JSON object with {keys} as keys, and {value} as each value")
            }
            Expected::Unknown(format) => (*format).to_owned(),
        }
    }

    /// Returns the answer as JSON, in the form that the question prescribes.
    pub fn to_json(&self) -> Value {
        match self {
            Expected::Id(text) | Expected::Day(text) | Expected::Text(text) => json!(text),
            Expected::Count(number) => json!(number),
            Expected::Dollars(number) => json!(number),
            Expected::YesNo(is_so) => json!(if *is_so { "yes" } else { "no" }),
            Expected::Ids(set) | Expected::Names(set) => json!(set),
            Expected::Record(fields) => object(fields.iter().map(|(name, value)| (name, value))),
            Expected::ByKey(_, entries) => object(entries.iter()),
            Expected::Unknown(_) => json!(UNKNOWN),
        }
    }

    /// Whether an answer is right.
    pub fn accepts(&self, answer: &Value) -> bool {
        match self {
            Expected::Id(id) => single(ids_in(&text_of(answer))).is_some_and(|found| found == *id),
            Expected::Count(count) => {
                number(answer).is_some_and(|found| (found - *count as f64).abs() < 1e-6)
            }
            Expected::Dollars(amount) => number(answer).is_some_and(|found| (found - amount).abs() < CENT),
            Expected::Day(day) => single(days_in(&text_of(answer))).is_some_and(|found| found == *day),
            Expected::YesNo(is_so) => yes_or_no(answer) == Some(*is_so),
            Expected::Ids(ids) => {
                let is_answer = answer.is_array() || !ids_in(&text_of(answer)).is_empty();
                is_answer
                    && items(answer).iter().all(|item| !ids_in(item).is_empty())
                    && ids_in(&text_of(answer)) == *ids
            }
            Expected::Names(names) => {
                let wanted: BTreeSet<String> = names.iter().map(|name| simplified(name)).collect();
                items(answer).iter().map(|item| simplified(item)).collect::<BTreeSet<_>>() == wanted
            }
            Expected::Text(text) => simplified(&text_of(answer)).contains(&simplified(text)),
            Expected::Record(fields) => as_object(answer).is_some_and(|found| {
                fields.iter().all(|(name, value)| found.get(name).is_some_and(|found| value.accepts(found)))
            }),
            Expected::ByKey(_, entries) => as_object(answer).is_some_and(|found| {
                found.len() == entries.len()
                    && entries.iter().all(|(key, value)| {
                        let entry = found.iter().find(|(name, _)| simplified(name) == simplified(key));
                        entry.is_some_and(|(_, found)| value.accepts(found))
                    })
            }),
            Expected::Unknown(_) => is_unknown(answer),
        }
    }
}

fn object<'a>(fields: impl Iterator<Item = (&'a String, &'a Expected)>) -> Value {
    Value::Object(fields.map(|(name, value)| (name.clone(), value.to_json())).collect::<Map<_, _>>())
}

/// Returns an answer as text: that of a string, or else JSON.
fn text_of(answer: &Value) -> String {
    answer.as_str().map_or_else(|| answer.to_string(), str::to_owned)
}

/// Returns the JSON of an answer: an agent may have sent a JSON text within a string, also in a Markdown block.
fn parsed(answer: &Value) -> Option<Value> {
    let text = answer.as_str()?.trim();
    let inner = text.trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
    serde_json::from_str(inner.trim()).ok()
}

fn as_object(answer: &Value) -> Option<Map<String, Value>> {
    match answer {
        Value::Object(fields) => Some(fields.clone()),
        other => match parsed(other)? {
            Value::Object(fields) => Some(fields),
            _ => None,
        },
    }
}

/// Returns the items of a list: of an array, or the parts of a text.
fn items(answer: &Value) -> Vec<String> {
    match answer {
        Value::Array(items) => items.iter().map(text_of).collect(),
        Value::String(text) => match parsed(answer) {
            Some(Value::Array(items)) => items.iter().map(text_of).collect(),
            _ => text
                .split(['\n', ',', ';'])
                .map(|part| part.trim().trim_start_matches(['-', '*']).to_owned())
                .filter(|part| !part.is_empty())
                .collect(),
        },
        other => vec![other.to_string()],
    }
}

/// Returns lower-case letters and digits with single spaces in between.
fn simplified(text: &str) -> String {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn single(set: BTreeSet<String>) -> Option<String> {
    if set.len() == 1 { set.into_iter().next() } else { None }
}

/// Returns the UUIDs in a text, in lower case.
fn ids_in(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_hexdigit() || character == '-';
    let parts = text.split(|character| !is_part(character));
    parts.filter_map(|part| uuid::Uuid::try_parse(part).ok()).map(|id| id.to_string()).collect()
}

/// Returns the days in a text. A time may follow each.
fn days_in(text: &str) -> BTreeSet<String> {
    let parts =
        text.split(|character: char| !(character.is_ascii_digit() || character == '-' || character == 'T'));
    let days = parts.filter_map(|part| part.split('T').next());
    let is_day = |part: &&str| {
        part.len() == 10
            && part
                .bytes()
                .enumerate()
                .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
    };
    days.filter(is_day).map(str::to_owned).collect()
}

/// Returns a number: of a JSON number, or the only number in a text. `$1,234.50`, `1 234.5 USD`, and `-3` are numbers.
fn number(answer: &Value) -> Option<f64> {
    if let Some(number) = answer.as_f64() {
        return Some(number);
    }
    let text = answer.as_str().filter(|text| text.len() <= MAX_LINE_BYTES)?;
    let mut found: Vec<f64> = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < characters.len() {
        if !characters[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        let is_part = |at: usize| {
            let next_is_digit = characters.get(at + 1).is_some_and(char::is_ascii_digit);
            match characters.get(at) {
                Some(character) if character.is_ascii_digit() => true,
                Some('.' | ',' | '_' | '\u{a0}' | '\u{202f}') => next_is_digit,
                _ => false,
            }
        };
        while is_part(at) {
            at += 1;
        }
        let digits: String =
            characters[start..at].iter().filter(|c| c.is_ascii_digit() || **c == '.').collect();
        let before = characters[..start].iter().rev().find(|c| !matches!(c, '$' | ' '));
        let sign = if matches!(before, Some('-' | '−')) { -1.0 } else { 1.0 };
        // Digits within a word, such as a part of an ID, are not a number.
        let is_in_word = start > 0 && characters[start - 1].is_alphabetic()
            || characters.get(at).is_some_and(|c| c.is_alphabetic());
        if is_in_word {
            return None;
        }
        found.push(sign * digits.parse::<f64>().ok()?);
    }
    found.dedup();
    if let [number] = found[..] { Some(number) } else { None }
}

fn yes_or_no(answer: &Value) -> Option<bool> {
    match answer {
        Value::Bool(is_so) => Some(*is_so),
        Value::String(text) => match simplified(text).split(' ').next() {
            Some("yes" | "true") => Some(true),
            Some("no" | "false") => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn is_unknown(answer: &Value) -> bool {
    match answer {
        Value::Null => true,
        Value::String(text) => {
            let text = text.to_lowercase();
            let has_phrase = UNKNOWN_PHRASES.iter().any(|phrase| text.contains(phrase));
            text.trim().starts_with(UNKNOWN) || has_phrase && !text.contains(|c: char| c.is_ascii_digit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3e2d79e2-8302-51d1-83d5-f1aba5d6d91d";
    const OTHER_ID: &str = "4ccd97e4-4131-5d17-9fe7-c5e8a693ffe0";

    #[track_caller]
    fn check(expected: &Expected, right: &[Value], wrong: &[Value]) {
        assert!(expected.accepts(&expected.to_json()), "{expected:?}");
        for answer in right {
            assert!(expected.accepts(answer), "{answer} is right");
        }
        for answer in wrong {
            assert!(!expected.accepts(answer), "{answer} is wrong");
        }
        assert_eq!(matches!(expected, Expected::Unknown(_)), expected.accepts(&json!("unknown")));
    }

    #[test]
    fn ids_are_found_in_text() {
        check(
            &Expected::Id(ID.to_owned()),
            &[json!(format!("The listing is {}.", ID.to_uppercase())), json!([ID])],
            &[json!(OTHER_ID), json!(format!("{ID} or {OTHER_ID}")), json!(&ID[1..]), json!(""), Value::Null],
        );
    }

    #[test]
    fn amounts_have_any_usual_form() {
        check(
            &Expected::Dollars(1234.5),
            &[
                json!(1234.5),
                json!("1234.50"),
                json!("$1,234.50"),
                json!("It was 1,234.50 USD."),
                json!("1\u{a0}234.5"),
            ],
            &[
                json!(1234),
                json!("123450"),
                json!("-1234.5"),
                json!("1234.5 or 99"),
                json!("12.345"),
                json!([1234.5]),
            ],
        );
        check(&Expected::Dollars(-3.0), &[json!("-$3"), json!("−3.00")], &[json!(3), json!("x3")]);
        check(
            &Expected::Count(12),
            &[json!(12.0), json!("12 bids")],
            &[json!(13), json!("12a"), json!(true)],
        );
    }

    #[test]
    fn sets_are_complete_and_exact() {
        let ids = Expected::Ids([ID, OTHER_ID].map(str::to_owned).into());
        let both = json!([OTHER_ID, ID]);
        check(
            &ids,
            &[both.clone(), json!(both.to_string()), json!(format!("{ID}, {OTHER_ID}"))],
            &[json!([ID]), json!([]), json!([ID, OTHER_ID, "and one more"]), json!({})],
        );
        let none = Expected::Ids(BTreeSet::new());
        check(&none, &[json!([])], &[json!([ID]), json!("none of my business"), Value::Null]);
        let names = Expected::Names(["price_usd", "Merged PRs"].map(str::to_owned).into());
        check(
            &names,
            &[
                json!(["merged PRs", "price_usd"]),
                json!("- price_usd\n- merged prs"),
                json!("price usd, merged PRs"),
            ],
            &[json!(["price_usd"]), json!("price_usd, merged PRs, commits"), json!(3)],
        );
    }

    #[test]
    fn objects_have_all_fields() {
        let record = Expected::Record(vec![
            ("count".to_owned(), Expected::Count(2)),
            ("day".to_owned(), Expected::Day("2026-03-03".to_owned())),
        ]);
        check(
            &record,
            &[
                json!({"count": "2", "day": "2026-03-03T18:36:00.000Z", "note": "x"}),
                json!("```json\n{\"count\": 2, \"day\": \"2026-03-03\"}\n```"),
            ],
            &[
                json!({"count": 2}),
                json!({"count": 3, "day": "2026-03-03"}),
                json!({"count": 2, "day": "2026-03-04"}),
            ],
        );
        let by_key = Expected::ByKey("tiers", [("1".to_owned(), Expected::Dollars(10.0))].into());
        check(&by_key, &[json!({"1": "$10"})], &[json!({"1": 10, "2": 3}), json!({"2": 10}), json!({})]);
    }

    #[test]
    fn text_and_decisions_are_compared_by_words() {
        check(
            &Expected::Text("Replace both, in history.".to_owned()),
            &[json!("They asked: replace BOTH in history")],
            &[json!("Replace both"), json!(""), Value::Null],
        );
        check(
            &Expected::YesNo(false),
            &[json!(false), json!("No, never")],
            &[json!(true), json!("yes"), json!("not sure")],
        );
    }

    #[test]
    fn unknown_is_no_guess() {
        check(
            &Expected::Unknown("a number"),
            &[Value::Null, json!("Unknown: listing 3 has none"), json!("Buyers are never disclosed.")],
            &[
                json!("0"),
                json!(0),
                json!("Not available, but I guess 12"),
                json!("none"),
                json!([]),
                json!(""),
            ],
        );
    }
}
