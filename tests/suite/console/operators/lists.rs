//! Lists of resources: their filters select what the operator API selects, and their files have what their tables show.

use marketplace::console::ResourceInfo;
use regex::Regex;

use super::{
    records::{Found, OPERATOR, key_of, list, parameter, rows},
    resources,
};
use crate::harness::{self, TestMarket, browser::Browser, documents::operator_document, random::Random};

/// Returns a value for a filter: one of its choices, the value of a record, or the ID of a record that the filter names.
fn value(
    info: &ResourceInfo,
    found: &Found,
    random: &mut Random,
    filter: &(&str, Vec<&str>),
) -> Option<String> {
    let (name, choices) = filter;
    if !choices.is_empty() {
        return Some((*random.pick(choices)).to_owned());
    }
    let mut values: Vec<String> =
        found.of(info).iter().filter_map(|record| record[*name].as_str().map(str::to_owned)).collect();
    if values.is_empty() || random.percent(20) {
        values.extend(found.named(name).unwrap_or_default());
    }
    (!values.is_empty()).then(|| random.pick(&values).clone())
}

/// Returns some filters with values, those of the path first.
fn chosen(info: &ResourceInfo, found: &Found, random: &mut Random) -> Option<Vec<(String, String)>> {
    let operation =
        operator_document().operations().iter().find(|row| row.method == "GET" && row.path == info.list_api);
    let known = &operation.unwrap().query;
    let mut chosen = Vec::new();
    for filter in &info.filters {
        let is_needed = filter.0 == parameter(info);
        let is_known = known.iter().any(|name| name == filter.0);
        if is_needed || (is_known && random.percent(40)) {
            match value(info, found, random, filter) {
                Some(value) => chosen.push((filter.0.to_owned(), value)),
                None if is_needed => return None,
                None => {}
            }
        }
    }
    Some(chosen)
}

/// Returns the keys of the records that the operator API lists.
async fn listed(market: &TestMarket, info: &ResourceInfo, chosen: &[(String, String)]) -> Vec<String> {
    let (mut path, mut query) = (info.list_api.to_owned(), Vec::new());
    for (name, value) in chosen {
        if *name == parameter(info) {
            path = path.replace(&format!("{{{name}}}"), value);
        } else {
            query.push((name.clone(), value.clone()));
        }
    }
    list(market, &path, &query).await.iter().map(key_of).collect()
}

#[tokio::test]
async fn filters_select_what_the_api_selects() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let resources = resources();
    let found = Found::all(market, &resources).await;
    let mut random = Random::new(42);
    let (mut compared, mut selective) = (0, 0);
    for info in &resources {
        for _ in 0..6 {
            let Some(chosen) = chosen(info, &found, &mut random) else { break };
            let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&chosen).finish();
            let shown: Vec<String> =
                rows(&browser, info.list, &query).await.into_iter().map(|(key, _)| key).collect();
            assert_eq!(shown, listed(market, info, &chosen).await, "{} with {query}", info.list);
            compared += 1;
            selective += usize::from(!chosen.is_empty() && !shown.is_empty());
        }
    }
    assert!(compared > 150 && selective > 40, "{compared} {selective}");
}

/// Reads a file: its rows of cells.
fn read(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.push(letters.next().unwrap()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            letter => cell.push(letter),
        }
    }
    rows
}

/// Returns the text of markup.
fn text_of(markup: &str) -> String {
    let text = Regex::new("<[^>]*>").unwrap().replace_all(markup, "").into_owned();
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    entities.iter().fold(text, |text, (entity, letter)| text.replace(entity, letter)).trim().to_owned()
}

/// Returns the letters and digits of a text. A title can have others between them.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a cell of a table shows the value in a file: as it is, as a link to the record with this ID, as the same moment, as the
/// same number with separators or its unit, or as a sign that there is none.
fn agrees(cell: &str, value: &str) -> bool {
    let text = text_of(cell);
    let value = value.strip_prefix('\'').unwrap_or(value);
    let number = |text: &str| -> String {
        let text = text.replace('−', "-");
        text.chars().filter(|letter| letter.is_ascii_digit() || ".-".contains(*letter)).collect()
    };
    let is_size =
        ["B", "KB", "MB", "GB", "TB", "byte", "bytes"].iter().any(|unit| text.ends_with(&format!(" {unit}")));
    let is_number = value.parse::<f64>().is_ok();
    text == value.trim()
        || (value.is_empty() && ["–", "—", ""].contains(&text.as_str()))
        || cell.contains(&format!("datetime=\"{value}\""))
        || cell.contains(&format!("/{value}\""))
        || text.eq_ignore_ascii_case(value)
        || (is_number && (is_size || number(&text) == value))
        // Each of several IDs is a link.
        || (!value.is_empty() && value.split(", ").all(|id| cell.contains(&format!("/{id}\""))))
}

#[tokio::test]
async fn files_have_what_tables_show() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let (mut cells, mut files) = (0, 0);
    for info in resources() {
        let shown = rows(&browser, info.list, "").await;
        let file = browser.get(&format!("/console{}?format=csv", info.list)).await;
        assert_eq!(file.status(), 200, "{}", info.list);
        let written = read(&file.text);
        assert_eq!(written.len(), shown.len() + 1, "{}", info.list);
        for ((key, row), values) in shown.iter().zip(&written[1..]) {
            assert_eq!(row.len(), values.len(), "{}", info.list);
            for (index, (cell, value)) in row.iter().zip(values).enumerate() {
                let head = &written[0][index];
                let is_name = index == 0 && letters(&text_of(cell)).contains(&letters(value));
                assert!(
                    is_name || agrees(cell, value),
                    "{}/{key}, {head}: {value:?} is not {cell}",
                    info.list
                );
                cells += 1;
            }
        }
        files += usize::from(!shown.is_empty());
    }
    assert!(files > 20 && cells > 2_000, "{files} {cells}");
}

#[test]
fn files_are_read_with_quotes() {
    let rows = read("a,\"b,\"\"c\"\"\nd\"\r\n,e\r\n");
    assert_eq!(rows, [["a", "b,\"c\"\nd"], ["", "e"]]);
}
