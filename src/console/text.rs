//! Amounts, numbers, times, and names as people read them.

use std::time::Duration;

use maud::{Markup, html};

pub use crate::domain::written::{
    counted, day_text, grouped, moment_text, money, month_text, percent, size, whole_percent,
};
use crate::{
    domain::{money::Cents, time::Timestamp},
    store::records::any_record::AnyRecord,
    string_enum::StringEnum,
};

/// The text that is shown for a missing value.
pub const MISSING: &str = "–";

/// Returns an amount for a card: without cents if there are none.
pub fn short_money(amount: Cents) -> String {
    let text = money(amount);
    text.strip_suffix(".00").map_or_else(|| text.clone(), str::to_owned)
}

/// Returns the amount of a change: with a sign, unless nothing changes.
pub fn signed_money(amount: Cents) -> String {
    if amount.0 > 0 { format!("+{}", money(amount)) } else { money(amount) }
}

/// Returns an amount, or [`MISSING`].
pub fn optional_money(amount: Option<Cents>) -> String {
    amount.map_or_else(|| MISSING.to_owned(), money)
}

/// Returns an amount as fields and files have it; empty if there is none.
pub fn plain_amount(amount: Option<Cents>) -> String {
    amount.map(|amount| amount.to_string()).unwrap_or_default()
}

/// Returns a size in decimal units, and the exact number of bytes if these units round it: `1.5 KB (1,495 bytes)`.
pub fn size_in_bytes(bytes: u64) -> String {
    match size(bytes) {
        size if bytes < 1_000 => size,
        size => format!("{size} ({} bytes)", grouped(bytes)),
    }
}

/// Returns a duration in its one or two largest units, such as `4.2 s`, `59 min`, `31 h 12 min`, and `3 days 5 h`.
pub fn duration(duration: Duration) -> String {
    const HOUR: u64 = 3_600;
    const DAY: u64 = 24 * HOUR;
    const TWO_DAYS: u64 = 2 * DAY;
    let with_rest = |whole: String, rest: u64, unit: &str| {
        if rest == 0 { whole } else { format!("{whole} {rest} {unit}") }
    };
    let seconds = duration.as_secs();
    match seconds {
        0..60 => {
            let tenths = duration.as_millis() / 100;
            let (whole, tenth) = (tenths / 10, tenths % 10);
            if tenth == 0 { format!("{whole} s") } else { format!("{whole}.{tenth} s") }
        }
        60..HOUR => format!("{} min", seconds / 60),
        HOUR..TWO_DAYS => with_rest(format!("{} h", seconds / HOUR), seconds % HOUR / 60, "min"),
        _ => with_rest(counted(seconds / DAY, "day", "days"), seconds % DAY / HOUR, "h"),
    }
}

/// Returns a fee in percent, with all decimal places that count, such as `2.25%`.
pub fn fee(percent: f64) -> String {
    let text = format!("{percent:.4}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns a moment. A script shows it in the reader's time zone, with UTC on hover.
pub fn moment(time: Timestamp) -> Markup {
    let text = moment_text(time);
    html! { time datetime=(time) title=(text) data-moment { (text) } }
}

/// Returns a moment; a dash if there is none.
pub fn optional_moment(time: Option<Timestamp>) -> Markup {
    html! { @match time { Some(time) => (moment(time)), None => (MISSING) } }
}

/// Returns the day of a moment.
pub fn day(time: Timestamp) -> Markup {
    html! { time datetime=(time) title=(moment_text(time)) data-day { (day_text(time)) } }
}

/// Returns the day of a moment, or [`MISSING`] if it is not known.
pub fn optional_day(time: Option<Timestamp>) -> Markup {
    html! { @match time { Some(time) => (day(time)), None => (MISSING) } }
}

/// The ends of moments at which days begin and end.
const DAY_ENDS: [&str; 2] = [", 00:00 UTC", ", 23:59 UTC"];

/// Returns a deadline. One that was entered as a day is the end of this day in UTC. No script shows it in another time zone, where
/// it is on another day.
pub fn deadline(time: Timestamp) -> Markup {
    match moment_text(time).strip_suffix(DAY_ENDS[1]) {
        Some(day) => html! { time datetime=(time) { (day) ", end of day (UTC)" } },
        None => moment(time),
    }
}

/// Returns a deadline, or [`MISSING`] if there is none.
pub fn optional_deadline(time: Option<Timestamp>) -> Markup {
    html! { @match time { Some(time) => (deadline(time)), None => (MISSING) } }
}

/// Returns the day of a time that was entered as a day in UTC. No script shows it in another time zone, where it is another day.
pub fn entered_day(time: Timestamp) -> Markup {
    let text = moment_text(time);
    if DAY_ENDS.iter().any(|end| text.ends_with(end)) {
        return html! { time datetime=(time) title=(text) { (day_text(time)) } };
    }
    day(time)
}

/// Returns JSON with a line for each value. Any other text stays as it is.
pub fn laid_out_json(text: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let laid_out = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    laid_out.unwrap_or_else(|| text.to_owned())
}

/// Returns the parts of a name with commas between them. Each keeps the direction of its script.
pub fn parts(parts: &[String]) -> Markup {
    html! { @for (index, part) in parts.iter().enumerate() { @if index > 0 { ", " } bdi { (part) } } }
}

/// Returns the initials that stand for a team.
pub fn initials(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(2).filter_map(|word| word.chars().next()).flat_map(char::to_uppercase).collect()
}

/// Terms of names on the wire, and those of pages for the same things.
const TERMS: [(&str, &str); 12] = [
    ("cancelled", "canceled"),
    ("unpublished", "not published"),
    ("unpublish listing", "take listing out of the catalog"),
    ("offer", "bid"),
    ("offers", "bids"),
    ("payout setup", "payout details"),
    ("quality check completed", "checks completed"),
    ("history start", "first commit"),
    ("history end", "last commit"),
    ("asset type", "kind of asset"),
    ("api", "API"),
    ("github", "GitHub"),
];

/// Returns the words of a name on the wire in a sentence, such as `listing request` for `listing_request`, in the terms of pages.
pub fn phrase(name: &str) -> String {
    // Spaces around the name make each term a whole word.
    let text = format!(" {} ", name.replace('_', " "));
    let text = TERMS.iter().fold(text, |text, (term, better)| {
        if text.contains(term) { text.replace(&format!(" {term} "), &format!(" {better} ")) } else { text }
    });
    text.trim().to_owned()
}

/// Returns the words of a name on the wire by themselves, such as `Listing request` for `listing_request`.
pub fn words(name: &str) -> String {
    let text = phrase(name);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the values of a type with their words, for a choice.
pub fn word_choices<E: StringEnum>() -> Vec<(&'static str, String)> {
    choices(|value: E| words(value.as_str()))
}

/// Returns the values of an enum with the text of each.
pub fn choices<E: StringEnum, T: Into<String>>(text: impl Fn(E) -> T) -> Vec<(&'static str, String)> {
    E::ALL.iter().map(|value| (value.as_str(), text(*value).into())).collect()
}

/// Returns the beginning of a record's ID, which distinguishes records in a title.
pub fn short_id(record: &AnyRecord) -> String {
    record.id("id").map(|id| id.to_string().chars().take(8).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(short_money(Cents(400_000)), "$4,000");
        assert_eq!(short_money(Cents(400_050)), "$4,000.50");
        assert_eq!([-50, 0, 50].map(|cents| signed_money(Cents(cents))), ["−$0.50", "$0.00", "+$0.50"]);
        for (bytes, expected) in [
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_250, "1.3 KB"),
            (327_000_000, "327 MB"),
            (12_345_000_000_000, "12 TB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
        for (millis, expected) in [
            (0, "0 s"),
            (4_250, "4.2 s"),
            (59_999, "59.9 s"),
            (3_599_000, "59 min"),
            (3_600_000, "1 h"),
            (112_320_000, "31 h 12 min"),
            (172_800_000, "2 days"),
            (277_200_000, "3 days 5 h"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), expected);
        }
        for (percent, expected) in
            [(0.0, "0%"), (5.0, "5%"), (2.25, "2.25%"), (0.1234, "0.1234%"), (100.0, "100%")]
        {
            assert_eq!(fee(percent), expected);
        }
    }

    #[test]
    fn entered_days_stay_in_utc() {
        let time = |text: &str| Timestamp::parse(text).unwrap();
        let day = deadline(time("2026-04-01T23:59:59Z")).into_string();
        assert!(day.contains(">1 April 2026, end of day (UTC)<") && !day.contains("data-"), "{day}");
        assert!(deadline(time("2026-04-01T22:00:00Z")).into_string().contains("data-moment"));
        let day = entered_day(time("2026-04-01T00:00:00Z")).into_string();
        assert!(day.contains(">1 Apr 2026<") && !day.contains("data-"), "{day}");
        assert!(entered_day(time("2026-04-01T00:01:00Z")).into_string().contains("data-day"));
    }

    #[test]
    fn names_become_words_and_initials() {
        assert_eq!(words("listing_request"), "Listing request");
        assert_eq!(
            (words("offer_accepted").as_str(), words("offered").as_str()),
            ("Bid accepted", "Offered")
        );
        assert_eq!((words("api"), words("github_link")), ("API".to_owned(), "GitHub link".to_owned()));
        assert_eq!(phrase("payout_setup_changed"), "payout details changed");
        assert_eq!(initials("Aurora  Frontier Labs"), "AF");
        assert_eq!(initials("…"), "");
    }
}
