//! The fields of step forms: they show the values of a record, and read the typed values.

use maud::{Markup, html};
use uuid::Uuid;

use crate::{
    console::{
        described::Input,
        forms::{Fields, invalid, problem},
        parts::fields::{self, Field},
        visit::Context,
    },
    domain::{money::Cents, typed_numbers::parse_whole_number},
    error::{Error, Problem, Result},
    store::records::any_record::{AnyRecord, Value},
    string_enum::StringEnum,
};

impl Input {
    /// Shows the field, with the value that the record has in a column of its name.
    pub fn show(&self, context: &Context, record: &AnyRecord) -> Markup {
        match *self {
            Input::Required(input) => input.show_as(context, record, true),
            input => input.show_as(context, record, false),
        }
    }

    fn show_as(&self, context: &Context, record: &AnyRecord, is_required: bool) -> Markup {
        let inputs = &context.inputs;
        let field = |field: Field<'static>, value: String, hint: &'static str| {
            let field = if is_required { field.required() } else { field }.value(value);
            if hint.is_empty() { field.show(inputs) } else { field.hint(html! { (hint) }).show(inputs) }
        };
        let text = |name| value_text(record.get(name));
        match *self {
            Input::Line(name, label, hint) => field(Field::text(name, label), text(name), hint),
            Input::Lines(name, label, hint) => field(Field::lines(name, label), text(name), hint),
            Input::Words(name, label, hint) => {
                let words = record.texts(name).join(", ");
                let words = if words.is_empty() { text(name) } else { words };
                field(Field::text(name, label), words.replace("[]", ""), hint)
            }
            Input::Number(name, label, hint) => field(Field::integer(name, label), text(name), hint),
            Input::Amount(name, label, hint) => {
                let amount = record.integer(name).map(|cents| Cents(cents).to_string());
                field(Field::decimal(name, label), amount.unwrap_or_else(|| text(name)), hint)
            }
            Input::Day(name, label, hint) => {
                let day = record.time(name).map(|time| time.day().to_string());
                field(Field::day(name, label), day.unwrap_or_else(|| text(name)), hint)
            }
            Input::Choice(name, label, values) => {
                let values = values.iter().map(|(value, words)| (*value, (*words).to_owned()));
                fields::select(inputs, name, label, values, &text(name))
            }
            Input::Options(name, label, values) => fields::select(inputs, name, label, values(), &text(name)),
            Input::Several(name, legend, values) => {
                let has = record.texts(name);
                let is_checked = |value: &str| has.iter().any(|own| own == value);
                let boxes = if is_required { fields::required_checkboxes } else { fields::checkboxes };
                boxes(inputs, name, legend, values(), is_checked)
            }
            Input::Tick(name, words) => tick_box(context, name, words, record.is_true(name)),
            Input::Required(input) => input.show(context, record),
        }
    }
}

/// Returns a checkbox that may be left unchecked.
fn tick_box(context: &Context, name: &str, words: &str, is_checked: bool) -> Markup {
    context.inputs.add_label(name, words);
    let is_stored = if is_checked { "yes" } else { "" };
    let now = context.inputs.stored_now(name, is_stored).map(|_| if is_checked { "yes" } else { "no" });
    let is_checked = context.inputs.is_chosen(name, "yes", is_checked);
    html! {
        div.field {
            label.tick {
                input type="checkbox" id=(name) name=(name) value="yes" checked[is_checked];
                span { (words) }
            }
            (fields::stored_now(now))
            (fields::problem(&context.inputs, name))
        }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Missing => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Id(id) => id.to_string(),
    }
}

/// Returns what was typed into a field; an empty text if nothing was, for operations that say what is wrong with it.
pub fn typed<'f>(fields: &'f Fields, name: &str) -> &'f str {
    fields.get(name).unwrap_or_default()
}

/// Returns the words in a field, which are separated by commas.
pub fn words(fields: &Fields, name: &str) -> Vec<String> {
    let words = typed(fields, name).split(',').map(str::trim);
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns the chosen value of a field. Fails with a problem at the field if it is not one of the values.
pub fn choice<E: StringEnum>(fields: &Fields, name: &'static str) -> Result<E> {
    fields.get(name).and_then(E::parse).ok_or_else(|| invalid(name, "Choose one of these."))
}

/// Returns the ID in a field. Fails with a problem at the field if there is none.
pub fn id(fields: &Fields, name: &'static str) -> Result<Uuid> {
    optional_id(fields, name)?.ok_or_else(|| invalid(name, ID_PROBLEM))
}

/// Returns the ID in a field; `None` if nothing was typed. Fails with a problem at the field if it is no ID.
pub fn optional_id(fields: &Fields, name: &'static str) -> Result<Option<Uuid>> {
    fields.parsed(name, ID_PROBLEM, |text| Uuid::try_parse(text).ok())
}

const ID_PROBLEM: &str = "Enter an ID, as the page of the record shows it.";

/// Returns the IDs in the lines of a field. Fails with a problem at the field if there is none, or if a line is no ID.
pub fn ids(fields: &Fields, name: &'static str) -> Result<Vec<Uuid>> {
    let parse = |text: &str| Uuid::try_parse(text).map_err(|_| Error::invalid(lines_problem(name, text)));
    let lines = typed(fields, name).split(|letter: char| letter.is_whitespace() || letter == ',');
    let ids = lines.filter(|line| !line.is_empty()).map(parse).collect::<Result<Vec<Uuid>>>()?;
    if ids.is_empty() { Err(invalid(name, "Enter at least one ID.")) } else { Ok(ids) }
}

fn lines_problem(name: &'static str, text: &str) -> Problem {
    let excerpt: String = text.chars().take(60).collect();
    problem(name, &format!("“{excerpt}” is no ID. Enter one ID in each line."))
}

/// Returns the whole number in a field; `None` if nothing was typed. Fails with a problem at the field.
pub fn number(fields: &Fields, name: &'static str) -> Result<Option<u64>> {
    fields.parsed(name, NUMBER_PROBLEM, |text| parse_whole_number(text)?.try_into().ok())
}

const NUMBER_PROBLEM: &str = "Enter a whole number.";

/// Returns the whole number in a field. Fails with a problem at the field if there is none, or if it is too large.
pub fn required_number(fields: &Fields, name: &'static str) -> Result<u32> {
    let number = number(fields, name)?.and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| invalid(name, NUMBER_PROBLEM))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(name: &str, value: &str) -> Fields {
        Fields::of_pairs(vec![(name.to_owned(), value.to_owned())]).unwrap()
    }

    #[test]
    fn ids_are_read_from_lines() {
        let one = "00000000-0000-0000-0000-000000000001";
        let typed = format!("{one}\n {one},");
        assert_eq!(ids(&fields("ids", &typed), "ids").unwrap().len(), 2);
        for typed in ["", "abc", "00000000-0000-0000-0000-000000000001 abc"] {
            assert!(ids(&fields("ids", typed), "ids").is_err(), "{typed}");
        }
    }
}
