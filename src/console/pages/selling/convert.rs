//! The form that converts available earnings into credits, and its review.

use super::{
    BACK_TO_FORM, CONFIRMED,
    money_review::{self, AMOUNT},
};
use crate::{
    console::prelude::*,
    operations::{money_summaries, wallet},
};

/// The page.
pub struct Convert;

impl Page<Vendor> for Convert {
    const PATH: &'static str = "/selling/earnings/convert";
    const TITLE: &'static str = "Convert earnings into credits";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        form(visit, &visit.inputs).await
    }
}

async fn form(visit: &Visit<Vendor>, inputs: &Inputs) -> Result<Answer> {
    let balances = visit.read(money_summaries::balances).await?;
    let form = html! {
        (money_review::amount_field(balances.available).show(inputs))
        (fields::buttons(&visit.context, "Review the conversion", ("Back to the earnings", paths::EARNINGS)))
    };
    let body = html! {
        (tables::facts(&[
            ("Available earnings", html! { (text::money(balances.available)) }),
            ("Credits now", html! { (text::money(balances.credits)) }),
        ]))
        (fields::form(&visit.context, Convert::PATH, &form))
        (consequences())
    };
    Ok(Content::new(Convert::TITLE, body).with_parent("Earnings", paths::EARNINGS).narrow().into())
}

fn consequences() -> Markup {
    html! { div.prose { p {
        "Credits pay for quality runs, and for what your team buys if it has the role of a buyer. There is no fee, and they can be \
         spent at once. Credits cannot be converted back."
    } } }
}

impl FormPage<Vendor> for Convert {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        if fields.is_checked(BACK_TO_FORM) {
            return form(visit, &Inputs::kept(fields.clone())).await;
        }
        let amount = fields.required_amount(AMOUNT)?;
        if !fields.is_checked(CONFIRMED) {
            let read =
                visit.read(move |reader, vendor| wallet::before_use_of_earnings(reader, vendor, amount));
            let before = read.await?;
            let label = format!("Convert {} into credits", text::money(amount));
            let balances = [
                ("Earnings, available", before.available, Cents(-amount.0)),
                ("Credits", before.credits, amount),
            ];
            let shown = (amount, label.as_str());
            return Ok(money_review::page(&visit.context, shown, &balances, &consequences()).into());
        }
        let change = Change::new("convert_earnings", "team", visit.access.team().id);
        let converted = changes::perform(visit, fields, change, move |writer, vendor| {
            wallet::convert(writer, vendor, Actor::Team, amount).map(drop)
        });
        converted.await?;
        Ok(Answer::done(paths::EARNINGS, Notice::EarningsConverted))
    }
}
