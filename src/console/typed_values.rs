//! Reads the amounts, times, and days that people type into forms.

use super::{
    forms::{Fields, invalid},
    text::short_money,
};
use crate::{
    domain::{
        money::{Cents, MAX_AMOUNT},
        time::{Day, Timestamp},
        typed_numbers::parse_amount,
    },
    error::Result,
};

impl Fields {
    /// Returns the amount in US dollars in a field, as people write it, such as `$1,450.50`; `None` if nothing was typed. Fails
    /// with a problem at the field.
    pub fn amount(&self, name: &'static str) -> Result<Option<Cents>> {
        self.amount_of_at_most(name, MAX_AMOUNT)
    }

    /// Like [`amount`](Self::amount). The message about an amount that is too large to be read names the maximum of the operation.
    pub fn amount_of_at_most(&self, name: &'static str, maximum: Cents) -> Result<Option<Cents>> {
        self.parsed(name, &amount_problem(self.get(name), maximum), parse_amount)
    }

    /// Returns the amount in US dollars in a field. Fails with a problem at the field if nothing was typed.
    pub fn required_amount(&self, name: &'static str) -> Result<Cents> {
        self.required_amount_of_at_most(name, MAX_AMOUNT)
    }

    /// Like [`required_amount`](Self::required_amount), with the maximum of the operation.
    pub fn required_amount_of_at_most(&self, name: &'static str, maximum: Cents) -> Result<Cents> {
        let amount = self.amount_of_at_most(name, maximum)?;
        amount.ok_or_else(|| invalid(name, &amount_problem(None, maximum)))
    }

    /// Returns the time in a field, in UTC, as people write it, such as `2026-04-01 09:00`; `None` if nothing was typed. Fails with
    /// a problem at the field.
    pub fn moment(&self, name: &'static str) -> Result<Option<Timestamp>> {
        self.parsed(name, "Enter a time in UTC, for example 2026-04-01 09:00.", parse_moment)
    }

    /// Returns the time at which the day in a field begins, in UTC; `None` if nothing was typed. The day of the time that the form
    /// showed keeps that time. Fails with a problem at the field.
    pub fn start_of_day(&self, name: &'static str, shown: Option<Timestamp>) -> Result<Option<Timestamp>> {
        self.time_of_day(name, "00:00:00", shown)
    }

    /// Returns the time at which the day in a field ends, like [`start_of_day`](Self::start_of_day).
    pub fn end_of_day(&self, name: &'static str, shown: Option<Timestamp>) -> Result<Option<Timestamp>> {
        self.time_of_day(name, "23:59:59", shown)
    }

    fn time_of_day(
        &self,
        name: &'static str,
        time: &str,
        shown: Option<Timestamp>,
    ) -> Result<Option<Timestamp>> {
        self.parsed(name, "Enter a day, for example 2027-01-31.", |text| {
            let day = Day::parse(text)?;
            shown.filter(|shown| shown.day() == day).or_else(|| Timestamp::parse(&format!("{day}T{time}Z")))
        })
    }
}

/// Message for a text that is not an amount, or for an amount above the maximum.
pub fn amount_problem(text: Option<&str>, maximum: Cents) -> String {
    let number = text.and_then(|text| text.replace(['$', ','], "").trim().parse::<f64>().ok());
    if number.is_some_and(|dollars| dollars > maximum.dollars()) {
        return format!("Enter at most {}.", short_money(maximum));
    }
    "Enter an amount in US dollars, for example 27000 or 1450.50.".to_owned()
}

/// Parses a time in UTC: a day, a day with hours and minutes, or a whole timestamp.
fn parse_moment(text: &str) -> Option<Timestamp> {
    let text = text.replacen(' ', "T", 1);
    [text.clone(), format!("{text}Z"), format!("{text}:00Z"), format!("{text}T00:00:00Z")]
        .iter()
        .find_map(|candidate| Timestamp::parse(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::forms::Inputs;

    #[test]
    fn message_about_too_large_amounts_names_the_maximum() {
        for (typed, expected) in [
            ("$20,000,000,000", "Enter at most $10,000,000,000."),
            ("many", "Enter an amount in US dollars, for example 27000 or 1450.50."),
        ] {
            let fields = Fields::of_pairs(vec![("price".to_owned(), typed.to_owned())]).unwrap();
            let error = fields.amount("price").unwrap_err();
            let inputs = Inputs::refused(fields, &error);
            assert_eq!(inputs.problem("price").as_deref(), Some(expected));
        }
        let fields = Fields::of_pairs(vec![("price".to_owned(), "20000000000".to_owned())]).unwrap();
        let error = fields.amount_of_at_most("price", Cents(500_000)).unwrap_err();
        let inputs = Inputs::refused(fields, &error);
        assert_eq!(inputs.problem("price").as_deref(), Some("Enter at most $5,000."));
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let nine = Timestamp::parse("2026-04-01T09:00:00Z");
        for text in ["2026-04-01 09:00", "2026-04-01T09:00", "2026-04-01 09:00:00", "2026-04-01T09:00:00Z"] {
            assert_eq!(parse_moment(text), nine, "{text}");
        }
        assert_eq!(parse_moment("2026-04-01"), Timestamp::parse("2026-04-01T00:00:00Z"));
        for text in ["", "tomorrow", "09:00", "2026-13-01"] {
            assert_eq!(parse_moment(text), None, "{text}");
        }
    }

    #[test]
    fn days_begin_and_end_in_utc_but_keep_the_time_that_was_shown() {
        let fields = |text: &str| Fields::of_pairs(vec![("day".to_owned(), text.to_owned())]).unwrap();
        let typed = fields("2027-01-31");
        let time = Timestamp::parse;
        for shown in [None, time("2027-01-30T12:00:00Z")] {
            assert_eq!(typed.start_of_day("day", shown).unwrap(), time("2027-01-31T00:00:00Z"));
            assert_eq!(typed.end_of_day("day", shown).unwrap(), time("2027-01-31T23:59:59Z"));
        }
        let shown = time("2027-01-31T12:00:00Z");
        assert_eq!(typed.start_of_day("day", shown).unwrap(), shown);
        assert_eq!(typed.end_of_day("day", shown).unwrap(), shown);
        assert_eq!(fields("").start_of_day("day", shown).unwrap(), None);
        assert!(fields("31.1.2027").start_of_day("day", shown).is_err());
    }
}
