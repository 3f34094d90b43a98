//! The declaration of a resource of operators as plain data: the fields of its forms, its filters, and its steps. The tests of all
//! resources read it.

use super::resources::Shown;

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
    pub below: &'static [&'static str],
    /// Kind of the records in the audit.
    pub subject: &'static str,
    /// What pages show of a record.
    pub shown: &'static [Shown],
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
