//! How the market pays the team: a form that writes it, and never shows it.

use crate::{
    console::{pages::settings, prelude::*},
    operations::payouts::{self, MAX_LENGTH, PayoutState},
};

/// Field with the text.
const TEXT: &str = "payout_setup";

/// The page.
pub struct PayoutSetup;

impl Page for PayoutSetup {
    const PATH: &'static str = paths::PAYOUT_SETUP;
    const TITLE: &'static str = "Payout";

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let state = visit.read(payouts::state).await?;
        let context = &visit.context;
        let days = u64::from(context.market().settings().payouts.change_delay_days);
        let hint = html! {
            "For example the name of the account, its number (IBAN), and the bank. At most " (text::grouped(MAX_LENGTH as u64))
            " characters."
        };
        let field =
            Field::lines(TEXT, "How the market pays your team").hint(hint).at_most(MAX_LENGTH).required();
        let label = if state.is_set { "Replace the payout details" } else { "Save the payout details" };
        let form = html! {
            (field.show(&visit.inputs))
            (fields::buttons(context, label, ("Back to the earnings", paths::EARNINGS)))
        };
        let body = html! {
            (settings::tabs(context))
            (fields::refusal(context))
            (message(context, &state))
            (tables::facts(&facts(&state)))
            (fields::form(context, Self::PATH, &form))
            div.prose { p {
                "Only the market reads this text: your team can replace it, and never see it again, so that a lost key shows nobody \
                 your account. "
                @if days > 0 {
                    "After each change, your team cannot request withdrawals for " (text::counted(days, "day", "days")) ", and all \
                     of your team are notified."
                } @else { "All of your team are notified of a change." }
            } }
        };
        Ok(settings::below_settings(context, Content::new(Self::TITLE, body)).narrow().into())
    }
}

impl FormPage for PayoutSetup {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let setup = fields.require(TEXT, "State how the market pays your team.")?.replace("\r\n", "\n");
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
        PayoutState { is_set: false, .. } => badges::message(
            Tone::Warning,
            &html! {
                "The market does not know how to pay your team, so nothing can be withdrawn. "
                @if context.path != paths::PAYOUT_SETUP {
                    a href=(context.links.to(paths::PAYOUT_SETUP)) { "State how it pays you" }
                }
            },
        ),
        PayoutState { waits_until: Some(until), .. } => badges::message(
            Tone::Waiting,
            &html! {
                "The payout details were changed"
                @if let Some(at) = state.changed_at { " on " (text::day(at)) }
                ". For safety, withdrawals can be requested again from " (text::moment(*until)) " on."
            },
        ),
        _ => html! {},
    }
}
