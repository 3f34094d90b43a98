//! Decides whether the first row of a table has the names of its columns.

use std::{ops::RangeInclusive, sync::LazyLock};

use regex::Regex;

/// Numbers that are names of columns if values of another kind are below: years.
const YEARS: RangeInclusive<i64> = 1800..=2199;

/// Marks of a missing value among numbers, in lower case. In a row of names, such a mark is a name.
const MISSING: [&str; 14] =
    ["na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "tbd", "inf", "-", "--", "?", "."];

/// The kind of a field, or of all values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Empty,
    Missing,
    Boolean,
    Number,
    Date,
    Text,
}

/// The role of a field in the first row, judged by the values below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Empty.
    Nothing,
    /// Text above numbers, dates, or booleans, or a date above numbers.
    Name,
    /// A year above values that are not years.
    Year,
    /// A mark for a missing value above numbers, dates, or booleans.
    MissingOrName,
    /// Text above text, or above nothing.
    Text,
    /// A number, a date, or a boolean.
    Value,
}

/// Whether the first row of a table has the names of its columns. `columns` has the first field of each column, and the
/// values below it.
pub(super) fn is_header(columns: &[(&str, Vec<&str>)]) -> bool {
    let roles: Vec<Role> = columns.iter().map(|(first, below)| role_of(first, below)).collect();
    let has = |wanted: Role| roles.contains(&wanted);
    if has(Role::Name) {
        return true;
    }
    if has(Role::Value) {
        return false;
    }
    if has(Role::Year) || has(Role::MissingOrName) {
        return true;
    }
    has(Role::Text) && (are_distinct(columns) || !columns.iter().any(|(first, below)| below.contains(first)))
}

/// Whether all names are different, and not empty. The first one may be empty, for a column of row numbers.
fn are_distinct(columns: &[(&str, Vec<&str>)]) -> bool {
    let mut names: Vec<&str> = columns.iter().map(|(first, _)| *first).collect();
    if names.len() > 1 && names[0].is_empty() {
        names.remove(0);
    }
    names.sort_unstable();
    !names.contains(&"") && names.windows(2).all(|pair| pair[0] != pair[1])
}

fn role_of(first: &str, below: &[&str]) -> Role {
    let values = kind_of_values(below);
    let is_other_value = |value: &&str| !is_year(value) && is_value(kind_of(value));
    let is_above_values = matches!(values, Some(Kind::Boolean | Kind::Number | Kind::Date));
    match kind_of(first) {
        Kind::Empty => Role::Nothing,
        Kind::Missing if is_above_values => Role::MissingOrName,
        Kind::Text if is_above_values => Role::Name,
        Kind::Date if values == Some(Kind::Number) => Role::Name,
        Kind::Date if values == Some(Kind::Text) => Role::Text,
        Kind::Missing | Kind::Text => Role::Text,
        Kind::Number if is_year(first) && below.iter().any(is_other_value) => Role::Year,
        Kind::Boolean | Kind::Number | Kind::Date => Role::Value,
    }
}

/// Returns the kind of the values of a column; `None` without values. Numbers and dates together count as numbers, and other
/// values of different kinds as text.
fn kind_of_values(values: &[&str]) -> Option<Kind> {
    let kinds = values.iter().map(|value| match kind_of(value) {
        Kind::Text if is_quantity(value) => Kind::Number,
        kind => kind,
    });
    kinds.filter(|kind| is_value(*kind)).reduce(|left, right| match (left, right) {
        (left, right) if left == right => left,
        (Kind::Number | Kind::Date, Kind::Number | Kind::Date) => Kind::Number,
        _ => Kind::Text,
    })
}

fn is_value(kind: Kind) -> bool {
    !matches!(kind, Kind::Empty | Kind::Missing)
}

fn is_year(field: &str) -> bool {
    field.parse::<i64>().is_ok_and(|number| YEARS.contains(&number))
}

fn kind_of(field: &str) -> Kind {
    if field.is_empty() {
        return Kind::Empty;
    }
    if MISSING.iter().any(|mark| field.eq_ignore_ascii_case(mark)) {
        return Kind::Missing;
    }
    if ["true", "false"].iter().any(|value| field.eq_ignore_ascii_case(value)) {
        return Kind::Boolean;
    }
    // The patterns are slow, and most values are plain numbers and texts.
    if !field.bytes().any(|byte| byte.is_ascii_digit()) {
        return Kind::Text;
    }
    if field.parse::<f64>().is_ok() || NUMBER.is_match(field) {
        return Kind::Number;
    }
    if DATE.is_match(field) { Kind::Date } else { Kind::Text }
}

/// Whether a field is a number with a sign of a currency or of a percentage.
fn is_quantity(field: &str) -> bool {
    let is_sign = |character: char| "$€£¥%".contains(character) || character.is_whitespace();
    let number = field.trim_matches(is_sign);
    number.len() < field.len() && NUMBER.is_match(number)
}

/// Numbers as people write them: with a decimal point or a decimal comma, with thousands in groups, or with an exponent.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let number =
        r"(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?|\d{1,3}(?:[,.'\u{a0}\u{202f} ]\d{3})+(?:[.,]\d+)?";
    Regex::new(&format!(r"\A[+-]?(?:{number})\z")).expect("the pattern is valid")
});

/// Dates and times: of the calendar in any order, or with the name of a month; and times of the day.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let time = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?";
    let month = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?";
    let day = [
        r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?".to_owned(),
        r"\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})".to_owned(),
        format!(r"\d{{1,2}}[- ]{month}[-, ]{{1,2}}(?:\d{{4}}|\d{{2}})"),
        format!(r"{month} \d{{1,2}},? \d{{4}}"),
    ]
    .join("|");
    Regex::new(&format!(r"\A(?:(?:{day})(?:[T ]{time})?|{time})\z")).expect("the pattern is valid")
});

#[cfg(test)]
mod tests {
    use super::*;

    /// Decides about a table with a bar between fields.
    fn is_header_of(text: &str) -> bool {
        let rows: Vec<Vec<&str>> = text.split('\n').map(|row| row.split('|').collect()).collect();
        let column = |at: usize| rows[1..].iter().filter_map(|row| row.get(at).copied()).collect();
        is_header(&rows[0].iter().enumerate().map(|(at, first)| (*first, column(at))).collect::<Vec<_>>())
    }

    #[test]
    fn first_rows_with_names_are_headers() {
        for text in [
            "country|2019|2020\nFR|67|67\nDE|83|83",
            "2019|2020\n5|7",
            "2019\n1500.5",
            "2019|city\nhigh|Paris",
            "1800|2199\n1799|2200",
            "id|id\n1|2",
            "a|a|a\n1|x|y",
            "id||n\n1|2|3",
            "|a\n0|x",
            "||a\n1|2|3",
            "id|1|2|3\n7|0.1|0.2|0.3",
            "day|0\n2024-01-01|5",
            "NA|EU\n1|2",
            "code|NA\nx|1",
            "country|NA|2019\nFR|1|5",
            "NA|x\ny|z",
            "INF|TBD\n1|2",
            "a|a\nx|y",
            "first|last|first\nAnn|Lee|Bo",
            "name||city\nAnn|x|Paris",
            "name\njo",
            "a|b",
            "when|x\n2024-01-01|a",
            "when|what|what\n1/2/2024|a|b",
            "when|\n12 Jan 2024 10:00|b",
            "when|when\n10:30|11:45 PM",
            "2024-01|2024-02\n5|6",
            "land|2024-01-01\nFR|x",
            "a|a\n1,5|2,5",
            "a|a\n1 234|€ 5.00",
            "share|share\n5%|",
            "flag|flag\ntrue|FALSE",
            "n|n\nNA|1\n2|",
            "country|2019\nFR|3,6",
            "country|2019\nFR|2019\nDE|5",
        ] {
            assert!(is_header_of(text), "{text}");
        }
    }

    #[test]
    fn first_rows_with_values_are_no_headers() {
        for text in [
            "1|2\n3|4",
            "1|NA\n2|5",
            "5|N/A\n6|3",
            "2019|5.1\n2020|6.2",
            "2019|FR\n2020|DE",
            "2019|2020\n2021|2022",
            "1799|a\n5|b",
            "2200|a\n5|b",
            "2019",
            "country|2019|2020",
            "2019.5|a\n3|b",
            "|0|1\n0|0.5|0.6",
            "|\n1|2",
            "",
            "yes|yes\nno|yes",
            "Ann|Ann\nBo|Ann",
            "2024-01-01|x\n2024-01-02|y",
            "2024-01-01|1900\n2024-01-02|50000",
            "true|x\nfalse|y",
            "1,5|abc\n2,5|def",
            "1|abc\n2|5\n3|def",
            "10:30|a\n11:45|b",
            "1e5|a\n2e6|b",
            "-1|a\n-2|b",
        ] {
            assert!(!is_header_of(text), "{text}");
        }
    }
}
