//! The declaration of a resource of operators as plain data: the fields of its forms, its filters, and its steps. The tests of all
//! resources read it.

use super::tone::Tone;

/// Returns the values of a choice with their words.
type Values = fn() -> Vec<(&'static str, String)>;

/// A field of a step's form.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// A line of text: name, label, hint.
    Line(&'static str, &'static str, &'static str),
    /// Several lines of text: name, label, hint.
    Lines(&'static str, &'static str, &'static str),
    /// Words with commas between them: name, label, hint.
    Words(&'static str, &'static str, &'static str),
    /// An amount in US dollars: name, label, hint.
    Amount(&'static str, &'static str, &'static str),
    /// A whole number: name, label, hint.
    Number(&'static str, &'static str, &'static str),
    /// A calendar day: name, label, hint.
    Day(&'static str, &'static str, &'static str),
    /// A choice: name, label, values with their words.
    Choice(&'static str, &'static str, &'static [(&'static str, &'static str)]),
    /// A choice among the values of a type: name, label, values.
    Options(&'static str, &'static str, Values),
    /// Any number of the values of a type: name, legend, values.
    Several(&'static str, &'static str, Values),
    /// A checkbox: name, text.
    Tick(&'static str, &'static str),
    /// A field that needs a value.
    Required(&'static Input),
}

impl Input {
    /// Returns the name of the field.
    pub const fn name(&self) -> &'static str {
        match self {
            Input::Line(name, _, _)
            | Input::Lines(name, _, _)
            | Input::Words(name, _, _)
            | Input::Amount(name, _, _)
            | Input::Number(name, _, _)
            | Input::Day(name, _, _)
            | Input::Choice(name, _, _)
            | Input::Options(name, _, _)
            | Input::Several(name, _, _)
            | Input::Tick(name, _) => name,
            Input::Required(input) => input.name(),
        }
    }
}

/// How the value of a field is shown.
#[derive(Clone, Copy, Debug)]
pub enum FieldFormat {
    /// As a text, or as a number without a unit.
    Plain,
    /// As a number with its thousands separated.
    Number,
    /// As a size in bytes.
    Size,
    /// As a text of a team in Markdown.
    Text,
    /// As an amount of cents.
    Money,
    /// As a moment.
    Moment,
    /// As a deadline: a moment, or the end of a day.
    Deadline,
    /// As the day of a moment, in a list with many columns. Files have the moment.
    Day,
    /// As a state: a badge with its words.
    State,
    /// As a word that is stored with underscores.
    Word,
    /// As a state, by a function that returns its tone and its label.
    Badge(fn(&str) -> (Tone, String)),
    /// As a word, by a function that returns the name that people use.
    Called(fn(&str) -> String),
    /// As yes or no.
    Flag,
    /// As the ID of a record, which has its page below this path. Teams and listings are shown by their names.
    Record(&'static str),
    /// As IDs of records, which have their pages below this path.
    Records(&'static str),
    /// As the ID, the name, or the number of a record whose kind is in this column. Records that have a name are shown
    /// by their name.
    Subject(&'static str),
    /// As an ID without a page.
    Id,
    /// As a list of texts, from JSON.
    Many,
    /// As a list of names on the wire, from JSON.
    Words,
}

/// A field of a record that is shown.
#[derive(Clone, Copy, Debug)]
pub struct RecordField {
    /// Name of the column.
    pub name: &'static str,
    /// Label, with the unit.
    pub label: &'static str,
    /// How it is shown.
    pub format: FieldFormat,
    /// Whether the list shows it; otherwise, only the page of the record does.
    pub is_listed: bool,
}

/// A resource.
#[derive(Clone, Debug)]
pub struct ResourceInfo {
    /// Path of its list.
    pub list: &'static str,
    /// Path of the operator API that lists its records. A required filter is a parameter of the path.
    pub list_api: &'static str,
    /// Path of the operator API below which its records are; `None` if single records cannot be requested.
    pub api: Option<&'static str>,
    /// Names of the operations whose answers the page of a record shows below its fields.
    pub related_operations: &'static [&'static str],
    /// Kind of the records in the audit.
    pub subject: &'static str,
    /// The fields that pages show of a record.
    pub fields: &'static [RecordField],
    /// The filters of the list, with their values; without values if any text can be typed.
    pub filters: Vec<(&'static str, Vec<&'static str>)>,
    /// The steps that operators can take with a record.
    pub steps: Vec<StepInfo>,
    /// How a record is made; `None` if operators make none.
    pub new: Option<StepInfo>,
}

/// A step that operators take with a record, or that creates one.
#[derive(Clone, Debug)]
pub struct StepInfo {
    /// Last segment of its path.
    pub name: &'static str,
    /// Label of its button.
    pub label: &'static str,
    /// Name of the operation.
    pub operation: &'static str,
    /// The fields of its form.
    pub inputs: &'static [Input],
}

impl ResourceInfo {
    /// Returns all steps.
    pub fn all_steps(&self) -> impl Iterator<Item = &StepInfo> {
        self.steps.iter().chain(&self.new)
    }
}
