//! Amounts, numbers, times, and names as people read them.

use maud::{Markup, html};

use crate::{
    domain::{money::Cents, time::Timestamp},
    store::records::any_record::AnyRecord,
    string_enum::StringEnum,
};

/// The text that is shown for a missing value.
pub const MISSING: &str = "–";

/// Returns an amount with cents, such as `$1,450.50`.
pub fn money(amount: Cents) -> String {
    let cents = amount.0.unsigned_abs();
    let sign = if amount.0 < 0 { "−" } else { "" };
    format!("{sign}${}.{:02}", grouped(cents / 100), cents % 100)
}

/// Returns an amount for a card: without cents if there are none.
pub fn short_money(amount: Cents) -> String {
    let text = money(amount);
    text.strip_suffix(".00").map_or_else(|| text.clone(), str::to_owned)
}

/// Returns an amount, or [`MISSING`].
pub fn optional_money(amount: Option<Cents>) -> String {
    amount.map_or_else(|| MISSING.to_owned(), money)
}

/// Returns a number with its thousands separated.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number and a noun, such as `1 codebase` and `2 codebases`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Returns a size in decimal units, such as `327 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000)];
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) if bytes < 10 * unit => {
            let tenths = (bytes as f64 / (unit as f64 / 10.0)).round() as u64;
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        Some((name, unit)) => format!("{} {name}", grouped((bytes as f64 / unit as f64).round() as u64)),
        None => counted(bytes, "byte", "bytes"),
    }
}

/// Returns a share of 1 in percent, such as `74.4%`.
pub fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
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

/// Returns a moment. A script shows it in the reader's time zone, with UTC on hover.
pub fn moment(time: Timestamp) -> Markup {
    let text = moment_text(time);
    html! { time datetime=(time) title=(text) data-moment { (text) } }
}

/// Returns the day of a moment.
pub fn day(time: Timestamp) -> Markup {
    html! { time datetime=(time) title=(moment_text(time)) data-day { (day_text(time)) } }
}

/// Returns the day of a moment, or [`MISSING`] if it is not known.
pub fn optional_day(time: Option<Timestamp>) -> Markup {
    html! { @match time { Some(time) => (day(time)), None => (MISSING) } }
}

/// Returns the initials that stand for a team.
pub fn initials(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(2).filter_map(|word| word.chars().next()).flat_map(char::to_uppercase).collect()
}

/// Returns the words of a name on the wire, such as `Listing request` for `listing_request`. Names on the wire are spelled in the
/// British way.
pub fn words(name: &str) -> String {
    let text = name.replace('_', " ").replace("cancelled", "canceled");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the values of a type with their words, for a choice.
pub fn word_choices<E: StringEnum>() -> Vec<(&'static str, String)> {
    E::ALL.iter().map(|value| (value.as_str(), words(value.as_str()))).collect()
}

/// Returns the beginning of a record's ID, which tells it apart in a title.
pub fn short_id(record: &AnyRecord) -> String {
    record.id("id").map(|id| id.to_string().chars().take(8).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        for (cents, expected) in
            [(0, "$0.00"), (145_050, "$1,450.50"), (-5, "−$0.05"), (100_000_000, "$1,000,000.00")]
        {
            assert_eq!(money(Cents(cents)), expected);
        }
        assert_eq!(short_money(Cents(400_000)), "$4,000");
        assert_eq!(short_money(Cents(400_050)), "$4,000.50");
        for (bytes, expected) in [
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_250, "1.3 KB"),
            (327_000_000, "327 MB"),
            (12_345_000_000_000, "12 TB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
        assert_eq!((percent(0.744), percent(0.5)), ("74.4%".to_owned(), "50%".to_owned()));
        assert_eq!(counted(1, "codebase", "codebases"), "1 codebase");
    }

    #[test]
    fn times_are_written_for_people() {
        let time = Timestamp::parse("2025-09-05T04:41:09Z").unwrap();
        assert_eq!(moment_text(time), "5 September 2025, 04:41 UTC");
        assert_eq!(day_text(time), "5 Sep 2025");
        assert_eq!(month_text(2025, 9), ("Sep 2025".to_owned(), "Sep"));
    }

    #[test]
    fn names_become_words_and_initials() {
        assert_eq!(words("listing_request"), "Listing request");
        assert_eq!(initials("Aurora  Frontier Labs"), "AF");
        assert_eq!(initials("…"), "");
    }
}
