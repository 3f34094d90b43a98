//! The page of a figure.

use super::{
    super::paths::FIGURES,
    drawing,
    range::{self, Chosen},
    values,
};
use crate::{
    console::{csv, pages::operator::prelude::*},
    domain::figures::Step,
    operations::figures,
    store::figures::{Figure, FigureRow},
};

/// The page.
pub struct FigurePage;

impl Page<Operator> for FigurePage {
    const PATH: &'static str = "/operator/figures/{name}";
    const TITLE: &'static str = "Figure";

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let figure = figures::find(visit.parameter(0)).ok_or_else(|| Error::not_found("page"))?;
        let chosen = match Chosen::of(&visit.query, visit.now()) {
            Ok(chosen) => chosen,
            Err(error) => {
                let content = range::refused(&visit.context, figure.title, &error);
                return Ok(content.with_parent("Figures", FIGURES).into());
            }
        };
        let range = chosen.range;
        let is_file = csv::is_asked(&visit.query);
        let read = visit.read(move |reader, operator| {
            let rows = figures::read(reader, operator.platform(), figure, &range)?;
            let whole = (!is_file).then(|| figures::read_whole(reader, operator.platform(), figure, &range));
            Ok((rows, whole.transpose()?.unwrap_or_default()))
        });
        let (rows, whole) = read.await?;
        if is_file {
            return Ok(file(figure, range.step, &rows));
        }
        let context = &visit.context;
        let body = html! {
            (chosen.show(context))
            @if rows.is_empty() {
                (tables::empty("Nothing in this range", "The figure has no records in this range of time. Choose a longer one.", None))
            } @else {
                (in_all(figure, &whole))
                (drawing::charts(figure, &range, &rows))
                details { summary { "As a table" } (table(figure, range.step, &rows, &whole)) }
                @if rows.len() > MAX_ROWS { p.note { "The table has the first " (text::grouped(MAX_ROWS as u64)) " rows. The file has all." } }
                p.note { (csv::link(&context.here(&csv::query(&chosen.query)))) }
            }
        };
        Ok(Content::new(figure.title, body)
            .with_note(html! { (figure.explanation) })
            .with_parent("Figures", FIGURES)
            .into())
    }
}

/// Maximum number of rows of the table.
const MAX_ROWS: usize = 1_000;

/// Shows the numbers of the whole range.
fn in_all(figure: &Figure, whole: &[Option<i64>]) -> Markup {
    let shown = figure.values.iter().zip(whole).map(|(value, number)| {
        let text = number.map_or_else(|| text::MISSING.to_owned(), values::in_chart(value.unit));
        (values::name(value), html! { (text) }, html! { "In the whole range" })
    });
    tables::figures(&shown.collect::<Vec<_>>())
}

fn table(figure: &Figure, step: Step, rows: &[FigureRow], whole: &[Option<i64>]) -> Markup {
    let mut heads = vec![Head::text(values::group_head(figure, step))];
    heads.extend(figure.series.iter().map(|series| Head::text(series.head)));
    heads.extend(figure.values.iter().map(|value| Head::number(values::head(value))));
    let row = |row: &FigureRow| {
        let mut cells = vec![text::parts(&values::group_parts(figure, step, &row.group))];
        cells.extend(figure.series.iter().map(|_| html! { (values::series(row)) }));
        let numbers = figure.values.iter().zip(&row.values);
        cells.extend(numbers.map(|(value, number)| html! { (values::in_table(value.unit, *number)) }));
        cells
    };
    let mut last = vec![html! { "Whole range" }];
    last.extend(figure.series.iter().map(|_| html! { "All" }));
    let numbers = figure.values.iter().zip(whole);
    last.extend(numbers.map(|(value, number)| html! { (values::in_table(value.unit, *number)) }));
    let rows: Vec<_> = rows.iter().take(MAX_ROWS).map(row).collect();
    tables::table_with_totals(figure.title, &heads, &rows, &last)
}

fn file(figure: &Figure, step: Step, rows: &[FigureRow]) -> Answer {
    let heads = [values::group_head(figure, step)].into_iter();
    let heads = heads.chain(figure.series.iter().map(|series| series.head));
    let heads = heads.chain(figure.values.iter().map(|value| value.head)).map(str::to_owned).collect();
    let row = |row: &FigureRow| {
        let mut cells = vec![values::group_in_file(figure, step, &row.group)];
        cells.extend(figure.series.iter().map(|_| values::series(row)));
        let numbers = figure.values.iter().zip(&row.values);
        cells.extend(numbers.map(|(value, number)| values::in_file(value.unit, *number)));
        cells
    };
    csv::whole(figure.name, heads, rows.iter().map(row).collect())
}
