//! The page of a record: its fields, and what its state allows.

use std::marker::PhantomData;

use maud::{Markup, html};

use super::{Resource, Step, path_of};
use crate::{
    console::{
        address::Query,
        answer::{Answer, Content},
        page::Page,
        parts::tables,
        paths,
        visit::{Context, Visit},
    },
    error::Result,
    operations::{access::Operator, records},
    store::records::any_record::{AnyRecord, Names},
};

/// The kind of the entries of the audit, which never change.
const AUDIT_ENTRY: &str = "audit_entry";

/// The page of a record.
pub struct RecordPage<R>(pub PhantomData<R>);

impl<R: Resource> Page<Operator> for RecordPage<R> {
    const PATH: &'static str = R::RECORD;
    const TITLE: &'static str = R::RECORDS.name;

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let key = R::identify(visit.parameter(0))?;
        let read = visit.read(move |reader, operator| {
            let platform = operator.platform();
            let mut record = records::find_any(reader.rows, platform, R::RECORDS, &key)?;
            R::DERIVED_COLUMNS(&mut record, reader.now);
            let ids: Vec<_> = R::FIELDS.iter().flat_map(|field| field.named_ids(&record)).collect();
            let names = records::names(reader.rows, platform, &ids)?;
            let above = R::above_fields(reader, platform, &record)?;
            let below = R::below_fields(reader, platform, &record)?;
            Ok((record, names, above, below))
        });
        let (record, names, above, below) = read.await?;
        let context = &visit.context;
        let body = html! {
            @if let Some(above) = above { (above(context)) }
            (tables::facts(&facts::<R>(context, &record, &names)))
            @if context.may_act() && !R::STEPS.is_empty() { (menu::<R>(context, &record)) }
            (links::<R>(context, &record))
            @if let Some(below) = below { (below(context)) }
        };
        let content = Content::new(R::title_of(&record), body).with_parent(R::TITLE, R::LIST);
        if !R::HAS_API {
            return Ok(content.into());
        }
        Ok(content.with_request(format!("{}/{}", R::API, R::key_of(&record))).into())
    }
}

fn facts<R: Resource>(context: &Context, record: &AnyRecord, names: &Names) -> Vec<(&'static str, Markup)> {
    R::FIELDS.iter().map(|field| (field.label, field.show(context, record, names))).collect()
}

/// Returns the lists about a record.
fn links<R: Resource>(context: &Context, record: &AnyRecord) -> Markup {
    let mut links = R::LINKS(record);
    if R::SUBJECT != AUDIT_ENTRY {
        let key = R::key_of(record);
        links.push(("Events", Query::default().with("subject", &key).at(paths::OPERATOR_EVENTS)));
        links.push(("Audit", Query::default().with("subject_id", &key).at(paths::OPERATOR_AUDIT)));
    }
    html! { @if !links.is_empty() {
        (tables::section("lists", "Lists about it", &html! {
            ul.row { @for (label, path) in &links { li { a.chip href=(context.links.to(path)) { (label) } } } }
        }))
    } }
}

/// Returns what can be done, and why the rest cannot.
fn menu<R: Resource>(context: &Context, record: &AnyRecord) -> Markup {
    let key = R::key_of(record);
    let (allowed, refused): (Vec<&Step>, Vec<&Step>) =
        R::STEPS.iter().partition(|step| step.why_not(record).is_none());
    let content = html! {
        div.row { @for step in &allowed {
            a.button.danger[step.is_final] href=(context.links.to(&format!("{}/{}", path_of::<R>(&key), step.name))) { (step.label_for(record)) }
        } }
        @if allowed.is_empty() { p.note { "Nothing, in this state." } }
        @if !refused.is_empty() {
            details { summary.note { "Not possible now" }
                dl.facts { @for step in &refused { dt { (step.label) } dd { (step.why_not(record).unwrap_or_default()) } } }
            }
        }
    };
    tables::section("steps", "What you can do", &content)
}
