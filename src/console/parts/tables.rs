//! Tables, lists of facts, pagers, and the content of empty lists.

use maud::{Markup, Render, html};

/// The head of a column.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Name of the column, with its unit.
    pub name: &'static str,
    /// Whether its values are amounts, numbers, or days, which are aligned at the right.
    pub is_number: bool,
}

impl Head {
    /// Returns the head of a column of texts.
    pub const fn text(name: &'static str) -> Head {
        Head { name, is_number: false }
    }

    /// Returns the head of a column of numbers.
    pub const fn number(name: &'static str) -> Head {
        Head { name, is_number: true }
    }

    /// Returns a cell in this column.
    pub fn cell(self, value: impl Render) -> Cell {
        Cell { head: self, value: value.render() }
    }
}

/// A table cell with the head of its column.
#[derive(Clone, Debug)]
pub struct Cell {
    head: Head,
    value: Markup,
}

impl Render for Cell {
    fn render(&self) -> Markup {
        self.value.clone()
    }
}

/// Returns a table of values. The cells state their columns, so all rows must have the same columns in the same order. The first
/// cell of a row is its heading. Without rows, returns a sentence instead; the page explains what to do.
pub fn of<T, R>(label: &str, things: impl IntoIterator<Item = T>, row: impl FnMut(T) -> R) -> Markup
where
    R: IntoIterator<Item = Cell>,
{
    of_rows(label, things.into_iter().map(row))
}

/// Like [`of`], for rows of cells, such as rows of different types.
pub fn of_rows<R: IntoIterator<Item = Cell>>(label: &str, rows: impl IntoIterator<Item = R>) -> Markup {
    let mut heads = Vec::new();
    let cells = |row: R| {
        let (own_heads, values) = row.into_iter().map(|cell| (cell.head, cell.value)).unzip();
        heads = own_heads;
        values
    };
    let rows: Vec<Vec<Markup>> = rows.into_iter().map(cells).collect();
    table(label, &heads, &rows)
}

/// Returns a table. The first cell of a row names it. A table without rows is a sentence: the page says what to do.
pub fn table(label: &str, heads: &[Head], rows: &[Vec<Markup>]) -> Markup {
    table_with_totals(label, heads, rows, &[])
}

/// Like [`table`], with a last row for the totals, unless this row has no cells.
pub fn table_with_totals(label: &str, heads: &[Head], rows: &[Vec<Markup>], totals: &[Markup]) -> Markup {
    if rows.is_empty() {
        return html! { p.note { (label) ": nothing yet." } };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (label) ", table" } {
            table.dense {
                thead { tr { @for head in heads { th scope="col" class=[head.is_number.then_some("num")] { (head.name) } } } }
                tbody { @for row in rows { tr { (cells(heads, row)) } } }
                @if !totals.is_empty() { tfoot { tr { (cells(heads, totals)) } } }
            }
        }
        // A script hides the hint where the whole table fits.
        p.hint.note { "Scroll sideways for more columns." }
    }
}

/// Returns the cells of a row.
fn cells(heads: &[Head], row: &[Markup]) -> Markup {
    html! { @for (index, cell) in row.iter().enumerate() {
        @if index == 0 { th scope="row" { (cell) } }
        @else { td class=[heads.get(index).is_some_and(|head| head.is_number).then_some("num")] { (cell) } }
    } }
}

/// Returns names with their values.
pub fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! { dl.facts { @for (name, value) in facts { dt { (name) } dd { (value) } } } }
}

/// Returns amounts that add up to the last one.
pub fn sum(amounts: &[(&str, String)]) -> Markup {
    let last = amounts.len().saturating_sub(1);
    html! {
        dl.facts.sum { @for (index, (name, amount)) in amounts.iter().enumerate() {
            dt class=[(index == last).then_some("total")] { (name) }
            dd class=[(index == last).then_some("total")] { (amount) }
        } }
    }
}

/// Returns at most five figures: names, values, and notes.
pub fn figures(figures: &[(&str, Markup, Markup)]) -> Markup {
    html! {
        dl.figures { @for (name, value, note) in figures {
            div { dt { (name) } dd { (value) } dd.note { (note) } }
        } }
    }
}

/// Returns a section of a page with its heading. The ID must be unique on the page.
pub fn section(id: &str, heading: &str, content: &Markup) -> Markup {
    html! { section.section aria-labelledby=(id) { h2 id=(id) { (heading) } (content) } }
}

/// Returns the content of an empty list: what is missing, what to do, and a link for that, by label and address.
pub fn empty(what: &str, advice: &str, link: Option<(&str, &str)>) -> Markup {
    html! {
        div.empty {
            h2 { (what) }
            p { (advice) }
            @if let Some((label, address)) = link { div.row { a.button href=(address) { (label) } } }
        }
    }
}

/// Returns the links between the pages of a list, which continue at a cursor, and so go back by the browser's button or to the
/// first page.
pub fn pager(note: &impl Render, first: Option<&str>, next: Option<&str>) -> Markup {
    html! {
        nav.row.apart aria-label="Pages of the list" {
            span.note { (note) }
            span.row {
                @if let Some(first) = first { a.button href=(first) { "First page" } }
                @if let Some(next) = next { a.button href=(next) rel="next" { "Next page" } }
            }
        }
    }
}
