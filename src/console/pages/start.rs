//! The first page after signing in. It leads to what the visitor can do next.

use maud::html;

use crate::{
    console::{
        answer::{Answer, Content},
        page::Page,
        parts::tables,
        paths,
        visit::Visit,
    },
    error::Result,
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
            let advice = "This version has no pages for operators but the one with your sessions. Everything else is in the \
                          operator API, and in commands.";
            let guide = visit.links.outside("/guides/operator-api.md");
            let body = tables::empty(
                "You have signed in as an operator",
                advice,
                Some(("Read about the operator API", &guide)),
            );
            return Ok(Content::new("Operator", body).into());
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
