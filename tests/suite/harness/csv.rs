//! Files of lists, as the web app writes them.

use std::mem;

/// Returns the rows of a CSV file with their cells.
pub fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.strip_prefix('\u{FEFF}').expect("the mark of UTF-8").chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(mem::take(&mut cell)),
            '\n' if !is_quoted => {
                row.push(mem::take(&mut cell));
                rows.push(mem::take(&mut row));
            }
            '\r' if !is_quoted => {}
            other => cell.push(other),
        }
    }
    assert!(row.is_empty() && cell.is_empty() && !is_quoted, "the last line has no end");
    rows
}

#[test]
fn files_are_read_with_quotes() {
    let rows = rows("\u{FEFF}a,\"b,\"\"c\"\"\nd\"\r\n,e\r\n");
    assert_eq!(rows, [["a", "b,\"c\"\nd"], ["", "e"]]);
}
