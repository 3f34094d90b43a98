//! The steps of an opportunity: publishing it, moving its deadline, closing and canceling it. None can be undone, so
//! each asks.

use super::{below, find_own, why_not};
use crate::{
    console::{prelude::*, questions::step_pages},
    domain::{
        opportunities::{Opportunity, OpportunityKind, OpportunityStatus},
        opportunity_fields::OpportunityFields,
        opportunity_lifecycle::OpportunityOperation,
    },
    operations::opportunities,
};

/// A step that a buyer confirms.
struct Step {
    operation: OpportunityOperation,
    /// Name of the operation in the audit.
    audited: &'static str,
    title: &'static str,
    button: &'static str,
    /// Class of the button.
    button_class: &'static str,
    /// What happens.
    question: fn(&Opportunity) -> Markup,
    notice: Notice,
    make: fn(&mut Writer, &Buyer, Actor, (Uuid, OpportunityKind)) -> Result<Opportunity>,
}

const PUBLISH: Step = Step {
    operation: OpportunityOperation::Publish,
    audited: "publish_opportunity",
    title: "Publish",
    button: "Publish the opportunity",
    button_class: "primary",
    question: ask_publish,
    notice: Notice::Published,
    make: opportunities::publish,
};

const CLOSE: Step = Step {
    operation: OpportunityOperation::Close,
    audited: "close_opportunity",
    title: "Close",
    button: "Close the opportunity",
    button_class: "danger",
    question: ask_close,
    notice: Notice::Closed,
    make: opportunities::close,
};

const CANCEL: Step = Step {
    operation: OpportunityOperation::Cancel,
    audited: "cancel_opportunity",
    title: "Cancel",
    button: "Cancel the opportunity",
    button_class: "danger",
    question: ask_cancel,
    notice: Notice::Canceled,
    make: opportunities::cancel,
};

fn ask_publish(opportunity: &Opportunity) -> Markup {
    let excluded = opportunity.excluded.len() as u64;
    html! {
        p {
            "All vendors "
            @if excluded > 0 { "except the " (text::counted(excluded, "vendor", "vendors")) " that you excluded " }
            "can read it from then on, with the name of your team, and are notified."
        }
        p { "A published opportunity cannot be edited. You can move its deadline to a later day, exclude vendors, and close or \
             cancel it." }
        @match opportunity.deadline {
            Some(deadline) => p { "Vendors can respond until " (text::deadline(deadline)) "." },
            None => p { "It has no deadline: vendors can respond until you close it." },
        }
    }
}

fn ask_close(opportunity: &Opportunity) -> Markup {
    html! {
        @if opportunity.status == OpportunityStatus::Draft {
            p { "The draft is put away. Nobody else has seen it, and nobody is notified. It cannot be edited or published later." }
        } @else {
            p { "Vendors can no longer respond, and those that it concerns are notified. It cannot be opened again." }
            @if opportunity.kind == OpportunityKind::Project {
                p { "You can still accept or decline the bids that you have." }
            }
        }
    }
}

fn ask_cancel(opportunity: &Opportunity) -> Markup {
    html! {
        p { "Vendors can no longer respond, and those that it concerns are notified that you no longer want this. It cannot be \
             opened again." }
        @if opportunity.kind == OpportunityKind::Project {
            p { "Bids that you have not accepted cannot be accepted any more. If you only want no more bids, close it instead." }
        }
    }
}

async fn find(visit: &Visit<Buyer>) -> Result<Opportunity> {
    find_own(visit, 0).await.map(|own| own.opportunity)
}

/// Returns the page of a step: a form, or why there is none.
fn content(opportunity: &Opportunity, title: &str, body: Markup) -> Content {
    below(opportunity, Content::new(format!("{title}: {}", opportunity.title), body))
}

fn forbidden(visit: &Visit<Buyer>, opportunity: &Opportunity, reason: &str) -> Markup {
    let back = visit.links.to(&paths::opportunity(opportunity.id));
    badges::warning(
        html! { "This cannot be done now. " (reason) " " a href=(back) { "Back to the opportunity" } },
    )
}

async fn show(visit: &Visit<Buyer>, step: &Step) -> Result<Answer> {
    let opportunity = find(visit).await?;
    let body = match why_not(&opportunity, step.operation, visit.now()) {
        Some(reason) if !visit.inputs.is_refused() => forbidden(visit, &opportunity, reason),
        _ => {
            let (question, path) = ((step.question)(&opportunity), paths::opportunity(opportunity.id));
            let question = html! { (seen(&opportunity).asked()) (question) };
            fields::question(&visit.context, &question, (step.button_class, step.button), &path)
        }
    };
    Ok(content(&opportunity, step.title, body).into())
}

/// Identifies what the page of a step concerns: the opportunity as it is published, closed, or canceled.
fn seen(opportunity: &Opportunity) -> Seen {
    Seen::of(&OpportunityFields::from(opportunity))
}

async fn submit(visit: &Visit<Buyer>, fields: &Fields, step: &'static Step) -> Result<Answer> {
    let opportunity = find(visit).await?;
    let (of, sent) = ((opportunity.id, opportunity.kind), fields.clone());
    let change = Change::new(step.audited, "opportunity", opportunity.id);
    let work = move |writer: &mut Writer, buyer: &Buyer| {
        seen(&opportunities::find_own(writer.rows, buyer, of.0, of.1)?).check(&sent)?;
        (step.make)(writer, buyer, Actor::Team, of).map(drop)
    };
    changes::perform(visit, fields, change, work).await?;
    Ok(Answer::done(&paths::opportunity(opportunity.id), step.notice))
}

step_pages! {
    Buyer:
    /// The page on which a draft is published.
    Publish, "/opportunities/{id}/publish", "Publish an opportunity", PUBLISH;
    /// The page on which an opportunity is closed.
    Close, "/opportunities/{id}/close", "Close an opportunity", CLOSE;
    /// The page on which an opportunity is canceled.
    Cancel, "/opportunities/{id}/cancel", "Cancel an opportunity", CANCEL;
}

/// The page on which a deadline is moved.
pub struct Extend;

impl Page<Buyer> for Extend {
    const PATH: &'static str = "/opportunities/{id}/extend";
    const TITLE: &'static str = "Move a deadline";

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let opportunity = find(visit).await?;
        let body = match why_not(&opportunity, OpportunityOperation::ExtendDeadline, visit.now()) {
            Some(reason) if !visit.inputs.is_refused() => forbidden(visit, &opportunity, reason),
            _ => {
                let hint = html! {
                    "Vendors can respond until the end of this day, UTC."
                    @if let Some(deadline) = opportunity.deadline { " The deadline is now " (text::deadline(deadline)) "." }
                    @if let Some(at) = opportunity.evaluation_date {
                        " It cannot be after the evaluation, " (text::deadline(at)) "."
                    }
                };
                let path = paths::opportunity(opportunity.id);
                let form = html! {
                    (Seen::of(&opportunity.deadline).edited(&visit.inputs))
                    (Field::day("deadline", "New deadline").hint(hint).required().show(&visit.inputs))
                    p.note { "A later deadline opens it again if the deadline has passed. It cannot be moved back." }
                    (fields::buttons(&visit.context, "Move the deadline", ("Leave it as it is", &path)))
                };
                fields::form(&visit.context, &visit.path, &form)
            }
        };
        Ok(content(&opportunity, "Move the deadline", body).into())
    }
}

impl FormPage<Buyer> for Extend {
    async fn submit(visit: &Visit<Buyer>, fields: &Fields) -> Result<Answer> {
        let opportunity = find(visit).await?;
        let deadline = fields.end_of_day("deadline", None)?;
        let deadline = deadline.ok_or_else(|| invalid("deadline", "Enter the new day."))?;
        let (of, sent) = ((opportunity.id, opportunity.kind), fields.clone());
        let change = Change::new("update_opportunity", "opportunity", opportunity.id);
        let extend = changes::perform(visit, fields, change, move |writer, buyer| {
            Seen::of(&opportunities::find_own(writer.rows, buyer, of.0, of.1)?.deadline).check(&sent)?;
            opportunities::extend(writer, buyer, Actor::Team, of, deadline).map(drop)
        });
        extend.await?;
        Ok(Answer::done(&paths::opportunity(opportunity.id), Notice::Extended))
    }
}
