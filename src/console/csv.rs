//! Lists as CSV files (RFC 4180). They are read and sent in parts. No spreadsheet interprets their cells as formulas.

use std::{io, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use maud::{Markup, html};
use poem::{Body, Response, http::header};

use super::{
    address::Query,
    answer::Answer,
    visit::{Proof, Visit},
};
use crate::{error::Result, market::Reader};

/// Name of the field of the query that asks for a file.
const FORMAT: &str = "format";

/// Its value.
const CSV: &str = "csv";

/// Begins a file, from which spreadsheets learn that it is in UTF-8.
const MARK: char = '\u{FEFF}';

/// Characters at which some program begins another cell, even inside of quotation marks.
const BREAKS: [char; 4] = [';', '\t', '\r', '\n'];

/// Characters that begin a formula. Some programs also accept their wide forms.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The cells of a row.
pub type Row = Vec<String>;

/// A part of a file.
pub struct Part<P> {
    /// Its rows.
    pub rows: Vec<Row>,
    /// The position of the next part; `None` at the end.
    pub next: Option<P>,
}

/// Whether a query asks for a file.
pub fn is_asked(query: &Query) -> bool {
    query.get(FORMAT) == Some(CSV)
}

/// Returns the query that asks for the rows of another one as a file.
pub fn query(query: &Query) -> Query {
    query.with(FORMAT, CSV)
}

/// Returns the link to a file.
pub fn link(address: &str) -> Markup {
    html! { a href=(address) download { "Download as CSV" } }
}

/// Answers with a file whose rows are known.
pub fn whole(name: &str, heads: Row, rows: Vec<Row>) -> Answer {
    let mut text = begin(heads);
    append_rows(&mut text, rows);
    file(name, Body::from(text))
}

/// Answers with a file whose parts are read by `read`, from the position `first` on. Each part is a separate read operation.
/// The first part is read now, so its errors are answered with a page. Later errors end the transfer, and so does the end of the
/// session.
pub async fn in_parts<A, P, R>(visit: &Visit<A>, name: &str, heads: Row, first: P, read: R) -> Result<Answer>
where
    A: Proof,
    P: Send + 'static,
    R: Fn(&Reader, &A, P) -> Result<Part<P>> + Clone + Send + Sync + 'static,
{
    let visit = Visit { access: visit.access.clone(), context: Arc::clone(&visit.context) };
    let mut text = begin(heads);
    let next = append_part(&mut text, &visit, first, read.clone()).await?;
    let parts = stream::unfold(Some(Left::Text(text, next)), move |left| {
        let visit = Visit { access: visit.access.clone(), context: Arc::clone(&visit.context) };
        let read = read.clone();
        async move {
            let (text, next) = match left? {
                Left::Text(text, next) => (text, next),
                Left::From(position) => {
                    let mut text = String::new();
                    match append_part(&mut text, &visit, position, read).await {
                        Ok(next) => (text, next),
                        Err(error) => return Some((Err(io::Error::other(error.to_string())), None)),
                    }
                }
            };
            Some((Ok(Bytes::from(text)), next.map(Left::From)))
        }
    });
    Ok(file(name, Body::from_bytes_stream(parts)))
}

/// What is left to send of a file.
enum Left<P> {
    /// A text, and what follows a position.
    Text(String, Option<P>),
    /// What follows a position.
    From(P),
}

/// Reads a part, and appends its rows. Returns the position of the next part.
async fn append_part<A, P, R>(text: &mut String, visit: &Visit<A>, position: P, read: R) -> Result<Option<P>>
where
    A: Proof,
    P: Send + 'static,
    R: Fn(&Reader, &A, P) -> Result<Part<P>> + Send + 'static,
{
    let part = visit.read_part(move |reader, access| read(reader, access, position)).await?;
    append_rows(text, part.rows);
    Ok(part.next)
}

/// `name` is without its extension.
fn file(name: &str, body: Body) -> Answer {
    let response = Response::builder()
        .content_type("text/csv; charset=utf-8")
        .header(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.csv\""))
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(body);
    Answer::File(response)
}

/// Returns the beginning of a file, with the heads of its columns.
fn begin(heads: Row) -> String {
    let mut text = MARK.to_string();
    append_row(&mut text, heads);
    text
}

fn append_rows(text: &mut String, rows: Vec<Row>) {
    for row in rows {
        append_row(text, row);
    }
}

fn append_row(text: &mut String, cells: Row) {
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&quoted(&cell));
    }
    text.push_str("\r\n");
}

/// Encodes a cell of a file. Spreadsheets execute a cell that begins like a formula, so such a cell gets an apostrophe. So does
/// each part of it that would be a cell in a spreadsheet with another separator.
fn quoted(cell: &str) -> String {
    // From the end, so it is known what follows a break.
    let (mut reversed, mut is_formula) = (Vec::with_capacity(cell.len()), false);
    for letter in cell.chars().rev() {
        let is_break = BREAKS.contains(&letter);
        if is_break && is_formula {
            reversed.push('\'');
        }
        reversed.push(letter);
        is_formula = FORMULA.contains(&letter) || is_formula && !is_break && is_left_out(letter);
    }
    let is_number = cell.parse::<f64>().is_ok();
    let is_control =
        cell.chars().take_while(|letter| is_left_out(*letter)).any(|letter| "\t\r\n".contains(letter));
    if is_formula && !is_number || is_control {
        reversed.push('\'');
    }
    let cell: String = reversed.into_iter().rev().collect();
    if cell.contains([',', ';', '\t', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

/// Whether some program leaves out a character at the beginning of a cell.
fn is_left_out(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, MARK | '\u{200B}' | '"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_are_no_formulas() {
        for (cell, expected) in [
            ("a", "a"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
            ("-5.00", "-5.00"),
            ("-x", "'-x"),
            ("@a,b", "\"'@a,b\""),
            (" =1", "' =1"),
            ("\u{FEFF}=1", "'\u{FEFF}=1"),
            ("＝1", "'＝1"),
            ("\t1", "\"'\t1\""),
            ("Pier;=1+1", "\"Pier;'=1+1\""),
            ("Pier; ＠x", "\"Pier;' ＠x\""),
            ("a\t-1;b", "\"a\t'-1;b\""),
            ("a;\"=1\"", "\"a;'\"\"=1\"\"\""),
            ("a\r\n+1", "\"a\r\n'+1\""),
            ("\n=1", "\"'\n'=1\""),
            ("a;b=1;c - d", "\"a;b=1;c - d\""),
            ("=1;=2", "\"'=1;'=2\""),
            ("", ""),
        ] {
            assert_eq!(quoted(cell), expected);
        }
    }

    #[test]
    fn file_begins_with_the_mark_of_its_encoding() {
        assert_eq!(begin(vec!["Größe".to_owned(), "b".to_owned()]), "\u{FEFF}Größe,b\r\n");
    }

    #[test]
    fn query_asks_for_a_file() {
        let asked = query(&Query::parse("a=1"));
        assert_eq!(asked.at("/x"), "/x?a=1&format=csv");
        assert!(is_asked(&asked) && !is_asked(&Query::parse("format=x")));
    }
}
