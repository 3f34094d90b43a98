//! The form with which credits are requested.

use super::where_to_pay;
use crate::{
    console::prelude::*,
    domain::credit_purchases::MAX_REQUESTED_AMOUNT,
    operations::{credit_purchases, wallet},
};

/// The page.
pub struct BuyCredits;

impl Page<Member> for BuyCredits {
    const PATH: &'static str = paths::BUY_CREDITS;
    const TITLE: &'static str = "Buy credits";

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let balances = visit.read(wallet::balances).await?;
        let max = text::short_money(MAX_REQUESTED_AMOUNT);
        let hint = html! { "For example 27000. At most " (max) " at once." };
        let preset = visit.query.get("amount").unwrap_or_default();
        let amount = Field::decimal("amount", "Amount, USD").hint(hint).value(preset).required();
        let form = html! {
            (amount.show(&visit.inputs))
            (fields::buttons(&visit.context, "Request the credits", ("Back to the wallet", paths::WALLET)))
        };
        let body = html! {
            (tables::facts(&[("Credits now", html! { (text::money(balances.credits)) })]))
            (fields::form(&visit.context, Self::PATH, &form))
            section.section aria-labelledby="how" {
                h2 #how { "How it works" }
                div.prose { p {
                    "You ask for an amount, and pay it outside the market. The market adds the credits when it has your payment, and \
                     they can be spent at once. Until then, you can cancel the request."
                } }
                (where_to_pay(&visit.context))
            }
        };
        Ok(Content::new(Self::TITLE, body).with_parent("Wallet", paths::WALLET).narrow().into())
    }
}

impl FormPage<Member> for BuyCredits {
    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let amount = fields.required_amount_of_at_most("amount", MAX_REQUESTED_AMOUNT)?;
        let change = Change::new("request_credits", "team", visit.access.team().id);
        let request = changes::perform(visit, fields, change, move |writer, member| {
            credit_purchases::request(writer, member, Actor::Team, amount).map(|requested| requested.id)
        });
        request.await?;
        Ok(Answer::done(paths::CREDIT_PURCHASES, Notice::CreditsRequested))
    }
}
