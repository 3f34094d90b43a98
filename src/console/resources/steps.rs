//! What operators do to records: a page for each change, which asks and takes what it needs.

use std::marker::PhantomData;

use maud::{Markup, html};

use super::resource::{Confirm, Previewed, Resource, Revealed, Step, path_of};
use crate::{
    console::{
        answer::{Answer, Content},
        changes::{self, Change},
        described::{Input, RecordField},
        forms::{Fields, invalid},
        notices::Notice,
        page::{FormPage, Page},
        parts::{
            badges,
            fields::{self, Field},
            secrets, tables,
        },
        seen::{SEEN_FIELD, Seen},
        visit::{Context, Visit},
    },
    error::{Error, LocSegment, Problem, Result},
    market::Writer,
    operations::{access::ActingOperator, audit, records},
    store::records::any_record::{AnyRecord, RecordKey, Value},
};

/// A change of a record.
pub struct RecordStep<R>(pub PhantomData<R>);

/// A record that is made.
pub struct NewRecord<R>(pub PhantomData<R>);

/// Field with the text that is typed again to confirm a step.
const RETYPED: &str = "retyped";

/// Field that says that the effect was shown, and whether it was confirmed.
const CONFIRMED: &str = "confirmed";

fn step_of<R: Resource>(context: &Context) -> Result<&'static Step> {
    let name = context.parameter(1);
    R::STEPS.iter().find(|step| step.name == name).ok_or_else(|| Error::not_found("page"))
}

impl<R: Resource> Page<ActingOperator> for RecordStep<R> {
    const PATH: &'static str = R::STEP;
    const TITLE: &'static str = R::RECORDS.name;

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let (key, step) = (R::identify(visit.parameter(0))?, step_of::<R>(&visit.context)?);
        let read = visit.read(move |reader, operator| {
            let mut record = records::find_any(reader.rows, operator.platform(), R::RECORDS, &key)?;
            R::DERIVED_COLUMNS(&mut record, reader.now);
            let ids: Vec<_> = stated::<R>(step).flat_map(|field| field.named_ids(&record)).collect();
            let names = records::names(reader.rows, operator.platform(), &ids)?;
            let preview =
                step.preview.map(|preview| preview(reader, operator.platform(), &record)).transpose()?;
            Ok((record, names, preview))
        });
        let (record, names, preview) = read.await?;
        let context = &visit.context;
        let page = path_of::<R>(&R::key_of(&record));
        let seen = seen::<R>(step, &record).edited(&context.inputs);
        let leave = ("Leave it as it is", page.as_str());
        let facts: Vec<_> =
            stated::<R>(step).map(|field| (field.label, field.show(context, &record, &names))).collect();
        let body = html! {
            @if let Some(obstacle) = step.why_not(&record) {
                (badges::warning(obstacle))
                (back(context, &page))
            } @else {
                p { (step.question) }
                @if !facts.is_empty() { (tables::facts(&facts)) }
                @match preview.map(|Previewed { show, is_possible }| (show(context), is_possible)) {
                    Some((shown, false)) => { (shown) (back(context, &page)) },
                    Some((shown, true)) => { (shown) (form(context, step, &record, (&seen, leave))) },
                    None => (form(context, step, &record, (&seen, leave))),
                }
            }
        };
        let content = Content::new(step.label_for(&record), body).narrow();
        Ok(content.with_parent(R::TITLE, R::LIST).with_parent(R::title_of(&record), page).into())
    }
}

fn back(context: &Context, page: &str) -> Markup {
    html! { div.row { a.button href=(context.links.to(page)) { "Back" } } }
}

/// Returns what the page of a step states of a record.
fn stated<R: Resource>(step: &Step) -> impl Iterator<Item = &'static RecordField> {
    let states = step.states;
    R::FIELDS.iter().filter(move |field| states.contains(&field.name))
}

/// Identifies what the page of a step shows of a record: its title, and the values that the step states or can change.
fn seen<R: Resource>(step: &Step, record: &AnyRecord) -> Seen {
    let columns = step.inputs.iter().map(Input::name).chain(step.states.iter().copied());
    let values: Vec<&Value> = columns.map(|name| record.get(name)).collect();
    Seen::of(&(R::title_of(record), values))
}

/// Returns the form of a step. `seen` is its hidden field with what the page shows of a record.
fn form(
    context: &Context,
    step: &Step,
    record: &AnyRecord,
    (seen, (leave, path)): (&Markup, (&str, &str)),
) -> Markup {
    let inputs = html! {
        (seen)
        @for input in step.inputs { (input.show(context, record)) }
        @if !step.retyped_column.is_empty() {
            (Field::text(RETYPED, "To confirm, type its name").required()
                .hint(html! { "It is called " b #retype translate="no" { bdi { (record.text(step.retyped_column)) } } "." })
                .show(&context.inputs))
        }
        div.row {
            button.primary.danger[step.is_final] {
                @if step.confirms.is_some() { "Continue" } @else { (step.label_for(record)) }
            }
            a.button.quiet href=(context.links.to(path)) { (leave) }
        }
    };
    fields::form(context, &context.path, &inputs)
}

impl<R: Resource> FormPage<ActingOperator> for RecordStep<R> {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let (key, step) = (R::identify(visit.parameter(0))?, step_of::<R>(&visit.context)?);
        let change = Change::new(step.operation, R::SUBJECT, visit.parameter(0));
        let own = path_of::<R>(visit.parameter(0));
        submit::<R>(visit, fields, (step, Some(key)), change, &own).await
    }
}

impl<R: Resource> Page<ActingOperator> for NewRecord<R> {
    const PATH: &'static str = R::NEW_PATH;
    const TITLE: &'static str = R::RECORDS.name;

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let step = R::NEW.ok_or_else(|| Error::not_found("page"))?;
        let context = &visit.context;
        let body = html! {
            p { (step.question) }
            (form(context, step, &preset(context, step), (&html! {}, ("Cancel", R::LIST))))
        };
        Ok(Content::new(step.label, body).narrow().with_parent(R::TITLE, R::LIST).into())
    }
}

/// Returns what the query of the address states of a new record, such as its team.
fn preset(context: &Context, step: &Step) -> AnyRecord {
    let mut record = AnyRecord::default();
    for input in step.inputs {
        if let Some(value) = context.query.get(input.name()) {
            record.set(input.name(), Value::Text(value.to_owned()));
        }
    }
    record
}

impl<R: Resource> FormPage<ActingOperator> for NewRecord<R> {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let step = R::NEW.ok_or_else(|| Error::not_found("page"))?;
        let change = Change::new(step.operation, R::SUBJECT, "new");
        submit::<R>(visit, fields, (step, None), change, R::LIST).await
    }
}

/// Carries out a step for the record with a key, or for a new one. Leads to the record, or to a path if the step names none.
async fn submit<R: Resource>(
    visit: &Visit<ActingOperator>,
    fields: &Fields,
    (step, key): (&'static Step, Option<RecordKey>),
    change: Change,
    otherwise: &str,
) -> Result<Answer> {
    let typed = fields.clone();
    match (step.confirms, fields.get(CONFIRMED)) {
        (Some(confirm), None) => return confirmation::<R>(visit, fields, (step, key), confirm).await,
        // The form is shown again, as it was typed.
        (_, Some("no")) => return Err(Error::Invalid(Vec::new())),
        _ => {}
    }
    if let Some(reveal) = step.perform_revealing {
        let reveal = changes::perform_revealing_on(visit, fields, change, move |writer, operator, change| {
            let record = subject::<R>(writer, operator, (step, key.as_ref()), &typed, change)?;
            let revealed = reveal(writer, operator, &record, &typed).map_err(|error| of_form(step, error))?;
            name_made::<R>(writer, operator, change, &revealed.path)?;
            Ok(revealed)
        });
        return Ok(revealed::<R>(&visit.context, &reveal.await?).into());
    }
    let perform = changes::perform_on(visit, fields, change, move |writer, operator, change| {
        let before = stored::<R>(writer, operator, key.as_ref())?;
        let record = subject::<R>(writer, operator, (step, key.as_ref()), &typed, change)?;
        check_retyped(step, &record, &typed)?;
        let path = (step.perform)(writer, operator, &record, &typed).map_err(|error| of_form(step, error))?;
        if let (Some(before), Some(after)) = (before, stored::<R>(writer, operator, key.as_ref())?) {
            change.fields = audit::differences(&before, &after);
        }
        match &path {
            Some(path) if !step.creates.is_empty() => {
                change.subject_kind = step.creates;
                path.rsplit('/').next().unwrap_or_default().clone_into(&mut change.subject_id);
            }
            Some(path) => name_made::<R>(writer, operator, change, path)?,
            None => {}
        }
        Ok(path)
    });
    let page = perform.await?.unwrap_or_else(|| otherwise.to_owned());
    Ok(Answer::done(&page, Notice::Done))
}

/// Shows the effect of a step with the typed values, and asks for a confirmation.
async fn confirmation<R: Resource>(
    visit: &Visit<ActingOperator>,
    fields: &Fields,
    (step, key): (&'static Step, Option<RecordKey>),
    confirm: Confirm,
) -> Result<Answer> {
    let typed = fields.clone();
    let read = visit.read(move |reader, operator| {
        let record = match key {
            Some(key) => records::find_any(reader.rows, operator.platform(), R::RECORDS, &key)?,
            None => AnyRecord::default(),
        };
        confirm(reader, operator.platform(), &record, &typed).map_err(|error| of_form(step, error))
    });
    let (shown, context) = (read.await?, &visit.context);
    let form = html! {
        (shown)
        @if let Some(seen) = fields.get(SEEN_FIELD) { input type="hidden" name=(SEEN_FIELD) value=(seen); }
        @for input in step.inputs {
            @for value in fields.all(input.name()) { input type="hidden" name=(input.name()) value=(value); }
        }
        div.row {
            button.primary.danger[step.is_final] name=(CONFIRMED) value="yes" { (step.label) }
            button.quiet name=(CONFIRMED) value="no" { "Change it" }
        }
    };
    let body = html! {
        p { "Nothing was changed yet. This is what will happen:" }
        (fields::form(context, &context.path, &form))
    };
    Ok(Content::new(format!("{}?", step.label), body).narrow().with_parent(R::TITLE, R::LIST).into())
}

/// Fails unless the text that confirms a step was typed again. Pages show several spaces as one.
fn check_retyped(step: &Step, record: &AnyRecord, typed: &Fields) -> Result<()> {
    let expected = record.text(step.retyped_column).split_whitespace();
    if step.retyped_column.is_empty()
        || typed.get(RETYPED).is_some_and(|typed| typed.split_whitespace().eq(expected))
    {
        return Ok(());
    }
    Err(invalid(RETYPED, "Type the name exactly as it is shown."))
}

/// Returns the record with a key as it is stored, for the audit; `None` if there is none.
fn stored<R: Resource>(
    writer: &Writer,
    operator: &ActingOperator,
    key: Option<&RecordKey>,
) -> Result<Option<AnyRecord>> {
    let Some(key) = key else { return Ok(None) };
    match records::find_any(writer.rows, operator.platform(), R::RECORDS, key) {
        Ok(record) => Ok(Some(record)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Converts an error that says nothing about the fields of a step's form, such as what a listing lacks, or that a team lacks a
/// role, into one about the form as a whole.
fn of_form(step: &Step, error: Error) -> Error {
    let has_field = |problem: &Problem| {
        let is_of = |name: &str| step.inputs.iter().any(|input| input.name() == name);
        problem.loc.iter().any(|segment| matches!(segment, LocSegment::Name(name) if is_of(name)))
    };
    let team =
        |lacks: &str| Error::Conflict(format!("The team {lacks}, which this needs. Change the team first."));
    match error {
        Error::Invalid(problems) if !problems.iter().any(has_field) => {
            let messages: Vec<&str> = problems.iter().map(|problem| problem.msg.as_str()).collect();
            Error::Conflict(messages.join(" "))
        }
        Error::RoleRequired(role) => team(&format!("does not have the role {role}")),
        Error::NdaRequired => team("has not accepted the NDA"),
        // The record exists, so it is something that was typed.
        Error::NotFound(what) if !crate::error::is_sentence(&what) => {
            Error::Conflict(format!("There is no {what} with this ID."))
        }
        other => other,
    }
}

/// Returns the record that a step is about, an empty one for a new record, and names its team in the audit. Fails if the page of
/// the step showed something else of the record.
fn subject<R: Resource>(
    writer: &Writer,
    operator: &ActingOperator,
    (step, key): (&Step, Option<&RecordKey>),
    typed: &Fields,
    change: &mut Change,
) -> Result<AnyRecord> {
    let Some(key) = key else { return Ok(AnyRecord::default()) };
    let mut record = records::find_any(writer.rows, operator.platform(), R::RECORDS, key)?;
    R::DERIVED_COLUMNS(&mut record, writer.now);
    if step.why_not(&record).is_none() {
        seen::<R>(step, &record).check(typed)?;
    }
    change.team = R::team_of(&record);
    Ok(record)
}

/// Names the record that was made, and its team, in the audit: its path ends with its identity.
fn name_made<R: Resource>(
    writer: &Writer,
    operator: &ActingOperator,
    change: &mut Change,
    path: &str,
) -> Result<()> {
    let Some(key) = path.strip_prefix(R::LIST).and_then(|rest| rest.strip_prefix('/')) else { return Ok(()) };
    let Ok(identity) = R::identify(key) else { return Ok(()) };
    key.clone_into(&mut change.subject_id);
    match records::find_any(writer.rows, operator.platform(), R::RECORDS, &identity) {
        Ok(made) => change.team = R::team_of(&made),
        // It led to another page.
        Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Returns the page that shows a secret once.
fn revealed<R: Resource>(context: &Context, revealed: &Revealed) -> Content {
    let body = html! {
        (secrets::secret("secret", revealed.label, &revealed.secret))
        p { (revealed.note) }
        div.row { a.button.primary href=(context.links.to(&revealed.path)) { "I have copied it" } }
    };
    Content::new(revealed.title, body).narrow().with_parent(R::TITLE, R::LIST)
}
