//! The JSON-LD of a listing in Croissant 1.0, which extends schema.org's `Dataset`. This module knows the format only.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::file_patterns::{includes, pattern};
use crate::{
    artifacts::{
        datasets::{Column, Format, Peculiarity, Table},
        quality_checks::license,
    },
    domain::written::counted,
};

/// The version of the format.
const CONFORMS_TO: &str = "http://mlcommons.org/croissant/1.0";

/// The context of the format, with all its terms.
const CONTEXT: &str = include_str!("context.json");

/// The ID of the archive in a document.
const ARCHIVE: &str = "bundle";

/// Maximum number of columns that a document describes.
pub(super) const MAX_COLUMNS: usize = 4_000;

/// Programs read greater numbers as times if the name of their column is one of times. One year in seconds.
const MIN_TIME: f64 = 31_536_000.0;

/// What a document says about a listing.
#[derive(Debug)]
pub struct Listing {
    /// Address of the listing, or its ID as a URN.
    pub url: String,
    /// Title.
    pub title: String,
    /// The vendor's description.
    pub description: String,
    /// Name of the vendor.
    pub publisher: String,
    /// Time of creation, in RFC 3339.
    pub created_at: String,
    /// Time of the latest change.
    pub updated_at: String,
    /// Time of publication; `None` if it was never published.
    pub published_at: Option<String>,
    /// SPDX expressions of the licenses that were found in the data.
    pub licenses: Vec<String>,
    /// Slugs of domains and tags.
    pub keywords: Vec<String>,
}

/// The archive that is delivered.
#[derive(Debug)]
pub struct Archive {
    /// Name of the file.
    pub name: String,
    /// Its stable address.
    pub url: String,
    /// Number of its entries.
    pub entries: u64,
}

/// An entry of the archive.
#[derive(Debug)]
pub struct Entry {
    /// Path in the archive.
    pub path: String,
    /// Title of the asset; `None` if it is not known.
    pub title: Option<String>,
    /// Size in bytes and SHA-256 digest, for those who may know them.
    pub digest: Option<(u64, String)>,
    /// The tables that were read in it.
    pub tables: Vec<Table>,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "@context")]
    context: &'a RawValue,
    #[serde(rename = "@type")]
    kind: &'static str,
    #[serde(rename = "conformsTo")]
    conforms_to: &'static str,
    name: &'a str,
    description: &'a str,
    url: &'a str,
    publisher: Organization<'a>,
    creator: Organization<'a>,
    #[serde(rename = "dateCreated")]
    created_at: &'a str,
    #[serde(rename = "dateModified")]
    updated_at: &'a str,
    #[serde(rename = "datePublished", skip_serializing_if = "Option::is_none")]
    published_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    license: Vec<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    keywords: &'a [String],
    /// Digests of the archive are not known: it may change until it is bought, and it contains this document afterwards.
    #[serde(rename = "isLiveDataset", skip_serializing_if = "std::ops::Not::not")]
    is_live: bool,
    distribution: Vec<Resource<'a>>,
    #[serde(rename = "recordSet")]
    record_sets: Vec<RecordSet<'a>>,
}

#[derive(Clone, Copy, Serialize)]
struct Organization<'a> {
    #[serde(rename = "@type")]
    kind: &'static str,
    name: &'a str,
}

#[derive(Serialize)]
struct Reference<'a> {
    #[serde(rename = "@id")]
    id: &'a str,
}

/// A file, or several files of an archive.
#[derive(Serialize)]
struct Resource<'a> {
    #[serde(rename = "@type")]
    kind: &'static str,
    #[serde(rename = "@id")]
    id: String,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(rename = "contentUrl", skip_serializing_if = "Option::is_none")]
    content_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    includes: Option<String>,
    #[serde(rename = "encodingFormat")]
    encoding_format: &'static str,
    #[serde(rename = "contentSize", skip_serializing_if = "Option::is_none")]
    content_size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
    #[serde(rename = "containedIn", skip_serializing_if = "Option::is_none")]
    contained_in: Option<Reference<'a>>,
}

#[derive(Serialize)]
struct RecordSet<'a> {
    #[serde(rename = "@type")]
    kind: &'static str,
    #[serde(rename = "@id")]
    id: String,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    field: Vec<Field<'a>>,
}

#[derive(Serialize)]
struct Field<'a> {
    #[serde(rename = "@type")]
    kind: &'static str,
    #[serde(rename = "@id")]
    id: String,
    name: &'a str,
    #[serde(rename = "dataType")]
    data_type: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    repeated: bool,
    source: Source<'a>,
}

#[derive(Serialize)]
struct Source<'a> {
    #[serde(rename = "fileObject", skip_serializing_if = "Option::is_none")]
    file: Option<SourceId>,
    #[serde(rename = "fileSet", skip_serializing_if = "Option::is_none")]
    files: Option<SourceId>,
    extract: Extract<'a>,
}

#[derive(Serialize)]
struct SourceId {
    #[serde(rename = "@id")]
    id: String,
}

#[derive(Serialize)]
struct Extract<'a> {
    column: &'a str,
}

/// Returns the document of a listing. With an archive, the paths of the entries are in it; without one, they are relative to the
/// document.
pub fn render(
    listing: &Listing,
    archive: Option<&Archive>,
    entries: &[Entry],
) -> serde_json::Result<Vec<u8>> {
    let mut parts = Parts { resources: Vec::new(), record_sets: Vec::new(), columns: 0 };
    parts.resources.extend(archive.map(|archive| describe_archive(archive, entries.len() as u64)));
    for entry in entries {
        parts.add_entry(entry, archive.is_some());
    }
    let publisher = Organization { kind: "sc:Organization", name: &listing.publisher };
    let context: Box<RawValue> = RawValue::from_string(CONTEXT.trim().to_owned())?;
    let mut json = serde_json::to_vec_pretty(&Document {
        context: &context,
        kind: "sc:Dataset",
        conforms_to: CONFORMS_TO,
        name: &listing.title,
        description: &listing.description,
        url: &listing.url,
        publisher,
        creator: publisher,
        created_at: &listing.created_at,
        updated_at: &listing.updated_at,
        published_at: listing.published_at.as_deref(),
        license: listing.licenses.iter().map(|license| license_reference(license)).collect(),
        keywords: &listing.keywords,
        is_live: archive.is_some(),
        distribution: parts.resources,
        record_sets: parts.record_sets,
    })?;
    json.push(b'\n');
    Ok(json)
}

/// Returns the page of a license in SPDX's list, or the expression if it is not a license of the list.
fn license_reference(expression: &str) -> String {
    if license::is_listed(expression) {
        format!("https://spdx.org/licenses/{expression}")
    } else {
        expression.to_owned()
    }
}

fn describe_archive(archive: &Archive, described: u64) -> Resource<'_> {
    let left_out = archive.entries.saturating_sub(described);
    let more = counted(left_out, "more entry, which is", "more entries, which are");
    let note = (left_out > 0).then(|| format!("Has {more} not described here."));
    Resource {
        kind: "cr:FileObject",
        id: ARCHIVE.to_owned(),
        name: &archive.name,
        description: note,
        content_url: Some(&archive.url),
        includes: None,
        encoding_format: "application/zip",
        content_size: None,
        sha256: None,
        contained_in: None,
    }
}

struct Parts<'a> {
    resources: Vec<Resource<'a>>,
    record_sets: Vec<RecordSet<'a>>,
    /// Number of columns that are described so far.
    columns: usize,
}

impl<'a> Parts<'a> {
    fn add_entry(&mut self, entry: &'a Entry, is_in_archive: bool) {
        let Entry { path, title, digest, tables } = entry;
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.resources.push(Resource {
            kind: "cr:FileObject",
            id: path.clone(),
            name,
            description: title.clone(),
            content_url: Some(path),
            includes: None,
            encoding_format: encoding_format(name),
            content_size: digest.as_ref().map(|(bytes, _)| format!("{bytes} B")),
            sha256: digest.as_ref().map(|(_, sha256)| sha256.as_str()),
            contained_in: is_in_archive.then_some(Reference { id: ARCHIVE }),
        });
        for (index, table) in tables.iter().enumerate() {
            if self.columns + table.columns.len() > MAX_COLUMNS {
                return;
            }
            // No pattern of the format leaves out the files of the other table.
            if tables.iter().all(|other| !includes(table, other)) {
                self.add_table(&format!("{directory}/table-{}", index + 1), path, table);
            }
        }
    }

    /// Adds a table of the entry with this path: its files, and its columns.
    fn add_table(&mut self, id: &str, entry: &'a str, table: &'a Table) {
        let is_one_file = table.files == 1;
        let files = format!("{id}/files");
        let rows: Vec<Value> = match table.format {
            Format::JsonLines => {
                table.sample.iter().filter_map(|row| serde_json::from_str(row).ok()).collect()
            }
            Format::Csv | Format::Tsv | Format::Parquet => Vec::new(),
        };
        let is_time = |(_, column): &(usize, &Column)| is_read_as_time(column, &rows);
        let (times, addressable): (Vec<_>, Vec<_>) =
            addressable_columns(table).into_iter().partition(is_time);
        let field = |&(index, column): &(usize, &'a Column)| {
            let (data_type, repeated) = data_type(column)?;
            Some(Field {
                kind: "cr:Field",
                id: format!("{id}/column-{}", index + 1),
                name: &column.name,
                data_type,
                repeated,
                source: Source {
                    file: is_one_file.then(|| SourceId { id: files.clone() }),
                    files: (!is_one_file).then(|| SourceId { id: files.clone() }),
                    extract: Extract { column: &column.name },
                },
            })
        };
        let fields: Vec<Field> = addressable.iter().filter_map(field).collect();
        self.columns += table.columns.len();
        let mut description = describe_table(table, times.len(), addressable.len(), fields.len());
        self.resources.push(Resource {
            kind: if is_one_file { "cr:FileObject" } else { "cr:FileSet" },
            id: files,
            name: &table.path,
            // If there is none, the description of the record set.
            description: if fields.is_empty() { description.take() } else { None },
            content_url: is_one_file.then_some(&table.path),
            includes: (!is_one_file).then(|| pattern(&table.path)),
            encoding_format: match table.format {
                Format::Csv => "text/csv",
                Format::Tsv => "text/tab-separated-values",
                Format::JsonLines => "application/jsonlines",
                Format::Parquet => "application/x-parquet",
            },
            content_size: None,
            sha256: None,
            contained_in: Some(Reference { id: entry }),
        });
        if !fields.is_empty() {
            self.record_sets.push(RecordSet {
                kind: "cr:RecordSet",
                id: id.to_owned(),
                name: &table.path,
                description,
                field: fields,
            });
        }
    }
}

/// Returns the columns of a table that programs find by their names, with their positions.
fn addressable_columns(table: &Table) -> Vec<(usize, &Column)> {
    if table.peculiarity.is_some() || !table.has_header() {
        return Vec::new();
    }
    let mut uses = HashMap::<&str, usize>::new();
    for column in &table.columns {
        *uses.entry(&column.name).or_default() += 1;
    }
    // Bytes that are not UTF-8 were replaced, so the name in the file is different.
    let is_exact = |name: &str| {
        !name.is_empty() && !name.contains(char::REPLACEMENT_CHARACTER) && uses.get(name) == Some(&1)
    };
    let is_addressable = |column: &Column| is_exact(&column.name) && !column.may_be_truncated();
    table.columns.iter().enumerate().filter(|(_, column)| is_addressable(column)).collect()
}

/// Whether programs read the values of a column of JSON Lines as times, although they are texts or numbers: by the name of the
/// column, if none of the values in `rows` is something else.
fn is_read_as_time(column: &Column, rows: &[Value]) -> bool {
    let name = column.name.to_lowercase();
    let is_name_of_time = matches!(name.as_str(), "date" | "datetime" | "modified")
        || name.starts_with("timestamp")
        || name.ends_with("_at")
        || name.ends_with("_time");
    let is_no_time = |row: &Value| match row.get(&column.name) {
        Some(Value::String(text)) => {
            !text.is_empty() && !text.contains(|character: char| character.is_ascii_digit())
        }
        Some(Value::Number(number)) => number.as_f64().is_some_and(|number| number <= MIN_TIME),
        _ => false,
    };
    is_name_of_time
        && matches!(column.kind.as_str(), "text" | "integer" | "number")
        && !rows.is_empty()
        && !rows.iter().any(is_no_time)
}

/// Returns the number of rows of a table, and why columns are not described; `None` if there is nothing to say. The columns in
/// `times` and `addressable` can be found by their names; the columns in `described` are described.
fn describe_table(table: &Table, times: usize, addressable: usize, described: usize) -> Option<String> {
    let rows = table.rows.map(|rows| format!("{rows} {}.", if rows == 1 { "row" } else { "rows" }));
    let not_described = |count: usize, cause: &str| {
        let columns = counted(count as u64, "column is", "columns are");
        (count > 0).then(|| format!("{columns} not described, since {cause}."))
    };
    let cause = match table.peculiarity {
        Some(Peculiarity::Separator) => {
            "fields are not separated as usual: by commas in CSV, and by tabs in TSV"
        }
        Some(Peculiarity::Preamble) => "the first line of the file is not the header",
        Some(Peculiarity::Encoding) => "the file is in UTF-16, and programs expect UTF-8",
        Some(Peculiarity::Quotes) => {
            "cells or names begin with quotation marks, which programs take for the marks around a cell"
        }
        None if table.has_header() => {
            "names must be unique, not empty, in UTF-8, and not too long to be found by programs"
        }
        None => "the table has no header with names",
    };
    let unnamed = not_described(table.columns.len() - times - addressable, cause);
    let times = not_described(times, "programs read such values as times");
    let nested = not_described(addressable - described, "values are nested, mixed, or binary");
    let sentences: Vec<String> = [rows, unnamed, times, nested].into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Returns the media type of an entry of a bundle.
fn encoding_format(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "zip")) => "application/zip",
        Some((_, "jsonl")) => "application/jsonlines",
        _ => "application/json",
    }
}

/// Returns the type of the values of a column, and whether each is a list; `None` if the format has no type for them.
fn data_type(column: &Column) -> Option<(&'static str, bool)> {
    let (kind, repeated) = match column.kind.strip_prefix("list of ") {
        Some(element) => (element, true),
        None => (column.kind.as_str(), false),
    };
    let data_type = match kind {
        "boolean" => "sc:Boolean",
        "integer" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => "sc:Integer",
        "number" | "float16" | "float32" | "float64" | "decimal" => "sc:Float",
        // A column without any value has no type of its own.
        "text" | "" => "sc:Text",
        "date" => "sc:Date",
        "time" => "sc:Time",
        "timestamp" => "sc:DateTime",
        // In Parquet, UUIDs are bytes and not text.
        _ => return None,
    };
    Some((data_type, repeated))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_licenses_of_the_list_have_a_page() {
        for (expression, expected) in [
            ("MIT", "https://spdx.org/licenses/MIT"),
            ("GPL-2.0-or-later", "https://spdx.org/licenses/GPL-2.0-or-later"),
            ("MPL-2.0+", "MPL-2.0+"),
            ("LicenseRef-Own", "LicenseRef-Own"),
            ("MIT OR Apache-2.0", "MIT OR Apache-2.0"),
        ] {
            assert_eq!(license_reference(expression), expected);
        }
    }

    #[test]
    fn columns_that_programs_read_as_times_are_recognized() {
        for (name, kind, value, expected) in [
            ("created_at", "text", json!("2026-01-01T00:00:00Z"), true),
            ("Date", "text", json!(""), true),
            ("timestamp_ms", "integer", json!(1_577_836_800_000_u64), true),
            ("date", "text", json!("soon"), false),
            ("start_time", "number", json!(4.5), false),
            ("modified", "boolean", json!(true), false),
            ("day", "text", json!("2026-01-01"), false),
        ] {
            let column = Column { name: name.to_owned(), kind: kind.to_owned() };
            let rows = [json!({}), json!({name: value})];
            assert_eq!(is_read_as_time(&column, &rows), expected, "{rows:?}");
            assert!(!is_read_as_time(&column, &[]), "{name}");
        }
    }

    #[test]
    fn types_are_those_of_the_format_or_none() {
        let kind = |kind: &str| data_type(&Column { name: "c".to_owned(), kind: kind.to_owned() });
        assert_eq!(kind("int64"), Some(("sc:Integer", false)));
        assert_eq!(kind("list of float64"), Some(("sc:Float", true)));
        assert_eq!(kind(""), Some(("sc:Text", false)));
        for nested in
            ["list of list of text", "struct", "map", "object", "array", "mixed", "binary", "uuid", "list"]
        {
            assert_eq!(kind(nested), None, "{nested}");
        }
    }
}
