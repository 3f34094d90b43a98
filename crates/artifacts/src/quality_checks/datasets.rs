//! Checks that tables can be read completely, and that files of one table have the same columns.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use marketplace_domain::{
    quality_checks::CheckStatus,
    written::{counted, grouped},
};

use super::{Check, Chunk, FileAction, Finding, Place, Role, Rule, samples::Samples};
use crate::{
    contents::{Entry, Root, quoted},
    datasets::{self, Budget, Column, FileSummary, Format, TableReader, table_reader::ReadOutcome},
};

/// Every table can be read completely.
pub static DATASET_READABLE: Rule = Rule::mandatory("dataset_readable", "Every table can be read completely");

/// Files of one table have the same columns.
pub static SCHEMA_CONSISTENT: Rule = Rule::mandatory("schema_consistent", "Columns agree across files");

/// Maximum number of tables whose columns are compared.
const MAX_TABLES: usize = 10_000;

/// Maximum number of bytes of column names and types that are stored to compare them. The columns of tables
/// beyond it are not compared.
const MAX_COLUMN_BYTES: usize = 64 << 20;

/// Check for [`DATASET_READABLE`] and [`SCHEMA_CONSISTENT`].
#[derive(Default)]
pub struct Datasets {
    /// Directory for temporary files with data that is too large for memory.
    spill_dir: PathBuf,
    /// Path, format, and reader of the current file.
    current_file: Option<(String, Format, TableReader)>,
    files: u64,
    rows: u64,
    unreadable: Samples,
    too_large: Samples,
    io_errors: Samples,
    /// Path and columns of the first file of each table.
    first_files: BTreeMap<(String, Format), (String, Vec<Column>)>,
    column_bytes: usize,
    /// What may still be read from Parquet files.
    budget: Budget,
    compared_files: u64,
    /// Files whose columns exceed what is stored.
    uncompared: Samples,
    /// Tables that were read, but have no rows.
    without_rows: Samples,
    differences: Samples,
}

impl Datasets {
    /// Creates the check. Data too large for memory is spilled to temporary files in `spill_dir`.
    pub fn with_spill_dir(spill_dir: &Path) -> Datasets {
        Datasets { spill_dir: spill_dir.to_owned(), ..Datasets::default() }
    }

    fn record(&mut self, path: &str, format: Format, outcome: ReadOutcome) {
        match outcome {
            ReadOutcome::Read(facts) => self.compare(path, format, facts),
            ReadOutcome::Invalid(error) => self.unreadable.add_problem(path, error.0),
            ReadOutcome::TooLarge => self.too_large.add_file(path),
            ReadOutcome::Failed(cause) => {
                self.io_errors.add(
                    || Place::file(path, &cause.kind().to_string()),
                    |place| format!("{}: {}", quoted(&place.path), place.text),
                );
            }
        }
    }

    /// Compares the columns of a file with those of the first file of its table.
    fn compare(&mut self, path: &str, format: Format, facts: FileSummary) {
        let rows = facts.rows.unwrap_or(0);
        self.rows = self.rows.saturating_add(rows);
        if rows == 0 {
            self.without_rows.add_file(path);
        }
        let key = (datasets::table_path(path), format);
        match self.first_files.get(&key) {
            Some((first, columns)) => {
                self.compared_files += 1;
                if let Some(difference) = difference(format, columns, &facts.columns) {
                    let problem = format!("{difference}, unlike {}", quoted(first));
                    self.differences.add_problem(path, problem);
                }
            }
            None => {
                let bytes = facts.columns.iter().map(stored_bytes).sum::<usize>() + path.len();
                if self.first_files.len() < MAX_TABLES && self.column_bytes + bytes <= MAX_COLUMN_BYTES {
                    self.column_bytes += bytes;
                    self.first_files.insert(key, (path.to_owned(), facts.columns));
                } else {
                    self.uncompared.add_file(path);
                }
            }
        }
    }
}

/// Returns the memory in bytes that a column takes.
fn stored_bytes(column: &Column) -> usize {
    size_of::<Column>() + column.name.len() + column.kind.len()
}

/// Describes how columns differ from those of the first file, as a predicate that follows a path, if they
/// differ.
fn difference(format: Format, first: &[Column], other: &[Column]) -> Option<String> {
    let name = |column: &Column| quoted(&column.name);
    if format == Format::JsonLines {
        // Lines may omit keys, so only columns of both files can differ.
        let others: HashMap<&str, &Column> =
            other.iter().map(|column| (column.name.as_str(), column)).collect();
        return first.iter().find_map(|column| {
            let counterpart = *others.get(column.name.as_str())?;
            kinds_differ(format, column, counterpart).then(|| {
                format!("has {:?} instead of {:?} in column {}", counterpart.kind, column.kind, name(column))
            })
        });
    }
    if first.len() != other.len() {
        let columns = counted(other.len() as u64, "column", "columns");
        return Some(format!("has {columns} instead of {}", grouped(first.len() as u64)));
    }
    first.iter().zip(other).find_map(|(column, other)| {
        if column.name != other.name {
            return Some(format!("has the column {} instead of {}", name(other), name(column)));
        }
        kinds_differ(format, column, other)
            .then(|| format!("has {:?} instead of {:?} in column {}", other.kind, column.kind, name(column)))
    })
}

/// Whether column types differ. Types of CSV files are not compared, since they are guesses from the beginning of each file.
/// A column without a value agrees with any type; in JSON Lines also one of mixed types, and integers with other numbers.
fn kinds_differ(format: Format, left: &Column, right: &Column) -> bool {
    let is_guess = |kind: &str| matches!(kind, "" | "mixed");
    let is_number = |kind: &str| matches!(kind, "integer" | "number");
    match format {
        Format::Parquet => !may_be_same(&left.kind, &right.kind),
        Format::Csv | Format::Tsv => false,
        Format::JsonLines => {
            let (left, right) = (left.kind.as_str(), right.kind.as_str());
            let may_agree = left == right || is_guess(left) || is_guess(right);
            !may_agree && (!is_number(left) || !is_number(right))
        }
    }
}

/// Whether types of Parquet may be those of the same column. A column, or a list, without a value has no type of its own.
fn may_be_same(left: &str, right: &str) -> bool {
    left == right
        || left.is_empty()
        || right.is_empty()
        || element(left).zip(element(right)).is_some_and(|(left, right)| may_be_same(left, right))
}

/// Returns the type of the elements of a list; empty if it is not known.
fn element(kind: &str) -> Option<&str> {
    kind.strip_prefix("list").map(|rest| rest.strip_prefix(" of ").unwrap_or(rest))
}

impl Check for Datasets {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.current_file = None;
        let has_data = entry.is_file() || entry.is_too_large;
        let (true, Some(format)) = (has_data, datasets::detect_format(entry.name())) else {
            return FileAction::Skip;
        };
        self.files += 1;
        if entry.is_too_large {
            self.too_large.add_file(entry.path);
            return FileAction::Skip;
        }
        self.current_file =
            Some((entry.path.to_owned(), format, TableReader::new(format, entry.size, &self.spill_dir)));
        FileAction::Read
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        if let Some((.., reader)) = &mut self.current_file {
            reader.push(chunk.bytes);
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some((path, format, reader)) = self.current_file.take() else { return };
        match problem {
            Some(problem) => self.unreadable.add_problem(&path, problem),
            None => {
                let outcome = reader.finish(&mut self.budget);
                self.record(&path, format, outcome);
            }
        }
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        if self.files == 0 {
            return Vec::new();
        }
        let (readable, consistent) = (self.readable_finding(), self.consistent_finding());
        let rows = if self.rows == 0 { Role::Cause } else { Role::Note };
        let Datasets { unreadable, too_large, io_errors, without_rows, differences, uncompared, .. } = *self;
        let readable = readable
            .with(Role::Cause, "", unreadable)
            .with(Role::Cause, "is too large to check", too_large)
            .with(Role::Cause, "", io_errors)
            .with(rows, "has no rows", without_rows);
        let consistent = consistent.map(|finding| {
            finding.with(Role::Cause, "", differences).with(Role::Note, "was not compared", uncompared)
        });
        [Some(readable), consistent].into_iter().flatten().collect()
    }
}

impl Datasets {
    fn readable_finding(&self) -> Finding {
        let mut large = String::new();
        if !self.too_large.is_empty() {
            large = format!(" Too large to check: {}.", self.too_large);
        }
        let files = counted(self.files, "file", "files");
        if !self.unreadable.is_empty() {
            let count = self.unreadable.count();
            let message = format!("{count} of {files} cannot be read: {}.{large}", self.unreadable);
            return Finding::failed(&DATASET_READABLE, &message);
        }
        if !self.io_errors.is_empty() {
            let message =
                format!("The check itself failed, through no fault of the data: {}.", self.io_errors);
            return Finding::new(&DATASET_READABLE, CheckStatus::Error, &message);
        }
        if !self.too_large.is_empty() {
            // A file that was not read must not pass.
            return Finding::failed(
                &DATASET_READABLE,
                &format!("Some files could not be checked. Split them.{large}"),
            );
        }
        if self.rows == 0 {
            let message = format!("The tables have no rows: {}. Include the data.", self.without_rows);
            return Finding::failed(&DATASET_READABLE, &message);
        }
        let mut message = format!("Read {files} with {}.", counted(self.rows, "row", "rows"));
        if !self.without_rows.is_empty() {
            message = format!("{message} Without rows: {}.", self.without_rows);
        }
        Finding::passed(&DATASET_READABLE, &message)
    }

    /// Returns `None` if no table has a second file to compare.
    fn consistent_finding(&self) -> Option<Finding> {
        let mut rest = String::new();
        if !self.uncompared.is_empty() {
            rest =
                format!(" Not compared, because there are too many columns or tables: {}.", self.uncompared);
        }
        if !self.differences.is_empty() {
            let message = format!(
                "Files of a directory whose names differ only in numbers are one table and must have the \
                 same columns: {}.{rest}",
                self.differences
            );
            return Some(Finding::failed(&SCHEMA_CONSISTENT, &message));
        }
        let parts = counted(self.compared_files, "file has", "files have");
        let message = format!("{parts} the same columns as the first file of the table.{rest}");
        (self.compared_files > 0).then(|| Finding::passed(&SCHEMA_CONSISTENT, &message))
    }
}

#[cfg(test)]
mod tests {
    use super::may_be_same;

    #[test]
    fn columns_without_values_agree_with_any_type() {
        for (left, right, expected) in [
            ("text", "text", true),
            ("", "text", true),
            ("list of int64", "list", true),
            ("list of list", "list of list of int64", true),
            ("list of text", "text", false),
            ("int32", "int64", false),
            ("list of int32", "list of int64", false),
        ] {
            assert_eq!(may_be_same(left, right), expected, "{left} {right}");
            assert_eq!(may_be_same(right, left), expected, "{left} {right}");
        }
    }
}
