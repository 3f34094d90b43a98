//! The first page after signing in. It leads to what the visitor can do next.

use crate::{
    console::{parts::icons, prelude::*},
    operations::access::Authenticated,
};

/// The page.
pub struct Start;

impl Page for Start {
    const PATH: &'static str = "";
    const TITLE: &'static str = "Start";

    type Access = Authenticated;

    async fn show(visit: &Visit<Authenticated>) -> Result<Answer> {
        let Some(team) = visit.team() else {
            return Ok(Content::new("Operator", of_operators(&visit.context)).into());
        };
        if team.nda_accepted_at.is_none() {
            return Ok(Answer::Redirect(paths::NDA.to_owned()));
        }
        if team.is_buyer || team.is_vendor {
            return Ok(Answer::Redirect(visit.home().to_owned()));
        }
        let body = html! {
            (tables::empty(
                "Your team has no role yet",
                "The market gives teams the role of a buyer, of a vendor, or both. Until then, you can look after the keys and \
                 the settings of your team.",
                Some(("Team settings", &visit.links.to(paths::PROFILE))),
            ))
        };
        Ok(Content::new("Start", body).into())
    }
}

/// Lists that show what waits for an operator: path, its filter, and words.
const WAITING: [(&str, &str, &str); 5] = [
    ("/operator/listings", "stage=review", "Listings in review"),
    ("/operator/purchases", "status=pending", "Purchases that wait for a payment"),
    ("/operator/credit-purchases", "status=pending", "Requests for credits"),
    ("/operator/withdrawals", "status=requested", "Withdrawals to pay"),
    ("/operator/jobs", "state=failed", "Failed jobs"),
];

/// Returns what an operator starts with.
fn of_operators(context: &Context) -> Markup {
    let pages: Vec<&str> = context.pages.of(None).map(|page| page.path).collect();
    if !pages.contains(&WAITING[0].0) {
        let guide = context.links.outside("/guides/operator-api.md");
        let advice = "This market serves no pages for operators. Commands on its machine do everything.";
        return tables::empty("You have signed in as an operator", advice, Some(("Read about them", &guide)));
    }
    html! {
        ul.todo { @for (path, filter, words) in WAITING { li {
            @let (name, color) = Tone::Waiting.look();
            span class=(color) { (icons::icon(name)) }
            span { a href=(context.links.to(&format!("{path}?{filter}"))) { (words) } }
        } } }
    }
}
