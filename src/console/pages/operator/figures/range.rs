//! The range of time of a figure, which its address states.

use crate::{
    console::{
        pages::operator::prelude::*,
        parts::tabs::{self, Tab},
        refusals,
    },
    domain::figures::{Month, Preset, Range},
    error::Problem,
};

/// Name of the field of the query with a range that ends now.
const RANGE: &str = "range";

/// Names of the fields of the query with the first and the last month.
const MONTHS: [&str; 2] = ["from", "to"];

/// A range that was chosen.
pub struct Chosen {
    /// The range.
    pub range: Range,
    /// The query that states it.
    pub query: Query,
    preset: Option<Preset>,
}

impl Chosen {
    /// Returns the range that a query states: its months, or else its range that ends now, or else the default.
    pub fn of(query: &Query, now: Timestamp) -> Result<Chosen> {
        let [from, to] = MONTHS.map(|name| month(query, name));
        let (from, to) = (from?, to?);
        if from.is_some() || to.is_some() {
            if from > to && to.is_some() {
                let message = "The last month is before the first one. Swap them.";
                return Err(Error::invalid(Problem::query("to", "value_error", message)));
            }
            let stated = MONTHS.into_iter().zip([from, to]).filter_map(|(name, month)| Some((name, month?)));
            let query =
                stated.fold(Query::default(), |query, (name, month)| query.with(name, &month.to_string()));
            return Ok(Chosen { range: Range::of_months(from, to, now), query, preset: None });
        }
        let preset = match query.get(RANGE) {
            None => Preset::Months12,
            Some(text) => Preset::parse(text).ok_or_else(|| {
                let message = "There is no such range of time. Choose one on the page.";
                Error::invalid(Problem::query(RANGE, "value_error", message))
            })?,
        };
        let query = Query::default().with(RANGE, preset.as_str());
        Ok(Chosen { range: Range::last(preset, now), query, preset: Some(preset) })
    }

    /// Shows the choice of another range.
    pub fn show(&self, context: &Context) -> Markup {
        choice(context, self.preset, &self.query, &Inputs::default())
    }
}

/// Returns the content of a page whose range was refused: the form with the typed values and their problems.
pub fn refused(context: &Context, title: &str, error: &Error) -> Content {
    let inputs = Inputs::refused(Fields::of_query(&context.query), error);
    let mut content = Content::new(title, choice(context, None, &context.query, &inputs));
    content.refusal = Some(badges::refusal(&inputs));
    content.with_status(refusals::status(error))
}

fn choice(context: &Context, chosen: Option<Preset>, query: &Query, inputs: &Inputs) -> Markup {
    let tab = |preset: &Preset| Tab {
        label: label(*preset),
        address: context.here(&Query::default().with(RANGE, preset.as_str())),
        is_current: chosen == Some(*preset),
    };
    let tabs: Vec<Tab> = Preset::ALL.iter().map(tab).collect();
    let field = |name: &'static str, label: &'static str| {
        Field::month(name, label).value(query.get(name).unwrap_or_default()).show(inputs)
    };
    html! {
        (tabs::tabs("Range of time", &tabs))
        form.row.no-print action=(context.links.to(&context.path)) aria-label="Range of months" {
            (field("from", "First month, such as 2025-04"))
            (field("to", "Last month"))
            button { "Show these months" }
        }
    }
}

fn month(query: &Query, name: &'static str) -> Result<Option<Month>> {
    let parse = |text: &str| {
        Month::parse(text).ok_or_else(|| {
            let message = "Enter a month as year and number, for example 2025-04.";
            Error::invalid(Problem::query(name, "value_error", message))
        })
    };
    query.get(name).map(parse).transpose()
}

const fn label(preset: Preset) -> &'static str {
    match preset {
        Preset::Days30 => "30 days",
        Preset::Days90 => "90 days",
        Preset::Months12 => "12 months",
        Preset::All => "All",
    }
}
