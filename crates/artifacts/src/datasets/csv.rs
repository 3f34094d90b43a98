//! CSV and TSV: the columns and samples at the beginning of a file, and whether all rows have as many fields
//! as the first.

mod header;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use marketplace_domain::written::{counted, grouped};
use marketplace_text::encoding::{Decoder, Encoding, InvalidText, StrictDecoder};

use super::{
    Column, FileSummary, Format, MAX_COLUMN_NAME_CHARS, MAX_SAMPLE_ROWS, Peculiarity, TableError,
    merge_types, separator::Separator, substitute_name, truncate_sample,
};

/// Number of bytes at the beginning from which the delimiter, the header and the column types are detected.
pub const HEAD_BYTES: usize = 65_536;

/// Number of rows at the beginning from which the delimiter and the header are detected, besides the first one. The types of the
/// columns are those of all rows of the head.
const FORM_SAMPLE_ROWS: usize = 50;

/// Number of inspected bytes of a field: at least the length of the longest column name.
const MAX_FIELD_BYTES: usize = 4 * MAX_COLUMN_NAME_CHARS;

/// Number of fields of a row that are inspected. Further fields are only counted.
const MAX_FIELDS: usize = 1_000;

/// Incremental reader of one file.
pub struct CsvReader {
    format: Format,
    decoder: StrictDecoder,
    /// The beginning of the text, until there is enough of it.
    head: Vec<u8>,
    rows: Option<RowCounter>,
}

/// Counts rows and fields once the delimiter is known.
struct RowCounter {
    core: Reader,
    delimiter: u8,
    facts: FileSummary,
    /// Number of fields of the first row.
    width: Option<u64>,
    /// Number of fields of the current row so far.
    fields: u64,
    /// Line in which the current field starts, or the last one before it that is empty or a comment.
    field_line: u64,
    count: u64,
    /// Whether any field so far has more than spaces. Without one, the file has no rows.
    has_text: bool,
    /// Number of lines before the rows: those of a [`Separator`].
    lines_before: u64,
    error: Option<TableError>,
}

impl CsvReader {
    /// Creates a reader for a CSV or TSV file.
    pub fn new(format: Format) -> CsvReader {
        CsvReader { format, decoder: StrictDecoder::default(), head: Vec::new(), rows: None }
    }

    /// Processes the next chunk of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut decoder = std::mem::take(&mut self.decoder);
        let decoded = decoder.push(bytes, |text| self.push_text(text));
        self.decoder = decoder;
        self.check(decoded);
    }

    /// Records an error of the encoding, which comes after the text that was read.
    fn check(&mut self, decoded: Result<(), InvalidText>) {
        let Err(error) = decoded else { return };
        if self.rows.is_none() {
            self.start_rows();
        }
        if let Some(rows) = &mut self.rows {
            let line = rows.lines_before + rows.core.line();
            rows.error.get_or_insert_with(|| TableError(error.in_line(line)));
        }
    }

    fn push_text(&mut self, bytes: &[u8]) {
        // The head is parsed several times, so it is not longer than needed.
        let wanted = if self.rows.is_some() { 0 } else { HEAD_BYTES - self.head.len() };
        let (head, rest) = bytes.split_at(wanted.min(bytes.len()));
        self.head.extend_from_slice(head);
        if self.rows.is_none() && self.head.len() >= HEAD_BYTES {
            self.start_rows();
        }
        if let Some(rows) = &mut self.rows {
            rows.push(rest);
        }
    }

    /// Returns the facts about the file after its last chunk, or why the file is invalid.
    pub fn finish(mut self) -> Result<FileSummary, TableError> {
        let mut decoder = std::mem::take(&mut self.decoder);
        let decoded = decoder.finish(|text| self.push_text(text));
        self.check(decoded);
        if self.rows.is_none() {
            self.start_rows();
        }
        self.rows.map_or_else(|| Err(TableError::new("cannot be read")), RowCounter::finish)
    }

    fn start_rows(&mut self) {
        let head = std::mem::take(&mut self.head);
        let is_cut = head.len() >= HEAD_BYTES;
        let (facts, delimiter, comment) = parse_head(self.format, Head { text: &head, is_cut });
        let separator = Separator::find(&head);
        let mut rows = RowCounter {
            core: new_core(delimiter, comment, has_quotes(self.format)),
            delimiter,
            facts,
            width: None,
            fields: 0,
            field_line: 1,
            count: 0,
            has_text: false,
            lines_before: u64::from(separator.is_some()),
            error: None,
        };
        rows.push(separator.map_or(head.as_slice(), |separator| &head[separator.end..]));
        self.rows = Some(rows);
    }
}

/// Summarizes the first [`HEAD_BYTES`] bytes of a file, without a number of rows.
pub fn summarize_head(format: Format, bytes: &[u8]) -> FileSummary {
    let mut buffer = Vec::new();
    let text = Decoder::new(Encoding::of_text(bytes)).decode(bytes, false, &mut buffer);
    // The text is shorter than its bytes if these begin with a byte order mark.
    let head = Head { text, is_cut: bytes.len() >= HEAD_BYTES };
    FileSummary { rows: None, ..parse_head(format, head).0 }
}

/// The text at the beginning of a file.
#[derive(Clone, Copy)]
struct Head<'t> {
    text: &'t [u8],
    /// Whether more may follow, so that the last row may be cut off.
    is_cut: bool,
}

/// Whether quotes enclose fields. In TSV, they are part of the text.
fn has_quotes(format: Format) -> bool {
    format != Format::Tsv
}

fn new_core(delimiter: u8, comment: Option<u8>, has_quotes: bool) -> Reader {
    ReaderBuilder::new().delimiter(delimiter).comment(comment).quoting(has_quotes).build()
}

/// Whether a part of a field has more than spaces.
const fn has_text(part: &[u8]) -> bool {
    !part.trim_ascii().is_empty()
}

impl RowCounter {
    /// Ends the last row by a line break. Returns whether the text ends inside a quoted field instead: then neither the line
    /// break nor a delimiter after it ends a field.
    fn end_last_row(&mut self) -> bool {
        let mut field = [0; MAX_FIELD_BYTES];
        let (result, _, written) = self.core.read_field(b"\n", &mut field);
        self.has_text = self.has_text || has_text(&field[..written]);
        if let ReadFieldResult::Field { record_end } = result {
            self.count_field(record_end, true);
            return false;
        }
        let after = self.core.read_field(&[self.delimiter], &mut field).0;
        !matches!(after, ReadFieldResult::Field { .. })
    }

    fn push(&mut self, mut bytes: &[u8]) {
        let mut field = [0; MAX_FIELD_BYTES];
        while !bytes.is_empty() && self.error.is_none() {
            let (result, read, written) = self.core.read_field(bytes, &mut field);
            self.has_text = self.has_text || has_text(&field[..written]);
            if let ReadFieldResult::Field { record_end } = result {
                self.count_field(record_end, bytes[..read].ends_with(b"\n"));
            }
            bytes = &bytes[read..];
        }
    }

    /// Counts a field. `is_line_counted` means that the reader has already counted the line break after it.
    fn count_field(&mut self, is_last: bool, is_line_counted: bool) {
        self.fields += 1;
        self.field_line = self.core.line() + u64::from(is_last && !is_line_counted);
        if !is_last {
            return;
        }
        let (fields, width) = (self.fields, *self.width.get_or_insert(self.fields));
        if fields != width {
            let line = self.lines_before + self.core.line() - u64::from(is_line_counted);
            let (fields, width) = (counted(fields, "field", "fields"), grouped(width));
            self.error = Some(TableError(format!("has {fields} instead of {width} in line {line}")));
        }
        self.count += 1;
        self.fields = 0;
    }

    fn finish(mut self) -> Result<FileSummary, TableError> {
        if self.error.is_none() && self.end_last_row() {
            let line = self.lines_before + self.field_line;
            self.error = Some(TableError(format!(
                "ends inside a quoted field, which starts in line {line}. Include the whole file, or close the quote"
            )));
        }
        match self.error {
            Some(error) => Err(error),
            None => {
                // The header is counted as a row, so subtract it. Until here `rows` is the number of header
                // rows.
                let header = u64::from(self.facts.rows == Some(1));
                let rows = if self.has_text { self.count.saturating_sub(header) } else { 0 };
                Ok(FileSummary { rows: Some(rows), ..self.facts })
            }
        }
    }
}

/// Describes a file from its beginning. Returns the facts, the delimiter, and the byte that starts a comment.
/// Rows are not counted yet: `rows` of the facts is the number of header rows.
fn parse_head(format: Format, head: Head) -> (FileSummary, u8, Option<u8>) {
    let separator = Separator::find(head.text);
    let head = Head { text: &head.text[separator.map_or(0, |separator| separator.end)..], ..head };
    let delimiter = match (separator, format) {
        (Some(separator), _) => separator.delimiter,
        (None, Format::Tsv) => b'\t',
        (None, _) => detect_delimiter(head),
    };
    let comment = detect_comment_byte(head, delimiter, has_quotes(format));
    let rows = parse_rows(head, delimiter, comment, has_quotes(format), usize::MAX);
    let has_header = has_header(&rows[..rows.len().min(1 + FORM_SAMPLE_ROWS)]);
    let mut columns: Vec<Column> = match rows.first() {
        // Programs find a column by its exact name, with the spaces around it.
        Some(first) if has_header => first.fields.iter().map(|name| Column::new(name, "")).collect(),
        Some(first) => (0..first.fields.len()).map(|at| Column::new(&substitute_name(at), "")).collect(),
        None => Vec::new(),
    };
    let data = &rows[usize::from(has_header)..];
    for (at, column) in columns.iter_mut().enumerate() {
        let kind = data
            .iter()
            .filter_map(|row| row.fields.get(at))
            .map(|field| guess_type(field))
            .fold("", merge_types);
        // A column with numbers and other values is text.
        if kind.is_empty() || kind == "mixed" { "text" } else { kind }.clone_into(&mut column.kind);
    }
    let text = |row: &Row| {
        truncate_sample(
            String::from_utf8_lossy(&head.text[row.start..row.end]).trim_end_matches(['\r', '\n']),
        )
    };
    let sample = data.iter().take(MAX_SAMPLE_ROWS).map(text).collect();
    let has_preamble = separator.is_some() || comment.is_some();
    let peculiarity = match (format, delimiter) {
        (Format::Tsv, b'\t') if has_stray_quotes(&rows, has_header) => Some(Peculiarity::Quotes),
        (Format::Tsv, b'\t') | (Format::Csv, b',') => has_preamble.then_some(Peculiarity::Preamble),
        _ => Some(Peculiarity::Separator),
    };
    let rows = Some(u64::from(has_header));
    (FileSummary { columns, rows, sample, peculiarity }, delimiter, comment)
}

/// Returns the delimiter that splits the first rows into equal numbers of fields, and into the most fields.
fn detect_delimiter(head: Head) -> u8 {
    let score = |delimiter: u8| {
        let comment = detect_comment_byte(head, delimiter, true);
        let rows = parse_first_rows(head, delimiter, comment, true);
        let width = rows.first().map_or(0, |row| row.width);
        let matching = rows.iter().filter(|row| row.width == width).count();
        // Agreement of the rows matters more than the number of fields.
        (width > 1, matching * 100 / rows.len().max(1), width)
    };
    let mut best = b',';
    for candidate in [b';', b'\t', b'|'] {
        if score(candidate) > score(best) {
            best = candidate;
        }
    }
    best
}

/// Returns the byte that starts a comment, if any. Tables of measurements often have comments before their
/// rows. A header may start with `#`, too, but then it has as many fields as the rows.
fn detect_comment_byte(head: Head, delimiter: u8, has_quotes: bool) -> Option<u8> {
    let is_uneven = |rows: Vec<Row>| rows.windows(2).any(|pair| pair[0].width != pair[1].width);
    (head.text.starts_with(b"#") && is_uneven(parse_first_rows(head, delimiter, None, has_quotes)))
        .then_some(b'#')
}

/// One of the first rows of a file, and its byte range.
#[derive(Default)]
struct Row {
    fields: Vec<String>,
    width: u64,
    start: usize,
    end: usize,
}

/// Parses the rows from which the form of a file is detected.
fn parse_first_rows(head: Head, delimiter: u8, comment: Option<u8>, has_quotes: bool) -> Vec<Row> {
    parse_rows(head, delimiter, comment, has_quotes, 1 + FORM_SAMPLE_ROWS)
}

/// Parses at most a number of rows from the beginning of a file.
fn parse_rows(head: Head, delimiter: u8, comment: Option<u8>, has_quotes: bool, max_rows: usize) -> Vec<Row> {
    let mut core = new_core(delimiter, comment, has_quotes);
    let (mut rows, mut at, mut field) = (Vec::<Row>::new(), 0, vec![0; MAX_FIELD_BYTES]);
    let (mut row, mut content) = (Row::default(), Vec::new());
    while rows.len() < max_rows {
        let (result, read, written) = core.read_field(&head.text[at..], &mut field);
        at += read;
        content.extend_from_slice(&field[..written.min(MAX_FIELD_BYTES - content.len())]);
        match result {
            // Ignore the last row, which may be cut off, unless it is the only one.
            ReadFieldResult::InputEmpty if head.is_cut && !rows.is_empty() => break,
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
            ReadFieldResult::End => break,
            ReadFieldResult::Field { record_end } => {
                row.width += 1;
                if row.fields.len() < MAX_FIELDS {
                    row.fields.push(String::from_utf8_lossy(&content).into_owned());
                }
                content.clear();
                if record_end {
                    row.end = at;
                    rows.push(std::mem::replace(&mut row, Row { start: at, ..Row::default() }));
                }
            }
        }
    }
    rows
}

/// Whether the first row has the names of the columns.
fn has_header(rows: &[Row]) -> bool {
    let Some((first, others)) = rows.split_first() else { return false };
    let columns = first.fields.iter().enumerate().map(|(at, name)| {
        (
            name.trim(),
            others
                .iter()
                .filter_map(|row| row.fields.get(at))
                .map(|field| field.trim())
                .collect::<Vec<&str>>(),
        )
    });
    header::is_header(&columns.collect::<Vec<_>>())
}

/// Guesses the type of a field from its text. Empty for a missing value. Programs ignore spaces only around numbers.
fn guess_type(field: &str) -> &'static str {
    match field {
        "" | "NA" | "null" | "NULL" => return "",
        "true" | "false" | "True" | "False" | "TRUE" | "FALSE" => return "boolean",
        _ => {}
    }
    match field.trim() {
        number if has_leading_zeros(number) => "text",
        number if is_whole_number(number) => "integer",
        number if number.parse::<f64>().is_ok() => "number",
        _ => "text",
    }
}

/// Whether a row of TSV, where quotes are text, has other cells for programs, which take them for the marks around a cell.
fn has_stray_quotes(rows: &[Row], has_header: bool) -> bool {
    let is_quoted = |field: &String| field.starts_with('"');
    let is_open = |field: &String| {
        let is_complete = field.len() < MAX_FIELD_BYTES;
        is_quoted(field) && is_complete && !field.matches('"').count().is_multiple_of(2)
    };
    let header = rows.first().filter(|_| has_header);
    header.is_some_and(|header| header.fields.iter().any(is_quoted))
        || rows.iter().flat_map(|row| &row.fields).any(is_open)
}

/// Whether a field is a whole number of any size: a number with a fraction would lose the last digits of a long one.
fn is_whole_number(field: &str) -> bool {
    let digits = field.strip_prefix(['+', '-']).unwrap_or(field);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether a field begins with zeros that a number would lose, as postal codes do.
fn has_leading_zeros(field: &str) -> bool {
    let digits = field.trim_start_matches(['+', '-']);
    digits.strip_prefix('0').is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
