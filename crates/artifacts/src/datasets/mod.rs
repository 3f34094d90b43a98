//! Datasets: finds the tables among files, describes them, and checks that they can be read. This module
//! knows file formats only; it neither draws conclusions nor stores descriptions.

mod csv;
mod description;
mod json_lines;
mod parquet;
mod parquet_limits;
mod robotics;
mod separator;
pub mod table_reader;
mod thrift;

use marketplace_domain::{assets::RoboticsFormat, string_enum::string_enum};
use serde::{Deserialize, Serialize};

use crate::contents::split_path;

pub use description::describe_zip;
pub use parquet_limits::Budget;
pub use separator::Separator;
pub use table_reader::TableReader;

/// Maximum number of columns in the description of a table.
const MAX_COLUMNS: usize = 1_000;

/// Maximum number of characters of a column name. Longer names are truncated.
const MAX_COLUMN_NAME_CHARS: usize = 200;

/// Maximum number of sample rows of a table.
const MAX_SAMPLE_ROWS: usize = 5;

/// Maximum size of a sample row in bytes. Longer rows are truncated.
const MAX_SAMPLE_BYTES: usize = 2_048;

string_enum! {
    /// File format of a table.
    Format {
        /// Apache Parquet.
        Parquet = "parquet",
        /// Delimited text: fields separated by commas, semicolons, tabs or bars.
        Csv = "csv",
        /// Delimited text: fields separated by tabs.
        Tsv = "tsv",
        /// JSON Lines: one JSON value per line.
        JsonLines = "json_lines",
    }
}

string_enum! {
    /// Why programs do not find the columns of a text file by their names, or misread them: they expect UTF-8, with the header
    /// in the first line, the separator of the format, and quotes only around cells.
    Peculiarity {
        /// Something other than commas in CSV, or tabs in TSV, separates the fields.
        Separator = "separator",
        /// There are lines before the header: comments, or one that states the separator.
        Preamble = "preamble",
        /// The text is in UTF-16.
        Encoding = "encoding",
        /// A name in the header of TSV begins with a quote, or a cell with one that is not closed.
        Quotes = "quotes",
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Column name as in the file, truncated to 200 characters. Without a header: `column 1`, `column 2`, and so on.
    pub name: String,
    /// Type of the values, for example `integer`, `text` or `list of float64`. Empty if no value was seen.
    pub kind: String,
}

impl Column {
    fn new(name: &str, kind: &str) -> Column {
        Column { name: name.chars().take(MAX_COLUMN_NAME_CHARS).collect(), kind: kind.to_owned() }
    }

    /// Whether the name may be only the beginning of the name in the file.
    pub fn may_be_truncated(&self) -> bool {
        self.name.chars().count() >= MAX_COLUMN_NAME_CHARS
    }
}

/// Returns the name that a column gets if the file has no header. `at` counts from 0.
fn substitute_name(at: usize) -> String {
    format!("column {}", at + 1)
}

/// Facts about one file of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// Columns. For text formats, at most the first 1,000; for Parquet, at most the first 10,000.
    pub columns: Vec<Column>,
    /// Number of rows, if they were counted.
    pub rows: Option<u64>,
    /// The first data rows as in the file, each truncated to 2,048 bytes. Empty for Parquet.
    pub sample: Vec<String>,
    /// Why programs do not find the columns; `None` if they do.
    pub peculiarity: Option<Peculiarity>,
}

/// Why a file cannot be read: a phrase that follows its path in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError(pub String);

impl TableError {
    fn new(message: &str) -> TableError {
        TableError(message.to_owned())
    }

    /// Appends the name of the affected column.
    fn in_column(self, column: &str) -> TableError {
        let column: String = column.chars().filter(|character| !character.is_control()).take(60).collect();
        TableError(format!("{} (column {column:?})", self.0))
    }
}

/// A table: one file, or several files of one directory whose names differ only in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Path of the file. For several files, `*` replaces each number in the name.
    pub path: String,
    /// Number of files.
    pub files: u64,
    /// File format.
    pub format: Format,
    /// Columns of the first file.
    pub columns: Vec<Column>,
    /// Total number of rows, if they were counted in all files.
    pub rows: Option<u64>,
    /// The first data rows of the first file, each truncated to 2,048 bytes. Empty for Parquet.
    pub sample: Vec<String>,
    /// Why programs do not find the columns of the first file; `None` if they do. Earlier versions did not look for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peculiarity: Option<Peculiarity>,
}

impl Table {
    /// Whether the names of the columns are in the files. A header that has exactly the names of a table without a header is
    /// not recognized.
    pub fn has_header(&self) -> bool {
        let is_substitute = |(at, column): (usize, &Column)| column.name == substitute_name(at);
        !matches!(self.format, Format::Csv | Format::Tsv)
            || !self.columns.iter().enumerate().all(is_substitute)
    }
}

/// A dataset of robot or human recordings in a known layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Robotics {
    /// Layout of the dataset.
    pub format: RoboticsFormat,
    /// Number of recorded episodes, if the metadata states it.
    pub episodes: Option<u64>,
    /// Number of frames of all episodes, if the metadata states it.
    pub frames: Option<u64>,
    /// Frames per second, if the metadata states them.
    pub fps: Option<f64>,
    /// Robot type, if the metadata states it.
    pub robot: Option<String>,
}

/// The description of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// The first hundred tables, ordered by path.
    pub tables: Vec<Table>,
    /// Number of tables that are not described in `tables`.
    pub further_tables: u64,
    /// Total number of rows, if they were counted in all tables.
    pub rows: Option<u64>,
    /// Robotics metadata, if the dataset has a known layout for recordings.
    pub robotics: Option<Robotics>,
}

/// Returns the table format of a file by its name, or `None` if it is not a table.
pub fn detect_format(name: &str) -> Option<Format> {
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?.1;
    match extension.to_ascii_lowercase().as_str() {
        "parquet" | "pq" => Some(Format::Parquet),
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        "jsonl" | "ndjson" => Some(Format::JsonLines),
        _ => None,
    }
}

/// Returns the path of the table that a file belongs to: `*` replaces each number in the file name.
pub fn table_path(path: &str) -> String {
    let (directory, name) = split_path(path);
    let mut pattern = String::with_capacity(path.len());
    if !directory.is_empty() {
        pattern.push_str(directory);
        pattern.push('/');
    }
    for character in name.chars() {
        match character {
            digit if digit.is_ascii_digit() => {
                if !pattern.ends_with('*') {
                    pattern.push('*');
                }
            }
            other => pattern.push(other),
        }
    }
    pattern
}

/// Returns the type of a column that contains values of both types.
fn merge_types<'a>(left: &'a str, right: &'a str) -> &'a str {
    match (left, right) {
        ("", kind) | (kind, "") => kind,
        (left, right) if left == right => left,
        ("integer", "number") | ("number", "integer") => "number",
        _ => "mixed",
    }
}

/// Truncates a sample row to its maximum size at a character boundary.
fn truncate_sample(row: &str) -> String {
    let mut end = row.len().min(MAX_SAMPLE_BYTES);
    while !row.is_char_boundary(end) {
        end -= 1;
    }
    row[..end].to_owned()
}

#[cfg(test)]
mod tests;
