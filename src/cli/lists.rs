//! Lists of records: tables for people, and JSON for programs.

use clap::Args;
use serde_json::{Map, Value};

use super::print_line;
use crate::domain::time::Timestamp;

/// Option of commands that print records.
#[derive(Clone, Copy, Debug, Args)]
pub struct ListFormat {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A value of a record.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// A time, if there is one. Tables show whole seconds.
    Time(Option<Timestamp>),
    /// Several words.
    Words(Vec<&'static str>),
}

impl ListFormat {
    /// Prints a list. `columns` are the names of the fields, in snake case.
    pub fn print_list<const N: usize>(self, columns: [&str; N], rows: &[[Cell; N]]) {
        if self.json {
            let records = rows.iter().map(|row| json_object(columns, row)).collect();
            print_line(format_args!("{:#}", Value::Array(records)));
        } else {
            format_table(columns, rows).iter().for_each(print_line);
        }
    }

    /// Prints one record.
    pub fn print_record<const N: usize>(self, columns: [&str; N], row: &[Cell; N]) {
        if self.json {
            print_line(format_args!("{:#}", json_object(columns, row)));
            return;
        }
        let names = columns.map(|name| format!("{}:", name.replace('_', " ")));
        let width = names.iter().map(String::len).max().unwrap_or_default();
        for (name, cell) in names.iter().zip(row) {
            print_line(format_args!("{name:<width$}  {}", cell.to_text()));
        }
    }
}

impl Cell {
    /// Returns the text in a table. Control characters are escaped, so that no name can imitate a row.
    fn to_text(&self) -> String {
        let text = match self {
            Cell::Text(text) => text.chars().flat_map(escape).collect(),
            Cell::Number(number) => number.to_string(),
            Cell::Time(time) => time.map(whole_seconds).unwrap_or_default(),
            Cell::Words(words) => words.join(", "),
        };
        if text.is_empty() { "-".to_owned() } else { text }
    }

    fn to_json(&self) -> Value {
        match self {
            Cell::Text(text) => text.as_str().into(),
            Cell::Number(number) => (*number).into(),
            Cell::Time(time) => time.map(|at| at.to_string()).into(),
            Cell::Words(words) => words.clone().into(),
        }
    }
}

/// Returns a time without its fraction of a second.
fn whole_seconds(at: Timestamp) -> String {
    let text = at.to_string();
    text.split_once('.').map_or_else(|| text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

fn escape(character: char) -> Vec<char> {
    if character.is_control() { character.escape_default().collect() } else { vec![character] }
}

fn json_object<const N: usize>(columns: [&str; N], row: &[Cell; N]) -> Value {
    let fields = columns.iter().zip(row).map(|(name, cell)| ((*name).to_owned(), cell.to_json()));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// Returns the lines of a table: a heading, and one line per row. Columns are as wide as their widest text.
fn format_table<const N: usize>(columns: [&str; N], rows: &[[Cell; N]]) -> Vec<String> {
    let heading = columns.map(|name| name.replace('_', " ").to_uppercase());
    let mut lines = vec![heading];
    lines.extend(rows.iter().map(|row| row.each_ref().map(Cell::to_text)));
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let format_line = |line: &[String; N]| {
        let cells = line.iter().zip(widths).map(|(text, width)| format!("{text:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(format_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_tables_are_aligned() {
        let at = Timestamp::parse("2026-03-01T09:00:00.123456Z");
        let rows = [
            [Cell::Text("Économie".to_owned()), Cell::Time(at), Cell::Words(vec!["vendor", "buyer"])],
            [Cell::Text("a\nb".to_owned()), Cell::Time(None), Cell::Words(vec![])],
        ];
        assert_eq!(
            format_table(["name", "used_at", "roles"], &rows),
            [
                "NAME      USED AT               ROLES",
                "Économie  2026-03-01T09:00:00Z  vendor, buyer",
                "a\\nb      -                     -"
            ]
        );
    }
}
