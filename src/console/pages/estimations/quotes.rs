//! All quotes of a team together: their sums and their distribution.

use super::{distribution, new, status_words};
use crate::{console::prelude::*, domain::estimations::Summary, operations::estimations};

/// The page.
pub struct Quotes;

impl Page<Vendor> for Quotes {
    const PATH: &'static str = "/estimations/quotes";
    const TITLE: &'static str = "All quotes";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let summary = visit.read(|reader, vendor| estimations::summary(reader, vendor, &[])).await?;
        let content = Content::new(Self::TITLE, body(&visit.context, &summary))
            .with_parent("Estimations", paths::ESTIMATIONS)
            .with_note(html! { "Quotes are not binding. What a listing costs is your decision." })
            .with_request("/v2/estimations/summary");
        Ok(content.narrow().into())
    }
}

fn body(context: &Context, summary: &Summary) -> Markup {
    let states = summary
        .statuses
        .iter()
        .map(|(status, count)| (status_words(*status).1, html! { (text::grouped(*count)) }));
    let states: Vec<_> = states.collect();
    html! {
        @if summary.estimated == 0 {
            (tables::empty(
                "There are no quotes yet",
                "Once a repository was measured, its quote appears here.",
                Some(("Estimate a repository", &context.links.to(new::NewEstimation::PATH))),
            ))
        } @else {
            (tables::figures(&[
                ("Sum of the lower ends", html! { (text::money(summary.low)) }, html! { "USD" }),
                ("Sum of the upper ends", html! { (text::money(summary.high)) }, html! { "USD" }),
                ("Repositories with a quote", html! { (text::grouped(summary.estimated)) }, html! {}),
            ]))
            (distribution(&summary.bins))
        }
        (tables::section("states", "All estimations", &tables::facts(&states)))
    }
}
