//! The rows of a table as text: how a file is decoded, and how it is split into cells.

use marketplace_text::{
    encoding::{self, Encoding},
    is_blank,
};

use crate::{
    artifacts::datasets::Separator,
    error::{Error, Problem, Result},
};

/// Field of the form that problems are about.
pub const FIELD: &str = "table";

/// Returns the error about a table as a whole.
pub fn about_table(message: &str) -> Error {
    Error::invalid(Problem::body(&[FIELD], "value_error", message))
}

/// Returns the text of a file. Fails if it is not a text, such as the file of a spreadsheet.
///
/// Spreadsheets save CSV in UTF-8, in UTF-16, or in the encoding of the computer, which is Windows-1252 where most vendors are.
pub fn text_of_file(bytes: &[u8]) -> Result<String> {
    match Encoding::of_file(bytes) {
        Some(Encoding::Utf8 | Encoding::Utf16Le | Encoding::Utf16Be) => {
            Ok(encoding::decode_for_display(bytes))
        }
        Some(Encoding::Utf32) | None => Err(about_table(
            "This file is not a table in text. In the spreadsheet, choose “Save as” and the type “CSV UTF-8”, and send that \
             file; or copy the rows, and paste them here.",
        )),
    }
}

/// Returns the rows of a table. Cells are separated by commas, semicolons, or tabs: the delimiter is detected in the first
/// line, unless a line such as `sep=;` before it states one. A blank line is a row without cells, so rows have the same numbers
/// as in a spreadsheet.
pub fn read_rows(table: &str, max_cells: usize) -> Result<Vec<Vec<String>>> {
    let table = table.trim_start_matches('\u{feff}');
    let (delimiter, table) = match Separator::find(table.as_bytes()) {
        Some(Separator { delimiter, end }) => (char::from(delimiter), &table[end..]),
        None => (shown_delimiter(table), table),
    };
    let (mut rows, mut row, mut rest, mut cells) = (Vec::new(), Vec::new(), table, 0);
    while !rest.is_empty() {
        let (cell, after) = read_cell(rest, delimiter).ok_or_else(|| {
            about_table(&format!(
                "Row {}: a quotation mark begins a cell, and none ends it. Double the quotation marks within texts.",
                rows.len() + 1
            ))
        })?;
        cells += 1;
        if cells > max_cells {
            let message = format!("The table has more than {max_cells} cells. Remove those without a text.");
            return Err(about_table(&message));
        }
        row.push(cell);
        rest = match after.strip_prefix(delimiter) {
            // The end of the text after a delimiter is an empty cell.
            Some("") => {
                row.push(String::new());
                ""
            }
            Some(next) => next,
            None => {
                rows.push(std::mem::take(&mut row));
                after.strip_prefix("\r\n").unwrap_or_else(|| after.get(1..).unwrap_or_default())
            }
        };
    }
    if !row.is_empty() {
        rows.push(row);
    }
    Ok(rows)
}

/// Returns the delimiter that the first line shows.
fn shown_delimiter(table: &str) -> char {
    let first = table.lines().find(|line| !is_blank(line)).unwrap_or_default();
    ['\t', ';', ','].into_iter().find(|delimiter| first.contains(*delimiter)).unwrap_or(',')
}

/// Returns the first cell, and what follows it: a delimiter, the end of a line, or nothing. `None` if its quotation mark is not closed.
fn read_cell(text: &str, delimiter: char) -> Option<(String, &str)> {
    let ends = [delimiter, '\r', '\n'];
    let mut cell = String::new();
    let mut rest = text;
    if let Some(quoted) = text.strip_prefix('"') {
        rest = quoted;
        loop {
            let (part, after) = rest.split_once('"')?;
            cell.push_str(part);
            let Some(doubled) = after.strip_prefix('"') else {
                rest = after;
                break;
            };
            cell.push('"');
            rest = doubled;
        }
    }
    let end = rest.find(ends).unwrap_or(rest.len());
    cell.push_str(&rest[..end]);
    Some((cell, &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1_000;

    #[test]
    fn tables_are_read_as_spreadsheets_write_them() {
        for table in [
            "\u{feff}Title,Exclusive sale\r\n\"a, \"\"b\"\"\nc\",yes\r\n",
            "Title;Exclusive sale\n\"a, \"\"b\"\"\nc\";yes",
            "Title\tExclusive sale\r\"a, \"\"b\"\"\nc\"\tyes\r",
            "\u{feff}sep=;\r\nTitle;Exclusive sale\r\n\"a, \"\"b\"\"\nc\";yes\r\n",
            "\"SEP=|\"\nTitle|Exclusive sale\n\"a, \"\"b\"\"\nc\"|yes",
        ] {
            let rows = read_rows(table, MAX).unwrap();
            assert_eq!(rows, [["Title", "Exclusive sale"], ["a, \"b\"\nc", "yes"]], "{table}");
        }
        assert_eq!(read_rows("", MAX).unwrap(), Vec::<Vec<String>>::new());
        assert_eq!(read_rows("a", MAX).unwrap(), [["a"]]);
        assert_eq!(read_rows("a,\n,b", MAX).unwrap(), [["a", ""], ["", "b"]]);
        assert_eq!(read_rows("a,", MAX).unwrap(), [["a", ""]]);
        assert_eq!(read_rows("17\" screens,\"x\"y\n", MAX).unwrap(), [["17\" screens", "xy"]]);
    }

    #[test]
    fn blank_lines_are_rows() {
        let rows = read_rows("\nTitle;Price, USD\r\n\r\n;\n\na;\"\n\n\";\n", MAX).unwrap();
        let shown: Vec<String> = rows.iter().map(|row| row.join("|")).collect();
        assert_eq!(shown, ["", "Title|Price, USD", "", "|", "", "a|\n\n|"]);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let error = read_rows("a,b\nc,\"d\ne,f", MAX).unwrap_err();
        assert!(error.message().contains("Row 2: a quotation mark"), "{}", error.message());
        assert!(read_rows(&",".repeat(MAX + 1), MAX).is_err());
        assert!(read_rows(&"\n".repeat(MAX + 1), MAX).is_err());
    }

    #[test]
    fn files_are_decoded() {
        let text = "Title;Größe €";
        let with_mark = format!("\u{feff}{text}");
        let little: Vec<u8> = with_mark.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = with_mark.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let windows = b"Title;Gr\xf6\xdfe \x80";
        for bytes in [text.as_bytes(), with_mark.as_bytes(), &little, &big, windows] {
            assert_eq!(text_of_file(bytes).unwrap(), text, "{bytes:?}");
        }
        for bytes in [&b"PK\x03\x04\x14\0\0\0\x08\0"[..], b"\xff\xfe\0\0T\0\0\0i\0\0\0"] {
            let error = text_of_file(bytes).unwrap_err();
            assert!(error.message().contains("CSV UTF-8"), "{}", error.message());
        }
    }
}
