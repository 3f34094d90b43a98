//! The structure of the linked data: its directories and files, and its tables with their columns.

use crate::{
    artifacts::{
        datasets::{Column as TableColumn, Dataset, Format, Table},
        structure::{Node, NodeKind},
    },
    console::prelude::*,
};

/// Maximum number of shown directories and files, in total and in one directory.
const MAX_NODES: usize = 2_000;
const MAX_CHILDREN: usize = 200;

/// Number of tables, of columns of a table, and of sample rows that are shown.
const MAX_TABLES: usize = 20;
const MAX_COLUMNS: usize = 100;
const MAX_SAMPLES: usize = 3;

/// Returns the tree of directories, each of which can be opened.
pub fn tree(roots: &[Node]) -> Markup {
    let mut remaining = MAX_NODES;
    html! {
        @if !roots.is_empty() {
            h3 { "Structure" }
            div.tree { (level(roots, "tree", &mut remaining)) }
        }
    }
}

/// Returns what is in a directory with this ID.
fn level(nodes: &[Node], id: &str, remaining: &mut usize) -> Markup {
    let shown = nodes.len().min(MAX_CHILDREN).min(*remaining);
    *remaining -= shown;
    html! {
        ul {
            @for node in &nodes[..shown] { li {
                @if node.kind == NodeKind::Directory && !node.children.is_empty() {
                    @let id = format!("{id}/{}", without_spaces(&node.name));
                    details id=(id) { summary { bdi { (node.name) "/" } } (level(&node.children, &id, remaining)) }
                } @else if node.kind == NodeKind::Directory { bdi { (node.name) "/" } }
                @else { bdi { (node.name) } }
            } }
            @if shown < nodes.len() { li.note { "And " (text::grouped((nodes.len() - shown) as u64)) " more" } }
        }
    }
}

/// Returns a name as a part of the ID of an element. The page is replaced again and again while data is read, and what is open in
/// it stays with its ID.
fn without_spaces(name: &str) -> String {
    form_urlencoded::byte_serialize(name.as_bytes()).collect()
}

/// Returns the tables in the data.
pub fn tables_of(dataset: Option<&Dataset>) -> Markup {
    let Some(dataset) = dataset.filter(|dataset| !dataset.tables.is_empty()) else {
        return Markup::default();
    };
    let further = dataset.further_tables + dataset.tables.len().saturating_sub(MAX_TABLES) as u64;
    html! {
        h3 { "Tables" }
        @if let Some(rows) = dataset.rows { p.note { (text::counted(rows, "row", "rows")) " in all" } }
        @for table in dataset.tables.iter().take(MAX_TABLES) { (shown(table)) }
        @if further > 0 { p.note { "And " (text::counted(further, "more table", "more tables")) "." } }
    }
}

/// Returns the name of a format as people write it.
const fn format_name(format: Format) -> &'static str {
    match format {
        Format::Csv => "CSV",
        Format::Tsv => "TSV",
        Format::JsonLines => "JSON Lines",
        Format::Parquet => "Parquet",
    }
}

fn shown(table: &Table) -> Markup {
    let row = |column: &TableColumn| {
        let (name, kind) = (html! { bdi.long { (column.name) } }, html! { span.mono { (column.kind) } });
        [Head::text("Column").cell(name), Head::text("Type").cell(kind)]
    };
    let more = table.columns.len().saturating_sub(MAX_COLUMNS);
    html! {
        details id={ "table/" (without_spaces(&table.path)) } {
            summary.long {
                bdi.mono { (table.path) }
                span.note { (text::counted(table.columns.len() as u64, "column", "columns")) }
            }
            div.stack {
                p.note {
                    (format_name(table.format)) " · " (text::counted(table.files, "file", "files"))
                    @if let Some(rows) = table.rows { " · " (text::counted(rows, "row", "rows")) }
                }
                @if !table.columns.is_empty() {
                    (tables::of(&table.path, table.columns.iter().take(MAX_COLUMNS), row))
                }
                @if more > 0 { p.note { "And " (text::counted(more as u64, "more column", "more columns")) "." } }
                @if !table.sample.is_empty() {
                    pre.long tabindex="0" { @for line in table.sample.iter().take(MAX_SAMPLES) { (line) "\n" } }
                }
            }
        }
    }
}
