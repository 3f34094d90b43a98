//! The charts of a figure. Parts are charts of their own with the same axis, so no color tells them apart.

use std::collections::{BTreeSet, HashMap};

use super::values;
use crate::{
    console::{
        pages::operator::prelude::*,
        parts::charts::{self, Bar, Chart, NamedBar},
    },
    domain::figures::{Range, Step},
    store::figures::{Axis, Figure, FigureRow, Unit, Value},
};

/// Number of months up to which their names without years are clear.
const MONTHS_OF_YEAR: usize = 12;

/// Maximum number of names that are drawn. The table has all.
const MAX_NAMES: usize = 20;

/// Shows all charts of a figure that has records.
pub fn charts(figure: &Figure, range: &Range, rows: &[FigureRow]) -> Markup {
    let drawn = || figure.values.iter().enumerate().filter(|(_, value)| value.is_drawn);
    if matches!(figure.by, Axis::Names { .. }) {
        return html! { @for (index, value) in drawn() { (ranking(figure, range, rows, (index, value))) } };
    }
    let groups = groups(figure, range, rows);
    html! { @for drawn in drawn() { (columns(figure, range, rows, drawn, &groups)) } }
}

/// Returns the groups in their order, with those in between that have no records.
fn groups(figure: &Figure, range: &Range, rows: &[FigureRow]) -> Vec<String> {
    let found: BTreeSet<&str> = rows.iter().map(|row| row.group.as_str()).collect();
    let bounds = match &figure.by {
        Axis::Bands { bounds, .. } => bounds.len(),
        Axis::Time | Axis::Names { .. } => {
            let ends = found.first().zip(found.last());
            let steps = ends.and_then(|(first, last)| range.steps(first, last));
            return steps.unwrap_or_else(|| found.into_iter().map(str::to_owned).collect());
        }
    };
    let without = found.get(values::WITHOUT_AMOUNT).map(|group| (*group).to_owned());
    (0..=bounds).map(|number| number.to_string()).chain(without).collect()
}

/// Shows a number of all records, and of each part of them.
fn columns(
    figure: &Figure,
    range: &Range,
    rows: &[FigureRow],
    (index, value): (usize, &Value),
    groups: &[String],
) -> Markup {
    let mut numbers: HashMap<(Option<&str>, &str), i64> = HashMap::new();
    for row in rows {
        if let Some(number) = row.values.get(index).copied().flatten() {
            numbers.insert((row.series.as_deref(), row.group.as_str()), number);
        }
    }
    let without_records = values::without_records(value.unit);
    let has_years =
        matches!(figure.by, Axis::Time) && range.step == Step::Month && groups.len() > MONTHS_OF_YEAR;
    let bars = |part: Option<&str>| -> Vec<Bar> {
        let bar = |group: &String| {
            let (label, short) = values::group(figure, range.step, group);
            let value = numbers.get(&(part, group.as_str())).copied().or(without_records);
            let short = if has_years { &label } else { &short };
            Bar { short: short.clone(), label, value }
        };
        groups.iter().map(bar).collect()
    };
    let chart = |title| Chart {
        title,
        note: "",
        heads: [values::group_head(figure, range.step), values::head(value)],
        text: values::in_chart(value.unit),
        tick: values::at_axis(value.unit),
        unit: values::axis_unit(value.unit),
    };
    let names: BTreeSet<&str> = rows.iter().filter_map(|row| row.series.as_deref()).collect();
    let parts: Vec<(String, Vec<Bar>)> =
        names.into_iter().map(|name| (text::words(name), bars(Some(name)))).collect();
    let max = parts.iter().map(|(_, bars)| charts::max_of(bars)).max().unwrap_or_default();
    html! {
        (chart(values::head(value)).drawing(&bars(None)))
        @if let Some(series) = &figure.series {
            section.section aria-labelledby={ "parts-" (index) } {
                h2 id={ "parts-" (index) } { (values::head(value)) " by " (series.head.to_lowercase()) }
                p.note { "All of these charts have the same axis." }
                div.two { @for (name, bars) in &parts { (chart(name).small_drawing(bars, max)) } }
            }
        }
    }
}

/// Shows the names with the largest numbers.
fn ranking(figure: &Figure, range: &Range, rows: &[FigureRow], (index, value): (usize, &Value)) -> Markup {
    let bar = |row: &FigureRow| {
        let number = row.values.get(index).copied().flatten();
        let text = number.map_or_else(|| text::MISSING.to_owned(), values::in_chart(value.unit));
        let name = values::group_parts(figure, range.step, &row.group);
        NamedBar { name, text, value: number.unwrap_or_default() }
    };
    let bars: Vec<NamedBar> = rows.iter().take(MAX_NAMES).map(bar).collect();
    let top = match value.unit {
        Unit::Share => 10_000,
        _ => bars.iter().map(|bar| bar.value).max().unwrap_or_default(),
    };
    let left = rows.len() - bars.len();
    let note = match left {
        0 => String::new(),
        _ => format!("The first {MAX_NAMES}. {} more are in the table.", text::grouped(left as u64)),
    };
    charts::ranking(values::head(value), &note, &bars, top)
}
