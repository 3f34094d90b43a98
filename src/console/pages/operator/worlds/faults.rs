//! The faults of a world, with the number of their applications.

use super::{
    fault_words,
    place::{audit, below_world, find, path},
};
use crate::{console::pages::operator::prelude::*, worlds::Fault};

/// The page.
pub struct FaultList;

/// The button that deletes a fault.
pub struct DeleteFault;

/// The button that deletes all faults.
pub struct DeleteFaults;

impl Page<Operator> for FaultList {
    const PATH: &'static str = "/operator/worlds/{world}/faults";
    const TITLE: &'static str = "Faults";
    const OPERATIONS: &'static [&'static str] = &["list_faults"];

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let world = find(&visit.context)?;
        let (faults, context) = (world.faults().list(), &visit.context);
        let body = html! {
            p { "Faults let requests, jobs, hosts, and webhooks of the world fail on demand. Of several that fit, the first one takes \
                 effect." }
            (table(context, world.name(), &faults))
        };
        let request = format!("/sandbox/v1/worlds/{}/faults", world.name());
        let content = below_world(Content::new(Self::TITLE, body), &world).with_request(request);
        if !context.may_act() {
            return Ok(content.into());
        }
        let new = context.links.to(&path(world.name(), "/faults/new"));
        let actions = html! {
            @if !faults.is_empty() { (fields::button(context, &path(world.name(), "/faults/delete-all"), "Delete all", "")) }
            a.button.primary href=(new) { "Add a fault" }
        };
        Ok(content.with_actions(actions).into())
    }
}

fn table(context: &Context, world: &str, faults: &[Fault]) -> Markup {
    if faults.is_empty() {
        return tables::empty("No faults", "Everything in this world works.", None);
    }
    let is_acting = context.may_act();
    let row = |fault: &Fault| {
        let delete = path(world, &format!("/faults/{}/delete", fault.id()));
        let cells = [
            Head::text("Fault").cell(fault.id()),
            Head::text("For").cell(html! { span.long { (fault_words::cases(fault)) } }),
            Head::text("What happens").cell(html! { span.long { (fault_words::effect(fault)) } }),
            Head::text("When").cell(fault_words::timing(&fault.new.timing)),
            Head::number("Cases seen").cell(text::grouped(fault.seen)),
            Head::number("Fitted").cell(text::grouped(fault.matched)),
            Head::number("Took effect").cell(text::grouped(fault.used)),
        ];
        let button = || fields::row_button(context, &delete, "Delete", fault.id(), "");
        let delete = || Head::text("Delete").cell(button());
        cells.into_iter().chain(is_acting.then(delete))
    };
    tables::of("Faults", faults, row)
}

impl Action<ActingOperator> for DeleteFault {
    const PATH: &'static str = "/operator/worlds/{world}/faults/{fault}/delete";
    const TITLE: &'static str = "Delete a fault";
    const OPERATIONS: &'static [&'static str] = &["delete_fault"];

    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let world = find(&visit.context)?;
        let fault = visit.parameter(1).to_owned();
        audit(visit, fields, Self::OPERATIONS[0], &world).await?;
        // One that is gone already needs no more.
        world.faults().delete(&fault);
        Ok(Answer::done(&path(world.name(), "/faults"), Notice::Done))
    }
}

impl Action<ActingOperator> for DeleteFaults {
    const PATH: &'static str = "/operator/worlds/{world}/faults/delete-all";
    const TITLE: &'static str = "Delete all faults";
    const OPERATIONS: &'static [&'static str] = &["delete_faults"];

    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let world = find(&visit.context)?;
        audit(visit, fields, Self::OPERATIONS[0], &world).await?;
        world.faults().delete_all();
        Ok(Answer::done(&path(world.name(), "/faults"), Notice::Done))
    }
}
