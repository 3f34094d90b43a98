//! The first page after signing in. It leads to what the visitor can do next.

use crate::{console::prelude::*, operations::access::Authenticated};

/// The page.
pub struct Start;

impl Page<Authenticated> for Start {
    const PATH: &'static str = "";
    const TITLE: &'static str = "Start";

    async fn show(visit: &Visit<Authenticated>) -> Result<Answer> {
        let Some(team) = visit.team() else {
            return Ok(if visit.has_page(paths::OPERATOR_START) {
                Answer::Redirect(paths::OPERATOR_START.to_owned())
            } else {
                Content::new("Operator", without_pages(&visit.context)).into()
            });
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

/// Says what operators can do in a market that serves no pages for them.
fn without_pages(context: &Context) -> Markup {
    let guide = context.links.outside("/guides/operator-api.md");
    let advice = "This market serves no pages for operators. Commands on its machine do everything.";
    tables::empty("You have signed in as an operator", advice, Some(("Read about them", &guide)))
}
