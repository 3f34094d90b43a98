//! How the market pays the team: a form that writes it, and never shows it.

use super::{BACK_TO_FORM, CONFIRMED, review_form};
use crate::{
    console::{pages::settings, prelude::*},
    operations::payouts::{self, MAX_LENGTH, PayoutState},
};

/// Field with the text.
const TEXT: &str = "payout_setup";

/// The page.
pub struct PayoutSetup;

impl Page<Vendor> for PayoutSetup {
    const PATH: &'static str = paths::PAYOUT_SETUP;
    const TITLE: &'static str = "Payout";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        Ok(form(visit, &visit.inputs).await?.into())
    }
}

/// Returns the page with the form.
async fn form(visit: &Visit<Vendor>, inputs: &Inputs) -> Result<Content> {
    let state = visit.read(payouts::state).await?;
    let context = &visit.context;
    let hint = html! {
        "For example the name of the account, its number (IBAN), and the bank. At most " (text::grouped(MAX_LENGTH as u64))
        " characters. You see it once more before it is saved."
    };
    let field = Field::lines(TEXT, "How the market pays your team").hint(hint).required();
    let form = html! {
        (field.show(inputs))
        (fields::buttons(context, "Review the payout details", ("Back to the earnings", paths::EARNINGS)))
    };
    let body = html! {
        (settings::tabs(context))
        (message(context, &state))
        (tables::facts(&facts(&state)))
        (fields::form(context, PayoutSetup::PATH, &form))
        (consequences(context))
    };
    Ok(settings::below_settings(context, Content::new(PayoutSetup::TITLE, body)).narrow())
}

/// Says who reads the text, and what a change means.
fn consequences(context: &Context) -> Markup {
    let days = u64::from(context.market().settings().payouts.change_delay_days);
    html! { div.prose { p {
        "Only the market reads this text: your team can replace it, and never see it again after it is saved, so that a lost key \
         shows nobody your account. "
        @if days > 0 {
            "After each change, your team cannot request withdrawals for " (text::counted(days, "day", "days")) ", and all \
             of your team are notified."
        } @else { "All of your team are notified of a change." }
    } } }
}

/// Shows what was typed, once, before it is saved. It is sent with the form, and stored nowhere until then.
fn review(context: &Context, is_replaced: bool, setup: &str) -> Content {
    let label = if is_replaced { "Replace the payout details" } else { "Save the payout details" };
    let labels = [label, "Change what you typed", "Leave without saving"];
    let body = html! {
        (badges::warning(html! { b { "It is not saved yet. " } "Check it: with a wrong number, the money goes to \
            somebody else." }))
        (tables::section("typed", "The market would pay your team like this", &html! { pre.long { bdi { (setup) } } }))
        (review_form(context, (TEXT, setup), labels))
        (consequences(context))
    };
    let content = Content::new("Review the payout details", body);
    settings::below_settings(context, content).with_parent(PayoutSetup::TITLE, paths::PAYOUT_SETUP).narrow()
}

impl FormPage<Vendor> for PayoutSetup {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        if fields.is_checked(BACK_TO_FORM) {
            return Ok(form(visit, &Inputs::kept(fields.clone())).await?.into());
        }
        let setup = fields.require(TEXT, "State how the market pays your team.")?.to_owned();
        payouts::check(&setup)?;
        if !fields.is_checked(CONFIRMED) {
            let state = visit.read(payouts::state).await?;
            return Ok(review(&visit.context, state.is_set, &setup).into());
        }
        let change = Change::new("set_payout_setup", "team", visit.access.team().id);
        let saved = changes::perform(visit, fields, change, move |writer, vendor| {
            payouts::set(writer, vendor, &setup)
        });
        saved.await?;
        Ok(Answer::done(paths::PAYOUT_SETUP, Notice::PayoutSaved))
    }
}

fn facts(state: &PayoutState) -> Vec<(&'static str, Markup)> {
    let is_set = if state.is_set {
        badges::badge(Tone::Good, "Stated")
    } else {
        badges::badge(Tone::Waiting, "Not stated yet")
    };
    let mut facts = vec![("Payout details", is_set)];
    facts.extend(state.changed_at.map(|at| ("Last changed", text::moment(at))));
    facts
}

/// Says why the team cannot request withdrawals now.
pub fn message(context: &Context, state: &PayoutState) -> Markup {
    match state {
        PayoutState { is_set: false, .. } => badges::warning(html! {
            "The market does not know how to pay your team, so nothing can be withdrawn. "
            @if context.path != paths::PAYOUT_SETUP {
                a href=(context.links.to(paths::PAYOUT_SETUP)) { "State how it pays you" }
            }
        }),
        PayoutState { waits_until: Some(until), .. } => badges::pending(html! {
            "The payout details were changed"
            @if let Some(at) = state.changed_at { " on " (text::day(at)) }
            ". For safety, withdrawals can be requested again from " (text::moment(*until)) " on."
        }),
        _ => html! {},
    }
}
