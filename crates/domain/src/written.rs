//! Amounts, numbers, shares, days, and moments as people read them: on pages, in notifications, and in messages.

pub use marketplace_text::numbers::{counted, grouped};

use crate::{money::Cents, time::Timestamp};

/// Returns an amount with cents, such as `$1,450.50`.
pub fn money(amount: Cents) -> String {
    let cents = amount.0.unsigned_abs();
    let sign = if amount.0 < 0 { "−" } else { "" };
    format!("{sign}${}.{:02}", grouped(cents / 100), cents % 100)
}

/// Returns a share of 1 in percent, such as `74.4%`. Only nothing is `0%`, and only all is `100%`.
pub fn percent(share: f64) -> String {
    match share {
        0.000_5..0.999_5 => {
            let text = format!("{:.1}", share * 100.0);
            format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
        }
        _ => near_end(share, "<0.1%", ">99.9%"),
    }
}

/// Returns a share of 1 in whole percent. Only nothing is `0%`, and only all is `100%`.
pub fn whole_percent(share: f64) -> String {
    match share {
        // The format would round 0.5 to 0.
        0.005..0.995 => format!("{}%", (share * 100.0).round()),
        _ => near_end(share, "<1%", ">99%"),
    }
}

/// Returns a share of nearly nothing or nearly all, which would be rounded to 0% or 100%.
fn near_end(share: f64, above_nothing: &str, below_all: &str) -> String {
    match share {
        ..=0.0 => "0%",
        1.0.. => "100%",
        ..0.5 => above_nothing,
        _ => below_all,
    }
    .to_owned()
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The parts of a time in UTC, from its text by RFC 3339.
fn parts(time: Timestamp) -> (String, String, usize, String) {
    let text = time.to_string();
    let (day, clock) = text.split_once('T').unwrap_or((&text, ""));
    let mut numbers = day.splitn(3, '-');
    let (year, month, date) = (numbers.next(), numbers.next(), numbers.next());
    let month = month.and_then(|month| month.parse::<usize>().ok()).unwrap_or(1).clamp(1, 12);
    let date = date.unwrap_or_default().trim_start_matches('0').to_owned();
    (year.unwrap_or_default().to_owned(), date, month - 1, clock.get(..5).unwrap_or_default().to_owned())
}

/// Returns a month as text, such as `Sep 2025`, and without its year, such as `Sep`.
pub fn month_text(year: i32, month: u8) -> (String, &'static str) {
    let name = &MONTHS[usize::from(month.clamp(1, 12)) - 1][..3];
    (format!("{name} {year}"), name)
}

/// Returns a moment in UTC as text, such as `5 September 2025, 04:41 UTC`.
pub fn moment_text(time: Timestamp) -> String {
    let (year, date, month, clock) = parts(time);
    format!("{date} {} {year}, {clock} UTC", MONTHS[month])
}

/// Returns a day in UTC as text, such as `5 Sep 2025`.
pub fn day_text(time: Timestamp) -> String {
    let (year, date, month, _) = parts(time);
    format!("{date} {} {year}", &MONTHS[month][..3])
}

/// Returns a size in decimal units, such as `327 MB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1_000 {
        return counted(bytes, "byte", "bytes");
    }
    let rounded = |unit: f64| (bytes as f64 / unit).round() as u64;
    // A value that rounds up to 1,000 of a unit is written as 1 of the next unit.
    let fits = |&(_, unit): &(&str, f64)| rounded(unit) < 1_000;
    let (name, unit) = [("KB", 1e3), ("MB", 1e6), ("GB", 1e9)].into_iter().find(fits).unwrap_or(("TB", 1e12));
    match rounded(unit / 10.0) {
        tenths @ 0..100 => format!("{}.{} {name}", tenths / 10, tenths % 10),
        _ => format!("{} {name}", grouped(rounded(unit))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_thousands_and_cents() {
        for (cents, expected) in
            [(0, "$0.00"), (145_050, "$1,450.50"), (-5, "−$0.05"), (100_000_000, "$1,000,000.00")]
        {
            assert_eq!(money(Cents(cents)), expected);
        }
        assert_eq!(counted(1, "codebase", "codebases"), "1 codebase");
        assert_eq!(counted(1_200, "codebase", "codebases"), "1,200 codebases");
    }

    #[test]
    fn sizes_are_rounded_before_their_unit_is_chosen() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1_000, "1.0 KB"),
            (9_949, "9.9 KB"),
            (9_950, "10 KB"),
            (999_499, "999 KB"),
            (999_500, "1.0 MB"),
            (999_999_999, "1.0 GB"),
            (1_000_000_000_000_000, "1,000 TB"),
        ] {
            assert_eq!(size(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn shares_are_rounded_but_not_to_nothing_or_all() {
        for (share, expected, whole) in [
            (0.0, "0%", "0%"),
            (0.000_1, "<0.1%", "<1%"),
            (0.000_6, "0.1%", "<1%"),
            (0.005, "0.5%", "1%"),
            (0.006, "0.6%", "1%"),
            (0.5, "50%", "50%"),
            (0.744, "74.4%", "74%"),
            (0.996, "99.6%", ">99%"),
            (0.999_9, ">99.9%", ">99%"),
            (1.0, "100%", "100%"),
        ] {
            assert_eq!((percent(share).as_str(), whole_percent(share).as_str()), (expected, whole));
        }
    }

    #[test]
    fn times_are_in_utc() {
        let time = Timestamp::parse("2025-09-05T04:41:09Z").unwrap();
        assert_eq!(moment_text(time), "5 September 2025, 04:41 UTC");
        assert_eq!(day_text(time), "5 Sep 2025");
        assert_eq!(month_text(2025, 9), ("Sep 2025".to_owned(), "Sep"));
    }
}
