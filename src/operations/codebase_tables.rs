//! Tables of codebases from spreadsheets: their columns, and how each cell is read. All codebases of a table are created, or
//! none.

mod rows;

use std::collections::HashMap;

use marketplace_text::{equality_key, is_blank};
use uuid::Uuid;

pub use rows::text_of_file;
use rows::{FIELD, about_table, read_rows};

use super::{access::Vendor, codebases};
use crate::{
    domain::{
        assets::Exclusivity,
        changes::Change,
        codebase_fields::CodebaseChange,
        inventory::{AssetChange, ChangeOrigin},
        problems::Problems,
        time::Day,
        typed_numbers::{parse_amount, parse_whole_number},
    },
    error::{Error, LocSegment, MAX_PROBLEMS, Problem, Result, quoted},
    market::Writer,
    store,
};

/// Maximum number of codebases in a table.
pub const MAX_ROWS: usize = 500;

/// Maximum size of a table in bytes.
pub const MAX_BYTES: u64 = 2 << 20;

/// Maximum number of cells of a table: twice as many as the codebases can have. No more are read.
const MAX_CELLS: usize = 2 * (MAX_ROWS + 1) * COLUMNS.len();

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    /// Its head.
    pub head: &'static str,
    /// Name of the field that it sets.
    pub field: &'static str,
    /// What its cells have.
    pub about: &'static str,
    /// An example of a cell.
    pub example: &'static str,
}

const fn column(
    head: &'static str,
    field: &'static str,
    about: &'static str,
    example: &'static str,
) -> TableColumn {
    TableColumn { head, field, about, example }
}

/// The columns. Each but the first two can be left out.
pub const COLUMNS: [TableColumn; 13] = [
    column("Title", "title", "What buyers see. Required.", "Harbour ledger"),
    column(
        "Exclusive sale",
        "exclusivity",
        "Whether it can be sold exclusively: yes or no. Required.",
        "yes",
    ),
    column(
        "Description",
        "description",
        "Any text. A README can replace an empty one.",
        "Berth planning for a container port.",
    ),
    column(
        "Domains",
        "domain_tags",
        "Names of domains as listed below, with spaces between them.",
        "logistics",
    ),
    column("Group", "group_id", "Name of a group of your inventory. The default group if it is empty.", ""),
    column("Price, USD", "price_usd", "What you ask for it.", "48000"),
    column("Lines of code", "lines_of_code", "A whole number.", "182000"),
    column("Commits", "commits", "A whole number.", "9120"),
    column("Contributors", "contributors", "A whole number.", "34"),
    column("Merged pull requests", "merged_prs", "A whole number.", "2100"),
    column("First commit", "history_start", "A day, as 2011-04-18.", "2011-04-18"),
    column("Last commit", "history_end", "A day, as 2024-11-02.", "2024-11-02"),
    column("CI on pull requests", "ci_on_prs", "Yes or no.", "yes"),
];

/// Creates the codebases of a table. Returns their number. Fails with the problems of all rows, or at least the first
/// [`MAX_PROBLEMS`].
pub fn create(writer: &mut Writer, vendor: &Vendor, table: &str) -> Result<u64> {
    let rows = read_rows(table, MAX_CELLS)?;
    let is_filled = |(_, cells): &(usize, &Vec<String>)| cells.iter().any(|cell| !is_blank(cell));
    let mut rows = (1..).zip(&rows).filter(is_filled);
    let (_, heads) = rows.next().ok_or_else(|| about_table("Paste a table, or choose a file."))?;
    let (columns, rows): (_, Vec<(usize, &Vec<String>)>) = (find_columns(heads)?, rows.collect());
    if rows.is_empty() || rows.len() > MAX_ROWS {
        let message =
            format!("A table has 1 to {MAX_ROWS} codebases below its heads. This one has {}.", rows.len());
        return Err(about_table(&message));
    }
    let groups = store::groups::list(writer.rows, vendor.team_row_id())?;
    let groups: HashMap<String, Uuid> =
        groups.into_iter().map(|group| (equality_key(&group.name), group.id)).collect();
    let (mut changes, mut problems) = (Vec::new(), Vec::new());
    for (number, cells) in &rows {
        let (number, problems) = (*number, &mut problems);
        let mut row = RowReader { number, columns: &columns, cells, groups: &groups, problems };
        changes.push(Some(row.read()));
    }
    let checked = codebases::check_all_new(&writer.check_context(), vendor, changes, Problems::default());
    let created = match checked {
        Err(Error::Invalid(found)) => {
            let numbers: Vec<usize> = rows.iter().map(|(number, _)| *number).collect();
            for problem in found.iter().map(|problem| in_row(problem, &numbers)) {
                if !problems.iter().any(|other| other.is_of_same_cell(&problem)) {
                    problems.push(problem);
                }
            }
            return Err(all_problems(problems));
        }
        other => other?,
    };
    if !problems.is_empty() {
        return Err(all_problems(problems));
    }
    codebases::create_all(writer, &created)?;
    Ok(created.len() as u64)
}

/// A problem with a cell.
struct CellProblem {
    row: usize,
    head: &'static str,
    message: String,
}

impl CellProblem {
    fn is_of_same_cell(&self, other: &CellProblem) -> bool {
        (self.row, self.head) == (other.row, other.head)
    }
}

/// Returns the error with the problems of all rows, in their order, or with the first [`MAX_PROBLEMS`].
fn all_problems(mut problems: Vec<CellProblem>) -> Error {
    problems.sort_by_key(|problem| problem.row);
    let count = problems.len();
    problems.truncate(MAX_PROBLEMS - 1);
    let about_cell =
        |CellProblem { row, head, message }: CellProblem| format!("Row {row}, {head}: {message}");
    let mut messages: Vec<String> = problems.into_iter().map(about_cell).collect();
    if count > messages.len() {
        messages.push("Later rows have more problems, which are shown when these are corrected.".to_owned());
    }
    let problem = |message: String| Problem::body(&[FIELD], "value_error", message);
    Error::Invalid(messages.into_iter().map(problem).collect())
}

/// Returns a problem with an item of a batch as one with a row.
fn in_row(problem: &Problem, numbers: &[usize]) -> CellProblem {
    let mut segments = problem.loc.iter().skip_while(|segment| !matches!(segment, LocSegment::Index(_)));
    let index = match segments.next() {
        Some(LocSegment::Index(index)) => *index,
        _ => 0,
    };
    let field = segments.find_map(|segment| match segment {
        LocSegment::Name(name) => Some(name.as_str()),
        LocSegment::Index(_) => None,
    });
    let row = numbers.get(index).copied().unwrap_or_default();
    CellProblem { row, head: head_of(field), message: problem.msg.clone() }
}

/// Returns the head of the column with a field; without one, what a problem with the row is about.
fn head_of(field: Option<&str>) -> &'static str {
    COLUMNS.iter().find(|column| Some(column.field) == field).map_or("the row", |column| column.head)
}

/// Returns which column each cell of a row belongs to; `None` for those without a head.
fn find_columns(heads: &[String]) -> Result<Vec<Option<&'static TableColumn>>> {
    let normalize = |text: &str| {
        text.chars()
            .filter(|letter| letter.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let (mut found, mut problems): (Vec<Option<&'static TableColumn>>, _) = (Vec::new(), Vec::new());
    for head in heads.iter().map(|head| head.trim()) {
        if head.is_empty() {
            found.push(None);
            continue;
        }
        let column = COLUMNS
            .iter()
            .find(|column| [normalize(column.head), normalize(column.field)].contains(&normalize(head)));
        let problem = match column {
            None => {
                format!("There is no column {}. The columns are below.", quoted(&crate::error::excerpt(head)))
            }
            Some(column) if found.iter().flatten().any(|other| other.field == column.field) => {
                format!("The column {} is there twice.", column.head)
            }
            Some(column) => {
                found.push(Some(column));
                continue;
            }
        };
        problems.push(Problem::body(&[FIELD], "value_error", problem));
    }
    for required in &COLUMNS[..2] {
        if problems.is_empty() && !found.iter().flatten().any(|column| column.field == required.field) {
            let message = format!("The first row has the heads of the columns. It lacks {}.", required.head);
            problems.push(Problem::body(&[FIELD], "value_error", message));
        }
    }
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(found) } else { Err(Error::Invalid(problems)) }
}

/// Reads the cells of a row.
struct RowReader<'r> {
    number: usize,
    columns: &'r [Option<&'static TableColumn>],
    cells: &'r [String],
    groups: &'r HashMap<String, Uuid>,
    problems: &'r mut Vec<CellProblem>,
}

impl<'r> RowReader<'r> {
    fn read(&mut self) -> AssetChange {
        let (columns, cells, groups) = (self.columns, self.cells, self.groups);
        let has_head = |position: usize| columns.get(position).is_some_and(Option::is_some);
        if cells.iter().enumerate().any(|(position, cell)| !has_head(position) && !is_blank(cell)) {
            let message = "A cell is in a column without a head. Put texts with commas in quotation marks.";
            self.report(None, message);
        }
        self.require("title");
        let number = "Enter a whole number.";
        let day = "Enter a day, as 2011-04-18.";
        let tags = self.text("domain_tags").map(|tags| {
            let tags = tags.split([',', ';', ' ']).map(str::trim).filter(|tag| !tag.is_empty());
            tags.map(|tag| Some(tag.to_lowercase())).collect()
        });
        self.require("exclusivity");
        AssetChange {
            origin: ChangeOrigin::Inventory,
            title: self.text("title").map(str::to_owned),
            description: self
                .text("description")
                .map_or(Change::Unchanged, |text| Change::Set(text.to_owned())),
            domain_tags: tags,
            price_usd: self.value(
                "price_usd",
                "Enter an amount in US dollars, for example 48000.",
                parse_price,
            ),
            group_id: self.value("group_id", "Your inventory has no group with this name.", |text| {
                groups.get(&equality_key(text)).copied()
            }),
            codebase: CodebaseChange {
                exclusivity: self.value("exclusivity", "Enter yes or no.", parse_exclusivity),
                lines_of_code: self.value("lines_of_code", number, parse_whole_number),
                commits: self.value("commits", number, parse_whole_number),
                contributors: self.value("contributors", number, parse_whole_number),
                merged_prs: self.value("merged_prs", number, parse_whole_number),
                history_start: self.value("history_start", day, Day::parse),
                history_end: self.value("history_end", day, Day::parse),
                ci_on_prs: self.value("ci_on_prs", "Enter yes or no.", parse_answer),
            },
            ..AssetChange::default()
        }
    }

    /// Returns the text of the cell in the column with a field; `None` if it is blank, or if there is no such column.
    fn text(&self, field: &str) -> Option<&'r str> {
        let mut columns = self.columns.iter();
        let position = columns.position(|column| column.is_some_and(|column| column.field == field))?;
        self.cells.get(position).map(|cell| cell.trim()).filter(|cell| !is_blank(cell))
    }

    fn require(&mut self, field: &str) {
        if self.text(field).is_none() {
            self.report(Some(field), "Enter a value.");
        }
    }

    fn value<T>(&mut self, field: &str, message: &str, parse: impl FnOnce(&str) -> Option<T>) -> Change<T> {
        let Some(text) = self.text(field) else { return Change::Unchanged };
        let parsed = parse(text);
        if parsed.is_none() {
            self.report(Some(field), message);
        }
        parsed.map_or(Change::Unchanged, Change::Set)
    }

    fn report(&mut self, field: Option<&str>, message: &str) {
        self.problems.push(CellProblem {
            row: self.number,
            head: head_of(field),
            message: message.to_owned(),
        });
    }
}

fn parse_answer(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "y" | "1" => Some(true),
        "no" | "false" | "n" | "0" => Some(false),
        _ => None,
    }
}

fn parse_exclusivity(text: &str) -> Option<Exclusivity> {
    let is_available = match text.to_lowercase().as_str() {
        "available" => Some(true),
        "unavailable" => Some(false),
        other => parse_answer(other),
    };
    is_available
        .map(|is_available| if is_available { Exclusivity::Available } else { Exclusivity::Unavailable })
}

fn parse_price(text: &str) -> Option<f64> {
    parse_amount(text).map(|amount| amount.0 as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_known_by_their_letters() {
        let heads = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let found = find_columns(&heads(&["title", " EXCLUSIVITY", "price usd", "Lines_of_code"])).unwrap();
        let fields: Vec<_> = found.iter().flatten().map(|column| column.field).collect();
        assert_eq!(fields, ["title", "exclusivity", "price_usd", "lines_of_code"]);
        for wrong in [&["Title"][..], &["Title", "Exclusivity", "Title"], &["Title", "Exclusivity", "Color"]]
        {
            assert!(find_columns(&heads(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn cells_are_read_as_people_write_them() {
        assert_eq!(parse_price("$48,000.50"), Some(48_000.5));
        assert_eq!(parse_price("48,00"), None);
        assert_eq!((parse_answer("Yes"), parse_answer("maybe")), (Some(true), None));
        assert_eq!(parse_exclusivity("no"), Some(Exclusivity::Unavailable));
    }
}
