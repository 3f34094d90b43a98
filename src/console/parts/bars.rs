//! Bars of shares, with the numbers as a table behind them.

use maud::{Markup, html};

use super::text;

/// Width of a bar in its own units.
const WIDTH: u64 = 1_000;

/// Width of the gap between two parts.
const GAP: u64 = 4;

/// Number of parts that are drawn. The others are one part.
const MAX_PARTS: usize = 5;

/// Returns the parts that are drawn: names, and shares of 1.
pub fn drawn_parts(shares: &[(String, f64)]) -> Vec<(String, f64)> {
    let mut parts: Vec<_> = shares.iter().take(MAX_PARTS).cloned().collect();
    let rest: f64 = shares.iter().skip(MAX_PARTS).map(|(_, share)| share).sum();
    if rest > 0.0 {
        parts.push(("Other".to_owned(), rest));
    }
    parts
}

/// Returns a bar. `class` is `bar`, or `bar thin` on cards.
pub fn bar(shares: &[(String, f64)], class: &str) -> Markup {
    let parts = drawn_parts(shares);
    let label: Vec<String> =
        parts.iter().map(|(name, share)| format!("{name} {}", text::whole_percent(*share))).collect();
    let mut x = 0;
    let rects: Vec<_> = parts
        .iter()
        .enumerate()
        .map(|(index, (name, share))| {
            let width = (share * WIDTH as f64).round() as u64;
            let start = x;
            x += width;
            (index + 1, start, width.saturating_sub(GAP).max(2), name, share)
        })
        .collect();
    html! {
        svg class=(class) viewBox={ "0 0 " (WIDTH) " 8" } preserveAspectRatio="none" role="img" aria-label=(label.join(", ")) {
            @for (color, start, width, name, share) in rects {
                rect class={ "c" (color) } x=(start) y="0" width=(width) height="8" { title { (name) " " (text::percent(*share)) } }
            }
        }
    }
}

/// Returns the legend of a bar.
pub fn legend(shares: &[(String, f64)]) -> Markup {
    html! {
        ul.row { @for (index, (name, share)) in drawn_parts(shares).iter().enumerate() {
            li.badge {
                svg.key viewBox="0 0 10 10" aria-hidden="true" { rect class={ "c" (index + 1) } width="10" height="10" rx="2" {} }
                span { (name) " " (text::percent(*share)) }
            }
        } }
    }
}
