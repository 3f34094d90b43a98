//! Charts with bars, and the same numbers as a table behind them.

use maud::{Markup, html};

use super::{
    tables::{self, Head},
    text,
};
use crate::domain::money::Cents;

/// Width of the space of one bar in the units of the drawing.
const STEP: usize = 100;

/// Height of the drawing in its own units.
const HEIGHT: f64 = 200.0;

/// Number of parts that the axis is divided into.
const PARTS: i64 = 4;

/// Maximum number of labels below the bars. If there are more bars, a label names the first one of several.
const MAX_LABELS: usize = 12;

/// The same for charts beside each other.
const MAX_LABELS_OF_SMALL_CHARTS: usize = 4;

/// A bar of a chart.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Name of what it measures, such as `Mar 2026`.
    pub label: String,
    /// The same, as short as the axis needs it, such as `Mar`.
    pub short: String,
    /// Its value; `None` if there is nothing to measure. A negative one is in the table only.
    pub value: Option<i64>,
}

/// A chart with bars.
#[derive(Clone, Debug)]
pub struct Chart<'c> {
    /// What it shows.
    pub title: &'c str,
    /// What else is to say about it, such as the unit.
    pub note: &'c str,
    /// Heads of the columns of the table: of the labels, and of the values.
    pub heads: [&'static str; 2],
    /// Writes a value of a bar.
    pub text: fn(i64) -> String,
    /// Writes a value of the axis.
    pub tick: fn(i64) -> String,
    /// The smallest step between two values of the axis: 1 for numbers of things, 100 for amounts in cents.
    pub unit: i64,
}

impl Chart<'_> {
    /// Shows the bars, in their order from left to right, and their numbers as a table.
    pub fn show(&self, bars: &[Bar]) -> Markup {
        self.figure(
            bars,
            max_of(bars),
            MAX_LABELS,
            &html! { details { summary { "As a table" } (self.table(bars)) } },
        )
    }

    /// Shows the bars only, where one table has the numbers of several charts.
    pub fn drawing(&self, bars: &[Bar]) -> Markup {
        self.figure(bars, max_of(bars), MAX_LABELS, &html! {})
    }

    /// Shows the bars only, in a small chart. The axis reaches to `max`, which several of these charts have in common.
    pub fn small_drawing(&self, bars: &[Bar], max: i64) -> Markup {
        self.figure(bars, max, MAX_LABELS_OF_SMALL_CHARTS, &html! {})
    }

    fn figure(&self, bars: &[Bar], max: i64, max_labels: usize, table: &Markup) -> Markup {
        if bars.iter().all(|bar| bar.value.unwrap_or_default() == 0) {
            return html! {
                figure.chart {
                    figcaption { b { (self.title) } @if !self.note.is_empty() { br; (self.note) } }
                    p { "There is nothing to draw yet: all values are zero." }
                    (table)
                }
            };
        }
        let top = top_of_axis(max, self.unit);
        let bars_per_label = bars.len().div_ceil(max_labels).max(1);
        let width = bars.len().next_multiple_of(bars_per_label).max(1) * STEP;
        html! {
            figure.chart {
                figcaption { b { (self.title) } @if !self.note.is_empty() { br; (self.note) } }
                div.plot {
                    div.y aria-hidden="true" { @for part in (0..=PARTS).rev() { span { ((self.tick)(top / PARTS * part)) } } }
                    svg viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(self.alternative(bars)) {
                        @for part in 0..=PARTS {
                            @let y = HEIGHT / PARTS as f64 * part as f64;
                            line.grid x1="0" x2=(width) y1=(y) y2=(y) {}
                        }
                        @for (index, bar) in bars.iter().enumerate() {
                            @let height = bar.value.unwrap_or_default().max(0) as f64 / top as f64 * HEIGHT;
                            rect.c1 x=(index * STEP + STEP / 5) y=(rounded(HEIGHT - height)) width=(STEP * 3 / 5)
                                height=(rounded(height)) { title { (bar.label) ": " (self.written(bar.value)) } }
                        }
                    }
                    ol.x.few[bars_per_label > 1] aria-hidden="true" { @for bar in bars.iter().step_by(bars_per_label) { li { (bar.short) } } }
                }
                (table)
            }
        }
    }

    /// Writes the value of a bar.
    fn written(&self, value: Option<i64>) -> String {
        value.map_or_else(|| text::MISSING.to_owned(), self.text)
    }

    /// Returns what the drawing shows, in words.
    fn alternative(&self, bars: &[Bar]) -> String {
        let highest = match bars.iter().rev().max_by_key(|bar| bar.value) {
            Some(bar) if bar.value > Some(0) => {
                format!(" The highest is {}: {}.", bar.label, self.written(bar.value))
            }
            _ => String::new(),
        };
        format!("{}.{highest} The numbers follow as a table.", self.title)
    }

    fn table(&self, bars: &[Bar]) -> Markup {
        let [label, value] = self.heads;
        let row = |bar: &Bar| {
            [Head::text(label).cell(&bar.label), Head::number(value).cell(self.written(bar.value))]
        };
        tables::of(self.title, bars, row)
    }
}

/// Returns the largest value of bars.
pub fn max_of(bars: &[Bar]) -> i64 {
    bars.iter().filter_map(|bar| bar.value).max().unwrap_or_default()
}

/// A bar beside a name, such as one of a ranking.
#[derive(Clone, Debug)]
pub struct NamedBar {
    /// What it measures: the parts of its name.
    pub name: Vec<String>,
    /// Its value in words.
    pub text: String,
    /// Its value.
    pub value: i64,
}

/// Shows bars below each other, each beside its name and with its value in words. The longest possible one has the value `top`.
pub fn ranking(title: &str, note: &str, bars: &[NamedBar], top: i64) -> Markup {
    let width = |bar: &NamedBar| (bar.value.max(0) as f64 / top.max(1) as f64 * 1_000.0).round();
    html! {
        figure.chart {
            figcaption { b { (title) } @if !note.is_empty() { br; (note) } }
            dl.facts { @for bar in bars {
                dt { (text::parts(&bar.name)) }
                dd {
                    svg.bar viewBox="0 0 1000 8" preserveAspectRatio="none" role="img" aria-label={ (bar.name.join(", ")) ": " (bar.text) } {
                        rect.c1 x="0" y="0" width=(width(bar)) height="8" {}
                    }
                    p.note aria-hidden="true" { (bar.text) }
                }
            } }
        }
    }
}

/// Writes an amount at an axis, such as `$400k`.
pub fn amount_tick(cents: i64) -> String {
    let dollars = cents / 100;
    let short = |unit: i64, name: &str| {
        let tenths = dollars * 10 / unit;
        let decimals = if tenths % 10 == 0 { String::new() } else { format!(".{}", tenths % 10) };
        format!("${}{decimals}{name}", tenths / 10)
    };
    match dollars {
        0 => "0".to_owned(),
        1_000_000.. => short(1_000_000, "M"),
        1_000.. => short(1_000, "k"),
        _ => format!("${dollars}"),
    }
}

/// Writes an amount of a bar.
pub fn amount_text(cents: i64) -> String {
    text::money(Cents(cents))
}

/// Returns the value at the top of the axis: a round one that all bars fit below, and that can be divided into [`PARTS`] steps of
/// whole units.
fn top_of_axis(max: i64, unit: i64) -> i64 {
    let mut power = unit.max(1);
    loop {
        for factor in [1, 2, 5] {
            let top = power.saturating_mul(factor * PARTS);
            if top >= max {
                return top;
            }
        }
        power = power.saturating_mul(10);
    }
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_is_round_and_not_lower_than_the_bars() {
        for (max, unit, expected) in [
            (0, 1, 4),
            (-5, 1, 4),
            (4, 1, 4),
            (5, 1, 8),
            (35_640_000, 100, 40_000_000),
            (i64::MAX, 1, i64::MAX),
        ] {
            assert_eq!(top_of_axis(max, unit), expected, "{max}");
        }
    }

    #[test]
    fn ticks_are_short() {
        let ticks = [0, 5_000, 250_000, 40_000_000, 150_000_000].map(amount_tick);
        assert_eq!(ticks, ["0", "$50", "$2.5k", "$400k", "$1.5M"]);
    }

    #[test]
    fn numbers_stand_in_the_table_too() {
        let chart = Chart {
            title: "Earnings by month",
            note: "USD",
            heads: ["Month", "Earnings, USD"],
            text: amount_text,
            tick: amount_tick,
            unit: 100,
        };
        let bar = |label: &str, value| Bar { label: label.to_owned(), short: label.to_owned(), value };
        let shown = chart.show(&[bar("Mar", Some(10_000)), bar("Apr", Some(-500)), bar("May", None)]).0;
        assert!(
            shown.contains("<title>May: –</title>") && shown.contains(r#"<td class="num">–</td>"#),
            "{shown}"
        );
        assert!(shown.contains(r#"<td class="num">$100.00</td>"#) && shown.contains("−$5.00"), "{shown}");
        assert!(shown.contains(r#"y="200" width="60" height="0""#), "negative: {shown}");
        assert!(shown.contains("Earnings by month. The highest is Mar: $100.00."), "{shown}");
    }

    #[test]
    fn labels_of_many_bars_are_those_of_some() {
        let chart = Chart {
            title: "Teams",
            note: "",
            heads: ["Day", "Teams"],
            text: |value| value.to_string(),
            tick: |value| value.to_string(),
            unit: 1,
        };
        let bar =
            |number: i64| Bar { label: number.to_string(), short: format!("d{number}"), value: Some(number) };
        let bars: Vec<Bar> = (0..31).map(bar).collect();
        let shown = chart.drawing(&bars).0;
        assert_eq!(shown.matches("<li>").count(), 11, "{shown}");
        assert!(shown.contains("<li>d30</li>") && shown.contains("viewBox=\"0 0 3300 200\""), "{shown}");
        assert!(!shown.contains("<table"), "{shown}");
        assert_eq!(chart.small_drawing(&bars, 100).0.matches("<li>").count(), 4);
    }
}
