//! How the groups and the numbers of figures are written.

use std::time::Duration;

use crate::{
    console::{
        pages::operator::prelude::*,
        parts::{charts, job_kinds},
    },
    domain::figures::{Month, Step},
    store::figures::{Axis, Figure, FigureRow, NAME_SEPARATOR, Unit, Value},
};

/// Number of the group of records without an amount.
pub const WITHOUT_AMOUNT: &str = "-1";

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// Microseconds of an hour.
const HOUR: i64 = 3_600 * SECOND;

/// Returns the name of a group, and a short form of it for an axis.
pub fn group(figure: &Figure, step: Step, name: &str) -> (String, String) {
    match &figure.by {
        Axis::Time => time(step, name),
        Axis::Bands { bounds, .. } => band(bounds, name),
        Axis::Names { is_on_wire, .. } => {
            // Names on the wire are those of jobs.
            let name = if *is_on_wire { job_kinds::named(name) } else { name.replace(NAME_SEPARATOR, ", ") };
            (name.clone(), name)
        }
    }
}

/// Returns the parts of the name of a group, each of which can be in another script.
pub fn group_parts(figure: &Figure, step: Step, name: &str) -> Vec<String> {
    match &figure.by {
        Axis::Names { is_on_wire: false, .. } => name.split(NAME_SEPARATOR).map(str::to_owned).collect(),
        _ => vec![group(figure, step, name).0],
    }
}

/// Returns the name of a group in a file. Steps have the names that programs know.
pub fn group_in_file(figure: &Figure, step: Step, name: &str) -> String {
    if matches!(figure.by, Axis::Time) { name.to_owned() } else { group(figure, step, name).0 }
}

fn time(step: Step, name: &str) -> (String, String) {
    if let Some(month) = Month::parse(name) {
        let (long, short) = text::month_text(month.year(), month.number());
        return (long, short.to_owned());
    }
    let day = step.start(name).map_or_else(|| name.to_owned(), text::day_text);
    let short = day.rsplit_once(' ').map_or(day.as_str(), |(short, _)| short).to_owned();
    (if step == Step::Week { format!("Week from {day}") } else { day }, short)
}

fn band(bounds: &[i64], name: &str) -> (String, String) {
    let number = name.parse::<usize>().ok();
    let amount = |number: usize| bounds.get(number).map(|bound| text::short_money(Cents(*bound)));
    let Some(number) = number else { return ("No price".to_owned(), "none".to_owned()) };
    let lower = number.checked_sub(1).and_then(|lower| bounds.get(lower));
    let short = lower.map_or_else(|| "0".to_owned(), |bound| charts::amount_tick(*bound));
    let long = match (number.checked_sub(1).and_then(amount), amount(number)) {
        (None, Some(upper)) => format!("Under {upper}"),
        (Some(lower), Some(upper)) => format!("{lower} to {upper}"),
        (lower, None) => format!("{} and more", lower.unwrap_or_default()),
    };
    (long, short)
}

/// Returns the head of the column of the groups.
pub const fn group_head(figure: &Figure, step: Step) -> &'static str {
    match (&figure.by, step) {
        (Axis::Time, Step::Day) => "Day",
        (Axis::Time, Step::Week) => "Week",
        (Axis::Time, Step::Month) => "Month",
        (Axis::Bands { head, .. } | Axis::Names { head, .. }, _) => head,
    }
}

/// Returns the name of a number without its unit, since the text of the number has the unit.
pub fn name(value: &Value) -> &'static str {
    let name = value.head.strip_suffix(" (USD)").unwrap_or(value.head);
    [", hours", ", seconds", ", bytes", ", %"].iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name)
}

/// Returns the head of a number in a table and in a chart. Durations have their units themselves.
pub fn head(value: &Value) -> &'static str {
    if matches!(value.unit, Unit::Hours | Unit::Seconds) { name(value) } else { value.head }
}

/// Returns what a row is divided by, in words.
pub fn series(row: &FigureRow) -> String {
    row.series.as_deref().map_or_else(|| "All".to_owned(), text::words)
}

/// Returns a number in a table. Its head has the unit, unless it is a duration.
pub fn in_table(unit: Unit, value: Option<i64>) -> String {
    match (unit, value) {
        (_, None) => text::MISSING.to_owned(),
        (Unit::Cents, Some(value)) => text::money(Cents(value)),
        (Unit::Count | Unit::Bytes, Some(value)) => grouped(value),
        (Unit::Hours | Unit::Seconds, Some(value)) => duration(value),
        (Unit::Share, Some(_)) => in_file(unit, value),
    }
}

/// Returns a number in a file.
pub fn in_file(unit: Unit, value: Option<i64>) -> String {
    let Some(value) = value else { return String::new() };
    match unit {
        Unit::Count | Unit::Bytes => value.to_string(),
        Unit::Cents => Cents(value).to_string(),
        Unit::Share => format!("{:.1}", value as f64 / 100.0),
        Unit::Hours => format!("{:.1}", value as f64 / HOUR as f64),
        Unit::Seconds => format!("{:.1}", value as f64 / SECOND as f64),
    }
}

/// Returns the number of a group without records: none of a median or a share.
pub const fn without_records(unit: Unit) -> Option<i64> {
    match unit {
        Unit::Count | Unit::Cents | Unit::Bytes => Some(0),
        Unit::Share | Unit::Hours | Unit::Seconds => None,
    }
}

/// Returns how charts write a number.
pub fn in_chart(unit: Unit) -> fn(i64) -> String {
    match unit {
        Unit::Count => grouped,
        Unit::Cents => charts::amount_text,
        Unit::Bytes => |value| text::size(value.unsigned_abs()),
        Unit::Share => |value| format!("{}%", in_file(Unit::Share, Some(value))),
        Unit::Hours | Unit::Seconds => duration,
    }
}

fn duration(micros: i64) -> String {
    text::duration(Duration::from_micros(micros.unsigned_abs()))
}

/// Returns how an axis writes a number.
pub fn at_axis(unit: Unit) -> fn(i64) -> String {
    match unit {
        Unit::Cents => charts::amount_tick,
        Unit::Count | Unit::Bytes | Unit::Share | Unit::Hours | Unit::Seconds => in_chart(unit),
    }
}

/// Returns the smallest step between two values of an axis.
pub const fn axis_unit(unit: Unit) -> i64 {
    match unit {
        Unit::Count | Unit::Bytes => 1,
        Unit::Cents | Unit::Share => 100,
        Unit::Hours => HOUR,
        Unit::Seconds => SECOND,
    }
}

fn grouped(value: i64) -> String {
    text::grouped(value.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::figures;

    #[test]
    fn groups_have_names_for_people() {
        for (step, name, long, short) in [
            (Step::Month, "2026-03", "Mar 2026", "Mar"),
            (Step::Week, "2026-02-23", "Week from 23 Feb 2026", "23 Feb"),
            (Step::Day, "2026-03-01", "1 Mar 2026", "1 Mar"),
        ] {
            assert_eq!(time(step, name), (long.to_owned(), short.to_owned()));
        }
        let bounds = [100_000, 5_000_000];
        for (name, long, short) in [
            ("-1", "No price", "none"),
            ("0", "Under $1,000", "0"),
            ("1", "$1,000 to $50,000", "$1k"),
            ("2", "$50,000 and more", "$50k"),
        ] {
            assert_eq!(band(&bounds, name), (long.to_owned(), short.to_owned()));
        }
    }

    #[test]
    fn heads_have_the_units_of_their_numbers() {
        for value in figures::ALL.iter().flat_map(|figure| figure.values) {
            let unit = match value.unit {
                Unit::Count => "",
                Unit::Cents => " (USD)",
                Unit::Bytes => ", bytes",
                Unit::Share => ", %",
                Unit::Hours => ", hours",
                Unit::Seconds => ", seconds",
            };
            assert_eq!(value.head, format!("{}{unit}", name(value)));
        }
    }

    #[test]
    fn numbers_have_their_unit_or_that_of_their_head() {
        for (unit, value, table, file, chart) in [
            (Unit::Count, 1_234, "1,234", "1234", "1,234"),
            (Unit::Cents, 145_050, "$1,450.50", "1450.50", "$1,450.50"),
            (Unit::Bytes, 2_500_000, "2,500,000", "2500000", "2.5 MB"),
            (Unit::Share, 9_312, "93.1", "93.1", "93.1%"),
            (Unit::Hours, 5_400_000_000, "1 h 30 min", "1.5", "1 h 30 min"),
            (Unit::Seconds, 112_320_000_000, "31 h 12 min", "112320.0", "31 h 12 min"),
        ] {
            assert_eq!(in_table(unit, Some(value)), table);
            assert_eq!(in_file(unit, Some(value)), file);
            assert_eq!(in_chart(unit)(value), chart);
        }
        assert_eq!(
            (in_table(Unit::Count, None), in_file(Unit::Count, None)),
            ("–".to_owned(), String::new())
        );
    }
}
