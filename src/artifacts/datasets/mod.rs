//! Datasets: which files are tables, what they say of themselves, and whether they can be read. Knows formats; neither what
//! follows from them nor where a description is kept.

mod csv;
mod json_lines;
mod pages;
mod parquet;
mod robotics;
mod thrift;
pub mod whole;
mod zipped;

use serde::{Deserialize, Serialize};

pub use whole::Whole;
pub use zipped::read;

use crate::domain::{assets::RoboticsFormat, vocabulary::vocabulary};

/// Columns of a table that are described at most.
const MAX_COLUMNS: usize = 1_000;

/// Characters of a column's name at most.
const MAX_NAME: usize = 200;

/// Rows of a table that are shown.
const MAX_SAMPLES: usize = 5;

/// Bytes of a row that are shown.
const MAX_SAMPLE: usize = 2_048;

vocabulary! {
    /// How a table is written.
    Format {
        /// Parquet.
        Parquet = "parquet",
        /// Rows of fields between commas, semicolons or the like.
        Csv = "csv",
        /// Rows of fields between tabs.
        Tsv = "tsv",
        /// A JSON value a line.
        JsonLines = "json_lines",
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds, in words; empty where nothing was seen in it.
    pub kind: String,
}

impl Column {
    fn new(name: &str, kind: &str) -> Column {
        Column { name: name.chars().take(MAX_NAME).collect(), kind: kind.to_owned() }
    }
}

/// What a file says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its columns, as far as they are described.
    pub columns: Vec<Column>,
    /// Its rows, if they were counted.
    pub rows: Option<u64>,
    /// A few rows as they stand in the file.
    pub sample: Vec<String>,
}

/// Why a file cannot be read: words that follow its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl Fault {
    fn of(what: &str) -> Fault {
        Fault(what.to_owned())
    }

    /// The same, of a column.
    fn within(self, column: &str) -> Fault {
        let column: String = column.chars().filter(|letter| !letter.is_control()).take(60).collect();
        Fault(format!("{} (column {column:?})", self.0))
    }
}

/// A table: a file, or files of one folder that differ by numbers in their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its path, with a star for each number that differs.
    pub path: String,
    /// Files that it consists of.
    pub files: u64,
    /// How it is written.
    pub format: Format,
    /// Its columns, of the first file.
    pub columns: Vec<Column>,
    /// Rows of all files, if they were all counted.
    pub rows: Option<u64>,
    /// The first rows of the first file as they stand there.
    pub sample: Vec<String>,
}

/// Recordings of robots or people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Robotics {
    /// Its layout.
    pub format: RoboticsFormat,
    /// Recorded episodes, if it says so.
    pub episodes: Option<u64>,
    /// Frames of all episodes, if it says so.
    pub frames: Option<u64>,
    /// Frames a second, if it says so.
    pub fps: Option<f64>,
    /// The robot, if it says so.
    pub robot: Option<String>,
}

/// What a dataset consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Its tables, by their paths; the first hundred.
    pub tables: Vec<Table>,
    /// Tables beyond those.
    pub further_tables: u64,
    /// Rows of all tables, if they were all counted.
    pub rows: Option<u64>,
    /// Recordings, if it has a layout for them.
    pub robotics: Option<Robotics>,
}

/// How the table in a file is written, by its name; nothing if it is none.
pub fn format(name: &str) -> Option<Format> {
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?.1;
    match extension.to_ascii_lowercase().as_str() {
        "parquet" | "pq" => Some(Format::Parquet),
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        "jsonl" | "ndjson" => Some(Format::JsonLines),
        _ => None,
    }
}

/// The path of the table that a file is a part of: with a star for each number in its name.
pub fn pattern(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let mut pattern = String::with_capacity(path.len());
    if !folder.is_empty() {
        pattern.push_str(folder);
        pattern.push('/');
    }
    for letter in name.chars() {
        match letter {
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

/// What a column holds that holds both.
fn merged(one: &'static str, other: &'static str) -> &'static str {
    match (one, other) {
        ("", kind) | (kind, "") => kind,
        (one, other) if one == other => one,
        ("integer", "number") | ("number", "integer") => "number",
        _ => "mixed",
    }
}

/// A row as it is shown.
fn cut(row: &str) -> String {
    let mut end = row.len().min(MAX_SAMPLE);
    while !row.is_char_boundary(end) {
        end -= 1;
    }
    row[..end].to_owned()
}

#[cfg(test)]
mod tests;
