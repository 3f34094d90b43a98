//! Decides whether an answer is right. Values must be exact, but their form may vary: amounts may have signs and
//! separators, and text around the value is accepted if it contains no other candidate.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::values::{
    as_object, contains_words, days_in, ids_in, items, number, simplified, single, text_of,
    words_with_digits, yes_or_no,
};

/// The answer of an agent if tools do not show the requested value. Text that begins with this word is accepted only if the
/// question contains all of its words with digits, apart from UUIDs: other digits could be a guess.
const UNKNOWN: &str = "unknown";

/// Phrases with the same meaning, which may occur anywhere in such a text.
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
    /// Text that contains these words next to each other and in this order, regardless of case, encoding, punctuation, and
    /// spaces.
    Text(String),
    /// A code such as `ref 35149558`. Only words with digits are compared. An answer may contain no others, except words of the
    /// question, such as a year in a title.
    Code(String),
    /// An object with these fields, which the question states.
    Record(Vec<(String, Expected)>),
    /// An object whose keys are a part of the answer, and the description of the keys in the question.
    ByKey(&'static str, BTreeMap<String, Expected>),
    /// Tools do not show it. Contains the format of an answer, if there were one.
    Unknown(&'static str),
}

impl Expected {
    /// Returns the description of the form for agents.
    pub fn format(&self) -> String {
        format!("{}, or \"{UNKNOWN}\" if the tools do not show it", self.own_format())
    }

    fn own_format(&self) -> String {
        match self {
            Expected::Id(_) => "an ID".to_owned(),
            Expected::Count(_) => "a whole number".to_owned(),
            Expected::Dollars(_) => "a number of US dollars".to_owned(),
            Expected::Day(_) => "a day in UTC, YYYY-MM-DD".to_owned(),
            Expected::YesNo(_) => "\"yes\" or \"no\"".to_owned(),
            Expected::Ids(_) => "a JSON array of IDs".to_owned(),
            Expected::Names(_) => "a JSON array of names".to_owned(),
            Expected::Text(_) | Expected::Code(_) => "text".to_owned(),
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
            Expected::Id(text) | Expected::Day(text) | Expected::Text(text) | Expected::Code(text) => {
                json!(text)
            }
            Expected::Count(number) => json!(number),
            Expected::Dollars(number) => json!(number),
            Expected::YesNo(is_so) => json!(if *is_so { "yes" } else { "no" }),
            Expected::Ids(set) | Expected::Names(set) => json!(set),
            Expected::Record(fields) => object(fields.iter().map(|(name, value)| (name, value))),
            Expected::ByKey(_, entries) => object(entries.iter()),
            Expected::Unknown(_) => json!(UNKNOWN),
        }
    }

    /// Whether an answer is right. `question` is the text of the question.
    pub fn accepts(&self, question: &str, answer: &Value) -> bool {
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
            Expected::Text(text) => contains_words(&text_of(answer), text),
            Expected::Code(code) => {
                let (found, expected) = (words_with_digits(&text_of(answer)), words_with_digits(code));
                expected.is_subset(&found) && found.is_subset(&(&expected | &words_with_digits(question)))
            }
            Expected::Record(fields) => as_object(answer).is_some_and(|found| {
                fields
                    .iter()
                    .all(|(name, value)| found.get(name).is_some_and(|found| value.accepts(question, found)))
            }),
            Expected::ByKey(_, entries) => as_object(answer).is_some_and(|found| {
                found.len() == entries.len()
                    && entries.iter().all(|(key, value)| {
                        let entry = found.iter().find(|(name, _)| simplified(name) == simplified(key));
                        entry.is_some_and(|(_, found)| value.accepts(question, found))
                    })
            }),
            Expected::Unknown(_) => is_unknown(question, answer),
        }
    }
}

fn object<'a>(fields: impl Iterator<Item = (&'a String, &'a Expected)>) -> Value {
    Value::Object(fields.map(|(name, value)| (name.clone(), value.to_json())).collect::<Map<_, _>>())
}

fn is_unknown(question: &str, answer: &Value) -> bool {
    match answer {
        Value::Null => true,
        Value::String(text) => {
            let says_so = simplified(text).split(' ').next() == Some(UNKNOWN)
                || UNKNOWN_PHRASES.iter().any(|phrase| contains_words(text, phrase));
            says_so && words_with_digits(text).is_subset(&words_with_digits(question))
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
        check_for("What does it say?", expected, right, wrong);
    }

    #[track_caller]
    fn check_for(question: &str, expected: &Expected, right: &[Value], wrong: &[Value]) {
        assert!(expected.accepts(question, &expected.to_json()), "{expected:?}");
        for answer in right {
            assert!(expected.accepts(question, answer), "{answer} is right");
        }
        for answer in wrong {
            assert!(!expected.accepts(question, answer), "{answer} is wrong");
        }
        let is_unknown = matches!(expected, Expected::Unknown(_));
        assert_eq!(is_unknown, expected.accepts(question, &json!("unknown")));
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
                json!("- $1,234.50"),
                json!("Total - 1234.5"),
            ],
            &[
                json!(1234),
                json!("123450"),
                json!("-1234.5"),
                json!("-$1,234.50"),
                json!("1234.5 or 99"),
                json!("12.345"),
                json!([1234.5]),
            ],
        );
        check(
            &Expected::Dollars(-3.0),
            &[json!("-$3"), json!("-$ 3"), json!("$-3"), json!("−3.00"), json!("Sales less purchases: -3")],
            &[json!(3), json!("x3"), json!("- 3"), json!("- $3"), json!("Sales - 3")],
        );
        check(
            &Expected::Count(12),
            &[json!(12.0), json!("12 bids"), json!("- 12")],
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
    fn text_is_compared_by_words() {
        check(
            &Expected::Text("Replace both, in history.".to_owned()),
            &[
                json!("They asked: replace BOTH in history"),
                json!("1. Replace both in history. 2. Renumber."),
            ],
            &[json!("Replace both"), json!("Replace both in histories"), json!(""), Value::Null],
        );
        check(
            &Expected::Text("Le Cafe\u{301} de la Straße".to_owned()),
            &[json!("le caf\u{e9} de la straße"), json!("LE CAF\u{c9} DE LA STRASSE")],
            &[json!("Le Cafe de la Straße"), json!("Le Caf\u{e9} de la Stra")],
        );
    }

    #[test]
    fn code_is_whole_and_the_only_one() {
        check(
            &Expected::Code("ref 35149558".to_owned()),
            &[
                json!("REF 35149558."),
                json!("35149558"),
                json!(35_149_558),
                json!(format!("Ref-35149558 of {ID}")),
            ],
            &[
                json!("ref 351495580"),
                json!("ref 35149558 or ref 99999999"),
                json!("ref 35149558a"),
                json!("ref"),
                Value::Null,
            ],
        );
    }

    #[test]
    fn answer_may_repeat_words_of_the_question() {
        let question =
            format!("Which number does the listing “Tides 2019” ({ID}) state, for the sale of 2026-03-03?");
        check_for(
            &question,
            &Expected::Code("ref 35149558".to_owned()),
            &[
                json!("The listing “Tides 2019” states ref 35149558."),
                json!("35149558, as of 2026-03-03"),
                json!({"listing": "Tides 2019", "number": 35_149_558}),
            ],
            &[
                json!("The listing “Tides 2019” states ref 99999999."),
                json!("The listing “Tides 2018” states ref 35149558."),
                json!("Tides 2019"),
            ],
        );
        check_for(
            &question,
            &Expected::Unknown("a number"),
            &[json!("unknown: “Tides 2019” states none"), json!("Unknown for the sale of 2026-03-03")],
            &[json!("unknown: “Tides 2018” states 7"), json!("2019"), json!(2019)],
        );
    }

    #[test]
    fn decision_stands_alone() {
        check(
            &Expected::YesNo(false),
            &[
                json!(false),
                json!("No, never"),
                json!(" **No** "),
                json!("NO\nWe bought nothing."),
                json!("no – never"),
                json!("No—never"),
                json!("\"no\""),
            ],
            &[
                json!(true),
                json!("yes"),
                json!("not sure"),
                json!("no idea"),
                json!("No-one knows"),
                json!("no/yes"),
                json!("No / yes"),
                json!(""),
            ],
        );
        check(&Expected::YesNo(true), &[json!(true), json!("Yes: twice")], &[json!("no"), json!("yes/no")]);
    }

    #[test]
    fn unknown_is_no_guess() {
        check(
            &Expected::Unknown("a number"),
            &[
                Value::Null,
                json!("**Unknown**: the listing has none"),
                json!(format!("Unknown: there is no listing {ID}.")),
                json!("It can’t be determined."),
                json!("Buyers are never disclosed."),
            ],
            &[
                json!("0"),
                json!(0),
                json!("Not available, but I guess 12"),
                json!("unknown, but my guess is 7"),
                json!("unknown: 3 drafts"),
                json!("unknowns"),
                json!("none"),
                json!([]),
                json!(""),
            ],
        );
    }
}
