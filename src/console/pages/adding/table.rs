//! Many codebases at once, from a table.

use std::io::Read;

use super::{
    below_adding,
    reference::{self, Reference},
};
use crate::{
    console::{
        csv,
        prelude::*,
        receivers::{self, Receiver},
        refusals,
    },
    error::Problem,
    operations::{
        codebase_tables::{self, COLUMNS, MAX_BYTES, MAX_ROWS},
        taxonomy,
    },
    web::multipart::{self, FormLimits, FormWithFile},
};

/// Name of the field for a file.
const FILE: &str = "file";

/// Name of the field for a table that is pasted.
const TABLE: &str = "table";

/// The page with the form.
pub struct AddTable;

/// The form.
pub struct SendTable;

/// The file with the columns, and one row as an example.
pub struct Template;

impl Page<Vendor> for AddTable {
    const PATH: &'static str = "/inventory/add/table";
    const TITLE: &'static str = "Add many codebases from a table";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let domains = visit.read(taxonomy::domains_of_assets).await?;
        visit.inputs.add_label(FILE, "CSV file");
        let is_refused = visit.inputs.problem(FILE).is_some();
        let hint = html! { "With the heads of the columns in the first row. Copy it from a spreadsheet, or paste the text of a CSV file." };
        let body = html! {
            form.stack method="post" enctype="multipart/form-data" action=(visit.links.to(SendTable::PATH)) {
                (fields::form_key(&visit.context))
                div.field {
                    label for="file" { "CSV file" }
                    p.note #file-h { "Up to " (text::size(MAX_BYTES)) "." }
                    input #file type="file" name=(FILE) accept=".csv,.tsv,.txt,text/csv"
                        aria-describedby=(if is_refused { "file-h file-p" } else { "file-h" }) aria-invalid=[is_refused.then_some("true")];
                    (fields::problem(&visit.inputs, FILE))
                }
                (Field::lines(TABLE, "Or the table itself").hint(hint).show(&visit.inputs))
                (fields::buttons(&visit.context, "Add the codebases", ("Leave", paths::ADD_ASSETS)))
            }
            (tables::section("columns", "Columns", &columns()))
            (reference::domains_section(&domains))
            p.note {
                "A table adds codebases only. " a href=(visit.links.to(Reference::PATH)) { "All kinds of assets" }
            }
        };
        let note = html! {
            "Up to " (MAX_ROWS) " codebases. If one row has a problem, none is added. "
            a href=(visit.links.to(Template::PATH)) download { "Download a template" }
        };
        Ok(below_adding(Content::new(Self::TITLE, body).with_note(note)).into())
    }
}

fn columns() -> maud::Markup {
    let row = |column: &codebase_tables::TableColumn| {
        [
            Head::text("Column").cell(column.head),
            Head::text("Cells").cell(column.about),
            Head::text("Example").cell(column.example),
        ]
    };
    html! {
        p { "Each column but the first two can be left out, and they can be in any order." }
        (tables::of("Columns", &COLUMNS, row))
    }
}

impl Page<Vendor> for Template {
    const PATH: &'static str = "/inventory/add/table/template";
    const TITLE: &'static str = "Template of a table of codebases";

    async fn show(_: &Visit<Vendor>) -> Result<Answer> {
        let heads = COLUMNS.iter().map(|column| column.head.to_owned()).collect();
        let example = COLUMNS.iter().map(|column| column.example.to_owned()).collect();
        Ok(csv::whole("codebases", heads, vec![example]))
    }
}

impl Receiver<Vendor> for SendTable {
    const PATH: &'static str = "/inventory/add/table/rows";
    const TITLE: &'static str = "Add codebases from a table";
    const BUDGET: Option<Budget> = Some(Budget::Other);

    async fn receive(visit: &Visit<Vendor>, request: &mut poem::Request) -> Result<Answer> {
        let limits = FormLimits { text_bytes: MAX_BYTES, file_bytes: MAX_BYTES };
        let body = request.take_body();
        let (mut typed, mut has_file) = (Fields::default(), false);
        let added = async {
            let form = multipart::receive(visit.market(), request, body, limits).await?;
            typed = Fields::of_pairs(form.fields.clone())?;
            has_file = form.file.is_some();
            visit.check_opened_by(&typed)?;
            add(visit, &table_of(visit, form).await?).await
        };
        let added = added.await;
        match if has_file { added.map_err(about_file) } else { added } {
            Err(error) if refusals::is_about_form(&error) => {
                receivers::show_refused::<AddTable, _>(visit, request, AddTable::PATH, (typed, &error)).await
            }
            other => other,
        }
    }
}

/// Returns the fields of a form, with the table of its file if one was chosen.
async fn table_of(visit: &Visit<Vendor>, form: FormWithFile) -> Result<Fields> {
    let FormWithFile { mut fields, file } = form;
    let Some(mut file) = file else { return Fields::of_pairs(fields) };
    let read = move |_: &crate::market::Market| {
        let mut bytes = Vec::new();
        file.content.read_to_end(&mut bytes).map_err(Error::internal)?;
        codebase_tables::text_of_file(&bytes)
    };
    let text = visit.market().spawn_blocking(read).await?;
    fields.retain(|(name, _)| name != TABLE);
    fields.push((TABLE.to_owned(), text));
    Fields::of_pairs(fields)
}

/// Moves problems with the table to the field of the file that it was read from.
fn about_file(error: Error) -> Error {
    let Error::Invalid(mut problems) = error else { return error };
    for problem in problems.iter_mut().filter(|problem| problem.body_path() == TABLE) {
        problem.loc = Problem::body(&[FILE], problem.kind, &problem.msg).loc;
    }
    Error::Invalid(problems)
}

async fn add(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
    let table = fields.exact(TABLE).unwrap_or_default().to_owned();
    let change = Change::new("create_codebases", "team", visit.access.team().id);
    let work = move |writer: &mut Writer, vendor: &Vendor| codebase_tables::create(writer, vendor, &table);
    let _: u64 = changes::perform(visit, fields, change, work).await?;
    Ok(Answer::done(paths::INVENTORY, Notice::CodebasesAdded))
}
