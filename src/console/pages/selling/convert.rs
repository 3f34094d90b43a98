//! The form that converts available earnings into credits.

use crate::{
    console::prelude::*,
    domain::listings::Actor,
    operations::{money_summaries, wallet},
};

/// Path of the page.
pub const PATH: &str = "/selling/earnings/convert";

/// The page.
pub struct Convert;

impl Page for Convert {
    const PATH: &'static str = PATH;
    const TITLE: &'static str = "Convert earnings into credits";

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let balances = visit.read(money_summaries::balances).await?;
        let hint = html! { "For example 27000. At most " (text::money(balances.available)) "." };
        let amount = Field::decimal("amount", "Amount, USD").hint(hint).required();
        let form = html! {
            (amount.show(&visit.inputs))
            (fields::buttons(&visit.context, "Convert into credits", ("Back to the earnings", paths::EARNINGS)))
        };
        let body = html! {
            (tables::facts(&[
                ("Available earnings", html! { (text::money(balances.available)) }),
                ("Credits now", html! { (text::money(balances.credits)) }),
            ]))
            (fields::form(&visit.context, Self::PATH, &form))
            div.prose { p {
                "Credits pay for quality runs, and for what your team buys if it has the role of a buyer. There is no fee, and they \
                 can be spent at once. Credits cannot be converted back."
            } }
        };
        Ok(Content::new(Self::TITLE, body).below("Earnings", paths::EARNINGS).narrow().into())
    }
}

impl FormPage for Convert {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let amount = fields.required_amount("amount")?;
        let change = Change::new("convert_earnings", "team", visit.access.team().id);
        let converted = changes::perform(visit, fields, change, move |writer, vendor| {
            wallet::convert(writer, vendor, Actor::Team, amount).map(drop)
        });
        converted.await?;
        Ok(Answer::done(paths::EARNINGS, Notice::EarningsConverted))
    }
}
