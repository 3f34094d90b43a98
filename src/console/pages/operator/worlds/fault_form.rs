//! The form that adds a fault to a world.

use super::{
    fault_input::{self, DUPLICATE, FaultKind, KIND, LOSE, STALL},
    place::{below_world, find, path},
};
use crate::{
    console::{
        pages::operator::{deliveries::event_choices, prelude::*},
        parts::{
            job_kinds,
            tabs::{self, Tab},
        },
    },
    worlds::{CutPlace, MAX_FAULTS},
};

/// The page.
pub struct NewFaultPage;

/// Returns the kind of fault that a page is for.
fn kind_of(context: &Context) -> FaultKind {
    let typed = context.inputs.typed().and_then(|fields| fields.get(KIND));
    let asked = typed.or_else(|| context.query.get(KIND));
    asked.and_then(FaultKind::parse).unwrap_or(FaultKind::Requests)
}

const fn label(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Requests => "Requests",
        FaultKind::Jobs => "Jobs",
        FaultKind::Host => "A host of repositories",
        FaultKind::Webhooks => "Messages to webhooks",
    }
}

impl Page<ActingOperator> for NewFaultPage {
    const PATH: &'static str = "/operator/worlds/{world}/faults/new";
    const TITLE: &'static str = "Add a fault";
    const OPERATIONS: &'static [&'static str] = &["add_fault"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let world = find(&visit.context)?;
        let (context, kind) = (&visit.context, kind_of(&visit.context));
        let tab = |shown: &FaultKind| Tab {
            label: label(*shown),
            address: context.here(&Query::default().with(KIND, shown.as_str())),
            is_current: *shown == kind,
        };
        let kinds: Vec<Tab> = FaultKind::ALL.iter().map(tab).collect();
        let form = html! {
            input type="hidden" name=(KIND) value=(kind.as_str());
            (inputs_of(&context.inputs, kind))
            (tables::section("when", "When", &timing(&context.inputs)))
            (fields::buttons(context, "Add the fault", ("Leave", &path(world.name(), "/faults"))))
        };
        let body = html! {
            (tabs::tabs("What fails", &kinds))
            (fields::form(context, &context.path, &form))
        };
        let content = below_world(Content::new(Self::TITLE, body), &world).narrow();
        Ok(content.with_parent("Faults", path(world.name(), "/faults")).into())
    }
}

fn inputs_of(inputs: &Inputs, kind: FaultKind) -> Markup {
    match kind {
        FaultKind::Requests => requests(inputs),
        FaultKind::Jobs => {
            let all = [("", "All".to_owned())].into_iter().chain(job_kinds::choices());
            html! { p { "An attempt of a job fails." } (fields::select(inputs, "job", "Kind of job", all, "")) }
        }
        FaultKind::Host => {
            let hint = html! { "For example github.com." };
            html! { p { "The host cannot be reached." } (Field::text("host", "Host").hint(hint).required().at_most(253).show(inputs)) }
        }
        FaultKind::Webhooks => webhooks(inputs),
    }
}

fn requests(inputs: &Inputs) -> Markup {
    let choice = |value: &'static str, words: &str| (value, words.to_owned());
    let endings = [
        choice("", "As usual"),
        choice(CutPlace::Before.as_str(), "Closed before the request is carried out"),
        choice(CutPlace::Headers.as_str(), "Closed in the head of the answer"),
        choice(CutPlace::Body.as_str(), "Closed in the middle of the answer"),
        choice(CutPlace::AfterWrite.as_str(), "Carried out, and closed without an answer"),
        choice(STALL, "The answer stops in the middle"),
    ];
    html! {
        p { "Leave empty what does not matter: a fault for nothing in particular is for all requests." }
        (Field::text("operation", "ID of the operation").hint(html! { "As in the documents of the API, for example get_wallet." }).at_most(100).show(inputs))
        (Field::text("path", "Path").hint(html! { "For example /v2/wallet, or /v2/* for all that begin so." }).at_most(500).show(inputs))
        (Field::text("team", "Team").hint(html! { "ID or name of the team whose key the request has." }).at_most(200).show(inputs))
        (tables::section("then", "What happens", &html! {
            (Field::integer("status", "Status of the answer").hint(html! { "From 400 to 599. The request is not carried out then." }).show(inputs))
            (Field::text("code", "Error code").hint(html! { "Leave it empty for the usual one of the operation." }).at_most(100).show(inputs))
            (Field::integer("delay", "Delay, milliseconds").show(inputs))
            (fields::select(inputs, "ending", "Connection", endings, ""))
        }))
    }
}

fn webhooks(inputs: &Inputs) -> Markup {
    let choice = |value: &'static str, words: &str| (value, words.to_owned());
    let messages = [
        choice("", "Is answered with the status below"),
        choice(LOSE, "Is lost"),
        choice(DUPLICATE, "Arrives twice"),
    ];
    let events = [("", "All".to_owned())].into_iter().chain(event_choices());
    html! {
        (Field::text("url", "Address").hint(html! { "Leave it empty for all; with * at the end, all that begin so." }).at_most(2_048).show(inputs))
        (fields::select(inputs, "event_type", "Event", events, ""))
        (tables::section("then", "What happens", &html! {
            (fields::select(inputs, "message", "The message", messages, ""))
            (Field::integer("status", "Status with which the receiver answers").show(inputs))
        }))
    }
}

fn timing(inputs: &Inputs) -> Markup {
    let time_hint = || html! { "In UTC, by the clock of the world, for example 2026-04-01 09:00." };
    html! {
        p.note { "Leave everything empty to let it apply always." }
        (Field::integer("nth", "Only the case with this number").show(inputs))
        (Field::integer("next", "At most this many times").show(inputs))
        (Field::integer("share", "Share of the cases, percent").show(inputs))
        (Field::moment("from", "From").hint(time_hint()).show(inputs))
        (Field::moment("until", "Until").hint(time_hint()).show(inputs))
    }
}

impl FormPage<ActingOperator> for NewFaultPage {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let world = find(&visit.context)?;
        let sandbox = visit.served.require_sandbox()?;
        let kind = fields.get(KIND).and_then(FaultKind::parse);
        let kind = kind.ok_or_else(|| invalid(KIND, "Choose what fails."))?;
        let fault = fault_input::read(kind, fields, sandbox.operations())?;
        // `perform` returns this value unless the form was already sent before.
        let (sent, checked) = (Uuid::new_v4(), std::sync::Arc::clone(&world));
        let change = Change::new(Self::OPERATIONS[0], "world", world.name());
        let first = changes::perform(visit, fields, change, move |_, _| {
            if checked.faults().list().len() >= MAX_FAULTS {
                let message = format!("A world has at most {MAX_FAULTS} faults. Delete some first.");
                return Err(Error::Conflict(message));
            }
            Ok(sent)
        });
        if first.await? == sent {
            world.faults().add(fault)?;
        }
        Ok(Answer::done(&path(world.name(), "/faults"), Notice::Done))
    }
}
