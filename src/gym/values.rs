//! Extracts values from the answers of agents, which differ in form.

use std::collections::BTreeSet;

use marketplace_text::{continues_word, equality_key};
use serde_json::{Map, Value};

use super::answers::MAX_LINE_BYTES;

/// Returns an answer as text: the content of a string, or JSON for other values.
pub fn text_of(answer: &Value) -> String {
    answer.as_str().map_or_else(|| answer.to_string(), str::to_owned)
}

/// Parses JSON text in a string, which may be in a Markdown code block.
fn parsed(answer: &Value) -> Option<Value> {
    let text = answer.as_str()?.trim();
    let inner = text.trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
    serde_json::from_str(inner.trim()).ok()
}

/// Returns the fields of an object. The object may be JSON text in a string.
pub fn as_object(answer: &Value) -> Option<Map<String, Value>> {
    match answer {
        Value::Object(fields) => Some(fields.clone()),
        other => match parsed(other)? {
            Value::Object(fields) => Some(fields),
            _ => None,
        },
    }
}

/// Returns the items of an array, or of a list in a text.
pub fn items(answer: &Value) -> Vec<String> {
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

/// Returns the words of a text, separated by single spaces, in a form in which they are equal however they are encoded, and
/// whatever their case.
pub fn simplified(text: &str) -> String {
    let key = equality_key(text);
    let words = key.split(|character| !continues_word(character)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a text contains these words, next to each other and in this order.
pub fn contains_words(text: &str, words: &str) -> bool {
    format!(" {} ", simplified(text)).contains(&format!(" {} ", simplified(words)))
}

/// Returns the words with digits in a text, except UUIDs, in lowercase.
pub fn words_with_digits(text: &str) -> BTreeSet<String> {
    let parts = text.split(|character: char| !(character.is_alphanumeric() || character == '-'));
    let words = parts.filter(|part| uuid::Uuid::try_parse(part).is_err()).flat_map(|part| part.split('-'));
    words.filter(|word| word.contains(char::is_numeric)).map(str::to_lowercase).collect()
}

/// Returns the only element of a set; `None` if it has none or several.
pub fn single(set: BTreeSet<String>) -> Option<String> {
    if set.len() == 1 { set.into_iter().next() } else { None }
}

/// Returns the UUIDs in a text, in lower case.
pub fn ids_in(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_hexdigit() || character == '-';
    let parts = text.split(|character| !is_part(character));
    parts.filter_map(|part| uuid::Uuid::try_parse(part).ok()).map(|id| id.to_string()).collect()
}

/// Returns the days in a text. Each may be followed by a time.
pub fn days_in(text: &str) -> BTreeSet<String> {
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

/// Returns a JSON number, or the only number in a text. `$1,234.50`, `1 234.5 USD`, and `-3` are numbers.
pub fn number(answer: &Value) -> Option<f64> {
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
        let sign = if has_sign(&characters[..start]) { -1.0 } else { 1.0 };
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

/// Whether the text before the digits of a number ends with a sign. A `-` followed by a space is a dash or a list marker.
fn has_sign(before: &[char]) -> bool {
    let mut backwards = before.iter().rev().skip_while(|character| **character == ' ');
    let sign = if backwards.next() == Some(&'$') { backwards.next() } else { before.last() };
    matches!(sign, Some('-' | '−'))
}

/// Returns the decision of an answer. The text must be a single word, or punctuation must follow its first word: "no idea" is no
/// decision.
pub fn yes_or_no(answer: &Value) -> Option<bool> {
    let text = match answer {
        Value::Bool(is_so) => return Some(*is_so),
        Value::String(text) => text.trim_start_matches(|character: char| !character.is_alphanumeric()),
        _ => return None,
    };
    let end = text.find(|character: char| !character.is_alphanumeric()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let next = rest.trim_start_matches(' ');
    // As in "no-one", "no’s", and "yes / no".
    let is_part = rest.starts_with(['-', '\'', '’']) || next.starts_with('/');
    if is_part || next.starts_with(char::is_alphanumeric) {
        return None;
    }
    match word.to_lowercase().as_str() {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}
