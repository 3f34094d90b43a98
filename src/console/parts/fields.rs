//! Forms and their fields. A field shows what was typed into a refused form, with the problem.

use std::fmt::Display;

use maud::{Markup, Render, html};
use uuid::Uuid;

use super::icons;
use crate::console::{
    forms::{Inputs, KEY_FIELD, OPENED_BY_FIELD},
    visit::Context,
};

/// What is typed into a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Decimal,
    Integer,
    Day,
    Month,
    Moment,
    Secret,
    Lines,
}

impl Kind {
    /// Returns the patterns of values that browsers show in a field of this kind, with 0 for any digit; empty if they
    /// show all values.
    const fn forms(self) -> &'static [&'static str] {
        match self {
            Kind::Day => &["0000-00-00"],
            Kind::Month => &["0000-00"],
            Kind::Moment => &["0000-00-00T00:00", "0000-00-00T00:00:00"],
            Kind::Text | Kind::Decimal | Kind::Integer | Kind::Secret | Kind::Lines => &[],
        }
    }

    /// Whether browsers show a value in a field of this kind.
    fn shows(self, value: &str) -> bool {
        let form: String = value.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        value.is_empty() || self.forms().is_empty() || self.forms().contains(&form.as_str())
    }

    /// Returns the type of the field, and the keyboard of phones.
    fn input(self, value: &str) -> (&'static str, Option<&'static str>) {
        match self {
            // A value in another format would be lost.
            kind if !kind.shows(value) => ("text", None),
            Kind::Day => ("date", None),
            Kind::Month => ("month", None),
            Kind::Moment => ("datetime-local", None),
            Kind::Secret => ("password", None),
            Kind::Decimal => ("text", Some("decimal")),
            Kind::Integer => ("text", Some("numeric")),
            Kind::Text | Kind::Lines => ("text", None),
        }
    }
}

/// A field of a form, with its label.
#[derive(Clone, Debug)]
pub struct Field<'f> {
    name: &'f str,
    label: &'f str,
    of: &'f str,
    kind: Kind,
    hint: Option<Markup>,
    value: String,
    is_required: bool,
    is_marked: bool,
    max_length: Option<usize>,
}

impl<'f> Field<'f> {
    const fn new(kind: Kind, name: &'f str, label: &'f str) -> Field<'f> {
        Field {
            name,
            label,
            of: "",
            kind,
            hint: None,
            value: String::new(),
            is_required: false,
            is_marked: false,
            max_length: None,
        }
    }

    /// Returns a field for a line of text.
    pub const fn text(name: &'f str, label: &'f str) -> Field<'f> {
        Field::new(Kind::Text, name, label)
    }

    /// Returns a field for several lines of text.
    pub const fn lines(name: &'f str, label: &'f str) -> Field<'f> {
        Field::new(Kind::Lines, name, label)
    }

    /// Returns a field for a decimal number, such as an amount.
    pub const fn decimal(name: &'f str, label: &'f str) -> Field<'f> {
        Field::new(Kind::Decimal, name, label)
    }

    /// Returns a field for a whole number.
    pub const fn integer(name: &'f str, label: &'f str) -> Field<'f> {
        Field::new(Kind::Integer, name, label)
    }

    /// Returns a field for a calendar day.
    pub const fn day(name: &'f str, label: &'f str) -> Field<'f> {
        Field::new(Kind::Day, name, label)
    }

    /// Returns a field for a calendar month.
    pub const fn month(name: &'f str, label: &'f str) -> Field<'f> {
        Field::new(Kind::Month, name, label)
    }

    /// Returns a field for a time in UTC. Its value has a space or a `T` between the day and the hour.
    pub const fn moment(name: &'f str, label: &'f str) -> Field<'f> {
        Field::new(Kind::Moment, name, label)
    }

    /// Returns a field for a secret, which is not shown, and not repeated in a refused form.
    pub const fn secret(name: &'f str, label: &'f str) -> Field<'f> {
        Field::new(Kind::Secret, name, label)
    }

    /// Returns the label.
    pub const fn label(&self) -> &'f str {
        self.label
    }

    /// Sets the subject of the field for screen readers, if several fields have the same label.
    #[must_use]
    pub const fn of(mut self, of: &'f str) -> Field<'f> {
        self.of = of;
        self
    }

    /// Sets what stands between label and field.
    #[must_use]
    pub fn hint(mut self, hint: Markup) -> Field<'f> {
        self.hint = Some(hint);
        self
    }

    /// Sets what the field of a new form shows.
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Field<'f> {
        self.value = value.into();
        self
    }

    /// Marks the field as one that needs a value, and makes browsers ask for it.
    #[must_use]
    pub const fn required(mut self) -> Field<'f> {
        self.is_required = true;
        self
    }

    /// Marks the field as required, but not by the browser: the form can be sent without a value.
    #[must_use]
    pub const fn marked(mut self, is_marked: bool) -> Field<'f> {
        self.is_marked = is_marked;
        self
    }

    /// Sets the maximum number of characters of a line. Browsers cut off what is pasted beyond it. Nobody would notice that in a
    /// text of several lines, so there the server says that it is too long.
    #[must_use]
    pub const fn at_most(mut self, characters: usize) -> Field<'f> {
        self.max_length = Some(characters);
        self
    }

    /// Shows the field.
    pub fn show(&self, inputs: &Inputs) -> Markup {
        let Field { name, kind, value, is_required, max_length, .. } = self;
        let value = if *kind == Kind::Secret { "" } else { inputs.value(name, value) };
        let value = if *kind == Kind::Moment { value.replacen(' ', "T", 1) } else { value.to_owned() };
        inputs.add_label(name, self.label);
        let (problem, hint) = (inputs.problem(name), &self.hint);
        let described = described_by(name, hint.is_some(), problem.is_some());
        let invalid = problem.as_ref().map(|_| "true");
        let (input_type, mode) = kind.input(&value);
        let is_typed = kind.forms().is_empty();
        let max_length = max_length.filter(|_| is_typed);
        let complete = if *kind == Kind::Secret { "current-password" } else { "off" };
        let control = html! {
            @if *kind == Kind::Lines {
                textarea id=(name) name=(name) required[*is_required] aria-invalid=[invalid]
                    aria-describedby=[described.as_deref()] { "\n" (value) }
            } @else {
                input id=(name) name=(name) type=(input_type) inputmode=[mode] value=(value) required[*is_required]
                    maxlength=[max_length] autocomplete=(complete) spellcheck=[(*kind == Kind::Secret).then_some("false")]
                    aria-invalid=[invalid] aria-describedby=[described.as_deref()];
            }
        };
        let label = html! { (self.label) @if !self.of.is_empty() { span.out { ": " bdi { (self.of) } } } };
        let stored = self.value.replacen(' ', if *kind == Kind::Moment { "T" } else { " " }, 1);
        let now = inputs.stored_now(name, &stored).filter(|_| *kind != Kind::Secret);
        let control = html! { (control) (stored_now(now)) };
        labeled(name, (label, *is_required || self.is_marked), hint.as_ref(), &control, problem.as_deref())
    }
}

/// Shows the stored value of a field if it was changed after the form was opened and differs from the typed value.
pub fn stored_now(stored: Option<&str>) -> Markup {
    html! { @if let Some(stored) = stored {
        p.note { "It says now: " @if stored.is_empty() { "nothing" } @else { b.long { bdi { (stored) } } } }
    } }
}

/// Returns the mark of a required field; nothing for other fields.
pub fn required_mark(is_required: bool) -> Markup {
    html! { @if is_required { " " span.note { "required" } } }
}

/// Returns the IDs of what describes a field.
fn described_by(name: &str, has_hint: bool, has_problem: bool) -> Option<String> {
    let ids = [(has_hint, "h"), (has_problem, "p")];
    let ids: Vec<String> =
        ids.iter().filter(|(is_there, _)| *is_there).map(|(_, kind)| format!("{name}-{kind}")).collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

fn labeled(
    name: &str,
    (label, is_required): (impl Render, bool),
    hint: Option<&Markup>,
    control: &Markup,
    problem: Option<&str>,
) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) (required_mark(is_required)) }
            @if let Some(hint) = hint { p.note id={ (name) "-h" } { (hint) } }
            (control)
            @if let Some(problem) = problem { (problem_of(name, problem)) }
        }
    }
}

/// Returns the problem with a field that is made elsewhere.
pub fn problem(inputs: &Inputs, name: &str) -> Markup {
    inputs.problem(name).map(|problem| problem_of(name, &problem)).unwrap_or_default()
}

fn problem_of(name: &str, problem: &str) -> Markup {
    html! { p.problem id={ (name) "-p" } { (icons::icon("bad")) span { (problem) } } }
}

/// Returns a list of choices, of which one is chosen: values with their texts.
pub fn select<V: Display>(
    inputs: &Inputs,
    name: &str,
    label: &str,
    choices: impl IntoIterator<Item = (V, String)>,
    chosen: &str,
) -> Markup {
    marked_select(inputs, name, (label, false), choices, chosen)
}

/// Like [`select`], with the mark of a required field if `is_marked`.
pub fn marked_select<V: Display>(
    inputs: &Inputs,
    name: &str,
    (label, is_marked): (&str, bool),
    choices: impl IntoIterator<Item = (V, String)>,
    chosen: &str,
) -> Markup {
    inputs.add_label(name, label);
    let problem = inputs.problem(name);
    let described = described_by(name, false, problem.is_some());
    let invalid = problem.as_ref().map(|_| "true");
    let choices: Vec<(String, String)> =
        choices.into_iter().map(|(value, text)| (value.to_string(), text)).collect();
    let now = inputs.stored_now(name, chosen);
    let now =
        now.map(|now| choices.iter().find(|(value, _)| *value == now).map_or(now, |(_, text)| text.as_str()));
    let control = html! {
        select id=(name) name=(name) aria-invalid=[invalid] aria-describedby=[described.as_deref()] {
            @for (value, text) in &choices {
                option value=(value) selected[inputs.is_chosen(name, value, *value == chosen)] { (text) }
            }
        }
        (stored_now(now))
    };
    labeled(name, (label, is_marked), None, &control, problem.as_deref())
}

/// A choice among few, each with a note.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Value of the field.
    pub value: String,
    /// What it is.
    pub text: String,
    /// What it means.
    pub note: String,
    /// An amount beside it.
    pub amount: Option<String>,
}

/// Returns radio buttons. The first one has the ID that problems link. If none is chosen at first, one must be chosen.
pub fn choices(inputs: &Inputs, name: &str, legend: &str, choices: &[Choice], chosen: &str) -> Markup {
    radios(inputs, name, (legend, chosen.is_empty()), choices, chosen)
}

/// Like [`choices`], with a legend that is visible even if a choice is preselected.
pub fn choices_below_legend(
    inputs: &Inputs,
    name: &str,
    legend: &str,
    choices: &[Choice],
    chosen: &str,
) -> Markup {
    radios(inputs, name, (legend, true), choices, chosen)
}

fn radios(
    inputs: &Inputs,
    name: &str,
    (legend, is_visible): (&str, bool),
    choices: &[Choice],
    chosen: &str,
) -> Markup {
    inputs.add_label(name, legend);
    let problem = inputs.problem(name);
    let is_required = chosen.is_empty();
    html! {
        fieldset.stack.tight aria-describedby=[problem.as_ref().map(|_| format!("{name}-p"))] {
            legend.out[!is_visible] { (legend) (required_mark(is_required)) }
            @for (index, choice) in choices.iter().enumerate() {
                label.choice {
                    input type="radio" name=(name) value=(choice.value) id=[(index == 0).then_some(name)] required[is_required]
                        checked[inputs.is_chosen(name, &choice.value, choice.value == chosen)];
                    span { (choice.text) span.note { (choice.note) } }
                    @if let Some(amount) = &choice.amount { b { (amount) } }
                }
            }
            @if let Some(problem) = problem { (problem_of(name, &problem)) }
        }
    }
}

/// Returns checkboxes of which any number is checked: values with their texts.
pub fn checkboxes<V: Display>(
    inputs: &Inputs,
    name: &str,
    legend: &str,
    values: impl IntoIterator<Item = (V, String)>,
    is_checked: impl Fn(&str) -> bool,
) -> Markup {
    boxes(inputs, name, (legend, false), values, is_checked)
}

/// Returns checkboxes of which at least one must be checked. The server says so if none is.
pub fn required_checkboxes<V: Display>(
    inputs: &Inputs,
    name: &str,
    legend: &str,
    values: impl IntoIterator<Item = (V, String)>,
    is_checked: impl Fn(&str) -> bool,
) -> Markup {
    boxes(inputs, name, (legend, true), values, is_checked)
}

fn boxes<V: Display>(
    inputs: &Inputs,
    name: &str,
    (legend, is_required): (&str, bool),
    values: impl IntoIterator<Item = (V, String)>,
    is_checked: impl Fn(&str) -> bool,
) -> Markup {
    inputs.add_label(name, legend);
    let problem = inputs.problem(name);
    let values: Vec<(String, String)> =
        values.into_iter().map(|(value, text)| (value.to_string(), text)).collect();
    let differs = |value: &str| inputs.is_chosen(name, value, false) != is_checked(value);
    let is_other = inputs.is_outdated() && values.iter().any(|(value, _)| differs(value));
    let checked = values.iter().filter(|(value, _)| is_other && is_checked(value));
    let checked: Vec<&str> = checked.map(|(_, text)| text.as_str()).collect();
    html! {
        fieldset.stack.tight id=(name) aria-describedby=[problem.as_ref().map(|_| format!("{name}-p"))] {
            legend { b { (legend) } (required_mark(is_required)) }
            @for (value, text) in &values {
                label.tick {
                    input type="checkbox" name=(name) value=(value) checked[inputs.is_chosen(name, value, is_checked(value))];
                    span { (text) }
                }
            }
            (stored_now(is_other.then(|| checked.join(", ")).as_deref()))
            @if let Some(problem) = problem { (problem_of(name, &problem)) }
        }
    }
}

/// Returns a checkbox that must be checked, such as the signature of an agreement.
pub fn tick(inputs: &Inputs, name: &str, text: &Markup) -> Markup {
    inputs.add_label(name, "Confirmation");
    let problem = inputs.problem(name);
    html! {
        div.field {
            label.tick {
                input type="checkbox" id=(name) name=(name) value="yes" required checked[inputs.is_chosen(name, "yes", false)]
                    aria-invalid=[problem.as_ref().map(|_| "true")]
                    aria-describedby=[problem.as_ref().map(|_| format!("{name}-p"))];
                span { (text) (required_mark(true)) }
            }
            @if let Some(problem) = problem { (problem_of(name, &problem)) }
        }
    }
}

/// Returns the hidden fields that each form for a change has: the key with which it is carried out once, and who opened it.
pub fn form_key(context: &Context) -> Markup {
    // A refused form keeps its key: nothing was stored under it.
    let new = Uuid::new_v4().to_string();
    let key = context.inputs.value(KEY_FIELD, &new);
    html! {
        input type="hidden" name=(KEY_FIELD) value=(if key.is_empty() { &new } else { key });
        (opened_by(context))
    }
}

/// Returns the hidden field with who opened a form.
pub fn opened_by(context: &Context) -> Markup {
    html! { input type="hidden" name=(OPENED_BY_FIELD) value=(context.opened_by()); }
}

/// Returns a form that is sent to a path below [`PREFIX`](crate::console::address::PREFIX).
pub fn form(context: &Context, path: &str, content: &Markup) -> Markup {
    form_with_class(context, path, "stack", content)
}

/// Returns a form with a class of the design.
pub fn form_with_class(context: &Context, path: &str, class: &str, content: &Markup) -> Markup {
    html! {
        form method="post" action=(context.links.to(path)) class=(class) {
            (form_key(context))
            (content)
        }
    }
}

/// Returns a button with its own form, for actions without a confirmation.
pub fn button(context: &Context, path: &str, label: &str, class: &str) -> Markup {
    form_with_class(context, path, "row", &html! { button class=(class) { (label) } })
}

/// Returns a little button like [`button`] in a row. `of` names the record for screen readers, which list buttons without their
/// rows.
pub fn row_button(context: &Context, path: &str, label: &str, of: impl Render, class: &str) -> Markup {
    let class = format!("little {class}");
    let button = html! { button class=(class.trim_end()) { (label) span.out { ": " (of) } } };
    form_with_class(context, path, "row", &button)
}

/// Returns the button that sends a form, and a link to the page that one returns to without sending it.
pub fn buttons(context: &Context, label: &str, leave: (&str, &str)) -> Markup {
    buttons_of_class(context, ("primary", label), leave)
}

fn buttons_of_class(context: &Context, (class, label): (&str, &str), leave: (&str, &str)) -> Markup {
    html! {
        div.row {
            button class=(class) { (label) }
            a.button.quiet href=(context.links.to(leave.1)) { (leave.0) }
        }
    }
}

/// Returns the form of a confirmation page: the losses, the button that confirms (its class and its label), and a link back.
pub fn question(context: &Context, lost: &Markup, button: (&str, &str), leave: &str) -> Markup {
    let content = html! {
        div.prose { (lost) }
        (buttons_of_class(context, button, ("Leave it as it is", leave)))
    };
    form(context, &context.path, &content)
}
