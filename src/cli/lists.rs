//! Records: tables for people, and JSON for programs.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::{
    escapes::{escaped, escaped_json},
    print_line,
};

/// Prints a JSON value. Names of files in it can come from strangers, and it can be shown on a terminal.
pub fn print_json(value: &Value) {
    print_line(escaped_json(&format!("{value:#}")));
}

/// Prints records as a table. `columns` are the names of their fields, in snake case and separated by spaces; a period leads to
/// a field of a field.
pub fn print_table(columns: &str, records: &[Value]) {
    table_lines(columns, records).iter().for_each(print_line);
}

/// Returns the lines of a table, as [`print_table`] prints them.
pub fn table_lines(columns: &str, records: &[Value]) -> Vec<String> {
    format_table(&split(columns), records)
}

/// Prints one record, with a line for each of these fields.
pub fn print_record(columns: &str, record: &Value) {
    let columns = split(columns);
    let texts = columns.into_iter().map(|column| (label(column), field_text(record, column)));
    align(&texts.collect::<Vec<_>>()).iter().for_each(print_line);
}

/// Returns a line for each of these names and values.
pub fn record_lines(values: &[(String, Value)]) -> Vec<String> {
    let texts = values.iter().map(|(name, value)| (name.clone(), value_text(value)));
    align(&texts.collect::<Vec<_>>())
}

/// Returns a line for each name and text, with the texts below each other.
fn align(texts: &[(String, String)]) -> Vec<String> {
    let width = texts.iter().map(|(name, _)| name.width() + 1).max().unwrap_or_default();
    let line = |(name, text): &(String, String)| format!("{}  {text}", padded(&format!("{name}:"), width));
    texts.iter().map(line).collect()
}

/// Returns a text with spaces after it, as wide as this number of columns of a terminal. A character takes none to two of them.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn split(columns: &str) -> Vec<&str> {
    columns.split_whitespace().collect()
}

/// Returns the name of a field as people read it.
fn label(column: &str) -> String {
    column.replace(['_', '.'], " ")
}

/// Returns the text of a field in a table.
fn field_text(record: &Value, column: &str) -> String {
    let value = column.split('.').fold(record, |value, name| {
        debug_assert!(value.is_null() || value.get(name).is_some(), "{value} has no field {name}");
        &value[name]
    });
    let text = value_text(value);
    if text.is_empty() { "-".to_owned() } else { text }
}

/// Returns the text of a value. It is escaped, so that no name can imitate a row. Times are in whole
/// seconds.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => whole_seconds(text).unwrap_or_else(|| escaped(text)),
        Value::Array(values) => values.iter().map(value_text).collect::<Vec<_>>().join(", "),
        Value::Object(_) => escaped(&value.to_string()),
    }
}

/// Returns a time of the API, such as `2026-03-01T09:00:00.123Z`, without its fraction of a second; `None` for any other
/// text.
fn whole_seconds(text: &str) -> Option<String> {
    let seconds = text.strip_suffix('Z')?;
    let (seconds, fraction) = seconds.split_once('.')?;
    let is_time = seconds.len() == 19 && fraction.len() == 3 && seconds.as_bytes()[10] == b'T';
    is_time.then(|| format!("{seconds}Z"))
}

/// Maximum width of a column of a table, in which a digest in hexadecimal fits. A longer text moves what follows it in its line, so
/// that one text does not make all lines long.
const MAX_COLUMN_WIDTH: usize = 64;

/// Returns the lines of a table: a heading, and one line per record. Columns are as wide as their widest text.
fn format_table(columns: &[&str], records: &[Value]) -> Vec<String> {
    let lines: Vec<Vec<String>> = std::iter::once(headings(columns))
        .chain(records.iter().map(|record| texts(columns, record)))
        .collect();
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].width());
        widths.filter(|width| *width <= MAX_COLUMN_WIDTH).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    lines.iter().map(|line| format_line(line, &widths)).collect()
}

fn headings(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|name| label(name).to_uppercase()).collect()
}

fn texts(columns: &[&str], record: &Value) -> Vec<String> {
    columns.iter().map(|column| field_text(record, column)).collect()
}

fn format_line(texts: &[String], widths: &[usize]) -> String {
    let cells = texts.iter().zip(widths).map(|(text, width)| padded(text, *width));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// A table whose records become known one after another. Its columns have fixed widths, unless a text is longer.
pub struct GrowingTable<'a> {
    columns: Vec<&'a str>,
    widths: &'a [usize],
}

impl<'a> GrowingTable<'a> {
    /// Creates a table.
    pub fn new(columns: &'a str, widths: &'a [usize]) -> GrowingTable<'a> {
        GrowingTable { columns: split(columns), widths }
    }

    /// Returns the heading.
    pub fn heading(&self) -> String {
        format_line(&headings(&self.columns), self.widths)
    }

    /// Returns the line of a record.
    pub fn line(&self, record: &Value) -> String {
        format_line(&texts(&self.columns, record), self.widths)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Of the first row, the first letter has a mark of its own, and the emoji consists of two characters.
    #[test]
    fn columns_are_aligned_on_terminals() {
        let records = [
            json!({"name": "e\u{301}te\u{301} ❤\u{fe0f}", "tier": 1}),
            json!({"name": "データ社", "tier": 2}),
        ];
        assert_eq!(
            format_table(&["name", "tier"], &records),
            ["NAME      TIER", "e\u{301}te\u{301} ❤\u{fe0f}    1", "データ社  2"]
        );
        let growing = GrowingTable::new("name tier", &[10, 0]);
        assert_eq!(growing.line(&records[1]), "データ社    2");
        let values = [("価格".to_owned(), json!(5)), ("name".to_owned(), json!("x"))];
        assert_eq!(record_lines(&values), ["価格:  5", "name:  x"]);
    }

    #[test]
    fn one_long_text_makes_no_other_line_long() {
        let long = "x".repeat(MAX_COLUMN_WIDTH + 1);
        let records = [json!({"key": long, "value": 1}), json!({"key": "y", "value": 2})];
        let lines = format_table(&["key", "value"], &records);
        assert_eq!(lines, ["KEY  VALUE", &format!("{long}  1"), "y    2"]);
    }

    #[test]
    fn columns_of_tables_are_aligned() {
        let records = [
            json!({"name": "Économie", "used_at": "2026-03-01T09:00:00.123Z", "team": {"roles": ["vendor", "buyer"]}}),
            json!({"name": "a\nb", "used_at": null, "team": {"roles": []}}),
        ];
        assert_eq!(
            format_table(&["name", "used_at", "team.roles"], &records),
            [
                "NAME      USED AT               TEAM ROLES",
                "Économie  2026-03-01T09:00:00Z  vendor, buyer",
                "a\\nb      -                     -"
            ]
        );
    }
}
